package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

var processors = runtime.GOMAXPROCS(0)

// Processors is how many workers compute at the same time: GOMAXPROCS when the process began.
func Processors() int { return processors }

// Reserve lets Go's scheduler run more threads than there are processors; a program calls it once, when it begins. The
// scheduler takes the place of a thread that is longer than 20 µs in a call of C where no other place is free, and
// starts a thread that looks for work there: beside workers that spend their time in such calls, that was a fifth of
// it. Where a place is free, it waits. The garbage collector's share of the processors doubles, too, and Go follows no
// later change of their number. https://github.com/golang/go/blob/go1.26.0/src/runtime/proc.go (retake, handoffp)
func Reserve() { runtime.GOMAXPROCS(2 * processors) }

// turns is when each worker's goroutine last went through Go's scheduler, in a line of the cache of its own.
var (
	turns [64]struct {
		began atomic.Int64 // nanoseconds since process
		_     [56]byte
	}
	process = time.Now()
)

// turn is how long a worker computes without the scheduler: less than the 10 ms after which that would preempt it.
const turn = 5 * time.Millisecond

// Yield goes through Go's scheduler where a worker has not for a while; workers call it between parts of their work.
// Where one goroutine has run for 10 ms, the scheduler's monitor takes the place of its thread in each call of C that
// it meets, though nothing waits for one, and then looks again every 20 µs: one of two processors' workers lost a tenth
// of its time to it. https://github.com/golang/go/blob/go1.26.0/src/runtime/proc.go (sysmon, retake: sysretake)
func Yield(worker int) {
	now, t := int64(time.Since(process)), &turns[worker%len(turns)]
	if now-t.began.Load() > int64(turn) {
		t.began.Store(now)
		runtime.Gosched()
	}
}

// Together calls work(0) to work(n-1) and returns when all have ended; they run at the same time unless work(0) is
// short: one that has not begun when it ends is done by the caller.
func Together(n int, work func(worker int)) { together(processors, n, work) }

// together is Together where so many processors are there to work.
func together(processors, n int, work func(worker int)) {
	if n < 2 {
		apart(0, n, work)
		return
	}
	var first atomic.Pointer[any] // the first panic: in a goroutine of its own it would end the process
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

// carried is work whose panic is kept for the caller.
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

// crew is the process's helpers, for one call of Together at a time.
var crew struct {
	sync.Mutex
	helpers []*helper
}

// helper is a goroutine that works when it is asked to. A thread that sleeps needs 70 µs and more to begin, sometimes
// milliseconds on a virtual machine, so that it stays awake for a while after it has worked.
type helper struct {
	state       atomic.Uint32
	wake, ended chan struct{}
	work        func(worker int)
	worker      int
}

const (
	idle    = iota // awake
	posted         // there is work
	working        // at it
	awaited        // at it, and the caller sleeps until it ends
	asleep         // until wake

	// late is how long work has been there before a helper takes it: what takes less is done in the caller's cache.
	late = 2 * time.Microsecond
	// awake is how long a helper stays awake without work, and a caller that waits for one.
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
