package interop

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/relgrad/relgrad/tensor"
)

// parquetWriter writes row groups with the low-level writer. The writer of Arrow records would link an RPC system.
type parquetWriter struct {
	w    *file.Writer
	cols []*parquetOut
}

// parquetOut is a column of the row group being built. Definition levels are 0 for NULL and maxDef for a value; a
// repetition level is the axis of a chunk along which an element begins.
type parquetOut struct {
	rank     int
	maxDef   int16
	pattern  []int16 // repetition levels of one chunk
	def, rep []int16
	bools    []bool
	i32      []int32
	i64      []int64
	f32      []float32
	f64      []float64
	text     []parquet.ByteArray
}

func openParquetWriter(w io.Writer, cols []Column, note string) (rowWriter, error) {
	out := &parquetWriter{}
	var nodes schema.FieldList
	for _, c := range cols {
		p := &parquetOut{}
		if _, chunk := chunkType(c.Type); chunk {
			p.rank = max(len(c.Shape), 1) // without a shape all values are NULL
			p.pattern = repetition(c.Shape)
		}
		p.maxDef = int16(1 + p.rank)
		n, err := parquetNode(c, p.rank)
		if err != nil {
			return nil, err
		}
		nodes, out.cols = append(nodes, n), append(out.cols, p)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	if err != nil {
		return nil, err
	}
	meta := metadata.NewKeyValueMetadata()
	if err := meta.Append(metaAbout, note); err != nil {
		return nil, err
	}
	props := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy),
		parquet.WithDictionaryDefault(false), parquet.WithStats(false))
	out.w = file.NewParquetWriter(struct{ io.Writer }{w}, root, file.WithWriterProps(props), file.WithWriteMetadata(meta))
	return out, nil
}

// parquetNode is a column in the schema: optional, with rank nested lists of required elements.
func parquetNode(c Column, rank int) (schema.Node, error) {
	name, rep := c.Name, parquet.Repetitions.Optional
	if rank > 0 {
		name, rep = "element", parquet.Repetitions.Required
	}
	typ, kind := parquet.Types.ByteArray, schema.LogicalType(schema.StringLogicalType{})
	if f := clockOf(c); f != nil {
		typ, kind = physical[f.Type], logical(f.Type)
	}
	if e, ok := elemOf(c.Type); ok {
		typ = map[string]parquet.Type{"bool": parquet.Types.Boolean, "int16": parquet.Types.Int32,
			"int32": parquet.Types.Int32, "int64": parquet.Types.Int64,
			"float32": parquet.Types.Float, "float64": parquet.Types.Double}[e.name]
		kind = schema.NoLogicalType{}
		if e.kind == 'i' {
			kind = schema.NewIntLogicalType(int8(8*e.size), true)
		}
	}
	n, err := schema.NewPrimitiveNodeLogical(name, rep, kind, typ, -1, -1)
	if err != nil {
		return nil, err
	}
	node := schema.Node(n)
	for k := range rank {
		if k == rank-1 {
			name, rep = c.Name, parquet.Repetitions.Optional
		}
		list, err := schema.NewGroupNode("list", parquet.Repetitions.Repeated, schema.FieldList{node}, -1)
		if err != nil {
			return nil, err
		}
		if node, err = schema.NewGroupNodeLogical(name, rep, schema.FieldList{list},
			schema.NewListLogicalType(), -1); err != nil {
			return nil, err
		}
	}
	return node, nil
}

// repetition returns the repetition levels of a chunk's elements: 0 for the first, the rank for an element that follows
// its neighbour along the last axis, k+1 where axis k advances.
func repetition(shape tensor.Shape) []int16 {
	out := make([]int16, shape.Size())
	for i := range out {
		level, step := len(shape), 1
		for k := len(shape) - 1; k >= 0; k-- {
			if step *= shape[k]; i%step != 0 {
				break
			}
			level = k
		}
		out[i] = int16(level)
	}
	return out
}

func (w *parquetWriter) add(row []any) (bytes int, err error) {
	for i, v := range row {
		n, err := w.cols[i].add(v)
		if err != nil {
			return 0, err
		}
		bytes += n
	}
	return bytes, nil
}

func (p *parquetOut) add(v any) (int, error) {
	if v == nil {
		p.def, p.rep = append(p.def, 0), append(p.rep, 0)
		return 8, nil
	}
	x, chunk := v.([]byte)
	if !chunk {
		p.def, p.rep = append(p.def, p.maxDef), append(p.rep, 0)
		return p.scalar(v), nil
	}
	d, shape, b, err := tensor.Header(x)
	if err != nil {
		return 0, err
	}
	for i := range shape.Size() {
		p.def = append(p.def, p.maxDef)
		if d == tensor.Float32 {
			p.f32 = append(p.f32, math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		} else {
			p.f64 = append(p.f64, math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
		}
	}
	p.rep = append(p.rep, p.pattern...)
	return 2 * len(x), nil
}

// scalar adds a value of the column's type. real is separated from double precision when the column is written.
func (p *parquetOut) scalar(v any) int {
	switch x := v.(type) {
	case bool:
		p.bools = append(p.bools, x)
	case int64:
		p.i64 = append(p.i64, x)
	case Day:
		p.i64 = append(p.i64, int64(x))
	case Moment:
		p.i64 = append(p.i64, int64(x))
	case float64:
		p.f64 = append(p.f64, x)
	case string:
		p.text = append(p.text, []byte(x))
		return 32 + len(x)
	}
	return 16
}

func (w *parquetWriter) flush(int) error {
	g := w.w.AppendRowGroup()
	for _, p := range w.cols {
		c, err := g.NextColumn()
		if err != nil {
			return err
		}
		if err := p.write(c); err != nil {
			return err
		}
		if err := c.Close(); err != nil {
			return err
		}
		p.def, p.rep, p.bools, p.i32, p.i64, p.f32, p.f64, p.text = p.def[:0], p.rep[:0], p.bools[:0], p.i32[:0], p.i64[:0],
			p.f32[:0], p.f64[:0], p.text[:0]
	}
	return g.Close()
}

func (p *parquetOut) write(c file.ColumnChunkWriter) (err error) {
	rep := p.rep
	if p.rank == 0 {
		rep = nil
	}
	switch x := c.(type) {
	case *file.BooleanColumnChunkWriter:
		_, err = x.WriteBatch(p.bools, p.def, rep)
	case *file.Int32ColumnChunkWriter:
		for _, n := range p.i64 {
			p.i32 = append(p.i32, int32(n))
		}
		_, err = x.WriteBatch(p.i32, p.def, rep)
	case *file.Int64ColumnChunkWriter:
		_, err = x.WriteBatch(p.i64, p.def, rep)
	case *file.Float32ColumnChunkWriter:
		for _, v := range p.f64 { // of a column of scalars
			p.f32 = append(p.f32, float32(v))
		}
		_, err = x.WriteBatch(p.f32, p.def, rep)
	case *file.Float64ColumnChunkWriter:
		_, err = x.WriteBatch(p.f64, p.def, rep)
	case *file.ByteArrayColumnChunkWriter:
		_, err = x.WriteBatch(p.text, p.def, rep)
	}
	return err
}

func (w *parquetWriter) close() error { return w.w.Close() }
