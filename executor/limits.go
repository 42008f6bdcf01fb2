package executor

import (
	"context"
	"slices"
	"time"
	"unsafe"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/tensor"
)

// limits are the measured limits of the machine: operations of a matrix product and bytes read, per second.
type limits struct{ flops, bytes float64 }

// measureLimits takes about a fifth of a second for five runs. The one of a number counts, of which 0 is the fastest.
func measureLimits(ctx context.Context, workers, runs, counts int) (out limits, err error) {
	const n = 512 // a product's side
	work := func(f func(w int)) (float64, error) {
		took := make([]time.Duration, runs)
		for i := range took {
			begin := time.Now()
			if err := cpu.Parallel(ctx, workers, workers, func(_, lane int) error { f(lane); return nil }); err != nil {
				return 0, err
			}
			took[i] = time.Since(begin)
		}
		slices.Sort(took)
		return took[counts].Seconds(), nil
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

// MeasureSites measures the limits of sites of this process, which share its workers; 0: cpu.Processors. Of several
// measurements the median counts, for other programs may run, too. It takes about half a second.
//
// An exchange is one of the network that sites have. Its fixed time is what it takes beyond the time for which a site
// comes later than the others: these wait meanwhile as they do in a step, awake where each has a processor.
func MeasureSites(ctx context.Context, sites, workers int) (out physical.Cluster, err error) {
	if workers <= 0 {
		workers = cpu.Processors()
	}
	l, err := measureLimits(ctx, workers, 15, 7)
	if err != nil {
		return out, err
	}
	n := float64(min(sites, workers))
	out = physical.Cluster{Operations: l.flops / n, Reads: l.bytes / n}
	if sites > workers {
		out.Processors = workers
	}
	const apart = 50 * time.Microsecond
	took, err := exchanging(ctx, sites, 1, 101, apart)
	if err != nil {
		return out, err
	}
	out.Latency = max(took-apart.Seconds(), 1e-7)
	const rows = 1 << 20 // of 4 bytes, which each site sends: more than caches hold
	if took, err = exchanging(ctx, sites, rows/sites, 9, 0); err != nil {
		return out, err
	}
	out.Network = 4 * float64(rows/sites*(sites-1)) / max(took-out.Latency, took/2)
	return out, nil
}

// exchanging is the median time in which each site sends so many numbers of real to all others. Each time another site
// comes later than the others.
func exchanging(ctx context.Context, sites, rows, times int, apart time.Duration) (float64, error) {
	net, took, fails := device.NewNetwork(sites), make([]time.Duration, times), make([]error, sites)
	t, parts := kernels.Type{Kind: kernels.Float32}, make([]values.Part, sites)
	for s := range parts {
		parts[s] = values.Part{Site: s, N: rows}
	}
	exchange := func(s int) error {
		from, to := column.New(t, rows), column.New(t, rows*sites)
		x := &device.Exchange{Exchange: &values.Exchange{Parts: parts, Sent: &values.Val{Data: from}}}
		for i := range took {
			begin := time.Now()
			for late := i%sites == s; late && time.Since(begin) < apart; {
			}
			if err := net.Port(s).Exchange(ctx, x, to); err != nil {
				return err
			}
			if s == 0 {
				took[i] = time.Since(begin)
			}
		}
		return nil
	}
	cpu.Together(sites, func(s int) { fails[s] = exchange(s) })
	for _, err := range fails {
		if err != nil {
			return 0, err
		}
	}
	slices.Sort(took)
	return took[times/2].Seconds(), nil
}
