package ra

import (
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
)

// Mixed says why a Recursion's step over the rows of all levels at once would not be the step over each level; "": it
// is, if its groups, partitions and joins tell the levels apart.
func Mixed(step, self *Node) (why string) {
	reads := map[*Node]bool{}
	for _, n := range Reading(step, self) {
		reads[n] = true
		rest := slices.ContainsFunc(n.Inputs, func(in *Node) bool { return !reads[in] })
		switch {
		case n.Op == Aggregate && len(n.Group) == 0:
			why = "aggregates the rows before it without GROUP BY"
		case n.Op == Union && rest:
			why = "puts the rows before it beside others"
		case n.Op == AntiJoin && !reads[n.Inputs[0]]:
			why = "keeps rows that have no partner among the rows before it"
		case n.Op == SemiJoin && !reads[n.Inputs[0]] && len(n.Pred) > 0:
			why = "keeps rows by a condition on the rows before it"
		}
	}
	return why
}

// Levelled is Copy where to is a Recursion of two inputs and from its Self: the copy is the step over each of the
// levels that to has, apart. Groups, partitions and joins tell these apart by the number of the level.
func (b *Builder) Levelled(root, from, to *Node) (out *Node, made []*Node, err error) {
	l := &leveller{b: b, ids: map[ColumnID]ColumnID{}, done: map[*Node]*Node{from: to},
		level: map[*Node]ColumnID{from: to.Cols[len(to.Cols)-1].ID}}
	for i, c := range from.Cols {
		l.ids[c.ID] = to.Cols[i].ID
	}
	for _, n := range Reading(root, from) {
		if n == from {
			continue
		}
		if err := l.copy(n); err != nil {
			return nil, nil, err
		}
	}
	return l.done[root], l.made, nil
}

// leveller copies nodes, and gives each a column with the number of the level.
type leveller struct {
	b     *Builder
	ids   map[ColumnID]ColumnID
	done  map[*Node]*Node
	level map[*Node]ColumnID // by node that is copied: that column of the copy
	made  []*Node
}

// reads lists the inputs of n that are copied.
func (l *leveller) reads(n *Node) (slots []int) {
	for i, in := range n.Inputs {
		if l.done[in] != nil {
			slots = append(slots, i)
		}
	}
	return slots
}

func (l *leveller) copy(n *Node) error {
	slots := l.reads(n)
	at := l.level[n.Inputs[slots[0]]]
	if n.Op == SemiJoin && slots[0] > 0 && len(n.Pred) == 0 {
		return l.partners(n)
	}
	c := l.b.copied(n, l.done, l.ids)
	level := Column{ID: l.b.ID(), Name: "level", Type: kernels.Type{Kind: kernels.Int}}
	keyed := slices.ContainsFunc(slots, func(s int) bool { return c.Inputs[s].IsKey(l.level[n.Inputs[s]]) })
	switch {
	case n.Op == Union && len(slots) == len(n.Inputs): // of selections, which only it reads
		for i, in := range c.Inputs {
			if in.Out == nil || !moves(in, l.level[n.Inputs[i]], len(n.Cols)) {
				return sqlerr.New(sqlerr.Internal, "internal error: a branch of a recursion's step is a %v", in.Op)
			}
		}
		c.Cols, keyed = append(c.Cols, level), true
	case n.Op == Aggregate && len(n.Group) > 0:
		c.Cols = slices.Insert(c.Cols, len(n.Group), level)
		c.Group, keyed = append(c.Group, at), true
	case n.Op == Window:
		over := *c.Over
		c.Cols = slices.Insert(c.Cols, len(over.Pass), level)
		over.Pass, over.Partition = append(over.Pass, at), append(over.Partition, at)
		c.Over = &over
	case n.Op == Select || n.Op == Join:
		l.meet(n, c, slots)
		c.Cols, c.Out = append(c.Cols, level), append(c.Out, c.Inputs[slots[0]].Var(slots[0], at))
	case (n.Op == SemiJoin || n.Op == AntiJoin) && slots[0] == 0:
		l.meet(n, c, slots)
		left := c.Inputs[0]
		c.Inputs[0] = l.placed(left, len(n.Cols), at)
		reread(c, left)
		c.Cols = append(c.Cols, level)
	default:
		return sqlerr.New(sqlerr.Internal, "internal error: the step of a recursion has a %v of rows of all levels", n.Op)
	}
	if keyed {
		c.Key, c.Unique = append(c.Key, level.ID), append(c.Unique, level.ID)
		if c.Least != nil {
			c.Least = append(c.Least, level.ID)
		}
	}
	l.done[n], l.level[n], l.made = c, level.ID, append(l.made, c)
	return nil
}

// meet has rows of the copied inputs of c meet in one level only.
func (l *leveller) meet(n, c *Node, slots []int) {
	for _, s := range slots[1:] {
		c.Equi = append(c.Equi, Equi{L: kernels.Col{Input: slots[0], ID: l.level[n.Inputs[slots[0]]]},
			R: kernels.Col{Input: s, ID: l.level[n.Inputs[s]]}})
	}
}

// moves makes a column of a selection its column number at. It reports whether it could.
func moves(n *Node, id ColumnID, at int) bool {
	from := n.Index(id)
	if from < at || at < 0 {
		return false
	}
	n.Cols = slices.Insert(slices.Delete(slices.Clone(n.Cols), from, from+1), at, n.Cols[from])
	n.Out = slices.Insert(slices.Delete(slices.Clone(n.Out), from, from+1), at, n.Out[from])
	return true
}

// placed is in with its level as column i.
func (l *leveller) placed(in *Node, i int, level ColumnID) *Node {
	out := lists.Map(in.Cols, func(c Column) OutCol { return OutCol{c.Name, in.Var(0, c.ID)} })
	out = slices.Insert(out, i, OutCol{"level", in.Var(0, level)})
	sel := l.b.Select(in, nil, out)
	l.made = append(l.made, sel)
	return sel
}

// reread has n read the columns of its first input, which was in and has got one more, by their new ids.
func reread(n, in *Node) {
	to := map[ColumnID]ColumnID{}
	for i, c := range in.Cols {
		if i >= len(n.Cols) {
			i++
		}
		to[c.ID] = n.Inputs[0].Cols[i].ID
	}
	move := func(c kernels.Col) kernels.Col {
		if c.Input == 0 {
			c.ID = to[c.ID]
		}
		return c
	}
	x := kernels.NewMapper(func(e *kernels.Expr) *kernels.Expr { return kernels.Column(move(e.Col), e.Type) })
	n.Pred = mapped(x, n.Pred)
	n.Equi = lists.Map(n.Equi, func(q Equi) Equi { q.L, q.R = move(q.L), move(q.R); return q })
}

// partners copies a SemiJoin of rows that are the same at each level with those of a level: a row is there once for
// each level in which it has a partner.
func (l *leveller) partners(n *Node) error {
	right, group := l.done[n.Inputs[1]], []ColumnID(nil)
	for _, q := range n.Equi {
		group = append(group, l.ids[q.R.ID])
	}
	met, err := l.b.Aggregate(right, append(group, l.level[n.Inputs[1]]), nil)
	if err != nil {
		return err
	}
	left, equi := n.Inputs[0], slices.Clone(n.Equi)
	for i := range equi {
		equi[i].R = kernels.Col{Input: 1, ID: met.Cols[i].ID}
	}
	out := lists.Map(left.Cols[:len(n.Cols)], func(c Column) OutCol { return OutCol{c.Name, left.Var(0, c.ID)} })
	c := l.b.Join([]*Node{left, met}, equi, nil, append(out, OutCol{"level", met.Var(1, met.Cols[len(group)].ID)}))
	for i, col := range n.Cols {
		l.ids[col.ID] = c.Cols[i].ID
	}
	l.done[n], l.level[n], l.made = c, c.Cols[len(n.Cols)].ID, append(l.made, met, c)
	return nil
}
