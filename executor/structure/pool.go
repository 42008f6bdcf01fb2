package structure

import (
	"unsafe"

	"github.com/relgrad/relgrad/tensor"
)

// Arrays allocates the arrays of structure. The run's arrays last as long as it does. A step's arrays are lent, and
// later steps reuse them. They lie on Go's heap, or in files once the structure has used up its share of the budget. A
// nil Arrays allocates on the heap.
type Arrays struct {
	budget Budget // nil: there is none
	lasts  bool   // for the run, not for a step
	narrow shelf[int32]
	wide   shelf[int64]
}

// shelf holds the arrays of steps: those that are lent, and those that are free.
type shelf[T int32 | int64] struct {
	free, lent []array[T]
	least      int // shorter arrays come from Go's heap
}

// array has undefined content. file owns its memory; nil: Go's heap.
type array[T int32 | int64] struct {
	x    []T
	file *tensor.Buffer
}

// Ints returns n numbers that are not cleared.
func (p *Arrays) Ints(n int) []int32 {
	if p == nil {
		return make([]int32, n)
	}
	return p.narrow.array(p, n)
}

// Scratch allocates arrays that are needed only briefly: they must not last as long as the run.
func (p *Arrays) Scratch() *Arrays {
	if p == nil || p.lasts {
		return nil
	}
	return p
}

// Longs is Ints with 64 bits.
func (p *Arrays) Longs(n int) []int64 {
	if p == nil {
		return make([]int64, n)
	}
	return p.wide.array(p, n)
}

func (s *shelf[T]) array(p *Arrays, n int) []T {
	if !p.lasts {
		return s.take(p.budget, n)
	}
	a := newArray[T](p.budget, n)
	p.budget.Lasts(int64(len(tensor.AsBytes(a.x))), a.file)
	return a.x
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

// Recycle takes back all arrays that are lent, and frees those that were not lent since the last call.
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
		a = newArray[T](b, n+n/8) // the sizes of steps differ a little
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

// Sizes are the sizes of the steps' arrays.
func (p *Arrays) Sizes() []int64 { return append(p.narrow.sizes(), p.wide.sizes()...) }

func (s *shelf[T]) sizes() (all []int64) {
	for _, list := range [][]array[T]{s.free, s.lent} {
		for _, a := range list {
			all = append(all, int64(len(tensor.AsBytes(a.x))))
		}
	}
	return all
}

// Files counts the steps' arrays in files.
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
