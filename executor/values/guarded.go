package values

import (
	"slices"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
)

// CASE, COALESCE, AND and OR compute an argument only for rows where it decides (law 6). Within a tree, masks take care
// of that. The code below keeps parts that can fail inside the tree of the CASE that guards them: they are neither
// computed for rows that nobody asks for and then read through an index, nor computed into memory for all rows.

// keepGuarded moves kernels that can fail from before an index to the rows that read them, where the CASE's condition
// is known.
func keepGuarded(g *Graph, v *Val) (*Val, error) {
	if v.Op != OpCall && v.Op != OpGather || !CanFail(v) {
		return v, nil
	}
	if out := g.Moved[v]; out != nil {
		return out, nil
	}
	out, err := moveGuarded(g, v)
	if err == nil {
		g.Moved[v] = out
	}
	return out, err
}

func moveGuarded(g *Graph, v *Val) (*Val, error) {
	call, idx := v, (*structure.Index)(nil)
	if v.Op == OpGather {
		if call, idx = v.Args[0], v.Index; call.Op != OpCall || idx.Missing {
			return v, nil
		}
	}
	args := make([]*Val, len(call.Args))
	for i, a := range call.Args {
		var err error
		if idx != nil {
			if a, err = g.Gather(a, idx); err != nil {
				return nil, err
			}
		}
		if args[i], err = keepGuarded(g, a); err != nil {
			return nil, err
		}
	}
	return g.Call(call.Expr.Def, call.Expr.Attr, args...)
}

// CanFail reports whether v contains kernels that can fail and that are not in memory in any case.
func CanFail(v *Val) bool {
	if v.Op != OpCall && v.Op != OpGather {
		return false
	}
	if v.fails == nil {
		fails := v.Op == OpCall && !Total(v.Expr.Def, v.Expr.Attr, v.Args) || slices.ContainsFunc(v.Args, CanFail)
		v.fails = &fails
	}
	return *v.fails
}

// guardBranches applies keepGuarded to those arguments of a kernel that it does not always evaluate.
func guardBranches(g *Graph, d *kernels.Def, args []*Val) (err error) {
	for i := range args {
		if Lazy(d, i) && err == nil {
			args[i], err = keepGuarded(g, args[i])
		}
	}
	return err
}

// Lazy reports whether a kernel evaluates argument i only for some rows.
func Lazy(d *kernels.Def, i int) bool {
	switch d.Name {
	case "case", "coalesce", "and", "or":
		return i > 0
	}
	return false
}
