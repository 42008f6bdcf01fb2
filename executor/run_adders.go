package executor

import (
	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
)

// adders are the loops of the sum v; whole is nil where there is no such loop.
func (a *adding) adders(v *val, mem *tray) (add adder, whole wholes) {
	single := kindOf(v.typ) == f32
	switch {
	case a == nil:
		return nil, nil
	case a.inParts(v):
		return addOutersInParts(a.terms, mem, v.typ.Size()), nil
	case a.terms != nil:
		return func(b *block, acc *accum, lo, hi int) { addOuters(b, a.terms, acc.f, 1, lo, hi) }, nil
	case a.from != nil && single:
		return addInPlace[float32](a.scalars, a.from, a.near), sumWholes[float32](a.scalars, a.from, a.near)
	case a.from != nil:
		return addInPlace[float64](a.scalars, a.from, a.near), sumWholes[float64](a.scalars, a.from, a.near)
	case single:
		return addWeighted[float32](a.scalars), nil
	}
	return addWeighted[float64](a.scalars), nil
}

// wholes makes the sums of groups from g on, whose rows begin and end at start and lie in the block, with the bits that
// an adder gives.
type wholes func(b *block, start []int32, out *data, g int)

func sumWholes[T float](scalars []factor, from []source, near []bool) wholes {
	return func(b *block, start []int32, out *data, g int) {
		lo, hi := int(start[0]), int(start[len(start)-1])
		weights := of[T](b.partial(out.kind, b.t.rows))[:hi-lo]
		multiply(b, scalars, weights, lo-b.lo)
		x := inPlace[T](from, near, lo, hi)
		cpu.SpMM(len(start)-1, start, lo, weights, x[0], x[1], out.size, of[T](out)[g*out.size:])
	}
}

// inPlace are the rows lo to hi of one or two columns.
func inPlace[T float](from []source, near []bool, lo, hi int) (x [2]cpu.Rows[T]) {
	for i, s := range from {
		x[i] = cpu.Rows[T]{X: of[T](s.v.data), Near: near[i]}
		if s.idx != nil {
			x[i].At = s.idx.At[lo:hi]
		}
	}
	return x
}

func addInPlace[T float](scalars []factor, from []source, near []bool) adder {
	return func(b *block, a *accum, lo, hi int) {
		sum, size := a.f, len(a.f)
		tmp := of[T](b.partial(from[0].v.data.kind, b.t.rows+size))
		weights, part := tmp[:hi-lo], tmp[b.t.rows:b.t.rows+size]
		multiply(b, scalars, weights, lo)
		x := inPlace[T](from, near, b.lo+lo, b.lo+hi)
		cpu.SpMM(1, []int32{int32(b.lo + lo), int32(b.lo + hi)}, b.lo+lo, weights, x[0], x[1], size, part)
		cpu.AddRows(1, size, part, sum)
	}
}

func addWeighted[T float](scalars []factor) adder {
	return func(b *block, a *accum, lo, hi int) {
		sum, size := a.f, len(a.f)
		x, _ := b.result(len(scalars))
		tmp := of[T](b.partial(x.kind, b.t.rows+size))
		weights, part := tmp[:hi-lo], tmp[b.t.rows:b.t.rows+size]
		multiply(b, scalars, weights, lo)
		cpu.SpMM(
			1,
			[]int32{0, int32(hi - lo)},
			0,
			weights,
			cpu.Rows[T]{X: of[T](x)[lo*size : hi*size]},
			cpu.Rows[T]{},
			size,
			part,
		)
		cpu.AddRows(1, size, part, sum)
	}
}

// multiply writes the product of the scalar factors, which are the first results of the tree, for the
// block's rows from lo on.
func multiply[T float](b *block, scalars []factor, out []T, lo int) {
	n, product, each := len(out), []T{1}, 0
	for i, f := range scalars {
		d, uniform := b.result(i)
		x, step := of[T](d), 0
		if !uniform {
			x, step = x[lo:], 1
		}
		op := cpu.Mul
		if f.divide {
			op = cpu.Div
		}
		if i == 0 && !f.divide {
			product, each = x, step
			continue
		}
		cpu.Binary(op, 1, n, product, 0, each, x, 0, step, out)
		product, each = out, 1
	}
	switch {
	case each == 0:
		for r := range out {
			out[r] = product[0]
		}
	case len(scalars) == 1 && !scalars[0].divide:
		copy(out, product)
	}
}

// addOutersInParts adds in single precision as long as rows are few enough.
func addOutersInParts(terms []outerTerm, mem *tray, size int) adder {
	return func(b *block, acc *accum, lo, hi int) {
		if acc.rows > 0 && acc.rows+hi-lo > chain {
			acc.settle(mem, size)
		}
		if acc.part == nil {
			acc.part = mem.singles(size)
		}
		addOuters(b, terms, acc.part, min(acc.rows, 1), lo, hi)
		acc.rows += hi - lo
	}
}

// addOuters adds the sums of all terms to so many times what out holds.
func addOuters[T float](b *block, terms []outerTerm, out []T, keep, lo, hi int) {
	most := 0
	for _, t := range terms {
		if len(t.scalars) > 0 {
			most = max(most, t.y.typ.Size()+1)
		}
	}
	first, _ := b.result(0)
	tmp, base := of[T](b.partial(first.kind, b.t.rows*most)), b.base
	for _, t := range terms {
		addOuter(b, t, out, tmp, keep, lo, hi)
		b.base, keep = b.base+len(t.scalars)+2, 1
	}
	b.base = base
}

// addOuter adds the products of a term, whose cells are the block's next results, to so many times what out holds.
func addOuter[T float](b *block, t outerTerm, out, tmp []T, keep, lo, hi int) {
	dx, _ := b.result(len(t.scalars))
	dy, _ := b.result(len(t.scalars) + 1)
	n, p, q := hi-lo, t.x.typ.Size()/t.each, t.y.typ.Size()/t.each
	width := t.each * q
	x, y := of[T](dx)[lo*t.each*p:hi*t.each*p], of[T](dy)[lo*width:hi*width]
	if len(t.scalars) > 0 {
		w, scaled := tmp[:n], tmp[b.t.rows:b.t.rows+n*width]
		multiply(b, t.scalars, w, lo)
		cpu.Binary(cpu.Mul, n, width, w, 1, 0, y, width, 1, scaled)
		y = scaled
	}
	blas.Gemm(true, false, p, q, n*t.each, x, p, y, q, T(keep), out, q)
}
