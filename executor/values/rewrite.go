package values

import (
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Costs of the two ways to compute a sum of products, in seconds as measured on two cores. They are only compared with
// each other.
const (
	multiplySeconds = 1.0 / 150e9 // of one multiplication and addition in a large product
	gatherSeconds   = 4.0 / 30e9  // of one element of a row that is read through an index and added
)

// Sum makes an aggregate, in a cheaper form where there is one.
func (g *Graph) Sum(fn ra.AggFn, v *Val, t kernels.Type, grp *structure.Groups) (*Val, error) {
	if (fn == ra.Sum || fn == ra.GradSum) && v.Type.IsFloat() && !v.Type.Nullable && !t.Nullable && v.Space == grp.In {
		if w, err := g.sumOfMatrix(v, t, grp); w != nil || err != nil {
			return w, err
		}
		if w, err := sumAlong(g, v, t, grp); w != nil || err != nil {
			return w, err
		}
		fn = ra.GradSum // the same without NULLs and empty groups
		if w, err := g.productOfSum(v, t, grp); w != nil || err != nil {
			return w, err
		}
		if w, err := gridProduct(g, v, t, grp); w != nil || err != nil {
			return w, err
		}
	}
	return g.Agg(fn, v, t, grp), nil
}

// times multiplies a chunk by scalar factors in the order in which Factors has split them off.
func (g *Graph) times(scalars []Factor, chunk *Val) (v *Val, err error) {
	v = chunk
	for _, f := range scalars {
		if f.Divide {
			v, err = g.Call(kernels.Lookup("div"), kernels.Attr{}, v, f.V)
		} else {
			v, err = g.Call(kernels.Lookup("mul"), kernels.Attr{}, f.V, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

// productOfSum computes Σ s·(x·W), where W is the same for all rows, as (Σ s·x)·W if that costs less: because fewer
// rows are multiplied or narrower rows added, and all the more if Σ s·x is the same at every step.
func (g *Graph) productOfSum(v *Val, t kernels.Type, grp *structure.Groups) (*Val, error) {
	scalars, core := Factors(g, v)
	inner, idx := core, (*structure.Index)(nil)
	if core.Uniform() {
		return nil, nil
	}
	if core.Op == OpGather && !core.Index.Missing {
		inner, idx = core.Args[0], core.Index
	}
	if inner.Op != OpCall || inner.Expr.Def.Name != "matmul" || inner.Type.Shape == nil || inner.Type.Kind != t.Kind {
		return nil, nil
	}
	x, w := 0, 1
	if inner.Args[0].Uniform() {
		x, w = 1, 0
	}
	if inner.Args[x].Uniform() || !inner.Args[w].Uniform() || inner.Args[x].Type.Kind != t.Kind {
		return nil, nil
	}
	a := inner.Args[x]
	flops, edges := inner.Flops()/2*multiplySeconds, float64(grp.In.N)*gatherSeconds
	now := float64(inner.Space.N)*flops + edges*float64(inner.Type.Size())
	then := float64(grp.Out.N) * flops
	sums := edges * float64(a.Type.Size())
	constant := !a.Vary && !grp.Varies()
	for _, f := range scalars {
		constant = constant && !f.V.Vary
	}
	if !constant {
		then += sums
	}
	if then > 0.8*now {
		return nil, nil
	}
	read, err := g.Gather(a, idx)
	if err != nil {
		return nil, err
	}
	if read, err = g.times(scalars, read); err != nil {
		return nil, err
	}
	args := []*Val{inner.Args[0], inner.Args[1]}
	if args[x], err = g.Sum(ra.GradSum, read, read.Type, grp); err != nil {
		return nil, err
	}
	return g.Call(inner.Expr.Def, inner.Expr.Attr, args...)
}
