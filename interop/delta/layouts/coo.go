package layouts

import (
	"slices"
	"strconv"

	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
)

// coo has a row for each element (section IV.C): its indices, from 0, in columns i0, i1, … and its value, in the order
// of indices. The paper's column indices, an array, is read too; it has no statistics, so that slices read everything.
// A tensor without elements has one row, whose value is NULL.
var coo = &layout{
	fields: func(rank int, value string) []interop.Field { return append(indexFields(rank), field("value", value)) },
	write: func(w *writing) error {
		if len(w.e.bits) == 0 {
			return w.row(make([]any, len(w.t.Shape)+1)...)
		}
		own := each(w.e.coords, func(c []int64) any { return c })
		return w.rows(len(w.e.bits), append(own, array(w.e.dtype, w.e.bits))...)
	},
	read: func(r *reading) error {
		if r.b.empty() {
			return nil
		}
		if !r.has("i0") {
			return r.rows([]string{"indices", "value"}, nil, func(v []any) error {
				return r.element(integers(v[0]), v[1], v[0] == nil)
			})
		}
		names, where := indexNames(len(r.shape)), []delta.Bound{}
		for d, name := range names {
			if !r.has(name) {
				return corrupt("the table has no column \"%s\"", name)
			}
			where = append(where, delta.Bound{Column: name, Min: r.b.from[d], Max: r.b.to[d] - 1})
		}
		index := make([]int64, len(names))
		return r.many(append(names, "value"), where, r.elements, func(v []any) error {
			for d := range index {
				index[d], _ = v[d].(int64)
			}
			return r.element(index, v[len(index)], false)
		})
	},
}

// elements takes elements of the tensor: columns of their indices, and their values.
func (r *reading) elements(n int, v []any) error {
	bits, err := allBits(r.dtype, v[len(v)-1])
	if err != nil {
		return err
	}
	r.reserve(1)
	inside := !slices.Contains(bits, 0)
	for d := range r.shape {
		c, ok := v[d].([]int64)
		if !ok {
			return corrupt("indices of dimension %d that are no integers", d)
		}
		inside = inside && slices.Min(c) >= r.b.from[d] && slices.Max(c) < r.b.to[d]
	}
	if !inside {
		index := make([]int64, len(r.shape))
		for i := range n {
			for d := range index {
				index[d] = v[d].([]int64)[i]
			}
			if err := r.inside(index); err != nil {
				return err
			}
			r.b.take(r.out, index, bits[i])
		}
		return nil
	}
	k := 0
	for d, one := range r.b.one {
		if one {
			continue
		}
		r.out.coords[k] = append(r.out.coords[k], v[d].([]int64)...)
		if from := r.b.from[d]; from != 0 {
			added := r.out.coords[k][len(r.out.coords[k])-n:]
			for i := range added {
				added[i] -= from
			}
		}
		k++
	}
	r.out.bits = append(r.out.bits, bits...)
	return nil
}

// element takes an element of the tensor. none: the row stands for a tensor without elements.
func (r *reading) element(index []int64, v any, none bool) error {
	if none && v == nil {
		return nil
	}
	if err := r.inside(index); err != nil {
		return err
	}
	u, err := bitsOf(r.dtype, v)
	r.b.take(r.out, index, u)
	return err
}

// inside checks that an index is one of the tensor.
func (r *reading) inside(index []int64) error {
	if len(index) != len(r.shape) {
		return corrupt("an element with %d indices in a tensor of shape %s", len(index), text(r.shape))
	}
	for d, i := range index {
		if i < 0 || i >= r.shape[d] {
			return corrupt("an element at %s in a tensor of shape %s", text(index), text(r.shape))
		}
	}
	return nil
}

func indexNames(rank int) []string {
	out := make([]string, rank)
	for d := range out {
		out[d] = "i" + strconv.Itoa(d)
	}
	return out
}

func indexFields(rank int) []interop.Field {
	return each(indexNames(rank), func(name string) interop.Field { return field(name, "long") })
}
