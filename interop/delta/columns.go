package delta

import (
	"math"
	"slices"

	"github.com/relgrad/relgrad/interop"
)

// Columns sets columns to the next rows, of each as []int64, []float32 or []float64, which are good until the next
// call, and returns their number. It is 0 where the next row must be read by Next: where one of its values is NULL or
// not a number, behind the last row, and before an error.
func (r *Scan) Columns(columns []any) int {
	r.sieve.rows = 0 // the rows that it has only looked at
	for {
		for r.rows == nil && r.err == nil && len(r.files) > 0 {
			r.err = r.next()
		}
		in, ok := r.rows.(interop.ColumnRows)
		if !ok || !r.many || r.err != nil {
			return 0
		}
		rows := in.Columns(r.some)
		if rows == 0 && in.Done() {
			r.rows = nil
			continue
		}
		if rows == 0 {
			return 0
		}
		if keep := r.keep(rows); keep == nil || len(keep) > 0 {
			for k, to := range r.from {
				if to < r.wide {
					columns[to] = pick(r.some[k], keep)
				}
			}
			if keep != nil {
				rows = len(keep)
			}
			return rows
		}
	}
}

// Most is how many rows the files have, by the log, in which there may be rows within the bounds, and their bytes; of
// a part, but for the rest of a row group.
func (r *Scan) Most() (rows, bytes int64) {
	for i, f := range r.files {
		if skip, err := r.s.skips(f, r.spans); err == nil && !skip {
			st := f.stats()
			n := max(st.rows(), 0)
			if p := r.share; p != nil {
				n = min(p.begins[i]+n, p.to) - max(p.begins[i], p.from)
			}
			rows, bytes = rows+n, bytes+f.Size
		}
	}
	return rows, bytes
}

// keep lists the rows of the columns that are within all bounds; nil stands for all.
func (r *Scan) keep(rows int) []int {
	out, all := make([]int, 0, rows), true
	for i := range r.spans {
		if r.sure[i] {
			continue
		}
		low, high := int64(math.MinInt64), int64(math.MaxInt64)
		if v, ok := r.spans[i].Min.(int64); ok {
			low = v
		}
		if v, ok := r.spans[i].Max.(int64); ok {
			high = v
		}
		column := r.some[slices.Index(r.from, r.at[i])].([]int64)
		if all {
			all = false
			for k, v := range column {
				if v >= low && v <= high {
					out = append(out, k)
				}
			}
			continue
		}
		out = slices.DeleteFunc(out, func(k int) bool { return column[k] < low || column[k] > high })
	}
	if all {
		return nil
	}
	return out
}

// pick takes some rows of a column; all where keep is nil.
func pick(column any, keep []int) any {
	if keep == nil {
		return column
	}
	switch x := column.(type) {
	case []int64:
		return picked(x, keep)
	case []float32:
		return picked(x, keep)
	}
	return picked(column.([]float64), keep)
}

func picked[T any](in []T, keep []int) []T {
	out := make([]T, len(keep))
	for i, k := range keep {
		out[i] = in[k]
	}
	return out
}

// ensure finds the bounds within which all rows of a file are.
func (r *Scan) ensure(f *File) error {
	st := f.stats()
	r.sure = make([]bool, len(r.spans))
	for i := range r.spans {
		of, err := r.s.rangeIn(f, &st, r.spans[i].column)
		if err != nil {
			return err
		}
		r.sure[i] = r.spans[i].every(of)
	}
	return nil
}

// asked reports whether a bound needs a column of the row.
func (r *Scan) asked(column int) bool {
	for i, at := range r.at {
		if at == column && !r.sure[i] {
			return true
		}
	}
	return false
}

// byColumns reports whether all columns that are wanted come from the file as they are, and all bounds that must be
// looked at are of integers in it.
func (r *Scan) byColumns() bool {
	for i := range r.wide {
		if k := slices.Index(r.from, i); k < 0 || r.widen[k] {
			return false
		}
	}
	return r.integers()
}

// integers reports whether all bounds that must be looked at are of integers in the file.
func (r *Scan) integers() bool {
	for i := range r.spans {
		column := &r.s.columns[r.spans[i].column].Field
		if !r.sure[i] && (!slices.Contains(r.from, r.at[i]) ||
			!slices.Contains([]string{"byte", "short", "integer", "long"}, column.Type)) {
			return false
		}
	}
	return true
}

// sieve lists the next rows of a file that are within the bounds, where these are of integers: of other rows nothing
// but these integers is taken.
type sieve struct {
	on   bool
	rows int   // that were looked at, and not taken or left out
	at   int   // the number of the next one
	keep []int // the numbers of those within the bounds that are not taken
}

// siftable reports whether there are bounds to look at, all of them of integers.
func (r *Scan) siftable() bool {
	_, ok := r.rows.(interop.ColumnRows)
	return ok && slices.Contains(r.sure, false) && r.integers()
}

// sift leaves out rows up to the next one within the bounds, as far as it has looked.
func (r *Scan) sift() error {
	s := &r.sieve
	in, ok := r.rows.(interop.ColumnRows)
	for ok && s.on {
		if s.rows == 0 {
			clear(r.some)
			for i := range r.spans {
				if !r.sure[i] {
					r.some[slices.Index(r.from, r.at[i])] = true
				}
			}
			if s.rows = in.Ahead(r.some); s.rows == 0 {
				return nil // Next looks at this row
			}
			s.at, s.keep = 0, r.keep(s.rows)
		}
		skip := s.rows
		if len(s.keep) > 0 {
			skip = s.keep[0] - s.at
		}
		if skip > 0 {
			if err := in.Skip(skip); err != nil {
				return err
			}
			s.at, s.rows = s.at+skip, s.rows-skip
		}
		if s.rows > 0 {
			s.at, s.rows, s.keep = s.at+1, s.rows-1, s.keep[1:]
			return nil
		}
	}
	return nil
}
