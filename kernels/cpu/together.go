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
func Together(n int, work func(worker int)) { common.Together(n, work) }

// Crew is a group of workers: a goroutine that calls Together and helpers, which wait for work. One call uses the
// helpers at a time; others start goroutines.
type Crew struct {
	sync.Mutex
	helpers []*helper
	most    int     // helpers
	first   int     // the number of its first worker, for Yield
	on      Set     // the processors of its workers; nil: any
	leads   bool    // a helper leads, not a goroutine that begins anew
	leader  *helper // nil: nobody has led yet
}

// common is the crew of what knows no other one.
var common = &Crew{most: processors - 1}

// Common is that crew.
func Common() *Crew { return common }

// NewCrew makes a crew of so many workers; number tells it from other crews that work at the same time. Where a set of
// processors is given, its workers are bound to them: all helpers, and what Lead runs. stay says that there is a
// processor for each crew: then what leads stays awake for a while after its work.
func NewCrew(number, workers int, on Set, stay bool) *Crew {
	return &Crew{most: workers - 1, first: (1 + number) * processors, on: on, leads: native && (stay || on != nil)}
}

// Bound reports whether the crew's workers are bound to processors.
func (c *Crew) Bound() bool { return c.on != nil }

// Lead begins work in a goroutine: the leader's, where it stays awake or is bound. The next Lead waits until it has
// ended.
func (c *Crew) Lead(work func()) {
	if !c.leads {
		go work()
		return
	}
	if c.leader == nil {
		c.leader = newHelper(c.on)
	}
	c.leader.join()
	c.leader.work = func(int) { work() }
	c.leader.post()
}

// Close ends the helpers, but those that all share.
func (c *Crew) Close() {
	if c == common {
		return
	}
	if c.leader != nil {
		c.leader.join()
		c.helpers = append(c.helpers, c.leader)
	}
	for _, h := range c.helpers {
		h.post()
	}
	c.helpers, c.leader = nil, nil
}

// Together is Together for the crew.
func (c *Crew) Together(n int, work func(worker int)) {
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
	if !native || !c.TryLock() {
		apart(0, n, work)
		return
	}
	defer c.Unlock()
	for len(c.helpers) < c.most {
		c.helpers = append(c.helpers, newHelper(c.on))
	}
	hired := c.helpers[:min(n-1, len(c.helpers))]
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

// helper is a goroutine that waits for work. Waking a sleeping thread takes 70 µs or more, sometimes milliseconds on a
// virtual machine, so it stays awake for a while after it has worked.
type helper struct {
	state       atomic.Uint32
	wake, ended chan struct{}
	work        func(worker int) // nil: the helper ends
	worker      int
}

// newHelper starts a helper, bound to processors; nil: to none.
func newHelper(on Set) *helper {
	h := &helper{wake: make(chan struct{}, 1), ended: make(chan struct{}, 1)}
	if on == nil {
		go h.live()
	} else {
		go bound(on, h.live, nil)
	}
	return h
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
			if h.work == nil {
				return
			}
			h.work(h.worker)
			if h.state.Swap(idle) == awaited {
				h.ended <- struct{}{}
			}
		}
	}
}
