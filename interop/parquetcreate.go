package interop

import (
	"cmp"
	"io"
	"math/big"
	"runtime"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Encodings of a column of Parquet. The zero value is a dictionary, which gives way to plain values where it grows
// large, and for floats.
const (
	DictionaryEncoding = iota
	PlainEncoding
	DeltaEncoding           // of integers
	FloatDictionaryEncoding // a dictionary also for floats, of which none may be NaN or -0
)

// ParquetOptions says how a Parquet file is written. Maps are by the names of columns. Columns of
// float and double never have statistics: those of Parquet leave NaN out, which other programs take for the largest
// number.
type ParquetOptions struct {
	Rows         int // of a row group, at most; 0: 65,536
	Bytes        int // about how many a row group may take in memory; 0: 32 MiB
	Encoding     map[string]int
	NoStatistics map[string]bool
	Trial        map[string]bool // columns of which a page stays as it is where compressing it saves little
}

// ParquetWriter writes a Parquet file of nested values, compressed by zstd. Columns are encoded by several goroutines,
// while rows of the next groups are taken; the file does not depend on which is first.
type ParquetWriter struct {
	target
	props       *parquet.WriterProperties
	meta        *metadata.FileMetaDataBuilder
	o           ParquetOptions
	root        []*outNode
	leaves      []*outLeaf
	rows, bytes int
	groups      []*outGroup
	written     int   // of the groups
	at          int64 // where the next one goes
	encoding    int   // about the bytes in memory of the groups that are not written
	free        chan struct{}
	err         error
}

// CreateParquet begins a Parquet file with the given columns, which is complete when Close returns nil. name is for
// errors.
func CreateParquet(w io.Writer, name string, columns []Field, o ParquetOptions) (p *ParquetWriter, err error) {
	o.Rows, o.Bytes = cmp.Or(o.Rows, batchRows), cmp.Or(o.Bytes, batchBytes)
	p = &ParquetWriter{target: target{Writer: w, name: name}, o: o}
	defer p.guard(&err)
	var nodes schema.FieldList
	var names []string // of the column of each leaf
	for i := range columns {
		n, out, err := p.node(&columns[i], columns[i].Name, 0, 0)
		if err != nil {
			return nil, err
		}
		nodes, p.root = append(nodes, n), append(p.root, out)
		for len(names) < len(p.leaves) {
			names = append(names, columns[i].Name)
		}
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	if err != nil {
		return nil, p.refuse("%v", err)
	}
	props := []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithCreatedBy("relgrad")}
	for i, s := 0, schema.NewSchema(root); i < s.NumColumns(); i++ {
		props = append(props, o.properties(s.Column(i), names[i])...)
	}
	p.props = parquet.NewWriterProperties(props...)
	p.meta = metadata.NewFileMetadataBuilder(schema.NewSchema(root), p.props, nil)
	p.free = make(chan struct{}, runtime.GOMAXPROCS(0))
	return p, p.put([]byte(magic))
}

func (o *ParquetOptions) properties(c *schema.Column, column string) []parquet.WriterProperty {
	path, kind := c.ColumnPath(), c.PhysicalType()
	integer := kind == parquet.Types.Int32 || kind == parquet.Types.Int64
	float := kind == parquet.Types.Float || kind == parquet.Types.Double
	out := []parquet.WriterProperty{parquet.WithStatsPath(path, !float && !o.NoStatistics[column])}
	if o.Trial[column] {
		out = append(out, parquet.WithCompressionLevelPath(path, trialLevel))
	}
	switch e := o.Encoding[column]; {
	case e == DeltaEncoding && integer:
		out = append(out, parquet.WithDictionaryPath(path, false),
			parquet.WithEncodingPath(path, parquet.Encodings.DeltaBinaryPacked))
	case e == FloatDictionaryEncoding, e == DictionaryEncoding && kind != parquet.Types.Boolean && !float:
		// by default not of floats: it would make one of all NaN
		out = append(out, parquet.WithDictionaryPath(path, true))
	default:
		out = append(out, parquet.WithDictionaryPath(path, false), parquet.WithEncodingPath(path, parquet.Encodings.Plain))
	}
	return out
}

// outNode is a field being written: cut into leaves with levels, as in Dremel
// (https://research.google/pubs/dremel-interactive-analysis-of-web-scale-datasets-2/).
type outNode struct {
	field    *Field
	def, rep int16 // the definition level of a value; the repetition level of a further element of a list
	parts    []*outNode
	leaf     *outLeaf
	same     repeated // of a column
}

// physical are the types of Parquet in which types are stored, but for decimals.
var physical = map[string]parquet.Type{"boolean": parquet.Types.Boolean, "byte": parquet.Types.Int32,
	"short": parquet.Types.Int32, "integer": parquet.Types.Int32, "long": parquet.Types.Int64,
	"float": parquet.Types.Float, "double": parquet.Types.Double, "string": parquet.Types.ByteArray,
	"binary": parquet.Types.ByteArray,
	"date":   parquet.Types.Int32, "timestamp": parquet.Types.Int64, "timestamp_ntz": parquet.Types.Int64}

func logical(typ string) schema.LogicalType {
	switch typ {
	case "byte", "short":
		return schema.NewIntLogicalType(map[string]int8{"byte": 8, "short": 16}[typ], true)
	case "string":
		return schema.StringLogicalType{}
	case "date":
		return schema.DateLogicalType{}
	case "timestamp", "timestamp_ntz":
		return schema.NewTimestampLogicalType(typ == "timestamp", schema.TimeUnitMicros)
	}
	return schema.NoLogicalType{}
}

// node makes the schema of a field inside def optional and rep repeated ones.
func (p *ParquetWriter) node(f *Field, name string, def, rep int16) (schema.Node, *outNode, error) {
	repetition := parquet.Repetitions.Required
	if !f.Required {
		repetition, def = parquet.Repetitions.Optional, def+1
	}
	out := &outNode{field: f, def: def}
	if len(f.Parts) == 0 {
		n, err := p.leafNode(f, name, repetition, out)
		out.leaf.rep = rep > 0
		return n, out, err
	}
	parts, names, inner := schema.FieldList{}, []string{"element"}, def
	if f.Type != "struct" {
		rep, inner, out.rep = rep+1, def+1, rep+1
	}
	if f.Type == "map" {
		names = []string{"key", "value"}
	}
	for i := range f.Parts {
		part := f.Parts[i].Name
		if f.Type != "struct" {
			part = names[i]
		}
		n, o, err := p.node(&f.Parts[i], part, inner, rep)
		if err != nil {
			return nil, nil, err
		}
		parts, out.parts = append(parts, n), append(out.parts, o)
	}
	if f.Type == "struct" {
		n, err := schema.NewGroupNode(name, repetition, parts, -1)
		return n, out, err
	}
	group, kind := "list", schema.LogicalType(schema.NewListLogicalType())
	if f.Type == "map" {
		group, kind = "key_value", schema.MapLogicalType{}
	}
	list, err := schema.NewGroupNode(group, parquet.Repetitions.Repeated, parts, -1)
	if err != nil {
		return nil, nil, err
	}
	n, err := schema.NewGroupNodeLogical(name, repetition, schema.FieldList{list}, kind, -1)
	return n, out, err
}

func (p *ParquetWriter) leafNode(f *Field, name string, r parquet.Repetition, out *outNode) (schema.Node, error) {
	out.leaf = &outLeaf{max: out.def}
	p.leaves = append(p.leaves, out.leaf)
	if precision, scale, ok := f.Decimal(); ok {
		typ, size := parquet.Types.Int64, -1
		if precision > 18 {
			typ, size = parquet.Types.FixedLenByteArray, 16
		}
		decimal := schema.NewDecimalLogicalType(int32(precision), int32(scale))
		return schema.NewPrimitiveNodeLogical(name, r, decimal, typ, size, -1)
	}
	typ, ok := physical[f.Type]
	if !ok {
		return nil, p.refuse("column \"%s\" is of type %s, which Parquet files are not written with", name, f.Type)
	}
	return schema.NewPrimitiveNodeLogical(name, r, logical(f.Type), typ, -1, -1)
}

// Write adds a row, a value for each column in the forms of Field. After an error the file cannot be completed.
func (p *ParquetWriter) Write(row []any) (err error) {
	if p.err != nil {
		return p.err
	}
	defer func() { p.err = err }()
	defer p.guard(&err)
	for i, n := range p.root {
		size, err := n.take(row[i], p.rows)
		if err != nil {
			return within(err, "column \""+n.field.Name+"\": ")
		}
		p.bytes += size
	}
	if p.rows++; p.rows >= p.o.Rows || p.bytes >= p.o.Bytes {
		return p.flush()
	}
	return nil
}

// Close completes the file.
func (p *ParquetWriter) Close() (err error) {
	if p.err != nil {
		return p.err
	}
	defer p.guard(&err)
	if p.rows > 0 {
		if err := p.flush(); err != nil {
			return err
		}
	}
	for p.written < len(p.groups) {
		if err := p.write(); err != nil {
			return err
		}
	}
	p.err = sqlerr.Broken("interop", "a file that is complete")
	return p.footer()
}

func (p *ParquetWriter) guard(err *error) {
	if x := recover(); x != nil {
		*err = p.refuse("%v", x)
	}
}

// decimalBytes is an unscaled number in 16 bytes, most significant first.
func decimalBytes(n *big.Int) []byte {
	if n.Sign() < 0 {
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	return n.FillBytes(make([]byte, 16))
}
