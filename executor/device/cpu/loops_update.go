package cpu

import (
	"cmp"
	"math"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels/cpu"
)

// The loops of updates and projections by name (device.Loop.Name). An update without a loop is computed by its
// expressions. Below, η is the rate, λ the weight decay, and d the scaled gradient g plus λ times the value p.
var updates32, updates64 = updateLoops[float32](), updateLoops[float64]()

func updateLoops[T column.Float]() map[string]updateLoop[T] {
	return map[string]updateLoop[T]{
		"sgd":         {f: sgd[T]},
		"momentum":    {f: momentum[T]},
		"nesterov":    {f: nesterov[T]},
		"adagrad":     {f: adagrad[T]},
		"rmsprop":     {f: rmsprop[T]},
		"adam":        {f: adam[T]},
		"adamw":       {f: adamw[T]},
		"nonnegative": {f: clampNegative[T]},
		"unit_ball":   byRow(unitBall[T]),
		"unit_sphere": byRow(unitSphere[T]),
		"simplex":     byRow(simplex[T]),
	}
}

// stepNumbers are the numbers that an update needs at a step.
type stepNumbers[T column.Float] struct {
	rate, correct, keep, scale, decay, momentum, alpha, beta1, beta2, epsilon T

	size int // of a row
}

func numbersOf[T column.Float](l *device.Loop, step []T, size int) stepNumbers[T] {
	n := stepNumbers[T]{rate: step[l.Rate], correct: step[l.Correct], keep: 1, scale: step[0], decay: T(l.Decay),
		momentum: T(l.Momentum), alpha: T(l.Alpha), beta1: T(l.Beta1), beta2: T(l.Beta2), epsilon: T(l.Epsilon), size: size}
	if l.Keep > 0 {
		n.keep = step[l.Keep]
	}
	return n
}

// sgd: p ← p − η·d.
func sgd[T column.Float](n *stepNumbers[T], p, g []T, _ [][]T) {
	cpu.SGD(n.rate, n.decay, n.scale, g, p)
}

// momentum: v ← μv + d, p ← p − η·v.
func momentum[T column.Float](n *stepNumbers[T], p, g []T, s [][]T) {
	lr, wd, mu, scale, v := n.rate, n.decay, n.momentum, n.scale, s[0]
	for i := range p {
		v[i] = cpu.Settled(mu*v[i] + (scale*g[i] + wd*p[i]))
		p[i] -= lr * v[i]
	}
}

// nesterov: v ← μv + d, p ← p − η·(d + μv).
func nesterov[T column.Float](n *stepNumbers[T], p, g []T, s [][]T) {
	lr, wd, mu, scale, v := n.rate, n.decay, n.momentum, n.scale, s[0]
	for i := range p {
		d := scale*g[i] + wd*p[i]
		v[i] = cpu.Settled(mu*v[i] + d)
		p[i] -= lr * (d + mu*v[i])
	}
}

// adagrad: s ← s + d², p ← p − η·d / (√s + ε).
func adagrad[T column.Float](n *stepNumbers[T], p, g []T, s [][]T) {
	lr, wd, eps, scale, sum := n.rate, n.decay, n.epsilon, n.scale, s[0]
	for i := range p {
		d := scale*g[i] + wd*p[i]
		sum[i] += d * d
		p[i] -= ratio(lr*d, root(sum[i])+eps)
	}
}

// rmsprop: s ← αs + (1−α)d², p ← p − η·d / (√s + ε).
func rmsprop[T column.Float](n *stepNumbers[T], p, g []T, s [][]T) {
	lr, wd, a, eps, scale, avg := n.rate, n.decay, n.alpha, n.epsilon, n.scale, s[0]
	for i := range p {
		d := scale*g[i] + wd*p[i]
		if avg[i] = a*avg[i] + (1-a)*d*d; eps > cpu.Seen {
			avg[i] = cpu.Settled(avg[i])
		}
		p[i] -= ratio(lr*d, root(avg[i])+eps)
	}
}

// adam: m ← β₁m + (1−β₁)d, s ← β₂s + (1−β₂)d², p ← p − η·m̂ / (√ŝ + ε), m̂ = m/(1−β₁ᵗ), ŝ = s/(1−β₂ᵗ).
func adam[T column.Float](n *stepNumbers[T], p, g []T, s [][]T) {
	a := cpu.Adam[T]{Rate: n.rate, Correct: n.correct, Beta1: n.beta1, Beta2: n.beta2, Epsilon: n.epsilon,
		Decay: n.decay, Scale: n.scale}
	a.Update(g, s[0], s[1], p)
}

// adamw: p ← p − ηλp, then adam with d = g.
func adamw[T column.Float](n *stepNumbers[T], p, g []T, s [][]T) {
	for i := range p {
		p[i] *= n.keep
	}
	adam(n, p, g, s)
}

func root[T column.Float](x T) T { return T(math.Sqrt(float64(x))) }

// ratio is x/y, and 0 for 0/0: with epsilon 0 an element whose gradients were all zero stays.
func ratio[T column.Float](x, y T) T {
	if x == 0 {
		return 0
	}
	return x / y
}

// byRow is a projection of each row.
func byRow[T column.Float](f func(row []T)) updateLoop[T] {
	return updateLoop[T]{true, func(n *stepNumbers[T], p, _ []T, _ [][]T) {
		for at := 0; at < len(p); at += n.size {
			f(p[at : at+n.size])
		}
	}}
}

// clampNegative is the projection on the nonnegative orthant.
func clampNegative[T column.Float](_ *stepNumbers[T], x, _ []T, _ [][]T) {
	for i, v := range x {
		if v <= 0 { // faster than max, which must distinguish signed zeros
			x[i] = 0
		}
	}
}

// unitBall is the projection on the chunks of norm at most 1.
func unitBall[T column.Float](x []T) {
	if n := l2(x); n > 1 {
		divide(x, n)
	}
}

// unitSphere is the projection on the chunks of norm 1. Zero has no nearest point there and stays.
func unitSphere[T column.Float](x []T) {
	if n := l2(x); n > 0 {
		divide(x, n)
	}
}

func divide[T column.Float](x []T, n float64) {
	for i, v := range x {
		x[i] = T(float64(v) / n)
	}
}

// simplex is the projection on the nonnegative chunks of sum 1 (Duchi et al., ICML 2008, figure 1).
func simplex[T column.Float](x []T) {
	u := make([]float64, len(x))
	for i, v := range x {
		u[i] = float64(v)
	}
	slices.SortFunc(u, func(a, b float64) int { return cmp.Compare(b, a) })
	sum, shift := 0.0, 0.0
	for i, v := range u {
		sum += v
		if t := (sum - 1) / float64(i+1); v > t {
			shift = t
		}
	}
	for i, v := range x {
		x[i] = T(max(float64(v)-shift, 0))
	}
}
