package plpgsql

import (
	"context"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/plpgsql"
)

// Errors in a function's body are found when it is created, as Postgres does.

// binding is a Store that tells the columns of a statement's rows without running it.
type binding interface {
	// Described gives the columns of a statement's rows, nil where it has none.
	Described(ctx context.Context, st ast.Statement, text *ast.Text) ([]script.Col, error)
	// Names reports whether a type or relation of this name may be a variable's type.
	Names(schema, name string) bool
}

// checkFunction refuses a function whose body is wrong before it is stored.
func checkFunction(in *Interp, ctx context.Context, fn *ast.CreateFunction, text *ast.Text) error {
	b, err := parseBody(fn, plpgsql.BodyText(text, fn.Body, fn.BodyAt))
	if err != nil {
		return err
	}
	if err := checkDefaults(in, ctx, fn, text); err != nil {
		return err
	}
	if fn.Language != "sql" {
		return checkPL(in, fn, b)
	}
	if err := checkCalls(in, fn, b); err != nil {
		return sqlerr.In(err, b.text)
	}
	mismatch := func(detail string, args ...any) error {
		e := sqlerr.At(int(fn.At), "42P13", "return type mismatch in function declared to return %s", returnType(fn)).
			WithDetail(detail, args...)
		return sqlerr.In(e, text)
	}
	if (fn.Returns != nil || fn.Table != nil) && !returnsRows(b) {
		return mismatch("Function's final statement must be SELECT or INSERT/UPDATE/DELETE RETURNING.")
	}
	cols, err := describedColumns(in, ctx, fn, b)
	if err != nil || cols == nil {
		return err
	}
	return checkResult(in, fn, cols, mismatch)
}

// checkDefaults refuses defaults that do not suit their parameters. Defaults that call the user's functions are checked
// when the function is called.
func checkDefaults(in *Interp, ctx context.Context, fn *ast.CreateFunction, text *ast.Text) error {
	session, ok := in.Session.(binding)
	for _, p := range fn.Params {
		if !ok || p.Default == nil || in.checkType(ctx, p.Type, noText) != nil || callsUser(in, p.Default) {
			continue
		}
		_, err := session.Described(ctx,
			selectOf(&ast.Cast{Node: ast.Node{At: p.Default.Position()}, X: p.Default, Type: p.Type}), text)
		if err != nil && sqlerr.Code(err) != sqlerr.FeatureNotSupported { // the function may be one of the engine's
			return sqlerr.In(err, text)
		}
	}
	return nil
}

func callsUser(in *Interp, e ast.Expr) bool {
	return ast.Any(e, func(c *ast.FuncCall) bool { return in.Session.Function(c.Schema, c.Name) != nil })
}

// returnsRows reports whether a body's last statement gives rows.
func returnsRows(b *body) bool {
	n := len(b.stmts)
	return n > 0 && gives(b.stmts[n-1].Stmt)
}

// checkCalls refuses references to parameters that the function does not have, and CALLs whose OUT arguments have no
// variables.
func checkCalls(in *Interp, fn *ast.CreateFunction, b *body) error {
	var failed error
	n := len(fn.Inputs())
	for _, p := range b.stmts {
		if c, ok := p.Stmt.(*ast.Call); ok {
			called := in.Session.Function(c.Func.Schema, c.Func.Name)
			if called != nil && slices.ContainsFunc(called.Params, func(p ast.FuncParam) bool { return p.Mode != "in" }) {
				return sqlerr.At(int(c.At), sqlerr.FeatureNotSupported,
					"calling procedures with output arguments is not supported in SQL functions")
			}
		}
		ast.Walk(p.Stmt, func(t ast.Tree) bool {
			if x, ok := t.(*ast.Param); ok && x.N > n && failed == nil {
				failed = sqlerr.At(int(x.At), sqlerr.UndefinedParameter, "there is no parameter $%d", x.N)
			}
			return failed == nil
		})
	}
	return failed
}

// wrong are the errors of a body that neither a later statement nor another session could repair.
var wrong = []string{sqlerr.UndefinedColumn, sqlerr.UndefinedTable, sqlerr.DatatypeMismatch, sqlerr.Syntax,
	sqlerr.Grouping, sqlerr.AmbiguousColumn}

// describedColumns binds the statements of a LANGUAGE sql body and returns the columns of the last one; nil where only
// a run tells them, because they depend on arguments or calls.
func describedColumns(in *Interp, ctx context.Context, fn *ast.CreateFunction, b *body) ([]script.Col, error) {
	session, ok := in.Session.(binding)
	if !ok {
		return nil, nil
	}
	args := make([]value, len(fn.Inputs()))
	for i, p := range fn.Inputs() {
		if cols, ok := in.Session.Columns(p.Type.Schema, p.Type.Name); ok && cols != nil {
			e := sqlerr.At(int(p.Type.At), sqlerr.FeatureNotSupported,
				"a parameter of the row type %s is not supported by the embedded store", p.Type.Name)
			return nil, e.WithHint("Pass its columns.")
		}
		if in.checkType(ctx, p.Type, noText) != nil {
			return nil, nil
		}
		args[i] = value{nil, p.Type.String()}
	}
	var cols []script.Col
	for _, p := range b.stmts {
		stmt, err := bindArgs(in, fn, p.Stmt, args, b)
		if err == nil {
			cols, err = session.Described(ctx, stmt, b.text)
		}
		if slices.Contains(wrong, sqlerr.Code(err)) {
			return nil, sqlerr.In(err, b.text)
		}
		if err != nil {
			return nil, nil
		}
	}
	return cols, nil
}

// checkResult compares the columns that a body selects with those that the function declares.
func checkResult(in *Interp, fn *ast.CreateFunction, cols []script.Col, mismatch func(string, ...any) error) error {
	want := emptyOutcome(in, fn)
	if want.ret.typ == "void" {
		return nil
	}
	declared := want.cols
	if declared == nil {
		declared = []script.Col{{Name: fn.Name, Type: want.ret.typ}}
	}
	if len(declared) == 1 && (declared[0].Type == "record" || strings.HasPrefix(declared[0].Type, "any")) {
		return nil
	}
	if len(declared) == 1 && len(cols) != 1 {
		return mismatch("Final statement must return exactly one column.")
	}
	for i, d := range declared {
		switch {
		case i >= len(cols):
			return mismatch("Final statement returns too few columns.")
		case strings.HasPrefix(d.Type, "any") || catalog.Assignable(catalog.TypeOf(cols[i].Type), catalog.TypeOf(d.Type)):
		case len(declared) == 1:
			return mismatch("Actual return type is %s.", cols[i].Type)
		default:
			return mismatch("Final statement returns %s instead of %s at column %d.", cols[i].Type, d.Type, i+1)
		}
	}
	if len(cols) > len(declared) {
		return mismatch("Final statement returns too many columns.")
	}
	return nil
}

// checkPL refuses a PL/pgSQL body that declares a variable of an unknown type, or whose RETURN does not suit the
// function.
func checkPL(in *Interp, fn *ast.CreateFunction, b *body) error {
	var failed error
	fail := func(at ast.Pos, code, format string, args ...any) {
		if failed == nil {
			failed = sqlerr.In(sqlerr.At(int(at), code, format, args...), b.text)
		}
	}
	var blocks func(b *plpgsql.Block)
	var each func(body []plpgsql.PLStmt)
	blocks = func(b *plpgsql.Block) {
		for i := range b.Decls {
			checkDecl(in, &b.Decls[i], fail)
		}
		each(b.Body)
		for _, h := range b.Exceptions {
			each(h.Body)
		}
	}
	each = func(body []plpgsql.PLStmt) {
		for _, s := range body {
			switch x := s.(type) {
			case *plpgsql.Block:
				blocks(x)
			case *plpgsql.PLReturn:
				checkReturn(fn, x, fail)
			}
			for _, inner := range plpgsql.PLBodies(s) {
				each(inner)
			}
		}
	}
	blocks(b.block)
	return failed
}

// checkDecl refuses a declaration whose type does not exist.
func checkDecl(in *Interp, d *plpgsql.Decl, fail func(ast.Pos, string, string, ...any)) {
	session, ok := in.Session.(binding)
	relation := func(names []string) {
		schema := ""
		if len(names) > 1 {
			schema = names[len(names)-2]
		}
		name := names[len(names)-1]
		if _, there := in.Session.Columns(schema, name); !there {
			fail(d.At, sqlerr.UndefinedTable, "relation \"%s\" does not exist", strings.Join(names, "."))
		}
	}
	switch {
	case !ok || d.Alias != "" || d.Record:
	case d.RowOf != "":
		relation(strings.Split(d.RowOf, "."))
	case d.TypeOf == nil && !session.Names(d.Type.Schema, d.Type.Name):
		fail(d.At, sqlerr.UndefinedObject, "type \"%s\" does not exist", d.Type)
	}
}

// checkReturn refuses a RETURN with a value where the function wants none, and the reverse.
func checkReturn(fn *ast.CreateFunction, x *plpgsql.PLReturn, fail func(ast.Pos, string, string, ...any)) {
	set := fn.SetOf || fn.Table != nil
	if x.Next || x.Query != nil || x.Dynamic != nil {
		if !set {
			fail(x.At, sqlerr.DatatypeMismatch, "cannot use RETURN NEXT or RETURN QUERY in a non-SETOF function")
		}
		return
	}
	outputs := slices.ContainsFunc(fn.Params, func(p ast.FuncParam) bool { return p.Mode != "in" })
	switch {
	case x.X == nil && fn.Returns != nil && !set && !outputs:
		fail(x.At, sqlerr.Syntax, "RETURN needs a value: the function returns %s", returnType(fn))
	case x.X == nil:
	case fn.Procedure:
		fail(x.X.Position(), sqlerr.DatatypeMismatch, "RETURN cannot have a parameter in a procedure")
	case set:
		fail(x.X.Position(), sqlerr.DatatypeMismatch, "RETURN cannot have a parameter in function returning set")
	case outputs:
		fail(x.X.Position(), sqlerr.DatatypeMismatch, "RETURN cannot have a parameter in function with OUT parameters")
	case fn.Returns == nil:
		fail(x.X.Position(), sqlerr.DatatypeMismatch, "RETURN cannot have a parameter in function returning void")
	}
}
