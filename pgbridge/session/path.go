package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
)

// searchPath is the session's search path, and what on it may be called in place of Postgres's own functions and
// operators.
type searchPath struct {
	*server
	settings *settings
	path     []string          // for the present state of the database; nil: not known
	captured map[string]string // by name, what may be called in place of Postgres's own; nil: not known
}

func (s *searchPath) drop() { s.path, s.captured = nil, nil }

// SearchPath returns the schemas in which unqualified names are looked up, first that of temporary tables if it exists.
// A user's schema before pg_catalog is an error: views and generated SQL mean the functions and operators in
// pg_catalog.
func (s *searchPath) SearchPath() []string {
	if s.path != nil {
		return s.path
	}
	rows, err := s.texts(
		"SELECT n FROM pg_catalog.unnest(pg_catalog.current_schemas(true)) WITH ORDINALITY AS s(n, i) ORDER BY i")
	if err != nil {
		s.fail(err)
		return []string{}
	}
	path := []string{}
	builtin := false
	for _, r := range rows {
		switch name := r[0]; {
		case name == "pg_catalog":
			builtin = true
			continue
		case !builtin && name != "relgrad" && !strings.HasPrefix(name, "pg_temp_"):
			s.fail(sqlerr.New(sqlerr.ObjectNotPrereqState, "search_path names schema \"%s\" before pg_catalog", name).
				WithDetail("Functions and operators of that schema could take the place of Postgres's own.").
				WithHint("SET search_path = public, relgrad; pg_catalog is first where it is not named."))
			return []string{}
		}
		path = append(path, r[0])
	}
	s.path = path
	return path
}

// definitions runs a query on the catalogues that prints definitions.
func (s *searchPath) definitions(sql string) ([][]string, error) {
	values := plain
	if s.Captured() {
		values = maps.Clone(plain)
		values["search_path"] = "pg_catalog"
	}
	return s.settings.printed(sql, values)
}

// viewPath is the search path for the names in a view's text.
func (s *searchPath) viewPath() []string {
	path := s.SearchPath()
	if !s.Captured() {
		return path
	}
	if len(path) > 0 && strings.HasPrefix(path[0], "pg_temp_") { // temporary tables have no schema in the text
		return []string{path[0], "pg_catalog"}
	}
	return []string{"pg_catalog"}
}

// plainTypes are the types whose functions and operators in a loss are Postgres's own. Types of extensions are not
// among them: functions for these types cannot capture calls with other types.
const plainTypes = `ARRAY['bool', 'int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'text', 'varchar', ` +
	`'bpchar', 'name', 'date', 
 'time', 'timetz', 'timestamp', 'timestamptz', 'interval', 'uuid', 'money', 'inet', 'bytea', 'json', 'jsonb', 
 'float4[]', 'float8[]', 'numeric[]', '"any"', 'anyelement', 'anyarray', 'anynonarray', 'anycompatible', 
 'anycompatiblearray', 'anycompatiblenonarray']::pg_catalog.regtype[]::pg_catalog.oid[]`

// captureQuery lists functions and operators of the schemas %[1]s that have the name of one of Postgres's or relgrad's
// own, and that a call may mean instead because their arguments fit better. %[2]s are the schemas before relgrad in the
// path. The schemas' own are found first: they are few, and nothing else is read where there are none.
const captureQuery = `WITH own AS (SELECT n.oid, n.nspname FROM pg_catalog.pg_namespace n
  WHERE n.nspname = ANY (%[1]s)),
 built AS (SELECT n.oid, n.nspname FROM pg_catalog.pg_namespace n
   WHERE n.nspname = 'pg_catalog' OR n.nspname = 'relgrad'),
 functions AS MATERIALIZED (SELECT p.oid, p.proname, p.proargtypes, own.nspname
   FROM own JOIN pg_catalog.pg_proc p ON p.pronamespace = own.oid),
 operators AS MATERIALIZED (SELECT o.oprname, o.oprleft, o.oprright, own.nspname
   FROM own JOIN pg_catalog.pg_operator o ON o.oprnamespace = own.oid)
SELECT DISTINCT f.name, pg_catalog.concat(f.text, ' of schema ', f.schema) FROM (
 SELECT p.proname AS name, pg_catalog.concat('function ', p.proname, '(',
   pg_catalog.pg_get_function_identity_arguments(p.oid), ')') AS text, p.nspname AS schema
 FROM functions p
 WHERE EXISTS (SELECT FROM pg_catalog.pg_proc q JOIN built ON built.oid = q.pronamespace WHERE q.proname = p.proname)
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_proc q JOIN built ON built.oid = q.pronamespace WHERE q.proname = p.proname
    AND q.proargtypes = p.proargtypes
   AND (built.nspname = 'pg_catalog' OR NOT p.nspname = ANY (%[2]s)))
  AND NOT EXISTS (SELECT FROM pg_catalog.unnest(p.proargtypes::pg_catalog.oid[]) AS t(oid)
    WHERE NOT t.oid = ANY (` + plainTypes + `))
 UNION ALL SELECT o.oprname, pg_catalog.concat('operator ', o.oprname, ' (', pg_catalog.format_type(o.oprleft, NULL),
   ', ', pg_catalog.format_type(o.oprright, NULL), ')'), o.nspname
 FROM operators o
 WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_operator q JOIN built ON built.oid = q.oprnamespace
   WHERE q.oprname = o.oprname AND q.oprleft = o.oprleft AND q.oprright = o.oprright
   AND (built.nspname = 'pg_catalog' OR NOT o.nspname = ANY (%[2]s)))
  AND (o.oprleft = 0::pg_catalog.oid
    OR o.oprleft = ANY (` + plainTypes + `)) AND o.oprright = ANY (` + plainTypes + `)) AS f`

// captures finds what on the search path may be called in place of Postgres's or relgrad's own, by name.
func (s *searchPath) captures() map[string]string {
	if s.captured != nil {
		return s.captured
	}
	path := s.SearchPath()
	own := slices.DeleteFunc(slices.Clone(path), func(n string) bool { return n == "relgrad" })
	captures := map[string]string{}
	if s.err != nil {
		return captures
	}
	if len(own) == 0 {
		s.captured = captures
		return captures
	}
	before := path[:max(slices.Index(path, "relgrad"), 0)]
	sql := strings.ReplaceAll(strings.ReplaceAll(captureQuery, " = ", " OPERATOR(pg_catalog.=) "), "f.name,",
		"f.name::pg_catalog.text,")
	rows, err := s.texts(fmt.Sprintf(sql, nameArray(own), nameArray(before)))
	if err != nil {
		s.fail(err)
		return captures
	}
	for _, r := range rows {
		captures[r[0]] = r[1]
	}
	s.captured = captures
	return captures
}

// Captured reports whether captures finds anything.
func (s *searchPath) Captured() bool { return len(s.captures()) > 0 }

// inPath is a condition for schemas on a path, and their order.
func inPath(path []string) string {
	list := nameArray(path)
	return "n.nspname OPERATOR(pg_catalog.=) ANY (" + list +
		") ORDER BY pg_catalog.array_position(" + list + ", n.nspname)"
}

func nameArray(path []string) string {
	var q []string
	for _, t := range path {
		q = append(q, sqltext.Text(t))
	}
	return "ARRAY[" + strings.Join(q, ", ") + "]::pg_catalog.name[]"
}

// notHidden is a condition for functions that no function with the same arguments hides: one of Postgres's own or, if
// it comes first in the path, one of relgrad's.
func notHidden(path []string) string {
	first := nameArray(path[:max(slices.Index(path, "relgrad"), 0)])
	return strings.ReplaceAll("NOT EXISTS (SELECT FROM pg_catalog.pg_proc q JOIN pg_catalog.pg_namespace m ON m.oid = "+
		"q.pronamespace WHERE q.proname = p.proname AND q.proargtypes = p.proargtypes AND "+
		"(m.nspname = 'pg_catalog' OR m.nspname = 'relgrad' AND "+fmt.Sprint(slices.Contains(path, "relgrad"))+
		" AND NOT n.nspname = ANY ("+first+"))) AND ", " = ", " OPERATOR(pg_catalog.=) ")
}
