package cpu

import (
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
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

// TestTogetherAgain: workers are asked again at once, while they fall asleep and when they sleep, work for less and for
// more time than they wait before they begin, from several callers at a time, within work, and after work that
// panicked.
func TestTogetherAgain(t *testing.T) {
	check := func(n int, long time.Duration) {
		done := make([]int, n)
		Together(n, func(w int) {
			for begin := time.Now(); time.Since(begin) < long; {
			}
			done[w]++
		})
		for w, times := range done {
			if times != 1 {
				t.Errorf("worker %d of %d has worked %d times", w, n, times)
			}
		}
	}
	for i := range 400 {
		check(Processors(), time.Duration(i%5)*late/2)
		time.Sleep(time.Duration(i%8/7) * time.Duration(i) * awake / 200)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 200 {
				check(1+i%(Processors()+2), late)
			}
		})
	}
	all.Wait()
	for range 50 {
		Together(Processors(), func(int) { check(Processors(), late) })
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a panic is lost")
				}
			}()
			Together(Processors(), func(w int) {
				if w == 0 {
					panic("work")
				}
			})
		}()
	}
}

// TestTogetherWaits: a worker that has fallen asleep is woken, and so is the caller, where a worker needs longer than
// it.
func TestTogetherWaits(t *testing.T) {
	for range 20 {
		time.Sleep(4 * awake)
		done := make([]bool, Processors())
		begun := make(chan struct{}, Processors())
		Together(Processors(), func(w int) {
			if w == 0 {
				for range Processors() - 1 {
					<-begun
				}
			} else {
				begun <- struct{}{}
				time.Sleep(4 * awake)
			}
			done[w] = true
		})
		for w, ok := range done {
			if !ok {
				t.Errorf("worker %d is not waited for", w)
			}
		}
	}
}

// TestTogetherPanics: where work panics while the caller does a worker's, the others are waited for, and all work
// again.
func TestTogetherPanics(t *testing.T) {
	four := NewCrew(0, 4, nil, false)
	defer four.Close()
	for i := range 150 {
		var at atomic.Int32
		func() {
			defer func() { _ = recover() }() // unless the worker was there first
			four.Together(4, func(w int) {
				if w == 1+i%3 && !strings.Contains(string(debug.Stack()), "live") {
					panic("work")
				}
				if w != 0 {
					at.Add(1)
					time.Sleep(late)
					at.Add(-1)
				}
			})
		}()
		if n := at.Load(); n != 0 {
			t.Fatalf("%d workers are at work after the call", n)
		}
		done := make([]int, 4)
		four.Together(4, func(w int) { done[w]++ })
		for w, times := range done {
			if times != 1 {
				t.Fatalf("worker %d has worked %d times", w, times)
			}
		}
	}
}

// TestYield: a worker that has computed for a turn lets others run, and one that has not goes on. The scheduler may do
// otherwise once.
func TestYield(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, worker := range []int{0, 1, len(turns) + 1} {
		yields := func(computed time.Duration) (n int) {
			for range 5 {
				var ran atomic.Bool
				go ran.Store(true)
				turns[worker%len(turns)].began.Store(int64(time.Since(process) - computed))
				if Yield(worker); ran.Load() {
					n++
				}
			}
			return n
		}
		if n := yields(turn + 1); n < 3 {
			t.Errorf("worker %d went on behind its turn, %d times of 5", worker, 5-n)
		}
		if n := yields(0); n > 2 {
			t.Errorf("worker %d stopped within its turn, %d times of 5", worker, n)
		}
	}
}
