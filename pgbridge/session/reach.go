package session

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// A query reads more than the tables in its text: functions of a user read tables, also those behind an operator, a
// cast or an aggregate; so do policies of row-level security, and tables have parts and parents. Reach follows them
// from the names in the text. If a name may mean several things, it follows all of them.

// reach finds what queries read.
type reach struct {
	*server
	path    *searchPath
	reached map[string][][]string // answers of reachQuery, for the present state of the database
}

func (s *reach) drop() { s.reached = map[string][][]string{} }

// blind are extensions whose functions, most of them in C, read no table of the user's except through their arguments.
var blind = `ARRAY['btree_gin', 'btree_gist', 'citext', 'cube', 'dict_int', 'dict_xsyn', 'earthdistance', ` +
	`'fuzzystrmatch', 'hstore', 'intarray', 'isn', 'lo', 'ltree', 'pg_trgm', 'pgcrypto',
 'seg', 'unaccent', 'uuid-ossp', 'vector', 'halfvec', 'postgis', 'postgis_raster', 'postgis_sfcgal', ` +
	`'postgis_topology', 'h3', 'rum', 'pg_similarity', 'relgrad']::pg_catalog.name[]`

// reachQuery follows the dependencies that the server records. The names to start from have a kind: r a relation, f a
// function, o an operator, d a name behind a dot, which may be a function of a row.
var reachQuery = strings.NewReplacer(" = ", " OPERATOR(pg_catalog.=) ", " >= ", " OPERATOR(pg_catalog.>=) ", " <> ",
	" OPERATOR(pg_catalog.<>) ").Replace(`WITH RECURSIVE
asked(kind, name, path) AS (SELECT * FROM ROWS FROM (pg_catalog.unnest(%s), pg_catalog.unnest(%s),
  pg_catalog.unnest(%s)) AS u(kind, name, path)),
own(oid) AS (SELECT p.oid FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
  WHERE p.oid >= 16384::pg_catalog.oid AND n.nspname <> 'relgrad'),
seen_in(oid) AS (SELECT own.oid FROM own JOIN pg_catalog.pg_proc p ON p.oid = own.oid
  JOIN pg_catalog.pg_language l ON l.oid = p.prolang
    WHERE NOT l.lanname = ANY (ARRAY['c', 'internal']::pg_catalog.name[])),
named(class, oid, via) AS (
 SELECT 'r', c.oid, pg_catalog.concat(CASE WHEN c.relkind = 'v' THEN 'view ' ELSE 'table ' END, c.relname) FROM asked a
   JOIN pg_catalog.pg_class c ON a.kind = 'r' AND c.relname = a.name::pg_catalog.name
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    AND n.nspname::pg_catalog.text = ANY (pg_catalog.string_to_array(a.path, E'\x01'))
 UNION ALL SELECT 'f', p.oid, pg_catalog.concat('function ', p.proname) FROM asked a
   JOIN pg_catalog.pg_proc p ON (a.kind = 'f' OR a.kind = 'd' AND EXISTS (SELECT FROM pg_catalog.pg_type t
   WHERE t.oid = p.proargtypes[0] AND t.typtype = 'c'))
  AND p.proname = a.name::pg_catalog.name JOIN own ON own.oid = p.oid
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    AND n.nspname::pg_catalog.text = ANY (pg_catalog.string_to_array(a.path, E'\x01'))
 UNION ALL SELECT 'o', o.oid, pg_catalog.concat('operator ', o.oprname) FROM asked a
   JOIN pg_catalog.pg_operator o ON a.kind = 'o' AND o.oprname = a.name::pg_catalog.name
  JOIN own ON own.oid = o.oprcode::pg_catalog.oid JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace
    AND n.nspname::pg_catalog.text = ANY (pg_catalog.string_to_array(a.path, E'\x01'))
 UNION ALL SELECT 'f', c.castfunc, pg_catalog.concat('the cast from ', pg_catalog.format_type(c.castsource, NULL),
   ' to ', pg_catalog.format_type(c.casttarget, NULL))
  FROM pg_catalog.pg_cast c JOIN seen_in ON seen_in.oid = c.castfunc
 UNION ALL SELECT 'f', m.amproc::pg_catalog.oid, 'the order of an operator class' FROM pg_catalog.pg_amproc m
   JOIN seen_in ON seen_in.oid = m.amproc::pg_catalog.oid
 UNION ALL SELECT 'f', o.oprcode::pg_catalog.oid, pg_catalog.concat('operator ', o.oprname) FROM pg_catalog.pg_amop m
   JOIN pg_catalog.pg_operator o ON o.oid = m.amopopr JOIN seen_in ON seen_in.oid = o.oprcode::pg_catalog.oid),
reached(class, oid, via) AS (SELECT * FROM named UNION SELECT e.class, e.oid, e.via FROM reached r CROSS JOIN LATERAL (
  SELECT CASE d.refclassid WHEN 'pg_catalog.pg_class'::pg_catalog.regclass THEN 'r'
    WHEN 'pg_catalog.pg_proc'::pg_catalog.regclass THEN 'f'
    WHEN 'pg_catalog.pg_operator'::pg_catalog.regclass THEN 'o' END AS class, d.refobjid AS oid, r.via
   FROM pg_catalog.pg_depend d WHERE d.objid = r.oid AND d.classid = CASE r.class
   WHEN 'f' THEN 'pg_catalog.pg_proc'::pg_catalog.regclass
   WHEN 'o' THEN 'pg_catalog.pg_operator'::pg_catalog.regclass END
  UNION ALL SELECT CASE d.refclassid WHEN 'pg_catalog.pg_class'::pg_catalog.regclass THEN 'r'
    WHEN 'pg_catalog.pg_proc'::pg_catalog.regclass THEN 'f'
    WHEN 'pg_catalog.pg_operator'::pg_catalog.regclass THEN 'o' END, d.refobjid, r.via
   FROM pg_catalog.pg_class c JOIN pg_catalog.pg_rewrite w ON w.ev_class = c.oid
   JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = w.oid
   WHERE r.class = 'r' AND c.oid = r.oid AND c.relkind = 'v'
  UNION ALL SELECT CASE d.refclassid WHEN 'pg_catalog.pg_class'::pg_catalog.regclass THEN 'r'
    WHEN 'pg_catalog.pg_proc'::pg_catalog.regclass THEN 'f'
    WHEN 'pg_catalog.pg_operator'::pg_catalog.regclass THEN 'o' END, d.refobjid, pg_catalog.concat('policy ',
    y.polname, ' of table ', c.relname)
   FROM pg_catalog.pg_class c JOIN pg_catalog.pg_policy y ON y.polrelid = c.oid
   JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass AND d.objid = y.oid
   WHERE r.class = 'r' AND c.oid = r.oid AND pg_catalog.row_security_active(c.oid) AND NOT d.refobjid = r.oid
  UNION ALL SELECT 'r', h.inhrelid, r.via FROM pg_catalog.pg_inherits h WHERE r.class = 'r' AND h.inhparent = r.oid
  UNION ALL SELECT 'a', h.inhparent, r.via FROM pg_catalog.pg_inherits h WHERE (r.class = 'r' OR r.class = 'a')
    AND h.inhrelid = r.oid) e
 WHERE e.class IS NOT NULL AND (e.class <> 'f' OR e.oid = ANY (ARRAY(SELECT own.oid FROM own))))
SELECT r.class, r.oid::pg_catalog.int8::pg_catalog.text, r.via, COALESCE(n.nspname, m.nspname)::pg_catalog.text,
  COALESCE(c.relname, p.proname)::pg_catalog.text, l.lanname::pg_catalog.text, p.provolatile::pg_catalog.text,
 CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension x ON x.oid = d.refobjid
   AND x.extname = ANY (` + blind + `)
  WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid
    AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.deptype = 'e') THEN 'b' END,
 CASE WHEN c.relkind = 'v' THEN pg_catalog.pg_get_viewdef(c.oid) WHEN p.prokind = 'f'
   AND l.lanname = ANY (ARRAY['sql', 'plpgsql']::pg_catalog.name[]) THEN pg_catalog.pg_get_functiondef(p.oid) END,
 (SELECT pg_catalog.substr(k, 13) FROM pg_catalog.unnest(p.proconfig) k
   WHERE pg_catalog.starts_with(k, 'search_path=')), p.prokind::pg_catalog.text
FROM (SELECT class, oid, pg_catalog.min(via) AS via FROM reached WHERE class <> 'o' GROUP BY class, oid) r
 LEFT JOIN pg_catalog.pg_class c ON r.class <> 'f' AND c.oid = r.oid
   LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 LEFT JOIN pg_catalog.pg_proc p ON r.class = 'f' AND p.oid = r.oid
   LEFT JOIN pg_catalog.pg_namespace m ON m.oid = p.pronamespace
   LEFT JOIN pg_catalog.pg_language l ON l.oid = p.prolang ORDER BY r.class, r.oid`)

// reaching is the state of a search.
type reaching struct {
	s     *reach
	out   *bind.Reach
	asked map[[3]string]bool // names that were looked up: kind, name, path
	seen  map[string]bool    // objects that were followed
	next  [][3]string
	path  string
}

// Reach implements bind.Catalog.
func (s *reach) Reach(_ context.Context, sql string) (*bind.Reach, error) {
	path := s.path.SearchPath()
	if s.err != nil {
		return nil, s.failed()
	}
	r := &reaching{s: s, out: &bind.Reach{}, asked: map[[3]string]bool{}, seen: map[string]bool{},
		path: strings.Join(append(slices.Clone(path), "pg_catalog"), "\x01")}
	u, err := bind.UsesOf(sql)
	if err != nil {
		return nil, bare(err)
	}
	r.take(u, "", r.path)
	r.calls(u, "")
	for len(r.next) > 0 {
		key := fmt.Sprint(r.next)
		rows, ok := s.reached[key]
		if !ok {
			if rows, err = s.ask(r.next); err != nil {
				return nil, bare(err)
			}
			s.reached[key] = rows
		}
		r.next = nil
		for _, row := range rows {
			r.object(row)
		}
	}
	return r.out, nil
}

func (s *reach) ask(names [][3]string) ([][]string, error) {
	var list [3][]string
	for _, n := range names {
		for i := range list {
			list[i] = append(list[i], sqltext.Text(n[i]))
		}
	}
	args := make([]any, len(list))
	for i, l := range list {
		args[i] = "ARRAY[" + strings.Join(l, ", ") + "]::pg_catalog.text[]"
	}
	return s.path.definitions(fmt.Sprintf(reachQuery, args...))
}

// take notes names to look up. A name in a function may mean something else by the time the function runs, so relations
// in functions are also reported by name alone.
func (r *reaching) take(u *bind.Uses, via, path string) {
	if u.Unseen != "" && r.out.Unseen == "" {
		r.out.Unseen, r.out.By = u.Unseen, via
	}
	kinds := map[string][]bind.QName{"r": u.Tables, "f": u.Calls,
		"o": append(slices.Clone(u.Operators), bind.QName{Name: "="}, bind.QName{Name: "<"}), "d": nil}
	for _, f := range u.Fields {
		kinds["d"] = append(kinds["d"], bind.QName{Name: f})
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		for _, n := range kinds[kind] {
			in := path
			if n.Schema == "pg_temp" && len(r.s.path.path) > 0 {
				in = r.s.path.path[0]
			} else if n.Schema != "" {
				in = n.Schema
			}
			if k := [3]string{kind, n.Name, in}; n.Name != "" && !r.asked[k] {
				r.asked[k] = true
				r.next = append(r.next, k)
			}
			if kind == "r" && via != "" {
				r.out.Tables = append(r.out.Tables, bind.Reached{Schema: n.Schema, Name: n.Name, Via: via})
			}
		}
	}
}

// calls notes the functions that a text calls by name.
func (r *reaching) calls(u *bind.Uses, via string) {
	for _, c := range u.Calls {
		r.out.Calls = append(r.out.Calls, bind.Reached{Schema: c.Schema, Name: c.Name, Via: via})
	}
}

// object handles an object that reachQuery has found.
func (r *reaching) object(row []string) {
	class, via, schema, name, language, code := row[0], row[2], row[3], row[4], row[5], row[8]
	if key := class + row[1]; r.seen[key] {
		return
	} else {
		r.seen[key] = true
	}
	if class != "f" {
		r.out.Tables = append(r.out.Tables, bind.Reached{Schema: schema, Name: name, Via: via})
		if u, err := bind.UsesOf(code); code != "" && err == nil { // reachQuery has already followed its names
			r.take(&bind.Uses{Unseen: u.Unseen}, via, r.path)
			r.calls(u, via)
		}
		return
	}
	switch {
	case row[7] != "" || row[10] != "f" || bind.TakesQuery(name): // an aggregate's own functions are found too
	case code != "":
		u, bound := bind.UsesOfFunction(code)
		path := r.path
		if row[9] != "" {
			path += "\x01" + strings.NewReplacer(", ", "\x01", `"`, "").Replace(row[9])
		}
		if bound {
			r.take(&bind.Uses{Unseen: u.Unseen}, via, path)
		} else {
			r.take(u, via, path)
		}
		r.calls(u, via)
	case row[6] != "i" && r.out.Unseen == "": // a function declared IMMUTABLE promises that it reads no table
		r.out.Unseen, r.out.By = fmt.Sprintf("it is written in LANGUAGE %s and not declared IMMUTABLE", language), via
	}
}
