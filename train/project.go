package train

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlgen"
)

// projection replaces a row's chunk by the nearest element of a set, in the Euclidean norm over all its elements.
type projection struct {
	chunks bool // makes no sense for scalars
	f32    func([]float32)
	f64    func([]float64)
	expr   func(x *kernels.Expr) *kernels.Expr // the same, for SQL; nil: it has no such form
}

var projections = map[string]*projection{
	"nonnegative": {false, clampNegative[float32], clampNegative[float64],
		func(x *kernels.Expr) *kernels.Expr { return kernels.Build("maximum", x, kernels.Num(0)) }},
	"unit_ball": {false, unitBall[float32], unitBall[float64],
		func(x *kernels.Expr) *kernels.Expr { return toNorm1(x, 1) }},
	"unit_sphere": {true, unitSphere[float32], unitSphere[float64],
		func(x *kernels.Expr) *kernels.Expr { return toNorm1(x, 0) }},
	"simplex": {true, simplex[float32], simplex[float64], nil},
}

// splitProjection reads 'entity.v: unit_ball'.
func splitProjection(s string) (param, kind string, err error) {
	param, kind, ok := strings.Cut(s, ":")
	param, kind = strings.TrimSpace(param), strings.TrimSpace(kind)
	if !ok || param == "" || kind == "" {
		return "", "", fmt.Errorf("must hold texts such as 'entity.v: unit_ball', not %s", show(s))
	}
	if projections[kind] == nil {
		return "", "", unknown("projection", kind, names(projections))
	}
	return param, kind, nil
}

// apply projects rows [from, to) of a buffer.
func (j *projection) apply(p Floats, size, from, to int) {
	for at := from * size; at < to*size; at += size {
		if p.F32 != nil {
			j.f32(p.F32[at : at+size])
		} else {
			j.f64(p.F64[at : at+size])
		}
	}
}

// clampNegative is the projection on the nonnegative orthant.
func clampNegative[T float32 | float64](x []T) {
	for i, v := range x {
		if v <= 0 { // not max, whose care for signed zeros takes most of the time
			x[i] = 0
		}
	}
}

// toNorm1 divides x by its norm where that is above a bound.
func toNorm1(x *kernels.Expr, above float64) *kernels.Expr {
	n := sqlgen.Norm(x)
	return kernels.Build("case", kernels.Build("gt", n, kernels.Num(above)), kernels.Div(x, n), x)
}

// unitBall is the projection on the chunks of norm at most 1.
func unitBall[T float32 | float64](x []T) {
	if n := l2(x); n > 1 {
		divide(x, n)
	}
}

// unitSphere is the projection on the chunks of norm 1. No element of the sphere is nearest to zero, which stays.
func unitSphere[T float32 | float64](x []T) {
	if n := l2(x); n > 0 {
		divide(x, n)
	}
}

func divide[T float32 | float64](x []T, n float64) {
	for i, v := range x {
		x[i] = T(float64(v) / n)
	}
}

// simplex is the projection on the nonnegative chunks of sum 1 (Duchi et al., ICML 2008, figure 1).
func simplex[T float32 | float64](x []T) {
	u := make([]float64, len(x))
	for i, v := range x {
		u[i] = float64(v)
	}
	slices.SortFunc(u, func(a, b float64) int { return cmp.Compare(b, a) })
	sum, shift := 0.0, 0.0
	for i, v := range u {
		sum += v
		if t := (sum - 1) / float64(i+1); v > t {
			shift = t
		}
	}
	for i, v := range x {
		x[i] = T(max(float64(v)-shift, 0))
	}
}

// l2 is the Euclidean norm, in double precision and in the elements' order. Where squares overflow or vanish it divides
// by the largest element first.
func l2[T float32 | float64](x []T) float64 {
	sum, most := 0.0, 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
		most = max(most, math.Abs(float64(v)))
	}
	if sum >= 1e-280 && !math.IsInf(sum, 1) || most == 0 || math.IsInf(most, 1) {
		return math.Sqrt(sum)
	}
	sum = 0
	for _, v := range x {
		sum += float64(v) / most * (float64(v) / most)
	}
	return most * math.Sqrt(sum)
}
