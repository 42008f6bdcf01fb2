package store

import "testing"

// TestSchemas: a name with a schema means that schema's object whatever the search path finds first, and DROP SCHEMA
// takes all or nothing.
func TestSchemas(t *testing.T) {
	const setup = `CREATE SCHEMA a; CREATE TABLE a.w (id int PRIMARY KEY, x int);
	CREATE TABLE w (id int PRIMARY KEY, x int);
INSERT INTO a.w VALUES (1, 1); INSERT INTO w VALUES (1, 1), (2, 2)`
	for _, c := range []struct{ sql, check, want string }{
		{"TRUNCATE a.w", "SELECT (SELECT count(*) FROM a.w) AS a, (SELECT count(*) FROM w) AS w", "a|w\n0|2"},
		{"SET search_path = a, public; TRUNCATE public.w",
			"SELECT (SELECT count(*) FROM a.w) AS a, (SELECT count(*) FROM public.w) AS w", "a|w\n1|0"},
		{"TRUNCATE w, a.w", "SELECT (SELECT count(*) FROM a.w) AS a, (SELECT count(*) FROM w) AS w", "a|w\n0|0"},
		{"TRUNCATE a.v", "SELECT 1 AS x", "ERROR 42P01"},
		{"SET search_path = a, public; DROP TABLE public.w", "SELECT count(*) FROM a.w", "count\n1"},
		{"DROP TABLE a.w", "SELECT count(*) FROM w", "count\n2"},
		{"CREATE INDEX i ON a.w (x); DROP TABLE w; DROP INDEX a.i", "SELECT count(*) FROM a.w", "count\n1"},
		{"CREATE INDEX i ON a.w (x); DROP INDEX public.i", "SELECT 1 AS x", "ERROR 42704"},
		{"CREATE INDEX i ON a.w (x); DROP INDEX i", "SELECT 1 AS x", "ERROR 42704"},
		{"CREATE TABLE k (id int REFERENCES a.w (id)); INSERT INTO k VALUES (2)", "SELECT 1 AS x", "ERROR 23503"},
		{"CREATE TABLE k (id int REFERENCES w (id)); INSERT INTO k VALUES (2)", "SELECT count(*) FROM k", "count\n1"},
		{"CREATE TABLE a.k (LIKE a.w); ALTER TABLE a.w ADD y int; CREATE TABLE m (LIKE a.w)", "SELECT count(y) FROM m",
			"count\n0"},
		{"CREATE TABLE a.node (id int PRIMARY KEY, up int REFERENCES a.node)",
			"INSERT INTO a.node VALUES (1, 1); INSERT INTO a.node VALUES (2, 3)", "ERROR 23503"},
		{"CREATE VIEW a.v AS SELECT * FROM w; CREATE VIEW v AS SELECT * FROM a.v; DROP VIEW a.v", "SELECT 1 AS x",
			"ERROR 2BP01"},
		{"CREATE VIEW a.v AS SELECT * FROM w; CREATE VIEW v AS SELECT * FROM a.v; DROP VIEW v, a.v", "SELECT count(*) FROM w",
			"count\n2"},
		{"CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'; SET search_path = a, public; DROP FUNCTION f()",
			"SELECT count(*) FROM a.w", "count\n1"},
		{"DROP TABLE a.w; CREATE VIEW a.v AS SELECT * FROM w; DROP SCHEMA a", "SELECT 1 AS x", "ERROR 2BP01"},
		{"DROP TABLE a.w; CREATE FUNCTION a.f() RETURNS int LANGUAGE sql AS 'SELECT 1'; DROP SCHEMA a", "SELECT 1 AS x",
			"ERROR 2BP01"},
		{`CREATE TABLE a.m (id int REFERENCES a.w, k int PRIMARY KEY); CREATE TABLE a.b (k int REFERENCES a.m);
	CREATE VIEW a.u AS SELECT * FROM a.b; CREATE VIEW a.v AS SELECT * FROM a.u;
CREATE FUNCTION a.f() RETURNS int LANGUAGE sql AS 'SELECT 1'; DROP SCHEMA a CASCADE; CREATE SCHEMA a`,
			"DROP FUNCTION a.f()", "ERROR 42883"},
	} {
		db := openTemp(t)
		got := show(db, setup+";"+c.sql)
		if got == "" {
			got = show(db, c.check)
		}
		if got != c.want {
			t.Errorf("%s; %s\n got: %s\nwant: %s", c.sql, c.check, got, c.want)
		}
	}
}
