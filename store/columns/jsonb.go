package columns

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/numeric"
)

// surrogates are escapes of UTF-16 surrogates: pairs, and single ones.
var surrogates = regexp.MustCompile(`\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}` +
	`\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}`)

// jsonIn reads a text as json, which is stored unchanged, or as jsonb, which is brought into one form for each value
// except for the scales of numbers: each key once, sorted by length and then by bytes.
func jsonIn(s string, t catalog.Type) (any, error) {
	if !json.Valid([]byte(s)) {
		return nil, badInput(t, s)
	}
	for _, m := range surrogates.FindAllString(s, -1) {
		if len(m) == 6 {
			return nil, badInput(t, s)
		}
	}
	if !t.Is(catalog.JSONB) {
		return s, nil
	}
	v, err := parseJSONB(s)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	err = v.write(&b)
	return b.String(), err
}

// jsonValue is a value of jsonb.
type jsonValue struct {
	kind jsonKind
	text string // of a string; digits of a number; "true" or "false"
	keys []string
	list []*jsonValue // elements, or the values of the keys
}

// jsonKind orders values of different kinds as Postgres does.
type jsonKind int

const (
	jsonNull jsonKind = iota
	jsonString
	jsonNumber
	jsonBool
	jsonArray
	jsonObject
)

// parseJSONB reads a text that is known to be valid.
func parseJSONB(s string) (*jsonValue, error) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	v, err := readJSON(d)
	if err == io.EOF {
		err = badInput(catalog.JSONB, s)
	}
	return v, err
}

func readJSON(d *json.Decoder) (*jsonValue, error) {
	tok, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch x := tok.(type) {
	case nil:
		return &jsonValue{kind: jsonNull}, nil
	case string:
		if strings.Contains(x, "\x00") {
			return nil, sqlerr.New("22P05", "unsupported Unicode escape sequence").
				WithDetail("\\u0000 cannot be converted to text.")
		}
		return &jsonValue{kind: jsonString, text: x}, nil
	case json.Number:
		n, err := numeric.Parse(x.String())
		return &jsonValue{kind: jsonNumber, text: n.String()}, err
	case bool:
		return &jsonValue{kind: jsonBool, text: TextOut(x, catalog.Bool)}, nil
	case json.Delim:
		if x == '[' {
			return readArray(d)
		}
	}
	return readObject(d)
}

func readArray(d *json.Decoder) (*jsonValue, error) {
	v := &jsonValue{kind: jsonArray}
	for d.More() {
		x, err := readJSON(d)
		if err != nil {
			return nil, err
		}
		v.list = append(v.list, x)
	}
	_, err := d.Token()
	return v, err
}

// readObject keeps the last value of a key that is given twice.
func readObject(d *json.Decoder) (*jsonValue, error) {
	values := map[string]*jsonValue{}
	v := &jsonValue{kind: jsonObject}
	for d.More() {
		k, err := readJSON(d)
		if err != nil {
			return nil, err
		}
		x, err := readJSON(d)
		if err != nil {
			return nil, err
		}
		if values[k.text] == nil {
			v.keys = append(v.keys, k.text)
		}
		values[k.text] = x
	}
	slices.SortFunc(v.keys, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	for _, k := range v.keys {
		v.list = append(v.list, values[k])
	}
	_, err := d.Token()
	return v, err
}

func (v *jsonValue) write(b *strings.Builder) error {
	open, end := "[", "]"
	switch v.kind {
	case jsonNull:
		b.WriteString("null")
		return nil
	case jsonString:
		quoteJSON(b, v.text)
		return nil
	case jsonNumber, jsonBool:
		b.WriteString(v.text)
		return nil
	case jsonObject:
		open, end = "{", "}"
	}
	b.WriteString(open)
	for i, x := range v.list {
		if i > 0 {
			b.WriteString(", ")
		}
		if v.kind == jsonObject {
			quoteJSON(b, v.keys[i])
			b.WriteString(": ")
		}
		if err := x.write(b); err != nil {
			return err
		}
	}
	b.WriteString(end)
	if b.Len() > MaxState {
		return sqlerr.New(sqlerr.ProgramLimit, "a value of jsonb is larger than %d MiB", MaxState>>20)
	}
	return nil
}

// quoteJSON writes a string with the escapes that Postgres writes.
func quoteJSON(b *strings.Builder, s string) {
	const hex = "0123456789abcdef"
	b.WriteByte('"')
	for i := range len(s) {
		c := s[i]
		switch at := strings.IndexByte("\b\f\n\r\t\"\\", c); {
		case at >= 0:
			b.WriteByte('\\')
			b.WriteByte("bfnrt\"\\"[at])
		case c < ' ':
			b.WriteString("\\u00")
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
}

// CompareJSONB is the order of jsonb: by kind, containers by length first. A value that is no container counts as an
// array of one, so an empty array comes before it.
func CompareJSONB(a, b []byte) int {
	x, errX := parseJSONB(string(a))
	y, errY := parseJSONB(string(b))
	if errX != nil || errY != nil { // not jsonb; the order must be total all the same
		return bytes.Compare(a, b)
	}
	if (x.kind == jsonObject) != (y.kind == jsonObject) {
		return Bit(x.kind == jsonObject) - Bit(y.kind == jsonObject)
	}
	if x.kind < jsonArray && y.kind == jsonArray {
		if len(y.list) == 1 {
			return -1
		}
		return 1 - len(y.list)
	}
	if y.kind < jsonArray && x.kind == jsonArray {
		return -CompareJSONB(b, a)
	}
	return x.compare(y)
}

func (v *jsonValue) compare(w *jsonValue) int {
	if v.kind != w.kind {
		return int(v.kind - w.kind)
	}
	switch v.kind {
	case jsonString, jsonBool:
		return strings.Compare(v.text, w.text)
	case jsonNumber:
		return numeric.Compare([]byte(v.text), []byte(w.text))
	}
	if len(v.list) != len(w.list) {
		return len(v.list) - len(w.list)
	}
	for i := range v.list {
		if v.kind == jsonObject {
			if c := strings.Compare(v.keys[i], w.keys[i]); c != 0 {
				return c
			}
		}
		if c := v.list[i].compare(w.list[i]); c != 0 {
			return c
		}
	}
	return 0
}

// CompareNumericArrays orders stored arrays of numerics, so that Postgres's equal arrays are equal: 1.0 equals 1.00,
// and NULL equals NULL.
func CompareNumericArrays(a, b []byte) int {
	x, errX := ReadArray(a, catalog.ArrayOf(catalog.Numeric))
	y, errY := ReadArray(b, catalog.ArrayOf(catalog.Numeric))
	if errX != nil || errY != nil {
		return bytes.Compare(a, b)
	}
	return compareLists(x.([]any), y.([]any))
}

func compareLists(x, y []any) int {
	for i := range min(len(x), len(y)) {
		l, nested := x[i].([]any)
		r, other := y[i].([]any)
		c := 0
		switch {
		case nested && other:
			c = compareLists(l, r)
		case nested != other:
			c = Bit(nested) - Bit(other)
		case x[i] == nil || y[i] == nil:
			c = Bit(x[i] == nil) - Bit(y[i] == nil)
		default:
			c = numeric.Compare([]byte(x[i].(string)), []byte(y[i].(string)))
		}
		if c != 0 {
			return c
		}
	}
	return len(x) - len(y)
}
