package cpu

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// Parallel runs f for the lanes 0…n-1 on at most workers goroutines, each with its own worker number. The
// error of the lowest failing lane is returned. Lanes begin in their order. Which worker runs a lane is left to chance,
// so f may keep nothing of a worker that a result depends on. After each lane, pages of files that are too many go.
func Parallel(ctx context.Context, workers, n int, f func(worker, lane int) error) error {
	return share(ctx, workers, n, 1, f)
}

// Apportion is Parallel for lanes that do not wait for each other: every worker begins with a part of its own, which it
// also had of as many lanes before, so that what one instruction leaves in a worker's cache the next one finds there.
func Apportion(ctx context.Context, workers, n int, f func(worker, lane int) error) error {
	return share(ctx, workers, n, workers, f)
}

// stretch are lanes that are begun in their order. Each has a line of the cache for itself.
type stretch struct {
	next atomic.Int64
	end  int64
	_    [48]byte
}

// share runs f for the lanes 0…n-1 in so many parts at most. A worker that has come to the end of its part goes on with
// the next one.
func share(ctx context.Context, workers, n, parts int, f func(worker, lane int) error) error {
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
			Yield(0)
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
	var failed atomic.Int64 // the lowest lane that has failed: those below it run nevertheless
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
					Yield(w)
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
	Together(workers, work)
	return first
}

func protect(f func(worker, lane int) error, w, lane int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			// an error that is one comes from code that returns none: arrays of the structure that found no room
			err = sqlerr.FromPanic(p)
		}
	}()
	return f(w, lane)
}
