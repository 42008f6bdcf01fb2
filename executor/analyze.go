package executor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/executor/device"
)

// median ignores the first of several runs, which warms up the caches.
func median(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	runs := slices.Sorted(slices.Values(took[min(1, len(took)-1):]))
	return runs[len(runs)/2]
}

// analyzed prints the median of an instruction's runs and the share of the machine's limit that it reaches: of
// operations or of bytes, whichever is higher.
func analyzed(in *device.Instr, b *strings.Builder, runs []time.Duration, l limits) time.Duration {
	took := median(runs)
	if took == 0 || l == (limits{}) {
		return 0
	}
	least, what := in.Bytes/l.bytes, "memory"
	if f := in.Flops / l.flops; f > least {
		least, what = f, "operations"
	}
	fmt.Fprintf(b, "        %.3g ms, %.3g Gflop/s, %.3g GB/s: %.0f %% of the machine's %s\n", took.Seconds()*1e3,
		in.Flops/took.Seconds()/1e9, in.Bytes/took.Seconds()/1e9, 100*least/took.Seconds(), what)
	return took
}
