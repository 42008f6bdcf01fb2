package bind

import (
	"strconv"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/tensor"
)

// tileFrom binds unnest(chunk), perhaps WITH ORDINALITY, where the chunk comes from earlier items. Each of their rows
// meets the numbers of its elements, in row-major order. done is false for anything else.
func tileFrom(s *scope, it *ast.FuncFrom) (done bool, err error) {
	c := it.Func
	if c.Name != "unnest" || len(c.Args) != 1 || c.Distinct || len(s.cols) == 0 {
		return false, nil
	}
	x, err := s.expr(c.Args[0])
	if err != nil || !x.Type.IsChunk() || x.IsConst() {
		return false, nil // the store runs it, or reports a better error
	}
	if x.Type.Nullable { // NULL has no rows
		s.filter(kernels.Build("is_not_null", x))
	}
	n := x.Type.Size()
	number := func(i int) ast.Expr { return &ast.Literal{Node: c.Node, Kind: ast.LitInt, Value: strconv.Itoa(i)} }
	series, err := seriesFrom(s.b, s.f, &ast.FuncFrom{Node: it.Node,
		Func: &ast.FuncCall{Node: c.Node, Name: "generate_series", Args: []ast.Expr{number(1), number(n)}}})
	if err != nil || series == nil {
		return true, s.f.at(err, it)
	}
	if err := s.visible(it, &relation{node: series.node}, nil, it.Alias, c.Name); err != nil {
		return true, err
	}
	name, slot := orName(it.Alias.Name, c.Name), len(s.inputs)-1
	i := series.node.Var(slot, series.cols[0])
	if len(x.Type.Shape) > 1 {
		x = reshaped(x, tensor.Shape{n})
	}
	cols := []scopeCol{{name: name, x: kernels.Build("subscript", x, i)}, {name: "ordinality", x: i}}
	if !it.Ordinality {
		cols = cols[:1]
	}
	if len(it.Alias.Cols) > len(cols) {
		return true, s.f.fail(it, sqlerr.Syntax, "table %q has %d columns available but %d columns specified", name,
			len(cols), len(it.Alias.Cols))
	}
	for k := range cols {
		if k < len(it.Alias.Cols) {
			cols[k].name = it.Alias.Cols[k]
		}
		cols[k].table, cols[k].item = name, s.items-1
	}
	s.cols = append(s.cols, cols...)
	return true, nil
}
