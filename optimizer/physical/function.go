package physical

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
)

// FunctionKind is a way of spreading rows over sites.
type FunctionKind uint8

// Kinds of functions.
const (
	Hash   FunctionKind = iota // of all values
	Ranges                     // of one integer, by bounds: sorted keys, graphs
	Grid                       // of integers: the row-major number of the cell, modulo the number of sites
)

// Function gives the site of a row by the values of some of its columns. Values that are equal, or both NULL, have
// equal sites.
type Function struct {
	Kind FunctionKind
	Lens []int64 // Grid: how many values each column has, from 0
	From []int64 // Ranges: the least value of each site but the first, ascending
}

// Equal reports whether two functions give the same site for the same values.
func (f Function) Equal(o Function) bool {
	return f.Kind == o.Kind && slices.Equal(f.Lens, o.Lens) && slices.Equal(f.From, o.From)
}

// Site is the site of a row whose columns have these values.
func (f Function) Site(values []kernels.Value, sites int) int {
	switch f.Kind {
	case Ranges:
		at := slices.IndexFunc(f.From, func(least int64) bool { return least > whole(values[0]) })
		if at < 0 {
			return sites - 1
		}
		return at
	case Grid:
		number := int64(0)
		for i, v := range values {
			number = (number*f.Lens[i] + whole(v)) % int64(sites)
		}
		return int((number + int64(sites)) % int64(sites))
	}
	h := fnv.New64a()
	for _, v := range values {
		h.Write(encode(v))
	}
	x := h.Sum64() // its low bits alone depend on the low bits of the values alone
	return int((x ^ x>>32) % uint64(sites))
}

// Sites is Site for the rows of columns.
func (f Function) Sites(of []*column.Column, sites int) []int32 {
	out := make([]int32, of[0].Len())
	integers := !slices.ContainsFunc(of, func(c *column.Column) bool { return c.Kind() != column.I64 })
	row := make([]kernels.Value, len(of))
	for r := range out {
		if f.Kind == Hash && integers {
			out[r] = int32(hashed(of, r) % uint64(sites))
			continue
		}
		for i, c := range of {
			row[i] = c.Value(r)
		}
		out[r] = int32(f.Site(row, sites))
	}
	return out
}

// hashed is the hash of a row of integers, as Site makes it: FNV-1a of what encode gives.
func hashed(of []*column.Column, r int) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for _, c := range of {
		if c.IsNull(r) {
			h *= prime // of a zero
			continue
		}
		h = (h ^ 1) * prime
		for x, i := uint64(c.I64()[r]), 0; i < 8; x, i = x>>8, i+1 {
			h = (h ^ x&0xff) * prime
		}
	}
	return h ^ h>>32
}

// whole is an integer; 0 stands for NULL.
func whole(v kernels.Value) int64 {
	if v.Null {
		return 0
	}
	return v.I
}

// encode gives equal values, in SQL's sense, and NULLs the same bytes.
func encode(v kernels.Value) []byte {
	switch {
	case v.Null:
		return []byte{0}
	case v.Type.Kind == kernels.Text:
		return append(binary.LittleEndian.AppendUint64([]byte{1}, uint64(len(v.T))), v.T...)
	case !v.Type.IsFloat():
		return binary.LittleEndian.AppendUint64([]byte{1}, uint64(v.I))
	}
	out := []byte{1}
	for _, x := range v.Floats() {
		switch {
		case x == 0: // and -0
			x = 0
		case x != x:
			x = math.NaN()
		}
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(x))
	}
	return out
}

// check reports what is wrong with a function of columns of these types.
func (f Function) check(of []kernels.Type, sites int) error {
	integers := !slices.ContainsFunc(of, func(t kernels.Type) bool { return t.Kind != kernels.Int })
	switch {
	case len(of) == 0:
		return sqlerr.Broken(room, "rows are spread by no column")
	case f.Kind == Ranges && (len(of) != 1 || !integers || len(f.From) != sites-1 || !slices.IsSorted(f.From)):
		return sqlerr.Broken(room, "ranges from %v do not spread %v over %d sites", f.From, of, sites)
	case f.Kind == Grid && (len(of) != len(f.Lens) || !integers || slices.Min(f.Lens) < 1):
		return sqlerr.Broken(room, "a grid of %v does not spread %v", f.Lens, of)
	}
	return nil
}

// String prints "hash", "ranges from 10, 20", "grid 4 x 4".
func (f Function) String() string {
	switch f.Kind {
	case Ranges:
		return "ranges from " + join(f.From, ", ")
	case Grid:
		return "grid " + join(f.Lens, " x ")
	}
	return "hash"
}

func join[T any](list []T, between string) (out string) {
	for i, x := range list {
		if i > 0 {
			out += between
		}
		out += fmt.Sprint(x)
	}
	return out
}
