package bind

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// maxSeries is the largest number of rows of generate_series in a loss.
const maxSeries = 1<<31 - 1

// seriesFrom binds generate_series of constant integers, which are their own identity; nil for other functions, which
// the store may run.
func seriesFrom(b *binder, f *place, it *ast.FuncFrom) (*relation, error) {
	c := it.Func
	if c.Name != "generate_series" || !builtIn(c) || it.Ordinality || len(c.Args) < 2 || len(c.Args) > 3 {
		return nil, nil
	}
	at, typ := []int64{0, 0, 1}, "integer"
	for i, e := range c.Args {
		x, err := (&scope{b: b, f: f}).expr(e)
		if err != nil || !x.IsConst() || x.Type.Kind != kernels.Int || x.Type.Shape != nil || x.Const.Null {
			return nil, nil
		}
		if at[i] = x.Const.I; isBigint(&ra.Node{}, x) {
			typ = "bigint"
		}
	}
	n, err := seriesLength(at[0], at[1], at[2])
	if err != nil {
		return nil, f.at(err, it)
	}
	sel := &ast.Select{Node: it.Node, From: []ast.FromItem{it}, End: -1,
		Targets: []ast.Target{{Node: it.Node, X: &ast.ColumnRef{Node: it.Node, Star: true}}}}
	name := orName(it.Alias.Name, c.Name)
	q := &OpaqueQuery{Select: sel, Text: f.text, Types: []string{typ}, Rows: func(*kernels.Env) ([]*column.Column, error) {
		v := column.New(kernels.Type{Kind: kernels.Int}, n)
		for i := range v.I64() {
			v.I64()[i] = at[0] + int64(i)*at[2]
		}
		return []*column.Column{v}, nil
	}}
	node := b.b.Opaque(q, "", []ra.Column{{Name: name, Type: kernels.Type{Kind: kernels.Int}}})
	node.Key = []ra.ColumnID{node.Cols[0].ID}
	node.Unique, node.Rows = node.Key, int64(max(n, 1))
	return &relation{node: node, names: []string{name}, cols: []ra.ColumnID{node.Cols[0].ID},
		classes: []numberClass{intClass}}, nil
}

// seriesLength is the number of rows of generate_series(from, to, step).
func seriesLength(from, to, step int64) (int, error) {
	switch {
	case step == 0:
		return 0, sqlerr.New(sqlerr.InvalidParameter, "step size cannot equal zero")
	case step > 0 && from > to, step < 0 && from < to:
		return 0, nil
	}
	span, by := uint64(to)-uint64(from), uint64(step)
	if step < 0 {
		span, by = uint64(from)-uint64(to), -uint64(step)
	}
	if span/by >= maxSeries {
		return 0, sqlerr.New(sqlerr.ProgramLimit, "generate_series(%d, %d, %d) has more than %d rows",
			from, to, step, maxSeries)
	}
	return int(span/by) + 1, nil
}

// Rows returns the rows of an Opaque node that needs no store; ok is false for other nodes.
func Rows(n *ra.Node, env *kernels.Env) (data []*column.Column, ok bool, err error) {
	q, _ := n.Query.(*OpaqueQuery)
	if q == nil || q.Rows == nil {
		return nil, false, nil
	}
	data, err = q.Rows(env)
	for i, v := range data {
		if want := n.Cols[i].Type; v.Type().Kind != want.Kind {
			return nil, true, sqlerr.New(sqlerr.Internal, "internal error: column %q is %v, not %v",
				n.Cols[i].Name, v.Type(), want)
		}
	}
	return data, true, err
}
