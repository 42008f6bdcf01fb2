package session

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/print"
	"github.com/relgrad/relgrad/tensor"
)

// This file says how values of a server's types are represented in the algebra. (kernelType knows numbers, booleans and
// chunks.) They are texts. A loss may not ask what the server would decide differently than the bytes of these texts.

// types knows the server's types and collations.
type types struct {
	*server
	settings *settings
	collates string // how the database's collation compares: see databaseCollation
}

func (s *types) drop() { s.collates = "" }

// typed makes a type of the fields of madeOf and collates.
func (s *types) typed(made, collates []string) serverType {
	t := serverType{name: ownName(made[0], made[3]), kind: made[1], builtIn: made[3] != ""}
	t.oid, _ = strconv.ParseInt(made[2], 10, 64)
	t.collation = collation{name: collates[0], bytes: collates[1] == "b", deterministic: collates[2] == "",
		turkic: collates[3] != ""}
	if collates[0] == "" || collates[1] == "d" {
		t.collation = s.databaseCollation()
	}
	return t
}

// ownName is the name of one of Postgres's own types without a schema, which format_type adds if a temporary type hides
// it.
func ownName(name, builtIn string) string {
	if builtIn == "" {
		return name
	}
	return strings.TrimPrefix(name, "pg_catalog.")
}

// databaseCollation is the collation of the database.
func (s *types) databaseCollation() collation {
	if s.collates == "" {
		rows, err := s.texts(own.Replace(`SELECT CASE WHEN CASE pg_catalog.jsonb_extract_path_text(pg_catalog.to_jsonb(d),
		  'datlocprovider')
   WHEN 'i' THEN false WHEN 'b' THEN true ELSE d.datcollate = ANY (ARRAY['C', 'POSIX', 'C.UTF-8',
   'C.utf8']) END THEN 'bytes' ELSE 'other' END,
   CASE WHEN ` + turkic("d", "dat") + ` THEN ' turkic' END FROM pg_catalog.pg_database d
   WHERE d.datname = pg_catalog.current_database()`))
		if err != nil {
			s.fail(err)
			return collation{deterministic: true}
		}
		s.collates = rows[0][0] + rows[0][1]
	}
	return collation{bytes: strings.HasPrefix(s.collates, "bytes"), deterministic: true,
		turkic: strings.HasSuffix(s.collates, "turkic")}
}

// Text implements bind.Catalog.
func (s *types) Text() *kernels.Named { return collated("text", s.databaseCollation()) }

// typeNamed finds a type by its name in SQL.
func (s *types) typeNamed(name string) (serverType, bool, error) {
	made := strings.ReplaceAll(madeOf("t.oid", "-1"), " = ", " OPERATOR(pg_catalog.=) ")
	rows, err := s.settings.typeTexts(`SELECT ` + made +
		` FROM pg_catalog.pg_type t
  WHERE t.oid OPERATOR(pg_catalog.=) pg_catalog.to_regtype(` + sqltext.Text(name) + `)`)
	if err != nil || len(rows) == 0 {
		return serverType{}, false, err
	}
	return s.typed(strings.Split(rows[0][0], "\x01"), []string{"", "", "", ""}), true, nil
}

// Named implements bind.Catalog.
func (s *types) Named(_ []string, t ast.TypeName) (*kernels.Named, error) {
	t.Mods = nil
	found, ok, err := s.typeNamed(print.PrintType(t))
	if !ok || err != nil {
		return nil, bare(err)
	}
	if k, _ := kernelType(typeOf(found.name), nil, s.named(found)); k.Kind != kernels.Text || k.Of.IsText() {
		return nil, nil
	}
	return s.named(found), nil
}

// Literal implements bind.Catalog.
func (s *types) Literal(t *kernels.Named, text string) (string, error) {
	name := t.Name
	if _, own := textForms[name]; own && !strings.ContainsAny(name, ` "`) {
		name = "pg_catalog." + name
	}
	rows, err := s.texts("SELECT " + t.SQL("v.x") + " FROM (SELECT " + sqltext.Text(text) + "::" + name + " AS x) AS v")
	if err != nil {
		return "", bare(err)
	}
	return rows[0][0], nil
}

// maxDigits is the number of decimal digits that a double precision keeps.
const maxDigits = 15

// longNumeric is the type of numerics with more digits: different ones may be equal as double precision.
var longNumeric = &kernels.Named{Name: "numeric",
	Equal: "numerics of more than 15 digits, which a loss rounds, cannot be compared"}

// short reports whether a numeric is declared with at most maxDigits digits, such as numeric(10,2).
func short(declared string) bool {
	var precision int
	n, _ := fmt.Sscanf(declared, "numeric(%d", &precision)
	return n == 1 && precision <= maxDigits
}

// numerics is the type of a table's numeric column. The column's digits are counted when a loss first compares its
// values.
func (s *types) numerics(t *catalog.TableDef, col string) *kernels.Named {
	asked := false
	ask := sync.OnceValue(func() string {
		rows, err := s.texts("SELECT coalesce(pg_catalog.max(" + digits(sqltext.Ident(col)) + "), 0) FROM " +
			sqltext.Name(t.Schema, t.Name))
		if err != nil {
			s.fail(bare(err))
			return ""
		}
		if n, _ := strconv.Atoi(rows[0][0]); n > maxDigits {
			return longNumeric.Equal
		}
		asked = true
		return ""
	})
	return &kernels.Named{Name: "numeric", Ask: ask, Asked: &asked}
}

// shortNumeric is the type of a sub-query's numerics, of which none is long. Asked records that a loss compares them:
// then each step checks this again.
func shortNumeric() *kernels.Named {
	asked := false
	return &kernels.Named{Name: "numeric", Ask: func() string { asked = true; return "" }, Asked: &asked}
}

// digits is SQL that counts the digits of a numeric from the first to the last that is not zero.
func digits(x string) string {
	return "pg_catalog.length(pg_catalog.btrim(pg_catalog.translate(" + x + "::pg_catalog.text, '.-', ''), '0'))"
}

// serverType is the server's description of a type, or of a domain's base type.
type serverType struct {
	oid       int64
	name      string // as format_type prints it
	kind      string // pg_type.typtype
	builtIn   bool   // it is in pg_catalog
	collation collation
}

// collation is the collation of a column or a type. Its name is "" if it is the database's, or if there is none.
type collation struct {
	name          string
	bytes         bool // it compares byte by byte
	deterministic bool
	turkic        bool // i is not the small letter of I
}

// named is a server type's representation in the algebra; nil for texts in the database's collation if that compares
// byte by byte.
func (t serverType) named() *kernels.Named {
	name := typeOf(t.name)
	if t.kind == "e" {
		return &kernels.Named{Name: name.Name, Read: enumText(t.oid), Keyed: true}
	}
	form, ok := textForms[name.String()]
	if !ok || !t.builtIn {
		n := carried(name.String())
		n.Loose = t.loose()
		return n
	}
	form.Name = name.String()
	switch name.Name {
	case "text", "character varying", "name":
		return collated("text", t.collation)
	case "bpchar":
		return collated("bpchar", t.collation)
	}
	return &form
}

// loose reports whether a value's text depends on settings, because it may contain dates, intervals or numbers.
func (t serverType) loose() bool {
	return strings.Contains("rmc", cmp.Or(t.kind, "-")) || strings.HasSuffix(t.name, "[]")
}

// named is a server type's representation under the session's settings.
func (s *types) named(t serverType) *kernels.Named {
	n := t.named()
	if t.name == "date" || strings.HasPrefix(t.name, "timestamp") && n.NoText == "" {
		n.Setting = "datestyle"
		if style, _ := s.settings.Setting("datestyle"); !strings.HasPrefix(style, "ISO") {
			n.NoText = "the text of a " + n.Name + " follows DateStyle, which is " + style + " here"
		}
	}
	return n
}

// collated is the type of texts with this collation.
func collated(name string, c collation) *kernels.Named {
	n := &kernels.Named{Name: name, Collation: c.name}
	if c.turkic {
		n.Cases = "upper and lower case follow " + c.said() + ", whose letters i are four"
	} else if strings.Contains(c.name, ".") {
		n.Cases = "upper and lower case follow " + c.said()
	}
	switch {
	case c.bytes && c.name == "" && name == "text" && !c.turkic:
		return nil
	case !c.deterministic:
		n.Equal = "texts of " + c.said() + ", which takes different ones for equal, cannot be compared in a loss"
		n.Order = n.Equal
	case !c.bytes:
		n.Order = "texts are put in order by " + c.said() + ", which a loss cannot follow"
	}
	return n
}

func (c collation) said() string {
	if c.name == "" {
		return "the database's collation"
	}
	return "the collation " + strconv.Quote(c.name)
}

// typeOf parses a type's name as format_type prints it. Types that the engine does not know keep their name; a
// modifier, as in numeric(10,2), is dropped.
func typeOf(name string) catalog.Type {
	t := catalog.Type{Array: strings.HasSuffix(name, "[]")}
	t.Name = strings.TrimSuffix(name, "[]")
	quoted := strings.LastIndexByte(t.Name, '"') + 1
	if i := strings.IndexByte(t.Name[quoted:], '('); i >= 0 {
		end := strings.IndexByte(t.Name[quoted:], ')')
		t.Name = strings.TrimSpace(t.Name[:quoted+i]) + t.Name[quoted+end+1:]
	}
	if t.Array {
		t.Rank = 1
	}
	switch {
	case t.Name == "timestamp without time zone":
		t.Name = "timestamp"
	case t.Name == "character": // the word alone is character(1)
		t.Name = "bpchar"
	case t.Name == "bit":
		t.Name = `"bit"`
	case strings.HasPrefix(t.Name, "interval "):
		t.Name = "interval"
	}
	return t
}

// kernelType is a column's type in the algebra; of is the type of its texts. why says why the column has no type.
func kernelType(t catalog.Type, shape tensor.Shape, of *kernels.Named) (k kernels.Type, why string) {
	floats := map[string]kernels.Kind{"real": kernels.Float32, "double precision": kernels.Float64}
	kind, float := floats[t.Name]
	switch {
	case t.Array && float && shape == nil:
		return kernels.Type{Kind: kind}, "it holds no chunk yet, so its shape is not known"
	case t.Array && float:
		return kernels.Type{Kind: kind, Shape: shape}, ""
	case t.Array:
		return kernels.Type{Kind: kernels.Text, Of: of}, ""
	case float:
		return kernels.Type{Kind: kind}, ""
	}
	switch t.Name {
	case "numeric":
		k.Kind = kernels.Float64
	case "smallint", "integer", "bigint", "oid":
		k.Kind = kernels.Int
	case "boolean":
		k.Kind = kernels.Bool
	default:
		k.Kind, k.Of = kernels.Text, of
	}
	return k, ""
}
