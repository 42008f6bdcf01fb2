package einsum

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Einsum is column Col of Node, a Join or an Aggregate, by its labels: those of keys come first, then those of groups
// that are no keys, then those within chunks. The column is NULL, and a row adds nothing, where an operand is NULL.
type Einsum struct {
	Node *ra.Node
	Col  int
	Agg  ra.AggFn // ⊕, of an Aggregate
	Rows *Rows    // of the join
	Product[Term]
	By    []int // labels of the result: of its keys,
	Inner []int // and of its chunks
}

// Finder finds the labelled forms in the nodes of a query, each once.
type Finder struct {
	rows map[*ra.Node]*Rows
	sums map[place]*Einsum
}

type place struct {
	n *ra.Node
	i int
}

// NewFinder returns a finder. The nodes that it is asked about must not change any more.
func NewFinder() *Finder { return &Finder{map[*ra.Node]*Rows{}, map[place]*Einsum{}} }

// Find finds the labelled forms of the sums of a plan: of aggregates, and of products within chunks over joins.
func Find(p *ra.Plan) (out []*Einsum) {
	f := NewFinder()
	ra.Walk(func(n *ra.Node) {
		for i := range n.Cols {
			if e := f.Sum(n, i); e != nil && (n.Op == ra.Aggregate || e.sums()) {
				out = append(out, e)
			}
		}
	}, p.Nodes()...)
	return out
}

// Rows are the rows of a node.
func (f *Finder) Rows(n *ra.Node) *Rows {
	if f.rows[n] == nil {
		f.rows[n] = rowsOf(n)
	}
	return f.rows[n]
}

// Sum is column i of n, an aggregate or a column of a Join or Select; nil where that has no labelled form.
func (f *Finder) Sum(n *ra.Node, i int) *Einsum {
	at := place{n, i}
	e, ok := f.sums[at]
	if !ok {
		e = f.sum(n, i)
		f.sums[at] = e
	}
	return e
}

func (f *Finder) sum(n *ra.Node, i int) *Einsum {
	e := &Einsum{Node: n, Col: i}
	var v Term
	switch {
	case !n.Cols[i].Type.IsFloat():
		return nil
	case n.Op == ra.Aggregate && i >= len(n.Group):
		a := n.Aggs[i-len(n.Group)]
		if e.Agg = a.Fn; a.Fn == ra.Count || a.Fn == ra.CountRows {
			return nil
		}
		e.Rows = f.Rows(n.Inputs[0])
		e.By, v = e.Rows.By(n.Group), e.Rows.column(0, a.Arg)
	case n.Out != nil && n.Out[i].Def != nil:
		e.Rows = f.Rows(n)
		e.By, v = e.Rows.Reads[0].Keys, e.Rows.column(0, n.Cols[i].ID)
	default:
		return nil
	}
	for _, k := range e.Rows.Keys {
		e.Label(k.Len)
	}
	for _, l := range e.By {
		for l >= len(e.Lens) {
			e.Label(0)
		}
	}
	for _, n := range n.Cols[i].Type.Shape {
		e.Inner = append(e.Inner, e.Label(n))
	}
	switch t := (terms{e.Rows}); {
	case e.Agg == ra.Min || e.Agg == ra.Max: // not linear: the value of a row is one operand
		e.Operands = []Operand[Term]{{V: v, Inner: e.Inner}}
	case !e.Split(t, v, e.Inner):
		return nil
	}
	return e
}

// sums reports whether there is a label within chunks to be summed, of several operands.
func (e *Einsum) sums() bool {
	for _, o := range e.Operands {
		if len(e.Operands) > 1 && slices.ContainsFunc(o.Inner, func(l int) bool { return !slices.Contains(e.Inner, l) }) {
			return true
		}
	}
	return false
}

// Labels are all labels of an operand, of keys first.
func (e *Einsum) Labels(o Operand[Term]) []int { return append(e.Rows.Labels(o.V), o.Inner...) }

// terms are the expressions of the rows of a node.
type terms struct{ r *Rows }

func (t terms) Type(v Term) kernels.Type {
	x := v.X.Type
	x.Nullable = false                                             // what is NULL adds nothing
	if x.Kind == kernels.Int && x.Shape == nil && v.X.Def == nil { // their quotient would be another
		x.Kind = kernels.Float64
	}
	return x
}

func (t terms) Uniform(v Term) bool { return len(t.r.Labels(v)) == 0 }

func (t terms) Call(v Term) (d *kernels.Def, at kernels.Attr, args []Term) {
	if v.X.Def == nil || v.Leaf {
		return nil, at, nil
	}
	for _, a := range v.X.Args {
		args = append(args, t.r.term(v.Read, a))
	}
	return v.X.Def, v.X.Attr, args
}

func (t terms) Opens(kernels.Spec) bool { return true }

// Even takes chunks as they are.
func (t terms) Even(Term) (number Term, ok bool) { return number, false }

func (t terms) Operand(Term, bool) bool { return true }
