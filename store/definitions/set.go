package definitions

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Key is the name of a relation.
type Key struct{ Schema, Name string }

// Function finds a function or procedure of the user.
func (c *Set) Function(path []string, schema, name string) (*ast.CreateFunction, Key) {
	if schema != "" {
		path = []string{schema}
	}
	for _, s := range path {
		k := Key{s, name}
		if f := c.Funcs[k]; f != nil {
			return f, k
		}
	}
	return nil, Key{}
}

// Set is an immutable set of definitions.
type Set struct {
	Tables  map[Key]*catalog.TableDef
	Views   map[Key]*catalog.ViewDef
	Funcs   map[Key]*ast.CreateFunction
	Schemas []string
}

// NewSet has the schemas that every store has.
func NewSet() *Set {
	return &Set{Tables: map[Key]*catalog.TableDef{}, Views: map[Key]*catalog.ViewDef{},
		Funcs: map[Key]*ast.CreateFunction{}, Schemas: []string{"public", "relgrad"}}
}

// Clone copies the set, so that it can be changed.
func (c *Set) Clone() *Set {
	n := &Set{Tables: make(map[Key]*catalog.TableDef, len(c.Tables)+1),
		Views: make(map[Key]*catalog.ViewDef, len(c.Views)+1),
		Funcs: make(map[Key]*ast.CreateFunction, len(c.Funcs)+1), Schemas: slices.Clone(c.Schemas)}
	for k, v := range c.Tables {
		n.Tables[k] = v
	}
	for k, v := range c.Views {
		n.Views[k] = v
	}
	for k, v := range c.Funcs {
		n.Funcs[k] = v
	}
	return n
}

// View returns a view's definition, nil where there is none or no catalogue has been read yet.
func (c *Set) View(k Key) *catalog.ViewDef {
	if c == nil {
		return nil
	}
	return c.Views[k]
}

// Relation finds a table or view by a possibly qualified name along a search path.
func (c *Set) Relation(path []string, schema, name string) (*catalog.TableDef, *catalog.ViewDef) {
	if schema != "" {
		path = []string{schema}
	} else if !slices.Contains(path, "pg_temp") {
		path = append([]string{"pg_temp"}, path...)
	}
	for _, s := range path {
		k := Key{s, name}
		if t := c.Tables[k]; t != nil && !t.Result {
			return t, nil
		}
		if v := c.Views[k]; v != nil {
			return nil, v
		}
	}
	return nil, nil
}

// RelationNames lists relations as one would write them under a search path, for hints.
func (c *Set) RelationNames(path []string) []string {
	var out []string
	add := func(k Key) {
		if k.Schema == "pg_temp" || slices.Contains(path, k.Schema) {
			out = append(out, k.Name)
		} else {
			out = append(out, k.Schema+"."+k.Name)
		}
	}
	for k, t := range c.Tables {
		if !t.Result {
			add(k)
		}
	}
	for k := range c.Views {
		add(k)
	}
	slices.Sort(out)
	return out
}

// Exists reports whether a table, view or index of a schema has this name: all three share their names.
func (c *Set) Exists(k Key) bool {
	if c.Tables[k] != nil || c.Views[k] != nil {
		return true
	}
	for of, t := range c.Tables {
		if of.Schema == k.Schema && slices.Contains(IndexNames(t), k.Name) {
			return true
		}
	}
	return false
}

// ByFileName finds a table by its name in the file.
func (c *Set) ByFileName(phys string) *catalog.TableDef {
	for _, t := range c.Tables {
		if FileName(t) == phys {
			return t
		}
	}
	return nil
}

// HasSchema reports whether there is a schema of this name.
func (c *Set) HasSchema(name string) bool { return slices.Contains(c.Schemas, name) }

// FunctionNames lists the user's functions and procedures.
func (c *Set) FunctionNames() []string {
	var out []string
	for k := range c.Funcs {
		out = append(out, k.Name)
	}
	slices.Sort(out)
	return out
}

// SortedKeys lists the objects for which a condition holds, by name.
func SortedKeys[T any](m map[Key]T, holds func(Key) bool) []Key {
	var out []Key
	for k := range m {
		if holds(k) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(x, y Key) int { return Before(x.Schema, x.Name, y.Schema, y.Name) })
	return out
}

// Before orders by schema, then by name.
func Before(schema, name, schema2, name2 string) int {
	if c := strings.Compare(schema, schema2); c != 0 {
		return c
	}
	return strings.Compare(name, name2)
}

// IndexName is the name of an index whose name in the file is phys.
func (c *Set) IndexName(phys string) string {
	for _, t := range c.Tables {
		for _, x := range t.Indexes {
			if FileNameOf(t.Schema, x.Name)+"^i" == phys {
				return x.Name
			}
		}
	}
	return strings.TrimSuffix(phys, "^i")
}
