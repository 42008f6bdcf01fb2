package structure

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Flow is what is known of a plan before any data are read: which columns are needed, and what changes
// from step to step.
type Flow struct {
	Need      map[*ra.Node]map[int]bool
	Structure map[*ra.Node]bool // the node's rows may change between steps
	Column    map[ColumnOf]bool // the column's structural value may
}

// ColumnOf is a column of a node.
type ColumnOf struct {
	Node *ra.Node
	Col  int
}

func Analyse(p *ra.Plan) *Flow {
	f := &Flow{Need: map[*ra.Node]map[int]bool{}, Structure: map[*ra.Node]bool{}, Column: map[ColumnOf]bool{}}
	ra.Walk(func(n *ra.Node) { // inputs first
		f.Structure[n] = f.varies(n)
		for i := range n.Cols {
			f.Column[ColumnOf{n, i}] = f.columnVaries(n, i)
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

func (f *Flow) reads(n *ra.Node, e *kernels.Expr) bool {
	vary := e.PerStep()
	e.Cols(func(c kernels.Col) {
		in := n.Inputs[c.Input]
		vary = vary || f.Column[ColumnOf{in, in.Index(c.ID)}]
	})
	return vary
}

func (f *Flow) varies(n *ra.Node) bool {
	vary := n.PerStep
	for _, in := range n.Inputs {
		vary = vary || f.Structure[in]
	}
	for _, e := range n.Pred {
		vary = vary || f.reads(n, e)
	}
	for _, q := range n.Equi {
		for _, c := range []kernels.Col{q.L, q.R} {
			vary = vary || f.Column[ColumnOf{n.Inputs[c.Input], n.Inputs[c.Input].Index(c.ID)}]
		}
	}
	for _, g := range n.Group {
		vary = vary || f.Column[ColumnOf{n.Inputs[0], n.Inputs[0].Index(g)}]
	}
	for k := range n.Key {
		for _, in := range n.Inputs {
			vary = vary || n.Op == ra.Add && f.Column[ColumnOf{in, k}]
		}
	}
	return vary
}

func (f *Flow) columnVaries(n *ra.Node, i int) bool {
	if f.Structure[n] || n.Cols[i].Dep {
		return true
	}
	switch n.Op {
	case ra.Select, ra.Join:
		return f.reads(n, n.Out[i])
	case ra.Aggregate:
		in := n.Inputs[0]
		if i < len(n.Group) {
			return f.Column[ColumnOf{in, in.Index(n.Group[i])}]
		}
		a := n.Aggs[i-len(n.Group)]
		return a.Fn != ra.CountRows && f.Column[ColumnOf{in, in.Index(a.Arg)}]
	case ra.Union, ra.Add, ra.SemiJoin, ra.AntiJoin:
		for s, in := range n.Inputs {
			if s > 0 && (n.Op == ra.SemiJoin || n.Op == ra.AntiJoin) {
				break
			}
			if f.Column[ColumnOf{in, i}] {
				return true
			}
		}
	}
	return false
}

// structural wants what the structure of n reads.
func (f *Flow) structural(n *ra.Node) {
	wantCol := func(c kernels.Col) { f.want(n.Inputs[c.Input], n.Inputs[c.Input].Index(c.ID)) }
	for _, e := range n.Pred {
		e.Cols(wantCol)
	}
	for _, q := range n.Equi {
		wantCol(q.L)
		wantCol(q.R)
	}
	for _, g := range n.Group {
		f.want(n.Inputs[0], n.Inputs[0].Index(g))
	}
	for k := range n.Key {
		if n.Op == ra.Add {
			for _, in := range n.Inputs {
				f.want(in, k)
			}
		}
		if n.Op == ra.Scan { // keys of parameters; cheap beside the values
			f.want(n, n.Index(n.Key[k]))
		}
	}
	if f.Need[n] == nil {
		f.Need[n] = map[int]bool{}
	}
}

// want notes that column i of n is read, and what it is computed from.
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
		n.Out[i].Cols(func(c kernels.Col) { f.want(n.Inputs[c.Input], n.Inputs[c.Input].Index(c.ID)) })
	case ra.Aggregate:
		in := n.Inputs[0]
		if i < len(n.Group) {
			f.want(in, in.Index(n.Group[i]))
		} else if a := n.Aggs[i-len(n.Group)]; a.Fn != ra.CountRows {
			f.want(in, in.Index(a.Arg))
		}
	case ra.Union, ra.Add:
		for _, in := range n.Inputs {
			f.want(in, i)
		}
	case ra.SemiJoin, ra.AntiJoin:
		f.want(n.Inputs[0], i)
	}
}
