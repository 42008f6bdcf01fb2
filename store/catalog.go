package store

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlgen"
	"github.com/relgrad/relgrad/tensor"
)

// Column is a column of a stored table.
type Column struct {
	Name     string
	Type     Type
	Mods     []int        `json:",omitempty"` // numeric(p,s), varchar(n)
	NotNull  bool         `json:",omitempty"`
	Default  string       `json:",omitempty"` // printed for SQLite, already of the column's type
	Identity *Identity    `json:",omitempty"`
	Shape    tensor.Shape `json:",omitempty"` // of the column's chunks (law 1); nil before the first
}

// Identity is a generated column's state.
type Identity struct {
	Always    bool `json:",omitempty"`
	Serial    bool `json:",omitempty"` // of a serial type: a default, which may be dropped
	Start     int64
	Inc, Next int64
}

// Unique is a UNIQUE constraint or the PRIMARY KEY.
type Unique struct {
	Name string
	Cols []string
}

// Index is a plain or unique index that is no constraint.
type Index struct {
	Name   string
	Unique bool     `json:",omitempty"`
	Cols   []string `json:",omitempty"` // when all keys are columns
	Keys   string   // printed for SQLite
	Where  string   `json:",omitempty"`
}

// Check is a CHECK constraint, printed for SQLite; its columns for DROP COLUMN, and the query SELECT condition for what changes the
// types and names of its columns ("" of one that an older program made).
type Check struct {
	Name, SQL string
	Cols      []string
	Source    string `json:",omitempty"`
}

// Foreign is a FOREIGN KEY; of one that an older program made the name is not known.
type Foreign struct {
	Constraint   string `json:",omitempty"`
	Cols         []string
	Schema, Name string
	RefCols      []string
}

// TableDef describes a table. Definitions in the catalogue are immutable; changes clone.
type TableDef struct {
	Schema, Name string
	Temp         bool `json:",omitempty"`
	Cols         []Column
	PK           *Unique   `json:",omitempty"`
	Uniques      []Unique  `json:",omitempty"`
	Indexes      []Index   `json:",omitempty"`
	Checks       []Check   `json:",omitempty"`
	Foreign      []Foreign `json:",omitempty"`
	Count        *Count    `json:",omitempty"` // nil where it has never been known
	Matview      *ViewDef  `json:",omitempty"` // the query of a materialized view, nil for a table
	Unread       bool      `json:",omitempty"` // a materialized view WITH NO DATA
	result       bool      // holds the result of a table function during one statement
	held         *held     // what a result has beside the table, nil for nothing
	owned        bool      // a temporary table of the engine's, which fills it (see Fill)
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
	Stars        map[int][]string `json:",omitempty"` // what each * stood for, by position: "item.column"
	Deps         []Dep            // what it reads itself
}

// ReadPath is the search path that the view's text is read with. What it reads stays what it was when it was created:
// temporary relations come last, unless the view is temporary itself.
func (v *ViewDef) ReadPath() []string {
	if v.Temp {
		return v.Path
	}
	return append(slices.Clip(v.Path), "pg_temp")
}

// Dep is a relation that a view reads, with Col a column of one, or a function that it calls.
type Dep struct {
	Schema, Name string
	Col          string `json:",omitempty"`
	Function     bool   `json:",omitempty"`
}

// Column returns the index of a column, -1 if there is none.
func (t *TableDef) Column(name string) int {
	return slices.IndexFunc(t.Cols, func(c Column) bool { return c.Name == name })
}

// Keys returns the column sets that identify a row: the primary key first, then UNIQUE NOT NULL ones.
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

func (t *TableDef) clone() *TableDef {
	n := *t
	n.Cols = slices.Clone(t.Cols)
	n.Uniques, n.Indexes, n.Checks, n.Foreign = slices.Clone(t.Uniques), slices.Clone(t.Indexes), slices.Clone(t.Checks), slices.Clone(t.Foreign)
	return &n
}

// rowidColumn is the column that SQLite stores as the row id: an integer primary key. -1 if none.
func (t *TableDef) rowidColumn() int {
	if t.PK == nil || len(t.PK.Cols) != 1 {
		return -1
	}
	if i := t.Column(t.PK.Cols[0]); t.Cols[i].Type.isInt() {
		return i
	}
	return -1
}

// isRowID reports whether SQLite stores a column as the row id.
func (t *TableDef) isRowID(c *Column) bool {
	i := t.rowidColumn()
	return i >= 0 && t.Cols[i].Name == c.Name
}

// phys is the table's name inside the file; sql the quoted, qualified form.
func (t *TableDef) phys() string { return physical(t.Schema, t.Name) }
func (t *TableDef) db() string   { return dbName(t.Temp) }
func (t *TableDef) sql() string  { return t.db() + "." + sqltext.Ident(t.phys()) }

func dbName(temp bool) string {
	if temp {
		return "temp"
	}
	return "main"
}

func physical(schema, name string) string {
	if schema == "public" || schema == "pg_temp" {
		return sqlgen.Mangle(name)
	}
	return sqlgen.Mangle(schema) + "." + sqlgen.Mangle(name)
}

// quote prints an identifier for SQLite, str a string constant.
func ident(name string) string { return sqltext.Ident(sqlgen.Mangle(name)) }

func idents(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = ident(n)
	}
	return strings.Join(q, ", ")
}

// objectKey names a relation.
type objectKey struct{ schema, name string }

// function looks a function or procedure of the user's up.
func (c *catalog) function(path []string, schema, name string) (*ast.CreateFunction, objectKey) {
	if schema != "" {
		path = []string{schema}
	}
	for _, s := range path {
		k := objectKey{s, name}
		if f := c.funcs[k]; f != nil {
			return f, k
		}
	}
	return nil, objectKey{}
}

// catalog is an immutable set of definitions.
type catalog struct {
	tables  map[objectKey]*TableDef
	views   map[objectKey]*ViewDef
	funcs   map[objectKey]*ast.CreateFunction
	schemas []string
}

func emptyCatalog() *catalog {
	return &catalog{tables: map[objectKey]*TableDef{}, views: map[objectKey]*ViewDef{},
		funcs: map[objectKey]*ast.CreateFunction{}, schemas: []string{"public", "relgrad"}}
}

func (c *catalog) clone() *catalog {
	n := &catalog{tables: make(map[objectKey]*TableDef, len(c.tables)+1), views: make(map[objectKey]*ViewDef, len(c.views)+1),
		funcs: make(map[objectKey]*ast.CreateFunction, len(c.funcs)+1), schemas: slices.Clone(c.schemas)}
	for k, v := range c.tables {
		n.tables[k] = v
	}
	for k, v := range c.views {
		n.views[k] = v
	}
	for k, v := range c.funcs {
		n.funcs[k] = v
	}
	return n
}

// view returns a view's definition, nil where there is none or nothing is loaded yet.
func (c *catalog) view(k objectKey) *ViewDef {
	if c == nil {
		return nil
	}
	return c.views[k]
}

// relation finds a table or view by a possibly qualified name along a search path.
func (c *catalog) relation(path []string, schema, name string) (*TableDef, *ViewDef) {
	if schema != "" {
		path = []string{schema}
	} else if !slices.Contains(path, "pg_temp") {
		path = append([]string{"pg_temp"}, path...)
	}
	for _, s := range path {
		k := objectKey{s, name}
		if t := c.tables[k]; t != nil && !t.result {
			return t, nil
		}
		if v := c.views[k]; v != nil {
			return nil, v
		}
	}
	return nil, nil
}

// relationNames lists relations as they are written under a search path, for hints.
func (c *catalog) relationNames(path []string) []string {
	var out []string
	add := func(k objectKey) {
		if k.schema == "pg_temp" || slices.Contains(path, k.schema) {
			out = append(out, k.name)
		} else {
			out = append(out, k.schema+"."+k.name)
		}
	}
	for k, t := range c.tables {
		if !t.result {
			add(k)
		}
	}
	for k := range c.views {
		add(k)
	}
	slices.Sort(out)
	return out
}

const catalogSchema = `
CREATE TABLE IF NOT EXISTS relgrad_catalog (kind TEXT NOT NULL, schema TEXT NOT NULL, name TEXT NOT NULL, def TEXT NOT NULL, PRIMARY KEY (kind, schema, name)) STRICT, WITHOUT ROWID;
PRAGMA application_id = 0x72677264;
PRAGMA user_version = 1;`

const applicationID = 0x72677264

// load reads the persistent part of the catalogue; temporary objects are kept.
func (db *DB) load() error {
	cat := emptyCatalog()
	if db.cat != nil {
		for k, t := range db.cat.tables {
			if t.Temp {
				cat.tables[k] = t
			}
		}
		for k, v := range db.cat.views {
			if v.Temp {
				cat.views[k] = v
			}
		}
	}
	err := db.rows("SELECT kind, schema, name, def FROM main.relgrad_catalog", func(r row) error {
		kind, k, def := r.text(0), objectKey{r.text(1), r.text(2)}, []byte(r.text(3))
		switch kind {
		case "table":
			t := &TableDef{}
			cat.tables[k] = t
			return json.Unmarshal(def, t)
		case "view":
			v := &ViewDef{}
			if err := json.Unmarshal(def, v); err != nil {
				return err
			}
			if old := db.cat.view(k); reflect.DeepEqual(old, v) { // who knows a view by its definition still does
				v = old
			}
			cat.views[k] = v
		case "function":
			f, err := decodeFunction(def)
			cat.funcs[k] = f
			return err
		case "schema":
			cat.schemas = append(cat.schemas, k.schema)
		}
		return nil
	})
	if err != nil {
		return err
	}
	db.cat = cat
	return nil
}

// save writes one definition; def nil removes it.
func (db *DB) save(kind, schema, name string, def any) error {
	if def == nil {
		return db.exec("DELETE FROM main.relgrad_catalog WHERE kind = ? AND schema = ? AND name = ?", kind, schema, name)
	}
	b, err := json.Marshal(def)
	if err != nil {
		return sqlerr.New(sqlerr.Internal, "internal error: catalogue: %v", err)
	}
	return db.exec("INSERT OR REPLACE INTO main.relgrad_catalog VALUES (?, ?, ?, ?)", kind, schema, name, string(b))
}

// putTable replaces or adds (def nil: removes) a table's definition.
func (db *DB) putTable(k objectKey, t *TableDef) error {
	cat := db.cat.clone()
	old := cat.tables[k]
	if t == nil {
		delete(cat.tables, k)
	} else {
		cat.tables[k] = t
	}
	db.cat = cat
	if t == nil {
		if old != nil && old.Temp {
			return nil
		}
		return db.save("table", k.schema, k.name, nil)
	}
	if t.Temp {
		return nil
	}
	return db.save("table", k.schema, k.name, t)
}

func (db *DB) putView(k objectKey, v *ViewDef) error {
	cat := db.cat.clone()
	old := cat.views[k]
	if v == nil {
		delete(cat.views, k)
	} else {
		cat.views[k] = v
	}
	db.cat = cat
	if v == nil {
		if old != nil && old.Temp {
			return nil
		}
		return db.save("view", k.schema, k.name, nil)
	}
	if v.Temp {
		return nil
	}
	return db.save("view", k.schema, k.name, v)
}
