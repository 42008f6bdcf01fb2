package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlfront/print"
	"github.com/relgrad/relgrad/train"
)

// parameterSet are the columns that are trained.
type parameterSet struct {
	task
	slots    []*train.Slot
	lives    []*engine.Live // parallel to slots
	updates  *train.Updates
	training *executor.Training
}

// makeSlots gives every value column of the parameters its slot and its live buffer.
func (r *parameterSet) makeSlots(ctx context.Context) error {
	for i, t := range r.c.Tables {
		for _, col := range r.c.Cols[i] {
			p := r.c.Prog.Param(t, col)
			if p == nil {
				return r.unread(i, col)
			}
			l, err := r.db.Catalogue.Live(ctx, t, col, p)
			if err != nil {
				return err
			}
			if err := filled(t, col, p); err != nil {
				return engine.About(err, "params", i)
			}
			r.slots, r.lives = append(r.slots, r.slot(col, l)), append(r.lives, l)
		}
	}
	if err := r.checkParams(); err != nil {
		return err
	}
	for i, s := range r.slots {
		if err := r.chooseRows(ctx, s, r.lives[i]); err != nil {
			return engine.About(err, "options", 0)
		}
	}
	if r.config.Searches() {
		return nil // no update is part of the program
	}
	return r.prepare(r.c)
}

// checkParams refuses options that do not fit the parameters.
func (r *parameterSet) checkParams() error {
	err := r.config.CheckParams(r.slots)
	var p *train.ParamError
	if errors.As(err, &p) {
		return engine.About(p.Err, p.Option, p.Item)
	}
	return err
}

// slot makes the slot of a column.
func (r *parameterSet) slot(col int, l *engine.Live) *train.Slot {
	name, names := r.slotNames(l.Table, col)
	return &train.Slot{Name: name, Names: names, Size: l.Param.Size, Values: l.Values, Key: l.Key}
}

// prepare adds the optimizer's update of each column to the program of the loss.
func (r *parameterSet) prepare(c *engine.Compiled) (err error) {
	var types []kernels.Type
	for _, l := range r.lives {
		types = append(types, l.Table.Cols[l.Col].Type)
	}
	r.updates = r.config.Updates(r.slots, types)
	var cols []executor.Trained
	for i, t := range c.Tables {
		for _, col := range c.Cols[i] {
			n := len(cols)
			cols = append(cols, executor.Trained{Rule: r.updates.Rules[n], Param: c.Prog.Param(t, col), Root: i + 1,
				Col: c.GradColumn(i, col), Key: c.GradKey(i), Rows: r.slots[n].Trained, Buffers: len(r.config.StateNames())})
		}
	}
	r.training, err = c.Prog.Train(cols, r.updates.Clip, r.updates.Numbers)
	return err
}

// slotNames returns the name of a parameter's column in messages, with its schema where that is not on the search path,
// and the names by which options may refer to it: those of the table, then those of the column, plain and quoted. Of
// trained tables that differ only in their schemas, only the one on the search path has names without schema.
func (r *parameterSet) slotNames(t *ra.Table, col int) (name string, names []string) {
	full := []string{t.Schema, t.Name}
	shown, tables := full[1:], [][]string{full[1:], full}
	if !r.db.Catalogue.OnPath(t.Schema) {
		shown = full
	}
	for _, u := range r.c.Tables {
		if u.Name == t.Name && u.Schema != t.Schema &&
			r.db.Catalogue.Resolve(engine.Lookup{Name: t.Name}) != (engine.Object{Schema: t.Schema, Table: t.Name}) {
			shown, tables = full, [][]string{full}
		}
	}
	add := func(parts []string) {
		plain, where, always := strings.Join(parts, "."), make([]string, len(parts)), make([]string, len(parts))
		for i, p := range parts {
			where[i], always[i] = print.QualifiedName("", p), `"`+strings.ReplaceAll(p, `"`, `""`)+`"`
		}
		for _, n := range []string{plain, strings.Join(where, "."), strings.Join(always, ".")} {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	for _, parts := range tables {
		add(parts)
	}
	for _, parts := range tables {
		add(append(slices.Clone(parts), t.Cols[col].Name))
	}
	return strings.Join(append(slices.Clone(shown), t.Cols[col].Name), "."), names
}

// unread is the error of parameter i, of which the loss does not read a column.
func (r *parameterSet) unread(i, col int) error {
	t := r.c.Tables[i]
	e := sqlerr.New(sqlerr.InvalidParameter, "the loss does not depend on %s.%s", t.Name, t.Cols[col].Name)
	if r.id != 0 { // it began when there was no such column, or when the loss read it
		return e.WithHint("The run trains all columns of the table. Drop this one, or begin a new run with '%s'.",
			print.QualifiedName(t.Name, reached(r.c, i)))
	}
	return engine.About(e.WithHint("Name the columns that are trained, e.g. '%s'.", print.QualifiedName(t.Name,
		reached(r.c, i))), "params", i)
}

// reached names a column of parameter i that the loss reads.
func reached(c *engine.Compiled, i int) string {
	for _, col := range c.Cols[i] {
		if reads(c.Res.Plan, c.Tables[i], col) {
			return c.Tables[i].Cols[col].Name
		}
	}
	return "v"
}

// chooseRows marks the rows of a slot that are trained: those where the conditions of its options hold and the value is
// not NULL.
func (r *parameterSet) chooseRows(ctx context.Context, s *train.Slot, l *engine.Live) error {
	conditions := r.config.Where(s)
	if len(conditions) == 0 && l.Param.Valid == nil {
		return nil
	}
	s.Trained = validity(l.Param)
	for _, where := range conditions {
		chosen, err := r.rowsWhere(ctx, l, where)
		if err != nil {
			return inContext(err, fmt.Sprintf("where of %s in train option options", l.Table.Name))
		}
		if len(chosen) == 0 {
			return sqlerr.New(sqlerr.InvalidParameter, "no row of %s is trained: none has %s", l.Table.Name, where)
		}
		for i := range s.Trained {
			s.Trained[i] = s.Trained[i] && chosen[l.Key(i)]
		}
	}
	if !slices.Contains(s.Trained, true) {
		return sqlerr.New(sqlerr.InvalidParameter, "no row of %s is trained: none that is not NULL has %s", s.Name,
			strings.Join(conditions, " and "))
	}
	return nil
}

// filled refuses a column of which there is nothing to train.
func filled(t *ra.Table, col int, p *executor.Param) error {
	switch {
	case p.Rows == 0:
		return sqlerr.New(sqlerr.InvalidParameter, "parameter %s has no rows", t.Name).
			WithHint("INSERT the values that training begins with.")
	case !slices.Contains(validity(p), true):
		return sqlerr.New(sqlerr.InvalidParameter, "all values of %s.%s are NULL", t.Name, t.Cols[col].Name).
			WithHint("NULL is not trained: fill in the values that training begins with, or name the columns that are trained.")
	}
	return nil
}

// trains lists the trained columns, each with the count of its trained numbers. Neighbours of one table with equal
// counts show it once.
func (r *parameterSet) trains() string {
	var out []string
	for i, s := range r.slots {
		n := r.numbers(i)
		if i+1 < len(r.slots) && r.lives[i].Object() == r.lives[i+1].Object() && r.numbers(i+1) == n {
			out = append(out, s.Name)
			continue
		}
		out = append(out, fmt.Sprintf("%s (%d)", s.Name, n))
	}
	return strings.Join(out, ", ")
}

// numbers counts the numbers of slot i that are trained.
func (r *parameterSet) numbers(i int) int {
	rows := r.lives[i].Param.Rows
	if on := r.slots[i].Trained; on != nil {
		rows = 0
		for _, is := range on {
			if is {
				rows++
			}
		}
	}
	return rows * r.slots[i].Size
}

// warn warns of parameters that look like data.
func (r *parameterSet) warn() {
	for _, x := range r.c.Looks {
		var with []string
		for _, s := range x.With {
			with = append(with, s.Name())
		}
		r.db.Notify("WARNING",
			fmt.Sprintf("train: parameter %s looks like data: the loss only compares it, row by row, with what it makes of %s; "+
				"where %s holds data, leave it out of the parameters", x.Name(), strings.Join(with, ", "), x.Table.Name))
	}
}

// validity tells which rows of a parameter's column are not NULL.
func validity(p *executor.Param) []bool {
	out := make([]bool, p.Rows)
	for i := range out {
		out[i] = !p.Null(i)
	}
	return out
}

// rowsWhere returns the printed identities of the rows of a parameter where a condition on keys and attributes holds.
func (r *parameterSet) rowsWhere(ctx context.Context, l *engine.Live, where string) (map[string]bool, error) {
	text := &ast.Text{SQL: where}
	cond, err := parse.ParseExpr(text)
	if err != nil {
		return nil, err
	}
	t := l.Table
	ast.Walk(cond, func(n ast.Tree) bool {
		c, ok := n.(*ast.ColumnRef)
		if !ok || err != nil || c.Star {
			return err == nil
		}
		name := c.Names[len(c.Names)-1]
		for i, col := range t.Cols {
			if col.Name == name && col.IsValue() && !engine.IsKey(t, i) && (len(c.Names) == 1 || c.Names[0] == t.Name) {
				err = sqlerr.In(sqlerr.At(int(c.At), sqlerr.InvalidParameter, "where reads %q, a value column of %s", name, t.Name).
					WithHint("Rows are chosen once, by keys and attributes: values change in training."), text)
			}
		}
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	return r.keysWhere(ctx, l, cond, text)
}

// keysWhere returns the printed identities of the rows of a parameter where a condition holds.
func (r *parameterSet) keysWhere(ctx context.Context, l *engine.Live, cond ast.Expr, text *ast.Text) (map[string]bool,
	error) {
	t := l.Table
	sel := &ast.Select{Node: ast.Node{At: -1}, From: []ast.FromItem{&ast.TableRef{Node: ast.Node{At: -1}, Schema: t.Schema,
		Name: t.Name}}, Where: cond, End: -1}
	for _, k := range t.Key {
		sel.Targets = append(sel.Targets, ast.Target{Node: ast.Node{At: -1},
			X: &ast.ColumnRef{Node: ast.Node{At: -1}, Names: []string{t.Cols[k].Name}}, Name: t.Cols[k].Name})
	}
	if len(t.Key) == 0 { // one row, without a key
		sel.Targets = []ast.Target{{Node: ast.Node{At: -1}, X: Literal("bigint", int64(1)), Name: "one"}}
	}
	_, data, err := r.db.Query(ctx, sel, text)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for i := range data[0].Len() {
		out[(&engine.Live{Table: t, Keys: data[:len(t.Key)]}).Key(i)] = true
	}
	return out, nil
}

// copyParams copies the live buffers into another program's.
func (r *parameterSet) copyParams(p *executor.Program) error {
	for _, l := range r.lives {
		if q := p.Param(l.Table, l.Col); q != nil {
			if err := q.Copy(l.Param); err != nil {
				return err
			}
		}
	}
	return nil
}

// reads reports whether a plan reads a column of a table.
func reads(plan *ra.Plan, t *ra.Table, col int) bool {
	found := false
	ra.Walk(func(n *ra.Node) {
		if n.Op != ra.Scan || n.Table.Schema != t.Schema || n.Table.Name != t.Name {
			return
		}
		for _, c := range n.TableCols {
			found = found || c == col
		}
	}, plan.Nodes()...)
	return found
}

// findNulls sets Valid of a column, which marks the rows that are not NULL.
func (r *parameterSet) findNulls(ctx context.Context, l *engine.Live) error {
	c := l.Table.Cols[l.Col]
	if !c.Type.Nullable {
		return nil
	}
	text := &ast.Text{SQL: print.QualifiedName("", c.Name) + " IS NOT NULL"}
	cond, err := parse.ParseExpr(text)
	if err != nil {
		return err
	}
	has, err := r.keysWhere(ctx, l, cond, text)
	if err != nil || len(has) == l.Param.Rows {
		return err
	}
	l.Param.Valid = make([]byte, l.Param.Rows)
	for i := range l.Param.Valid {
		if has[l.Key(i)] {
			l.Param.Valid[i] = 1
		}
	}
	return nil
}

func (r *parameterSet) livesOf(t engine.Object) []*engine.Live {
	var out []*engine.Live
	for _, l := range r.lives {
		if l.Object() == t {
			out = append(out, l)
		}
	}
	return out
}
