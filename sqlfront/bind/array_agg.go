package bind

import (
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/tensor"
)

// array_agg is Σ x ⊗ e, where e has its 1 at the row's position; the arrays are as long as the groups.
var _ = bindAggregate("array_agg", aggregate{
	parts:  func(x *kernels.Expr) []aggPart { return []aggPart{{ra.Sum, x}} },
	result: func(p []*kernels.Expr) *kernels.Expr { return p[0] },
	arg:    stackRows,
})

// maxStacked is the largest number of elements of an array that array_agg makes in a loss.
const maxStacked = 1 << 22

// stackRows makes the argument of that sum.
func stackRows(s *scope, groups []*kernels.Expr, c *ast.FuncCall,
	x *kernels.Expr) (_ renaming, _ *kernels.Expr, err error) {
	if err := checkStackable(s, c); err != nil {
		return nil, nil, err
	}
	switch {
	case x.Type.Kind == kernels.Int:
		x = kernels.CastTo(kernels.Float64, x)
	case !x.Type.IsFloat() || len(x.Type.Shape) == tensor.MaxRank:
		return nil, nil, s.f.fail(c, sqlerr.FeatureNotSupported, "array_agg(%v) is not differentiable", x.Type).
			WithHint("It stacks numbers, and chunks of at most %d dimensions.", tensor.MaxRank-1)
	}
	keep := boolConst(true)
	if c.Filter != nil {
		if keep, err = s.boolean(c.Filter); err != nil {
			return nil, nil, err
		}
		if s.depends(keep) {
			return nil, nil, s.f.fail(c.Filter, sqlerr.FeatureNotSupported,
				"array_agg of rows that a parameter's values choose is not differentiable").
				WithHint("Structure may not depend on values: choose by keys or attributes.")
		}
	}
	keys, err := bindSortKeys(s, c.OrderBy)
	if err != nil {
		return nil, nil, err
	}
	count := kernels.Build("case", keep, intConst(1), nullInt())
	o := orderRows(s, groups, keys, count)
	n, err := groupSize(s, c, o)
	if err != nil {
		return nil, nil, err
	}
	if size := n * int64(x.Type.Size()); size > maxStacked {
		return nil, nil, s.f.fail(c, sqlerr.ProgramLimit,
			"array_agg makes arrays of %d elements here, more than %d", size, maxStacked)
	}
	at, err := overRows(s, o, ra.Frame{Lo: -ra.Unbounded, Hi: -1}, ra.Count)
	if err != nil {
		return nil, nil, err
	}
	size, err := overRows(s, o, ra.Frame{Lo: -ra.Unbounded, Hi: ra.Unbounded}, ra.Count)
	if err != nil {
		return nil, nil, err
	}
	x, keep = o.swap(x), o.swap(keep)
	row := kernels.BuildAttr("stack_row", kernels.Attr{Int: n}, at[0], size[0], kernels.Build("is_null", x))
	x = placed(x, kernels.CastTo(x.Type.Kind, kernels.BuildAttr("one_hot", kernels.Attr{Int: n}, row)))
	if keep.IsConst() {
		return o.swap, x, nil
	}
	return o.swap, maskedBy(keep, x), nil
}

// placed is the chunk [n]+shape(x) that holds x where the vector unit [n] has its 1, and 0 elsewhere.
func placed(x, unit *kernels.Expr) *kernels.Expr {
	shape := x.Type.Shape
	if shape == nil {
		return kernels.Mul(x, unit)
	}
	all := append(slices.Clone(unit.Type.Shape), shape...)
	if len(shape) == 1 {
		return kernels.Build("outer", unit, x)
	}
	return reshaped(kernels.Build("outer", unit, reshaped(x, tensor.Shape{shape.Size()})), all)
}

func reshaped(x *kernels.Expr, shape tensor.Shape) *kernels.Expr {
	return kernels.BuildAttr("reshape", kernels.Attr{Shape: shape}, x)
}

// checkStackable refuses array_agg where values decide the arrays' length, or where the order is undefined.
func checkStackable(s *scope, c *ast.FuncCall) error {
	switch {
	case len(c.OrderBy) == 0:
		return s.f.fail(c, sqlerr.FeatureNotSupported,
			"array_agg without ORDER BY has no defined order, so a loss cannot use it").
			WithHint("Write array_agg(x ORDER BY key).")
	case s.mask() != nil:
		return s.f.fail(c, sqlerr.FeatureNotSupported,
			"array_agg of rows that a parameter's values choose is not differentiable").
			WithHint("Structure may not depend on values: choose by keys or attributes.")
	}
	return nil
}

// groupSize is the number of rows of every group, which must be the same. It is read when the query is bound, because
// types contain shapes. The kernel stack_row checks it whenever the query runs.
func groupSize(s *scope, c *ast.FuncCall, o *ordered) (int64, error) {
	b := s.b.b
	groups, err := b.Aggregate(o.rows, o.group, []ra.AggCol{{Name: "n", Agg: ra.Agg{Fn: ra.Count, Arg: o.extra[0]}}})
	if err != nil {
		return 0, err
	}
	n := groups.Var(0, groups.Cols[len(o.group)].ID)
	some := b.Select(groups, []*kernels.Expr{kernels.Build("gt", n, intConst(0))}, []ra.OutCol{{Name: "n", X: n}})
	arg := some.Cols[0].ID
	sizes, err := b.Aggregate(some, nil,
		[]ra.AggCol{{Name: "least", Agg: ra.Agg{Fn: ra.Min, Arg: arg}}, {Name: "most", Agg: ra.Agg{Fn: ra.Max, Arg: arg}}})
	if err != nil {
		return 0, err
	}
	data, err := s.b.cat.Structure(s.b.ctx, b, sizes)
	switch {
	case err != nil:
		return 0, s.f.at(err, c)
	case data[0].Len() != 1 || data[0].IsNull(0):
		return 0, s.f.fail(c, sqlerr.InvalidParameter, "array_agg finds no rows, so the shape of its arrays is not known")
	}
	least, most := data[0].I64()[0], data[1].I64()[0]
	if least != most {
		return 0, s.f.fail(c, sqlerr.ArraySubscript, "array_agg makes arrays of different lengths here: %d and %d", least,
			most).
			WithHint("Chunks of a column have one shape; choose groups of one size, or pad them: vector_agg(index, x, size) " +
				"puts 0 where a row is missing.")
	}
	return least, nil
}
