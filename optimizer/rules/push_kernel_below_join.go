package rules

import (
	"math/bits"
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "PushKernelBelowJoin", Phase: Forward,
	Doc: "Part of a join's kernel that reads only some inputs is computed where it has fewer rows: on that input, " +
		"or on a join of those inputs alone. In a GCN, Â·(H·W) multiplies by W once per node, not per edge; by " +
		"differentiation the gradient profits too (transform before aggregate, by cost). Must not fire on kernels " +
		"that can fail, which would then see rows that the join drops, nor inside a branch of CASE and its kin, whose " +
		"guard would no longer hold in the derivative.",
	Apply: func(c *Context, n *ra.Node) bool {
		return moveKernel(c, n, false, func(e *kernels.Expr, slots []int) bool {
			return e.Takes(4) && subRows(c, n, slots) < 0.9*c.Cost.Rows(n)
		})
	},
})

// moveKernel finds a part of an output of the join n that reads only some of the inputs and that want accepts, and
// computes it below the join. branches: the part may come from a branch that is not always chosen.
func moveKernel(c *Context, n *ra.Node, branches bool, want func(e *kernels.Expr, slots []int) bool) bool {
	if n.Op != ra.Join || len(n.Inputs) < 2 {
		return false
	}
	known, seen := known{}, map[*kernels.Expr]bool{}
	for i := range n.Out {
		if !n.Cols[i].Type.IsFloat() {
			continue
		}
		found := part(n.Out[i], branches, seen, func(e *kernels.Expr) bool {
			k := known.of(e)
			some := k.slots.count()
			return e.Type.IsFloat() && some > 0 && some < len(n.Inputs) && k.total && want(e, k.slots.list())
		})
		if found != nil {
			place(c, n, found, known.of(found).slots.list())
			return true
		}
	}
	return false
}

// known remembers facts about parts of expressions, because large expressions share parts.
type known map[*kernels.Expr]*facts

// facts about an expression: the inputs that it reads, and whether it is defined for any values.
type facts struct {
	slots slotSet
	total bool
}

func (k known) of(e *kernels.Expr) *facts {
	if f := k[e]; f != nil {
		return f
	}
	f := &facts{total: e.TotalCall()}
	if e.IsCol {
		f.slots = slotSet{}.with(e.Col.Input)
	}
	for i, a := range e.Args {
		of := k.of(a)
		f.total = f.total && of.total
		if i == 0 {
			f.slots = of.slots
		} else {
			f.slots = f.slots.or(of.slots)
		}
	}
	k[e] = f
	return f
}

// slotSet is a set of inputs, as bits.
type slotSet []uint64

func (s slotSet) with(slot int) slotSet {
	out := make(slotSet, max(len(s), slot/64+1))
	copy(out, s)
	out[slot/64] |= 1 << (slot % 64)
	return out
}

// or is the union; s itself if t adds nothing.
func (s slotSet) or(t slotSet) slotSet {
	more := len(t) > len(s)
	for i := 0; i < len(t) && !more; i++ {
		more = t[i]&^s[i] != 0
	}
	if !more {
		return s
	}
	out := make(slotSet, max(len(s), len(t)))
	copy(out, s)
	for i, w := range t {
		out[i] |= w
	}
	return out
}

func (s slotSet) has(slot int) bool { return slot/64 < len(s) && s[slot/64]>>(slot%64)&1 == 1 }

func (s slotSet) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// list is the set in ascending order.
func (s slotSet) list() []int {
	out := make([]int, 0, s.count())
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			out = append(out, 64*i+bits.TrailingZeros64(w))
		}
	}
	return out
}

// part finds the first of the largest calls in e that want accepts. It does not look at parts in seen.
func part(e *kernels.Expr, branches bool, seen map[*kernels.Expr]bool, want func(*kernels.Expr) bool) *kernels.Expr {
	var visit func(e *kernels.Expr) *kernels.Expr
	visit = func(e *kernels.Expr) *kernels.Expr {
		if e.Def == nil || seen[e] {
			return nil
		}
		seen[e] = true
		switch {
		case want(e):
			return e
		case e.Def.Guarded != nil && !branches:
			return nil
		}
		for _, a := range e.Args {
			if found := visit(a); found != nil {
				return found
			}
		}
		return nil
	}
	return visit(e)
}

// subRows estimates the rows of a join of some of n's inputs. It is infinite if several of them have several rows and
// they are not connected by equalities.
func subRows(c *Context, n *ra.Node, slots []int) float64 {
	r, several := 1.0, 0
	for _, s := range slots {
		rows := c.Cost.Rows(n.Inputs[s])
		r *= rows
		if rows > 1 {
			several++
		}
	}
	if several <= 1 {
		return r
	}
	connected := false
	for _, q := range n.Equi {
		connected = connected || q.L.Input != q.R.Input && slices.Contains(slots, q.L.Input) &&
			slices.Contains(slots, q.R.Input)
	}
	if !connected || len(slots) > 2 {
		return 1e300
	}
	return c.Cost.Rows(c.B.Join([]*ra.Node{n.Inputs[slots[0]], n.Inputs[slots[1]]}, among(n, slots), nil, nil))
}

// among returns the equalities between the given inputs, renumbered.
func among(n *ra.Node, slots []int) []ra.Equi {
	var out []ra.Equi
	for _, q := range n.Equi {
		if l, r := slices.Index(slots, q.L.Input), slices.Index(slots, q.R.Input); l >= 0 && r >= 0 {
			q.L.Input, q.R.Input = l, r
			out = append(out, q)
		}
	}
	return out
}

// place computes e over the inputs slots alone, and has n read the result.
func place(c *Context, n *ra.Node, e *kernels.Expr, slots []int) {
	var out []ra.OutCol
	var inputs []*ra.Node
	first := map[kernels.Col]int{} // column of n's inputs → position in the new node
	for k, s := range slots {
		inputs = append(inputs, n.Inputs[s])
		for _, col := range n.Inputs[s].Cols {
			first[kernels.Col{Input: s, ID: col.ID}] = len(out)
			out = append(out, ra.OutCol{Name: col.Name, X: n.Inputs[s].Var(k, col.ID)})
		}
	}
	below := e.MapCols(func(l *kernels.Expr) *kernels.Expr {
		return kernels.Column(kernels.Col{Input: slices.Index(slots, l.Col.Input), ID: l.Col.ID}, l.Type)
	})
	sub := c.B.Join(inputs, among(n, slots), nil, append(out, ra.OutCol{Name: e.Def.Name, X: below}))
	to, k := map[int]int{}, 1 // the new node takes slot 0
	rest := []*ra.Node{sub}
	for s, in := range n.Inputs {
		if !slices.Contains(slots, s) {
			to[s] = k
			rest = append(rest, in)
			k++
		}
	}
	var equi []ra.Equi
	for _, q := range n.Equi {
		if !(slices.Contains(slots, q.L.Input) && slices.Contains(slots, q.R.Input)) {
			equi = append(equi, q)
		}
	}
	n.Equi = equi
	n.Out = slices.Clone(n.Out)
	for i, o := range n.Out {
		n.Out[i] = replace(o, e, kernels.Column(kernels.Col{Input: -1}, sub.Cols[len(out)].Type))
	}
	n.Inputs = rest
	links := sub.Links()
	mapExprs(n, func(col kernels.Col) kernels.Col {
		if col.Input < 0 {
			return kernels.Col{ID: sub.Cols[len(out)].ID}
		}
		if p, ok := first[col]; ok {
			return kernels.Col{ID: stand(sub, links, sub.Cols[p].ID)}
		}
		return kernels.Col{Input: to[col.Input], ID: col.ID}
	})
	if len(n.Inputs) == 1 {
		n.Op = ra.Select
	}
	rekey(n, sub, links)
}

// stand is the column to read in place of id: the same for all columns that sub equates, since the node above does not
// see that they are equal.
func stand(sub *ra.Node, links *ra.Links, id ra.ColumnID) ra.ColumnID {
	best := id
	for _, a := range links.Aliases(id) {
		narrower := sub.Col(best).Type.Nullable && !sub.Col(a).Type.Nullable
		if narrower || sub.Col(best).Type.Nullable == sub.Col(a).Type.Nullable && sub.Index(a) < sub.Index(best) {
			best = a
		}
	}
	return best
}

// rekey makes sub's identity the columns that n, which reads sub in slot 0, passes through.
func rekey(n, sub *ra.Node, links *ra.Links) {
	above := n.Links()
	swap := func(ids []ra.ColumnID) []ra.ColumnID {
		ids = slices.Clone(ids)
		for i, id := range ids {
			for _, alias := range links.Aliases(id) {
				if !above.Carries(0, ids[i]) && above.Carries(0, alias) {
					ids[i] = alias
				}
			}
		}
		return ids
	}
	sub.Key, sub.Unique, sub.Least = swap(sub.Key), swap(sub.Unique), nil
}

// replace returns e with by in place of every occurrence of part.
func replace(e, part, by *kernels.Expr) *kernels.Expr {
	done := map[*kernels.Expr]*kernels.Expr{}
	var visit func(e *kernels.Expr) *kernels.Expr
	visit = func(e *kernels.Expr) *kernels.Expr {
		if out := done[e]; out != nil {
			return out
		}
		if e.Same(part) {
			return by
		}
		args, changed := make([]*kernels.Expr, len(e.Args)), false
		for i, a := range e.Args {
			args[i] = visit(a)
			changed = changed || args[i] != a
		}
		out := e
		if changed {
			out = kernels.BuildAttr(e.Def.Name, e.Attr, args...)
			out.Pos = e.Pos
		}
		done[e] = out
		return out
	}
	return visit(e)
}
