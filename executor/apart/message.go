package apart

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"github.com/relgrad/relgrad/internal/encoded"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Messages to a member, and its answers, begin with one of these.
const (
	command  = 'c' // to a member: do this
	turned   = 't' // from a member: what it sends; to it: what others have sent
	continu  = 'w' // to a member: nothing new
	busy     = 'b' // from a member: it still computes
	answered = 'd' // from a member: the command is done
	failed   = 'f' // from a member: it has failed
)

// packed is what is for each site, or comes from each, behind the number of a turn. Equal slices are sent once.
func packed(number int, list [][]byte) []byte {
	out := binary.AppendVarint([]byte{turned}, int64(number))
	out = binary.AppendUvarint(out, uint64(len(list)))
	seen := map[*byte]uint64{}
	for i, b := range list {
		at, again := seen[unsafe.SliceData(b)]
		switch {
		case b == nil:
			out = append(out, 0)
		case again && len(b) == len(list[at]):
			out = binary.AppendUvarint(out, at+2)
		default:
			seen[unsafe.SliceData(b)] = uint64(i)
			out = append(binary.AppendUvarint(append(out, 1), uint64(len(b))), b...)
		}
	}
	return out
}

// unpacked reads what packed has written, of so many sites. The slices are parts of the message.
func unpacked(b []byte, sites int) (number int, list [][]byte, err error) {
	broken := func() (int, [][]byte, error) {
		return 0, nil, sqlerr.Broken("executor/apart", "a message of %d bytes is no turn of %d sites", len(b), sites)
	}
	at, used := binary.Varint(b)
	if used <= 0 {
		return broken()
	}
	rest := b[used:]
	next := func() (uint64, bool) {
		x, used := binary.Uvarint(rest)
		if used <= 0 {
			return 0, false
		}
		rest = rest[used:]
		return x, true
	}
	if n, ok := next(); !ok || n != uint64(sites) {
		return broken()
	}
	list = make([][]byte, sites)
	for i := range list {
		kind, ok := next()
		switch {
		case !ok || kind >= uint64(i)+2:
			return broken()
		case kind > 1:
			list[i] = list[kind-2]
		case kind == 1:
			n, ok := next()
			if !ok || n > uint64(len(rest)) {
				return broken()
			}
			list[i], rest = rest[:n:n], rest[n:]
		}
	}
	if len(rest) > 0 {
		return broken()
	}
	return int(at), list, nil
}

// sent is an error as it travels.
type sent struct{ Code, Message, Detail, Hint string }

func packedError(err error) []byte {
	s := sent{Code: sqlerr.Code(err), Message: err.Error()}
	if e := (*sqlerr.Error)(nil); errors.As(err, &e) {
		s.Detail, s.Hint = e.Detail, e.Hint
	}
	out, err := encoded.Append([]byte{failed}, s, nil)
	if err != nil {
		return []byte{failed}
	}
	return out
}

func unpackedError(b []byte) error {
	var s sent
	if _, err := encoded.Read(b, &s, nil); err != nil {
		return err
	}
	e := sqlerr.New(s.Code, "%s", s.Message)
	if s.Detail != "" {
		e = e.WithDetail("%s", s.Detail)
	}
	if s.Hint != "" {
		e = e.WithHint("%s", s.Hint)
	}
	return e
}
