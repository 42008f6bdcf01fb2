package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// percent of the heap: it is mostly tables, which are quickly marked, so that garbage need not take as much again
	garbage = 25
	// bytes of garbage that a small heap may hold, which else were marked at every few steps of training
	atLeast = 32 << 20
)

// tuneGC sets how much garbage the heap may hold, after each collection for the next one. GOGC in the environment
// decides instead where it is set.
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
		runtime.SetFinalizer(new([1]*byte), tune) // runs behind the next collection
	}
	tune(nil)
}
