package structure

import (
	"context"
	"slices"

	"github.com/relgrad/relgrad/kernels/cpu"
)

// crew is how many workers the structure has and how many rows a lane. Results do not depend on the number of workers.
type crew struct{ workers, lane int }

// each runs f over the rows 0…n-1, lane by lane, and waits for the end.
func (c crew) each(n int, f func(lo, hi int)) { c.Cut(n, c.lane, func(_, lo, hi int) { f(lo, hi) }) }

// Cut runs f over pieces of the rows 0…n-1, so many rows each, and waits for the end.
func (c crew) Cut(n, rows int, f func(piece, lo, hi int)) {
	if err := cpu.Apportion(context.Background(), c.workers, (n+rows-1)/rows, func(_, i int) error {
		f(i, i*rows, min((i+1)*rows, n))
		return nil
	}); err != nil {
		panic(err) // a panic of f: there is nothing that cancels
	}
}

// tally counts how often each code occurs, in pieces of the rows.
type tally struct {
	rows   int     // in a piece
	span   int     // codes are below it
	count  []int32 // by piece and code; after order: where the next row of the piece with that code goes
	start  []int32 // after order: where the rows of each code begin; belongs to mem
	mem    *Arrays
	groups int
	most   int  // rows of the largest group
	sorted bool // the codes ascend
}

// tally counts the codes, all of which are below span.
func (c crew) tally(codes []int32, span int, mem *Arrays) *tally {
	mem = mem.Scratch()
	pieces := min(c.workers, (len(codes)+c.lane-1)/c.lane)
	if pieces < 2 || pieces*span > 2*len(codes) {
		pieces = 1
	}
	t := &tally{rows: max((len(codes)+pieces-1)/pieces, 1), span: span, count: mem.Ints(pieces * span)}
	clear(t.count)
	falls := make([]bool, pieces)
	c.Cut(len(codes), t.rows, func(i, lo, hi int) {
		falls[i] = cpu.Tally(codes[lo:hi], codes[max(lo-1, 0)], t.count[i*span:(i+1)*span])
	})
	t.sorted = !slices.Contains(falls, true)
	return t
}

// compact numbers the codes that occur 0, 1, …: it returns the number of each code, nil where all occur, and how many
// occur.
func (t *tally) compact(mem *Arrays) (rank []int32, count int) {
	mem = mem.Scratch()
	rank = mem.Ints(t.span)
	if t.order(mem, rank); t.groups == t.span {
		return nil, t.groups
	}
	return rank, t.groups
}

// order turns counts into the places where the rows of each code go.
func (t *tally) order(mem *Arrays, rank []int32) {
	t.mem, t.start = mem, mem.Ints(t.span+1)
	t.groups, t.most = cpu.Offsets(t.span, t.count, t.start, rank)
	t.start = t.start[:t.groups+1]
}

// sort lists the positions of counted codes in the order of the codes, stably: those of code c are
// order[start[c]:start[c+1]]. order is nil where it is the identity. It overwrites the counts.
func (c crew) sort(codes []int32, t *tally, mem *Arrays) (start, order []int32) {
	if t.start == nil {
		t.order(mem, nil)
	}
	if start = t.start; t.mem != mem {
		start = mem.Ints(len(start))
		copy(start, t.start)
	}
	if t.sorted {
		return start, nil
	}
	order = mem.Ints(len(codes))
	c.Cut(len(codes), t.rows, func(i, lo, hi int) { cpu.Place(codes[lo:hi], lo, t.count[i*t.span:(i+1)*t.span], order) })
	return start, order
}
