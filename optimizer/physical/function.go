package physical

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// FunctionKind is a way of spreading rows over sites.
type FunctionKind uint8

// Kinds of functions.
const (
	Hash       FunctionKind = iota // of all values, which spreads neighbouring integers evenly
	Ranges                         // of one integer, by bounds: sorted keys, graphs
	Grid                           // of integers: the row-major number of the cell, modulo the number of sites
	Partitions                     // of one integer: its partition in a table that PostgreSQL partitions by hash
	Shards                         // of one integer: its shard in a table that Citus distributes by hash
)

// Function gives the site of a row by the values of some of its columns. Values that are equal, or both NULL, have
// equal sites.
type Function struct {
	Kind FunctionKind
	Lens []int64 // Grid: how many values each column has, from 0
	From []int64 // Ranges: the least value of each site but the first, ascending
	At   []int32 // Partitions: the site of each remainder; Shards: of each of as many ranges of the hash
}

// Equal reports whether two functions give the same site for the same values.
func (f Function) Equal(o Function) bool {
	return f.Kind == o.Kind && slices.Equal(f.Lens, o.Lens) && slices.Equal(f.From, o.From) &&
		slices.Equal(f.At, o.At)
}

// Site is the site of a row whose columns have these values.
func (f Function) Site(values []kernels.Value, sites int) int {
	switch f.Kind {
	case Ranges:
		return f.site(whole(values[0]))
	case Partitions:
		return f.partition(values[0].I, values[0].Null)
	case Shards:
		return f.shard(values[0].I, values[0].Null)
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

// site is the site in whose range a value is.
func (f Function) site(x int64) int {
	at, _ := slices.BinarySearchFunc(f.From, x, func(least, x int64) int {
		if least > x {
			return 1
		}
		return -1
	})
	return at
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
		switch {
		case f.Kind == Hash && integers:
			out[r] = int32(share(place(of, r), sites))
			continue
		case f.Kind == Ranges && integers && !of[0].IsNull(r):
			out[r] = int32(f.site(of[0].I64()[r]))
			continue
		case f.Kind == Partitions && integers:
			out[r] = int32(f.partition(of[0].I64()[r], of[0].IsNull(r)))
			continue
		case f.Kind == Shards && integers:
			out[r] = int32(f.shard(of[0].I64()[r], of[0].IsNull(r)))
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
	case (f.Kind == Partitions || f.Kind == Shards) && (len(of) != 1 || !integers || len(f.At) == 0 ||
		int(slices.Max(f.At)) >= sites):
		return sqlerr.Broken(room, "partitions at %v do not spread %v over %d sites", f.At, of, sites)
	}
	return nil
}

// String prints "hash", "ranges from 10, 20", "grid 4 x 4", "partitions at 1, 2", "shards at 1, 2".
func (f Function) String() string {
	switch f.Kind {
	case Ranges:
		return "ranges from " + join(f.From, ", ")
	case Grid:
		return "grid " + join(f.Lens, " x ")
	case Partitions:
		return "partitions at " + join(f.At, ", ")
	case Shards:
		return "shards at " + join(f.At, ", ")
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

// Ranges of sorted integers keep neighbours together: of a graph whose vertices are numbered so that neighbours are
// near, few edges cross a bound. The bounds are chosen so that each site has equally many ends of edges. Columns that
// some operator equates must be spread by one function.

// classes are sets of columns that hold the same values where some operator joins them.
type classes map[ra.ColumnID]ra.ColumnID

// of is the representative of a column.
func (c classes) of(id ra.ColumnID) ra.ColumnID {
	for c[id] != 0 && c[id] != id {
		id = c[id]
	}
	return id
}

func (c classes) join(a, b ra.ColumnID) {
	if a, b = c.of(a), c.of(b); a != b {
		c[max(a, b)] = min(a, b)
	}
}

// classesOf puts together the columns of a plan that pass each other on, that conditions equate, and that are the same
// column of a table.
func classesOf(p *ra.Plan) classes {
	out, tables := classes{}, map[string]map[int]ra.ColumnID{}
	ra.Walk(func(n *ra.Node) {
		for _, q := range n.Equi {
			out.join(q.L.ID, q.R.ID)
		}
		for i, c := range n.Cols {
			switch {
			case n.Op == ra.Scan:
				name := n.Table.Schema + "." + n.Table.Name
				if tables[name] == nil {
					tables[name] = map[int]ra.ColumnID{}
				}
				if before := tables[name][n.TableCols[i]]; before != 0 {
					out.join(before, c.ID)
				}
				tables[name][n.TableCols[i]] = c.ID
			case n.Out != nil && n.Out[i].IsCol:
				out.join(n.Out[i].Col.ID, c.ID)
			default:
				for slot := range n.Inputs {
					if down, ok := below(n, slot, []ra.ColumnID{c.ID}); ok {
						out.join(down[0], c.ID)
					}
				}
			}
		}
	}, p.Nodes()...)
	return out
}

// balance are the ranges over sites in which as many of the values lie, as far as equal values allow it.
func balance(values []*column.Column, sites int) Function {
	var all []int64
	for _, c := range values {
		for r, x := range c.I64() {
			if !c.IsNull(r) {
				all = append(all, x)
			}
		}
	}
	slices.Sort(all)
	out := Function{Kind: Ranges}
	for s := 1; s < sites; s++ {
		bound := int64(0)
		if len(all) > 0 {
			bound = all[s*len(all)/sites]
		}
		out.From = append(out.From, bound)
	}
	return out
}

// ranges are the functions by which single columns are spread in ranges that balance the largest table that has columns
// of their class, if it has two: it is a graph. nil: there is none of integers that can be read. owned are pairs of
// columns that lie together though no operator says so.
func ranges(p *ra.Plan, sites int, owned [][2]ra.ColumnID, read func(*ra.Table, int) *column.Column,
) func(of *ra.Node, by []ra.ColumnID) Function {
	class := classesOf(p)
	for _, pair := range owned {
		class.join(pair[0], pair[1])
	}
	other, largest := map[ra.ColumnID]bool{}, map[ra.ColumnID]*ra.Table{}
	cols := map[ra.ColumnID][]int{}
	ra.Walk(func(n *ra.Node) {
		for i, c := range n.Cols {
			id := class.of(c.ID)
			other[id] = other[id] || c.Dep || c.Type.Kind != kernels.Int || c.Type.Shape != nil
			if n.Op != ra.Scan || n.PerStep || n.TableCols[i] < 0 {
				continue
			}
			same := largest[id] != nil && largest[id].Schema == n.Table.Schema && largest[id].Name == n.Table.Name
			if !same && (largest[id] == nil || largest[id].Rows < n.Table.Rows) {
				largest[id], cols[id] = n.Table, nil
			}
			if same = largest[id] == n.Table || same; same && !slices.Contains(cols[id], n.TableCols[i]) {
				cols[id] = append(cols[id], n.TableCols[i])
			}
		}
	}, p.Nodes()...)
	bounds := map[ra.ColumnID]Function{}
	for id, t := range largest {
		if other[id] || len(cols[id]) < 2 { // one column alone has no neighbours
			continue
		}
		slices.SortFunc(cols[id], cmp.Compare[int])
		var values []*column.Column
		for _, c := range cols[id] {
			if v := read(t, c); v != nil && v.Kind() == column.I64 {
				values = append(values, v)
			}
		}
		if len(values) == len(cols[id]) {
			bounds[id] = balance(values, sites)
		}
	}
	if len(bounds) == 0 {
		return nil
	}
	return func(_ *ra.Node, by []ra.ColumnID) Function {
		if len(by) == 1 {
			return bounds[class.of(by[0])]
		}
		return Function{}
	}
}

// partition is the site of an integer by its partition: PostgreSQL's hash of it (hashint8extended and
// compute_partition_hash_value, of src/common/hashfn.c and src/backend/partitioning/partbounds.c), modulo the number of
// partitions. NULL is in the first one.
func (f Function) partition(x int64, null bool) int {
	h := uint64(0)
	if !null {
		h = hash32(folded(x), 0x7A5B22367996DCFD) + 0x49a0f4dd15e5a8e3
	}
	return int(f.At[h%uint64(len(f.At))])
}

// shard is the site of the shard of a value: shards have equal ranges of the numbers that the type's hash function
// gives, the first from the least number on (https://github.com/citusdata/citus, CreateHashDistributedTableShards). No
// shard has a row whose value is NULL.
func (f Function) shard(x int64, null bool) int {
	if null {
		return int(f.At[0])
	}
	const numbers, least = 1 << 32, 1 << 31
	n := uint64(len(f.At))
	return int(f.At[min(uint64(uint32(hash32(folded(x), 0))^least)/(numbers/n), n-1)])
}

// folded is what hashint8 hashes of a value: integers of all widths have the same.
func folded(x int64) uint32 {
	low, high := uint32(x), uint32(x>>32)
	if x < 0 {
		high = ^high
	}
	return low ^ high
}

// hash32 is hash_bytes_uint32_extended; its low half, with seed 0, is hash_bytes_uint32.
func hash32(k uint32, seed uint64) uint64 {
	a := uint32(0x9e3779b9 + 4 + 3923095)
	b, c := a, a
	mixes := [][3]int{{4, 6, 8}, {16, 19, 4}}
	if seed == 0 {
		mixes = nil
	}
	a, b = a+uint32(seed>>32), b+uint32(seed&0xffffffff)
	for _, by := range mixes {
		a = a - c ^ bits.RotateLeft32(c, by[0])
		c += b
		b = b - a ^ bits.RotateLeft32(a, by[1])
		a += c
		c = c - b ^ bits.RotateLeft32(b, by[2])
		b += a
	}
	a += k
	c = (c ^ b) - bits.RotateLeft32(b, 14) // final
	a = (a ^ c) - bits.RotateLeft32(c, 11)
	b = (b ^ a) - bits.RotateLeft32(a, 25)
	c = (c ^ b) - bits.RotateLeft32(b, 16)
	a = (a ^ c) - bits.RotateLeft32(c, 4)
	b = (b ^ a) - bits.RotateLeft32(a, 14)
	c = (c ^ b) - bits.RotateLeft32(b, 24)
	return uint64(b)<<32 | uint64(c)
}

// Partitioned says where tables lie that are partitioned by the hash of one column, and by it how columns that are
// joined with that one are spread: Stored and Spread of Sites. by gives a Scan's column of the table and the function;
// ok is false where there is none. Then, or where what it is joined with is spread in another way, rows lie anywhere.
func Partitioned(p *ra.Plan, by func(n *ra.Node) (col int, fn Function, ok bool)) (stored func(n *ra.Node) Placement,
	spread func(of *ra.Node, by []ra.ColumnID) Function) {
	class, other, fns := classesOf(p), map[ra.ColumnID]bool{}, map[ra.ColumnID]Function{}
	ra.Walk(func(n *ra.Node) {
		for _, c := range n.Cols {
			id := class.of(c.ID)
			other[id] = other[id] || c.Dep || c.Type.Kind != kernels.Int || c.Type.Shape != nil
		}
	}, p.Nodes()...)
	find := func(n *ra.Node) (column, id ra.ColumnID, fn Function, ok bool) {
		col, fn, ok := by(n)
		at := slices.Index(n.TableCols, col)
		if !ok || at < 0 {
			return 0, 0, fn, false
		}
		id = class.of(n.Cols[at].ID)
		return n.Cols[at].ID, id, fn, !other[id]
	}
	ra.Walk(func(n *ra.Node) {
		if n.Op != ra.Scan {
			return
		}
		if _, id, fn, ok := find(n); ok && fns[id].Kind != Partitions {
			fns[id] = fn
		}
	}, p.Nodes()...)
	return func(n *ra.Node) Placement {
			if column, id, fn, ok := find(n); ok && fns[id].Equal(fn) {
				return Spread(fn, column)
			}
			return Placement{Kind: Anywhere}
		}, func(_ *ra.Node, by []ra.ColumnID) Function {
			if len(by) == 1 {
				return fns[class.of(by[0])]
			}
			return Function{}
		}
}
