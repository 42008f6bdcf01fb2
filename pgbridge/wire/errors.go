package wire

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// DecodeError reads the fields of frame E, an error of the server.
func DecodeError(payload []byte) error {
	d := Decoder{Bytes: payload}
	e := &sqlerr.Error{Code: sqlerr.Internal, Pos: -1}
	position, query := "", ""
	for range d.U32() {
		code, s := d.u8(), d.Str()
		switch code {
		case 'C':
			e.Code = s
		case 'M':
			e.Message = s
		case 'D':
			e.Detail = s
		case 'H':
			e.Hint = s
		case 'W':
			e.Context = s
		case 'p':
			position = s
		case 'q':
			query = s
		}
		if d.Err != nil {
			return d.Err
		}
	}
	Place(e, query, position)
	return e
}

// Place gives an error its position, which the server counts in characters from 1. query is the text that it counts in;
// "": the statement that was sent.
func Place(e *sqlerr.Error, query, position string) {
	n, err := strconv.Atoi(position)
	if err != nil || n < 1 {
		return
	}
	if query == "" {
		e.Pos = n - 1 // in characters until the text is known; see inText
		return
	}
	t := &sqlerr.Text{SQL: query}
	e.Text, e.Pos = t, ByteAt(query, n-1)
}

// ByteAt is the byte offset of a character in s.
func ByteAt(s string, char int) int {
	for i := range s {
		if char == 0 {
			return i
		}
		char--
	}
	return len(s)
}

// maxQuery is the length, in bytes, of the longest text that an error contains whole, because clients print all of it.
const maxQuery = 10000

// window cuts a long text to the surroundings of a position in it.
func window(sql string, pos int) (string, int) {
	const before, after, dots = 200, 200, "..."
	if len(sql) <= maxQuery {
		return sql, pos
	}
	from, to := max(0, pos-before), min(len(sql), pos+after)
	for from > 0 && !utf8.RuneStart(sql[from]) {
		from--
	}
	for to < len(sql) && !utf8.RuneStart(sql[to]) {
		to++
	}
	head, tail := "", ""
	if from > 0 {
		head = dots
	}
	if to < len(sql) {
		tail = dots
	}
	return head + sql[from:to] + tail, len(head) + pos - from
}

// EncodeError writes the fields of frame X, the error of a request.
func EncodeError(err error) []byte {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		e = &sqlerr.Error{Code: sqlerr.Internal, Message: "internal error: " + err.Error(), Pos: -1}
	}
	var fields Encoder
	n := uint32(0)
	add := func(code byte, s string) {
		if s != "" {
			fields.U8(code)
			fields.Str(s)
			n++
		}
	}
	context := e.Context
	add('C', e.Code)
	add('M', e.Message)
	add('D', e.Detail)
	add('H', e.Hint)
	if e.Text != nil && e.Pos >= 0 && e.Pos <= len(e.Text.SQL) {
		query, pos := window(e.Text.SQL, e.Pos)
		add('q', query)
		add('p', strconv.Itoa(utf8.RuneCountInString(query[:pos])+1))
		if e.Text.View != "" {
			view := fmt.Sprintf("definition of view %q", e.Text.View)
			if context != "" {
				view = context + "\n" + view
			}
			context = view
		}
	}
	add('W', context)
	out := Encoder{}
	out.U32(n)
	return append(out.Bytes, fields.Bytes...)
}
