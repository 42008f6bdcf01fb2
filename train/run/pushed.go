package run

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlgen"
	"github.com/relgrad/relgrad/train"
)

// pushedRun is a run whose steps the database computes. Each step is one statement. It computes the loss and the
// gradients, and updates the parameters and the optimizer's buffers, which are in temporary tables. From the first step
// after a commit to the next commit a transaction is open.
type pushedRun struct {
	*run
	st     *train.Statement
	params []train.StatementParam
	set    bool            // the temporary tables and the prepared statement exist
	rows   []*stepTable    // temporary tables that the engine fills before each step
	draws  bool            // a sub-query depends on the step
	once   []string        // conditions that setUp checks: sub-queries read for the plan give the same rows
	apart  *engine.Queries // at other servers; nil: the loss's tables are all here
}

// stepTable is a temporary table of the rows of one node.
type stepTable struct {
	name string
	node *ra.Node
}

// stepName is the prepared statement of a step.
const stepName = "relgrad_step"

// makeSlots gives every value column of the parameters its slot, and the identities of its rows.
func (p *pushedRun) makeSlots(ctx context.Context) error {
	r := p.run
	for i, t := range r.c.Tables {
		param := train.StatementParam{Table: t, Cols: r.c.Cols[i]}
		data, err := r.db.Read(ctx, t, append([]int{ra.RowID}, t.Key...))
		if err != nil {
			return err
		}
		for _, col := range r.c.Cols[i] {
			c := t.Cols[col]
			if !reads(r.c.Res.Plan, t, col) {
				return r.unread(i, col)
			}
			l := &engine.Live{Table: t, Col: col, Rows: data[0].I64(), Keys: data[1:],
				Param: executor.Detached(c.Type, data[0].Len(), len(r.config.StateNames()))}
			if err := r.findNulls(ctx, l); err != nil {
				return err
			}
			if err := filled(t, col, l.Param); err != nil {
				return engine.About(err, "params", i)
			}
			s := r.slot(col, l)
			r.slots, r.lives, param.Slots = append(r.slots, s), append(r.lives, l), append(param.Slots, s)
		}
		p.params = append(p.params, param)
	}
	if err := r.checkParams(); err != nil {
		return err
	}
	for i, s := range r.slots {
		if err := r.chooseRows(ctx, s, r.lives[i]); err != nil {
			return engine.About(err, "options", 0)
		}
	}
	return p.statement(ctx)
}

// statement generates the SQL of a step.
func (p *pushedRun) statement(ctx context.Context) (err error) {
	env := kernels.Env{Seed: p.config.Seed}
	p.rows, p.draws = nil, false
	if p.once, err = p.db.Folded(ctx, p.c); err != nil {
		return err
	}
	res := p.c.Res
	if p.apart, err = p.db.Queries(ctx, p.c, true); err != nil {
		return engine.About(err, "loss", 0)
	} else if p.apart != nil {
		res = p.apart.Res
	}
	p.st, err = p.config.Statement(res, p.params, sqlgen.Options{Env: &env,
		Typed: p.db.Database.(catalog.Pusher).Captured(), Inexact: p.db.Database.(catalog.Pusher).Inexact(),
		Holds: p.db.Holding(p.c), Opaque: func(n *ra.Node) (string, error) {
			if !n.PerStep {
				return p.db.RowsText(ctx, n, &env)
			}
			if q := n.Query.(*bind.OpaqueQuery); q.Select != nil {
				p.draws = true
				return p.db.Subquery(ctx, n)
			}
			t := &stepTable{fmt.Sprintf("relgrad_rows%d", len(p.rows)+1), n}
			p.rows = append(p.rows, t)
			return "SELECT * FROM pg_temp." + t.name, nil
		}})
	return err
}

// setUp makes the temporary tables and prepares the statement. A resumed run's buffers of the optimizer are loaded.
func (p *pushedRun) setUp(ctx context.Context) error {
	if p.set {
		return nil
	}
	if err := p.drop(ctx); err != nil {
		return err
	}
	if err := p.db.Draw(kernels.Env{Seed: p.config.Seed}); err != nil {
		return err
	}
	for _, t := range p.rows {
		if err := p.fill(ctx, t, p.config.Env(p.progress.Step+1), true); err != nil {
			return err
		}
	}
	for _, cond := range p.once {
		if err := p.runAll(ctx, []string{"SELECT WHERE " + cond}); err != nil {
			return err
		}
	}
	if err := p.runAll(ctx, p.st.Setup); err != nil {
		return err
	}
	if err := p.restore(ctx); err != nil {
		return err
	}
	types := "bigint" + strings.Repeat(", double precision", len(p.st.Args))
	if err := p.runAll(ctx, []string{"PREPARE " + stepName + " (" + types + ") AS\n" + p.st.Statement}); err != nil {
		return err
	}
	p.set = true
	return nil
}

func (p *pushedRun) runAll(ctx context.Context, statements []string) error {
	for _, s := range statements {
		if _, err := p.db.RunSQL(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// drop removes what an earlier run has left in the session.
func (p *pushedRun) drop(ctx context.Context) error {
	p.set = false
	res, err := p.db.RunSQL(ctx, "SELECT 1 FROM pg_catalog.pg_prepared_statements WHERE name = '"+stepName+"'")
	if err == nil && len(res.Rows) > 0 {
		_, err = p.db.RunSQL(ctx, "DEALLOCATE "+stepName)
	}
	if err != nil {
		return err
	}
	return p.runAll(ctx, p.st.Teardown)
}

// leave ends what is at other servers.
func (p *pushedRun) leave(ctx context.Context) error {
	if p.apart == nil {
		return nil
	}
	return p.apart.Drop(ctx)
}

func (p *pushedRun) fill(ctx context.Context, t *stepTable, env kernels.Env, create bool) error {
	data, _, err := bind.Rows(t.node, &env)
	if err != nil {
		return err
	}
	return p.db.Database.(catalog.Filler).FillTemp(ctx, t.name, data, create)
}

// Step implements train.Model. Its statement also updates the parameters.
func (p *pushedRun) Step(ctx context.Context, step int64) (float64, error) {
	env := p.config.Env(step)
	if err := p.begin(ctx); err != nil {
		return 0, err
	}
	if err := p.hooked(ctx, env); err != nil {
		return 0, err
	}
	if p.apart != nil {
		if err := p.apart.Step(ctx, env); err != nil {
			return 0, engine.About(err, "loss", 0)
		}
	}
	if err := p.ready(ctx, env); err != nil {
		return 0, err
	}
	var args []string
	for _, v := range p.st.Values(step) {
		if x, ok := v.(float64); ok {
			v = "'" + train.Number(x) + "'"
		}
		args = append(args, fmt.Sprint(v))
	}
	res, err := p.db.RunSQL(ctx, "EXECUTE "+stepName+" ("+strings.Join(args, ", ")+")")
	if err != nil {
		if e, ok := err.(*sqlerr.Error); ok && e.Code == sqlerr.SerializationFailure && !p.atomic {
			e.Hint = p.goesOn()
		}
		return 0, engine.About(err, "loss", 0)
	}
	row := res.Rows[0]
	if row[1] == nil {
		return 0, engine.About(p.c.IsNull(), "loss", 0)
	}
	x, err := engine.Number(row[1])
	if err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) && row[2] != nil {
		slot, bad := row[2].(int64), row[4].(float64)
		err = sqlerr.New(sqlerr.NumericOutOfRange, "the gradient is %s at step %d, parameter %s, key %v", train.Number(bad),
			step, p.slots[slot].Name, row[3]).
			WithHint("A smaller learning rate, or a guard in the loss (CASE WHEN x > 0 THEN ln(x) …), may help; the last " +
				"commit stands.")
	}
	return x, err
}

// Update implements train.Model. Step has updated the parameters already.
func (p *pushedRun) Update(context.Context, int64) error { return nil }

// Ahead is false: the database does one statement after the other.
func (p *pushedRun) Ahead() bool { return false }

// hooked runs before_step.
func (p *pushedRun) hooked(ctx context.Context, env kernels.Env) error {
	if p.hook == nil {
		return nil
	}
	if err := p.db.Draw(env); err != nil {
		return err
	}
	for _, s := range p.hook.stmts {
		if err := p.run.statement(ctx, s); err != nil {
			return inContext(err, fmt.Sprintf("before_step of step %d", env.Step))
		}
	}
	if p.db.Moved(p.hook.names, p.hook.settings) { // the prepared statement contains the old definitions
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"before_step of step %d has changed a definition or a setting that the loss reads", env.Step).
			WithHint("The chunk engine follows it: SET relgrad.engine = 'chunk'.")
	}
	return nil
}

// ready brings what the step's statement reads up to date.
func (p *pushedRun) ready(ctx context.Context, env kernels.Env) error {
	if err := p.setUp(ctx); err != nil {
		return err
	}
	if p.draws {
		if err := p.db.Draw(env); err != nil {
			return err
		}
	}
	for _, t := range p.rows {
		if err := p.fill(ctx, t, env, false); err != nil {
			return err
		}
	}
	return nil
}

// Commit implements train.Model.
func (p *pushedRun) Commit(ctx context.Context, pr train.Progress, rows []train.LossRow) error {
	ctx = context.WithoutCancel(ctx)
	if err := p.begin(ctx); err != nil {
		return err
	}
	if p.set {
		if err := p.save(ctx); err != nil {
			return err
		}
		statements := p.st.Compact
		if pr.Status != train.Running {
			statements = nil
			if err := p.drop(ctx); err != nil {
				return err
			}
			if err := p.leave(ctx); err != nil {
				return err
			}
		}
		if err := p.runAll(ctx, statements); err != nil {
			return err
		}
	}
	return p.run.Commit(ctx, pr, rows)
}

// save copies the optimizer's buffers from the temporary tables to the parameters' states, which a commit stores.
func (p *pushedRun) save(ctx context.Context) error {
	for i, s := range p.slots {
		state, err := p.lives[i].Param.State()
		if err != nil {
			return err
		}
		if len(state) == 0 {
			continue
		}
		_, data, err := p.db.Database.(catalog.Pusher).Rows(ctx, p.st.Read(i))
		if err != nil {
			return err
		}
		if n := p.lives[i].Param.Rows; data[0].Len() != n {
			return sqlerr.New(sqlerr.ObjectNotPrereqState, "parameter %s has %d rows, not the %d that are trained", s.Name,
				data[0].Len(), n)
		}
		for j, b := range data[len(data)-len(state):] {
			state[j].Fill(b)
		}
	}
	return nil
}

// restore copies a resumed run's optimizer buffers to the temporary tables.
func (p *pushedRun) restore(ctx context.Context) error {
	if p.progress.Step == 0 {
		return nil
	}
	for i, l := range p.lives {
		state, err := l.Param.State()
		if err != nil {
			return err
		}
		if len(state) == 0 {
			continue
		}
		var names []string
		var cols []*column.Column
		for j, k := range l.Table.Key {
			names, cols = append(names, l.Table.Cols[k].Name), append(cols, l.Keys[j])
		}
		for j, name := range p.config.StateNames() {
			t := l.Table.Cols[l.Col].Type
			t.Nullable = false
			names, cols = append(names, name), append(cols, state[j].As(t))
		}
		from, err := p.db.Database.(catalog.Filler).OfferRows(ctx, names, cols)
		if err != nil {
			return err
		}
		load, err := p.st.Load(i, "(SELECT * FROM "+from+") AS r")
		if err == nil {
			_, err = p.db.RunSQL(ctx, load)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Explain cannot say which part of a loss is not finite: the database has not kept the parts.
func (p *pushedRun) Explain(context.Context, int64) string { return "" }
