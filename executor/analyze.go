package executor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/tensor"
)

// limits are the measured limits of the machine: operations of a matrix product and bytes read, per second.
type limits struct{ flops, bytes float64 }

// measureLimits takes about a fifth of a second.
func measureLimits(ctx context.Context, workers int) (out limits, err error) {
	const n = 512 // a product's side
	work := func(f func(w int)) (float64, error) {
		best := time.Duration(0)
		for range 5 {
			begin := time.Now()
			if err := cpu.Parallel(ctx, workers, workers, func(_, lane int) error { f(lane); return nil }); err != nil {
				return 0, err
			}
			if took := time.Since(begin); best == 0 || took < best {
				best = took
			}
		}
		return best.Seconds(), nil
	}
	square := make([][3][]float32, workers)
	for w := range square {
		for i := range square[w] {
			square[w][i] = make([]float32, n*n)
		}
	}
	took, err := work(func(w int) {
		m := square[w]
		blas.Gemm(false, false, n, n, n, m[0], n, m[1], n, 0, m[2], n)
	})
	if err != nil {
		return out, err
	}
	out.flops = float64(workers) * 2 * n * n * n / took
	const bytes = 64 << 20 // per worker: more than the caches hold
	buf, err := tensor.NewBuffer(bytes * workers)
	if err != nil {
		return out, column.OutOfMemory(err)
	}
	defer buf.Free()
	words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(buf.Bytes()))), bytes*workers/8)
	sums := make([]uint64, 8*workers)
	took, err = work(func(w int) {
		var s [4]uint64
		part := words[w*bytes/8 : (w+1)*bytes/8]
		for i := 0; i+4 <= len(part); i += 4 {
			s[0], s[1], s[2], s[3] = s[0]+part[i], s[1]+part[i+1], s[2]+part[i+2], s[3]+part[i+3]
		}
		sums[8*w] = s[0] + s[1] + s[2] + s[3]
	})
	if err == nil {
		out.bytes = float64(bytes*workers) / took
	}
	return out, err
}

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
