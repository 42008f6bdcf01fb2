package executor

import (
	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// gemm lowers a product of few but large matrices: workers take panels of rows of the result.
type gemm struct {
	p        product
	x, y     *val
	rows     int // of a panel
	products int // of matrices of their own
}

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

// leastPanel is the number of rows or columns down to which a product is cut so that workers can share it.
const leastPanel = 128

// panelWidth is how many columns of a result a panel has, where there are few.
const panelWidth = 512

// across cuts so many columns of some results with so many rows into panels: wide ones, so that the library lays an
// operand out for itself as rarely as it may, where there are enough of them for the workers.
func across(results, panels, columns int) (n, width int) {
	width = 1024
	if results*panels*((columns+width-1)/width) < 4 {
		width = panelWidth
	}
	return (columns + width - 1) / width, width
}

func (g *gemm) run(in *task) error {
	m := in.m
	down := (g.p.m + g.rows - 1) / g.rows
	n, width := across(in.rows, down, g.p.n)
	if down*n*in.rows < 4 && width >= g.p.n && g.p.n >= 2*leastPanel { // too few for the workers
		n, width = 2, (g.p.n+1)/2
	}
	return cpu.Parallel(m.ctx, m.workers, in.rows*down*n, func(w, task int) error {
		row, at := task/(down*n), task%(down*n)
		lo, left := at%down*g.rows, at/down*width
		if in.v.data.kind == f32 {
			runPanel[float32](in, g, row, lo, left, min(width, g.p.n-left))
		} else {
			runPanel[float64](in, g, row, lo, left, min(width, g.p.n-left))
		}
		return nil
	})
}

// part are the numbers of v that product row multiplies, or all where it is the same matrix for each.
func part[T float](v *val, row, size int) []T {
	if v.uniform() {
		return of[T](v.data)[:size]
	}
	return of[T](v.data)[row*size : (row+1)*size]
}

// runPanel computes a panel of the result of one product, from row lo and column left on.
func runPanel[T float](in *task, g *gemm, row, lo, left, width int) {
	p := g.p
	x, y, out := part[T](g.x, row, p.m*p.k), part[T](g.y, row, p.k*p.n), of[T](in.v.data)[row*p.m*p.n:(row+1)*p.m*p.n]
	n := min(g.rows, p.m-lo)
	lda, ldb := p.k, p.n
	if p.at {
		lda = p.m
		x = x[lo:]
	} else {
		x = x[lo*p.k:]
	}
	if p.bt {
		ldb = p.k
		y = y[left*p.k:]
	} else {
		y = y[left:]
	}
	blas.Gemm(p.at, p.bt, n, width, p.k, x, lda, y, ldb, 0, out[lo*p.n+left:], p.n)
}

// outers lowers a large sum of outer products: workers take tiles of the result.
type outers struct {
	x, y *val
	p, q int
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

const outersTile = 512 // rows of a tile

// tiles is how many tiles the result is cut into, down and across, and how wide they are.
func (o *outers) tiles() (down, n, width int) {
	down = (o.p + outersTile - 1) / outersTile
	n, width = across(1, down, o.q)
	return down, n, width
}

func (o *outers) run(in *task) error {
	m := in.m
	down, n, width := o.tiles()
	return cpu.Parallel(m.ctx, m.workers, down*n, func(w, task int) error {
		lo, left := task%down*outersTile, task/down*width
		if in.v.data.kind == f32 {
			runOuters[float32](in, o, lo, min(outersTile, o.p-lo), left, min(width, o.q-left), m.scratch[w])
		} else {
			runOuters[float64](in, o, lo, min(outersTile, o.p-lo), left, min(width, o.q-left), m.scratch[w])
		}
		return nil
	})
}

// productRows is over how many rows a large sum runs in single precision: as long as the sums are that a product of
// such matrices makes anyway.
const productRows = 1024

// inParts is scratch for n sums in double precision that begin at 0, and for parts of them in the result's kind.
func inParts[T float](k kind, n int, scratch *tensor.Buffer) (part []T, sum []float64) {
	d, wide := place(scratch, 0, k, n, 1, false), place(scratch, span(n*k.bytes()), f64, n, 1, false)
	clear(wide.f64)
	return of[T](&d), wide.f64
}

func inPartsBytes(k kind, n int) int { return span(n*k.bytes()) + span(n*f64.bytes()) }

// runOuters sums n rows and width columns of the result.
func runOuters[T float](in *task, o *outers, lo, n, left, width int, scratch *tensor.Buffer) {
	x, y, out := of[T](o.x.data), of[T](o.y.data), of[T](in.v.data)
	if in.rows <= productRows {
		blas.Gemm(true, false, n, width, in.rows, x[lo:], o.p, y[left:], o.q, 0, out[lo*o.q+left:], o.q)
		return
	}
	part, sum := inParts[T](in.v.data.kind, n*width, scratch)
	for at := 0; at < in.rows; at += productRows {
		blas.Gemm(
			true,
			false,
			n,
			width,
			min(productRows, in.rows-at),
			x[at*o.p+lo:],
			o.p,
			y[at*o.q+left:],
			o.q,
			0,
			part,
			width,
		)
		cpu.AddRows(1, n*width, part, sum)
		tensor.Trim()
	}
	for r := range n {
		to := out[(lo+r)*o.q+left:]
		for i, s := range sum[r*width : (r+1)*width] {
			to[i] = T(s)
		}
	}
}
