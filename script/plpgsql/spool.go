package plpgsql

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/tensor"
)

// Spool keeps the rows of a result that are read after their statement has ended, while other statements run. The first
// rows stay in memory and the rest goes to a file, so that a result of any length needs only the memory of a part.
type Spool struct {
	Cols []script.Col
	n    int64   // rows
	rows [][]any // the first rows; the rest is in the file
	size int     // of their values, in bytes
	file *os.File
	w    *bufio.Writer
	buf  []byte
}

// Parts makes the Parts that fill the spool. The caller adds the query's last part by Result.
func (s *Spool) Parts() *Parts { return &Parts{Rows: PartRows, Give: s.Result, begin: s.reset} }

// reset forgets all rows: the statement runs again, or another one begins.
func (s *Spool) reset() {
	s.Close()
	*s = Spool{}
}

// Result adds the rows of a result, or of a part of one.
func (s *Spool) Result(res *script.Result) error {
	s.Cols = res.Cols
	for _, row := range res.Rows {
		if err := s.add(row); err != nil {
			return err
		}
	}
	return nil
}

// Len is the number of rows.
func (s *Spool) Len() int64 { return s.n }

func (s *Spool) add(row []any) error {
	s.n++
	if s.file == nil {
		for _, v := range row {
			s.size += sizeOf(v)
		}
		if s.rows = append(s.rows, row); s.size < PartBytes {
			return nil
		}
		f, err := os.CreateTemp("", ".relgrad-rows-*")
		if err != nil {
			return spoolError(err)
		}
		os.Remove(f.Name()) // the file vanishes when it is closed
		s.file, s.w = f, bufio.NewWriterSize(f, 1<<16)
		return nil
	}
	var err error
	s.buf = s.buf[:0]
	for _, v := range row {
		if s.buf, err = appendValue(s.buf, v); err != nil {
			return err
		}
	}
	head := binary.AppendUvarint(nil, uint64(len(s.buf)))
	if _, err = s.w.Write(head); err == nil {
		_, err = s.w.Write(s.buf)
	}
	return spoolError(err)
}

func spoolError(err error) error {
	if err == nil {
		return nil
	}
	return sqlerr.New(sqlerr.IO, "could not keep the rows of a result in a file: %v", err).Wrap(err)
}

// Each gives the rows in order, once; leave ends it.
func (s *Spool) Each(f func(row []any) (leave bool, err error)) error {
	for i, row := range s.rows {
		s.rows[i] = nil
		if leave, err := f(row); leave || err != nil {
			return err
		}
	}
	if s.file == nil {
		return nil
	}
	if err := s.w.Flush(); err != nil {
		return spoolError(err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return spoolError(err)
	}
	r := bufio.NewReaderSize(s.file, 1<<16)
	for i := int64(len(s.rows)); i < s.n; i++ {
		row, err := s.read(r)
		if err != nil {
			return spoolError(err)
		}
		if leave, err := f(row); leave || err != nil {
			return err
		}
	}
	return nil
}

func (s *Spool) read(r *bufio.Reader) ([]any, error) {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	row := make([]any, len(s.Cols))
	for i := range row {
		if row[i], b, err = readValue(b); err != nil {
			return nil, err
		}
	}
	return row, nil
}

// Close removes the file.
func (s *Spool) Close() {
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}

// The kinds of values in the file: a byte before each value.
const (
	spoolNull = iota
	spoolFalse
	spoolTrue
	spoolInt
	spoolFloat
	spoolText
	spoolChunk
	spoolList
)

func appendValue(b []byte, v any) ([]byte, error) {
	le := binary.LittleEndian
	switch x := v.(type) {
	case nil:
		return append(b, spoolNull), nil
	case bool:
		if x {
			return append(b, spoolTrue), nil
		}
		return append(b, spoolFalse), nil
	case int64:
		return le.AppendUint64(append(b, spoolInt), uint64(x)), nil
	case float64:
		return le.AppendUint64(append(b, spoolFloat), math.Float64bits(x)), nil
	case string:
		return append(binary.AppendUvarint(append(b, spoolText), uint64(len(x))), x...), nil
	case *tensor.Tensor:
		b = append(b, spoolChunk, byte(x.DType), byte(len(x.Shape)))
		for _, n := range x.Shape {
			b = binary.AppendUvarint(b, uint64(n))
		}
		for _, e := range x.Data {
			b = le.AppendUint64(b, math.Float64bits(e))
		}
		return b, nil
	case []any:
		b = binary.AppendUvarint(append(b, spoolList), uint64(len(x)))
		for _, e := range x {
			var err error
			if b, err = appendValue(b, e); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	return nil, sqlerr.New(sqlerr.Internal, "internal error: a result holds a %T", v)
}

// readValue reads a value and returns the bytes after it.
func readValue(b []byte) (any, []byte, error) {
	le, kind, rest := binary.LittleEndian, b[0], b[1:]
	switch kind {
	case spoolNull:
		return nil, rest, nil
	case spoolFalse, spoolTrue:
		return kind == spoolTrue, rest, nil
	case spoolInt:
		return int64(le.Uint64(rest)), rest[8:], nil
	case spoolFloat:
		return math.Float64frombits(le.Uint64(rest)), rest[8:], nil
	case spoolText:
		n, k := binary.Uvarint(rest)
		end := k + int(n)
		return string(rest[k:end]), rest[end:], nil
	case spoolChunk:
		t := &tensor.Tensor{DType: tensor.DType(rest[0]), Shape: make(tensor.Shape, rest[1])}
		rest = rest[2:]
		for i := range t.Shape {
			n, k := binary.Uvarint(rest)
			t.Shape[i], rest = int(n), rest[k:]
		}
		t.Data = make([]float64, t.Shape.Size())
		for i := range t.Data {
			t.Data[i] = math.Float64frombits(le.Uint64(rest[8*i:]))
		}
		return t, rest[8*len(t.Data):], nil
	case spoolList:
		n, k := binary.Uvarint(rest)
		list := make([]any, n)
		rest = rest[k:]
		for i := range list {
			var err error
			if list[i], rest, err = readValue(rest); err != nil {
				return nil, nil, err
			}
		}
		return list, rest, nil
	}
	return nil, nil, fmt.Errorf("kind %d of a value is not known", kind)
}
