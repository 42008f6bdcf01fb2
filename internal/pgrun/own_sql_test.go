package pgrun

import (
	"context"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

// ownScript makes tables with values of types that no loss knows.
const ownScript = `CREATE TABLE w (id int PRIMARY KEY, x double precision);
CREATE TABLE t (id int PRIMARY KEY, props jsonb, plain json, tags text[], span int4range, places int[], day date,
at timestamptz, y double precision, note text);
INSERT INTO w SELECT i, sqrt(i) FROM generate_series(1, 5) AS g(i);
INSERT INTO t SELECT i, jsonb_build_object('qty', i * 1.5, 'kind', chr(96 + i), 'list', jsonb_build_array(i, i + 1)),
json_build_object('a', i),
  ARRAY['t' || i, 'all'], int4range(i, 2 * i), ARRAY[i, i * i], date '2024-01-01' + i,
timestamptz '2024-01-01 12:00+00' + i * interval '5 hours', i * i, 'Note ' || i
 FROM generate_series(1, 4) AS g(i);
CREATE TYPE pair AS (a int, b text);
CREATE FUNCTION squared(a double precision) RETURNS double precision IMMUTABLE RETURN a * a;
CREATE FUNCTION cubed(a double precision, b double precision DEFAULT 1) RETURNS double precision LANGUAGE sql IMMUTABLE
BEGIN ATOMIC SELECT a * a * cubed.a * b; END;
CREATE TABLE kept (id int PRIMARY KEY, x double precision, ns int[], ts text[], c char(4), j json, jb jsonb, p pair,
r int4range, pt point, by bytea, iv interval);
INSERT INTO kept VALUES (1, 0.5, '{1,2}', '{a,NULL}', 'ab', '{"a": 1}', '{"b": [1, null]}', '(1,"x y")', '[1,5)',
'(1,2)', '\x00ff', '1 day'), (2, -2, NULL, '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`

// ownQueries are losses over w(id, x) with sub-queries that only a server can run; ext names the extension that they
// need.
var ownQueries = []struct{ ext, sql string }{
	{"", `SELECT sum(w.x * q.qty) FROM w JOIN (SELECT id, (props->>'qty')::float8 AS qty FROM t) q USING (id)`},
	{"", `SELECT sum(w.x * q.y) FROM w JOIN (SELECT id, y FROM t WHERE props @> '{"kind": "b"}' OR props ? 'nothing' ` +
		`OR props->'list'->>0 = '3') q USING (id)`},
	{"", `SELECT sum(w.x * q.y) FROM w JOIN (SELECT id, y FROM t WHERE tags && ARRAY['t2', 't3'] ` +
		`AND tags @> '{all}') q USING (id)`},
	{"", `SELECT sum(w.x * q.n) FROM w JOIN (SELECT id, cardinality(tags || 'x'::text) AS n FROM t) q USING (id)`},
	{"",
		`SELECT sum(w.x * q.l) FROM w JOIN (SELECT id, upper(span) - lower(span) AS l FROM t WHERE span @> 3) q USING (id)`},
	{"", `SELECT sum(w.x * q.v) FROM w JOIN (SELECT t.id, e.v FROM t, LATERAL (SELECT max(u.v) AS v ` +
		`FROM unnest(t.places) AS u(v) WHERE u.v < 10) e) q USING (id)`},
	{"", `SELECT sum(w.x * q.v) FROM w JOIN (SELECT t.id, e.value::text::float8 AS v FROM t CROSS ` +
		`JOIN LATERAL jsonb_array_elements(t.props->'list') AS e) q USING (id)`},
	{"",
		`SELECT sum(w.x * q.v) FROM w JOIN (SELECT id, y AS v FROM t TABLESAMPLE SYSTEM (100) REPEATABLE (1)) q USING (id)`},
	{"", `SELECT sum(w.x * q.m) FROM w, (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY y) AS m, mode() WITHIN ` +
		`GROUP (ORDER BY id) FROM t) q`},
	{"",
		`SELECT sum(w.x * q.s) FROM w JOIN (SELECT id % 2 AS id, sum(y) AS s FROM t GROUP BY ROLLUP (id % 2)) q USING (id)`},
	{"", `SELECT sum(w.x * q.s) FROM w JOIN (SELECT id, sum(y) OVER (win ROWS 1 PRECEDING) AS s ` +
		`FROM t WINDOW win AS (ORDER BY id)) q USING (id)`},
	{"", `SELECT sum(w.x * q.y) FROM w JOIN (SELECT id, y FROM t ORDER BY y FETCH FIRST 2 ROWS WITH TIES) q USING (id)`},
	{"", `SELECT sum(w.x * q.d) FROM w JOIN (SELECT id, extract(epoch FROM at - timestamptz '2024-01-01 00:00+00') / ` +
		`3600 AS d FROM t) q USING (id)`},
	{"", `SELECT sum(w.x * q.d) FROM w JOIN (SELECT id, (SELECT count(*) FROM t a WHERE a.at BETWEEN SYMMETRIC t.at ` +
		`AND t.at - interval '1 day') AS d FROM t) q USING (id)`},
	{"", `SELECT sum(w.x * q.d) FROM w JOIN (SELECT id, (date_part('dow', day) + length(note COLLATE "C"))::float8 AS d ` +
		`FROM t WHERE note SIMILAR TO '%(1|3)' OR note ~* '^NOTE 4') q USING (id)`},
	{"", `SELECT sum(w.x * q.v) FROM w JOIN (WITH RECURSIVE r(id, v) AS (SELECT 1, 1.0::float8 ` +
		`UNION ALL SELECT id + 1, v * (SELECT (props->>'qty')::float8 FROM t WHERE t.id = r.id) FROM r ` +
		`WHERE id < 4) CYCLE id SET again USING path SELECT id, v FROM r) q USING (id)`},
	{"", `WITH c AS (SELECT id, (props->>'qty')::float8 AS qty FROM t) SELECT sum(w.x * a.qty * b.qty) FROM w ` +
		`JOIN c a USING (id) JOIN c b USING (id)`},
	{"", `SELECT sum(w.x * q.y) FROM w JOIN (SELECT id, y FROM t WHERE B'101' & B'100' = B'100' ` +
		`AND (id, y) IN (VALUES (1, 1), (3, 9))) q USING (id)`},
	{"", `SELECT sum(w.x) * (SELECT (props->>'qty')::float8 FROM t WHERE id = 2) FROM w`},
	{"", `SELECT sum(w.x) FROM w WHERE w.id IN (SELECT (plain->>'a')::int FROM t WHERE (props->>'qty')::numeric > 2)`},
	{"", `SELECT sum(w.x) FROM w WHERE EXISTS (SELECT 1 FROM t WHERE props ? 'qty')`},
	{"", `SELECT sum(z ^ 2) FROM (SELECT id, x AS z FROM w UNION ALL SELECT id, (props->>'qty')::float8 FROM t) q`},
	{"", `SELECT sum(w.x * q.y) FROM w JOIN (SELECT id, y, tags, props, span, plain, places, day, at, day + 1 AS next, ` +
		`at - at AS none FROM t LIMIT 10) q USING (id) WHERE q.next > '2024-01-03'`},
	{"", `SELECT sum(w.x * q.y) FROM w JOIN (SELECT id, y, (id, note)::pair AS p, ROW(id, y) AS r FROM t) q USING (id)`},
	{"", `SELECT sum(squared(w.x) * t.y + cubed(w.x) * cubed(t.y, squared(2))) FROM w JOIN t USING (id)`},
	{"", `SELECT sum(x ^ 2) FROM kept`},
	{"", `SELECT sum(kept.x * t.y) FROM kept LEFT JOIN t USING (id)`},
	{"", `SELECT sum(s * x) FROM (SELECT x, sum(x) OVER (ORDER BY id) AS s FROM kept) q`},
	{"hstore",
		`SELECT sum(w.x * q.v) FROM w JOIN (SELECT id, (hstore('a', id::text) -> 'a')::float8 AS v FROM t) q USING (id)`},
	{"hstore", `SELECT sum(w.x * q.y) FROM w JOIN (SELECT id, y, hstore('a', id::text) AS h FROM t) q USING (id)`},
	{"cube",
		`SELECT sum(w.x * q.d) FROM w JOIN (SELECT id, cube(ARRAY[id, y]) <-> cube(ARRAY[0, 0]) AS d FROM t) q USING (id)`},
	{"ltree",
		`SELECT sum(w.x * q.y) FROM w JOIN (SELECT id, y FROM t WHERE ('a.b' || id)::ltree ~ 'a.b1|b3') q USING (id)`},
	{"intarray", `SELECT sum(w.x * q.y) FROM w JOIN (SELECT id, y FROM t WHERE places @@ '2|9'::query_int) q USING (id)`},
	{"pg_trgm", `SELECT sum(w.x * q.s) FROM w JOIN (SELECT id, similarity(note, 'Note 1') AS s FROM t) q USING (id)`},
	{"citext", `SELECT sum(w.x * q.y) FROM w JOIN (SELECT id, y FROM t WHERE note::citext = 'NOTE 2') q USING (id)`},
	{"vector", `SELECT sum(dot(w2.v, q.v) * q.d) FROM (SELECT id, ARRAY[x, 2 * x, 1] AS v FROM w) w2 ` +
		`JOIN (SELECT id, ARRAY[id, y, 1]::vector::real[] AS v, ARRAY[id, y, 1]::vector <-> '[1,2,3]' AS ` +
		`d FROM t) q USING (id)`},
	{"vector", `SELECT sum(w.x * q.c) FROM w JOIN (SELECT id, 1 - (ARRAY[id, y]::vector <=> '[1,2]'::vector) AS c, ` +
		`ARRAY[id, y]::vector AS v FROM t ORDER BY ARRAY[id, y]::vector <-> '[3,9]' LIMIT 3) q USING (id)`},
	{"postgis", `SELECT sum(w.x * q.d) FROM w JOIN (SELECT id, ST_Distance(ST_MakePoint(id, y), ` +
		`ST_GeomFromText('POINT(1 2)')) AS d, ST_MakePoint(id, y) AS g FROM t WHERE ST_MakePoint(id, y) && ` +
		`ST_MakeEnvelope(0, 0, 10, 10)) q USING (id)`},
}

// TestOwnSQL: a sub-query that reads no parameter may be any SQL that the server takes, and its columns of any type; so
// may the columns of a parameter's table that the loss does not read.
func TestOwnSQL(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := newViewServer(t)
	s.exec(ownScript)
	tried := map[string]bool{}
	for _, first := range ownQueries {
		if tried[first.ext] {
			continue
		}
		tried[first.ext] = true
		t.Run("extension "+first.ext, func(t *testing.T) {
			if first.ext != "" {
				if err := s.try("CREATE EXTENSION " + first.ext); err != nil {
					need.Absent(t, "extension "+first.ext, err.Error())
				}
			}
			for _, q := range ownQueries {
				if q.ext != first.ext {
					continue
				}
				if ok, err := s.typeAgrees(q.sql); err != nil || !ok {
					t.Errorf("%s: computed %v: %v", q.sql, ok, err)
				}
			}
		})
	}
	for _, mode := range engineModes {
		s.keeps(t, mode)
	}
}

// keeps checks that gradient() copies columns of any type, and that backward() and train() leave them as they are.
func (s *viewServer) keeps(t *testing.T, mode string) {
	s.exec("SET relgrad.engine = " + mode)
	for _, sql := range []string{
		`SELECT (g.id, g.ns, g.ts, g.c, g.j::text, g.jb, g.p, g.r, g.pt::text, g.by, g.iv::text) IS NOT DISTINCT
FROM (k.id, k.ns, k.ts, k.c, k.j::text, k.jb, k.p, k.r, k.pt::text, k.by, k.iv::text) AND g.x = 2 * k.x
		 FROM gradient('SELECT sum(x ^ 2) FROM kept', NULL::kept) g JOIN kept k USING (id)`,
		`WITH b AS MATERIALIZED (SELECT backward('SELECT sum(x ^ 2) FROM kept', ARRAY['kept'])) SELECT b.backward = 4.25 ` +
			`FROM b CROSS JOIN generate_series(1, 2)`,
		`SELECT (g.id, g.ns, g.ts, g.c, g.jb, g.r, g.by) IS NOT DISTINCT FROM (k.id, k.ns, k.ts, k.c, k.jb, k.r, k.by) ` +
			`AND g.x = 2 * k.x FROM kept_grad g JOIN kept k USING (id)`,
	} {
		rows, err := s.conn.Query(context.Background(), sql)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for ; rows.Next(); n++ {
			var same bool
			if err := rows.Scan(&same); err != nil || !same {
				t.Errorf("%s, %s: %v %v", mode, sql, same, err)
			}
		}
		if err := rows.Err(); err != nil || n != 2 {
			t.Errorf("%s, %s: %d rows, %v", mode, sql, n, err)
		}
	}
	s.exec("CREATE TEMP TABLE before AS TABLE kept; CALL train('SELECT sum((x - 1) ^ 2) " +
		"FROM kept', ARRAY['kept'], epochs => 3, lr => 0.1)")
	if err := s.try(`DO $$ BEGIN IF (SELECT count(*) FROM kept k JOIN before b USING (id) WHERE k.x <> b.x AND
	 (k.ns, k.ts, k.c, k.jb, k.r, k.by) IS NOT DISTINCT
FROM (b.ns, b.ts, b.c, b.jb, b.r, b.by)) <> 2 THEN RAISE 'other columns have changed, or x has not'; END IF;
END $$`); err != nil {
		t.Errorf("%s: %v", mode, err)
	}
	s.exec("UPDATE kept k SET x = b.x FROM before b WHERE b.id = k.id; DROP TABLE before")
}
