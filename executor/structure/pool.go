package structure

import (
	"unsafe"

	"github.com/relgrad/relgrad/tensor"
)

// Arrays makes the arrays of structure. Those of the run last as long as it does. Those of a step are lent, and the
// next step uses them again. They lie on Go's heap, or beyond their share of the budget in files. A nil pool allocates
// on the heap.
type Arrays struct {
	budget Budget // nil: there is none
	lasts  bool   // it is the run's
	narrow shelf[int32]
	wide   shelf[int64]
}

// shelf are the arrays of a step.
type shelf[T int32 | int64] struct {
	free, lent []array[T]
	least      int // smaller arrays are made anew
}

// array has undefined content; file is what owns its memory, nil for Go's heap.
type array[T int32 | int64] struct {
	x    []T
	file *tensor.Buffer
}

// Ints returns n numbers that are not cleared.
func (p *Arrays) Ints(n int) []int32 {
	switch {
	case p == nil:
		return make([]int32, n)
	case p.lasts:
		return lasting[int32](p.budget, n)
	}
	return p.narrow.take(p.budget, n)
}

// Scratch is where arrays come from that are given up at once: the run's would last as long as it does.
func (p *Arrays) Scratch() *Arrays {
	if p == nil || p.lasts {
		return nil
	}
	return p
}

// Longs is ints of 64 bits.
func (p *Arrays) Longs(n int) []int64 {
	switch {
	case p == nil:
		return make([]int64, n)
	case p.lasts:
		return lasting[int64](p.budget, n)
	}
	return p.wide.take(p.budget, n)
}

// newArray makes an array. A full disk is a panic with its error.
func newArray[T int32 | int64](b Budget, n int) array[T] {
	var t T
	bytes := n * int(unsafe.Sizeof(t))
	if b == nil || !b.InFile(int64(bytes)) {
		return array[T]{x: make([]T, n)}
	}
	file, err := b.Spill(bytes)
	if err != nil {
		panic(err)
	}
	return array[T]{tensor.View[T](file, 0, n), file}
}

// lasting makes an array of the run's structure.
func lasting[T int32 | int64](b Budget, n int) []T {
	a := newArray[T](b, n)
	b.Lasts(int64(len(tensor.AsBytes(a.x))), a.file)
	return a.x
}

// Recycle takes back everything that was lent; what nobody wanted since the last time goes.
func (p *Arrays) Recycle() {
	p.narrow.recycle()
	p.wide.recycle()
}

// Bytes is the size of a step's arrays, in memory and in files.
func (p *Arrays) Bytes() (memory, files int64) {
	m, f := p.narrow.bytes()
	memory, files = p.wide.bytes()
	return m + memory, f + files
}

// take returns the smallest free array that is large enough, and not far too large.
func (s *shelf[T]) take(b Budget, n int) []T {
	if n < s.least {
		return make([]T, n)
	}
	best := -1
	for i, a := range s.free {
		if cap(a.x) >= n && cap(a.x) <= 2*n+1024 && (best < 0 || cap(a.x) < cap(s.free[best].x)) {
			best = i
		}
	}
	var a array[T]
	if best < 0 {
		a = newArray[T](b, n+n/8) // a step's sizes differ a little from the next one's
	} else {
		last := len(s.free) - 1
		a, s.free[best] = s.free[best], s.free[last]
		s.free = s.free[:last]
	}
	s.lent = append(s.lent, a)
	return a.x[:n:n]
}

func (s *shelf[T]) recycle() {
	for _, a := range s.free {
		a.file.Free()
	}
	s.free, s.lent = s.lent, nil
}

func (s *shelf[T]) bytes() (memory, files int64) {
	for _, list := range [][]array[T]{s.free, s.lent} {
		for _, a := range list {
			if b := int64(len(tensor.AsBytes(a.x))); a.file != nil {
				files += b
			} else {
				memory += b
			}
		}
	}
	return memory, files
}

// Sizes are those of a step's arrays.
func (p *Arrays) Sizes() []int64 { return append(p.narrow.sizes(), p.wide.sizes()...) }

func (s *shelf[T]) sizes() (all []int64) {
	for _, list := range [][]array[T]{s.free, s.lent} {
		for _, a := range list {
			all = append(all, int64(len(tensor.AsBytes(a.x))))
		}
	}
	return all
}

// Files is how many arrays of a step lie in files.
func (p *Arrays) Files() int { return p.narrow.files() + p.wide.files() }

func (s *shelf[T]) files() (n int) {
	for _, list := range [][]array[T]{s.free, s.lent} {
		for _, a := range list {
			if a.file != nil {
				n++
			}
		}
	}
	return n
}
