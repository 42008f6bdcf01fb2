package executor

import (
	"context"
	"slices"
)

// crew is so many workers for structure. What they make does not depend on their number.
type crew int

// each runs f over the rows 0…n-1, lane by lane, to the end.
func (c crew) each(n int, f func(lo, hi int)) { c.cut(n, laneRows, func(_, lo, hi int) { f(lo, hi) }) }

// cut runs f over pieces of so many of the rows 0…n-1, to the end.
func (c crew) cut(n, rows int, f func(piece, lo, hi int)) {
	if err := parallel(context.Background(), int(c), (n+rows-1)/rows, func(_, i int) error {
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
	sorted bool      // the codes ascend
}

// tally counts codes below span.
func (c crew) tally(codes []int32, span int) *tally {
	pieces := min(int(c), (len(codes)+laneRows-1)/laneRows)
	if pieces < 2 || pieces*span > 2*len(codes) {
		pieces = 1
	}
	t := &tally{rows: max((len(codes)+pieces-1)/pieces, 1), count: make([][]int32, pieces)}
	falls := make([]int32, pieces) // negative where a code is less than the one before
	for i := range t.count {
		t.count[i] = make([]int32, span)
	}
	c.cut(len(codes), t.rows, func(i, lo, hi int) {
		n, last, fall := t.count[i], codes[max(lo-1, 0)], int32(0)
		for from, to := lo, lo; from < hi; from = to { // equal neighbours are frequent: the rows of one partner in a join
			k := codes[from]
			for to = from + 1; to < hi && codes[to] == k; to++ {
			}
			n[k] += int32(to - from)
			fall |= k - last
			last = k
		}
		falls[i] = fall
	})
	t.sorted = slices.Min(falls) >= 0
	return t
}

// compact leaves out the codes that do not occur: it returns the new number of each and how many there are.
func (t *tally) compact() (rank []int32, count int) {
	rank = make([]int32, len(t.count[0]))
	for k := range rank {
		n := int32(0)
		for _, c := range t.count {
			n += c[k]
		}
		if rank[k] = -1; n == 0 {
			continue
		}
		rank[k] = int32(count)
		for _, c := range t.count {
			c[count] = c[k]
		}
		count++
	}
	for i, c := range t.count {
		t.count[i] = c[:count]
	}
	return rank, count
}

// sort lists the positions of counted codes in order, stably: those of code c are order[start[c]:start[c+1]]. order is
// nil where it is the identity. The counts are used up.
func (c crew) sort(codes []int32, t *tally, mem *pool) (start, order []int32) {
	start = mem.ints(len(t.count[0]) + 1)
	at := int32(0)
	for k := range start[1:] {
		start[k] = at
		for _, n := range t.count { // from here on: where the piece's rows of code k go
			n[k], at = at, at+n[k]
		}
	}
	start[len(start)-1] = at
	if t.sorted {
		return start, nil
	}
	order = mem.ints(len(codes))
	c.cut(len(codes), t.rows, func(i, lo, hi int) {
		at := t.count[i]
		for from, to := lo, lo; from < hi; from = to {
			k := codes[from]
			for to = from + 1; to < hi && codes[to] == k; to++ {
			}
			o := at[k]
			at[k] = o + int32(to-from)
			if order[o] = int32(from); to > from+1 {
				ascend(order[o:][:to-from], int32(from))
			}
		}
	})
	return start, order
}
