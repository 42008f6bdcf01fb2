package interop

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// batchWriter is what the two formats' writers have in common.
type batchWriter interface {
	Write(arrow.Record) error
	Close() error
}

// arrowSink builds record batches. A chunk column's shape is part of the schema; where it is not known beforehand,
// rows wait until a chunk has come.
type arrowSink struct {
	*target
	open    func(w io.Writer, s *arrow.Schema) (batchWriter, error)
	cols    []Column
	meta    arrow.Metadata
	waiting [][]any
	w       batchWriter
	b       *array.RecordBuilder
	rows    int
	bytes   int
}

// A batch has at most so many rows, and about so many bytes.
const (
	batchRows  = 1 << 16
	batchBytes = 32 << 20
)

func createArrow(t *target) (Sink, error) {
	return &arrowSink{target: t, open: func(w io.Writer, s *arrow.Schema) (batchWriter, error) {
		return ipc.NewFileWriter(&seeker{Writer: w}, ipc.WithSchema(s))
	}}, nil
}

func createParquet(t *target) (Sink, error) {
	return &arrowSink{target: t, open: func(w io.Writer, s *arrow.Schema) (batchWriter, error) {
		props := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryDefault(false), parquet.WithStats(false))
		return pqarrow.NewFileWriter(s, struct{ io.Writer }{w}, props, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	}}, nil
}

// seeker tells the library where it writes; it never goes back.
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
func (s *arrowSink) Begin(_ string, cols []Column, key []string) error {
	if s.cols != nil {
		return s.refuse("it holds a single relation").WithHint("Files of arrays, npz and safetensors, hold several.")
	}
	note := about{Key: key, Types: map[string]string{}}
	for i, c := range cols {
		if slices.ContainsFunc(cols[:i], func(d Column) bool { return d.Name == c.Name }) {
			return s.refuse("two columns named \"%s\"", c.Name).WithHint("Give them names with AS.")
		}
		if _, ok := elemOf(c.Type); !ok && c.Type != "text" {
			note.Types[c.Name] = c.Type
		}
	}
	b, err := json.Marshal(note)
	s.cols, s.meta = slices.Clone(cols), arrow.NewMetadata([]string{metaAbout}, []string{string(b)})
	return err
}

// arrowOf is the type that a column is written as.
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
		}
		return arrow.BinaryTypes.String
	}
	t := arrow.DataType(arrow.PrimitiveTypes.Float64)
	if d == tensor.Float32 {
		t = arrow.PrimitiveTypes.Float32
	}
	if c.Shape == nil { // no chunk at all
		return arrow.ListOfNonNullable(t)
	}
	for i := len(c.Shape) - 1; i >= 0; i-- {
		t = arrow.FixedSizeListOfNonNullable(int32(c.Shape[i]), t)
	}
	return t
}

// begin writes the schema, now that the shapes are known, and the rows that waited for it.
func (s *arrowSink) begin() error {
	fields := make([]arrow.Field, len(s.cols))
	for i, c := range s.cols {
		fields[i] = arrow.Field{Name: c.Name, Type: arrowOf(c), Nullable: true}
	}
	schema := arrow.NewSchema(fields, &s.meta)
	w, err := s.open(s.Writer, schema)
	if err != nil {
		return err
	}
	s.w, s.b = w, array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	for _, row := range s.waiting {
		if err := s.add(row); err != nil {
			return err
		}
	}
	s.waiting = nil
	return nil
}

// Write implements Sink.
func (s *arrowSink) Write(row []any) error {
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

func (s *arrowSink) add(row []any) error {
	for i, v := range row {
		if err := s.append(s.b.Field(i), &s.cols[i], v); err != nil {
			return err
		}
	}
	if s.rows++; s.rows >= batchRows || s.bytes >= batchBytes {
		return s.flush()
	}
	return nil
}

func (s *arrowSink) append(b array.Builder, c *Column, v any) error {
	s.bytes += 8
	switch x := v.(type) {
	case nil:
		b.AppendNull()
	case []byte:
		d, shape, p, err := tensor.Header(x)
		if err != nil {
			return sqlerr.New(sqlerr.DataCorrupted, "column \"%s\": %v", c.Name, err)
		}
		if !shape.Equal(c.Shape) {
			return sqlerr.New(sqlerr.ArraySubscript, "column \"%s\": a chunk of shape %v, others have shape %v", c.Name, shape, c.Shape)
		}
		s.bytes += len(p)
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
		s.bytes += len(x)
		b.(*array.StringBuilder).Append(x)
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

// appendChunk appends nested lists; p loses the elements written.
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

func (s *arrowSink) flush() error {
	if s.rows == 0 {
		return nil
	}
	rec := s.b.NewRecord()
	defer rec.Release()
	s.rows, s.bytes = 0, 0
	return s.w.Write(rec)
}

// Close implements Sink.
func (s *arrowSink) Close() error {
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
	return s.failed(s.w.Close())
}

// Abort implements Sink.
func (s *arrowSink) Abort() {}
