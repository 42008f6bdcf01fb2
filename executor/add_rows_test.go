package executor

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// summed is a sum by key of random columns of in: by its first column and over all its rows where whole, else by any
// key and, in one of two cases, over a join.
func (g *generator) summed(in *ra.Node, whole bool) (*ra.Node, error) {
	n := []*ra.Node{in}
	key := kernels.Build("mod", in.Var(0, in.Cols[0].ID), integer(7))
	if !whole {
		if g.rng.Intn(2) == 0 {
			n = append(n, g.node())
		}
		key = g.int(n, g.rng.Intn(2), fixed(tInt))
	}
	outs := []ra.OutCol{
		{Name: "i", X: key},
		{Name: "v", X: g.chunk(n, 1)},
		{Name: "x", X: kernels.CastTo(kernels.Float64, g.float(n, 1))},
	}
	var src *ra.Node
	switch {
	case whole:
		src = g.b.Select(in, nil, outs)
	case len(n) == 1:
		src = g.b.Select(in, g.preds(n), outs)
	default:
		src = g.b.Join(n, g.equis(n), g.preds(n), outs)
	}
	sum := func(name string, i int) ra.AggCol {
		return ra.AggCol{Name: name, Agg: ra.Agg{Fn: ra.GradSum, Arg: src.Cols[i].ID}}
	}
	return g.b.Aggregate(src, []ra.ColumnID{src.Cols[0].ID}, []ra.AggCol{sum("g", 1), sum("h", 2)})
}

// additions makes two or three additions of sums, also of those that others add, or of additions; nil where they have
// too many rows.
func (g *generator) additions(t *testing.T) (adds, sums []*ra.Node) {
	for range 2 + g.rng.Intn(2) {
		var in []*ra.Node
		for k := 2 + g.rng.Intn(3); len(in) < k; {
			switch {
			case len(in) > 0 && len(adds) > 0 && g.rng.Intn(3) == 0:
				in = append(in, adds[g.rng.Intn(len(adds))])
				continue
			case len(in) > 0 && g.rng.Intn(4) == 0:
				in = append(in, sums[g.rng.Intn(len(sums))])
				continue
			}
			from := g.node()
			if len(in) == 0 {
				from = g.nodes[g.rng.Intn(3)]
			}
			a, err := g.summed(from, len(in) == 0)
			if err != nil {
				t.Fatal(err)
			}
			if g.pairs(a) > 5000 {
				return nil, nil
			}
			sums, in = append(sums, a), append(in, a)
		}
		n := g.b.Add(in, 1)
		if adds = append(adds, n); g.rng.Intn(2) == 0 {
			g.nodes = append(g.nodes, n)
		}
	}
	return adds, sums
}

// TestRandomAdditions compares random additions of sums by key with the oracle, in lanes of few rows; also those that
// several read, or that are results themselves.
func TestRandomAdditions(t *testing.T) {
	t.Parallel()
	Long(t)
	tune := tuning.Default()
	SmallLanes(tune)
	AddRowsInPlace(tune)
	rows, inPlace := 0, 0
	for seed := range *plans {
		g := &generator{
			rng:  rand.New(rand.NewSource(int64(seed) + 1000000)),
			src:  &memory{},
			b:    ra.NewBuilder(),
			ints: [2]int64{0, 1},
		}
		for i := range 3 {
			g.table(fmt.Sprintf("t%d", i))
		}
		adds, sums := g.additions(t)
		if adds == nil {
			continue
		}
		nodes := []*ra.Node{adds[len(adds)-1]}
		if g.rng.Intn(2) == 0 {
			nodes = append(nodes, adds[0])
		}
		if g.rng.Intn(3) == 0 {
			nodes = append(nodes, sums[g.rng.Intn(len(sums))])
		}
		plan := &ra.Plan{}
		for i, n := range nodes {
			plan.Roots = append(plan.Roots, all(n, fmt.Sprintf("root%d", i)))
		}
		n := g.check(t, tune, seed, plan)
		if rows += n; n == 0 {
			continue
		}
		p, err := CompileOn(context.Background(), plan, g.src, Options{Tuning: tune, Env: kernels.Env{Seed: 5, Step: 2}})
		if err != nil {
			t.Fatal(err)
		}
		inPlace += strings.Count(p.Explain(), "rows added in place")
		p.Close()
	}
	if t.Logf("%d rows compared, %d additions in place", rows, inPlace); inPlace == 0 {
		t.Error("no addition is in place")
	}
}
