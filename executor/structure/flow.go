package structure

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Flow is what a plan tells before any data are read: which columns are needed, and what changes from step to step.
type Flow struct {
	Need      map[*ra.Node]map[int]bool
	Structure map[*ra.Node]bool // the rows of the node may change between steps
	Column    map[ColumnOf]bool // the values of the column, as the structure reads it, may change
	Within    map[*ra.Node]bool // each level of a Recursion has a structure of the node

	wanted map[*ra.Node]*kernels.Asker // of a Select or Join: marks what the parts of its columns read, each part once
}

// ColumnOf is a column of a node.
type ColumnOf struct {
	Node *ra.Node
	Col  int
}

// Analyse makes the Flow of a plan.
func Analyse(p *ra.Plan) *Flow {
	f := &Flow{Need: map[*ra.Node]map[int]bool{}, Structure: map[*ra.Node]bool{}, Column: map[ColumnOf]bool{},
		Within: map[*ra.Node]bool{}, wanted: map[*ra.Node]*kernels.Asker{}}
	ra.Walk(func(n *ra.Node) { // inputs first
		reads := f.Varying(n)
		f.Structure[n] = f.varies(n, reads)
		for i := range n.Cols {
			f.Column[ColumnOf{n, i}] = f.columnVaries(n, i, reads)
		}
		if n.Op == ra.Recursion {
			f.loop(n)
		}
	}, p.Nodes()...)
	ra.Walk(f.structural, p.Nodes()...)
	for _, r := range p.Roots {
		for _, c := range r.Cols {
			f.want(r.Node, r.Node.Index(c))
		}
		for _, c := range r.Node.Key {
			f.want(r.Node, r.Node.Index(c))
		}
	}
	return f
}

// loop marks what a Recursion's levels compute. If its rows may change, so may all of that.
func (f *Flow) loop(n *ra.Node) {
	for _, in := range n.Inputs[:2] {
		for i, c := range n.Cols[:n.States()] {
			f.Structure[n] = f.Structure[n] || !c.Dep && f.Column[ColumnOf{in, i}]
		}
	}
	for _, m := range n.Within() {
		f.Within[m] = true
		for i := range m.Cols {
			f.Structure[m] = f.Structure[n]
			f.Column[ColumnOf{m, i}] = f.Column[ColumnOf{m, i}] || f.Structure[n]
		}
	}
	for i := range n.Cols {
		f.Column[ColumnOf{n, i}] = f.Column[ColumnOf{n, i}] || f.Structure[n]
	}
}

// Varying asks whether expressions of n may have another value at the next step.
func (f *Flow) Varying(n *ra.Node) *kernels.Asker {
	return kernels.NewAsker(func(x *kernels.Expr) bool {
		if !x.IsCol {
			return x.Def != nil && x.Def.PerStep
		}
		in := n.Inputs[x.Col.Input]
		return f.Column[ColumnOf{in, in.Index(x.Col.ID)}]
	})
}

func (f *Flow) varies(n *ra.Node, reads *kernels.Asker) bool {
	vary := n.PerStep
	for _, in := range n.Inputs {
		vary = vary || f.Structure[in]
	}
	for _, e := range n.Pred {
		vary = vary || reads.Any(e)
	}
	for _, q := range n.Equi {
		for _, c := range []kernels.Col{q.L, q.R} {
			vary = vary || f.Column[ColumnOf{n.Inputs[c.Input], n.Inputs[c.Input].Index(c.ID)}]
		}
	}
	for _, g := range n.Arranged() {
		vary = vary || f.Column[ColumnOf{n.Inputs[0], n.Inputs[0].Index(g)}]
	}
	for k := range n.Key {
		for _, in := range n.Inputs {
			vary = vary || n.Op == ra.Add && f.Column[ColumnOf{in, k}]
		}
	}
	return vary
}

func (f *Flow) columnVaries(n *ra.Node, i int, reads *kernels.Asker) bool {
	if f.Structure[n] || n.Cols[i].Dep {
		return true
	}
	switch n.Op {
	case ra.Select, ra.Join:
		return reads.Any(n.Out[i])
	case ra.Aggregate:
		in := n.Inputs[0]
		if i < len(n.Group) {
			return f.Column[ColumnOf{in, in.Index(n.Group[i])}]
		}
		a := n.Aggs[i-len(n.Group)]
		return a.Fn != ra.CountRows && f.Column[ColumnOf{in, in.Index(a.Arg)}]
	case ra.Window:
		return slices.ContainsFunc(n.Sources(i), func(id ra.ColumnID) bool {
			return f.Column[ColumnOf{n.Inputs[0], n.Inputs[0].Index(id)}]
		})
	case ra.Union, ra.Add, ra.SemiJoin, ra.AntiJoin, ra.Recursion:
		for s, in := range n.Inputs {
			if n.Op == ra.Recursion && (s > 1 || i >= n.States()) || s > 0 && (n.Op == ra.SemiJoin || n.Op == ra.AntiJoin) {
				break
			}
			if f.Column[ColumnOf{in, i}] {
				return true
			}
		}
	}
	return false
}

// structural marks the columns that the structure of n reads.
func (f *Flow) structural(n *ra.Node) {
	wantCol := func(c kernels.Col) { f.want(n.Inputs[c.Input], n.Inputs[c.Input].Index(c.ID)) }
	for _, e := range n.Pred {
		e.Cols(wantCol)
	}
	for _, q := range n.Equi {
		wantCol(q.L)
		wantCol(q.R)
	}
	for _, g := range n.Arranged() {
		f.want(n.Inputs[0], n.Inputs[0].Index(g))
	}
	for k := range n.Key {
		if n.Op == ra.Add {
			for _, in := range n.Inputs {
				f.want(in, k)
			}
		}
		if n.Op == ra.Scan { // the parameters' keys cost little beside their values
			f.want(n, n.Index(n.Key[k]))
		}
	}
	if f.Need[n] == nil {
		f.Need[n] = map[int]bool{}
	}
}

// want marks column i of n as read, and all that it is computed from.
func (f *Flow) want(n *ra.Node, i int) {
	if f.Need[n] == nil {
		f.Need[n] = map[int]bool{}
	}
	if f.Need[n][i] {
		return
	}
	f.Need[n][i] = true
	switch n.Op {
	case ra.Select, ra.Join:
		f.parts(n).Any(n.Out[i])
	case ra.Aggregate:
		in := n.Inputs[0]
		if i < len(n.Group) {
			f.want(in, in.Index(n.Group[i]))
		} else if a := n.Aggs[i-len(n.Group)]; a.Fn != ra.CountRows {
			f.want(in, in.Index(a.Arg))
		}
	case ra.Window:
		for _, id := range n.Sources(i) {
			f.want(n.Inputs[0], n.Inputs[0].Index(id))
		}
	case ra.Union, ra.Add:
		for _, in := range n.Inputs {
			f.want(in, i)
		}
	case ra.Recursion: // a column is computed from all of the level before
		for i := range n.Cols[:n.States()] {
			f.want(n, i)
			f.want(n.Inputs[0], i)
			f.want(n.Inputs[1], i)
		}
		for _, k := range n.Along().Key {
			f.want(n.Along(), n.Along().Index(k))
		}
	case ra.SemiJoin, ra.AntiJoin:
		f.want(n.Inputs[0], i)
	}
}

// parts marks what those expressions of n read that are asked for.
func (f *Flow) parts(n *ra.Node) *kernels.Asker {
	if f.wanted[n] == nil {
		f.wanted[n] = kernels.NewAsker(func(x *kernels.Expr) bool {
			if x.IsCol {
				f.want(n.Inputs[x.Col.Input], n.Inputs[x.Col.Input].Index(x.Col.ID))
			}
			return false
		})
	}
	return f.wanted[n]
}
