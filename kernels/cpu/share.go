package cpu

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// Parallel runs f for the lanes 0…n-1 on at most workers goroutines, each with its own worker number, and returns the
// error of the lowest lane that fails. Lanes begin in order. Which worker runs a lane is left to chance, so results
// must not depend on anything that f keeps for a worker. After each lane, excess pages of files are released.
func Parallel(ctx context.Context, workers, n int, f func(worker, lane int) error) error {
	return common.Parallel(ctx, workers, n, f)
}

// Apportion is Parallel for lanes that do not wait for each other. Every worker begins with a part of its own, the same
// for the same number of lanes, so that it finds in its cache what it left there in an earlier instruction.
func Apportion(ctx context.Context, workers, n int, f func(worker, lane int) error) error {
	return common.Apportion(ctx, workers, n, f)
}

// Parallel is Parallel for the crew.
func (c *Crew) Parallel(ctx context.Context, workers, n int, f func(worker, lane int) error) error {
	return c.share(ctx, workers, n, 1, f)
}

// Apportion is Apportion for the crew.
func (c *Crew) Apportion(ctx context.Context, workers, n int, f func(worker, lane int) error) error {
	return c.share(ctx, workers, n, workers, f)
}

// stretch is a range of lanes that begin in order. Each is in a cache line of its own.
type stretch struct {
	next atomic.Int64
	end  int64
	_    [48]byte
}

// share runs f for the lanes 0…n-1, in at most so many parts. A worker that has finished its part continues with the
// next one.
func (c *Crew) share(ctx context.Context, workers, n, parts int, f func(worker, lane int) error) error {
	workers = min(workers, n)
	if workers <= 1 {
		for lane := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := f(0, lane); err != nil {
				return err
			}
			tensor.Trim()
			Yield(c.first)
		}
		return nil
	}
	parts = min(parts, workers)
	some := make([]stretch, parts)
	for i := range some {
		some[i].next.Store(int64(i * n / parts))
		some[i].end = int64((i + 1) * n / parts)
	}
	var mu sync.Mutex
	var failed atomic.Int64 // the lowest lane that has failed; lanes below it still run
	failed.Store(int64(n))
	first := error(nil)
	work := func(w int) {
		for i := range parts {
			for p := &some[(w+i)%parts]; ; {
				lane := p.next.Add(1) - 1
				if lane >= min(p.end, failed.Load()) {
					break
				}
				err := ctx.Err()
				if err == nil {
					err = protect(f, w, int(lane))
					tensor.Trim()
					Yield(c.first + w)
				}
				if err != nil {
					mu.Lock()
					if lane < failed.Load() {
						failed.Store(lane)
						first = err
					}
					mu.Unlock()
				}
			}
		}
	}
	c.Together(workers, work)
	return first
}

func protect(f func(worker, lane int) error, w, lane int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			// arrays of the structure that found no room panic with an *sqlerr.Error
			err = sqlerr.FromPanic(p)
		}
	}()
	return f(w, lane)
}
