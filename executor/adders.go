package executor

import (
	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
)

// adding is a form of sum whose rows need not be made one by one.
type adding struct {
	how     string
	scalars []factor // the first results of the tree
	vals    []*val   // the results after them, in the kind of the sum
	add     adder
	flops   float64 // per row, besides the tree's
}

// adding returns the form for sums over large groups of scalars times chunks, of outer products and of matrix products;
// nil for other aggregates.
func (l *lowerer) adding(v *val) *adding {
	arg := v.args[0]
	if v.fn != ra.Sum && v.fn != ra.GradSum || !v.typ.IsFloat() || arg.typ.Nullable || arg.typ.Size() == 1 || v.grp.in.n < groupRows*v.grp.out.n {
		return nil
	}
	scalars, core := l.g.factors(arg)
	if core.op == vCall && core.data == nil {
		switch name := core.expr.Def.Name; {
		case name == "outer":
			return outerSum(v, scalars, core.args[0], core.args[1])
		case name == "matmul" && len(core.args[0].typ.Shape) == 2 && len(core.args[1].typ.Shape) == 2:
			if a, t := untransposed(core.args[0]); t {
				return outerSum(v, scalars, a, core.args[1])
			}
		}
		return nil
	}
	if len(scalars) == 0 || core.uniform() {
		return nil
	}
	return weightedSum(v, scalars, core)
}

// tryAdder makes the instruction of such a sum.
func (l *lowerer) tryAdder(v *val) (*instr, error) {
	a := l.adding(v)
	if a == nil {
		return nil, nil
	}
	c := newCompiler(l.g, v.grp.order)
	if err := c.emitSum(v, a); err != nil {
		return nil, err
	}
	c.finish()
	in := &instr{v: v, how: a.how, rows: v.grp.in.n, t: c.t, grp: v.grp, add: a.add}
	l.finish(in)
	if a.flops > 0 {
		in.flops += float64(in.rows) * a.flops
		in.cut()
	}
	return in, nil
}

// emitSum compiles the factors, then the vals, in the sum's kind.
func (c *compiler) emitSum(v *val, a *adding) error {
	for _, x := range append(factorVals(a.scalars), a.vals...) {
		r, err := c.emit(x, -1)
		if err != nil {
			return err
		}
		c.t.result = append(c.t.result, c.convert(r, kindOf(v.typ)))
	}
	c.t.most = 256 // sums in single precision run over no more rows
	return nil
}

func factorVals(scalars []factor) []*val {
	out := make([]*val, len(scalars))
	for i, f := range scalars {
		out[i] = f.v
	}
	return out
}

// weightedSum adds weighted chunks without making the products.
func weightedSum(v *val, scalars []factor, chunk *val) *adding {
	a := &adding{how: v.fn.String() + " weighted", scalars: scalars, vals: []*val{chunk}, add: addWeighted[float64](scalars)}
	if kindOf(v.typ) == f32 {
		a.add = addWeighted[float32](scalars)
	}
	return a
}

func addWeighted[T float](scalars []factor) adder {
	return func(b *block, sum []float64, lo, hi int) {
		size := len(sum)
		x, _ := b.result(len(scalars))
		tmp := of[T](b.partial(x.kind, b.t.rows+size))
		weights, part := tmp[:hi-lo], tmp[b.t.rows:b.t.rows+size]
		multiply(b, scalars, weights, lo)
		cpu.SpMM(1, []int32{0, int32(hi - lo)}, 0, weights, cpu.Rows[T]{X: of[T](x)[lo*size : hi*size]}, cpu.Rows[T]{}, size, part)
		cpu.AddRows(1, size, part, sum)
	}
}

// partial returns the block's space for n elements of the kind; the sums of a pass may be of both.
func (b *block) partial(k kind, n int) *data {
	if k == f32 && len(b.tmp.f32) < n {
		b.tmp.f32 = make([]float32, n)
	}
	if k == f64 && len(b.tmp.f64) < n {
		b.tmp.f64 = make([]float64, n)
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
func outerSum(v *val, scalars []factor, x, y *val) *adding {
	if x.uniform() || y.uniform() {
		return nil
	}
	each := 1 // rows of a matrix
	if len(x.typ.Shape) == 2 {
		each = x.typ.Shape[0]
	}
	p, q := x.typ.Size()/each, y.typ.Size()/each
	a := &adding{how: v.fn.String() + " GEMM", scalars: scalars, vals: []*val{x, y}, add: addOuter[float64](scalars, each, p, q), flops: 2 * float64(each*p*q)}
	if kindOf(v.typ) == f32 {
		a.add = addOuter[float32](scalars, each, p, q)
	}
	return a
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
