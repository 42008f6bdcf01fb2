package executor

import (
	"slices"

	"github.com/relgrad/relgrad/ra"
)

// productsSummed returns the product whose rows v sums, where that is its form; nil for other vals.
func productsSummed(l *lowerer, v *val) *val {
	if v.op != vAgg || v.fn != ra.Sum && v.fn != ra.GradSum || v.typ.Nullable && v.fn == ra.GradSum {
		return nil
	}
	u := v.args[0]
	if u.op != vCall || u.data != nil || u.expr.Def.Name != "matmul" || u.typ.Nullable || !u.typ.IsFloat() || u.uniform() {
		return nil
	}
	for _, a := range u.args {
		if len(a.typ.Shape) != 2 || a.typ.Kind != v.typ.Kind {
			return nil
		}
	}
	if p := dims(u.args[0], u.args[1]); 2*p.m*p.n*p.k < l.tune.SumProduct ||
		v.grp.Out.N*((p.m+l.tune.SumPanel-1)/l.tune.SumPanel) < 8 && v.grp.In.N > 64 {
		return nil // too few panels for many rows
	}
	return u
}

// onlySummedProduct reports whether v is a large product that nothing but such a sum reads.
func onlySummedProduct(l *lowerer, v *val) bool {
	return !l.isRoot[v] && len(l.uses[v]) == 1 && productsSummed(l, l.uses[v][0]) == v
}

// sumsInPlace reports whether v is such a sum whose operands are in memory, or will be. A pass would keep partial sums
// of the results and copy the operands.
func sumsInPlace(l *lowerer, v *val) bool {
	u := productsSummed(l, v)
	there := func(a *val) bool { return a.data != nil || l.mat[a] }
	return u != nil && !slices.ContainsFunc(u.args, func(a *val) bool {
		if !there(a) {
			a, _ = untransposed(a)
		}
		return a.uniform() || a.typ.Nullable || !there(a) && (a.op != vGather || a.idx.Missing || !there(a.args[0]))
	})
}

var _ = registerForm(form{
	name: "GEMM of sums",
	match: func(l *lowerer, v *val) (any, error) {
		if s := productSumOf(l, v); s != nil {
			return s, nil
		}
		return nil, nil
	},
	cost: func(_ *lowerer, v *val, found any) float64 {
		s, rows := found.(*productSum), float64(v.grp.In.N)
		return panelwise.of(s.product.flops()*rows, rows*s.bytes(v))
	},
	emit: func(l *lowerer, v *val, found any) ([]*instr, error) {
		in, err := productSumInstr(l, v, found.(*productSum))
		return []*instr{in}, err
	},
})

// bytes is the size of a row's operands.
func (s *productSum) bytes(v *val) float64 {
	return float64((s.x.v.typ.Size() + s.y.v.typ.Size()) * kindOf(v.typ).bytes())
}

// productSumOf finds the operands of such a sum; nil where one is not in memory as it stands.
func productSumOf(l *lowerer, v *val) *productSum {
	u := productsSummed(l, v)
	if u == nil {
		return nil
	}
	s := &productSum{product: u, p: dims(u.args[0], u.args[1]), panel: l.tune.SumPanel, long: l.tune.LongSum}
	a, at := untransposed(u.args[0])
	b, bt := untransposed(u.args[1])
	s.p.at, s.p.bt = at, bt
	s.down = (s.p.m + l.tune.SumPanel - 1) / l.tune.SumPanel
	for i, x := range []*val{a, b} {
		from, ok := readable(x)
		if !ok || from.v.data.kind != kindOf(v.typ) {
			return nil
		}
		*[]*source{&s.x, &s.y}[i] = from.in(l.g, v.grp.Order)
	}
	return s
}

// productSumInstr makes the instruction of such a sum.
func productSumInstr(l *lowerer, v *val, s *productSum) (*instr, error) {
	t, err := compile(l.g, nil)
	if err != nil {
		return nil, err
	}
	t.also = []*val{s.x.v, s.y.v}
	if v.grp.Largest() > s.inOwnPrecision() {
		t.bytes = inPartsBytes(kindOf(v.typ), min(l.tune.SumPanel, s.p.m)*s.p.n)
	}
	in := &instr{v: v, how: v.fn.String() + " GEMM", rows: v.grp.In.N, t: t, grp: v.grp, form: s}
	l.finish(in)
	in.flops += s.product.flops() * float64(in.rows)
	in.bytes += float64(in.rows) * s.bytes(v)
	return in, nil
}
