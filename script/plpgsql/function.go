package plpgsql

import (
	"context"
	"slices"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlfront/plpgsql"
)

// body is a function's parsed body.
type body struct {
	text  *ast.Text
	block *plpgsql.Block // LANGUAGE plpgsql
	stmts []parse.Parsed // LANGUAGE sql
	plans *plans
}

// parseBody parses a function's body; positions are in the body's text.
func parseBody(fn *ast.CreateFunction, text *ast.Text) (*body, error) {
	b := &body{text: text, plans: newPlans()}
	var err error
	if fn.Language == "plpgsql" {
		b.block, err = plpgsql.ParsePLpgSQL(text)
	} else {
		b.stmts, err = parse.Parse(text)
	}
	return b, err
}

// body returns a function's body, parsed once.
func (in *Interp) body(fn *ast.CreateFunction) (*body, error) {
	if b, ok := in.bodies[fn]; ok {
		return b, nil
	}
	b, err := parseBody(fn, &ast.Text{SQL: fn.Body})
	if err != nil {
		return nil, err
	}
	in.bodies[fn] = b
	return b, nil
}

func returnType(fn *ast.CreateFunction) string {
	switch {
	case fn.Table != nil:
		return "record"
	case fn.Returns == nil:
		return "void"
	}
	return fn.Returns.String()
}

// values evaluates arguments with eval and casts them to the parameters' types.
func (in *Interp) values(ctx context.Context, fn *ast.CreateFunction, args []ast.Expr, text *ast.Text,
	eval func(ast.Expr) (value, error)) ([]value, error) {
	params := fn.Inputs()
	out := make([]value, len(params))
	for i, p := range params {
		out[i] = value{nil, p.Type.String()}
		if p.Mode == "out" { // an OUT argument is not evaluated, but its type is checked
			if err := in.outArgument(ctx, fn, p, args[i], text); err != nil {
				return nil, err
			}
			continue
		}
		var x value
		var err error
		if args[i] == nil {
			x, err = in.evalExpr(ctx, p.Default, noText)
		} else {
			x, err = eval(args[i])
		}
		if err == nil {
			err = fits(fn, p, args[i], x)
		}
		if err == nil {
			out[i], err = in.cast(ctx, x, p.Type, text)
		}
		if err != nil {
			if args[i] != nil {
				err = withPos(err, args[i].Position())
			}
			return nil, sqlerr.In(err, text)
		}
	}
	return out, nil
}

// outArgument refuses an argument for an output parameter of another type. The type of a variable is checked at the
// assignment.
func (in *Interp) outArgument(ctx context.Context, fn *ast.CreateFunction, p ast.FuncParam, arg ast.Expr,
	text *ast.Text) error {
	session, ok := in.Session.(binding)
	if _, variable := arg.(*ast.ColumnRef); !ok || variable || arg == nil {
		return nil
	}
	cols, err := session.Described(ctx, selectOf(arg), text)
	if err == nil {
		err = withPos(fits(fn, p, arg, value{nil, cols[0].Type}), arg.Position())
	}
	return sqlerr.In(err, text)
}

// fits refuses an argument that only an explicit cast converts to the parameter's type, as 1.5 to integer.
func fits(fn *ast.CreateFunction, p ast.FuncParam, arg ast.Expr, x value) error {
	switch l := arg.(type) {
	case nil: // the default, which has been checked
		return nil
	case *ast.Literal:
		if l.Kind == ast.LitString || l.Kind == ast.LitNull {
			return nil
		}
	}
	if x.typ == "" || x.typ == "unknown" || becomes(x.typ, p.Type.String()) ||
		p.Type.Name == "name" && becomes(x.typ, "text") {
		return nil
	}
	return sqlerr.New(sqlerr.UndefinedFunction, "%s does not take %s for %s", fn.Signature(), x.typ, p.Type).
		WithHint("You might need to add an explicit type cast.")
}

// becomes reports whether there is an implicit cast between two types.
func becomes(from, to string) bool { return catalog.Implicit(catalog.TypeOf(from), catalog.TypeOf(to)) }

// outcome is the result of a function or procedure.
type outcome struct {
	ret  value
	cols []script.Col // OUT parameters, or the columns of a set
	row  []any        // values of OUT parameters
	rows [][]any      // the rows of a set
}

// call runs a function or procedure with its input values.
func (in *Interp) call(ctx context.Context, fn *ast.CreateFunction, args []value,
	atomic bool) (out *outcome, err error) {
	if fn.Strict {
		for _, a := range args {
			if a.v == nil {
				return emptyOutcome(in, fn), nil
			}
		}
	}
	if in.calls++; in.calls > bind.MaxCalls {
		in.calls--
		return nil, sqlerr.New(sqlerr.TooComplex, "stack depth limit exceeded: %d nested calls of functions", bind.MaxCalls)
	}
	defer func() { in.calls-- }()
	b, err := in.body(fn)
	if err != nil {
		return nil, err
	}
	if fn.Language == "sql" {
		return callSQL(in, ctx, fn, b, args)
	}
	return in.callPL(ctx, fn, b, args, atomic)
}

// callPL runs a PL/pgSQL function.
func (in *Interp) callPL(ctx context.Context, fn *ast.CreateFunction, b *body, args []value,
	atomic bool) (*outcome, error) {
	f := &frame{in: in, ctx: ctx, text: b.text, name: fn.Signature(), fn: fn,
		atomic: atomic || !fn.Procedure, plans: b.plans}
	f.push("")
	f.declareFound()
	f.push(fn.Name)
	next := 0
	for _, p := range append(slices.Clone(fn.Params), fn.Table...) {
		v := &variable{name: p.Name, decl: p.Type, val: value{nil, p.Type.String()}}
		if (p.Mode != "out" || fn.Procedure) && next < len(args) {
			v.val = args[next]
			next++
		}
		if p.Mode != "in" {
			f.out = append(f.out, v)
		}
		f.params = append(f.params, v)
		if p.Name != "" {
			f.declare(v)
		}
	}
	sig, err := f.block(b.block)
	if err == nil && sig.kind != sigReturn && fn.Returns != nil && !fn.SetOf && f.out == nil {
		f.what = ""
		err = sqlerr.New("2F005", "control reached end of function without RETURN")
	}
	if err != nil {
		return nil, f.annotate(err)
	}
	return outcomeOf(f), nil
}

func outcomeOf(f *frame) *outcome {
	out := &outcome{ret: f.ret, rows: f.rows}
	if f.fn.Returns == nil && !f.fn.SetOf && len(f.out) == 0 {
		out.ret = value{"", "void"} // void is '' here, as in Postgres, but NULL in LANGUAGE sql
	}
	for i, v := range f.out {
		out.cols = append(out.cols, script.Col{Name: outName(f.fn, v.name, i, len(f.out)), Type: v.decl.String()})
		out.row = append(out.row, v.val.v)
	}
	if len(f.out) == 1 && f.fn.Table == nil {
		out.ret = f.out[0].val
	}
	if f.fn.SetOf && out.cols == nil {
		out.cols = f.in.rowColumns(f.fn)
	}
	return out
}

// rowColumns are the columns of a function in FROM: those of its table type, or one with the function's name.
func (in *Interp) rowColumns(fn *ast.CreateFunction) []script.Col {
	if fn.Returns == nil {
		return []script.Col{{Name: fn.Name, Type: "void"}}
	}
	if cols, ok := in.Session.Columns(fn.Returns.Schema, fn.Returns.Name); ok && fn.Returns.Dims == 0 {
		return cols
	}
	return []script.Col{{Name: fn.Name, Type: fn.Returns.String()}}
}

// returnStmt is RETURN in its three forms.
func returnStmt(f *frame, x *plpgsql.PLReturn) (signal, error) {
	f.step(x, "RETURN")
	leave := signal{kind: sigReturn}
	fn := f.fn
	if x.Next || x.Query != nil || x.Dynamic != nil {
		return signal{}, returnRows(f, x)
	}
	switch {
	case x.X == nil && fn != nil && fn.Returns != nil && !fn.SetOf && f.out == nil:
		return leave, f.fail(x.At, sqlerr.Syntax, "RETURN needs a value: the function returns %s", returnType(fn))
	case x.X == nil:
		return leave, nil
	case fn == nil || fn.Returns == nil && fn.Table == nil || fn.SetOf || f.out != nil:
		return leave, f.fail(x.At, sqlerr.DatatypeMismatch, "RETURN cannot have a parameter in this function")
	}
	v, err := f.eval(x.X)
	if err == nil {
		v, err = f.in.cast(f.ctx, v, *fn.Returns, f.text)
	}
	f.ret = v
	return leave, f.at(err, x.X.Position())
}

// returnRows is RETURN NEXT and RETURN QUERY.
func returnRows(f *frame, x *plpgsql.PLReturn) error {
	if f.fn == nil || !f.fn.SetOf && f.fn.Table == nil {
		return f.fail(x.At, sqlerr.DatatypeMismatch, "cannot use RETURN NEXT or RETURN QUERY in a non-SETOF function")
	}
	if x.Next {
		return returnNext(f, x)
	}
	var res *script.Result
	var err error
	if x.Dynamic != nil {
		res, err = dynamicQuery(f, x.Dynamic)
	} else {
		res, err = f.query(x.Query)
	}
	if err != nil {
		return err
	}
	cols := outcomeOf(f).cols
	if len(res.Cols) != len(cols) {
		return f.fail(x.At, sqlerr.DatatypeMismatch,
			"structure of query does not match function result type: %d columns instead of %d", len(res.Cols), len(cols))
	}
	for _, row := range res.Rows {
		out := make([]any, len(row))
		for i := range row {
			v, err := f.in.cast(f.ctx, value{row[i], res.Cols[i].Type}, typeName(cols[i].Type), f.text)
			if err != nil {
				return f.at(err, x.At)
			}
			out[i] = v.v
		}
		f.rows = append(f.rows, out)
	}
	f.rowCount = int64(len(res.Rows))
	f.setFound(len(res.Rows) > 0)
	return nil
}

func returnNext(f *frame, x *plpgsql.PLReturn) error {
	if x.X == nil {
		var row []any
		for _, v := range f.out {
			row = append(row, v.val.v)
		}
		f.rows = append(f.rows, row)
		return nil
	}
	cols := outcomeOf(f).cols
	if c, ok := x.X.(*ast.ColumnRef); ok {
		if v, field, ok := f.find(c.Names); ok && v.record && field == "" && len(v.vals) == len(cols) {
			f.rows = append(f.rows, slices.Clone(v.vals))
			return nil
		}
	}
	v, err := f.eval(x.X)
	if err == nil && len(cols) != 1 {
		return f.fail(x.At, sqlerr.DatatypeMismatch, "RETURN NEXT needs a record of %d columns", len(cols))
	}
	if err == nil {
		v, err = f.in.cast(f.ctx, v, typeName(cols[0].Type), f.text)
	}
	f.rows = append(f.rows, []any{v.v})
	return f.at(err, x.X.Position())
}
