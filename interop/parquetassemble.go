package interop

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// inLeaf reads the levels and values of a leaf, a batch at a time.
type inLeaf struct {
	index      int
	stream     *stream
	pages      *pages
	desc       *schema.Column
	field      *Field
	most       int // elements of a list
	read       func() (levels int64, values int, err error)
	get        func(i int) (any, error)
	many       func(from, to int) any // several numbers; nil for other values
	f32        []float32
	f64        []float64
	last       any // the last text
	def, rep   []int16
	at, levels int
	used, n    int // values of the batch: taken, and all
}

// fresh is the node with leaves of its own, so that a file may be read twice at once.
func (n *inNode) fresh(size int64) *inNode {
	out := &inNode{field: n.field, def: n.def, item: n.item, rep: n.rep}
	seen := map[*inLeaf]*inLeaf{}
	out.copyLeaves(n, seen, int(max(1<<22, min(expand*size, 1<<31))))
	return out
}

func (n *inNode) copyLeaves(from *inNode, seen map[*inLeaf]*inLeaf, most int) {
	for _, l := range from.leaves {
		if seen[l] == nil {
			seen[l] = &inLeaf{index: l.index, desc: l.desc, field: l.field, most: most}
		}
		n.leaves = append(n.leaves, seen[l])
	}
	if from.leaf != nil {
		n.leaf = seen[from.leaf]
	}
	for _, part := range from.parts {
		x := &inNode{field: part.field, def: part.def, item: part.item, rep: part.rep}
		x.copyLeaves(part, seen, most)
		n.parts = append(n.parts, x)
	}
}

// fetch makes the function that reads batches of values of a Go type.
func fetch[T any](l *inLeaf, size int, read func(int64, []T, []int16, []int16) (int64, int, error)) []T {
	vals := make([]T, size)
	l.read = func() (int64, int, error) { return read(int64(size), vals, l.def[:size], l.rep[:size]) }
	return vals
}

// fewValues is how many texts or binaries of a column chunk are in memory at once: about a megabyte of them.
func fewValues(meta fields) int {
	const most = 64
	n, size := meta.int(5), meta.int(6)
	if n <= 0 || size <= 0 {
		return most
	}
	return int(max(1, min(most, 1<<20/max(size/n, 1))))
}

// begin goes to the leaf's chunk in a row group. few is how many values it reads at once of texts and binaries.
func (l *inLeaf) begin(r file.ColumnChunkReader, few int) error {
	if l.def == nil {
		l.def, l.rep = make([]int16, levelsRead), make([]int16, levelsRead)
	}
	l.at, l.levels, l.used, l.n = 0, 0, 0, 0
	l.many = nil
	switch x := r.(type) {
	case *file.BooleanColumnChunkReader:
		vals := fetch(l, levelsRead, x.ReadBatch)
		l.get = func(i int) (any, error) { return vals[i], nil }
	case *file.Int32ColumnChunkReader:
		vals := fetch(l, levelsRead, x.ReadBatch)
		l.numbersOf(vals, nil)
		l.get = func(i int) (any, error) { return l.fromInt(int64(vals[i])) }
	case *file.Int64ColumnChunkReader:
		vals := fetch(l, levelsRead, x.ReadBatch)
		l.numbersOf(nil, vals)
		l.get = func(i int) (any, error) { return l.fromInt(vals[i]) }
	case *file.Int96ColumnChunkReader:
		vals := fetch(l, levelsRead, x.ReadBatch)
		l.get = func(i int) (any, error) { return fromInt96(vals[i]) }
	case *file.Float32ColumnChunkReader:
		l.f32 = fetch(l, levelsRead, x.ReadBatch)
		l.numbersOf(nil, nil)
		l.get = func(i int) (any, error) { return l.f32[i], nil }
	case *file.Float64ColumnChunkReader:
		l.f64 = fetch(l, levelsRead, x.ReadBatch)
		l.numbersOf(nil, nil)
		l.get = func(i int) (any, error) { return l.f64[i], nil }
	case *file.ByteArrayColumnChunkReader:
		vals := fetch(l, few, x.ReadBatch)
		l.get = func(i int) (any, error) { return l.fromBytes(vals[i]), nil }
	case *file.FixedLenByteArrayColumnChunkReader:
		vals := fetch(l, few, x.ReadBatch)
		l.get = func(i int) (any, error) { return l.fromBytes(vals[i]), nil }
	default:
		return fmt.Errorf("values of type %s", r.Type())
	}
	return nil
}

func (l *inLeaf) fromInt(v int64) (any, error) {
	switch x := l.desc.LogicalType().(type) {
	case schema.DateLogicalType, *schema.DateLogicalType:
		return Day(v), nil
	case *schema.TimestampLogicalType:
		return moment64(v, x.TimeUnit())
	case *schema.DecimalLogicalType:
		return decimalText(big.NewInt(v), int(x.Scale())), nil
	case *schema.IntLogicalType:
		if !x.IsSigned() && v < 0 {
			if l.desc.PhysicalType() == parquet.Types.Int64 {
				return nil, outOfRange(uint64(v), "bigint")
			}
			return int64(uint32(v)), nil
		}
	}
	return v, nil
}

func moment64(v int64, unit schema.TimeUnitType) (any, error) {
	switch unit {
	case schema.TimeUnitMicros:
		return Moment(v), nil
	case schema.TimeUnitMillis:
		if v <= 1<<53 && v >= -1<<53 {
			return Moment(1000 * v), nil
		}
		return nil, outOfRange(v, "timestamp")
	case schema.TimeUnitNanos:
		if v%1000 == 0 {
			return Moment(v / 1000), nil
		}
		return nil, inexact(fmt.Sprint(v, " nanoseconds since 1970"), "timestamp")
	}
	return nil, sqlerr.New(sqlerr.BadCopy, "a timestamp of unknown unit")
}

// fromInt96 reads nanoseconds of a day and a Julian day: how Spark writes timestamps.
func fromInt96(v parquet.Int96) (any, error) {
	const epoch, day = 2440588, 86400_000_000
	nanos, days := int64(binary.LittleEndian.Uint64(v[:8])), int64(binary.LittleEndian.Uint32(v[8:]))-epoch
	if nanos%1000 != 0 || days > 1<<26 || days < -1<<26 {
		return nil, inexact(fmt.Sprint("day ", days, " and ", nanos, " nanoseconds"), "timestamp")
	}
	return Moment(days*day + nanos/1000), nil
}

func (l *inLeaf) fromBytes(b []byte) any {
	if d, ok := l.desc.LogicalType().(*schema.DecimalLogicalType); ok {
		n := new(big.Int).SetBytes(b)
		if len(b) > 0 && b[0] > 127 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		return decimalText(n, int(d.Scale()))
	}
	if l.field.Type == "binary" {
		return b
	}
	if s, ok := l.last.(string); !ok || s != string(b) { // often the same text is in row after row
		l.last = string(b)
	}
	return l.last
}

// peek makes the next level available. It returns false at the end of the row group.
func (l *inLeaf) peek() (bool, error) {
	if l.at < l.levels || l.read == nil {
		return l.at < l.levels, nil
	}
	levels, n, err := l.read()
	if levels == 0 && err == nil { // the library does not give this one
		err = l.pages.err
	}
	if e := (*sqlerr.Error)(nil); errors.As(err, &e) {
		return false, e
	} else if err != nil {
		return false, sqlerr.New(sqlerr.BadCopy, "%v", err)
	}
	l.at, l.levels, l.used, l.n = 0, int(levels), 0, n
	return levels > 0, nil
}

// next is the next level: 0 where levels are not written.
func (l *inLeaf) next() (rep, def int16) {
	def = l.desc.MaxDefinitionLevel()
	if l.desc.MaxRepetitionLevel() > 0 {
		rep = l.rep[l.at]
	}
	if def > 0 {
		def = l.def[l.at]
	}
	return rep, def
}

// take takes the value of a level that has one.
func (l *inLeaf) take() (int, error) {
	if l.used >= l.n {
		return 0, sqlerr.New(sqlerr.BadCopy, "its values end early")
	}
	l.at, l.used = l.at+1, l.used+1
	return l.used - 1, nil
}

var errLevels = sqlerr.New(sqlerr.BadCopy, "levels that do not fit each other")

// start checks that a row begins.
func (n *inNode) start() error {
	for _, l := range n.leaves {
		if ok, err := l.peek(); err != nil || !ok {
			return firstError(err, sqlerr.New(sqlerr.BadCopy, "the column ends early"))
		}
		if rep, _ := l.next(); rep != 0 {
			return errLevels
		}
	}
	return nil
}

// present reports whether the definition levels of all leaves are at least def.
func (n *inNode) present(def int16) (bool, error) {
	yes := 0
	for _, l := range n.leaves {
		if ok, err := l.peek(); err != nil || !ok {
			return false, firstError(err, sqlerr.New(sqlerr.BadCopy, "the column ends early"))
		}
		if _, d := l.next(); d >= def {
			yes++
		}
	}
	if yes != 0 && yes != len(n.leaves) {
		return false, errLevels
	}
	return yes > 0, nil
}

// skip takes the level that stands for an absent value.
func (n *inNode) skip() {
	for _, l := range n.leaves {
		l.at++
	}
}

// read reads the next value.
func (n *inNode) read() (any, error) {
	if l := n.leaf; l != nil {
		if ok, err := l.peek(); err != nil || !ok {
			return nil, firstError(err, sqlerr.New(sqlerr.BadCopy, "the column ends early"))
		}
		if _, def := l.next(); def < n.def {
			l.at++
			return nil, nil
		}
		i, err := l.take()
		if err != nil {
			return nil, err
		}
		return l.get(i)
	}
	ok, err := n.present(n.def)
	if err != nil {
		return nil, err
	}
	if !ok {
		n.skip()
		return nil, nil
	}
	if n.field.Type != "struct" {
		return n.list()
	}
	out := make(map[string]any, len(n.parts))
	for _, part := range n.parts {
		v, err := part.read()
		if err != nil {
			return nil, err
		}
		if v != nil {
			out[part.field.Name] = v
		}
	}
	return out, nil
}

// list reads the elements of a list or map that is not NULL.
func (n *inNode) list() (any, error) {
	full, err := n.present(n.item)
	if err != nil {
		return nil, err
	}
	if !full {
		n.skip()
		return n.empty(), nil
	}
	var out []any
	if l := n.parts[0].leaf; l != nil && n.field.Type == "array" {
		if v, rest, err := n.numbers(l); err != nil || v != nil {
			return v, err
		} else if out = rest; len(out) > 0 { // a NULL came
			if more, err := n.more(); err != nil || !more {
				return out, err
			}
		}
	}
	for {
		if len(out) >= n.leaves[0].most {
			return nil, tooLong(n.leaves[0].most)
		}
		v, err := n.entry()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		more, err := n.more()
		if err != nil {
			return nil, err
		}
		if !more {
			return n.pairs(out)
		}
	}
}

func tooLong(most int) error {
	return sqlerr.New(sqlerr.ProgramLimit, "a list of more than %d elements", most)
}

// empty is a list without elements.
func (n *inNode) empty() any {
	if n.field.Type == "map" && n.field.Parts[0].Type == "string" {
		return map[string]any{}
	}
	return []any{}
}

// entry reads an element of a list, or the key and value of a map.
func (n *inNode) entry() (any, error) {
	k, err := n.parts[0].read()
	if err != nil || n.field.Type != "map" {
		return k, err
	}
	v, err := n.parts[1].read()
	return [2]any{k, v}, err
}

// pairs makes a map of the entries, where its keys are strings.
func (n *inNode) pairs(list []any) (any, error) {
	if n.field.Type != "map" || n.field.Parts[0].Type != "string" {
		return list, nil
	}
	out := make(map[string]any, len(list))
	for _, e := range list {
		pair := e.([2]any)
		k, ok := pair[0].(string)
		if !ok {
			return nil, sqlerr.New(sqlerr.BadCopy, "a map with a NULL key")
		}
		out[k] = pair[1]
	}
	return out, nil
}

// more reports whether the list goes on.
func (n *inNode) more() (bool, error) {
	yes := 0
	for _, l := range n.leaves {
		ok, err := l.peek()
		if err != nil {
			return false, err
		}
		if !ok {
			continue
		}
		rep, _ := l.next()
		if rep > n.rep || rep < 0 {
			return false, errLevels
		}
		if rep == n.rep {
			yes++
		}
	}
	if yes != 0 && yes != len(n.leaves) {
		return false, errLevels
	}
	return yes > 0, nil
}

// numbers reads a list of numbers as a slice of these. Where one is NULL, it returns the elements up to it.
func (n *inNode) numbers(l *inLeaf) (all any, some []any, err error) {
	switch {
	case l.many == nil:
		return nil, nil, nil
	case l.field.Type == "float":
		return slice[float32](n, l)
	case l.field.Type == "double":
		return slice[float64](n, l)
	}
	return slice[int64](n, l)
}

// slice takes the elements of a list as they lie in the batches that the library reads.
func slice[T any](n *inNode, l *inLeaf) (all any, some []any, err error) {
	var out []T
	for {
		k := l.run(n.rep, n.parts[0].def)
		if k == 0 {
			l.at++
			some = make([]any, 0, len(out)+1)
			for _, v := range out {
				some = append(some, v)
			}
			return nil, append(some, nil), nil
		}
		if l.used+k > l.n {
			return nil, nil, sqlerr.New(sqlerr.BadCopy, "its values end early")
		}
		if len(out)+k > l.most {
			return nil, nil, tooLong(l.most)
		}
		out = append(out, l.many(l.used, l.used+k).([]T)...)
		l.at, l.used = l.at+k, l.used+k
		if more, err := n.more(); err != nil || !more {
			return out, nil, err
		}
	}
}

// run is how many elements of a list, none of them NULL, the batch has from here on, where the first one is known to
// belong to it.
func (l *inLeaf) run(rep, def int16) int {
	reps, defs := l.rep[l.at:l.levels], l.def[l.at:l.levels]
	for i, d := range defs {
		if d < def || i > 0 && reps[i] != rep {
			return i
		}
	}
	return len(defs)
}

// skip leaves out the levels and values of some rows.
func (l *inLeaf) skip(rows int) error {
	most, repeated := l.desc.MaxDefinitionLevel(), l.desc.MaxRepetitionLevel() > 0
	for began := false; ; {
		if ok, err := l.peek(); err != nil {
			return err
		} else if !ok && (rows > 0 || !began) {
			return sqlerr.New(sqlerr.BadCopy, "the column ends early")
		} else if !ok {
			return nil
		}
		for ; l.at < l.levels; l.at++ {
			if !repeated || l.rep[l.at] == 0 { // a row begins
				if rows == 0 {
					return nil
				}
				rows--
			} else if !began {
				return errLevels
			}
			if began = true; most > 0 && l.def[l.at] < most {
				continue
			}
			if l.used++; l.used > l.n {
				return sqlerr.New(sqlerr.BadCopy, "its values end early")
			}
		}
		if rows == 0 && !repeated {
			return nil
		}
	}
}

// plain is how many of the next values are numbers that have been read already.
func (n *inNode) plain() (count int) {
	l := n.leaf
	if l == nil || l.many == nil || l.desc.MaxRepetitionLevel() > 0 {
		return 0
	}
	if ok, err := l.peek(); err != nil || !ok {
		return 0
	}
	count = min(l.levels-l.at, l.n-l.used)
	if l.desc.MaxDefinitionLevel() == 0 {
		return count
	}
	for i, def := range l.def[l.at : l.at+count] {
		if def < n.def {
			return i
		}
	}
	return count
}

// numbersOf makes the function that gives several values of the batch; nil where they are no numbers.
func (l *inLeaf) numbersOf(ints32 []int32, ints64 []int64) {
	l.many = nil
	switch l.field.Type {
	case "byte", "short", "integer", "long":
		if x, ok := l.desc.LogicalType().(*schema.IntLogicalType); ok && !x.IsSigned() {
			return
		}
		if ints64 != nil {
			l.many = func(from, to int) any { return ints64[from:to] }
			return
		}
		wide := make([]int64, len(ints32))
		l.many = func(from, to int) any {
			for i, v := range ints32[from:to] {
				wide[i] = int64(v)
			}
			return wide[:to-from]
		}
	case "float":
		l.many = func(from, to int) any { return l.f32[from:to] }
	case "double":
		l.many = func(from, to int) any { return l.f64[from:to] }
	}
}
