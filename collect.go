package relgrad

import (
	"context"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/tensor"
)

// collect reads rows into columns.
func collect(ctx context.Context, cols []interop.Column, rows interop.Rows) (*catalog.Relation, error) {
	c := newCollecting(ctx, cols, rows)
	return c.relation(math.MaxInt64)
}

// pieceBytes is about how many bytes of rows collectPieces has in memory.
const pieceBytes = 8 << 20

// collectPieces is collect, but where the rows take more than pieceBytes all but the first of them are read as they are
// asked for. place puts an error of that in its place.
func collectPieces(ctx context.Context, cols []interop.Column, rows interop.Rows, place func(error) error) (
	*catalog.Relation, error) {
	c := newCollecting(ctx, cols, rows)
	out, err := c.relation(pieceBytes)
	if err != nil || c.done {
		return out, err
	}
	out.More = func() ([]*column.Column, error) {
		if c.done {
			return nil, nil
		}
		r, err := c.relation(pieceBytes)
		if err != nil {
			return nil, place(err)
		}
		return r.Cols, nil
	}
	return out, nil
}

// collecting reads rows into columns, piece by piece.
type collecting struct {
	ctx  context.Context
	rows interop.Rows
	list []*collector
	row  []any
	done bool // there are no more rows
}

func newCollecting(ctx context.Context, cols []interop.Column, rows interop.Rows) *collecting {
	return &collecting{ctx: ctx, rows: rows, row: make([]any, len(cols)),
		list: lists.Map(cols, func(c interop.Column) *collector { return &collector{col: c} })}
}

// relation reads the next rows, of so many bytes or a little more.
func (c *collecting) relation(most int64) (*catalog.Relation, error) {
	bytes := int64(0)
	for n := 0; bytes < most; n++ {
		if n%1024 == 0 && c.ctx.Err() != nil {
			return nil, sqlerr.Canceled(c.ctx.Err())
		}
		if err := c.rows.Next(c.row); err == io.EOF {
			c.done = true
			break
		} else if err != nil {
			return nil, err
		}
		for i, v := range c.row {
			if err := c.list[i].add(v); err != nil {
				return nil, err
			}
			bytes += 8 + int64(sizeOf(v))
		}
	}
	out := &catalog.Relation{}
	for i, l := range c.list {
		v, err := l.column()
		if err != nil {
			return nil, err
		}
		out.Names, out.Types = append(out.Names, l.col.Name), append(out.Types, l.col.Type)
		out.Cols = append(out.Cols, v)
		c.list[i] = &collector{col: l.col, shape: l.shape, bytes: l.bytes[:0]} // of the bytes there is a copy
	}
	return out, nil
}

// sizeOf is the bytes of a value of which a column has more than a number.
func sizeOf(v any) int {
	switch x := v.(type) {
	case string:
		return 8 + len(x)
	case []byte:
		return len(x)
	}
	return 0
}

// collector gathers the values of a column.
type collector struct {
	col    interop.Column
	shape  tensor.Shape // of the chunks
	n      int
	nulls  []int
	floats []float64
	ints   []int64
	texts  []string
	bytes  []byte // of chunks
}

func (c *collector) add(v any) error {
	c.n++
	switch x := v.(type) {
	case nil:
		c.nulls = append(c.nulls, c.n-1)
		c.zero()
	case bool:
		c.ints = append(c.ints, 0)
		if x {
			c.ints[c.n-1] = 1
		}
	case int64:
		c.ints = append(c.ints, x)
	case float64:
		if math.IsNaN(x) {
			return columns.ErrNaN().WithDetail("Column \"%s\" holds it.", c.col.Name)
		}
		c.floats = append(c.floats, x)
	case string:
		c.texts = append(c.texts, x)
	case []byte:
		return c.chunk(x)
	default:
		return sqlerr.New(sqlerr.FeatureNotSupported, "column \"%s\" holds arrays of type %s, which cannot be scanned",
			c.col.Name, c.col.Type).WithHint("relgrad import reads them into a table.")
	}
	return nil
}

// zero adds the place of a NULL.
func (c *collector) zero() {
	switch c.col.Type {
	case "boolean", "smallint", "integer", "bigint":
		c.ints = append(c.ints, 0)
	case "real", "double precision":
		c.floats = append(c.floats, 0)
	case "real[]", "double precision[]":
		if c.shape != nil {
			c.bytes = append(c.bytes, make([]byte, c.shape.Size()*c.dtype().Size())...)
		}
	default:
		c.texts = append(c.texts, "")
	}
}

func (c *collector) dtype() tensor.DType {
	if c.col.Type == "real[]" {
		return tensor.Float32
	}
	return tensor.Float64
}

// chunk adds a chunk, whose shape must be that of those before.
func (c *collector) chunk(b []byte) error {
	_, shape, elements, err := tensor.Header(b)
	if err != nil {
		return err
	}
	if c.shape == nil {
		c.shape = slices.Clone(shape)
		c.bytes = make([]byte, (c.n-1)*len(elements)) // of NULLs before it
	}
	if !shape.Equal(c.shape) {
		return sqlerr.New(sqlerr.ArraySubscript, "column \"%s\" holds arrays of shape %v and of shape %v", c.col.Name,
			c.shape, shape).WithHint("relgrad import reads them into a table.")
	}
	c.bytes = append(c.bytes, elements...)
	return nil
}

// column makes the column.
func (c *collector) column() (v *column.Column, err error) {
	switch c.col.Type {
	case "boolean":
		v = column.Of(kernels.Type{Kind: kernels.Bool}, c.ints)
	case "smallint", "integer", "bigint":
		v = column.Of(kernels.Type{Kind: kernels.Int}, c.ints)
	case "real":
		v = column.Of(kernels.Type{Kind: kernels.Float32}, lists.Map(c.floats, toReal))
	case "double precision":
		v = column.Of(kernels.Type{Kind: kernels.Float64}, c.floats)
	case "real[]", "double precision[]":
		v = c.chunks()
	default:
		if strings.HasSuffix(c.col.Type, "[]") || len(c.texts) != c.n {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "column \"%s\" of type %s cannot be scanned", c.col.Name,
				c.col.Type).WithHint("relgrad import reads it into a table.")
		}
		v = column.Of(kernels.Type{Kind: kernels.Text}, c.texts)
	}
	for _, i := range c.nulls {
		v.SetNull(i)
	}
	if v.Len() != c.n {
		return nil, sqlerr.New(sqlerr.Internal, "internal error: %d values of %d rows", v.Len(), c.n)
	}
	return v, nil
}

func toReal(x float64) float32 { return float32(x) }

// chunks makes a column of chunks.
func (c *collector) chunks() *column.Column {
	t := kernels.Type{Kind: kernels.Float64, Shape: c.shape}
	if c.dtype() == tensor.Float32 {
		t.Kind = kernels.Float32
	}
	v := column.New(t, c.n)
	copy(v.Bytes(), c.bytes)
	return v
}
