package cpu

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels/cpu"
)

// runBroadcast is runBinary or runSelect with broadcast arguments, one chunk at a time.
func runBroadcast[T column.Float](b *block, o *device.Op) error {
	e, out, step := o.Aux.(*device.Elem), column.Numbers[T](b.out(o)), b.steps(o)
	row, each := make([]int, len(e.Sides)), make([]int, len(e.Sides))
	for i, s := range e.Sides {
		row[i], each[i] = s.Strides(e.N)
	}
	for r := range b.rows(o) {
		arg := func(i int) []T { return column.Numbers[T](b.arg(o, i))[r*step[i]:] }
		to := out[r*e.Size : (r+1)*e.Size]
		if len(o.Args) == 3 {
			cpu.Select(e.M, e.N, arg(0), row[0], each[0], arg(1), row[1], each[1], arg(2), row[2], each[2], to)
			continue
		}
		cpu.Binary(fastBinary[e.Loop], e.M, e.N, arg(0), row[0], each[0], arg(1), row[1], each[1], to)
	}
	return nil
}

func runReduce[T column.Float](b *block, o *device.Op) error {
	f, x, out := o.Aux.(device.Reduction), column.Numbers[T](b.arg(o, 0)), column.Numbers[T](b.out(o))
	size := b.out(o).Size()
	sum := make([]float64, size)
	for r := range b.rows(o) {
		clear(sum)
		in := x[r*f.M*f.N : (r+1)*f.M*f.N]
		if f.To == device.Line {
			cpu.AddRows(f.M, f.N, in, sum)
		} else {
			for i := range sum {
				cpu.AddRows(f.N, 1, in[i*f.N:(i+1)*f.N], sum[i:i+1])
			}
		}
		for i, s := range sum {
			out[r*size+i] = T(s)
		}
	}
	return nil
}

func runSumAll[T column.Float](b *block, o *device.Op) error {
	n, size, x, out := b.rows(o), o.Aux.(int), column.Numbers[T](b.arg(o, 0)), b.out(o).F64()
	for r := range n {
		out[r] = 0
		cpu.AddRows(size, 1, x[r*size:(r+1)*size], out[r:r+1])
	}
	return nil
}

func runSumTo[T column.Float](b *block, o *device.Op) error {
	at, x, out := o.Aux.([]int32), column.Numbers[T](b.arg(o, 0)), column.Numbers[T](b.out(o))
	size := b.out(o).Size()
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

func runPermute[T column.Float](b *block, o *device.Op) error {
	at, x, out, step := o.Aux.([]int32), column.Numbers[T](b.arg(o, 0)), column.Numbers[T](b.out(o)), b.step(o, 0)
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

func runSubscript[T column.Float](b *block, o *device.Op) error {
	x, out, step := column.Numbers[T](b.arg(o, 0)), column.Numbers[T](b.out(o)), b.step(o, 0)
	at := o.Aux.(int)
	for r := range b.rows(o) {
		out[r] = x[at]
		at += step
	}
	return nil
}

// fastUnary and fastBinary are the element-wise kernels with loops of their own.
var (
	fastUnary = map[string]cpu.Op{"neg": cpu.Neg, "abs": cpu.Abs, "square": cpu.Square, "sqrt": cpu.Sqrt, "relu": cpu.Relu,
		"sign": cpu.Sign, "exp": cpu.Exp, "ln": cpu.Ln, "tanh": cpu.Tanh,
		"sigmoid": cpu.Sigmoid, "softplus": cpu.Softplus, "silu": cpu.Silu,
		"sech2":         cpu.Sech2,
		"sigmoid_slope": cpu.SigmoidSlope, "gauss": cpu.Gauss, "normal_pdf": cpu.NormalPDF}
	fastBinary = map[string]cpu.Op{"add": cpu.Add, "sub": cpu.Sub, "mul": cpu.Mul, "div": cpu.Div, "maximum": cpu.Maximum,
		"minimum": cpu.Minimum, "greater": cpu.Greater, "eq_mask": cpu.EqMask, "bce_slope": cpu.BCESlope,
		device.Ratio: cpu.Ratio}
)

func runUnary[T column.Float](b *block, o *device.Op) error {
	n := b.rows(o) * b.out(o).Size()
	cpu.Unary(fastUnary[o.Aux.(*device.Elem).Loop], column.Numbers[T](b.arg(o, 0))[:n], column.Numbers[T](b.out(o))[:n])
	return nil
}

// flatten joins many rows to one long row if the strides allow it: for scalars, and if each operand is either whole or
// one number for all rows.
func flatten(e *device.Elem, rows int, step strides) (r, size int, row, each strides) {
	n := len(e.Each)
	if copy(each[:], e.Each); e.Size == 1 {
		return 1, rows, strides{}, step
	}
	for i, s := range step[:n] {
		if !(s == e.Size && each[i] == 1 || s == 0 && each[i] == 0) {
			return rows, e.Size, step, each
		}
	}
	return 1, rows * e.Size, strides{}, each
}

// strides are the distances of up to three arguments' elements.
type strides [3]int

// strides are the distances from row to row.
func (b *block) strides(o *device.Op) (s strides) {
	for i := range o.Args {
		s[i] = b.step(o, i)
	}
	return s
}

func (b *block) steps(o *device.Op) []int {
	s := make([]int, len(o.Args))
	for i := range s {
		s[i] = b.step(o, i)
	}
	return s
}

func runBinary[T column.Float](b *block, o *device.Op) error {
	e := o.Aux.(*device.Elem)
	rows, size, row, each := flatten(e, b.rows(o), b.strides(o))
	cpu.Binary(fastBinary[e.Loop], rows, size, column.Numbers[T](b.arg(o, 0)), row[0], each[0],
		column.Numbers[T](b.arg(o, 1)), row[1], each[1], column.Numbers[T](b.out(o)))
	return nil
}

func runSelect[T column.Float](b *block, o *device.Op) error {
	e := o.Aux.(*device.Elem)
	rows, size, row, each := flatten(e, b.rows(o), b.strides(o))
	arg := func(i int) []T { return column.Numbers[T](b.arg(o, i)) }
	cpu.Select(rows, size, arg(0), row[0], each[0], arg(1), row[1], each[1], arg(2), row[2], each[2],
		column.Numbers[T](b.out(o)))
	return nil
}

func runElem[T column.Float](b *block, o *device.Op) error {
	e, out, step, f := o.Aux.(*device.Elem), column.Numbers[T](b.out(o)), b.steps(o), o.V.Expr.Def.Elem
	x := make([]float64, len(o.Args))
	for r := range b.rows(o) {
		for j := range e.Size {
			for i := range x {
				x[i] = float64(column.Numbers[T](b.arg(o, i))[r*step[i]+int(e.At[i][j])])
			}
			out[r*e.Size+j] = T(f(x))
		}
	}
	return nil
}

func runLanes[T column.Float](b *block, o *device.Op) error {
	s := o.V.Args[0].Type.Shape
	n, out, f := s[len(s)-1], column.Numbers[T](b.out(o)), o.V.Expr.Def.Lane
	each := s.Size() / n // lanes of a row
	y, x := make([]float64, b.out(o).Size()/each), make([][]float64, len(o.Args))
	for i := range x {
		x[i] = make([]float64, n)
	}
	for l := range b.rows(o) * each {
		r, lane := l/each, l%each
		for i := range x {
			for k, v := range column.Numbers[T](b.arg(o, i))[r*b.step(o, i)+lane*n:][:n] {
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
