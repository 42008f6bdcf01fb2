package kernels

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// BroadcastShapes returns the shape of an element-wise result: dimensions aligned at the right, equal or 1.
func BroadcastShapes(a, b tensor.Shape) (tensor.Shape, bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return a, true
	}
	out := append(tensor.Shape{}, a...)
	off := len(a) - len(b)
	for i, d := range b {
		switch {
		case a[off+i] == d || d == 1:
		case a[off+i] == 1:
			out[off+i] = d
		default:
			return nil, false
		}
	}
	return out, true
}

// floatKind is the dtype rule: a chunk keeps its dtype against any scalar; two chunks, or two scalars, are
// real only when both are.
func floatKind(a, b Type) Kind {
	if a.IsChunk() != b.IsChunk() {
		if a.IsChunk() {
			return a.Kind
		}
		return b.Kind
	}
	if a.Kind == Float32 && b.Kind == Float32 {
		return Float32
	}
	return Float64
}

// inferElem is the shape rule of element-wise float kernels of any number of arguments.
func inferElem(name string) func(a []Type, _ Attr) (Type, error) {
	return func(a []Type, _ Attr) (Type, error) {
		out := a[0]
		for i, t := range a {
			if t.Kind == Text || t.Kind == Bool || t.Kind == Int && t.Shape != nil {
				return Type{}, wrongType(name, a)
			}
			if t.Kind == Int {
				t.Kind = Float64
			}
			if i == 0 {
				out = t
				continue
			}
			shape, ok := BroadcastShapes(out.Shape, t.Shape)
			if !ok {
				return Type{}, shapeMismatch(name, out, t)
			}
			out = Type{Kind: floatKind(out, t), Shape: shape}
		}
		return out, nil
	}
}

func shapeMismatch(name string, a, b Type) error {
	if op, ok := infix[name]; ok {
		return sqlerr.New(sqlerr.ArraySubscript, "different shapes %v%s%v", a.Shape, op, b.Shape)
	}
	return sqlerr.New(sqlerr.ArraySubscript, "different shapes %v and %v in %s", a.Shape, b.Shape, name)
}

// strides returns the element stride of each output axis in an argument of shape s (0 where it is repeated).
func strides(s, out tensor.Shape) []int {
	st, step := make([]int, len(out)), 1
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] != 1 {
			st[len(out)-len(s)+i] = step
		}
		step *= s[i]
	}
	return st
}

// cursor walks all indices of a shape in row-major order and keeps, for several arrays with their own
// strides, the offset of the current element.
type cursor struct {
	shape    tensor.Shape
	strides  [][]int
	idx, off []int
}

func newCursor(shape tensor.Shape, strides ...[]int) *cursor {
	return &cursor{shape, strides, make([]int, len(shape)), make([]int, len(strides))}
}

// next moves to the next index; it reports false after the last, where it starts again.
func (c *cursor) next() bool {
	for d := len(c.idx) - 1; d >= 0; d-- {
		c.idx[d]++
		more := c.idx[d] < c.shape[d]
		for i, st := range c.strides {
			if c.off[i] += st[d]; !more {
				c.off[i] -= st[d] * c.shape[d]
			}
		}
		if more {
			return true
		}
		c.idx[d] = 0
	}
	return false
}

// broadcast applies f element by element.
func broadcast(f func([]float64) float64, a []Value, out Type) []float64 {
	res, x := make([]float64, out.Size()), make([]float64, len(a))
	data, st := make([][]float64, len(a)), make([][]int, len(a))
	for i := range a {
		data[i], st[i] = a[i].Floats(), strides(a[i].Type.Shape, out.Shape)
	}
	c := newCursor(out.Shape, st...)
	for o := range res {
		for i, off := range c.off {
			x[i] = data[i][off]
		}
		res[o] = f(x)
		c.next()
	}
	return res
}
