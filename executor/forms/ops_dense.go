package forms

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/tensor"
)

// registerDense registers the kernels on whole chunks.
func registerDense() {
	emitters["dot"], emitters["mse"], emitters["sqnorm"], emitters["norm"] = emitDot, emitDot, emitDot, emitDot
	emitters["matmul"], emitters["outer"] = emitMatmul, emitOuter
	emitters["sum_to"], emitters["expand_to"], emitters["transpose"] = emitSumTo, emitPermute, emitPermute
	for _, name := range []string{"slice", "pad", "subscript", "put"} {
		emitters[name] = emitPermute
	}
	emitters["softmax"], emitters["log_softmax"] = emitSoftmax, emitSoftmax
	emitters["log_softmax_slope"] = emitLogSoftmaxSlope
	emitters["cross_entropy"], emitters["cross_entropy_slope"] = emitCrossEntropy, emitCrossEntropySlope
	emitters["one_hot"] = emitOneHot
}

func dims(a, b *values.Val) device.Product {
	as, bs := a.Type.Shape, b.Type.Shape
	p := device.Product{Batch: 1, M: 1, N: 1, K: as[len(as)-1]}
	if len(as) > 1 {
		p.M = as[len(as)-2]
		p.Batch = as[:len(as)-2].Size()
	}
	if len(bs) > 1 {
		p.N = bs[len(bs)-1]
	}
	return p
}

// emitMatmul compiles products: one product of matrices over all rows of the block if the right operand (or a left
// matrix before a vector) is uniform, else one product per row.
func emitMatmul(c *compiler, v *values.Val, mask int) (int, error) {
	a, b := v.Args[0], v.Args[1]
	p := dims(a, b)
	if v.Type.Shape == nil {
		return emitDot(c, v, mask)
	}
	if vector, t := turnedBy(c, v); t != nil {
		r, err := c.emit(vector, mask)
		if err != nil {
			return 0, err
		}
		c.t.Also = append(c.t.Also, t.From.V)
		args := []int{c.convert(r, column.KindOf(v.Type))}
		if _, turn := t.Second(); turn && t.From.V.Type.Size() <= device.SmallMatrix {
			t.Cell = c.cell(t.From.V.Type, true)
		}
		return c.add(&device.Op{Code: device.OpTurned, Kind: column.KindOf(v.Type), Name: v.Expr.Def.Name,
			Out: c.cell(v.Type, false), Args: args, Mask: -1, V: v, Aux: t}), nil
	}
	if len(a.Type.Shape) == 2 {
		a, p.At = values.Untransposed(a)
	}
	if len(b.Type.Shape) == 2 {
		b, p.Bt = values.Untransposed(b)
	}
	args := make([]int, 2)
	for i, x := range []*values.Val{a, b} {
		r, err := c.emit(x, mask)
		if err != nil {
			return 0, err
		}
		args[i] = c.convert(r, column.KindOf(v.Type))
	}
	return c.strict(device.OpMatmul, column.KindOf(v.Type), v, args, -1, p), nil
}

func emitOuter(c *compiler, v *values.Val, mask int) (int, error) {
	args, err := c.floatArgs(v, mask)
	if err != nil {
		return 0, err
	}
	p := device.Product{Batch: 1, M: v.Type.Shape[0], K: 1, N: v.Type.Shape[1]}
	return c.strict(device.OpOuter, column.KindOf(v.Type), v, args, -1, p), nil
}

// emitSumTo compiles the inverse of broadcasting; the sum of all elements is in double precision.
func emitSumTo(c *compiler, v *values.Val, mask int) (int, error) {
	a, err := c.emit(v.Args[0], mask)
	if err != nil {
		return 0, err
	}
	in := v.Args[0].Type
	if v.Type.Shape == nil {
		k := c.t.Cells[a].Kind
		if k == column.I64 || k == column.Str {
			return reference(c, v, mask)
		}
		return c.strict(device.OpSumAll, k, v, []int{a}, -1, in.Size()), nil
	}
	a = c.convert(a, column.KindOf(v.Type))
	if v.Type.Size() == 1 {
		return c.strict(device.OpReduce, column.KindOf(v.Type), v, []int{a}, -1,
			device.Reduction{M: 1, N: in.Size(), To: device.Column}), nil
	}
	if m, n, sides, ok := rowsOf(in.Shape, []tensor.Shape{v.Type.Shape}); ok &&
		(sides[0] == device.Column || sides[0] == device.Line) {
		return c.strict(device.OpReduce, column.KindOf(v.Type), v, []int{a}, -1,
			device.Reduction{M: m, N: n, To: sides[0]}), nil
	}
	return c.strict(device.OpSumTo, column.KindOf(v.Type), v, []int{a}, -1,
		values.BroadcastOffsets(v.Type.Shape, in.Shape)), nil
}

// emitPermute compiles kernels each of whose elements is an element of the argument or 0: expand_to, transpose, slice,
// pad, and constant subscripts with their derivative.
func emitPermute(c *compiler, v *values.Val, mask int) (int, error) {
	at, out, e := []int32(nil), v.Type.Shape, v.Expr
	switch in := v.Args[0].Type.Shape; e.Def.Name {
	case "transpose":
		rows, cols := out[len(out)-2], out[len(out)-1]
		for i := range v.Type.Size() {
			t, r, k := i/(rows*cols), i/cols%rows, i%cols
			at = append(at, int32(t*rows*cols+k*rows+r))
		}
	case "slice":
		at = boxOffsets(e.Attr.From, out, in)
	case "pad":
		at = inverse(boxOffsets(e.Attr.From, in, out), out.Size())
	case "subscript", "put":
		if e.Attr.From == nil { // a computed index may be out of range
			return reference(c, v, mask)
		}
		one := make(tensor.Shape, len(e.Attr.From))
		for i := range one {
			one[i] = 1
		}
		if e.Def.Name == "put" {
			at = inverse(boxOffsets(e.Attr.From, one, out), out.Size())
		} else {
			at = boxOffsets(e.Attr.From, one, in)
		}
	default:
		at = values.BroadcastOffsets(in, out)
	}
	a, err := c.emit(v.Args[0], mask)
	if err != nil {
		return 0, err
	}
	a = c.convert(a, column.KindOf(v.Type))
	return c.strict(device.OpPermute, column.KindOf(v.Type), v, []int{a}, -1, at), nil
}

// boxOffsets lists the offsets, in a chunk of shape s, of a box of this size that begins at from.
func boxOffsets(from []int, size, s tensor.Shape) []int32 {
	at := make([]int32, size.Size())
	for o := range at {
		rest, step, off := o, 1, 0
		for d := len(size) - 1; d >= 0; d-- {
			off += (from[d] + rest%size[d]) * step
			rest /= size[d]
			step *= s[d]
		}
		at[o] = int32(off)
	}
	return at
}

// inverse lists, for each of n places, which entry of at points there, -1 for none.
func inverse(at []int32, n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = -1
	}
	for i, k := range at {
		out[k] = int32(i)
	}
	return out
}

// emitCrossEntropy compiles ln Σ e^z - z[label].
func emitCrossEntropy(c *compiler, v *values.Val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	k := c.t.Cells[args[0]].Kind
	return c.strict(device.OpCrossEntropy, k, v, args, mask, nil), nil
}

// emitCrossEntropySlope compiles softmax, with 1 subtracted at the label (as what is missing there, which loses no
// digits).
func emitCrossEntropySlope(c *compiler, v *values.Val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	args[0] = c.convert(args[0], column.KindOf(v.Type))
	return c.strict(device.OpCrossEntropySlope, column.KindOf(v.Type), v, args, mask, nil), nil
}

func emitOneHot(c *compiler, v *values.Val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(device.OpOneHot, column.F64, v, args, mask, nil), nil
}
