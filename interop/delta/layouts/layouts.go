package layouts

import (
	"errors"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
)

// layout is a way to store a tensor in rows. Each row has, before the layout's own columns, those of common.
type layout struct {
	dense  bool
	fields func(rank int, value string) []interop.Field // value: the type of the column of elements
	write  func(w *writing) error
	read   func(r *reading) error
}

var layouts map[string]*layout

func init() {
	layouts = map[string]*layout{"ftsf": ftsf, "coo": coo, "csr": compressed(false), "csc": compressed(true), "csf": csf,
		"bsgs": bsgs}
}

// Names lists the layouts.
func Names() []string { return slices.Sorted(maps.Keys(layouts)) }

// Options say how a tensor is stored. What is not given is chosen.
type Options struct {
	Layout    string
	ChunkRank int     // ftsf: how many of the last dimensions a chunk has
	Rows      int     // csr, csc: how many of the first dimensions become rows
	Block     []int64 // bsgs: the size of a block in each dimension
	Replace   bool    // a tensor of the same id is replaced; else it is an error
}

// Report says how a tensor was stored.
type Report struct {
	Layout, Why string // Why is a sentence
	Elements    int64  // that are stored: those of a dense tensor, or those that are not zero
	Bytes       int64  // of its files
	Version     int64  // of the table
}

func list(name, typ string) interop.Field {
	return interop.Field{Name: name, Type: "array", Parts: []interop.Field{{Name: "element", Type: typ}}}
}

func field(name, typ string) interop.Field { return interop.Field{Name: name, Type: typ} }

// common are the columns of all layouts; ftsf has dimensions in place of dense_shape.
func (l *layout) common() []interop.Field {
	out := []interop.Field{field("id", "string"), field("layout", "string"), field("dtype", "string")}
	if !l.dense {
		out = append(out, list("dense_shape", "long"))
	}
	return out
}

// writing is a tensor being stored.
type writing struct {
	id     string
	t      *Tensor
	e      *elements // of a sparse layout
	o      Options
	head   []any
	values []any // of the last row
	// total is the number of elements of the tensor of which this is a sample.
	total int64
	to    rowSink
}

// Write stores a tensor in a table, which is created if it is missing. Where other writers create the table or change
// its columns at the same time, it tries again.
func Write(files delta.Files, id string, t *Tensor, o Options) (report Report, err error) {
	const tries = 20
	for range tries {
		report, err = write(files, id, t, o)
		e := (*sqlerr.Error)(nil)
		if t.Elements != nil || !errors.As(err, &e) ||
			e.Code != sqlerr.SerializationFailure && e.Code != sqlerr.DuplicateTable {
			break
		}
	}
	return report, err
}

func write(files delta.Files, id string, t *Tensor, o Options) (report Report, err error) {
	defer guard(&err)
	w := &writing{id: id, t: t, o: o}
	if err := t.check(); err != nil {
		return report, err
	}
	if id == "" {
		return report, sqlerr.New(sqlerr.InvalidParameter, "a tensor without an id")
	}
	if report.Layout, report.Why, err = w.choose(); err != nil {
		return report, err
	}
	l := layouts[report.Layout]
	if err := w.prepare(report.Layout); err != nil {
		return report, err
	}
	fields := append(l.common(), l.fields(len(t.Shape), columnTypes[t.DType])...)
	tx, err := begin(files, id, fields, delta.WriteOptions{Parquet: w.parquet(report.Layout)}, o.Replace)
	if err != nil {
		return report, err
	}
	place := make([]int, len(fields))
	for i, c := range tx.Columns() {
		if k := slices.IndexFunc(fields, func(f interop.Field) bool { return f.Name == c.Name }); k >= 0 {
			place[k] = i
		}
	}
	if err := w.emit(report.Layout, &placed{tx, place, make([]any, len(tx.Columns()))}); err != nil {
		tx.Abort()
		return report, err
	}
	s, err := tx.Commit("WRITE")
	if err != nil {
		return report, err
	}
	if report.Version = s.Version; w.e != nil && !l.dense {
		report.Elements = int64(len(w.e.bits))
	} else {
		report.Elements, _ = size(t.Shape)
	}
	for _, f := range tx.Added() {
		report.Bytes += f.Size
	}
	return report, nil
}

// prepare sorts the elements for a sparse layout, and chooses the size of blocks.
func (w *writing) prepare(name string) (err error) {
	if w.e == nil && !layouts[name].dense {
		if w.e, err = w.t.sorted(); err != nil {
			return err
		}
	}
	if name == "bsgs" && w.o.Block == nil {
		w.o.Block, _ = w.e.bestBlock()
	}
	return nil
}

// emit makes the rows of the tensor in a layout.
func (w *writing) emit(name string, to rowSink) error {
	l := layouts[name]
	w.to, w.head = to, []any{w.id, name, w.t.DType}
	if !l.dense {
		w.head = append(w.head, slices.Clone(w.t.Shape))
	}
	return l.write(w)
}

// row stores a row: the values of the layout's own columns.
func (w *writing) row(own ...any) error {
	w.values = append(append(w.values[:0], w.head...), own...)
	return w.to.Write(w.values)
}

// rows stores n rows by columns.
func (w *writing) rows(n int, own ...any) error {
	all := each(w.head, func(v any) any { return interop.ColumnOf{Value: v} })
	return w.to.WriteColumns(n, append(all, own...))
}

// begin begins the transaction that stores a tensor.
func begin(files delta.Files, id string, fields []interop.Field, o delta.WriteOptions, replace bool) (*delta.Tx,
	error) {
	s, err := delta.Open(files, delta.Latest())
	if e := (*sqlerr.Error)(nil); errors.As(err, &e) && e.Code == sqlerr.UndefinedTable {
		return delta.Create(files, fields, delta.TableOptions{}, o)
	}
	if err != nil {
		return nil, err
	}
	tx, err := s.Begin(o)
	if err != nil {
		return nil, err
	}
	if err := tx.AddColumns(fields); err != nil {
		return nil, err
	}
	if replace {
		_, err := tx.Delete(delta.Equal("id", id))
		return tx, err
	}
	if err := tx.Watch(delta.Equal("id", id)); err != nil {
		return nil, err
	}
	rows, err := s.Scan(nil, []delta.Bound{delta.Equal("id", id)})
	if err == nil {
		err = rows.Next(nil)
	}
	if err == nil {
		return nil, sqlerr.New(sqlerr.UniqueViolation, "the table has a tensor \"%s\" already", id)
	}
	if err != io.EOF {
		return nil, err
	}
	return tx, nil
}

// Delete deletes a tensor.
func Delete(s *delta.Snapshot, id string) (*delta.Snapshot, error) {
	if _, err := find(s, id); err != nil {
		return nil, err
	}
	tx, err := s.Begin(delta.WriteOptions{})
	if err != nil {
		return nil, err
	}
	if _, err := tx.Delete(delta.Equal("id", id)); err != nil {
		tx.Abort()
		return nil, err
	}
	return tx.Commit("DELETE")
}

// Entry is a tensor of a table.
type Entry struct {
	ID, Layout, DType string
	Shape             []int64
}

// List lists the tensors of a table by their ids.
func List(s *delta.Snapshot) (out []Entry, err error) {
	defer guard(&err)
	rows, err := s.Scan([]string{"id"}, nil)
	if err != nil {
		return nil, err
	}
	ids, row := map[string]bool{}, make([]any, 1)
	for err == nil {
		if err = rows.Next(row); err == nil {
			if id, ok := row[0].(string); ok {
				ids[id] = true
			}
		}
	}
	if err != io.EOF {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		r, err := find(s, id)
		if err != nil {
			return nil, err
		}
		out = append(out, Entry{id, r.layout, r.dtype, r.shape})
	}
	return out, nil
}

// reading is a tensor being read.
type reading struct {
	s             *delta.Snapshot
	id            string
	layout, dtype string
	shape         []int64
	head          map[string]any // values of the tensor's first row
	b             *box
	out           *elements
	dense         *Tensor    // of ftsf
	scan          delta.Scan // what was read, for tests
	// rowsMost is how many rows the tensor may have, and bytesMost what their files take.
	rowsMost, bytesMost int64
	seen                *atomic.Int64 // rows that do not say which part of the tensor they have
	part, of            int           // of the tensor's rows: those that are read
}

// Read reads a slice of a tensor: of a sparse layout a sparse tensor, of ftsf a dense one.
func Read(s *delta.Snapshot, id string, part Slice) (*Tensor, error) {
	t, _, err := read(s, id, part)
	return t, err
}

// read returns also what was opened.
func read(s *delta.Snapshot, id string, part Slice) (t *Tensor, seen *delta.Scan, err error) {
	defer guard(&err)
	r, err := find(s, id)
	if err != nil {
		return nil, nil, err
	}
	if r.b, err = part.of(r.shape); err != nil {
		return nil, nil, within(err, "tensor \"%s\": ", id)
	}
	if err := r.readParts(); err != nil {
		return nil, nil, within(err, "tensor \"%s\": ", id)
	}
	if r.dense != nil {
		return r.dense, &r.scan, nil
	}
	if t, err = r.out.tensor(); err != nil {
		return nil, nil, within(err, "tensor \"%s\": ", id)
	}
	return t, &r.scan, nil
}

// mostParts bounds the row groups that are decoded at once, and so the memory of a reader.
const mostParts = 4

// readParts reads the elements, those of consecutive parts of the rows at once where many rows of a sparse tensor are
// wanted.
func (r *reading) readParts() error {
	parts := []*reading{r}
	if n := min(runtime.GOMAXPROCS(0), mostParts); n > 1 && !layouts[r.layout].dense && r.wants() > 1.0/8 {
		parts = make([]*reading, n)
		for k := range parts {
			x := *r
			parts[k], x.part, x.of = &x, k, n
		}
	}
	errs := make([]error, len(parts))
	inParallel(len(parts), func(k int) {
		defer guard(&errs[k])
		x := parts[k]
		x.out = &elements{dtype: r.dtype, shape: r.b.shape(), coords: make([][]int64, len(r.b.shape()))}
		if errs[k] = layouts[r.layout].read(x); errs[k] == nil && x.out.ascending() {
			x.out.ordered, x.out.data = true, x.out.bytes()
		}
	})
	for k, x := range parts {
		if errs[k] != nil {
			return errs[k]
		}
		if x != r {
			r.scan.Files, r.scan.Groups = r.scan.Files+x.scan.Files, r.scan.Groups+x.scan.Groups
		}
	}
	r.out = parts[0].out
	for _, x := range parts[1:] {
		r.out.join(x.out)
	}
	return nil
}

// wants is about the share of the rows that are read: that of the dimension by which they are in order first.
func (r *reading) wants() float64 {
	d := 0
	if rows, ok := r.head["row_dims"].(int64); ok && r.layout == "csc" && rows > 0 && rows < int64(len(r.shape)) {
		d = int(rows)
	}
	return float64(r.b.extent()[d]) / float64(max(r.shape[d], 1))
}

// share is the reading's part of a scan; nil: it has none. The first one makes room for all.
func (r *reading) share(in *delta.Scan) *delta.Scan {
	r.rowsMost, r.bytesMost = in.Most()
	if r.of == 1 {
		return in
	}
	all := in.Split(r.of)
	if r.part >= len(all) {
		return nil
	}
	if r.part > 0 {
		r.rowsMost, r.bytesMost = all[r.part].Most()
	}
	return all[r.part]
}

// marks are the columns by which layouts are known that do not say their name.
var marks = map[string]string{"ftsf": "chunk", "coo": "value", "csr": "crow_indices", "csc": "ccol_indices",
	"csf": "fid_zero", "bsgs": "block_shape"}

// find reads what the first row of a tensor says of it.
func find(s *delta.Snapshot, id string) (*reading, error) {
	r := &reading{s: s, id: id, head: map[string]any{}, seen: &atomic.Int64{}, of: 1}
	var names []string
	for _, f := range s.Fields() {
		if slices.Contains([]string{"layout", "dtype", "dense_shape", "dimensions", "dim_count", "chunk_dim_count",
			"block_shape", "flattened_shape", "row_dims"}, f.Name) {
			names = append(names, f.Name)
		}
	}
	rows, err := s.Scan(names, []delta.Bound{delta.Equal("id", id)})
	if err != nil {
		return nil, err
	}
	row := make([]any, len(names))
	if err := rows.Next(row); err == io.EOF {
		return nil, unknown(s, id)
	} else if err != nil {
		return nil, err
	}
	for i, name := range names {
		r.head[name] = row[i]
	}
	r.layout, _ = r.head["layout"].(string)
	if r.layout = strings.ToLower(r.layout); layouts[r.layout] == nil {
		if r.layout, err = r.guess(); err != nil {
			return nil, err
		}
	}
	r.shape = integers(r.head["dense_shape"])
	if layouts[r.layout].dense {
		r.shape = integers(r.head["dimensions"])
	}
	r.dtype, _ = r.head["dtype"].(string)
	return r, within(r.check(), "tensor \"%s\": ", id)
}

// unknown is the error of a tensor that is not there.
func unknown(s *delta.Snapshot, id string) error {
	e := sqlerr.New(sqlerr.UndefinedObject, "the table has no tensor \"%s\"", id)
	var names []string
	if list, err := List(s); err == nil {
		names = lists.Map(list, func(x Entry) string { return x.ID })
	}
	if near := sqlerr.Nearest(id, names); near != "" {
		return e.WithHint("Perhaps you meant \"%s\".", near)
	}
	return e
}

// guess finds the layout by the columns of the table.
func (r *reading) guess() (string, error) {
	var can []string
	for name, mark := range marks {
		if r.has(mark) && (name != "coo" || !r.has("crow_indices") && !r.has("ccol_indices") && !r.has("fid_zero")) {
			can = append(can, name)
		}
	}
	if len(can) != 1 {
		return "", sqlerr.New(sqlerr.FeatureNotSupported,
			"tensor \"%s\": the table does not say its layout: \"%v\", and has columns of %d layouts", r.id, r.head["layout"],
			len(can)).WithHint("The layouts are %s.", strings.Join(Names(), ", "))
	}
	return can[0], nil
}

// has reports whether the table has a column.
func (r *reading) has(name string) bool { return r.typeOf(name) != nil }

func (r *reading) typeOf(name string) *interop.Field {
	for _, f := range r.s.Fields() {
		if f.Name == name {
			return &f
		}
	}
	return nil
}

// check refuses shapes and types that are none. Where the type is not recorded, that of the elements' column is taken.
func (r *reading) check() error {
	if r.dtype == "" && !layouts[r.layout].dense {
		for _, name := range []string{"value", "values"} {
			if f := r.typeOf(name); f != nil {
				for f.Type == "array" {
					f = &f.Parts[0]
				}
				r.dtype = dtypes[f.Type]
			}
		}
	}
	t := Tensor{DType: r.dtype, Shape: r.shape, Coords: make([][]int64, len(r.shape))}
	if layouts[r.layout].dense {
		t.Coords, t.Elements = nil, strings.NewReader("")
		if t.DType == "" {
			t.DType = "uint8" // the chunks will tell
		}
	} else if columnTypes[r.dtype] == "" || len(r.shape) == 0 {
		return corrupt("elements of type \"%s\" of a tensor of shape %s in the layout %s", r.dtype, text(r.shape), r.layout)
	}
	if err := t.check(); err != nil {
		return within(err, "damaged: ")
	}
	return nil
}

// reserve makes room for all elements, where all are read and a row has so many, unless they are more than the files
// may have: in these an element hardly takes less than half a bit.
func (r *reading) reserve(elements int) {
	n := r.rowsMost * int64(elements)
	if r.out.bits != nil || !r.all() || n <= 0 || n > 16*r.bytesMost {
		return
	}
	r.out.bits = make([]uint64, 0, n)
	for d := range r.out.coords {
		r.out.coords[d] = make([]int64, 0, n)
	}
}

// all reports whether all elements are read, with all their indices.
func (r *reading) all() bool {
	return slices.Equal(r.b.extent(), r.shape) && !slices.Contains(r.b.one, true)
}

// whole reports whether all of these elements are taken as they are.
func (r *reading) whole(bits []uint64) bool { return r.all() && !slices.Contains(bits, 0) }

// rows reads columns of the tensor's rows within further bounds. Columns that the table does not have are nil.
func (r *reading) rows(names []string, where []delta.Bound, row func(v []any) error) error {
	return r.many(names, where, nil, row)
}

// many gives rows to columns where they are numbers, several at a time, and others to row.
func (r *reading) many(names []string, where []delta.Bound, columns func(n int, v []any) error,
	row func(v []any) error) error {
	var have []string
	var place []int
	bytes := false // those of a row are valid until the next one
	for i, name := range names {
		if f := r.typeOf(name); f != nil {
			have, place, bytes = append(have, name), append(place, i), bytes || f.Type == "binary"
		}
	}
	in, err := r.s.Scan(have, append([]delta.Bound{delta.Equal("id", r.id)}, where...))
	if err != nil {
		return err
	}
	if in = r.share(in); in == nil {
		return nil
	}
	defer func() { r.scan.Files, r.scan.Groups = r.scan.Files+in.Files, r.scan.Groups+in.Groups }()
	values, out := make([]any, len(have)), make([]any, len(names))
	one := func(values []any) error {
		for i, v := range values {
			out[place[i]] = v
		}
		return row(out)
	}
	if len(have) != len(names) {
		columns = nil
	}
	if columns == nil && !bytes && r.of == 1 {
		return ahead(in, len(have), one)
	}
	for {
		for columns != nil {
			n := in.Columns(values)
			if n == 0 {
				break
			}
			if err := columns(n, values); err != nil {
				return err
			}
		}
		if err := in.Next(values); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := one(values); err != nil {
			return err
		}
	}
}

// integers is a list of integers; nil for other values.
func integers(v any) []int64 {
	switch x := v.(type) {
	case []int64:
		return x
	case []any:
		if len(x) == 0 {
			return []int64{}
		}
	}
	return nil
}
