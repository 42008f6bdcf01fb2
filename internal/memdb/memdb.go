// Package memdb is a database in memory for tests.
//
// # What
//
// Tables of vectors and views, seen through bind.Catalog and ra.Source.
//
// # Invariants
//
// It runs no SQL of its own.
//
// # Errors
//
// A query that needs an Opaque node is refused.
//
// # Where to add
//
// Nothing is registered here.
package memdb

import (
	"context"
	"fmt"
	"sort"

	"github.com/relgrad/relgrad/autodiff"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// DB is a database in memory.
type DB struct {
	Tables map[string]*ra.Table
	Data   map[string][]*column.Column // by table, parallel to its columns
	Views  map[string]*bind.View
}

// New returns an empty database.
func New() *DB {
	return &DB{Tables: map[string]*ra.Table{}, Data: map[string][]*column.Column{}, Views: map[string]*bind.View{}}
}

// Column is a column with its data.
type Column struct {
	Name string
	Data *column.Column
}

// Create adds a table whose first nKey columns are the primary key (0: none).
func (db *DB) Create(name string, nKey int, cols ...Column) *ra.Table {
	t := &ra.Table{Schema: "public", Name: name, Declared: nKey > 0}
	for i, c := range cols {
		ty := c.Data.Type()
		ty.Nullable = c.Data.Valid() != nil
		c.Data.SetType(ty)
		t.Cols = append(t.Cols, ra.TableColumn{Name: c.Name, PGType: ty.Kind.String(), Type: ty})
		t.Rows = int64(c.Data.Len())
		if i < nKey {
			t.Key = append(t.Key, i)
		}
		db.Data[name] = append(db.Data[name], c.Data)
	}
	if nKey == 0 {
		t.Key = []int{ra.RowID}
	}
	db.Tables[name] = t
	return t
}

// AddView adds a view.
func (db *DB) AddView(name, sql string) error {
	text := &ast.Text{SQL: sql, View: name}
	sel, err := parse.ParseQuery(text)
	if err == nil {
		db.Views[name] = &bind.View{Name: name, Query: sel, Text: text}
	}
	return err
}

// Table implements bind.Catalog.
func (db *DB) Table(_ context.Context, _ []string, schema, name string) (*ra.Table, error) {
	if schema != "" && schema != "public" {
		return nil, nil
	}
	return db.Tables[name], nil
}

// View implements bind.Catalog.
func (db *DB) View(_ context.Context, _ []string, schema, name string) (*bind.View, error) {
	if schema != "" && schema != "public" {
		return nil, nil
	}
	return db.Views[name], nil
}

// Function implements bind.Catalog: there are none.
func (db *DB) Function(context.Context, []string, string, string) (*ast.CreateFunction, error) {
	return nil, nil
}

// Reach implements bind.Catalog: there is nothing behind a query's text.
func (db *DB) Reach(context.Context, string) (*bind.Reach, error) { return nil, nil }

// Names implements bind.Catalog.
func (db *DB) Names(context.Context) []string {
	var out []string
	for n := range db.Tables {
		out = append(out, n)
	}
	for n := range db.Views {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

// Setting implements bind.Catalog.
func (db *DB) Setting(string) (string, bool) { return "", false }

// Named implements bind.Catalog.
func (db *DB) Named(context.Context, []string, ast.TypeName) (*kernels.Named, error) { return nil, nil }

// Literal implements bind.Catalog.
func (db *DB) Literal(_ *kernels.Named, text string) (string, error) { return text, nil }

// Text implements bind.Catalog.
func (db *DB) Text() *kernels.Named { return nil }

// Describe implements bind.Catalog.
func (db *DB) Describe(context.Context, *bind.OpaqueQuery) ([]ra.Column, error) {
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "memdb runs no SQL")
}

// Structure implements bind.Catalog.
func (db *DB) Structure(ctx context.Context, b *ra.Builder, n *ra.Node) ([]*column.Column, error) {
	n, err := autodiff.Expand(ctx, b, n)
	if err != nil {
		return nil, err
	}
	rows, err := interp.New(db, &kernels.Env{}).Eval(ctx, n)
	out := make([]*column.Column, len(n.Cols))
	for i, c := range n.Cols {
		out[i] = column.New(c.Type, len(rows))
		for r, row := range rows {
			out[i].Set(r, row[i])
		}
	}
	return out, err
}

// Opaque implements ra.Source.
func (db *DB) Opaque(_ context.Context, n *ra.Node, env *kernels.Env) ([]*column.Column, error) {
	if data, ok, err := bind.Rows(n, env); ok {
		return data, err
	}
	return nil, fmt.Errorf("memdb runs no SQL")
}

// Read implements ra.Source.
func (db *DB) Read(_ context.Context, t *ra.Table, cols []int) ([]*column.Column, error) {
	out := make([]*column.Column, len(cols))
	for i, c := range cols {
		if c == ra.RowID {
			v := column.New(kernels.Type{Kind: kernels.Int}, int(t.Rows))
			for j := range v.I64() {
				v.I64()[j] = int64(j)
			}
			out[i] = v
			continue
		}
		out[i] = db.Data[t.Name][c]
	}
	return out, nil
}

// Clone copies the data, so that it can be perturbed.
func (db *DB) Clone() *DB {
	out := &DB{Tables: db.Tables, Data: map[string][]*column.Column{}, Views: db.Views}
	for n, cols := range db.Data {
		for _, c := range cols {
			out.Data[n] = append(out.Data[n], c.Clone())
		}
	}
	return out
}
