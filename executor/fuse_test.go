package executor

import (
	"context"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// TestPassOfBothKinds sums weighted chunks of real and of double precision in one pass: they share a block's scratch.
func TestPassOfBothKinds(t *testing.T) {
	t.Parallel()
	const n, size = 1000, 4
	src, b := &memory{}, ra.NewBuilder()
	chunk := func(k kernels.Kind) *column.Column { return column.New(kernels.Type{Kind: k, Shape: []int{size}}, n) }
	key, weight, x, y := column.New(tInt, n), column.New(tF64, n), chunk(kernels.Float32), chunk(kernels.Float64)
	for i := range n {
		key.I64()[i], weight.F64()[i] = int64(i), float64(i%7)
		for j := range size {
			x.F32()[i*size+j], y.F64()[i*size+j] = float32(i%(2+j)), float64(i%(5+j))
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
	t.Parallel()
	src, b := &memory{}, ra.NewBuilder()
	ones := func(name string, keys ...int64) *ra.Node {
		s := b.Scan(src.add(name, 1, ints(keys...)), nil)
		return b.Select(
			s,
			nil,
			[]ra.OutCol{{Name: "k", X: s.Var(0, s.Cols[0].ID)}, {Name: "x", X: kernels.CastConst(kernels.Float64, 1)}},
		)
	}
	for _, in := range [][]*ra.Node{{ones("a", 1, 3), ones("b", 2)}, {ones("c", 2), ones("d", 1, 2, 3)},
		{ones("e", 1), ones("f", 2)}} {
		check(t, &ra.Plan{Roots: []ra.Root{all(b.Add(in, 1), "sum")}}, src, kernels.Env{}, 1e-12)
	}
}

// TestMaskDrawnAgain: a mask of dropout that two passes read is drawn in both, not kept in memory between them.
func TestMaskDrawnAgain(t *testing.T) {
	t.Parallel()
	const n = 1000
	src, b := &memory{}, ra.NewBuilder()
	key, x := column.New(tInt, n), column.New(tVec, n)
	for i := range n {
		key.I64()[i] = int64(i)
		for j := range 3 {
			x.F32()[3*i+j] = float32(i % (3 + j))
		}
	}
	s := b.Scan(src.add("t", 1, key, x), func(int) bool { return true })
	mask := func(slot int) *kernels.Expr {
		return kernels.BuildAttr("drop_mask", kernels.Attr{Shape: tVec.Shape, Kind: kernels.Float32, Num: 0.3, Int: 3},
			kernels.Build("row_key", s.Var(slot, s.Cols[0].ID)))
	}
	sum := func(n *ra.Node) *ra.Node {
		a, err := b.Aggregate(n, nil, []ra.AggCol{{Name: "s", Agg: ra.Agg{Fn: ra.GradSum, Arg: n.Cols[0].ID}}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := sum(b.Select(s, nil, []ra.OutCol{{Name: "v", X: kernels.Mul(s.Var(0, s.Cols[1].ID), mask(0))}}))
	second := sum(
		b.Join(
			[]*ra.Node{first, s},
			nil,
			nil,
			[]ra.OutCol{{Name: "v", X: kernels.Mul(first.Var(0, first.Cols[0].ID), mask(1))}},
		),
	)
	plan, env := &ra.Plan{Roots: []ra.Root{all(first, "first"), all(second, "second")}}, kernels.Env{Seed: 5, Step: 2}
	check(t, plan, src, env, 1e-5)
	p, err := CompileOn(context.Background(), plan, src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Run(context.Background(), env); err != nil {
		t.Fatal(err)
	}
	text := p.Explain()
	if strings.Count(text, "drop_mask(") != 2 || strings.Contains(text, "map: drop_mask(") {
		t.Errorf("the mask is not drawn in both passes:\n%s", text)
	}
}
