package column

import (
	"encoding/binary"
	"math"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
)

// A column that leaves a process is packed: its kind, whether rows may be NULL, the elements of a row and the rows;
// then the bytes of the numbers as they lie in memory, or each text behind its length; then which rows are valid.

// Pack appends rows of c in packed form; nil: all rows.
func Pack(to []byte, c *Column, rows []int32) []byte {
	n := c.n
	if rows != nil {
		n = len(rows)
	}
	at := func(i int) int {
		if rows != nil {
			return int(rows[i])
		}
		return i
	}
	nullable := byte(0)
	if c.valid != nil {
		nullable = 1
	}
	to = append(to, byte(c.kind), nullable)
	to = binary.AppendUvarint(binary.AppendUvarint(to, uint64(c.size)), uint64(n))
	switch numbers, row := c.Bytes(), c.size*c.kind.Bytes(); {
	case c.kind == Str:
		for i := range n {
			s := c.texts[at(i)]
			to = append(binary.AppendUvarint(to, uint64(len(s))), s...)
		}
	case rows == nil:
		to = append(to, numbers[:n*row]...)
	default:
		for _, r := range rows {
			to = append(to, numbers[int(r)*row:int(r+1)*row]...)
		}
	}
	if c.valid != nil {
		for i := range n {
			to = append(to, c.valid[at(i)])
		}
	}
	return to
}

// Unpack is the column of values of type t that begins a text, and what follows it. Its numbers may be of another kind
// than t's: real is computed in double precision, too.
func Unpack(from []byte, t kernels.Type) (c *Column, rest []byte, err error) {
	bad := func() (*Column, []byte, error) {
		return nil, nil, sqlerr.Broken("column", "a packed column of %v is cut off or is none", t)
	}
	if len(from) < 2 || from[0] > byte(Str) || (Kind(from[0]) == Str) != (t.Kind == kernels.Text) {
		return bad()
	}
	kind, nullable, from := Kind(from[0]), from[1] != 0, from[2:]
	var lens [2]uint64
	for i := range lens {
		x, used := binary.Uvarint(from)
		if used <= 0 || x > math.MaxInt32 {
			return bad()
		}
		lens[i], from = x, from[used:]
	}
	size, n := int(lens[0]), int(lens[1])
	if size != t.Size() || n*size > len(from)/max(kind.Bytes(), 1) { // of texts each has its length
		return bad()
	}
	t.Nullable = nullable
	out := OnHeap(kind, n, size, false)
	out.typ = t
	if kind == Str {
		for i := range out.texts {
			x, used := binary.Uvarint(from)
			if used <= 0 || x > uint64(len(from)-used) {
				return bad()
			}
			out.texts[i], from = string(from[used:used+int(x)]), from[used+int(x):]
		}
	} else {
		from = from[copy(out.Bytes(), from):]
	}
	if nullable {
		if len(from) < n {
			return bad()
		}
		out.SetValid(append([]byte{}, from[:n]...))
		from = from[n:]
	}
	return &out, from, nil
}
