package cpu

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// allowed are the processors that the process may use.
func allowed() (out Set) {
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &mask); err != nil {
		return nil
	}
	for p := range 64 * len(mask) {
		if mask.IsSet(p) {
			out = append(out, p)
		}
	}
	return out
}

// bound runs live on a thread that is bound to processors, and closes begun when it has found one. The thread ends with
// it, for a goroutine that ends while it has a thread of its own takes that along (runtime.LockOSThread): no other
// goroutine ever runs on a thread that is bound, and new threads are not made from one. The process's first thread
// cannot end, so it is never bound. Where the system refuses, the goroutine runs on any processor.
func bound(on Set, live func(), begun chan struct{}) {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		other := make(chan struct{})
		go bound(on, live, other)
		<-other // it has another thread, for this goroutine has the first one
		runtime.UnlockOSThread()
		return
	}
	if begun != nil {
		close(begun)
	}
	var mask unix.CPUSet
	for _, p := range on {
		mask.Set(p)
	}
	if err := unix.SchedSetaffinity(0, &mask); err != nil {
		runtime.UnlockOSThread()
	}
	live()
}
