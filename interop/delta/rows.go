package delta

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
)

// Rows reads columns, by name, as values of the given Postgres types, of the rows that are within all bounds.
func (s *Snapshot) Rows(want []interop.Column, where []Bound) (interop.Rows, error) {
	in, err := s.Scan(lists.Map(want, func(c interop.Column) string { return c.Name }), where)
	if err != nil {
		return nil, err
	}
	return s.converted(in, want), nil
}

// converted gives rows of a scan as values of Postgres types.
func (s *Snapshot) converted(in interop.Rows, want []interop.Column) *converted {
	out := &converted{in: in, want: want}
	for _, c := range want {
		out.fields = append(out.fields, &s.columns[s.column(c.Name)].Field)
	}
	return out
}

// converted are rows as values of Postgres types.
type converted struct {
	in     interop.Rows
	want   []interop.Column
	fields []*interop.Field
}

// Next implements interop.Rows.
func (c *converted) Next(dst []any) (err error) {
	defer guard(&err)
	if err := c.in.Next(dst); err != nil {
		return err
	}
	for i, v := range dst {
		if dst[i], err = c.fields[i].Convert(v, c.want[i].Type); err != nil {
			return within(err, "column \"%s\": ", c.want[i].Name)
		}
	}
	return nil
}

// Scan reads columns, by name, in the forms of interop.Field, of the rows that are within all bounds. Files and row
// groups in which there is no such row are not read, where statistics tell.
func (s *Snapshot) Scan(want []string, where []Bound) (r *Scan, err error) {
	defer guard(&err)
	spans, err := s.spans(where)
	if err != nil {
		return nil, err
	}
	r = &Scan{s: s, files: s.files, spans: spans, wide: len(want)}
	names := slices.Clone(want)
	for _, b := range where {
		i := slices.Index(names, b.Column)
		if i < 0 {
			i, names = len(names), append(names, b.Column)
		}
		r.at = append(r.at, i)
	}
	for _, name := range names {
		c := s.column(name)
		if c < 0 {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "the table has no column \"%s\"", name)
		}
		if f := s.columns[c]; f.Refused != "" {
			return nil, unsupported("column \"%s\" holds %s, which are not readable", name, f.Refused)
		}
		r.columns = append(r.columns, c)
	}
	r.row = make([]any, len(r.columns))
	return r, nil
}

// Opened counts the files and row groups that have been opened, for whoever wants to know what was skipped.
type Opened struct{ Files, Groups int }

// Scan are rows of a table, file by file.
type Scan struct {
	Opened
	s       *Snapshot
	files   []*File
	spans   []span
	wide    int   // columns that the caller wants; the others are further ones that have bounds
	at      []int // by span: its column in a row
	columns []int // of the table
	rows    interop.Rows
	name    string
	row     []any
	given   []any // values of the current file, by column of r.columns: partition columns
	from    []int // where the file's columns go
	file    []any
	widen   []bool
	sure    []bool // by span: all rows of the file are within it
	share   *share // of the rows that is read; nil: all
	many    bool   // the file may be read by columns
	some    []any
	sieve   sieve
	err     error // of a file that could not be opened
}

// Next implements interop.Rows.
func (r *Scan) Next(dst []any) (err error) {
	defer guard(&err)
	for {
		if r.rows == nil && r.err == nil && len(r.files) == 0 {
			return io.EOF
		}
		if r.rows == nil && r.err == nil {
			r.err = r.next()
			continue
		}
		if r.err != nil {
			return r.err
		}
		if err := r.sift(); err != nil {
			return err
		}
		if err := r.rows.Next(r.file); err == io.EOF {
			r.rows = nil
			continue
		} else if err != nil {
			return err
		}
		copy(r.row, r.given)
		for i, to := range r.from {
			r.row[to] = r.file[i]
			if x, ok := r.file[i].(float32); ok && r.widen[i] {
				r.row[to] = float64(x)
			}
		}
		if r.within() {
			copy(dst, r.row[:r.wide])
			return nil
		}
	}
}

// next opens the next file.
func (r *Scan) next() (err error) {
	defer guard(&err)
	f := r.files[0]
	r.files = r.files[1:]
	if p := r.share; p != nil {
		p.begin, p.begins = p.begins[0], p.begins[1:]
	}
	if err := r.open(f); err != nil {
		return within(err, "file \"%s\" of version %d: ", f.name, r.s.Version)
	}
	return nil
}

// within reports whether the row is within the bounds.
func (r *Scan) within() bool {
	for i := range r.spans {
		if !r.sure[i] && !r.spans[i].holds(r.row[r.at[i]]) {
			return false
		}
	}
	return true
}

// opening is a file with what its footer says.
type opening struct {
	*interop.Parquet
	file   *File
	groups []interop.Group
}

// open opens a file. The last one is kept: a scan often reads the one that the scan before it has read.
func (s *Snapshot) open(f *File) (*opening, error) {
	if last := s.last.Load(); last != nil && last.file == f {
		return last, nil
	}
	p, err := interop.OpenParquet(&opened{s.store, f.name, f.Size}, f.Size, f.name)
	if err != nil {
		return nil, err
	}
	out := &opening{p, f, p.Groups()}
	s.last.Store(out)
	return out, nil
}

// open opens a file, unless none of its rows is wanted.
func (r *Scan) open(f *File) error {
	skip, err := r.s.skips(f, r.spans)
	if err != nil || skip {
		return err
	}
	p, err := r.s.open(f)
	if err != nil {
		return err
	}
	have := p.Fields()
	r.given, r.from, r.widen = make([]any, len(r.columns)), nil, nil
	if err := r.ensure(f); err != nil {
		return err
	}
	var names []string
	for i, c := range r.columns {
		if i >= r.wide && !r.asked(i) {
			continue
		}
		col := &r.s.columns[c].Field
		if contains(r.s.meta.PartitionColumns, col.Name) {
			if r.given[i], err = value(col, f.PartitionValues[col.Name]); err != nil {
				return err
			}
			continue
		}
		k := slices.IndexFunc(have, func(x interop.Field) bool { return x.Name == col.Name })
		if k < 0 { // the column was added to the table later
			if err := r.mayLack(f, col); err != nil {
				return err
			}
			continue
		}
		if err := fits(col, &have[k]); err != nil {
			return within(err, "column \"%s\": ", col.Name)
		}
		names, r.from = append(names, col.Name), append(r.from, i)
		r.widen = append(r.widen, col.Type == "double" && have[k].Type == "float")
	}
	groups, err := r.groups(p.groups, f)
	if err != nil {
		return err
	}
	if groups = r.only(groups, p.groups); len(groups) == 0 {
		return nil
	}
	if r.Groups += len(groups); r.share == nil || r.share.begin >= r.share.from {
		r.Files++
	}
	r.file, r.some = make([]any, len(names)), make([]any, len(names))
	r.rows, err = p.Read(groups, names)
	r.many = r.byColumns()
	r.sieve = sieve{on: r.siftable()}
	return err
}

// mayLack refuses a file without a column of which it must have values.
func (r *Scan) mayLack(f *File, col *interop.Field) error {
	if col.Required {
		return corrupt("it lacks the column \"%s\", which must not be NULL", col.Name)
	}
	st := f.stats()
	if nulls := st.of(col).nulls; nulls >= 0 && nulls < st.rows() {
		return corrupt("it lacks the column \"%s\", which the log says is not NULL in %d rows", col.Name, st.rows()-nulls)
	}
	return nil
}

// groups are the row groups in which there may be rows within the bounds.
func (r *Scan) groups(all []interop.Group, f *File) (out []int, err error) {
	total, log := int64(0), f.stats()
	known := make([]rangeOf, len(r.spans)) // of all rows
	for k := range r.spans {
		known[k] = log.of(&r.s.columns[r.spans[k].column].Field)
	}
	for i, g := range all {
		total += g.Rows
		none := g.Rows == 0
		for k := range r.spans {
			b := &r.spans[k]
			if st, ok := g.Stats[b.Column]; ok && !contains(r.s.meta.PartitionColumns, b.Column) {
				of := rangeOf{ordered(b, st.Min), ordered(b, st.Max), st.Nulls}
				if err := cmp.Or(of.check(b.Column, g.Rows), of.within(known[k], b.Column)); err != nil {
					return nil, err
				}
				none = none || b.none(of, g.Rows)
			}
		}
		if !none {
			out = append(out, i)
		}
	}
	if n := log.rows(); n >= 0 && n != total {
		return nil, corrupt("it has %d rows, the log says %d", total, n)
	}
	return out, nil
}

// ordered leaves out a value of a row group that cannot be compared with the bound.
func ordered(b *span, v any) any {
	for _, x := range []any{b.Min, b.Max} {
		if x == nil || v == nil {
			continue
		}
		_, f1 := v.(float32)
		_, f2 := v.(float64)
		if b.floats() != (f1 || f2) || !b.floats() && fmt.Sprintf("%T", x) != fmt.Sprintf("%T", v) {
			return nil
		}
	}
	return v
}

// skips reports whether no row of a file is within the bounds, by its partition and its statistics.
func (s *Snapshot) skips(f *File, spans []span) (bool, error) {
	st := f.stats()
	for i := range spans {
		r, err := s.rangeIn(f, &st, spans[i].column)
		if err != nil {
			return false, err
		}
		rows := st.rows()
		if rows < 0 {
			rows = -2 // unknown, as the number of NULLs may be
		}
		if spans[i].none(r, rows) {
			return true, nil
		}
	}
	return false, nil
}

// rangeIn is what is known of a column in a file.
func (s *Snapshot) rangeIn(f *File, st *fileStats, column int) (rangeOf, error) {
	col := &s.columns[column].Field
	if !contains(s.meta.PartitionColumns, col.Name) {
		r := st.of(col)
		return r, r.check(col.Name, st.rows())
	}
	v, err := value(col, f.PartitionValues[col.Name])
	if v == nil {
		return rangeOf{nulls: max(st.rows(), 0)}, err
	}
	return rangeOf{v, v, 0}, err
}

// fits checks that a column of a file can be read as one of the table.
func fits(table, file *interop.Field) error {
	if file.Refused != "" {
		return unsupported("it holds %s", file.Refused)
	}
	integer := func(t string) int { return slices.Index([]string{"", "byte", "short", "integer", "long"}, t) }
	a, b := table.Type, file.Type
	moments := []string{"timestamp", "timestamp_ntz"}
	switch {
	case integer(a) > 0 && integer(b) > 0 && integer(b) <= integer(a):
		return nil
	case a == "double" && b == "float" || slices.Contains(moments, a) && slices.Contains(moments, b):
		return nil
	case a != b:
		return corrupt("it is of type %s, in the table %s", b, a)
	case a == "struct":
		for i := range table.Parts {
			p := &table.Parts[i]
			k := slices.IndexFunc(file.Parts, func(x interop.Field) bool { return x.Name == p.Name })
			if k >= 0 {
				if err := fits(p, &file.Parts[k]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for i := range table.Parts {
		if i >= len(file.Parts) {
			return corrupt("it is of type %s with %d parts, in the table with %d", b, len(file.Parts), len(table.Parts))
		}
		if err := fits(&table.Parts[i], &file.Parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// spans finds the columns of bounds and checks their types.
func (s *Snapshot) spans(where []Bound) ([]span, error) {
	out := make([]span, len(where))
	for i, b := range where {
		c := s.column(b.Column)
		if c < 0 {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "the table has no column \"%s\"", b.Column)
		}
		f := s.columns[c].Field
		for _, v := range []*any{&b.Min, &b.Max} {
			x, err := f.Accept(*v)
			if n, ok := x.(int64); ok && (f.Type == "float" || f.Type == "double") {
				x = float64(n)
			}
			if err != nil {
				return nil, within(err, "column \"%s\": ", b.Column)
			}
			if *v = x; x != nil && !comparable(&f, x) {
				return nil, sqlerr.New(sqlerr.DatatypeMismatch, "column \"%s\" of type %s has no bound %v", b.Column, f.Type,
					x)
			}
		}
		out[i] = span{b, c}
	}
	return out, nil
}

// rowsOf reads the rows of one file.
func (s *Snapshot) rowsOf(f *File, want []string, where []Bound) (*Scan, error) {
	r, err := s.Scan(want, where)
	if err == nil {
		r.files = []*File{f}
	}
	return r, err
}
