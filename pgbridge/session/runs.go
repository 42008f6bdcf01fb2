package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/pgbridge/conn"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/print"
)

// runs stores and locks runs of training.
type runs struct {
	*server
	names *names
}

// Shared returns true: other sessions see the database.
func (s *runs) Shared() bool { return true }

// NewRun adds the row of a run and returns its number, which the server chooses.
func (s *runs) NewRun(ctx context.Context, cols []string, values []ast.Expr) (int64, error) {
	sql, err := print.PrintStatement(&ast.Insert{Node: ast.Node{At: -1}, Schema: "relgrad", Name: s.RunTable(), Cols: cols,
		Query: &ast.Select{Node: ast.Node{At: -1}, Values: [][]ast.Expr{values}, End: -1}})
	if err != nil {
		return 0, err
	}
	res, err := s.result(ctx, sql+" RETURNING run")
	if err != nil {
		return 0, bare(err)
	}
	return res.Rows[0][0].(int64), nil
}

// RunTable is the table behind the view relgrad.run.
func (s *runs) RunTable() string { return "run_row" }

// OwnRun refuses a run of another user. The stored text of a run is SQL, which could also undo a SET ROLE: so a session
// from outside must have been opened by the run's owner. (In the extension no statement of a run may change the role.)
func (s *runs) OwnRun(ctx context.Context, run int64) error {
	res, err := s.result(ctx, fmt.Sprintf("SELECT owner::pg_catalog.text, owner OPERATOR(pg_catalog.=) current_user, "+
		"session_user::pg_catalog.text FROM relgrad.run WHERE run OPERATOR(pg_catalog.=) %d", run))
	if err != nil || len(res.Rows) == 0 {
		return bare(err) // that there is none is said where it is read
	}
	owner, session := res.Rows[0][0].(string), res.Rows[0][2].(string)
	if mine, _ := res.Rows[0][1].(bool); !mine {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "run %d belongs to %s", run, owner).
			WithDetail("Its before_step, validation and loss are texts of %s, which would be run with your rights.", owner).
			WithHint("Let %s resume it, or begin a run of your own.", owner)
	}
	if _, remote := s.conn.(*conn.Remote); remote && session != owner {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "run %d belongs to %s, this session to %s", run, owner, session).
			WithDetail("Its before_step, validation and loss are texts of %s, which could take SET ROLE back.", owner).
			WithHint("Connect as %s.", owner)
	}
	return nil
}

// Training implements catalog.Listener, for the message when a run is cancelled.
func (s *runs) Training(run, step, steps int64) {
	if c, ok := s.conn.(*conn.Child); ok {
		c.Training(run, step, steps)
	}
}

// Classes of advisory locks: of runs by their number, of tables by their OID. The numbers are arbitrary.
const (
	lockRuns   = 0x72677275
	lockTables = 0x72677461
)

// LockRun takes the locks of a run (0: of none) and of its parameters' tables. The session holds them until unlock.
func (s *runs) LockRun(run int64, params []*ra.Table) (unlock func(), err error) {
	type lock struct{ class, object uint32 }
	var held []lock
	unlock = func() {
		for _, l := range held {
			_, _ = s.texts(fmt.Sprintf("SELECT pg_catalog.pg_advisory_unlock(%d, %d)", int32(l.class), int32(l.object)))
		}
	}
	take := func(class, object uint32) (bool, error) {
		// announced before it is taken, because a call may be cancelled at any point
		if err := s.conn.Unlock(context.Background(), class, object); err != nil {
			return false, err
		}
		rows, err := s.texts(fmt.Sprintf("SELECT pg_catalog.pg_try_advisory_lock(%d, %d)", int32(class), int32(object)))
		if err != nil || rows[0][0] != "true" {
			return false, err
		}
		held = append(held, lock{class, object})
		return true, nil
	}
	ok := true
	if run != 0 {
		ok, err = take(lockRuns, uint32(run))
	}
	if err == nil && !ok {
		err = sqlerr.New(sqlerr.ObjectNotPrereqState, "run %d is being trained by another session", run)
	}
	for _, t := range slices.CompactFunc(slices.Clone(params), func(a, b *ra.Table) bool {
		return a.Schema == b.Schema && a.Name == b.Name
	}) {
		if err != nil {
			break
		}
		r := s.names.find(nil, t.Schema, t.Name)
		if r == nil {
			err = sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", t.Name)
			break
		}
		if ok, err = take(lockTables, uint32(r.oid)); err == nil && !ok {
			err = sqlerr.New(sqlerr.ObjectNotPrereqState, "parameter %s is being trained by another session", t.Name).
				WithHint("SELECT run, loss, status FROM relgrad.run; lists the runs.")
		}
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// Interrupted corrects the status of the caller's runs that are recorded as running but are not trained any more. It
// does nothing in a read-only transaction.
func (s *runs) Interrupted(ctx context.Context, running, interrupted string) error {
	res, err := s.result(ctx, "SELECT run FROM relgrad.run_row "+
		"WHERE pg_catalog.current_setting('transaction_read_only') OPERATOR(pg_catalog.=) 'off' AND status "+
		"OPERATOR(pg_catalog.=) "+sqltext.Text(running))
	if err != nil {
		return bare(err)
	}
	for _, r := range res.Rows {
		run := r[0].(int64)
		unlock, err := s.LockRun(run, nil)
		if sqlerr.Code(err) == sqlerr.ObjectNotPrereqState {
			continue
		}
		if err == nil {
			_, err = s.result(ctx, fmt.Sprintf("UPDATE relgrad.run_row SET status = %s WHERE run OPERATOR(pg_catalog.=) %d",
				sqltext.Text(interrupted), run))
			unlock()
		}
		if err != nil {
			return bare(err)
		}
	}
	return nil
}
