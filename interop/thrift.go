package interop

import (
	"encoding/binary"
	"errors"
	"slices"
)

// thrift reads Thrift's compact protocol, in which Parquet's metadata are written. It checks them before the library
// does, which takes memory for as many elements as a list claims to have.
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
type thrift struct {
	b         []byte
	at, depth int
	groups    [2]int // where the list of row groups is, of a footer
}

var errThrift = errors.New("metadata that end or nest where they must not")

// fields are the values of a struct by field id: bool, int64, []byte, []any or fields; nil for other types.
type fields map[int]any

func (f fields) int(id int) int64  { n, _ := f[id].(int64); return n }
func (f fields) get(id int) fields { s, _ := f[id].(fields); return s }
func (f fields) list(id int) []any { l, _ := f[id].([]any); return l }
func (f fields) has(id int) bool   { _, ok := f[id]; return ok }
func (t *thrift) fail()            { panic(errThrift) }
func (t *thrift) left(n uint64)    { t.ok(n <= uint64(len(t.b)-t.at)) }
func (t *thrift) ok(condition bool) {
	if !condition {
		t.fail()
	}
}

// readThrift reads the struct at the beginning of b and returns its length.
func readThrift(b []byte) (f fields, n int, err error) {
	t := &thrift{b: b}
	f, err = t.read()
	return f, t.at, err
}

// readFooter reads the metadata of a file, and gives them without the row groups, from which the library can learn the
// columns. Those of a file of many row groups are long, and the library needs none of them.
func readFooter(b []byte) (f fields, columns []byte, err error) {
	t := &thrift{b: b}
	if f, err = t.read(); err != nil || t.groups[1] == 0 {
		return f, b, err
	}
	const none = 12 // a list of no structs
	columns = append(slices.Clone(b[:t.groups[0]]), none)
	return f, append(columns, b[t.groups[1]:]...), nil
}

func (t *thrift) read() (f fields, err error) {
	defer func() {
		if p := recover(); p != nil {
			if p != any(errThrift) {
				panic(p)
			}
			err = errThrift
		}
	}()
	return t.structure(), nil
}

func (t *thrift) byte() byte {
	t.left(1)
	t.at++
	return t.b[t.at-1]
}

func (t *thrift) varint() uint64 {
	u, n := binary.Uvarint(t.b[t.at:])
	t.ok(n > 0)
	t.at += n
	return u
}

func (t *thrift) zigzag() int64 {
	u := t.varint()
	return int64(u>>1) ^ -int64(u&1)
}

func (t *thrift) structure() fields {
	const deepest = 32
	t.depth++
	t.ok(t.depth <= deepest)
	f, id := fields{}, int64(0)
	for {
		h := t.byte()
		if h == 0 {
			break
		}
		if d := int64(h >> 4); d > 0 {
			id += d
		} else {
			id = t.zigzag()
		}
		switch typ := h & 15; typ {
		case 1, 2:
			f[int(id)] = typ == 1
		default:
			from := t.at
			f[int(id)] = t.value(typ)
			if t.depth == 1 && id == 4 && typ == 9 {
				t.groups = [2]int{from, t.at}
			}
		}
	}
	t.depth--
	return f
}

// value reads a value of a compact type. A boolean is read as an element of a list.
func (t *thrift) value(typ byte) any {
	switch typ {
	case 1, 2, 3:
		return int64(t.byte())
	case 4, 5, 6:
		return t.zigzag()
	case 7:
		t.left(8)
		t.at += 8
	case 8:
		n := t.varint()
		t.left(n)
		t.at += int(n)
		return t.b[t.at-int(n) : t.at]
	case 9, 10:
		h := t.byte()
		n := uint64(h >> 4)
		if n == 15 {
			n = t.varint()
		}
		t.left(n) // an element has at least one byte
		out := []any{}
		t.depth++
		t.ok(t.depth <= 64)
		for range n {
			out = append(out, t.value(h&15))
		}
		t.depth--
		return out
	case 12:
		return t.structure()
	default:
		t.fail() // Parquet has no maps
	}
	return nil
}
