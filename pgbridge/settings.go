package pgbridge

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
)

// What a text of SQL means, and how the server prints a definition, depends on settings of the session. Definitions are
// read under settings of our own; what the user writes means what it means under his.

// meaningful are the settings that decide what a text means: a compiled loss holds under the same ones only.
var meaningful = []string{"search_path", "DateStyle", "IntervalStyle", "TimeZone",
	"timezone_abbreviations", "extra_float_digits", "bytea_output", "standard_conforming_strings",
	"backslash_quote", "transform_null_equals", "quote_all_identifiers", "array_nulls", "xmloption", "xmlbinary",
	"lc_monetary", "lc_numeric", "lc_time", "default_text_search_config", "row_security", "role"}

// plain are the settings under which the server prints definitions so that they can be read under any.
var plain = map[string]string{"DateStyle": "ISO, YMD", "IntervalStyle": "postgres", "TimeZone": "UTC",
	"extra_float_digits": "1", "bytea_output": "hex",
	"standard_conforming_strings": "on", "quote_all_identifiers": "off", "xmlbinary": "base64"}

// current asks for the settings that texts depend on, once in each request.
func (s *Session) current() map[string]string {
	if s.values != nil {
		return s.values
	}
	rows, err := s.texts("SELECT " + valuesOf(meaningful))
	s.takeValues(rows, err)
	return s.values
}

// valuesOf prints the items of a SELECT that reads settings.
func valuesOf(names []string) string {
	var items []string
	for _, n := range names {
		items = append(items, "pg_catalog.current_setting("+sqltext.Text(n)+", true)")
	}
	return strings.Join(items, ", ")
}

// takeValues keeps the settings that valuesOf(meaningful) has read, the last columns of a row.
func (s *Session) takeValues(rows [][]string, err error) {
	if err != nil {
		s.fail(err)
		return
	}
	s.values = map[string]string{}
	row := rows[0][len(rows[0])-len(meaningful):]
	for i, n := range meaningful {
		s.values[n] = row[i]
	}
}

// Meaning tells one state of the settings that texts depend on from another.
func (s *Session) Meaning() string {
	var out []string
	for _, n := range meaningful {
		out = append(out, s.current()[n])
	}
	return strings.Join(out, "\x01")
}

// definitions runs a query on the catalogues that prints definitions.
func (s *Session) definitions(sql string) ([][]string, error) {
	values := plain
	if s.Captured() {
		values = maps.Clone(plain)
		values["search_path"] = "pg_catalog"
	}
	return s.printed(sql, values)
}

// typeTexts runs a query that prints names of types, and holds text of the user's that means what it does under his
// settings.
func (s *Session) typeTexts(sql string) ([][]string, error) {
	return s.printed(sql, map[string]string{"quote_all_identifiers": "off"})
}

// printed runs a query under settings of our own.
func (s *Session) printed(sql string, values map[string]string) (rows [][]string, err error) {
	err = s.with(values, func() (err error) {
		rows, err = s.texts(sql)
		return err
	})
	return rows, err
}

// with calls f under settings of our own, and sets the user's again.
func (s *Session) with(values map[string]string, f func() error) error {
	var to, back []string
	set := func(list []string, name, value string) []string {
		return append(list,
			fmt.Sprintf("pg_catalog.set_config(%s, %s, %v)", sqltext.Text(name), sqltext.Text(value), s.local()))
	}
	for _, name := range meaningful {
		value, ours := values[name]
		if now := s.current()[name]; ours && now != value {
			to, back = set(to, name, value), set(back, name, now)
		}
	}
	if s.err != nil { // the settings are not known
		return s.failed()
	}
	if to == nil {
		return f()
	}
	if _, err := s.texts("SELECT " + strings.Join(to, ", ")); err != nil {
		return err
	}
	err := f()
	if _, e := s.texts("SELECT " + strings.Join(back, ", ")); err == nil {
		err = e
	}
	return err
}

// exact are the settings under which texts read back as the values that they were, whatever the settings are then.
var exact = map[string]string{"DateStyle": "ISO, YMD", "IntervalStyle": "iso_8601", "extra_float_digits": "1"}

// Inexact says why texts that dates or numbers stand in may not read back as the values that they were under the user's
// settings; "" where they do. PostgreSQL prints a date in an order that DateStyle does not read in some of its values.
func (s *Session) Inexact() string {
	style, order, _ := strings.Cut(s.current()["DateStyle"], ", ")
	digits, err := strconv.Atoi(s.current()["extra_float_digits"])
	switch {
	case style != "ISO" && order == "YMD", style == "German" && order != "DMY":
		return "DateStyle is " + s.current()["DateStyle"]
	case err != nil || digits < 1:
		return "extra_float_digits is " + s.current()["extra_float_digits"]
	}
	return ""
}

// viewPath is the path under which the names in a view's text are looked up.
func (s *Session) viewPath() []string {
	path := s.SearchPath()
	if !s.Captured() {
		return path
	}
	if len(path) > 0 && strings.HasPrefix(path[0], "pg_temp_") { // the only ones that are printed without a schema
		return []string{path[0], "pg_catalog"}
	}
	return []string{"pg_catalog"}
}

// plainTypes are those whose operators and functions a loss knows as Postgres's own. A type of an extension is not
// among them: what is defined for it takes no call from the others.
const plainTypes = `ARRAY['bool', 'int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'text', 'varchar', ` +
	`'bpchar', 'name', 'date', 
 'time', 'timetz', 'timestamp', 'timestamptz', 'interval', 'uuid', 'money', 'inet', 'bytea', 'json', 'jsonb', 
 'float4[]', 'float8[]', 'numeric[]', '"any"', 'anyelement', 'anyarray', 'anynonarray', 'anycompatible', 
 'anycompatiblearray', 'anycompatiblenonarray']::pg_catalog.regtype[]::pg_catalog.oid[]`

// captureQuery lists functions and operators of the schemas %[1]s that a call might mean though it is one of Postgres's
// own names, or of relgrad's, because their arguments fit better than any of those. %[2]s are the schemas that come
// before relgrad.
const captureQuery = `WITH own AS (SELECT n.oid, n.nspname FROM pg_catalog.pg_namespace n
  WHERE n.nspname = ANY (%[1]s)),
 built AS (SELECT n.oid, n.nspname FROM pg_catalog.pg_namespace n
   WHERE n.nspname = 'pg_catalog' OR n.nspname = 'relgrad')
SELECT DISTINCT f.name, pg_catalog.concat(f.text, ' of schema ', f.schema) FROM (
 SELECT p.proname AS name, pg_catalog.concat('function ', p.proname, '(',
   pg_catalog.pg_get_function_identity_arguments(p.oid), ')') AS text, own.nspname AS schema
 FROM own JOIN pg_catalog.pg_proc p ON p.pronamespace = own.oid
 WHERE EXISTS (SELECT FROM pg_catalog.pg_proc q JOIN built ON built.oid = q.pronamespace WHERE q.proname = p.proname)
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_proc q JOIN built ON built.oid = q.pronamespace WHERE q.proname = p.proname
    AND q.proargtypes = p.proargtypes
   AND (built.nspname = 'pg_catalog' OR NOT own.nspname = ANY (%[2]s)))
  AND NOT EXISTS (SELECT FROM pg_catalog.unnest(p.proargtypes::pg_catalog.oid[]) AS t(oid)
    WHERE NOT t.oid = ANY (` + plainTypes + `))
 UNION ALL SELECT o.oprname, pg_catalog.concat('operator ', o.oprname, ' (', pg_catalog.format_type(o.oprleft, NULL),
   ', ', pg_catalog.format_type(o.oprright, NULL), ')'), own.nspname
 FROM own JOIN pg_catalog.pg_operator o ON o.oprnamespace = own.oid
 WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_operator q JOIN built ON built.oid = q.oprnamespace
   WHERE q.oprname = o.oprname AND q.oprleft = o.oprleft AND q.oprright = o.oprright
   AND (built.nspname = 'pg_catalog' OR NOT own.nspname = ANY (%[2]s)))
  AND (o.oprleft = 0::pg_catalog.oid
    OR o.oprleft = ANY (` + plainTypes + `)) AND o.oprright = ANY (` + plainTypes + `)) AS f`

// captures finds what in the search path might be meant by a name of Postgres's own or relgrad's, by that name.
func (s *Session) captures() map[string]string {
	if s.defs.captures != nil {
		return s.defs.captures
	}
	path := s.SearchPath()
	own := slices.DeleteFunc(slices.Clone(path), func(n string) bool { return n == "relgrad" })
	captures := map[string]string{}
	if s.err != nil {
		return captures
	}
	if len(own) == 0 {
		s.defs.captures = captures
		return captures
	}
	before := path[:max(slices.Index(path, "relgrad"), 0)]
	sql := strings.ReplaceAll(strings.ReplaceAll(captureQuery, " = ", " OPERATOR(pg_catalog.=) "), "f.name,",
		"f.name::pg_catalog.text,")
	rows, err := s.texts(fmt.Sprintf(sql, names(own), names(before)))
	if err != nil {
		s.fail(err)
		return captures
	}
	for _, r := range rows {
		captures[r[0]] = r[1]
	}
	s.defs.captures = captures
	return captures
}

// Captured reports whether there is such an object.
func (s *Session) Captured() bool { return len(s.captures()) > 0 }

// ambiguous is the error for a name that a loss does not choose the meaning of.
func ambiguous(name, what, where string) error {
	e := sqlerr.New(sqlerr.AmbiguousFunction, "%s may mean %s", name, what).
		WithDetail("Which one the server calls depends on the types of the arguments; a loss knows one meaning of a name.")
	return e.WithHint("%s", where)
}
