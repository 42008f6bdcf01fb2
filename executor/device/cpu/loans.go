package cpu

import (
	"sync"
	"unsafe"
)

// loans lends memory for the partial sums of passes. A step's program reuses the memory of the step before. Several
// workers may take from it at once.
type loans struct {
	mu         sync.Mutex
	free, lent map[int][][]float64 // by length
}

// take returns n numbers, which are not zeroed.
func (t *loans) take(n int) []float64 {
	if t == nil || n < 2048 { // small ones cost less than keeping track of them
		return make([]float64, n)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var x []float64
	if list := t.free[n]; len(list) > 0 {
		x, t.free[n] = list[len(list)-1], list[:len(list)-1]
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

// recycle takes back what is lent, and frees what has not been lent since the last call.
func (t *loans) recycle() { t.free, t.lent = t.lent, nil }
