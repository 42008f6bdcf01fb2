package physical

import (
	"math"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
)

// TestWorkByHand: each edge multiplies a row of x by its weight, which is no product of matrices; the sum adds these
// numbers and writes one row for each vertex.
func TestWorkByHand(t *testing.T) {
	res, err := gradtest.Optimize(t.Context(), graph(), "SELECT sum(sqnorm(h)) FROM (SELECT e.dst, sum(e.weight * x.v) "+
		"AS h FROM edge e JOIN x ON x.node = e.src GROUP BY e.dst) q", nil, optimizer.Options{})
	must(t, err)
	p, err := Compile(res.Plan, Sites{N: 1})
	must(t, err)
	const edges, vertices = 1000, 10
	at := rows{}
	for _, n := range p.Nodes() {
		if at[n] = []int64{edges}; n.Op == Local && len(n.RA.Group) > 0 {
			at[n] = []int64{vertices}
		}
	}
	tried := 0
	for _, n := range p.locals() {
		w, operations, bytes := Work{}, 0.0, 0.0
		switch {
		case n.RA.Op == ra.Join: // x and the weights are read once
			w = work(n, at)
			for _, c := range slices.Concat(n.RA.Inputs[0].Cols, n.RA.Inputs[1].Cols) {
				if c.Name == "v" {
					operations = edges * (1 + 8) * float64(c.Type.Size())
				}
				if c.Name == "v" || c.Name == "weight" {
					bytes += edges * rowBytes(&ra.Node{Cols: []ra.Column{c}})
				}
			}
		case n.RA.Op == ra.Aggregate && len(n.RA.Group) > 0:
			w = work(n, at)
			operations = edges * adding * float64(Width(n.RA))
			bytes = vertices * (rowBytes(n.RA) - keyBytes(n.RA))
		default:
			continue
		}
		if tried++; w.Operations[0] != operations || w.Bytes[0] != bytes || w.Rows[0] < edges {
			t.Errorf("%v: %g operations and %g bytes, not %g and %g", n.RA.Op, w.Operations[0], w.Bytes[0], operations, bytes)
		}
	}
	if tried != 2 {
		t.Errorf("%d operators are tried\n%s", tried, p.Format())
	}
}

// TestSharedWork: what the loss computes, its gradient does not compute again. Nothing of the loss alone is shared.
func TestSharedWork(t *testing.T) {
	sql := "SELECT sum(sqnorm(softplus(matmul(x.v, w.v)))) FROM x, w"
	shared := func(params ...string) (whole, once float64) {
		res, err := gradtest.Optimize(t.Context(), graph(), sql, params, optimizer.Options{})
		must(t, err)
		p, err := Compile(res.Plan, Sites{N: 2})
		must(t, err)
		f := newFlow(p)
		for _, n := range p.locals() {
			if n.RA.Op != ra.Join && n.RA.Op != ra.Select {
				continue
			}
			operations := perRow(n.RA, false).operations
			whole, once = whole+operations, once+operations*f.first(n.RA)
		}
		return whole, once
	}
	if whole, once := shared(); whole == 0 || math.Abs(whole-once) > 1e-9*whole {
		t.Errorf("a loss has %g operations for a row, %g of them once", whole, once)
	}
	if whole, once := shared("w"); !(once > 0 && once < 0.9*whole) {
		t.Errorf("with its gradient %g operations for a row, %g of them once", whole, once)
	}
}

// TestCrowd: two sites have 2 seconds to compute from the beginning on, a third one 1 second from the first second on.
// With two processors each has a second left then, for which the three take 1.5. With a processor each they need no
// longer than they have to compute.
func TestCrowd(t *testing.T) {
	for processors, want := range map[int][]float64{0: {2, 2, 2}, 1: {4, 4, 4}, 2: {2.5, 2.5, 2.5}, 3: {2, 2, 2}} {
		c := crowd{processors: processors}
		c.start(0, event{2, 0})
		c.start(0, event{2, 1})
		if processors == 1 { // each has done half of a second
			c.start(1, event{1.5, 2})
			want = []float64{5.5, 5.5, 5.5}
		} else {
			c.start(1, event{1, 2})
		}
		var got []float64
		for c.Len() > 0 {
			at := c.next()
			c.finish(at)
			got = append(got, at)
		}
		if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("%d processors: sites end at %v, not %v", processors, got, want)
		}
	}
}
