package cpu

import (
	"sync"
	"unsafe"
)

// pool is memory for the partial sums of passes that no list holds.
type pool struct {
	mu   sync.Mutex
	free map[int][][]float64 // by length
}

// loans are what a prepared list holds of a pool. A step's program reuses the memory of the step before. Several
// workers may take from it at once.
type loans struct {
	from *pool
	lent map[int][][]float64 // guarded by the pool
}

// take returns n numbers, which are not zeroed.
func (t *loans) take(n int) []float64 {
	if t == nil || n < 2048 { // small ones cost less than keeping track of them
		return make([]float64, n)
	}
	t.from.mu.Lock()
	defer t.from.mu.Unlock()
	var x []float64
	if list := t.from.free[n]; len(list) > 0 {
		x, t.from.free[n] = list[len(list)-1], list[:len(list)-1]
	} else {
		x = make([]float64, n)
	}
	if t.lent == nil {
		t.lent = map[int][][]float64{}
	}
	t.lent[n] = append(t.lent[n], x)
	return x
}

// singles returns n numbers of single precision.
func (t *loans) singles(n int) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(t.take((n+1)/2)))), n)
}

// recycle gives back what the list holds, and frees what else the pool has.
func (t *loans) recycle() {
	if t.from.mu.Lock(); t.lent != nil {
		t.from.free, t.lent = t.lent, nil
	}
	t.from.mu.Unlock()
}
