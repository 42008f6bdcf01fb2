package executor

// pool lends the arrays of a step's structure, which the next step uses again; that of the run makes arrays for what
// outlives the step. A nil pool allocates on the Go heap.
type pool struct {
	narrow shelf[int32]
	wide   shelf[int64]
	run    *Program // whose arrays last: see lasting; nil: a step's pool
}

type shelf[T any] struct{ free, lent [][]T }

// ints returns n numbers that are not cleared.
func (p *pool) ints(n int) []int32 {
	switch {
	case p == nil:
		return make([]int32, n)
	case p.run != nil:
		return lasting[int32](p.run, n)
	}
	return p.narrow.take(n)
}

// longs is ints of 64 bits.
func (p *pool) longs(n int) []int64 {
	switch {
	case p == nil:
		return make([]int64, n)
	case p.run != nil:
		return lasting[int64](p.run, n)
	}
	return p.wide.take(n)
}

// recycle takes back everything that was lent; what nobody wanted since the last time is left to the collector.
func (p *pool) recycle() {
	p.narrow.recycle()
	p.wide.recycle()
}

// take returns the smallest free array that is large enough, and not far too large.
func (s *shelf[T]) take(n int) []T {
	if n < laneRows/16 {
		return make([]T, n)
	}
	best := -1
	for i, x := range s.free {
		if cap(x) >= n && cap(x) <= 2*n+1024 && (best < 0 || cap(x) < cap(s.free[best])) {
			best = i
		}
	}
	var x []T
	if best < 0 {
		x = make([]T, n+n/8) // a step's sizes differ a little from the next one's
	} else {
		last := len(s.free) - 1
		x, s.free[best] = s.free[best], s.free[last]
		s.free = s.free[:last]
	}
	s.lent = append(s.lent, x)
	return x[:n:n]
}

func (s *shelf[T]) recycle() { s.free, s.lent = s.lent, nil }

// bytes is the size of the arrays that a step's pool holds.
func (p *pool) bytes() int64 { return p.narrow.bytes() + p.wide.bytes() }

func (s *shelf[T]) bytes() (n int64) {
	for _, list := range [][][]T{s.free, s.lent} {
		for _, x := range list {
			n += int64(len(bytesOf(x[:cap(x)])))
		}
	}
	return n
}
