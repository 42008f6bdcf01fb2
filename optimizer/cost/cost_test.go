package cost

import (
	"testing"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// TestShares: a semi-join with what has all values keeps all rows, one with some of them their share; a predicate that
// wants one value of a column keeps as many rows as a value has.
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
	eq := kernels.Build("eq", weights.Var(0, layer), kernels.Const(kernels.IntValue(1)))
	out := []ra.OutCol{{X: weights.Var(0, weights.Cols[1].ID)}, {X: weights.Var(0, weights.Cols[2].ID)}}
	for name, c := range map[string]struct {
		node *ra.Node
		want float64
	}{"all values": {semi(all), 64}, "two of four": {semi(some), 32},
		"one layer of four": {b.Select(weights, []*kernels.Expr{eq}, out), 16}} {
		if got := New().Rows(c.node); got < c.want*0.999 || got > c.want*1.001 {
			t.Errorf("%s: %g rows, not %g", name, got, c.want)
		}
	}
}
