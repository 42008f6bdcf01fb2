package executor

import (
	"github.com/relgrad/relgrad/ra"
)

// large reports whether v is a product that is worth cutting into panels: both operands are then computed
// into memory first.
func large(l *lowerer, v *val) bool {
	if v.op != vCall || v.data != nil || v.expr.Def.Name != "matmul" || v.typ.Nullable || v.sp.N == 0 ||
		len(v.typ.Shape) == 0 {
		return false
	}
	for _, a := range v.args {
		if a.typ.Kind != v.typ.Kind {
			return false
		}
	}
	if len(v.typ.Shape) == 1 {
		_, matrix := vectorsBy(v)
		return matrix != nil && matrix.typ.Size() >= l.tune.LargeMatrix && v.flops()*float64(v.sp.N) >= l.tune.LargeFlops
	}
	return len(v.typ.Shape) == 2 && v.flops() >= l.tune.LargeFlops && v.sp.N <= 64
}

// vectorsBy takes the product of each row's vector with one matrix apart; nil where v is another product.
func vectorsBy(v *val) (rows, matrix *val) {
	switch a, b := v.args[0], v.args[1]; {
	case len(a.typ.Shape) == 1 && len(b.typ.Shape) == 2 && b.uniform() && !a.uniform():
		return a, b
	case len(b.typ.Shape) == 1 && len(a.typ.Shape) == 2 && a.uniform() && !b.uniform():
		return b, a
	}
	return nil, nil
}

// largeSumOf returns the operands of a sum of all rows' outer products whose result is large; nil for another val. The
// workers then share the result, not the rows.
func largeSumOf(l *lowerer, v *val) (x, y *val) {
	if v.op != vAgg || v.fn != ra.Sum && v.fn != ra.GradSum || v.grp.Out.N != 1 || v.grp.Order != nil || v.typ.Nullable ||
		v.typ.Size() < l.tune.LargeMatrix {
		return nil, nil
	}
	o := v.args[0]
	if o.op != vCall || o.data != nil || o.expr.Def.Name != "outer" || o.typ.Nullable {
		return nil, nil
	}
	for _, a := range o.args {
		if a.uniform() || a.typ.Kind != v.typ.Kind {
			return nil, nil
		}
	}
	return o.args[0], o.args[1]
}

// feedsLarge reports whether v is an operand of such a product, perhaps through a transpose.
func feedsLarge(l *lowerer, v *val) bool {
	for _, u := range l.uses[v] {
		for _, w := range l.uses[u] {
			if x, y := largeSumOf(l, w); w.op == vAgg && w.args[0] == u && (x == v || y == v) {
				return true
			}
		}
		if large(l, u) {
			_, turned := untransposed(v)
			return !turned
		}
		if _, turned := untransposed(u); turned {
			for _, w := range l.uses[u] {
				if large(l, w) {
					return true
				}
			}
		}
	}
	return false
}

var _ = registerForm(form{
	name: "GEMM",
	match: func(l *lowerer, v *val) (any, error) {
		if g := gemmOf(l, v); g != nil {
			return g, nil
		}
		return nil, nil
	},
	cost: func(_ *lowerer, v *val, found any) float64 {
		return panelwise.of(v.flops()*float64(v.sp.N), found.(*gemm).bytes(v))
	},
	emit: func(l *lowerer, v *val, found any) ([]*instr, error) {
		in, err := gemmInstr(l, v, found.(*gemm))
		return []*instr{in}, err
	},
})

// bytes is the size of the operands.
func (g *gemm) bytes(v *val) float64 {
	return float64((g.x.sp.N*g.x.typ.Size() + g.y.sp.N*g.y.typ.Size()) * kindOf(v.typ).bytes())
}

// gemmOf finds the operands of a large product; nil where one is not in memory as it stands.
func gemmOf(l *lowerer, v *val) *gemm {
	if !large(l, v) {
		return nil
	}
	g := &gemm{p: dims(v.args[0], v.args[1]), rows: 512, products: v.sp.N}
	if len(v.typ.Shape) == 1 { // all rows together are one matrix
		x, y := vectorsBy(v)
		g.x, g.products = x, 1
		g.y, g.p.bt = untransposed(y)
		if y == v.args[0] {
			g.p.bt = !g.p.bt
		}
		g.p.m, g.p.k, g.p.n = v.sp.N, x.typ.Size(), v.typ.Size()
	} else {
		g.x, g.p.at = untransposed(v.args[0])
		g.y, g.p.bt = untransposed(v.args[1])
		if g.y.uniform() && !g.p.at { // matrices one below the other are one matrix
			g.p.m, g.products = g.p.m*g.products, 1
		}
	}
	for _, x := range []*val{g.x, g.y} {
		if x.data == nil || x.data.kind != kindOf(v.typ) {
			return nil
		}
	}
	return g
}

// gemmInstr makes the instruction of a large product.
func gemmInstr(l *lowerer, v *val, g *gemm) (*instr, error) {
	products := g.products
	t, err := compile(l.g, nil)
	if err != nil {
		return nil, err
	}
	t.also = []*val{g.x, g.y}
	for g.rows > leastPanel && products*((g.p.m+g.rows-1)/g.rows)*((g.p.n+panelWidth-1)/panelWidth) < 2 {
		g.rows /= 2
	}
	in := &instr{v: v, how: "GEMM", rows: products, t: t, form: g}
	if s := g.narrowed(products, l.tune); s != nil {
		in.form, in.how = s, "narrow GEMM"
		operand, result := s.scratch()
		t.bytes = span((operand + result) * kindOf(v.typ).bytes())
	}
	l.finish(in)
	in.flops = v.flops() * float64(v.sp.N)
	in.bytes += g.bytes(v)
	return in, nil
}

var _ = registerForm(form{
	name: "GEMM of outer products",
	match: func(l *lowerer, v *val) (any, error) {
		x, y := largeSumOf(l, v)
		if x == nil || x.data == nil || y.data == nil || x.data.kind != kindOf(v.typ) || y.data.kind != kindOf(v.typ) {
			return nil, nil // an operand is not in memory as it stands
		}
		return &outers{x: x, y: y, p: x.typ.Size(), q: y.typ.Size()}, nil
	},
	cost: func(_ *lowerer, v *val, found any) float64 {
		o, rows := found.(*outers), float64(v.grp.In.N)
		return panelwise.of(2*rows*float64(v.typ.Size()), rows*float64((o.p+o.q)*kindOf(v.typ).bytes()))
	},
	emit: func(l *lowerer, v *val, found any) ([]*instr, error) {
		in, err := outersInstr(l, v, found.(*outers))
		return []*instr{in}, err
	},
})

// outersInstr makes the instruction of a large sum of outer products.
func outersInstr(l *lowerer, v *val, o *outers) (*instr, error) {
	x, y := o.x, o.y
	t, err := compile(l.g, nil)
	if err != nil {
		return nil, err
	}
	t.also = []*val{x, y}
	if v.grp.In.N > productRows {
		_, _, width := o.tiles()
		t.bytes = inPartsBytes(kindOf(v.typ), min(outersTile, o.p)*min(width, o.q))
	}
	in := &instr{v: v, how: v.fn.String() + " GEMM", rows: v.grp.In.N, t: t, form: o}
	l.finish(in)
	in.flops = 2 * float64(in.rows) * float64(v.typ.Size())
	in.bytes += float64(in.rows * (x.typ.Size() + y.typ.Size()) * kindOf(v.typ).bytes())
	return in, nil
}
