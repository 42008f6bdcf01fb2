package layouts

import (
	"math"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
)

// matrixNames are the columns of csr or csc: those of the compressed dimension, called major here, and the other.
type matrixNames struct{ first, last, pointers, indices string }

// compressed is csr or csc (section IV.D): the tensor as a matrix, whose rows are its first row_dims dimensions and
// whose columns are the others. A row of the table has some rows of the matrix (csr), or columns (csc), from
// first_row to last_row: where the elements of each begin among those of this row of the table, and the indices and
// values of these.
func compressed(byColumn bool) *layout {
	n := matrixNames{"first_row", "last_row", "crow_indices", "col_indices"}
	if byColumn {
		n = matrixNames{"first_col", "last_col", "ccol_indices", "row_indices"}
	}
	return &layout{
		fields: func(_ int, value string) []interop.Field {
			return []interop.Field{list("flattened_shape", "long"), field("row_dims", "integer"), field(n.first, "long"),
				field(n.last, "long"), list(n.pointers, "long"), list(n.indices, "long"), list("value", value)}
		},
		write: func(w *writing) error { return n.write(w, byColumn) },
		read:  func(r *reading) error { return n.read(r, byColumn) },
	}
}

// matrix is a tensor as a matrix.
type matrix struct {
	shape  []int64
	split  int // the number of dimensions that are rows
	flat   [2]int64
	column bool // columns are compressed
}

// newMatrix flattens a shape. Where rows are 0, it chooses so many dimensions that the numbers of rows and columns do
// not exceed int64.
func newMatrix(shape []int64, rows int, column bool) (*matrix, error) {
	m := &matrix{shape: shape, split: rows, column: column}
	if rows < 0 || rows > len(shape) {
		return nil, sqlerr.New(sqlerr.InvalidParameter, "%d dimensions of a tensor of shape %s as rows", rows, text(shape))
	}
	from, to := rows, rows
	if rows == 0 {
		from, to = 1, len(shape)
		if column && len(shape) > 1 {
			from, to = len(shape)-1, len(shape)-1
		}
	}
	for m.split = from; m.split <= to; m.split++ {
		a, ok1 := size(shape[:m.split])
		b, ok2 := size(shape[m.split:])
		if m.flat = [2]int64{a, b}; ok1 && ok2 {
			return m, nil
		}
	}
	return nil, sqlerr.New(sqlerr.NumericOutOfRange, "a matrix of shape %s has more rows or columns than int64",
		text(shape)).
		WithHint("Use coo, csf or bsgs, which do not flatten it.")
}

// place is the index of an element in the compressed dimension, and in the other.
func (m *matrix) place(coords [][]int64, i int) (major, minor int64) {
	for d, c := range coords {
		if d < m.split {
			major = major*m.shape[d] + c[i]
		} else {
			minor = minor*m.shape[d] + c[i]
		}
	}
	if m.column {
		return minor, major
	}
	return major, minor
}

// walk moves an index within the dimensions that are rows, or those that are columns, by a number of rows or columns.
func (m *matrix) walk(index []int64, rows bool, by int64) {
	from, to := m.split, len(m.shape)
	if rows {
		from, to = 0, m.split
	}
	for d := to - 1; d >= from && by != 0; d-- {
		x := index[d] + by
		if by = 0; x >= m.shape[d] {
			x, by = x%m.shape[d], x/m.shape[d]
		}
		index[d] = x
	}
}

// majors is the size of the compressed dimension, minors that of the other.
func (m *matrix) sizes() (majors, minors int64) {
	if m.column {
		return m.flat[1], m.flat[0]
	}
	return m.flat[0], m.flat[1]
}

// mostRows is the largest number of rows without an element that lie between two others in one row of the table.
const mostRows = 1 << 16

func (n matrixNames) write(w *writing, column bool) error {
	m, err := newMatrix(w.t.Shape, w.o.Rows, column)
	if err != nil {
		return err
	}
	total := len(w.e.bits)
	places := [][]int64{make([]int64, total), make([]int64, total)}
	for i := range total {
		places[0][i], places[1][i] = m.place(w.e.coords, i)
	}
	majors, _ := m.sizes()
	var perm []int32
	if column { // the elements are in the order of rows, which stays among those of one column
		perm = sortBy(places[:1], []int64{majors}, total)
	}
	at := func(k int) int {
		if perm != nil {
			return int(perm[k])
		}
		return k
	}
	put := func(first, last int64, pointers, indices []int64, bits []uint64) error {
		return w.row(m.flat[:], int64(m.split), first, last, pointers, indices, array(w.e.dtype, bits))
	}
	if total == 0 {
		return w.row(m.flat[:], int64(m.split), nil, nil, []int64{}, []int64{}, array(w.e.dtype, nil))
	}
	most := w.chunk()
	for k := 0; k < total; {
		first := places[0][at(k)]
		last, pointers, indices, bits := first, []int64{0}, []int64{}, []uint64{}
		for ; k < total; k++ {
			major := places[0][at(k)]
			if major > last && (len(bits) >= most || major-last > mostRows) {
				break
			}
			for ; last < major; last++ {
				pointers = append(pointers, int64(len(bits)))
			}
			indices, bits = append(indices, places[1][at(k)]), append(bits, w.e.bits[at(k)])
		}
		if err := put(first, last, append(pointers, int64(len(bits))), indices, bits); err != nil {
			return err
		}
	}
	return nil
}

// split finds how the tensor became a matrix.
func (n matrixNames) split(r *reading, column bool) (*matrix, error) {
	rows, ok := r.head["row_dims"].(int64)
	flat := integers(r.head["flattened_shape"])
	if !ok { // the first product of dimensions that is the number of rows; further ones have dimensions of 1
		rows = -1
		for k := len(r.shape); k >= 0; k-- {
			if a, ok := size(r.shape[:k]); ok && len(flat) == 2 && a == flat[0] {
				rows = int64(k)
			}
		}
	}
	if rows < 0 || rows > int64(len(r.shape)) {
		return nil, corrupt("a matrix of shape %s of a tensor of shape %s", text(flat), text(r.shape))
	}
	m := &matrix{shape: r.shape, split: int(rows), column: column}
	a, ok1 := size(r.shape[:rows])
	b, ok2 := size(r.shape[rows:])
	if m.flat = [2]int64{a, b}; !ok1 || !ok2 || len(flat) != 2 || flat[0] != a || flat[1] != b {
		return nil, corrupt("a matrix of shape %s of a tensor of shape %s, of which %d dimensions are rows", text(flat),
			text(r.shape), rows)
	}
	return m, nil
}

func (n matrixNames) read(r *reading, column bool) error {
	if r.b.empty() {
		return nil
	}
	m, err := n.split(r, column)
	if err != nil {
		return err
	}
	low, high := m.bounds(r.b, !column)
	where := []delta.Bound{{Column: n.first, Max: high}, {Column: n.last, Min: low}}
	whole := !r.has(n.first)
	if whole {
		where = nil
	}
	return r.rows([]string{n.first, n.last, n.pointers, n.indices, "value"}, where, func(v []any) error {
		majors, _ := m.sizes()
		first, last := int64(0), majors-1
		if whole && r.seen.Add(1) > 1 {
			return corrupt("rows that do not say which part of the tensor they have")
		}
		if !whole {
			first, _ = v[0].(int64)
			last, _ = v[1].(int64)
		}
		return m.take(r, first, last, integers(v[2]), integers(v[3]), v[4])
	})
}

// bounds are the smallest and largest row of the matrix that a box can have, or column.
func (m *matrix) bounds(b *box, rows bool) (low, high int64) {
	for d := range m.shape {
		if (d < m.split) == rows {
			low, high = low*m.shape[d]+b.from[d], high*m.shape[d]+b.to[d]-1
		}
	}
	return low, high
}

// take takes the elements of a row of the table.
func (m *matrix) take(r *reading, first, last int64, pointers, indices []int64, value any) error {
	bits, err := allBits(r.dtype, value)
	if err != nil {
		return err
	}
	r.reserve(len(bits))
	majors, minors := m.sizes()
	if first < 0 || last >= majors || int64(len(pointers)) != last-first+2 || len(indices) != len(bits) ||
		pointers[0] != 0 || pointers[len(pointers)-1] != int64(len(bits)) {
		return corrupt("%d rows from %d to %d of %d, with %d indices and %d elements", len(pointers)-1, first, last, majors,
			len(indices), len(bits))
	}
	if err := ascending(pointers); err != nil {
		return err
	}
	if r.whole(bits) && below(indices, minors) {
		m.takeAll(r.out, first, pointers, indices, bits)
		return nil
	}
	index, major := make([]int64, len(m.shape)), int64(0)
	low, high := m.bounds(r.b, m.column)
	least, most := m.bounds(r.b, !m.column)
	for p := range pointers[1:] {
		from, to, now := pointers[p], pointers[p+1], first+int64(p)
		if from == to || now < least || now > most {
			continue
		}
		m.walk(index, !m.column, now-major)
		major = now
		m.clear(index, m.column)
		minor := int64(0)
		for k := from; k < to; k++ {
			next := indices[k]
			if next < 0 || next >= minors {
				return corrupt("index %d of %d columns", next, minors)
			}
			if next < low || next > high {
				continue
			}
			if next < minor {
				m.clear(index, m.column)
				minor = 0
			}
			m.walk(index, m.column, next-minor)
			minor = next
			r.b.take(r.out, index, bits[k])
		}
	}
	return nil
}

// takeAll takes all elements of a row of the table, one dimension after the other.
func (m *matrix) takeAll(e *elements, first int64, pointers, indices []int64, bits []uint64) {
	e.bits = append(e.bits, bits...)
	from, to := m.split, len(m.shape) // the dimensions of the indices, and after them those of the pointers
	if m.column {
		from, to = 0, m.split
	}
	rest := slices.Clone(indices)
	for d := to - 1; d >= from; d-- {
		if d > from {
			e.coords[d] = appendDigit(e.coords[d], rest, m.shape[d])
		} else {
			e.coords[d] = append(e.coords[d], rest...)
		}
	}
	if from, to = 0, m.split; m.column {
		from, to = m.split, len(m.shape)
	}
	majors := make([]int64, len(pointers)-1)
	for p := range majors {
		majors[p] = first + int64(p)
	}
	for d := to - 1; d >= from; d-- {
		digits := majors
		if d > from {
			digits = appendDigit(nil, majors, m.shape[d])
		}
		e.coords[d] = appendRuns(e.coords[d], digits, pointers)
	}
}

// appendDigit appends the last digits of numbers to a base, and divides the numbers by it.
func appendDigit(to, numbers []int64, base int64) []int64 {
	from := len(to)
	to = append(to, numbers...)
	for i, x := range to[from:] {
		if base <= math.MaxUint32 && x <= math.MaxUint32 { // a shorter division
			q := uint32(x) / uint32(base)
			numbers[i], to[from+i] = int64(q), int64(uint32(x)-q*uint32(base))
			continue
		}
		q := x / base
		numbers[i], to[from+i] = q, x-q*base
	}
	return to
}

// appendRuns appends number k once for each element from pointer k to the next.
func appendRuns(to, numbers, pointers []int64) []int64 {
	from := len(to)
	to = slices.Grow(to, int(pointers[len(pointers)-1]))[:from+int(pointers[len(pointers)-1])]
	for k, x := range numbers {
		run := to[from+int(pointers[k]) : from+int(pointers[k+1])]
		for i := range run {
			run[i] = x
		}
	}
	return to
}

// ascending checks that no element is before the one that it follows.
func ascending(pointers []int64) error {
	for k := range pointers[1:] {
		if pointers[k] > pointers[k+1] {
			return corrupt("pointers from %d to %d", pointers[k], pointers[k+1])
		}
	}
	return nil
}

// below reports whether all indices are from 0 to below n.
func below(indices []int64, n int64) bool {
	for _, i := range indices {
		if uint64(i) >= uint64(n) {
			return false
		}
	}
	return true
}

// clear goes to the first row, or the first column.
func (m *matrix) clear(index []int64, rows bool) {
	if rows {
		clear(index[:m.split])
	} else {
		clear(index[m.split:])
	}
}
