package layouts

import (
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Range is the part of a dimension that a slice takes: the indices from From up to, but not including, To. To is -1 for
// the end. One is set for a single index, whose dimension the slice does not have.
type Range struct {
	From, To int64
	One      bool
}

// Slice is a range for each of the first dimensions; of others it takes all.
type Slice []Range

// ParseSlice reads a slice as NumPy writes it, "[3, 10:20, :]" or without the brackets, from 0 and without steps and
// negative numbers. An ellipsis, "..." or "…", must come last: it stands for all further dimensions, as does nothing.
func ParseSlice(s string) (Slice, error) {
	s = strings.TrimSpace(s)
	inner, ok := strings.CutPrefix(s, "[")
	inner, ok2 := strings.CutSuffix(inner, "]")
	if !ok && !ok2 {
		ok, ok2 = true, true
	}
	if s == "" {
		return nil, nil
	}
	bad := func(part string) (Slice, error) {
		return nil, sqlerr.New(sqlerr.InvalidText, "invalid slice \"%s\" at \"%s\"", s, part).
			WithHint("Write an index or a range for each dimension, from 0: [3, 10:20, :].")
	}
	if !ok || !ok2 {
		return bad(s)
	}
	var out Slice
	parts := strings.Split(inner, ",")
	for i, p := range parts {
		p = strings.TrimSpace(p)
		if p == "" && len(parts) == 1 || (p == "..." || p == "…") && i == len(parts)-1 {
			break
		}
		a, b, isRange := strings.Cut(p, ":")
		a, b = strings.TrimSpace(a), strings.TrimSpace(b)
		r := Range{To: -1, One: !isRange}
		var err1, err2 error
		if a != "" || !isRange {
			r.From, err1 = strconv.ParseInt(a, 10, 64)
		}
		if b != "" {
			r.To, err2 = strconv.ParseInt(b, 10, 64)
		}
		if err1 != nil || err2 != nil || r.From < 0 || b != "" && r.To < 0 {
			return bad(p)
		}
		out = append(out, r)
	}
	return out, nil
}

// box is a slice of a tensor of a known shape: a range for each dimension.
type box struct {
	from, to []int64
	one      []bool
}

// of applies a slice to a shape. Ranges that go beyond the end are cut, as NumPy does; a single index must exist.
func (s Slice) of(shape []int64) (*box, error) {
	if len(s) > len(shape) {
		return nil, sqlerr.New(sqlerr.ArraySubscript, "a slice of %d dimensions of a tensor of shape %s", len(s), text(shape))
	}
	b := &box{make([]int64, len(shape)), make([]int64, len(shape)), make([]bool, len(shape))}
	for d, n := range shape {
		b.to[d] = n
		if d >= len(s) {
			continue
		}
		r := s[d]
		if r.One {
			if r.From >= n || r.From < 0 {
				return nil, sqlerr.New(sqlerr.ArraySubscript, "index %d of dimension %d, which has %d", r.From, d, n)
			}
			b.from[d], b.to[d], b.one[d] = r.From, r.From+1, true
			continue
		}
		if r.To >= 0 {
			b.to[d] = min(r.To, n)
		}
		b.from[d] = min(max(r.From, 0), b.to[d])
	}
	return b, nil
}

// empty reports whether there is no element.
func (b *box) empty() bool {
	for d := range b.from {
		if b.from[d] >= b.to[d] {
			return true
		}
	}
	return false
}

// holds reports whether a coordinate is in the box.
func (b *box) holds(index []int64) bool {
	for d, i := range index {
		if i < b.from[d] || i >= b.to[d] {
			return false
		}
	}
	return true
}

// extent is the box's size in each dimension, shape that of the slice, without the dimensions of a single index.
func (b *box) extent() []int64 {
	out := make([]int64, len(b.from))
	for d := range out {
		out[d] = b.to[d] - b.from[d]
	}
	return out
}

func (b *box) shape() []int64 {
	out := []int64{}
	for d, n := range b.extent() {
		if !b.one[d] {
			out = append(out, n)
		}
	}
	return out
}

// take adds an element of the tensor to the slice, if it is there.
func (b *box) take(e *elements, index []int64, u uint64) {
	if u == 0 || !b.holds(index) {
		return
	}
	k := 0
	for d, i := range index {
		if !b.one[d] {
			e.coords[k] = append(e.coords[k], i-b.from[d])
			k++
		}
	}
	e.bits = append(e.bits, u)
}
