package rules

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "EliminateEmptyBranch", Phase: Forward,
	Doc: "Where the conditions on a union keep no row of its branches but one, that branch takes its place: a left join " +
		"of which only the rows without a partner are kept is the anti join alone. Must not fire where two branches may " +
		"have rows: gradients find a branch by its number.",
	Apply: func(_ *Context, n *ra.Node) bool {
		if n.Op != ra.Select && n.Op != ra.Join {
			return false
		}
		fired := false
		for s, in := range n.Inputs {
			if in.Op != ra.Union {
				continue
			}
			if branch := onlyBranch(n, s); branch != nil {
				putBelow(n, s, branch)
				fired = true
			}
		}
		return fired
	},
})

// onlyBranch is the branch of a union, n's input slot, to which all rows belong that n's conditions keep; nil if there
// are several, or none.
func onlyBranch(n *ra.Node, slot int) (only *ra.Node) {
	var own []*kernels.Expr
	for _, p := range n.Pred {
		if s, one := onlySlot(p); one && s == slot {
			own = append(own, p)
		}
	}
	if len(own) == 0 {
		return nil
	}
	for _, branch := range n.Inputs[slot].Inputs {
		if keepsNone(n.Inputs[slot], branch, own) {
			continue
		}
		if only != nil {
			return nil
		}
		only = branch
	}
	return only
}

// keepsNone reports whether some condition is not true of any row of a union's branch.
func keepsNone(union, branch *ra.Node, conditions []*kernels.Expr) bool {
	put := kernels.NewMapper(func(l *kernels.Expr) *kernels.Expr {
		i := union.Index(l.Col.ID)
		if branch.Out != nil && branch.Out[i].IsConst() {
			return branch.Out[i]
		}
		return branch.Var(0, branch.Cols[i].ID)
	})
	simplifier := kernels.Simplifier{}
	for _, p := range conditions {
		x := simplifier.Simplify(put.Map(p))
		if truth, known := truthOf(x); known && !truth || comparesNull(x) {
			return true
		}
	}
	return false
}

// truthOf evaluates a condition that reads no column; truth is false of NULL.
func truthOf(x *kernels.Expr) (truth, known bool) {
	if x.Any(func(x *kernels.Expr) bool { return x.IsCol || x.Def != nil && (x.Def.PerStep || x.Def.PerCall) }) {
		return false, false
	}
	v, err := x.Eval(&kernels.Env{}, nil)
	return err == nil && v.True(), err == nil
}

// comparesNull reports whether x compares something with the constant NULL.
func comparesNull(x *kernels.Expr) bool {
	if x.Def == nil || !slices.Contains([]string{"eq", "ne", "lt", "le", "gt", "ge"}, x.Def.Name) {
		return false
	}
	return slices.ContainsFunc(x.Args, func(a *kernels.Expr) bool { return a.IsConst() && a.Const.Null })
}
