package store

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/definitions"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/tensor"
)

// results are temporary tables that hold results of the engine's functions, which statements read.
type results struct {
	free  map[string][]*catalog.TableDef // tables free for reuse, by column types
	since int                            // transactions.undone at the time when they were known to exist
	made  int
	held  map[*catalog.TableDef]*held // large chunks kept beside the tables
	spare *tensor.Buffer              // a buffer for the next held
}

// known forgets the free tables after a rollback, which may have dropped them.
func (r *results) known(undone int) {
	if r.since != undone {
		r.free, r.since = nil, undone
	}
}

// putResult stores the result of a table function in a temporary table.
func putResult(db *DB, r *catalog.Relation) (_ *catalog.TableDef, err error) {
	if len(r.Names) != len(r.Cols) || len(r.Types) != len(r.Cols) {
		return nil, sqlerr.New(sqlerr.Internal, "internal error: a table function gave %d names, %d types, %d columns",
			len(r.Names), len(r.Types), len(r.Cols))
	}
	t, err := takeResult(db, r)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			giveResult(db, t)
		}
	}()
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(r.Cols)), ", ")
	s, err := db.c.Prepare("INSERT INTO " + definitions.SQL(t) + " VALUES (" + marks + ")")
	if err != nil {
		return nil, db.translate(err)
	}
	defer s.Close()
	for cols := r.Cols; ; {
		if err := putRows(db, s, t, cols); err != nil || r.More == nil {
			return t, err
		}
		if cols, err = r.More(); err != nil || cols == nil {
			return t, err
		}
	}
}

// putRows adds rows to the table of a result.
func putRows(db *DB, s *lite.Stmt, t *catalog.TableDef, cols []*column.Column) error {
	rows := 0
	if len(cols) > 0 {
		rows = cols[0].Len()
	}
	for k := range rows {
		for i, v := range cols {
			if definitions.IsHeld(t, i) && !v.IsNull(k) {
				number, err := db.results.held[t].hold(db, v, k, t.Cols[i].Type)
				if err != nil {
					return db.translate(err)
				}
				s.SetInt(i, int64(number))
				continue
			}
			if err := columns.SetVector(s, i, v, k, t.Cols[i].Type, nil); err != nil {
				return err
			}
		}
		if err := s.Run(); err != nil {
			return db.translate(err)
		}
	}
	return nil
}

// takeResult returns an empty table for the result's types, a free one if possible.
func takeResult(db *DB, r *catalog.Relation) (*catalog.TableDef, error) {
	t := &catalog.TableDef{Schema: "pg_temp", Temp: true, Result: true}
	for i, n := range r.Names {
		t.Cols = append(t.Cols, catalog.Column{Name: n, Type: catalog.TypeOf(r.Types[i])})
	}
	h := newHeld(db, r, t.Cols)
	if h != nil {
		t.Held = h.cols
	}
	sig := definitions.LayoutOf(t)
	db.results.known(db.undone)
	if free := db.results.free[sig]; len(free) > 0 {
		old := free[len(free)-1]
		db.results.free[sig] = free[:len(free)-1]
		keepHeld(db, old, h)
		return old, nil
	}
	keepHeld(db, t, h)
	db.results.made++
	t.Name = fmt.Sprintf("relgrad_result_%d", db.results.made)
	return t, db.translate(db.exec(definitions.CreateTable(t, definitions.FileName(t))))
}

// giveResult empties a result table and frees it for the next call.
func giveResult(db *DB, t *catalog.TableDef) {
	dropHeld(db, t)
	if db.exec("DELETE FROM "+definitions.SQL(t)) != nil {
		return // a rollback has dropped it
	}
	db.results.known(db.undone)
	if db.results.free == nil {
		db.results.free = map[string][]*catalog.TableDef{}
	}
	sig := definitions.LayoutOf(t)
	db.results.free[sig] = append(db.results.free[sig], t)
}

// Large chunks of a result are kept beside its temporary table, which has their numbers (lite.Conn.Hold). In the table
// they would be written, spilled and read again, page by page.

// heldFrom is the bytes from which a chunk is held, and heldMost the bytes held for a result; the rest goes into the
// table, which can spill. A session keeps a buffer of at most spareMost for its next statement.
const (
	heldFrom  = 64 << 10
	heldMost  = 256 << 20
	spareMost = 96 << 20
)

// held are the large chunks of a result table.
type held struct {
	cols    []bool // columns whose chunks are held
	buf     *tensor.Buffer
	at      int
	numbers []int
}

// newHeld makes room for a result's large chunks; nil where it has none, or too many.
func newHeld(db *DB, r *catalog.Relation, cols []catalog.Column) *held {
	if r.More != nil {
		return nil
	}
	h, bytes := &held{cols: make([]bool, len(cols))}, 0
	for i, v := range r.Cols {
		if !cols[i].Type.IsChunk() || v.Type().Shape == nil {
			continue
		}
		if n := columns.ChunkBytes(v, cols[i].Type); n >= heldFrom && v.Len() <= heldMost/n {
			h.cols[i] = true
			bytes += v.Len() * ((n + 63) &^ 63)
		}
	}
	if bytes == 0 || bytes > heldMost {
		return nil
	}
	if h.buf, db.results.spare = db.results.spare, nil; h.buf != nil && len(h.buf.Bytes()) >= bytes {
		return h
	}
	h.buf.Free()
	var err error
	if h.buf, err = tensor.NewBuffer(bytes); err != nil {
		return nil
	}
	return h
}

// hold stores row k of a column and returns its number.
func (h *held) hold(db *DB, v *column.Column, k int, t catalog.Type) (int, error) {
	n := columns.ChunkBytes(v, t)
	b := h.buf.Bytes()[h.at : h.at+n : h.at+n]
	h.at += (n + 63) &^ 63
	columns.PutChunk(b, v, k, t.DType())
	number, err := db.c.Hold(b)
	if err == nil {
		h.numbers = append(h.numbers, number)
	}
	return number, err
}

// keepHeld registers the large chunks of a result table.
func keepHeld(db *DB, t *catalog.TableDef, h *held) {
	if h == nil {
		return
	}
	if db.results.held == nil {
		db.results.held = map[*catalog.TableDef]*held{}
	}
	db.results.held[t] = h
}

// dropHeld frees the large chunks of a result table.
func dropHeld(db *DB, t *catalog.TableDef) {
	h := db.results.held[t]
	if h == nil {
		return
	}
	delete(db.results.held, t)
	for _, n := range h.numbers {
		db.c.Drop(n)
	}
	if h.numbers, h.at = nil, 0; db.results.spare == nil && len(h.buf.Bytes()) <= spareMost {
		db.results.spare, h.buf = h.buf, nil // its pages need not be requested again
		return
	}
	h.buf.Free()
}
