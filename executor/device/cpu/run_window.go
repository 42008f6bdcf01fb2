package cpu

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

var _ = registerState(func(w *device.Windowed, t *task) func() error {
	var run func() error
	return func() error {
		if run == nil { // a column of double precision may be stored as real
			run = windowRun(w, t, t.V.Args[0].Data.Kind())
		}
		return run()
	}
})

func windowRun(w *device.Windowed, t *task, k column.Kind) func() error {
	switch k {
	case column.F32:
		return newWindower[float32, float64](w, t, (*column.Column).F32)
	case column.F64:
		return newWindower[float64, float64](w, t, (*column.Column).F64)
	}
	return newWindower[int64, int64](w, t, (*column.Column).I64) // text is only counted
}

type summed interface{ float64 | int64 }

// windower sums numbers E as T over frames.
type windower[E float32 | float64 | int64, T summed] struct {
	*device.Windowed
	in    *task
	size  int
	count bool // how many are no NULLs
	x     []E
	valid []uint8
	// by block: the sum from the beginning of the partition to that of the block, and how many rows it has
	carry []T
	seen  []int64
}

// total is a sum so far, of seen values that are no NULLs.
type total[T summed] struct {
	f    []T
	seen int64
}

func newWindower[E float32 | float64 | int64, T summed](w *device.Windowed, t *task,
	numbers func(*column.Column) []E) func() error {
	x := &windower[E, T]{Windowed: w, in: t, size: t.V.Args[0].Type.Size(), count: t.V.Fn == ra.Count}
	if x.count {
		x.size = 1
	}
	return func() error {
		from := t.V.Args[0].Data
		x.valid = from.Valid()
		if !x.count {
			x.x = numbers(from)
		}
		if x.Running() {
			return x.running()
		}
		return x.moving()
	}
}

// add adds the rows at places lo to hi.
func (x *windower[E, T]) add(a *total[T], lo, hi int) {
	if x.size == 1 && x.valid == nil && !x.count {
		a.f[0], a.seen = x.scalars(a.f[0], lo, hi), a.seen+int64(hi-lo)
		return
	}
	for place := lo; place < hi; place++ {
		r := x.Order.Row(place)
		if x.valid != nil && x.valid[r] == 0 {
			continue
		}
		if a.seen++; x.count {
			continue
		}
		for i, e := range x.x[r*x.size : (r+1)*x.size] {
			a.f[i] += T(e)
		}
	}
}

// scalars adds numbers to a sum, none of which is NULL.
func (x *windower[E, T]) scalars(sum T, lo, hi int) T {
	if x.Order.Rows == nil {
		for _, e := range x.x[lo:hi] {
			sum += T(e)
		}
		return sum
	}
	for _, r := range x.Order.Rows[lo:hi] {
		sum += T(x.x[r])
	}
	return sum
}

func (a *total[T]) clear() {
	clear(a.f)
	a.seen = 0
}

// store makes the result of the row at a place.
func (x *windower[E, T]) store(out *column.Column, place int, a []T, seen int64) {
	r := x.Order.Row(place)
	if valid := out.Valid(); valid != nil {
		valid[r] = 1
		if seen == 0 && x.in.V.Fn == ra.Sum {
			valid[r] = 0
		}
	}
	switch {
	case x.count:
		out.I64()[r] = seen
	case out.Kind() == column.F64:
		for i, y := range a {
			out.F64()[r*x.size+i] = float64(y)
		}
	case out.Kind() == column.F32:
		for i, y := range a {
			out.F32()[r*x.size+i] = float32(y)
		}
	default:
		for i, y := range a {
			out.I64()[r*x.size+i] = int64(y)
		}
	}
}

// running sums from the beginning of partitions: first within blocks, then over these.
func (x *windower[E, T]) running() error {
	n, m := x.in.Rows, x.in.m
	blocks := (n + x.Block - 1) / x.Block
	if len(x.seen) < blocks+1 {
		x.carry, x.seen = make([]T, (blocks+1)*x.size), make([]int64, blocks+1)
	}
	if err := m.crew.Apportion(m.ctx, m.workers, blocks, func(_, b int) error {
		x.sumBlock(b, min((b+1)*x.Block, n))
		return nil
	}); err != nil {
		return err
	}
	frames := x.Order.Frames(x.Frame, 0)
	for b := 1; b <= blocks; b++ { // add what precedes a block in its partition
		end := min(b*x.Block, n)
		if _, _, first := frames.At(end - 1); first < (b-1)*x.Block {
			for i := range x.size {
				x.carry[b*x.size+i] += x.carry[(b-1)*x.size+i]
			}
			x.seen[b] += x.seen[b-1]
		}
	}
	return m.crew.Apportion(m.ctx, m.workers, blocks, func(_, b int) error {
		x.runBlock(b*x.Block, min((b+1)*x.Block, n))
		return nil
	})
}

// sumBlock sums the rows of block b that belong to the partition of its last row. They are carried to the next.
func (x *windower[E, T]) sumBlock(b, end int) {
	_, _, first := x.Order.Frames(x.Frame, end-1).At(end - 1)
	a := total[T]{f: x.carry[(b+1)*x.size : (b+2)*x.size]}
	a.clear()
	x.add(&a, min(max(first, b*x.Block), end), end)
	x.seen[b+1] = a.seen
}

// runBlock makes the results at places lo to hi.
func (x *windower[E, T]) runBlock(lo, hi int) {
	a, at, part := total[T]{f: make([]T, x.size)}, -1, -1
	frames, out := x.Order.Frames(x.Frame, lo), x.in.V.Data
	each := x.size == 1 && x.valid == nil && !x.count && out.Valid() == nil && x.endsAtRow()
	for k := lo; k < hi; k++ {
		_, end, first := frames.At(k)
		if first != part {
			a.clear()
			if at, part = first, first; k == lo { // go on from the last block before the end
				if b := end / x.Block; b*x.Block > first {
					copy(a.f, x.carry[b*x.size:(b+1)*x.size])
					a.seen, at = x.seen[b], b*x.Block
				}
			}
		}
		if each && at == k { // to the end of the partition, or of the block
			k = min(hi, frames.End())
			a.f[0] = x.sumEach(out, a.f[0], at, k)
			at, k = k, k-1
			continue
		}
		if at < end {
			x.add(&a, at, end)
			at = end
		}
		x.store(out, k, a.f, a.seen)
	}
}

// endsAtRow reports whether the frame of each row ends with the row.
func (x *windower[E, T]) endsAtRow() bool {
	return x.Frame.Hi == 0 && (!x.Frame.Peers || len(x.Order.Peers) == x.in.Rows+1)
}

// sumEach adds the rows at places lo to hi to a sum and makes each one's result. It returns the sum.
func (x *windower[E, T]) sumEach(out *column.Column, sum T, lo, hi int) T {
	switch out.Kind() {
	case column.F64:
		return sumInto(x.x, out.F64(), x.Order.Rows, sum, lo, hi)
	case column.F32:
		return sumInto(x.x, out.F32(), x.Order.Rows, sum, lo, hi)
	}
	return sumInto(x.x, out.I64(), x.Order.Rows, sum, lo, hi)
}

func sumInto[E, O float32 | float64 | int64, T summed](x []E, out []O, rows []int32, sum T, lo, hi int) T {
	if rows == nil {
		for i, e := range x[lo:hi] {
			sum += T(e)
			out[lo+i] = O(sum)
		}
		return sum
	}
	for _, r := range rows[lo:hi] {
		sum += T(x[r])
		out[r] = O(sum)
	}
	return sum
}

// moving sums over a number of rows.
func (x *windower[E, T]) moving() error {
	m, lane := x.in.m, x.Lane()
	return m.crew.Apportion(m.ctx, m.workers, (x.in.Rows+lane-1)/lane, func(w, l int) error {
		width := x.Width()
		q := &queue[E, T]{windower: x, back: total[T]{f: make([]T, x.size)}, sum: make([]T, x.size)}
		buf := m.scratch[w]
		q.front, q.seen = tensor.View[T](buf, 0, width*x.size), tensor.View[int64](buf, 8*width*x.size, width)
		q.run(l*lane, min((l+1)*lane, x.in.Rows))
		return nil
	})
}

// queue is a frame of rows that enter at its end and leave at its beginning. It has two parts: of the first it knows
// the sums from each row to the end of the part, to the second it adds rows. When the first part has no rows left, the
// second becomes it. So each row is added twice, and none is subtracted: a queue made of two stacks.
type queue[E float32 | float64 | int64, T summed] struct {
	*windower[E, T]
	front     []T // by row from the place base on
	seen      []int64
	base, mid int // the first part is from base to mid
	back      total[T]
	end       int // the second part is from mid to end
	sum       []T
}

// run makes the results at places lo to hi.
func (q *queue[E, T]) run(lo, hi int) {
	frames, out := q.Order.Frames(q.Frame, lo), q.in.V.Data
	q.base, q.mid, q.end = -1, -1, -1
	for k := lo; k < hi; k++ {
		from, to, _ := frames.At(k)
		if from >= to {
			clear(q.sum)
			q.store(out, k, q.sum, 0)
			continue
		}
		if from >= q.end { // no row of the frame is in the queue
			q.back.clear()
			q.base, q.mid, q.end = from, from, from
		}
		if q.end < to {
			q.add(&q.back, q.end, to)
			q.end = to
		}
		if from >= q.mid {
			q.turn(from)
		}
		at := from - q.base
		for i, y := range q.front[at*q.size : (at+1)*q.size] {
			q.sum[i] = y + q.back.f[i]
		}
		q.store(out, k, q.sum, q.seen[at]+q.back.seen)
	}
}

// turn makes the rows from a place to the end the first part.
func (q *queue[E, T]) turn(from int) {
	q.base, q.mid = from, q.end
	q.back.clear()
	for k := q.end - 1; k >= from; k-- {
		q.add(&q.back, k, k+1)
		copy(q.front[(k-from)*q.size:], q.back.f)
		q.seen[k-from] = q.back.seen
	}
	q.back.clear()
}
