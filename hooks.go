package relgrad

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// hook is a run's before_step. What its statements use is not guessed from their text, which may call procedures and
// build statements: the store tells of every table that is looked at (catalog.Rows.Watch) and counts changes
// (store.Version). A parameter's table is written back before its first use and read again when it was changed; another
// table that the loss reads and that was changed becomes structure of the step, and the loss is compiled again, once.
type hook struct {
	text    *ast.Text
	stmts   []parse.Parsed
	reads   map[object]bool // tables that the loss and the validation read
	perStep map[object]bool // those among them that before_step has written

	names    map[lookup]object // what the compiled queries rest on besides
	settings map[string]string
}

// changing are the tables that change from step to step.
func (h *hook) changing() map[object]bool {
	if h == nil {
		return nil
	}
	return h.perStep
}

// tables lists what the queries read, in order.
func (h *hook) tables() []object {
	return slices.SortedFunc(maps.Keys(h.reads), object.compare)
}

func (o object) compare(p object) int {
	return cmp.Or(strings.Compare(o.schema, p.schema), strings.Compare(o.table, p.table))
}

// parseHook reads before_step.
func (r *run) parseHook() error {
	sql := r.config.BeforeStep
	if sql == "" {
		return nil
	}
	h := &hook{text: &ast.Text{SQL: sql}, perStep: map[object]bool{}}
	for _, t := range r.written {
		h.perStep[t] = true
	}
	var err error
	if h.stmts, err = parse.Parse(h.text); err != nil {
		return inContext(err, "before_step")
	}
	if len(h.stmts) == 0 {
		return about(sqlerr.New(sqlerr.InvalidParameter, "before_step holds no statement"), "before_step", 0)
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

// inContext names the place of an error.
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

// noting compiles by f and notes what the result rests on.
func (r *run) noting(f func() error) (err error) {
	h := r.hook
	if h == nil {
		return f()
	}
	h.reads = map[object]bool{}
	defer r.watch(func(schema, name string) error {
		h.reads[object{schema: schema, table: name}] = true
		return nil
	})()
	h.names, h.settings, err = r.db.cat.notes(f)
	return err
}

// watch adds to who is told of the tables that are looked at; back leaves those from before.
func (r *run) watch(f func(schema, name string) error) (back func()) {
	var outer func(schema, name string) error
	outer = r.db.Watch(func(schema, name string) error {
		if err := f(schema, name); err != nil || outer == nil {
			return err
		}
		return outer(schema, name)
	})
	return func() { r.db.Watch(outer) }
}

// beforeStep runs before_step and takes over what it changed.
func (r *run) beforeStep(ctx context.Context, env kernels.Env) error {
	h := r.hook
	if h == nil {
		return nil
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	before := map[object]catalog.Version{}
	for _, t := range h.tables() {
		if !r.db.SeesHookReads() { // runHook looks at every table
			before[t] = catalog.Version{}
			continue
		}
		v, err := r.db.Version(t.schema, t.table)
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
	if again || r.db.moved(h) {
		return r.recompile(ctx)
	}
	return nil
}

// runHook runs the statements. Parameters are flushed before they are used, which before then takes note of.
func (r *run) runHook(ctx context.Context, env kernels.Env, before map[object]catalog.Version) error {
	flushed := map[object]bool{}
	look := func(schema, name string) (err error) {
		t := object{schema: schema, table: name}
		for _, l := range r.lives {
			if l.object() == t && !flushed[t] {
				err = errors.Join(err, r.db.cat.write(ctx, l))
			}
		}
		if _, watched := before[t]; !watched || flushed[t] || err != nil {
			return err
		}
		flushed[t] = true
		before[t], err = r.db.Version(schema, name)
		return err
	}
	back, outer := r.watch(look), r.db.cat.env
	r.db.cat.env, r.db.hooked = env, true
	defer func() {
		r.db.cat.env, r.db.hooked = outer, false
		back()
	}()
	if !r.db.SeesHookReads() {
		for _, t := range r.hook.tables() {
			if err := look(t.schema, t.table); err != nil {
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
	if !r.atomic && r.db.Local() { // when the next commit comes is a matter of time
		return sqlerr.New(sqlerr.InvalidTransaction,
			"before_step has set a parameter for its transaction only, which ends with the next commit").
			WithHint("Use SET without LOCAL, or set_config(name, value, false).")
	}
	return nil
}

// statement runs a statement of before_step.
func (r *run) statement(ctx context.Context, p parse.Parsed) error {
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

// moved reports whether a name or setting means something else than when the queries were compiled.
func (db *Engine) moved(h *hook) bool {
	for l, o := range h.names {
		if db.cat.resolve(l) != o {
			return true
		}
	}
	for name, v := range h.settings {
		if now, _ := db.Setting(name); now != v {
			return true
		}
	}
	return false
}

// takeChanges reads parameters that were written again and notes tables that have become structure of the step; again
// tells that the queries must be compiled anew.
func (r *run) takeChanges(ctx context.Context, before map[object]catalog.Version) (again bool, err error) {
	for _, t := range r.hook.tables() {
		was := before[t]
		now, err := r.db.Version(t.schema, t.table)
		if err != nil {
			return false, err
		}
		if now.Keys != was.Keys {
			if err := r.sameBatch(ctx, t); err != nil {
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
func (r *run) takeParam(ctx context.Context, lives []*live, keys bool) (again bool, err error) {
	t := lives[0].table
	if keys {
		if err := r.sameRows(ctx, lives[0]); err != nil {
			return false, err
		}
		again = true // attributes may have changed
	}
	mine := map[int]bool{}
	for _, l := range lives {
		mine[l.col] = true
		nulls := slices.Clone(l.param.Valid)
		if err := r.c.prog.Reload(ctx, t, l.col); err != nil {
			return false, err
		}
		if !slices.Equal(nulls, l.param.Valid) {
			return false, sqlerr.New(sqlerr.ObjectNotPrereqState, "%s.%s has other NULLs than when the run began", t.Name,
				t.Cols[l.col].Name)
		}
	}
	for i, col := range t.Cols { // values that are constants of the run
		if col.IsValue() && !mine[i] && !isKey(t, i) {
			again = again || reads(r.c.res.Plan, t, i) || r.v != nil && reads(r.v.res.Plan, t, i)
		}
	}
	return again, nil
}

// sameRows refuses a parameter's table whose rows or columns are no more those of the run.
func (r *run) sameRows(ctx context.Context, l *live) error {
	t := l.table
	e := sqlerr.New(sqlerr.ObjectNotPrereqState, "before_step has changed the rows or columns of the parameter %s",
		t.Name).
		WithHint("It may update a parameter's values; rows that come and go belong into another table.")
	if !sameTable(r.db.Definition(t.Schema, t.Name), t) {
		return e
	}
	now, err := r.db.Read(ctx, t, append([]int{ra.RowID}, t.Key...))
	if err != nil {
		return err
	}
	if now[0].N != len(l.rows) {
		return e
	}
	other := &live{table: t, keys: now[1:]}
	for i, id := range now[0].Ints {
		if id != l.rows[i] || other.key(i) != l.key(i) {
			return e
		}
	}
	return nil
}

// reshaped reports whether a table's columns are no more those that it was compiled with.
func (r *run) reshaped(t object) bool {
	changed := false
	for _, c := range []*compiled{r.c, r.v} {
		if c == nil {
			continue
		}
		ra.Walk(func(n *ra.Node) {
			if n.Op == ra.Scan && n.Table.Schema == t.schema && n.Table.Name == t.table {
				changed = changed || !sameTable(r.db.Definition(t.schema, t.table), n.Table)
			}
		}, c.res.Plan.Nodes()...)
	}
	return changed
}

// sameTable reports whether a table's definition has the names, types and shapes of a plan's.
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

func (r *run) livesOf(t object) []*live {
	var out []*live
	for _, l := range r.lives {
		if l.object() == t {
			out = append(out, l)
		}
	}
	return out
}

// recompile compiles the queries again and moves the live buffers over.
func (r *run) recompile(ctx context.Context) error {
	old, oldV := r.c, r.v
	defer func() {
		if old != r.c {
			old.prog.Close()
		}
		if oldV != nil && oldV != r.v {
			oldV.prog.Close()
		}
	}()
	return r.noting(func() error {
		c, err := r.compileLoss(ctx)
		if err != nil {
			return err
		}
		r.copyParams(c.prog)
		for i, l := range r.lives {
			p := c.prog.Param(l.table, l.col)
			if p == nil || p.Rows != l.param.Rows || p.Size != l.param.Size {
				c.prog.Close()
				return sqlerr.New(sqlerr.ObjectNotPrereqState, "the loss no more depends on %s as it did", r.slots[i].Name).
					WithHint("before_step has changed a view or the parameter's table.")
			}
		}
		for i, l := range r.lives {
			l.param = c.prog.Param(l.table, l.col)
			r.slots[i].Param.F32, r.slots[i].Param.F64 = l.param.F32, l.param.F64
		}
		r.c = c
		return r.compileValidation(ctx)
	})
}
