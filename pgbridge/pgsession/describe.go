package pgsession

import (
	"context"
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script/psql"
)

var _ psql.Server = (*Session)(nil)

// listing is a command of \d's family that prints one list. The queries are psql's (describe.c of PostgreSQL 15), with
// columns of the catalogues that all supported servers have.
type listing struct {
	title string
	query func(p pattern, plus bool) string
}

// commands are the listings by command.
var commands = map[string]listing{
	"d":        {"List of relations", relations("r", "p", "v", "m", "S", "f")},
	"dt":       {"List of relations", relations("r", "p")},
	"dv":       {"List of relations", relations("v")},
	"di":       {"List of relations", relations("i", "I")},
	"df":       {"List of functions", functions},
	"dn":       {"List of schemas", schemas},
	"l":        {"List of databases", databases},
	"conninfo": {},
}

// Describe implements psql.Server.
func (s *Session) Describe(ctx context.Context, command, text string, plus bool) ([]psql.Sheet, error) {
	list, ok := commands[command]
	if !ok {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "\\%s does not work on a server", command)
	}
	if command == "conninfo" {
		return []psql.Sheet{{Text: "You are connected to " + s.Name() + "."}}, nil
	}
	p := newPattern(text)
	if command == "d" && text != "" {
		return tableDetails(s, ctx, p, plus)
	}
	res, err := s.query(ctx, list.query(p, plus))
	if err != nil {
		return nil, err
	}
	if len(res.Rows) == 0 && strings.HasSuffix(list.title, "relations") {
		return nil, notFound(text)
	}
	return []psql.Sheet{{Title: list.title, Result: res}}, nil
}

// notFound is the error if no relation has the name.
func notFound(text string) error {
	if text == "" {
		return sqlerr.New(sqlerr.UndefinedTable, "did not find any relations")
	}
	return sqlerr.New(sqlerr.UndefinedTable, "did not find any relation named \"%s\"", text)
}

// pattern is a pattern as in psql: names are in lower case unless quoted, * and ? are as in file names, a schema comes
// before a dot. schema and name are regular expressions of PostgreSQL; "" matches all.
type pattern struct{ text, schema, name string }

func newPattern(text string) pattern {
	var parts []string
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"' && quoted && i+1 < len(text) && text[i+1] == '"':
			b.WriteByte('"')
			i++
		case c == '"':
			quoted = !quoted
		case c == '.' && !quoted && len(parts) == 0:
			parts = append(parts, b.String())
			b.Reset()
		case c == '*' && !quoted:
			b.WriteString(".*")
		case c == '?' && !quoted:
			b.WriteByte('.')
		case c == '$', quoted && strings.IndexByte(`|*+?()[]{}.^\`, c) >= 0:
			b.WriteString(`\` + string(c))
		case quoted || c >= 0x80:
			b.WriteByte(c)
		default:
			b.WriteString(strings.ToLower(string(c)))
		}
	}
	p := pattern{text: text, name: b.String()}
	if len(parts) > 0 {
		p.schema = parts[0]
	}
	return p
}

// where is the condition on a catalogue's columns for the schema and the name. visible is the condition for names
// without a schema.
func (p pattern) where(schema, name, visible string) string {
	match := func(column, expr string) string {
		return fmt.Sprintf("%s OPERATOR(pg_catalog.~) %s COLLATE pg_catalog.default", column, literal("^("+expr+")$"))
	}
	var out []string
	if p.schema != "" {
		out = append(out, match(schema, p.schema))
	} else if visible != "" {
		out = append(out, visible)
	}
	if p.name != "" {
		out = append(out, match(name, p.name))
	}
	if len(out) == 0 {
		return "true"
	}
	return strings.Join(out, " AND ")
}

// none reports whether no name was given. Then the system's own objects are not listed.
func (p pattern) none() bool { return p.text == "" }

// literal quotes a string so that it is right under any standard_conforming_strings.
func literal(s string) string {
	return "E'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

// relations lists relations of some kinds.
func relations(kinds ...string) func(pattern, bool) string {
	index := kinds[0] == "i"
	return func(p pattern, plus bool) string {
		q := `SELECT n.nspname AS "Schema", c.relname AS "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view'
		  WHEN 'm' THEN 'materialized view'
 WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table'
   WHEN 'I' THEN 'partitioned index' END AS "Type",
 pg_catalog.pg_get_userbyid(c.relowner) AS "Owner"`
		if index {
			q += `, c2.relname AS "Table"`
		}
		if plus {
			q += `, CASE c.relpersistence WHEN 'p' THEN 'permanent' WHEN 't' THEN 'temporary' WHEN 'u' THEN 'unlogged' END AS ` +
				`"Persistence"`
			if kinds[0] != "v" {
				q += `, am.amname AS "Access method"`
			}
			q += `, pg_catalog.pg_size_pretty(pg_catalog.pg_table_size(c.oid)) AS "Size", pg_catalog.obj_description(c.oid, ` +
				`'pg_class') AS "Description"`
		}
		q += ` FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN ` +
			`pg_catalog.pg_am am ON am.oid = c.relam`
		if index {
			q += ` LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_catalog.pg_class c2 ON ` +
				`i.indrelid = c2.oid`
		}
		q += fmt.Sprintf(" WHERE c.relkind IN ('%s')", strings.Join(kinds, "', '"))
		if p.none() {
			q += ` AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_toast'`
		}
		return q + " AND " + p.where("n.nspname", "c.relname", "pg_catalog.pg_table_is_visible(c.oid)") + " ORDER BY 1, 2"
	}
}

func functions(p pattern, plus bool) string {
	q := `SELECT n.nspname AS "Schema", p.proname AS "Name", pg_catalog.pg_get_function_result(p.oid)
	  AS "Result data type",
 pg_catalog.pg_get_function_arguments(p.oid) AS "Argument data types",
 CASE p.prokind WHEN 'a' THEN 'agg' WHEN 'w' THEN 'window' WHEN 'p' THEN 'proc' ELSE 'func' END AS "Type"`
	if plus {
		q += `, CASE p.provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable' WHEN 'v' THEN 'volatile' END AS ` +
			`"Volatility",
 CASE p.proparallel WHEN 'r' THEN 'restricted' WHEN 's' THEN 'safe' WHEN 'u' THEN 'unsafe' END AS "Parallel",
 pg_catalog.pg_get_userbyid(p.proowner) AS "Owner", CASE WHEN prosecdef THEN 'definer' ELSE 'invoker' END AS "Security",
 pg_catalog.array_to_string(p.proacl, E'\n') AS "Access privileges", l.lanname AS "Language", p.prosrc AS "Source code",
 pg_catalog.obj_description(p.oid, 'pg_proc') AS "Description"`
	}
	q += ` FROM pg_catalog.pg_proc p LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
 LEFT JOIN pg_catalog.pg_language l ON l.oid = p.prolang WHERE true`
	if p.none() {
		q += ` AND n.nspname NOT IN ('pg_catalog', 'information_schema')`
	}
	return q + " AND " + p.where("n.nspname", "p.proname", "pg_catalog.pg_function_is_visible(p.oid)") +
		" ORDER BY 1, 2, 4"
}

func schemas(p pattern, plus bool) string {
	q := `SELECT n.nspname AS "Name", pg_catalog.pg_get_userbyid(n.nspowner) AS "Owner"`
	if plus {
		q += `, pg_catalog.array_to_string(n.nspacl, E'\n') AS "Access privileges", pg_catalog.obj_description(n.oid, ` +
			`'pg_namespace') AS "Description"`
	}
	q += ` FROM pg_catalog.pg_namespace n WHERE true`
	if p.none() {
		q += ` AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'`
	}
	return q + " AND " + p.where("", "n.nspname", "") + " ORDER BY 1"
}

func databases(p pattern, _ bool) string {
	return `SELECT d.datname AS "Name", pg_catalog.pg_get_userbyid(d.datdba)
	  AS "Owner", pg_catalog.pg_encoding_to_char(d.encoding) AS "Encoding",
 d.datcollate AS "Collate", d.datctype AS "Ctype", pg_catalog.array_to_string(d.datacl, E'\n') AS "Access privileges"
 FROM pg_catalog.pg_database d WHERE ` + p.where("", "d.datname", "") + " ORDER BY 1"
}
