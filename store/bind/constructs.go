package bind

import (
	"reflect"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// constructs are the functions that bind each kind of expression.
var constructs = map[reflect.Type]func(b *Binder, s *Scope, e ast.Expr) Value{}

func construct[T ast.Expr](bind func(b *Binder, s *Scope, e T) Value) {
	constructs[reflect.TypeFor[T]()] = func(b *Binder, s *Scope, e ast.Expr) Value { return bind(b, s, e.(T)) }
}

func init() {
	construct((*Binder).column)
	construct(func(b *Binder, _ *Scope, e *ast.Literal) Value { return b.literalVal(e) })
	construct(func(b *Binder, _ *Scope, e *ast.Bound) Value { return bindBound(b, e) })
	construct(bindUnary)
	construct(bindBinary)
	construct(bindCall)
	construct(bindCase)
	construct(bindCoalesce)
	construct(bindMinMax)
	construct(bindNullIf)
	construct(bindCast)
	construct(bindSubLink)
	construct(bindIn)
	construct(bindAnyArray)
	construct(bindBetween)
	construct(bindIsNull)
	construct(bindIsBool)
	construct(bindIsDistinct)
	construct(bindArray)
	construct(bindCollate)
	construct(bindSubscript)

	construct(func(b *Binder, _ *Scope, e *ast.RowExpr) Value {
		b.Refuse(e.At, "a row as a value", "Compare the fields one by one.")
		return Value{}
	})
	construct(func(b *Binder, _ *Scope, e *ast.Param) Value {
		b.Fail(e.At, sqlerr.UndefinedParameter, "there is no parameter $%d", e.N)
		return Value{}
	})
	construct(func(b *Binder, _ *Scope, e *ast.Default) Value {
		b.Fail(e.At, sqlerr.Syntax, "DEFAULT is not allowed in this context")
		return Value{}
	})
}
