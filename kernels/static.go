package kernels

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// static evaluates an argument that must be known when the query is bound: no columns, no step, no seed.
func static(kernel, what string, e *Expr) (Value, error) {
	if e.Any(func(x *Expr) bool { return x.IsCol || x.Def != nil && (x.Def.PerStep || x.Def.PerCall) }) {
		return Value{}, sqlerr.At(e.Pos, sqlerr.FeatureNotSupported, "the %s of %s must be a constant", what, kernel).
			WithDetail("Shapes are known before any row is read.")
	}
	v, err := e.Eval(&Env{}, nil)
	if err == nil && v.Null {
		err = sqlerr.At(e.Pos, sqlerr.NullNotAllowed, "the %s of %s must not be NULL", what, kernel)
	}
	return v, err
}

func staticInt(kernel, what string, e *Expr) (int64, error) {
	v, err := static(kernel, what, e)
	if err == nil && (v.Type.Kind != Int || v.Type.Shape != nil) {
		err = sqlerr.At(e.Pos, sqlerr.DatatypeMismatch, "the %s of %s must be bigint, not %v", what, kernel, v.Type)
	}
	return v.I, err
}

// staticShape reads a shape: one to MaxRank positive lengths.
func staticShape(kernel string, e *Expr) (tensor.Shape, error) {
	v, err := static(kernel, "shape", e)
	if err != nil {
		return nil, err
	}
	if v.Type.Kind != Int || v.Type.Shape == nil {
		return nil, sqlerr.At(e.Pos, sqlerr.DatatypeMismatch, "the shape of %s must be bigint[], not %v", kernel, v.Type)
	}
	if len(v.Ints) == 0 || len(v.Ints) > tensor.MaxRank {
		return nil, sqlerr.At(e.Pos, sqlerr.InvalidParameter,
			"the shape of %s has %d dimensions, 1 to %d are possible", kernel, len(v.Ints), tensor.MaxRank)
	}
	s, size := make(tensor.Shape, len(v.Ints)), int64(1)
	for i, d := range v.Ints {
		if d < 1 || d > maxElements/size {
			return nil, sqlerr.At(e.Pos, sqlerr.InvalidParameter,
				"shape %v of %s: every length must be at least 1, the size at most %d", v, kernel, maxElements)
		}
		s[i], size = int(d), size*d
	}
	return s, nil
}

// maxElements bounds a chunk that a kernel makes (Postgres refuses values above 1 GB anyway).
const maxElements = 1 << 28

// staticAxis reads an axis, which counts from 1, and returns it from 0.
func staticAxis(kernel string, t Type, e *Expr) (int, error) {
	axis, err := staticInt(kernel, "axis", e)
	if err != nil {
		return 0, err
	}
	if !t.IsChunk() {
		return 0, wrongType(kernel, []Type{t, e.Type})
	}
	if axis < 1 || axis > int64(len(t.Shape)) {
		return 0, sqlerr.At(e.Pos, sqlerr.ArraySubscript, "axis %d of %s is not in 1 to %d", axis, kernel, len(t.Shape)).
			WithDetail("The argument has shape %v.", t.Shape)
	}
	return int(axis) - 1, nil
}

// axisArgs splits the arguments (x[, axis]); without an axis it is -1.
func axisArgs(kernel string, args []*Expr) (int, error) {
	if len(args) == 1 {
		return -1, nil
	}
	return staticAxis(kernel, args[0].Type, args[1])
}

// keptShape is s with the axis reduced to length 1; nil (a scalar) for axis -1.
func keptShape(s tensor.Shape, axis int) tensor.Shape {
	if axis < 0 {
		return nil
	}
	out := append(tensor.Shape{}, s...)
	out[axis] = 1
	return out
}

// inferReduce is the rule of reductions over one axis (kept with length 1) or, with axis -1, all elements.
func inferReduce(name string) func([]Type, Attr) (Type, error) {
	return func(a []Type, at Attr) (Type, error) {
		if len(a) != 1 || !a[0].IsChunk() {
			return Type{}, wrongType(name, a)
		}
		if at.Axis < 0 {
			return Type{Kind: Float64}, nil
		}
		return Type{Kind: a[0].Kind, Shape: keptShape(a[0].Shape, at.Axis)}, nil
	}
}

// lanes calls f for each one-dimensional lane of x along an axis; all of x is one lane for axis -1.
func lanes(x []float64, s tensor.Shape, axis int, f func(i int, lane []float64)) {
	if axis < 0 {
		f(0, x)
		return
	}
	n, inner := s[axis], s[axis+1:].Size()
	lane := make([]float64, n)
	for i := range len(x) / n {
		at := i/inner*inner*n + i%inner
		for j := range lane {
			lane[j] = x[at+j*inner]
		}
		f(i, lane)
	}
}

// inferSame is the rule of kernels from a chunk to a chunk of the same type.
func inferSame(name string) func([]Type, Attr) (Type, error) {
	return func(a []Type, _ Attr) (Type, error) {
		if !a[0].IsChunk() {
			return Type{}, wrongType(name, a)
		}
		return a[0], nil
	}
}

// sumLast sums over the last axis and keeps it with length 1.
func sumLast(e *Expr) *Expr {
	return SumTo(e, Type{Shape: keptShape(e.Type.Shape, len(e.Type.Shape)-1)})
}

var lastSamples = []Sample{
	{Types: []Type{f32(4)}},
	{Types: []Type{f64(2, 3)}},
	{Types: []Type{f64(1)}},
	{Types: []Type{f32(3, 1)}},
	{Types: []Type{f32(2, 1, 3)}},
	{Types: []Type{f64(1, 2, 2, 3)}},
}

var laneSamples = []Sample{
	{Types: []Type{f32(4), f32(4)}},
	{Types: []Type{f64(2, 3), f64(2, 3)}},
	{Types: []Type{f64(1), f64(1)}},
	{Types: []Type{f32(3, 1), f64(3, 1)}},
	{Types: []Type{f32(2, 1, 3), f32(2, 1, 3)}},
	{Types: []Type{f64(1, 2, 2, 3), f64(1, 2, 2, 3)}},
}

var reduceSamples = []Sample{
	{Types: []Type{f32(4)}, Attr: Attr{Axis: -1}},
	{Types: []Type{f64(2, 3)}, Attr: Attr{Axis: 0}},
	{Types: []Type{f64(2, 3, 2)}, Attr: Attr{Axis: 1}},
	{Types: []Type{f64(1)}, Attr: Attr{Axis: -1}},
	{Types: []Type{f32(3)}, Attr: Attr{Axis: 0}},
	{Types: []Type{f32(2, 3)}, Attr: Attr{Axis: 1}},
	{Types: []Type{f32(2, 1, 2, 3)}, Attr: Attr{Axis: -1}},
	{Types: []Type{f64(2, 1, 2, 3)}, Attr: Attr{Axis: 3}},
}
