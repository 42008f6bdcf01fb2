package executor

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

func all(n *ra.Node, name string) ra.Root {
	r := ra.Root{Name: name, Node: n}
	for _, c := range n.Cols {
		r.Cols = append(r.Cols, c.ID)
	}
	return r
}

func floats(x ...float64) *column.Column {
	return column.Of(kernels.Type{Kind: kernels.Float64}, x)
}

// weighted is Σ over the rows of data of x · w[k], and the gradient relation (k, Σ x) of w, as autodiff makes it.
func weighted(t testing.TB) (src *memory, w *ra.Table, plan *ra.Plan) {
	src, b := &memory{}, ra.NewBuilder()
	w = src.add("w", 1, ints(3, 1, 2), floats(0.5, 2, -1))
	data := src.add("data", 1, ints(0, 1, 2, 3), ints(2, 1, 2, 1), floats(1, 2, 3, 4))
	ws, ds := b.Scan(w, func(c int) bool { return c == 1 }), b.Scan(data, nil)
	j := b.Join(
		[]*ra.Node{ds, ws},
		[]ra.Equi{{L: kernels.Col{ID: ds.Cols[1].ID}, R: kernels.Col{Input: 1, ID: ws.Cols[0].ID}}},
		nil,
		[]ra.OutCol{
			{Name: "y", X: kernels.Mul(ds.Var(0, ds.Cols[2].ID), ws.Var(1, ws.Cols[1].ID))},
			{Name: "k", X: ws.Var(1, ws.Cols[0].ID)},
			{Name: "x", X: ds.Var(0, ds.Cols[2].ID)},
		},
	)
	loss, err := b.Aggregate(j, nil, []ra.AggCol{{Name: "loss", Agg: ra.Agg{Fn: ra.Sum, Arg: j.Cols[0].ID}}})
	if err != nil {
		t.Fatal(err)
	}
	grad, err := b.Aggregate(
		j,
		[]ra.ColumnID{j.Cols[1].ID},
		[]ra.AggCol{{Name: "g", Agg: ra.Agg{Fn: ra.GradSum, Arg: j.Cols[2].ID}}},
	)
	if err != nil {
		t.Fatal(err)
	}
	return src, w, &ra.Plan{Roots: []ra.Root{all(loss, "loss"), all(grad, "w")}}
}

// TestTraining steps along the gradient through the live buffers, as an optimizer does.
func TestTraining(t *testing.T) {
	t.Parallel()
	src, w, plan := weighted(t)
	ctx := context.Background()
	p, err := CompileOn(ctx, plan, src, Options{Workers: 2, Many: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	param := p.Param(w, 1)
	if param == nil || param.Rows != 3 || param.Size != 1 {
		t.Fatalf("parameter %+v", param)
	}
	loss := func() float64 {
		t.Helper()
		if err := p.Run(ctx, kernels.Env{}); err != nil {
			t.Fatal(err)
		}
		x, null, err := p.Scalar(0)
		if err != nil || null {
			t.Fatal(null, err)
		}
		return x
	}
	if x := loss(); x != 2*2+4*2-1-3 {
		t.Fatalf("loss %v", x)
	}
	of := func(input int) *kernels.Expr {
		return kernels.Column(kernels.Col{Input: input}, kernels.Type{Kind: kernels.Float64})
	}
	rate := kernels.Column(kernels.Col{Input: ra.StepNumber}, kernels.Type{Kind: kernels.Float64})
	rule := device.Rule{New: []*kernels.Expr{kernels.Sub(of(ra.StepValue), kernels.Mul(rate, of(ra.StepGradient)))}}
	training, err := p.Train([]Trained{{Rule: rule, Param: param, Root: 1, Col: 1, Key: []int{0}}}, 0, 1)
	if err == nil {
		err = training.Step(ctx, []float64{0.1})
	}
	if err != nil {
		t.Fatal(err)
	}
	x, err := param.Values()
	if err != nil {
		t.Fatal(err)
	}
	if x.Float(0) != 0.5 || x.Float(1) != 2-0.1*6 || x.Float(2) != -1-0.1*4 {
		t.Fatalf("parameter after the step: %v", x.F64())
	}
	if x := loss(); math.Abs(x-(6*1.4+4*-1.4)) > 1e-12 {
		t.Fatalf("loss after the step: %v", x)
	}
	src.perm = map[string][]int32{"w": {2, 0, 1}}
	if err := p.Reload(ctx, w, 1); err != nil {
		t.Fatal(err)
	}
	if x := loss(); x != 8 {
		t.Fatalf("loss after reading the parameter again: %v", x)
	}
	src.tables["w"][0] = ints(3, 1, 7)
	if err := p.Reload(ctx, w, 1); sqlerr.Code(err) != sqlerr.ObjectNotPrereqState {
		t.Fatalf("reading a parameter with other keys: %v", err)
	}
}

func TestForce64KeepsDouble(t *testing.T) {
	t.Parallel()
	src, b := &memory{}, ra.NewBuilder()
	v := column.New(kernels.Type{Kind: kernels.Float32}, 2)
	v.F32()[0], v.F32()[1] = 1, 1e-9
	n := b.Scan(src.add("w", 1, ints(0, 1), v), func(int) bool { return true })
	s, err := b.Aggregate(n, nil, []ra.AggCol{{Name: "s", Agg: ra.Agg{Fn: ra.Sum, Arg: n.Cols[1].ID}}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := runPlan(t, &ra.Plan{Roots: []ra.Root{all(s, "s")}}, src, Options{Force64: true}, kernels.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if x := out[0][0].F64()[0]; x <= 1 {
		t.Fatalf("sum %v was rounded to real", x)
	}
}

// TestPerStep rebuilds what depends on the step, and an Opaque that is run at each step.
func TestPerStep(t *testing.T) {
	t.Parallel()
	src, b := &memory{}, ra.NewBuilder()
	w := b.Scan(
		src.add("w", 1, ints(0, 1, 2, 3, 4, 5, 6, 7), floats(1, 2, 3, 4, 5, 6, 7, 8)),
		func(int) bool { return true },
	)
	src.opaque = func(_ *ra.Node, env *kernels.Env) []*column.Column {
		return []*column.Column{ints(env.Step, env.Step+1, env.Step+2)}
	}
	op := b.Opaque(nil, "batch", []ra.Column{{Name: "id", Type: tInt}})
	op.PerStep = true
	j := b.Join(
		[]*ra.Node{op, w},
		[]ra.Equi{{L: kernels.Col{ID: op.Cols[0].ID}, R: kernels.Col{Input: 1, ID: w.Cols[0].ID}}},
		nil,
		[]ra.OutCol{{Name: "x", X: kernels.Build("square", w.Var(1, w.Cols[1].ID))}},
	)
	step := kernels.Build("current_step")
	sel := b.Select(
		w,
		[]*kernels.Expr{kernels.Build("lt", w.Var(0, w.Cols[0].ID), step)},
		[]ra.OutCol{
			{Name: "m", X: kernels.Build("mod", w.Var(0, w.Cols[0].ID), kernels.Build("add", step, integer(1)))},
			{Name: "x", X: w.Var(0, w.Cols[1].ID)},
		},
	)
	var roots []ra.Root
	for _, in := range []*ra.Node{j, sel} {
		a, err := b.Aggregate(
			in,
			nil,
			[]ra.AggCol{
				{Name: "s", Agg: ra.Agg{Fn: ra.Sum, Arg: in.Cols[len(in.Cols)-2].ID}},
				{Name: "n", Agg: ra.Agg{Fn: ra.CountRows}},
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		roots = append(roots, all(in, "rows"), all(a, "sum"))
	}
	plan := &ra.Plan{Roots: roots}
	p, err := CompileOn(context.Background(), plan, src, Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, s := range []int64{0, 3, 1, 6, 6} {
		env := kernels.Env{Step: s, Seed: s / 3}
		if err := p.Run(context.Background(), env); err != nil {
			t.Fatalf("step %d: %v", s, err)
		}
		want, err := oracle(plan, src, env)
		if err != nil {
			t.Fatal(err)
		}
		for i := range plan.Roots {
			got, err := p.Result(i)
			if err != nil {
				t.Fatal(err)
			}
			if err := sameRows(vectorRows(got), want[i], 1e-12); err != nil {
				t.Errorf("step %d, root %d: %v", s, i, err)
			}
		}
	}
	if x := p.Explain(); !strings.Contains(x, "per step") {
		t.Errorf("the plan does not tell what is per step:\n%s", x)
	}
	if err := p.Analyze(context.Background(), kernels.Env{Step: 1}, 2); err != nil {
		t.Fatal(err)
	}
	if x := p.Explain(); !strings.Contains(x, "structure of a step: ") || !strings.Contains(x, " ms, ") {
		t.Errorf("the plan does not tell how long structure and instructions take:\n%s", x)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	src, _, plan := weighted(t)
	ctx, cancel := context.WithCancel(context.Background())
	p, err := CompileOn(ctx, plan, src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	cancel()
	if err := p.Run(ctx, kernels.Env{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled run: %v", err)
	}
	if _, err := p.Result(0); err == nil {
		t.Fatal("a cancelled run has a result")
	}
	if err := p.Run(context.Background(), kernels.Env{}); err != nil {
		t.Fatalf("run after a cancelled one: %v", err)
	}
	if _, err := CompileOn(ctx, plan, src, Options{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled compile: %v", err)
	}
}

// TestTooLarge refuses absurd sizes before it takes memory for them.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	src, b := &memory{}, ra.NewBuilder()
	const n = 70000
	key, x := column.New(tInt, n), column.New(tF64, n)
	for i := range key.I64() {
		key.I64()[i] = int64(i)
	}
	s := b.Scan(src.add("t", 1, key, x), func(int) bool { return true })
	cross := b.Join(
		[]*ra.Node{s, s},
		nil,
		nil,
		[]ra.OutCol{{Name: "x", X: kernels.Mul(s.Var(0, s.Cols[1].ID), s.Var(1, s.Cols[1].ID))}},
	)
	_, err := CompileOn(context.Background(), &ra.Plan{Roots: []ra.Root{all(cross, "cross")}}, src, Options{})
	if sqlerr.Code(err) != sqlerr.ProgramLimit {
		t.Errorf("cross join of %d rows with themselves: %v", n, err)
	}
	sq := b.Select(
		s,
		nil,
		[]ra.OutCol{
			{
				Name: "y",
				X: kernels.BuildAttr(
					"expand_to",
					kernels.Attr{Shape: []int{1000}, Kind: kernels.Float64},
					s.Var(0, s.Cols[1].ID),
				),
			},
		},
	)
	_, err = CompileOn(context.Background(), &ra.Plan{Roots: []ra.Root{all(sq, "wide")}}, src, Options{Memory: 1 << 20})
	if sqlerr.Code(err) != sqlerr.OutOfMemory {
		t.Errorf("a result of %d bytes in a budget of 1 MB: %v", n*8000, err)
	}
}

// broken is a source that fails or panics.
type broken struct{ err error }

func (b broken) Read(context.Context, *ra.Table, []int) ([]*column.Column, error) {
	if b.err == nil {
		panic("broken source")
	}
	return nil, b.err
}

func (b broken) Opaque(context.Context, *ra.Node, *kernels.Env) ([]*column.Column, error) {
	return nil, b.err
}

func TestErrors(t *testing.T) {
	t.Parallel()
	_, _, plan := weighted(t)
	for _, src := range []broken{{}, {errors.New("disk on fire")}, {sqlerr.New(sqlerr.IO, "disk on fire")}} {
		_, err := CompileOn(context.Background(), plan, src, Options{})
		var e *sqlerr.Error
		if !errors.As(err, &e) {
			t.Errorf("error %v has no SQLSTATE", err)
		}
	}
	src, b := &memory{}, ra.NewBuilder()
	s := b.Scan(src.add("t", 1, ints(0, 1, 2), floats(1, 2, 3)), func(int) bool { return true })
	div := kernels.Build("mul", s.Var(0, s.Cols[1].ID), kernels.Build("div", integer(1), s.Var(0, s.Cols[0].ID)))
	_, err := runPlan(
		t,
		&ra.Plan{Roots: []ra.Root{all(b.Select(s, nil, []ra.OutCol{{Name: "x", X: div}}), "div")}},
		src,
		Options{},
		kernels.Env{},
	)
	if sqlerr.Code(err) != sqlerr.DivisionByZero {
		t.Errorf("1/0: %v", err)
	}
}

// TestEmptyAggregates: no rows still give one row without a group, and none with one.
func TestEmptyAggregates(t *testing.T) {
	t.Parallel()
	src, b := &memory{}, ra.NewBuilder()
	s := b.Scan(src.add("t", 1, ints(), floats()), func(int) bool { return true })
	var aggs []ra.AggCol
	for fn := ra.Sum; fn <= ra.Max; fn++ {
		aggs = append(aggs, ra.AggCol{Name: fn.String(), Agg: ra.Agg{Fn: fn, Arg: s.Cols[1].ID}})
	}
	whole, err := b.Aggregate(s, nil, aggs)
	if err != nil {
		t.Fatal(err)
	}
	grouped, err := b.Aggregate(s, []ra.ColumnID{s.Cols[0].ID}, aggs)
	if err != nil {
		t.Fatal(err)
	}
	check(t, &ra.Plan{Roots: []ra.Root{all(whole, "whole"), all(grouped, "grouped")}}, src, kernels.Env{}, 1e-12)
}

// TestScansOfOneTable reads a table through two scans with different columns.
func TestScansOfOneTable(t *testing.T) {
	t.Parallel()
	src, b := &memory{}, ra.NewBuilder()
	tab := src.add("t", 1, ints(0, 1, 2), ints(2, 2, 1), ints(7, 8, 9))
	s := b.Scan(tab, nil)
	other := b.Scan(tab, nil)
	other.Cols, other.TableCols = other.Cols[1:], other.TableCols[1:]
	other.Key = []ra.ColumnID{other.Cols[0].ID, other.Cols[1].ID}
	other.Unique = other.Key
	j := b.Join(
		[]*ra.Node{s, other},
		[]ra.Equi{{L: kernels.Col{ID: s.Cols[0].ID}, R: kernels.Col{Input: 1, ID: other.Cols[0].ID}}},
		nil,
		[]ra.OutCol{{Name: "a", X: s.Var(0, s.Cols[0].ID)}, {Name: "b", X: other.Var(1, other.Cols[1].ID)}},
	)
	check(t, &ra.Plan{Roots: []ra.Root{all(j, "j")}}, src, kernels.Env{}, 1e-12)
}

// TestSharedExpressions: an expression that uses each sub-expression twice is a graph of few nodes, not a tree
// of 2⁴⁰.
func TestSharedExpressions(t *testing.T) {
	t.Parallel()
	src, b := &memory{}, ra.NewBuilder()
	s := b.Scan(src.add("t", 1, ints(0, 1, 2), floats(1, 2, 3)), func(int) bool { return true })
	e, i := s.Var(0, s.Cols[1].ID), s.Var(0, s.Cols[0].ID)
	for range 40 {
		e = kernels.Build("mul", kernels.Num(0.5), kernels.Build("add", e, e))
		i = kernels.Build("div", kernels.Build("add", i, i), integer(2))
	}
	n := b.Select(s, nil, []ra.OutCol{{Name: "x", X: e}, {Name: "i", X: i}})
	p, err := CompileOn(context.Background(), &ra.Plan{Roots: []ra.Root{all(n, "x")}}, src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Run(context.Background(), kernels.Env{}); err != nil {
		t.Fatal(err)
	}
	g, err := p.Grad(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if p.Explain() == "" || g.Float(2) != 3 {
		t.Fatal("wrong result")
	}
}
