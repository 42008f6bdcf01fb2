package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// terms are what an optimizer's update is written with as expressions: the value p, the gradient, the buffers s.
// Numbers are rounded to the parameter's dtype, as a loop over its numbers has them.
type terms struct {
	h    *hyper // of the parameter; its rate and step are not known yet
	p    *kernels.Expr
	grad *kernels.Expr
	s    []*kernels.Expr
	real bool
	// step is a number that changes from step to step; into at goes where it is among the numbers of an update
	step func(at *int, name string, of func(h *hyper) float64) *kernels.Expr
	loop *device.Loop
}

func rounded(x float64, real bool) float64 {
	if real {
		return float64(float32(x))
	}
	return x
}

// num is a constant, rest is 1 minus one.
func (t *terms) num(x float64) *kernels.Expr { return kernels.Num(rounded(x, t.real)) }
func (t *terms) rest(x float64) *kernels.Expr {
	return kernels.Num(rounded(1-rounded(x, t.real), t.real))
}

// lr is the learning rate η of the step.
func (t *terms) lr() *kernels.Expr {
	return t.step(&t.loop.Rate, "the learning rate", func(h *hyper) float64 { return h.lr })
}

// d is g + λp, where g is the gradient as clip_norm leaves it.
func (t *terms) d() *kernels.Expr {
	g := t.grad
	t.loop.Decay = t.h.decay
	if t.h.ClipNorm > 0 {
		g = kernels.Mul(kernels.Column(kernels.Col{Input: ra.StepScale}, kernels.Type{Kind: kernels.Float64}), g)
	}
	if t.h.decay == 0 {
		return g
	}
	return kernels.Build("add", g, kernels.Build("mul", t.num(t.h.decay), t.p))
}

// mix is a·x + b·y.
func mix(a, x, b, y *kernels.Expr) *kernels.Expr {
	return kernels.Build("add", kernels.Build("mul", a, x), kernels.Build("mul", b, y))
}

// ratio is x / (√s + ε), and 0 for 0/0, which only ε = 0 can give.
func (t *terms) ratio(x, s *kernels.Expr) *kernels.Expr {
	eps := rounded(t.h.Epsilon, t.real)
	if eps > 0 {
		return kernels.Div(x, kernels.Build("add", kernels.Build("sqrt", s), kernels.Num(eps)))
	}
	return kernels.Select(kernels.Build("eq_mask", x, kernels.Num(0)), kernels.Num(0),
		kernels.Div(x, kernels.Build("sqrt", s)))
}

func sgdUpdate(t *terms) ([]*kernels.Expr, *kernels.Expr) {
	return nil, kernels.Sub(t.p, kernels.Build("mul", t.lr(), t.d()))
}

func momentumUpdate(t *terms) ([]*kernels.Expr, *kernels.Expr) {
	v := kernels.Build("add", kernels.Build("mul", t.num(t.h.Momentum), t.s[0]), t.d())
	return []*kernels.Expr{v}, kernels.Sub(t.p, kernels.Build("mul", t.lr(), v))
}

func nesterovUpdate(t *terms) ([]*kernels.Expr, *kernels.Expr) {
	d, mu := t.d(), t.num(t.h.Momentum)
	v := kernels.Build("add", kernels.Build("mul", mu, t.s[0]), d)
	return []*kernels.Expr{v}, kernels.Sub(t.p, kernels.Build("mul", t.lr(),
		kernels.Build("add", d, kernels.Build("mul", mu, v))))
}

func adagradUpdate(t *terms) ([]*kernels.Expr, *kernels.Expr) {
	d := t.d()
	s := kernels.Build("add", t.s[0], kernels.Build("mul", d, d))
	return []*kernels.Expr{s}, kernels.Sub(t.p, t.ratio(kernels.Build("mul", t.lr(), d), s))
}

func rmspropUpdate(t *terms) ([]*kernels.Expr, *kernels.Expr) {
	d := t.d()
	s := mix(t.num(t.h.Alpha), t.s[0], kernels.Build("mul", t.rest(t.h.Alpha), d), d)
	return []*kernels.Expr{s}, kernels.Sub(t.p, t.ratio(kernels.Build("mul", t.lr(), d), s))
}

func adamUpdate(t *terms) ([]*kernels.Expr, *kernels.Expr) {
	d := t.d()
	m := mix(t.num(t.h.Beta1), t.s[0], t.rest(t.h.Beta1), d)
	s := mix(t.num(t.h.Beta2), t.s[1], kernels.Build("mul", t.rest(t.h.Beta2), d), d)
	rate := t.step(&t.loop.Rate, "the learning rate / (1 - beta1 ^ step)",
		func(h *hyper) float64 { r, _ := h.corrected(); return r })
	correct := t.step(&t.loop.Correct, "1 / (1 - beta2 ^ step)",
		func(h *hyper) float64 { _, c := h.corrected(); return c })
	return []*kernels.Expr{m, s}, kernels.Sub(t.p,
		t.ratio(kernels.Build("mul", rate, m), kernels.Build("mul", s, correct)))
}

func adamwUpdate(t *terms) ([]*kernels.Expr, *kernels.Expr) {
	plain := *t
	if t.h.decay != 0 {
		keep := t.step(&t.loop.Keep, "1 - the learning rate * weight_decay",
			func(h *hyper) float64 { return 1 - h.lr*h.decay })
		plain.p = kernels.Build("mul", keep, t.p)
	}
	h := *t.h
	h.decay, plain.h = 0, &h
	return adamUpdate(&plain)
}

// stepNumber is one that changes from step to step.
type stepNumber struct {
	name      string
	of        func(h *hyper) float64
	lr, decay float64 // of the parameters that it belongs to
	real      bool
	slots     []string
}

// stepNumbers are those of all slots, each once.
type stepNumbers struct {
	c    *Config
	list []*stepNumber
}

// rule writes what happens to a slot of type t in a step, over the columns that ra.StepValue and the like name.
func (n *stepNumbers) rule(s *Slot, t kernels.Type) device.Rule {
	n.c.tune(s)
	t.Nullable = false
	c, o := n.c, optimizers[n.c.Optimizer]
	r := device.Rule{Sparse: s.sparse, Loop: device.Loop{Name: c.Optimizer, Momentum: c.Momentum, Alpha: c.Alpha,
		Beta1: c.Beta1, Beta2: c.Beta2, Epsilon: c.Epsilon}}
	x := &terms{h: &hyper{decay: s.decay, Config: c}, real: t.Kind == kernels.Float32, loop: &r.Loop}
	x.p, x.grad = kernels.Column(kernels.Col{Input: ra.StepValue}, t),
		kernels.Column(kernels.Col{Input: ra.StepGradient}, t)
	for i := range o.state {
		x.s = append(x.s, kernels.Column(kernels.Col{Input: ra.StepBuffer, ID: kernels.ColumnID(i)}, t))
	}
	x.step = func(at *int, name string, of func(h *hyper) float64) *kernels.Expr {
		i := slices.IndexFunc(n.list, func(n *stepNumber) bool {
			return n.name == name && n.lr == s.lr && n.decay == s.decay && n.real == x.real
		})
		if i < 0 {
			i = len(n.list)
			n.list = append(n.list, &stepNumber{name: name, of: of, lr: s.lr, decay: s.decay, real: x.real})
		}
		n.list[i].slots, *at = append(n.list[i].slots, s.Name), i+1
		return kernels.Column(kernels.Col{Input: ra.StepNumber, ID: kernels.ColumnID(i)}, kernels.Type{Kind: kernels.Float64})
	}
	buffers, value := o.update(x)
	r.New = append(buffers, value)
	for _, name := range s.project {
		then := device.Rule{Loop: device.Loop{Name: name}}
		if e := projections[name].expr; e != nil {
			then.New = []*kernels.Expr{e(x.p)}
		}
		r.Then = append(r.Then, then)
	}
	return r
}

// at are the numbers of a step.
func (n *stepNumbers) at(step int64) (out []float64) {
	for _, x := range n.list {
		out = append(out, x.at(n.c, step))
	}
	return out
}

// Updates are the steps of a run as data: how the slots' columns change, as an executor does it.
type Updates struct {
	Rules   []device.Rule
	Clip    float64 // bound of the gradients' norm; 0: none
	Numbers int     // that change from step to step
	numbers stepNumbers
}

// At are the numbers of a step.
func (u *Updates) At(step int64) []float64 { return u.numbers.at(step) }

// describe is the comment on a number in the statement.
func (n *stepNumber) describe() string {
	return fmt.Sprintf("%s, for %s", n.name, strings.Join(n.slots, ", "))
}

// at is the number of a step.
func (n *stepNumber) at(c *Config, step int64) float64 {
	return rounded(n.of(&hyper{lr: c.rate(n.lr, step), decay: n.decay, step: step, Config: c}), n.real)
}
