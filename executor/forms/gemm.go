package forms

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/ra"
)

// large reports whether v is a product that is worth cutting into panels. Both operands are then computed into memory
// first.
func large(l *Lowerer, v *values.Val) bool {
	if v.Op != values.OpCall || v.Data != nil || v.Expr.Def.Name != "matmul" || v.Type.Nullable || v.Space.N == 0 ||
		len(v.Type.Shape) == 0 {
		return false
	}
	for _, a := range v.Args {
		if a.Type.Kind != v.Type.Kind {
			return false
		}
	}
	if len(v.Type.Shape) == 1 {
		_, matrix := vectorsBy(v)
		return matrix != nil && matrix.Type.Size() >= l.Tune.LargeMatrix && v.Flops()*float64(v.Space.N) >= l.Tune.LargeFlops
	}
	return len(v.Type.Shape) == 2 && v.Flops() >= l.Tune.LargeFlops && v.Space.N <= 64
}

// vectorsBy splits a product of each row's vector with the same matrix; nil for other products.
func vectorsBy(v *values.Val) (rows, matrix *values.Val) {
	switch a, b := v.Args[0], v.Args[1]; {
	case len(a.Type.Shape) == 1 && len(b.Type.Shape) == 2 && b.Uniform() && !a.Uniform():
		return a, b
	case len(b.Type.Shape) == 1 && len(a.Type.Shape) == 2 && a.Uniform() && !b.Uniform():
		return b, a
	}
	return nil, nil
}

// largeSumOf returns the operands of a sum of all rows' outer products whose result is large; nil for other vals. The
// workers then share the result, not the rows.
func largeSumOf(l *Lowerer, v *values.Val) (x, y *values.Val) {
	if v.Op != values.OpAgg || v.Fn != ra.Sum && v.Fn != ra.GradSum || v.Groups.Out.N != 1 || v.Groups.Order != nil ||
		v.Type.Nullable || v.Type.Size() < l.Tune.LargeMatrix {
		return nil, nil
	}
	o := v.Args[0]
	if o.Op != values.OpCall || o.Data != nil || o.Expr.Def.Name != "outer" || o.Type.Nullable {
		return nil, nil
	}
	for _, a := range o.Args {
		if a.Uniform() || a.Type.Kind != v.Type.Kind {
			return nil, nil
		}
	}
	return o.Args[0], o.Args[1]
}

// feedsLarge reports whether v is an operand of such a product, directly or through a transpose.
func feedsLarge(l *Lowerer, v *values.Val) bool {
	for _, u := range l.uses[v] {
		for _, w := range l.uses[u] {
			if x, y := largeSumOf(l, w); w.Op == values.OpAgg && w.Args[0] == u && (x == v || y == v) {
				return true
			}
		}
		if large(l, u) {
			_, turned := values.Untransposed(v)
			return !turned
		}
		if _, turned := values.Untransposed(u); turned {
			for _, w := range l.uses[u] {
				if large(l, w) {
					return true
				}
			}
		}
	}
	return false
}

var _ = registerForm(Form{
	Name: "GEMM",
	Match: func(l *Lowerer, v *values.Val) (any, error) {
		if g := gemmOf(l, v); g != nil {
			return g, nil
		}
		return nil, nil
	},
	Cost: func(_ *Lowerer, v *values.Val, found any) float64 {
		return panelwise.of(v.Flops()*float64(v.Space.N), gemmBytes(found.(*device.GEMM), v))
	},
	emit: func(l *Lowerer, v *values.Val, found any) ([]*device.Instr, error) {
		in, err := gemmInstr(l, v, found.(*device.GEMM))
		return []*device.Instr{in}, err
	},
})

// gemmBytes is the size of the operands.
func gemmBytes(g *device.GEMM, v *values.Val) float64 {
	return float64((g.X.Space.N*g.X.Type.Size() + g.Y.Space.N*g.Y.Type.Size()) * column.KindOf(v.Type).Bytes())
}

// gemmOf finds the operands of a large product; nil where one is not in memory in its own order.
func gemmOf(l *Lowerer, v *values.Val) *device.GEMM {
	if !large(l, v) {
		return nil
	}
	g := &device.GEMM{P: dims(v.Args[0], v.Args[1]), Rows: 512, Products: v.Space.N}
	if len(v.Type.Shape) == 1 { // all rows together form one matrix
		x, y := vectorsBy(v)
		g.X, g.Products = x, 1
		g.Y, g.P.Bt = values.Untransposed(y)
		if y == v.Args[0] {
			g.P.Bt = !g.P.Bt
		}
		g.P.M, g.P.K, g.P.N = v.Space.N, x.Type.Size(), v.Type.Size()
	} else {
		g.X, g.P.At = values.Untransposed(v.Args[0])
		g.Y, g.P.Bt = values.Untransposed(v.Args[1])
		if g.Y.Uniform() && !g.P.At { // matrices below each other form one matrix
			g.P.M, g.Products = g.P.M*g.Products, 1
		}
	}
	for _, x := range []*values.Val{g.X, g.Y} {
		if x.Data == nil || x.Data.Kind() != column.KindOf(v.Type) {
			return nil
		}
	}
	return g
}

// gemmInstr makes the instruction of a large product.
func gemmInstr(l *Lowerer, v *values.Val, g *device.GEMM) (*device.Instr, error) {
	products := g.Products
	t, err := Compile(l.g, nil)
	if err != nil {
		return nil, err
	}
	t.Also = []*values.Val{g.X, g.Y}
	for g.Rows > device.LeastPanel &&
		products*((g.P.M+g.Rows-1)/g.Rows)*((g.P.N+device.PanelWidth-1)/device.PanelWidth) < 2 {
		g.Rows /= 2
	}
	in := &device.Instr{V: v, How: "GEMM", Rows: products, T: t, Form: g}
	if s := narrowed(g, products, l.Tune); s != nil {
		s.Of = g
		in.Form, in.How = s, "narrow GEMM"
		operand, result := s.Scratch()
		t.Bytes = column.Aligned((operand + result) * column.KindOf(v.Type).Bytes())
	}
	l.finish(in)
	in.Flops = v.Flops() * float64(v.Space.N)
	in.Bytes += gemmBytes(g, v)
	return in, nil
}

var _ = registerForm(Form{
	Name: "GEMM of outer products",
	Match: func(l *Lowerer, v *values.Val) (any, error) {
		x, y := largeSumOf(l, v)
		if x == nil || x.Data == nil || y.Data == nil || x.Data.Kind() != column.KindOf(v.Type) ||
			y.Data.Kind() != column.KindOf(v.Type) {
			return nil, nil // an operand is not in memory in its own order
		}
		return &device.Outers{X: x, Y: y, P: x.Type.Size(), Q: y.Type.Size()}, nil
	},
	Cost: func(_ *Lowerer, v *values.Val, found any) float64 {
		o, rows := found.(*device.Outers), float64(v.Groups.In.N)
		return panelwise.of(2*rows*float64(v.Type.Size()), rows*float64((o.P+o.Q)*column.KindOf(v.Type).Bytes()))
	},
	emit: func(l *Lowerer, v *values.Val, found any) ([]*device.Instr, error) {
		in, err := outersInstr(l, v, found.(*device.Outers))
		return []*device.Instr{in}, err
	},
})

// outersInstr makes the instruction of a large sum of outer products.
func outersInstr(l *Lowerer, v *values.Val, o *device.Outers) (*device.Instr, error) {
	x, y := o.X, o.Y
	t, err := Compile(l.g, nil)
	if err != nil {
		return nil, err
	}
	t.Also = []*values.Val{x, y}
	if v.Groups.In.N > device.ProductRows {
		_, _, width := o.Tiles()
		t.Bytes = device.InPartsBytes(column.KindOf(v.Type), min(device.OutersTile, o.P)*min(width, o.Q))
	}
	in := &device.Instr{V: v, How: v.Fn.String() + " GEMM", Rows: v.Groups.In.N, T: t, Form: o}
	l.finish(in)
	in.Flops = 2 * float64(in.Rows) * float64(v.Type.Size())
	in.Bytes += float64(in.Rows * (x.Type.Size() + y.Type.Size()) * column.KindOf(v.Type).Bytes())
	return in, nil
}
