package wire

import (
	"fmt"
	"unsafe"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// Block is some rows of a relation, column by column. A block from a Conn must be read before the Conn goes on.
type Block struct {
	Rows int
	Cols []Column
}

// BlockOf makes a block from columns.
func BlockOf(names []string, cols []*column.Column) *Block {
	b := &Block{}
	for i, v := range cols {
		b.Rows = v.Len()
		b.Cols = append(b.Cols, Column{Name: names[i], Data: v})
	}
	return b
}

// Column is a column of a block; Data holds its rows. All chunks of a column have the same shape in a block; the shape
// is nil if all are NULL.
type Column struct {
	Name string
	OID  uint32 // the server's type of a received column
	Data *column.Column
	Odd  *Odd // the first irregular chunk; Data is then undefined
}

// Arrays reports whether a received column holds arrays of numbers.
func (c *Column) Arrays() bool {
	k := binaryKinds[c.OID]
	return k == colChunk32 || k == colChunk64 || k == colInts
}

// Texts reports whether a received column holds neither numbers nor chunks.
func (c *Column) Texts() bool {
	k := binaryKinds[c.OID]
	return (k == 0 || k == colInts) && c.OID != pgtype.NumericOID
}

// Odd is a chunk that differs from those that a column may hold.
type Odd struct {
	Row   int  // the row in the block
	Why   byte // 's' another shape, 'n' a NULL element, 'l' a lower bound other than 1, 'e' an empty array
	Shape tensor.Shape
}

// Kinds of columns in shared memory.
const (
	colInt, colFloat32, colFloat64, colBool, colText, colChunk32, colChunk64, colInts byte = 'i', 'f', 'd',
		'b', 't', 'F', 'D', 'I'
)

// kindOf is a column's kind in shared memory.
func kindOf(t kernels.Type) byte {
	switch {
	case t.Kind == kernels.Text:
		return colText
	case t.Kind == kernels.Bool:
		return colBool
	case t.Kind == kernels.Int && t.Shape != nil:
		return colInts
	case t.Kind == kernels.Int:
		return colInt
	case t.Kind == kernels.Float32 && t.Shape != nil:
		return colChunk32
	case t.Kind == kernels.Float32:
		return colFloat32
	case t.Shape != nil:
		return colChunk64
	}
	return colFloat64
}

var kinds = map[byte]kernels.Kind{colInt: kernels.Int, colFloat32: kernels.Float32, colFloat64: kernels.Float64,
	colBool: kernels.Bool, colText: kernels.Text,
	colChunk32: kernels.Float32, colChunk64: kernels.Float64, colInts: kernels.Int}

// oids are the server's types of columns that are sent.
var oids = map[byte]uint32{colInt: pgtype.Int8OID, colFloat32: pgtype.Float4OID, colFloat64: pgtype.Float8OID,
	colBool: pgtype.BoolOID, colText: pgtype.TextOID,
	colChunk32: pgtype.Float4ArrayOID, colChunk64: pgtype.Float8ArrayOID, colInts: pgtype.Int8ArrayOID}

// Flags of a column.
const (
	colNulls = 1 << iota
	colOdd
)

// DecodeBlock reads a block's description. Numbers stay in mem, texts are copied.
func DecodeBlock(payload, mem []byte) (*Block, error) {
	d := Decoder{Bytes: payload}
	b := &Block{Rows: int(d.U64())}
	if n := int(d.U32()); n <= len(payload) {
		b.Cols = make([]Column, n)
	}
	for i := range b.Cols {
		if err := decodeColumn(&d, mem, b.Rows, &b.Cols[i]); err != nil {
			return nil, err
		}
	}
	return b, d.Err
}

func decodeColumn(d *Decoder, mem []byte, rows int, c *Column) error {
	c.Name, c.OID = d.Str(), d.U32()
	kind, flags := d.u8(), d.u8()
	shape := readShape(d)
	data, nulls, extra := d.U64(), d.U64(), d.U64()
	if flags&colOdd != 0 {
		c.Odd = &Odd{Row: int(d.U64()), Why: d.u8()}
		c.Odd.Shape = readShape(d)
	}
	if d.Err != nil {
		return d.Err
	}
	k, ok := kinds[kind]
	if !ok {
		return fmt.Errorf("pgbridge: column %s is of the kind %q", c.Name, kind)
	}
	t := kernels.Type{Kind: k}
	chunks := kind == colChunk32 || kind == colChunk64 || kind == colInts
	if chunks && len(shape) > 0 {
		t.Shape = shape
	}
	if c.Data = column.New(t, 0); c.Odd != nil {
		return nil
	}
	m := memory{mem: mem}
	n := rows * t.Size()
	if chunks && t.Shape == nil { // all are NULL
		n = 0
	}
	c.Data = m.values(t, kind, rows, n, data, extra)
	c.Data.SetLen(rows)
	if flags&colNulls != 0 {
		valid := make([]byte, rows)
		for i, x := range at[byte](&m, nulls, rows) {
			valid[i] = min(x, 1)
		}
		c.Data.SetValid(valid)
	}
	return m.err
}

// values makes a column of n values of a kind: they are at data, the bytes of texts at extra.
func (m *memory) values(t kernels.Type, kind byte, rows, n int, data, extra uint64) *column.Column {
	switch kind {
	case colInt, colInts:
		return column.Of(t, at[int64](m, data, n))
	case colFloat32, colChunk32:
		return column.Of(t, at[float32](m, data, n))
	case colFloat64, colChunk64:
		return column.Of(t, at[float64](m, data, n))
	}
	v := column.New(t, rows)
	if kind == colBool {
		for i, x := range at[byte](m, data, rows) {
			v.I64()[i] = int64(x)
		}
		return v
	}
	from := at[uint32](m, data, rows+1)
	for i := range v.Texts() {
		if m.err == nil && from[i] <= from[i+1] {
			v.Texts()[i] = string(at[byte](m, extra+uint64(from[i]), int(from[i+1]-from[i])))
		}
	}
	return v
}

func readShape(d *Decoder) tensor.Shape {
	n := int(d.u8())
	shape := make(tensor.Shape, 0, n)
	for range n {
		shape = append(shape, int(d.U32()))
	}
	return shape
}

// memory is the memory of a block. err is the first access outside of it.
type memory struct {
	mem []byte
	err error
}

// at returns the n elements at an offset, in place.
func at[T any](m *memory, offset uint64, n int) []T {
	var x T
	size := uint64(unsafe.Sizeof(x))
	if n < 0 || offset > uint64(len(m.mem)) || uint64(n) > (uint64(len(m.mem))-offset)/size {
		m.err = fmt.Errorf("pgbridge: %d values at %d lie outside of %d bytes", n, offset, len(m.mem))
		return make([]T, max(n, 0))
	}
	if n == 0 {
		return nil
	}
	if offset%size != 0 {
		m.err = fmt.Errorf("pgbridge: values at %d are not aligned", offset)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&m.mem[offset])), n)
}

// Layout says where in memory the columns of a block go, and describes that.
type Layout struct {
	Description Encoder
	Size        uint64
	put         []func(mem []byte)
}

func (l *Layout) reserve(bytes int) uint64 {
	at := l.Size
	l.Size = (l.Size + uint64(bytes) + 7) &^ 7
	return at
}

// Write writes the block's values to these places.
func (l *Layout) Write(mem []byte) {
	for _, put := range l.put {
		put(mem)
	}
}

// LayOut plans the layout of a block that will be sent.
func LayOut(b *Block) *Layout {
	l := &Layout{}
	l.Description.U64(uint64(b.Rows))
	l.Description.U32(uint32(len(b.Cols)))
	for i := range b.Cols {
		l.column(&b.Cols[i], b.Rows)
	}
	return l
}

func (l *Layout) column(c *Column, rows int) {
	v := c.Data
	l.Description.Str(c.Name)
	l.Description.U32(oids[kindOf(v.Type())])
	l.Description.U8(kindOf(v.Type()))
	flags := byte(0)
	if v.Valid() != nil {
		flags = colNulls
	}
	l.Description.U8(flags)
	l.Description.U8(byte(len(v.Type().Shape)))
	for _, n := range v.Type().Shape {
		l.Description.U32(uint32(n))
	}
	data, nulls, extra := uint64(0), uint64(0), uint64(0)
	switch {
	case v.Kind() == column.Str || v.Type().Kind == kernels.Text:
		data, extra = l.texts(v.Texts())
	case v.Type().Kind == kernels.Bool:
		data = l.reserve(rows)
		l.put = append(l.put, func(mem []byte) {
			for i, x := range v.I64() {
				mem[data+uint64(i)] = byte(x)
			}
		})
	case v.Kind() == column.F32:
		data = numbers(l, v.F32())
	case v.Kind() == column.F64:
		data = numbers(l, v.F64())
	default:
		data = numbers(l, v.I64())
	}
	if v.Valid() != nil {
		nulls = l.reserve(rows)
		l.put = append(l.put, func(mem []byte) { copy(mem[nulls:], v.Valid()) })
	}
	l.Description.U64(data)
	l.Description.U64(nulls)
	l.Description.U64(extra)
}

func numbers[T int64 | float32 | float64](l *Layout, x []T) uint64 {
	var one T
	data := l.reserve(len(x) * int(unsafe.Sizeof(one)))
	l.put = append(l.put, func(mem []byte) {
		if len(x) > 0 {
			copy(unsafe.Slice((*T)(unsafe.Pointer(&mem[data])), len(x)), x)
		}
	})
	return data
}

func (l *Layout) texts(texts []string) (data, extra uint64) {
	total := 0
	for _, s := range texts {
		total += len(s)
	}
	data, extra = l.reserve(4*(len(texts)+1)), l.reserve(total)
	l.put = append(l.put, func(mem []byte) {
		from := unsafe.Slice((*uint32)(unsafe.Pointer(&mem[data])), len(texts)+1)
		at := uint32(0)
		for i, s := range texts {
			from[i] = at
			copy(mem[extra+uint64(at):], s)
			at += uint32(len(s))
		}
		from[len(texts)] = at
	})
	return data, extra
}
