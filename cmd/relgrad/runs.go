package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script/plpgsql"
	"github.com/relgrad/relgrad/script/psql"
	"github.com/relgrad/relgrad/train"
)

var runsCommand = command{name: "runs",
	args: "--store FILE | --db DSN [list | show RUN | compare RUN RUN… | delete RUN…]", run: runs,
	summary: "List the training runs of a store or server, show or compare some with their options, or delete them."}

// listRuns lists runs. A run whose status is running has a process that trains it now; if the process is gone, it is
// interrupted.
// Losses are those of epochs: means over their batches.
const listRuns = `SELECT r.run, r.loss, array_to_string(r.parameters, ', ') AS parameters, r.status, r.step,
  first.loss AS "first loss", last.loss AS "last loss", r.best AS "best validation", r.name,
  array_to_string(r.tags, ', ') AS tags, r.note, r.seed, r.started, r.updated
FROM relgrad.run r
  LEFT JOIN (SELECT run, epoch, avg(loss) AS loss FROM relgrad.loss GROUP BY run, epoch) first
    ON first.run = r.run AND first.epoch = 1
  LEFT JOIN (SELECT run, max(epoch) AS epoch FROM relgrad.loss GROUP BY run) e ON e.run = r.run
  LEFT JOIN (SELECT run, epoch, avg(loss) AS loss FROM relgrad.loss GROUP BY run, epoch) last
    ON last.run = r.run AND last.epoch = e.epoch`

func runs(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	var t target
	var format string
	t.storeFlags(fs)
	formatFlag(fs, &format)
	rest, err := parse(c, fs, args)
	if err != nil {
		return err
	}
	verb := "list"
	if len(rest) > 0 {
		verb, rest = rest[0], rest[1:]
	}
	needs := map[string]struct {
		least, most int
		runs        string
	}{"list": {0, 0, "no run"}, "show": {1, 1, "one run"}, "compare": {2, 100, "two runs or more"},
		"delete": {1, 1 << 20, "one run or more"}}
	n, known := needs[verb]
	switch {
	case !known:
		hint := "list, show, compare and delete are known"
		if near := sqlerr.Nearest(verb, []string{"list", "show", "compare", "delete"}); near != "" {
			hint = "perhaps you meant " + near
		}
		return c.wrong(fs, "unknown action %q; %s", verb, hint)
	case len(rest) < n.least || len(rest) > n.most:
		return c.wrong(fs, "%s takes %s, not %d", verb, n.runs, len(rest))
	}
	if err := t.needed(c, fs); err != nil {
		return err
	}
	ids, err := runNumbers(rest)
	if err != nil {
		return err
	}
	db, err := t.openOld(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.markInterrupted(ctx); err != nil {
		return err
	}
	var res *catalog.Result
	switch verb {
	case "list":
		res, err = listAll(ctx, db)
	case "delete":
		return db.DeleteRuns(ctx, ids...)
	default:
		res, err = compareRuns(ctx, db, ids)
	}
	if err != nil {
		return err
	}
	return psql.Print(os.Stdout, format, res)
}

// listAll lists all runs, each with the figures of its lowest validation.
func listAll(ctx context.Context, db *engine) (*catalog.Result, error) {
	res, err := db.RunSQL(ctx, listRuns+" ORDER BY r.run")
	if err != nil {
		return nil, err
	}
	best, err := figuresAt(ctx, db, atBest)
	if err != nil {
		return nil, err
	}
	at := 1 + slices.IndexFunc(res.Cols, func(c catalog.ResultCol) bool { return c.Name == "best validation" })
	res.Cols = slices.Insert(res.Cols, at, catalog.ResultCol{Name: "figures at best", Type: "text"})
	for i, row := range res.Rows {
		var shown []string
		for _, f := range best[row[0].(int64)] {
			shown = append(shown, fmt.Sprint(f.name, " ", f.text()))
		}
		var text any
		if shown != nil {
			text = strings.Join(shown, ", ")
		}
		res.Rows[i] = slices.Insert(row, at, text)
	}
	return res, nil
}

// validated is a column of a validation as it was recorded.
type validated struct {
	name  string
	value any
}

func (v validated) text() string {
	if x, ok := v.value.(float64); ok {
		return fmt.Sprintf("%.5g", x)
	}
	return "NULL"
}

// Which step's validation is read of each run: that of the lowest one, and the last.
const (
	atBest = `SELECT b.run, min(b.step) AS step FROM relgrad.validation b JOIN
  (SELECT run, min(value) AS value FROM relgrad.validation WHERE position = 1 GROUP BY run) m
    ON m.run = b.run AND m.value = b.value WHERE b.position = 1 GROUP BY b.run`
	atLast = `SELECT run, max(step) AS step FROM relgrad.validation GROUP BY run`
)

// figuresAt reads the figures of one step of each run.
func figuresAt(ctx context.Context, db *engine, steps string) (map[int64][]validated, error) {
	res, err := db.RunSQL(ctx, "SELECT v.run, v.name, v.value FROM relgrad.validation v JOIN ("+steps+
		") s ON s.run = v.run AND s.step = v.step ORDER BY v.run, v.position")
	if err != nil {
		return nil, err
	}
	out := map[int64][]validated{}
	for _, row := range res.Rows {
		run, name := row[0].(int64), row[1].(string)
		out[run] = append(out[run], validated{name, row[2]})
	}
	return out, nil
}

// addFigures adds to the facts of runs the figures of their validations, and returns the names by which it has.
func addFigures(ctx context.Context, db *engine, ids []int64, facts []map[string]any) (names []string, err error) {
	for _, of := range []struct{ steps, name string }{{atBest, "%s at best"}, {atLast, "last %s"}} {
		all, err := figuresAt(ctx, db, of.steps)
		if err != nil {
			return nil, err
		}
		for i, id := range ids {
			for _, f := range all[id] {
				name := fmt.Sprintf(of.name, f.name)
				facts[i][name] = f.text()
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names, nil
}

// compareRuns makes a table with a column for each run: the columns of the list, figures of the validation, then the
// options. For several runs it has only options in which they differ.
func compareRuns(ctx context.Context, db *engine, ids []int64) (*catalog.Result, error) {
	res := &catalog.Result{HasRows: true, Cols: []catalog.ResultCol{{Name: "property", Type: "text"}}}
	var props []string
	facts, options := make([]map[string]any, len(ids)), make([]map[string]any, len(ids))
	for i, id := range ids {
		list, err := db.RunSQL(ctx, fmt.Sprintf("%s WHERE r.run = %d", listRuns, id))
		if err != nil {
			return nil, err
		}
		if len(list.Rows) == 0 {
			return nil, sqlerr.New(sqlerr.UndefinedObject, "run %d does not exist", id).WithHint("relgrad runs lists the runs.")
		}
		res.Cols = append(res.Cols, catalog.ResultCol{Name: fmt.Sprintf("run %d", id), Type: "text"})
		facts[i] = map[string]any{}
		props = nil
		for k, col := range list.Cols[1:] {
			props = append(props, col.Name)
			if v := list.Rows[0][k+1]; v != nil {
				facts[i][col.Name] = plpgsql.Format(v, col.Type)
			}
		}
		if options[i], err = runOptions(ctx, db, id); err != nil {
			return nil, err
		}
	}
	figures, err := addFigures(ctx, db, ids, facts)
	if err != nil {
		return nil, err
	}
	row := func(name string, of []map[string]any) []any {
		out := []any{name}
		for _, m := range of {
			out = append(out, m[name])
		}
		return out
	}
	for _, p := range append(props, figures...) {
		res.Rows = append(res.Rows, row(p, facts))
	}
	for _, n := range optionNames(options) {
		r := row(n, options)
		if len(ids) == 1 || slices.ContainsFunc(r[2:], func(v any) bool { return v != r[1] }) {
			res.Rows = append(res.Rows, r)
		}
	}
	return res, nil
}

// runOptions reads a run's options as texts, without those that were not given or have no effect.
func runOptions(ctx context.Context, db *engine, id int64) (map[string]any, error) {
	res, err := db.RunSQL(ctx, fmt.Sprintf("SELECT options::text, progress FROM relgrad.run WHERE run = %d", id))
	if err != nil {
		return nil, err
	}
	progress, _ := res.Rows[0][1].(string)
	out, err := train.Given(res.Rows[0][0].(string), progress)
	if err != nil {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "the options of run %d are not readable: %v", id, err).Wrap(err)
	}
	delete(out, "seed") // the list shows the seed
	return out, nil
}

func optionNames(options []map[string]any) []string {
	var out []string
	for _, m := range options {
		for n := range m {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	slices.SortFunc(out, strings.Compare)
	return out
}
