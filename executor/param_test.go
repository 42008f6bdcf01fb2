package executor

import (
	"context"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// TestParametersInPlace: a parameter is read into the memory that training changes, once; what else reads its column, such as a count
// of its rows that are there, has the stored values.
func TestParametersInPlace(t *testing.T) {
	for _, c := range []struct{ said, nullable bool }{{false, false}, {true, true}, {true, false}} {
		nullable := c.nullable
		src, b := &memory{}, ra.NewBuilder()
		v := ra.NewVector(kernels.Type{Kind: kernels.Float32, Shape: []int{2}}, 3)
		copy(v.F32, []float32{1, 2, 3, 4, 5, 6})
		if nullable {
			v.Valid = []bool{true, false, true}
		}

		tab := src.add("w", 1, ints(0, 1, 2), v)
		tab.Cols[1].Type.Nullable = c.said
		s := b.Scan(tab, func(c int) bool { return c == 1 })
		agg, err := b.Aggregate(s, nil, []ra.AggCol{{Name: "n", Agg: ra.Agg{Fn: ra.Count, Arg: s.Cols[1].ID}}, {Name: "s", Agg: ra.Agg{Fn: ra.Sum, Arg: s.Cols[1].ID}}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(context.Background(), &ra.Plan{Roots: []ra.Root{all(agg, "agg")}}, src, Options{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		w := p.Param(tab, 1)
		if r := p.scans[p.table(tab)]; w == nil || r == nil || !w.data.over(r.data[p.table(tab).at[1]]) {
			t.Fatalf("%+v: the parameter is a copy of the column", c)
		}
		if n := p.led.columns; n > 3*8+3 {
			t.Errorf("%+v: %d bytes of columns are counted besides the parameter", c, n)
		}
		for i := range w.F32 {
			w.F32[i] *= 10
		}
		if err := p.Run(context.Background(), kernels.Env{}); err != nil {
			t.Fatal(err)
		}
		out, err := p.Result(0)
		if err != nil {
			t.Fatal(err)
		}
		n, sum := out[0], out[1]
		count, want := int64(3), []float32{90, 120}
		if nullable {
			count, want = 2, []float32{60, 80}
		}
		if n.Ints[0] != count || !slices.Equal(sum.F32, want) {
			t.Errorf("%+v: %v and %v, not %v and %v", c, n.Ints, sum.F32, count, want)
		}
	}
}
