package executor

import (
	"cmp"
	"context"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
)

// testStage is the stage of a step, of no plan, with lanes of seven rows.
func testStage(workers int) *Stage {
	ctx := context.Background()
	return newRunStage(ctx, newEnv(workers, nil, nil, &Tuning{LaneRows: 7}), nil).step(ctx, nil)
}

func keysOf(x ...int64) *ra.Vector {
	return &ra.Vector{Type: kernels.Type{Kind: kernels.Int}, N: len(x), Ints: x}
}

// randomInts draws keys from lo on, with gaps, maybe with NULL.
func randomInts(rng *rand.Rand, n int, lo, span int64, nulls bool) *ra.Vector {
	v := ra.NewVector(kernels.Type{Kind: kernels.Int, Nullable: nulls}, n)
	for i := range v.Ints {
		v.Ints[i] = lo + rng.Int63n(span)
	}
	if nulls {
		v.Valid = make([]bool, n)
		for i := range v.Valid {
			v.Valid[i] = rng.Intn(4) > 0
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
		build, probe, nullSafe := keyCols{n: n}, make([]probeCol, columns), make([]bool, columns)
		at := make([]int32, m) // as many rows as are looked up read few rows of the columns
		for i := range at {
			at[i] = int32(rng.Intn(few))
		}
		for c := range columns {
			lo := rng.Int63n(9) - 4
			build.cols = append(build.cols, randomInts(rng, n, lo, span, nulls))
			probe[c] = probeCol{v: randomInts(rng, few, lo-1, span+2, nulls), at: at}
			if nullSafe[c] = safe; span > 100 {
				copy(probe[c].v.Ints, build.cols[c].Ints)
			}
		}
		key := func(r int, cols func(c int) *ra.Vector) (string, bool) {
			s, counts := "", true
			for c := range columns {
				v := cols(c)
				if v.IsNull(r) {
					s, counts = s+"NULL ", counts && safe
					continue
				}
				s += fmt.Sprint(v.Ints[r], " ")
			}
			return s, counts
		}
		enc := newEncoder(build, nullSafe, make([]bool, columns))
		want := map[string]int32{}
		for r, code := range enc.code {
			k, counts := key(r, func(c int) *ra.Vector { return build.cols[c] })
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
		if len(want) != enc.count {
			t.Fatalf("round %d: %d numbers for %d keys", round, enc.count, len(want))
		}
		for _, workers := range []int{1, 3} {
			got, lost, err := testStage(workers).probe(&lookup{enc: enc}, probe, m)
			if err != nil {
				t.Fatal(err)
			}
			for i, code := range got {
				k, counts := key(int(at[i]), func(c int) *ra.Vector { return probe[c].v })
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

// TestProbeShares: keys that have their rows' numbers are not copied, but where a join writes to what it gets: the rows of keys that
// have one row each, and those that are left where some key is not there.
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
		enc := newEncoder(allRows([]*ra.Vector{keysOf(7, 8, 9, 10)}, 4), []bool{false}, []bool{false})
		at := []int32{0, 0, 1, 1, 2, 2, 2, 0}
		got, lost, err := testStage(2).probe(&lookup{enc: enc, unique: c.unique, rows: c.rows}, []probeCol{{v: keysOf(c.keys...), at: at}}, len(at))
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
			dirty := &pool{}
			for range 8 { // an array that is used again holds what it held
				fill(dirty.ints(64), 77)
			}
			dirty.recycle()
			tally := workers.tally(codes, span, dirty)
			rank, count := tally.compact(dirty)
			dense := slices.Clone(codes)
			if rank != nil {
				cpu.Through(dense, codes, rank)
			} else if count != span {
				t.Fatalf("round %d, %d workers: %d of %d codes of %v are said to be all", round, workers.workers, count, span, codes)
			}
			start, order := workers.sort(dense, tally, nil)
			wantStart, wantOrder := sortByCode(dense, count)
			if !slices.Equal(start, wantStart) || !slices.Equal(order, wantOrder) || (order == nil) != (wantOrder == nil) {
				t.Fatalf("round %d, %d workers: %v are sorted to %v, %v, want %v, %v", round, workers.workers, codes, start, order, wantStart, wantOrder)
			}
		}
	}
}

// TestPool: what is lent is not lent twice until it is taken back.
func TestPool(t *testing.T) {
	const many = 8192
	p := &pool{}
	for range 3 {
		a, b := p.ints(many), p.ints(many)
		fill(a, 1)
		fill(b, 2)
		if slices.Contains(a, 2) {
			t.Fatal("one array was lent twice")
		}
		first := &a[0]
		p.recycle()
		if c, d := p.ints(many-5), p.ints(many); &c[0] != first && &d[0] != first {
			t.Fatal("an array that was taken back is not lent again")
		}
		p.recycle()
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
		all, mid, src := st.ix.space(rows, true), st.ix.space(few, true), st.ix.space(many, true)
		outer, inner := &index{id: st.ix.id(), dst: all, src: mid, at: at, step: true}, &index{id: st.ix.id(), dst: mid, src: src, at: in, step: true}
		keys, cols := []probeCol(nil), []*ra.Vector(nil)
		for c := range 1 + rng.Intn(3) {
			v := randomInts(rng, many, -5, []int64{3, 60, 1 << 40}[rng.Intn(3)], rng.Intn(6) == 0)
			if c == 0 && rng.Intn(2) == 0 && v.Valid == nil {
				slices.Sort(v.Ints)
			}
			idx := st.ix.later(outer, inner)
			if rng.Intn(4) == 0 {
				idx.list()
			}
			keys = append(keys, probeCol{v, idx.at, idx})
			cols = append(cols, gatherVector(v, readAll(at, in)))
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
					t.Fatalf("round %d: rows %d and %d have the codes %d and %d, the keys compare as %d", round, i, j, raw[i], raw[j], want)
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

// TestLater: an index that is listed late, or through other such indexes, has the rows that it would have had at once, and the order of
// groups through what their rows share spreads it.
func TestLater(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for round := range 300 {
		st := testStage(1 + round%3)
		x, n := st.ix, []int{1 + rng.Intn(20), 1 + rng.Intn(90), 1 + rng.Intn(20), 1 + rng.Intn(30), 1 + rng.Intn(9)}
		spaces, want := make([]*space, len(n)), make([]int32, n[0])
		for i := range n {
			spaces[i] = x.space(n[i], true)
		}
		ascend(want, 0)
		idx := make([]*index, len(n)-1)
		for i := range idx {
			at := make([]int32, n[i])
			for r := range at {
				at[r] = int32(rng.Intn(n[i+1]))
			}
			idx[i], want = x.index(spaces[i], spaces[i+1], at), readAll(want, at)
		}
		var got *index
		switch a, b, c, d := idx[0], idx[1], idx[2], idx[3]; round % 4 {
		case 0:
			got = x.later(a, x.later(x.later(b, c), d))
		case 1:
			got = x.later(x.later(a, x.later(b, c)), d)
		case 2:
			got = x.later(x.later(a, b), x.later(c, d))
		default:
			got = x.compose(a, x.later(b, x.later(c, d)))
		}
		if got.list(); !slices.Equal(got.at, want) {
			t.Fatalf("round %d: %v, want %v", round, got.at, want)
		}
		b := idx[1]
		g := x.groups(spaces[1], spaces[2], b.at, true)
		if g.order == nil {
			continue
		}
		g.by = b
		if got, want := x.compose(g.order, b).at, readAll(g.perm, b.at); !slices.Equal(got, want) {
			t.Fatalf("round %d: in the order of groups %v, want %v", round, got, want)
		}
	}
}
