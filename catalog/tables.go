package catalog

import (
	"slices"

	"github.com/relgrad/relgrad/tensor"
)

// Column is a column of a stored table.
type Column struct {
	Name     string
	Type     Type
	Mods     []int        `json:",omitempty"` // numeric(p,s), varchar(n)
	NotNull  bool         `json:",omitempty"`
	Default  string       `json:",omitempty"` // printed for SQLite, converted to the column's type
	Identity *Identity    `json:",omitempty"`
	Shape    tensor.Shape `json:",omitempty"` // of the column's chunks (law 1); nil before the first
}

// Identity is the state of a generated column.
type Identity struct {
	Always           bool `json:",omitempty"`
	Serial           bool `json:",omitempty"` // of a serial type: has an ordinary default, which may be dropped
	Start, Inc, Next int64
}

// Unique is a UNIQUE constraint or the PRIMARY KEY.
type Unique struct {
	Name string
	Cols []string
}

// Index is an index, unique or not, that is not a constraint.
type Index struct {
	Name   string
	Unique bool     `json:",omitempty"`
	Cols   []string `json:",omitempty"` // when all keys are columns
	Keys   string   // printed for SQLite
	Where  string   `json:",omitempty"`
}

// Check is a CHECK constraint, printed for SQLite. Its columns are for DROP COLUMN. The query SELECT condition is for
// changes of its columns' types and names; it is "" if an older relgrad made the constraint.
type Check struct {
	Name, SQL string
	Cols      []string
	Source    string `json:",omitempty"`
}

// Foreign is a FOREIGN KEY. Its name is unknown if an older relgrad made it.
type Foreign struct {
	Constraint   string `json:",omitempty"`
	Cols         []string
	Schema, Name string
	RefCols      []string
}

// TableDef describes a table. Definitions are immutable: to change one, clone it.
type TableDef struct {
	Schema, Name string
	Temp         bool `json:",omitempty"`
	Cols         []Column
	PK           *Unique   `json:",omitempty"`
	Uniques      []Unique  `json:",omitempty"`
	Indexes      []Index   `json:",omitempty"`
	Checks       []Check   `json:",omitempty"`
	Foreign      []Foreign `json:",omitempty"`
	Count        *Count    `json:",omitempty"` // nil: never counted
	Matview      *ViewDef  `json:",omitempty"` // the query of a materialized view; nil: a table
	Unread       bool      `json:",omitempty"` // a materialized view WITH NO DATA

	// Result, Held and Filled are for tables that a session makes for itself; no catalogue stores them.
	Result bool   `json:"-"` // holds the result of a table function during one statement
	Held   []bool `json:"-"` // by column: holds numbers of chunks kept outside; nil: none does
	Filled bool   `json:"-"` // a gradient's temporary table, whose rows the engine replaces
}

// ViewColumn is an output column of a view, fixed when the view was created.
type ViewColumn struct {
	Name string
	Type Type
}

// ViewDef describes a view: its source text and what fixes its meaning.
type ViewDef struct {
	Schema, Name string
	Temp         bool `json:",omitempty"`
	Cols         []ViewColumn
	SQL          string
	Path         []string         // search_path when it was created
	Stars        map[int][]string `json:",omitempty"` // the columns of each *, by its position: "item.column"
	Deps         []Dep            // what it reads directly
}

// ReadPath is the search path for reading the view's text. So that the view keeps its meaning, temporary relations come
// last unless the view itself is temporary.
func (v *ViewDef) ReadPath() []string {
	if v.Temp {
		return v.Path
	}
	return append(slices.Clip(v.Path), "pg_temp")
}

// Dep is something that a view depends on: a relation, with Col a column of it, or a function.
type Dep struct {
	Schema, Name string
	Col          string `json:",omitempty"`
	Function     bool   `json:",omitempty"`
}

// Column returns the index of a column, -1 if there is none.
func (t *TableDef) Column(name string) int {
	return slices.IndexFunc(t.Cols, func(c Column) bool { return c.Name == name })
}

// Keys returns the sets of columns that identify a row: the primary key first, then UNIQUE NOT NULL constraints.
func (t *TableDef) Keys() [][]string {
	var out [][]string
	if t.PK != nil {
		out = append(out, t.PK.Cols)
	}
	add := func(cols []string) {
		for _, c := range cols {
			if i := t.Column(c); i < 0 || !t.Cols[i].NotNull {
				return
			}
		}
		out = append(out, cols)
	}
	for _, u := range t.Uniques {
		add(u.Cols)
	}
	for _, x := range t.Indexes {
		if x.Unique && x.Where == "" && len(x.Cols) > 0 {
			add(x.Cols)
		}
	}
	return out
}

func (t *TableDef) Clone() *TableDef {
	n := *t
	n.Cols = slices.Clone(t.Cols)
	n.Uniques, n.Indexes, n.Checks, n.Foreign = slices.Clone(t.Uniques), slices.Clone(t.Indexes), slices.Clone(t.Checks),
		slices.Clone(t.Foreign)
	return &n
}

// Count is the content of a table when it was counted. Plans need it, and counting reads all pages of a table.
type Count struct {
	Rows  int64
	Nulls []string `json:",omitempty"` // columns with NULLs
	Stale bool     `json:",omitempty"` // rows have been written since
}

func (c *Count) Fresh() bool { return c != nil && !c.Stale }

// AsStale is the count after a change that has not been counted.
func (c *Count) AsStale() *Count {
	if !c.Fresh() {
		return c
	}
	return &Count{Rows: c.Rows, Nulls: c.Nulls, Stale: true}
}

// HasNull reports whether a column holds NULL.
func (c *Count) HasNull(col string) bool { return slices.Contains(c.Nulls, col) }
