package interop

import (
	"slices"

	"github.com/apache/arrow/go/v17/parquet/schema"
)

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
			size, err := node.putMany(CutColumn(columns[i], from, from+some), some)
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

// putMany adds n rows.
func (n *outNode) putMany(column any, rows int) (int, error) {
	switch x := column.(type) {
	case ColumnOf:
		return n.putSame(x.Value, rows)
	case []float32:
		if n.leaf != nil && n.field.Type == "float" {
			n.leaf.levels(n.def, rows)
			n.leaf.f32 = append(n.leaf.f32, x...)
			return 4 * rows, nil
		}
	case []float64:
		if n.leaf != nil && n.field.Type == "double" {
			n.leaf.levels(n.def, rows)
			n.leaf.f64 = append(n.leaf.f64, x...)
			return 8 * rows, nil
		}
	case []int64:
		if n.leaf != nil && n.field.Type == "long" {
			n.leaf.levels(n.def, rows)
			n.leaf.i64 = append(n.leaf.i64, x...)
			return 8 * rows, nil
		}
		if n.leaf != nil && integerBits[n.field.Type] > 0 {
			n.leaf.levels(n.def, rows)
			for _, v := range x {
				if err := n.leaf.putInt(n.field, v); err != nil {
					return 0, err
				}
			}
			return 8 * rows, nil
		}
	}
	return 0, unfit(n.field, column)
}

func (l *outLeaf) levels(def int16, rows int) {
	for range rows {
		l.def = append(l.def, def)
	}
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

// ColumnRows are rows that may also be read by columns.
type ColumnRows interface {
	Rows
	// Columns sets columns to the next rows, of each as []int64, []float32 or []float64, which are good until the next
	// call, and returns their number. It is 0 where the next row must be read by Next: where one of its values is NULL or
	// not a number, behind the last row of a part, and before an error.
	Columns(columns []any) int
}

var _ ColumnRows = (*nestedRows)(nil)

// Columns implements ColumnRows.
func (r *nestedRows) Columns(columns []any) (rows int) {
	rows = int(min(r.left, levelsRead))
	for _, n := range r.cols {
		if rows = min(rows, n.plain()); rows == 0 {
			return 0
		}
	}
	if len(r.cols) == 0 {
		return 0
	}
	for i, n := range r.cols {
		l := n.leaf
		columns[i] = l.many(l.used, l.used+rows)
		l.at, l.used = l.at+rows, l.used+rows
	}
	r.left -= int64(rows)
	return rows
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
