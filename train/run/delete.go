package run

import (
	"context"
	"errors"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// DeleteRuns removes runs with their losses and the optimizer's state, all of them or none; the parameters stay.
func (db *Trainer) DeleteRuns(ctx context.Context, runs ...int64) error {
	runs = slices.Compact(slices.Sorted(slices.Values(runs)))
	for _, run := range runs {
		res, err := db.Runf(ctx, "SELECT status FROM relgrad.run WHERE run OPERATOR(pg_catalog.=) %d", run)
		if err != nil {
			return err
		}
		if len(res.Rows) == 0 {
			return noRun(run)
		}
		unlock, err := db.LockRun(run, nil)
		if err != nil {
			return err
		}
		defer unlock()
	}
	if err := db.BeginWrite(); err != nil {
		return err
	}
	for _, run := range runs {
		for _, table := range []string{"validation", "loss", "state", "run"} {
			if _, err := db.Runf(ctx, "DELETE FROM relgrad.%s WHERE run OPERATOR(pg_catalog.=) %d", table, run); err != nil {
				return errors.Join(err, db.Rollback())
			}
		}
	}
	_, err := db.Commit()
	return err
}

func noRun(run int64) error {
	return sqlerr.New(sqlerr.UndefinedObject, "run %d does not exist", run).
		WithHint("SELECT run, loss, status FROM relgrad.run; lists the runs.")
}
