package store

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlgen"
)

// rowidColumn is the column that SQLite stores as the row id: an integer primary key. -1 if none.
func rowidColumn(t *catalog.TableDef) int {
	if t.PK == nil || len(t.PK.Cols) != 1 {
		return -1
	}
	if i := t.Column(t.PK.Cols[0]); t.Cols[i].Type.IsInt() {
		return i
	}
	return -1
}

// isRowID reports whether SQLite stores a column as the row id.
func isRowID(t *catalog.TableDef, c *catalog.Column) bool {
	i := rowidColumn(t)
	return i >= 0 && t.Cols[i].Name == c.Name
}

// physOf is the table's name inside the file; sql the quoted, qualified form.
func physOf(t *catalog.TableDef) string { return physical(t.Schema, t.Name) }
func dbOf(t *catalog.TableDef) string   { return dbName(t.Temp) }
func sqlOf(t *catalog.TableDef) string  { return dbOf(t) + "." + sqltext.Ident(physOf(t)) }

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
func (c *definitions) function(path []string, schema, name string) (*ast.CreateFunction, objectKey) {
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

// definitions is an immutable set of definitions.
type definitions struct {
	tables  map[objectKey]*catalog.TableDef
	views   map[objectKey]*catalog.ViewDef
	funcs   map[objectKey]*ast.CreateFunction
	schemas []string
}

func noDefinitions() *definitions {
	return &definitions{tables: map[objectKey]*catalog.TableDef{}, views: map[objectKey]*catalog.ViewDef{},
		funcs: map[objectKey]*ast.CreateFunction{}, schemas: []string{"public", "relgrad"}}
}

func (c *definitions) clone() *definitions {
	n := &definitions{tables: make(map[objectKey]*catalog.TableDef, len(c.tables)+1), views: make(map[objectKey]*catalog.ViewDef, len(c.views)+1),
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
func (c *definitions) view(k objectKey) *catalog.ViewDef {
	if c == nil {
		return nil
	}
	return c.views[k]
}

// relation finds a table or view by a possibly qualified name along a search path.
func (c *definitions) relation(path []string, schema, name string) (*catalog.TableDef, *catalog.ViewDef) {
	if schema != "" {
		path = []string{schema}
	} else if !slices.Contains(path, "pg_temp") {
		path = append([]string{"pg_temp"}, path...)
	}
	for _, s := range path {
		k := objectKey{s, name}
		if t := c.tables[k]; t != nil && !t.Result {
			return t, nil
		}
		if v := c.views[k]; v != nil {
			return nil, v
		}
	}
	return nil, nil
}

// relationNames lists relations as they are written under a search path, for hints.
func (c *definitions) relationNames(path []string) []string {
	var out []string
	add := func(k objectKey) {
		if k.schema == "pg_temp" || slices.Contains(path, k.schema) {
			out = append(out, k.name)
		} else {
			out = append(out, k.schema+"."+k.name)
		}
	}
	for k, t := range c.tables {
		if !t.Result {
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
	cat := noDefinitions()
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
			t := &catalog.TableDef{}
			cat.tables[k] = t
			return json.Unmarshal(def, t)
		case "view":
			v := &catalog.ViewDef{}
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
func (db *DB) putTable(k objectKey, t *catalog.TableDef) error {
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

func (db *DB) putView(k objectKey, v *catalog.ViewDef) error {
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
