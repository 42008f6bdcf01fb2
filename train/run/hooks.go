package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// hook is a run's before_step. Its text does not show which tables its statements use: they may call procedures. So the
// store reports every table that is looked up (catalog.Rows.Watch) and counts changes (catalog.Version). A parameter's
// values are written to its table before a statement first uses it, and read again if the table was changed. Any other
// table of the loss that was changed counts as different in each step from then on (perStep), and the loss is compiled
// again, once.
type hook struct {
	text    *ast.Text
	stmts   []parse.Parsed
	reads   map[engine.Object]bool // tables that the loss and the validation read
	perStep map[engine.Object]bool // those among them that before_step has written

	names    map[engine.Lookup]engine.Object // names that the compiled queries use, and what they meant
	settings map[string]string
}

// hooks runs before_step, and follows what it changes.
type hooks struct{ programs }

// changing returns the tables whose rows change from step to step. A nil hook has none.
func (h *hook) changing() map[engine.Object]bool {
	if h == nil {
		return nil
	}
	return h.perStep
}

// tables returns the tables that the queries read, sorted by name.
func (h *hook) tables() []engine.Object {
	return slices.SortedFunc(maps.Keys(h.reads), engine.Object.Compare)
}

// parseHook parses before_step and refuses statements that begin or end transactions.
func (r *hooks) parseHook() error {
	sql := r.config.BeforeStep
	if sql == "" {
		return nil
	}
	h := &hook{text: &ast.Text{SQL: sql}, perStep: map[engine.Object]bool{}}
	for _, t := range r.written {
		h.perStep[t] = true
	}
	var err error
	if h.stmts, err = parse.Parse(h.text); err != nil {
		return inContext(err, "before_step")
	}
	if len(h.stmts) == 0 {
		return engine.About(sqlerr.New(sqlerr.InvalidParameter, "before_step holds no statement"), "before_step", 0)
	}
	for _, s := range h.stmts {
		if t, ok := s.Stmt.(*ast.Transaction); ok {
			e := sqlerr.At(int(s.At), sqlerr.InvalidTransaction,
				"before_step cannot %s: it runs inside the transaction of the training", t.Kind).
				WithHint("train commits by itself, at most once a second.")
			return inContext(sqlerr.In(e, h.text), "before_step")
		}
	}
	r.hook = h
	return nil
}

// inContext adds to an error the context in which it occurred.
func inContext(err error, where string) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", where, err)
	}
	c := *e
	if c.Context != "" {
		c.Context += "\n"
	}
	c.Context += where
	return &c
}

// beforeStep runs before_step and takes over what it changed.
func (r *hooks) beforeStep(ctx context.Context, env kernels.Env) error {
	h := r.hook
	if h == nil {
		return nil
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	before := map[engine.Object]catalog.Version{}
	for _, t := range h.tables() {
		if !r.db.SeesHookReads() { // runHook asks for all versions
			before[t] = catalog.Version{}
			continue
		}
		v, err := r.db.Version(t.Schema, t.Table)
		if err != nil {
			return err
		}
		before[t] = v
	}
	if err := r.runHook(ctx, env, before); err != nil {
		return inContext(err, fmt.Sprintf("before_step of step %d", env.Step))
	}
	again, err := r.takeChanges(ctx, before)
	if err != nil {
		return inContext(err, fmt.Sprintf("before_step of step %d", env.Step))
	}
	if again || r.db.Moved(h.names, h.settings) {
		return r.recompile(ctx)
	}
	return nil
}

// runHook runs the statements. A parameter's values are written to its table before a statement first uses it. before
// gets the table's version after that, so that takeChanges sees the statements' changes only.
func (r *hooks) runHook(ctx context.Context, env kernels.Env, before map[engine.Object]catalog.Version) error {
	flushed := map[engine.Object]bool{}
	look := func(schema, name string) (err error) {
		t := engine.Object{Schema: schema, Table: name}
		for _, l := range r.lives {
			if l.Object() == t && !flushed[t] {
				err = errors.Join(err, r.db.Catalogue.Write(ctx, l))
			}
		}
		if _, watched := before[t]; !watched || flushed[t] || err != nil {
			return err
		}
		flushed[t] = true
		before[t], err = r.db.Version(schema, name)
		return err
	}
	back, outer := r.db.Catalogue.Watch(look), r.db.Catalogue.Env
	r.db.Catalogue.Env, r.db.hooked = env, true
	defer func() {
		r.db.Catalogue.Env, r.db.hooked = outer, false
		back()
	}()
	if !r.db.SeesHookReads() {
		for _, t := range r.hook.tables() {
			if err := look(t.Schema, t.Table); err != nil {
				return err
			}
		}
	}
	if err := r.db.Draw(env); err != nil {
		return err
	}
	for _, s := range r.hook.stmts {
		if err := r.statement(ctx, s); err != nil {
			return err
		}
	}
	if !r.atomic && r.db.Local() { // commits come by the clock, so nobody could tell for which steps it holds
		return sqlerr.New(sqlerr.InvalidTransaction,
			"before_step has set a parameter for its transaction only, which ends with the next commit").
			WithHint("Use SET without LOCAL, or set_config(name, value, false).")
	}
	return nil
}

// statement runs a statement of before_step.
func (r *hooks) statement(ctx context.Context, p parse.Parsed) error {
	db, text := r.db, r.hook.text
	if ok, err := db.RunText(ctx, p, text); ok {
		return err
	}
	if db.RunStatement != nil {
		return db.RunStatement(ctx, p.Stmt, text)
	}
	switch p.Stmt.(type) {
	case *ast.Do, *ast.Call:
		return sqlerr.In(sqlerr.At(int(p.At), sqlerr.FeatureNotSupported, "DO and CALL are run by package script").
			WithHint("script.NewInterp sets DB.RunStatement."), text)
	}
	_, err := db.Database.Exec(ctx, p.Stmt, text)
	return err
}

// takeChanges reads parameters whose tables before_step has changed, and adds other changed tables to perStep. again
// reports that the queries must be compiled again.
func (r *hooks) takeChanges(ctx context.Context, before map[engine.Object]catalog.Version) (again bool, err error) {
	for _, t := range r.hook.tables() {
		was := before[t]
		now, err := r.db.Version(t.Schema, t.Table)
		if err != nil {
			return false, err
		}
		if now.Keys != was.Keys {
			if err := r.batch.Unchanged(ctx, t); err != nil {
				return false, err
			}
		}
		switch param := r.livesOf(t); {
		case now == was:
		case param != nil:
			anew, err := r.takeParam(ctx, param, now.Keys != was.Keys)
			if err != nil {
				return false, err
			}
			again = again || anew
		case !r.hook.perStep[t]:
			r.hook.perStep[t], again = true, true
		default:
			again = again || r.reshaped(t)
		}
	}
	return again, nil
}

// takeParam reads a parameter's table again. Its rows must be those that the run began with.
func (r *hooks) takeParam(ctx context.Context, lives []*engine.Live, keys bool) (again bool, err error) {
	t := lives[0].Table
	if keys {
		if err := r.sameRows(ctx, lives[0]); err != nil {
			return false, err
		}
		again = true // attributes may have changed
	}
	mine := map[int]bool{}
	for _, l := range lives {
		mine[l.Col] = true
		nulls := slices.Clone(l.Param.Valid)
		if err := r.c.Prog.Reload(ctx, t, l.Col); err != nil {
			return false, err
		}
		if !slices.Equal(nulls, l.Param.Valid) {
			return false, sqlerr.New(sqlerr.ObjectNotPrereqState, "%s.%s has other NULLs than when the run began", t.Name,
				t.Cols[l.Col].Name)
		}
	}
	for i, col := range t.Cols { // value columns that are not trained were read once, as constants
		if col.IsValue() && !mine[i] && !engine.IsKey(t, i) {
			again = again || reads(r.c.Res.Plan, t, i) || r.v != nil && reads(r.v.Res.Plan, t, i)
		}
	}
	return again, nil
}

// sameRows refuses a parameter's table whose rows or columns are no longer those with which the run began.
func (r *hooks) sameRows(ctx context.Context, l *engine.Live) error {
	t := l.Table
	e := sqlerr.New(sqlerr.ObjectNotPrereqState, "before_step has changed the rows or columns of the parameter %s",
		t.Name).WithHint("It may update a parameter's values; rows that come and go belong into another table.")
	if !sameTable(r.db.Definition(t.Schema, t.Name), t) {
		return e
	}
	now, err := r.db.Read(ctx, t, append([]int{ra.RowID}, t.Key...))
	if err != nil {
		return err
	}
	if now[0].Len() != len(l.Rows) {
		return e
	}
	other := &engine.Live{Table: t, Keys: now[1:]}
	for i, id := range now[0].I64() {
		if id != l.Rows[i] || other.Key(i) != l.Key(i) {
			return e
		}
	}
	return nil
}

// reshaped reports whether a table's columns differ from those with which the queries were compiled.
func (r *hooks) reshaped(t engine.Object) bool {
	changed := false
	for _, c := range []*engine.Compiled{r.c, r.v} {
		if c == nil {
			continue
		}
		ra.Walk(func(n *ra.Node) {
			if n.Op == ra.Scan && n.Table.Schema == t.Schema && n.Table.Name == t.Table {
				changed = changed || !sameTable(r.db.Definition(t.Schema, t.Table), n.Table)
			}
		}, c.Res.Plan.Nodes()...)
	}
	return changed
}

// sameTable reports whether a table is defined with the names, types and chunk shapes that a plan has for its columns.
func sameTable(def *catalog.TableDef, t *ra.Table) bool {
	if def == nil || len(def.Cols) != len(t.Cols) {
		return false
	}
	for i, c := range def.Cols {
		d := t.Cols[i]
		if c.Name != d.Name || strings.TrimRight(c.Type.String(), "[]") != strings.TrimRight(d.PGType, "[]") ||
			d.Type.IsFloat() && !c.Shape.Equal(d.Type.Shape) { // arrays of other types are no chunks
			return false
		}
	}
	return true
}

// recompile compiles the queries again and copies the parameters' values to the new program.
func (r *hooks) recompile(ctx context.Context) error {
	old, oldV := r.c, r.v
	defer func() {
		if old != r.c {
			old.Prog.Close()
		}
		if oldV != nil && oldV != r.v {
			oldV.Prog.Close()
		}
	}()
	return r.noting(func() error {
		c, err := r.compileLoss(ctx)
		if err != nil {
			return err
		}
		var params []*executor.Param
		for i, l := range r.lives {
			p := c.Prog.Param(l.Table, l.Col)
			if p == nil || p.Rows != l.Param.Rows || p.Size != l.Param.Size {
				c.Prog.Close()
				return sqlerr.New(sqlerr.ObjectNotPrereqState, "the loss no more depends on %s as it did", r.slots[i].Name).
					WithHint("before_step has changed a view or the parameter's table.")
			}
			params = append(params, p)
		}
		if err := r.prepare(c); err != nil {
			c.Prog.Close()
			return err
		}
		if err := r.copyParams(c.Prog); err != nil {
			c.Prog.Close()
			return err
		}
		for i, l := range r.lives {
			l.Param = params[i]
		}
		r.c = c
		return r.compileValidation(ctx)
	})
}
