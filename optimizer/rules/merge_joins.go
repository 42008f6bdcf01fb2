package rules

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "MergeJoins", Phase: Forward,
	Doc: "An input that is itself a join or selection, read by nobody else, is taken into the node above. " +
		"Must not fire where a computed column of the input would then be computed more often: for a join above, " +
		"only inputs whose columns are all plain are merged; for a selection above, none that is read twice.",
	Apply: func(c *Context, n *ra.Node) bool {
		if n.Op != ra.Select && n.Op != ra.Join {
			return false
		}
		for slot, in := range n.Inputs {
			if (in.Op == ra.Select || in.Op == ra.Join) && c.Sole(in) && mergeable(n, slot) {
				mergeInput(n, slot)
				return true
			}
		}
		return false
	},
})

func mergeable(n *ra.Node, slot int) bool {
	in := n.Inputs[slot]
	if len(in.Inputs) == 0 || len(n.Inputs) > 1 && len(in.Inputs) == 1 && len(in.Pred) > 0 {
		return false // a selection stays below a join (PushSelectBelowJoin)
	}
	reads := map[ra.ColumnID]int{}
	if !plainConditions(n, slot) {
		return false
	}
	n.Reads(func(c kernels.Col) {
		if c.Input == slot {
			reads[c.ID]++
		}
	})
	for i, col := range in.Cols {
		if isPass(in, i) || in.Out[i].IsConst() || reads[col.ID] == 0 {
			continue
		}
		if len(n.Inputs) > 1 || reads[col.ID] > 1 {
			return false
		}
	}
	return true
}

// plainConditions reports whether the columns of input slot that n equates are plain.
func plainConditions(n *ra.Node, slot int) bool {
	for _, q := range n.Equi {
		for _, c := range []kernels.Col{q.L, q.R} {
			if c.Input == slot && !isPass(n.Inputs[slot], n.Inputs[slot].Index(c.ID)) {
				return false
			}
		}
	}
	return true
}

// substitution puts what input slot of n computes into an expression of n; other columns are shifted.
func substitution(n *ra.Node, slot int, inner func(*kernels.Expr) *kernels.Expr, shift func(kernels.Col) kernels.Col) func(*kernels.Expr) *kernels.Expr {
	in := n.Inputs[slot]
	constant := false
	put := kernels.NewMapper(func(l *kernels.Expr) *kernels.Expr {
		if l.Col.Input != slot {
			return kernels.Column(shift(l.Col), l.Type)
		}
		return inner(in.Out[in.Index(l.Col.ID)])
	}).Map
	if !slices.ContainsFunc(in.Out, (*kernels.Expr).IsConst) {
		return put
	}
	return func(e *kernels.Expr) *kernels.Expr {
		constant = false
		e.Cols(func(c kernels.Col) { constant = constant || c.Input == slot && in.Out[in.Index(c.ID)].IsConst() })
		out := put(e)
		if !constant {
			return out
		}
		if s := kernels.Simplify(out); e.Type.Nullable || !s.Type.Nullable {
			return s
		}
		return out
	}
}

// mergeInput replaces input slot by that input's inputs. Identity columns stay passed through: the columns
// that carried them become plain columns of the new inputs.
func mergeInput(n *ra.Node, slot int) {
	in := n.Inputs[slot]
	k := len(in.Inputs)
	shift := func(c kernels.Col) kernels.Col {
		if c.Input > slot {
			c.Input += k - 1
		}
		return c
	}
	inner := kernels.NewMapper(func(l *kernels.Expr) *kernels.Expr {
		return kernels.Column(kernels.Col{Input: l.Col.Input + slot, ID: l.Col.ID}, l.Type)
	}).Map
	sub := substitution(n, slot, inner, shift)
	col := func(c kernels.Col) kernels.Col {
		if c.Input == slot {
			c = in.Out[in.Index(c.ID)].Col
			c.Input += slot
			return c
		}
		return shift(c)
	}
	var equi []ra.Equi
	for _, q := range n.Equi {
		equi = append(equi, ra.Equi{L: col(q.L), R: col(q.R), NullSafe: q.NullSafe})
	}
	for _, q := range in.Equi {
		q.L.Input += slot
		q.R.Input += slot
		equi = append(equi, q)
	}
	var pred, out []*kernels.Expr
	for _, p := range in.Pred {
		pred = append(pred, inner(p))
	}
	for _, p := range n.Pred {
		pred = append(pred, sub(p))
	}
	for _, o := range n.Out {
		out = append(out, sub(o))
	}
	n.Inputs = slices.Concat(n.Inputs[:slot], in.Inputs, n.Inputs[slot+1:])
	n.Equi, n.Pred, n.Out = equi, pred, out
	if len(n.Inputs) > 1 {
		n.Op = ra.Join
	}
}
