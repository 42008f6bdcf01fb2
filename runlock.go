package relgrad

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/train"
)

// A run that trains holds an exclusive lock on a file beside the store. The kernel drops it with the process, however
// that ends, so that a run whose lock nobody holds is not running, whatever relgrad.run says.

// lockPath names the lock of a run; "" for a temporary store, which dies with its process.
func (db *DB) lockPath(run int64) string {
	if db.Path() == "" {
		return ""
	}
	return fmt.Sprintf("%s-run%d", db.Path(), run)
}

// lockRun takes the lock of a run. The function it returns gives it back.
func (db *DB) lockRun(run int64) (unlock func(), err error) {
	path := db.lockPath(run)
	if path == "" {
		return func() {}, nil
	}
	var f *os.File
	for try := 0; ; try++ { // who only asks holds it for a moment
		if f, err = takeLock(path); err == nil || !errors.Is(err, syscall.EWOULDBLOCK) || try == 10 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, sqlerr.New(sqlerr.ObjectNotPrereqState, "run %d is being trained by another session", run).Wrap(err)
	case err != nil:
		return nil, sqlerr.New(sqlerr.IO, "could not lock %s", path).Wrap(err)
	}
	return func() {
		_ = os.Remove(path) // what is left of it says nothing
		_ = f.Close()
	}, nil
}

// takeLock opens and locks a file; EWOULDBLOCK where another holds it, or has just removed it.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	mine, err := f.Stat()
	if there, e := os.Stat(path); err != nil || e != nil || !os.SameFile(mine, there) {
		f.Close()
		return nil, syscall.EWOULDBLOCK
	}
	return f, nil
}

// trained reports whether a session trains a run now.
func (db *DB) trained(run int64) (bool, error) {
	path := db.lockPath(run)
	if path == "" {
		return true, nil // only this session sees the store
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, sqlerr.New(sqlerr.IO, "could not open %s", path).Wrap(err)
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	return errors.Is(err, syscall.EWOULDBLOCK), nil
}

// markInterrupted notes which runs' processes are gone.
func (db *DB) markInterrupted(ctx context.Context) error {
	if db.ReadOnly() {
		return nil
	}
	res, err := db.query(ctx, "SELECT run FROM relgrad.run WHERE status = '%s' ORDER BY run", train.Running)
	if err != nil {
		return err
	}
	for _, row := range res.Rows {
		run := row[0].(int64)
		on, err := db.trained(run)
		if err != nil {
			return err
		}
		if on {
			continue
		}
		if _, err := db.query(ctx, "UPDATE relgrad.run SET status = '%s' WHERE run = %d AND status = '%s'", train.Interrupted, run, train.Running); err != nil {
			return err
		}
	}
	return nil
}

// DeleteRuns removes runs with their losses and the optimizer's state, all of them or none; the parameters stay.
func (db *DB) DeleteRuns(ctx context.Context, runs ...int64) error {
	runs = slices.Compact(slices.Sorted(slices.Values(runs)))
	for _, run := range runs {
		res, err := db.query(ctx, "SELECT status FROM relgrad.run WHERE run = %d", run)
		if err != nil {
			return err
		}
		if len(res.Rows) == 0 {
			return noRun(run)
		}
		unlock, err := db.lockRun(run)
		if err != nil {
			return err
		}
		defer unlock()
	}
	if err := db.BeginWrite(); err != nil {
		return err
	}
	for _, run := range runs {
		for _, table := range []string{"loss", "state", "run"} {
			if _, err := db.query(ctx, "DELETE FROM relgrad.%s WHERE run = %d", table, run); err != nil {
				return errors.Join(err, db.Rollback())
			}
		}
	}
	_, err := db.Commit()
	return err
}

func noRun(run int64) error {
	return sqlerr.New(sqlerr.UndefinedObject, "run %d does not exist", run).WithHint("SELECT run, loss, status FROM relgrad.run; lists the runs.")
}
