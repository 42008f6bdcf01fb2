package ra

import (
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
)

// Loop says how a Recursion goes on. It is never changed.
//
// The rows of a Recursion come in levels. Of two inputs, the first is level 0, and the second, the step, makes each
// level from the one before, which its leaf Self stands for, until a level has no rows: SQL's WITH RECURSIVE. The
// columns that hold no values are the identity of all rows together. Which rows there are depends on no parameter.
//
// The gradient of a Recursion is one as well: a level of it is what its rows receive from outside and from the level
// behind it. Such a Recursion has a third input, the one whose levels it goes along. A level is the sum, by identity,
// of the first input's rows of that level and of what the step makes of the level next to it; a missing row is zero.
type Loop struct {
	Self ColumnID // the first column of the step's Self
	Back bool     // from the last level to the first
}

const along = 2 // the input whose levels a Recursion goes along

// Reading lists the nodes below root that read from, inputs first, from itself among them.
func Reading(root, from *Node) (out []*Node) {
	reads := map[*Node]bool{from: true}
	Walk(func(m *Node) {
		if reads[m] = m == from || slices.ContainsFunc(m.Inputs, func(in *Node) bool { return reads[in] }); reads[m] {
			out = append(out, m)
		}
	}, root)
	return out
}

// Loops lists the Recursions below roots, inputs first.
func Loops(roots ...*Node) (out []*Node) {
	Walk(func(n *Node) {
		if n.Op == Recursion {
			out = append(out, n)
		}
	}, roots...)
	return out
}

// Self is the leaf for a level with these columns; those at the positions key are its identity.
func (b *Builder) Self(cols []Column, key []int) *Node {
	n := &Node{Op: Self, Pos: -1}
	for i, c := range cols {
		c.ID = b.ID()
		n.Cols = append(n.Cols, c)
		if slices.Contains(key, i) {
			n.Key = append(n.Key, c.ID)
		}
	}
	n.Unique = n.Key
	return n
}

// Recursion is start, then what step makes of each level. The first columns of both inputs correspond to those of self,
// which step reads; what else these have is dropped. Its last column is the number of the level.
func (b *Builder) Recursion(self, start, step *Node) *Node {
	n := b.loop(self, []*Node{start, step}, false)
	n.Cols = append(n.Cols, Column{ID: b.ID(), Name: "level", Type: kernels.Type{Kind: kernels.Int}})
	return n
}

// Retrace sums rows along the levels of a Recursion, of which they have the identity.
func (b *Builder) Retrace(self, start, step, of *Node, back bool) *Node {
	return b.loop(self, []*Node{start, step, of}, back)
}

func (b *Builder) loop(self *Node, in []*Node, back bool) *Node {
	n := &Node{Op: Recursion, Inputs: in, Loop: &Loop{self.Cols[0].ID, back}, Pos: -1}
	for _, c := range self.Cols {
		key := self.IsKey(c.ID)
		c.ID = b.ID()
		n.Cols = append(n.Cols, c)
		if key {
			n.Key = append(n.Key, c.ID)
		}
	}
	n.Unique = n.Key
	return n
}

// Copy copies the nodes below root that read from, with columns of their own, to read to instead, whose columns
// correspond to those of from by position. made are the copies, inputs first.
func (b *Builder) Copy(root, from, to *Node) (out *Node, made []*Node) {
	ids, done := map[ColumnID]ColumnID{}, map[*Node]*Node{from: to}
	for i, c := range from.Cols {
		ids[c.ID] = to.Cols[i].ID
	}
	for _, n := range Reading(root, from) {
		if n == from {
			continue
		}
		c := b.copied(n, done, ids)
		done[n] = c
		made = append(made, c)
	}
	return done[root], made
}

// copied is a copy of n over other inputs; ids tells what columns have become.
func (b *Builder) copied(n *Node, done map[*Node]*Node, ids map[ColumnID]ColumnID) *Node {
	c := *n
	c.Inputs = lists.Map(n.Inputs, func(in *Node) *Node {
		if d := done[in]; d != nil {
			return d
		}
		return in
	})
	to := func(id ColumnID) ColumnID {
		if d, ok := ids[id]; ok {
			return d
		}
		return id
	}
	all := func(list []ColumnID) []ColumnID {
		if list == nil {
			return nil
		}
		return lists.Map(list, to)
	}
	x := kernels.NewMapper(func(e *kernels.Expr) *kernels.Expr {
		if d := to(e.Col.ID); d != e.Col.ID {
			return kernels.Column(kernels.Col{Input: e.Col.Input, ID: d}, e.Type)
		}
		return e
	})
	c.Pred, c.Out = mapped(x, n.Pred), mapped(x, n.Out)
	c.Equi = lists.Map(n.Equi, func(q Equi) Equi { q.L.ID, q.R.ID = to(q.L.ID), to(q.R.ID); return q })
	c.Group = all(n.Group)
	c.Aggs = lists.Map(n.Aggs, func(a Agg) Agg { a.Arg = to(a.Arg); return a })
	if n.Over != nil {
		c.Over = n.Over.Renamed(to)
	}
	c.Cols = lists.Map(n.Cols, func(col Column) Column {
		old := col.ID
		col.ID = b.ID()
		ids[old] = col.ID
		return col
	})
	c.Key, c.Unique, c.Fixed, c.Least = all(n.Key), all(n.Unique), all(n.Fixed), all(n.Least)
	return &c
}

func mapped(x *kernels.Mapper, list []*kernels.Expr) []*kernels.Expr {
	if list == nil {
		return nil
	}
	return lists.Map(list, x.Map)
}
