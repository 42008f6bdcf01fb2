package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/train"
)

// Between its commits a run holds no transaction: its parameters and progress are in memory, and other processes can
// use the store. A commit waits for the write lock (SET lock_timeout), and fails if another process has changed the
// parameters or the run's rows since the last commit. A before_step, or a database that computes the steps, writes
// during steps: the transaction is then open from the next step to the next commit.

// commits are the transactions of a run.
type commits struct {
	record
	atomic    bool   // train was called in an open transaction: the run commits nothing itself
	committed int64  // the step of the last commit
	foreign   uint64 // ExternalVersion when the run last saw that its data is unchanged
}

// begin opens the transaction of the next commit, unless one is open. It fails if others have changed the run's data.
func (r *commits) begin(ctx context.Context) error {
	if r.db.InTransaction() { // the user's, or one that the run has opened
		return nil
	}
	if err := r.db.BeginWrite(); err != nil {
		return err
	}
	if now := r.db.ExternalVersion(); now != r.foreign {
		if err := r.unchanged(ctx); err != nil {
			return r.db.Undo(err)
		}
		r.foreign = now
	}
	return nil
}

// turn is the pause after a commit of a run with a before_step, in a shared store. Such a run holds the write lock
// nearly always. Processes that wait for the lock try again more often than this, so they get it in the pause.
const turn = 10 * time.Millisecond

// commit commits the transaction that begin has opened. It does nothing in a transaction of the user.
func (r *commits) commit() error {
	if r.atomic {
		return nil
	}
	r.tell(r.progress.Step)
	if _, err := r.db.Commit(); err != nil {
		return err
	}
	if err := r.mark(); err != nil {
		return err
	}
	if r.hook != nil && r.db.Shared() {
		time.Sleep(turn)
	}
	return nil
}

// mark notes that the store now holds the run's parameters and progress, for later comparison by unchanged.
func (r *commits) mark() error {
	r.committed = r.progress.Step
	if !r.db.Shared() || r.pushes {
		return nil // no other process sees the store
	}
	for _, l := range r.lives {
		v, err := l.Values()
		if err != nil {
			return err
		}
		l.Sum = engine.Hash(v)
	}
	return nil
}

// tell reports the step of the next commit, at first that of the last one, to a database that ends cancelled runs by
// itself.
func (r *commits) tell(step int64) {
	if h, ok := r.db.Database.(catalog.Listener); ok && !r.atomic {
		h.Training(r.id, step, r.config.Steps())
	}
}

// unchanged fails with SQLSTATE 40001 if another process has changed the run's parameters or its rows of relgrad.run
// and relgrad.loss: to go on would overwrite them.
func (r *commits) unchanged(ctx context.Context) error {
	changed := func(what, hint string) error {
		return sqlerr.New("40001", "another process changed %s while it was trained", what).
			WithDetail("What it wrote stands; the run ends with its commit after step %d.", r.committed).WithHint("%s", hint)
	}
	if r.pushes { // its steps read the table's present values, so only definitions must be the same
		t, err := r.redefined(ctx)
		if err != nil {
			return err
		} else if t != nil {
			return changed(fmt.Sprintf("the definition of table \"%s\"", t.Name), r.goesOn())
		}
	}
	for i, l := range r.lives {
		if r.pushes {
			break
		}
		if t := r.db.Definition(l.Table.Schema, l.Table.Name); t != nil && !sameTable(t, l.Table) {
			return changed(fmt.Sprintf("the definition of table \"%s\"", l.Table.Name), r.goesOn())
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
	res, err := r.db.Runf(ctx, "SELECT (SELECT step FROM relgrad.run WHERE run OPERATOR(pg_catalog.=) %d), (SELECT "+
		"coalesce(pg_catalog.max(step), 0) FROM relgrad.loss WHERE run OPERATOR(pg_catalog.=) %d)", r.id, r.id)
	if err != nil {
		return err
	}
	if step, last := res.Rows[0][0], res.Rows[0][1].(int64); step != r.committed || last > r.committed {
		return changed(fmt.Sprintf("run %d in relgrad.run or relgrad.loss", r.id),
			"Begin a new run; its parameters are those of the last commit.")
	}
	return nil
}

// goesOn is the hint how to train on after another session has changed something.
func (r *commits) goesOn() string {
	if r.id == 0 {
		return "Call train again."
	}
	return fmt.Sprintf("CALL train(resume => %d); goes on from the values that are there now, where the rows are the "+
		"same.", r.id)
}

// holds reports whether a parameter's column is stored as the run left it: the same rows, keys and values.
func (db *Trainer) holds(ctx context.Context, l *engine.Live) (bool, error) {
	t := l.Table
	if !sameTable(db.Definition(t.Schema, t.Name), t) {
		return false, nil
	}
	now, err := db.Read(ctx, t, append(append([]int{ra.RowID}, t.Key...), l.Col))
	if err != nil || !slices.Equal(now[0].I64(), l.Rows) {
		return false, err
	}
	for i, k := range l.Keys {
		if !column.Equal(k, now[1+i]) {
			return false, nil
		}
	}
	v := now[len(now)-1]
	return v.Len() == 0 || engine.Hash(v) == l.Sum, nil
}

// validateStored has the store compute the validation. For this the present parameters are written to its tables, and
// rolled back if the run has opened the transaction.
func (r *run) validateStored(ctx context.Context, env kernels.Env) (out []train.Figure, err error) {
	own := !r.db.InTransaction()
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	if err = r.flush(ctx); err == nil {
		out, err = r.validateInStore(ctx, env)
	}
	switch {
	case own && err != nil:
		err = r.db.Undo(err)
	case own:
		err = r.db.Rollback()
	}
	return out, err
}

// redefined returns a table of the loss whose definition has changed since planning (it may have lost its key), or nil.
// Each table is locked first, so that no session redefines it during this transaction: EXPLAIN does so and asks for the
// right to read it, but opens nothing, such as a transaction at another server.
func (r *commits) redefined(ctx context.Context) (*ra.Table, error) {
	for _, t := range r.c.Read {
		if r.c.PerStep[engine.Object{Schema: t.Schema, Table: t.Name}] { // before_step may do that; see pushedRun.hooked
			continue
		}
		if _, err := r.db.RunSQL(ctx, "EXPLAIN SELECT FROM "+r.db.Dialect().
			Table(t)); sqlerr.Code(err) == sqlerr.UndefinedTable {
			return t, nil
		} else if err != nil {
			return nil, err
		}
		if def, _ := r.db.Relation(nil, t.Schema, t.Name); def != r.c.Defined[t] {
			return t, nil
		}
	}
	return nil, nil
}
