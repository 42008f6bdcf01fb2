package train

import (
	"math"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
)

// Floats is a live buffer of one dtype; exactly one slice is set.
type Floats struct {
	F32 []float32
	F64 []float64
}

// Len returns the number of elements.
func (f Floats) Len() int { return len(f.F32) + len(f.F64) }

// like returns a zeroed buffer of the same dtype and length.
func (f Floats) like() Floats {
	if f.F32 != nil {
		return Floats{F32: make([]float32, len(f.F32))}
	}
	return Floats{F64: make([]float64, len(f.F64))}
}

// hyper are the numbers of one parameter's update at one step.
type hyper struct {
	lr, decay float64
	scale     float64 // of the gradient, by clip_norm; else 1
	step      int64   // from 1
	*Config
}

// optimizer updates elements of one parameter: p the values, g the gradient, s the state buffers, all of one length.
// update is the same as expressions (update.go), for SQL.
type optimizer struct {
	state  []string // names of the state buffers, each of the parameter's size
	uses   []string // options that belong to it
	f32    func(h *hyper, p, g []float32, s [][]float32)
	f64    func(h *hyper, p, g []float64, s [][]float64)
	update func(t *terms) (s []*kernels.Expr, p *kernels.Expr)
}

// optimizers as PyTorch 2 documents them (https://docs.pytorch.org/docs/stable/optim.html): torch.optim.SGD with
// dampening 0, Adagrad with lr_decay 0, RMSprop without momentum and not centered, Adam, AdamW. Their papers: Polyak
// 1964 (momentum); Sutskever et al., ICML 2013 (nesterov); Duchi et al., JMLR 2011 (adagrad); Tieleman and Hinton,
// Coursera 2012, lecture 6.5 (rmsprop); Kingma and Ba, ICLR 2015 (adam); Loshchilov and Hutter, ICLR 2019 (adamw).
// Weight decay is L2, d = g + λp, but adamw's, which is decoupled.
var optimizers = map[string]*optimizer{
	"sgd":      {nil, nil, sgd[float32], sgd[float64], sgdUpdate},
	"momentum": {[]string{"v"}, []string{"momentum"}, momentum[float32], momentum[float64], momentumUpdate},
	"nesterov": {[]string{"v"}, []string{"momentum"}, nesterov[float32], nesterov[float64], nesterovUpdate},
	"adagrad":  {[]string{"s"}, []string{"epsilon"}, adagrad[float32], adagrad[float64], adagradUpdate},
	"rmsprop":  {[]string{"s"}, []string{"alpha", "epsilon"}, rmsprop[float32], rmsprop[float64], rmspropUpdate},
	"adam":     {[]string{"m", "s"}, []string{"beta1", "beta2", "epsilon"}, adam[float32], adam[float64], adamUpdate},
	"adamw":    {[]string{"m", "s"}, []string{"beta1", "beta2", "epsilon"}, adamw[float32], adamw[float64], adamwUpdate},
}

// sgd: p ← p − η·d.
func sgd[T float32 | float64](h *hyper, p, g []T, _ [][]T) {
	cpu.SGD(T(h.lr), T(h.decay), T(h.scale), g, p)
}

// momentum: v ← μv + d, p ← p − η·v.
func momentum[T float32 | float64](h *hyper, p, g []T, s [][]T) {
	lr, wd, mu, scale, v := T(h.lr), T(h.decay), T(h.Momentum), T(h.scale), s[0]
	for i := range p {
		v[i] = mu*v[i] + (scale*g[i] + wd*p[i])
		p[i] -= lr * v[i]
	}
}

// nesterov: v ← μv + d, p ← p − η·(d + μv).
func nesterov[T float32 | float64](h *hyper, p, g []T, s [][]T) {
	lr, wd, mu, scale, v := T(h.lr), T(h.decay), T(h.Momentum), T(h.scale), s[0]
	for i := range p {
		d := scale*g[i] + wd*p[i]
		v[i] = mu*v[i] + d
		p[i] -= lr * (d + mu*v[i])
	}
}

// adagrad: s ← s + d², p ← p − η·d / (√s + ε).
func adagrad[T float32 | float64](h *hyper, p, g []T, s [][]T) {
	lr, wd, eps, scale, sum := T(h.lr), T(h.decay), T(h.Epsilon), T(h.scale), s[0]
	for i := range p {
		d := scale*g[i] + wd*p[i]
		sum[i] += d * d
		p[i] -= ratio(lr*d, root(sum[i])+eps)
	}
}

// rmsprop: s ← αs + (1−α)d², p ← p − η·d / (√s + ε).
func rmsprop[T float32 | float64](h *hyper, p, g []T, s [][]T) {
	lr, wd, a, eps, scale, avg := T(h.lr), T(h.decay), T(h.Alpha), T(h.Epsilon), T(h.scale), s[0]
	for i := range p {
		d := scale*g[i] + wd*p[i]
		avg[i] = a*avg[i] + (1-a)*d*d
		p[i] -= ratio(lr*d, root(avg[i])+eps)
	}
}

// adam: m ← β₁m + (1−β₁)d, s ← β₂s + (1−β₂)d², p ← p − η·m̂ / (√ŝ + ε), m̂ = m/(1−β₁ᵗ), ŝ = s/(1−β₂ᵗ).
func adam[T float32 | float64](h *hyper, p, g []T, state [][]T) {
	rate, correct := h.corrected()
	a := cpu.Adam[T]{Rate: T(rate), Correct: T(correct), Beta1: T(h.Beta1), Beta2: T(h.Beta2), Epsilon: T(h.Epsilon),
		Decay: T(h.decay), Scale: T(h.scale)}
	a.Update(g, state[0], state[1], p)
}

// adamw: p ← p − ηλp, then adam with d = g.
func adamw[T float32 | float64](h *hyper, p, g []T, state [][]T) {
	keep := T(1 - h.lr*h.decay)
	for i := range p {
		p[i] *= keep
	}
	plain := *h
	plain.decay = 0
	adam(&plain, p, g, state)
}

// corrected returns η/(1−β₁ᵗ) and 1/(1−β₂ᵗ).
func (h *hyper) corrected() (rate, correct float64) {
	return h.lr / (1 - math.Pow(h.Beta1, float64(h.step))), 1 / (1 - math.Pow(h.Beta2, float64(h.step)))
}

func root[T float32 | float64](x T) T { return T(math.Sqrt(float64(x))) }

// ratio is x/y, and 0 for 0/0: with epsilon 0 an element whose gradients were all zero stays.
func ratio[T float32 | float64](x, y T) T {
	if x == 0 {
		return 0
	}
	return x / y
}
