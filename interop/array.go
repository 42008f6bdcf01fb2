package interop

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// member is a named array of a file. Each call of open reads its elements from the start.
type member struct {
	name    string
	elem    elem
	shape   []int64
	big     bool // elements are big-endian
	fortran bool // Fortran order: the first index runs fastest
	size    int64
	open    func() (io.Reader, error)
	texts   []string // a column of texts, which replaces all of the above
}

// count multiplies dimensions; false where the product exceeds 2^62.
func count(shape []int64) (int64, bool) {
	n := uint64(1)
	for _, d := range shape {
		if d == 0 {
			return 0, true
		}
	}
	for _, d := range shape {
		hi, lo := bits.Mul64(n, uint64(d))
		if n = lo; hi > 0 || n > 1<<62 {
			return 0, false
		}
	}
	return int64(n), true
}

// arrays is a file of arrays read as a relation.
type arrays struct {
	*source
	all       []*member
	about     about
	anonymous bool // a single unnamed array, which stands for any column
}

// about is what relgrad records in a file about the table that it writes; see safetensors.go.
type about struct {
	Columns []string          `json:"columns"`         // in the table's order
	Key     []string          `json:"key,omitempty"`   // the primary key
	Types   map[string]string `json:"types,omitempty"` // of columns stored as texts
}

// newArrays takes the arrays of the requested table, or all where no array is named after it.
func newArrays(s *source, all []*member, tables map[string]about) (*arrays, error) {
	out, seen := &arrays{source: s}, map[string]bool{}
	prefix := s.opt.Table + "."
	for _, a := range all {
		if seen[a.name] {
			return nil, s.malformed("two arrays are named \"%s\"", a.name)
		}
		seen[a.name] = true
		if s.opt.Table != "" && strings.HasPrefix(a.name, prefix) {
			b := *a
			b.name = a.name[len(prefix):]
			out.all = append(out.all, &b)
		}
	}
	out.about = tables[s.opt.Table]
	if len(out.all) == 0 {
		out.all, out.about = all, tables[""]
	}
	place := func(a *member) int { // arrays that the note does not name come last
		if i := slices.Index(out.about.Columns, a.name); i >= 0 {
			return i
		}
		return len(out.about.Columns)
	}
	slices.SortStableFunc(out.all, func(a, b *member) int { return cmp.Compare(place(a), place(b)) })
	if len(out.all) == 0 {
		return nil, s.unsupported("it holds no array")
	}
	return out, nil
}

func (f *arrays) Close() error  { return nil }
func (f *arrays) Key() []string { return f.about.Key }

// Columns gives each array the type that holds its elements exactly.
func (f *arrays) Columns() []Column {
	out := make([]Column, len(f.all))
	for i, a := range f.all {
		out[i] = Column{Name: a.name, Type: a.elem.typ}
		if t := f.about.Types[a.name]; t != "" && a.elem.kind == 'U' {
			out[i].Type = t
		}
		if s := f.slice(a); len(s) > 0 {
			out[i].Type += "[]"
			if n, ok := count(s); ok && n > 0 && n <= maxChunk && a.elem.kind == 'f' {
				out[i].Shape = toShape(s)
			}
		}
	}
	return out
}

func toShape(s []int64) tensor.Shape {
	out := make(tensor.Shape, len(s))
	for i, d := range s {
		out[i] = int(d)
	}
	return out
}

// slice is the shape of one row of an array.
func (f *arrays) slice(a *member) []int64 {
	if f.opt.Whole || len(a.shape) == 0 {
		return a.shape
	}
	return a.shape[1:]
}

func (f *arrays) rows(a *member) int64 {
	if f.opt.Whole {
		return 1
	}
	return a.shape[0]
}

// Rows implements Reader.
func (f *arrays) Rows(want []Column) (Rows, error) {
	have := f.Columns()
	if f.anonymous && len(want) == 1 {
		have[0].Name = want[0].Name
	}
	at, err := f.pick(have, want)
	if err != nil {
		return nil, err
	}
	r := &arrayRows{f: f}
	for i, k := range at {
		a := f.all[k]
		if len(a.shape) == 0 && !f.opt.Whole {
			return nil, f.unsupported("array \"%s\" is a single number, which has no rows", a.name).
				WithHint("Read it whole: COPY … WITH (…, WHOLE), or relgrad import --whole.")
		}
		if n := f.rows(a); i > 0 && n != r.n {
			return nil, f.malformed("array \"%s\" has %d rows, \"%s\" has %d", a.name, n, f.all[at[0]].name, r.n).
				WithHint("Name the columns to read, or read each array whole: COPY … WITH (…, WHOLE), or --whole.")
		} else {
			r.n = n
		}
		c, err := f.column(a, want[i].Type)
		if err != nil {
			return nil, err
		}
		r.cols = append(r.cols, c)
	}
	return r, nil
}

// arrayRows reads several arrays side by side.
type arrayRows struct {
	f    *arrays
	cols []*arrayColumn
	i, n int64
}

// Next implements Rows.
func (r *arrayRows) Next(dst []any) error {
	if r.i == r.n {
		return r.end()
	}
	for k, c := range r.cols {
		v, err := c.next(r.i)
		if err != nil {
			return r.f.in(err, c.a)
		}
		dst[k] = v
	}
	r.i++
	return nil
}

// end reads beyond the last element, which checks a compressed array.
func (r *arrayRows) end() error {
	for _, c := range r.cols {
		if c.r == nil {
			continue
		}
		if n, err := io.ReadFull(c.r, make([]byte, 1)); n > 0 || err != io.EOF {
			return r.f.in(err, c.a)
		}
	}
	return io.EOF
}

// in adds the names of array and file to an error.
func (f *arrays) in(err error, a *member) error {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return within(err, fmt.Sprintf("file \"%s\": array \"%s\": ", f.name, a.name))
	}
	if err == nil || err == io.EOF || err == io.ErrUnexpectedEOF {
		return f.malformed("array \"%s\": its data do not have the %d bytes of its shape", a.name, a.size)
	}
	return f.malformed("array \"%s\": %v", a.name, err)
}

// arrayColumn reads an array row by row.
type arrayColumn struct {
	a     *member
	r     io.Reader
	typ   string // Postgres type of the values
	raw   []byte // one row's elements
	chunk []byte // one row's chunk in stored form; nil: not a chunk
	head  int
	d     tensor.DType
	shape []int64
}

// maxList bounds the elements of an array that is not a chunk.
const maxList = 1 << 20

// column prepares to read an array as values of a type. It takes memory for one row.
func (f *arrays) column(a *member, typ string) (*arrayColumn, error) {
	c := &arrayColumn{a: a, typ: typ, shape: f.slice(a)}
	base, isArray := baseType(typ)
	if isArray != (len(c.shape) > 0) && a.elem.kind != 'U' {
		return nil, f.unsupported("array \"%s\" of shape %v gives values of shape %v, which do not fit a column of type %s",
			a.name, a.shape, c.shape, typ).
			WithHint("Its rows are of type %s%s.", a.elem.typ, strings.Repeat("[]", min(len(c.shape), 1)))
	}
	if f.rows(a) == 0 || a.texts != nil {
		return c, nil
	}
	n, ok := count(c.shape)
	d, isChunk := chunkType(typ)
	switch {
	case isChunk && a.elem.kind == 'U':
		return nil, f.unsupported("array \"%s\" holds texts, which do not fit a column of type %s", a.name, typ)
	case len(c.shape) > 0 && n == 0:
		return nil, f.unsupported("array \"%s\" of shape %v gives empty values", a.name, a.shape).
			WithHint("A chunk must not be empty.")
	case len(c.shape) > tensor.MaxRank:
		return nil, f.unsupported("array \"%s\" gives values with %d dimensions, the largest number is %d", a.name,
			len(c.shape), tensor.MaxRank)
	case !ok || n > maxChunk/int64(max(a.elem.size, d.Size())):
		return nil, f.unsupported("array \"%s\" gives values of shape %v, more than a value of %d bytes",
			a.name, c.shape, maxChunk)
	}
	if !isChunk && n > maxList {
		return nil, f.unsupported("array \"%s\" gives values of shape %v, more than %d elements of a type that has no chunks",
			a.name, c.shape, maxList).WithHint("Read it into a column of type real[] or double precision[].")
	}
	if isChunk {
		t := tensor.Tensor{DType: d, Shape: toShape(c.shape)}
		head := t.Encode()
		c.d, c.head, c.chunk = d, len(head), append(head, make([]byte, n*int64(d.Size()))...)
	} else if isArray {
		c.typ = base
	}
	c.raw = make([]byte, n*int64(a.elem.size))
	r, err := a.open()
	if err != nil {
		return nil, f.in(err, a)
	}
	if a.fortran && len(a.shape) > 1 {
		if r, err = f.permute(a, r); err != nil {
			return nil, err
		}
	}
	c.r = bufio.NewReaderSize(r, 1<<16)
	return c, nil
}

// next reads row i.
func (c *arrayColumn) next(i int64) (any, error) {
	if c.a.texts != nil {
		return c.a.texts[i], nil
	}
	if _, err := io.ReadFull(c.r, c.raw); err != nil {
		return nil, err
	}
	if c.chunk != nil {
		return c.chunk, c.a.elem.chunk(c.chunk[c.head:], c.raw, c.a.big, c.d)
	}
	at := 0
	return c.nested(c.shape, &at)
}

// nested makes the value of an array that is not a chunk, or a scalar where the shape is empty.
func (c *arrayColumn) nested(shape []int64, at *int) (any, error) {
	e := c.a.elem
	if len(shape) == 0 {
		b := c.raw[*at : *at+e.size]
		*at += e.size
		if e.kind == 'U' {
			return utf32(b, c.a.big)
		}
		return e.scalar(b, c.a.big, c.typ)
	}
	out := make([]any, shape[0])
	for i := range out {
		var err error
		if out[i], err = c.nested(shape[1:], at); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// utf32 reads one of NumPy's texts: code points of four bytes each, padded with zeros.
func utf32(b []byte, big bool) (string, error) {
	var out strings.Builder
	for len(b) >= 4 && !allZero(b) {
		r := order(big).Uint32(b)
		if r > utf8.MaxRune || !utf8.ValidRune(rune(r)) || r == 0 {
			return "", sqlerr.New("22021", "%d is no character of a text", r)
		}
		out.WriteRune(rune(r))
		b = b[4:]
	}
	return out.String(), nil
}

func allZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// permute reads an array whose first index runs fastest and returns it with the last one running fastest.
func (f *arrays) permute(a *member, r io.Reader) (io.Reader, error) {
	const most = 4 << 30
	if a.size > most {
		return nil, f.unsupported("array \"%s\" in Fortran order has %d bytes, more than %d", a.name, a.size, int64(most)).
			WithHint("Write it in C order (numpy.ascontiguousarray).")
	}
	src := make([]byte, a.size)
	if _, err := io.ReadFull(r, src); err != nil {
		return nil, f.in(err, a)
	}
	if n, err := r.Read(make([]byte, 1)); n > 0 || err != nil && err != io.EOF {
		return nil, f.in(err, a)
	}
	dst, e := make([]byte, a.size), a.elem.size
	index, stride := make([]int64, len(a.shape)), make([]int64, len(a.shape))
	step := int64(e)
	for k, d := range a.shape {
		stride[k] = step
		step *= d
	}
	for out := 0; out < len(dst); out += e {
		from := int64(0)
		for k, i := range index {
			from += i * stride[k]
		}
		copy(dst[out:out+e], src[from:])
		for k := len(index) - 1; k >= 0; k-- {
			if index[k]++; index[k] < a.shape[k] {
				break
			}
			index[k] = 0
		}
	}
	return bytes.NewReader(dst), nil
}

// appendUTF32 writes a text for utf32.
func appendUTF32(b []byte, s string) []byte {
	for _, r := range s {
		b = binary.LittleEndian.AppendUint32(b, uint32(r))
	}
	return b
}
