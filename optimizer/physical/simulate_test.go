package physical

import (
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/optimizer/cost"
	"github.com/relgrad/relgrad/ra"
)

// rows are how many rows nodes have at each site.
type rows map[*Node][]int64

func (r rows) Rows(n *Node) []int64 { return r[n] }
func (r rows) Stays(*Node) int64    { return 0 }

// TestSimulateByHand: two sites read 100 and 300 rows of numbers, at 800 bytes a second, and gather the sums of each
// row at site 0, at 100 bytes a second and a second before: site 1 takes the time of 300 rows that are read and
// written, then a second and that of 300 rows in the network. Site 0 waits for it, unless it has something else to do:
// another sum of the same rows.
func TestSimulateByHand(t *testing.T) {
	res, err := gradtest.Optimize(t.Context(), gradtest.Graph(), "SELECT sum(dot(v, v)) FROM w0", []string{"w0"},
		optimizer.Options{})
	must(t, err)
	var scan *ra.Node
	ra.Walk(func(n *ra.Node) {
		if n.Op == ra.Scan {
			scan = n
		}
	}, res.Plan.Nodes()...)
	row, keys := rowBytes(scan), keyBytes(scan)
	leaf := &Node{RA: scan, Place: Placement{Kind: Anywhere}}
	sum := func() *Node {
		of := &ra.Node{Op: ra.Aggregate, Inputs: []*ra.Node{scan}, Cols: scan.Cols, Key: scan.Key, Group: scan.Key}
		for _, c := range scan.Cols[len(scan.Key):] {
			of.Aggs = append(of.Aggs, ra.Agg{Fn: ra.Sum, Arg: c.ID})
		}
		return &Node{RA: of, Inputs: []*Node{leaf}}
	}
	first, second := sum(), sum()
	gather := &Node{Op: Gather, Inputs: []*Node{first}, Place: At(0)}
	last := &Node{RA: &ra.Node{Op: ra.Union, Inputs: []*ra.Node{first.RA, second.RA}, Cols: scan.Cols, Key: scan.Key},
		Inputs: []*Node{gather, second}, Place: At(0)}
	plan := &Plan{Sites: 2, Roots: []Root{{Node: last}}}
	at := rows{leaf: {100, 300}, first: {100, 300}, second: {100, 0}, gather: {400, 0}, last: {0, 0}}
	for _, overlap := range []bool{false, true} {
		c := Cluster{Network: 100, Latency: 1, Reads: 800, Overlap: overlap}
		got, err := Simulate(plan, at, Costs{Cluster: c})
		must(t, err)
		reads := func(rows, times float64) float64 { return rows * (row - keys) * times / 800 }
		ready := 2*reads(300, 1) + 1 + 300*(row-keys)/100 + 300*keys/100/once
		other := reads(100, 2) // reads 100 rows and writes as many
		end := ready
		if !overlap {
			end += other
		}
		// the union reads 400 and 100 rows
		if end += reads(500, 1); math.Abs(got.Seconds-end) > 1e-9 || got.Holds < 300*row {
			t.Errorf("overlap %v: %g seconds, not %g: %v", overlap, got.Seconds, end, got)
		}
		if len(got.Exchanges) != 1 || got.Exchanges[0].Begin != 2*reads(300, 1) || got.Busiest != 1 ||
			got.Binds() != Network {
			t.Errorf("%v: %+v", got, got.Exchanges)
		}
	}
}

// TestSimulate: a simulated step takes no longer than the busiest sites of all operators and exchanges together, as the
// search counts, and no less than what any site does. A site that overlaps is not slower.
func TestSimulate(t *testing.T) {
	db := gradtest.Graph()
	shorter := 0
	for k, l := range gradtest.Losses {
		res, err := gradtest.Optimize(t.Context(), db, l.SQL, l.Params, optimizer.Options{})
		must(t, err)
		draw := rand.New(rand.NewSource(int64(k)))
		costs := Costs{Cluster: Cluster{Network: 1e6, Latency: 1e-5, Operations: 1e7, Reads: 1e7}}
		on := Sites{N: 1 + draw.Intn(8)}
		p, err := Compile(res.Plan, on)
		must(t, err)
		if k%2 == 0 {
			c, err := Choose(t.Context(), res.Plan, on, costs)
			must(t, err)
			p = c.Plan
		}
		stats := costs.estimated(on.N)
		one, err := Simulate(p, stats, costs)
		must(t, err)
		costs.Cluster.Processors = 1
		crowded, err := Simulate(p, stats, costs)
		must(t, err)
		costs.Cluster.Processors, costs.Cluster.Overlap = 0, true
		two, err := Simulate(p, stats, costs)
		must(t, err)
		costs.flow = newFlow(p)
		whole := &Choice{Plan: p}
		must(t, whole.measure(stats, costs))
		busy := max(one.Busy[Processor]+one.Busy[Memory], one.Busy[Network])
		const eps = 1e-9
		if most := float64(whole.Cost) / 1e12; one.Seconds > most+eps || one.Seconds < busy-eps || one.Seconds == 0 {
			t.Errorf("%s: %g seconds simulated, between %g and %g", l.SQL, one.Seconds, busy, most)
		}
		if crowded.Seconds < one.Seconds-eps || crowded.Seconds > float64(on.N)*one.Seconds+eps {
			t.Errorf("%s: %d sites on one processor take %g seconds, %g on processors of their own", l.SQL, on.N,
				crowded.Seconds, one.Seconds)
		}
		if two.Seconds > one.Seconds+eps {
			t.Errorf("%s: a site that overlaps takes %g seconds, one that does not %g", l.SQL, two.Seconds, one.Seconds)
		}
		if two.Seconds < one.Seconds-eps {
			shorter++
		}
	}
	if shorter == 0 {
		t.Error("no exchange overlaps with anything")
	}
}

// TestSkew: rows that have the most frequent value of what they are spread by lie together, and what is done to them
// makes that site the busiest.
func TestSkew(t *testing.T) {
	h := newHand(t, 4, map[string]int64{"i": 2, "j": 5, "k": 1})
	for _, n := range h.query("CMM", [3]int{2, 2, 2}, nil, nil).Roots {
		ra.Walk(func(n *ra.Node) {
			if n.Op != ra.Scan {
				return
			}
			col := n.Col(n.Key[0]).Name
			costs := Costs{Cluster: Cluster{Tables: map[string]cost.Size{n.Table.Name: {Rows: 100,
				Heaviest: map[string]float64{col: 40}}}}}
			at := &Node{RA: n, Place: h.by(n, col)}
			if got := costs.estimated(4).Rows(at); !slices.Equal(got, []int64{40, 20, 20, 20}) {
				t.Errorf("%v by %s", got, col)
			}
			at.Place = h.by(n, strings.Join([]string{n.Col(n.Key[1]).Name, col}, " "))
			if got := costs.estimated(4).Rows(at); !slices.Equal(got, []int64{25, 25, 25, 25}) {
				t.Errorf("%v by both columns", got)
			}
		}, n.Node)
	}
}
