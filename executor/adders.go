package executor

import (
	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
)

// tryAdder lowers sums over large groups whose rows need not be made one by one: scalars times chunks, outer
// products and matrix products. It returns nil for other aggregates.
func (l *lowerer) tryAdder(v *val) (*instr, error) {
	arg := v.args[0]
	if v.fn != ra.Sum && v.fn != ra.GradSum || !v.typ.IsFloat() || arg.typ.Nullable || arg.typ.Size() == 1 || v.grp.in.n < groupRows*v.grp.out.n {
		return nil, nil
	}
	scalars, core := factors(arg)
	if core.op == vCall && core.data == nil {
		switch name := core.expr.Def.Name; {
		case name == "outer":
			return l.outerSum(v, scalars, core.args[0], core.args[1])
		case name == "matmul" && len(core.args[0].typ.Shape) == 2 && len(core.args[1].typ.Shape) == 2:
			if a, t := untransposed(core.args[0]); t {
				return l.outerSum(v, scalars, a, core.args[1])
			}
		}
		return nil, nil
	}
	if len(scalars) == 0 {
		return nil, nil
	}
	return l.weightedSum(v, scalars, core)
}

// compileSum compiles the factors, then the vals, in the result's kind.
func (l *lowerer) compileSum(v *val, how string, scalars []factor, vals ...*val) (*instr, error) {
	c := newCompiler(l.g, v.grp.order)
	for _, x := range append(factorVals(scalars), vals...) {
		r, err := c.emit(x, -1)
		if err != nil {
			return nil, err
		}
		c.t.result = append(c.t.result, c.convert(r, kindOf(v.typ)))
	}
	c.finish()
	c.t.rows = min(c.t.rows, 256) // sums in single precision run over no more
	return &instr{v: v, how: how, rows: v.grp.in.n, t: c.t, grp: v.grp}, nil
}

func factorVals(scalars []factor) []*val {
	out := make([]*val, len(scalars))
	for i, f := range scalars {
		out[i] = f.v
	}
	return out
}

// weightedSum adds weighted chunks without making the products.
func (l *lowerer) weightedSum(v *val, scalars []factor, chunk *val) (*instr, error) {
	if chunk.uniform() {
		return nil, nil
	}
	in, err := l.compileSum(v, v.fn.String()+" weighted", scalars, chunk)
	if err != nil {
		return nil, err
	}
	in.add = addWeighted[float64](scalars)
	if kindOf(v.typ) == f32 {
		in.add = addWeighted[float32](scalars)
	}
	return l.finish(in), nil
}

func addWeighted[T float](scalars []factor) adder {
	return func(b *block, sum []float64, lo, hi int) {
		size := len(sum)
		x, _ := b.result(len(scalars))
		tmp := of[T](b.partial(x.kind, b.t.rows+size))
		weights, part := tmp[:hi-lo], tmp[b.t.rows:b.t.rows+size]
		multiply(b, scalars, weights, lo)
		cpu.SpMM(1, []int32{0, int32(hi - lo)}, 0, nil, weights, of[T](x)[lo*size:hi*size], size, part)
		cpu.AddRows(1, size, part, sum)
	}
}

// partial returns the block's space for n elements.
func (b *block) partial(k kind, n int) *data {
	if len(b.tmp.f32)+len(b.tmp.f64) < n {
		b.tmp = data{kind: k, size: 1, n: n}
		if k == f32 {
			b.tmp.f32 = make([]float32, n)
		} else {
			b.tmp.f64 = make([]float64, n)
		}
	}
	return &b.tmp
}

// multiply writes the product of the scalar factors, which are the first results of the tree, for the
// block's rows from lo on.
func multiply[T float](b *block, scalars []factor, out []T, lo int) {
	for i, f := range scalars {
		d, uniform := b.result(i)
		x, each := of[T](d), 0
		if !uniform {
			x, each = x[lo:], 1
		}
		n := len(out)
		switch {
		case i > 0 && f.divide:
			cpu.Binary(cpu.Div, 1, n, out, 0, 1, x, 0, each, out)
		case i > 0:
			cpu.Binary(cpu.Mul, 1, n, out, 0, 1, x, 0, each, out)
		case f.divide:
			cpu.Binary(cpu.Div, 1, n, []T{1}, 0, 0, x, 0, each, out)
		default:
			cpu.Binary(cpu.Mul, 1, n, x, 0, each, []T{1}, 0, 0, out)
		}
	}
}

// outerSum sums xᵀ·y over rows (x, y vectors, or matrices with as many rows) as one product of the rows.
func (l *lowerer) outerSum(v *val, scalars []factor, x, y *val) (*instr, error) {
	if x.uniform() || y.uniform() {
		return nil, nil
	}
	in, err := l.compileSum(v, v.fn.String()+" GEMM", scalars, x, y)
	if err != nil {
		return nil, err
	}
	each := 1 // rows of a matrix
	if len(x.typ.Shape) == 2 {
		each = x.typ.Shape[0]
	}
	p, q := x.typ.Size()/each, y.typ.Size()/each
	in.add = addOuter[float64](scalars, each, p, q)
	if kindOf(v.typ) == f32 {
		in.add = addOuter[float32](scalars, each, p, q)
	}
	l.finish(in)
	in.flops += 2 * float64(in.rows) * float64(each*p*q)
	in.cut()
	return in, nil
}

func addOuter[T float](scalars []factor, each, p, q int) adder {
	return func(b *block, sum []float64, lo, hi int) {
		dx, _ := b.result(len(scalars))
		dy, _ := b.result(len(scalars) + 1)
		n, width := hi-lo, each*q
		x, y := of[T](dx)[lo*each*p:hi*each*p], of[T](dy)[lo*width:hi*width]
		tmp := of[T](b.partial(dx.kind, p*q+b.t.rows*(width+1)))
		part, rest := tmp[:p*q], tmp[p*q:]
		if len(scalars) > 0 {
			w, scaled := rest[:n], rest[b.t.rows:b.t.rows+n*width]
			multiply(b, scalars, w, lo)
			cpu.Binary(cpu.Mul, n, width, w, 1, 0, y, width, 1, scaled)
			y = scaled
		}
		blas.Gemm(true, false, p, q, n*each, x, p, y, q, 0, part, q)
		cpu.AddRows(1, p*q, part, sum)
	}
}
