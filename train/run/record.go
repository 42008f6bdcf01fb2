package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/tensor"
	"github.com/relgrad/relgrad/train"
)

// Tables makes the tables in which train records its runs. relgrad.state holds each optimizer buffer of a parameter's
// column in pieces of stateChunk numbers: arrays of double precision keep every bit.
const Tables = `
CREATE TABLE IF NOT EXISTS relgrad.run (run bigint PRIMARY KEY, loss text NOT NULL, parameters text[] NOT NULL,
  options jsonb NOT NULL, seed bigint NOT NULL, status text NOT NULL, step bigint NOT NULL,
  best double precision, waited bigint NOT NULL, name text, note text, tags text[],
  started timestamptz NOT NULL, updated timestamptz NOT NULL, keys text NOT NULL, context text, progress text);
CREATE TABLE IF NOT EXISTS relgrad.loss (run bigint, step bigint, epoch bigint NOT NULL, loss double precision NOT NULL,
  validation double precision, at timestamptz NOT NULL, PRIMARY KEY (run, step));
CREATE TABLE IF NOT EXISTS relgrad.state (run bigint, parameter text, name text, row bigint, v double precision[],
  PRIMARY KEY (run, parameter, name, row));
CREATE TABLE IF NOT EXISTS relgrad.validation (run bigint, step bigint, position bigint, name text NOT NULL,
  value double precision, PRIMARY KEY (run, step, position));`

// Literal makes the tree of a constant of a SQL type; v is its value in Go, nil for NULL.
func Literal(typ string, v any) ast.Expr {
	return &ast.Bound{Node: ast.Node{At: -1}, Type: typ, Value: v}
}

// insert appends rows to a table of the schema relgrad.
func (db *Trainer) insert(ctx context.Context, table string, cols []string, rows [][]ast.Expr) error {
	const batch = 200
	if a, ok := db.Database.(catalog.Appender); ok && len(rows) > 0 {
		return a.Append(ctx, "relgrad", table, cols, columnsOf(rows))
	}
	for from := 0; from < len(rows); from += batch {
		if _, err := db.Exec(ctx, InsertInto(table, cols, rows[from:min(from+batch, len(rows))]), &ast.Text{}); err != nil {
			return err
		}
	}
	return nil
}

// InsertInto makes the statement that appends rows to a table of the schema relgrad.
func InsertInto(table string, cols []string, rows [][]ast.Expr) *ast.Insert {
	return &ast.Insert{Node: ast.Node{At: -1}, Schema: "relgrad", Name: table, Cols: cols,
		Query: &ast.Select{Node: ast.Node{At: -1}, Values: rows, End: -1}}
}

func stamp(t time.Time) ast.Expr {
	return Literal("timestamptz", t.UTC().Format("2006-01-02 15:04:05.000000+00"))
}

// record is a run as it is stored.
type record struct {
	parameterSet
	hook    *hook             // before_step; nil where there is none
	stored  string            // what keys gave when the run that is resumed began
	left    map[string]string // what hashes gave at its last commit
	bare    bool              // a resumed run whose context an older store has not kept
	written []engine.Object   // tables that before_step had written when a resumed run was stored
	changed []string          // options that the run took anew when it went on
	best    []*column.Column  // the parameters of the best validation, if they are restored at the end
	final   []*column.Column  // the last step's, where the tables hold best
	back    func()            // restores the session's settings; nil if the run has not changed them
}

// findBatch opens the batch that the options name.
func (r *task) findBatch(ctx context.Context) (err error) {
	r.batch, err = r.db.OpenBatch(ctx, &r.config, r.params)
	return err
}

func (r *record) insertRun(ctx context.Context) error {
	options, err := json.Marshal(r.config.Map())
	if err != nil {
		return err
	}
	rest, err := r.rest()
	if err != nil {
		return err
	}
	now := stamp(time.Now())
	r.id, err = r.db.NewRun(ctx, []string{"loss", "parameters", "keys", "options", "seed", "status", "step",
		"waited", "started", "updated", "context", "name", "note", "tags"},
		append([]ast.Expr{Literal("text", r.loss), listed(r.params), Literal("text", r.keys()), as("jsonb", 0, options),
			Literal("bigint", r.config.Seed),
			Literal("text", string(train.Running)), Literal("bigint", int64(0)), Literal("bigint", int64(0)), now, now,
			Literal("text", rest)}, label(r.config.Label)...))
	return err
}

// as makes the tree of a constant of a type that the text is cast to.
func as[T string | []byte](typ string, dims int, text T) ast.Expr {
	return &ast.Cast{Node: ast.Node{At: -1}, X: Literal("text", string(text)), Type: ast.TypeName{Name: typ, Dims: dims}}
}

// listed makes the tree of a constant of type text[]; NULL for an empty one.
func listed(texts []string) ast.Expr {
	if len(texts) == 0 {
		return Literal("", nil)
	}
	return as("text", 1, sqltext.Array(texts))
}

// label are the values of name, note and tags.
func label(l train.Label) []ast.Expr {
	text := func(s string) ast.Expr {
		if s == "" {
			return Literal("", nil)
		}
		return Literal("text", s)
	}
	return []ast.Expr{text(l.Name), text(l.Note), listed(l.Tags)}
}

// saveState writes progress, losses and the optimizer's state.
func (r *record) saveState(ctx context.Context, p train.Progress, rows []train.LossRow) error {
	var best any
	if !math.IsInf(p.Best, 1) {
		best = p.Best
	}
	progress, err := r.stand(p)
	if err != nil {
		return err
	}
	col := func(name string, x ast.Expr) ast.Assign { return ast.Assign{Col: name, X: x} }
	err = r.update(ctx, []ast.Assign{col("status", Literal("text", string(p.Status))),
		col("step", Literal("bigint", p.Step)), col("best", Literal("double precision", best)),
		col("waited", Literal("bigint", p.Since)), col("updated", stamp(time.Now())),
		col("progress", Literal("text", progress))})
	if err != nil {
		return err
	}
	var losses, figures [][]ast.Expr
	for _, l := range rows {
		var v any
		if l.Validation != nil {
			v = *l.Validation
		}
		figures = append(figures, r.figures(l)...)
		losses = append(losses, []ast.Expr{Literal("bigint", r.id), Literal("bigint", l.Step), Literal("bigint", l.Epoch),
			Literal("double precision", l.Loss), Literal("double precision", v), stamp(l.At)})
	}
	if err := r.db.insert(ctx, "loss", []string{"run", "step", "epoch", "loss", "validation", "at"}, losses); err != nil {
		return err
	}
	if err := r.db.insert(ctx, "validation", []string{"run", "step", "position", "name", "value"}, figures); err != nil {
		return err
	}
	if err := r.markServers(ctx, p.Step); err != nil {
		return err
	}
	return r.saveBuffers(ctx, true)
}

// figures are the rows of relgrad.validation of a step.
func (r *record) figures(of train.LossRow) (rows [][]ast.Expr) {
	for i, f := range of.Figures {
		var v any
		if f.Value != nil {
			v = *f.Value
		}
		rows = append(rows, []ast.Expr{Literal("bigint", r.id), Literal("bigint", of.Step), Literal("bigint", int64(i+1)),
			Literal("text", f.Name), Literal("double precision", v)})
	}
	return rows
}

// stateChunk is the number of elements of a stored piece of optimizer state.
const stateChunk = 1 << 12

// saveBuffers replaces the run's rows of relgrad.state: the optimizer's buffers, unless nothing is trained yet, and the
// values of parameters that lie at other servers. Pieces have one length, the last padded with zeros.
func (r *record) saveBuffers(ctx context.Context, begun bool) error {
	var rows [][]ast.Expr
	for at, s := range r.slots {
		var names []string
		var state []*column.Column
		var err error
		if begun {
			names = slices.Clone(r.config.StateNames())
			if state, err = r.lives[at].Param.State(); err != nil {
				return err
			}
		}
		values, err := r.values(ctx, r.lives[at])
		if err != nil {
			return err
		}
		if values != nil {
			names, state = append(names, valueName), append(slices.Clip(state), values)
		}
		if r.best != nil {
			names, state = append(names, bestName), append(slices.Clip(state), r.best[at])
		}
		if r.final != nil {
			names, state = append(names, lastName), append(slices.Clip(state), r.final[at])
		}
		for i, name := range names {
			n := state[i].Len() * state[i].Size()
			for from := 0; from < n; from += stateChunk {
				t := tensor.New(tensor.Float64, stateChunk)
				for j := from; j < min(from+stateChunk, n); j++ {
					t.Data[j-from] = state[i].Float(j)
				}
				rows = append(rows, []ast.Expr{Literal("bigint", r.id), Literal("text", s.Name), Literal("text", name),
					Literal("bigint", int64(from/stateChunk)), Literal("double precision[]", t)})
			}
		}
	}
	if rows == nil && !r.config.RestoreBest {
		return nil
	}
	if _, err := r.db.Runf(ctx, "DELETE FROM relgrad.state WHERE run OPERATOR(pg_catalog.=) %d", r.id); err != nil {
		return err
	}
	return r.db.insert(ctx, "state", []string{"run", "parameter", "name", "row", "v"}, rows)
}

// load reads the run's row.
func (r *record) load(ctx context.Context, changes map[string]any) error {
	res, err := r.db.Runf(ctx,
		"SELECT loss, parameters::pg_catalog.text, options::pg_catalog.text, step, best, waited, status, keys, context, "+
			"progress FROM relgrad.run WHERE run "+
			"OPERATOR(pg_catalog.=) %d", r.id)
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
	if err := r.change(changes); err != nil {
		return err
	}
	if err := r.findBatch(ctx); err != nil {
		return err
	}
	return r.replay(ctx)
}

// change takes options anew.
func (r *record) change(changes map[string]any) error {
	names := slices.Sorted(maps.Keys(changes))
	for _, name := range names {
		if err := r.config.Set(name, changes[name]); err != nil {
			return engine.About(err, name, 0)
		}
		if !slices.Contains(r.changed, name) {
			r.changed = append(r.changed, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return r.config.Check(names)
}

// replay reads the losses that the run must know to go on.
func (r *record) replay(ctx context.Context) error {
	res, err := r.db.Runf(ctx, "SELECT step, loss FROM relgrad.loss WHERE run OPERATOR(pg_catalog.=) %d AND step "+
		"OPERATOR(pg_catalog.>=) %d ORDER BY step", r.id, r.config.Replays(r.progress))
	if err != nil {
		return err
	}
	for _, row := range res.Rows {
		step, ok := row[0].(int64)
		loss, is := row[1].(float64)
		if !ok || !is || step < 1 || step > r.progress.Step {
			return r.corrupt("loss", nil)
		}
		r.config.Replay(&r.progress, step, loss)
	}
	return nil
}

// take reads the columns that say what the run is and how far. A user may have changed them in a store.
func (r *record) take(row []any) error {
	var texts [4]string
	for i, at := range []int{0, 2, 6, 7} {
		var ok bool
		if texts[i], ok = row[at].(string); !ok {
			return r.corrupt([]string{"loss", "options", "status", "keys"}[i], nil)
		}
	}
	r.loss, r.progress.Status, r.stored = texts[0], train.Status(texts[2]), texts[3]
	params, _ := row[1].(string)
	var err error
	if r.params, err = sqltext.ParseArray(params); err != nil || len(r.params) == 0 {
		return r.corrupt("parameters", err)
	}
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
func (r *record) keys() string {
	var out []string
	for i, l := range r.lives {
		h := fnv.New64a()
		for _, v := range l.Keys {
			fmt.Fprint(h, v.I64(), v.F64(), v.F32(), engine.Apart(v.Texts()))
		}
		if on := r.slots[i].Trained; on != nil {
			fmt.Fprint(h, on)
		}
		out = append(out, fmt.Sprintf("%s %d %x", r.slots[i].Name, l.Param.Rows, h.Sum64()))
	}
	if r.batch != nil {
		out = append(out, r.batch.Hash())
	}
	return strings.Join(out, ", ")
}

// sameKeys refuses to go on with a run whose parameters have other rows now.
func (r *record) sameKeys() error {
	if r.progress.Step == 0 || r.keys() == r.stored {
		return nil
	}
	return r.otherRows()
}

// otherRows is the error of a run whose parameters have other rows now.
func (r *record) otherRows() error {
	return sqlerr.New(sqlerr.ObjectNotPrereqState,
		"run %d cannot go on: its parameters or its batch have other rows, or it trains others, than when it began", r.id).
		WithDetail("%s", r.otherKeys()).
		WithHint("Begin a new run: the optimizer's state belongs to the rows that were there.")
}

// otherKeys says which parameters have more or fewer rows than when the run began; if none has, how the keys differ.
func (r *record) otherKeys() string {
	rows := map[string]int{}
	for _, s := range strings.Split(r.stored, ", ") {
		if f := strings.Fields(s); len(f) > 2 {
			if n, err := strconv.Atoi(f[len(f)-2]); err == nil {
				rows[strings.Join(f[:len(f)-2], " ")] = n
			}
		}
	}
	var out []string
	for i, l := range r.lives {
		was, ok := rows[r.slots[i].Name]
		if text := fmt.Sprintf("%s has %d rows, not %d", l.Table.Name, l.Param.Rows, was); ok && was != l.Param.Rows &&
			!slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if out == nil {
		return fmt.Sprintf("It began with %s; now there are %s (rows and a hash of their keys).", r.stored, r.keys())
	}
	return strings.Join(out, ", ") + "."
}

// loadState fills the optimizer's state from relgrad.state.
func (r *record) loadState(ctx context.Context) error {
	if err := r.sameKeys(); err != nil {
		return err
	}
	if r.progress.Step == 0 {
		return nil
	}
	for at, s := range r.slots {
		err := r.lives[at].Param.SetState(func(state []*column.Column) error {
			for i, name := range r.config.StateNames() {
				if err := r.loadBuffer(ctx, s, name, state[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// loadBuffer fills a buffer of the optimizer's state.
func (r *record) loadBuffer(ctx context.Context, s *train.Slot, name string, state *column.Column) error {
	res, err := r.db.Runf(ctx,
		"SELECT row, v FROM relgrad.state WHERE run OPERATOR(pg_catalog.=) %d AND parameter OPERATOR(pg_catalog.=) %s "+
			"AND name OPERATOR(pg_catalog.=) '%s' ORDER BY row", r.id, sqltext.Text(s.Name), name)
	if err != nil {
		return err
	}
	return r.fill(s, state, res.Rows)
}

// fill puts the stored pieces of a buffer together.
func (r *record) fill(s *train.Slot, state *column.Column, rows [][]any) error {
	n := state.Len() * state.Size()
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
			state.SetFloat(from+j, x)
		}
	}
	return nil
}

// goOn records that the run trains again, what it took anew, and its context if an older store has not kept it.
func (r *record) goOn(ctx context.Context) error {
	progress, err := r.stand(r.progress)
	if err != nil {
		return err
	}
	set := []ast.Assign{{Col: "status", X: Literal("text", string(train.Running))},
		{Col: "progress", X: Literal("text", progress)}}
	if r.bare {
		rest, err := r.rest()
		if err != nil {
			return err
		}
		set = append(set, ast.Assign{Col: "context", X: Literal("text", rest)})
	}
	for i, x := range label(r.config.Label) {
		if name := []string{"name", "note", "tags"}[i]; slices.Contains(r.changed, name) {
			set = append(set, ast.Assign{Col: name, X: x})
		}
	}
	return r.update(ctx, set)
}

// update changes columns of the run's row.
func (r *record) update(ctx context.Context, set []ast.Assign) error {
	_, err := r.db.Exec(ctx, &ast.Update{Node: ast.Node{At: -1}, Schema: "relgrad", Name: r.db.RunTable(), Set: set,
		Where: &ast.Binary{Op: "=", L: &ast.ColumnRef{Names: []string{"run"}}, R: Literal("bigint", r.id)}}, &ast.Text{})
	return err
}

// setStatus records the status of a run that has ended with an error. It uses a transaction of its own, because a
// server rolls back the one of the call.
func (r *record) setStatus(ctx context.Context, s train.Status) error {
	if err := r.db.BeginWrite(); err != nil {
		return err
	}
	if _, err := r.db.Runf(ctx, "UPDATE relgrad.%s SET status = '%s' WHERE run OPERATOR(pg_catalog.=) %d",
		r.db.RunTable(), s, r.id); err != nil {
		return r.db.Undo(err)
	}
	_, err := r.db.Commit()
	return err
}
