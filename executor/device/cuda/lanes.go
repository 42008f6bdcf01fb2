package cuda

import (
	"fmt"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
)

// sums are the operations whose every number is a sum, in double precision.
var sums map[device.Opcode]func(b *builder, s *body, o *device.Op, p point) string

func init() {
	sums = map[device.Opcode]func(b *builder, s *body, o *device.Op, p point) string{
		device.OpPair: pair, device.OpMatmul: matmul, device.OpTurned: turned, device.OpSumAll: sumAll,
		device.OpReduce: reduce, device.OpSumTo: sumTo, device.OpCrossEntropy: crossEntropy,
	}
}

// lane are the operations that compute a lane of the last axis at a time: their cells are always stored.
var lane = map[device.Opcode]bool{device.OpSoftmax: true, device.OpLogSoftmax: true, device.OpLogSoftmaxSlope: true,
	device.OpSoftmaxGrad: true, device.OpSoftmaxGradOfOne: true, device.OpCrossEntropySlope: true, device.OpLanes: true}

// laneOf is the length of such a lane.
func laneOf(t *device.Tree, o *device.Op) int {
	switch n := o.Aux.(type) {
	case int:
		return n
	}
	if shape := o.V.Type.Shape; o.Code == device.OpLanes && len(shape) > 0 {
		if s := o.V.Args[0].Type.Shape; s[len(s)-1] != shape[len(shape)-1] {
			return 1
		}
		return shape[len(shape)-1]
	}
	return t.Cells[o.Out].Size
}

// over a range of numbers, a sum: value is what is added for number k.
func (b *builder) sum(s *body, n int, value func(s *body, k string) string) string {
	acc, k := b.fresh("sum"), b.fresh("k")
	s.add("double %s = 0;", acc)
	every := 0
	if n > 2*turnsAtOnce {
		every = turnsAtOnce
	}
	turns(s, k, n, every, func(s *body) { s.add("%s += %s;", acc, value(s, k)) })
	return acc
}

// turnsAtOnce is how many turns of a long sum the compiler may write one behind the other, functionsAtOnce how many
// where each may compute a function, such as an exponential. All at once would need too many registers.
const turnsAtOnce, functionsAtOnce = 8, 4

// turns is a loop of n turns, of which the compiler may write so many one behind the other; 0: as many as it likes.
func turns(s *body, k string, n, atOnce int, f func(s *body)) {
	unroll := ""
	if atOnce > 0 && n > atOnce {
		unroll = fmt.Sprintf("_Pragma(\"unroll %d\") ", atOnce)
	}
	s.block(fmt.Sprintf("%sfor (int %s = 0; %[2]s < %d; %[2]s++)", unroll, k, n), f)
}

// times is the product of two numbers in double precision.
func times(x, y string) string { return fmt.Sprintf("(double) (%s) * (double) (%s)", x, y) }

func pair(b *builder, s *body, o *device.Op, p point) string {
	f := o.Aux.(*device.Pairing)
	operand := func(s *body, i int, k string) string {
		x := point{p.slot, p.row, k}
		if from := f.From[i]; from.V != nil {
			return b.read(s, from.V.Data, from.Idx, x)
		}
		return b.argument(s, o, f.Cell[i], x)
	}
	term := func(scale string) func(s *body, k string) string {
		return func(s *body, k string) string {
			x, y := operand(s, 0, k), operand(s, 1, k)
			if f.Diff {
				d := b.let(s, "difference "+x+" "+y, "double",
					func() string { return fmt.Sprintf("((double) (%s) - (double) (%s))%s", x, y, scale) })
				return d + " * " + d
			}
			if scale != "" {
				return times(x+scale, y+scale)
			}
			return times(x, y)
		}
	}
	sum := b.sum(s, f.Size, term(""))
	switch o.Name {
	case "mse":
		return fmt.Sprintf("%s / %d", sum, f.Size)
	case "norm":
		norm := b.fresh("norm")
		s.add("double %s = sqrt(%s);", norm, sum)
		if column.KindOf(o.V.Args[0].Type) == column.F64 { // squares may leave the range of numbers
			s.block(fmt.Sprintf("if (!(%s > 1e-135 && %[1]s < 1e150))", norm), func(s *body) {
				most, k := b.fresh("most"), b.fresh("k")
				s.add("double %s = 0;", most)
				s.block(fmt.Sprintf("for (int %s = 0; %[1]s < %d; %[1]s++)", k, f.Size), func(s *body) {
					x := operand(s, 0, k)
					if f.Diff {
						x = fmt.Sprintf("((double) (%s) - (double) (%s))", x, operand(s, 1, k))
					}
					s.add("%s = k_maximum(%[1]s, fabs((double) (%s)));", most, x)
				})
				s.block(fmt.Sprintf("if (%s > 0 && !isinf(%[1]s))", most), func(s *body) {
					s.add("%s = %s * sqrt(%s);", norm, most, b.sum(s, f.Size, term(" / "+most)))
				})
				s.add("else")
				s.add("\t%s = %s;", norm, most)
			})
		}
		return norm
	}
	return sum
}

func matmul(b *builder, s *body, o *device.Op, p point) string {
	f := o.Aux.(device.Product)
	mn := f.M * f.N
	t := over(p.idx, mn)
	i, j := over(rest(p.idx, mn), f.N), rest(p.idx, f.N)
	if f.Batch == 1 {
		t, i = "0", over(p.idx, f.N)
	}
	index := func(t string, size int, row string, n int, col string) string {
		x := fmt.Sprintf("(%s) * %d + %s", row, n, col)
		if t == "0" {
			return x
		}
		return fmt.Sprintf("(%s) * %d + %s", t, size, x)
	}
	name := func(key, x string) string {
		if x == "0" {
			return x
		}
		return b.let(s, key+" "+x, "int", func() string { return x })
	}
	t, i, j = name("batch", t), name("line", i), name("place", j)
	sum := b.sum(s, f.K, func(s *body, k string) string {
		x, y := index(t, f.M*f.K, i, f.K, k), index(t, f.K*f.N, k, f.N, j)
		if f.At {
			x = index(t, f.M*f.K, k, f.M, i)
		}
		if f.Bt {
			y = index(t, f.K*f.N, j, f.K, k)
		}
		return times(b.argument(s, o, 0, point{p.slot, p.row, x}), b.argument(s, o, 1, point{p.slot, p.row, y}))
	})
	return fmt.Sprintf("(%s) %s", ctype(b.t.Cells[o.Out].Kind), sum)
}

// turned is a vector times a matrix that is read in place.
func turned(b *builder, s *body, o *device.Op, p point) string {
	f := o.Aux.(*device.Turned)
	length, ld := f.P.K, 0
	ld, turn := f.Second()
	sum := b.sum(s, length, func(s *body, k string) string {
		at := fmt.Sprintf("%s * %d + %s", k, ld, p.idx)
		if turn {
			at = fmt.Sprintf("(%s) * %d + %s", p.idx, ld, k)
		}
		return times(b.argument(s, o, 0, point{p.slot, p.row, k}),
			b.read(s, f.From.V.Data, f.From.Idx, point{p.slot, p.row, at}))
	})
	return fmt.Sprintf("(%s) %s", ctype(b.t.Cells[o.Out].Kind), sum)
}

func sumAll(b *builder, s *body, o *device.Op, p point) string {
	return b.sum(s, b.t.Cells[o.Args[0]].Size,
		func(s *body, k string) string { return "(double) " + b.argument(s, o, 0, point{p.slot, p.row, k}) })
}

func reduce(b *builder, s *body, o *device.Op, p point) string {
	f := o.Aux.(device.Reduction)
	n, index := f.M, func(k string) string { return fmt.Sprintf("%s * %d + %s", k, f.N, p.idx) }
	if f.To != device.Line {
		n, index = f.N, func(k string) string { return fmt.Sprintf("(%s) * %d + %s", p.idx, f.N, k) }
	}
	sum := b.sum(s, n,
		func(s *body, k string) string {
			return "(double) " + b.argument(s, o, 0, point{p.slot, p.row, index(k)})
		})
	return fmt.Sprintf("(%s) %s", ctype(b.t.Cells[o.Out].Kind), sum)
}

// sumTo adds to each place the numbers that go there, which are listed by place.
func sumTo(b *builder, s *body, o *device.Op, p point) string {
	at, size := o.Aux.([]int32), b.t.Cells[o.Out].Size
	start, list := make([]int32, size+1), make([]int32, len(at))
	for _, to := range at {
		start[to+1]++
	}
	for i := range size {
		start[i+1] += start[i]
	}
	next := append([]int32(nil), start...)
	for i, to := range at {
		list[next[to]] = int32(i)
		next[to]++
	}
	from, numbers := b.list(start), b.list(list)
	acc, k := b.fresh("sum"), b.fresh("k")
	s.add("double %s = 0;", acc)
	s.block(fmt.Sprintf("for (int %s = %s[%s]; %[1]s < %[2]s[%[3]s + 1]; %[1]s++)", k, from, p.idx), func(s *body) {
		x := point{p.slot, p.row, fmt.Sprintf("%s[%s]", numbers, k)}
		s.add("%s += %s;", acc, b.argument(s, o, 0, x))
	})
	return fmt.Sprintf("(%s) %s", ctype(b.t.Cells[o.Out].Kind), acc)
}

// largest finds the place of the largest number of n: the first NaN counts as that.
func (b *builder) largest(s *body, n int, number func(s *body, k string) string) (at, most string) {
	at, most = b.fresh("at"), b.fresh("most")
	s.add("int %s = 0;", at)
	s.add("double %s = %s;", most, number(s, "0"))
	k := b.fresh("k")
	loop := fmt.Sprintf("_Pragma(\"unroll %d\") for (int %s = 1; %[2]s < %d; %[2]s++)", functionsAtOnce, k, n)
	s.block(loop, func(s *body) {
		x := b.let(s, "number "+k, "double", func() string { return number(s, k) })
		s.add("if (%s == %[1]s && (%[2]s > %[1]s || %[2]s != %[2]s))", most, x)
		s.add("\t%s = %s, %s = %s;", most, x, at, k)
	})
	return at, most
}

// others sums what value says of all numbers but that at a place.
func (b *builder) others(s *body, n int, at string, value func(s *body, k string) string) string {
	acc, k := b.fresh("sum"), b.fresh("k")
	s.add("double %s = 0;", acc)
	turns(s, k, n, functionsAtOnce, func(s *body) {
		s.block(fmt.Sprintf("if (%s != %s)", k, at), func(s *body) { s.add("%s += %s;", acc, value(s, k)) })
	})
	return acc
}

// crossEntropy is ln Σ e^z - z[label].
func crossEntropy(b *builder, s *body, o *device.Op, p point) string {
	n := b.t.Cells[o.Args[0]].Size
	z := func(s *body, k string) string { return "(double) " + b.argument(s, o, 0, point{p.slot, p.row, k}) }
	at, most := b.largest(s, n, z)
	rest := b.others(s, n, at, func(s *body, k string) string { return fmt.Sprintf("exp(%s - %s)", z(s, k), most) })
	label := b.argument(s, o, 1, p)
	b.check(s, o, p, outside(label, n))
	chosen := fmt.Sprintf("(%s < 0 || %[1]s >= %d ? 0 : (int) %[1]s)", label, n)
	name := b.fresh("label")
	s.add("int %s = %s;", name, chosen)
	return fmt.Sprintf("(isinf(%s) ? 0 : log1p(%s)) + (%[1]s - %[3]s)", most, rest, z(s, name))
}

// lane writes a lane of a stored cell: number p.idx of the row's lanes.
func (b *builder) lane(s *body, o *device.Op, p point) {
	c, n := b.t.Cells[o.Out], laneOf(b.t, o)
	size := c.Size
	base := b.fresh("lane")
	if size == n {
		s.add("const int %s = 0;", base)
	} else {
		s.add("const int %s = (%s) * %d;", base, p.idx, n)
	}
	typ := ctype(c.Kind)
	out := b.fresh("out")
	s.add("%s *%s = s%d + %s;", typ, out, o.Out, at(p.slot, size, base))
	x := func(i int) func(s *body, k string) string {
		return func(s *body, k string) string {
			return "(double) " + b.argument(s, o, i, point{p.slot, p.row, fmt.Sprintf("%s + %s", base, k)})
		}
	}
	each := func(f func(s *body, k string)) {
		k := b.fresh("k")
		turns(s, k, n, functionsAtOnce, func(s *body) { f(s, k) })
	}
	divisor := func(i int) string {
		if i < len(o.Args) {
			return " / (double) " + b.argument(s, o, i, point{p.slot, p.row, "0"})
		}
		return ""
	}
	// softmax writes the softmax of what z says, in double precision where T is
	softmax := func(z func(s *body, k string) string) {
		_, most := b.largest(s, n, z)
		each(func(s *body, k string) { s.add("%s[%s] = (%s) exp(%s - %s);", out, k, typ, z(s, k), most) })
		total := b.sum(s, n, func(s *body, k string) string { return fmt.Sprintf("%s[%s]", out, k) })
		each(func(s *body, k string) { s.add("%s[%s] = (%s) (%[1]s[%[2]s] / %[4]s);", out, k, typ, total) })
	}
	switch o.Code {
	case device.OpSoftmax:
		by := divisor(1)
		softmax(func(s *body, k string) string { return x(0)(s, k) + by })
	case device.OpLogSoftmax:
		at, most := b.largest(s, n, x(0))
		rest := b.others(s, n, at, func(s *body, k string) string { return fmt.Sprintf("exp(%s - %s)", x(0)(s, k), most) })
		each(func(s *body, k string) {
			s.add("%s[%s] = (%s) (%s - %s - (isinf(%[5]s) ? 0 : log1p(%[6]s)));", out, k, typ, x(0)(s, k), most, rest)
		})
	case device.OpLogSoftmaxSlope:
		softmax(x(0))
		at, _ := b.largest(s, n, x(0))
		p := func(k string) string { return fmt.Sprintf("%s[%s]", out, k) }
		rest := b.others(s, n, at, func(_ *body, k string) string { return p(k) })
		others := b.others(s, n, at, x(1))
		top := b.fresh("top")
		s.add("double %s = %s * %s - (double) %s * %s;", top, x(1)(s, at), rest, p(at), others)
		all := b.fresh("all")
		s.add("double %s = %s + %s;", all, others, x(1)(s, at))
		each(func(s *body, k string) {
			s.add("%s = (%s) (%s == %s ? %s : %s - (double) %[1]s * %[7]s);", p(k), typ, k, at, top, x(1)(s, k), all)
		})
	case device.OpSoftmaxGrad, device.OpSoftmaxGradOfOne:
		by := divisor(2)
		less := b.fresh("less") // the gradient of a number that outweighs all others, whose digits are kept so
		s.add("double %s = 0;", less)
		each(func(s *body, k string) {
			y, g := x(0)(s, k), x(1)(s, k)
			s.add("%s = %s > 0.5 ? %s : %[1]s;", less, y, g)
		})
		rest := func(s *body, k string) string { return fmt.Sprintf("(%s - %s)", x(1)(s, k), less) }
		dot := b.sum(s, n, func(s *body, k string) string { return fmt.Sprintf("%s * %s", x(0)(s, k), rest(s, k)) })
		each(func(s *body, k string) {
			s.add("%s[%s] = (%s) (%s * (%s - %s)%s);", out, k, typ, x(0)(s, k), rest(s, k), dot, by)
		})
	case device.OpCrossEntropySlope:
		softmax(x(0))
		label := b.argument(s, o, 1, point{p.slot, p.row, "0"})
		b.check(s, o, p, outside(label, n))
		s.block(fmt.Sprintf("if (%s >= 0 && %[1]s < %d)", label, n), func(s *body) {
			s.add("%s[%s] = 0;", out, label)
			s.add("%s[%s] = (%s) -%s;", out, label, typ,
				b.sum(s, n, func(_ *body, k string) string { return fmt.Sprintf("(double) %s[%s]", out, k) }))
		})
	default:
		b.wholeLane(s, o, p, base, out)
	}
}

// wholeLanes are the kernels of a lane that prelude.cu has, under their names.
var wholeLanes = map[string]bool{"l2_normalize": true, "l2_length": true, "l2_normalize_slope": true,
	"layer_norm": true, "layer_norm_deviation": true, "layer_norm_slope": true, "softmax_center": true}

// wholeLane calls a kernel of a lane. Its arguments are stored.
func (b *builder) wholeLane(s *body, o *device.Op, p point, base, out string) {
	if !wholeLanes[o.Name] {
		panic(elsewhere{fmt.Sprintf("%s has no kernel", o.Name)})
	}
	shape := o.V.Args[0].Type.Shape
	n := shape[len(shape)-1]
	if laneOf(b.t, o) != n { // of one number for each lane
		base = fmt.Sprintf("%s * %d", base, n)
	}
	args := ""
	for _, a := range o.Args {
		slot := p.slot
		if b.t.Cells[a].Uniform {
			slot = "0"
		}
		args += fmt.Sprintf("s%d + %s, ", a, at(slot, b.t.Cells[a].Size, base))
	}
	s.add("k_%s<%s>(%s%s, %d);", o.Name, ctype(b.t.Cells[o.Out].Kind), args, out, n)
}

// references are kernels that have no operation of their own.
var references map[string]func(b *builder, s *body, o *device.Op, p point) string

func init() {
	step := func(i int) func(b *builder, s *body, o *device.Op, p point) string {
		return func(b *builder, _ *body, _ *device.Op, _ point) string {
			return fmt.Sprintf("%s[%d]", b.word("step", uint64(b.c.step), "const long long *__restrict__"), i)
		}
	}
	references = map[string]func(b *builder, s *body, o *device.Op, p point) string{
		"current_seed": step(0), "current_step": step(1), "current_epoch": step(2),
		"max_elements": maxElements, "logsumexp": logSumExp,
		"concat_axis": concatAxis, "subscript": subscript, "put": put, "einsum": einsum,
		"argmax": firstOf(""), "argmin": firstOf("-"),
		"random_uniform": uniform, "random_int": randomInt, "random_normal": normal, "glorot_uniform": glorot,
		"row_key": rowKey,
		"to_real": func(b *builder, s *body, o *device.Op, p point) string {
			return fmt.Sprintf("(float) (double) %s", b.argument(s, o, 0, p))
		},
	}
}

// reference is a number of such a kernel.
func reference(b *builder, s *body, o *device.Op, p point) string {
	f := references[o.Name]
	if f == nil {
		panic(elsewhere{fmt.Sprintf("%s has no kernel", o.Name)})
	}
	return f(b, s, o, p)
}

// along is the lane of an axis that a number of the result is made of: how many numbers, and number k.
func (b *builder) along(o *device.Op, p point) (n int, number func(s *body, k string) string) {
	n, inner, axis := b.t.Cells[o.Args[0]].Size, 1, o.V.Expr.Attr.Axis
	if shape := o.V.Args[0].Type.Shape; axis >= 0 {
		n, inner = shape[axis], shape[axis+1:].Size()
	}
	return n, func(s *body, k string) string {
		idx := fmt.Sprintf("%s * %d + (%s) * %d + %s", over(p.idx, inner), n*inner, k, inner, rest(p.idx, inner))
		return "(double) " + b.argument(s, o, 0, point{p.slot, p.row, idx})
	}
}

func maxElements(b *builder, s *body, o *device.Op, p point) string {
	n, x := b.along(o, p)
	_, most := b.largest(s, n, x)
	return fmt.Sprintf("(%s) %s", ctype(b.t.Cells[o.Out].Kind), most)
}

func logSumExp(b *builder, s *body, o *device.Op, p point) string {
	n, x := b.along(o, p)
	at, most := b.largest(s, n, x)
	more := b.others(s, n, at, func(s *body, k string) string { return fmt.Sprintf("exp(%s - %s)", x(s, k), most) })
	return fmt.Sprintf("(%s) (isfinite(%s) ? %[2]s + log1p(%[3]s) : %[2]s)", ctype(b.t.Cells[o.Out].Kind), most, more)
}

func concatAxis(b *builder, s *body, o *device.Op, p point) string {
	axis, inner := o.V.Expr.Attr.Axis, o.V.Type.Shape[o.V.Expr.Attr.Axis+1:].Size()
	first, second := o.V.Args[0].Type.Shape[axis]*inner, o.V.Args[1].Type.Shape[axis]*inner
	both := first + second
	part := b.let(s, fmt.Sprintf("part %d %s", both, p.idx), "int", func() string { return over(p.idx, both) })
	at := b.let(s, fmt.Sprintf("in part %d %s", both, p.idx), "int", func() string { return rest(p.idx, both) })
	number := func(i, size, off int) string { // an index outside is not read
		idx := fmt.Sprintf("%s * %d + (%s - %d >= 0 && %[3]s - %[4]d < %[2]d ? %[3]s - %[4]d : 0)", part, size, at, off)
		return b.argument(s, o, i, point{p.slot, p.row, idx})
	}
	x, y := number(0, first, 0), number(1, second, first)
	return fmt.Sprintf("(%s < %d ? (%s) %s : (%[3]s) %[5]s)", at, first, ctype(b.t.Cells[o.Out].Kind), x, y)
}
