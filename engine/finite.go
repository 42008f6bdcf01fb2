package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/train"
)

// finder finds where a loss or a gradient stops being finite.
type finder struct{ compiler }

// guardHint is the hint where a loss or gradient is not finite.
const guardHint = "A guard in the loss may help, e.g. CASE WHEN x > 0 THEN ln(x) ELSE 0 END."

// guarded sets the detail of a value that is not finite, and the hint that belongs to the kernel that made it.
func guarded(e *sqlerr.Error, where string) {
	e.Detail = where
	if strings.HasSuffix(where, "made by sqrt.") {
		e.Hint = "A guard in the loss may help, e.g. " + train.GuardOfRoot + "."
	}
}

// finite refuses a loss that is infinite or NaN: its gradient would be meaningless.
func (db *finder) finite(ctx context.Context, c *Compiled, x float64, env kernels.Env) error {
	if !math.IsNaN(x) && !math.IsInf(x, 0) {
		return nil
	}
	e := sqlerr.New(sqlerr.NumericOutOfRange, "the loss is %s", train.Number(x)).WithHint(guardHint)
	if where := db.FirstNotFinite(ctx, c, c.Res.RA, env, nil); where != "" {
		guarded(e, where)
	}
	return e
}

// finiteGradient refuses a gradient of parameter i with an element that is infinite or NaN. r has the rows in the order
// of the table.
func (db *finder) finiteGradient(ctx context.Context, c *Compiled, i int, r *catalog.Relation, env kernels.Env) error {
	t := c.Tables[i]
	for k, v := range r.Cols {
		if !v.Type().IsFloat() || !slices.ContainsFunc(c.Cols[i],
			func(col int) bool { return t.Cols[col].Name == r.Names[k] }) {
			continue
		}
		row, x := train.FirstBad(v)
		if row < 0 {
			continue
		}
		var key []string
		for _, at := range t.Key {
			for j, name := range r.Names {
				if at >= 0 && t.Cols[at].Name == name {
					key = append(key, fmt.Sprintf("%s = %s", name, r.Cols[j].Value(row)))
				}
			}
		}
		e := sqlerr.New(sqlerr.NumericOutOfRange, "the gradient is %s, parameter %s.%s%s", train.Number(x), t.Name,
			r.Names[k], keyText(key)).WithHint(guardHint)
		if where := db.FirstNotFinite(ctx, c, c.Res.Plan, env, nil); where != "" {
			e = e.WithDetail("%s", where)
		}
		return About(e, "loss", 0)
	}
	return nil
}

// keyText names a row by its key.
func keyText(key []string) string {
	if len(key) == 0 {
		return ""
	}
	return ", key (" + strings.Join(key, ", ") + ")"
}

// FirstNotFinite finds the first value of a plan that is not finite, and tells in which relation and row it is and
// which kernel made it; "" where it cannot be found. The plan is that of the loss as written, or of a gradient. Every
// intermediate relation is computed once. fill sets parameters that differ from the stored ones.
func (db *finder) FirstNotFinite(ctx context.Context, c *Compiled, of *ra.Plan, env kernels.Env,
	fill func(*executor.Program) error) string {
	plan, live := &ra.Plan{}, liveColumns(of)
	ra.Walk(func(n *ra.Node) {
		root := ra.Root{Name: "intermediate", Node: n, Cols: slices.Clone(n.Key)}
		for _, c := range n.Cols {
			if c.Type.IsFloat() && !slices.Contains(n.Key, c.ID) && live[n][c.ID] {
				root.Cols = append(root.Cols, c.ID)
			}
		}
		if len(root.Cols) > len(n.Key) {
			plan.Roots = append(plan.Roots, root)
		}
	}, of.Nodes()...)
	results := computed(ctx, &db.compiler, c, plan, env, fill)
	for i, cols := range results {
		bad := firstBad(plan.Roots[i], cols)
		if bad == nil {
			continue
		}
		if by := db.madeBy(ctx, c, bad, env, fill); by != "" {
			return bad.text + ", made by " + by + "."
		}
		return bad.text + "."
	}
	return ""
}

// computed runs a plan by itself; nil where that fails, perhaps because it is larger than the loss. The message then
// does without.
func computed(ctx context.Context, db *compiler, c *Compiled, plan *ra.Plan, env kernels.Env,
	fill func(*executor.Program) error) [][]*column.Column {
	o := db.options(c.Prog)
	o.Env, o.Spills = env, nil
	p, err := executor.Compile(ctx, plan, db.Catalogue, o)
	if err != nil {
		return nil
	}
	defer p.Close()
	if fill != nil && fill(p) != nil || p.Run(ctx, env) != nil {
		return nil
	}
	var out [][]*column.Column
	for i := range plan.Roots {
		cols, err := p.Result(i)
		if err != nil {
			return nil
		}
		out = append(out, cols)
	}
	return out
}

// madeBy finds the kernel that made a value that is not finite out of finite values, by computing all parts of the
// column's expression.
func (db *finder) madeBy(ctx context.Context, c *Compiled, bad *notFinite, env kernels.Env,
	fill func(*executor.Program) error) string {
	n := bad.node
	at := n.Index(bad.col)
	if n.Op == ra.Aggregate {
		if i := at - len(n.Group); i >= 0 {
			return n.Aggs[i].Fn.String()
		}
	}
	if n.Op == ra.Window {
		if i := at - len(n.Over.Pass); i >= 0 {
			return n.Aggs[i].Fn.String()
		}
	}
	if n.Op != ra.Select && n.Op != ra.Join || n.Out[at].Def == nil {
		return ""
	}
	with := *n
	with.Cols, with.Out = slices.Clone(n.Cols), slices.Clone(n.Out)
	root, column := ra.Root{Name: "parts", Node: &with, Cols: slices.Clone(n.Key)}, map[*kernels.Expr]int{}
	n.Out[at].Any(func(e *kernels.Expr) bool {
		if _, seen := column[e]; !seen && e.Type.IsFloat() && !e.IsConst() {
			id := partColumn + ra.ColumnID(len(column))
			column[e] = len(root.Cols)
			with.Cols, with.Out = append(with.Cols, ra.Column{ID: id, Name: "part", Type: e.Type}), append(with.Out, e)
			root.Cols = append(root.Cols, id)
		}
		return false
	})
	results := computed(ctx, &db.compiler, c, &ra.Plan{Roots: []ra.Root{root}}, env, fill)
	if results == nil || len(results[0]) < len(root.Cols) || bad.row >= results[0][column[n.Out[at]]].Len() {
		return ""
	}
	e := n.Out[at]
	for next := e; next != nil; { // descend to the first call whose arguments are finite
		e, next = next, nil
		for _, a := range e.Args {
			if k, ok := column[a]; ok && a.Def != nil && !results[0][k].IsNull(bad.row) {
				if _, finite := badElement(results[0][k], bad.row); !finite && next == nil {
					next = a
				}
			}
		}
	}
	return e.Def.Name
}

// partColumn is the first id for columns of parts; plans do not use such ids.
const partColumn ra.ColumnID = 1 << 30

// notFinite is the place of a value that is not finite.
type notFinite struct {
	node *ra.Node
	col  ra.ColumnID
	row  int
	text string
}

// firstBad finds the first value of a relation that is not finite; nil where all are.
func firstBad(root ra.Root, cols []*column.Column) *notFinite {
	n, keys := root.Node, len(root.Node.Key)
	for i, v := range cols[keys:] {
		for row := range v.Len() {
			if v.IsNull(row) {
				continue
			}
			x, finite := badElement(v, row)
			if finite {
				continue
			}
			bad := train.Number(x)
			var key []string
			for k, name := range keyNames(n) {
				key = append(key, fmt.Sprintf("%s = %s", name, cols[k].Value(row)))
			}
			id := root.Cols[keys+i]
			col, where := n.Col(id).Name, keyText(key)
			if n.Op == ra.Scan {
				return &notFinite{n, id, row, fmt.Sprintf("Table %s holds %s in column %q%s", n.Table.Name, bad, col, where)}
			}
			in := fmt.Sprintf("column %q of the %s", col, called[n.Op])
			if slices.Contains(aggregates, col) && n.Op != ra.Aggregate {
				in = "the argument of " + col
			}
			return &notFinite{n, id, row, fmt.Sprintf("The first value that is not is %s in %s over %s%s", bad, in, tablesOf(n),
				where)}
		}
	}
	return nil
}

// keyNames are the names of a relation's identity in messages: where two are the same, behind those of their tables.
func keyNames(n *ra.Node) []string {
	count := map[string]int{}
	for _, id := range n.Key {
		count[n.Col(id).Name]++
	}
	return lists.Map(n.Key, func(id ra.ColumnID) string {
		name := n.Col(id).Name
		if t := tableOf(n, id); t != nil && count[name] > 1 {
			return t.Name + "." + name
		}
		return name
	})
}

// tableOf is the table from which a column comes as it is; nil: it is computed.
func tableOf(n *ra.Node, id ra.ColumnID) *ra.Table {
	for n.Op != ra.Scan {
		i := n.Index(id)
		switch {
		case (n.Op == ra.Select || n.Op == ra.Join) && n.Out[i].IsCol:
			n, id = n.Inputs[n.Out[i].Col.Input], n.Out[i].Col.ID
		case n.Op == ra.SemiJoin || n.Op == ra.AntiJoin:
			n, id = n.Inputs[0], n.Inputs[0].Cols[i].ID
		case n.Op == ra.Aggregate && i < len(n.Group):
			n, id = n.Inputs[0], n.Group[i]
		default:
			return nil
		}
	}
	return n.Table
}

// aggregates are the names of columns that hold arguments of aggregates.
var aggregates = []string{"sum", "avg", "min", "max"}

// called are the names of operators in messages.
var called = map[ra.Op]string{ra.Select: "query", ra.Join: "join", ra.Aggregate: "aggregate", ra.Union: "union",
	ra.SemiJoin: "query",
	ra.AntiJoin: "query", ra.Add: "sum", ra.Opaque: "sub-query", ra.Window: "window",
	ra.Recursion: "recursive query", ra.Self: "recursive query"}

// badElement returns the first element of a row that is not finite.
func badElement(v *column.Column, row int) (x float64, finite bool) {
	size := v.Size()
	for i := row * size; i < (row+1)*size; i++ {
		if v.Kind() == column.F32 {
			x = float64(v.F32()[i])
		} else {
			x = v.F64()[i]
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return x, false
		}
	}
	return 0, true
}

// tablesOf names the tables below a node.
func tablesOf(n *ra.Node) string {
	var names []string
	ra.Walk(func(m *ra.Node) {
		if m.Op == ra.Scan && !slices.Contains(names, m.Table.Name) {
			names = append(names, m.Table.Name)
		}
	}, n)
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Located tells of a label or an index outside its vector, on which err is, in which row it is. The rows are computed
// once more; fill sets parameters that differ from the stored ones, nil: none. Other errors are returned as they are.
func (db *finder) Located(ctx context.Context, c *Compiled, err error, env kernels.Env,
	fill func(*executor.Program) error) error {
	return located(ctx, &db.compiler, c, err, env, fill)
}

func located(ctx context.Context, db *compiler, c *Compiled, err error, env kernels.Env,
	fill func(*executor.Program) error) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Code != sqlerr.ArraySubscript || e.Detail != "" {
		return err
	}
	plan, calls := &ra.Plan{}, [][]*kernels.Expr{}
	ra.Walk(func(n *ra.Node) {
		if root, found := labelsOf(n); len(found) > 0 {
			plan.Roots, calls = append(plan.Roots, root), append(calls, found)
		}
	}, c.Res.RA.Nodes()...)
	if len(calls) == 0 {
		return err
	}
	for i, cols := range computed(ctx, db, c, plan, env, fill) {
		root := plan.Roots[i]
		keys := len(root.Node.Key)
		for k, call := range calls[i] {
			labels := cols[keys+k]
			_, n := kernels.LabelOf(call)
			for row := range labels.Len() {
				if x := labels.Value(row); labels.IsNull(row) || x.I >= 0 && x.I < n {
					continue
				}
				var key []string
				for j, name := range keyNames(root.Node) {
					key = append(key, fmt.Sprintf("%s = %s", name, cols[j].Value(row)))
				}
				return e.WithDetail("It is %s in the %s over %s%s.", labels.Value(row), called[root.Node.Op], tablesOf(root.Node),
					keyText(key)).WithHint("Labels and indexes of vectors count from 0.")
			}
		}
	}
	return err
}

// labelsOf are the calls in a node's columns whose label no CASE guards, and a root that has these labels behind the
// node's key.
func labelsOf(n *ra.Node) (ra.Root, []*kernels.Expr) {
	if n.Op != ra.Select && n.Op != ra.Join {
		return ra.Root{}, nil
	}
	with := *n
	with.Cols, with.Out = slices.Clone(n.Cols), slices.Clone(n.Out)
	root := ra.Root{Name: "labels", Node: &with, Cols: slices.Clone(n.Key)}
	var calls []*kernels.Expr
	var visit func(e *kernels.Expr)
	visit = func(e *kernels.Expr) {
		if e.Def == nil || slices.Contains(calls, e) {
			return
		}
		if label, _ := kernels.LabelOf(e); label != nil {
			id := partColumn + ra.ColumnID(len(calls))
			with.Cols = append(with.Cols, ra.Column{ID: id, Name: "label", Type: label.Type})
			with.Out = append(with.Out, label)
			root.Cols, calls = append(root.Cols, id), append(calls, e)
		}
		for i, a := range e.Args {
			if i == 0 || !e.Def.NonStrict { // the others may not be asked for
				visit(a)
			}
		}
	}
	for _, x := range n.Out {
		visit(x)
	}
	return root, calls
}
