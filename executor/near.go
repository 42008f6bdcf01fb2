package executor

import (
	"slices"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
)

// CASE, COALESCE, AND and OR compute an argument only for rows where it decides (law 6). Within a tree masks see to
// that. What follows keeps parts that can fail inside the tree of the CASE that guards them: they are neither read
// through an index from rows that nobody asks for, nor computed into memory for all rows.

// near moves kernels that can fail from behind an index to the rows that read them, where a condition is known.
func (g *graph) near(v *val) (*val, error) {
	if v.op != vCall && v.op != vGather || !canFail(v) {
		return v, nil
	}
	if out := g.moved[v]; out != nil {
		return out, nil
	}
	out, err := g.moveNear(v)
	if err == nil {
		g.moved[v] = out
	}
	return out, err
}

func (g *graph) moveNear(v *val) (*val, error) {
	call, idx := v, (*structure.Index)(nil)
	if v.op == vGather {
		if call, idx = v.args[0], v.idx; call.op != vCall || idx.Missing {
			return v, nil
		}
	}
	args := make([]*val, len(call.args))
	for i, a := range call.args {
		var err error
		if idx != nil {
			if a, err = g.gather(a, idx); err != nil {
				return nil, err
			}
		}
		if args[i], err = g.near(a); err != nil {
			return nil, err
		}
	}
	return g.call(call.expr.Def, call.expr.Attr, args...)
}

// canFail reports whether v is made of kernels that can fail, above what is in memory in any case.
func canFail(v *val) bool {
	if v.op != vCall && v.op != vGather {
		return false
	}
	if !v.asked {
		v.asked, v.fails = true, v.op == vCall && !total(v.expr.Def, v.expr.Attr, v.args) ||
			slices.ContainsFunc(v.args, canFail)
	}
	return v.fails
}

// nearBranches applies near to the arguments of a kernel that it does not always look at.
func (g *graph) nearBranches(d *kernels.Def, args []*val) (err error) {
	for i := range args {
		if lazy(d, i) && err == nil {
			args[i], err = g.near(args[i])
		}
	}
	return err
}

// lazy reports whether a kernel looks at argument i for some rows only.
func lazy(d *kernels.Def, i int) bool {
	switch d.Name {
	case "case", "coalesce", "and", "or":
		return i > 0
	}
	return false
}
