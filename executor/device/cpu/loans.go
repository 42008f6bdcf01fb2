package cpu

import (
	"sync"
	"unsafe"
)

// loans lends the partial sums of passes: those of a step's schedule go to the next step's. It is for many workers at
// once.
type loans struct {
	mu         sync.Mutex
	free, lent map[int][][]float64 // by length
}

// take returns n numbers, which are not cleared.
func (t *loans) take(n int) []float64 {
	if t == nil || n < 2048 { // small ones cost less than the care for them
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

// singles is take of single precision.
func (t *loans) singles(n int) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(t.take((n+1)/2)))), n)
}

// recycle takes back everything that was lent; what nobody wanted since the last time goes.
func (t *loans) recycle() { t.free, t.lent = t.lent, nil }
