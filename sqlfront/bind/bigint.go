package bind

import (
	"math"
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// All integers of the algebra are bigint. In Postgres a sum of integers is a bigint too, but a sum of bigints is
// numeric, which divides without truncation.

// sumIsNumeric reports whether sum(e), where e is bound to x over n's inputs, is numeric.
func sumIsNumeric(e ast.Expr, n *ra.Node, x *kernels.Expr) bool {
	if c, ok := e.(*ast.Cast); ok {
		return c.Type.Name == "bigint"
	}
	return isBigint(n, x)
}

func isBigint(n *ra.Node, x *kernels.Expr) bool {
	switch {
	case x.Type.Kind != kernels.Int:
		return false
	case x.IsCol:
		return isBigintColumn(n.Inputs[x.Col.Input], x.Col.ID)
	case x.IsConst():
		return x.Const.I > math.MaxInt32 || x.Const.I < math.MinInt32
	case !x.Def.Internal:
		return !x.Def.Is(kernels.SmallInteger) ||
			slices.ContainsFunc(x.Args, func(a *kernels.Expr) bool { return isBigint(n, a) })
	}
	return slices.ContainsFunc(x.Args, func(a *kernels.Expr) bool { return isBigint(n, a) })
}

func isBigintColumn(n *ra.Node, id ra.ColumnID) bool {
	i := n.Index(id)
	switch n.Op {
	case ra.Scan, ra.Gradient:
		return i >= len(n.TableCols) || n.TableCols[i] == ra.RowID || n.Table.Cols[n.TableCols[i]].PGType == "bigint"
	case ra.Opaque:
		q := n.Query.(*OpaqueQuery)
		return i >= len(q.Types) || q.Types[i] == "bigint"
	case ra.Select, ra.Join:
		return isBigint(n, n.Out[i])
	case ra.Aggregate:
		if i < len(n.Group) {
			return isBigintColumn(n.Inputs[0], n.Group[i])
		}
		a := n.Aggs[i-len(n.Group)]
		return a.Fn != ra.Min && a.Fn != ra.Max || isBigintColumn(n.Inputs[0], a.Arg)
	case ra.Window:
		id, ok := handedOn(n, i)
		return !ok || isBigintColumn(n.Inputs[0], id)
	case ra.Union:
		return slices.ContainsFunc(n.Inputs, func(in *ra.Node) bool { return isBigintColumn(in, in.Cols[i].ID) })
	case ra.SemiJoin, ra.AntiJoin:
		return isBigintColumn(n.Inputs[0], n.Inputs[0].Cols[i].ID)
	}
	return false
}
