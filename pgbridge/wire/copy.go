package wire

import (
	"encoding/binary"
	"io"
	"math"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/kernels"
)

// ColumnList is the list of a block's columns with their types, as in CREATE TABLE.
func ColumnList(b *Block) string {
	var cols []string
	for _, c := range b.Cols {
		cols = append(cols, sqltext.Ident(c.Name)+" "+TypeName(c.Data.Type()))
	}
	return strings.Join(cols, ", ")
}

// TypeName is the server's name of a type.
func TypeName(t kernels.Type) string {
	name := map[kernels.Kind]string{kernels.Int: "bigint", kernels.Float32: "real", kernels.Float64: "double precision",
		kernels.Bool: "boolean", kernels.Text: "text"}[t.Kind]
	if t.Shape != nil {
		name += "[]"
	}
	return name
}

// WriteCopy writes a block in the binary format of COPY (https://www.postgresql.org/docs/current/sql-copy.html).
func WriteCopy(w io.Writer, b *Block) error {
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

func appendCell(buf []byte, v *column.Column, row int) []byte {
	be := binary.BigEndian
	if v.IsNull(row) {
		return be.AppendUint32(buf, math.MaxUint32)
	}
	if v.Type().Shape != nil {
		return appendArray(buf, v, row)
	}
	switch {
	case v.Type().Kind == kernels.Text:
		return append(be.AppendUint32(buf, uint32(len(v.Texts()[row]))), v.Texts()[row]...)
	case v.Type().Kind == kernels.Bool:
		return append(be.AppendUint32(buf, 1), byte(v.I64()[row]))
	case v.Kind() == column.F32:
		return be.AppendUint32(be.AppendUint32(buf, 4), math.Float32bits(v.F32()[row]))
	case v.Kind() == column.F64:
		return be.AppendUint64(be.AppendUint32(buf, 8), math.Float64bits(v.F64()[row]))
	}
	return be.AppendUint64(be.AppendUint32(buf, 8), uint64(v.I64()[row]))
}

func appendArray(buf []byte, v *column.Column, row int) []byte {
	be, size := binary.BigEndian, v.Size()
	oid, width := pgtype.Int8OID, 8
	switch {
	case v.Kind() == column.F32:
		oid, width = pgtype.Float4OID, 4
	case v.Kind() == column.F64:
		oid = pgtype.Float8OID
	}
	buf = be.AppendUint32(buf, uint32(12+8*len(v.Type().Shape)+size*(4+width)))
	buf = be.AppendUint32(be.AppendUint32(be.AppendUint32(buf, uint32(len(v.Type().Shape))), 0), uint32(oid))
	for _, n := range v.Type().Shape {
		buf = be.AppendUint32(be.AppendUint32(buf, uint32(n)), 1)
	}
	for i := row * size; i < (row+1)*size; i++ {
		buf = be.AppendUint32(buf, uint32(width))
		switch {
		case v.Kind() == column.F32:
			buf = be.AppendUint32(buf, math.Float32bits(v.F32()[i]))
		case v.Kind() == column.F64:
			buf = be.AppendUint64(buf, math.Float64bits(v.F64()[i]))
		default:
			buf = be.AppendUint64(buf, uint64(v.I64()[i]))
		}
	}
	return buf
}
