package interop

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// rowWriter writes rows of columns whose shapes are known, in batches.
type rowWriter interface {
	add(row []any) (bytes int, err error) // bytes: about how many the row takes
	flush(rows int) error                 // ends a batch
	close() error
}

// relationSink writes one relation. The shape of a chunk column is part of the file's schema. Where it is unknown, rows
// wait until the first chunk comes.
type relationSink struct {
	*target
	open        func(w io.Writer, cols []Column, note string) (rowWriter, error)
	cols        []Column
	note        string
	clocks      []*Field // of the columns of dates and timestamps, which are texts in a row; nil of the others
	row         []any
	waiting     [][]any
	w           rowWriter
	rows, bytes int
}

// Limits of a batch: rows, and about so many bytes.
const (
	batchRows  = 1 << 16
	batchBytes = 32 << 20
)

func createArrow(t *target) (Sink, error) {
	return &relationSink{target: t, open: openArrowWriter}, nil
}

func createParquet(t *target) (Sink, error) {
	return &relationSink{target: t, open: openParquetWriter}, nil
}

// arrowWriter writes record batches.
type arrowWriter struct {
	w *ipc.FileWriter
	b *array.RecordBuilder
}

func openArrowWriter(w io.Writer, cols []Column, note string) (rowWriter, error) {
	fields := lists.Map(cols,
		func(c Column) arrow.Field { return arrow.Field{Name: c.Name, Type: arrowOf(c), Nullable: true} })
	meta := arrow.NewMetadata([]string{metaAbout}, []string{note})
	schema := arrow.NewSchema(fields, &meta)
	f, err := ipc.NewFileWriter(&seeker{Writer: w}, ipc.WithSchema(schema))
	return &arrowWriter{f, array.NewRecordBuilder(memory.NewGoAllocator(), schema)}, err
}

// seeker tells the library its position in the output; it cannot seek.
type seeker struct {
	io.Writer
	at int64
}

func (s *seeker) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	s.at += int64(n)
	return n, err
}

func (s *seeker) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, errors.New("the file is written from its beginning to its end")
	}
	return s.at, nil
}

// Begin implements Sink.
func (s *relationSink) Begin(_ string, cols []Column, key []string) error {
	if s.cols != nil {
		return s.refuse("it holds a single relation").WithHint("Files of arrays, npz and safetensors, hold several.")
	}
	note := about{Columns: []string{}, Key: key, Types: map[string]string{}}
	for i, c := range cols {
		note.Columns = append(note.Columns, c.Name)
		if slices.ContainsFunc(cols[:i], func(d Column) bool { return d.Name == c.Name }) {
			return s.refuse("two columns named \"%s\"", c.Name).WithHint("Give them names with AS.")
		}
		clock := clockOf(c)
		if _, ok := elemOf(c.Type); !ok && c.Type != "text" && clock == nil {
			note.Types[c.Name] = c.Type
		}
		s.clocks = append(s.clocks, clock)
	}
	b, err := json.Marshal(note)
	s.cols, s.note = slices.Clone(cols), string(b)
	return err
}

// clockOf is the field of a column of dates or timestamps, nil of another column.
func clockOf(c Column) *Field {
	switch t := FieldType(c.Type); t {
	case "date", "timestamp", "timestamp_ntz":
		return &Field{Name: c.Name, Type: t}
	}
	return nil
}

// arrowOf is the Arrow type in which a column is written.
func arrowOf(c Column) arrow.DataType {
	d, chunk := chunkType(c.Type)
	if !chunk {
		switch c.Type {
		case "boolean":
			return arrow.FixedWidthTypes.Boolean
		case "smallint":
			return arrow.PrimitiveTypes.Int16
		case "integer":
			return arrow.PrimitiveTypes.Int32
		case "bigint":
			return arrow.PrimitiveTypes.Int64
		case "real":
			return arrow.PrimitiveTypes.Float32
		case "double precision":
			return arrow.PrimitiveTypes.Float64
		case "date":
			return arrow.FixedWidthTypes.Date32
		case "timestamp without time zone":
			return &arrow.TimestampType{Unit: arrow.Microsecond}
		case "timestamp with time zone":
			return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
		}
		return arrow.BinaryTypes.String
	}
	t := arrow.DataType(arrow.PrimitiveTypes.Float64)
	if d == tensor.Float32 {
		t = arrow.PrimitiveTypes.Float32
	}
	if c.Shape == nil { // there was no chunk at all
		return arrow.ListOfNonNullable(t)
	}
	for i := len(c.Shape) - 1; i >= 0; i-- {
		t = arrow.FixedSizeListOfNonNullable(int32(c.Shape[i]), t)
	}
	return t
}

// begin writes the schema once the shapes are known, and then the rows that waited for it.
func (s *relationSink) begin() (err error) {
	if s.w, err = s.open(s.Writer, s.cols, s.note); err != nil {
		return err
	}
	for _, row := range s.waiting {
		if err := s.add(row); err != nil {
			return err
		}
	}
	s.waiting = nil
	return nil
}

// Write implements Sink.
func (s *relationSink) Write(row []any) (err error) {
	defer s.guard(&err)
	if s.w != nil {
		return s.failed(s.add(row))
	}
	known := true
	for i := range s.cols {
		c := &s.cols[i]
		if _, chunk := chunkType(c.Type); !chunk || c.Shape != nil {
			continue
		}
		if b, ok := row[i].([]byte); ok {
			_, shape, _, err := tensor.Header(b)
			if err != nil {
				return sqlerr.New(sqlerr.DataCorrupted, "column \"%s\": %v", c.Name, err)
			}
			c.Shape = shape
		}
		known = known && c.Shape != nil
	}
	row = slices.Clone(row)
	for i, v := range row {
		if b, ok := v.([]byte); ok {
			row[i] = slices.Clone(b)
		}
	}
	s.waiting = append(s.waiting, row)
	if known {
		return s.failed(s.begin())
	}
	return nil
}

func (s *relationSink) add(row []any) error {
	s.row = append(s.row[:0], row...)
	for i, v := range row {
		if text, ok := v.(string); ok && s.clocks[i] != nil {
			at, err := s.clocks[i].Accept(text)
			if err != nil {
				return within(err, "column \""+s.cols[i].Name+"\": ")
			}
			s.row[i] = at
		}
		if b, ok := v.([]byte); ok {
			if _, shape, _, err := tensor.Header(b); err != nil {
				return sqlerr.New(sqlerr.DataCorrupted, "column \"%s\": %v", s.cols[i].Name, err)
			} else if !shape.Equal(s.cols[i].Shape) {
				return sqlerr.New(sqlerr.ArraySubscript, "column \"%s\": a chunk of shape %v, others have shape %v", s.cols[i].Name,
					shape, s.cols[i].Shape)
			}
		}
	}
	n, err := s.w.add(s.row)
	if err != nil {
		return err
	}
	s.bytes += n
	if s.rows++; s.rows >= batchRows || s.bytes >= batchBytes {
		return s.flush()
	}
	return nil
}

func (s *relationSink) flush() error {
	if s.rows == 0 {
		return nil
	}
	err := s.w.flush(s.rows)
	s.rows, s.bytes = 0, 0
	return err
}

// guard turns a panic of the library into an error: its writers report errors by panics.
func (s *relationSink) guard(err *error) {
	if p := recover(); p != nil {
		e, ok := p.(error)
		if !ok {
			e = fmt.Errorf("%v", p)
		}
		*err = s.failed(e)
	}
}

// Close implements Sink.
func (s *relationSink) Close() (err error) {
	defer s.guard(&err)
	if s.cols == nil {
		return s.failed(errors.New("no relation was written"))
	}
	if s.w == nil {
		if err := s.begin(); err != nil {
			return s.failed(err)
		}
	}
	if err := s.flush(); err != nil {
		return s.failed(err)
	}
	return s.failed(s.w.close())
}

// Abort implements Sink.
func (s *relationSink) Abort() {}

func (a *arrowWriter) close() error { return a.w.Close() }

func (a *arrowWriter) flush(int) error {
	rec := a.b.NewRecord()
	defer rec.Release()
	return a.w.Write(rec)
}

func (a *arrowWriter) add(row []any) (bytes int, err error) {
	for i, v := range row {
		bytes += 8
		switch x := v.(type) {
		case []byte:
			bytes += len(x)
		case string:
			bytes += len(x)
		}
		if err := a.append(a.b.Field(i), v); err != nil {
			return 0, err
		}
	}
	return bytes, nil
}

func (a *arrowWriter) append(b array.Builder, v any) error {
	switch x := v.(type) {
	case nil:
		b.AppendNull()
	case []byte:
		d, shape, p, err := tensor.Header(x)
		if err != nil {
			return err
		}
		appendChunk(b, shape, &p, d)
	case bool:
		b.(*array.BooleanBuilder).Append(x)
	case float64:
		if f, ok := b.(*array.Float32Builder); ok {
			f.Append(float32(x))
		} else {
			b.(*array.Float64Builder).Append(x)
		}
	case string:
		b.(*array.StringBuilder).Append(x)
	case Day:
		b.(*array.Date32Builder).Append(arrow.Date32(x))
	case Moment:
		b.(*array.TimestampBuilder).Append(arrow.Timestamp(x))
	case int64:
		switch n := b.(type) {
		case *array.Int16Builder:
			n.Append(int16(x))
		case *array.Int32Builder:
			n.Append(int32(x))
		case *array.Int64Builder:
			n.Append(x)
		}
	}
	return nil
}

// appendChunk appends nested lists and removes the elements written from p.
func appendChunk(b array.Builder, shape tensor.Shape, p *[]byte, d tensor.DType) {
	if len(shape) > 0 {
		l := b.(*array.FixedSizeListBuilder)
		l.Append(true)
		if len(shape) > 1 {
			for range shape[0] {
				appendChunk(l.ValueBuilder(), shape[1:], p, d)
			}
			return
		}
		b = l.ValueBuilder()
	}
	n := shape.Size()
	switch x := b.(type) {
	case *array.Float32Builder:
		for i := range n {
			x.Append(math.Float32frombits(binary.LittleEndian.Uint32((*p)[4*i:])))
		}
	case *array.Float64Builder:
		for i := range n {
			x.Append(math.Float64frombits(binary.LittleEndian.Uint64((*p)[8*i:])))
		}
	}
	*p = (*p)[n*d.Size():]
}
