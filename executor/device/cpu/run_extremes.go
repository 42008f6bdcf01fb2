package cpu

import (
	"cmp"
	"math"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/ra"
)

var _ = registerState(func(e *device.Extremes, t *task) func() error {
	x := &extremes{Extremes: e, in: t}
	return x.run
})

// extremes finds the extremes of frames in linear time. Both ends of the frames move on from row to row, so a row that
// is exceeded by a later one of the frame is never the extreme again: what is left is a queue whose values fall, of
// which the first is the extreme (of greatest ones; Lemire, Streaming maximum-minimum filter, 2006).
//
// The rows that attain the extreme are the beginning of the queue. Listed as they first do, they are in the order of
// the rows, and those of one frame lie together: so the sums of frames, and turned those of the rows that attain
// extremes, are sums over ranges whose ends move on. As with all windows nothing is subtracted (slide).
type extremes struct {
	*device.Extremes
	in   *task
	cuts []int // places where partitions begin, so that there are about Block between two
	// by place
	queue, met []int32 // rows that may be the extreme yet; rows that have been
	lo, hi     []int32 // which of met attain the extreme of the row's frame
	sums       []float64
	keys       []int64
	spare      []int32 // of ranks: what is sorted goes there and back
	spareKeys  []int64
}

func (x *extremes) run() error {
	m, n := x.in.m, x.in.Rows
	if x.queue == nil {
		x.queue, x.keys = make([]int32, n), make([]int64, n)
		if x.cut(); x.Among != nil {
			x.met, x.lo, x.hi, x.sums = make([]int32, n), make([]int32, n), make([]int32, n), make([]float64, n)
		} else if x.in.V.Fn == ra.Rank {
			x.spare, x.spareKeys = make([]int32, n), make([]int64, n)
		}
	}
	return m.crew.Apportion(m.ctx, m.workers, len(x.cuts)-1, func(_, i int) error {
		x.part(x.cuts[i], x.cuts[i+1])
		return nil
	})
}

func (x *extremes) cut() {
	x.cuts = []int{0}
	for _, at := range x.Order.Start[1:] {
		if at := int(at); at-x.cuts[len(x.cuts)-1] >= x.Block || at == x.in.Rows && x.cuts[len(x.cuts)-1] < at {
			x.cuts = append(x.cuts, at)
		}
	}
}

// part makes the results of some partitions.
func (x *extremes) part(begin, end int) {
	s := &search{extremes: x, begin: begin, end: end, fn: x.in.V.Fn}
	f := x.Frame
	if x.Among != nil {
		if s.fn = x.Among.Fn; x.Among.Back {
			f = f.Mirrored()
		}
	}
	s.frames = x.Order.Frames(f, begin)
	by := x.in.V.Args[len(x.in.V.Args)-1].Data
	s.valid = by.Valid()
	switch keys := x.keys[begin:end]; by.Kind() {
	case column.F32:
		keysOf(s, keys, by.F32(), func(v float32) int64 { return floatKey(float64(v)) })
	case column.F64:
		keysOf(s, keys, by.F64(), floatKey)
	default:
		keysOf(s, keys, by.I64(), func(v int64) int64 { return v })
	}
	if s.fn == ra.Rank {
		s.rank()
		return
	}
	switch s.find(); {
	case x.Among == nil:
	case x.Among.Back:
		s.back()
	default:
		s.forth()
	}
}

// keysOf makes numbers that grow with the values of rows, in their order, of which the greatest is the extreme.
func keysOf[E float32 | float64 | int64](s *search, keys []int64, v []E, key func(E) int64) {
	turn := int64(0)
	if s.fn == ra.Min {
		turn = -1
	}
	for i := range keys {
		keys[i] = key(v[s.Order.Row(s.begin+i)]) ^ turn
	}
}

// floatKey grows with a number: NaN is above all, and equal to itself, as is 0 to -0.
func floatKey(x float64) int64 {
	switch {
	case x != x:
		return math.MaxInt64
	case x == 0:
		return 0
	}
	b := int64(math.Float64bits(x))
	return b ^ int64(uint64(b>>63)>>1)
}

// search is the work on the partitions from one place to another. They are taken as one: a frame never holds rows of
// two, so what the one before has left in the queue leaves it.
type search struct {
	*extremes
	frames     *structure.Frames
	begin, end int
	fn         ra.AggFn
	valid      []uint8
	count      int // of rows that attain an extreme
}

// find moves the queue over the frames.
func (s *search) find() {
	q, keys := s.queue[s.begin:s.end], s.keys[s.begin:s.end]
	key := func(place int32) int64 { return keys[int(place)-s.begin] }
	front, back, next := 0, 0, s.begin
	met := 0    // how many rows have attained an extreme
	listed := 0 // the rows of the queue before it are among them
	first := 0  // which of them is the first of the queue
	for k := s.begin; k < s.end; k++ {
		lo, hi, _ := s.frames.At(k)
		for next = max(next, lo); next < hi; next++ {
			if s.valid != nil && s.valid[s.Order.Row(next)] == 0 {
				continue
			}
			for back > front && keys[next-s.begin] > key(q[back-1]) {
				back--
			}
			listed = min(listed, back)
			q[back] = int32(next)
			back++
		}
		for front < back && int(q[front]) < lo {
			front++
		}
		if s.Among == nil {
			s.extreme(k, q[front:back])
			continue
		}
		if front == back {
			first = met
		}
		for listed = max(listed, front); listed < back && key(q[listed]) == key(q[front]); listed++ {
			s.met[s.begin+met] = q[listed]
			met++
		}
		for front < back && s.met[s.begin+first] < q[front] {
			first++
		}
		s.lo[k], s.hi[k] = int32(first), int32(met)
	}
	s.count = met
}

// extreme makes the result of the row at a place, which is that of the first row of the queue.
func (s *search) extreme(k int, queue []int32) {
	out, in, r := s.in.V.Data, s.in.V.Args[0].Data, s.Order.Row(k)
	if valid := out.Valid(); valid != nil {
		if valid[r] = 0; len(queue) == 0 {
			return
		}
		valid[r] = 1
	}
	from := s.Order.Row(int(queue[0]))
	if out.Kind() == column.I64 {
		out.I64()[r] = in.I64()[from]
		return
	}
	put(out, r, in.Float(from))
}

func put(out *column.Column, r int, x float64) {
	if valid := out.Valid(); valid != nil {
		valid[r] = 1
	}
	if out.Kind() == column.F32 {
		out.F32()[r] = float32(x)
		return
	}
	out.F64()[r] = x
}

// rank sorts the rows of each partition by value and, where these are equal, by place.
func (s *search) rank() {
	out := s.in.V.Data
	for begin := s.begin; begin < s.end; {
		s.frames.At(begin)
		end, q := s.frames.End(), s.queue[begin:begin]
		for k := begin; k < end; k++ {
			r := s.Order.Row(k)
			if s.valid != nil && s.valid[r] == 0 {
				out.Valid()[r] = 0
				continue
			}
			q = append(q, int32(k))
		}
		s.byKey(q)
		for i, k := range q {
			r := s.Order.Row(int(k))
			if out.I64()[r] = int64(i); out.Valid() != nil {
				out.Valid()[r] = 1
			}
		}
		begin = end
	}
}

// byKey sorts places by their keys; those of one key stay in order. Many are sorted by digits of their keys, the lowest
// first (radix sort; Knuth, The Art of Computer Programming 3, 5.2.5). Keys are used up.
func (s *search) byKey(q []int32) {
	if len(q) < byDigits {
		slices.SortFunc(q, func(a, b int32) int {
			return cmp.Or(cmp.Compare(s.keys[a], s.keys[b]), cmp.Compare(a, b))
		})
		return
	}
	const bits, digits = 11, 6
	begin := int(q[0]) // keys before it are used up
	keys, spare := s.keys[begin:begin+len(q)], s.spareKeys[begin:begin+len(q)]
	from, to := q, s.spare[begin:begin+len(q)]
	counts := new([digits][1 << bits]int32)
	for i, k := range q {
		key := s.keys[k] ^ math.MinInt64 // as an unsigned number
		keys[i] = key
		for d := range counts {
			counts[d][uint64(key)>>(bits*d)&(1<<bits-1)]++
		}
	}
	for d := range counts {
		count, at := &counts[d], int32(0)
		if count[uint64(keys[0])>>(bits*d)&(1<<bits-1)] == int32(len(q)) {
			continue // all have the same digit
		}
		for i, n := range count {
			count[i], at = at, at+n
		}
		for i, key := range keys {
			place := &count[uint64(key)>>(bits*d)&(1<<bits-1)]
			spare[*place], to[*place] = key, from[i]
			*place++
		}
		keys, spare, from, to = spare, keys, to, from
	}
	copy(q, from)
}

// byDigits is how many places are worth counting digits.
const byDigits = 4096

// forth sums for each row over those rows of its frame that attain the extreme.
func (s *search) forth() {
	in, out := s.in.V.Args[0].Data, s.in.V.Data
	met, lo, hi := s.met[s.begin:s.end], s.lo[s.begin:s.end], s.hi[s.begin:s.end]
	s.slide(s.end-s.begin, func(k int) (int, int) { return int(lo[k]), int(hi[k]) },
		func(i int) float64 { return in.Float(s.Order.Row(int(met[i]))) },
		func(k int, sum float64, none bool) { s.store(out, s.Order.Row(s.begin+k), sum, none) })
}

// back sums for each row over those rows of whose frames it attains the extreme. These lie together, too.
func (s *search) back() {
	in, out := s.in.V.Args[0].Data, s.in.V.Data
	met, lo, hi := s.met[s.begin:s.end], s.lo[s.begin:s.end], s.hi[s.begin:s.end]
	for k := s.begin; k < s.end; k++ {
		s.store(out, s.Order.Row(k), 0, true)
	}
	n, from, to := s.end-s.begin, 0, 0
	s.slide(s.count, func(i int) (int, int) {
		for from < n && int(hi[from]) <= i {
			from++
		}
		for to < n && int(lo[to]) <= i {
			to++
		}
		return from, to
	}, func(k int) float64 { return in.Float(s.Order.Row(s.begin + k)) },
		func(i int, sum float64, none bool) { s.store(out, s.Order.Row(int(met[i])), sum, none) })
}

// store makes the result of a row. The sum of no rows is NULL, but zero in a gradient.
func (s *search) store(out *column.Column, r int, sum float64, none bool) {
	if put(out, r, sum); none && s.in.V.Fn == ra.Sum && out.Valid() != nil {
		out.Valid()[r] = 0
	}
}

// slide sums numbers over n ranges whose ends never move back: by a queue of two parts, as windows do (queue).
func (s *search) slide(n int, rangeOf func(i int) (lo, hi int), x func(j int) float64,
	result func(i int, sum float64, none bool)) {
	front := s.sums[s.begin:s.end] // by number: the sum from it to the end of the first part
	mid, end, rest := 0, 0, 0.0    // the second part is from mid to end, its sum the rest
	for i := range n {
		lo, hi := rangeOf(i)
		if lo >= hi {
			result(i, 0, true)
			continue
		}
		if lo >= end {
			mid, end, rest = lo, lo, 0
		}
		for ; end < hi; end++ {
			rest += x(end)
		}
		if lo >= mid {
			sum := 0.0
			for j := end - 1; j >= lo; j-- {
				sum += x(j)
				front[j] = sum
			}
			mid, rest = end, 0
		}
		result(i, front[lo]+rest, false)
	}
}
