package functions

import (
	"math"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/store/numeric"
)

// percentile is percentile_cont and percentile_disc: of a fraction, the values, what is asked (cont, disc or, of other
// types, whole, numeric and text) and whether in descending order.
type percentile struct {
	noInverse
	begun    bool
	fraction float64
	none     bool // the fraction is NULL
	what     string
	desc     bool
	x        []float64
	i        []int64
	s        []string // numerics, texts and times
}

// Step adds a value; NULLs are left out.
func (p *percentile) Step(a []lite.Cell) error {
	if !p.begun {
		p.begun, p.what, p.desc = true, a[2].String(), a[3].Int() != 0
		if p.none = a[0].IsNull(); !p.none {
			p.fraction = a[0].Float()
		}
		if !p.none && !(p.fraction >= 0 && p.fraction <= 1) {
			return sqlerr.New(sqlerr.NumericOutOfRange, "percentile value %g is not between 0 and 1", p.fraction)
		}
	}
	switch {
	case a[1].IsNull():
	case p.what == "whole":
		p.i = append(p.i, a[1].Int())
	case p.what == "numeric", p.what == "text":
		p.s = append(p.s, a[1].String())
	default:
		p.x = append(p.x, a[1].Float())
	}
	return nil
}

// Value returns the percentile, NULL of no values.
func (p *percentile) Value(r lite.Result) error {
	n := len(p.x) + len(p.i) + len(p.s)
	if n == 0 || p.none {
		return nil
	}
	slices.Sort(p.x)
	slices.Sort(p.i)
	if slices.Sort(p.s); p.what == "numeric" {
		slices.SortFunc(p.s, func(a, b string) int { return numeric.Compare([]byte(a), []byte(b)) })
	}
	if p.desc {
		slices.Reverse(p.x)
		slices.Reverse(p.i)
		slices.Reverse(p.s)
	}
	at := max(int(math.Ceil(p.fraction*float64(n))), 1) - 1
	switch p.what {
	case "whole":
		r.Int(p.i[at])
	case "numeric", "text":
		r.Text(p.s[at])
	case "disc":
		r.Float(p.x[at])
	default:
		place := p.fraction * float64(n-1)
		at = int(place)
		x := p.x[at]
		if part := place - float64(at); part > 0 {
			x += part * (p.x[at+1] - x)
		}
		return giveStatistic(r, x, false)
	}
	return nil
}
