package store

import (
	"strings"

	"github.com/relgrad/relgrad/catalog"
)

// counted returns what a table holds. It counts where that is not known, and the catalogue of this session remembers it.
func (db *DB) counted(t *catalog.TableDef) (*catalog.Count, error) {
	if t.Count.Fresh() {
		return t.Count, nil
	}
	n := t.Clone()
	if err := db.count(n); err != nil {
		return nil, err
	}
	if db.cat.tables[keyOf(t)] == t {
		cat := db.cat.clone()
		cat.tables[keyOf(t)] = n
		db.cat = cat
	}
	return n.Count, nil
}

// count counts a table's rows and finds its columns that hold NULL.
func (db *DB) count(t *catalog.TableDef) error {
	stats, asked := []string{"count(*)"}, []string(nil) // SQLite counts rows without reading them, and values not
	for i := range t.Cols {
		if c := &t.Cols[i]; !c.NotNull {
			value := ident(c.Name)
			if c.Type.IsChunk() { // it knows a value's type without reading it
				value = "nullif(typeof(" + value + "), 'null')"
			}
			stats, asked = append(stats, "count("+value+")"), append(asked, c.Name)
		}
	}
	return db.rows("SELECT "+strings.Join(stats, ", ")+" FROM "+sqlOf(t), func(r row) error {
		t.Count = &catalog.Count{Rows: r[0].Int()}
		for k, name := range asked {
			if r[k+1].Int() < t.Count.Rows {
				t.Count.Nulls = append(t.Count.Nulls, name)
			}
		}
		return nil
	})
}

// recount keeps the count of a table that has been in the catalogue with one, after a statement that has written
// rows of it: it is taken again where that costs no more than the writing, and else is stale. It reports whether it is another one.
func (db *DB) recount(t *catalog.TableDef, wrote int64) (changed bool, err error) {
	switch {
	case t.Count == nil:
		return false, nil
	case t.Filled: // each step fills it anew, and plans do not ask
		t.Count = nil
		return true, nil
	case wrote == 0:
		return false, nil
	case 2*wrote >= t.Count.Rows:
		return true, db.count(t)
	}
	changed, t.Count = !t.Count.Stale, t.Count.AsStale()
	return changed, nil
}
