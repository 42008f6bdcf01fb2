package interop

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// builder makes one value of a type from a file's elements, in row-major order.
type builder struct {
	typ          string // type of an element
	array, chunk bool
	d            tensor.DType
	buf          []byte // of a chunk: room for the longest header, then the elements
	flat         []any
	dims         []int
}

const headRoom = 4 + 4*tensor.MaxRank

func newBuilder(typ string) *builder {
	b := &builder{buf: make([]byte, headRoom)}
	b.typ, b.array = baseType(typ)
	b.d, b.chunk = chunkType(typ)
	return b
}

func (b *builder) reset() { b.buf, b.flat, b.dims = b.buf[:headRoom], b.flat[:0], b.dims[:0] }

// float adds an element; see elem.float.
func (b *builder) float(x float64, f32 uint32, is32 bool) error {
	if !b.chunk {
		v, err := floatAs(x, b.typ)
		return b.add(v, err)
	}
	at, err := b.room()
	if err != nil {
		return err
	}
	return putFloat(b.buf[at:], x, f32, is32, b.d)
}

func (b *builder) int(n int64) error {
	if !b.chunk {
		v, err := intAs(n, b.typ)
		return b.add(v, err)
	}
	at, err := b.room()
	if err != nil {
		return err
	}
	return putInt(b.buf[at:], n, b.d)
}

func (b *builder) bool(x bool) error {
	if b.typ == "boolean" {
		return b.add(x, nil)
	}
	if x {
		return b.int(1)
	}
	return b.int(0)
}

func (b *builder) text(s string) error {
	if b.chunk {
		return mismatch("a text", b.d.String())
	}
	return b.add(s, nil)
}

func (b *builder) room() (int, error) {
	at := len(b.buf)
	if at > maxChunk {
		return 0, sqlerr.New(sqlerr.ProgramLimit, "a chunk of more than %d bytes", maxChunk)
	}
	b.buf = append(b.buf, make([]byte, b.d.Size())...)
	return at, nil
}

func (b *builder) add(v any, err error) error {
	if len(b.flat) >= maxList {
		return sqlerr.New(sqlerr.ProgramLimit, "an array of more than %d elements", maxList).
			WithHint("Read it into a column of type real[] or double precision[].")
	}
	b.flat = append(b.flat, v)
	return err
}

// value returns the value; a scalar where the dims are empty.
func (b *builder) value() (any, error) {
	n := 1
	for _, d := range b.dims {
		n *= d
	}
	have := len(b.flat)
	if b.chunk {
		have = (len(b.buf) - headRoom) / b.d.Size()
	}
	switch {
	case len(b.dims) > tensor.MaxRank:
		return nil, sqlerr.New(sqlerr.ProgramLimit, "an array with %d dimensions; the largest number is %d",
			len(b.dims), tensor.MaxRank)
	case b.array != (len(b.dims) > 0):
		return nil, mismatch("a value with "+plural(len(b.dims), "dimension"), b.typ)
	case n == 0 && len(b.dims) == 1 && !b.chunk:
		return []any{}, nil
	case n != have || n == 0:
		return nil, sqlerr.New(sqlerr.ArraySubscript,
			"a list of %d elements where its shape %v has %d; it must neither be ragged nor empty", have, b.dims, n)
	case b.chunk:
		head := (&tensor.Tensor{DType: b.d, Shape: b.dims}).Encode()
		from := headRoom - len(head)
		copy(b.buf[from:], head)
		return b.buf[from:], nil
	}
	at := 0
	return b.nest(b.dims, &at), nil
}

func (b *builder) nest(dims []int, at *int) any {
	if len(dims) == 0 {
		*at++
		return b.flat[*at-1]
	}
	out := make([]any, dims[0])
	for i := range out {
		out[i] = b.nest(dims[1:], at)
	}
	return out
}
