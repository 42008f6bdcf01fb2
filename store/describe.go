package store

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
)

// Objects lists what the session sees, commits of other sessions included.
func (db *DB) Objects() (*catalog.Objects, error) {
	if err := db.refresh(); err != nil {
		return nil, err
	}
	o := &catalog.Objects{Schemas: slices.Sorted(slices.Values(db.cat.schemas))}
	for _, t := range db.cat.tables {
		if !t.Result {
			o.Tables = append(o.Tables, t)
		}
	}
	for _, v := range db.cat.views {
		o.Views = append(o.Views, v)
	}
	for k, f := range db.cat.funcs {
		o.Functions = append(o.Functions, catalog.Function{Schema: k.schema, CreateFunction: f})
	}
	slices.SortFunc(o.Tables, func(a, b *catalog.TableDef) int { return before(a.Schema, a.Name, b.Schema, b.Name) })
	slices.SortFunc(o.Views, func(a, b *catalog.ViewDef) int { return before(a.Schema, a.Name, b.Schema, b.Name) })
	slices.SortFunc(o.Functions, func(a, b catalog.Function) int { return before(a.Schema, a.Name, b.Schema, b.Name) })
	return o, nil
}

// Failed reports whether a statement of the open transaction failed, so that only its end is left to do.
func (db *DB) Failed() bool { return db.failed }

// before orders by schema, then by name.
func before(schema, name, schema2, name2 string) int {
	if c := strings.Compare(schema, schema2); c != 0 {
		return c
	}
	return strings.Compare(name, name2)
}
