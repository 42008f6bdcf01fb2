package print

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/tensor"
)

// name prints an identifier. It is quoted where PostgreSQL's quote_identifier quotes: unless it is a lower-case word
// that is no keyword or an unreserved one.
func (p *printer) name(s string) { p.text(quoteName(s)) }

// QualifiedName prints a name with its schema, which may be empty, quoted where necessary.
func QualifiedName(schema, name string) string {
	if schema == "" {
		return quoteName(name)
	}
	return quoteName(schema) + "." + quoteName(name)
}

func quoteName(s string) string {
	plain := s != ""
	for i := range len(s) {
		c := s[i]
		plain = plain && (c == '_' || c >= 'a' && c <= 'z' || i > 0 && parse.IsDigit(c))
	}
	if plain && !isKeyword(s) {
		return s
	}
	return sqltext.Ident(s)
}

// isKeyword asks the parser's scanner, so that no list of keywords has to be kept up to date.
func isKeyword(s string) bool {
	r, err := pg.Scan(s)
	if err != nil || len(r.Tokens) != 1 {
		return true
	}
	k := r.Tokens[0].KeywordKind
	return k != pg.KeywordKind_NO_KEYWORD && k != pg.KeywordKind_UNRESERVED_KEYWORD
}

func (p *printer) names(list []string) { commas(p, list, p.name) }

func (p *printer) qualified(schema, name string) {
	if schema != "" {
		p.name(schema)
		p.text(".")
	}
	p.name(name)
}

// grammarTypes are types whose names have several words, or are keywords that would look odd in quotes; true for those
// that take one modifier.
var grammarTypes = map[string]bool{
	"smallint": false, "integer": false, "bigint": false, "real": false, "double precision": false,
	"numeric": false, "boolean": false,
	"character": true, "character varying": true, "timestamp": true, "timestamp with time zone": true,
	"timestamp without time zone": true,
	"time":                        true, "time with time zone": true, "time without time zone": true,
}

// typeName prints a type. With modifiers that the grammar does not allow after its words, it prints the internal name.
func (p *printer) typeName(t ast.TypeName) {
	mods := ""
	for i, m := range t.Mods {
		if i > 0 {
			mods += ", "
		}
		mods += strconv.Itoa(m)
	}
	if mods != "" {
		mods = "(" + mods + ")"
	}
	modified, words := grammarTypes[t.Name]
	words = words && t.Schema == "" &&
		(mods == "" || t.Name == "numeric" || modified && len(t.Mods) == 1 && t.Mods[0] >= 0)
	head, zone, zoned := strings.Cut(t.Name, " with")
	internal, ok := ast.InternalTypes[t.Name]
	switch {
	case words && t.Name == "character" && mods == "": // the word alone is character(1)
		p.text("bpchar")
	case words && zoned:
		p.text(head + mods + " with" + zone)
	case words:
		p.text(t.Name + mods)
	case ok && t.Schema == "":
		p.text(quoteName(internal) + mods)
	default:
		p.qualified(t.Schema, t.Name)
		p.text(mods)
	}
	p.text(strings.Repeat("[]", t.Dims))
}

// bound prints a value with a cast to its type, so that it is neither a position of ORDER BY or GROUP BY nor a value of
// another type.
func (p *printer) bound(e *ast.Bound) {
	if e.Type == "" || e.Type == "unknown" {
		switch v := e.Value.(type) {
		case nil:
			p.text("NULL")
			return
		case string:
			p.text(sqltext.Text(v))
			return
		}
	}
	t := ast.TypeName{Name: strings.TrimSuffix(e.Type, "[]"), Dims: strings.Count(e.Type, "[]")}
	switch v := e.Value.(type) {
	case nil:
		p.text("NULL")
	case bool:
		p.text(strconv.FormatBool(v))
	case float64:
		if t.Name != "double precision" && t.Name != "real" { // other types round a number but refuse its text
			p.text(sqltext.Text(tensor.FormatFloat(v, tensor.Float64)) + "::double precision")
			break
		}
		p.text(sqltext.Text(boundText(v, t.Name)))
	case int64:
		if v >= 0 {
			p.text(strconv.FormatInt(v, 10))
			break
		}
		p.text(sqltext.Text(boundText(v, t.Name)))
	default:
		p.text(sqltext.Text(boundText(v, t.Name)))
	}
	if e.Type != "" && e.Type != "unknown" {
		p.text("::")
		p.typeName(t)
	}
}

// boundText is the text from which Postgres's input functions read the value v of the type typ, or of an array of it.
func boundText(v any, typ string) string {
	switch x := v.(type) {
	case string:
		return x
	case float64:
		if typ == "real" {
			return tensor.FormatFloat(x, tensor.Float32)
		}
		return tensor.FormatFloat(x, tensor.Float64)
	case *tensor.Tensor:
		return x.String()
	case []byte:
		return fmt.Sprintf(`\x%x`, x)
	}
	if rv := reflect.ValueOf(v); rv.Kind() == reflect.Slice {
		var items []string
		for i := range rv.Len() {
			items = append(items, elementText(rv.Index(i).Interface(), typ))
		}
		return "{" + strings.Join(items, ",") + "}"
	}
	return fmt.Sprint(v)
}

func elementText(v any, typ string) string {
	if v == nil {
		return "NULL"
	}
	s := boundText(v, typ)
	if _, isText := v.(string); !isText {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// PrintType prints a type's name.
func PrintType(t ast.TypeName) string {
	p := &printer{}
	p.typeName(t)
	return p.b.String()
}
