package einsum

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
)

// Product is a sum of products over labels, whose numbers are places in Lens.
type Product[T any] struct {
	Lens     []int // of the labels; 0: not known
	Operands []Operand[T]
	Scalars  []Factor[T] // the same for all rows
	Neg      bool        // the sign
}

// Operand is one of those that are multiplied.
type Operand[T any] struct {
	V      T
	Inner  []int // labels of the axes of its chunks
	Divide bool  // its reciprocal is; it is a number
}

// Factor is a number by which a product is multiplied, or divided.
type Factor[T any] struct {
	V      T
	Divide bool
}

// Terms tells what expressions are made of.
type Terms[T any] interface {
	Type(v T) kernels.Type
	// Uniform reports whether v is the same for all rows.
	Uniform(v T) bool
	// Call is the call that v is; d is nil where v is something else, or stays whole.
	Call(v T) (d *kernels.Def, at kernels.Attr, args []T)
	// Opens reports whether a call of this form is taken apart.
	Opens(s kernels.Spec) bool
	// Even is the number that all elements of v are.
	Even(v T) (number T, ok bool)
	// Operand reports whether v may be an operand, or the reciprocal of one.
	Operand(v T, divide bool) bool
}

// Label makes a label of this length.
func (p *Product[T]) Label(n int) int { p.Lens = append(p.Lens, n); return len(p.Lens) - 1 }

// Split takes v, whose chunk has these labels, apart into operands. It reports false where one of them may be none.
func (p *Product[T]) Split(of Terms[T], v T, labels []int) bool {
	t := of.Type(v)
	switch {
	case t.Nullable || !t.IsFloat():
		return false
	case t.Shape == nil && of.Uniform(v):
		p.Scalars = append(p.Scalars, Factor[T]{V: v})
		return true
	}
	before := *p
	if p.splitCall(of, v, labels) {
		return true
	}
	*p = before
	if !of.Operand(v, false) {
		return false
	}
	p.Operands = append(p.Operands, Operand[T]{V: v, Inner: labels})
	return true
}

func (p *Product[T]) splitCall(of Terms[T], v T, labels []int) bool {
	d, at, args := of.Call(v)
	if d == nil {
		return false
	}
	s, args, ok := formOf(of, d, at, args)
	if !ok || len(s.Out) != len(labels) || !of.Opens(s) {
		return false
	}
	number := map[byte]int{}
	for i, l := range labels {
		number[s.Out[i]] = l
	}
	p.Neg = p.Neg != s.Neg
	for i, a := range args {
		if s.Divide[i] {
			if !p.divide(of, a) {
				return false
			}
			continue
		}
		var inner []int
		for d, n := range of.Type(a).Shape {
			l, ok := number[s.In[i][d]]
			if !ok {
				l = p.Label(n)
				number[s.In[i][d]] = l
			}
			if p.Lens[l] != n { // an axis of length 1 that is repeated
				return false
			}
			inner = append(inner, l)
		}
		if !p.Split(of, a, inner) {
			return false
		}
	}
	return true
}

// divide divides by the number v.
func (p *Product[T]) divide(of Terms[T], v T) bool {
	switch {
	case of.Uniform(v):
		p.Scalars = append(p.Scalars, Factor[T]{V: v, Divide: true})
	case of.Operand(v, true):
		p.Operands = append(p.Operands, Operand[T]{V: v, Divide: true})
	default:
		return false
	}
	return true
}

// formOf is the labelled form of a call and its arguments: of two chunks that are multiplied element by element, one
// whose elements are all the same is a number.
func formOf[T any](of Terms[T], d *kernels.Def, at kernels.Attr, args []T) (kernels.Spec, []T, bool) {
	types := make([]kernels.Type, len(args))
	for i, a := range args {
		types[i] = of.Type(a)
	}
	s, ok := d.Spec(types, at)
	if d.Elem == nil || len(args) != 2 || types[0].Shape == nil || types[1].Shape == nil {
		return s, args, ok
	}
	for i, a := range args {
		x, even := of.Even(a)
		if !even {
			continue
		}
		numbers := slices.Clone(types)
		numbers[i] = of.Type(x)
		if t, ok := d.Spec(numbers, at); ok {
			args = slices.Clone(args)
			args[i] = x
			return t, args, true
		}
	}
	return s, args, ok
}
