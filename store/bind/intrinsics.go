package bind

import (
	"context"
	"errors"
	"sync"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/functions"
)

var resultLock sync.Mutex // guards kernelResults

// Intrinsics are the engine's functions. They are called while a statement is being bound, on its connection and in its
// transaction. So they see its uncommitted rows and may read from the DB, but must not write tables that the statement
// reads. Arguments are trees: constants, NULL::table, ARRAY[…], named ones in ArgNames. Their positions point into
// text. ok is false for other functions.
type Intrinsics interface {
	// TableFunc runs a function in FROM, such as gradient('loss', NULL::w). It may leave out columns and rows that the
	// statement does not need.
	TableFunc(ctx context.Context, call *ast.FuncCall, needs ast.Needs, text *ast.Text) (r *catalog.Relation, ok bool,
		err error)
	// ScalarFunc runs a function in an expression, such as backward(…) or current_step(), once for the statement. typ
	// is a Postgres type name; value is as in Result.
	ScalarFunc(ctx context.Context, call *ast.FuncCall, text *ast.Text) (typ string, value any, ok bool, err error)
}

// ViewEngine is an Intrinsics that can also compute a whole view, faster than the statement would.
type ViewEngine interface {
	// View computes a view. ok is false where the statement must expand it. The relation has the view's types. Its
	// columns are valid until the engine works again.
	View(ctx context.Context, v *catalog.ViewDef) (r *catalog.Relation, ok bool, err error)
}

// engineView lets the engine compute a view of a query that will be run; nil: the view is expanded.
func engineView(b *Binder, v *catalog.ViewDef) *catalog.TableDef {
	e, ok := b.session.Intrinsics().(ViewEngine)
	if !ok || !b.Runs || b.Literal {
		return nil
	}
	r, ok, err := e.View(b.Context, v)
	if err != nil || !ok {
		return nil // expanded, the view gives the error with its position
	}
	t, err := b.session.PutResult(r)
	if err != nil {
		return nil
	}
	b.Results = append(b.Results, t)
	return t
}

// scalarIntrinsic asks the engine for a scalar function's value.
func scalarIntrinsic(b *Binder, e *ast.FuncCall) (Value, bool) {
	noEngine(b, e)
	typ, x, ok, err := b.session.Intrinsics().ScalarFunc(b.Context, e, b.Text)
	b.Check(e.At, err)
	if !ok {
		return Value{}, false
	}
	if typ == "void" {
		x = ""
	}
	return bindBound(b, &ast.Bound{Node: e.Node, Type: typ, Value: x}), true
}

// tableIntrinsic runs a table function of the engine and stores its rows in a temporary table that the statement reads;
// nil for other functions.
func tableIntrinsic(b *Binder, it *ast.FuncFrom) *catalog.TableDef {
	if b.session.Intrinsics() == nil || functions.IsSetReturning(it.Func.Name) || it.Ordinality {
		return nil
	}
	noEngine(b, it.Func)
	needs := b.needs.Funcs[it]
	needs.Typed = b.Unread
	check := func(err error) {
		if e := (*sqlerr.Error)(nil); errors.As(err, &e) && e.Pos >= 0 { // in this text, which may be a view's
			err = sqlerr.In(err, b.Text)
		}
		b.Check(it.At, err)
	}
	r, ok, err := b.session.Intrinsics().TableFunc(b.Context, it.Func, needs, b.Text)
	check(err)
	if !ok {
		return nil
	}
	t, err := b.session.PutResult(r)
	check(err)
	b.Results = append(b.Results, t)
	return t
}
