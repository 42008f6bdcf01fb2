package cpu

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
)

// addersOf returns the loops that compute the sum v. whole is nil if there is no loop for whole groups.
func addersOf(a *device.Adding, v *values.Val, mem *loans) (add adder, whole wholeGroups) {
	single := column.KindOf(v.Type) == column.F32
	switch {
	case a == nil:
		return nil, nil
	case a.InParts(v):
		return addOutersInParts(a.Terms, mem, v.Type.Size()), nil
	case a.Terms != nil:
		return func(b *block, acc *accum, lo, hi int) { addOuters(b, a.Terms, acc.f, 1, lo, hi) }, nil
	case a.From != nil && single:
		return addInPlace[float32](a.Scalars, a.From, a.Near), sumWholes[float32](a.Scalars, a.From, a.Near)
	case a.From != nil:
		return addInPlace[float64](a.Scalars, a.From, a.Near), sumWholes[float64](a.Scalars, a.From, a.Near)
	case single:
		return addWeighted[float32](a.Scalars), nil
	}
	return addWeighted[float64](a.Scalars), nil
}

// wholeGroups computes the sums of groups, from group g on, that lie wholly in the block. Group g+i has the rows from
// start[i] to start[i+1]. The result has the same bits as an adder's.
type wholeGroups func(b *block, start []int32, out *column.Column, g int)

func sumWholes[T column.Float](scalars []values.Factor, from []device.Source, near []bool) wholeGroups {
	return func(b *block, start []int32, out *column.Column, g int) {
		lo, hi := int(start[0]), int(start[len(start)-1])
		weights := column.Numbers[T](b.partial(out.Kind(), b.t.Rows))[:hi-lo]
		multiply(b, scalars, weights, lo-b.lo)
		x := inPlace[T](from, near, lo, hi)
		cpu.SpMM(len(start)-1, start, lo, weights, x[0], x[1], out.Size(), column.Numbers[T](out)[g*out.Size():])
	}
}

// inPlace returns rows lo to hi of one or two columns, to be read where they are stored.
func inPlace[T column.Float](from []device.Source, near []bool, lo, hi int) (x [2]cpu.Rows[T]) {
	for i, s := range from {
		x[i] = cpu.Rows[T]{X: column.Numbers[T](s.V.Data), Near: near[i]}
		if s.Idx != nil {
			x[i].At = s.Idx.At[lo:hi]
		}
	}
	return x
}

func addInPlace[T column.Float](scalars []values.Factor, from []device.Source, near []bool) adder {
	return func(b *block, a *accum, lo, hi int) {
		sum, size := a.f, len(a.f)
		tmp := column.Numbers[T](b.partial(from[0].V.Data.Kind(), b.t.Rows+size))
		weights, part := tmp[:hi-lo], tmp[b.t.Rows:b.t.Rows+size]
		multiply(b, scalars, weights, lo)
		x := inPlace[T](from, near, b.lo+lo, b.lo+hi)
		cpu.SpMM(1, []int32{int32(b.lo + lo), int32(b.lo + hi)}, b.lo+lo, weights, x[0], x[1], size, part)
		cpu.AddRows(1, size, part, sum)
	}
}

func addWeighted[T column.Float](scalars []values.Factor) adder {
	return func(b *block, a *accum, lo, hi int) {
		sum, size := a.f, len(a.f)
		x, _ := b.result(len(scalars))
		tmp := column.Numbers[T](b.partial(x.Kind(), b.t.Rows+size))
		weights, part := tmp[:hi-lo], tmp[b.t.Rows:b.t.Rows+size]
		multiply(b, scalars, weights, lo)
		cpu.SpMM(1, []int32{0, int32(hi - lo)}, 0, weights, cpu.Rows[T]{X: column.Numbers[T](x)[lo*size : hi*size]},
			cpu.Rows[T]{}, size, part)
		cpu.AddRows(1, size, part, sum)
	}
}

// multiply computes the product of the scalar factors, which are the first results of the tree, for the rows from lo
// on.
func multiply[T column.Float](b *block, scalars []values.Factor, out []T, lo int) {
	n, product, each := len(out), []T{1}, 0
	for i, f := range scalars {
		d, uniform := b.result(i)
		x, step := column.Numbers[T](d), 0
		if !uniform {
			x, step = x[lo:], 1
		}
		op := cpu.Mul
		if f.Divide {
			op = cpu.Div
		}
		if i == 0 && !f.Divide {
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
	case len(scalars) == 1 && !scalars[0].Divide:
		copy(out, product)
	}
}

// addOutersInParts sums in single precision over at most device.Chain rows, and adds these sums in double precision.
func addOutersInParts(terms []device.OuterTerm, mem *loans, size int) adder {
	return func(b *block, acc *accum, lo, hi int) {
		if acc.rows > 0 && acc.rows+hi-lo > device.Chain {
			acc.settle(mem, size)
		}
		if acc.part == nil {
			acc.part = mem.singles(size)
		}
		addOuters(b, terms, acc.part, min(acc.rows, 1), lo, hi)
		acc.rows += hi - lo
	}
}

// addOuters sets out to keep (0 or 1) times itself plus the sums of all terms.
func addOuters[T column.Float](b *block, terms []device.OuterTerm, out []T, keep, lo, hi int) {
	most := 0
	for _, t := range terms {
		if len(t.Scalars) > 0 {
			most = max(most, t.Y.Type.Size()+1)
		}
	}
	first, _ := b.result(0)
	tmp, base := column.Numbers[T](b.partial(first.Kind(), b.t.Rows*most)), b.base
	for _, t := range terms {
		addOuter(b, t, out, tmp, keep, lo, hi)
		b.base, keep = b.base+len(t.Scalars)+2, 1
	}
	b.base = base
}

// addOuter sets out to keep (0 or 1) times itself plus the products of one term, whose cells are the block's next
// results.
func addOuter[T column.Float](b *block, t device.OuterTerm, out, tmp []T, keep, lo, hi int) {
	dx, _ := b.result(len(t.Scalars))
	dy, _ := b.result(len(t.Scalars) + 1)
	n, p, q := hi-lo, t.X.Type.Size()/t.Each, t.Y.Type.Size()/t.Each
	width := t.Each * q
	x, y := column.Numbers[T](dx)[lo*t.Each*p:hi*t.Each*p], column.Numbers[T](dy)[lo*width:hi*width]
	if len(t.Scalars) > 0 {
		w, scaled := tmp[:n], tmp[b.t.Rows:b.t.Rows+n*width]
		multiply(b, t.Scalars, w, lo)
		cpu.Binary(cpu.Mul, n, width, w, 1, 0, y, width, 1, scaled)
		y = scaled
	}
	blas.Gemm(true, false, p, q, n*t.Each, x, p, y, q, T(keep), out, q)
}
