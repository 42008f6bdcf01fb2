package relgrad

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/columns"
)

// deltaStream is a table of Delta Lake that is read by row groups.
type deltaStream struct {
	dir    string
	cols   []interop.Column
	types  []kernels.Type
	pieces []delta.Piece
	where  []delta.Bound // only rows within these
	rows   []int64       // of the pieces
}

var _ catalog.Streamer = embedded{}

// Stream implements catalog.Streamer: it opens a table of Delta Lake, of which it reads the log and the files' footers,
// and as many row groups as it takes to see the shape of each column of chunks.
func (e embedded) Stream(ctx context.Context, call *ast.FuncCall, needs ast.Needs) (catalog.Stream, error) {
	s, args, err := openCall(ctx, *e.dir, call)
	if err != nil {
		return nil, err
	}
	d := &deltaStream{dir: args.Text("dir"), cols: needed(s.Columns(), needs)}
	if err = interop.Readable(d.dir, d.cols); err == nil {
		d.where, err = exactBounds(s, needs.Where)
	}
	if err == nil {
		d.pieces, err = delta.PiecesOf(s)
	}
	if err == nil {
		err = d.count(ctx)
	}
	if err == nil {
		err = d.describe(ctx)
	}
	if err != nil {
		return nil, engine.At(inFolder(err, d.dir), args.Position("dir"))
	}
	return d, nil
}

// count finds how many rows of each piece there are, and leaves out those without any. Where there are conditions it
// reads the columns that these compare.
func (d *deltaStream) count(ctx context.Context) error {
	var cols []interop.Column
	for _, b := range d.where {
		if i := slices.IndexFunc(d.cols, func(c interop.Column) bool { return c.Name == b.Column }); i >= 0 {
			cols = append(cols, d.cols[i])
		}
	}
	pieces := d.pieces
	d.pieces = nil
	for i := range pieces {
		n := pieces[i].Rows
		if len(d.where) > 0 {
			var err error
			if n, err = countRows(ctx, &pieces[i], cols, d.where); err != nil {
				return err
			}
		}
		if n > 0 {
			d.pieces, d.rows = append(d.pieces, pieces[i]), append(d.rows, n)
		}
	}
	return nil
}

// countRows counts the rows of a piece that are within bounds.
func countRows(ctx context.Context, p *delta.Piece, cols []interop.Column, where []delta.Bound) (n int64, err error) {
	rows, err := p.Read(cols, where)
	if err != nil {
		return 0, err
	}
	for row := make([]any, len(cols)); ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return 0, sqlerr.Canceled(ctx.Err())
		}
		if err := rows.Next(row); err == io.EOF {
			return n, nil
		} else if err != nil {
			return 0, err
		}
	}
}

// describe finds the types of the columns.
func (d *deltaStream) describe(ctx context.Context) error {
	var missing int
	for _, c := range d.cols {
		t := catalog.TypeOf(c.Type)
		if t.Array && !t.IsChunk() {
			return sqlerr.New(sqlerr.FeatureNotSupported, "column \"%s\" holds arrays of type %s, which cannot be scanned",
				c.Name, c.Type).WithHint("relgrad import reads them into a table.")
		}
		typ, _ := columns.KernelType(t, nil)
		if t.IsChunk() {
			missing++
		}
		for i := range d.pieces {
			typ.Nullable = typ.Nullable || !d.pieces[i].Whole(c.Name)
		}
		d.types = append(d.types, typ)
	}
	for i := 0; i < len(d.pieces) && missing > 0; i++ {
		cols, err := d.read(ctx, i)
		if err != nil {
			return err
		}
		for k, v := range cols {
			if d.isChunk(k) && d.types[k].Shape == nil && v.Type().Shape != nil {
				d.types[k].Shape = v.Type().Shape
				missing--
			}
		}
	}
	for k, c := range d.cols {
		if d.isChunk(k) && d.types[k].Shape == nil && len(d.pieces) > 0 {
			return sqlerr.New(sqlerr.InvalidParameter, "column \"%s\" holds no chunk, so its shape is not known", c.Name)
		}
	}
	return nil
}

func (d *deltaStream) isChunk(col int) bool { return catalog.TypeOf(d.cols[col].Type).IsChunk() }

// Columns implements catalog.Stream.
func (d *deltaStream) Columns() (cols []ra.Column, types []string) {
	for i, c := range d.cols {
		cols, types = append(cols, ra.Column{Name: c.Name, Type: d.types[i]}), append(types, c.Type)
	}
	return cols, types
}

// Parts implements catalog.Stream.
func (d *deltaStream) Parts() []int64 { return d.rows }

// Hash implements catalog.Stream: files never change.
func (d *deltaStream) Hash() string {
	h := fnv.New64a()
	for i := range d.pieces {
		fmt.Fprint(h, strconv.Quote(d.pieces[i].File()), d.rows[i], " ")
	}
	for _, b := range d.where {
		fmt.Fprintf(h, "%q %T %v %T %v ", b.Column, b.Min, b.Min, b.Max, b.Max)
	}
	return fmt.Sprintf("%x", h.Sum64())
}

// Read implements catalog.Stream.
func (d *deltaStream) Read(ctx context.Context, part int) ([]*column.Column, error) {
	cols, err := d.read(ctx, part)
	if err != nil {
		return nil, inFolder(err, d.dir)
	}
	for i, v := range cols {
		if cols[i], err = d.fit(i, v); err != nil {
			return nil, inFolder(err, d.dir)
		}
	}
	return cols, nil
}

// read reads a row group as it is.
func (d *deltaStream) read(ctx context.Context, part int) ([]*column.Column, error) {
	if ctx.Err() != nil {
		return nil, sqlerr.Canceled(ctx.Err())
	}
	rows, err := d.pieces[part].Read(d.cols, d.where)
	if err != nil {
		return nil, err
	}
	r, err := collect(ctx, d.cols, rows)
	if err != nil {
		return nil, err
	}
	if n := int64(r.Cols[0].Len()); n != d.rows[part] {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "file \"%s\": a row group has %d rows, before it had %d",
			d.pieces[part].File(), n, d.rows[part])
	}
	return r.Cols, nil
}

// fit makes a column of a row group one of the table's type.
func (d *deltaStream) fit(i int, v *column.Column) (*column.Column, error) {
	name, want := d.cols[i].Name, d.types[i]
	if d.cols[i].Type == "numeric" {
		var err error
		if v, err = numbers(v); err != nil {
			return nil, err
		}
	}
	switch have := v.Type(); {
	case d.isChunk(i) && have.Shape == nil: // all are NULL
		v = column.New(want, v.Len())
		for k := range v.Len() {
			v.SetNull(k)
		}
	case d.isChunk(i) && !have.Shape.Equal(want.Shape):
		return nil, sqlerr.New(sqlerr.ArraySubscript, "column \"%s\" holds arrays of shape %v and of shape %v", name,
			want.Shape, have.Shape).WithHint("relgrad import reads them into a table.")
	case have.Nullable && !want.Nullable:
		return nil, sqlerr.New(sqlerr.DataCorrupted, "column \"%s\" holds NULL, which the statistics of its file deny", name)
	}
	if !d.isChunk(i) && want.IsFloat() {
		for k := range v.Len() {
			if math.IsNaN(v.Float(k)) {
				return nil, sqlerr.New(sqlerr.NumericOutOfRange, "NaN in a scalar column").
					WithDetail("Column \"%s\" holds it.", name)
			}
		}
	}
	return v.As(want), nil
}

// numbers are the numbers of which a column holds texts.
func numbers(v *column.Column) (*column.Column, error) {
	out := column.New(kernels.Type{Kind: kernels.Float64}, v.Len())
	for k, s := range v.Texts() {
		if v.IsNull(k) {
			out.SetNull(k)
			continue
		}
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, sqlerr.New(sqlerr.DataCorrupted, "\"%s\" is no number", s)
		}
		out.SetFloat(k, x)
	}
	return out, nil
}
