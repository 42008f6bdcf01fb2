package layouts

import (
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
		row := make([]any, len(w.t.Shape)+1)
		if len(w.e.bits) == 0 {
			return w.row(row...)
		}
		for i, u := range w.e.bits {
			for d, c := range w.e.coords {
				row[d] = c[i]
			}
			row[len(row)-1] = scalar(w.e.dtype, u)
			if err := w.row(row...); err != nil {
				return err
			}
		}
		return nil
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
		return r.rows(append(names, "value"), where, func(v []any) error {
			for d := range index {
				index[d], _ = v[d].(int64)
			}
			return r.element(index, v[len(index)], false)
		})
	},
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
