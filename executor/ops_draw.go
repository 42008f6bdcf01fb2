package executor

import (
	"math"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/tensor"
)

func registerDraws() {
	emitters["random_uniform"] = drawing(0, opUniform)
	emitters["random_int"] = drawing(1, opRandomInt)
	emitters["int_array"] = emitIntArray
	emitters["subscript"] = emitSubscript
}

// drawing compiles a draw whose arguments are some numbers, the seed and the key. A key that is written as ARRAY[…] is
// read part by part. A seed of each row goes through the reference code.
func drawing(numbers int, code opcode) emitter {
	return func(c *compiler, v *val, mask int) (int, error) {
		parts := v.args[: numbers+1 : numbers+1]
		if key := v.args[numbers+1]; key.op == vCall && key.expr.Def.Name == "int_array" && key.data == nil {
			parts = append(parts, key.args...)
		} else {
			parts = append(parts, key)
		}
		args := make([]int, len(parts))
		for i, a := range parts {
			var err error
			if args[i], err = c.emit(a, mask); err != nil {
				return 0, err
			}
		}
		if !c.t.cells[args[numbers]].uniform {
			return c.reference(v, mask)
		}
		if !fallibleCall(v) {
			mask = -1
		}
		return c.strict(code, kindOf(v.typ), v, args, mask, nil), nil
	}
}

// streams hashes the key of each row, whose parts are the arguments from the first one on: tensor.HashKey.
func (b *block) streams(o *op, first int) []uint64 {
	key := b.streamsOf(b.rows(o))
	h, i := tensor.HashKey(), first
	for ; i < len(o.args) && b.step(o, i) == 0; i++ { // what all keys begin with
		for _, x := range b.arg(o, i).i64[:b.t.cells[o.args[i]].size] {
			h = tensor.Mix(h ^ uint64(x))
		}
	}
	for r := range key {
		key[r] = h
	}
	for ; i < len(o.args); i++ {
		x, step, size := b.arg(o, i).i64, b.step(o, i), b.t.cells[o.args[i]].size
		if size == 1 && step == 1 {
			cpu.Mix(key, x)
			continue
		}
		for e := range size {
			for r, h := range key {
				key[r] = tensor.Mix(h ^ uint64(x[r*step+e]))
			}
		}
	}
	return key
}

// streamsOf is the block's space for the streams of n rows.
func (b *block) streamsOf(n int) []uint64 {
	if cap(b.keys) < n {
		b.keys = make([]uint64, n)
	}
	return b.keys[:n]
}

// seed is the one seed of a draw.
func (b *block) seed(o *op, i int) int64 { return b.arg(o, i).i64[0] }

func runUniform(b *block, o *op) error {
	out := b.out(o)
	cpu.Uniform(b.rows(o), out.size, b.seed(o, 0), b.streams(o, 1), out.f64)
	return nil
}

func runRandomInt(b *block, o *op) error {
	out, n := b.out(o), b.rows(o)
	if cap(b.draws) < n {
		b.draws = make([]float64, n)
	}
	u := b.draws[:n]
	cpu.Uniform(n, 1, b.seed(o, 1), b.streams(o, 2), u)
	top, step := b.arg(o, 0).i64, b.step(o, 0)
	if out.valid == nil && step == 0 && top[0] >= 1 {
		cpu.Below(top[0], u, out.i64[:n])
		return nil
	}
	if out.valid == nil { // nearly always every row has numbers to choose from, also those that do not count
		positive := true
		for r, x := range u {
			k := top[r*step]
			positive = positive && k >= 1
			out.i64[r] = min(int64(float64(k)*x), k-1)
		}
		if positive {
			return nil
		}
	}
	for r, x := range u {
		if b.skip(o, r) {
			out.i64[r] = 0
			continue
		}
		k := top[r*step]
		if k < 1 {
			return sqlerr.New(sqlerr.InvalidParameter, "random_int of %d numbers", k)
		}
		out.i64[r] = min(int64(float64(k)*x), k-1)
	}
	return nil
}

// emitIntArray compiles ARRAY[…] of bigint.
func emitIntArray(c *compiler, v *val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(opIntArray, i64, v, args, -1, nil), nil
}

func runIntArray(b *block, o *op) error {
	out := b.out(o)
	for i := range o.args {
		x, step := b.arg(o, i).i64, b.step(o, i)
		for r := range b.rows(o) {
			out.i64[r*out.size+i] = x[r*step]
		}
	}
	return nil
}

// emitSubscript compiles x[i]… of constant indices; others run through the reference code.
func emitSubscript(c *compiler, v *val, mask int) (int, error) {
	x, from := v.args[0], v.expr.Attr.From
	if from == nil {
		return c.reference(v, mask)
	}
	a, err := c.emit(x, mask)
	if err != nil {
		return 0, err
	}
	a = c.convert(a, kindOf(v.typ))
	off := 0
	for d, n := range x.typ.Shape {
		off = off*n + from[d]
	}
	return c.strict(opSubscript, kindOf(v.typ), v, []int{a}, -1, off), nil
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

// emitToInt compiles a cast of a float to bigint: half to even; what is out of range is an error.
func emitToInt(c *compiler, v *val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	args[0] = c.convert(args[0], f64)
	return c.strict(opToInt, i64, v, args, mask, nil), nil
}

func runToInt(b *block, o *op) error {
	x, out, step := b.arg(o, 0).f64, b.out(o).i64, b.step(o, 0)
	for r := range b.rows(o) {
		if b.skip(o, r) {
			out[r] = 0
			continue
		}
		if out[r] = int64(math.RoundToEven(x[r*step])); !(x[r*step] >= -(1<<62) && x[r*step] < 1<<62) { // rarely
			y, err := o.v.expr.Def.Eval(b.env, []kernels.Value{kernels.FloatValue(x[r*step])}, o.v.expr.Attr, o.v.typ)
			if err != nil {
				return err
			}
			out[r] = y.I
		}
	}
	return nil
}
