package train

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlgen"
)

// terms are what an optimizer's update is written with as expressions: the value p, the gradient, the buffers s.
// Numbers are rounded as the loops of optimizers.go round them, to the parameter's dtype.
type terms struct {
	h    *hyper // of the parameter; its rate, step and scale are not known yet
	p    *kernels.Expr
	grad *kernels.Expr
	s    []*kernels.Expr
	real bool
	step func(name string, of func(h *hyper) float64) *kernels.Expr // a number that changes from step to step
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
	return t.step("the learning rate", func(h *hyper) float64 { return h.lr })
}

// d is g + λp, where g is the gradient as clip_norm leaves it.
func (t *terms) d() *kernels.Expr {
	g := t.grad
	if t.h.ClipNorm > 0 {
		g = kernels.Mul(kernels.Column(kernels.Col{Input: sqlgen.StepScale}, kernels.Type{Kind: kernels.Float64}), g)
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
	rate := t.step("the learning rate / (1 - beta1 ^ step)", func(h *hyper) float64 { r, _ := h.corrected(); return r })
	correct := t.step("1 / (1 - beta2 ^ step)", func(h *hyper) float64 { _, c := h.corrected(); return c })
	return []*kernels.Expr{m, s}, kernels.Sub(t.p,
		t.ratio(kernels.Build("mul", rate, m), kernels.Build("mul", s, correct)))
}

func adamwUpdate(t *terms) ([]*kernels.Expr, *kernels.Expr) {
	plain := *t
	if t.h.decay != 0 {
		keep := t.step("1 - the learning rate * weight_decay", func(h *hyper) float64 { return 1 - h.lr*h.decay })
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

// updated writes what happens to a slot of type t in a step as expressions over the columns that sqlgen.Update names.
// numbers are those that other slots need already.
func updated(c *Config, s *Slot, t kernels.Type, numbers *[]*stepNumber) (buffers []*kernels.Expr, value *kernels.Expr,
	err error) {
	t.Nullable = false
	o := optimizers[c.Optimizer]
	x := &terms{h: &hyper{decay: s.decay, Config: c}, real: t.Kind == kernels.Float32}
	x.p, x.grad = kernels.Column(kernels.Col{Input: sqlgen.StepValue}, t),
		kernels.Column(kernels.Col{Input: sqlgen.StepGradient}, t)
	for i := range o.state {
		x.s = append(x.s, kernels.Column(kernels.Col{Input: sqlgen.StepBuffer, ID: kernels.ColumnID(i)}, t))
	}
	x.step = func(name string, of func(h *hyper) float64) *kernels.Expr {
		i := 0
		for ; i < len(*numbers); i++ {
			if n := (*numbers)[i]; n.name == name && n.lr == s.lr && n.decay == s.decay && n.real == x.real {
				break
			}
		}
		if i == len(*numbers) {
			*numbers = append(*numbers, &stepNumber{name: name, of: of, lr: s.lr, decay: s.decay, real: x.real})
		}
		n := (*numbers)[i]
		n.slots = append(n.slots, s.Name)
		return kernels.Column(kernels.Col{Input: sqlgen.StepNumber, ID: kernels.ColumnID(i)},
			kernels.Type{Kind: kernels.Float64})
	}
	buffers, value = o.update(x)
	for _, j := range s.project {
		if j.expr == nil {
			return nil, nil, noSQL("projection", projectionName(j))
		}
		value = j.expr(value)
	}
	return buffers, value, nil
}

func projectionName(j *projection) string {
	for _, n := range names(projections) {
		if projections[n] == j {
			return n
		}
	}
	return "?"
}

// describe is the comment on a number in the statement.
func (n *stepNumber) describe() string {
	return fmt.Sprintf("%s, for %s", n.name, strings.Join(n.slots, ", "))
}

// at is the number of a step.
func (n *stepNumber) at(c *Config, step int64) float64 {
	return rounded(n.of(&hyper{lr: c.rate(n.lr, step), decay: n.decay, step: step, Config: c}), n.real)
}
