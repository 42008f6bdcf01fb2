package engines

import (
	"context"
	"fmt"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/device/cpu"
	"github.com/relgrad/relgrad/executor/device/cuda"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
)

// Graphics runs a plan on a graphics processor, three times: kernel by kernel, as it is recorded, and at once. A plan
// that it has not all kernels for is beyond its limit. done gives the processor back.
func Graphics() (e randquery.Engine, done func() error, err error) {
	d, err := cuda.Open(0, cpu.NewMachine(1, tuning.Default()))
	if err != nil {
		return e, nil, err
	}
	run := func(ctx context.Context, db *memdb.DB, plan *ra.Plan, env *kernels.Env) ([][]interp.Row, error) {
		p, err := executor.Compile(ctx, plan, db, executor.Options{Workers: 1, Force64: !hasReal(db), Env: *env,
			Devices: []device.Device{d}, Whole: true})
		if err == nil {
			defer p.Close()
			err = executor.Ready(p)
		}
		if sqlerr.Code(err) == sqlerr.FeatureNotSupported { // a step needs the processors, too: refused, as in training
			return nil, randquery.ErrLimit
		}
		if err != nil {
			return nil, err
		}
		first, err := once(ctx, p, plan, *env)
		for turn := 2; turn <= 3 && err == nil; turn++ {
			var again [][]interp.Row
			if again, err = once(ctx, p, plan, *env); err == nil {
				if err = bitEqual(first, again); err != nil {
					err = fmt.Errorf("run %d: %w", turn, err)
				}
			}
		}
		return first, err
	}
	done = func() error {
		d.Close()
		return nil
	}
	return randquery.Engine{Name: "graphics", Tol: 1e-9, TolReal: 2e-3, Run: run}, done, nil
}
