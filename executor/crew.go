package executor

import (
	"context"
	"slices"

	"github.com/relgrad/relgrad/kernels/cpu"
)

// crew is so many workers for structure. What they make does not depend on their number.
type crew int

// each runs f over the rows 0…n-1, lane by lane, to the end.
func (c crew) each(n int, f func(lo, hi int)) { c.cut(n, laneRows, func(_, lo, hi int) { f(lo, hi) }) }

// cut runs f over pieces of so many of the rows 0…n-1, to the end.
func (c crew) cut(n, rows int, f func(piece, lo, hi int)) {
	if err := apportion(context.Background(), int(c), (n+rows-1)/rows, func(_, i int) error {
		f(i, i*rows, min((i+1)*rows, n))
		return nil
	}); err != nil {
		panic(err) // of f: nothing cancels
	}
}

// tally counts codes from 0 on, in pieces of the rows.
type tally struct {
	rows   int       // of a piece
	count  [][]int32 // by piece and code
	sums   []int32   // by code
	sorted bool      // the codes ascend
}

// tally counts codes below span.
func (c crew) tally(codes []int32, span int, mem *pool) *tally {
	mem = mem.scratch()
	pieces := min(int(c), (len(codes)+laneRows-1)/laneRows)
	if pieces < 2 || pieces*span > 2*len(codes) {
		pieces = 1
	}
	t := &tally{rows: max((len(codes)+pieces-1)/pieces, 1), count: make([][]int32, pieces)}
	falls := make([]bool, pieces)
	for i := range t.count {
		t.count[i] = mem.ints(span)
		clear(t.count[i])
	}
	c.cut(len(codes), t.rows, func(i, lo, hi int) { falls[i] = cpu.Tally(codes[lo:hi], codes[max(lo-1, 0)], t.count[i]) })
	t.sorted = !slices.Contains(falls, true)
	t.sums = mem.ints(span)
	copy(t.sums, t.count[0])
	for _, n := range t.count[1:] {
		sums := t.sums[:len(n)]
		for k, m := range n {
			sums[k] += m
		}
	}
	return t
}

// compact leaves out the codes that do not occur: it returns the new number of each, nil where they all do, and how many there are.
func (t *tally) compact(mem *pool) (rank []int32, count int) {
	if !slices.Contains(t.sums, 0) {
		return nil, len(t.sums)
	}
	rank = mem.scratch().ints(len(t.sums))
	for k, n := range t.sums {
		if rank[k] = -1; n == 0 {
			continue
		}
		rank[k], t.sums[count] = int32(count), n
		for _, c := range t.count {
			c[count] = c[k]
		}
		count++
	}
	t.sums = t.sums[:count]
	for i, c := range t.count {
		t.count[i] = c[:count]
	}
	return rank, count
}

// sort lists the positions of counted codes in order, stably: those of code c are order[start[c]:start[c+1]]. order is
// nil where it is the identity. The counts are used up.
func (c crew) sort(codes []int32, t *tally, mem *pool) (start, order []int32) {
	start = mem.ints(len(t.sums) + 1)
	at := int32(0)
	for k, n := range t.sums {
		start[k], at = at, at+n
	}
	start[len(t.sums)] = at
	if t.sorted {
		return start, nil
	}
	copy(t.sums, start)
	for _, n := range t.count { // from here on: where the piece's rows of a code go
		for k, m := range n {
			n[k], t.sums[k] = t.sums[k], t.sums[k]+m
		}
	}
	order = mem.ints(len(codes))
	c.cut(len(codes), t.rows, func(i, lo, hi int) { cpu.Place(codes[lo:hi], lo, t.count[i], order) })
	return start, order
}
