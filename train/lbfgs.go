package train

import (
	"errors"
	"math"
)

// LBFGS minimises a function of many numbers by the limited-memory BFGS method (Nocedal and Wright, Numerical
// Optimization, 2nd edition, algorithms 7.4 and 7.5) with a line search for the strong Wolfe conditions (algorithms 3.5
// and 3.6). All sums are taken in the order of the numbers.
type LBFGS struct {
	First   float64 // the first trial step of a line search
	History int     // how many pairs of steps and changes of the gradient are kept
	Objective
	now   *point
	pairs []pair // oldest first
}

// Objective computes the function and its gradient at x, where it may round the numbers of x. A point whose results are
// not finite counts as too far.
type Objective func(x []float64) (f float64, gradient []float64, err error)

// point is where the function was computed: at distance t along the direction of the search, in which it rises by
// slope.
type point struct {
	t, f, slope float64
	x, g        []float64
}

// pair is a step s with the change y of the gradient by it, and ρ = 1/(s·y).
type pair struct {
	s, y []float64
	rho  float64
}

// ErrLowest tells that no step from the present point lowers the loss.
var ErrLowest = errors.New("train: no step lowers the loss")

// Constants of the line search: those that Nocedal and Wright name for quasi-Newton methods.
const (
	decrease   = 1e-4 // c₁: how much of what the slope promises the function must fall
	flatter    = 0.9  // c₂: how much of the slope may be left
	mostTrials = 30
	// A pair is left out where s·y is no more than this part of |s|·|y|: rounding, or no curvature.
	leastCurvature = 1e-14
)

// Begin computes the function where the search begins.
func (o *LBFGS) Begin(x []float64) error {
	f, g, err := o.Objective(x)
	o.now, o.pairs = &point{f: f, x: x, g: g}, nil
	return err
}

// Begun reports whether the search has begun.
func (o *LBFGS) Begun() bool { return o.now != nil }

// At is the present point with its function and gradient.
func (o *LBFGS) At() (x []float64, f float64, gradient []float64) { return o.now.x, o.now.f, o.now.g }

// Step goes on to a point that is lower. Where there is none it is ErrLowest, and the point stays.
func (o *LBFGS) Step() error {
	d := o.direction()
	if len(o.pairs) > 0 && !(dot(d, o.now.g) < 0) {
		o.pairs, d = nil, scaled(-1, o.now.g)
	}
	next, err := o.search(d)
	if err == ErrLowest && len(o.pairs) > 0 { // the pairs may tell of another part of the function
		o.pairs = nil
		next, err = o.search(scaled(-1, o.now.g))
	}
	if err != nil {
		return err
	}
	s, y := minus(next.x, o.now.x), minus(next.g, o.now.g)
	if sy := dot(s, y); sy > leastCurvature*math.Sqrt(dot(s, s)*dot(y, y)) {
		if o.pairs = append(o.pairs, pair{s, y, 1 / sy}); len(o.pairs) > o.History {
			o.pairs = o.pairs[1:]
		}
	}
	o.now = next
	return nil
}

// direction is −H·g by the two loops of algorithm 7.4, where H begins as γ times the identity (7.20).
func (o *LBFGS) direction() []float64 {
	q := scaled(-1, o.now.g)
	n := len(o.pairs)
	if n == 0 {
		return q
	}
	alpha := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		p := o.pairs[i]
		alpha[i] = p.rho * dot(p.s, q)
		add(q, -alpha[i], p.y)
	}
	last := o.pairs[n-1]
	q = scaled(1/(last.rho*dot(last.y, last.y)), q)
	for i, p := range o.pairs {
		add(q, alpha[i]-p.rho*dot(p.y, q), p.s)
	}
	return q
}

// search finds a point along d: one where the strong Wolfe conditions hold, or else the lowest one where the function
// falls enough.
func (o *LBFGS) search(d []float64) (*point, error) {
	begin := *o.now
	begin.t, begin.slope = 0, dot(d, o.now.g)
	if !(begin.slope < 0) {
		return nil, ErrLowest
	}
	t := o.First
	if len(o.pairs) == 0 { // the gradient says where to go, but not how far
		sum := 0.0
		for _, x := range o.now.g {
			sum += math.Abs(x)
		}
		t *= min(1, 1/sum)
	}
	before := &begin
	for n := 0; n < mostTrials; n++ {
		p, err := o.try(&begin, d, t)
		switch {
		case err != nil:
			return nil, err
		case !begin.falls(p) || n > 0 && p.f >= before.f:
			return o.zoom(&begin, d, before, p, mostTrials-n)
		case math.Abs(p.slope) <= -flatter*begin.slope:
			return o.lower(p)
		case p.slope >= 0:
			return o.zoom(&begin, d, p, before, mostTrials-n)
		}
		before, t = p, 4*t
	}
	return o.lower(before)
}

// zoom is algorithm 3.6: between lo, the lowest point so far where the function falls enough, and hi lies one where the
// strong Wolfe conditions hold.
func (o *LBFGS) zoom(begin *point, d []float64, lo, hi *point, trials int) (*point, error) {
	for range trials {
		t := between(lo, hi)
		if t == lo.t || t == hi.t {
			break
		}
		p, err := o.try(begin, d, t)
		if err != nil {
			return nil, err
		}
		if !begin.falls(p) || p.f >= lo.f {
			hi = p
			continue
		}
		if math.Abs(p.slope) <= -flatter*begin.slope {
			return o.lower(p)
		}
		if p.slope*(hi.t-lo.t) >= 0 {
			hi = lo
		}
		lo = p
	}
	return o.lower(lo)
}

// lower takes a point unless it is no better than the present one: near the minimum, where the function is equal for
// rounding, its gradient must be smaller.
func (o *LBFGS) lower(p *point) (*point, error) {
	if p.t == 0 || !(p.f < o.now.f) && !(p.f == o.now.f && dot(p.g, p.g) < dot(o.now.g, o.now.g)) {
		return nil, ErrLowest
	}
	return p, nil
}

// falls is the first Wolfe condition.
func (begin *point) falls(p *point) bool { return p.f <= begin.f+decrease*p.t*begin.slope }

// try computes the function at a distance along d.
func (o *LBFGS) try(begin *point, d []float64, t float64) (*point, error) {
	p := &point{t: t, x: scaled(1, begin.x)}
	add(p.x, t, d)
	var err error
	if p.f, p.g, err = o.Objective(p.x); err != nil {
		return nil, err
	}
	if p.slope = dot(p.g, d); math.IsNaN(p.f) || math.IsNaN(p.slope) || math.IsInf(p.slope, 0) {
		p.f = math.Inf(1)
	}
	return p, nil
}

// between is the minimum of the cubic through two points and their slopes (3.59), away from their ends; the middle
// where there is none.
func between(a, b *point) float64 {
	middle := a.t + (b.t-a.t)/2
	if math.IsInf(b.f, 0) {
		return middle
	}
	d1 := a.slope + b.slope - 3*(a.f-b.f)/(a.t-b.t)
	d2 := math.Copysign(math.Sqrt(d1*d1-a.slope*b.slope), b.t-a.t)
	t := b.t - (b.t-a.t)*(b.slope+d2-d1)/(b.slope-a.slope+2*d2)
	lo, hi := min(a.t, b.t), max(a.t, b.t)
	if margin := (hi - lo) / 10; !(t >= lo+margin && t <= hi-margin) {
		return middle
	}
	return t
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

func scaled(by float64, a []float64) []float64 {
	out := make([]float64, len(a))
	for i, x := range a {
		out[i] = by * x
	}
	return out
}

// add adds by·b to a.
func add(a []float64, by float64, b []float64) {
	for i, x := range b {
		a[i] += by * x
	}
}

func minus(a, b []float64) []float64 {
	out := scaled(1, a)
	add(out, -1, b)
	return out
}
