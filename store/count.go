package store

import (
	"slices"
	"strings"
)

// Count is what a table held when its rows were counted: plans need it, and counting reads all of a table's pages.
type Count struct {
	Rows  int64
	Nulls []string `json:",omitempty"` // the columns that hold NULL
	Stale bool     `json:",omitempty"` // rows have been written since
}

// counted returns what a table holds. It counts where that is not known, and the catalogue of this session remembers it.
func (db *DB) counted(t *TableDef) (*Count, error) {
	if t.Count.fresh() {
		return t.Count, nil
	}
	n := t.clone()
	if err := db.count(n); err != nil {
		return nil, err
	}
	if db.cat.tables[t.key()] == t {
		cat := db.cat.clone()
		cat.tables[t.key()] = n
		db.cat = cat
	}
	return n.Count, nil
}

func (c *Count) fresh() bool { return c != nil && !c.Stale }

// stale is the count after a change that is not followed.
func (c *Count) stale() *Count {
	if !c.fresh() {
		return c
	}
	return &Count{Rows: c.Rows, Nulls: c.Nulls, Stale: true}
}

// count counts a table's rows and finds its columns that hold NULL.
func (db *DB) count(t *TableDef) error {
	stats, asked := []string{"count(*)"}, []string(nil) // SQLite counts rows without reading them, and values not
	for i := range t.Cols {
		if c := &t.Cols[i]; !c.NotNull {
			value := ident(c.Name)
			if c.Type.isChunk() { // it knows a value's type without reading it
				value = "nullif(typeof(" + value + "), 'null')"
			}
			stats, asked = append(stats, "count("+value+")"), append(asked, c.Name)
		}
	}
	return db.rows("SELECT "+strings.Join(stats, ", ")+" FROM "+t.sql(), func(r row) error {
		t.Count = &Count{Rows: r[0].Int()}
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
func (db *DB) recount(t *TableDef, wrote int64) (changed bool, err error) {
	switch {
	case t.Count == nil:
		return false, nil
	case t.owned: // each step fills it anew, and plans do not ask
		t.Count = nil
		return true, nil
	case wrote == 0:
		return false, nil
	case 2*wrote >= t.Count.Rows:
		return true, db.count(t)
	}
	changed, t.Count = !t.Count.Stale, t.Count.stale()
	return changed, nil
}

// null reports whether a column holds NULL.
func (c *Count) null(col string) bool { return slices.Contains(c.Nulls, col) }
