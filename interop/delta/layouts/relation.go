package layouts

import (
	"fmt"
	"io"
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
)

// relation is a slice of a tensor as a relation. Of a sparse layout a row is an element: its index in each dimension,
// i0, i1, …, and its value. Of a dense one a row is a slice along the first dimension: its index and its elements, a
// number or a chunk. Indices are those of the whole tensor. A dimension of which the slice takes a single index has no
// column.
type relation struct {
	values interop.Reader
	column interop.Column // of the values
	names  []string       // of the indices
	coords [][]int64      // of a sparse tensor
	from   []int64        // where the slice begins, for each of names
}

// Relation reads a slice of a tensor as a relation.
func Relation(s *delta.Snapshot, id string, part Slice) (interop.Reader, error) {
	t, err := Read(s, id, part)
	if err != nil {
		return nil, err
	}
	r, shape := &relation{}, t.Shape
	for d := 0; len(r.names) < len(shape); d++ {
		from := int64(0)
		if d < len(part) {
			if part[d].One {
				continue
			}
			from = part[d].From
		}
		r.names, r.from = append(r.names, fmt.Sprint("i", d)), append(r.from, from)
	}
	switch {
	case t.Sparse():
		r.coords, shape = t.Coords, []int64{int64(t.count())}
	case len(shape) == 0:
		shape = []int64{1}
	default:
		r.names = r.names[:1]
	}
	if r.values, err = interop.OpenArray(t.DType, shape, t.Data, "tensor "+id); err != nil {
		return nil, err
	}
	r.column = interop.Column{Name: "value", Type: interop.ArrayType(t.DType, len(shape) > 1)}
	if len(shape) > 1 {
		if slices.Contains(shape[1:], 0) {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "tensor \"%s\": its slices of shape %s are empty", id,
				text(shape[1:]))
		}
		r.column.Shape = lists.Map(shape[1:], func(n int64) int { return int(n) })
	}
	return r, nil
}

// Columns implements interop.Reader.
func (r *relation) Columns() []interop.Column {
	out := lists.Map(r.names, func(n string) interop.Column { return interop.Column{Name: n, Type: "bigint"} })
	return append(out, r.column)
}

// Key implements interop.Reader.
func (r *relation) Key() []string { return r.names }

// Close implements interop.Reader.
func (r *relation) Close() error { return nil }

// Rows implements interop.Reader.
func (r *relation) Rows(want []interop.Column) (_ interop.Rows, err error) {
	out := &relationRows{r: r, one: make([]any, 1), value: -1}
	typ := r.column.Type
	for i, w := range want {
		k := slices.Index(r.names, w.Name)
		switch {
		case w.Name == "value":
			out.value, typ = i, w.Type
		case k < 0:
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "the tensor has no column \"%s\"", w.Name)
		}
		out.index = append(out.index, k)
	}
	out.values, err = r.values.Rows([]interop.Column{{Name: "value", Type: typ}})
	return out, err
}

type relationRows struct {
	r      *relation
	values interop.Rows
	one    []any
	index  []int // for each wanted column that of names, -1 for the value
	value  int   // where the value goes, -1: it is not wanted
	n      int
}

// Next implements interop.Rows.
func (x *relationRows) Next(dst []any) error {
	if err := x.values.Next(x.one); err != nil {
		return err
	}
	for i, k := range x.index {
		switch {
		case k < 0:
			dst[i] = x.one[0]
		case x.r.coords != nil:
			dst[i] = x.r.coords[k][x.n] + x.r.from[k]
		default:
			dst[i] = int64(x.n) + x.r.from[k]
		}
	}
	x.n++
	return nil
}

// Sink stores a relation as a tensor. It is an interop.Sink. A relation of one column is a dense tensor, of which each
// row is a slice. One with the columns i0, i1, … and a number "value" lists the elements of a tensor; one with i0 and a
// chunk "value" its slices in order.
type Sink struct {
	files delta.Files
	id    string
	o     Options
	shape []int64
	// Report says how the tensor was stored, when Close has returned nil.
	Report Report

	dense  interop.Sink
	array  *buffer
	place  []int // of i0, i1, … and of the value
	coords [][]int64
	dtype  string
	n      int64
}

// NewSink returns a sink that stores a tensor. shape, unless it is nil, is that of a tensor of which the elements are
// listed; else the last index of each dimension is that of an element.
func NewSink(files delta.Files, id string, shape []int64, o Options) *Sink {
	return &Sink{files: files, id: id, o: o, shape: shape}
}

// Begin implements interop.Sink.
func (s *Sink) Begin(name string, cols []interop.Column, _ []string) (err error) {
	if s.dense != nil {
		return sqlerr.New(sqlerr.FeatureNotSupported, "a tensor is one relation")
	}
	s.array = &buffer{}
	if s.dense, err = interop.Create("npy", s.array, "tensor "+s.id, interop.Options{}); err != nil {
		return err
	}
	s.place = place(cols)
	value := cols[0]
	if s.place == nil && len(cols) > 1 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "a tensor is one column, or the columns i0, i1, … and value, not %s",
			names(cols)).WithHint("Name the column: TABLE (COLUMN).")
	} else if s.place != nil {
		value = cols[s.place[len(s.place)-1]]
		s.coords = make([][]int64, len(s.place)-1)
	}
	s.dtype = interop.ElementType(value.Type)
	chunk := value.Type == "real[]" || value.Type == "double precision[]"
	if s.dtype == "" {
		return sqlerr.New(sqlerr.DatatypeMismatch, "column \"%s\" of type %s has no elements of a tensor", value.Name,
			value.Type).WithHint("Elements are numbers, or arrays of real or double precision.")
	}
	if chunk && len(s.coords) > 1 {
		return sqlerr.New(sqlerr.DatatypeMismatch, "column \"value\" of type %s with %d columns of indices", value.Type,
			len(s.coords)).WithHint("A chunk has the one index i0.")
	}
	if s.shape != nil && (s.coords == nil || chunk) {
		return sqlerr.New(sqlerr.InvalidParameter, "a shape has no meaning for slices of a tensor, which have one")
	}
	if s.shape != nil && len(s.shape) != len(s.coords) {
		return sqlerr.New(sqlerr.InvalidParameter, "a shape of %d dimensions for %d columns of indices", len(s.shape),
			len(s.coords))
	}
	if value.Name = "value"; chunk {
		s.coords = nil
	}
	return s.dense.Begin(name, []interop.Column{value}, nil)
}

func names(cols []interop.Column) string {
	out := ""
	for i, c := range cols {
		if i > 0 {
			out += ", "
		}
		out += "\"" + c.Name + "\""
	}
	return out
}

// place finds the columns i0, i1, … and value; nil where there are others.
func place(cols []interop.Column) []int {
	out := make([]int, len(cols))
	for k := range cols {
		name := fmt.Sprint("i", k)
		if k == len(cols)-1 {
			name = "value"
		}
		out[k] = slices.IndexFunc(cols, func(c interop.Column) bool { return c.Name == name })
		if out[k] < 0 || len(cols) < 2 {
			return nil
		}
	}
	return out
}

// Write implements interop.Sink.
func (s *Sink) Write(row []any) error {
	value := row[0]
	if s.place != nil {
		last := len(s.place) - 1
		value = row[s.place[last]]
		for d, k := range s.place[:last] {
			i, ok := row[k].(int64)
			if !ok || i < 0 {
				return sqlerr.New(sqlerr.DatatypeMismatch, "row %d: column \"i%d\" is %v, which is no index", s.n+1, d, row[k])
			}
			if s.coords != nil {
				s.coords[d] = append(s.coords[d], i)
			} else if i != s.n {
				return sqlerr.New(sqlerr.InvalidParameter, "row %d: i0 is %d, slices must come as 0, 1, …", s.n+1, i)
			}
		}
	}
	s.n++
	return s.dense.Write([]any{value})
}

// Close implements interop.Sink.
func (s *Sink) Close() error {
	if s.dense == nil {
		return sqlerr.New(sqlerr.FeatureNotSupported, "no relation was written")
	}
	if err := s.dense.Close(); err != nil {
		return err
	}
	t := &Tensor{}
	var err error
	if t.DType, t.Shape, t.Data, err = interop.ParseNpy(*s.array, "tensor "+s.id); err != nil {
		return err
	}
	if s.coords != nil {
		t.Coords, t.Shape = s.coords, s.shape
		for d := range t.Coords {
			if t.Coords[d] == nil {
				t.Coords[d] = []int64{}
			}
			if s.shape == nil {
				t.Shape = append(t.Shape, 1+slices.Max(append(slices.Clone(t.Coords[d]), -1)))
			}
		}
	}
	s.Report, err = Write(s.files, s.id, t, s.o)
	return err
}

// Abort implements interop.Sink.
func (s *Sink) Abort() {
	if s.dense != nil {
		s.dense.Abort()
	}
}

// buffer is a file in memory.
type buffer []byte

// Write implements io.Writer.
func (b *buffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

var _ io.Writer = (*buffer)(nil)
