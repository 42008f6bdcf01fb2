package delta

import (
	"encoding/json"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
)

// https://github.com/delta-io/delta/blob/master/PROTOCOL.md#schema-serialization-format

type jsonType struct {
	Type              string          `json:"type"`
	Fields            []jsonField     `json:"fields,omitempty"`
	ElementType       json.RawMessage `json:"elementType,omitempty"`
	ContainsNull      *bool           `json:"containsNull,omitempty"`
	KeyType           json.RawMessage `json:"keyType,omitempty"`
	ValueType         json.RawMessage `json:"valueType,omitempty"`
	ValueContainsNull *bool           `json:"valueContainsNull,omitempty"`
}

type jsonField struct {
	Name     string                     `json:"name"`
	Type     json.RawMessage            `json:"type"`
	Nullable bool                       `json:"nullable"`
	Metadata map[string]json.RawMessage `json:"metadata"`
}

// column is a column of a table with what the schema says of it beyond its type.
type column struct {
	interop.Field
	notes map[string]json.RawMessage
}

// plainTypes are the types without parts, but for decimals.
var plainTypes = map[string]bool{"boolean": true, "byte": true, "short": true, "integer": true, "long": true,
	"float": true, "double": true, "string": true, "binary": true, "date": true, "timestamp": true,
	"timestamp_ntz": true}

// parseSchema reads the schema of a table.
func parseSchema(text string) ([]column, error) {
	var s jsonType
	if err := json.Unmarshal([]byte(text), &s); err != nil || s.Type != "struct" {
		return nil, corrupt("the schema is not a struct in JSON: %.200s", text)
	}
	out, seen := make([]column, len(s.Fields)), map[string]bool{}
	for i, f := range s.Fields {
		x, err := parseField(f, 0)
		if err != nil {
			return nil, within(err, "column \"%s\": ", f.Name)
		}
		if seen[strings.ToLower(f.Name)] {
			return nil, corrupt("two columns are named \"%s\"", f.Name)
		}
		seen[strings.ToLower(f.Name)] = true
		out[i] = column{x, f.Metadata}
	}
	return out, nil
}

func parseField(f jsonField, depth int) (interop.Field, error) {
	out, err := parseType(f.Type, depth)
	if out.Name, out.Required = f.Name, !f.Nullable; err == nil && f.Name == "" {
		err = corrupt("a column without a name")
	}
	return out, err
}

// parseType reads a type. One that is not known is kept as Refused: such a column cannot be read, but the others can.
func parseType(raw json.RawMessage, depth int) (f interop.Field, err error) {
	if depth > 32 {
		return f, corrupt("a type nested more than 32 times")
	}
	if json.Unmarshal(raw, &f.Type) == nil {
		if _, _, decimal := f.Decimal(); !plainTypes[f.Type] && !decimal {
			f.Refused = "values of type " + f.Type
		}
		return f, nil
	}
	var t jsonType
	if err := json.Unmarshal(raw, &t); err != nil {
		return f, corrupt("not a type: %.200s", raw)
	}
	f.Type = t.Type
	nullable := func(p *bool) bool { return p == nil || *p }
	switch t.Type {
	case "struct":
		for _, x := range t.Fields {
			part, err := parseField(x, depth+1)
			if err != nil {
				return f, err
			}
			f.Parts = append(f.Parts, part)
		}
	case "array":
		f.Parts = make([]interop.Field, 1)
		f.Parts[0], err = parseField(jsonField{Name: "element", Type: t.ElementType, Nullable: nullable(t.ContainsNull)},
			depth+1)
	case "map":
		f.Parts = make([]interop.Field, 2)
		if f.Parts[0], err = parseField(jsonField{Name: "key", Type: t.KeyType}, depth+1); err == nil {
			f.Parts[1], err = parseField(jsonField{Name: "value", Type: t.ValueType,
				Nullable: nullable(t.ValueContainsNull)}, depth+1)
		}
	default:
		f.Refused = "values of type " + t.Type
	}
	for _, part := range f.Parts {
		if part.Refused != "" {
			f.Refused = part.Refused
		}
	}
	if f.Type == "struct" && len(f.Parts) == 0 {
		f.Refused = "structs without fields"
	}
	return f, err
}

// schemaText writes the schema of a table.
func schemaText(cols []column) string {
	t := jsonType{Type: "struct"}
	for _, c := range cols {
		t.Fields = append(t.Fields, fieldJSON(&c.Field, c.notes))
	}
	return string(mustJSON(t))
}

func fieldJSON(f *interop.Field, notes map[string]json.RawMessage) jsonField {
	if notes == nil {
		notes = map[string]json.RawMessage{}
	}
	return jsonField{Name: f.Name, Type: typeJSON(f), Nullable: !f.Required, Metadata: notes}
}

func typeJSON(f *interop.Field) json.RawMessage {
	t := jsonType{Type: f.Type}
	switch f.Type {
	case "struct":
		for i := range f.Parts {
			t.Fields = append(t.Fields, fieldJSON(&f.Parts[i], nil))
		}
	case "array":
		null := !f.Parts[0].Required
		t.ElementType, t.ContainsNull = typeJSON(&f.Parts[0]), &null
	case "map":
		null := !f.Parts[1].Required
		t.KeyType, t.ValueType, t.ValueContainsNull = typeJSON(&f.Parts[0]), typeJSON(&f.Parts[1]), &null
	default:
		return mustJSON(f.Type)
	}
	return mustJSON(t)
}

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a type of this package that is no JSON
	}
	return b
}

// fieldsOf are the columns without their notes.
func fieldsOf(cols []column) []interop.Field {
	return lists.Map(cols, func(c column) interop.Field { return c.Field })
}

// FieldOf is the column in which a column of a Postgres type is stored: types that Delta Lake does not have are texts.
func FieldOf(c interop.Column) interop.Field {
	base, array := strings.CutSuffix(c.Type, "[]")
	f := interop.Field{Name: c.Name, Type: interop.FieldType(base)}
	if !array {
		return f
	}
	for range max(len(c.Shape), 1) {
		f.Name = "element"
		f = interop.Field{Name: c.Name, Type: "array", Parts: []interop.Field{f}}
	}
	return f
}

// same reports whether two types are the same, apart from whether there may be NULLs.
func same(a, b *interop.Field) bool {
	if a.Type != b.Type || len(a.Parts) != len(b.Parts) {
		return false
	}
	for i := range a.Parts {
		if a.Type == "struct" && a.Parts[i].Name != b.Parts[i].Name || !same(&a.Parts[i], &b.Parts[i]) {
			return false
		}
	}
	return true
}

// checkColumns refuses columns that a table cannot have.
func checkColumns(cols []column) error {
	seen := map[string]bool{}
	for _, c := range cols {
		low := strings.ToLower(c.Name)
		switch {
		case c.Refused != "":
			return unsupported("column \"%s\" holds %s", c.Name, c.Refused)
		case c.Name == "" || strings.ContainsAny(c.Name, " ,;{}()\n\t="):
			return sqlerr.New(sqlerr.InvalidParameter, "a column of a table of Delta Lake cannot be named \"%s\"", c.Name).
				WithHint("Its name must not be empty nor hold any of the characters ,;{}()= or space.")
		case seen[low]:
			return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once", c.Name)
		}
		seen[low] = true
	}
	if len(cols) == 0 {
		return sqlerr.New(sqlerr.InvalidParameter, "a table of Delta Lake needs a column")
	}
	return nil
}
