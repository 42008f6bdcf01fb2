package pgbridge

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// Remote is a Conn to a server by its protocol.
type Remote struct {
	pg *pgconn.PgConn
}

// Dial connects; see ParseDSN. notice receives the server's messages.
func Dial(ctx context.Context, dsn string, notice func(level, message string)) (*Remote, error) {
	config, err := ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if notice != nil {
			notice(n.Severity, n.Message)
		}
	}
	// a cancelled statement ends, the connection stays
	config.BuildContextWatcherHandler = func(pg *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: pg, DeadlineDelay: cancelTime}
	}
	pg, err := Connect(ctx, config)
	if err != nil {
		return nil, err
	}
	return &Remote{pg}, nil
}

// Attach makes a Conn of a connection that is there.
func Attach(pg *pgconn.PgConn) *Remote { return &Remote{pg} }

// cancelTime is how long a server may take to end a cancelled statement.
const cancelTime = 5 * time.Second

// Close ends the connection.
func (r *Remote) Close() error { return r.pg.Close(context.Background()) }

// serverError makes an error of the server one of ours.
func serverError(err error, sql string) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return err
	}
	out := &sqlerr.Error{Code: e.Code, Message: e.Message, Detail: e.Detail, Hint: e.Hint,
		Context: e.Where, Pos: -1, Err: err}
	switch {
	case e.InternalPosition > 0:
		place(out, e.InternalQuery, fmt.Sprint(e.InternalPosition))
	case e.Position > 0:
		place(out, sql, fmt.Sprint(e.Position))
	}
	return out
}

// binaryKinds are the kinds of the types that are read in the server's binary form; all others are read as text.
var binaryKinds = map[uint32]byte{
	pgtype.Int2OID: colInt, pgtype.Int4OID: colInt, pgtype.Int8OID: colInt, pgtype.OIDOID: colInt, pgtype.BoolOID: colBool,
	pgtype.Float4OID: colFloat32, pgtype.Float8OID: colFloat64,
	pgtype.Float4ArrayOID: colChunk32, pgtype.Float8ArrayOID: colChunk64, pgtype.Int8ArrayOID: colInts,
	pgtype.Int4ArrayOID: colInts,
}

// blockBytes is about what a block holds.
const blockBytes = 4 << 20

// Query implements Conn.
func (r *Remote) Query(ctx context.Context, sql string, readOnly bool,
	each func(*Block) error) (tag string, rows int64, err error) {
	if !readOnly {
		return r.query(ctx, sql, each)
	}
	err = r.alone(ctx, func() error {
		tag, rows, err = r.query(ctx, sql, each)
		return err
	})
	return tag, rows, err
}

// alone undoes what fails inside a transaction alone: the engine asks the server for what it may refuse, such as a
// sub-query whose names stand elsewhere, and goes on.
func (r *Remote) alone(ctx context.Context, f func() error) error {
	if r.pg.TxStatus() != 'T' {
		return f()
	}
	if err := r.simple(ctx, "SAVEPOINT relgrad_statement"); err != nil {
		return err
	}
	err := f()
	end := "RELEASE relgrad_statement"
	if err != nil {
		end = "ROLLBACK TO relgrad_statement; " + end
	}
	if e := r.simple(context.WithoutCancel(ctx), end); err == nil {
		err = e
	}
	return err
}

func (r *Remote) query(ctx context.Context, sql string, each func(*Block) error) (string, int64, error) {
	if e := r.pg.ParameterStatus("client_encoding"); e != "UTF8" { // a script may have set it
		return "", 0, sqlerr.New(sqlerr.ObjectNotPrereqState, "client_encoding is %s, and relgrad reads UTF8", e).
			WithHint("SET client_encoding = 'UTF8'.")
	}
	d, err := r.pg.Prepare(ctx, "", sql, nil)
	if err != nil {
		return "", 0, serverError(err, sql)
	}
	if len(d.ParamOIDs) > 0 {
		return "", 0, sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $1")
	}
	formats := make([]int16, len(d.Fields))
	b := newBlock(d.Fields)
	for i, c := range b.cols {
		if c.kind != colText {
			formats[i] = pgtype.BinaryFormatCode
		}
	}
	result := r.pg.ExecPrepared(ctx, "", nil, nil, formats)
	var failed error
	for result.NextRow() {
		if failed != nil {
			continue
		}
		if failed = b.add(result.Values()); failed == nil && b.bytes > blockBytes {
			failed = b.flush(each)
		}
	}
	tag, err := result.Close()
	if err == nil {
		err = failed
	}
	if err == nil && (b.rows > 0 || len(b.cols) > 0) {
		err = b.flush(each)
	}
	return tag.String(), tag.RowsAffected(), serverError(err, sql)
}

// Prepare implements Conn.
func (r *Remote) Prepare(ctx context.Context, sql string) error {
	return r.alone(ctx, func() error {
		_, err := r.pg.Prepare(ctx, "", sql, nil)
		return serverError(err, sql)
	})
}

// InTransaction implements Conn.
func (r *Remote) InTransaction() bool { return r.pg.TxStatus() != 'I' }

// Begin implements Conn.
func (r *Remote) Begin(ctx context.Context) error {
	return r.simple(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ")
}

// Commit implements Conn.
func (r *Remote) Commit(ctx context.Context) error { return r.simple(ctx, "COMMIT") }

// Rollback implements Conn.
func (r *Remote) Rollback(ctx context.Context) error { return r.simple(ctx, "ROLLBACK") }

// Unlock implements Conn: the server releases the lock with the connection.
func (r *Remote) Unlock(context.Context, uint32, uint32) error { return nil }

func (r *Remote) simple(ctx context.Context, sql string) error {
	return serverError(r.pg.Exec(ctx, sql).Close(), sql)
}

// Offer implements Conn: a temporary table, filled by COPY.
func (r *Remote) Offer(ctx context.Context, b *Block) (string, error) {
	const name = "pg_temp.relgrad_rows"
	end := "" // outside of a transaction the table stays until the next Offer
	if r.InTransaction() {
		end = " ON COMMIT DROP"
	}
	if err := r.simple(ctx, dropTemp("relgrad_rows")+"; CREATE TEMP TABLE relgrad_rows ("+
		columnList(b)+")"+end); err != nil {
		return "", err
	}
	in, out := io.Pipe()
	go func() { out.CloseWithError(writeCopy(out, b)) }()
	_, err := r.pg.CopyFrom(ctx, in, "COPY "+name+" FROM STDIN (FORMAT binary)")
	in.CloseWithError(errors.New("the server takes no more rows"))
	return name + " AS d", serverError(err, "")
}

// columnList prints the columns of a block with their types.
func columnList(b *Block) string {
	var cols []string
	for _, c := range b.Cols {
		cols = append(cols, sqltext.Ident(c.Name)+" "+typeName(c.Data.Type))
	}
	return strings.Join(cols, ", ")
}

// typeName is the server's type of a vector.
func typeName(t kernels.Type) string {
	name := map[kernels.Kind]string{kernels.Int: "bigint", kernels.Float32: "real", kernels.Float64: "double precision",
		kernels.Bool: "boolean", kernels.Text: "text"}[t.Kind]
	if t.Shape != nil {
		name += "[]"
	}
	return name
}

// writeCopy writes a block in the binary format of COPY (https://www.postgresql.org/docs/current/sql-copy.html).
func writeCopy(w io.Writer, b *Block) error {
	buf := append([]byte("PGCOPY\n\377\r\n\000"), 0, 0, 0, 0, 0, 0, 0, 0)
	for row := range b.Rows {
		buf = binary.BigEndian.AppendUint16(buf, uint16(len(b.Cols)))
		for i := range b.Cols {
			buf = appendCell(buf, b.Cols[i].Data, row)
		}
		if len(buf) > 1<<16 {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	_, err := w.Write(append(buf, 0xff, 0xff))
	return err
}

func appendCell(buf []byte, v *ra.Vector, row int) []byte {
	be := binary.BigEndian
	if v.IsNull(row) {
		return be.AppendUint32(buf, math.MaxUint32)
	}
	if v.Type.Shape != nil {
		return appendArray(buf, v, row)
	}
	switch {
	case v.Type.Kind == kernels.Text:
		return append(be.AppendUint32(buf, uint32(len(v.Texts[row]))), v.Texts[row]...)
	case v.Type.Kind == kernels.Bool:
		return append(be.AppendUint32(buf, 1), byte(v.Ints[row]))
	case v.F32 != nil:
		return be.AppendUint32(be.AppendUint32(buf, 4), math.Float32bits(v.F32[row]))
	case v.F64 != nil:
		return be.AppendUint64(be.AppendUint32(buf, 8), math.Float64bits(v.F64[row]))
	}
	return be.AppendUint64(be.AppendUint32(buf, 8), uint64(v.Ints[row]))
}

func appendArray(buf []byte, v *ra.Vector, row int) []byte {
	be, size := binary.BigEndian, v.Type.Size()
	oid, width := pgtype.Int8OID, 8
	switch {
	case v.F32 != nil:
		oid, width = pgtype.Float4OID, 4
	case v.F64 != nil:
		oid = pgtype.Float8OID
	}
	buf = be.AppendUint32(buf, uint32(12+8*len(v.Type.Shape)+size*(4+width)))
	buf = be.AppendUint32(be.AppendUint32(be.AppendUint32(buf, uint32(len(v.Type.Shape))), 0), uint32(oid))
	for _, n := range v.Type.Shape {
		buf = be.AppendUint32(be.AppendUint32(buf, uint32(n)), 1)
	}
	for i := row * size; i < (row+1)*size; i++ {
		buf = be.AppendUint32(buf, uint32(width))
		switch {
		case v.F32 != nil:
			buf = be.AppendUint32(buf, math.Float32bits(v.F32[i]))
		case v.F64 != nil:
			buf = be.AppendUint64(buf, math.Float64bits(v.F64[i]))
		default:
			buf = be.AppendUint64(buf, uint64(v.Ints[i]))
		}
	}
	return buf
}

// builder collects rows of the server's protocol.
type builder struct {
	cols  []*colBuilder
	rows  int
	bytes int
}

type colBuilder struct {
	name string
	oid  uint32
	kind byte
	v    *ra.Vector
	odd  *Odd
}

func newBlock(fields []pgconn.FieldDescription) *builder {
	b := &builder{}
	for _, f := range fields {
		c := &colBuilder{name: f.Name, oid: f.DataTypeOID, kind: colText}
		if k, ok := binaryKinds[f.DataTypeOID]; ok {
			c.kind = k
		}
		b.cols = append(b.cols, c)
	}
	b.reset()
	return b
}

func (b *builder) reset() {
	b.rows, b.bytes = 0, 0
	for _, c := range b.cols {
		c.v, c.odd = &ra.Vector{Type: kernels.Type{Kind: kinds[c.kind]}}, nil
	}
}

func (b *builder) flush(each func(*Block) error) error {
	out := &Block{Rows: b.rows}
	for _, c := range b.cols {
		c.v.N = b.rows
		c.v.Type.Nullable = c.v.Valid != nil
		out.Cols = append(out.Cols, Column{Name: c.name, OID: c.oid, Data: c.v, Odd: c.odd})
	}
	b.reset()
	if each == nil {
		return nil
	}
	return each(out)
}

func (b *builder) add(row [][]byte) error {
	for i, c := range b.cols {
		b.bytes += len(row[i])
		if err := c.add(row[i], b.rows); err != nil {
			return err
		}
	}
	b.rows++
	return nil
}

func (c *colBuilder) add(cell []byte, row int) error {
	v := c.v
	if cell == nil && v.Valid == nil {
		v.Valid = make([]bool, row, row+16)
		for i := range v.Valid {
			v.Valid[i] = true
		}
	}
	if v.Valid != nil {
		v.Valid = append(v.Valid, cell != nil)
	}
	if c.kind == colChunk32 || c.kind == colChunk64 || c.kind == colInts {
		return c.addArray(cell, row)
	}
	switch c.kind {
	case colText:
		v.Texts = append(v.Texts, string(cell))
	case colFloat32:
		v.F32 = append(v.F32, math.Float32frombits(uint32(bigEndian(cell))))
	case colFloat64:
		v.F64 = append(v.F64, math.Float64frombits(bigEndian(cell)))
	default:
		x := int64(bigEndian(cell))
		switch {
		case c.oid == pgtype.Int2OID:
			x = int64(int16(x))
		case c.oid == pgtype.Int4OID:
			x = int64(int32(x))
		}
		v.Ints = append(v.Ints, x)
	}
	return nil
}

func bigEndian(b []byte) (x uint64) {
	for _, c := range b {
		x = x<<8 | uint64(c)
	}
	return x
}

// addArray reads the binary form of an array: dimensions, flags, element type, per dimension length and lower bound,
// then the elements with their lengths.
func (c *colBuilder) addArray(cell []byte, row int) error {
	v := c.v
	if cell == nil {
		c.grow(v.Type.Size())
		return nil
	}
	d := &beReader{b: cell}
	shape := make(tensor.Shape, 0, 6)
	n, nulls := int(d.u32()), d.u32()
	d.u32()
	why := byte(0)
	for range min(n, 6) {
		shape = append(shape, int(d.u32()))
		if d.u32() != 1 {
			why = 'l'
		}
	}
	switch {
	case n == 0:
		why = 'e'
	case nulls != 0:
		why = 'n'
	}
	if why == 0 && v.Type.Shape == nil { // the first; rows before it are NULL
		v.Type.Shape = shape
		for range row {
			c.grow(v.Type.Size())
		}
	}
	if why == 0 && !shape.Equal(v.Type.Shape) {
		why = 's'
	}
	if why != 0 {
		if c.odd == nil {
			c.odd = &Odd{Row: row, Why: why, Shape: shape}
		}
		c.grow(v.Type.Size())
		return nil
	}
	for range v.Type.Size() {
		x := bigEndian(d.take(int(d.u32())))
		switch {
		case c.kind == colChunk32:
			v.F32 = append(v.F32, math.Float32frombits(uint32(x)))
		case c.kind == colChunk64:
			v.F64 = append(v.F64, math.Float64frombits(x))
		case c.oid == pgtype.Int4ArrayOID:
			v.Ints = append(v.Ints, int64(int32(x)))
		default:
			v.Ints = append(v.Ints, int64(x))
		}
	}
	return d.err
}

// grow appends a zero cell of a column of chunks.
func (c *colBuilder) grow(size int) {
	if c.v.Type.Shape == nil {
		return
	}
	switch c.kind {
	case colChunk32:
		c.v.F32 = append(c.v.F32, make([]float32, size)...)
	case colChunk64:
		c.v.F64 = append(c.v.F64, make([]float64, size)...)
	default:
		c.v.Ints = append(c.v.Ints, make([]int64, size)...)
	}
}

// beReader reads big endian numbers.
type beReader struct {
	b   []byte
	err error
}

func (d *beReader) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.b, d.err = nil, errShort
		return nil
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *beReader) u32() uint32 { return uint32(bigEndian(d.take(4))) }

// Script runs any number of statements, without their rows.
func (r *Remote) Script(ctx context.Context, sql string) error { return r.simple(ctx, sql) }
