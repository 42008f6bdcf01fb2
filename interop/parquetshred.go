package interop

import (
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// outLeaf is a leaf's part of the row group being written.
type outLeaf struct {
	rep       bool // it lies inside a list
	max       int16
	def, reps []int16
	bools     []bool
	i32       []int32
	i64       []int64
	f32       []float32
	f64       []float64
	text      []parquet.ByteArray
	fixed     []parquet.FixedLenByteArray
	bytes     []byte // of the texts
	spare     []outSpare
}

// outSpare is memory of a chunk that has been written.
type outSpare struct {
	leaf outLeaf
	data []byte
}

// empty makes it the part of a row group without rows.
func (l *outLeaf) empty() {
	clear(l.text)
	*l = outLeaf{rep: l.rep, max: l.max, def: l.def[:0], reps: l.reps[:0], bools: l.bools[:0], i32: l.i32[:0],
		i64: l.i64[:0], f32: l.f32[:0], f64: l.f64[:0], text: l.text[:0], fixed: l.fixed[:0], bytes: l.bytes[:0],
		spare: l.spare}
}

// copied is a copy of a value in the leaf's memory.
func (l *outLeaf) copied(v []byte) []byte {
	if len(v) > cap(l.bytes)-len(l.bytes) { // values that were copied before stay where they are
		l.bytes = make([]byte, 0, max(2*cap(l.bytes), len(v), 1<<12))
	}
	from := len(l.bytes)
	l.bytes = append(l.bytes, v...)
	return l.bytes[from:len(l.bytes):len(l.bytes)]
}

// repeated is a column that has had the same value in all rows of a group so far: only the first lies in its leaves.
type repeated struct {
	value any
	rows  int // that have it; 0: there are others
	size  int // of one

	chunks []*outChunk // of the last group all of whose rows were the same: its rows and their value
	of     int
	one    any
}

// simple reports whether a value is compared with the next ones, and is a copy of it.
func simple(v any) (any, bool) {
	switch x := v.(type) {
	case string, int64, bool:
		return x, true
	case []int64:
		if len(x) <= 16 {
			return slices.Clone(x), true
		}
	}
	return nil, false
}

func equals(a, b any) bool {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return ok && x == y
	case int64:
		y, ok := b.(int64)
		return ok && x == y
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case []int64:
		y, ok := b.([]int64)
		return ok && slices.Equal(x, y)
	}
	return false
}

// before are the chunks of an earlier group that had as many rows of this one value; nil where there is none.
func (r *repeated) before(rows int) []*outChunk {
	if r.chunks != nil && r.rows == rows && r.of == rows && equals(r.one, r.value) {
		return r.chunks
	}
	return nil
}

// next begins a group, and keeps the chunks of the last one if all its rows had one value.
func (r *repeated) next(rows int, chunks []*outChunk) {
	if r.rows == rows {
		r.chunks, r.of, r.one = chunks, rows, r.value
		for _, c := range chunks {
			c.kept = true
		}
	}
	r.rows, r.value = 0, nil
}

// take adds a row to a column that has had some of the group.
func (n *outNode) take(v any, before int) (size int, err error) {
	switch {
	case before == 0:
		size, err = n.put(v, 0, 0)
		if one, ok := simple(v); ok {
			n.same.value, n.same.rows, n.same.size = one, 1, size
		}
		return size, err
	case n.same.rows > 0 && equals(n.same.value, v):
		n.same.rows++
		return n.same.size, nil
	}
	if err := n.spread(0); err != nil {
		return 0, err
	}
	return n.put(v, 0, 0)
}

// spread puts all values into the leaves, where others come, or at the end of a group of so many rows.
func (n *outNode) spread(end int) (err error) {
	if n.same.rows > 1 {
		_, err = n.putSame(n.same.value, n.same.rows-1)
	}
	if n.same.rows != end {
		n.same.rows = 0
	}
	return err
}

func (l *outLeaf) level(rep, def int16) {
	l.def = append(l.def, def)
	if l.rep {
		l.reps = append(l.reps, rep)
	}
}

// put adds a value at a repetition level; def is the definition level of what surrounds it. It returns about how many
// bytes the value takes.
func (n *outNode) put(v any, rep, def int16) (int, error) {
	if v == nil {
		if n.field.Required {
			return 0, sqlerr.New(sqlerr.NotNullViolation, "NULL in \"%s\", which must not be NULL", n.field.Name)
		}
		n.none(rep, def)
		return 4, nil
	}
	if n.leaf != nil {
		n.leaf.level(rep, n.def)
		return n.leaf.put(n.field, v)
	}
	switch x := v.(type) {
	case map[string]any:
		if n.field.Type == "map" {
			return n.putMap(x, rep)
		}
		total := 0
		for _, part := range n.parts {
			size, err := part.put(x[part.field.Name], rep, n.def)
			if err != nil {
				return 0, err
			}
			total += size
		}
		return total, nil
	case []any:
		return putList(n, x, rep, n.element)
	case []int64:
		return putNumbers(n, x, rep)
	case []float32:
		return putNumbers(n, x, rep)
	case []float64:
		return putNumbers(n, x, rep)
	}
	return 0, unfit(n.field, v)
}

func unfit(f *Field, v any) error {
	what := fmt.Sprintf("a value of Go's type %T", v)
	switch v.(type) {
	case bool:
		what = "a truth value"
	case int64:
		what = "an integer"
	case float32, float64:
		what = "a float"
	case string:
		what = "a text"
	}
	return mismatch(what, f.Type)
}

// none adds the absence of a value to all leaves.
func (n *outNode) none(rep, def int16) {
	if n.leaf != nil {
		n.leaf.level(rep, def)
	}
	for _, part := range n.parts {
		part.none(rep, def)
	}
}

// element adds an element of a list, or an entry of a map as a pair.
func (n *outNode) element(v any, rep int16) (int, error) {
	if n.field.Type == "array" {
		return n.parts[0].put(v, rep, n.def+1)
	}
	pair, ok := v.([2]any)
	if !ok || n.field.Type != "map" {
		return 0, unfit(n.field, v)
	}
	a, err := n.parts[0].put(pair[0], rep, n.def+1)
	if err != nil {
		return 0, err
	}
	b, err := n.parts[1].put(pair[1], rep, n.def+1)
	return a + b, err
}

func (n *outNode) putMap(m map[string]any, rep int16) (int, error) {
	pairs := make([]any, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		pairs = append(pairs, [2]any{k, m[k]})
	}
	return putList(n, pairs, rep, n.element)
}

func putList[T any](n *outNode, list []T, rep int16, put func(T, int16) (int, error)) (total int, err error) {
	if n.field.Type != "array" && n.field.Type != "map" {
		return 0, unfit(n.field, list)
	}
	if len(list) == 0 {
		n.parts[0].none(rep, n.def)
		if len(n.parts) > 1 {
			n.parts[1].none(rep, n.def)
		}
		return 4, nil
	}
	for _, v := range list {
		size, err := put(v, rep)
		if err != nil {
			return 0, err
		}
		total, rep = total+size, n.rep
	}
	return total, nil
}

// putNumbers adds a list of numbers.
func putNumbers[T any](n *outNode, list []T, rep int16) (int, error) {
	if n.field.Type != "array" || len(list) == 0 {
		return putList(n, list, rep, nil)
	}
	l := n.parts[0].leaf
	if l == nil {
		return 0, unfit(n.parts[0].field, list[0])
	}
	l.reps = filled(append(l.reps, rep), n.rep, len(list)-1)
	return n.parts[0].putMany(list, len(list))
}

// put adds a value that is not NULL.
func (l *outLeaf) put(f *Field, v any) (int, error) {
	switch x := v.(type) {
	case int64:
		return 8, l.putInt(f, x)
	case float32:
		if f.Type == "float" {
			l.f32 = append(l.f32, x)
			return 4, nil
		}
	case float64:
		if f.Type == "double" {
			l.f64 = append(l.f64, x)
			return 8, nil
		}
	case string:
		if precision, scale, ok := f.Decimal(); ok {
			return 16, l.putDecimal(x, precision, scale)
		}
		if f.Type == "string" {
			if n := len(l.text); n > 0 && string(l.text[n-1]) == x { // often the same text is in row after row
				l.text = append(l.text, l.text[n-1])
			} else {
				l.text = append(l.text, l.copied([]byte(x)))
			}
			return 16 + len(x), nil
		}
	case []byte:
		if f.Type == "binary" {
			l.text = append(l.text, l.copied(x))
			return 16 + len(x), nil
		}
	}
	return 8, l.putOther(f, v)
}

func (l *outLeaf) putOther(f *Field, v any) error {
	switch x := v.(type) {
	case bool:
		if f.Type == "boolean" {
			l.bools = append(l.bools, x)
			return nil
		}
	case Day:
		if x != Day(int32(x)) {
			return outOfRange(int64(x), f.Type)
		}
		if f.Type == "date" {
			l.i32 = append(l.i32, int32(x))
			return nil
		}
	case Moment:
		if f.Type == "timestamp" || f.Type == "timestamp_ntz" {
			l.i64 = append(l.i64, int64(x))
			return nil
		}
	}
	return unfit(f, v)
}

// integerBits are the sizes of integers.
var integerBits = map[string]int{"byte": 8, "short": 16, "integer": 32, "long": 64}

func (l *outLeaf) putInt(f *Field, x int64) error {
	switch bits := integerBits[f.Type]; {
	case bits == 0:
		return unfit(f, x)
	case bits < 64 && (x >= 1<<(bits-1) || x < -1<<(bits-1)):
		return outOfRange(x, f.Type)
	case bits == 64:
		l.i64 = append(l.i64, x)
	default:
		l.i32 = append(l.i32, int32(x))
	}
	return nil
}

func (l *outLeaf) putDecimal(s string, precision, scale int) error {
	n, err := unscaled(s, precision, scale)
	if err != nil {
		return err
	}
	if precision > 18 {
		l.fixed = append(l.fixed, decimalBytes(n))
	} else {
		l.i64 = append(l.i64, n.Int64())
	}
	return nil
}

func (l *outLeaf) write(c file.ColumnChunkWriter) (err error) {
	def := l.def
	if l.max == 0 {
		def = nil
	}
	switch x := c.(type) {
	case *file.BooleanColumnChunkWriter:
		_, err = x.WriteBatch(l.bools, def, l.reps)
	case *file.Int32ColumnChunkWriter:
		_, err = x.WriteBatch(l.i32, def, l.reps)
	case *file.Int64ColumnChunkWriter:
		_, err = x.WriteBatch(l.i64, def, l.reps)
	case *file.Float32ColumnChunkWriter:
		_, err = x.WriteBatch(l.f32, def, l.reps)
	case *file.Float64ColumnChunkWriter:
		_, err = x.WriteBatch(l.f64, def, l.reps)
	case *file.ByteArrayColumnChunkWriter:
		err = l.writeTexts(x, def)
	case *file.FixedLenByteArrayColumnChunkWriter:
		_, err = x.WriteBatch(l.fixed, def, l.reps)
	default:
		err = fmt.Errorf("a column of type %s", c.Type())
	}
	return err
}

// writeTexts writes texts and binaries. A page ends between the batches that are written, so large values are written
// about a megabyte at a time: a reader has a whole page in memory.
func (l *outLeaf) writeTexts(w *file.ByteArrayColumnChunkWriter, def []int16) (err error) {
	const most = 1 << 20
	from, bytes := 0, 0
	if len(l.reps) == 0 && len(l.text) == len(l.def) { // a value in each row
		for i, v := range l.text {
			if bytes += len(v); bytes < most || i+1 == len(l.text) {
				continue
			}
			if def != nil {
				_, err = w.WriteBatch(l.text[from:i+1], def[from:i+1], nil)
			} else {
				_, err = w.WriteBatch(l.text[from:i+1], nil, nil)
			}
			if from, bytes = i+1, 0; err != nil {
				return err
			}
		}
	}
	if def != nil {
		def = def[from:]
	}
	_, err = w.WriteBatch(l.text[from:], def, l.reps)
	return err
}

// WriteColumns adds n rows: of each column n numbers, as []int64, []float32 or []float64, or a ColumnOf.
// It does what Write does for each row.
func (p *ParquetWriter) WriteColumns(n int, columns []any) (err error) {
	if p.err != nil {
		return p.err
	}
	defer func() { p.err = err }()
	defer p.guard(&err)
	for from := 0; from < n; {
		some := min(n-from, p.o.Rows-p.rows, 1<<12)
		for i, node := range p.root {
			size, err := node.takeMany(CutColumn(columns[i], from, from+some), some, p.rows)
			if err != nil {
				return within(err, "column \""+node.field.Name+"\": ")
			}
			p.bytes += size
		}
		from += some
		if p.rows += some; p.rows >= p.o.Rows || p.bytes >= p.o.Bytes {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// CutColumn is the part of a column of WriteColumns from one row to another.
func CutColumn(column any, from, to int) any {
	switch x := column.(type) {
	case []int64:
		return x[from:to]
	case []float32:
		return x[from:to]
	case []float64:
		return x[from:to]
	}
	return column
}

// ColumnOf is a column of WriteColumns whose rows all have a value.
type ColumnOf struct{ Value any }

// takeMany adds rows to a column that has had some of the group.
func (n *outNode) takeMany(column any, rows, before int) (size int, err error) {
	if c, ok := column.(ColumnOf); ok && rows > 0 {
		if size, err = n.take(c.Value, before); err == nil && rows > 1 && n.same.rows > 0 {
			n.same.rows += rows - 1
		} else if err == nil && rows > 1 {
			_, err = n.putSame(c.Value, rows-1)
		}
		return size * rows, err
	}
	if err := n.spread(0); err != nil {
		return 0, err
	}
	return n.putMany(column, rows)
}

// putMany adds n rows.
func (n *outNode) putMany(column any, rows int) (int, error) {
	switch x := column.(type) {
	case ColumnOf:
		return n.putSame(x.Value, rows)
	case []float32:
		if n.leaf != nil && n.field.Type == "float" {
			n.leaf.def = filled(n.leaf.def, n.def, rows)
			n.leaf.f32 = append(n.leaf.f32, x...)
			return 4 * rows, nil
		}
	case []float64:
		if n.leaf != nil && n.field.Type == "double" {
			n.leaf.def = filled(n.leaf.def, n.def, rows)
			n.leaf.f64 = append(n.leaf.f64, x...)
			return 8 * rows, nil
		}
	case []int64:
		if n.leaf != nil && n.field.Type == "long" {
			n.leaf.def = filled(n.leaf.def, n.def, rows)
			n.leaf.i64 = append(n.leaf.i64, x...)
			return 8 * rows, nil
		}
		if n.leaf != nil && integerBits[n.field.Type] > 0 {
			n.leaf.def = filled(n.leaf.def, n.def, rows)
			for _, v := range x {
				if err := n.leaf.putInt(n.field, v); err != nil {
					return 0, err
				}
			}
			return 8 * rows, nil
		}
	}
	return 0, unfit(n.field, numberOf(column))
}

// numberOf is one of the numbers of a column.
func numberOf(column any) any {
	switch x := column.(type) {
	case []int64:
		return x[0]
	case []float32:
		return x[0]
	case []float64:
		return x[0]
	}
	return column
}

// filled is a list with n times a level more.
func filled(list []int16, level int16, n int) []int16 {
	from := len(list)
	list = slices.Grow(list, n)[:from+n]
	for i := range list[from:] {
		list[from+i] = level
	}
	return list
}

// putSame adds a value once, and then what that has added to its leaves again and again.
func (n *outNode) putSame(v any, rows int) (int, error) {
	leaves := n.below(nil)
	before := make([]outLeaf, len(leaves))
	for i, l := range leaves {
		before[i] = *l
	}
	size, err := n.put(v, 0, 0)
	for i, l := range leaves {
		b := &before[i]
		l.def, l.reps = again(l.def, b.def, rows), again(l.reps, b.reps, rows)
		l.bools, l.i32, l.i64 = again(l.bools, b.bools, rows), again(l.i32, b.i32, rows), again(l.i64, b.i64, rows)
		l.f32, l.f64 = again(l.f32, b.f32, rows), again(l.f64, b.f64, rows)
		l.text, l.fixed = again(l.text, b.text, rows), again(l.fixed, b.fixed, rows)
	}
	return size * rows, err
}

// below are the leaves of a node.
func (n *outNode) below(out []*outLeaf) []*outLeaf {
	if n.leaf != nil {
		out = append(out, n.leaf)
	}
	for _, part := range n.parts {
		out = part.below(out)
	}
	return out
}

// again repeats what a list has got since before, so that it is there n times.
func again[T any](list, before []T, n int) []T {
	one := slices.Clone(list[len(before):])
	if len(one) == 0 {
		return list
	}
	for range n - 1 {
		list = append(list, one...)
	}
	return list
}
