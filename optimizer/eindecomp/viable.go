package eindecomp

import (
	"math/bits"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// mostVectors is how many viable vectors a vertex may have.
const mostVectors = 1 << 15

// halvings is how often a label can be cut into two equal parts.
func (l Label) halvings() int {
	if l.Whole {
		return 0
	}
	return bits.TrailingZeros64(uint64(l.Bound))
}

// checkSites refuses a p that is no power of two.
func checkSites(p int64) error {
	if p >= 1 && p&(p-1) == 0 {
		return nil
	}
	err := sqlerr.New(sqlerr.InvalidParameter, "p is %d, which is no power of two", p)
	if p < 1 || p > 1<<62 {
		return err.WithHint("p is the number of kernel calls that run side by side: 1, 2, 4, 8 and so on.")
	}
	return err.WithHint("Take the next power of two, %d: some sites then run one kernel call more than others.",
		int64(1)<<bits.Len64(uint64(p)))
}

// goal is the binary logarithm of the product of a viable vector's parts: p, or the largest product below it that the
// bounds allow.
func (v *Vertex) goal(p int64) int {
	sum := 0
	for _, l := range v.Labels {
		sum += l.halvings()
	}
	return min(sum, bits.TrailingZeros64(uint64(p)))
}

// viable lists the viable vectors in ascending order (EinDecomp §6, §8.2): every part a power of two that divides the
// bound, the product as large as p asks for.
func (v *Vertex) viable(p int64) ([]vector, error) {
	room := make([]int, len(v.Labels)+1) // of the labels from each one on
	for l := len(v.Labels) - 1; l >= 0; l-- {
		room[l] = room[l+1] + v.Labels[l].halvings()
	}
	goal := v.goal(p)
	if n := v.countViable(goal); n > mostVectors {
		return nil, sqlerr.New(sqlerr.ProgramLimit, "vertex %s has more than %d viable partition vectors", v.Name,
			mostVectors).WithDetail("It has %d labels, whose parts multiply to 2^%d.", len(v.Labels), goal)
	}
	var out []vector
	d := make(vector, len(v.Labels))
	var extend func(l, left int)
	extend = func(l, left int) {
		if l == len(d) {
			out = append(out, append(vector(nil), d...))
			return
		}
		for e := max(0, left-room[l+1]); e <= min(left, v.Labels[l].halvings()); e++ {
			d[l] = uint8(e)
			extend(l+1, left-e)
		}
	}
	extend(0, goal)
	return out, nil
}

// countViable counts the viable vectors without listing them; counting stops beyond mostVectors.
func (v *Vertex) countViable(goal int) int {
	ways := make([]int, goal+1) // of the labels so far, by the sum of their exponents
	ways[0] = 1
	for _, l := range v.Labels {
		for sum := goal; sum >= 0; sum-- {
			for e := 1; e <= min(sum, l.halvings()); e++ {
				ways[sum] = min(ways[sum]+ways[sum-e], mostVectors+1)
			}
		}
	}
	return ways[goal]
}
