package kernels

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

var _ = Register(&Def{
	Name: "matmul", Args: "a, b", MinArgs: 2, Linear: []int{0, 1},
	Labels: []string{"i,i->", "i,ij->j", "ij,j->i", "...ij,...jk->...ik"},
	Doc: "The matrix product. a is [m,k] or a row [k], b is [k,n] or a column [k]; the result has the axes " +
		"m and n that exist, " +
		"and is double precision for two vectors (outside a loss, where a function has one type, use dot). Above rank 2 " +
		"both have equal " +
		"leading axes and one product each.",
	Infer: func(a []Type, _ Attr) (Type, error) {
		if !a[0].IsChunk() || !a[1].IsChunk() {
			return Type{}, wrongType("matmul", a)
		}
		m, err := matmulDims(a[0].Shape, a[1].Shape)
		if err != nil {
			return Type{}, err
		}
		if m.out == nil {
			return Type{Kind: Float64}, nil
		}
		return Type{Kind: floatKind(a[0], a[1]), Shape: m.out}, nil
	},
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
		m, err := matmulDims(a[0].Type.Shape, a[1].Type.Shape)
		if err != nil {
			return Value{}, err
		}
		return floats(out, m.run(a[0].F, a[1].F)), nil
	},
	VJP: vjpMatmul,
	Flops: func(a []Type, _ Attr, _ Type) float64 {
		m, err := matmulDims(a[0].Shape, a[1].Shape)
		if err != nil {
			return 0
		}
		return 2 * float64(m.batch) * float64(m.m) * float64(m.k) * float64(m.n)
	},
	Samples: []Sample{
		{Types: []Type{{Kind: Float32, Shape: []int{2, 3}}, {Kind: Float32, Shape: []int{3, 4}}}},
		{Types: []Type{{Kind: Float64, Shape: []int{3}}, {Kind: Float64, Shape: []int{3, 2}}}},
		{Types: []Type{{Kind: Float64, Shape: []int{2, 3}}, {Kind: Float64, Shape: []int{3}}}},
		{Types: []Type{{Kind: Float64, Shape: []int{3}}, {Kind: Float64, Shape: []int{3}}}},
		{Types: []Type{f32(2, 2, 3), f64(2, 3, 2)}},
		{Types: []Type{f32(3), f64(3, 2)}},
		{Types: []Type{f32(2, 3), f32(3)}},
		{Types: []Type{f32(1), f32(1)}},
		{Types: []Type{f64(1, 1), f64(1, 1)}},
		{Types: []Type{f64(2, 1, 2, 3), f64(2, 1, 3, 2)}},
	},
})

// matmulSize is a batch of m×k by k×n products with the result's shape.
type matmulSize struct {
	batch, m, k, n int
	out            tensor.Shape
}

func matmulDims(a, b tensor.Shape) (matmulSize, error) {
	s := matmulSize{batch: 1, m: 1, n: 1, k: a[len(a)-1]}
	bk := b[0]
	switch {
	case len(a) > 2 || len(b) > 2:
		if len(a) != len(b) || !a[:len(a)-2].Equal(b[:len(b)-2]) {
			return s, matmulMismatch(a, b)
		}
		s.batch, s.m, bk, s.n = a[:len(a)-2].Size(), a[len(a)-2], b[len(b)-2], b[len(b)-1]
		s.out = append(append(tensor.Shape{}, a[:len(a)-1]...), s.n)
	default:
		if len(a) == 2 {
			s.m = a[0]
			s.out = append(s.out, s.m)
		}
		if len(b) == 2 {
			s.n = b[1]
			s.out = append(s.out, s.n)
		}
	}
	if bk != s.k {
		return s, matmulMismatch(a, b)
	}
	return s, nil
}

func matmulMismatch(a, b tensor.Shape) error {
	return sqlerr.New(sqlerr.ArraySubscript, "different shapes %v and %v in matmul", a, b).
		WithHint("The last axis of a and the last but one of b (the only one of a vector) must be equal, leading axes too.")
}

func (s matmulSize) run(a, b []float64) []float64 {
	out := make([]float64, s.batch*s.m*s.n)
	for t := range s.batch {
		for i := range s.m {
			row := out[(t*s.m+i)*s.n:][:s.n]
			for p := range s.k {
				x := a[(t*s.m+i)*s.k+p]
				for j, y := range b[(t*s.k+p)*s.n:][:s.n] {
					row[j] += x * y
				}
			}
		}
	}
	return out
}

// vjpMatmul: ∂a = g·bᵀ and ∂b = aᵀ·g; with a vector on either side these are outer or matrix-vector products.
func vjpMatmul(e, g *Expr) []*Expr {
	a, b := e.Args[0], e.Args[1]
	ra, rb := len(a.Type.Shape), len(b.Type.Shape)
	switch {
	case ra == 1 && rb == 1:
		return []*Expr{Mul(g, b), Mul(g, a)}
	case rb == 1:
		return []*Expr{Build("outer", g, b), Build("matmul", g, a)}
	case ra == 1:
		return []*Expr{Build("matmul", b, g), Build("outer", a, g)}
	}
	return []*Expr{Build("matmul", g, Transpose(b)), Build("matmul", Transpose(a), g)}
}
