package kernels

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// Limits of a product of more operands than one call of einsum takes.
const (
	maxOperands  = 16
	maxExhausted = 10 // up to so many operands the best order is found, beyond it a good one
)

// EinsumStep multiplies two operands of a longer product, which are numbered from 0. Its result is the next one.
type EinsumStep struct {
	Spec string
	A, B int
}

// EinsumPath divides a product of n operands into products of two. Of up to 10 operands these have together the fewest
// products of numbers, as far as no result has more dimensions than a chunk may have; of more operands each step is the
// cheapest one. length is how long the dimension of a label is.
func EinsumPath(spec string, n int, length func(label rune) int) ([]EinsumStep, error) {
	if n > maxOperands {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "einsum of %d operands: at most %d are possible", n, maxOperands).
			WithHint("Write the product as two calls of einsum.")
	}
	s, err := parseEinsum(spec, n)
	if err != nil {
		return nil, err
	}
	p := &einsumPath{s: s, length: length, best: map[uint32]split{}}
	if n <= maxExhausted {
		p.exhaust()
	} else {
		p.greedy()
	}
	all := uint32(1)<<n - 1
	if math.IsInf(p.best[all].cost, 1) {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"einsum %s: in each order some partial product has more than %d dimensions", s, tensor.MaxRank).
			WithHint("Write it as sums over a join of rows that hold the parts.")
	}
	var steps []EinsumStep
	next := n
	var make func(set uint32) int
	make = func(set uint32) int {
		if bits.OnesCount32(set) == 1 {
			return bits.TrailingZeros32(set)
		}
		l := p.best[set].left
		a, b := make(l), make(set&^l)
		step := einsumSpec{in: []string{p.labels(l), p.labels(set &^ l)}, out: p.labels(set)}
		steps = append(steps, EinsumStep{step.String(), a, b})
		next++
		return next - 1
	}
	make(all)
	return steps, nil
}

// einsumPath is the search for an order. Sets of operands are bits.
type einsumPath struct {
	s      einsumSpec
	length func(rune) int
	best   map[uint32]split // by set
}

// split is how a set is multiplied: left by the rest of it.
type split struct {
	cost float64
	left uint32
}

// labels are those of the product of a set: of one operand its own, else those that others or the result have.
func (p *einsumPath) labels(set uint32) string {
	n := len(p.s.in)
	switch {
	case bits.OnesCount32(set) == 1:
		return p.s.in[bits.TrailingZeros32(set)]
	case set == uint32(1)<<n-1:
		return p.s.out
	}
	inside, outside := "", p.s.out
	for i, in := range p.s.in {
		if set>>i&1 != 0 {
			inside += in
		} else {
			outside += in
		}
	}
	return strings.Map(func(l rune) rune {
		if strings.ContainsRune(outside, l) {
			return l
		}
		return -1
	}, distinct(inside))
}

// join is the cost of multiplying two sets, without theirs.
func (p *einsumPath) join(a, b uint32) float64 {
	if len(p.labels(a|b)) > tensor.MaxRank {
		return math.Inf(1)
	}
	cost := 1.0
	for _, l := range distinct(p.labels(a) + p.labels(b)) {
		cost *= float64(p.length(l))
	}
	return cost
}

// exhaust finds the cheapest split of each set.
func (p *einsumPath) exhaust() {
	for set := uint32(1); set < 1<<len(p.s.in); set++ {
		if bits.OnesCount32(set) == 1 {
			p.best[set] = split{}
			continue
		}
		best := split{cost: math.Inf(1)}
		low := set & -set // it is in the left part: each split occurs once
		for l := (set - 1) & set; l > 0; l = (l - 1) & set {
			if l&low == 0 {
				continue
			}
			if c := p.best[l].cost + p.best[set&^l].cost + p.join(l, set&^l); c < best.cost {
				best = split{c, l}
			}
		}
		p.best[set] = best
	}
}

// greedy multiplies the cheapest pair, and again.
func (p *einsumPath) greedy() {
	var sets []uint32
	for i := range p.s.in {
		sets = append(sets, 1<<i)
	}
	for len(sets) > 1 {
		least, x, y := math.Inf(1), 0, 1
		for i := range sets {
			for j := i + 1; j < len(sets); j++ {
				if c := p.join(sets[i], sets[j]); c < least {
					least, x, y = c, i, j
				}
			}
		}
		set := sets[x] | sets[y]
		p.best[set] = split{p.best[sets[x]].cost + p.best[sets[y]].cost + least, sets[x]}
		sets[x] = set
		sets = slices.Delete(sets, y, y+1)
	}
}

// Divided is a product of chunks by a spec, of more operands than one call of the kernel takes: products of two, one
// after the other.
func Divided(d *Def, spec *Expr, args []*Expr) (*Expr, error) {
	v, err := static("einsum", "spec", spec)
	if err != nil {
		return nil, err
	}
	types := make([]Type, len(args))
	for i, a := range args {
		types[i] = a.Type
	}
	if v.Type.Kind != Text {
		return nil, wrongType("einsum", append([]Type{v.Type}, types...))
	}
	s, err := parseEinsum(v.T, len(args))
	if err != nil {
		return nil, err
	}
	if _, err := s.infer(types); err != nil {
		return nil, err
	}
	length := map[rune]int{}
	for i, t := range types {
		for d, l := range s.in[i] {
			length[l] = t.Shape[d]
		}
	}
	steps, err := d.Divide(s.String(), len(args), func(l rune) int { return length[l] })
	if err != nil {
		return nil, err
	}
	parts := slices.Clone(args)
	for _, step := range steps {
		x, err := Call(d, Attr{Spec: step.Spec}, parts[step.A], parts[step.B])
		if err != nil {
			return nil, err
		}
		parts = append(parts, x)
	}
	return parts[len(parts)-1], nil
}
