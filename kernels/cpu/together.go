package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
)

var processors = runtime.GOMAXPROCS(0)

// Processors is how many workers compute at the same time: GOMAXPROCS when the process began.
func Processors() int { return processors }

// Reserve lets Go's scheduler run more threads than there are processors; a program calls it once, when it begins. The scheduler
// takes the place of a thread that is longer than 20 µs in a call of C where no other place is free, and starts a thread that looks
// for work there: beside workers that spend their time in such calls, that was a fifth of it. Where a place is free, it waits. The
// garbage collector's share of the processors doubles, too, and Go follows no later change of their number.
// https://github.com/golang/go/blob/go1.26.0/src/runtime/proc.go (retake, handoffp)
func Reserve() { runtime.GOMAXPROCS(2 * processors) }

// Together calls work(0) to work(n-1) at the same time and returns when all have ended. None may panic.
func Together(n int, work func(worker int)) {
	if n <= 1 {
		work(0)
		return
	}
	r := &region{work: work, crowded: n > processors}
	r.left.Store(uint32(n - 1))
	r.ended.Add(n - 1)
	for w := 1; w < n; w++ {
		r.give(w)
	}
	work(0)
	if !r.crowded {
		await(&r.left, 0)
	}
	r.ended.Wait()
}

// region is a call of Together.
type region struct {
	work    func(int)
	crowded bool // more workers than processors: who looks out for work is in others' way
	left    atomic.Uint32
	ended   sync.WaitGroup
}

// helper is a goroutine that works beside those that call Together. Regions follow each other within microseconds, and to wake a
// thread takes tens of them: so it looks out for the next one for a while before it sleeps.
type helper struct {
	has    atomic.Uint32 // 1: it is to be the worker of the region
	asleep atomic.Bool
	wake   chan struct{}
	region *region
	worker int
}

// idle are the helpers without work, the last one at the end.
var idle struct {
	sync.Mutex
	helpers []*helper
}

// give finds or makes a helper to be the worker.
func (r *region) give(worker int) {
	idle.Lock()
	var h *helper
	if n := len(idle.helpers); n > 0 {
		h, idle.helpers = idle.helpers[n-1], idle.helpers[:n-1]
	}
	idle.Unlock()
	if h == nil {
		h = &helper{wake: make(chan struct{}, 1)}
		go h.help()
	}
	h.region, h.worker = r, worker
	h.has.Store(1)
	if h.asleep.CompareAndSwap(true, false) {
		h.wake <- struct{}{}
	}
}

func (h *helper) help() {
	for crowded := false; ; {
		if crowded || !await(&h.has, 1) {
			h.asleep.Store(true)
			// who gives it work sees that it sleeps, or it sees the work
			if h.has.Load() == 0 || !h.asleep.CompareAndSwap(true, false) {
				<-h.wake
			}
		}
		r, worker := h.region, h.worker
		h.region, crowded = nil, r.crowded
		h.has.Store(0)
		r.work(worker)
		idle.Lock()
		idle.helpers = append(idle.helpers, h)
		idle.Unlock()
		r.ended.Done()
		r.left.Add(^uint32(0)) // behind Done: who sees 0 need not wait
	}
}
