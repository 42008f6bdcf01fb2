package bind

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// MaxCalls bounds the depth of functions that call each other.
const MaxCalls = 200

// InlineCall is Inline for a call as written. It is an error if the function cannot be inlined.
func InlineCall(fn *ast.CreateFunction, call *ast.FuncCall, text *ast.Text) (ast.Expr, error) {
	refuse := func(code, hint, format string, args ...any) (ast.Expr, error) {
		e := sqlerr.At(int(call.At), code, format, args...)
		return nil, sqlerr.In(e.WithHint("%s", hint), text)
	}
	switch {
	case fn.Procedure:
		return refuse(sqlerr.WrongObjectType, "To call a procedure, use CALL.", "%s is a procedure", fn.Signature())
	case call.Over != nil || call.Filter != nil || call.Distinct || call.Star || call.OrderBy != nil:
		return refuse(sqlerr.WrongObjectType, "", "%s is no aggregate or window function", fn.Signature())
	case strings.HasPrefix(fn.Language, "sql "):
		return refuse(sqlerr.FeatureNotSupported,
			"Write it without SECURITY DEFINER and SET, or call it in a sub-query that reads no parameter.",
			"calling the function %s, which is%s, inside a loss is not supported", fn.Name,
			strings.TrimPrefix(fn.Language, "sql"))
	case fn.Language != "sql":
		return refuse(sqlerr.FeatureNotSupported, "Write it in LANGUAGE sql as one SELECT of an expression. A script may "+
			"also call it with constant arguments, or for each row of a loop in a DO block.",
			"calling the PL/pgSQL function %s inside a query is not supported", fn.Signature())
	}
	args, err := fn.Arrange(call, text)
	if err != nil {
		return nil, err
	}
	x, err := Inline(fn, args, call.At)
	if err != nil {
		return nil, sqlerr.In(err, text)
	}
	if x == nil && slices.ContainsFunc(args, func(a ast.Expr) bool { return a != nil && Changes(a) }) {
		return refuse(sqlerr.FeatureNotSupported, "Store what is drawn in a table first.",
			"calling the function %s with an argument that changes with each evaluation is not supported here", fn.Signature())
	}
	if x == nil {
		return refuse(sqlerr.FeatureNotSupported, "One SELECT of an expression over its parameters, without FROM, "+
			"sub-queries and aggregates, may be called anywhere.",
			"calling the function %s, which is more than an expression, inside a query is not supported", fn.Signature())
	}
	return x, nil
}

// Inline returns the expression for which a call of a LANGUAGE sql function stands, as Postgres inlines it: the
// expression that the body selects, with arguments in place of the parameters. All positions are at. It returns nil if
// the body is more than an expression, or uses an argument several times that may change from call to call.
func Inline(fn *ast.CreateFunction, args []ast.Expr, at ast.Pos) (ast.Expr, error) {
	if fn.Language != "sql" || fn.Returns == nil || fn.SetOf || fn.Table != nil {
		return nil, nil
	}
	stmts, err := parse.Parse(&ast.Text{SQL: fn.Body})
	if err != nil || len(stmts) != 1 {
		return nil, err
	}
	s, ok := stmts[0].Stmt.(*ast.Select)
	if !ok || !onlyExpression(s) {
		return nil, nil
	}
	params := fn.Inputs()
	typed, uses := make([]ast.Expr, len(params)), make([]int, len(params))
	for i, p := range params {
		a := args[i]
		if a == nil {
			a = ast.Relocate(p.Default, at)
		}
		typed[i] = &ast.Cast{Node: ast.Node{At: a.Position()}, X: a, Type: p.Type, Argument: fn.Signature()}
	}
	var unknown *sqlerr.Error
	body := ast.Rewrite(ast.Tree(ast.Relocate(s.Targets[0].X, at)), func(t ast.Tree) ast.Tree {
		i := -1
		switch n := t.(type) {
		case *ast.ColumnRef:
			if i = inputOf(fn, params, n); i < 0 {
				unknown = sqlerr.At(int(at), sqlerr.UndefinedColumn, "column %q does not exist", strings.Join(n.Names, "."))
			}
		case *ast.Param:
			if i = n.N - 1; i < 0 || i >= len(params) {
				unknown, i = sqlerr.At(int(at), sqlerr.UndefinedParameter, "there is no parameter $%d", n.N), -1
			}
		}
		if i < 0 {
			return nil
		}
		uses[i]++
		return typed[i]
	})
	if unknown != nil {
		unknown.Context = fn.Inlining()
		return nil, unknown
	}
	for i := range typed {
		if uses[i] > 1 && Changes(typed[i]) {
			return nil, nil
		}
	}
	x := ast.Expr(&ast.Cast{Node: ast.Node{At: at}, X: withUnused(fn, body, typed, uses, at), Type: *fn.Returns})
	if fn.Strict && len(typed) > 0 {
		x = strict(x, typed, *fn.Returns)
	}
	return x, nil
}

// withUnused adds arguments that the body does not use at a place where they are checked but never computed, so that
// their types are checked.
func withUnused(fn *ast.CreateFunction, body ast.Tree, typed []ast.Expr, uses []int, at ast.Pos) ast.Expr {
	for i := range typed {
		if uses[i] == 0 && !ReadsColumn(typed[i]) {
			never := &ast.Binary{Node: ast.Node{At: at}, Op: "and", L: &ast.IsNull{Node: ast.Node{At: at}, X: typed[i]},
				R: &ast.Literal{Node: ast.Node{At: at}, Kind: ast.LitBool, Value: "false"}}
			body = &ast.Case{Node: ast.Node{At: at},
				Whens: []ast.When{{Cond: never, Result: &ast.Bound{Node: ast.Node{At: at}, Type: fn.Returns.String()}}},
				Else:  body.(ast.Expr)}
		}
	}
	return body.(ast.Expr)
}

// inputOf is the position of the input to which a name in the body refers, -1 if to none.
func inputOf(fn *ast.CreateFunction, params []ast.FuncParam, c *ast.ColumnRef) int {
	names := c.Names
	if len(names) == 2 && names[0] == fn.Name {
		names = names[1:]
	}
	if len(names) != 1 || c.Star {
		return -1
	}
	return slices.IndexFunc(params, func(p ast.FuncParam) bool { return p.Name == names[0] && p.Name != "" })
}

// onlyExpression reports whether a query is one expression that can replace it.
func onlyExpression(s *ast.Select) bool {
	if len(s.Targets) != 1 || s.From != nil || s.Where != nil || s.GroupBy != nil || s.Having != nil || s.Limit != nil ||
		s.Offset != nil || s.OrderBy != nil || s.SetOp != "" || s.Values != nil || s.With != nil {
		return false
	}
	plain := true
	ast.Walk(s.Targets[0].X, func(t ast.Tree) bool {
		switch n := t.(type) {
		case *ast.Select:
			plain = false
		case *ast.FuncCall: // it would see other rows there
			plain = plain && !isAggregate(n) && n.Over == nil && n.Filter == nil && n.OrderBy == nil && !n.Star &&
				!n.Distinct && !ofRows[n.Name]
		}
		return plain
	})
	return plain
}

// ofRows are set-returning functions and aggregates of the store that a loss does not have.
var ofRows = map[string]bool{"generate_series": true, "unnest": true, "string_to_table": true,
	"regexp_split_to_table": true, "generate_subscripts": true,
	"bit_and": true, "bit_or": true, "covar_pop": true, "covar_samp": true, "regr_intercept": true, "regr_slope": true,
	"variance": true, "stddev": true}

// Changes reports whether an expression may have another value at each evaluation.
func Changes(e ast.Expr) bool {
	return ast.Any(e, func(c *ast.FuncCall) bool {
		return slices.Contains(volatile, c.Name) || c.Name == "clock_timestamp" || c.Name == "timeofday"
	})
}

// strict makes x NULL where an argument is.
func strict(x ast.Expr, args []ast.Expr, t ast.TypeName) ast.Expr {
	var cond ast.Expr
	for _, a := range args {
		var c ast.Expr = &ast.IsNull{Node: ast.Node{At: -1}, X: a}
		if cond != nil {
			c = &ast.Binary{Node: ast.Node{At: -1}, Op: "or", L: cond, R: c}
		}
		cond = c
	}
	return &ast.Case{Node: ast.Node{At: -1},
		Whens: []ast.When{{Cond: cond, Result: &ast.Bound{Node: ast.Node{At: -1}, Type: t.String()}}}, Else: x}
}
