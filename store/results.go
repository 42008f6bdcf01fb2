package store

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/tensor"
)

// results are the temporary tables in which statements read what functions of the engine gave.
type results struct {
	free  map[string][]*catalog.TableDef // by column types
	since int                            // what was rolled back when they were known to be there: see transactions.undone
	made  int
	held  map[*catalog.TableDef]*held // what they have beside them
	spare *tensor.Buffer              // of held
}

// known forgets the free tables after a rollback, which may have removed them.
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
			dropHeld(db, t)
		}
	}()
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(r.Cols)), ", ")
	s, err := db.c.Prepare("INSERT INTO " + sqlOf(t) + " VALUES (" + marks + ")")
	if err != nil {
		return nil, db.translate(err)
	}
	defer s.Close()
	rows := 0
	if len(r.Cols) > 0 {
		rows = r.Cols[0].N
	}
	for k := range rows {
		for i, v := range r.Cols {
			if isHeld(t, i) && !v.IsNull(k) {
				number, err := db.results.held[t].hold(db, v, k, t.Cols[i].Type)
				if err != nil {
					return nil, db.translate(err)
				}
				s.SetInt(i, int64(number))
				continue
			}
			if err := columns.SetVector(s, i, v, k, t.Cols[i].Type, nil); err != nil {
				return nil, err
			}
		}
		if err := s.Run(); err != nil {
			return nil, db.translate(err)
		}
	}
	return t, nil
}

// takeResult finds or makes an empty table of the result's types.
func takeResult(db *DB, r *catalog.Relation) (*catalog.TableDef, error) {
	t := &catalog.TableDef{Schema: "pg_temp", Temp: true, Result: true}
	for i, n := range r.Names {
		t.Cols = append(t.Cols, catalog.Column{Name: n, Type: catalog.TypeOf(r.Types[i])})
	}
	h := newHeld(db, r, t.Cols)
	if h != nil {
		t.Held = h.cols
	}
	sig := signatureOf(t)
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
	return t, db.translate(db.exec(createSQL(t, physOf(t))))
}

// giveResult empties a result table and keeps it for the next call.
func giveResult(db *DB, t *catalog.TableDef) {
	dropHeld(db, t)
	if db.exec("DELETE FROM "+sqlOf(t)) != nil {
		return // a rollback removed it
	}
	db.results.known(db.undone)
	if db.results.free == nil {
		db.results.free = map[string][]*catalog.TableDef{}
	}
	sig := signatureOf(t)
	db.results.free[sig] = append(db.results.free[sig], t)
}

// signatureOf is what two interchangeable result tables have in common.
func signatureOf(t *catalog.TableDef) string {
	var b strings.Builder
	for i, c := range t.Cols {
		b.WriteString(c.Name + " " + c.Type.String() + ",")
		if isHeld(t, i) {
			b.WriteString("held,")
		}
	}
	return b.String()
}
