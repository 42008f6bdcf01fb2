package pgbridge

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// A backend and the engine talk over a stream socket in frames: u32 length of the payload, u8 kind, payload; all
// numbers little endian, texts as u32 length and bytes. Exactly one side may send at a time. Rows lie in memory that
// both share.
//
//	backend → engine                                engine → backend
//	R  request: texts by name                       Q  flags, statement: answered by B…, then C; or E
//	B  block of rows: answered by K                 P  statement, to be parsed and analysed only: C or E
//	C  a statement has ended: tag, rows             W  block: the rows of relgrad.gen_rows() from now on: C
//	E  a statement has failed and was undone        T  'c' commit or 'r' roll back: C or E
//	K  continue                                     U  a session's advisory lock to be released at the request's end: C
//	                                                N  notice: level, message, detail, hint; not answered
//	                                                I  the run that is trained, the step of its last commit,
//	                                                   its steps; not answered
//	                                                O  block of result rows: answered by K
//	                                                D  done; J  done, the result is that of this query
//	                                                X  the request has failed
const (
	kindRequest, kindBlock, kindComplete, kindError, kindContinue                  = 'R', 'B', 'C', 'E', 'K'
	kindQuery, kindPrepare, kindRows, kindTransaction, kindUnlock, kindNotice      = 'Q', 'P', 'W', 'T', 'U', 'N'
	kindOutput, kindDone, kindDoneQuery, kindFailed                           byte = 'O', 'D', 'J', 'X'
	kindTraining                                                              byte = 'I'
)

// maxFrame bounds a frame; bulk data does not travel in frames.
const maxFrame = 1 << 30

// Flags of Q.
const (
	flagReadOnly = 1 << iota
	flagOwnRisk  // not inside a subtransaction: an error ends the request
)

// enc builds a payload.
type enc struct{ b []byte }

func (e *enc) u8(x byte)    { e.b = append(e.b, x) }
func (e *enc) u32(x uint32) { e.b = binary.LittleEndian.AppendUint32(e.b, x) }
func (e *enc) u64(x uint64) { e.b = binary.LittleEndian.AppendUint64(e.b, x) }
func (e *enc) str(s string) {
	e.u32(uint32(len(s)))
	e.b = append(e.b, s...)
}

var errShort = errors.New("pgbridge: a frame is too short")

// dec reads a payload; the first thing that is not there makes all that follow zero and sets err.
type dec struct {
	b   []byte
	err error
}

func (d *dec) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.b, d.err = nil, errShort
		return nil
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *dec) u8() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *dec) u32() uint32 {
	if b := d.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *dec) u64() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (d *dec) str() string { return string(d.take(int(d.u32()))) }

// writeFrame sends a frame in one write.
func writeFrame(w io.Writer, kind byte, payload []byte) error {
	frame := enc{b: make([]byte, 0, 5+len(payload))}
	frame.u32(uint32(len(payload)))
	frame.u8(kind)
	_, err := w.Write(append(frame.b, payload...))
	return err
}

// readFrame receives a frame.
func readFrame(r io.Reader) (kind byte, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("pgbridge: a frame of %d bytes", n)
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(r, payload)
	return head[4], payload, err
}

// decodeError reads the fields of E.
func decodeError(payload []byte) error {
	d := dec{b: payload}
	e := &sqlerr.Error{Code: sqlerr.Internal, Pos: -1}
	position, query := "", ""
	for range d.u32() {
		code, s := d.u8(), d.str()
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
		if d.err != nil {
			return d.err
		}
	}
	place(e, query, position)
	return e
}

// place gives an error of the server its position, which counts characters from 1; query is the text that it points
// into, "" the statement that was sent.
func place(e *sqlerr.Error, query, position string) {
	n, err := strconv.Atoi(position)
	if err != nil || n < 1 {
		return
	}
	if query == "" {
		e.Pos = n - 1 // in characters, until the text is known; see inText
		return
	}
	t := &sqlerr.Text{SQL: query}
	e.Text, e.Pos = t, byteAt(query, n-1)
}

// byteAt is the byte offset of a character.
func byteAt(s string, char int) int {
	for i := range s {
		if char == 0 {
			return i
		}
		char--
	}
	return len(s)
}

// maxQuery is the longest text, in bytes, that an error shows whole: clients print all of it.
const maxQuery = 10000

// window cuts a long text to the surroundings of a place in it.
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

// encodeError writes the fields of X.
func encodeError(err error) []byte {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		e = &sqlerr.Error{Code: sqlerr.Internal, Message: "internal error: " + err.Error(), Pos: -1}
	}
	var fields enc
	n := uint32(0)
	add := func(code byte, s string) {
		if s != "" {
			fields.u8(code)
			fields.str(s)
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
	out := enc{}
	out.u32(n)
	return append(out.b, fields.b...)
}
