package rules

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/rjp"
)

var _ = register(Rule{
	Name: "EliminateNullCheck", Phase: Whole,
	Doc: "A sum without groups is NULL only over no rows. A join that has rows only where the summed relation has some " +
		"need not test it: neither in its own expressions nor in those of an input, of which it then reads a simpler copy. " +
		"The RJP of a loss asks of every row whether the loss is NULL. Must not fire where the summed values may be NULL " +
		"themselves, nor where no other input of the join proves that there are rows, nor on an input " +
		"of very many relations " +
		"that others read too: each would read a copy of its own.",
	Apply: func(c *Context, n *ra.Node) bool {
		if n.Op != ra.Join {
			return false
		}
		by := &provers{n: n}
		if simplified := knowing(n, func(s int, id ra.ColumnID) bool {
			return by.hasValue(n.Inputs[s], id, s)
		}); simplified != nil {
			n.Pred, n.Out = simplified.Pred, simplified.Out
			return true
		}
		for s, in := range n.Inputs {
			if in.Op != ra.Select && in.Op != ra.Join || len(in.Inputs) > rjp.Wide && !c.Sole(in) {
				continue
			}
			simplified := knowing(in, func(t int, id ra.ColumnID) bool { return by.hasValue(in.Inputs[t], id, s) })
			if simplified == nil {
				continue
			}
			var out []ra.OutCol
			for i, x := range simplified.Out {
				out = append(out, ra.OutCol{Name: in.Cols[i].Name, X: x})
			}
			putBelow(n, s, c.B.Join(in.Inputs, in.Equi, simplified.Pred, out))
			return true
		}
		return false
	},
})

// provers finds what each input of join n proves of others by having rows. It looks when it is first asked.
type provers struct {
	n      *ra.Node
	needed map[*ra.Node][]int // per node: the inputs of the join that have no rows if the node has none
	splits map[int][]*ra.Node // per input: Add and Union nodes below it, which may prove more
}

func (p *provers) find() {
	if p.needed != nil {
		return
	}
	p.needed, p.splits = map[*ra.Node][]int{}, map[int][]*ra.Node{}
	for s, in := range p.n.Inputs {
		p.reach(in, s)
	}
}

// reach notes for n and for the nodes below it that input slot has no rows if they have none.
func (p *provers) reach(n *ra.Node, slot int) {
	if known := p.needed[n]; len(known) > 0 && known[len(known)-1] == slot {
		return
	}
	p.needed[n] = append(p.needed[n], slot)
	switch {
	case n.Op == ra.Add || n.Op == ra.Union:
		p.splits[slot] = append(p.splits[slot], n)
	case n.Op == ra.AntiJoin || n.Op == ra.Window || n.Op == ra.Aggregate && len(n.Group) > 0:
		p.reach(n.Inputs[0], slot)
	case n.Op == ra.Select || n.Op == ra.Join || n.Op == ra.SemiJoin:
		for _, in := range n.Inputs {
			p.reach(in, slot)
		}
	}
}

// hasValue reports whether column id of sum, an aggregate without groups, is never NULL in a row of the join: an input
// other than slot s proves that sum has rows to add.
func (p *provers) hasValue(sum *ra.Node, id ra.ColumnID, s int) bool {
	if sum.Op != ra.Aggregate || len(sum.Group) > 0 || !sum.Col(id).Type.Nullable {
		return false
	}
	if a := sum.Aggs[sum.Index(id)]; sum.Inputs[0].Col(a.Arg).Type.Nullable {
		return false
	}
	summed := sum.Inputs[0]
	for summed.Op == ra.Select && len(summed.Pred) == 0 || summed.Op == ra.Aggregate && len(summed.Group) > 0 {
		summed = summed.Inputs[0] // it has rows if its input has
	}
	p.find()
	if slices.ContainsFunc(p.needed[summed], func(t int) bool { return t != s }) {
		return true
	}
	for t, splits := range p.splits {
		if t != s && slices.ContainsFunc(splits, func(n *ra.Node) bool { return needsRows(n, summed) }) {
			return true
		}
	}
	return false
}

// needsRows reports whether n has no rows if of has none.
func needsRows(n, of *ra.Node) bool {
	memo := map[*ra.Node]bool{}
	var visit func(n *ra.Node) bool
	visit = func(n *ra.Node) bool {
		if known, ok := memo[n]; ok || n == of {
			return known || n == of
		}
		memo[n] = false
		switch n.Op {
		case ra.Select, ra.Join, ra.SemiJoin:
			memo[n] = slices.ContainsFunc(n.Inputs, visit)
		case ra.Aggregate:
			memo[n] = len(n.Group) > 0 && visit(n.Inputs[0])
		case ra.AntiJoin, ra.Window:
			memo[n] = visit(n.Inputs[0])
		case ra.Add, ra.Union:
			memo[n] = !slices.ContainsFunc(n.Inputs, func(in *ra.Node) bool { return !visit(in) })
		}
		return memo[n]
	}
	return visit(n)
}

// knowing returns n with expressions that are simplified because some columns of its inputs are never NULL; nil if none
// becomes simpler.
func knowing(n *ra.Node, notNull func(slot int, id ra.ColumnID) bool) *ra.Node {
	out, changed := *n, false
	known := map[kernels.Col]bool{}
	mark := kernels.NewMapper(func(l *kernels.Expr) *kernels.Expr {
		if _, ok := known[l.Col]; !ok {
			known[l.Col] = notNull(l.Col.Input, l.Col.ID)
		}
		if !known[l.Col] {
			return l
		}
		t := l.Type
		t.Nullable = false
		return kernels.Column(l.Col, t)
	})
	unmark := kernels.NewMapper(func(l *kernels.Expr) *kernels.Expr { return n.InputVar(l.Col.Input, l.Col.ID) })
	simplifier := kernels.Simplifier{}
	simpler := func(e *kernels.Expr) *kernels.Expr {
		marked := mark.Map(e)
		if marked == e {
			return e
		}
		simple := simplifier.Simplify(marked)
		if simple == marked || !simple.Type.Is(e.Type) {
			return e
		}
		simple = unmark.Map(simple)
		if simple.Type.Nullable && !e.Type.Nullable { // the test had made the type not NULL
			return e
		}
		changed = true
		return simple
	}
	out.Pred, out.Out = slices.Clone(n.Pred), slices.Clone(n.Out)
	for i, e := range out.Pred {
		out.Pred[i] = simpler(e)
	}
	for i, e := range out.Out {
		out.Out[i] = simpler(e)
	}
	if !changed {
		return nil
	}
	return &out
}
