package executor

import (
	"github.com/relgrad/relgrad/internal/sqlerr"

	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
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

// product is batch products of m×k by k×n per row.
type product struct {
	batch, m, k, n int
	at, bt         bool // the operand is stored transposed
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

// untransposed looks through a transpose of a matrix that only this product reads as such.
func untransposed(v *val) (*val, bool) {
	if v.data == nil && turns(v) {
		return v.args[0], true
	}
	return v, false
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

func runMatmul[T float](b *block, o *op) error {
	p, rows := o.aux.(product), b.rows(o)
	x, y, out := of[T](b.arg(o, 0)), of[T](b.arg(o, 1)), of[T](b.out(o))
	sx, sy := b.step(o, 0), b.step(o, 1)
	lda, ldb := p.k, p.n
	if p.at {
		lda = p.m
	}
	if p.bt {
		ldb = p.k
	}
	switch {
	case sy == 0 && p.batch == 1 && !p.at && (sx != 0 || rows == 1):
		blas.Gemm(false, p.bt, rows*p.m, p.n, p.k, x, lda, y, ldb, 0, out, p.n)
	case sx == 0 && p.batch == 1 && p.n == 1 && (sy != 0 || rows == 1):
		blas.Gemm(false, !p.at, rows, p.m, p.k, y, p.k, x, lda, 0, out, p.m)
	default:
		size, mk, kn, mn := p.batch*p.m*p.n, p.m*p.k, p.k*p.n, p.m*p.n
		if p.m*p.k*p.n <= 4096 && !p.at && !p.bt {
			for t := range p.batch {
				cpu.Products(rows, p.m, p.k, p.n, x[t*mk:], sx, y[t*kn:], sy, out[t*mn:], size)
			}
			return nil
		}
		for r := range rows {
			for t := range p.batch {
				blas.Gemm(p.at, p.bt, p.m, p.n, p.k, x[r*sx+t*mk:], lda, y[r*sy+t*kn:], ldb, 0, out[r*size+t*mn:], p.n)
			}
		}
	}
	return nil
}

func emitOuter(c *compiler, v *val, mask int) (int, error) {
	args, err := c.floatArgs(v, mask)
	if err != nil {
		return 0, err
	}
	p := product{batch: 1, m: v.typ.Shape[0], k: 1, n: v.typ.Shape[1]}
	return c.strict(opOuter, kindOf(v.typ), v, args, -1, p), nil
}

func runOuter[T float](b *block, o *op) error {
	p := o.aux.(product)
	cpu.Products(
		b.rows(o),
		p.m,
		1,
		p.n,
		of[T](b.arg(o, 0)),
		b.step(o, 0),
		of[T](b.arg(o, 1)),
		b.step(o, 1),
		of[T](b.out(o)),
		p.m*p.n,
	)
	return nil
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

// emitCrossEntropy compiles ln Σ e^z - z[label].
func emitCrossEntropy(c *compiler, v *val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	k := c.t.cells[args[0]].kind
	return c.strict(opCrossEntropy, k, v, args, mask, nil), nil
}

func runCrossEntropy[T float](b *block, o *op) error {
	z, label, out := of[T](b.arg(o, 0)), b.arg(o, 1).i64, b.out(o).f64
	size, n, step, each := o.v.args[0].typ.Size(), b.rows(o), b.step(o, 0), b.step(o, 1)
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

// emitCrossEntropySlope compiles softmax with what it has at the label beyond 1: less than the others have.
func emitCrossEntropySlope(c *compiler, v *val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	args[0] = c.convert(args[0], kindOf(v.typ))
	return c.strict(opCrossEntropySlope, kindOf(v.typ), v, args, mask, nil), nil
}

func runCrossEntropySlope[T float](b *block, o *op) error {
	z, label, out := of[T](b.arg(o, 0)), b.arg(o, 1).i64, of[T](b.out(o))
	size, n, step, each := b.out(o).size, b.rows(o), b.step(o, 0), b.step(o, 1)
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

func emitOneHot(c *compiler, v *val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(opOneHot, f64, v, args, mask, nil), nil
}

func runOneHot(b *block, o *op) error {
	out, size := b.out(o).f64, b.out(o).size
	for r := range b.rows(o) {
		row := out[r*size : (r+1)*size]
		clear(row)
		if b.skip(o, r) {
			continue
		}
		l := b.arg(o, 0).i64[r*b.step(o, 0)]
		if l < 0 || l >= int64(size) {
			return sqlerr.New(sqlerr.ArraySubscript, "label %d of one_hot is not in 0 to %d", l, size-1)
		}
		row[l] = 1
	}
	return nil
}
