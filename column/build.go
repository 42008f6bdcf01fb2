package column

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// A column of unknown length is built in three steps: elements are added, Extend makes room for elements that are read
// into their place, and SetLen says how many rows there are.

// SetType says what the values are, such as the shape of chunks, once the first one has been seen.
func (c *Column) SetType(t kernels.Type) { c.typ, c.size = t, t.Size() }

// SetLen says how many rows the elements are. Rows that come to a column with NULLs are none.
func (c *Column) SetLen(n int) {
	if c.n = n; c.valid != nil {
		c.valid = append(c.valid, ones(max(0, n-len(c.valid)))...)
	}
}

// AddF64, AddF32, AddI64 and AddText add one element.
func (c *Column) AddF64(x float64) { c.f64 = append(c.f64, x) }
func (c *Column) AddF32(x float32) { c.f32 = append(c.f32, x) }
func (c *Column) AddI64(x int64)   { c.i64 = append(c.i64, x) }
func (c *Column) AddText(s string) { c.texts = append(c.texts, s) }

// Append adds the rows of o, whose kind and size are the column's.
func (c *Column) Append(o *Column) {
	if o.valid != nil && c.valid == nil {
		c.SetValid(ones(c.n))
	}
	switch c.f64, c.f32 = append(c.f64, o.f64...), append(c.f32, o.f32...); {
	case o.valid != nil:
		c.valid = append(c.valid, o.valid...)
	case c.valid != nil:
		c.valid = append(c.valid, ones(o.n)...)
	}
	c.i64, c.texts = append(c.i64, o.i64...), append(c.texts, o.texts...)
	c.n += o.n
}

// Reserve takes memory for so many rows: to grow step by step would copy them again and again.
func (c *Column) Reserve(rows int) {
	n := rows * c.size
	switch c.kind {
	case F64:
		c.f64 = reserve(c.f64, n)
	case F32:
		c.f32 = reserve(c.f32, n)
	case I64:
		c.i64 = reserve(c.i64, n)
	default:
		c.texts = reserve(c.texts, n)
	}
}

// reserve makes an array that nobody has touched, as slices.Grow does not: it can have huge pages.
func reserve[T any](x []T, n int) []T {
	if n <= cap(x) {
		return x
	}
	out := tensor.Huge(make([]T, len(x), n))
	copy(out, x)
	return out
}

// Extend adds elements, which are not zero where the memory has been used before: they are to be overwritten.
func (c *Column) Extend(elements int) {
	switch c.kind {
	case F64:
		c.f64 = extend(c.f64, elements)
	case F32:
		c.f32 = extend(c.f32, elements)
	case I64:
		c.i64 = extend(c.i64, elements)
	default:
		c.texts = extend(c.texts, elements)
	}
}

func extend[T any](x []T, n int) []T {
	if len(x)+n > cap(x) {
		x = slices.Grow(x, max(n, cap(x)))
	}
	return x[:len(x)+n]
}

// AddZeros adds zero elements.
func (c *Column) AddZeros(elements int) {
	switch c.kind {
	case F64:
		c.f64 = append(c.f64, make([]float64, elements)...)
	case F32:
		c.f32 = append(c.f32, make([]float32, elements)...)
	case I64:
		c.i64 = append(c.i64, make([]int64, elements)...)
	default:
		c.texts = append(c.texts, make([]string, elements)...)
	}
}

// Room is the column's memory without a row: for so many as it had.
func (c *Column) Room(t kernels.Type) *Column {
	v := c.As(t)
	v.n, v.valid = 0, nil
	v.f64, v.f32, v.i64, v.texts = v.f64[:0:len(v.f64)], v.f32[:0:len(v.f32)], v.i64[:0:len(v.i64)], nil
	return v
}

// Gather picks rows.
func Gather[I int | int32](c *Column, rows []I) *Column {
	out := &Column{typ: c.typ, kind: c.kind, size: c.size, n: len(rows)}
	out.f64, out.f32 = gather(c.f64, rows, c.size), gather(c.f32, rows, c.size)
	out.i64, out.texts = gather(c.i64, rows, c.size), gather(c.texts, rows, c.size)
	out.valid = gather(c.valid, rows, 1)
	return out
}

func gather[T any, I int | int32](x []T, rows []I, size int) []T {
	if len(x) == 0 {
		return x
	}
	out := make([]T, len(rows)*size)
	if size == 1 {
		for i, r := range rows {
			out[i] = x[r]
		}
		return out
	}
	for i, r := range rows {
		copy(out[i*size:(i+1)*size], x[int(r)*size:])
	}
	return out
}
