package store

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
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
	n := &definitions{tables: make(map[objectKey]*catalog.TableDef, len(c.tables)+1),
		views: make(map[objectKey]*catalog.ViewDef, len(c.views)+1),
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

// relationThere reports whether a schema has a table, a view or an index of this name: they share one set of names.
func (c *definitions) relationThere(k objectKey) bool {
	if c.tables[k] != nil || c.views[k] != nil {
		return true
	}
	for of, t := range c.tables {
		if of.schema == k.schema && slices.Contains(indexNames(t), k.name) {
			return true
		}
	}
	return false
}

func (c *definitions) byPhys(phys string) *catalog.TableDef {
	for _, t := range c.tables {
		if physOf(t) == phys {
			return t
		}
	}
	return nil
}

func (c *definitions) hasSchema(name string) bool {
	for _, s := range c.schemas {
		if s == name {
			return true
		}
	}
	return false
}
