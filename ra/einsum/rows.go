package einsum

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Rows are the rows of a node, by the relations that are read in them.
type Rows struct {
	Reads []Read // the node first, each before those that it reads
	Keys  []Key  // the labels of columns that tell rows apart or that conditions make equal
	class map[column]column
	label map[column]int
}

// Read is a relation that is read in each row: one row of it.
type Read struct {
	Node   *ra.Node
	Inputs []int // the reads of its inputs; -1: not read in each row. nil: of none
	Keys   []int // the labels that tell its rows apart; none: it has one row
	part   bool  // of a read that is computed as a whole
}

// Key is a label of keys.
type Key struct {
	Name  string
	Len   int  // how many there are, where a table tells; 0: not known
	tells bool // the rows of some read apart
}

// column is a column of a read.
type column struct {
	read int
	id   ra.ColumnID
}

// mostReads bounds the reads of a node: views upon views that join a relation with itself have very many. What lies
// deeper is read as a whole.
const mostReads = 200

// rowsOf finds the reads of a node and their labels.
func rowsOf(n *ra.Node) *Rows {
	r := &Rows{class: map[column]column{}, label: map[column]int{}}
	r.Reads = append(r.Reads, Read{Node: n})
	for i := 0; i < len(r.Reads) && len(r.Reads) < mostReads; i++ { // those near the node first
		r.open(i)
	}
	var equal []column
	for i := range r.Reads {
		if in := r.Reads[i].Inputs; r.Reads[i].Node.Op == ra.Join && in != nil {
			for _, q := range r.Reads[i].Node.Equi {
				a := r.base(column{in[q.L.Input], q.L.ID})
				r.equate(a, r.base(column{in[q.R.Input], q.R.ID}))
				equal = append(equal, a)
			}
		}
	}
	for i := range r.Reads {
		r.tellApart(i)
	}
	for _, e := range equal {
		r.key(e)
	}
	return r
}

// tellApart notes the labels that tell the rows of read i apart.
func (r *Rows) tellApart(i int) {
	read := &r.Reads[i]
	ids := identity(read.Node)
	for _, id := range ids {
		l := r.key(r.base(column{i, id}))
		if r.Keys[l].tells = true; !slices.Contains(read.Keys, l) {
			read.Keys = append(read.Keys, l)
		}
	}
	if read.Node.Op != ra.Scan || len(ids) != 1 {
		return
	}
	k := &r.Keys[read.Keys[0]]
	if n := int(read.Node.Table.Rows); k.Len == 0 || n < k.Len {
		k.Len = n
	}
}

// open adds the reads of the inputs of which each row of read i has a row.
func (r *Rows) open(i int) {
	n := r.Reads[i].Node
	each := 0
	switch n.Op {
	case ra.Select, ra.Join:
		each = len(n.Inputs)
	case ra.SemiJoin, ra.AntiJoin, ra.Aggregate: // an Aggregate of groups of one row has its rows
		each = 1
	default:
		return
	}
	in := make([]int, len(n.Inputs))
	for s, input := range n.Inputs {
		if in[s] = -1; s < each {
			in[s] = len(r.Reads)
			r.Reads = append(r.Reads, Read{Node: input, part: n.Out == nil || r.Reads[i].part})
		}
	}
	r.Reads[i].Inputs = in
}

// identity are columns that tell the rows of n apart.
func identity(n *ra.Node) []ra.ColumnID {
	switch {
	case n.Least != nil:
		return n.Least
	case n.Op == ra.Scan && n.Table.Rows == 1:
		return nil
	}
	return n.Unique
}

// base follows a column down to the read that makes it.
func (r *Rows) base(c column) column {
	for {
		read := r.Reads[c.read]
		n := read.Node
		i := n.Index(c.id)
		switch {
		case read.Inputs == nil:
			return c
		case n.Out != nil:
			if !n.Out[i].IsCol {
				return c
			}
			c = column{read.Inputs[n.Out[i].Col.Input], n.Out[i].Col.ID}
		case n.Op == ra.Aggregate:
			if i >= len(n.Group) {
				return c
			}
			c = column{read.Inputs[0], n.Group[i]}
		default:
			c = column{read.Inputs[0], n.Inputs[0].Cols[i].ID}
		}
	}
}

func (r *Rows) find(c column) column {
	for {
		up, ok := r.class[c]
		if !ok {
			return c
		}
		c = up
	}
}

func (r *Rows) equate(a, b column) {
	if a, b = r.find(a), r.find(b); a != b {
		r.class[b] = a
	}
}

// key is the label of keys of a column, made where there is none yet.
func (r *Rows) key(c column) int {
	at := r.find(c)
	l, ok := r.label[at]
	if !ok {
		l = len(r.Keys)
		r.label[at] = l
		r.Keys = append(r.Keys, Key{Name: r.Reads[c.read].Node.Col(c.id).Name})
	}
	return l
}

// By are the labels of columns of the node, without those that the others determine. A column that has none gets one of
// those after the labels of keys.
func (r *Rows) By(ids []ra.ColumnID) (labels []int) {
	var rest []column
	for _, id := range ids {
		c := r.base(column{0, id})
		if l, ok := r.label[r.find(c)]; !ok || !r.Keys[l].tells {
			rest = append(rest, c)
		} else if !slices.Contains(labels, l) {
			labels = append(labels, l)
		}
	}
	keys, next := labels, len(r.Keys)
	for _, c := range rest {
		if r.constant(c) || r.determined(c, keys) {
			continue
		}
		l, ok := r.label[r.find(c)]
		if !ok {
			l, next = next, next+1
		}
		labels = append(labels, l)
	}
	return labels
}

// determined reports whether keys tell the row of the read that c is a column of.
func (r *Rows) determined(c column, keys []int) bool {
	return !slices.ContainsFunc(r.Reads[c.read].Keys, func(l int) bool { return !slices.Contains(keys, l) })
}

func (r *Rows) constant(c column) bool {
	n := r.Reads[c.read].Node
	return n.Out != nil && n.Out[n.Index(c.id)].IsConst()
}

// Whole reports whether read i is one of those that the rows are combinations of: the others pair and choose rows.
func (r *Rows) Whole(i int) bool {
	return !r.Reads[i].part && (r.Reads[i].Inputs == nil || r.Reads[i].Node.Out == nil)
}

// Part reports whether read i is read by one that is computed as a whole.
func (r *Rows) Part(i int) bool { return r.Reads[i].part }

// Label is that of a column of read i; ok is false where it has none.
func (r *Rows) Label(i int, id ra.ColumnID) (l int, ok bool) {
	l, ok = r.label[r.find(r.base(column{i, id}))]
	return l, ok
}

// Columns are the labels of the columns of read i.
func (r *Rows) Columns(i int) (labels []int) {
	for _, c := range r.Reads[i].Node.Cols {
		if l, ok := r.Label(i, c.ID); ok && !slices.Contains(labels, l) {
			labels = append(labels, l)
		}
	}
	return labels
}

// Computed is a label whose keys are computed in each row, from other columns.
type Computed struct {
	Label int
	Value Term
}

// Computed lists those of read i.
func (r *Rows) Computed(i int) (out []Computed) {
	n := r.Reads[i].Node
	if r.Reads[i].part || r.Reads[i].Inputs == nil || n.Out == nil {
		return nil
	}
	for j, x := range n.Out {
		if l, ok := r.label[r.find(column{i, n.Cols[j].ID})]; ok && !x.IsCol {
			out = append(out, Computed{l, Term{X: x, Read: i}})
		}
	}
	return out
}

// Term is an expression over the inputs of a read. The column of a read that is taken apart no further is a term over
// that read itself: X is the column, Input 0.
type Term struct {
	X    *kernels.Expr
	Read int
	Leaf bool // X is a column of Read itself
}

// Column is the term that a column of the node is.
func (r *Rows) Column(id ra.ColumnID) Term { return r.column(0, id) }

// Input is the term that a column of an input of a read is.
func (r *Rows) Input(read int, c kernels.Col) Term {
	return r.column(r.Reads[read].Inputs[c.Input], c.ID)
}

// term follows an expression of a read down to the read that computes it.
func (r *Rows) term(read int, x *kernels.Expr) Term {
	if !x.IsCol {
		return Term{X: x, Read: read}
	}
	return r.Input(read, x.Col)
}

// column is the term that a column of a read is.
func (r *Rows) column(read int, id ra.ColumnID) Term {
	n := r.Reads[read].Node
	if r.Reads[read].Inputs != nil && n.Out != nil {
		return r.term(read, n.Out[n.Index(id)])
	}
	return Term{X: n.Var(0, id), Read: read, Leaf: true}
}

// leaves calls f for each read that t is computed from, some of them several times. seen are the expressions that have
// been followed: they share parts so often that a plain walk would not end.
func (r *Rows) leaves(t Term, seen map[followed]bool, f func(read int)) {
	if t.Leaf {
		f(t.Read)
		return
	}
	at := followed{t.Read, t.X}
	if seen[at] {
		return
	}
	seen[at] = true
	t.X.Any(func(x *kernels.Expr) bool {
		if x.IsCol {
			r.leaves(r.term(t.Read, x), seen, f)
		}
		return false
	})
}

// followed is an expression over the inputs of a read.
type followed struct {
	read int
	x    *kernels.Expr
}

// Labels are the labels of keys that t depends on: those of the relations that it is computed from.
func (r *Rows) Labels(t Term) (labels []int) {
	r.leaves(t, map[followed]bool{}, func(read int) {
		for _, l := range r.Reads[read].Keys {
			if !slices.Contains(labels, l) {
				labels = append(labels, l)
			}
		}
	})
	slices.Sort(labels)
	return labels
}
