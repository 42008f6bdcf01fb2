package chunking

import (
	"context"
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/eindecomp"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/einsum"
)

// Domain is the set of the values of a column, NULL not among them: how many they are, and a hash of them all, whatever
// their order.
type Domain struct {
	Count int64
	Hash  uint64
}

// Keys finds the domain of a column of a table.
type Keys func(ctx context.Context, t *ra.Table, col int) (Domain, error)

// Left is a sum that is not decomposed.
type Left struct{ Name, Reason string }

// Chunking is the graph of a plan's sums.
type Chunking struct {
	Graph *eindecomp.Graph // nil: no sum has a labelled form over full grids
	Texts []string         // of the vertices: the formulas
	Left  []Left
}

// Find makes the graph of the sums that the roots of a plan are computed by.
func Find(ctx context.Context, p *ra.Plan, keys Keys) (*Chunking, error) {
	b := &builder{ctx: ctx, find: einsum.NewFinder(), keys: keys, counts: map[stored]Domain{}, known: map[place]int{}}
	for _, r := range p.Roots {
		for _, id := range r.Cols {
			if i := r.Node.Index(id); r.Node.Cols[i].Type.IsFloat() {
				if _, err := b.value(r.Node, i); err != nil {
					return nil, err
				}
			}
		}
	}
	if len(b.vertices) == 0 {
		return &b.out, nil
	}
	var err error
	b.out.Graph, err = eindecomp.New(b.vertices)
	return &b.out, err
}

// below finds the sums that a column is computed from which is none itself.
func (b *builder) below(n *ra.Node, i int) (err error) {
	follow := func(slot int, id ra.ColumnID) {
		in := n.Inputs[slot]
		if at := in.Index(id); err == nil && at >= 0 && in.Cols[at].Type.IsFloat() {
			_, err = b.value(in, at)
		}
	}
	switch {
	case n.Op == ra.Aggregate && i >= len(n.Group):
		if a := n.Aggs[i-len(n.Group)]; a.Fn != ra.CountRows {
			follow(0, a.Arg)
		}
	case n.Op == ra.Aggregate:
		follow(0, n.Group[i])
	case n.Op == ra.Window:
		for _, id := range n.Sources(i) {
			follow(0, id)
		}
	case n.Out != nil:
		n.Out[i].Any(func(x *kernels.Expr) bool {
			if x.IsCol {
				follow(x.Col.Input, x.Col.ID)
			}
			return false
		})
	default: // the inputs' columns stand in the same places
		for slot, in := range n.Inputs {
			if i < len(in.Cols) && (slot == 0 || n.Op == ra.Union || n.Op == ra.Add) {
				follow(slot, in.Cols[i].ID)
			}
		}
	}
	return err
}

// mostParts is how many calls a formula may have that is written out.
const mostParts = 200

// formula is the text of a sum, or only its name where that is long: what expressions share is written out each time.
func formula(e *einsum.Einsum) string {
	size := map[string]int{}
	var count func(t einsum.Term) int
	count = func(t einsum.Term) int {
		if t.Leaf || t.X.Def == nil {
			return 1
		}
		at := fmt.Sprintf("%d %p", t.Read, t.X)
		if n, ok := size[at]; ok {
			return n
		}
		n := 1
		for _, a := range t.X.Args {
			n = min(n+count(argument(e, t, a)), mostParts+1)
		}
		size[at] = n
		return n
	}
	n := 0
	for _, o := range e.Operands {
		n += count(o.V)
	}
	for _, f := range e.Scalars {
		n += count(f.V)
	}
	if n > mostParts {
		return fmt.Sprintf("%s, a formula of more than %d calls", e.Node.Cols[e.Col].Name, mostParts)
	}
	return e.Formula()
}

// argument is an argument of a call as a term.
func argument(e *einsum.Einsum, t einsum.Term, a *kernels.Expr) einsum.Term {
	if a.IsCol {
		return e.Rows.Input(t.Read, a.Col)
	}
	return einsum.Term{X: a, Read: t.Read}
}

// place is a column of a node, stored one of a table.
type place struct {
	n *ra.Node
	i int
}

type stored struct {
	t   *ra.Table
	col int
}

type builder struct {
	ctx      context.Context
	find     *einsum.Finder
	keys     Keys
	counts   map[stored]Domain
	known    map[place]int // the vertex, or eindecomp.Input
	vertices []eindecomp.Vertex
	nodes    []*ra.Node
	dims     [][]int // of each vertex: the columns of its node that are its output's first labels, those of keys
	out      Chunking
}

// value is the vertex of a column, or eindecomp.Input.
func (b *builder) value(n *ra.Node, i int) (int, error) {
	at := place{n, i}
	if v, ok := b.known[at]; ok {
		return v, nil
	}
	b.known[at] = eindecomp.Input
	var v *eindecomp.Vertex
	var dims []int
	var err error
	text, why := "", ""
	switch {
	case n.Out != nil && n.Out[i].IsCol:
		in := n.Inputs[n.Out[i].Col.Input]
		from, err := b.value(in, in.Index(n.Out[i].Col.ID))
		b.known[at] = from
		return from, err
	case n.Op == ra.Add && !n.IsKey(n.Cols[i].ID):
		v, dims, why, err = b.add(n, i)
		text = n.Cols[i].Name + ": the sum of those before"
	case n.Op == ra.Aggregate || n.Out != nil:
		e := b.find.Sum(n, i)
		if e == nil {
			if n.Op == ra.Aggregate && i >= len(n.Group) || n.Out != nil && n.Out[i].Def != nil {
				why = "it has no labelled form"
			}
			break
		}
		if dims, why = columns(e); why == "" {
			v, dims, why, err = b.sum(e, dims)
		}
		if v != nil {
			text = formula(e)
		}
	}
	if err == nil && v == nil {
		err = b.below(n, i)
	}
	if err != nil {
		return 0, err
	}
	if v == nil {
		if l := (Left{n.Cols[i].Name, why}); why != "" && !slices.Contains(b.out.Left, l) {
			b.out.Left = append(b.out.Left, l)
		}
		return eindecomp.Input, nil
	}
	v.Name = fmt.Sprintf("v%d", len(b.vertices)+1)
	b.known[at] = len(b.vertices)
	b.vertices, b.nodes, b.dims = append(b.vertices, *v), append(b.nodes, n), append(b.dims, dims)
	b.out.Texts = append(b.out.Texts, text)
	return b.known[at], nil
}

// columns are those of the node that the labels of the keys of a sum are.
func columns(e *einsum.Einsum) (out []int, why string) {
	for _, l := range e.By {
		at := slices.IndexFunc(e.Node.Cols, func(c ra.Column) bool {
			id := c.ID
			if e.Node.Op == ra.Aggregate {
				j := e.Node.Index(id)
				if j >= len(e.Node.Group) {
					return false
				}
				id = e.Node.Group[j]
			}
			k, ok := e.Rows.Label(0, id)
			return ok && k == l
		})
		if at < 0 {
			return nil, "its groups are no keys"
		}
		out = append(out, at)
	}
	return out, ""
}

// vertex is one that is being made, over the labels of a sum.
type vertex struct {
	eindecomp.Vertex
	e     *einsum.Einsum
	names []string
	at    map[int]int // the vertex's label for a label of the sum
	seen  map[string]bool
	left  string       // why it cannot be decomposed after all
	whole map[int]bool // labels of the sum that are not cut
	bound []int64      // of the labels of the sum
}

// sum is the vertex of a sum; nil with a reason where it is none.
// of are the columns of its keys.
func (b *builder) sum(e *einsum.Einsum, of []int) (_ *eindecomp.Vertex, dims []int, why string, err error) {
	v := &vertex{e: e, names: e.Names(), at: map[int]int{}, seen: map[string]bool{},
		whole: map[int]bool{}}
	if why, err = b.bounds(v); err != nil || why != "" {
		return nil, nil, why, err
	}
	for _, n := range e.Lens[len(e.Rows.Keys):] {
		v.bound = append(v.bound, int64(n))
	}
	for _, o := range e.Operands {
		if err := b.operand(v, o.V, o.Inner); err != nil {
			return nil, nil, "", err
		}
	}
	if v.left == "" && len(v.Labels) > mostLabels {
		v.left = fmt.Sprintf("it has %d labels", len(v.Labels))
	}
	if v.left != "" {
		return nil, nil, v.left, nil
	}
	for i, l := range append(slices.Clone(e.By), e.Inner...) {
		x, ok := v.at[l]
		switch {
		case i < len(of) && v.bound[l] == 1:
			continue
		case !ok:
			return nil, nil, fmt.Sprintf("label %s of the result is in none of the operands", v.names[l]), nil
		case i < len(of):
			dims = append(dims, of[i])
		}
		v.Output = append(v.Output, x)
	}
	for l := range v.whole {
		if x, ok := v.at[l]; ok {
			v.Labels[x].Whole = true
		}
	}
	if len(v.Operands) == 0 {
		return nil, nil, "", nil // an expression of single numbers
	}
	return &v.Vertex, dims, "", nil
}

// mostLabels is how many labels a vertex may have.
const mostLabels = 64

// operand adds what a term is computed from: inner are the labels of the axes of its chunks.
func (b *builder) operand(v *vertex, t einsum.Term, inner []int) error {
	once := fmt.Sprintf("%d %p %v", t.Read, t.X, inner)
	if t.Leaf {
		once = fmt.Sprintf("%d %d %v", t.Read, t.X.Col.ID, inner)
	}
	if v.left != "" || v.seen[once] { // parts are shared, and a column is read once
		return nil
	}
	v.seen[once] = true
	if t.Leaf {
		return b.leaf(v, t, inner)
	}
	if t.X.Def == nil {
		return nil
	}
	each := t.X.Def.Elem != nil || t.X.Def.Lazy != nil // element by element
	if !each {
		for _, l := range inner {
			v.whole[l] = true
		}
	}
	for _, a := range t.X.Args {
		if err := b.operand(v, argument(v.e, t, a), v.axes(a.Type, inner, each)); err != nil {
			return err
		}
	}
	return nil
}

// leaf adds a column: a stored one, or the value of another vertex.
func (b *builder) leaf(v *vertex, t einsum.Term, inner []int) error {
	n := v.e.Rows.Reads[t.Read].Node
	from, err := b.value(n, n.Index(t.X.Col.ID))
	if err != nil {
		return err
	}
	// a key of which there is one is no direction
	keys := slices.DeleteFunc(v.e.Rows.Labels(t), func(l int) bool { return v.bound[l] == 1 })
	o := eindecomp.Operand{Name: v.e.Term(t), Vertex: from}
	switch {
	case from == eindecomp.Input && n.Op != ra.Scan:
		v.left = fmt.Sprintf("it reads %s, which is left out or no sum", o.Name)
		return nil
	case from != eindecomp.Input:
		made := b.labels(v, t.Read, from)
		if b.nodes[from] != n || !sameSet(made, keys) {
			v.left = fmt.Sprintf("it reads %s by other keys than those by which it is made", o.Name)
			return nil
		}
		keys = made
	}
	for _, l := range append(keys, inner...) {
		o.Labels = append(o.Labels, v.label(l))
	}
	if from != eindecomp.Input {
		for i, l := range b.vertices[from].Output {
			if as := b.vertices[from].Labels[l]; i >= len(o.Labels) || as.Bound != v.Labels[o.Labels[i]].Bound {
				v.left = fmt.Sprintf("it reads %s, which has other keys", o.Name)
				return nil
			}
		}
	}
	v.Operands = append(v.Operands, o)
	return nil
}

// labels are those of a read for the keys of the vertex that makes its column, in the order of that.
func (b *builder) labels(v *vertex, read, from int) (out []int) {
	for _, at := range b.dims[from] {
		if l, ok := v.e.Rows.Label(read, v.e.Rows.Reads[read].Node.Cols[at].ID); ok {
			out = append(out, l)
		}
	}
	return out
}

func sameSet(a, b []int) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// axes are the labels of the axes of an argument of a call whose value's axes are inner.
func (v *vertex) axes(t kernels.Type, inner []int, each bool) (out []int) {
	same := len(t.Shape) == len(inner) && !slices.ContainsFunc(inner, func(l int) bool {
		return v.bound[l] != int64(t.Shape[slices.Index(inner, l)])
	})
	for d, n := range t.Shape {
		at := len(inner) - len(t.Shape) + d
		if (each || same) && at >= 0 && v.bound[inner[at]] == int64(n) {
			out = append(out, inner[at])
			continue
		}
		l := len(v.bound)
		v.bound, v.names = append(v.bound, int64(n)), append(v.names, fmt.Sprintf("axis %d of %v", d+1, t.Shape))
		v.whole[l] = true
		out = append(out, l)
	}
	return out
}

// label is the vertex's label for a label of the sum.
func (v *vertex) label(l int) int {
	x, ok := v.at[l]
	if !ok {
		x = len(v.Labels)
		v.at[l] = x
		v.Labels = append(v.Labels, eindecomp.Label{Name: v.names[l], Bound: v.bound[l]})
	}
	return x
}

// add is the vertex of a sum of relations by key.
func (b *builder) add(n *ra.Node, i int) (v *eindecomp.Vertex, dims []int, why string, err error) {
	v = &eindecomp.Vertex{}
	for slot, in := range n.Inputs {
		from, err := b.value(in, i)
		if err != nil {
			return nil, nil, "", err
		}
		if from == eindecomp.Input {
			return nil, nil, "a relation that it adds is left out or stored", nil
		}
		if b.nodes[from] != in {
			return nil, nil, "a relation that it adds has other rows than the sum that it reads", nil
		}
		made := &b.vertices[from]
		o := eindecomp.Operand{Name: made.Name, Vertex: from}
		for d, l := range made.Output {
			if slot == 0 {
				v.Labels, v.Output = append(v.Labels, made.Labels[l]), append(v.Output, d)
				v.Labels[d].Whole = false
			}
			o.Labels = append(o.Labels, d)
		}
		if slot == 0 {
			dims = b.dims[from]
		}
		if !slices.Equal(b.dims[from], dims) || !slices.EqualFunc(made.Output, v.Labels,
			func(l int, as eindecomp.Label) bool { return made.Labels[l].Bound == as.Bound }) {
			return nil, nil, "the relations that it adds have other keys", nil
		}
		v.Operands = append(v.Operands, o)
	}
	return v, dims, "", nil
}
