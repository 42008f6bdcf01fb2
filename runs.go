package relgrad

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/tensor"
	"github.com/relgrad/relgrad/train"
)

// runTables hold what train() records. state has one row per optimizer buffer: all rows of the parameter's
// column in one chunk, as a text-safe encoding would not be bit-exact at speed.
const runTables = `
CREATE TABLE IF NOT EXISTS relgrad.run (run bigint PRIMARY KEY, loss text NOT NULL, params text NOT NULL, keys text NOT NULL, options text NOT NULL, seed bigint NOT NULL,
  status text NOT NULL, step bigint NOT NULL, best double precision, since bigint NOT NULL, started timestamp NOT NULL, updated timestamp NOT NULL, rest text, progress text);
CREATE TABLE IF NOT EXISTS relgrad.loss (run bigint, step bigint, epoch bigint NOT NULL, loss double precision NOT NULL, validation double precision, at timestamp NOT NULL, PRIMARY KEY (run, step));
CREATE TABLE IF NOT EXISTS relgrad.state (run bigint, parameter text, name text, row bigint, v double precision[], PRIMARY KEY (run, parameter, name, row));`

// lit makes a constant tree.
func lit(typ string, v any) ast.Expr {
	return &ast.Bound{Node: ast.Node{At: -1}, Type: typ, Value: v}
}

// insert appends rows to a table of the schema relgrad.
func (db *Engine) insert(ctx context.Context, table string, cols []string, rows [][]ast.Expr) error {
	const batch = 200
	if a, ok := db.Database.(catalog.Appender); ok && len(rows) > 0 {
		return a.Append(ctx, "relgrad", table, cols, columnsOf(rows))
	}
	for from := 0; from < len(rows); from += batch {
		if _, err := db.Exec(ctx, insertInto(table, cols, rows[from:min(from+batch, len(rows))]), &ast.Text{}); err != nil {
			return err
		}
	}
	return nil
}

// insertInto appends rows to a table of the schema relgrad.
func insertInto(table string, cols []string, rows [][]ast.Expr) *ast.Insert {
	return &ast.Insert{Node: ast.Node{At: -1}, Schema: "relgrad", Name: table, Cols: cols,
		Query: &ast.Select{Node: ast.Node{At: -1}, Values: rows, End: -1}}
}

// query runs a SELECT of our own.
func (db *Engine) query(ctx context.Context, format string, args ...any) (*catalog.Result, error) {
	return db.RunSQL(ctx, fmt.Sprintf(format, args...))
}

func stamp(t time.Time) ast.Expr {
	return lit("timestamp", t.UTC().Format("2006-01-02 15:04:05.000000"))
}

// record creates the run's row and takes its lock, so that whoever sees the row also sees that it is trained.
func (r *run) record(ctx context.Context) (unlock func(), err error) {
	atomic := r.db.InTransaction()
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	if err = r.insertRun(ctx); err == nil {
		unlock, err = r.db.LockRun(r.id, r.c.tables)
	}
	switch {
	case atomic:
	case err != nil:
		err = r.db.undo(err)
	default:
		if _, err = r.db.Commit(); err != nil {
			unlock()
		}
	}
	return unlock, err
}

func (r *run) insertRun(ctx context.Context) error {
	options, err := json.Marshal(r.config.Map())
	if err != nil {
		return err
	}
	params, err := json.Marshal(r.params)
	if err != nil {
		return err
	}
	rest, err := r.rest()
	if err != nil {
		return err
	}
	now := stamp(time.Now())
	r.id, err = r.db.NewRun(ctx, []string{"loss", "params", "keys", "options", "seed", "status", "step", "since",
		"started", "updated", "rest"},
		[]ast.Expr{lit("text", r.loss), lit("text", string(params)), lit("text", r.keys()), lit("text", string(options)),
			lit("bigint", r.config.Seed),
			lit("text", string(train.Running)), lit("bigint", int64(0)), lit("bigint", int64(0)), now, now, lit("text", rest)})
	return err
}

// saveState writes progress, losses and the optimizer's state.
func (r *run) saveState(ctx context.Context, p train.Progress, rows []train.LossRow) error {
	var best any
	if !math.IsInf(p.Best, 1) {
		best = p.Best
	}
	progress, err := r.stand()
	if err != nil {
		return err
	}
	col := func(name string, x ast.Expr) ast.Assign { return ast.Assign{Col: name, X: x} }
	upd := &ast.Update{Node: ast.Node{At: -1}, Schema: "relgrad", Name: r.db.RunTable(),
		Set: []ast.Assign{col("status", lit("text", string(p.Status))), col("step", lit("bigint", p.Step)),
			col("best", lit("double precision", best)),
			col("since", lit("bigint", p.Since)), col("updated", stamp(time.Now())),
			col("progress", lit("text", progress))},
		Where: &ast.Binary{Op: "=", L: &ast.ColumnRef{Names: []string{"run"}}, R: lit("bigint", r.id)}}
	if _, err := r.db.Exec(ctx, upd, &ast.Text{}); err != nil {
		return err
	}
	var losses [][]ast.Expr
	for _, l := range rows {
		var v any
		if l.Validation != nil {
			v = *l.Validation
		}
		losses = append(losses, []ast.Expr{lit("bigint", r.id), lit("bigint", l.Step), lit("bigint", l.Epoch),
			lit("double precision", l.Loss),
			lit("double precision", v), stamp(l.At)})
	}
	if err := r.db.insert(ctx, "loss", []string{"run", "step", "epoch", "loss", "validation", "at"}, losses); err != nil {
		return err
	}
	return r.saveBuffers(ctx)
}

// stateChunk is the number of elements of a stored piece of optimizer state.
const stateChunk = 1 << 12

// saveBuffers replaces the run's rows of relgrad.state. Pieces have one length, the last padded with zeros.
func (r *run) saveBuffers(ctx context.Context) error {
	if len(r.config.StateNames()) == 0 {
		return nil
	}
	if _, err := r.db.query(ctx, "DELETE FROM relgrad.state WHERE run OPERATOR(pg_catalog.=) %d", r.id); err != nil {
		return err
	}
	var rows [][]ast.Expr
	for _, s := range r.slots {
		for i, name := range r.config.StateNames() {
			n := s.State[i].Len()
			for from := 0; from < n; from += stateChunk {
				t := tensor.New(tensor.Float64, stateChunk)
				for j := from; j < min(from+stateChunk, n); j++ {
					if s.State[i].F32 != nil {
						t.Data[j-from] = float64(s.State[i].F32[j])
					} else {
						t.Data[j-from] = s.State[i].F64[j]
					}
				}
				rows = append(rows, []ast.Expr{lit("bigint", r.id), lit("text", s.Name), lit("text", name),
					lit("bigint", int64(from/stateChunk)), lit("double precision[]", t)})
			}
		}
	}
	return r.db.insert(ctx, "state", []string{"run", "parameter", "name", "row", "v"}, rows)
}

// load reads the run's row.
func (r *run) load(ctx context.Context) error {
	res, err := r.db.query(ctx,
		"SELECT loss, params, options, step, best, since, status, keys, rest, progress FROM relgrad.run WHERE run OPERATOR(pg_catalog.=) %d", r.id)
	if err != nil {
		return err
	}
	if len(res.Rows) == 0 {
		return noRun(r.id)
	}
	if err := r.take(res.Rows[0]); err != nil {
		return err
	}
	row := res.Rows[0]
	if err := r.takeRest(row[8], row[9]); err != nil {
		return err
	}
	if err := r.openBatch(ctx); err != nil || r.config.Tolerance == nil {
		return err
	}
	res, err = r.db.query(ctx, "SELECT step, loss FROM relgrad.loss WHERE run OPERATOR(pg_catalog.=) %d ORDER BY step",
		r.id)
	if err != nil {
		return err
	}
	for _, row := range res.Rows {
		step, ok := row[0].(int64)
		loss, is := row[1].(float64)
		if !ok || !is || step < 1 || step > r.progress.Step {
			return r.corrupt("loss", nil)
		}
		r.config.Observe(&r.progress.Window, step, loss)
	}
	return nil
}

// take reads the columns that say what the run is and how far. A user may have changed them in a store.
func (r *run) take(row []any) error {
	var texts [4]string
	for i, at := range []int{0, 2, 6, 7} {
		var ok bool
		if texts[i], ok = row[at].(string); !ok {
			return r.corrupt([]string{"loss", "options", "status", "keys"}[i], nil)
		}
	}
	r.loss, r.progress.Status, r.stored = texts[0], train.Status(texts[2]), texts[3]
	if err := r.decode("params", row[1], &r.params); err != nil {
		return err
	}
	if len(r.params) == 0 {
		return r.corrupt("params", nil)
	}
	var err error
	if r.config, err = train.FromJSON(texts[1]); err == nil && r.config.Resume != 0 {
		err = errors.New("resume is none of them")
	}
	if err != nil {
		return r.corrupt("options", err)
	}
	step, ok := row[3].(int64)
	since, is := row[5].(int64)
	if !ok || !is || step < 0 || since < 0 {
		return r.corrupt("step", nil)
	}
	r.progress.Step, r.progress.Since = step, since
	if best, ok := row[4].(float64); ok {
		r.progress.Best = best
	}
	return nil
}

// keys identifies the rows of every parameter: the optimizer's state is stored without them.
func (r *run) keys() string {
	var out []string
	for i, l := range r.lives {
		h := fnv.New64a()
		for _, v := range l.keys {
			fmt.Fprint(h, v.Ints, v.F64, v.F32, apart(v.Texts))
		}
		if on := r.slots[i].Trained; on != nil {
			fmt.Fprint(h, on)
		}
		out = append(out, fmt.Sprintf("%s %d %x", r.slots[i].Name, l.param.Rows, h.Sum64()))
	}
	if r.batch != nil {
		out = append(out, r.batch.hash())
	}
	return strings.Join(out, ", ")
}

// apart quotes texts that are printed side by side.
func apart(texts []string) []string {
	var out []string
	for _, s := range texts {
		out = append(out, strconv.Quote(s))
	}
	return out
}

// sameKeys refuses to go on with a run whose parameters have other rows now.
func (r *run) sameKeys() error {
	if r.progress.Step == 0 || r.keys() == r.stored {
		return nil
	}
	return sqlerr.New(sqlerr.ObjectNotPrereqState,
		"run %d cannot go on: its parameters or its batch have other rows, or it trains others, than when it began", r.id).
		WithDetail("It began with %s; now there are %s (rows and a hash of their keys).", r.stored, r.keys()).
		WithHint("Begin a new run: the optimizer's state belongs to the rows that were there.")
}

// loadState fills the optimizer's state from relgrad.state.
func (r *run) loadState(ctx context.Context) error {
	r.config.Prepare(r.slots)
	if err := r.sameKeys(); err != nil {
		return err
	}
	if r.progress.Step == 0 {
		return nil
	}
	for _, s := range r.slots {
		for i, name := range r.config.StateNames() {
			res, err := r.db.query(ctx,
				"SELECT row, v FROM relgrad.state WHERE run OPERATOR(pg_catalog.=) %d AND parameter OPERATOR(pg_catalog.=) %s AND name OPERATOR(pg_catalog.=) '%s' ORDER BY row", r.id, sqltext.Text(s.Name), name)
			if err != nil {
				return err
			}
			if err := r.fill(s, i, res.Rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill puts the stored pieces of a buffer together.
func (r *run) fill(s *train.Slot, i int, rows [][]any) error {
	n := s.State[i].Len()
	if len(rows) != (n+stateChunk-1)/stateChunk {
		return sqlerr.New(sqlerr.DataCorrupted, "run %d cannot go on: the optimizer's state of %s has %d pieces, expected %d",
			r.id, s.Name, len(rows), (n+stateChunk-1)/stateChunk).
			WithDetail("The parameter has another size now, or its state was deleted.")
	}
	for k, row := range rows {
		at, ok := row[0].(int64)
		piece, is := row[1].(*tensor.Tensor)
		if !ok || !is || piece == nil || at != int64(k) || len(piece.Shape) != 1 || len(piece.Data) != stateChunk {
			return sqlerr.New(sqlerr.DataCorrupted,
				"run %d cannot go on: piece %d of the optimizer's state of %s in relgrad.state is not what train writes", r.id, k,
				s.Name).
				WithHint("Begin a new run. The parameters are those of its last commit.")
		}
		from := k * stateChunk
		for j, x := range piece.Data[:min(stateChunk, n-from)] {
			if s.State[i].F32 != nil {
				s.State[i].F32[from+j] = float32(x)
			} else {
				s.State[i].F64[from+j] = x
			}
		}
	}
	return nil
}

// number reads a numeric result value.
func number(v any) (float64, error) {
	switch x := v.(type) {
	case int64:
		return float64(x), nil
	case float64:
		return x, nil
	case string:
		if f, err := strconv.ParseFloat(x, 64); err == nil {
			return f, nil
		}
	case nil:
		return 0, sqlerr.New(sqlerr.NullNotAllowed, "the validation is NULL")
	}
	return 0, sqlerr.New(sqlerr.DatatypeMismatch, "the validation is %v, not a number", v)
}
