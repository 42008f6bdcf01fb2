package forms

import (
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/ra"
)

// productsSummed returns the product whose rows v sums, if this form computes it; nil for other vals.
func productsSummed(l *Lowerer, v *values.Val) *values.Val {
	if v.Op != values.OpAgg || v.Fn != ra.Sum && v.Fn != ra.GradSum || v.Type.Nullable && v.Fn == ra.GradSum {
		return nil
	}
	u := v.Args[0]
	if u.Op != values.OpCall || u.Data != nil || u.Expr.Def.Name != "matmul" || u.Type.Nullable || !u.Type.IsFloat() ||
		u.Uniform() {
		return nil
	}
	for _, a := range u.Args {
		if len(a.Type.Shape) != 2 || a.Type.Kind != v.Type.Kind {
			return nil
		}
	}
	if p := dims(u.Args[0], u.Args[1]); 2*p.M*p.N*p.K < l.Tune.SumProduct ||
		v.Groups.Out.N*((p.M+l.Tune.SumPanel-1)/l.Tune.SumPanel) < 8 && v.Groups.In.N > 64 {
		return nil // too few panels to share many rows
	}
	return u
}

// onlySummedProduct reports whether v is a large product that only such a sum reads.
func onlySummedProduct(l *Lowerer, v *values.Val) bool {
	return !l.isRoot[v] && len(l.uses[v]) == 1 && productsSummed(l, l.uses[v][0]) == v
}

// sumsInPlace reports whether v is such a sum and its operands are or will be in memory. A pass would keep partial sums
// of the results and copy the operands.
func sumsInPlace(l *Lowerer, v *values.Val) bool {
	u := productsSummed(l, v)
	there := func(a *values.Val) bool { return a.Data != nil || l.mat[a] }
	return u != nil && !slices.ContainsFunc(u.Args, func(a *values.Val) bool {
		if !there(a) {
			a, _ = values.Untransposed(a)
		}
		return a.Uniform() || a.Type.Nullable ||
			!there(a) && (a.Op != values.OpGather || a.Index.Missing || !there(a.Args[0]))
	})
}

var _ = registerForm(Form{
	Name: "GEMM of sums",
	Match: func(l *Lowerer, v *values.Val) (any, error) {
		if s := productSumOf(l, v); s != nil {
			return s, nil
		}
		return nil, nil
	},
	Cost: func(_ *Lowerer, v *values.Val, found any) float64 {
		s, rows := found.(*device.ProductSum), float64(v.Groups.In.N)
		return panelwise.of(s.Product.Flops()*rows, rows*productBytes(s, v))
	},
	emit: func(l *Lowerer, v *values.Val, found any) ([]*device.Instr, error) {
		in, err := productSumInstr(l, v, found.(*device.ProductSum))
		return []*device.Instr{in}, err
	},
})

// productBytes is the bytes of a row's operands.
func productBytes(s *device.ProductSum, v *values.Val) float64 {
	return float64((s.X.V.Type.Size() + s.Y.V.Type.Size()) * column.KindOf(v.Type).Bytes())
}

// productSumOf finds the operands of such a sum, rows as they stand; nil where one is not in memory.
func productSumOf(l *Lowerer, v *values.Val) *device.ProductSum {
	u := productsSummed(l, v)
	if u == nil {
		return nil
	}
	s := &device.ProductSum{Product: u, P: dims(u.Args[0], u.Args[1]), Panel: l.Tune.SumPanel, Long: l.Tune.LongSum}
	a, at := values.Untransposed(u.Args[0])
	b, bt := values.Untransposed(u.Args[1])
	s.P.At, s.P.Bt = at, bt
	s.Down = (s.P.M + l.Tune.SumPanel - 1) / l.Tune.SumPanel
	for i, x := range []*values.Val{a, b} {
		from, ok := readable(x)
		if !ok || from.V.Data.Kind() != column.KindOf(v.Type) {
			return nil
		}
		*[]*device.Source{&s.X, &s.Y}[i] = from
	}
	return s
}

// productSumInstr makes the instruction of such a sum.
func productSumInstr(l *Lowerer, v *values.Val, s *device.ProductSum) (*device.Instr, error) {
	t, err := Compile(l.g, nil)
	if err != nil {
		return nil, err
	}
	s.X, s.Y = inOrder(s.X, l.g, v.Groups.Order), inOrder(s.Y, l.g, v.Groups.Order)
	t.Also = []*values.Val{s.X.V, s.Y.V}
	if v.Groups.Largest() > s.InOwnPrecision() {
		t.Bytes = device.InPartsBytes(column.KindOf(v.Type), min(l.Tune.SumPanel, s.P.M)*s.P.N)
	}
	in := &device.Instr{V: v, How: v.Fn.String() + " GEMM", Rows: v.Groups.In.N, T: t, Grp: v.Groups, Form: s}
	l.finish(in)
	in.Flops += s.Product.Flops() * float64(in.Rows)
	in.Bytes += float64(in.Rows) * productBytes(s, v)
	return in, nil
}
