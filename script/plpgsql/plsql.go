package plpgsql

import (
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlfront/plpgsql"
	"github.com/relgrad/relgrad/tensor"
)

// query runs a statement of the body with its variables filled in.
func (f *frame) query(stmt ast.Statement) (*script.Result, error) { return f.queryParts(stmt, nil) }

func (f *frame) queryParts(stmt ast.Statement, p *Parts) (*script.Result, error) {
	bound, err := substitute(f, ast.Tree(stmt))
	if err != nil {
		return nil, err
	}
	return f.in.execParts(f.ctx, bound, f.text, f, p)
}

// sqlStmt runs a SQL statement with an optional INTO.
func sqlStmt(f *frame, x *plpgsql.PLSQL) error {
	f.step(x, "SQL statement")
	if c, ok := x.Stmt.(*ast.Call); ok {
		f.what = "CALL"
		if fn := f.in.Session.Function(c.Func.Schema, c.Func.Name); fn != nil {
			return callStmt(f, fn, c)
		}
	}
	for _, t := range x.Into {
		if _, _, err := targetOf(f, t); err != nil {
			return err
		}
	}
	stmt := x.Stmt
	if s, ok := stmt.(*ast.Select); ok {
		if x.Into == nil {
			e := sqlerr.At(int(x.At), sqlerr.Syntax, "query has no destination for result data")
			e.Text = f.text
			return e.WithHint("If you want to discard the results of a SELECT, use PERFORM instead.")
		}
		stmt = limitedQuery(f, s)
	}
	res, err := f.query(stmt)
	if err != nil {
		return err
	}
	return intoTargets(f, x.Into, x.Strict, res, x.At)
}

// limitedQuery limits a query for INTO to two rows: enough to see that there are too many.
func limitedQuery(f *frame, s *ast.Select) ast.Statement {
	if s.Limit != nil || len(s.From) == 0 || s.SetOp != "" {
		return s
	}
	if l, ok := f.plans.limited[s]; ok {
		return l
	}
	c := *s
	c.Limit = &ast.Literal{Node: ast.Node{At: -1}, Kind: ast.LitInt, Value: "2"}
	f.plans.limited[s] = &c
	return &c
}

// intoTargets stores the first row of a result and sets FOUND and ROW_COUNT.
func intoTargets(f *frame, ts []plpgsql.PLTarget, strict bool, res *script.Result, at ast.Pos) error {
	f.rowCount = res.Count()
	if res.HasRows && f.rowCount == 0 {
		f.rowCount = int64(len(res.Rows))
	}
	if ts == nil {
		switch word, _, _ := strings.Cut(res.Tag, " "); word {
		case "INSERT", "UPDATE", "DELETE", "SELECT":
			f.setFound(f.rowCount > 0)
		}
		return nil
	}
	if !res.HasRows {
		return f.fail(at, sqlerr.Syntax, "INTO used with a command that cannot return data")
	}
	writes := !strings.HasPrefix(res.Tag, "SELECT")
	switch {
	case len(res.Rows) == 0 && strict:
		return f.fail(at, sqlerr.NoDataFound, "query returned no rows")
	case len(res.Rows) > 1 && (strict || writes):
		e := sqlerr.At(int(at), sqlerr.TooManyRows, "query returned more than one row")
		e.Text = f.text
		return e.WithHint("Make sure the query returns a single row, or use LIMIT 1.")
	}
	var row []any
	if len(res.Rows) > 0 {
		row = res.Rows[0]
		f.rowCount = 1
	}
	f.setFound(row != nil)
	return assignRow(f, ts, res.Cols, row)
}

// executeStmt is EXECUTE … INTO … USING.
func executeStmt(f *frame, x *plpgsql.PLExecute) error {
	res, err := dynamicQuery(f, x)
	if err != nil {
		return err
	}
	if x.Into == nil {
		f.rowCount = res.Count()
		return nil // EXECUTE does not change FOUND
	}
	found, _, _ := f.find([]string{"found"})
	keep := found.val
	err = intoTargets(f, x.Into, x.Strict, res, x.At)
	found.val = keep
	return err
}

// dynamicQuery runs the statement in EXECUTE's string; $n are the USING values, the body's variables are not visible.
func dynamicQuery(f *frame, x *plpgsql.PLExecute) (*script.Result, error) {
	return f.dynamicParts(x, nil)
}

func (f *frame) dynamicParts(x *plpgsql.PLExecute, parts *Parts) (*script.Result, error) {
	v, err := f.eval(x.X)
	if err != nil {
		return nil, err
	}
	if v.v == nil {
		return nil, f.fail(x.X.Position(), sqlerr.NullNotAllowed, "query string argument of EXECUTE is null")
	}
	var using []value
	for _, u := range x.Using {
		p, err := f.eval(u)
		if err != nil {
			return nil, err
		}
		using = append(using, p)
	}
	text := &ast.Text{SQL: Format(v.v, v.typ)}
	ps, err := parse.Parse(text)
	if err != nil {
		return nil, err
	}
	res := &script.Result{}
	for _, p := range ps {
		if _, ok := p.Stmt.(*ast.Transaction); ok {
			return nil, f.fail(x.At, sqlerr.FeatureNotSupported, "EXECUTE of transaction commands is not implemented")
		}
		stmt, err := bindParams(p.Stmt, using, text)
		if err != nil {
			return nil, err
		}
		if res, err = f.in.execParts(f.ctx, stmt, text, f, parts); err != nil {
			return nil, sqlerr.In(err, text)
		}
	}
	return res, nil
}

// bindParams replaces $n by values.
func bindParams(stmt ast.Statement, vals []value, text *ast.Text) (ast.Statement, error) {
	var err error
	out := ast.Rewrite(ast.Tree(stmt), func(t ast.Tree) ast.Tree {
		p, ok := t.(*ast.Param)
		if !ok {
			return nil
		}
		if p.N < 1 || p.N > len(vals) {
			e := sqlerr.At(int(p.At), sqlerr.UndefinedParameter, "there is no parameter $%d", p.N)
			e.Text = text
			err = e
			return nil
		}
		return vals[p.N-1].bound(p.At)
	})
	return out, err
}

// forQuery is FOR … IN query LOOP. The body runs after the query has ended, and sees the rows as they were then.
func forQuery(f *frame, x *plpgsql.PLForQuery) (signal, error) {
	var kept Spool
	defer kept.Close()
	var res *script.Result
	var err error
	if x.Dynamic != nil {
		f.step(x, "FOR over EXECUTE statement")
		res, err = f.dynamicParts(x.Dynamic, kept.Parts())
	} else {
		f.step(x, "FOR over SELECT rows")
		res, err = f.queryParts(x.Query, kept.Parts())
	}
	if err != nil {
		return signal{}, err
	}
	if !res.HasRows {
		return signal{}, f.fail(x.At, sqlerr.Syntax, "cannot open %s query as cursor", strings.Fields(res.Tag + " ?")[0])
	}
	if err := kept.Result(res); err != nil {
		return signal{}, f.at(err, x.At)
	}
	var sig signal
	err = kept.Each(func(row []any) (leave bool, err error) {
		f.step(x, "FOR over SELECT rows")
		sig, leave, err = loopTurn(f, x.Targets, kept.Cols, row, x.Body, x.Label)
		return leave, err
	})
	if err != nil {
		return sig, err
	}
	f.setFound(kept.Len() > 0)
	return sig, nil
}

// loopTurn assigns a row to a loop's targets and runs the body. leave: the loop ends.
func loopTurn(f *frame, targets []plpgsql.PLTarget, cols []script.Col, row []any, body []plpgsql.PLStmt,
	label string) (sig signal, leave bool, err error) {
	if err := assignRow(f, targets, cols, row); err != nil {
		return signal{}, false, err
	}
	if sig, err = f.list(body); err != nil {
		return sig, false, err
	}
	if sig, leave = after(sig, label); leave {
		f.setFound(true)
		return sig, true, nil
	}
	return signal{}, false, script.Canceled(f.ctx)
}

// forEach is FOREACH … IN ARRAY LOOP.
func forEach(f *frame, x *plpgsql.PLForEach) (signal, error) {
	f.step(x, "FOREACH over array")
	arr, err := f.eval(x.Array)
	if err != nil {
		return signal{}, err
	}
	if arr.v == nil {
		return signal{}, f.fail(x.Array.Position(), sqlerr.NullNotAllowed, "FOREACH expression must not be null")
	}
	items, err := arrayItems(arr, x.Slice)
	if err != nil {
		return signal{}, f.at(err, x.Array.Position())
	}
	for _, item := range items {
		f.step(x, "FOREACH over array")
		if sig, leave, err := loopTurn(f, x.Targets, []script.Col{{Name: "", Type: item.typ}}, []any{item.v}, x.Body,
			x.Label); leave || err != nil {
			return sig, err
		}
	}
	f.setFound(len(items) > 0)
	return signal{}, nil
}

// arrayItems lists an array's elements, or its slices of a rank.
func arrayItems(arr value, slice int) ([]value, error) {
	elem, isArray := strings.CutSuffix(arr.typ, "[]")
	if !isArray {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "FOREACH expression must yield an array, not type %s", arr.typ)
	}
	var out []value
	switch a := arr.v.(type) {
	case *tensor.Tensor:
		if slice < 0 || slice > len(a.Shape) {
			return nil, sqlerr.New(sqlerr.ArraySubscript, "slice dimension (%d) is out of the valid range 0..%d", slice,
				len(a.Shape))
		}
		if slice == 0 {
			for _, d := range a.Data {
				out = append(out, value{d, elem})
			}
			return out, nil
		}
		shape := a.Shape[len(a.Shape)-slice:]
		for n, i := shape.Size(), 0; i < len(a.Data); i += n {
			out = append(out, value{&tensor.Tensor{DType: a.DType, Shape: shape, Data: a.Data[i : i+n]}, arr.typ})
		}
		return out, nil
	case []any:
		if slice > 0 {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "FOREACH … SLICE over %s is not supported", arr.typ)
		}
		return flatten(out, a, elem), nil
	}
	return nil, sqlerr.New(sqlerr.Internal, "internal error: %T is no array", arr.v)
}

func flatten(out []value, list []any, elem string) []value {
	for _, x := range list {
		if l, ok := x.([]any); ok {
			out = flatten(out, l, elem)
		} else {
			out = append(out, value{x, elem})
		}
	}
	return out
}
