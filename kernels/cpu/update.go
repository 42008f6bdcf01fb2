package cpu

import (
	"math"
	"unsafe"
)

// Finite reports whether no element is NaN or infinite.
func Finite[T Float](x []T) bool {
	if native {
		return cFinite(x)
	}
	sum := T(0)
	for _, v := range x {
		sum += v * 0
	}
	return sum == 0
}

// SGD computes p ← p − lr·(scale·g + decay·p).
func SGD[T Float](lr, decay, scale T, g, p []T) {
	g = g[:len(p)]
	if native {
		cSGD(lr, decay, scale, g, p)
		return
	}
	for i := range p {
		p[i] -= lr * (scale*g[i] + decay*p[i])
	}
}

// Seen is the epsilon above which a mean of squares that Settled makes zero cannot be seen: its root is below 1.1e-19.
const Seen = 1e-15

// Settled is x, and 0 for a subnormal number. What an optimizer keeps of an element decays where that has no gradient,
// by a factor of 0.9 until it is subnormal and then not at all (0.9 of the least number is rounded to that); with each
// such number, processors of Intel take some hundred cycles.
func Settled[T Float](x T) T {
	least := T(0x1p-126)
	if unsafe.Sizeof(x) == 8 {
		least = T(math.Ldexp(1, -1022))
	}
	if x < least && x > -least {
		return 0
	}
	return x
}

// Adam are the numbers of one step of Adam (Kingma and Ba, ICLR 2015): Rate is η/(1−β₁ᵗ), Correct 1/(1−β₂ᵗ).
type Adam[T Float] struct{ Rate, Correct, Beta1, Beta2, Epsilon, Decay, Scale T }

// Update computes d = scale·g + decay·p, m ← β₁m + (1−β₁)d, s ← β₂s + (1−β₂)d², p ← p − rate·m / (√(correct·s) + ε),
// where 0/0 is 0: with ε = 0 an element whose gradients were all zero stays.
func (a *Adam[T]) Update(g, m, s, p []T) {
	g, m, s = g[:len(p)], m[:len(p)], s[:len(p)]
	if native {
		cAdam(a, g, m, s, p)
		return
	}
	for i := range p {
		d := a.Scale*g[i] + a.Decay*p[i]
		m[i] = Settled(a.Beta1*m[i] + (1-a.Beta1)*d)
		if s[i] = a.Beta2*s[i] + (1-a.Beta2)*d*d; a.Epsilon > Seen {
			s[i] = Settled(s[i])
		}
		if x := a.Rate * m[i]; x != 0 {
			p[i] -= x / (T(math.Sqrt(float64(s[i]*a.Correct))) + a.Epsilon)
		}
	}
}
