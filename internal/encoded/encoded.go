// Package encoded writes a graph of Go values as bytes, for another process of the same build, and reads it.
//
// # What
//
// Append and Read walk a value by its type: numbers, texts, slices, arrays, maps, structs, and pointers, of which two
// to one value stay two to one value. Left out, and nil or zero behind Read, are functions, interfaces, and fields that
// are not exported. Pointers to values that both processes have, such as kernels, travel by name (Names).
//
// # Invariants
//
// Equal values have equal bytes: maps are written in the order of their keys' bytes. Read makes no value larger than
// its bytes allow, and none that points to itself. Both ends must have the same types: nothing of them is written.
//
// # Errors
//
// Append fails on a kind of value that it does not know and on a pointer without a name; Read on bytes that are cut
// off, or that Append has not written. Both are internal errors.
//
// # Where to add
//
// A value that travels by name: an entry of the caller's Names.
package encoded

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

const room = "internal/encoded"

// Names are the pointers that travel by name, by their type.
type Names map[reflect.Type]Name

// Name tells the name of a pointer, and finds the pointer of a name; nil: there is none.
type Name struct {
	Of   func(pointer any) string
	Find func(name string) any
}

// Append appends a value.
func Append(to []byte, v any, names Names) ([]byte, error) {
	w := &writer{out: to, names: names, at: map[any]uint64{}}
	w.value(reflect.ValueOf(v))
	return w.out, w.err
}

type writer struct {
	out   []byte
	names Names
	at    map[any]uint64 // the numbers of pointers
	err   error
}

func (w *writer) uint(x uint64) { w.out = binary.AppendUvarint(w.out, x) }

func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = sqlerr.Broken(room, format, args...)
	}
}

func (w *writer) text(s string) {
	w.uint(uint64(len(s)))
	w.out = append(w.out, s...)
}

func (w *writer) value(v reflect.Value) {
	if w.err != nil {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		w.out = append(w.out, map[bool]byte{true: 1}[v.Bool()])
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.out = binary.AppendVarint(w.out, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.uint(v.Uint())
	case reflect.Float32, reflect.Float64:
		w.out = binary.LittleEndian.AppendUint64(w.out, math.Float64bits(v.Float()))
	case reflect.String:
		w.text(v.String())
	case reflect.Slice:
		w.slice(v)
	case reflect.Array:
		for i := range v.Len() {
			w.value(v.Index(i))
		}
	case reflect.Map:
		w.mapped(v)
	case reflect.Struct:
		for i := range v.NumField() {
			if carried(v.Type().Field(i)) {
				w.value(v.Field(i))
			}
		}
	case reflect.Pointer:
		w.pointer(v)
	default:
		w.fail("a %v cannot be written", v.Kind())
	}
}

// carried reports whether a field of a struct is written.
func carried(f reflect.StructField) bool {
	return f.IsExported() && f.Type.Kind() != reflect.Func && f.Type.Kind() != reflect.Interface
}

// A length is written as one more than it is: 0 is nil.
func (w *writer) slice(v reflect.Value) {
	if v.IsNil() {
		w.uint(0)
		return
	}
	w.uint(uint64(v.Len()) + 1)
	if v.Type().Elem().Kind() == reflect.Uint8 {
		w.out = append(w.out, v.Bytes()...)
		return
	}
	for i := range v.Len() {
		w.value(v.Index(i))
	}
}

func (w *writer) mapped(v reflect.Value) {
	if v.IsNil() {
		w.uint(0)
		return
	}
	type entry struct {
		bytes []byte
		key   reflect.Value
	}
	var entries []entry
	for _, key := range v.MapKeys() {
		if key.Kind() == reflect.Pointer {
			w.fail("a map of pointers cannot be written: %v", v.Type())
			return
		}
		of := &writer{names: w.names, at: w.at}
		of.value(key)
		if of.err != nil {
			w.err = of.err
			return
		}
		entries = append(entries, entry{of.out, key})
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.bytes, b.bytes) })
	w.uint(uint64(len(entries)) + 1)
	for _, e := range entries {
		w.out = append(w.out, e.bytes...)
		w.value(v.MapIndex(e.key))
	}
}

// A pointer is 0 for nil, 1 before a new value, or 2 more than the number of a value that has been written.
func (w *writer) pointer(v reflect.Value) {
	if v.IsNil() {
		w.uint(0)
		return
	}
	if name, ok := w.names[v.Type()]; ok {
		s := name.Of(v.Interface())
		if found := name.Find(s); found == nil || found != v.Interface() {
			w.fail("the %v %q has no name", v.Type(), s)
			return
		}
		w.uint(1)
		w.text(s)
		return
	}
	if at, ok := w.at[v.Interface()]; ok {
		w.uint(at + 2)
		return
	}
	w.at[v.Interface()] = uint64(len(w.at))
	w.uint(1)
	w.value(v.Elem())
}

// Read reads the value that begins a text into what to points to, and returns what follows it.
func Read(from []byte, to any, names Names) (rest []byte, err error) {
	r := &reader{from: from, names: names}
	defer func() {
		if r.err != nil {
			err = r.err
		}
	}()
	r.value(reflect.ValueOf(to).Elem())
	return r.from, nil
}

type reader struct {
	from  []byte
	names Names
	at    []reflect.Value // pointers by number; of one whose value is being read not yet
	err   error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = sqlerr.Broken(room, format, args...)
	}
}

// take takes so many bytes; nil: there are fewer.
func (r *reader) take(n uint64) []byte {
	if r.err != nil || n > uint64(len(r.from)) {
		r.fail("%d bytes are left where %d are needed", len(r.from), n)
		return nil
	}
	out := r.from[:n]
	r.from = r.from[n:]
	return out
}

func (r *reader) uint() uint64 {
	x, used := binary.Uvarint(r.from)
	if used <= 0 {
		r.fail("a number is cut off")
		return 0
	}
	r.from = r.from[used:]
	return x
}

func (r *reader) value(v reflect.Value) {
	if r.err != nil {
		return
	}
	if r.number(v) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(string(r.take(r.uint())))
	case reflect.Slice:
		r.slice(v)
	case reflect.Array:
		for i := range v.Len() {
			r.value(v.Index(i))
		}
	case reflect.Map:
		r.mapped(v)
	case reflect.Struct:
		for i := range v.NumField() {
			if carried(v.Type().Field(i)) {
				r.value(v.Field(i))
			}
		}
	case reflect.Pointer:
		r.pointer(v)
	default:
		r.fail("a %v cannot be read", v.Kind())
	}
}

// number reads a number, if v is one.
func (r *reader) number(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Bool:
		if b := r.take(1); b != nil {
			v.SetBool(b[0] != 0)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x, used := binary.Varint(r.from)
		if used <= 0 || v.OverflowInt(x) {
			r.fail("a number is cut off or too large")
			return true
		}
		r.from = r.from[used:]
		v.SetInt(x)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if x := r.uint(); !v.OverflowUint(x) {
			v.SetUint(x)
		} else {
			r.fail("%d is too large for a %v", x, v.Type())
		}
	case reflect.Float32, reflect.Float64:
		if b := r.take(8); b != nil {
			v.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	default:
		return false
	}
	return true
}

// length reads a length; none: nil is there. Each element takes a byte at least, but those of no bytes, of which there
// are as many as there would be of one.
func (r *reader) length() (n int, none bool) {
	x := r.uint()
	if x == 0 || r.err != nil {
		return 0, true
	}
	if x-1 > uint64(len(r.from)) {
		r.fail("%d elements in %d bytes", x-1, len(r.from))
		return 0, true
	}
	return int(x - 1), false
}

func (r *reader) slice(v reflect.Value) {
	n, none := r.length()
	if none {
		return
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes(slices.Clone(r.take(uint64(n))))
		return
	}
	out := reflect.MakeSlice(v.Type(), 0, min(n, 1024)) // a few bytes must not ask for much memory
	for range n {
		x := reflect.New(v.Type().Elem()).Elem()
		if r.value(x); r.err != nil {
			return
		}
		out = reflect.Append(out, x)
	}
	v.Set(out)
}

func (r *reader) mapped(v reflect.Value) {
	n, none := r.length()
	if none {
		return
	}
	out := reflect.MakeMap(v.Type())
	for range n {
		key, x := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		r.value(key)
		if r.value(x); r.err != nil {
			return
		}
		out.SetMapIndex(key, x)
	}
	v.Set(out)
}

func (r *reader) pointer(v reflect.Value) {
	name, named := r.names[v.Type()]
	switch at := r.uint(); {
	case at == 0 || r.err != nil:
	case at == 1 && named:
		s := string(r.take(r.uint()))
		if found := name.Find(s); found != nil && r.err == nil {
			v.Set(reflect.ValueOf(found))
		} else {
			r.fail("there is no %v %q", v.Type(), s)
		}
	case at == 1:
		p, number := reflect.New(v.Type().Elem()), len(r.at)
		r.at = append(r.at, reflect.Value{})
		r.value(p.Elem())
		r.at[number] = p
		v.Set(p)
	case named || at-2 >= uint64(len(r.at)) || !r.at[at-2].IsValid() || r.at[at-2].Type() != v.Type():
		r.fail("value %d of %d is no %v that has been read", at, len(r.at), v.Type())
	default:
		v.Set(r.at[at-2])
	}
}
