package cpu

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/tensor"
)

// streams hashes the key of each row by tensor.HashKey. Its parts are the arguments from first on.
func (b *block) streams(o *device.Op, first int) []uint64 {
	key := b.streamsOf(b.rows(o))
	h, i := tensor.HashKey(), first
	for ; i < len(o.Args) && b.step(o, i) == 0; i++ { // the parts that are the same in all rows come first
		for _, x := range b.arg(o, i).I64()[:b.t.Cells[o.Args[i]].Size] {
			h = tensor.Mix(h ^ uint64(x))
		}
	}
	for r := range key {
		key[r] = h
	}
	for ; i < len(o.Args); i++ {
		x, step, size := b.arg(o, i).I64(), b.step(o, i), b.t.Cells[o.Args[i]].Size
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

// streamsOf is the block's memory for the streams of n rows.
func (b *block) streamsOf(n int) []uint64 {
	if cap(b.keys) < n {
		b.keys = make([]uint64, n)
	}
	return b.keys[:n]
}

// seed is the seed of a draw, argument i, which is the same in all rows.
func (b *block) seed(o *device.Op, i int) int64 { return b.arg(o, i).I64()[0] }

func runUniform(b *block, o *device.Op) error {
	out := b.out(o)
	cpu.Uniform(b.rows(o), out.Size(), b.seed(o, 0), b.streams(o, 1), out.F64())
	return nil
}

func runRandomInt(b *block, o *device.Op) error {
	out, n := b.out(o), b.rows(o)
	if cap(b.draws) < n {
		b.draws = make([]float64, n)
	}
	u := b.draws[:n]
	cpu.Uniform(n, 1, b.seed(o, 1), b.streams(o, 2), u)
	top, step := b.arg(o, 0).I64(), b.step(o, 0)
	if out.Valid() == nil && step == 0 && top[0] >= 1 {
		cpu.Below(top[0], u, out.I64()[:n])
		return nil
	}
	if out.Valid() == nil { // nearly always top is at least 1 in all rows, even in those that do not count
		positive := true
		for r, x := range u {
			k := top[r*step]
			positive = positive && k >= 1
			out.I64()[r] = min(int64(float64(k)*x), k-1)
		}
		if positive {
			return nil
		}
	}
	for r, x := range u {
		if b.skip(o, r) {
			out.I64()[r] = 0
			continue
		}
		k := top[r*step]
		if k < 1 {
			return sqlerr.New(sqlerr.InvalidParameter, "random_int of %d numbers", k)
		}
		out.I64()[r] = min(int64(float64(k)*x), k-1)
	}
	return nil
}

func runIntArray(b *block, o *device.Op) error {
	out := b.out(o)
	for i := range o.Args {
		x, step := b.arg(o, i).I64(), b.step(o, i)
		for r := range b.rows(o) {
			out.I64()[r*out.Size()+i] = x[r*step]
		}
	}
	return nil
}

func runDropMask[T column.Float](b *block, o *device.Op) error {
	at, n := o.V.Expr.Attr, b.rows(o)
	key, stream := b.streamsOf(n), tensor.HashKey(at.Int, b.env.Step)
	for r := range key { // HashKey(Int, step, row)
		key[r] = stream
	}
	if x := b.arg(o, 0).I64(); b.step(o, 0) == 1 {
		cpu.Mix(key, x)
	} else {
		for r := range key {
			key[r] = tensor.Mix(key[r] ^ uint64(x[0]))
		}
	}
	cpu.DropMask(n, b.out(o).Size(), b.env.Seed, key, at.Num, column.Numbers[T](b.out(o)))
	return nil
}

func runRowKey(b *block, o *device.Op) error {
	out, parts := b.out(o), make([]int64, len(o.Args))
	for r := range b.rows(o) {
		for i := range parts {
			parts[i] = b.arg(o, i).I64()[r*b.step(o, i)]
		}
		out.I64()[r] = int64(tensor.HashKey(parts...))
	}
	return nil
}
