package plpgsql

import (
	"context"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// inliner replaces calls of the user's functions in a statement, which the Store does not know:
//   - a LANGUAGE sql function with one bare expression: by the expression, with the arguments in place of the
//     parameters (as Postgres inlines it);
//   - a call whose arguments read no columns: by the result of one call, which is right for a function that is not
//     volatile, and for any function in a query without FROM;
//   - a function in FROM: by its rows.
//
// All other calls are refused with a position.
type inliner struct {
	in      *Interp
	ctx     context.Context
	text    *ast.Text
	began   *bool  // a transaction has been begun for the calls
	err     *error // the first failure
	current ast.Tree
	rows    bool // inside a query with FROM: an expression may be evaluated for many rows
	branch  bool // inside CASE, COALESCE, AND, OR: an expression may not be evaluated at all
}

// node is the callback of Rewrite.
func (il inliner) node(t ast.Tree) ast.Tree {
	if *il.err != nil || t == il.current {
		return nil
	}
	inside := func(rows, branch bool) ast.Tree {
		sub := il
		sub.current, sub.rows, sub.branch = t, il.rows || rows, il.branch || branch
		return ast.Rewrite(t, sub.node)
	}
	switch n := t.(type) {
	case *ast.CreateView, *ast.CreateTable, *ast.AlterTable, *ast.CreateIndex:
		return t // definitions keep their text
	case *ast.Select:
		return inside(len(n.From) > 0, false)
	case *ast.Update, *ast.Delete:
		return inside(true, false)
	case *ast.Case, *ast.Coalesce:
		return inside(false, true)
	case *ast.Binary:
		if n.Op == "and" || n.Op == "or" {
			return inside(false, true)
		}
	case *ast.FuncCall:
		if fn := il.in.Session.Function(n.Schema, n.Name); fn != nil {
			return il.scalar(fn, n)
		}
	case *ast.FuncFrom:
		if fn := il.in.Session.Function(n.Func.Schema, n.Func.Name); fn != nil {
			return il.set(fn, n)
		}
	}
	return nil
}

func (il inliner) fail(err error) ast.Tree {
	if *il.err == nil {
		*il.err = sqlerr.In(err, il.text)
	}
	return nil
}

func (il inliner) refuse(at ast.Pos, hint, format string, args ...any) ast.Tree {
	return il.fail(sqlerr.At(int(at), sqlerr.FeatureNotSupported, format, args...).WithHint("%s", hint))
}

// args orders the arguments by parameter and inlines the calls in them.
func (il inliner) args(fn *ast.CreateFunction, n *ast.FuncCall) []ast.Expr {
	if fn.Procedure {
		il.fail(sqlerr.At(int(n.At), sqlerr.WrongObjectType, "%s is a procedure", fn.Signature()).
			WithHint("To call a procedure, use CALL."))
		return nil
	}
	if n.Over != nil || n.Filter != nil || n.Distinct || n.Star || n.OrderBy != nil {
		il.fail(sqlerr.At(int(n.At), sqlerr.WrongObjectType, "%s is no aggregate or window function", fn.Signature()))
		return nil
	}
	args, err := fn.Arrange(n, il.text)
	if err != nil {
		il.fail(err)
		return nil
	}
	for i, a := range args {
		if a != nil {
			args[i] = ast.Rewrite(ast.Tree(a), il.node)
		}
	}
	return args
}

// constant reports whether no argument depends on a row.
func (il inliner) constant(args []ast.Expr) bool {
	ok := true
	for _, a := range args {
		if a == nil || !il.rows { // without rows nothing depends on one
			continue
		}
		ast.Walk(a, func(t ast.Tree) bool {
			switch t.(type) {
			case *ast.ColumnRef, *ast.Select:
				ok = false
			}
			return ok
		})
	}
	return ok
}

func (il inliner) scalar(fn *ast.CreateFunction, n *ast.FuncCall) ast.Tree {
	args := il.args(fn, n)
	if *il.err != nil {
		return nil
	}
	if fn.SetOf || fn.Table != nil {
		return il.refuse(n.At, "Write SELECT * FROM "+fn.Name+"(…).",
			"the set-returning function %s outside FROM is not supported", fn.Signature())
	}
	if x := il.expression(fn, n.At, args); x != nil || *il.err != nil {
		return x
	}
	if il.rows && slices.ContainsFunc(args, func(a ast.Expr) bool { return a != nil && bind.Changes(a) }) {
		return il.refuse(n.At, "Store what is drawn in a table first.",
			"calling %s with an argument that changes with each evaluation is not supported here", fn.Signature())
	}
	if !il.constant(args) {
		return il.refuse(n.At,
			"Write it in LANGUAGE sql as one SELECT of an expression, or loop over the rows in a DO block.",
			"calling %s for each row of a query is not supported", fn.Signature())
	}
	if fn.Volatility == "volatile" && (il.rows || il.branch) {
		return il.refuse(n.At, "Declare the function STABLE or IMMUTABLE if it is, or call it in a query of its own.",
			"calling the volatile function %s here, where it could run any number of times, is not supported", fn.Signature())
	}
	out, err := il.call(fn, args)
	if err != nil {
		return il.fail(withPos(err, n.At))
	}
	if len(out.cols) > 1 {
		return il.refuse(n.At, "Write SELECT * FROM "+fn.Name+"(…).",
			"the function %s with several OUT parameters outside FROM is not supported", fn.Signature())
	}
	return out.ret.bound(n.At)
}

// call evaluates the arguments and runs the function, in the transaction of the statement.
func (il inliner) call(fn *ast.CreateFunction, args []ast.Expr) (*outcome, error) {
	owns, err := il.in.begin(il.ctx)
	if err != nil {
		return nil, err
	}
	*il.began = *il.began || owns
	vals, err := il.in.values(il.ctx, fn, args, il.text, func(x ast.Expr) (value, error) {
		return il.in.evalExpr(il.ctx, x, il.text)
	})
	if err != nil {
		return nil, err
	}
	return il.in.call(il.ctx, fn, vals, true)
}

// expression inlines a LANGUAGE sql function that is one SELECT of an expression; nil when it is not.
func (il inliner) expression(fn *ast.CreateFunction, at ast.Pos, args []ast.Expr) ast.Tree {
	x, err := bind.Inline(fn, args, at)
	if err != nil {
		return il.fail(err)
	}
	if x == nil {
		return nil
	}
	il.in.calls++
	defer func() { il.in.calls-- }()
	if il.in.calls > bind.MaxCalls {
		return il.fail(sqlerr.New(sqlerr.TooComplex, "stack depth limit exceeded: %d nested calls of functions",
			bind.MaxCalls))
	}
	return ast.Rewrite(ast.Tree(x), il.node) // calls inside the body
}

// set replaces a function in FROM by its rows.
func (il inliner) set(fn *ast.CreateFunction, n *ast.FuncFrom) ast.Tree {
	sub := il
	sub.rows = false
	args := sub.args(fn, n.Func)
	if *il.err != nil {
		return nil
	}
	if !sub.constantIn(args) {
		return il.refuse(n.At, "Loop over the rows in a DO block.",
			"calling %s in FROM with columns as arguments is not supported", fn.Signature())
	}
	out, err := il.call(fn, args)
	if err != nil {
		return il.fail(withPos(err, n.Func.At))
	}
	cols, rows := out.cols, out.rows
	switch {
	case fn.SetOf || fn.Table != nil:
	case cols == nil:
		cols, rows = []script.Col{{Name: fn.Name, Type: out.ret.typ}}, [][]any{{out.ret.v}}
	default:
		rows = [][]any{out.row}
	}
	return rowsFrom(cols, rows, n, fn.Name)
}

// constantIn reports whether arguments in FROM depend on no other item.
func (il inliner) constantIn(args []ast.Expr) bool {
	il.rows = true
	return il.constant(args)
}

// rowsFrom makes (VALUES …) AS name(cols), or an empty sub-select of the same columns.
func rowsFrom(cols []script.Col, rows [][]any, n *ast.FuncFrom, name string) ast.Tree {
	at := ast.Node{At: n.At}
	alias := ast.Alias{Name: n.Alias.Name}
	if alias.Name == "" {
		alias.Name = name
	}
	for i, c := range cols {
		col := c.Name
		switch {
		case i < len(n.Alias.Cols):
			col = n.Alias.Cols[i]
		case len(cols) == 1 && n.Alias.Name != "" && c.Name == name:
			col = n.Alias.Name
		}
		alias.Cols = append(alias.Cols, col)
	}
	q := &ast.Select{Node: at, End: -1}
	for i, row := range rows {
		var vals []ast.Expr
		for j, v := range row {
			vals = append(vals, value{v, cols[j].Type}.bound(n.At))
		}
		if n.Ordinality {
			vals = append(vals, value{int64(i + 1), "bigint"}.bound(n.At))
		}
		q.Values = append(q.Values, vals)
	}
	if n.Ordinality {
		col := "ordinality"
		if len(n.Alias.Cols) > len(cols) {
			col = n.Alias.Cols[len(cols)]
		}
		alias.Cols = append(alias.Cols, col)
	}
	if len(rows) == 0 {
		for j := range alias.Cols {
			typ := "bigint"
			if j < len(cols) {
				typ = cols[j].Type
			}
			q.Targets = append(q.Targets, ast.Target{Node: at, X: value{nil, typ}.bound(n.At), Name: alias.Cols[j]})
		}
		q.Where = boolValue(false).bound(n.At)
	}
	return &ast.SubSelect{Node: at, Query: q, Alias: alias}
}
