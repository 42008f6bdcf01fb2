package relgrad

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlfront/print"
	"github.com/relgrad/relgrad/sqlgen"
	"github.com/relgrad/relgrad/store"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/train"
	"github.com/relgrad/relgrad/train/run"
)

// embedded is the embedded store as a catalog.Database.
type embedded struct {
	*store.DB
	dir *string // DB.Dir
}

var _ catalog.Database = embedded{}

// Named implements catalog.Database.
func (embedded) Named(_ []string, t ast.TypeName) (*kernels.Named, error) {
	return columns.NamedType(t), nil
}

// Literal implements catalog.Database.
func (embedded) Literal(t *kernels.Named, text string) (string, error) {
	return columns.Literal(t, text)
}

// Text implements catalog.Database: texts compare byte by byte.
func (embedded) Text() *kernels.Named { return nil }

// FunctionOn implements catalog.Database.
func (e embedded) FunctionOn(path []string, schema, name string) (*ast.CreateFunction, error) {
	return e.DB.FunctionOn(path, schema, name), nil
}

// Meaning implements catalog.Database. No setting of the store changes what a text means.
func (embedded) Meaning() string { return "" }

// Write implements catalog.Database.
func (e embedded) Write(ctx context.Context, t *ra.Table, col int, rows []int64, _ []*column.Column,
	data *column.Column) error {
	return e.WriteColumn(ctx, t.Schema, t.Name, t.Cols[col].Name, rows, data)
}

// Dialect implements catalog.Database.
func (embedded) Dialect() sqlgen.Dialect { return sqlgen.SQLite{} }

// RunSQL implements catalog.Database.
func (e embedded) RunSQL(ctx context.Context, sql string) (*catalog.Result, error) {
	return runText(ctx, sql, e.Exec)
}

// RunText implements catalog.Database.
func (embedded) RunText(context.Context, parse.Parsed, *ast.Text) (bool, error) { return false, nil }

// Prepare implements catalog.Database. It finds unknown names where the binder of losses does not look: in ORDER BY, in
// WITH queries that nothing reads. All else is the binder's to say. A query with a function in FROM is left alone: it
// may be a file, which would be read twice.
func (e embedded) Prepare(ctx context.Context, sql string) error {
	text := &ast.Text{SQL: sql}
	sel, err := parse.ParseQuery(text)
	unread := func(q *ast.Select) bool { return len(q.OrderBy)+len(q.With) > 0 }
	if err != nil || !ast.Any(sel, unread) || ast.Any(sel, func(*ast.FuncFrom) bool { return true }) {
		return nil
	}
	_, err = e.Columns(ctx, sel, text)
	if code := sqlerr.Code(err); code != sqlerr.UndefinedTable && code != sqlerr.UndefinedColumn {
		return nil
	}
	return sqlerr.In(err, text)
}

// Reach implements catalog.Database. Queries of the store call no function that reads a table; a function may draw or
// read the step.
func (e embedded) Reach(_ context.Context, sql string) (*bind.Reach, error) {
	out, seen, path := &bind.Reach{}, map[any]bool{}, e.SearchPath()
	var look func(sql, via string)
	look = func(sql, via string) {
		u, err := bind.UsesOf(sql)
		if err != nil { // a query that the store cannot parse is not run
			return
		}
		for _, t := range u.Tables {
			if v, ok := e.View(path, t.Schema, t.Name); ok && !seen[v] {
				seen[v] = true
				look(v.SQL, "")
			}
		}
		for _, c := range u.Calls {
			out.Calls = append(out.Calls, bind.Reached{Schema: c.Schema, Name: c.Name, Via: via})
			fn, err := e.FunctionOn(path, c.Schema, c.Name)
			if err != nil || fn == nil || seen[fn] {
				continue
			}
			seen[fn] = true
			text := fn.Body
			for _, p := range fn.Params {
				if p.Default != nil {
					text += "; " + print.Print(&ast.Select{Targets: []ast.Target{{X: p.Default}}})
				}
			}
			look(text, "function "+fn.Name)
		}
	}
	look(sql, "")
	return out, nil
}

// Draw implements catalog.Database. The store asks the engine for the step and the seed.
func (embedded) Draw(kernels.Env) error { return nil }

// Watch implements catalog.Database.
func (e embedded) Watch(f func(schema, name string) error) func(schema, name string) error {
	before := e.OnUse
	e.OnUse = f
	return before
}

// Refresh implements catalog.Database. The store notices changes by itself.
func (embedded) Refresh() {}

// SeesHookReads implements catalog.Database.
func (embedded) SeesHookReads() bool { return true }

// Shared implements catalog.Database.
func (e embedded) Shared() bool { return e.Path() != "" }

// NewRun implements catalog.Database. The number is above those of all stored runs, deleted ones included.
func (e embedded) NewRun(ctx context.Context, cols []string, values []ast.Expr) (int64, error) {
	res, err := e.RunSQL(ctx,
		"SELECT coalesce(max(run), 0) + 1 FROM (SELECT max(run) AS run FROM relgrad.run UNION ALL SELECT max(run) FROM "+
			"relgrad.loss UNION ALL SELECT max(run) FROM relgrad.state UNION ALL SELECT max(run) FROM relgrad.validation) "+
			"AS used")
	if err != nil {
		return 0, err
	}
	id := res.Rows[0][0].(int64)
	_, err = e.Exec(ctx, run.InsertInto("run", append([]string{"run"}, cols...),
		[][]ast.Expr{append([]ast.Expr{run.Literal("bigint", id)}, values...)}), &ast.Text{})
	return id, err
}

// RunTable implements catalog.Database.
func (embedded) RunTable() string { return "run" }

// OwnRun implements catalog.Database: a store has no users.
func (embedded) OwnRun(context.Context, int64) error { return nil }

// A run that trains holds an exclusive lock on a file beside the store. The kernel releases it when the process ends,
// however that happens. So a run whose lock is free is not running, whatever relgrad.run says.

// lockPath names the lock of a run; "" for a temporary store, which dies with its process.
func (e embedded) lockPath(run int64) string {
	if e.Path() == "" {
		return ""
	}
	return fmt.Sprintf("%s-run%d", e.Path(), run)
}

// LockRun implements catalog.Database.
func (e embedded) LockRun(run int64, _ []*ra.Table) (unlock func(), err error) {
	path := e.lockPath(run)
	if path == "" || run == 0 {
		return func() {}, nil
	}
	var f *os.File
	for try := 0; ; try++ { // a process that only checks holds it for a moment
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
		_ = os.Remove(path) // the file may stay: only its lock counts
		_ = f.Close()
	}, nil
}

// takeLock opens and locks a file. It returns EWOULDBLOCK where another process holds it or has just removed it.
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
func (e embedded) trained(run int64) (bool, error) {
	path := e.lockPath(run)
	if path == "" {
		return true, nil // no other session sees the store
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

// markInterrupted marks runs whose processes are gone as interrupted.
func (e embedded) markInterrupted(ctx context.Context) error {
	if e.ReadOnly() {
		return nil
	}
	res, err := e.RunSQL(ctx, fmt.Sprintf("SELECT run FROM relgrad.run WHERE status = '%s' ORDER BY run", train.Running))
	if err != nil {
		return err
	}
	for _, row := range res.Rows {
		run := row[0].(int64)
		on, err := e.trained(run)
		if err != nil {
			return err
		}
		if on {
			continue
		}
		if _, err := e.RunSQL(ctx, fmt.Sprintf("UPDATE relgrad.run SET status = '%s' WHERE run = %d AND status = '%s'",
			train.Interrupted, run, train.Running)); err != nil {
			return err
		}
	}
	return nil
}
