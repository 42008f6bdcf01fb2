package store

import (
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Typed is what the store knows of a view's query, and of the queries of all views that it reads.
type Typed struct {
	Selects []*ast.Select             // with those of sub-queries and WITH items, inner ones first
	Types   map[ast.Expr]catalog.Type // of every expression that was bound; an untyped literal has the zero Type
	Stored  map[*ast.ColumnRef]bool   // references to columns of tables
}

// note records the type of an expression for Typed.
func (t *Typed) note(e ast.Expr, v val) {
	if t == nil {
		return
	}
	typ := v.typ
	if typ.IsUnknown() {
		typ = catalog.Type{}
	}
	t.Types[e] = typ
}

// noteColumn records a reference to a table's column.
func (t *Typed) noteColumn(ref *ast.ColumnRef, c *column) {
	if t != nil {
		t.Stored[ref] = c.rel != nil && c.rel.table != nil
	}
}

func (t *Typed) noteSelect(sel *ast.Select) {
	if t != nil {
		t.Selects = append(t.Selects, sel)
	}
}

// noEngine refuses a call of the engine's where nothing may run.
func noEngine(b *binder, e *ast.FuncCall) {
	if b.typed != nil {
		b.fail(e.At, sqlerr.FeatureNotSupported, "%s is computed when the statement runs", e.Name)
	}
}
