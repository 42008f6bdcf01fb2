package bind

import (
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// noteType records the type of an expression for Typed.
func noteType(b *Binder, e ast.Expr, v Value) {
	if b.Typed == nil {
		return
	}
	typ := v.Type
	if typ.IsUnknown() {
		typ = catalog.Type{}
	}
	b.Typed.Types[e] = typ
}

// noteColumn records a reference to a table's column.
func noteColumn(b *Binder, ref *ast.ColumnRef, c *Column) {
	if b.Typed != nil {
		b.Typed.Stored[ref] = c.Relation != nil && c.Relation.Table != nil
	}
}

func noteSelect(b *Binder, sel *ast.Select) {
	if b.Typed != nil {
		b.Typed.Selects = append(b.Typed.Selects, sel)
	}
}

// noEngine refuses a call of the engine where nothing may run.
func noEngine(b *Binder, e *ast.FuncCall) {
	if b.Typed != nil {
		b.Fail(e.At, sqlerr.FeatureNotSupported, "%s is computed when the statement runs", e.Name)
	}
}
