package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

var processors = runtime.GOMAXPROCS(0)

// Processors is how many workers compute at the same time: GOMAXPROCS when the process started.
func Processors() int { return processors }

// Reserve lets Go's scheduler run more threads than there are processors. A program calls it once, when it starts. When
// a thread has been in a call of C for 20 µs and no scheduling slot (P) is free, the scheduler takes the thread's slot
// and starts another thread that looks for work there. Beside workers that spend their time in such calls, that cost a
// fifth of it. While a slot is free, the scheduler waits. Two side effects: the garbage collector's share of the
// processors doubles, and Go ignores later changes of their number.
// https://github.com/golang/go/blob/go1.26.0/src/runtime/proc.go (retake, handoffp)
func Reserve() { runtime.GOMAXPROCS(2 * processors) }

// turns is the time at which each worker's goroutine last went through Go's scheduler, each in a cache line of its own.
var (
	turns [64]struct {
		began atomic.Int64 // nanoseconds since process
		_     [56]byte
	}
	process = time.Now()
)

// turn is how long a worker computes without the scheduler: less than the 10 ms after which that would preempt it.
const turn = 5 * time.Millisecond

// Yield lets a worker go through Go's scheduler if it has not for a while; workers call it between parts of their work.
// When a goroutine has run for 10 ms, the scheduler's monitor takes the slot of its thread at every call of C that it
// sees, even if nothing waits for a slot, and then looks again every 20 µs. Of two workers on two processors, one lost
// a tenth of its time to that. https://github.com/golang/go/blob/go1.26.0/src/runtime/proc.go (sysmon, retake:
// sysretake)
func Yield(worker int) {
	now, t := int64(time.Since(process)), &turns[worker%len(turns)]
	if now-t.began.Load() > int64(turn) {
		t.began.Store(now)
		runtime.Gosched()
	}
}

// Together calls work(0) to work(n-1) and returns when all have ended. They run at the same time, unless work(0) is
// short: the caller then does those that have not begun when it ends.
func Together(n int, work func(worker int)) { together(processors, n, work) }

// together is Together for a given number of processors.
func together(processors, n int, work func(worker int)) {
	if n < 2 {
		apart(0, n, work)
		return
	}
	var first atomic.Pointer[any] // the first panic; in its own goroutine it would end the process
	defer func() {
		if p := first.Load(); p != nil {
			panic(*p)
		}
	}()
	work = carried(work, &first)
	if !native || !crew.TryLock() {
		apart(0, n, work)
		return
	}
	defer crew.Unlock()
	for len(crew.helpers) < processors-1 {
		h := &helper{wake: make(chan struct{}, 1), ended: make(chan struct{}, 1)}
		crew.helpers = append(crew.helpers, h)
		go h.live()
	}
	hired := crew.helpers[:min(n-1, len(crew.helpers))]
	for i, h := range hired {
		h.work, h.worker = work, i+1
		h.post()
	}
	apart(len(hired), n, work)
	for _, h := range hired {
		h.join()
	}
}

// carried does work and keeps its panic for the caller.
func carried(work func(worker int), first *atomic.Pointer[any]) func(worker int) {
	return func(worker int) {
		defer func() {
			if p := recover(); p != nil {
				first.CompareAndSwap(nil, &p)
			}
		}()
		work(worker)
	}
}

// apart calls work(0) here and work(have+1) to work(n-1) in goroutines of their own.
func apart(have, n int, work func(worker int)) {
	var all sync.WaitGroup
	for w := have + 1; w < n; w++ {
		all.Go(func() { work(w) })
	}
	work(0)
	all.Wait()
}

// crew are the process's helpers. One call of Together uses them at a time.
var crew struct {
	sync.Mutex
	helpers []*helper
}

// helper is a goroutine that waits for work. Waking a sleeping thread takes 70 µs or more, sometimes milliseconds on a
// virtual machine, so it stays awake for a while after it has worked.
type helper struct {
	state       atomic.Uint32
	wake, ended chan struct{}
	work        func(worker int)
	worker      int
}

const (
	idle    = iota // awake
	posted         // has been given work
	working        // at it
	awaited        // working, and the caller sleeps until it ends
	asleep         // until wake

	// late is how long work waits before a helper takes it: shorter work is done in the caller's cache.
	late = 2 * time.Microsecond
	// awake is how long a helper without work stays awake, and a caller that waits for a helper.
	awake = 500 * time.Microsecond
)

func (h *helper) post() {
	if h.state.Swap(posted) == asleep {
		h.wake <- struct{}{}
	}
}

// join returns when the work has ended.
func (h *helper) join() {
	defer func() { h.work = nil }()
	switch {
	case h.state.CompareAndSwap(posted, idle):
		h.work(h.worker)
	case differs(&h.state, working, awake):
	case h.state.CompareAndSwap(working, awaited):
		<-h.ended
	}
}

func (h *helper) live() {
	for {
		switch {
		case !differs(&h.state, idle, awake):
			if h.state.CompareAndSwap(idle, asleep) {
				<-h.wake
			}
		case !differs(&h.state, posted, late) && h.state.CompareAndSwap(posted, working):
			h.work(h.worker)
			if h.state.Swap(idle) == awaited {
				h.ended <- struct{}{}
			}
		}
	}
}
