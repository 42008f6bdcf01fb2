package plpgsql

import (
	"context"
	"errors"
	"fmt"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/plpgsql"
)

// callProcedure is CALL from a script, or from EXECUTE in a frame.
func callProcedure(in *Interp, ctx context.Context, fn *ast.CreateFunction, c *ast.Call, text *ast.Text,
	caller *frame) (*script.Result, error) {
	args, err := procedureArgs(fn, c, text)
	if err != nil {
		return nil, err
	}
	owns, err := in.begin(ctx)
	if err != nil {
		return nil, sqlerr.In(err, text)
	}
	var out *outcome
	vals, err := in.values(ctx, fn, args, text, func(x ast.Expr) (value, error) { return in.evalExpr(ctx, x, text) })
	if err == nil {
		out, err = in.call(ctx, fn, vals, in.atomic(caller))
	}
	if err = in.finish(ctx, owns, err); err != nil {
		return nil, sqlerr.In(err, text)
	}
	res := &script.Result{Tag: "CALL", Cols: out.cols, HasRows: out.cols != nil}
	if res.HasRows {
		res.Rows = [][]any{out.row}
	}
	return res, nil
}

func procedureArgs(fn *ast.CreateFunction, c *ast.Call, text *ast.Text) ([]ast.Expr, error) {
	if !fn.Procedure {
		e := sqlerr.At(int(c.Func.At), sqlerr.WrongObjectType, "%s is not a procedure", fn.Signature()).
			WithHint("To call a function, use SELECT.")
		return nil, sqlerr.In(e, text)
	}
	return fn.Arrange(c.Func, text)
}

// callStmt is CALL in a body: OUT arguments are assigned to the variables given for them.
func callStmt(f *frame, fn *ast.CreateFunction, c *ast.Call) error {
	args, err := procedureArgs(fn, c, f.text)
	if err != nil {
		return err
	}
	vals, err := f.in.values(f.ctx, fn, args, f.text, f.eval)
	if err != nil {
		return err
	}
	out, err := f.in.call(f.ctx, fn, vals, f.in.atomic(f))
	if err != nil {
		return err
	}
	next := 0
	for i, p := range fn.Params {
		if p.Mode == "in" {
			continue
		}
		ref, ok := args[i].(*ast.ColumnRef)
		if !ok {
			return f.fail(c.At, sqlerr.Syntax,
				"procedure parameter \"%s\" is an output parameter but corresponding argument is not writable", p.Name)
		}
		target := plpgsql.PLTarget{Node: ast.Node{At: ref.At}, Names: ref.Names}
		if err := assignTo(f, target, value{out.row[next], out.cols[next].Type}); err != nil {
			return err
		}
		next++
	}
	return nil
}

// callSQL runs a LANGUAGE sql function. Its result is the rows of its last statement.
func callSQL(in *Interp, ctx context.Context, fn *ast.CreateFunction, b *body, args []value) (*outcome, error) {
	res := &script.Result{}
	for i, p := range b.stmts {
		stmt, err := bindArgs(in, fn, p.Stmt, args, b)
		if err == nil {
			res, err = in.exec(ctx, stmt, b.text, &frame{in: in, atomic: true})
		}
		if err != nil {
			return nil, sqlContext(sqlerr.In(err, b.text), fn, i+1)
		}
	}
	return sqlOutcome(in, ctx, fn, b, res)
}

// sqlOutcome converts the result of the last statement of a LANGUAGE sql function to the declared types.
func sqlOutcome(in *Interp, ctx context.Context, fn *ast.CreateFunction, b *body,
	res *script.Result) (*outcome, error) {
	out := emptyOutcome(in, fn)
	if out.ret.typ == "void" { // the selected rows are dropped
		return out, nil
	}
	cols := out.cols
	if cols == nil {
		cols = []script.Col{{Name: fn.Name, Type: out.ret.typ}}
	}
	if len(cols) != len(res.Cols) {
		return nil, sqlerr.New("42P13", "return type mismatch in function %s: it selects %d columns instead of %d",
			fn.Signature(), len(res.Cols), len(cols))
	}
	set := fn.SetOf || fn.Table != nil
	for r, row := range res.Rows {
		if r > 0 && !set {
			break
		}
		vals := make([]any, len(row))
		for i := range row {
			v, err := in.cast(ctx, value{row[i], res.Cols[i].Type}, typeName(cols[i].Type), b.text)
			if err != nil {
				return nil, err
			}
			vals[i] = v.v
		}
		if set {
			out.rows = append(out.rows, vals)
			continue
		}
		out.row, out.ret.v = vals, vals[0]
	}
	return out, nil
}

// outName is the column of an output parameter, which need not have a name.
func outName(fn *ast.CreateFunction, name string, i, n int) string {
	switch {
	case name != "":
		return name
	case n == 1:
		return fn.Name
	}
	return fmt.Sprintf("column%d", i+1)
}

// emptyOutcome is the outcome of a function whose body has no result: no rows for a set, else NULL.
func emptyOutcome(in *Interp, fn *ast.CreateFunction) *outcome {
	out := &outcome{ret: value{nil, returnType(fn)}}
	declared := fn.Table
	for _, p := range fn.Params {
		if p.Mode != "in" {
			declared = append(declared[:len(declared):len(declared)], p)
		}
	}
	for i, p := range declared {
		out.cols = append(out.cols, script.Col{Name: outName(fn, p.Name, i, len(declared)), Type: p.Type.String()})
	}
	switch {
	case declared != nil && len(out.cols) == 1 && fn.Table == nil:
		out.ret.typ = out.cols[0].Type
	case declared != nil:
		out.ret.typ = "record"
	case fn.SetOf:
		out.cols = in.rowColumns(fn)
	}
	out.row = make([]any, len(out.cols))
	return out
}

func sqlContext(err error, fn *ast.CreateFunction, n int) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	if c.Context != "" {
		c.Context += "\n"
	}
	c.Context += fmt.Sprintf("SQL function \"%s\" statement %d", fn.Name, n)
	return &c
}

// bindArgs replaces $n and parameter names in a statement of a LANGUAGE sql function. A column hides a parameter of the
// same name.
func bindArgs(in *Interp, fn *ast.CreateFunction, stmt ast.Statement, args []value, b *body) (ast.Statement, error) {
	exprs := lists.Map(args, func(a value) ast.Expr { return a.bound(-1) })
	return substituteArgs(in, fn, ast.Tree(stmt), exprs, b)
}

// substituteArgs replaces parameters by expressions.
func substituteArgs(in *Interp, fn *ast.CreateFunction, tree ast.Tree, args []ast.Expr, b *body) (ast.Tree, error) {
	index := map[string]int{}
	for i, p := range fn.Inputs() {
		if p.Name != "" {
			index[p.Name] = i
		}
	}
	find := func(names []string) (int, bool) {
		if len(names) == 2 && names[0] == fn.Name {
			names = names[1:]
		}
		if len(names) != 1 {
			return 0, false
		}
		i, ok := index[names[0]]
		return i, ok
	}
	vars, ok := b.plans.vars[tree]
	if !ok {
		r := &resolver{session: in.Session, isVar: func(n []string) bool { _, ok := find(n); return ok },
			columns: true, text: b.text}
		var err error
		if vars, err = r.variables(tree); err != nil {
			return nil, err
		}
		b.plans.vars[tree] = vars
	}
	var failed error
	out := ast.Rewrite(tree, func(t ast.Tree) ast.Tree {
		switch n := t.(type) {
		case *ast.ColumnRef:
			if vars[n] {
				i, _ := find(n.Names)
				return args[i]
			}
		case *ast.Param:
			if n.N >= 1 && n.N <= len(args) {
				return args[n.N-1]
			}
			failed = sqlerr.In(sqlerr.At(int(n.At), sqlerr.UndefinedParameter, "there is no parameter $%d", n.N), b.text)
		}
		return nil
	})
	return out, failed
}
