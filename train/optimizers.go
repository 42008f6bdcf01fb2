package train

import "math"

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

// optimizer updates one parameter: state buffers by name, and the update of a run of elements.
type optimizer struct {
	state  []string // names of the state buffers, each of the parameter's size
	update func(c *Config, step int64, p, g Floats, s []Floats)
}

// optimizers in the forms of their papers: momentum is Polyak's (v = μv + g; p −= lr·v); adam is Kingma and
// Ba, ICLR 2015, Algorithm 1. Weight decay is L2: g + λp.
var optimizers = map[string]*optimizer{
	"sgd": {nil, func(c *Config, _ int64, p, g Floats, _ []Floats) {
		if p.F32 != nil {
			sgd(c, p.F32, g.F32)
		} else {
			sgd(c, p.F64, g.F64)
		}
	}},
	"momentum": {[]string{"v"}, func(c *Config, _ int64, p, g Floats, s []Floats) {
		if p.F32 != nil {
			momentum(c, p.F32, g.F32, s[0].F32)
		} else {
			momentum(c, p.F64, g.F64, s[0].F64)
		}
	}},
	"adam": {[]string{"m", "s"}, func(c *Config, step int64, p, g Floats, s []Floats) {
		if p.F32 != nil {
			adam(c, step, p.F32, g.F32, s[0].F32, s[1].F32)
		} else {
			adam(c, step, p.F64, g.F64, s[0].F64, s[1].F64)
		}
	}},
}

func sgd[T float32 | float64](c *Config, p, g []T) {
	lr, wd := T(c.LR), T(c.WeightDecay)
	for i := range p {
		p[i] -= lr * (g[i] + wd*p[i])
	}
}

func momentum[T float32 | float64](c *Config, p, g, v []T) {
	lr, wd, mu := T(c.LR), T(c.WeightDecay), T(c.Momentum)
	for i := range p {
		v[i] = mu*v[i] + (g[i] + wd*p[i])
		p[i] -= lr * v[i]
	}
}

func adam[T float32 | float64](c *Config, step int64, p, g, m, s []T) {
	b1, b2, wd, eps := T(c.Beta1), T(c.Beta2), T(c.WeightDecay), T(c.Epsilon)
	rate := T(c.LR / (1 - math.Pow(c.Beta1, float64(step))))
	correct := T(1 / (1 - math.Pow(c.Beta2, float64(step))))
	for i := range p {
		x := g[i] + wd*p[i]
		m[i] = b1*m[i] + (1-b1)*x
		s[i] = b2*s[i] + (1-b2)*x*x
		p[i] -= rate * m[i] / (T(math.Sqrt(float64(s[i]*correct))) + eps)
	}
}

// clampNegative is the projection on the nonnegative orthant.
func clampNegative(p Floats) {
	for i, x := range p.F32 {
		p.F32[i] = max(x, 0)
	}
	for i, x := range p.F64 {
		p.F64[i] = max(x, 0)
	}
}
