package executor

import (
	"context"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// TestParametersInPlace: a parameter is read into the memory that training changes, once, whatever was known of its
// NULLs. What else reads its column, before or after it, has the stored values, also after another seed; and all memory
// is counted once.
func TestParametersInPlace(t *testing.T) {
	t.Parallel()
	const n = 1000
	for _, c := range []struct{ said, nullable, other, first bool }{
		{}, {said: true, nullable: true}, {said: true}, {other: true}, {other: true, first: true},
		{said: true, nullable: true, other: true},
	} {
		src, b := &memory{}, ra.NewBuilder()
		v := column.New(kernels.Type{Kind: kernels.Float32, Shape: []int{2}}, n)
		keys := make([]int64, n)
		for i := range keys {
			keys[i], v.F32()[2*i], v.F32()[2*i+1] = int64(i), 1, 2
		}
		there := float32(n)
		if c.nullable {
			v.SetNull(1)
			there--
		}
		tab := src.add("w", 1, ints(keys...), v)
		tab.Cols[1].Type.Nullable = c.said
		var roots []ra.Root
		add := func(name string, param bool) {
			s := b.Scan(tab, func(col int) bool { return param && col == 1 })
			agg, err := b.Aggregate(
				s,
				nil,
				[]ra.AggCol{
					{Name: "n", Agg: ra.Agg{Fn: ra.Count, Arg: s.Cols[1].ID}},
					{Name: "s", Agg: ra.Agg{Fn: ra.Sum, Arg: s.Cols[1].ID}},
				},
			)
			if err != nil {
				t.Fatal(err)
			}
			roots = append(roots, all(agg, name))
		}
		if c.other && c.first {
			add("stored", false)
		}
		add("trained", true)
		if c.other && !c.first {
			add("stored", false)
		}
		p, err := CompileOn(context.Background(), &ra.Plan{Roots: roots}, src, Options{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		w, at := p.Param(tab, 1), p.sites[0].table(tab).at[1]
		if over := column.SameMemory(w.data, p.sites[0].scans[p.sites[0].table(tab)].Data[at]); over == c.other {
			t.Fatalf("%+v: the parameter is the column that was read: %v", c, over)
		}
		columns := int64(8 * n)
		if c.other {
			columns += 8 * n
		}
		if got := p.sites[0].ledger.columns; got < columns || got > columns+2*n {
			t.Errorf("%+v: %d bytes of columns are counted, not %d", c, got, columns)
		}
		if (w.Valid != nil) != c.nullable {
			t.Errorf("%+v: rows that are there: %v", c, w.Valid)
		}
		for i := range w.Rows * w.Size {
			v, err := w.Values()
			if err == nil {
				err = w.Set(i, 10*v.Float(i))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, seed := range []int64{0, 7} {
			if err := p.Run(context.Background(), kernels.Env{Seed: seed}); err != nil {
				t.Fatal(err)
			}
			for i, r := range roots {
				out, err := p.Result(i)
				if err != nil {
					t.Fatal(err)
				}
				x := there
				if r.Name == "trained" {
					x *= 10
				}
				if out[0].I64()[0] != int64(there) || !slices.Equal(out[1].F32(), []float32{x, 2 * x}) {
					t.Errorf("%+v, seed %d, %s: %v and %v, not %v and %v", c, seed, r.Name, out[0].I64(), out[1].F32(), there, x)
				}
			}
		}
	}
}

// TestCopiesKeepNulls: a parameter that takes another program's values keeps its NULLs, at each copy.
func TestCopiesKeepNulls(t *testing.T) {
	t.Parallel()
	compile := func() (*Program, *Param) {
		src, b := &memory{}, ra.NewBuilder()
		v := column.Of(kernels.Type{Kind: kernels.Float32}, []float32{1, 2, 3})
		v.SetNull(1)
		w := src.add("w", 1, ints(0, 1, 2), v)
		w.Cols[1].Type.Nullable = true
		s := b.Scan(w, func(col int) bool { return col == 1 })
		agg, err := b.Aggregate(s, nil, []ra.AggCol{{Name: "n", Agg: ra.Agg{Fn: ra.Count, Arg: s.Cols[1].ID}}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := CompileOn(context.Background(), &ra.Plan{Roots: []ra.Root{all(agg, "r")}}, src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return p, p.Param(w, 1)
	}
	from, w := compile()
	defer from.Close()
	to, u := compile()
	defer to.Close()
	for range 3 {
		err := u.Copy(w)
		if err == nil {
			err = to.Run(context.Background(), kernels.Env{})
		}
		if err != nil {
			t.Fatal(err)
		}
		if out, err := to.Result(0); err != nil || out[0].I64()[0] != 2 {
			t.Errorf("%v values that are not NULL (%v)", out[0].I64(), err)
		}
	}
}
