package rules

import (
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "EliminateSelfJoin", Phase: Whole,
	Doc: "A relation u that is joined on its identity to an input whose rows were made from rows of u themselves " +
		"adds nothing but columns, which that input can pass up; where none is read, also an input that has summed those " +
		"rows by the identity will do. It removes the joins back to forward relations and to parameters " +
		"that the RJPs make (RA-AD §4, self-join elimination on keys). Must not fire where the identity's columns " +
		"come from u over different paths (two rows of u), where a sum lies between and a column is read, nor where the " +
		"identity may be NULL and the condition is =.",
	Apply: func(c *Context, n *ra.Node) bool {
		if n.Op != ra.Join {
			return false
		}
		if eliminateOne(c, n, 0, len(n.Inputs)) {
			return true
		}
		for s, in := range n.Inputs { // a join below n that passes on what n reads: u may be one of its inputs
			if in.Op != ra.Join || len(in.Pred) > 0 || !readsPlain(n, s) {
				continue
			}
			if m := merged(n, s); eliminateOne(c, m, s, s+len(in.Inputs)) {
				n.Inputs, n.Equi, n.Out, n.Pred, n.Op = m.Inputs, m.Equi, m.Out, m.Pred, m.Op
				return true
			}
		}
		return false
	},
})

// eliminateOne drops one of the inputs from, …, to-1: the first from whose rows another input was made.
func eliminateOne(c *Context, n *ra.Node, from, to int) bool {
	if len(n.Inputs) < 2 {
		return false
	}
	links := n.Links()
	for s := from; s < to; s++ {
		if len(n.Inputs[s].Unique) == 0 {
			continue
		}
		for a := range n.Inputs {
			if a == s {
				continue
			}
			if by, path, ok := sameRow(n, links, a, s); ok {
				absorb(c, n, a, s, by, path)
				return true
			}
		}
	}
	return false
}

// readsPlain reports whether the columns of input s that n reads are plain columns of that input's inputs.
func readsPlain(n *ra.Node, s int) bool {
	plain := plainConditions(n, s)
	n.Reads(func(c kernels.Col) { plain = plain && (c.Input != s || isPass(n.Inputs[s], n.Inputs[s].Index(c.ID))) })
	return plain
}

// sameRow reports whether each row of input a was made from the row of u = n.Inputs[s] with which n joins it. by maps
// columns of u's identity to the columns of a that equal them and have their type. path is the way of inputs from a
// down to u, by which other columns of u can be fetched; it counts only if n reads such columns.
func sameRow(n *ra.Node, links *ra.Links, a, s int) (by map[ra.ColumnID]ra.ColumnID, path []int, ok bool) {
	u := n.Inputs[s]
	for _, q := range n.Equi {
		l, r := q.L, q.R
		if l.Input == s {
			l, r = r, l
		}
		if r.Input == s && l.Input == a && (!u.IsKey(r.ID) || !q.NullSafe && u.Col(r.ID).Type.Nullable) {
			return nil, nil, false // a condition on other columns need not hold along the path
		}
	}
	var ids, want []ra.ColumnID
	by = map[ra.ColumnID]ra.ColumnID{}
	for _, k := range u.Key {
		for _, c := range links.Equated(kernels.Col{Input: s, ID: k}) {
			if c.Input != a {
				continue
			}
			ids, want = append(ids, c.ID), append(want, k)
			if u.Col(k).Type.Nullable || !n.Inputs[a].Col(c.ID).Type.Nullable {
				by[k] = c.ID
			}
		}
	}
	for _, k := range u.Unique {
		if !slices.Contains(want, k) {
			return nil, nil, false
		}
	}
	t := tracer{u: u, want: want, through: !readsMore(n, s, by), left: 200}
	path, ok = t.trace(n.Inputs[a], ids)
	return by, path, ok
}

// readsMore reports whether n reads a column of slot s that is not in by.
func readsMore(n *ra.Node, s int, by map[ra.ColumnID]ra.ColumnID) bool {
	more := false
	read := func(c kernels.Col) {
		_, ok := by[c.ID]
		more = more || c.Input == s && !ok
	}
	n.Reads(read)
	for _, q := range n.Equi {
		read(q.L)
		read(q.R)
	}
	return more
}

// tracer follows columns down to the columns want of node u, all of them along the same path.
type tracer struct {
	u       *ra.Node
	want    []ra.ColumnID
	through bool // operators that do not pass on u's other columns may be on the path
	left    int  // how many visits are left: a plan may have very many paths
}

// trace returns the path of inputs from node n down to u along which n's columns ids come from want.
func (t *tracer) trace(n *ra.Node, ids []ra.ColumnID) (path []int, ok bool) {
	if t.left--; n == t.u || t.left < 0 {
		return []int{}, n == t.u && slices.Equal(ids, t.want)
	}
	switch n.Op {
	case ra.Select, ra.Join:
		for s := range n.Inputs {
			if below := columnsIn(n, s, ids); below != nil {
				if path, ok := t.trace(n.Inputs[s], below); ok {
					return append([]int{s}, path...), true
				}
			}
		}
	case ra.Aggregate:
		var below []ra.ColumnID
		for _, id := range ids {
			if i := n.Index(id); i < len(n.Group) {
				below = append(below, n.Group[i])
			}
		}
		if t.through && len(below) == len(ids) {
			return t.trace(n.Inputs[0], below)
		}
	case ra.SemiJoin, ra.AntiJoin:
		if t.through {
			return t.trace(n.Inputs[0], samePlace(n, ids, n.Inputs[0]))
		}
	case ra.Add, ra.Union:
		for _, in := range n.Inputs {
			if !t.through {
				return nil, false
			}
			if path, ok = t.trace(in, samePlace(n, ids, in)); !ok {
				return nil, false
			}
		}
		return path, true
	}
	return nil, false
}

// columnsIn returns the columns of input s that always equal n's output columns ids; nil if one of them has no such
// column.
func columnsIn(n *ra.Node, s int, ids []ra.ColumnID) []ra.ColumnID {
	var out []ra.ColumnID
	links := n.Links()
	for _, id := range ids {
		x := n.Out[n.Index(id)]
		if !x.IsCol {
			return nil
		}
		for _, c := range links.Equated(x.Col) {
			if c.Input == s {
				out = append(out, c.ID)
				break
			}
		}
	}
	if len(out) < len(ids) {
		return nil
	}
	return out
}

// samePlace returns the columns of in at the positions that ids have in n.
func samePlace(n *ra.Node, ids []ra.ColumnID, in *ra.Node) []ra.ColumnID {
	return lists.Map(ids, func(id ra.ColumnID) ra.ColumnID { return in.Cols[n.Index(id)].ID })
}

// absorb drops input s of n. Its columns are then read from input a: those in up under the ids given there, others are
// fetched along path.
func absorb(c *Context, n *ra.Node, a, s int, up map[ra.ColumnID]ra.ColumnID, path []int) {
	u := n.Inputs[s]
	fetch := func(col kernels.Col) kernels.Col {
		if col.Input != s {
			return col
		}
		if _, ok := up[col.ID]; !ok {
			up[col.ID] = widen(c, n.Inputs[a], path, u, col.ID)
		}
		return kernels.Col{Input: a, ID: up[col.ID]}
	}
	var equi []ra.Equi
	for _, q := range n.Equi {
		if !(q.L.Input == s && q.R.Input == a) && !(q.L.Input == a && q.R.Input == s) {
			equi = append(equi, q)
		}
	}
	n.Equi = equi
	mapExprs(n, fetch)
	dropInput(n, s)
}

// widen makes column id of u a column of n, fetched along the path of inputs.
func widen(c *Context, n *ra.Node, path []int, u *ra.Node, id ra.ColumnID) ra.ColumnID {
	if len(path) == 0 {
		return id
	}
	below := widen(c, n.Inputs[path[0]], path[1:], u, id)
	x, src := n.InputVar(path[0], below), n.Inputs[path[0]].Col(below)
	for i, o := range n.Out { // a branch of a union may say NULL for the sake of another
		if o.IsCol && o.Col == x.Col && (src.Type.Nullable || !n.Cols[i].Type.Nullable) {
			return n.Cols[i].ID
		}
	}
	c.Changed(n)
	col := ra.Column{ID: c.B.ID(), Name: src.Name, Type: src.Type, Dep: src.Dep}
	n.Cols, n.Out = append(slices.Clip(n.Cols), col), append(slices.Clip(n.Out), x)
	return col.ID
}

// dropInput removes an input that no expression reads any more.
func dropInput(n *ra.Node, s int) {
	drop := make([]bool, len(n.Inputs))
	drop[s] = true
	dropInputs(n, drop)
}

// dropInputs removes inputs that no expression reads any more.
func dropInputs(n *ra.Node, drop []bool) {
	to := make([]int, len(n.Inputs))
	var rest []*ra.Node
	for s, in := range n.Inputs {
		to[s] = len(rest)
		if !drop[s] {
			rest = append(rest, in)
		}
	}
	n.Inputs = rest
	mapExprs(n, func(c kernels.Col) kernels.Col {
		c.Input = to[c.Input]
		return c
	})
	if len(n.Inputs) == 1 {
		n.Op = ra.Select
	}
}
