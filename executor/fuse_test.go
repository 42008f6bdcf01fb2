package executor

import (
	"testing"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// TestPassOfBothKinds sums weighted chunks of real and of double precision in one pass: they share a block's scratch.
func TestPassOfBothKinds(t *testing.T) {
	leakCheck(t)
	const n, size = 1000, 4
	src, b := &memory{}, ra.NewBuilder()
	chunk := func(k kernels.Kind) *ra.Vector { return ra.NewVector(kernels.Type{Kind: k, Shape: []int{size}}, n) }
	key, weight, x, y := ra.NewVector(tInt, n), ra.NewVector(tF64, n), chunk(kernels.Float32), chunk(kernels.Float64)
	for i := range n {
		key.Ints[i], weight.F64[i] = int64(i), float64(i%7)
		for j := range size {
			x.F32[i*size+j], y.F64[i*size+j] = float32(i%(2+j)), float64(i%(5+j))
		}
	}
	param := func(c int) bool { return c == 1 }
	w := b.Scan(src.add("w", 1, ints(0), floats(0.5)), param)
	s := b.Scan(src.add("t", 1, key, weight, x, y), nil)
	scaled := func(c int) *kernels.Expr {
		by := kernels.Mul(s.Var(0, s.Cols[1].ID), w.Var(1, w.Cols[1].ID))
		return kernels.Mul(kernels.CastTo(s.Cols[c].Type.Kind, by), s.Var(0, s.Cols[c].ID))
	}
	j := b.Join([]*ra.Node{s, w}, nil, nil, []ra.OutCol{{Name: "x", X: scaled(2)}, {Name: "y", X: scaled(3)}})
	sum := func(c int) *ra.Node {
		a, err := b.Aggregate(j, nil, []ra.AggCol{{Name: "g", Agg: ra.Agg{Fn: ra.GradSum, Arg: j.Cols[c].ID}}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	check(t, &ra.Plan{Roots: []ra.Root{all(sum(0), "real"), all(sum(1), "double")}}, src, kernels.Env{}, 1e-5)
}

// TestAddOfOneRow: a constant of a relation of one row is added at that row's key only.
func TestAddOfOneRow(t *testing.T) {
	src, b := &memory{}, ra.NewBuilder()
	ones := func(name string, keys ...int64) *ra.Node {
		s := b.Scan(src.add(name, 1, ints(keys...)), nil)
		return b.Select(s, nil, []ra.OutCol{{Name: "k", X: s.Var(0, s.Cols[0].ID)}, {Name: "x", X: kernels.CastConst(kernels.Float64, 1)}})
	}
	for _, in := range [][]*ra.Node{{ones("a", 1, 3), ones("b", 2)}, {ones("c", 2), ones("d", 1, 2, 3)}, {ones("e", 1), ones("f", 2)}} {
		check(t, &ra.Plan{Roots: []ra.Root{all(b.Add(in, 1), "sum")}}, src, kernels.Env{}, 1e-12)
	}
}
