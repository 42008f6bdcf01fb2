package executor

import (
	"github.com/relgrad/relgrad/kernels/cpu"
)

// runBroadcast is runBinary and runSelect for such arguments, one chunk at a time.
func runBroadcast[T float](b *block, o *op) error {
	e, out, step := o.aux.(*elem), of[T](b.out(o)), b.steps(o)
	row, each := make([]int, len(e.sides)), make([]int, len(e.sides))
	for i, s := range e.sides {
		row[i], each[i] = s.strides(e.n)
	}
	for r := range b.rows(o) {
		arg := func(i int) []T { return of[T](b.arg(o, i))[r*step[i]:] }
		to := out[r*e.size : (r+1)*e.size]
		if len(o.args) == 3 {
			cpu.Select(e.m, e.n, arg(0), row[0], each[0], arg(1), row[1], each[1], arg(2), row[2], each[2], to)
			continue
		}
		cpu.Binary(fastBinary[e.loop], e.m, e.n, arg(0), row[0], each[0], arg(1), row[1], each[1], to)
	}
	return nil
}

func runReduce[T float](b *block, o *op) error {
	f, x, out := o.aux.(reduction), of[T](b.arg(o, 0)), of[T](b.out(o))
	size := b.out(o).size
	sum := make([]float64, size)
	for r := range b.rows(o) {
		clear(sum)
		in := x[r*f.m*f.n : (r+1)*f.m*f.n]
		if f.to == line {
			cpu.AddRows(f.m, f.n, in, sum)
		} else {
			for i := range sum {
				cpu.AddRows(f.n, 1, in[i*f.n:(i+1)*f.n], sum[i:i+1])
			}
		}
		for i, s := range sum {
			out[r*size+i] = T(s)
		}
	}
	return nil
}

func runSumAll[T float](b *block, o *op) error {
	n, size, x, out := b.rows(o), o.aux.(int), of[T](b.arg(o, 0)), b.out(o).f64
	for r := range n {
		out[r] = 0
		cpu.AddRows(size, 1, x[r*size:(r+1)*size], out[r:r+1])
	}
	return nil
}

func runSumTo[T float](b *block, o *op) error {
	at, x, out := o.aux.([]int32), of[T](b.arg(o, 0)), of[T](b.out(o))
	size := b.out(o).size
	sum := make([]float64, size)
	for r := range b.rows(o) {
		clear(sum)
		for i, v := range x[r*len(at) : (r+1)*len(at)] {
			sum[at[i]] += float64(v)
		}
		for i, s := range sum {
			out[r*size+i] = T(s)
		}
	}
	return nil
}

func runPermute[T float](b *block, o *op) error {
	at, x, out, step := o.aux.([]int32), of[T](b.arg(o, 0)), of[T](b.out(o)), b.step(o, 0)
	for r := range b.rows(o) {
		dst, src := out[r*len(at):(r+1)*len(at)], x[r*step:]
		for i, k := range at {
			if k < 0 {
				dst[i] = 0
				continue
			}
			dst[i] = src[k]
		}
	}
	return nil
}

func runSubscript[T float](b *block, o *op) error {
	x, out, step := of[T](b.arg(o, 0)), of[T](b.out(o)), b.step(o, 0)
	at := o.aux.(int)
	for r := range b.rows(o) {
		out[r] = x[at]
		at += step
	}
	return nil
}

// fastUnary and fastBinary are the loops of element-wise kernels that have one of their own.
var (
	fastUnary = map[string]cpu.Op{"neg": cpu.Neg, "abs": cpu.Abs, "square": cpu.Square, "sqrt": cpu.Sqrt, "relu": cpu.Relu,
		"sign": cpu.Sign, "exp": cpu.Exp, "ln": cpu.Ln, "tanh": cpu.Tanh,
		"sigmoid": cpu.Sigmoid, "softplus": cpu.Softplus, "silu": cpu.Silu,
		"sech2":         cpu.Sech2,
		"sigmoid_slope": cpu.SigmoidSlope, "gauss": cpu.Gauss, "normal_pdf": cpu.NormalPDF}
	fastBinary = map[string]cpu.Op{"add": cpu.Add, "sub": cpu.Sub, "mul": cpu.Mul, "div": cpu.Div, "maximum": cpu.Maximum,
		"minimum": cpu.Minimum, "greater": cpu.Greater, "eq_mask": cpu.EqMask, "bce_slope": cpu.BCESlope, ratio: cpu.Ratio}
)

func runUnary[T float](b *block, o *op) error {
	n := b.rows(o) * b.out(o).size
	cpu.Unary(fastUnary[o.aux.(*elem).loop], of[T](b.arg(o, 0))[:n], of[T](b.out(o))[:n])
	return nil
}

// flatten makes one long row of many where the strides allow it: for scalars, and where every operand is
// either whole or one number for all rows.
func (e *elem) flatten(rows int, step []int) (r, size int, row, each []int) {
	each = append([]int(nil), e.each...)
	if e.size == 1 {
		for i := range each {
			each[i] = step[i]
		}
		return 1, rows, make([]int, len(step)), each
	}
	for i, s := range step {
		if !(s == e.size && each[i] == 1 || s == 0 && each[i] == 0) {
			return rows, e.size, step, each
		}
	}
	return 1, rows * e.size, make([]int, len(step)), each
}

func (b *block) steps(o *op) []int {
	s := make([]int, len(o.args))
	for i := range s {
		s[i] = b.step(o, i)
	}
	return s
}

func runBinary[T float](b *block, o *op) error {
	e := o.aux.(*elem)
	rows, size, row, each := e.flatten(b.rows(o), b.steps(o))
	cpu.Binary(fastBinary[e.loop], rows, size, of[T](b.arg(o, 0)), row[0], each[0], of[T](b.arg(o, 1)), row[1], each[1], of[T](b.out(o)))
	return nil
}

func runSelect[T float](b *block, o *op) error {
	e := o.aux.(*elem)
	rows, size, row, each := e.flatten(b.rows(o), b.steps(o))
	cpu.Select(rows, size, of[T](b.arg(o, 0)), row[0], each[0], of[T](b.arg(o, 1)), row[1], each[1],
		of[T](b.arg(o, 2)), row[2], each[2], of[T](b.out(o)))
	return nil
}

func runElem[T float](b *block, o *op) error {
	e, out, step, f := o.aux.(*elem), of[T](b.out(o)), b.steps(o), o.v.expr.Def.Elem
	x := make([]float64, len(o.args))
	for r := range b.rows(o) {
		for j := range e.size {
			for i := range x {
				x[i] = float64(of[T](b.arg(o, i))[r*step[i]+int(e.at[i][j])])
			}
			out[r*e.size+j] = T(f(x))
		}
	}
	return nil
}

func runLanes[T float](b *block, o *op) error {
	s := o.v.args[0].typ.Shape
	n, out, f := s[len(s)-1], of[T](b.out(o)), o.v.expr.Def.Lane
	each := s.Size() / n // lanes of a row
	y, x := make([]float64, b.out(o).size/each), make([][]float64, len(o.args))
	for i := range x {
		x[i] = make([]float64, n)
	}
	for l := range b.rows(o) * each {
		r, lane := l/each, l%each
		for i := range x {
			for k, v := range of[T](b.arg(o, i))[r*b.step(o, i)+lane*n:][:n] {
				x[i][k] = float64(v)
			}
		}
		f(x, y)
		for k, v := range y {
			out[l*len(y)+k] = T(v)
		}
	}
	return nil
}
