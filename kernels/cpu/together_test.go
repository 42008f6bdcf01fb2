package cpu

import (
	"sync/atomic"
	"testing"
)

// TestTogether: each worker works once, all at the same time, and has ended when the call returns.
func TestTogether(t *testing.T) {
	for n := 1; n < 2*Processors()+3; n++ {
		var here atomic.Int32
		all, done := make(chan struct{}), make([]int, n) // not atomic: the race detector sees what is not ordered
		Together(n, func(w int) {
			if int(here.Add(1)) == n {
				close(all)
			}
			<-all
			done[w]++
		})
		for w, times := range done {
			if times != 1 {
				t.Errorf("worker %d of %d has worked %d times", w, n, times)
			}
		}
	}
}
