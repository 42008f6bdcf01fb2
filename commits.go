package relgrad

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/ra"
)

// Between its commits a run holds no transaction, so that other processes read and write the store meanwhile:
// parameters and progress are in memory. A commit waits for its turn to write (SET lock_timeout), and goes on only
// where the parameters and the run's rows are what the run left there. Only before_step writes between commits; then
// its transaction is open from there to the next commit.

// onOneState runs f on one state of the store.
func (db *Engine) onOneState(f func() error) error {
	if s, ok := db.Database.(catalog.Snapshotter); db.InTransaction() || ok && s.InOne() {
		return f()
	}
	if err := db.Begin(); err != nil {
		return err
	}
	if err := f(); err != nil {
		return db.undo(err)
	}
	_, err := db.Commit()
	return err
}

// undo ends the open transaction after an error.
func (db *Engine) undo(err error) error {
	if !db.InTransaction() { // a failed COMMIT has ended it
		return err
	}
	if back := db.Rollback(); back != nil {
		return fmt.Errorf("%w (and rolling back failed: %v)", err, back)
	}
	return err
}

// begin opens the transaction of the next commit, where it is not open yet.
func (r *run) begin(ctx context.Context) error {
	if r.db.InTransaction() { // the user's, or this one
		return nil
	}
	if err := r.db.BeginWrite(); err != nil {
		return err
	}
	if now := r.db.ExternalVersion(); now != r.foreign {
		if err := r.unchanged(ctx); err != nil {
			return r.db.undo(err)
		}
		r.foreign = now
	}
	return nil
}

// turn is how long a run whose before_step writes leaves the store to others after a commit: those who wait for a lock
// look for it more often.
const turn = 10 * time.Millisecond

// commit ends the transaction of a commit.
func (r *run) commit() error {
	if r.atomic {
		return nil
	}
	if _, err := r.db.Commit(); err != nil {
		return err
	}
	r.mark()
	r.tell()
	if r.hook != nil && r.db.Shared() {
		time.Sleep(turn)
	}
	return nil
}

// mark notes that the store holds the run's parameters and progress.
func (r *run) mark() {
	r.committed = r.progress.Step
	if !r.db.Shared() || r.pushed != nil {
		return // no other process sees the store
	}
	for _, l := range r.lives {
		l.sum = l.hash(l.param.F32, l.param.F64, func(row int) bool {
			return l.param.Valid != nil &&
				l.param.Valid[row] == 0
		})
	}
}

// tell lets a database that ends a cancelled run by itself know how far its commits are.
func (r *run) tell() {
	if h, ok := r.db.Database.(catalog.Listener); ok && !r.atomic {
		h.Training(r.id, r.committed, r.config.Steps())
	}
}

// unchanged refuses to go on over what another process has written in the place of the run.
func (r *run) unchanged(ctx context.Context) error {
	changed := func(what, hint string) error {
		return sqlerr.New("40001", "another process changed %s while it was trained", what).
			WithDetail("What it wrote stands; the run ends with its commit after step %d.", r.committed).WithHint("%s", hint)
	}
	if r.pushed != nil { // its steps take the values that are there
		t, err := r.pushed.redefined(ctx)
		if err != nil {
			return err
		} else if t != nil {
			return changed(fmt.Sprintf("the definition of table \"%s\"", t.Name), r.goesOn())
		}
	}
	for i, l := range r.lives {
		if r.pushed != nil {
			break
		}
		same, err := r.db.holds(ctx, l)
		if err != nil {
			return err
		}
		if !same {
			return changed("parameter "+r.slots[i].Name, r.goesOn())
		}
	}
	if r.id == 0 {
		return nil
	}
	res, err := r.db.query(ctx,
		"SELECT (SELECT step FROM relgrad.run WHERE run OPERATOR(pg_catalog.=) %d), (SELECT coalesce(pg_catalog.max(step), 0) FROM relgrad.loss WHERE run OPERATOR(pg_catalog.=) %d)", r.id, r.id)
	if err != nil {
		return err
	}
	if step, last := res.Rows[0][0], res.Rows[0][1].(int64); step != r.committed || last > r.committed {
		return changed(fmt.Sprintf("run %d in relgrad.run or relgrad.loss", r.id),
			"Begin a new run; its parameters are those of the last commit.")
	}
	return nil
}

// goesOn says how to train on behind what another session has changed.
func (r *run) goesOn() string {
	if r.id == 0 {
		return "Call train again."
	}
	return fmt.Sprintf("CALL train(resume => %d); goes on from the values that are there now, where the rows are the same.", r.id)
}

// holds reports whether a parameter's column is stored as the run left it: the same rows, keys and values.
func (db *Engine) holds(ctx context.Context, l *live) (bool, error) {
	t := l.table
	if !sameTable(db.Definition(t.Schema, t.Name), t) {
		return false, nil
	}
	now, err := db.Read(ctx, t, append(append([]int{ra.RowID}, t.Key...), l.col))
	if err != nil || !slices.Equal(now[0].Ints, l.rows) {
		return false, err
	}
	for i, k := range l.keys {
		if !sameVector(k, now[1+i]) {
			return false, nil
		}
	}
	v := now[len(now)-1]
	return v.N == 0 || l.hash(v.F32, v.F64, v.IsNull) == l.sum, nil
}

func sameVector(a, b *ra.Vector) bool {
	return a.N == b.N && slices.Equal(a.Ints, b.Ints) && slices.Equal(a.F32, b.F32) && slices.Equal(a.F64, b.F64) &&
		slices.Equal(a.Texts, b.Texts)
}

// hash tells one content of a column from another; which rows are NULL belongs to it, what stands there does not.
func (l *live) hash(f32 []float32, f64 []float64, null func(row int) bool) uint64 {
	h := uint64(1)
	mix := func(x uint64) { h = bits.RotateLeft64((h^x)*0x9e3779b97f4a7c15, 29) }
	for row := range l.rows {
		if null(row) {
			mix(uint64(row)<<1 | 1)
			continue
		}
		at, to := row*l.param.Size, (row+1)*l.param.Size
		if f32 != nil {
			for _, x := range f32[at:to] {
				mix(uint64(math.Float32bits(x)))
			}
			continue
		}
		for _, x := range f64[at:to] {
			mix(math.Float64bits(x))
		}
	}
	return h
}

// validateStored lets the store compute the validation over the present parameters, which are not committed for that.
func (r *run) validateStored(ctx context.Context) (float64, error) {
	own := !r.db.InTransaction()
	if err := r.begin(ctx); err != nil {
		return 0, err
	}
	x, err := 0.0, r.flush(ctx)
	if err == nil {
		x, err = r.validateInStore(ctx)
	}
	switch {
	case own && err != nil:
		err = r.db.undo(err)
	case own:
		err = r.db.Rollback()
	}
	return x, err
}
