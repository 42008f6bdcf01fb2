package cpu

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestTogether: each worker works once, and has ended when the call returns, whether helpers look out for work, sleep or are new,
// and however many call.
func TestTogether(t *testing.T) {
	region := func(n int, inner func()) {
		done := make([]int, n) // not atomic: the race detector sees what is not ordered
		Together(n, func(w int) {
			if inner != nil {
				inner()
			}
			done[w]++
		})
		for w, times := range done {
			if times != 1 {
				t.Errorf("worker %d of %d has worked %d times", w, n, times)
			}
		}
	}
	for round := range 300 {
		n := 1 + round%(2*Processors()+3)
		region(n, nil)
		region(3, func() { region(2, nil) })
		if round%20 == 0 {
			time.Sleep(2 * time.Millisecond) // they sleep
		}
		if round%50 == 0 {
			region(2, func() { time.Sleep(time.Millisecond) }) // and so does who waits for them
		}
	}
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 100 {
				region(2, nil)
			}
		})
	}
	callers.Wait()
}

// TestTogetherAtOnce: all workers are at work at the same time.
func TestTogetherAtOnce(t *testing.T) {
	const n = 5
	var here atomic.Int32
	all := make(chan struct{})
	Together(n, func(int) {
		if here.Add(1) == n {
			close(all)
		}
		<-all
	})
	if got := here.Load(); got != n {
		t.Errorf("%d workers of %d", got, n)
	}
}
