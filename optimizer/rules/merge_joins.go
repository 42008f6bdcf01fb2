package rules

import (
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "MergeJoins", Phase: Forward,
	Doc: "Inputs that are themselves joins or selections, read by nobody else, are taken into the node above. " +
		"Must not fire where a computed column of an input would then be computed more often: for a join above, " +
		"only inputs whose columns are all plain are merged; for a selection above, none that is read twice.",
	Apply: func(c *Context, n *ra.Node) bool {
		if n.Op != ra.Select && n.Op != ra.Join {
			return false
		}
		candidates := make([]bool, len(n.Inputs))
		for slot, in := range n.Inputs {
			candidates[slot] = (in.Op == ra.Select || in.Op == ra.Join) && c.Sole(in) && shallow(n, in)
		}
		if !slices.Contains(candidates, true) || !mergeable(n, candidates) {
			return false
		}
		mergeInputs(n, candidates)
		return true
	},
})

// shallow reports whether in may be merged into n. A selection may not if n is a join: PushSelectBelowJoin puts it
// below.
func shallow(n, in *ra.Node) bool {
	return len(in.Inputs) > 0 && !(len(n.Inputs) > 1 && len(in.Inputs) == 1 && len(in.Pred) > 0)
}

// plainConditions reports whether n's equalities use only plain columns of this input.
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

// mergeable keeps only candidates whose merging does not make n compute something several times, or equate a computed
// column. It reports whether one is left. It looks at n once for all candidates.
func mergeable(n *ra.Node, candidates []bool) bool {
	reads := map[kernels.Col]int{}
	n.Reads(func(c kernels.Col) { reads[c]++ })
	for _, q := range n.Equi {
		for _, c := range []kernels.Col{q.L, q.R} {
			candidates[c.Input] = candidates[c.Input] && isPass(n.Inputs[c.Input], n.Inputs[c.Input].Index(c.ID))
		}
	}
	for slot, in := range n.Inputs {
		for i := 0; candidates[slot] && i < len(in.Cols); i++ {
			times := reads[kernels.Col{Input: slot, ID: in.Cols[i].ID}]
			plain := isPass(in, i) || in.Out[i].IsConst()
			candidates[slot] = plain || times == 0 || times == 1 && len(n.Inputs) == 1
		}
	}
	return slices.Contains(candidates, true)
}

// merger is a node some of whose inputs are replaced by these inputs' own.
type merger struct {
	n    *ra.Node
	gone []bool // by slot
	base []int  // by slot: the new slot of it, or of the first of its inputs
}

// mergeInputs replaces the inputs that are gone by their own inputs. Identity columns stay passed through: the columns
// that carried them become plain columns of the new inputs.
func mergeInputs(n *ra.Node, gone []bool) {
	m := &merger{n: n, gone: gone, base: make([]int, len(n.Inputs))}
	var inputs []*ra.Node
	for slot, in := range n.Inputs {
		m.base[slot] = len(inputs)
		if gone[slot] {
			inputs = append(inputs, in.Inputs...)
		} else {
			inputs = append(inputs, in)
		}
	}
	equi := lists.Map(n.Equi,
		func(q ra.Equi) ra.Equi { return ra.Equi{L: m.col(q.L), R: m.col(q.R), NullSafe: q.NullSafe} })
	var pred, out []*kernels.Expr
	for slot := range n.Inputs {
		if gone[slot] {
			for _, q := range n.Inputs[slot].Equi {
				q.L.Input += m.base[slot]
				q.R.Input += m.base[slot]
				equi = append(equi, q)
			}
		}
	}
	for slot := len(n.Inputs) - 1; slot >= 0; slot-- {
		if gone[slot] {
			inner := m.inner(slot)
			for _, p := range n.Inputs[slot].Pred {
				pred = append(pred, inner(p))
			}
		}
	}
	sub := m.substitution()
	for _, p := range n.Pred {
		pred = append(pred, sub(p))
	}
	for _, o := range n.Out {
		out = append(out, sub(o))
	}
	n.Inputs, n.Equi, n.Pred, n.Out = inputs, equi, pred, out
	if len(n.Inputs) > 1 {
		n.Op = ra.Join
	}
}

func mergeInput(n *ra.Node, slot int) {
	gone := make([]bool, len(n.Inputs))
	gone[slot] = true
	mergeInputs(n, gone)
}

// below is the expression of column c in an input that is gone.
func (m *merger) below(c kernels.Col) *kernels.Expr {
	in := m.n.Inputs[c.Input]
	return in.Out[in.Index(c.ID)]
}

// col is the new place of a column in an equality. Such a column is plain in an input that is gone.
func (m *merger) col(c kernels.Col) kernels.Col {
	to := c
	if m.gone[c.Input] {
		to = m.below(c).Col
		to.Input += m.base[c.Input]
		return to
	}
	to.Input = m.base[c.Input]
	return to
}

// inner renumbers the inputs in expressions of input slot, which is gone.
func (m *merger) inner(slot int) func(*kernels.Expr) *kernels.Expr {
	return kernels.NewMapper(func(l *kernels.Expr) *kernels.Expr {
		return kernels.Column(kernels.Col{Input: l.Col.Input + m.base[slot], ID: l.Col.ID}, l.Type)
	}).Map
}

// substitution puts the expressions of inputs that are gone into an expression of the node, and renumbers its other
// columns.
func (m *merger) substitution() func(*kernels.Expr) *kernels.Expr {
	inner, constants := map[int]func(*kernels.Expr) *kernels.Expr{}, false
	for slot, in := range m.n.Inputs {
		if m.gone[slot] {
			inner[slot] = m.inner(slot)
			constants = constants || slices.ContainsFunc(in.Out, (*kernels.Expr).IsConst)
		}
	}
	put := kernels.NewMapper(func(l *kernels.Expr) *kernels.Expr {
		if !m.gone[l.Col.Input] {
			return kernels.Column(m.col(l.Col), l.Type)
		}
		return inner[l.Col.Input](m.below(l.Col))
	}).Map
	if !constants {
		return put
	}
	reads := kernels.NewAsker(func(x *kernels.Expr) bool {
		return x.IsCol && m.gone[x.Col.Input] && m.below(x.Col).IsConst()
	})
	simple := kernels.Simplifier{}
	return func(e *kernels.Expr) *kernels.Expr {
		out := put(e)
		if !reads.Any(e) {
			return out
		}
		if s := simple.Simplify(out); e.Type.Nullable || !s.Type.Nullable {
			return s
		}
		return out
	}
}
