package bind

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/print"
)

var (
	_ = bindTableFunc("gradient", gradientFrom)
	_ = bindCall("gradient", misplacedGradient)
	_ = bindCall("backward", misplacedGradient)
)

func misplacedGradient(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
	return nil, s.f.fail(c, sqlerr.FeatureNotSupported, "%s() cannot stand in an expression of a loss", c.Name).
		WithHint("FROM gradient('loss', NULL::w) is differentiable.")
}

// funcFrom binds a function in FROM: a differentiable one, or a set-returning function of constants that the store
// runs.
func funcFrom(b *binder, f *place, it *ast.FuncFrom) (*relation, error) {
	if o := b.opt.Batch; o != nil && o.Streamed == it {
		return streamedRows(b, o), nil
	}
	if bind := tableFuncBinders[it.Func.Name]; bind != nil && builtIn(it.Func) {
		return bind(b, f, it.Func)
	}
	if r, err := seriesFrom(b, f, it); r != nil || err != nil {
		return r, err
	}
	if ReadsColumn(it.Func) {
		return nil, f.fail(it, sqlerr.FeatureNotSupported, "%s(…) over columns of other FROM items is not differentiable yet",
			it.Func.Name).WithHint("It may stand in a sub-query that reads no parameter.")
	}
	from := *it
	if n, ok := b.needs.Funcs[it]; ok {
		from.Needs = &n
	}
	sel := &ast.Select{Node: it.Node, From: []ast.FromItem{&from}, End: -1,
		Targets: []ast.Target{{Node: it.Node, X: &ast.ColumnRef{Node: it.Node, Star: true}}}}
	o, ok := opaqueQuery(b, f, sel, false)
	if !ok {
		return nil, f.fail(it, sqlerr.FeatureNotSupported, "function %s cannot stand in FROM of a loss", it.Func.Name)
	}
	return o.rel, o.err
}

// GradientArgs reads the arguments of gradient(loss, NULL::w).
func GradientArgs(c *ast.FuncCall) (loss, table string, err error) {
	if len(c.Args) < 2 {
		return "", "", sqlerr.At(int(c.At), sqlerr.UndefinedFunction, "gradient takes a loss and NULL::table").
			WithHint("SELECT … FROM gradient('loss', NULL::w)")
	}
	switch l := c.Args[0].(type) {
	case *ast.Literal:
		if l.Kind == ast.LitString {
			loss = l.Value
		}
	case *ast.Bound:
		loss, _ = l.Value.(string)
	case *ast.Cast:
		if in, ok := l.X.(*ast.Literal); ok && in.Kind == ast.LitString {
			loss = in.Value
		}
	}
	if loss == "" {
		return "", "", sqlerr.At(int(c.Args[0].Position()), sqlerr.InvalidParameter,
			"the loss of gradient must be a constant text")
	}
	if table, ok := RowParam(c.Args[1]); ok {
		return loss, table, nil
	}
	e := sqlerr.At(int(c.Args[1].Position()), sqlerr.InvalidParameter, "the parameter of gradient is written NULL::table")
	switch a := c.Args[1].(type) {
	case *ast.Literal:
		if a.Kind == ast.LitString {
			e = e.WithHint("Write NULL::%s; its columns tell the statement what gradient returns.", a.Value)
		}
	case *ast.ArrayLit:
		e = e.WithHint("gradient is of one table, CALL backward(loss, ARRAY[…]) of columns and of several tables.")
	}
	return "", "", e
}

// RowParam reads a parameter written NULL::table.
func RowParam(e ast.Expr) (table string, ok bool) {
	cast, ok := e.(*ast.Cast)
	if !ok || cast.Type.Dims != 0 {
		return "", false
	}
	if l, ok := cast.X.(*ast.Literal); !ok || l.Kind != ast.LitNull {
		return "", false
	}
	return print.QualifiedName(cast.Type.Schema, cast.Type.Name), true
}

// gradientFrom binds FROM gradient('loss', NULL::w) inside a query to a Gradient node, which autodiff expands.
func gradientFrom(b *binder, f *place, c *ast.FuncCall) (*relation, error) {
	loss, name, err := GradientArgs(c)
	if err != nil {
		return nil, f.at(err, c)
	}
	ref, table, err := ParseParam(b.ctx, b.cat, name)
	if err != nil {
		return nil, f.at(err, c.Args[1])
	}
	known := false
	for _, p := range b.opt.Params {
		known = known || p.Column == "" && p.Table == ref.Table
	}
	if !known {
		return nil, &moreParams{ref}
	}
	sel, text, err := LossQuery(b.ctx, b.cat, "loss", loss)
	if err != nil {
		return nil, f.at(err, c.Args[0])
	}
	r, err := b.selectStmt(newPlace(text, sel), sel)
	if err != nil {
		return nil, sqlerr.In(err, text)
	}
	if r.mask != 0 {
		r = b.unmask(r)
	}
	if err := checkLoss(&Query{Node: r.node, Cols: r.cols, Names: r.names}, "loss", false); err != nil {
		return nil, f.at(err, c.Args[0])
	}
	if len(r.node.Key) > 0 {
		return nil, f.fail(c.Args[0], sqlerr.FeatureNotSupported,
			"the loss of a nested gradient must be an aggregate without GROUP BY").
			WithDetail("Whether it yields one row must be known before it is run.")
	}
	one := b.b.Select(r.node, nil,
		[]ra.OutCol{{Name: "loss", X: kernels.CastTo(kernels.Float64, r.node.Var(0, r.cols[0]))}})
	scan := b.scan(table)
	g := b.b.Gradient(one, scan, int(c.At))
	out := &relation{node: g}
	for i, col := range g.Cols[:len(scan.Cols)] {
		if scan.TableCols[i] != ra.RowID {
			out.names, out.cols = append(out.names, col.Name), append(out.cols, col.ID)
			out.classes = append(out.classes, classOf[table.Cols[scan.TableCols[i]].PGType])
		}
	}
	return out, nil
}
