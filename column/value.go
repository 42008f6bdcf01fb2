package column

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// Value returns row i in the reference representation; a chunk's data is a copy.
func (c *Column) Value(i int) kernels.Value { return c.ValueAs(i, c.typ) }

// ValueAs returns row i as a value of type t.
func (c *Column) ValueAs(i int, t kernels.Type) kernels.Value {
	v := kernels.Value{Type: t}
	if c.IsNull(i) {
		v.Null = true
		return v
	}
	lo, hi := i*c.size, (i+1)*c.size
	switch {
	case c.kind == Str:
		v.T = c.texts[i]
	case c.kind == I64 && t.Shape != nil:
		v.Ints = append([]int64{}, c.i64[lo:hi]...)
	case c.kind == I64 && t.IsFloat():
		v.X = float64(c.i64[i])
	case c.kind == I64:
		v.I = c.i64[i]
	case t.Shape == nil:
		v.X = c.Float(i)
	case c.kind == F32:
		v.F = make([]float64, c.size)
		for j, x := range c.f32[lo:hi] {
			v.F[j] = float64(x)
		}
	default:
		v.F = append([]float64(nil), c.f64[lo:hi]...)
	}
	return v
}

// Set stores a value in row i, rounded to the column's kind.
func (c *Column) Set(i int, v kernels.Value) {
	if v.Null {
		c.SetNull(i)
		return
	}
	if c.valid != nil {
		c.valid[i] = 1
	}
	lo := i * c.size
	switch {
	case c.kind == Str:
		c.texts[i] = v.T
	case c.kind == I64 && v.Ints != nil:
		copy(c.i64[lo:], v.Ints)
	case c.kind == I64:
		c.i64[i] = v.I
	case v.F == nil && c.size == 1:
		c.SetFloat(i, v.Float())
	case c.kind == F32:
		for j, x := range v.F {
			c.f32[lo+j] = float32(x)
		}
	default:
		copy(c.f64[lo:], v.F)
	}
}

// Put is Set where NULLs have a place or cannot be: a NULL zeroes the elements. It reports whether a NULL had none.
func (c *Column) Put(i int, v kernels.Value) (ok bool) {
	if v.Null {
		if c.ZeroRow(i); c.valid == nil {
			return false
		}
	}
	c.Set(i, v)
	return true
}

// ZeroRow zeroes the elements of row i.
func (c *Column) ZeroRow(i int) {
	lo, hi := i*c.size, (i+1)*c.size
	switch c.kind {
	case F64:
		clear(c.f64[lo:hi])
	case F32:
		clear(c.f32[lo:hi])
	case I64:
		clear(c.i64[lo:hi])
	default:
		clear(c.texts[lo:hi])
	}
}

// Float is element i of a float column.
func (c *Column) Float(i int) float64 {
	if c.kind == F32 {
		return float64(c.f32[i])
	}
	return c.f64[i]
}

// SetFloat writes element i of a float column, rounded to its kind.
func (c *Column) SetFloat(i int, x float64) {
	if c.kind == F32 {
		c.f32[i] = float32(x)
		return
	}
	c.f64[i] = x
}

// Fill copies the floats of o into the column, whose kind may be wider.
func (c *Column) Fill(o *Column) {
	copy(c.f64, o.f64)
	copy(c.f32, o.f32)
	if c.kind == F64 {
		for i, x := range o.f32 {
			c.f64[i] = float64(x)
		}
	}
}

// Tensor returns the chunk (or scalar) of row i.
func (c *Column) Tensor(i int) *tensor.Tensor {
	x := c.Value(i)
	return &tensor.Tensor{DType: c.typ.Kind.DType(), Shape: c.typ.Shape, Data: x.Floats()}
}

// Plain is a column as the database writes it: a keyed text without what orders it.
func (c *Column) Plain() *Column {
	if c.typ.Of == nil || !c.typ.Of.Keyed {
		return c
	}
	out := *c
	out.texts = make([]string, len(c.texts))
	for i, s := range c.texts {
		out.texts[i] = c.typ.Of.Plain(s)
	}
	return &out
}
