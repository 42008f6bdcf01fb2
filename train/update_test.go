package train

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlgen"
)

// exprRow is one row of a parameter, updated by the expressions of optimizers in the kernels' reference code.
type exprRow struct {
	t       kernels.Type
	p, g    kernels.Value
	s       []kernels.Value
	numbers []*stepNumber
	next    []*kernels.Expr
}

func newExprRow(t *testing.T, c *Config, s *Slot, ty kernels.Type, p []float64) *exprRow {
	r := &exprRow{t: ty, p: r64(ty, p)}
	buffers, value, err := updated(c, s, ty, &r.numbers)
	if err != nil {
		t.Fatal(err)
	}
	for range buffers {
		r.s = append(r.s, r64(ty, make([]float64, len(p))))
	}
	r.next = append(buffers, value)
	return r
}

// r64 is a value of type ty.
func r64(ty kernels.Type, x []float64) kernels.Value {
	if ty.Shape == nil {
		return kernels.Value{Type: ty, X: x[0]}
	}
	return kernels.Value{Type: ty, F: append([]float64(nil), x...)}
}

// step updates the row; what is stored of real is rounded.
func (r *exprRow) step(t *testing.T, c *Config, step int64, scale float64) {
	var next []kernels.Value
	for _, e := range r.next {
		v, err := e.Eval(&kernels.Env{}, func(c2 kernels.Col) kernels.Value {
			switch c2.Input {
			case sqlgen.StepValue:
				return r.p
			case sqlgen.StepGradient:
				return r.g
			case sqlgen.StepBuffer:
				return r.s[c2.ID]
			case sqlgen.StepNumber:
				return kernels.FloatValue(r.numbers[c2.ID].at(c, step))
			}
			return kernels.FloatValue(scale)
		})
		if err != nil {
			t.Fatal(err)
		}
		x := v.Floats()
		for i := range x {
			x[i] = rounded(x[i], r.t.Kind == kernels.Float32)
		}
		next = append(next, r64(r.t, x))
	}
	r.s, r.p = next[:len(next)-1], next[len(next)-1]
}

// TestExpressions compares every optimizer's loop with its expressions, in both dtypes, for numbers and chunks, with
// weight decay, clipping, schedules, projections and epsilon 0.
func TestExpressions(t *testing.T) {
	variants := map[string]func(c *Config){
		"plain":        func(*Config) {},
		"weight_decay": func(c *Config) { c.WeightDecay = 0.1 },
		"clip_norm":    func(c *Config) { c.ClipNorm = 0.5; c.WeightDecay = 0.01 },
		"cosine":       func(c *Config) { c.Schedule, c.Warmup = "cosine", 5 },
		"step":         func(c *Config) { c.Schedule, c.StepSize, c.Gamma = "step", 3, 0.5 },
		"epsilon 0":    func(c *Config) { c.Epsilon = 0 },
		"nonnegative":  func(c *Config) { c.Nonnegative = []string{"w"} },
		"unit_ball":    func(c *Config) { c.Project = []string{"w: unit_ball"} },
		"unit_sphere":  func(c *Config) { c.Project = []string{"w: unit_sphere"} },
		"own options":  func(c *Config) { lr := 0.02; c.Options = map[string]ParamOptions{"w": {LR: &lr, WeightDecay: &lr}} },
	}
	for name := range optimizers {
		for variant, set := range variants {
			for _, kind := range []kernels.Kind{kernels.Float64, kernels.Float32} {
				for _, shape := range [][]int{nil, {2, 2}} {
					if shape == nil && variant == "unit_sphere" {
						continue
					}
					c := Default()
					c.Optimizer, c.LR = name, 0.05
					set(&c)
					if err := compareExpr(t, c, kernels.Type{Kind: kind, Shape: shape}); err != nil {
						t.Errorf("%s, %s, %v %v: %v", name, variant, kind, shape, err)
					}
				}
			}
		}
	}
}

func compareExpr(t *testing.T, c Config, ty kernels.Type) error {
	rng := rand.New(rand.NewSource(1))
	size := ty.Size()
	p, g := make([]float64, size), make([]float64, size)
	for i := range p {
		p[i] = rounded(rng.NormFloat64(), ty.Kind == kernels.Float32)
	}
	s := &Slot{Name: "w.v", Names: []string{"w", "w.v"}, Size: size, Key: func(int) string { return "" }}
	if ty.Kind == kernels.Float32 {
		s.Param.F32 = make([]float32, size)
		for i := range p {
			s.Param.F32[i] = float32(p[i])
		}
	} else {
		s.Param.F64 = append([]float64(nil), p...)
	}
	c.Epochs = 20
	b := &exprBowl{s: s, g: g, rng: rng}
	s.Grad = b.grad
	c.tune(s)
	row := newExprRow(t, &c, s, ty, p)
	b.after = func(step int64) error { // the values behind the step before
		if step > 1 {
			row.g = r64(ty, b.last)
			scale := 1.0
			if n := l2(b.last); c.ClipNorm > 0 && n > c.ClipNorm {
				scale = c.ClipNorm / n
			}
			row.step(t, &c, step-1, scale)
		}
		return b.same(row, step-1)
	}
	_, err := Run(context.Background(), c, b, []*Slot{s}, Start())
	return err
}

// exprBowl gives random gradients, some of them zero, and calls after before each step.
type exprBowl struct {
	bowl
	s       *Slot
	g, last []float64
	rng     *rand.Rand
	after   func(step int64) error
}

func (b *exprBowl) Step(_ context.Context, step int64) (float64, error) {
	if err := b.after(step); err != nil {
		return 0, err
	}
	for i := range b.g {
		b.g[i] = 0
		if step%4 > 0 && i != 1 {
			b.g[i] = rounded(b.rng.NormFloat64(), b.s.Param.F32 != nil)
		}
	}
	b.last = append([]float64(nil), b.g...)
	return 1, nil
}

func (b *exprBowl) grad() (Floats, []int32, error) {
	if b.s.Param.F32 == nil {
		return Floats{F64: b.g}, []int32{0}, nil
	}
	f := make([]float32, len(b.g))
	for i := range f {
		f[i] = float32(b.g[i])
	}
	return Floats{F32: f}, []int32{0}, nil
}

// same compares the loop's values and buffers with the row's.
func (b *exprBowl) same(r *exprRow, step int64) error {
	check := func(what string, f Floats, v kernels.Value) error {
		for i, want := range v.Floats() {
			got, tol := 0.0, 1e-12
			if f.F32 != nil {
				got, tol = float64(f.F32[i]), 1e-6
			} else {
				got = f.F64[i]
			}
			if !(math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))) {
				return fmt.Errorf("%s[%d] after step %d is %.17g in the loop, %.17g by the expression", what, i, step, got, want)
			}
		}
		return nil
	}
	if err := check("p", b.s.Param, r.p); err != nil {
		return err
	}
	for i, s := range b.s.State {
		if err := check(fmt.Sprintf("buffer %d", i), s, r.s[i]); err != nil {
			return err
		}
	}
	return nil
}
