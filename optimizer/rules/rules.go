// Package rules holds the rewrite rules of the optimizer, as data.
//
// # What
//
// A Rule has a name that starts with a verb, a phase, and a function that looks at one node of a plan and
// changes it in place. Each stands in a file of its own name.
//
// # Invariants
//
// A rule keeps the ids and types of the columns that others read, the rows they see and their identities. It
// changes nothing when it does not fire. The order of rules within a phase does not matter; phases run in
// order, Forward before differentiation (so that the gradient profits) and again after it.
//
// # Errors
//
// None: a rule that cannot be applied does not fire. The driver validates the plan after each rule under test.
//
// # Where to add
//
// A rule is one file optimizer/rules/<verb_noun>.go with a call of register; see CONTRIBUTING.md.
package rules

import (
	"slices"
	"sort"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Phase orders the rules.
type Phase uint8

// Phases.
const (
	Forward Phase = iota // on the loss alone, then again on loss and gradients
	Whole                // on loss and gradients: sharing and eliminations
	Final                // pruning: nothing may run after it that needs hidden columns
)

// String returns the phase's name.
func (p Phase) String() string { return [...]string{"forward", "whole", "final"}[p] }

// Rule is a rewrite.
type Rule struct {
	Name  string
	Phase Phase
	// Doc says what it does, why it is sound and when it must not fire.
	Doc string
	// Anywhere marks a rule that looks at more than the nodes below n and their numbers of readers. It may fire even if
	// nothing below n has changed.
	Anywhere bool
	// Apply changes n in place and reports whether it did. It passes other nodes that it changes to Context.Changed.
	Apply func(c *Context, n *ra.Node) bool
}

var all []Rule

func register(r Rule) Rule {
	for _, o := range all {
		if o.Name == r.Name {
			panic("rules: registered twice: " + r.Name)
		}
	}
	all = append(all, r)
	sort.Slice(all, func(i, j int) bool {
		return all[i].Phase < all[j].Phase || all[i].Phase == all[j].Phase && all[i].Name < all[j].Name
	})
	return r
}

// All returns the rules, sorted by phase and name.
func All() []Rule { return slices.Clone(all) }

// mapExprs replaces the columns in a node's expressions and conditions.
func mapExprs(n *ra.Node, f func(kernels.Col) kernels.Col) {
	sub := kernels.NewMapper(func(leaf *kernels.Expr) *kernels.Expr {
		to := f(leaf.Col)
		if to == leaf.Col {
			return leaf
		}
		return kernels.Column(to, leaf.Type)
	}).Map
	for i := range n.Pred {
		n.Pred[i] = sub(n.Pred[i])
	}
	for i := range n.Out {
		n.Out[i] = sub(n.Out[i])
	}
	for i := range n.Equi {
		n.Equi[i].L, n.Equi[i].R = f(n.Equi[i].L), f(n.Equi[i].R)
	}
}

// passAll is the outputs of a Select that passes every column of n.
func passAll(n *ra.Node) []ra.OutCol {
	return lists.Map(n.Cols, func(c ra.Column) ra.OutCol { return ra.OutCol{Name: c.Name, X: n.Var(0, c.ID)} })
}

// putBelow replaces an input of n by to, whose first columns correspond to the old input's.
func putBelow(n *ra.Node, slot int, to *ra.Node) {
	all := make([]*ra.Node, len(n.Inputs))
	all[slot] = to
	putAllBelow(n, all)
}

// putAllBelow is putBelow for all inputs at once; nil keeps an input.
func putAllBelow(n *ra.Node, to []*ra.Node) {
	old := n.Inputs
	n.Inputs = slices.Clone(old)
	for slot, in := range to {
		if in != nil {
			n.Inputs[slot] = in
		}
	}
	mapExprs(n, func(c kernels.Col) kernels.Col {
		if in := to[c.Input]; in != nil {
			c.ID = in.Cols[old[c.Input].Index(c.ID)].ID
		}
		return c
	})
}

// become gives n the operator and inputs of m, whose first columns are n's. n keeps its column ids and its identity.
func become(n, m *ra.Node) {
	cols := slices.Clone(m.Cols)
	ids := map[ra.ColumnID]ra.ColumnID{}
	for i, c := range n.Cols {
		ids[cols[i].ID] = c.ID
		cols[i].ID, cols[i].Type.Nullable, cols[i].Dep = c.ID, cols[i].Type.Nullable || c.Type.Nullable, cols[i].Dep || c.Dep
	}
	rename := func(in []ra.ColumnID) []ra.ColumnID {
		out := slices.Clone(in)
		for i, id := range out {
			if to, ok := ids[id]; ok {
				out[i] = to
			}
		}
		return out
	}
	pos, key, unique := n.Pos, n.Key, rename(m.Unique)
	for _, u := range unique {
		if !slices.Contains(key, u) {
			unique = key
		}
	}
	*n = *m
	n.Cols, n.Key, n.Unique, n.Least, n.Fixed, n.Pos = cols, key, unique, nil, nil, pos
}

// isPass reports whether output i of a Select or Join is a plain column.
func isPass(n *ra.Node, i int) bool { return n.Out[i].IsCol }
