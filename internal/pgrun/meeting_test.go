package pgrun

import "testing"

// meetingScript makes columns of types that meet, and names that hide Postgres's own.
const meetingScript = `CREATE TABLE w (id int PRIMARY KEY, x double precision);
INSERT INTO w VALUES (1, 1), (2, 2), (3, 3);
CREATE TABLE t (id int PRIMARY KEY, k text, c text COLLATE "tr-x-icu", g text COLLATE "de-x-icu", b bigint, n numeric,
n2 numeric(8, 2), f double precision);
INSERT INTO t VALUES (1, 'Ab', 'I', 'Ab', 9007199254740993, 9007199254740992, 1.5, 3), (2, 'cd', 'i', 'x', 2, 2, 2.5,
4), (3, 'é', 'z', 'Ä', 3, 3.0, 3, 5);
CREATE TABLE dd (id int, d date PRIMARY KEY, i int, v varchar(9), h char(5), r real, m numeric(6, 2));
INSERT INTO dd VALUES (1, '2020-01-01', 7, 'a', 'a', 7, 7), (2, '2020-01-02', 8, 'b', 'b', 8, 8);
CREATE TABLE ts (d timestamp PRIMARY KEY, i double precision, v char(5), h text, r double precision, m int,
y double precision); INSERT INTO ts VALUES ('2020-01-01', 7, 'a', 'a', 7, 7, 3), ('2020-01-02', 8, 'b', 'b', 8, 8, 5);
CREATE TYPE "odd(type) x" AS ENUM ('b', 'a'); CREATE TYPE "array[]" AS ENUM ('b', 'a');
CREATE TABLE o (id int PRIMARY KEY, k "odd(type) x", l "array[]"); INSERT INTO o VALUES (1, 'a', 'a'), (2, 'b', 'b')`

// meetingCases are losses with what a refusal says; "": they are computed, as the server says.
var meetingCases = []struct{ loss, says string }{
	// USING gives the type in which the two columns meet
	{`SELECT sum(x * length(d::text)) FROM w JOIN dd USING (id) JOIN ts USING (d)`, ""},
	{`SELECT sum(x * length(dd.d::text)) FROM w JOIN dd USING (id) JOIN ts USING (d)`, ""},
	{`SELECT sum(x * length(d::text)) FROM w JOIN (ts JOIN dd USING (d)) USING (id)`, ""},
	{`SELECT sum(x * length(d::text)) FROM w JOIN (dd LEFT JOIN ts USING (d)) USING (id)`, ""},
	{`SELECT sum(x * length(d::text)) FROM w JOIN (ts RIGHT JOIN dd USING (d)) USING (id)`, ""},
	{`SELECT sum(x * length(q.d::text)) FROM w JOIN (SELECT * FROM dd JOIN ts USING (d)) q USING (id)`, ""},
	{`SELECT sum(x * (i / 2)) FROM w JOIN dd USING (id) JOIN ts USING (i)`, ""},
	{`SELECT sum(x * (dd.i / 2)) FROM w JOIN dd USING (id) JOIN ts USING (i)`, ""},
	{`SELECT sum(x * (i / 2)) FROM w JOIN (dd LEFT JOIN ts USING (i)) USING (id)`, ""},
	{`SELECT sum(x * (i / 2)) FROM w JOIN (SELECT id, i FROM dd) a USING (id) NATURAL JOIN (SELECT i FROM ts) b`, ""},
	{`SELECT sum(x * (m / 2)) FROM w JOIN dd USING (id) JOIN ts USING (m)`, ""},
	{`SELECT sum(x * (m / 2)) FROM w JOIN (SELECT m FROM ts) s ON true JOIN (SELECT id AS j, m FROM dd) q USING (m)`, ""},
	{`SELECT sum(x * (r / 3)) FROM w JOIN dd USING (id) JOIN ts USING (r)`, ""},
	{`SELECT sum(x * length(h || 'x')) FROM w JOIN dd USING (id) JOIN ts USING (h)`, "a character(n) and a text meet"},
	{`SELECT sum(x * length(v || 'x')) FROM w JOIN dd USING (id) JOIN ts USING (v)`, "a character(n) and a text meet"},
	{`SELECT sum(x) FROM w JOIN dd USING (id) JOIN ts USING (h) WHERE h LIKE 'a'`, "a character(n) and a text meet"},
	{`SELECT sum(x * length(ts.h || 'x')) FROM w JOIN dd USING (id) JOIN ts ON dd.h::text = ts.h`, ""},
	{`SELECT sum(x * length(dd.v || 'x')) FROM w JOIN dd USING (id) JOIN ts ON dd.v = ts.v::text`, ""},
	// letters follow a locale
	{`SELECT sum(x) FROM w JOIN (SELECT * FROM t LIMIT 2) q USING (id) WHERE lower(q.k) = 'ab'`, ""},
	{`SELECT sum(x) FROM w JOIN (SELECT * FROM t LIMIT 2) q USING (id) WHERE upper(q.g) = 'AB'`, ""},
	{`SELECT sum(x) FROM w JOIN t USING (id) WHERE upper(c) = 'I'`, "whose letters i are four"},
	{`SELECT sum(x) FROM w JOIN (SELECT id FROM t WHERE upper(c) = 'İ') q USING (id)`, ""},
	// digits
	{`SELECT sum(x) FROM w JOIN t USING (id) WHERE b = n`, "a bigint and a numeric are compared"},
	{`SELECT sum(x) FROM w JOIN t USING (id) WHERE b BETWEEN n AND 10`, "a bigint and a numeric are compared"},
	{`SELECT sum(x) FROM w JOIN t USING (id) WHERE b IS DISTINCT FROM n2`, "a bigint and a numeric are compared"},
	{`SELECT sum(x) FROM w JOIN t a USING (id) JOIN (SELECT n2 AS b FROM t) q USING (b)`,
		"a bigint and a numeric are compared"},
	{`SELECT sum(CASE b WHEN n2 THEN x ELSE 2 * x END) FROM w JOIN t USING (id)`, "a bigint and a numeric are compared"},
	{`SELECT sum(x) FROM w JOIN t USING (id) WHERE b > 2.5`, ""},
	{`SELECT sum(x) FROM w JOIN t USING (id) WHERE b <> 9007199254741000.0`, ""},
	{`SELECT sum(x) FROM w JOIN t USING (id) WHERE b IN (2.0, 9007199254741000.0)`, ""},
	{`SELECT sum(x) FROM w JOIN t USING (id) WHERE b = 9007199254740992.0`, "more than 15 digits"},
	{`SELECT sum(x) FROM w JOIN t USING (id) WHERE b = 9007199254740993`, ""},
	{`SELECT sum(x) FROM w JOIN t USING (id) WHERE b = f`, "the loss is NULL"},
	{`SELECT sum(x) FROM w JOIN t USING (id) WHERE b >= f - 1`, ""},
	{`SELECT sum(x) FROM w JOIN t USING (id) WHERE n2 > 1.2345678901234567`, "more than 15 digits"},
	{`SELECT sum(x) FROM w JOIN t USING (id) WHERE n2 = 12345678901234567`, "more than 15 digits"},
	{`SELECT sum(x) FROM w JOIN t USING (id) WHERE n2 IN (1.5, 1.2345678901234567)`, "more than 15 digits"},
	{`SELECT sum(x) FROM w JOIN t USING (id) WHERE -1.2345678901234567 < n2`, "more than 15 digits"},
	{`SELECT sum(x) FROM w JOIN t USING (id) WHERE f > 1.2345678901234567 AND x > 0.12345678901234567`, ""},
	{`SELECT sum(x * z) FROM w, (SELECT count(*) AS z FROM w) q, (SELECT avg(n2) AS a FROM t) r WHERE z > a`, ""},
	// what a column without chunks is to a correlated sub-query
	{`SELECT sum(x * (SELECT max(q.y) FROM (SELECT DISTINCT id, f AS y, r FROM t, (SELECT NULL::real[] AS r) n) q ` +
		`WHERE q.id = w.id)) FROM w`, "holds no chunk"},
	{`SELECT sum(x * (SELECT sum(q.f * q.r[1]) FROM (SELECT DISTINCT id, f, r FROM t, (SELECT NULL::real[] AS r) n) q ` +
		`WHERE q.id = w.id)) FROM w`, "holds no chunk"},
	{`SELECT sum(x * (SELECT max(nosuch.y) FROM t WHERE t.id = w.id)) FROM w`, "missing FROM-clause entry for table"},
	// names of types
	{`SELECT sum(x) FROM w JOIN o USING (id) WHERE k > 'b' OR l > 'b'`, ""},
	{`SELECT sum(x * r) FROM w JOIN (SELECT id, rank() OVER (ORDER BY k) AS r FROM (SELECT DISTINCT * ` +
		`FROM o) p) q USING (id)`, ""},
	{`SELECT sum(x * r) FROM (SELECT x, rank() OVER (ORDER BY k, l) AS r FROM w JOIN o USING (id)) q`, ""},
}

// TestMeeting: where columns of two types meet, the value has the type that it has on the server, and no digit or
// letter is taken for another.
func TestMeeting(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := newViewServer(t)
	s.exec(meetingScript)
	cases := func() {
		for _, c := range meetingCases {
			s.reach("w", c.loss, c.says)
		}
	}
	cases()
	s.exec(`CREATE TEMP TABLE text (a int, b int); CREATE TEMP TABLE date (a int); CREATE TEMP TABLE timestamp (a int); ` +
		`CREATE TYPE pg_temp.name AS (a int); CREATE TYPE pg_temp.oid AS (a int); CREATE TYPE pg_temp.regclass AS (a int)`)
	for _, loss := range []string{`SELECT sum(x) FROM w JOIN dd USING (id) WHERE d > '2019-01-01' AND v < 'c'`,
		`SELECT sum(x) FROM w JOIN o USING (id) WHERE k > 'b'`,
		`SELECT sum(x) FROM w JOIN (SELECT DISTINCT id, d, h FROM dd) q USING (id) WHERE d > '2019-01-01' AND h = 'a'`} {
		s.reach("w", loss, "")
	}
}
