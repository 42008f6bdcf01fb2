package cost

import (
	"testing"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// TestShares: a semi-join with what has all values keeps all rows, one with some of them their share, and no other
// values; a predicate that wants one value of a column keeps as many rows as a value has.
func TestShares(t *testing.T) {
	b := &ra.Builder{}
	table := func(name string, rows int64, keys int) *ra.Node {
		tab := &ra.Table{Name: name, Rows: rows, Declared: true}
		for i := range keys {
			tab.Key = append(tab.Key, i)
			tab.Cols = append(tab.Cols, ra.TableColumn{Type: kernels.Type{Kind: kernels.Int}})
		}
		return b.Scan(tab, nil)
	}
	weights, some, all := table("weights", 64, 3), table("some", 2, 1), table("all", 4, 1)
	layer := weights.Cols[0].ID
	semi := func(r *ra.Node) *ra.Node {
		on := ra.Equi{L: kernels.Col{ID: layer}, R: kernels.Col{Input: 1, ID: r.Cols[0].ID}}
		return b.Semi(ra.SemiJoin, weights, r, []ra.Equi{on}, nil)
	}
	rest := semi(some) // has two layers, as has what it is joined with
	again := b.Join([]*ra.Node{rest, some}, []ra.Equi{{L: kernels.Col{ID: rest.Cols[0].ID},
		R: kernels.Col{Input: 1, ID: some.Cols[0].ID}}}, nil, []ra.OutCol{{X: rest.Var(0, rest.Cols[0].ID)}})
	eq := kernels.Build("eq", weights.Var(0, layer), kernels.Const(kernels.IntValue(1)))
	out := []ra.OutCol{{X: weights.Var(0, weights.Cols[1].ID)}, {X: weights.Var(0, weights.Cols[2].ID)}}
	for name, c := range map[string]struct {
		node *ra.Node
		want float64
	}{"all values": {semi(all), 64}, "two of four": {semi(some), 32},
		"two of two":        {again, 32},
		"one layer of four": {b.Select(weights, []*kernels.Expr{eq}, out), 16}} {
		if got := New().Rows(c.node); got < c.want*0.999 || got > c.want*1.001 {
			t.Errorf("%s: %g rows, not %g", name, got, c.want)
		}
	}
}

// TestTogether: rows of a join have no more combinations of what comes from one of its inputs than that has rows.
func TestTogether(t *testing.T) {
	b := &ra.Builder{}
	table := func(rows int64, cols int) *ra.Node {
		tab := &ra.Table{Name: "t", Rows: rows, Declared: true, Key: []int{0}}
		for range cols {
			tab.Cols = append(tab.Cols, ra.TableColumn{Type: kernels.Type{Kind: kernels.Int}})
		}
		return b.Scan(tab, nil)
	}
	triples, entities, drawn := table(100, 3), table(5000, 1), table(1000, 2)
	on := func(l *ra.Node, i int, r *ra.Node, j int) ra.Equi {
		return ra.Equi{L: kernels.Col{ID: l.Cols[i].ID}, R: kernels.Col{Input: 1, ID: r.Cols[j].ID}}
	}
	facts := b.Join([]*ra.Node{triples, entities}, []ra.Equi{on(triples, 1, entities, 0)}, nil,
		[]ra.OutCol{{X: triples.Var(0, triples.Cols[0].ID)}, {X: entities.Var(1, entities.Cols[0].ID)},
			{X: triples.Var(0, triples.Cols[2].ID)}})
	all := b.Join([]*ra.Node{drawn, facts}, []ra.Equi{on(drawn, 1, facts, 0)}, nil,
		[]ra.OutCol{{X: drawn.Var(0, drawn.Cols[0].ID)}, {X: drawn.Var(0, drawn.Cols[1].ID)},
			{X: facts.Var(1, facts.Cols[1].ID)}, {X: facts.Var(1, facts.Cols[2].ID)}})
	for name, c := range map[string]struct {
		by   []int
		want float64
	}{"of one input": {[]int{1, 2, 3}, 100}, "of both": {[]int{0, 1, 2, 3}, 1000}} {
		var by []ra.ColumnID
		for _, i := range c.by {
			by = append(by, all.Cols[i].ID)
		}
		groups, err := b.Aggregate(all, by, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := New().Rows(groups); got != c.want {
			t.Errorf("%s: %g groups, not %g", name, got, c.want)
		}
	}
}
