package executor

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// flow is what is known of a plan before any data are read: which columns are needed, and what changes
// from step to step.
type flow struct {
	need      map[*ra.Node]map[int]bool
	structure map[*ra.Node]bool // the node's rows may change between steps
	column    map[colKey]bool   // the column's structural value may

	wanted map[*ra.Node]*kernels.Asker // of a Select or Join: wants what the parts of its columns read, each part once
}

func analyse(p *ra.Plan) *flow {
	f := &flow{
		need: map[*ra.Node]map[int]bool{}, structure: map[*ra.Node]bool{}, column: map[colKey]bool{},
		wanted: map[*ra.Node]*kernels.Asker{},
	}
	ra.Walk(func(n *ra.Node) { // inputs first
		reads := f.varying(n)
		f.structure[n] = f.varies(n, reads)
		for i := range n.Cols {
			f.column[colKey{n: n, col: i}] = f.columnVaries(n, i, reads)
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

// varying asks whether expressions of n may have another value at the next step.
func (f *flow) varying(n *ra.Node) *kernels.Asker {
	return kernels.NewAsker(func(x *kernels.Expr) bool {
		if !x.IsCol {
			return x.Def != nil && x.Def.PerStep
		}
		in := n.Inputs[x.Col.Input]
		return f.column[colKey{n: in, col: in.Index(x.Col.ID)}]
	})
}

func (f *flow) varies(n *ra.Node, reads *kernels.Asker) bool {
	vary := n.PerStep
	for _, in := range n.Inputs {
		vary = vary || f.structure[in]
	}
	for _, e := range n.Pred {
		vary = vary || reads.Any(e)
	}
	for _, q := range n.Equi {
		for _, c := range []kernels.Col{q.L, q.R} {
			vary = vary || f.column[colKey{n: n.Inputs[c.Input], col: n.Inputs[c.Input].Index(c.ID)}]
		}
	}
	for _, g := range n.Group {
		vary = vary || f.column[colKey{n: n.Inputs[0], col: n.Inputs[0].Index(g)}]
	}
	for k := range n.Key {
		for _, in := range n.Inputs {
			vary = vary || n.Op == ra.Add && f.column[colKey{n: in, col: k}]
		}
	}
	return vary
}

func (f *flow) columnVaries(n *ra.Node, i int, reads *kernels.Asker) bool {
	if f.structure[n] || n.Cols[i].Dep {
		return true
	}
	switch n.Op {
	case ra.Select, ra.Join:
		return reads.Any(n.Out[i])
	case ra.Aggregate:
		in := n.Inputs[0]
		if i < len(n.Group) {
			return f.column[colKey{n: in, col: in.Index(n.Group[i])}]
		}
		a := n.Aggs[i-len(n.Group)]
		return a.Fn != ra.CountRows && f.column[colKey{n: in, col: in.Index(a.Arg)}]
	case ra.Union, ra.Add, ra.SemiJoin, ra.AntiJoin:
		for s, in := range n.Inputs {
			if s > 0 && (n.Op == ra.SemiJoin || n.Op == ra.AntiJoin) {
				break
			}
			if f.column[colKey{n: in, col: i}] {
				return true
			}
		}
	}
	return false
}

// structural wants what the structure of n reads.
func (f *flow) structural(n *ra.Node) {
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
	if f.need[n] == nil {
		f.need[n] = map[int]bool{}
	}
}

// want notes that column i of n is read, and what it is computed from.
func (f *flow) want(n *ra.Node, i int) {
	if f.need[n] == nil {
		f.need[n] = map[int]bool{}
	}
	if f.need[n][i] {
		return
	}
	f.need[n][i] = true
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
	case ra.Union, ra.Add:
		for _, in := range n.Inputs {
			f.want(in, i)
		}
	case ra.SemiJoin, ra.AntiJoin:
		f.want(n.Inputs[0], i)
	}
}

// parts wants what the expressions of n read that it is asked about.
func (f *flow) parts(n *ra.Node) *kernels.Asker {
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
