package executor

import (
	"github.com/relgrad/relgrad/tensor"
)

// registerDense adds the kernels over whole chunks.
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

func dims(a, b *val) product {
	as, bs := a.typ.Shape, b.typ.Shape
	p := product{batch: 1, m: 1, n: 1, k: as[len(as)-1]}
	if len(as) > 1 {
		p.m = as[len(as)-2]
		p.batch = as[:len(as)-2].Size()
	}
	if len(bs) > 1 {
		p.n = bs[len(bs)-1]
	}
	return p
}

// emitMatmul compiles products: one GEMM over all rows of the block where the right operand (or a left
// matrix before a vector) is uniform, else one product per row.
func emitMatmul(c *compiler, v *val, mask int) (int, error) {
	a, b := v.args[0], v.args[1]
	p := dims(a, b)
	if v.typ.Shape == nil {
		return emitDot(c, v, mask)
	}
	if vector, t := c.turnedBy(v); t != nil {
		r, err := c.emit(vector, mask)
		if err != nil {
			return 0, err
		}
		c.t.also = append(c.t.also, t.from.v)
		args := []int{c.convert(r, kindOf(v.typ))}
		if _, turn := t.second(); turn && t.from.v.typ.Size() <= smallMatrix {
			t.cell = c.cell(t.from.v.typ, true)
		}
		return c.add(
			&op{
				code: opTurned,
				kind: kindOf(v.typ),
				name: v.expr.Def.Name,
				out:  c.cell(v.typ, false),
				args: args,
				mask: -1,
				v:    v,
				aux:  t,
			},
		), nil
	}
	if len(a.typ.Shape) == 2 {
		a, p.at = untransposed(a)
	}
	if len(b.typ.Shape) == 2 {
		b, p.bt = untransposed(b)
	}
	args := make([]int, 2)
	for i, x := range []*val{a, b} {
		r, err := c.emit(x, mask)
		if err != nil {
			return 0, err
		}
		args[i] = c.convert(r, kindOf(v.typ))
	}
	return c.strict(opMatmul, kindOf(v.typ), v, args, -1, p), nil
}

func emitOuter(c *compiler, v *val, mask int) (int, error) {
	args, err := c.floatArgs(v, mask)
	if err != nil {
		return 0, err
	}
	p := product{batch: 1, m: v.typ.Shape[0], k: 1, n: v.typ.Shape[1]}
	return c.strict(opOuter, kindOf(v.typ), v, args, -1, p), nil
}

// emitSumTo compiles the inverse of broadcasting; of all elements in double precision.
func emitSumTo(c *compiler, v *val, mask int) (int, error) {
	a, err := c.emit(v.args[0], mask)
	if err != nil {
		return 0, err
	}
	in := v.args[0].typ
	if v.typ.Shape == nil {
		k := c.t.cells[a].kind
		if k == i64 || k == str {
			return c.reference(v, mask)
		}
		return c.strict(opSumAll, k, v, []int{a}, -1, in.Size()), nil
	}
	a = c.convert(a, kindOf(v.typ))
	if v.typ.Size() == 1 {
		return c.strict(opReduce, kindOf(v.typ), v, []int{a}, -1, reduction{1, in.Size(), column}), nil
	}
	if m, n, sides, ok := rowsOf(in.Shape, []tensor.Shape{v.typ.Shape}); ok && (sides[0] == column || sides[0] == line) {
		return c.strict(opReduce, kindOf(v.typ), v, []int{a}, -1, reduction{m, n, sides[0]}), nil
	}
	return c.strict(opSumTo, kindOf(v.typ), v, []int{a}, -1, broadcastOffsets(v.typ.Shape, in.Shape)), nil
}

// emitPermute compiles kernels whose elements are elements of the argument, or 0: expand_to, transpose, slice, pad and
// constant subscripts with their derivative.
func emitPermute(c *compiler, v *val, mask int) (int, error) {
	at, out, e := []int32(nil), v.typ.Shape, v.expr
	switch in := v.args[0].typ.Shape; e.Def.Name {
	case "transpose":
		rows, cols := out[len(out)-2], out[len(out)-1]
		for i := range v.typ.Size() {
			t, r, k := i/(rows*cols), i/cols%rows, i%cols
			at = append(at, int32(t*rows*cols+k*rows+r))
		}
	case "slice":
		at = boxOffsets(e.Attr.From, out, in)
	case "pad":
		at = inverse(boxOffsets(e.Attr.From, in, out), out.Size())
	case "subscript", "put":
		if e.Attr.From == nil { // a computed index may be outside
			return c.reference(v, mask)
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
		at = broadcastOffsets(in, out)
	}
	a, err := c.emit(v.args[0], mask)
	if err != nil {
		return 0, err
	}
	a = c.convert(a, kindOf(v.typ))
	return c.strict(opPermute, kindOf(v.typ), v, []int{a}, -1, at), nil
}

// boxOffsets lists the offsets in a chunk of shape s of the box of a size that begins at from.
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

// inverse lists, for n places, which of at points there, or -1.
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
func emitCrossEntropy(c *compiler, v *val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	k := c.t.cells[args[0]].kind
	return c.strict(opCrossEntropy, k, v, args, mask, nil), nil
}

// emitCrossEntropySlope compiles softmax with what it has at the label beyond 1: less than the others have.
func emitCrossEntropySlope(c *compiler, v *val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	args[0] = c.convert(args[0], kindOf(v.typ))
	return c.strict(opCrossEntropySlope, kindOf(v.typ), v, args, mask, nil), nil
}

func emitOneHot(c *compiler, v *val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(opOneHot, f64, v, args, mask, nil), nil
}
