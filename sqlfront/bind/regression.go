package bind

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Aggregates of pairs (y, x): covariance, correlation and the regression of y on x. A pair of which one is NULL counts
// nowhere. They take two passes, as variances do: the means over the group first, then sums of distances from them.
var (
	_ = bindAggregate("covar_pop", pairs(0, sums{sxy, number}, func(p []*kernels.Expr) *kernels.Expr {
		return over(p[0], p[1], 0)
	}))
	_ = bindAggregate("covar_samp", pairs(0, sums{sxy, number}, func(p []*kernels.Expr) *kernels.Expr {
		return over(p[0], p[1], 1)
	}))
	_ = bindAggregate("corr", pairs(0, sums{sxy, sxx, syy, leastX, mostX, leastY, mostY}, correlation))
	_ = bindAggregate("regr_slope", pairs(0, sums{sxy, sxx, leastX, mostX}, func(p []*kernels.Expr) *kernels.Expr {
		return unlessEqual(p[2], p[3], kernels.Div(p[0], p[1]))
	}))
	_ = bindAggregate("regr_intercept", pairs(2, sums{sxy, sxx, leastX, mostX, sumY, sumX, number}, intercept))
	_ = bindAggregate("regr_r2", pairs(0, sums{sxy, sxx, syy, leastX, mostX, leastY, mostY}, determination))
	_ = bindAggregate("regr_sxy", pairs(0, sums{sxy}, firstPart))
	_ = bindAggregate("regr_sxx", aggregate{args: sideOf(1), centered: true, parts: squares, result: firstPart})
	_ = bindAggregate("regr_syy", aggregate{args: sideOf(0), centered: true, parts: squares, result: firstPart})
	_ = bindAggregate("regr_avgx", aggregate{args: sideOf(1), parts: meanParts, result: meanOf})
	_ = bindAggregate("regr_avgy", aggregate{args: sideOf(0), parts: meanParts, result: meanOf})
	_ = bindAggregate("regr_count", aggregate{args: sideOf(1), result: firstPart,
		parts: func(x *kernels.Expr) []aggPart { return aggregates["count"].parts(x) }})
)

func meanParts(x *kernels.Expr) []aggPart       { return aggregates["avg"].parts(x) }
func meanOf(p []*kernels.Expr) *kernels.Expr    { return aggregates["avg"].result(p) }
func squares(x *kernels.Expr) []aggPart         { return aggregates["sum"].parts(kernels.Mul(x, x)) }
func firstPart(p []*kernels.Expr) *kernels.Expr { return p[0] }

func correlation(p []*kernels.Expr) *kernels.Expr {
	r := kernels.Div(kernels.Div(p[0], kernels.Build("sqrt", p[1])), kernels.Build("sqrt", p[2]))
	return unlessEqual(p[3], p[4], unlessEqual(p[5], p[6], r))
}

func intercept(p []*kernels.Expr) *kernels.Expr {
	line := kernels.Sub(p[4], kernels.Mul(kernels.Div(p[0], p[1]), p[5]))
	return unlessEqual(p[2], p[3], kernels.Div(line, kernels.CastTo(kernels.Float64, p[6])))
}

func determination(p []*kernels.Expr) *kernels.Expr {
	r := kernels.Mul(kernels.Div(p[0], p[1]), kernels.Div(p[0], p[2]))
	flat := kernels.Build("case", kernels.Build("eq", p[5], p[6]), kernels.Num(1), r)
	return unlessEqual(p[3], p[4], flat)
}

// sum is an aggregate over pairs: chunks of y and x less their means and, after these, of y and x themselves.
type sum func(pair *kernels.Expr) aggPart

type sums []sum

func sxy(p *kernels.Expr) aggPart    { return aggPart{ra.Sum, kernels.Mul(item(p, 1), item(p, 2))} }
func sxx(p *kernels.Expr) aggPart    { return aggPart{ra.Sum, kernels.Mul(item(p, 2), item(p, 2))} }
func syy(p *kernels.Expr) aggPart    { return aggPart{ra.Sum, kernels.Mul(item(p, 1), item(p, 1))} }
func leastX(p *kernels.Expr) aggPart { return aggPart{ra.Min, item(p, 2)} }
func mostX(p *kernels.Expr) aggPart  { return aggPart{ra.Max, item(p, 2)} }
func leastY(p *kernels.Expr) aggPart { return aggPart{ra.Min, item(p, 1)} }
func mostY(p *kernels.Expr) aggPart  { return aggPart{ra.Max, item(p, 1)} }
func sumY(p *kernels.Expr) aggPart   { return aggPart{ra.Sum, item(p, 3)} }
func sumX(p *kernels.Expr) aggPart   { return aggPart{ra.Sum, item(p, 4)} }
func number(p *kernels.Expr) aggPart { return aggPart{ra.Count, countable(p)} }

func item(p *kernels.Expr, i int) *kernels.Expr {
	return kernels.BuildAttr("subscript", kernels.Attr{From: []int{i - 1}}, p)
}

// pairs is an aggregate of pairs; more is how many numbers of them are kept as they are, beside their distances.
func pairs(more int, parts sums, result func([]*kernels.Expr) *kernels.Expr) aggregate {
	return aggregate{
		args:  func(s *scope, c *ast.FuncCall) (*kernels.Expr, error) { return pairOf(s, c, more) },
		pairs: true,
		parts: func(x *kernels.Expr) (out []aggPart) {
			for _, p := range parts {
				out = append(out, p(x))
			}
			return out
		},
		result: result,
	}
}

// over is sum / (n - less), NULL where n is not above less.
func over(sum, n *kernels.Expr, less int64) *kernels.Expr {
	mean := kernels.Div(sum, kernels.CastTo(kernels.Float64, kernels.Build("sub", n, intConst(less))))
	return kernels.Build("case", kernels.Build("gt", n, intConst(less)), mean, nullFloat())
}

func nullFloat() *kernels.Expr {
	return kernels.Const(kernels.NullOf(kernels.Type{Kind: kernels.Float64}))
}

// unlessEqual is x, but NULL where all numbers of the group are equal, the least and the most: their distances from a
// rounded mean may not be 0.
func unlessEqual(least, most, x *kernels.Expr) *kernels.Expr {
	return kernels.Build("case", kernels.Build("eq", least, most), nullFloat(), x)
}

// pairArgs binds (y, x) as double precision.
func pairArgs(s *scope, c *ast.FuncCall) ([]*kernels.Expr, error) {
	if len(c.Args) != 2 {
		return nil, s.f.fail(c, sqlerr.UndefinedFunction, "%s takes 2 arguments, not %d", c.Name, len(c.Args)).
			WithHint("Write %s(y, x).", c.Name)
	}
	args, err := s.exprs(c.Args)
	if err != nil {
		return nil, err
	}
	for i, x := range args {
		if x = unknownText(x, kernels.Float64); x.Type.Shape != nil || !x.Type.IsFloat() && x.Type.Kind != kernels.Int {
			return nil, s.f.fail(c.Args[i], sqlerr.UndefinedFunction, "%s(%v, %v) does not exist", c.Name, args[0].Type,
				args[1].Type).WithHint("It takes numbers; reduce each chunk first, e.g. with sum_elements.")
		}
		args[i] = kernels.CastTo(kernels.Float64, x)
	}
	return args, nil
}

// sideOf binds one of the two arguments, NULL where the other one is.
func sideOf(i int) func(*scope, *ast.FuncCall) (*kernels.Expr, error) {
	return func(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
		args, err := pairArgs(s, c)
		if err != nil {
			return nil, err
		}
		if other := args[1-i]; other.Type.Nullable {
			return maskedBy(kernels.Build("is_not_null", other), args[i]), nil
		}
		return args[i], nil
	}
}

// pairOf makes one chunk of y and x, repeated if more is not 0. It is NULL where one of them is.
func pairOf(s *scope, c *ast.FuncCall, more int) (*kernels.Expr, error) {
	args, err := pairArgs(s, c)
	if err != nil {
		return nil, err
	}
	repeated := make([]*kernels.Expr, 2+more)
	for i := range repeated {
		repeated[i] = args[i%2]
	}
	return numbers(repeated...), nil
}

// numbers makes a chunk, NULL where one of xs is.
func numbers(xs ...*kernels.Expr) *kernels.Expr {
	var out *kernels.Expr
	for i, x := range xs {
		at := kernels.BuildAttr("put", kernels.Attr{Shape: []int{len(xs)}, From: []int{i}}, x)
		if out != nil {
			at = kernels.Add(out, at)
		}
		out = at
	}
	return out
}

// centerPairs subtracts from the first two numbers of x their means over the rows with equal keys.
func centerPairs(s *scope, keys []*kernels.Expr, x *kernels.Expr) (renaming, *kernels.Expr, error) {
	a, err := attachTo(s, keys, aggregates["avg"].parts(x))
	if err != nil {
		return nil, nil, err
	}
	mean := aggregates["avg"].result(a.cols)
	if n := x.Type.Size(); n > 2 {
		centered := make([]float64, n)
		centered[0], centered[1] = 1, 1
		mean = kernels.Mul(mean, kernels.Const(kernels.ChunkValue(kernels.Float64, x.Type.Shape, centered)))
	}
	return a.swap, kernels.Sub(a.swap(x), mean), nil
}
