package store

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/definitions"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/tensor"
)

// RowSource gives COPY … FROM its rows as values: nil, int64, float64, bool, string, []any for arrays, and []byte for
// chunks in their stored form, whose bits are kept. A string is read as its column's type.
type RowSource struct {
	Cols []string              // the columns of a row
	Next func(row []any) error // fills in the next row; io.EOF after the last
	// Place tells where the last row lies, for errors; nil: its number is enough.
	Place func() string
}

// loadRows is load for values.
func (l *loader) loadRows(from RowSource) (int64, error) {
	row := make([]any, len(l.cols))
	for n := int64(0); ; {
		err := from.Next(row)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return 0, l.rowContext(from, n, -1, err)
		}
		for i, v := range row {
			if err := l.value(i, v); err != nil {
				return 0, l.rowContext(from, n, i, err)
			}
		}
		if err := l.insert(func(i int) string { return fmt.Sprint(row[i]) }); err != nil {
			return 0, l.rowContext(from, n, -1, err)
		}
		n++
		if err := l.canceled(n); err != nil {
			return 0, err
		}
	}
}

// rowContext tells an error its row in the source, counted from 1.
func (l *loader) rowContext(from RowSource, n int64, col int, err error) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	if from.Place != nil {
		if c.Context == "" {
			c.Context = from.Place()
		}
		if c.Context = fmt.Sprintf("COPY %s, ", l.t.Name) + c.Context; col >= 0 {
			c.Context += ", column " + l.cols[col].Name
		}
		return &c
	}
	c.Context = fmt.Sprintf("COPY %s, row %d", l.t.Name, n+1)
	if col >= 0 {
		c.Context += ", column " + l.cols[col].Name
	}
	c.Context += ", source " + l.file
	return &c
}

// value puts one value into the INSERT.
func (l *loader) value(i int, v any) error {
	c := l.cols[i]
	switch x := v.(type) {
	case nil:
		if c.NotNull {
			return definitions.ErrNull(l.t.Name, c.Name)
		}
		l.stmt.SetNull(i)
		return nil
	case []byte:
		d, _, _, err := tensor.Header(x)
		if err != nil {
			return sqlerr.New(sqlerr.DataCorrupted, "%v", err)
		}
		if !c.Type.IsChunk() || d != c.Type.DType() {
			return sqlerr.New(sqlerr.DatatypeMismatch, "column \"%s\" is of type %s, the value is a chunk of %s", c.Name, c.Type,
				d)
		}
		if err := l.note(i, x); err != nil {
			return err
		}
		l.stmt.SetBytes(i, lite.Blob, x)
		return nil
	case string:
		if !utf8.ValidString(x) || strings.IndexByte(x, 0) >= 0 {
			return sqlerr.New("22021", "invalid byte sequence for encoding \"UTF8\"")
		}
		y, err := columns.TextIn(x, c.Type)
		if err != nil {
			return err
		}
		v = y
	case int64:
		if c.Type.IsInt() {
			if err := columns.CheckRange(x, c.Type); err != nil {
				return err
			}
		}
	}
	return l.store(i, v)
}

// sinkValue is a value as the rows of a file have it: numbers, booleans and, where lists are asked for, lists of them,
// else text.
func sinkValue(v any, t catalog.Type, lists bool) any {
	list, is := v.([]any)
	switch {
	case is && lists && t.Array:
		out := make([]any, len(list))
		for i, x := range list {
			elem := t
			if _, inner := x.([]any); !inner {
				elem = t.Elem()
			}
			out[i] = sinkValue(x, elem, true)
		}
		return out
	case v != nil && !t.IsInt() && !t.IsFloat() && !t.Is(catalog.Bool):
		return columns.TextOut(v, t)
	}
	return v
}
