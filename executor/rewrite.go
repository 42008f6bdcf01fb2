package executor

import (
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Costs of the two ways to move a product past a sum, in seconds: as measured on two cores, to be compared
// with each other only.
const (
	multiplySeconds = 1.0 / 150e9 // of one multiplication and addition in a large product
	gatherSeconds   = 4.0 / 30e9  // of one element of a row that is read through an index and added
)

// sum is an aggregate, in a form that costs less where there is one.
func (g *graph) sum(fn ra.AggFn, v *val, t kernels.Type, grp *structure.Groups) (*val, error) {
	if (fn == ra.Sum || fn == ra.GradSum) && v.typ.IsFloat() && !v.typ.Nullable && !t.Nullable && v.sp == grp.In {
		if w, err := g.sumOfMatrix(v, t, grp); w != nil || err != nil {
			return w, err
		}
		if w, err := g.sumAlong(v, t, grp); w != nil || err != nil {
			return w, err
		}
		fn = ra.GradSum // the same, where there is no NULL and no empty group
		if w, err := g.productOfSum(v, t, grp); w != nil || err != nil {
			return w, err
		}
		if w, err := g.product(v, t, grp); w != nil || err != nil {
			return w, err
		}
	}
	return g.agg(fn, v, t, grp), nil
}

// times multiplies a chunk by scalar factors again, in the order in which factors split them off.
func (g *graph) times(scalars []factor, chunk *val) (v *val, err error) {
	v = chunk
	for _, f := range scalars {
		if f.divide {
			v, err = g.call(kernels.Lookup("div"), kernels.Attr{}, v, f.v)
		} else {
			v, err = g.call(kernels.Lookup("mul"), kernels.Attr{}, f.v, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

// productOfSum computes Σ s·(x·W) as (Σ s·x)·W where that costs less: fewer rows to multiply or a smaller
// width to add; all the more where Σ s·x is the same at every step. W is the same for all rows.
func (g *graph) productOfSum(v *val, t kernels.Type, grp *structure.Groups) (*val, error) {
	scalars, core := g.factors(v)
	inner, idx := core, (*structure.Index)(nil)
	if core.uniform() {
		return nil, nil
	}
	if core.op == vGather && !core.idx.Missing {
		inner, idx = core.args[0], core.idx
	}
	if inner.op != vCall || inner.expr.Def.Name != "matmul" || inner.typ.Shape == nil || inner.typ.Kind != t.Kind {
		return nil, nil
	}
	x, w := 0, 1
	if inner.args[0].uniform() {
		x, w = 1, 0
	}
	if inner.args[x].uniform() || !inner.args[w].uniform() || inner.args[x].typ.Kind != t.Kind {
		return nil, nil
	}
	a := inner.args[x]
	flops, edges := inner.flops()/2*multiplySeconds, float64(grp.In.N)*gatherSeconds
	now := float64(inner.sp.N)*flops + edges*float64(inner.typ.Size())
	then := float64(grp.Out.N) * flops
	sums := edges * float64(a.typ.Size())
	constant := !a.vary && !grp.Varies()
	for _, f := range scalars {
		constant = constant && !f.v.vary
	}
	if !constant {
		then += sums
	}
	if then > 0.8*now {
		return nil, nil
	}
	read, err := g.gather(a, idx)
	if err != nil {
		return nil, err
	}
	if read, err = g.times(scalars, read); err != nil {
		return nil, err
	}
	args := []*val{inner.args[0], inner.args[1]}
	if args[x], err = g.sum(ra.GradSum, read, read.typ, grp); err != nil {
		return nil, err
	}
	return g.call(inner.expr.Def, inner.expr.Attr, args...)
}
