package executor

import (
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// A device may lack the kernel of a part of an expression that reads no parameter and does not change while its rows
// stay, such as the share 1.0 / n of a sample. The processors compute it with the structure, once for these rows, and
// the device gets it as a column.

// beforehand makes such parts of e leaves, among the vals of expressions of n.
func (st *stage) beforehand(n *ra.Node, e *kernels.Expr, idx []*structure.Index,
	have map[*kernels.Expr]*values.Val) error {
	d, some := st.p.device.(device.Selective)
	if !some {
		return nil
	}
	reads := kernels.NewAsker(func(x *kernels.Expr) bool { return x.IsCol })
	lacks := kernels.NewAsker(func(x *kernels.Expr) bool { return x.Def != nil && !d.Computes(x.Def.Name) })
	later := kernels.NewAsker(func(x *kernels.Expr) bool {
		if !x.IsCol {
			return x.Def != nil && x.Def.PerCall
		}
		in := n.Inputs[x.Col.Input]
		return in.Cols[in.Index(x.Col.ID)].Dep
	})
	varies := st.p.flow.Varying(n)
	var visit func(e *kernels.Expr) error
	visit = func(e *kernels.Expr) error {
		if e.Def == nil || have[e] != nil || !lacks.Any(e) {
			return nil
		}
		if reads.Any(e) && !later.Any(e) && (st.parent != nil || !varies.Any(e)) {
			v, err := st.known(n, e, idx)
			if err != nil {
				return err
			}
			if v != nil {
				have[e] = v
				return nil
			}
		}
		for i, a := range e.Args {
			if values.Lazy(e.Def, i) {
				break // its condition may depend on parameters
			}
			if err := visit(a); err != nil {
				return err
			}
		}
		return nil
	}
	return visit(e)
}

// known is a leaf with the values of an expression; nil where some row fails, which perhaps nobody reads.
func (st *stage) known(n *ra.Node, e *kernels.Expr, idx []*structure.Index) (*values.Val, error) {
	r, err := st.Relation(n)
	if err != nil {
		return nil, err
	}
	v, err := st.expr(st.wide, n, e, idx)
	if err != nil || v.Uniform() {
		return nil, st.Ctx.Err()
	}
	x, err := st.p.compute(st, v, r.Space, st.parent != nil)
	if err != nil {
		return nil, st.Ctx.Err()
	}
	return st.main.Leaf("known", e.Type, r.Space, x.As(e.Type), false), nil
}
