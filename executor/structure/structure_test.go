package structure

import (
	"cmp"
	"context"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
)

// testStage is the stage of a step, of no plan, with lanes of seven rows.
func testStage(workers int) *Stage {
	ctx := context.Background()
	return NewStage(ctx, NewEnv(workers, nil, nil, &tuning.Sizes{Lanes: tuning.Lanes{LaneRows: 7}}), nil).Step(ctx, nil)
}

func keysOf(x ...int64) *column.Column {
	return column.Of(kernels.Type{Kind: kernels.Int}, x)
}

// randomInts draws keys from lo on, with gaps, maybe with NULL.
func randomInts(rng *rand.Rand, n int, lo, span int64, nulls bool) *column.Column {
	v := column.New(kernels.Type{Kind: kernels.Int, Nullable: nulls}, n)
	for i := range v.I64() {
		v.I64()[i] = lo + rng.Int63n(span)
	}
	if nulls {
		for i := range n {
			if rng.Intn(4) == 0 {
				v.SetNull(i)
			}
		}
	}
	return v
}

// TestLookup finds keys of one and two columns, dense and not, with NULL and without, as a map does.
func TestLookup(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for round := range 400 {
		columns, nulls, safe := 1+rng.Intn(2), rng.Intn(2) > 0, rng.Intn(2) > 0
		n, m, few := 1+rng.Intn(60), 1+rng.Intn(60), 1+rng.Intn(8)
		span := []int64{3, 40, 1 << 40}[rng.Intn(3)]
		build, probe, nullSafe := keyCols{n: n}, make([]Probe, columns), make([]bool, columns)
		at := make([]int32, m) // as many rows as are looked up read few rows of the columns
		for i := range at {
			at[i] = int32(rng.Intn(few))
		}
		for c := range columns {
			lo := rng.Int63n(9) - 4
			build.cols = append(build.cols, randomInts(rng, n, lo, span, nulls))
			probe[c] = Probe{Vector: randomInts(rng, few, lo-1, span+2, nulls), At: at}
			if nullSafe[c] = safe; span > 100 {
				copy(probe[c].Vector.I64(), build.cols[c].I64())
			}
		}
		key := func(r int, cols func(c int) *column.Column) (string, bool) {
			s, counts := "", true
			for c := range columns {
				v := cols(c)
				if v.IsNull(r) {
					s, counts = s+"NULL ", counts && safe
					continue
				}
				s += fmt.Sprint(v.I64()[r], " ")
			}
			return s, counts
		}
		enc := NewEncoder(build, nullSafe, make([]bool, columns))
		want := map[string]int32{}
		for r, code := range enc.Code {
			k, counts := key(r, func(c int) *column.Column { return build.cols[c] })
			if counts != (code >= 0) {
				t.Fatalf("round %d: row %d has number %d, key %q", round, r, code, k)
			}
			if old, ok := want[k]; counts && ok && old != code {
				t.Fatalf("round %d: key %q has the numbers %d and %d", round, k, old, code)
			}
			if counts {
				want[k] = code
			}
		}
		if len(want) != enc.Count {
			t.Fatalf("round %d: %d numbers for %d keys", round, enc.Count, len(want))
		}
		for _, workers := range []int{1, 3} {
			got, lost, err := testStage(workers).LookUp(&Lookup{Enc: enc}, probe, m)
			if err != nil {
				t.Fatal(err)
			}
			for i, code := range got {
				k, counts := key(int(at[i]), func(c int) *column.Column { return probe[c].Vector })
				w, there := want[k]
				if !there || !counts {
					w = -1
				}
				if code != w {
					t.Fatalf("round %d, %d workers: key %q has number %d, want %d", round, workers, k, code, w)
				}
				if code < 0 && !lost {
					t.Fatalf("round %d: key %q is not there, and that is not told", round, k)
				}
			}
		}
	}
}

// TestProbeShares: keys that have their rows' numbers are not copied, but where a join writes to what it gets: the rows
// of keys that have one row each, and those that are left where some key is not there.
func TestProbeShares(t *testing.T) {
	for _, c := range []struct {
		name   string
		keys   []int64
		unique bool
		rows   []int32
		shares bool
	}{
		{"the rows' numbers", []int64{7, 8, 9}, true, nil, true},
		{"keys of several rows", []int64{7, 8, 9}, false, []int32{3, 2, 1, 0}, true},
		{"rows in another order", []int64{7, 8, 9}, true, []int32{3, 2, 1, 0}, false},
		{"a key that is not there", []int64{7, 8, 70}, true, nil, false},
		{"other numbers", []int64{8, 7, 9}, true, nil, false},
	} {
		enc := NewEncoder(AllRows([]*column.Column{keysOf(7, 8, 9, 10)}, 4), []bool{false}, []bool{false})
		at := []int32{0, 0, 1, 1, 2, 2, 2, 0}
		got, lost, err := testStage(
			2,
		).LookUp(&Lookup{Enc: enc, unique: c.unique, rows: c.rows}, []Probe{{Vector: keysOf(c.keys...), At: at}}, len(at))
		if err != nil {
			t.Fatal(err)
		}
		if shares := &got[0] == &at[0]; shares != c.shares || lost != slices.Contains(got, -1) {
			t.Errorf("%s: shared %t, lost %t: %v", c.name, shares, lost, got)
		}
	}
}

// TestTally counts and sorts codes as sortByCode does, for any number of workers.
func TestTally(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for round := range 300 {
		n, span := rng.Intn(100), 1+rng.Intn(30)
		codes := make([]int32, n)
		for i := range codes {
			if codes[i] = int32(rng.Intn(span)); round%2 > 0 && i > 0 && rng.Intn(4) > 0 {
				codes[i] = codes[i-1]
			}
		}
		if round%5 == 0 {
			slices.Sort(codes)
		}
		for _, workers := range []crew{{1, 7}, {2, 7}, {5, 7}} {
			dirty := &Arrays{}
			for range 8 { // an array that is used again holds what it held
				Fill(dirty.Ints(64), 77)
			}
			dirty.Recycle()
			tally := workers.tally(codes, span, dirty)
			rank, count := tally.compact(dirty)
			dense := slices.Clone(codes)
			if rank != nil {
				cpu.Through(dense, codes, rank)
			} else if count != span {
				t.Fatalf("round %d, %d workers: %d of %d codes of %v are said to be all", round, workers.workers, count, span,
					codes)
			}
			start, order := workers.sort(dense, tally, nil)
			wantStart, wantOrder := sortByCode(dense, count)
			if !slices.Equal(start, wantStart) || !slices.Equal(order, wantOrder) || (order == nil) != (wantOrder == nil) {
				t.Fatalf(
					"round %d, %d workers: %v are sorted to %v, %v, want %v, %v",
					round,
					workers.workers,
					codes,
					start,
					order,
					wantStart,
					wantOrder,
				)
			}
		}
	}
}

// TestPool: what is lent is not lent twice until it is taken back.
func TestPool(t *testing.T) {
	const many = 8192
	p := &Arrays{}
	for range 3 {
		a, b := p.Ints(many), p.Ints(many)
		Fill(a, 1)
		Fill(b, 2)
		if slices.Contains(a, 2) {
			t.Fatal("one array was lent twice")
		}
		first := &a[0]
		p.Recycle()
		if c, d := p.Ints(many-5), p.Ints(many); &c[0] != first && &d[0] != first {
			t.Fatal("an array that was taken back is not lent again")
		}
		p.Recycle()
	}
}

// TestGroupCodes groups rows by columns of integers as a comparison of them all does, whatever they are read through.
func TestGroupCodes(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for round := range 600 {
		st := testStage(1 + round%3)
		rows, few, many := 1+rng.Intn(80), 1+rng.Intn(12), 1+rng.Intn(200)
		at, in := make([]int32, rows), make([]int32, few) // the rows read few, which read many
		for i := range at {
			at[i] = int32(i * few / rows)
			if round%4 == 0 {
				at[i] = int32(rng.Intn(few))
			}
		}
		for i := range in {
			in[i] = int32(rng.Intn(many))
		}
		all, mid, src := st.Indexer.Space(rows, true), st.Indexer.Space(few, true), st.Indexer.Space(many, true)
		outer, inner := &Index{
			ID:   st.Indexer.NewID(),
			Dst:  all,
			Src:  mid,
			At:   at,
			step: true,
		}, &Index{
			ID:   st.Indexer.NewID(),
			Dst:  mid,
			Src:  src,
			At:   in,
			step: true,
		}
		keys, cols := []Probe(nil), []*column.Column(nil)
		for c := range 1 + rng.Intn(3) {
			v := randomInts(rng, many, -5, []int64{3, 60, 1 << 40}[rng.Intn(3)], rng.Intn(6) == 0)
			if c == 0 && rng.Intn(2) == 0 && v.Valid() == nil {
				slices.Sort(v.I64())
			}
			if told := c > 0 && rng.Intn(2) == 0; told && v.Valid() == nil && keys[0].Vector.Valid() == nil {
				for i, x := range keys[0].Vector.I64() { // the first key tells this one, but maybe of one row
					v.I64()[i] = x << 33
				}
				v.I64()[rng.Intn(many)] += int64(rng.Intn(2))
			}
			idx := st.Indexer.Later(outer, inner)
			if rng.Intn(4) == 0 {
				idx.List()
			}
			keys = append(keys, Probe{v, idx.At, idx})
			cols = append(cols, column.Gather(v, readAll(at, in)))
		}
		raw, span, err := st.groupCodes(keys, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if raw[i] < 0 || int(raw[i]) >= span {
				t.Fatalf("round %d: code %d of %d", round, raw[i], span)
			}
			for j := range i {
				if got, want := cmp.Compare(raw[i], raw[j]), compareRows(cols, i, j); got != want {
					t.Fatalf(
						"round %d: rows %d and %d have the codes %d and %d, the keys compare as %d",
						round,
						i,
						j,
						raw[i],
						raw[j],
						want,
					)
				}
			}
		}
	}
}

func readAll(a, b []int32) []int32 {
	out := make([]int32, len(a))
	cpu.Through(out, a, b)
	return out
}

// TestLater: an index that is listed late, or through other such indexes, has the rows that it would have had at once,
// and the order of groups through what their rows share spreads it.
func TestLater(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for round := range 300 {
		st := testStage(1 + round%3)
		x, n := st.Indexer, []int{1 + rng.Intn(20), 1 + rng.Intn(90), 1 + rng.Intn(20), 1 + rng.Intn(30), 1 + rng.Intn(9)}
		spaces, want := make([]*Space, len(n)), make([]int32, n[0])
		for i := range n {
			spaces[i] = x.Space(n[i], true)
		}
		ascend(want, 0)
		idx := make([]*Index, len(n)-1)
		for i := range idx {
			at := make([]int32, n[i])
			for r := range at {
				at[r] = int32(rng.Intn(n[i+1]))
			}
			idx[i], want = x.Index(spaces[i], spaces[i+1], at), readAll(want, at)
		}
		var got *Index
		switch a, b, c, d := idx[0], idx[1], idx[2], idx[3]; round % 4 {
		case 0:
			got = x.Later(a, x.Later(x.Later(b, c), d))
		case 1:
			got = x.Later(x.Later(a, x.Later(b, c)), d)
		case 2:
			got = x.Later(x.Later(a, b), x.Later(c, d))
		default:
			got = x.Compose(a, x.Later(b, x.Later(c, d)))
		}
		if got.List(); !slices.Equal(got.At, want) {
			t.Fatalf("round %d: %v, want %v", round, got.At, want)
		}
		b := idx[1]
		g := x.Groups(spaces[1], spaces[2], b.At, true)
		if g.Order == nil {
			continue
		}
		g.By = b
		if got, want := x.Compose(g.Order, b).At, readAll(g.Perm, b.At); !slices.Equal(got, want) {
			t.Fatalf("round %d: in the order of groups %v, want %v", round, got, want)
		}
	}
}
