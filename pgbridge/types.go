package pgbridge

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
)

// This is the one place that says how values of a server's types stand in the algebra (numbers, booleans and chunks
// aside, which kernelType knows). They are texts; what the bytes of a text cannot decide as the server does, no loss
// may ask.

// textForms are Postgres's own types of which a loss can compare values, by the names that format_type gives.
var textForms = map[string]kernels.Named{
	"text": {}, "character varying": {}, "name": {}, "bpchar": {}, // their collation decides: see collated
	"uuid": {}, "macaddr": {}, "macaddr8": {}, "time without time zone": {}, `"bit"`: {}, "bit varying": {},
	"bytea": {NoText: "the text of a bytea follows bytea_output",
		Read: own.Replace(`(E'\\x' || pg_catalog.encode($, 'hex'))`)},
	"date":                        {Read: dateText, Keyed: true},
	"timestamp without time zone": {Read: timeText("$", ""), Keyed: true},
	"timestamp with time zone": {Read: timeText("(pg_catalog.timezone('UTC', $))", "+00"), Keyed: true,
		NoText: "the text of a timestamp with time zone follows the session's TimeZone"},
	"interval": {Read: intervalText, Keyed: true, ByKey: true,
		NoText: "the text of an interval follows the session's IntervalStyle"},
	// equal values have equal texts, whose bytes have another order
	"inet": unordered("inet"), "cidr": unordered("cidr"), "time with time zone": unordered("time with time zone"),
	"pg_lsn": unordered("pg_lsn"), "int4range": unordered("int4range"), "int8range": unordered("int8range"),
}

func unordered(name string) kernels.Named {
	return kernels.Named{Order: "values of type " + name + " cannot be put in order in a loss"}
}

// carried is a type of which a loss can only carry values along.
func carried(name string) *kernels.Named {
	why := "values of type " + name + " cannot be compared in a loss"
	return &kernels.Named{Name: name, Equal: why, Order: why,
		NoText: "values of type " + name + " cannot be cast to text in a loss"}
}

// own qualifies the operators of a text that a server runs: a schema of the search path may have others of their names.
var own = strings.NewReplacer(" || ", " OPERATOR(pg_catalog.||) ", " - ", " OPERATOR(pg_catalog.-) ", " + ",
	" OPERATOR(pg_catalog.+) ", " * ", " OPERATOR(pg_catalog.*) ", " < ", " OPERATOR(pg_catalog.<) ", " > ",
	" OPERATOR(pg_catalog.>) ", " >= ", " OPERATOR(pg_catalog.>=) ", " = ", " OPERATOR(pg_catalog.=) ")

// farDay is what orders a day outside of the years 1 to 9999: see kernels.EarlyKey.
func farDay(early, day string) string {
	key := kernels.LateKey
	if early != "" {
		key = kernels.EarlyKey
	}
	return "'" + key + "' || pg_catalog.lpad(((" + day + " - '0001-01-01'::pg_catalog.date)::pg_catalog.int8 + " +
		strconv.Itoa(kernels.FarDays) +
		")::pg_catalog.text, 10, '0')"
}

// eras gives the three forms of a day or time x, at or after 0001-01-01 and before 10000-01-01 or not, as its own text.
func eras(x, day, time, text string) string {
	return own.Replace("CASE WHEN NOT pg_catalog.isfinite(" + x + ") THEN " + x + "::pg_catalog.text" +
		" WHEN " + x + " < '0001-01-01'::pg_catalog.date THEN " + farDay("early", day) + time +
		" || E'\\x1f' || " + text + " || ' BC'" +
		" WHEN " + x + " >= '10000-01-01'::pg_catalog.date THEN " + farDay("", day) + time + " || E'\\x1f' || " + text +
		" ELSE " + text + " END")
}

// dateText is a date's text under any DateStyle.
var dateText = eras("$", "$", "", "pg_catalog.to_char($, 'YYYY-MM-DD')")

// timeText is the text of a timestamp x under any DateStyle, with the zone behind it.
func timeText(x, zone string) string {
	return eras(x, x+"::pg_catalog.date", " || pg_catalog.to_char("+x+", ' HH24:MI:SS.US')",
		"pg_catalog.rtrim(pg_catalog.rtrim(pg_catalog.to_char("+x+", 'YYYY-MM-DD HH24:MI:SS.US'), '0'), '.') || '"+zone+"'")
}

// intervalText begins with the interval in microseconds, months of 30 days and days of 24 hours, which is how Postgres
// compares.
var intervalText = func() string {
	sum := "1000000000000000000000000::pg_catalog.numeric"
	for _, part := range [][2]string{{"year", "31104000000000"}, {"month", "2592000000000"}, {"day", "86400000000"},
		{"hour", "3600000000"}, {"minute", "60000000"}, {"microseconds", "1"}} {
		sum += " + (pg_catalog.date_part('" + part[0] + "', $)::pg_catalog.numeric * " + part[1] + "::pg_catalog.numeric)"
	}
	return own.Replace("(CASE WHEN pg_catalog.isfinite($) THEN pg_catalog.lpad((" + sum + ")::pg_catalog.text, 26, '0')" +
		" WHEN $ > '0'::pg_catalog.interval THEN 'i' ELSE '-' END || E'\\x1f' || $::pg_catalog.text)")
}()

// enumText begins with the place of the label, which stays when others are added. It is a float4, whose bits order as
// hexadecimal digits do, those of negative ones the other way round.
func enumText(oid int64) string {
	return own.Replace("(SELECT CASE WHEN e.enumsortorder >= 0::pg_catalog.float4 THEN '1' || " +
		"pg_catalog.encode(pg_catalog.float4send(e.enumsortorder), 'hex')" +
		" ELSE '0' || pg_catalog.translate(pg_catalog.encode(pg_catalog.float4send(e.enumsortorder), 'hex'), " +
		"'0123456789abcdef', 'fedcba9876543210') END" +
		" || E'\\x1f' || e.enumlabel::pg_catalog.text FROM pg_catalog.pg_enum e WHERE e.enumtypid = " +
		strconv.FormatInt(oid, 10) +
		"::pg_catalog.oid AND e.enumlabel = $::pg_catalog.text::pg_catalog.name)")
}

// madeOf is SQL for what a type is, of a domain what it is made of: the four first fields of typed.
func madeOf(oid, mod string) string {
	return `(WITH RECURSIVE made(oid, mod) AS (SELECT ` + oid + `, ` + mod + ` UNION ALL SELECT t.typbasetype, t.typtypmod
	  FROM made
     JOIN pg_catalog.pg_type t ON t.oid = made.oid AND t.typtype = 'd')
    SELECT pg_catalog.concat(pg_catalog.format_type(made.oid, made.mod), E'\x01', t.typtype, E'\x01', made.oid, E'\x01',
      CASE WHEN t.typnamespace = 'pg_catalog'::pg_catalog.regnamespace THEN 'p' END)
    FROM made JOIN pg_catalog.pg_type t ON t.oid = made.oid AND NOT t.typtype = 'd')`
}

// collates is SQL for what the collation k is, the other four fields of typed: its name, whether it compares byte by
// byte (b), as the database (d) or otherwise, whether it takes different texts for equal (n), and whether it is turkic
// (t).
var collates = `CASE WHEN k.oid IS NULL THEN NULL WHEN k.collnamespace = 'pg_catalog'::pg_catalog.regnamespace ` +
	`THEN k.collname::pg_catalog.text
   ELSE pg_catalog.concat(k.collnamespace::pg_catalog.regnamespace, '.', k.collname) END, E'\x01', CASE WHEN ` +
	`k.collprovider = 'd' THEN 'd'
   WHEN k.collnamespace = 'pg_catalog'::pg_catalog.regnamespace AND k.collname = ANY (ARRAY['C', 'POSIX', ` +
	`'ucs_basic', 'pg_c_utf8']::pg_catalog.name[])
     OR k.collprovider = 'c' AND k.collcollate = ANY (ARRAY['C', 'POSIX', 'C.UTF-8', 'C.utf8']) THEN 'b' END,
   E'\x01', CASE WHEN NOT k.collisdeterministic THEN 'n' END,
   E'\x01', CASE WHEN ` + turkic("k", "coll") + ` THEN 't' END`

// turkic is SQL for whether a row x of pg_collation or pg_database, whose columns begin with prefix, is for a language
// in which i is not the small I.
func turkic(x, prefix string) string {
	field := func(name string) string {
		return "pg_catalog.jsonb_extract_path_text(pg_catalog.to_jsonb(" + x + "), '" + prefix + name + "')"
	}
	return "pg_catalog.regexp_match(pg_catalog.concat_ws(' ', '', " + field("ctype") + ", " + field("iculocale") + ", " +
		field("locale") + "), ' (tr|az)([^a-z]|$)', 'i') IS NOT NULL"
}

// typed reads what madeOf and collates give.
func (s *Session) typed(made, collates []string) serverType {
	t := serverType{name: ownName(made[0], made[3]), kind: made[1], builtIn: made[3] != ""}
	t.oid, _ = strconv.ParseInt(made[2], 10, 64)
	t.collation = collation{name: collates[0], bytes: collates[1] == "b", deterministic: collates[2] == "",
		turkic: collates[3] != ""}
	if collates[0] == "" || collates[1] == "d" {
		t.collation = s.databaseCollation()
	}
	return t
}

// ownName is the name of a type of Postgres's own, which format_type qualifies where a temporary one hides it.
func ownName(name, builtIn string) string {
	if builtIn == "" {
		return name
	}
	return strings.TrimPrefix(name, "pg_catalog.")
}

// databaseCollation is the database's own.
func (s *Session) databaseCollation() collation {
	if s.defs.collates == "" {
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
		s.defs.collates = rows[0][0] + rows[0][1]
	}
	return collation{bytes: strings.HasPrefix(s.defs.collates, "bytes"), deterministic: true,
		turkic: strings.HasSuffix(s.defs.collates, "turkic")}
}

// Text implements sqlfront.Catalog.
func (s *Session) Text() *kernels.Named { return collated("text", s.databaseCollation()) }

// typeNamed finds a type by its name in SQL.
func (s *Session) typeNamed(name string) (serverType, bool, error) {
	rows, err := s.typeTexts(`SELECT ` + strings.ReplaceAll(madeOf("t.oid", "-1"), " = ", " OPERATOR(pg_catalog.=) ") +
		` FROM pg_catalog.pg_type t
  WHERE t.oid OPERATOR(pg_catalog.=) pg_catalog.to_regtype(` + sqltext.Text(name) + `)`)
	if err != nil || len(rows) == 0 {
		return serverType{}, false, err
	}
	return s.typed(strings.Split(rows[0][0], "\x01"), []string{"", "", "", ""}), true, nil
}

// Named implements sqlfront.Catalog.
func (s *Session) Named(_ []string, t ast.TypeName) (*kernels.Named, error) {
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

// Literal implements sqlfront.Catalog.
func (s *Session) Literal(t *kernels.Named, text string) (string, error) {
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

// maxDigits is how many digits of a numeric a double precision keeps.
const maxDigits = 15

// longNumeric is the type of numerics of more digits: as doubles, different ones may be equal.
var longNumeric = &kernels.Named{Name: "numeric",
	Equal: "numerics of more than 15 digits, which a loss rounds, cannot be compared"}

// short reports a declared numeric whose values have no more digits: numeric(10,2).
func short(declared string) bool {
	var precision int
	n, _ := fmt.Sscanf(declared, "numeric(%d", &precision)
	return n == 1 && precision <= maxDigits
}

// numerics is the type of a column of numerics, which are looked at when a loss compares them.
func (s *Session) numerics(t *catalog.TableDef, col string) *kernels.Named {
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

// shortNumeric is the type of numerics of a sub-query, of which none is long. Whether a loss compares them is noted:
// then a step looks again.
func shortNumeric() *kernels.Named {
	asked := false
	return &kernels.Named{Name: "numeric", Ask: func() string { asked = true; return "" }, Asked: &asked}
}

// digits counts the digits of a numeric between the first and the last that is not zero.
func digits(x string) string {
	return "pg_catalog.length(pg_catalog.btrim(pg_catalog.translate(" + x + "::pg_catalog.text, '.-', ''), '0'))"
}

// serverType is what a server says of a type; of a domain, of what it is made of.
type serverType struct {
	oid       int64
	name      string // format_type's
	kind      string // pg_type.typtype
	builtIn   bool   // in pg_catalog
	collation collation
}

// collation is that of a column or a type; name is "" for the database's own, or where there is none.
type collation struct {
	name          string
	bytes         bool // it compares byte by byte
	deterministic bool
	turkic        bool // i is not the small I
}

// named is the type of a server type's values in the algebra, nil for a text that compares byte by byte, as the
// database's own collation does.
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

// loose reports whether a value's text follows settings: it may hold dates, intervals or numbers.
func (t serverType) loose() bool {
	return strings.Contains("rmc", cmp.Or(t.kind, "-")) || strings.HasSuffix(t.name, "[]")
}

// named is a server type's in the algebra under the session's settings.
func (s *Session) named(t serverType) *kernels.Named {
	n := t.named()
	if t.name == "date" || strings.HasPrefix(t.name, "timestamp") && n.NoText == "" {
		n.Setting = "datestyle"
		if style, _ := s.Setting("datestyle"); !strings.HasPrefix(style, "ISO") {
			n.NoText = "the text of a " + n.Name + " follows DateStyle, which is " + style + " here"
		}
	}
	return n
}

// collated is the type of texts with a collation.
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
