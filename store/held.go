package store

import (
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/tensor"
)

// Large chunks of a result stay beside its temporary table, which has their numbers (lite.Conn.Hold): in the table they
// would be written, spilled and read again, page by page.

// heldFrom is the size in bytes from which a chunk is held, and heldMost what a result may hold; more lies in the
// table, which spills. A session keeps one buffer of at most spareMost for its next statement.
const (
	heldFrom  = 64 << 10
	heldMost  = 256 << 20
	spareMost = 96 << 20
)

// held is what a result table holds.
type held struct {
	cols    []bool // the columns whose chunks are
	buf     *tensor.Buffer
	at      int
	numbers []int
}

// newHeld is nil where a result has no large chunks, or too many.
func newHeld(db *DB, r *catalog.Relation, cols []catalog.Column) *held {
	h, bytes := &held{cols: make([]bool, len(cols))}, 0
	for i, v := range r.Cols {
		if !cols[i].Type.IsChunk() || v.Type.Shape == nil {
			continue
		}
		if n := columns.ChunkBytes(v, cols[i].Type); n >= heldFrom && v.N <= heldMost/n {
			h.cols[i] = true
			bytes += v.N * ((n + 63) &^ 63)
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

// hold keeps row k of a column and returns its number.
func (h *held) hold(db *DB, v *ra.Vector, k int, t catalog.Type) (int, error) {
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

// keepHeld notes what a result table holds.
func keepHeld(db *DB, t *catalog.TableDef, h *held) {
	if h == nil {
		return
	}
	if db.results.held == nil {
		db.results.held = map[*catalog.TableDef]*held{}
	}
	db.results.held[t] = h
}

// dropHeld forgets what a result table holds.
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
		db.results.spare, h.buf = h.buf, nil // whose pages the next one need not ask the system for
		return
	}
	h.buf.Free()
}

// isHeld reports whether the table has the numbers of a column's chunks.
func isHeld(t *catalog.TableDef, col int) bool { return t.Held != nil && t.Held[col] }

// readColumn prints column i of a table that alias stands for.
func readColumn(t *catalog.TableDef, alias string, i int) string {
	sql := alias + ident(t.Cols[i].Name)
	if isHeld(t, i) {
		return "rg_held(" + sql + ")"
	}
	return sql
}
