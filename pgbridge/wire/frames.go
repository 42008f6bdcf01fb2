package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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
//	                                                D  done; J  done, the result is that of this query; M  done,
//	                                                the result is these bytes
//	                                                X  the request has failed
const (
	KindRequest, KindBlock, KindComplete, KindError, KindContinue                  = 'R', 'B', 'C', 'E', 'K'
	KindQuery, KindPrepare, KindRows, KindTransaction, KindUnlock, KindNotice      = 'Q', 'P', 'W', 'T', 'U', 'N'
	KindOutput, KindDone, KindDoneQuery, KindFailed                           byte = 'O', 'D', 'J', 'X'
	KindReply                                                                 byte = 'M'
	KindTraining                                                              byte = 'I'
)

// maxFrame is the largest frame. Bulk data does not travel in frames.
const maxFrame = 1 << 30

// Flags of Q.
const (
	FlagReadOnly = 1 << iota
	FlagOwnRisk  // not in a subtransaction: an error ends the request
)

// Encoder builds a payload.
type Encoder struct{ Bytes []byte }

func (e *Encoder) U8(x byte) { e.Bytes = append(e.Bytes, x) }

func (e *Encoder) U32(x uint32) { e.Bytes = binary.LittleEndian.AppendUint32(e.Bytes, x) }

func (e *Encoder) U64(x uint64) { e.Bytes = binary.LittleEndian.AppendUint64(e.Bytes, x) }

func (e *Encoder) Str(s string) {
	e.U32(uint32(len(s)))
	e.Bytes = append(e.Bytes, s...)
}

var errShort = errors.New("pgbridge: a frame is too short")

// Decoder reads a payload. After the first field that is missing, all fields are zero and Err is set.
type Decoder struct {
	Bytes []byte
	Err   error
}

func (d *Decoder) take(n int) []byte {
	if n < 0 || n > len(d.Bytes) {
		d.Bytes, d.Err = nil, errShort
		return nil
	}
	out := d.Bytes[:n]
	d.Bytes = d.Bytes[n:]
	return out
}

func (d *Decoder) u8() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *Decoder) U32() uint32 {
	if b := d.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *Decoder) U64() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (d *Decoder) Str() string { return string(d.take(int(d.U32()))) }

// WriteFrame sends a frame in one write.
func WriteFrame(w io.Writer, kind byte, payload []byte) error {
	frame := Encoder{Bytes: make([]byte, 0, 5+len(payload))}
	frame.U32(uint32(len(payload)))
	frame.U8(kind)
	_, err := w.Write(append(frame.Bytes, payload...))
	return err
}

// ReadFrame receives a frame.
func ReadFrame(r io.Reader) (kind byte, payload []byte, err error) {
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
