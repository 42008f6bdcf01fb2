package rules

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "EliminateSelfJoin", Phase: Whole,
	Doc: "A relation u that is joined on its identity to an input whose rows were made from rows of u themselves " +
		"adds nothing but columns, which that input can pass up. It removes the joins back to forward relations " +
		"that the RJPs make (RA-AD §4, self-join elimination on keys). Must not fire where the identity's columns " +
		"come from u over different paths (two rows of u), through an aggregate, or may be NULL where the condition is =.",
	Apply: func(c *Context, n *ra.Node) bool {
		if n.Op != ra.Join {
			return false
		}
		for s, u := range n.Inputs {
			for a := range n.Inputs {
				if a == s || len(u.Unique) == 0 {
					continue
				}
				if path, ok := sameRow(n, a, s); ok {
					absorb(c, n, a, s, path)
					return true
				}
			}
		}
		return false
	},
})

// sameRow finds the path of slots from input a down to the node u of slot s, such that u's identity, as n
// equates it, comes up that path. Other conditions on u's columns must hold along it by themselves: only the
// identity is equated.
func sameRow(n *ra.Node, a, s int) ([]int, bool) {
	u := n.Inputs[s]
	var path []int
	found := map[ra.ColumnID]bool{}
	for _, q := range n.Equi {
		l, r := q.L, q.R
		if l.Input == s {
			l, r = r, l
		}
		if r.Input != s {
			continue
		}
		if l.Input != a || !slices.Contains(u.Key, r.ID) || !q.NullSafe && u.Col(r.ID).Type.Nullable {
			return nil, false
		}
		p, ok := lineage(n.Inputs[a], l.ID, u, r.ID)
		if !ok || path != nil && !slices.Equal(p, path) {
			return nil, false
		}
		path = p
		if path == nil {
			path = []int{}
		}
		found[r.ID] = true
	}
	for _, k := range u.Unique {
		if !found[k] {
			return nil, false
		}
	}
	return path, true
}

// lineage follows plain columns from column id of node n down to column want of node u.
func lineage(n *ra.Node, id ra.ColumnID, u *ra.Node, want ra.ColumnID) ([]int, bool) {
	var path []int
	for n != u {
		if n.Op != ra.Select && n.Op != ra.Join {
			return nil, false
		}
		i := n.Index(id)
		if !n.Out[i].IsCol {
			return nil, false
		}
		col := n.Out[i].Col
		path = append(path, col.Input)
		n, id = n.Inputs[col.Input], col.ID
	}
	return path, id == want
}

// absorb drops input s of n; the columns it gave come from input a.
func absorb(c *Context, n *ra.Node, a, s int, path []int) {
	u := n.Inputs[s]
	up := map[ra.ColumnID]ra.ColumnID{}
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
		if q.L.Input != s && q.R.Input != s {
			equi = append(equi, q)
		}
	}
	n.Equi = equi
	mapExprs(n, fetch)
	dropInput(n, s)
}

// widen makes column id of u available as a column of n, along the path of slots.
func widen(c *Context, n *ra.Node, path []int, u *ra.Node, id ra.ColumnID) ra.ColumnID {
	if len(path) == 0 {
		return id
	}
	below := widen(c, n.Inputs[path[0]], path[1:], u, id)
	x := n.InputVar(path[0], below)
	for i, o := range n.Out {
		if o.IsCol && o.Col == x.Col {
			return n.Cols[i].ID
		}
	}
	src := n.Inputs[path[0]].Col(below)
	col := ra.Column{ID: c.B.ID(), Name: src.Name, Type: src.Type, Dep: src.Dep}
	n.Cols, n.Out = append(slices.Clip(n.Cols), col), append(slices.Clip(n.Out), x)
	return col.ID
}

// dropInput removes an input that no expression reads any more.
func dropInput(n *ra.Node, s int) {
	n.Inputs = slices.Delete(slices.Clone(n.Inputs), s, s+1)
	mapExprs(n, func(c kernels.Col) kernels.Col {
		if c.Input > s {
			c.Input--
		}
		return c
	})
	if len(n.Inputs) == 1 {
		n.Op = ra.Select
	}
}
