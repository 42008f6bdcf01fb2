package psql

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/script/plpgsql"
	"github.com/relgrad/relgrad/tensor"
)

// json writes a result as one line: an array of objects, columns in order. Numbers that JSON
// lacks (NaN, infinities) are strings, as in Postgres's to_json.
func (s *sheet) json(r *script.Result) error {
	b := &s.b
	if !s.begun {
		b.WriteByte('[')
	}
	for n, row := range r.Rows {
		if s.rows+n > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('{')
		for i, v := range row {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := jsonValue(b, r.Cols[i].Name, "text"); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := jsonValue(b, v, r.Cols[i].Type); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	}
	if !r.More {
		b.WriteString("]\n")
	}
	return nil
}

func jsonValue(b *strings.Builder, v any, typ string) error {
	switch x := v.(type) {
	case float64:
		s := tensor.FormatFloat(x, plpgsql.DtypeOf(typ))
		if math.IsNaN(x) || math.IsInf(x, 0) {
			s = `"` + s + `"`
		}
		b.WriteString(s)
		return nil
	case string:
		if text, ok := jsonText(x, typ); ok {
			b.WriteString(text)
			return nil
		}
		if strings.TrimSuffix(typ, "[]") == "numeric" && json.Valid([]byte(x)) || typ == "json" || typ == "jsonb" {
			b.WriteString(x)
			return nil
		}
	case *tensor.Tensor:
		jsonTensor(b, x, 0, 0)
		return nil
	case []any:
		b.WriteByte('[')
		for i, e := range x {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := jsonValue(b, e, strings.TrimSuffix(typ, "[]")); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	b.WriteString(strings.TrimSuffix(out.String(), "\n"))
	return nil
}

// jsonTensor writes the sub-tensor along axis that begins at off and returns the next offset.
func jsonTensor(b *strings.Builder, t *tensor.Tensor, axis, off int) int {
	if axis == len(t.Shape) {
		_ = jsonValue(b, t.Data[off], t.DType.String()) // a float cannot fail
		return off + 1
	}
	b.WriteByte('[')
	for i := range t.Shape[axis] {
		if i > 0 {
			b.WriteByte(',')
		}
		off = jsonTensor(b, t, axis+1, off)
	}
	b.WriteByte(']')
	return off
}

// jsonText converts a server's text of a boolean, a number that JSON can hold, or an array of these or of texts.
func jsonText(text, typ string) (string, bool) {
	if elem, array := strings.CutSuffix(typ, "[]"); array {
		return jsonArray(text, elem)
	}
	switch typ {
	case "boolean":
		return map[string]string{"t": "true", "f": "false"}[text], text == "t" || text == "f"
	case "smallint", "integer", "bigint", "real", "double precision", "oid":
		return text, json.Valid([]byte(text))
	}
	return "", false
}

// jsonArray converts PostgreSQL's text of an array.
func jsonArray(text, elem string) (string, bool) {
	text = text[strings.IndexByte(text, '{')+1:] // bounds may come first: [0:1]={1,2}
	var b strings.Builder
	b.WriteByte('[')
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '{':
			b.WriteByte('[')
			i++
		case '}':
			b.WriteByte(']')
			i++
		case ',':
			b.WriteByte(',')
			i++
		default:
			var word strings.Builder
			quoted := c == '"'
			if quoted {
				i++
			}
			for i < len(text) && (quoted && text[i] != '"' || !quoted && text[i] != ',' && text[i] != '}') {
				if text[i] == '\\' && i+1 < len(text) {
					i++
				}
				word.WriteByte(text[i])
				i++
			}
			if quoted {
				i++
			}
			var v any = word.String()
			if !quoted && v == "NULL" {
				v = nil
			}
			if err := jsonValue(&b, v, elem); err != nil {
				return "", false
			}
		}
	}
	return b.String(), true
}
