// Package autodiff turns a query that computes a loss into the queries of its gradients (RA-AD §4, Algorithms 1 and 2).
//
// # What
//
// Differentiate walks the query's DAG from the loss to the parameters, applies the RJP of each operator and
// sums, at every node, the contributions of all of its uses. Expand replaces nested Gradient nodes.
//
// # Invariants
//
// The edges are a multiset of (producer, consumer, argument slot): a relation used twice, also by one operator, gets
// the sum of all contributions (law 4; Algorithm 1's else-if loses half of w ⋈ w). The gradient of a table has the
// table's identity and attributes, zeros in value columns that the loss does not use, and exactly the rows that reach
// the loss through keys (law 3). Forward nodes are shared with the gradients, not copied.
//
// # Errors
//
// A parameter that the loss does not reach, or reaches only through piecewise constant functions; a kernel
// or construct without derivative; a parameter without an identity that the user can name.
//
// # Where to add
//
// Nothing operator-specific belongs here; see rjp.
package autodiff

import (
	"context"
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/rjp"
)

// Param is a parameter: a scanned table, and which of its columns are differentiated (all value columns
// that the loss reaches when Cols is nil).
type Param struct {
	Scan *ra.Node
	Cols []ra.ColumnID
}

func (p Param) has(id ra.ColumnID) bool {
	if c := p.Scan.Col(id); c == nil || !c.Type.IsFloat() || !c.Dep {
		return false
	}
	if p.Cols == nil {
		return true
	}
	return slices.Contains(p.Cols, id)
}

// name is how the user names the parameter: with its column where others of the table are none.
func (p Param) name() string {
	t := p.Scan.Table
	values := 0
	for i, c := range p.Scan.Cols {
		if k := p.Scan.TableCols[i]; c.Type.IsFloat() && !slices.Contains(t.Key, k) {
			values++
		}
	}
	if len(p.Cols) == 1 && values > 1 {
		return t.Name + "." + p.Scan.Col(p.Cols[0]).Name
	}
	return t.Name
}

// Differentiate returns, for each parameter, a node with the columns of its scan: identity and attributes
// copied, the gradient of the loss in the value columns. Column col of loss must be a scalar float; that the
// loss has one row is checked when it is run. The nodes below loss must hold no Gradient (see Expand).
func Differentiate(ctx context.Context, b *ra.Builder, loss *ra.Node, col ra.ColumnID,
	params []Param) ([]*ra.Node, error) {
	return differentiate(ctx, b, loss, col, params, false)
}

// differentiate is Differentiate; exact gradients have the table's identity (where that is empty, a constant) and
// no hidden columns in it.
func differentiate(ctx context.Context, b *ra.Builder, loss *ra.Node, col ra.ColumnID, params []Param,
	exact bool) ([]*ra.Node, error) {
	d := newDiffer(b, params)
	if err := d.reachable(loss, col); err != nil {
		return nil, err
	}
	d.parts[loss] = []*rjp.Grad{seed(b, loss, col)}
	var order []*ra.Node
	ra.Walk(func(n *ra.Node) { order = append(order, n) }, loss)
	for i := len(order) - 1; i >= 0; i-- { // consumers before producers
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := d.visit(order[i]); err != nil {
			return nil, err
		}
	}
	out := make([]*ra.Node, len(params))
	for i, p := range params {
		if d.grads[p.Scan] == nil { // every path to it ends in an argument without a derivative
			return nil, &ParamError{i, noValue(p)}
		}
		g := d.grads[p.Scan]
		if exact {
			var err error
			if g, err = d.exact(p.Scan, g); err != nil {
				return nil, err
			}
		}
		out[i] = assemble(b, p, g)
	}
	return out, nil
}

// ParamError says which parameter an error is about.
type ParamError struct {
	Param int
	Err   error
}

// Error returns the message alone.
func (e *ParamError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *ParamError) Unwrap() error { return e.Err }

type activeKey struct {
	n  *ra.Node
	id ra.ColumnID
}

type differ struct {
	ctx    *rjp.Context
	params []Param
	active map[activeKey]bool
	parts  map[*ra.Node][]*rjp.Grad
	grads  map[*ra.Node]*rjp.Grad // of the scans
	loops
}

func newDiffer(b *ra.Builder, params []Param) *differ {
	d := &differ{params: params, active: map[activeKey]bool{}, parts: map[*ra.Node][]*rjp.Grad{},
		grads: map[*ra.Node]*rjp.Grad{}}
	d.ctx = &rjp.Context{B: b, Active: d.isActive,
		Loops: rjp.Loops{Align: d.aligned, Through: d.through, Spread: d.spread}}
	return d
}

// isActive reports whether a column depends on a wanted parameter other than through piecewise constant kernels.
func (d *differ) isActive(n *ra.Node, id ra.ColumnID) bool {
	if n == d.to {
		return slices.Contains(d.wanted, id)
	}
	k := activeKey{n, id}
	if r, ok := d.active[k]; ok {
		return r
	}
	r := false
	if c := n.Col(id); c.Dep && c.Type.IsFloat() {
		r = d.reads(n, id, n.Index(id))
	}
	d.active[k] = r
	return r
}

func (d *differ) reads(n *ra.Node, id ra.ColumnID, i int) bool {
	if n.Op == ra.Recursion {
		return d.activeState(n)[i]
	}
	if n.Op == ra.Scan {
		return slices.ContainsFunc(d.params, func(p Param) bool { return p.Scan == n && p.has(id) })
	}
	return readBy(n, i, d.isActive)
}

// readBy reports whether f holds for a column that column i of n is computed from, other than through piecewise
// constant kernels.
func readBy(n *ra.Node, i int, f func(in *ra.Node, id ra.ColumnID) bool) bool {
	switch n.Op {
	case ra.Select, ra.Join:
		return kernels.Reaches(n.Out[i], func(c kernels.Col) bool { return f(n.Inputs[c.Input], c.ID) })
	case ra.Aggregate:
		if i < len(n.Group) {
			return false
		}
		a := n.Aggs[i-len(n.Group)]
		return a.Fn != ra.Count && a.Fn != ra.CountRows && f(n.Inputs[0], a.Arg)
	case ra.Window:
		if i < len(n.Over.Pass) {
			return false
		}
		a := n.Aggs[i-len(n.Over.Pass)]
		return a.Fn != ra.Count && a.Fn != ra.CountRows && a.Fn != ra.Rank && f(n.Inputs[0], a.Arg)
	case ra.Union, ra.Add:
		return slices.ContainsFunc(n.Inputs, func(in *ra.Node) bool { return f(in, in.Cols[i].ID) })
	case ra.Recursion:
		return slices.ContainsFunc(n.Inputs[:2], func(in *ra.Node) bool { return f(in, in.Cols[i].ID) })
	case ra.SemiJoin, ra.AntiJoin:
		return f(n.Inputs[0], n.Inputs[0].Cols[i].ID)
	}
	return false
}

// reachable refuses parameters whose gradient would be silently zero (law 5): the columns that the loss depends on,
// other than through piecewise constant kernels, are followed down.
func (d *differ) reachable(loss *ra.Node, col ra.ColumnID) error {
	seen, read, levels := map[activeKey]bool{}, map[*ra.Node]bool{}, levelsOf(loss)
	var follow func(n *ra.Node, id ra.ColumnID) bool
	follow = func(n *ra.Node, id ra.ColumnID) bool {
		k := activeKey{n, id}
		if c := n.Col(id); !seen[k] && c.Dep && c.Type.IsFloat() {
			seen[k] = true
			if n.Op == ra.Self {
				loop := levels[n]
				return follow(loop, loop.Cols[n.Index(id)].ID)
			}
			readBy(n, n.Index(id), follow)
		}
		return false // so that every column is followed
	}
	follow(loss, col)
	ra.Walk(func(n *ra.Node) { read[n] = true }, loss)
	for i, p := range d.params {
		reached := slices.ContainsFunc(p.Scan.Cols, func(c ra.Column) bool {
			return p.has(c.ID) && seen[activeKey{p.Scan, c.ID}]
		})
		switch {
		case reached:
		case !read[p.Scan]:
			return &ParamError{i, sqlerr.New(sqlerr.InvalidParameter, "the loss does not read parameter %q", p.name()).
				WithHint("Name a table that the loss reads through its views.")}
		default:
			return &ParamError{i, noValue(p)}
		}
	}
	return nil
}

// noValue is the error of a parameter whose gradient would be zero everywhere.
func noValue(p Param) error {
	return sqlerr.New(sqlerr.InvalidParameter, "the loss does not depend on a value of parameter %q", p.name()).
		WithDetail("It reads the table, but only through keys, attributes or piecewise constant functions, so the gradient " +
			"would be zero everywhere.")
}

// seed is the gradient of the loss with respect to itself: one.
func seed(b *ra.Builder, loss *ra.Node, col ra.ColumnID) *rjp.Grad {
	out := lists.Map(loss.Key,
		func(k ra.ColumnID) ra.OutCol { return ra.OutCol{Name: loss.Col(k).Name, X: loss.Var(0, k)} })
	one := kernels.CastConst(loss.Col(col).Type.Kind, 1)
	n := b.Select(loss, nil, append(out, ra.OutCol{Name: "one", X: one}))
	g := &rjp.Grad{Node: n}
	for i := range loss.Key {
		g.Key = append(g.Key, n.Cols[i].ID)
	}
	g.Set(col, n.Cols[len(loss.Key)].ID)
	return g
}

// visit sums what n has received and hands it on to n's inputs. Columns that received from different
// contributions are handed on apart: a row counts as reached only where one of its own columns was (law 3).
func (d *differ) visit(n *ra.Node) error {
	parts := d.parts[n]
	if len(parts) == 0 {
		return nil
	}
	if n.Op == ra.Scan {
		g, err := d.sum(n, parts)
		d.grads[n] = g
		return err
	}
	all := [][]*rjp.Grad{parts} // of a Recursion, whose columns are computed from each other
	if n.Op != ra.Recursion {
		all = classes(n, parts)
	}
	for _, class := range all {
		g, err := d.sum(n, class)
		if err != nil {
			return err
		}
		down, err := rjp.Of(d.ctx, n, g)
		if err != nil {
			return err
		}
		for i, part := range down {
			if part != nil {
				d.parts[n.Inputs[i]] = append(d.parts[n.Inputs[i]], part)
			}
		}
	}
	return nil
}

// classes splits contributions by column, and joins the columns that received from the same ones.
func classes(n *ra.Node, parts []*rjp.Grad) [][]*rjp.Grad {
	var order []string
	cols := map[string][]ra.ColumnID{}
	for _, c := range n.Cols {
		from := make([]byte, len(parts))
		for i, p := range parts {
			if _, ok := p.Val[c.ID]; ok {
				from[i] = 1
			}
		}
		if cols[string(from)] == nil {
			order = append(order, string(from))
		}
		cols[string(from)] = append(cols[string(from)], c.ID)
	}
	var out [][]*rjp.Grad
	for _, from := range order {
		var class []*rjp.Grad
		for i, p := range parts {
			if from[i] == 1 {
				class = append(class, p.Only(cols[from]))
			}
		}
		if class != nil {
			out = append(out, class)
		}
	}
	return out
}

// sum adds the contributions to n; a column that one of them lacks counts as zero there.
func (d *differ) sum(n *ra.Node, parts []*rjp.Grad) (*rjp.Grad, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	var cols []ra.ColumnID
	for _, c := range n.Cols {
		for _, p := range parts {
			if _, ok := p.Val[c.ID]; ok {
				cols = append(cols, c.ID)
				break
			}
		}
	}
	inputs := make([]*ra.Node, len(parts))
	for i, p := range parts {
		in, err := d.aligned(n, p, cols)
		if err != nil {
			return nil, err
		}
		inputs[i] = in
	}
	nKey := len(inputs[0].Key)
	total := d.ctx.B.Add(inputs, nKey)
	out := &rjp.Grad{Node: total}
	for i := range n.Key {
		out.Key = append(out.Key, total.Cols[i].ID)
	}
	for i, c := range cols {
		out.Set(c, total.Cols[nKey+i].ID)
	}
	return out, nil
}

// aligned gives a contribution the columns (groups of n's identity, cols) and exactly those groups as key.
func (d *differ) aligned(n *ra.Node, p *rjp.Grad, cols []ra.ColumnID) (*ra.Node, error) {
	out := rjp.GroupOut(p.Node, p.Key)
	for i := range p.Key {
		out[i].Name = n.Col(n.Key[i]).Name
	}
	nKey := len(out)
	for _, c := range cols {
		out = append(out, ra.OutCol{Name: "d_" + n.Col(c).Name, X: gradient(p, c, n.Col(c).Type)})
	}
	return rjp.SumGroups(d.ctx.B, d.ctx.B.Select(p.Node, nil, out), 0, nKey, len(cols))
}

// exact sums a gradient by n's identity.
func (d *differ) exact(n *ra.Node, g *rjp.Grad) (*rjp.Grad, error) {
	node, err := d.aligned(n, g, g.Cols)
	if err != nil {
		return nil, err
	}
	out := &rjp.Grad{Node: node}
	for i := range n.Key {
		out.Key = append(out.Key, node.Cols[i].ID)
	}
	for i, c := range g.Cols {
		out.Set(c, node.Cols[len(node.Key)+i].ID)
	}
	return out, nil
}

// gradient is the gradient by a column of type t, or zeros; which are as large, and made only where there is none.
func gradient(g *rjp.Grad, c ra.ColumnID, t kernels.Type) *kernels.Expr {
	if id, ok := g.Val[c]; ok {
		return g.Node.Var(0, id)
	}
	return kernels.ZerosLike(t)
}

// assemble gives the gradient the table's columns.
func assemble(b *ra.Builder, p Param, g *rjp.Grad) *ra.Node {
	var equi []ra.Equi
	for i, k := range p.Scan.Key {
		equi = append(equi, ra.Equi{L: kernels.Col{ID: g.Key[i]}, R: kernels.Col{Input: 1, ID: k}, NullSafe: true})
	}
	var out []ra.OutCol
	for i, c := range p.Scan.Cols {
		x := p.Scan.Var(1, c.ID)
		if k := p.Scan.TableCols[i]; k != ra.RowID && p.Scan.Table.Cols[k].IsValue() && !p.Scan.IsKey(c.ID) {
			x = gradient(g, c.ID, c.Type)
		}
		out = append(out, ra.OutCol{Name: c.Name, X: x})
	}
	return b.JoinWhole([]*ra.Node{g.Node, p.Scan}, equi, nil, out)
}
