package pgrun

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// reachScript makes functions that read the parameter w, and some that do not.
const reachScript = `CREATE TABLE w (id int PRIMARY KEY, x double precision); INSERT INTO w VALUES (1, 1), (2, 2);
CREATE TABLE t (id int PRIMARY KEY, y double precision); INSERT INTO t VALUES (1, 3), (2, 4);
CREATE SCHEMA other; CREATE FUNCTION other.total() RETURNS float8 LANGUAGE sql AS 'SELECT sum(x) FROM public.w';
CREATE FUNCTION total() RETURNS float8 LANGUAGE sql AS 'SELECT sum(x) FROM w';
CREATE FUNCTION total_std() RETURNS float8 LANGUAGE sql STABLE BEGIN ATOMIC SELECT sum(x) FROM w; END;
CREATE FUNCTION total_return() RETURNS float8 LANGUAGE sql IMMUTABLE RETURN (SELECT sum(x) FROM w);
CREATE FUNCTION total_pl() RETURNS float8 LANGUAGE plpgsql IMMUTABLE
AS 'DECLARE s float8; BEGIN s := (SELECT sum(x) FROM public.w); RETURN s; END';
CREATE FUNCTION total_exec() RETURNS float8 LANGUAGE plpgsql
AS 'DECLARE s float8; BEGIN EXECUTE ''SELECT sum(x) FROM '' || ''w'' INTO s; RETURN s; END';
CREATE FUNCTION total_loop() RETURNS float8 LANGUAGE plpgsql
AS 'DECLARE s float8 := 0; r record; BEGIN FOR r IN SELECT * FROM w LOOP s := s + r.x; END LOOP; RETURN s; END';
CREATE FUNCTION nested() RETURNS float8 LANGUAGE sql AS 'SELECT total_pl() + 1';
CREATE FUNCTION nested_std() RETURNS float8 LANGUAGE sql RETURN nested() + 1;
CREATE FUNCTION on_path() RETURNS float8 LANGUAGE sql SET search_path = other, public AS 'SELECT total()';
CREATE VIEW totals AS SELECT 1 AS id, nested_std() AS z;
CREATE FUNCTION by_view() RETURNS float8 LANGUAGE sql AS 'SELECT sum(z) FROM totals';
CREATE VIEW squares AS SELECT id, x * x AS z FROM w;
CREATE FUNCTION by_squares() RETURNS float8 LANGUAGE sql AS 'SELECT sum(z) FROM squares';
CREATE FUNCTION pairs() RETURNS TABLE (id int, z float8) LANGUAGE sql AS 'SELECT id, x FROM w';
CREATE FUNCTION plus(a float8, b float8) RETURNS float8 LANGUAGE sql AS 'SELECT a + b + sum(x) FROM w';
CREATE OPERATOR <+> (leftarg = float8, rightarg = float8, function = plus)`

// reachMore is what comes after it.
const reachMore = `CREATE AGGREGATE added(float8) (sfunc = plus, stype = float8, initcond = '0');
CREATE FUNCTION of_row(r t) RETURNS float8 LANGUAGE sql AS 'SELECT sum(x) FROM w';
CREATE FUNCTION by_default(a float8 DEFAULT total()) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN a; END';
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE FUNCTION score(m mood) RETURNS float8 LANGUAGE sql AS 'SELECT sum(x) FROM w';
CREATE FUNCTION drawn() RETURNS float8 LANGUAGE sql AS 'SELECT random()';
CREATE FUNCTION slope() RETURNS float8 LANGUAGE sql
AS 'SELECT sum(g.x) FROM relgrad.gradient(''SELECT sum(x ^ 2) FROM w'', NULL::w) g';
CREATE FUNCTION other.unknown(a float8) RETURNS float8 LANGUAGE c STRICT AS '$libdir/relgrad', 'relgrad_sin';
CREATE FUNCTION known(a float8) RETURNS float8 LANGUAGE c IMMUTABLE STRICT AS '$libdir/relgrad', 'relgrad_sin';
CREATE FUNCTION ys() RETURNS float8 LANGUAGE sql AS 'SELECT sum(y) FROM t';
CREATE FUNCTION ys_pl(n int) RETURNS float8 LANGUAGE plpgsql
AS 'DECLARE s float8; BEGIN SELECT sum(y) INTO s FROM t WHERE id < n; RETURN s; END';
CREATE FUNCTION w_named(w float8) RETURNS float8 LANGUAGE plpgsql AS 'BEGIN w := w + 1; RETURN w; END';
CREATE TABLE parent (id int, x double precision); CREATE TABLE child (PRIMARY KEY (id)) INHERITS (parent);
INSERT INTO child VALUES (1, 2), (2, 3);
CREATE TABLE whole (id int PRIMARY KEY, x double precision) PARTITION BY RANGE (id);
CREATE TABLE part PARTITION OF whole FOR VALUES FROM (1) TO (9); INSERT INTO whole VALUES (1, 2), (2, 3)`

// reachCases are losses of a parameter with what the refusal says; "": it is computed, as the server says.
var reachCases = []struct{ param, loss, says string }{
	{"w", `SELECT sum(x) * (SELECT total()) FROM w`, "behind function total"},
	{"w", `SELECT sum(x) * (SELECT max(y) FROM t WHERE y < total_std()) FROM w`, "behind function total_std"},
	{"w", `SELECT sum(x * q.z) FROM w JOIN (SELECT DISTINCT id, total_return() AS z FROM t) q USING (id)`,
		"behind function total_return"},
	{"w", `SELECT sum(x * q.z) FROM w JOIN (SELECT DISTINCT id, total_pl() AS z FROM t) q USING (id)`,
		"behind function total_pl"},
	{"w", `SELECT sum(x * q.z) FROM w JOIN (SELECT DISTINCT id, total_exec() AS z FROM t) q USING (id)`,
		"function total_exec, and what it reads cannot be seen"},
	{"w", `SELECT sum(x) * (SELECT DISTINCT total_loop()) FROM w`, "behind function total_loop"},
	{"w", `SELECT sum(x) FROM w WHERE id IN (SELECT id FROM t WHERE y < nested())`, "behind function total_pl"},
	{"w", `SELECT sum(x) FROM w WHERE EXISTS (SELECT 1 FROM t WHERE y < nested_std())`, "behind function total_pl"},
	{"w", `SELECT sum(x) * (SELECT DISTINCT other.total()) FROM w`, "behind function total"},
	{"w", `SELECT sum(x) * (SELECT DISTINCT on_path()) FROM w`, "behind function total"},
	{"w", `SELECT sum(x * q.z) FROM w JOIN totals q USING (id)`, "behind function total_pl"},
	{"w", `SELECT sum(x * q.z) FROM w JOIN (SELECT * FROM totals LIMIT 1) q USING (id)`, "behind"},
	{"w", `SELECT sum(x) * (SELECT by_view()) FROM w`, "behind function total_pl"},
	{"w", `SELECT sum(x) * (SELECT by_squares()) FROM w`, "behind view squares"},
	{"w", `SELECT sum(x * q.z) FROM w JOIN pairs() q USING (id)`, "behind function pairs"},
	{"w", `SELECT sum(x * q.z) FROM w JOIN (SELECT p.* FROM t, LATERAL (SELECT * FROM pairs() p ` +
		`WHERE p.id = t.id) p) q USING (id)`, "behind function pairs"},
	{"w", `SELECT sum(x * q.z) FROM w JOIN (SELECT id, y <+> 2::float8 AS z FROM t) q USING (id)`, "behind operator <+>"},
	{"w", `SELECT sum(x * q.z) FROM w JOIN (SELECT id, y OPERATOR(public.<+>) 2::float8 AS z FROM t) q USING (id)`,
		"behind operator <+>"},
	{"w", `SELECT sum(x * q.z) FROM w JOIN (SELECT id, added(y) AS z FROM t GROUP BY id) q USING (id)`,
		"behind function added"},
	{"w", `SELECT sum(x * q.z) FROM w JOIN (SELECT id, added(y) OVER (ORDER BY id) AS z FROM t) q USING (id)`,
		"behind function added"},
	{"w", `SELECT sum(x * q.z) FROM w JOIN (SELECT DISTINCT id, t.of_row AS z FROM t) q USING (id)`,
		"behind function of_row"},
	{"w", `SELECT sum(x * q.z) FROM w JOIN (SELECT DISTINCT id, (t).of_row AS z FROM t) q USING (id)`,
		"behind function of_row"},
	{"w", `SELECT sum(x) * (SELECT DISTINCT by_default()) FROM w`, "behind function by_default"},
	{"w", `SELECT sum(x) * (SELECT length(query_to_xml('SELECT x FROM w', true, false, '')::text)) FROM w`,
		"behind table w"},
	{"w", `SELECT sum(x) * (SELECT length(query_to_xml('SELECT x FROM ' || 'w', true, false, '')::text)) FROM w`,
		"cannot be seen"},
	{"w", `SELECT sum(x) * (SELECT length(schema_to_xml('public', true, false, '')::text)) FROM w`, "cannot be seen"},
	{"w", `SELECT sum(x) * (SELECT DISTINCT drawn()) FROM w`, "is volatile by random()"},
	{"w", `SELECT sum(x) * (SELECT slope()) FROM w`, "behind function slope"},
	{"w", `SELECT sum(x) * (SELECT DISTINCT other.unknown(1)) FROM w`, "not declared IMMUTABLE"},
	{"whole", `SELECT sum(whole.x * q.x) FROM whole JOIN part q USING (id)`,
		"rows of the parameter whole as those of table part"},
	{"whole", `SELECT sum(whole.x) * (SELECT max(x) FROM (SELECT DISTINCT x FROM part) q) FROM whole`,
		"behind table part"},
	{"child", `SELECT sum(child.x * q.x) FROM child JOIN parent q USING (id)`, "as those of table parent"},
	{"child", `SELECT sum(child.x) * (SELECT max(x) FROM (SELECT DISTINCT x FROM parent) q) FROM child`,
		"behind table parent"},
	{"w", `SELECT sum(x) * (SELECT DISTINCT ys()) FROM w`, ""},
	{"w", `SELECT sum(x * q.z) FROM w JOIN (SELECT DISTINCT id, ys_pl(id + 1) AS z FROM t) q USING (id)`, ""},
	{"w", `SELECT sum(x * q.z) FROM w JOIN (SELECT DISTINCT id, w_named(y) AS z FROM t) q USING (id)`, ""},
	{"w", `SELECT sum(x) * (SELECT DISTINCT known(1)) FROM w`, ""},
	{"w", `SELECT sum(x) * (SELECT length(query_to_xml('SELECT y FROM t', true, false, '')::text)) FROM w`, ""},
	{"w", `SELECT sum(w.x * q.x) FROM w JOIN part q USING (id)`, ""},
	{"w", `SELECT sum(w.x * q.x) FROM w JOIN parent q USING (id)`, ""},
}

// TestReach: a sub-query that the server would run whole may read the parameter behind what its text names, by a
// function, an operator, a cast, an aggregate, a view, a policy or another name of the same rows. It is refused: its
// gradient would silently lack that.
func TestReach(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := newViewServer(t)
	s.exec(reachScript + ";" + reachMore)
	for _, c := range reachCases {
		s.reach(c.param, c.loss, c.says)
	}
	// a cast and a policy are in force for all queries
	cast, policy := `SELECT sum(x) * (SELECT DISTINCT 'ok'::mood::float8) FROM w`,
		`SELECT sum(w.x * t.y) FROM w JOIN t USING (id)`
	s.exec("CREATE FUNCTION rated(m mood) RETURNS float8 LANGUAGE sql AS 'SELECT sum(y) FROM t'; " +
		"CREATE CAST (mood AS float8) WITH FUNCTION rated(mood)")
	s.reach("w", cast, "")
	s.exec("DROP CAST (mood AS float8); CREATE CAST (mood AS float8) WITH FUNCTION score(mood)")
	s.reach("w", cast, "behind the cast from public.mood to double precision")
	s.exec("DROP CAST (mood AS float8); CREATE ROLE reader; GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA public TO " +
		"reader; GRANT CREATE, USAGE ON SCHEMA public TO reader; GRANT USAGE ON SCHEMA relgrad, other TO reader; ALTER " +
		"TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY seen ON t USING (y > 0)")
	s.exec("DROP TABLE pg_temp.w_grad; SET ROLE reader")
	s.reach("w", policy, "")
	s.exec("RESET ROLE; DROP POLICY seen ON t; CREATE POLICY low ON t USING (y < (SELECT sum(x) + 0.5 FROM w)); " +
		"SET ROLE reader")
	s.reach("w", policy, "as those of policy low of table t")
	s.reach("w", `SELECT sum(x) * (SELECT max(y) FROM (SELECT DISTINCT y FROM t) q) FROM w`,
		"behind policy low of table t")
	s.exec("RESET ROLE; DROP TABLE IF EXISTS pg_temp.w_grad")
	s.reach("w", policy, "") // who is not under the policy sees all rows
}

// reach tries a loss on both engines.
func (s *viewServer) reach(param, loss, says string) {
	s.t.Helper()
	for _, mode := range engineModes {
		s.exec("SET relgrad.engine = " + mode)
		err := s.try("SELECT relgrad.backward($loss$" + loss + "$loss$, ARRAY['" + param + "'])")
		var e *pgconn.PgError
		switch errors.As(err, &e); {
		case says == "" && err != nil:
			s.t.Errorf("%s, %s: %v", mode, loss, err)
		case says != "" && (e == nil || e.Code == sqlerr.Internal || !strings.Contains(e.Message+e.Detail, says)):
			s.t.Errorf("%s, %s: %v; want a refusal with %q", mode, loss, err, says)
		}
	}
	if says == "" && param == "w" {
		if ok, err := s.typeAgrees(loss); err != nil || !ok {
			s.t.Errorf("%s: computed %v: %v", loss, ok, err)
		}
	}
}
