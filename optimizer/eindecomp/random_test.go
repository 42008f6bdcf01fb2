package eindecomp

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

var (
	seed   = flag.Uint64("seed", 0, "the first random graph; 0 draws one")
	graphs = flag.Int("graphs", 150, "how many random graphs are planned")
)

// drawn draws a graph of few vertices, whose labels are local to each.
func drawn(r *rand.Rand) *Case {
	sizes := []int64{1, 2, 3, 4, 6, 8, 16}
	b := newBuilder(map[string]int64{})
	name := func(l int, size int64) string { // vertices share labels of equal size and number
		n := fmt.Sprintf("%c%d", 'a'+l, size)
		b.Sizes[n] = size
		return n
	}
	shapes := map[string][]int64{}
	for i := range 1 + r.IntN(2) {
		var shape []int64
		for range r.IntN(4) {
			shape = append(shape, sizes[r.IntN(len(sizes))])
		}
		shapes[fmt.Sprintf("X%d", i)] = shape
	}
	names := sortedKeys(shapes)
	for _, n := range names {
		b.Inputs[n] = []string{}
		for i, size := range shapes[n] {
			b.Inputs[n] = append(b.Inputs[n], name(i, size))
		}
	}
	for i := range 1 + r.IntN(5) {
		op := Op{Name: fmt.Sprintf("V%d", i), InLabels: [][]string{}, OutLabels: []string{}}
		var all []string
		for range 1 + r.IntN(2) {
			from := names[r.IntN(len(names))]
			labels, used := []string{}, map[string]bool{}
			for k, size := range shapes[from] {
				l := name(k, size)
				for _, other := range r.Perm(6) { // another label of equal size would do as well
					if n := name(other, size); !used[n] && r.IntN(3) > 0 {
						l = n
					}
				}
				for k := 0; used[l]; k++ {
					l = name(k, size)
				}
				used[l] = true
				labels = append(labels, l)
			}
			all = append(all, labels...)
			op.In, op.InLabels = append(op.In, from), append(op.InLabels, labels)
		}
		kept := map[string]bool{}
		var shape []int64
		for _, k := range r.Perm(len(all)) {
			if l := all[k]; !kept[l] && len(shape) < 3 && r.IntN(3) > 0 {
				kept[l] = true
				op.OutLabels, shape = append(op.OutLabels, l), append(shape, b.Sizes[l])
			}
		}
		names, shapes[op.Name] = append(names, op.Name), shape
		b.Ops = append(b.Ops, op)
	}
	return &Case{Name: "drawn", P: 1 << r.IntN(4), Graph: b.Description}
}

// bruteForce tries all vectors of powers of two that divide the bounds and have the largest product up to p.
func bruteForce(t *testing.T, g *Graph, p int64, most int) (least int64, tried int) {
	viable := make([][]Vector, len(g.Vertices))
	tried = 1
	for i, v := range g.Vertices {
		largest := int64(0)
		var extend func(d Vector, product int64)
		extend = func(d Vector, product int64) {
			if len(d) < len(v.Labels) {
				for n := int64(1); product*n <= p && v.Labels[len(d)].Bound%n == 0; n *= 2 {
					extend(append(d[:len(d):len(d)], n), product*n)
				}
				return
			}
			if product > largest {
				largest, viable[i] = product, nil
			}
			if product == largest {
				viable[i] = append(viable[i], d)
			}
		}
		extend(nil, 1)
		if tried *= len(viable[i]); tried > most {
			return 0, 0
		}
	}
	least = -1
	plan := make([]Vector, len(viable))
	var try func(i int)
	try = func(i int) {
		if i < len(plan) {
			for _, plan[i] = range viable[i] {
				try(i + 1)
			}
			return
		}
		costs, err := g.Costs(plan)
		if err != nil {
			t.Fatal(err)
		}
		if least < 0 || costs.Total < least {
			least = costs.Total
		}
	}
	try(0)
	return least, tried
}

// TestRandomGraphs: on random graphs all exact methods find the cost that trying all plans finds, and no method finds
// less; solving again gives the same plan.
func TestRandomGraphs(t *testing.T) {
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano()) % 1e9
	}
	t.Logf("go test ./optimizer/eindecomp -run TestRandomGraphs -seed=%d -graphs=%d", first, *graphs)
	plans, trees := 0, 0
	for i := range uint64(*graphs) {
		c := drawn(rand.New(rand.NewPCG(first+i, 0)))
		tried, tree := checkDrawn(t, c)
		if plans += tried; tree {
			trees++
		}
		if t.Failed() {
			text, _ := json.Marshal(c)
			t.Fatalf("seed %d: %s", first+i, text)
		}
	}
	t.Logf("%d plans tried, %d trees", plans, trees)
	if plans < 10**graphs || trees < *graphs/20 {
		t.Errorf("the graphs are too small to tell anything")
	}
}

func checkDrawn(t *testing.T, c *Case) (tried int, tree bool) {
	g, err := c.Graph.New()
	if err != nil {
		t.Fatal(err)
	}
	least, tried := bruteForce(t, g, c.P, 20_000)
	if tried == 0 {
		return 0, false
	}
	got, err := c.Solve(t.Context(), Limits{})
	if err != nil {
		t.Error(err)
		return
	}
	if got.Optimal != least || got.OptimalBy != "enumeration and elimination" {
		t.Errorf("%d by %s, not %d", got.Optimal, got.OptimalBy, least)
	}
	if got.Tree && *got.TreeDP != least {
		t.Errorf("%d by the tree, not %d", *got.TreeDP, least)
	}
	if got.Text < least || got.Informed < least {
		t.Errorf("linearised to %d and %d, less than %d", got.Text, got.Informed, least)
	}
	small, err := c.Solve(t.Context(), Limits{Cells: 1})
	if err != nil {
		t.Error(err)
		return
	}
	if small.Optimal < least || small.Optimal > got.Informed || got.Tree && small.Optimal != least {
		t.Errorf("%d by %s, not from %d to %d", small.Optimal, small.OptimalBy, least, got.Informed)
	}
	if again, err := c.Solve(t.Context(), Limits{}); err != nil || !reflect.DeepEqual(again, got) {
		t.Errorf("another plan the second time (%v): %v, %v", err, again, got)
	}
	return tried, got.Tree
}

// TestRepartitionCounts: the formula of repartition is the count of its definition: each wanted block is put together
// out of the producer's blocks that it touches; the first moves if only a part of it is used, each later one moves
// together with the wanted block.
func TestRepartitionCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		var bound []int64
		var wanted, produced Vector
		for range r.IntN(4) {
			b := []int64{1, 2, 3, 4, 8, 12, 16}[r.IntN(7)]
			draw := func() int64 { return 1 << r.IntN(Label{Bound: b}.halvings()+1) }
			bound, wanted, produced = append(bound, b), append(wanted, draw()), append(produced, draw())
		}
		got, err := Repartition(wanted, produced, bound)
		if want := countMoved(bound, wanted, produced); err != nil || got != want {
			t.Errorf("%v → %v of %v: %d (%v), not %d", produced, wanted, bound, got, err, want)
		}
	}
}

func countMoved(bound []int64, wanted, produced Vector) (moved int64) {
	parts := func(v Vector) (out []int, block int64) {
		block = 1
		for i, n := range v {
			out, block = append(out, int(n)), block*bound[i]/n
		}
		return out, block
	}
	wantedParts, wantedBlock := parts(wanted)
	producedParts, producedBlock := parts(produced)
	each(wantedParts, func(w []int) {
		touched := 0
		each(producedParts, func(p []int) {
			common := int64(1)
			for i, b := range bound {
				wl, pl := b/wanted[i], b/produced[i]
				low, high := max(int64(w[i])*wl, int64(p[i])*pl), min(int64(w[i]+1)*wl, int64(p[i]+1)*pl)
				common *= max(high-low, 0)
			}
			switch {
			case common == 0:
				return
			case touched > 0:
				moved += producedBlock + wantedBlock
			case common < producedBlock:
				moved += producedBlock
			}
			touched++
		})
	})
	return moved
}
