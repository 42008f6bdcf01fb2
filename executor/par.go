package executor

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/tensor"
)

// parallel runs f for the lanes 0…n-1 on at most workers goroutines, each with its own worker number. The
// error of the lowest failing lane is returned. Which worker runs a lane is left to chance, so f may keep
// nothing of a worker that a result depends on. After each lane, pages of files that are too many go.
func parallel(ctx context.Context, workers, n int, f func(worker, lane int) error) error {
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
		}
		return nil
	}
	var next atomic.Int64
	var mu sync.Mutex
	failed, first := n, error(nil)
	work := func(w int) {
		for {
			lane := int(next.Add(1)) - 1
			if lane >= n {
				return
			}
			err := ctx.Err()
			if err == nil {
				err = protect(f, w, lane)
				tensor.Trim()
			}
			if err != nil {
				mu.Lock()
				if lane < failed {
					failed, first = lane, err
				}
				mu.Unlock()
				next.Store(int64(n)) // lanes below the failing one have all been taken
				return
			}
		}
	}
	cpu.Together(workers, work)
	return first
}

func protect(f func(worker, lane int) error, w, lane int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError(p)
		}
	}()
	return f(w, lane)
}
