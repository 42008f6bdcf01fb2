package interop

import (
	"bytes"
	"io"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// ParseNpy reads an npy file that lies in memory, such as an array stored in a table: NumPy's name of the element type,
// the shape, and the elements, little-endian in row-major order. Texts are refused.
func ParseNpy(b []byte, name string) (dtype string, shape []int64, data []byte, err error) {
	defer guard(name, "npy", &err)
	s := &source{name: name, size: int64(len(b))}
	m, err := s.npy("v", bytes.NewReader(b), s.size)
	if err != nil {
		return "", nil, nil, err
	}
	if m.elem.kind == 'U' {
		return "", nil, nil, s.unsupported("it holds texts, not numbers")
	}
	data = b[s.size-m.size:]
	if m.fortran && len(m.shape) > 1 {
		r, err := (&arrays{source: s}).permute(m, bytes.NewReader(data))
		if err != nil {
			return "", nil, nil, err
		}
		if data, err = io.ReadAll(r); err != nil {
			return "", nil, nil, s.malformed("%v", err)
		}
	}
	if m.big && m.elem.size > 1 {
		data = slices.Clone(data)
		for i := 0; i < len(data); i += m.elem.size {
			slices.Reverse(data[i : i+m.elem.size])
		}
	}
	return m.elem.name, m.shape, data, nil
}

// ElementSize is the size in bytes of an element type by NumPy's name, 0 for other names.
func ElementSize(dtype string) int {
	for _, e := range elems {
		if e.name == dtype {
			return e.size
		}
	}
	return 0
}

// OpenArray reads an array in memory, little-endian in row-major order, as the one column "v" of a file: each slice
// along its first dimension is a row. name is for errors.
func OpenArray(dtype string, shape []int64, data []byte, name string) (Reader, error) {
	for _, e := range elems {
		if e.name == dtype {
			s := &source{name: name, size: int64(len(data))}
			m := &member{name: "v", elem: e, shape: shape, size: s.size,
				open: func() (io.Reader, error) { return bytes.NewReader(data), nil }}
			return &arrays{source: s, all: []*member{m}, anonymous: true}, nil
		}
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "%s: elements of type \"%s\"", name, dtype)
}

// ArrayType is the type of Postgres that holds elements of NumPy's name exactly: single ones, or those of a chunk.
func ArrayType(dtype string, chunk bool) string {
	for _, e := range elems {
		switch {
		case e.name != dtype:
		case !chunk:
			return e.typ
		case e.size < 4 || e.typ == "real":
			return "real[]"
		default:
			return "double precision[]"
		}
	}
	return ""
}

// ElementType is NumPy's name of the elements in which values of a Postgres type are written, "" for others.
func ElementType(typ string) string {
	e, _ := elemOf(typ)
	return e.name
}
