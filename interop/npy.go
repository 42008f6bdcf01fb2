package interop

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
)

// The npy format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

const npyMagic = "\x93NUMPY"

// npyTypes are the element types by NumPy's code without the byte order.
var npyTypes = map[string]string{"b1": "bool", "i1": "i1", "i2": "i2", "i4": "i4", "i8": "i8", "u1": "u1", "u2": "u2",
	"u4": "u4", "u8": "u8", "f2": "f2", "f4": "f4", "f8": "f8"}

// maxNpyHeader bounds the header's text; the header of 32 dimensions is shorter.
const maxNpyHeader = 1 << 16

func openNpy(s *source) (Reader, error) {
	a, err := s.npy("v", io.NewSectionReader(s, 0, s.size), s.size)
	if err != nil {
		return nil, err
	}
	from := s.size - a.size
	a.open = func() (io.Reader, error) { return io.NewSectionReader(s, from, a.size), nil }
	return &arrays{source: s, all: []*member{a}, anonymous: true}, nil
}

// npy reads the header of an array of size bytes from r, which is then at the first element.
func (s *source) npy(name string, r io.Reader, size int64) (*member, error) {
	what := func(format string, args ...any) error {
		return s.malformed("array \"%s\": "+format, append([]any{name}, args...)...)
	}
	head := make([]byte, 8)
	if _, err := io.ReadFull(r, head); err != nil || string(head[:6]) != npyMagic {
		return nil, what("it does not begin as an npy file does (%q)", bytes.TrimRight(head, "\x00"))
	}
	wide := 2
	if head[6] == 2 || head[6] == 3 {
		wide = 4
	} else if head[6] != 1 {
		return nil, what("npy version %d.%d; known are 1, 2 and 3", head[6], head[7])
	}
	b := make([]byte, 4)
	if _, err := io.ReadFull(r, b[:wide]); err != nil {
		return nil, what("it ends within its header")
	}
	n := int64(binary.LittleEndian.Uint32(b))
	from := int64(8+wide) + n
	if n > maxNpyHeader || from > size {
		return nil, what("a header of %d bytes in a file of %d", n, size)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, what("it ends within its header")
	}
	a, err := parseNpyHeader(string(text))
	if err != nil {
		return nil, what("%v", err)
	}
	a.name = name
	if a.elem.name == "" {
		return nil, s.unsupported("array \"%s\": elements of NumPy's type %s", name, a.elem.typ).
			WithHint("Readable are booleans, integers, float16, float32, float64 and texts (U). Arrays of Python objects " +
				"never are: they would run code.")
	}
	k, ok := count(a.shape)
	if !ok || k > (1<<62)/int64(max(a.elem.size, 1)) || k*int64(a.elem.size) != size-from {
		return nil, what("shape %s of %s needs %s bytes, there are %d", shapeText(a.shape), a.elem.name,
			bytesText(k, a.elem.size, ok), size-from)
	}
	a.size = size - from
	return a, nil
}

func shapeText(s []int64) string {
	p := lists.Map(s, func(d int64) string { return strconv.FormatInt(d, 10) })
	return "(" + strings.Join(p, ", ") + ")"
}

func bytesText(k int64, size int, ok bool) string {
	if !ok || k > (1<<62)/int64(max(size, 1)) {
		return "more than 2^62"
	}
	return strconv.FormatInt(k*int64(size), 10)
}

// parseNpyHeader reads {'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }. For an element type that cannot be
// read elem.name is empty and elem.typ describes the type.
func parseNpyHeader(text string) (*member, error) {
	p := &pyDict{text: strings.TrimRight(text, " \n")}
	a, seen := &member{}, map[string]bool{}
	p.want("{")
	for !p.is("}") {
		key := p.str()
		p.want(":")
		if p.err == nil && seen[key] {
			return nil, fmt.Errorf("the header has two entries '%s'", key)
		}
		seen[key] = true
		switch key {
		case "descr":
			p.descr(a)
		case "fortran_order":
			switch {
			case p.is("True"):
				a.fortran = true
			default:
				p.want("False")
			}
		case "shape":
			a.shape = p.tuple()
		default:
			if p.err == nil {
				p.err = fmt.Errorf("an unknown header entry '%.40s'", key)
			}
		}
		if !p.is(",") && p.err == nil && !strings.HasPrefix(p.text, "}") {
			p.want("}")
		}
		if p.err != nil {
			return nil, p.err
		}
	}
	if p.err == nil && (p.text != "" || len(seen) != 3) {
		p.err = fmt.Errorf("a header without exactly descr, fortran_order and shape")
	}
	return a, p.err
}

// pyDict parses a Python literal from left to right; after an error it does nothing.
type pyDict struct {
	text string
	err  error
}

func (p *pyDict) is(word string) bool {
	p.text = strings.TrimLeft(p.text, " \t\n")
	if p.err != nil {
		return true // ends every loop
	}
	rest, ok := strings.CutPrefix(p.text, word)
	if ok {
		p.text = rest
	}
	return ok
}

func (p *pyDict) want(word string) {
	if !p.is(word) {
		p.err = fmt.Errorf("expected %s in the header, found %.20q", word, p.text)
	}
}

func (p *pyDict) str() string {
	quote := "'"
	if p.is("\"") {
		quote = "\""
	} else {
		p.want("'")
	}
	s, rest, ok := strings.Cut(p.text, quote)
	if p.err == nil && !ok {
		p.err = fmt.Errorf("a string without its end in the header")
	}
	if p.err != nil {
		return ""
	}
	p.text = rest
	return s
}

func (p *pyDict) tuple() []int64 {
	out := []int64{}
	p.want("(")
	for !p.is(")") {
		i := 0
		for i < len(p.text) && p.text[i] >= '0' && p.text[i] <= '9' {
			i++
		}
		n, err := strconv.ParseInt(p.text[:i], 10, 64)
		if err != nil || len(out) == 32 {
			p.err = fmt.Errorf("shape: expected at most 32 numbers, found %.20q", p.text)
			return nil
		}
		p.text, out = p.text[i:], append(out, n)
		if !p.is(",") && !strings.HasPrefix(p.text, ")") {
			p.want(")")
		}
	}
	return out
}

// descr reads '<f8', '|b1' or '<U12'. Anything else, such as a list of fields, cannot be read.
func (p *pyDict) descr(a *member) {
	if p.is("[") {
		end := strings.LastIndexByte(p.text, ']')
		if end < 0 {
			p.err = fmt.Errorf("a list without its end in the header")
			return
		}
		a.elem.typ, p.text = "a record with fields", p.text[end+1:]
		return
	}
	s := p.str()
	a.elem.typ = fmt.Sprintf("'%.40s'", s)
	if len(s) < 3 || !strings.ContainsRune("<>|=", rune(s[0])) {
		return
	}
	a.big = s[0] == '>'
	if n, err := strconv.ParseInt(s[2:], 10, 32); s[1] == 'U' && err == nil && n > 0 && n <= 1<<24 && s[0] != '|' {
		a.elem = elem{"text of " + s[2:] + " characters", 4 * int(n), 'U', "text"}
	} else if name, ok := npyTypes[s[1:]]; ok && (s[0] != '|' || elems[name].size == 1) {
		a.elem = elems[name]
	}
}

// npyHeader writes a header of version 1 (2 where it is long) for little-endian elements in C order.
func npyHeader(code string, shape []int64) []byte {
	tuple := shapeText(shape)
	if len(shape) == 1 {
		tuple = "(" + strconv.FormatInt(shape[0], 10) + ",)"
	}
	text := "{'descr': '" + code + "', 'fortran_order': False, 'shape': " + tuple + ", }"
	pad := 63 - (10+len(text))%64 // the elements begin at a multiple of 64, after a newline
	text += strings.Repeat(" ", pad) + "\n"
	b := append([]byte(npyMagic), 1, 0)
	return append(binary.LittleEndian.AppendUint16(b, uint16(len(text))), text...)
}

// npyCode is NumPy's code of an element type for writing.
func npyCode(e elem) string {
	switch e.kind {
	case 'U':
		return "<U" + strconv.Itoa(e.size/4)
	case 'b':
		return "|b1"
	}
	return "<" + string(e.kind) + strconv.Itoa(e.size)
}
