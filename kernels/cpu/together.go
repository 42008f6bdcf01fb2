package cpu

import (
	"runtime"
	"sync"
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

// Together calls work(0) to work(n-1) at the same time and returns when all have ended. Goroutines that stay and look out for work
// for some tens of microseconds were slower: 200 epochs of Cora took a quarter longer.
func Together(n int, work func(worker int)) {
	var all sync.WaitGroup
	for w := 1; w < n; w++ {
		all.Go(func() { work(w) })
	}
	work(0)
	all.Wait()
}
