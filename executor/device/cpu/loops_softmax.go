package cpu

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels/cpu"
)

func runMinusLabel[T column.Float](b *block, o *device.Op) error {
	x, label, out := column.Numbers[T](b.arg(o, 0)), b.arg(o, 1).I64(), column.Numbers[T](b.out(o))
	size, step, each := b.out(o).Size(), b.step(o, 0), b.step(o, 1)
	rows := b.rows(o)
	if step == size {
		copy(out[:rows*size], x)
	}
	for r := range rows {
		row := out[r*size : (r+1)*size]
		if step != size {
			copy(row, x[r*step:])
		}
		if b.skip(o, r) {
			continue
		}
		l := label[r*each]
		if l < 0 || l >= int64(size) {
			return sqlerr.New(sqlerr.ArraySubscript, "label %d of one_hot is not in 0 to %d", l, size-1)
		}
		row[l]--
	}
	return nil
}

func runCrossEntropy[T column.Float](b *block, o *device.Op) error {
	z, label, out := column.Numbers[T](b.arg(o, 0)), b.arg(o, 1).I64(), b.out(o).F64()
	size, n, step, each := o.V.Args[0].Type.Size(), b.rows(o), b.step(o, 0), b.step(o, 1)
	top := make([]float64, n)
	if step == 0 {
		cpu.LogSumExp(1, size, z, top[:1], out[:1])
		for r := range n {
			top[r], out[r] = top[0], out[0]
		}
	} else {
		cpu.LogSumExp(n, size, z, top, out[:n])
	}
	for r := range n {
		if b.skip(o, r) {
			continue
		}
		l := label[r*each]
		if l < 0 || l >= int64(size) {
			return outsideLabels(l, size)
		}
		out[r] += top[r] - float64(z[r*step+int(l)])
	}
	return nil
}

func outsideLabels(l int64, size int) error {
	return sqlerr.New(sqlerr.ArraySubscript, "label %d of cross_entropy is not in 0 to %d", l, size-1)
}

func runCrossEntropySlope[T column.Float](b *block, o *device.Op) error {
	z, label, out := column.Numbers[T](b.arg(o, 0)), b.arg(o, 1).I64(), column.Numbers[T](b.out(o))
	size, n, step, each := b.out(o).Size(), b.rows(o), b.step(o, 0), b.step(o, 1)
	if step != 0 {
		cpu.Softmax(n, size, z[:n*size], 1, out[:n*size])
	}
	for r := range n {
		row := out[r*size : (r+1)*size]
		if step == 0 {
			cpu.Softmax(1, size, z[:size], 1, row)
		}
		if b.skip(o, r) {
			continue
		}
		l := label[r*each]
		if l < 0 || l >= int64(size) {
			return outsideLabels(l, size)
		}
		if row[l] <= 0.5 {
			row[l]--
			continue
		}
		row[l] = 0
		rest := 0.0
		for _, p := range row {
			rest += float64(p)
		}
		row[l] = T(-rest)
	}
	return nil
}

func runOneHot(b *block, o *device.Op) error {
	out, size := b.out(o).F64(), b.out(o).Size()
	for r := range b.rows(o) {
		row := out[r*size : (r+1)*size]
		clear(row)
		if b.skip(o, r) {
			continue
		}
		l := b.arg(o, 0).I64()[r*b.step(o, 0)]
		if l < 0 || l >= int64(size) {
			return sqlerr.New(sqlerr.ArraySubscript, "label %d of one_hot is not in 0 to %d", l, size-1)
		}
		row[l] = 1
	}
	return nil
}

// divisor is argument i, the number by which the loop divides; 1 if there is no such argument.
func divisor[T column.Float](b *block, o *device.Op, i int) T {
	if i == len(o.Args) {
		return 1
	}
	return column.Numbers[T](b.arg(o, i))[0]
}

func runSoftmax[T column.Float](b *block, o *device.Op) error {
	last, n := o.Aux.(int), b.rows(o)*b.out(o).Size()
	cpu.Softmax(n/last, last, column.Numbers[T](b.arg(o, 0))[:n], divisor[T](b, o, 1), column.Numbers[T](b.out(o))[:n])
	return nil
}

func runLogSoftmax[T column.Float](b *block, o *device.Op) error {
	last, n := o.Aux.(int), b.rows(o)*b.out(o).Size()
	x, out, top, l := column.Numbers[T](b.arg(o, 0)), column.Numbers[T](b.out(o)), make([]float64, n/last),
		make([]float64, n/last)
	cpu.LogSumExp(n/last, last, x[:n], top, l)
	for i := range n {
		out[i] = T((float64(x[i]) - top[i/last]) - l[i/last])
	}
	return nil
}

func runLogSoftmaxSlope[T column.Float](b *block, o *device.Op) error {
	last, n := o.Aux.(int), b.rows(o)*b.out(o).Size()
	x, g, out := column.Numbers[T](b.arg(o, 0)), column.Numbers[T](b.arg(o, 1)), column.Numbers[T](b.out(o))
	cpu.Softmax(n/last, last, x[:n], 1, out[:n])
	for lo := 0; lo < n; lo += last {
		p, g := out[lo:lo+last], g[lo:lo+last]
		m, rest, others := 0, 0.0, 0.0
		for i := range p {
			if p[i] > p[m] {
				m = i
			}
		}
		for i := range p {
			if i != m {
				rest, others = rest+float64(p[i]), others+float64(g[i])
			}
		}
		all, top := T(others+float64(g[m])), p[m]
		for i := range p {
			p[i] = g[i] - p[i]*all
		}
		p[m] = T(float64(g[m])*rest - float64(top)*others)
	}
	return nil
}

// runSoftmaxGradOfOne is runSoftmaxGrad where y or g is one chunk for all rows.
func runSoftmaxGradOfOne[T column.Float](b *block, o *device.Op) error {
	last, size, out := o.Aux.(int), b.out(o).Size(), column.Numbers[T](b.out(o))
	for r := range b.rows(o) {
		var chunk [2][]T
		for i := range chunk {
			x, at := column.Numbers[T](b.arg(o, i)), r*size
			if b.t.Cells[o.Args[i]].Uniform {
				at = 0
			}
			chunk[i] = x[at : at+size]
		}
		cpu.SoftmaxGrad(size/last, last, chunk[0], chunk[1], divisor[T](b, o, 2), out[r*size:(r+1)*size])
	}
	return nil
}

func runSoftmaxGrad[T column.Float](b *block, o *device.Op) error {
	last, n := o.Aux.(int), b.rows(o)*b.out(o).Size()
	cpu.SoftmaxGrad(n/last, last, column.Numbers[T](b.arg(o, 0))[:n], column.Numbers[T](b.arg(o, 1))[:n],
		divisor[T](b, o, 2), column.Numbers[T](b.out(o))[:n])
	return nil
}
