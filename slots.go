package relgrad

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlfront/print"
	"github.com/relgrad/relgrad/train"
)

// makeSlots gives every value column of the parameters its slot and its live buffer.
func (r *run) makeSlots(ctx context.Context) error {
	for i, t := range r.c.tables {
		for _, col := range r.c.cols[i] {
			p := r.c.prog.Param(t, col)
			if p == nil {
				return about(sqlerr.New(sqlerr.InvalidParameter, "the loss does not depend on %s.%s", t.Name, t.Cols[col].Name).
					WithHint("Name the columns that are trained, e.g. '%s'.", print.QualifiedName(t.Name, reached(r.c, i))), "params",
					i)
			}
			l, err := r.db.cat.live(ctx, t, col, p)
			if err != nil {
				return err
			}
			if err := filled(t, col, p); err != nil {
				return about(err, "params", i)
			}
			r.slots, r.lives = append(r.slots, r.slot(i, col, l)), append(r.lives, l)
		}
	}
	if err := r.checkParams(); err != nil {
		return err
	}
	for i, s := range r.slots {
		if err := r.chooseRows(ctx, s, r.lives[i]); err != nil {
			return about(err, "options", 0)
		}
	}
	return nil
}

// checkParams refuses options that do not fit the parameters.
func (r *run) checkParams() error {
	err := r.config.CheckParams(r.slots)
	var p *train.ParamError
	if errors.As(err, &p) {
		return about(p.Err, p.Option, p.Item)
	}
	return err
}

// slot makes the slot of column col of parameter i.
func (r *run) slot(i, col int, l *live) *train.Slot {
	t := l.table
	name, names := r.slotNames(t, col)
	var match []int32
	var of *executor.Program
	return &train.Slot{Name: name, Names: names, Size: l.param.Size,
		Param: train.Floats{F32: l.param.F32, F64: l.param.F64}, Key: l.key,
		Grad: func() (train.Floats, []int32, error) {
			if p := r.c.prog; match == nil || of != p || p.PerStep() { // a step of its own may have rows of its own
				var err error
				if match, err = p.Match(i+1, t, r.c.gradKey(i)); err != nil {
					return train.Floats{}, nil, err
				}
				of = p
			}
			g := r.c.prog.Grad(i+1, r.c.gradColumn(i, col))
			return train.Floats{F32: g.F32, F64: g.F64}, match, nil
		}}
}

// slotNames are what messages call a column of a parameter, and the names by which options mean it, the table's before
// the column's: bare, and in quotes as in a query. Of several tables of one name in different schemas only the one that
// the search path finds has it without its schema.
func (r *run) slotNames(t *ra.Table, col int) (name string, names []string) {
	full := []string{t.Schema, t.Name}
	tables := [][]string{full[1:], full}
	for _, u := range r.c.tables {
		if u.Name == t.Name && u.Schema != t.Schema &&
			r.db.cat.resolve(lookup{name: t.Name}) != (object{schema: t.Schema, table: t.Name}) {
			tables = [][]string{full}
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
	return strings.Join(append(slices.Clone(tables[0]), t.Cols[col].Name), "."), names
}

// reached names a column of parameter i that the loss reads.
func reached(c *compiled, i int) string {
	for _, col := range c.cols[i] {
		if reads(c.res.Plan, c.tables[i], col) {
			return c.tables[i].Cols[col].Name
		}
	}
	return "v"
}

// chooseRows marks the rows of a slot that are trained: those where the conditions of its options hold and the value is
// not NULL.
func (r *run) chooseRows(ctx context.Context, s *train.Slot, l *live) error {
	conditions := r.config.Where(s)
	if len(conditions) == 0 && l.param.Valid == nil {
		return nil
	}
	s.Trained = validity(l.param)
	for _, where := range conditions {
		chosen, err := r.rowsWhere(ctx, l, where)
		if err != nil {
			return inContext(err, fmt.Sprintf("where of %s in train option options", l.table.Name))
		}
		if len(chosen) == 0 {
			return sqlerr.New(sqlerr.InvalidParameter, "no row of %s is trained: none has %s", l.table.Name, where)
		}
		for i := range s.Trained {
			s.Trained[i] = s.Trained[i] && chosen[l.key(i)]
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

// trains lists what is trained: each column with how many of its numbers, said once of neighbours that have as many.
func (r *run) trains() string {
	var out []string
	for i, s := range r.slots {
		n := r.numbers(i)
		if i+1 < len(r.slots) && r.lives[i].object() == r.lives[i+1].object() && r.numbers(i+1) == n {
			out = append(out, s.Name)
			continue
		}
		out = append(out, fmt.Sprintf("%s (%d)", s.Name, n))
	}
	return strings.Join(out, ", ")
}

// numbers counts what is trained of a slot.
func (r *run) numbers(i int) int {
	rows := r.lives[i].param.Rows
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

// warn says which parameters look like data.
func (r *run) warn() {
	for _, x := range r.c.looks {
		var with []string
		for _, s := range x.with {
			with = append(with, s.name())
		}
		r.db.notice("WARNING",
			fmt.Sprintf("train: parameter %s looks like data: the loss only compares it, row by row, with what it makes of %s; "+
				"where %s holds data, leave it out of the parameters", x.name(), strings.Join(with, ", "), x.table.Name))
	}
}

// validity tells which rows of a parameter's column are not NULL.
func validity(p *executor.Param) []bool {
	out := make([]bool, p.Rows)
	for i := range out {
		out[i] = p.Valid == nil || p.Valid[i] != 0
	}
	return out
}

// rowsWhere returns the printed identities of the rows of a parameter where a condition on keys and attributes holds.
func (r *run) rowsWhere(ctx context.Context, l *live, where string) (map[string]bool, error) {
	text := &ast.Text{SQL: where}
	cond, err := parse.ParseExpr(text)
	if err != nil {
		return nil, err
	}
	t := l.table
	ast.Walk(cond, func(n ast.Tree) bool {
		c, ok := n.(*ast.ColumnRef)
		if !ok || err != nil || c.Star {
			return err == nil
		}
		name := c.Names[len(c.Names)-1]
		for i, col := range t.Cols {
			if col.Name == name && col.IsValue() && !isKey(t, i) && (len(c.Names) == 1 || c.Names[0] == t.Name) {
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
func (r *run) keysWhere(ctx context.Context, l *live, cond ast.Expr, text *ast.Text) (map[string]bool, error) {
	t := l.table
	sel := &ast.Select{Node: ast.Node{At: -1}, From: []ast.FromItem{&ast.TableRef{Node: ast.Node{At: -1}, Schema: t.Schema,
		Name: t.Name}}, Where: cond, End: -1}
	for _, k := range t.Key {
		sel.Targets = append(sel.Targets, ast.Target{Node: ast.Node{At: -1},
			X: &ast.ColumnRef{Node: ast.Node{At: -1}, Names: []string{t.Cols[k].Name}}, Name: t.Cols[k].Name})
	}
	if len(t.Key) == 0 { // one row, without a key
		sel.Targets = []ast.Target{{Node: ast.Node{At: -1}, X: lit("bigint", int64(1)), Name: "one"}}
	}
	_, data, err := r.db.Query(ctx, sel, text)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for i := range data[0].N {
		out[(&live{table: t, keys: data[:len(t.Key)]}).key(i)] = true
	}
	return out, nil
}

// copyParams copies the live buffers into another program's.
func (r *run) copyParams(p *executor.Program) {
	for _, l := range r.lives {
		if q := p.Param(l.table, l.col); q != nil {
			copy(q.F32, l.param.F32)
			copy(q.F64, l.param.F64)
		}
	}
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
