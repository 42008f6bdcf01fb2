package physical

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// FunctionKind is a way of spreading rows over sites.
type FunctionKind uint8

// Kinds of functions.
const (
	Hash   FunctionKind = iota // of all values, which spreads neighbouring integers evenly
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
	at := uint64(0)
	for i, v := range values {
		at += part(number(v), i)
	}
	return share(at, sites)
}

// share is the site in whose part of all numbers of 64 bits a number is.
func share(at uint64, sites int) int {
	site, _ := bits.Mul64(at, uint64(sites))
	return int(site)
}

// steps are odd numbers near 2^64 times the golden ratio, and times the powers of the plastic number: multiples of them
// are spread evenly, few as well as many (Weyl's theorem; Knuth, TAOCP 3, §6.4). So neighbouring keys, of which a grid
// or a table of parameters has few, come to different sites.
var steps = [...]uint64{0x9E3779B97F4A7C15, 0xC13FA9A902A6328F, 0x91E10DA5C79E7B1D}

func step(column int) uint64 {
	if column < len(steps) {
		return steps[column]
	}
	return tensor.Mix(uint64(column)) | 1
}

// part is what the number of column i adds: 256 neighbours are spread by multiples, and each such group begins
// anywhere, for the multiples of some distances, as of 610, lie close together.
func part(number uint64, i int) uint64 {
	out := number & 0xff * step(i)
	if group := number >> 8; group > 0 {
		out += tensor.Mix(group + uint64(i))
	}
	return out
}

// null is the number of NULL.
const null = 0x6A09E667F3BCC909

// number is the same for equal values, in SQL's sense: of an integer itself, of others a hash.
func number(v kernels.Value) uint64 {
	switch {
	case v.Null:
		return null
	case v.Type.Kind == kernels.Text:
		h := fnv.New64a()
		h.Write([]byte(v.T))
		return tensor.Mix(h.Sum64())
	case !v.Type.IsFloat():
		return uint64(v.I)
	}
	h := uint64(0)
	for _, x := range v.Floats() {
		switch {
		case x == 0: // and -0
			x = 0
		case x != x:
			x = math.NaN()
		}
		h = tensor.Mix(h ^ math.Float64bits(x))
	}
	return h
}

// Sites is Site for the rows of columns.
func (f Function) Sites(of []*column.Column, sites int) []int32 {
	out := make([]int32, of[0].Len())
	integers := !slices.ContainsFunc(of, func(c *column.Column) bool { return c.Kind() != column.I64 })
	row := make([]kernels.Value, len(of))
	for r := range out {
		if f.Kind == Hash && integers {
			out[r] = int32(share(place(of, r), sites))
			continue
		}
		for i, c := range of {
			row[i] = c.Value(r)
		}
		out[r] = int32(f.Site(row, sites))
	}
	return out
}

// place is the number of a row of integers.
func place(of []*column.Column, r int) (at uint64) {
	for i, c := range of {
		if c.IsNull(r) {
			at += part(null, i)
		} else {
			at += part(uint64(c.I64()[r]), i)
		}
	}
	return at
}

// whole is an integer; 0 stands for NULL.
func whole(v kernels.Value) int64 {
	if v.Null {
		return 0
	}
	return v.I
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
