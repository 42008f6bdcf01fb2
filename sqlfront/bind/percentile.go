package bind

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Percentiles are sums of the one or two rows of a group whose ranks by value are wanted: the rank of a row is a
// window, in which rows of equal values follow their identity, so the gradient goes to these rows alone. NULLs have no
// rank.
var (
	_ = bindAggregate("percentile_cont", aggregate{args: orderedArg, arg: between, parts: single(ra.Sum).parts,
		result: firstPart})
	_ = bindAggregate("percentile_disc", aggregate{args: orderedArg, arg: atRank, result: firstPart,
		parts: func(x *kernels.Expr) []aggPart {
			fn := ra.Sum // of one row
			if !x.Type.IsFloat() {
				fn = ra.Max
			}
			return []aggPart{{fn, x}}
		}})
)

// orderedArg binds the item of WITHIN GROUP (ORDER BY …).
func orderedArg(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
	switch {
	case !c.WithinGroup:
		return nil, s.f.fail(c, sqlerr.UndefinedFunction, "%s needs WITHIN GROUP", c.Name).
			WithHint("Write %s(0.5) WITHIN GROUP (ORDER BY x).", c.Name)
	case len(c.Args) != 1 || len(c.OrderBy) != 1:
		return nil, s.f.fail(c, sqlerr.UndefinedFunction, "%s takes 1 fraction and 1 item of ORDER BY, not %d and %d", c.Name,
			len(c.Args), len(c.OrderBy)).WithHint("Write %s(0.5) WITHIN GROUP (ORDER BY x).", c.Name)
	}
	x, err := s.expr(c.OrderBy[0].X)
	if err != nil {
		return nil, err
	}
	if !ra.Extremal(x.Type) {
		return nil, s.f.fail(c.OrderBy[0].X, sqlerr.FeatureNotSupported, "%s of %v is not supported in a loss", c.Name,
			x.Type).WithHint("It takes numbers; reduce each chunk first, e.g. with sum_elements.")
	}
	if c.Name == "percentile_cont" {
		x = kernels.CastTo(kernels.Float64, x)
	}
	return x, nil
}

// ranked are rows with their ranks, from 0, among the values of their group that are no NULLs.
type ranked struct {
	swap       renaming
	x          *kernels.Expr
	rank, size *kernels.Expr // in double precision
	fraction   float64
	desc       bool
}

func rankedRows(s *scope, groups []*kernels.Expr, c *ast.FuncCall, x *kernels.Expr) (*ranked, error) {
	r := &ranked{desc: c.OrderBy[0].Desc}
	p, err := s.expr(c.Args[0])
	if err == nil {
		p, err = folded(s, c.Args[0], p)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case p.IsConst() && !p.Const.Null && p.Type.Kind == kernels.Int:
		r.fraction = float64(p.Const.I)
	case p.IsConst() && !p.Const.Null && p.Type.Shape == nil && p.Type.IsFloat():
		r.fraction = p.Const.Float()
	default:
		return nil, s.f.fail(c.Args[0], sqlerr.FeatureNotSupported, "the fraction of %s must be a constant number in a loss",
			c.Name).WithHint("Several percentiles are several calls.")
	}
	if !(r.fraction >= 0 && r.fraction <= 1) {
		return nil, s.f.fail(c.Args[0], sqlerr.NumericOutOfRange, "percentile value %g is not between 0 and 1", r.fraction)
	}
	if x, err = passing(s, c, x); err != nil {
		return nil, err
	}
	o := orderRows(s, groups, nil, x)
	rank, err := overRows(s, o, whole, ra.Rank)
	if err != nil {
		return nil, err
	}
	size, err := overRows(s, o, whole, ra.Count)
	if err != nil {
		return nil, err
	}
	r.swap, r.x = o.swap, o.rows.Var(0, o.extra[0])
	r.rank, r.size = kernels.CastTo(kernels.Float64, rank[0]), kernels.CastTo(kernels.Float64, size[0])
	return r, nil
}

// between gives the two rows around the place of a fraction their shares, others NULL.
func between(s *scope, groups []*kernels.Expr, c *ast.FuncCall, x *kernels.Expr) (renaming, *kernels.Expr, error) {
	r, err := rankedRows(s, groups, c, x)
	if err != nil {
		return nil, nil, err
	}
	if r.desc {
		r.fraction = 1 - r.fraction
	}
	build, one := kernels.Build, kernels.Num(1)
	place := kernels.Mul(kernels.Num(r.fraction), kernels.Sub(r.size, one))
	below := build("floor", place)
	part := kernels.Sub(place, below)
	above := build("and", build("eq", r.rank, kernels.Add(below, one)), build("gt", part, kernels.Num(0)))
	return r.swap, build("case", build("eq", r.rank, below), kernels.Mul(kernels.Sub(one, part), r.x), above,
		kernels.Mul(part, r.x), nullFloat()), nil
}

// atRank is the row of the first place up to which there is at least the fraction of the rows; others are NULL.
func atRank(s *scope, groups []*kernels.Expr, c *ast.FuncCall, x *kernels.Expr) (renaming, *kernels.Expr, error) {
	r, err := rankedRows(s, groups, c, x)
	if err != nil {
		return nil, nil, err
	}
	build, one := kernels.Build, kernels.Num(1)
	place := build("greatest", build("ceil", kernels.Mul(kernels.Num(r.fraction), r.size)), one)
	at := kernels.Sub(place, one)
	if r.desc {
		at = kernels.Sub(r.size, place)
	}
	return r.swap, maskedBy(build("eq", r.rank, at), r.x), nil
}
