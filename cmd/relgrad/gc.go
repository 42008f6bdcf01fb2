package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// garbage is what the heap may grow by, in percent, before it is collected. It is mostly tables, which are marked
	// quickly.
	garbage = 25
	// atLeast is the garbage in bytes that even a small heap may hold: else it would be collected every few steps of
	// training.
	atLeast = 32 << 20
)

// tuneGC sets how much garbage the heap may hold, again after each collection. If GOGC is set in the environment, that
// decides instead.
func tuneGC() {
	if os.Getenv("GOGC") != "" {
		return
	}
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	now := 0
	var tune func(*[1]*byte)
	tune = func(*[1]*byte) {
		metrics.Read(sample)
		percent := garbage
		if live := int(sample[0].Value.Uint64()); live > 0 {
			percent = min(max(percent, atLeast*100/live), 1000)
		}
		if percent != now {
			debug.SetGCPercent(percent)
			now = percent
		}
		runtime.SetFinalizer(new([1]*byte), tune) // the finalizer runs after the next collection
	}
	tune(nil)
}
