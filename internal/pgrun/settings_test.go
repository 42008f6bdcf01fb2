package pgrun

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

var settingsFlag = flag.Bool("settings", false, "try every setting by itself, not only groups of them")

// sessionSettings are what a session may set, one group a line. What a loss is may not depend on them, but where the
// server says that it does.
var sessionSettings = [][]string{
	{"DateStyle = 'SQL, DMY'", "IntervalStyle = sql_standard", "TimeZone = 'America/New_York'", "bytea_output = escape",
		"extra_float_digits = -15", "quote_all_identifiers = on",
		"standard_conforming_strings = off", "escape_string_warning = off", "backslash_quote = off", "array_nulls = off",
		"xmloption = document", "xmlbinary = hex"},
	{"DateStyle = 'German, DMY'", "IntervalStyle = iso_8601", "TimeZone = 'Asia/Kolkata'", "extra_float_digits = 3",
		"transform_null_equals = on", "default_transaction_read_only = on",
		"default_transaction_isolation = serializable", "check_function_bodies = off",
		"client_min_messages = error", "lc_messages = 'C'"},
	{"DateStyle = 'Postgres, YMD'", "IntervalStyle = postgres_verbose", "extra_float_digits = 0", "row_security = off",
		"statement_timeout = 60000", "lock_timeout = 10000",
		"default_transaction_deferrable = on", "client_encoding = LATIN1", "lc_monetary = 'C.UTF-8'",
		"lc_numeric = 'C.UTF-8'", "lc_time = 'C.UTF-8'", "idle_in_transaction_session_timeout = 60000"},
	{"enable_seqscan = off", "enable_hashagg = off", "enable_hashjoin = off", "enable_sort = off", "enable_nestloop = off",
		"plan_cache_mode = force_custom_plan", "work_mem = '64kB'",
		"jit = on", "jit_above_cost = 0", "from_collapse_limit = 1", "join_collapse_limit = 1"},
	{"force_parallel_mode = on", "parallel_setup_cost = 0", "parallel_tuple_cost = 0", "min_parallel_table_scan_size = 0",
		"enable_mergejoin = off", "enable_material = off", "enable_memoize = off",
		"plan_cache_mode = force_generic_plan", "hash_mem_multiplier = 1", "max_parallel_workers_per_gather = 4"},
	{"force_parallel_mode = regress", "enable_indexscan = off", "enable_bitmapscan = off", "enable_indexonlyscan = off",
		"enable_incremental_sort = off", "geqo_threshold = 2", "geqo_effort = 1",
		"constraint_exclusion = on", "enable_partition_pruning = off", "cursor_tuple_fraction = 1",
		"synchronize_seqscans = off", "default_toast_compression = pglz", "session_replication_role = replica"},
}

// under sets a session's settings from the default.
func (s *viewServer) under(settings ...string) {
	s.t.Helper()
	s.exec("RESET ALL; SET jit = off; SET search_path = public, relgrad")
	for _, set := range settings {
		s.exec("SET " + set)
	}
}

// settingGroups are the groups, or what is in them one by one.
func settingGroups() [][]string {
	if !*settingsFlag {
		return sessionSettings
	}
	var out [][]string
	for _, g := range sessionSettings {
		for _, set := range g {
			out = append(out, []string{set})
		}
	}
	return out
}

// graph makes the database of gradtest.Losses, each also as a view.
func (s *viewServer) graph() *memdb.DB {
	s.t.Helper()
	db, texts, script := gradtest.Graph(), map[string]string{}, ""
	for _, table := range db.Tables {
		script += create(table)
	}
	s.exec(script)
	s.fill(db)
	for name, v := range db.Views {
		texts[name] = v.Text.SQL
	}
	if err := s.createViews(texts); err != nil {
		s.t.Fatal(err)
	}
	return db
}

// TestSettings computes the losses that every engine is tested with under what a session may set. With -settings it
// tries every setting by itself, on all losses.
func TestSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := newViewServer(t)
	db := s.graph()
	for g, set := range settingGroups() {
		s.under(set...)
		for i, l := range gradtest.Losses {
			if !*settingsFlag && i%len(sessionSettings) != g { // the groups share the work
				continue
			}
			for _, table := range tablesOf(l.Params) {
				if ok, err := s.backend(db, l.SQL, table, 1e-9); err != nil || !ok {
					t.Errorf("%v: %s: compared %v: %v", set, l.SQL, ok, err)
				}
			}
		}
	}
}

// binaryNumber asks the server for one number, in a form that no setting changes.
func (s *viewServer) binaryNumber(sql string) (x float64, err error) {
	// pgx would keep it prepared
	r := s.conn.PgConn().ExecParams(context.Background(), sql, nil, nil, nil, []int16{1}).Read()
	if r.Err != nil {
		return 0, r.Err
	}
	if r.Rows[0][0] == nil {
		return 0, errors.New("the loss is NULL")
	}
	err = pgtype.NewMap().Scan(pgtype.Float8OID, pgtype.BinaryFormatCode, r.Rows[0][0], &x)
	return x, err
}

// agrees compares the loss of each engine with the server's own value, under the session's settings. An error must be a
// refusal.
func (s *viewServer) agrees(loss, param string) (refused int, err error) {
	of := "(" + loss + ")"
	if !strings.Contains(loss, " ") {
		of = loss
	}
	want, wrong := s.binaryNumber("SELECT (SELECT * FROM " + of + " AS q)::float8")
	var bad []error
	for _, mode := range engineModes {
		s.exec("SET relgrad.engine = " + mode)
		got, err := s.binaryNumber("SELECT relgrad.backward($loss$" + loss + "$loss$, ARRAY['" + param + "'])")
		var e *pgconn.PgError
		switch {
		case errors.As(err, &e) && e.Code != sqlerr.Internal:
			refused++
			if *allFlag {
				s.t.Logf("%s refuses %s: %v %s", mode, loss, err, e.Hint)
			}
		case err != nil:
			bad = append(bad, fmt.Errorf("%s: %w", mode, err))
		case wrong != nil:
			bad = append(bad, fmt.Errorf("%s: %v; the server: %w", mode, got, wrong))
		case !(math.Abs(got-want) <= 1e-9*math.Max(1, math.Abs(want))):
			bad = append(bad, fmt.Errorf("%s: %v; the server: %v", mode, got, want))
		}
	}
	return refused, errors.Join(bad...)
}

// settingsData has a column of each type whose text depends on a setting.
const settingsData = `SET search_path = public, relgrad;
CREATE TABLE e (k int PRIMARY KEY, x float8, s text, d date, ts timestamp, tz timestamptz, iv interval, b bytea,
f float8, n numeric, m money, j jsonb, a boolean);
INSERT INTO e VALUES (1, 0.5, '2020-02-01', '2020-02-01', '2020-02-01 03:04:05', '2020-02-01 03:04:05+00',
'1 day -02:03:04', '\x0041', 0.1234567890123456789, 1.50, '$1.50', '{"a": 1}', true),
 (2, 1.25, '01/02/2020', '2020-01-02', '2020-01-02 03:04:05', '2020-01-01 23:30:00+00', '-1 mon', '\x5c61',
1234567.891, 2.25, '$2.25', '{"a": 2}', false),
 (3, -2, 'a\b', '2019-12-31', '1999-01-08 04:05:06', '2020-11-01 05:30:00+00', '26:00:00', '\xff00', 1e300, 100,
'$100.00', NULL, NULL),
 (4, 4, 'a\\b', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE w (k int PRIMARY KEY, x float8); INSERT INTO w SELECT k, x FROM e;
CREATE FUNCTION sq(x float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT x * x';
CREATE FUNCTION mine(x float8) RETURNS float8 LANGUAGE sql IMMUTABLE SET DateStyle = 'ISO, DMY'
AS $$ SELECT x * CASE WHEN '01/02/2020'::date = '2020-02-01' THEN 2 ELSE 3 END $$;
CREATE FUNCTION many(x float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT x * 3';
CREATE FUNCTION many(x integer) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT x + 1000.0::float8';
`

// settingsLosses mean something that depends on a setting, for the server too.
var settingsLosses = []string{
	"SELECT sum(x * CASE WHEN d > '05/01/2020' THEN 2 ELSE 1 END) FROM e",
	"SELECT sum(x * 2) FROM e WHERE tz < '2020-01-02'",
	"SELECT sum(x) FROM e WHERE e.d > (SELECT min(d) FROM e) AND e.d::text > (SELECT min(d::text) FROM e)",
	"SELECT sum(x * rank) FROM (SELECT x, rank() OVER (ORDER BY d) AS rank FROM e) q",
	"SELECT sum(x) FROM e WHERE d < greatest(d, '01/02/2020')",
	"SELECT sum(x) FROM e WHERE d = '01/02/2020'",
	"SELECT sum(x) FROM e WHERE d = DATE '01/02/2020'",
	"SELECT sum(x) FROM e WHERE d = '01/02/2020'::date OR d = '2019-12-31'",
	"SELECT sum(x) FROM e WHERE d BETWEEN '02/01/2020' AND '03/01/2020'",
	"SELECT sum(x) FROM e WHERE d::text = s",
	"SELECT sum(x * length(d::text)) FROM e",
	"SELECT sum(x) FROM e WHERE d::text < '02'",
	"SELECT sum(x) FROM e WHERE tz = '2020-02-01 03:04:05'",
	"SELECT sum(x) FROM e WHERE tz = '2020-11-01 01:30:00' OR tz = '2020-11-01 01:30:00 EST'",
	"SELECT sum(x) FROM e WHERE tz::date = d",
	"SELECT sum(x) FROM e WHERE tz = ts",
	"SELECT sum(x) FROM e WHERE iv = '-1 day 02:03'",
	"SELECT sum(x) FROM e WHERE iv = INTERVAL '-1 2:03:04' OR iv = '1 day -02:03:04'",
	"SELECT sum(x) FROM e WHERE iv > '24:00:00'",
	"SELECT sum(x) FROM e WHERE f::text = '0.123456789012346'",
	"SELECT sum(x * length(f::text)) FROM e",
	"SELECT sum(x * length(x::text || 'a')) FROM e",
	"SELECT sum(x) FROM e WHERE f = '0.12345678901234568'",
	"SELECT sum(x) FROM e WHERE s = 'a\\b'",
	"SELECT sum(x) FROM e WHERE s = 'a\\\\b'",
	"SELECT sum(x) FROM e WHERE s = E'a\\\\b'",
	"SELECT sum(x) FROM e WHERE s LIKE 'a\\\\b'",
	"SELECT sum(x) FROM e WHERE s LIKE 'a\\\\\\\\b'",
	"SELECT sum(x) + 1 FROM e WHERE a = NULL OR k < 2",
	"SELECT coalesce(sum(x), 0) FROM e WHERE NULL = a",
	"SELECT sum(CASE WHEN d = NULL THEN x ELSE 2 * x END) FROM e",
	"SELECT sum(CASE d WHEN NULL THEN x ELSE 2 * x END) FROM e",
	"SELECT sum(CASE WHEN d <> NULL THEN x ELSE 2 * x END) FROM e",
	"SELECT sum(x) FROM w WHERE k IN (SELECT k FROM e WHERE d = '01/02/2020')",
	"SELECT sum(x * q.w) FROM w JOIN (SELECT k, length(to_char(tz, 'TZ')) + extract(hour " +
		"FROM tz)::int + length(iv::text) + length(b::text) + length(f::text) + length(m::text) AS w FROM " +
		"e LIMIT 9) q USING (k)",
	"SELECT sum(x * q.w) FROM w JOIN (SELECT k, 1 + (a = NULL)::int AS w FROM e LIMIT 9) q USING (k)",
	"SELECT sum(x * k) FROM w JOIN (SELECT DISTINCT k, d::text AS d FROM e) q USING (k) WHERE length(q.d) > 2",
	"SELECT sum(x) FROM e WHERE s IN (SELECT d::text FROM e)",
	"SELECT sum(x) FROM w, (SELECT DISTINCT s FROM e WHERE s = 'a\\\\b') q",
	"SELECT sum(x * (SELECT count(*) FROM e WHERE d = '01/02/2020')) FROM w",
	"SELECT sum(mine(x)) FROM e",
	"SELECT sum(sq(x)) FROM e",
	"SELECT sum(many(x)) FROM e",
	"SELECT sum(x * many(k)) FROM e",
	"SELECT sum(x * n) FROM e WHERE n = '1.5' OR n > '99'",
	"SELECT sum(x) FROM e WHERE m = '$1.50'",
	"SELECT sum(x) FROM e WHERE b = '\\x0041'",
	"SELECT sum(x) FROM e WHERE x = '0.5'::float8 OR k = '2'",
	"SELECT sum(x * '0.1'::float8) + sum(x * 0.1) FROM e",
	"SELECT sum(x * '0.12345678901234568'::float8) FROM e",
	"SELECT sum(x * length(current_setting('DateStyle'))) FROM e",
	"SELECT sum(x * rank) FROM (SELECT x, rank() OVER (ORDER BY d::text) AS rank FROM e) q",
	"SELECT sum(x * length(mi)) FROM e, (SELECT min(d::text) AS mi FROM e) q",
	"SELECT sum(x * length(a::text)) FROM e",
}

// TestSettingsMeaning compares losses that depend on settings with the server's own value of them, as a text and as a
// view that was made under other settings, and the values of one session's calls under several.
func TestSettingsMeaning(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := newViewServer(t)
	s.exec(settingsData)
	groups := slices.Concat([][]string{nil}, settingGroups())
	if !*settingsFlag {
		groups = groups[:4] // those after it concern how the server plans
	}
	refused, all := 0, 0
	check := func(set []string, loss, text string) {
		param := "e.x"
		if strings.Contains(text, "FROM w") {
			param = "w.x"
		}
		n, err := s.agrees(loss, param)
		if refused, all = refused+n, all+2; err != nil {
			t.Errorf("%v: %s: %v", set, loss, err)
		}
	}
	type view struct{ name, text string }
	var views []view
	for g, made := range groups {
		s.under(made...)
		s.exec("SET default_transaction_read_only = off")
		for i, loss := range settingsLosses {
			name := fmt.Sprintf("v%d_%d", g, i)
			if s.try("CREATE VIEW "+name+" AS "+loss) == nil {
				views = append(views, view{name, loss})
			}
		}
		if !*settingsFlag && g == 1 { // the default, and one other
			break
		}
	}
	for _, set := range groups {
		s.under(set...)
		s.exec("SET default_transaction_read_only = off") // backward makes a table
		for _, loss := range settingsLosses {
			check(set, loss, loss)
		}
		for _, v := range views {
			check(append(slices.Clone(set), "view "+v.name), v.name, v.text)
		}
	}
	t.Logf("%d of %d losses refused", refused, all)
}

// captures makes a schema with what could take the place of Postgres's own functions, operators and types: each
// operator for all pairs of types that have none, functions and aggregates of other types than Postgres's, types under
// its names.
const captures = `CREATE SCHEMA mine;
DO $do$ DECLARE op text; l text; r text; f text; BEGIN
 FOREACH op IN ARRAY ARRAY['+', '-', '*', '/', '^', '%', '=', '<>', '<', '<=', '>', '>=', '||'] LOOP
  FOREACH l IN ARRAY ARRAY['smallint', 'integer', 'bigint', 'real', 'double precision', 'numeric', 'text', 'boolean',
'double precision[]', 'real[]', 'date'] LOOP
   FOREACH r IN ARRAY ARRAY['smallint', 'integer', 'bigint', 'real', 'double precision', 'numeric', 'text', 'boolean',
'double precision[]', 'real[]', 'date'] LOOP
    f := format('op_%s', md5(op || l || r));
    EXECUTE format('CREATE FUNCTION mine.%I(%s, %s) RETURNS %s LANGUAGE sql IMMUTABLE AS %L', f, l, r,
CASE WHEN op ~ '[=<>]' THEN 'boolean' ELSE 'double precision' END,
     CASE WHEN op ~ '[=<>]' THEN 'SELECT true' ELSE 'SELECT 666.0::pg_catalog.float8' END);
    EXECUTE format('CREATE OPERATOR mine.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = mine.%I)', op, l, r, f);
   END LOOP;
  END LOOP;
 END LOOP;
 FOREACH f IN ARRAY ARRAY['exp', 'ln', 'abs', 'tanh', 'power', 'sqnorm', 'dot', 'length', 'lower', 'coalesce_', 'relu',
'sqrt'] LOOP
  FOREACH l IN ARRAY ARRAY['smallint', 'integer', 'bigint', 'real', 'double precision', 'numeric', 'text',
'double precision[]'] LOOP
   EXECUTE
format('CREATE FUNCTION mine.%I(%s) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$SELECT ` +
	`666.0::pg_catalog.float8$$', f, l);
   EXECUTE
format('CREATE FUNCTION mine.%I(%s, %s) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$SELECT ` +
	`667.0::pg_catalog.float8$$', f, l, l);
  END LOOP;
 END LOOP;
 FOREACH f IN ARRAY ARRAY['sum', 'avg', 'min', 'max', 'count'] LOOP
  FOREACH l IN ARRAY ARRAY['smallint', 'integer', 'bigint', 'real', 'double precision', 'numeric', 'text', 'boolean',
'double precision[]'] LOOP
   EXECUTE
format('CREATE FUNCTION mine.%I(double precision, %s) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$SELECT ` +
	`668.0::pg_catalog.float8$$', 'state_' || f, l);
   EXECUTE format('CREATE AGGREGATE mine.%I(%s) (SFUNC = mine.%I, STYPE = double precision, INITCOND = 0)', f, l,
'state_' || f);
  END LOOP;
 END LOOP;
END $do$;
CREATE DOMAIN mine.text AS pg_catalog.int4; CREATE DOMAIN mine.float8 AS pg_catalog.text;
CREATE DOMAIN mine.int4 AS pg_catalog.bool; CREATE DOMAIN mine.regclass AS pg_catalog.text;
CREATE TABLE mine.pg_class (oid int); CREATE TABLE mine.run (run int);
`

// capturedPaths have that schema on them, the last ones before Postgres's own.
var capturedPaths = []string{"mine, public, relgrad", "public, relgrad, mine", "pg_catalog, mine, public, relgrad",
	"mine, pg_catalog, public, relgrad"}

// capturedLosses meet such objects where Postgres's own need a conversion of an argument.
var capturedLosses = []string{
	"SELECT sum(x + 1) FROM e", "SELECT sum(x + 1.5) FROM e", "SELECT sum(1 - x) FROM e", "SELECT sum(x * k) FROM e",
	"SELECT sum(x) FROM e WHERE x > 1", "SELECT sum(x) FROM e WHERE 0.3 < f",
	"SELECT sum(x * exp(k)) FROM e", "SELECT sum(exp(x)) FROM e", "SELECT sum(x * abs(k)) FROM e",
	"SELECT sum(x ^ 2) FROM e", "SELECT sum(power(x, 2)) FROM e", "SELECT sum(tanh(x)) FROM e",
	"SELECT sum(x) FROM e WHERE k IN (1, 2)", "SELECT sum(x) FROM e WHERE f BETWEEN 0 AND 1000000000",
	"SELECT sum(CASE k WHEN 1.0 THEN x ELSE 2 * x END) FROM e",
	"SELECT sum(x * length(s)) FROM e", "SELECT avg(x) FROM e", "SELECT sum(x) + max(k) FROM e",
	"SELECT sum(x) / count(*) FROM e", "SELECT sum(x) * count(f) FROM e", "SELECT sum(x) + max(n) FROM e",
	"SELECT sum(x) FROM e WHERE s = 'a' OR k = 2::bigint",
	"SELECT sum(e.x) FROM e JOIN w USING (k)", "SELECT sum(e.x) FROM e NATURAL JOIN w",
	"SELECT sum(x * q.n) FROM w JOIN (SELECT k, count(*) + 1.5 AS n FROM e GROUP BY k LIMIT 9) q USING (k)",
	"SELECT sum(x) FROM e WHERE k = ANY (ARRAY[1, 2])", "SELECT sum(x) FROM e WHERE k IS DISTINCT FROM 2.0",
	"SELECT sum(nullif(x, 4)) FROM e", "SELECT sum(sqnorm(ARRAY[x, 2])) FROM e", "SELECT sum(x) FROM e",
}

// TestSearchPaths computes losses with such a schema on the search path: of views, which mean what they meant when they
// were made, and of texts, which mean what the server takes them for, or are refused.
func TestSearchPaths(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := newViewServer(t)
	s.exec(settingsData)
	s.exec(captures)
	for g, path := range []string{"public, relgrad", capturedPaths[0]} {
		s.exec("SET search_path = " + path)
		for i, loss := range capturedLosses {
			_ = s.try(fmt.Sprintf("CREATE VIEW public.c%d_%d AS %s", g, i, loss)) // some make no query under some paths
		}
	}
	refused, all := 0, 0
	for g, path := range append([]string{"public, relgrad"}, capturedPaths...) {
		s.exec("SET search_path = " + path)
		for i, loss := range capturedLosses {
			param := "e.x"
			if strings.Contains(loss, "FROM w") {
				param = "w.x"
			}
			texts := []string{loss}
			for made := range 2 {
				texts = append(texts, fmt.Sprintf("public.c%d_%d", made, i))
			}
			for _, text := range texts {
				n, err := s.agrees(text, param)
				if refused, all = refused+n, all+2; err != nil {
					t.Errorf("%s: %s: %s: %v", path, text, loss, err)
				}
				if g < 4 && text == fmt.Sprintf("public.c0_%d", i) && n > 0 {
					t.Errorf("%s: %s: %s: a view of Postgres's own functions is refused", path, text, loss)
				}
			}
		}
	}
	t.Logf("%d of %d losses refused", refused, all)
}
