package bind

import (
	"testing"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// TestLargeColumn: a count is no large integer, whatever it counts; one of rows has no column to look at.
func TestLargeColumn(t *testing.T) {
	table := &ra.Table{Name: "r", Key: []int{0}, Cols: []ra.TableColumn{
		{Name: "u", Type: kernels.Type{Kind: kernels.Int}, PGType: "bigint"}}}
	b := ra.NewBuilder()
	in := b.Scan(table, nil)
	u := in.Cols[0].ID
	var aggs []ra.AggCol
	for _, fn := range []ra.AggFn{ra.Count, ra.CountRows, ra.Max} {
		a := ra.AggCol{Name: fn.String(), Agg: ra.Agg{Fn: fn, Arg: u}}
		if fn == ra.CountRows {
			a.Arg = ra.ColumnID(-1)
		}
		aggs = append(aggs, a)
	}
	n, err := b.Aggregate(in, nil, aggs)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, false, true} {
		if got := largeColumn(n, n.Cols[i].ID); got != want {
			t.Errorf("%s: %t", n.Cols[i].Name, got)
		}
	}
}
