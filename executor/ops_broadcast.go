package executor

import (
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/tensor"
)

// Chunks that are broadcast against each other are mostly matrices against a column or a row: then a chunk is m rows of
// n numbers, and loops over plain rows compute it.

// side is what an argument gives a chunk that is seen as m rows of n numbers.
type side uint8

const (
	whole  side = iota // a number of its own for each place
	column             // one for each row
	line               // one for each place of a row, the same in all rows
	single             // one number
)

// rowsOf sees the shape out as m rows of n numbers of which an argument of each shape is a whole, a column, a line or
// one number. ok is false where no such m and n exist.
func rowsOf(out tensor.Shape, shapes []tensor.Shape) (m, n int, sides []side, ok bool) {
	for d := 0; d <= len(out); d++ {
		if sides = sidesAt(out, shapes, d); sides != nil {
			return out[:d].Size(), out[d:].Size(), sides, true
		}
	}
	return 0, 0, nil, false
}

// sidesAt tries the axes before d as rows.
func sidesAt(out tensor.Shape, shapes []tensor.Shape, d int) []side {
	sides := make([]side, len(shapes))
	for i, s := range shapes {
		full := make(tensor.Shape, len(out))
		for k := range full {
			full[k] = 1
			if j := k - (len(out) - len(s)); j >= 0 {
				full[k] = s[j]
			}
		}
		switch before, after := full[:d], full[d:]; {
		case s.Size() == out.Size():
			sides[i] = whole
		case s.Size() == 1:
			sides[i] = single
		case before.Equal(out[:d]) && after.Size() == 1:
			sides[i] = column
		case after.Equal(out[d:]) && before.Size() == 1:
			sides[i] = line
		default:
			return nil
		}
	}
	return sides
}

// strides are the steps of an argument from row to row and from number to number.
func (s side) strides(n int) (row, each int) {
	switch s {
	case whole:
		return n, 1
	case column:
		return 1, 0
	case line:
		return 0, 1
	}
	return 0, 0
}

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

// reduction is how a chunk of m rows of n numbers is summed to a column or a line.
type reduction struct {
	m, n int
	to   side
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
