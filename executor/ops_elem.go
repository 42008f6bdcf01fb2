package executor

import (
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/tensor"
)

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

// ratio is the loop of quotients that are zero where the divisor is; no kernel has its name.
const ratio = "ratio or zero"

// elementwise compiles an element-wise float kernel with broadcasting.
func (c *compiler) elementwise(v *val, mask int) (int, error) {
	if minusLabel(v) != nil {
		return c.emitMinusLabel(v, mask)
	}
	if r, err := c.emitSoftmaxGrad(v, mask); r >= 0 {
		return r, err
	}
	if x, y := ratioOrZero(v); x != nil {
		return c.emitRatio(v, x, y, mask)
	}
	args, err := c.floatArgs(v, mask)
	if err != nil {
		return 0, err
	}
	name := v.expr.Def.Name
	e := &elem{size: v.typ.Size(), at: make([][]int32, len(args)), each: make([]int, len(args))}
	plain := true
	for i, a := range v.args {
		n := a.typ.Size()
		switch {
		case n == 1:
		case n == e.size:
			e.each[i] = 1
		default:
			plain = false
		}
	}
	if name == "power" && isTwo(v.args[1]) && v.args[0].typ.Size() == e.size {
		return c.strict(opUnary, kindOf(v.typ), v, args[:1], -1, &elem{loop: "square"}), nil
	}
	_, isUnary := fastUnary[name]
	_, isBinary := fastBinary[name]
	switch {
	case isUnary && len(args) == 1:
		return c.strict(opUnary, kindOf(v.typ), v, args, -1, &elem{loop: name}), nil
	case isBinary && plain:
		e.loop = name
		return c.strict(opBinary, kindOf(v.typ), v, args, -1, e), nil
	case name == "select" && plain:
		return c.strict(opSelect, kindOf(v.typ), v, args, -1, e), nil
	}
	if isBinary || name == "select" {
		shapes := make([]tensor.Shape, len(args))
		for i, a := range v.args {
			shapes[i] = a.typ.Shape
		}
		var ok bool
		if e.m, e.n, e.sides, ok = rowsOf(v.typ.Shape, shapes); ok {
			e.loop = name
			return c.strict(opBroadcast, kindOf(v.typ), v, args, -1, e), nil
		}
	}
	for i, a := range v.args {
		e.at[i] = broadcastOffsets(a.typ.Shape, v.typ.Shape)
	}
	return c.strict(opElem, kindOf(v.typ), v, args, -1, e), nil
}

func isTwo(v *val) bool { return isThe(v, 2) }

// isThe reports whether v is that number.
func isThe(v *val, x float64) bool {
	return v.op == vConst && !v.konst.Null && v.typ.Shape == nil && v.konst.Float() == x
}

// ratioOrZero finds the scalars x and y where v is x / y, and zero where y is, as derivatives of norms and roots write
// it: select(eq_mask(y, 0), 0, x / select(eq_mask(y, 0), 1, y)).
func ratioOrZero(v *val) (x, y *val) {
	if v.expr.Def.Name != "select" || v.typ.Size() != 1 || v.typ.Nullable || !isThe(v.args[1], 0) {
		return nil, nil
	}
	zero, div := v.args[0], v.args[2]
	if !isCall(zero, "eq_mask") || !isThe(zero.args[1], 0) || !isCall(div, "div") {
		return nil, nil
	}
	x, y = div.args[0], div.args[1]
	if !isCall(y, "select") || y.args[0] != zero || y.args[2] != zero.args[0] || !isThe(y.args[1], 1) ||
		kindOf(y.typ) != kindOf(v.typ) ||
		kindOf(zero.args[0].typ) != kindOf(v.typ) {
		return nil, nil
	}
	return x, zero.args[0]
}

// isCall reports whether v is a call of the kernel that is computed where it is read.
func isCall(v *val, name string) bool {
	return v.op == vCall && v.data == nil && v.expr.Def.Name == name
}

func (c *compiler) emitRatio(v, x, y *val, mask int) (int, error) {
	args := make([]int, 2)
	e := &elem{loop: ratio, size: 1, each: []int{0, 0}}
	for i, a := range []*val{x, y} {
		r, err := c.emit(a, mask)
		if err != nil {
			return 0, err
		}
		args[i] = c.convert(r, kindOf(v.typ))
	}
	return c.strict(opBinary, kindOf(v.typ), v, args, -1, e), nil
}

// elem is how an element-wise kernel reads its arguments.
type elem struct {
	loop string // which, by its kernel
	size int
	each []int     // 1: element i of the result reads element i; 0: element 0 (where plain)
	at   [][]int32 // the element of the argument that each element of the result reads (where nothing else fits)

	m, n  int    // the result as m rows of n numbers (where broadcast)
	sides []side // what each argument gives them
}

// broadcastOffsets lists, for each element of shape out, the element of shape s that it reads.
func broadcastOffsets(s, out tensor.Shape) []int32 {
	at := make([]int32, out.Size())
	for o := range at {
		rest, step, off := o, 1, 0
		for d := len(out) - 1; d >= 0; d-- {
			i := rest % out[d]
			rest /= out[d]
			if k := d - (len(out) - len(s)); k >= 0 {
				if s[k] != 1 {
					off += i * step
				}
				step *= s[k]
			}
		}
		at[o] = int32(off)
	}
	return at
}

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

// emitDropMask draws a block of masks at once.
func emitDropMask(c *compiler, v *val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(opDropMask, kindOf(v.typ), v, args, -1, nil), nil
}

func runDropMask[T float](b *block, o *op) error {
	at, n := o.v.expr.Attr, b.rows(o)
	key, stream := b.streamsOf(n), tensor.HashKey(at.Int, b.env.Step)
	for r := range key { // HashKey(Int, step, row)
		key[r] = stream
	}
	if x := b.arg(o, 0).i64; b.step(o, 0) == 1 {
		cpu.Mix(key, x)
	} else {
		for r := range key {
			key[r] = tensor.Mix(key[r] ^ uint64(x[0]))
		}
	}
	cpu.DropMask(n, b.out(o).size, b.env.Seed, key, at.Num, of[T](b.out(o)))
	return nil
}

// emitRowKey hashes integer keys; other keys go through the reference code.
func emitRowKey(c *compiler, v *val, mask int) (int, error) {
	for _, a := range v.args {
		if kindOf(a.typ) != i64 {
			return c.reference(v, mask)
		}
	}
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(opRowKey, i64, v, args, -1, nil), nil
}

func runRowKey(b *block, o *op) error {
	out, parts := b.out(o), make([]int64, len(o.args))
	for r := range b.rows(o) {
		for i := range parts {
			parts[i] = b.arg(o, i).i64[r*b.step(o, i)]
		}
		out.i64[r] = int64(tensor.HashKey(parts...))
	}
	return nil
}

// lanes compiles a kernel of lanes by its reference code, lane by lane.
func (c *compiler) lanes(v *val, mask int) (int, error) {
	args, err := c.floatArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(opLanes, kindOf(v.typ), v, args, -1, nil), nil
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
