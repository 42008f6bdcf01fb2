package wire

import (
	"cmp"
	"math"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// binaryKinds are the kinds of types that are read in the server's binary form. All other types are read as text.
var binaryKinds = map[uint32]byte{
	pgtype.Int2OID: colInt, pgtype.Int4OID: colInt, pgtype.Int8OID: colInt, pgtype.OIDOID: colInt, pgtype.BoolOID: colBool,
	pgtype.Float4OID: colFloat32, pgtype.Float8OID: colFloat64,
	pgtype.Float4ArrayOID: colChunk32, pgtype.Float8ArrayOID: colChunk64, pgtype.Int8ArrayOID: colInts,
	pgtype.Int4ArrayOID: colInts,
}

// blockBytes is about the size of a full block.
const blockBytes = 4 << 20

// RowReader collects rows of the server's protocol in blocks.
type RowReader struct {
	cols  []*colReader
	rows  int
	bytes int
	each  func(*Block) error
}

func NewRowReader(fields []pgconn.FieldDescription, each func(*Block) error) *RowReader {
	b := &RowReader{each: each}
	for _, f := range fields {
		kind := cmp.Or(binaryKinds[f.DataTypeOID], colText)
		b.cols = append(b.cols, &colReader{name: f.Name, oid: f.DataTypeOID, kind: kind})
	}
	b.reset()
	return b
}

// Formats returns the form in which the server shall send each column.
func (b *RowReader) Formats() []int16 {
	formats := make([]int16, len(b.cols))
	for i, c := range b.cols {
		if c.kind != colText {
			formats[i] = pgtype.BinaryFormatCode
		}
	}
	return formats
}

// Add adds a row, and passes on the block when it is full.
func (b *RowReader) Add(row [][]byte) error {
	for i, c := range b.cols {
		b.bytes += len(row[i])
		if err := c.add(row[i], b.rows); err != nil {
			return err
		}
	}
	b.rows++
	if b.bytes > blockBytes {
		return b.flush()
	}
	return nil
}

// End passes on the last block. A query without rows gives an empty block, for its columns.
func (b *RowReader) End() error {
	if b.rows == 0 && len(b.cols) == 0 {
		return nil
	}
	return b.flush()
}

func (b *RowReader) flush() error {
	out := &Block{Rows: b.rows}
	for _, c := range b.cols {
		out.Cols = append(out.Cols, Column{Name: c.name, OID: c.oid, Data: c.v, Odd: c.odd})
	}
	b.reset()
	if b.each == nil {
		return nil
	}
	return b.each(out)
}

type colReader struct {
	name string
	oid  uint32
	kind byte
	v    *column.Column
	odd  *Odd
}

func (b *RowReader) reset() {
	b.rows, b.bytes = 0, 0
	for _, c := range b.cols {
		c.v, c.odd = column.New(kernels.Type{Kind: kinds[c.kind]}, 0), nil
	}
}

func (c *colReader) add(cell []byte, row int) error {
	v := c.v
	if v.SetLen(row + 1); cell == nil {
		v.SetNull(row)
	}
	if c.kind == colChunk32 || c.kind == colChunk64 || c.kind == colInts {
		return c.addArray(cell, row)
	}
	switch c.kind {
	case colText:
		v.AddText(string(cell))
	case colFloat32:
		v.AddF32(math.Float32frombits(uint32(bigEndian(cell))))
	case colFloat64:
		v.AddF64(math.Float64frombits(bigEndian(cell)))
	default:
		x := int64(bigEndian(cell))
		switch {
		case c.oid == pgtype.Int2OID:
			x = int64(int16(x))
		case c.oid == pgtype.Int4OID:
			x = int64(int32(x))
		}
		v.AddI64(x)
	}
	return nil
}

func bigEndian(b []byte) (x uint64) {
	for _, c := range b {
		x = x<<8 | uint64(c)
	}
	return x
}

// be32 reads an integer of the server's protocol, which is big endian.
func (d *Decoder) be32() uint32 { return uint32(bigEndian(d.take(4))) }

// addArray reads the binary form of an array: dimensions, flags, element type, per dimension length and lower bound,
// then the elements with their lengths.
func (c *colReader) addArray(cell []byte, row int) error {
	v := c.v
	if cell == nil {
		Grow(v, 1)
		return nil
	}
	d := &Decoder{Bytes: cell}
	shape := make(tensor.Shape, 0, 6)
	n, nulls := int(d.be32()), d.be32()
	d.be32()
	why := byte(0)
	for range min(n, 6) {
		shape = append(shape, int(d.be32()))
		if d.be32() != 1 {
			why = 'l'
		}
	}
	switch {
	case n == 0:
		why = 'e'
	case nulls != 0:
		why = 'n'
	}
	if why == 0 && v.Type().Shape == nil { // the first chunk; rows before it are NULL
		v.SetType(kernels.Type{Kind: v.Type().Kind, Nullable: v.Type().Nullable, Shape: shape})
		Grow(v, row)
	}
	if why == 0 && !shape.Equal(v.Type().Shape) {
		why = 's'
	}
	if why != 0 {
		if c.odd == nil {
			c.odd = &Odd{Row: row, Why: why, Shape: shape}
		}
		Grow(v, 1)
		return nil
	}
	for range v.Size() {
		x := bigEndian(d.take(int(d.be32())))
		switch {
		case c.kind == colChunk32:
			v.AddF32(math.Float32frombits(uint32(x)))
		case c.kind == colChunk64:
			v.AddF64(math.Float64frombits(x))
		case c.oid == pgtype.Int4ArrayOID:
			v.AddI64(int64(int32(x)))
		default:
			v.AddI64(int64(x))
		}
	}
	return d.Err
}

// Grow appends zeros for rows without chunks. It does nothing while the column's shape is not known.
func Grow(v *column.Column, rows int) {
	if v.Type().Shape != nil {
		v.AddZeros(rows * v.Size())
	}
}
