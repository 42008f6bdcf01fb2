package pgrun

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

var typeFlag = flag.String("type", "", "the only type that TestTypes tries, with what is refused")

// typeSamples are values of types, in an order that is not theirs, some of them equal in another spelling. A type
// without samples is tried with NULLs alone.
var typeSamples = map[string][]string{
	"boolean": {"true", "false", "true"}, "smallint": {"10", "9", "-1"}, "integer": {"10", "9", "-1"},
	"bigint":  {"10", "9", "-1"},
	"numeric": {"10", "9.00", "-1.5"}, "numeric(40,10)": {"123456789012345678901234567890",
		"123456789012345678901234567891", "0.1000000001"}, "real": {"10", "9", "-1.5"},
	"double precision": {"10", "9", "-1.5"}, "oid": {"10", "9", "4294967295"},
	"text": {"b", "A", "a b"}, "character varying": {"b", "A", "a b"}, "name": {"b", "A", "a b"},
	"character(5)": {"b", "A ", "a b"},
	`"char"`:       {"b", "A", "a"}, "bytea": {`\xff`, `\x00`, `\x7f01`}, "uuid": {"f0000000-0000-0000-0000-000000000000",
		"A0000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001"},
	"date": {"10000-01-01", "0044-03-15 BC", "2024-02-15", "infinity", "-infinity", "0045-01-01 BC",
		"9999-12-31", "20000-01-01"},
	"timestamp without time zone": {"2024-02-15 10:00", "2024-02-15 10:00:00.5", "0044-03-15 01:00 BC",
		"12000-01-01 00:00:00.25", "infinity", "12000-01-01 00:00:01"},
	"timestamp with time zone": {"2024-10-27 02:30+01", "2024-10-27 02:30+02", "2024-10-27 01:30+01",
		"0044-03-15 01:00+00 BC", "12000-01-01 00:00+00", "-infinity"},
	"time without time zone": {"10:00", "9:59:59.999", "24:00"}, "time with time zone": {"10:00+02",
		"09:00+00", "10:00-03"},
	"interval": {"1 day", "24 hours", "1 month", "30 days", "-3 years", "90 minutes",
		"1 year 2 mons 3 days 04:05:06.789", "29 days 24:00:01"},
	"inet": {"10.0.0.10", "10.0.0.9", "10.0.0.9/8", "::1"}, "cidr": {"10.0.0.0/8", "9.0.0.0/8", "10.0.0.0/16"},
	"macaddr": {"ff:00:00:00:00:00", "0A:00:00:00:00:01", "0a:00:00:00:00:00"}, "macaddr8": {"ff:00:00:ff:fe:00:00:00",
		"0A:00:00:ff:fe:00:00:01", "08:00:00:ff:fe:00:00:00"},
	"money": {"$10.00", "$9.00", "-$1.50"}, "bit(3)": {"101", "011", "110"}, "bit varying": {"1", "011", "10"},
	"pg_lsn":    {"A/0", "9/FF", "10/0"},
	"int4range": {"[10,20]", "[9,20)", "empty"}, "int8range": {"[10,20]", "[9,20)", "empty"},
	"numrange":  {"[10,20]", "[9.0,20)", "[9,20)"},
	"daterange": {"[2024-01-01,2024-01-05]", "[2023-01-01,2024-01-06)", "empty"},
	"tsrange":   {"[2024-01-01,2024-01-05]", "empty"}, "tstzrange": {"[2024-01-01,2024-01-05]", "empty"},
	"jsonb": {`{"a":1.0}`, `{"a":1.00}`, `10`, `9`}, "json": {`{"a":1.0}`, `10`}, "tsvector": {"b a", "c"},
	"integer[]": {"{10,2}", "{9}"}, "text[]": {"{b,A}", "{a}"},
	"mood": {"sad", "ok", "happy"}, "level": {"low", "high", "mid", "lowest"}, "email": {"b", "A"}, "age": {"10", "9"},
	"span": {"1 day", "24:00"}, "mooder": {"sad", "ok", "happy"},
	"pair": {"(10,b)", "(9,a)"}, "point": {"(1,2)"}, "xml": {"<a/>"}, "citext": {"a", "A", "b"},
}

// typeFloors are how many of typeQueries must be computed at least: a test of refusals alone would say nothing.
var typeFloors = map[string]int{"text": 35, "uuid": 28, "date": 37, "timestamp without time zone": 37,
	"timestamp with time zone": 30, "interval": 26,
	"inet": 22, "time with time zone": 22, "mood": 31, "level": 31, "bytea": 28, "bit(3)": 30, "character(5)": 34,
	"integer": 32, "age": 32}

// typeScript makes types that a server does not have.
const typeScript = `CREATE EXTENSION IF NOT EXISTS citext;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE level AS ENUM ('mid'); ALTER TYPE level ADD VALUE 'high'; ALTER TYPE level ADD VALUE 'low' BEFORE 'mid';
ALTER TYPE level ADD VALUE 'lowest' BEFORE 'low';
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN email AS text; CREATE DOMAIN age AS int CHECK (VALUE > 0); CREATE DOMAIN span AS interval;
CREATE DOMAIN mooder AS mood;`

// typeQueries are losses over w(id, x), t and u(id, k, y), p(k, x); LIT is a value of the type.
var typeQueries = []string{
	`SELECT sum(w.x * t.y) FROM w JOIN t USING (id) WHERE t.k = LIT`,
	`SELECT sum(w.x * t.y) FROM w JOIN t USING (id) WHERE t.k <> LIT`,
	`SELECT sum(w.x * t.y) FROM w JOIN t USING (id) WHERE t.k <= LIT::timestamp`,
	`SELECT sum(w.x * t.y) FROM w JOIN t USING (id) JOIN (SELECT DISTINCT k::timestamp AS m FROM u) q ON q.m = t.k`,
	`SELECT sum(w.x * t.y) FROM w JOIN t USING (id) JOIN (SELECT DISTINCT k::timestamp AS m FROM u) q ON q.m < t.k`,
	`SELECT sum(w.x * t.y) FROM w JOIN t USING (id) WHERE t.k >= '2024-02-15 00:00:00.001'::timestamp ` +
		`OR t.k = 'infinity'::timestamp`,
	`SELECT sum(w.x * t.y) FROM w JOIN t USING (id) WHERE t.k < LIT`,
	`SELECT sum(w.x * t.y) FROM w JOIN t USING (id) WHERE t.k BETWEEN LIT AND t.k`,
	`SELECT sum(w.x * t.y) FROM w JOIN t USING (id) WHERE t.k IN (LIT, LIT)`,
	`SELECT sum(w.x * t.y) FROM w JOIN t USING (id) WHERE t.k IS DISTINCT FROM LIT`,
	`SELECT sum(CASE WHEN t.k >= LIT THEN w.x ELSE 2 * w.x END) FROM w JOIN t USING (id)`,
	`SELECT sum(CASE t.k WHEN LIT THEN w.x ELSE 2 * w.x END) FROM w JOIN t USING (id)`,
	`SELECT sum(w.x * CASE WHEN greatest(t.k, LIT) = t.k THEN 1 ELSE 3 END) FROM w JOIN t USING (id)`,
	`SELECT sum(w.x * CASE WHEN nullif(t.k, LIT) IS NULL THEN 1 ELSE 3 END) FROM w JOIN t USING (id)`,
	`SELECT sum(w.x * CASE WHEN coalesce(t.k, LIT) = LIT THEN 1 ELSE 3 END) FROM w JOIN t USING (id)`,
	`SELECT sum(w.x * u.y) FROM w JOIN t USING (id) JOIN u ON u.k = t.k`,
	`SELECT sum(w.x * u.y) FROM w JOIN t USING (id) JOIN u USING (k)`,
	`SELECT sum(w.x * u.y) FROM w JOIN t USING (id) JOIN u ON u.k < t.k`,
	`SELECT sum(w.x * t.y) FROM w JOIN t USING (id) WHERE t.k IN (SELECT k FROM u WHERE id > 1)`,
	`SELECT sum(z ^ 2) FROM (SELECT t.k, sum(w.x * t.y) AS z FROM w JOIN t USING (id) GROUP BY t.k) q`,
	`SELECT sum(z ^ 2) FROM (SELECT sum(w.x * t.y) OVER (PARTITION BY t.k) AS z FROM w JOIN t USING (id)) q`,
	`SELECT sum(x * r) FROM (SELECT w.x, rank() OVER (ORDER BY t.k) AS r FROM w JOIN t USING (id)) q`,
	`SELECT sum(x * r) FROM (SELECT w.x, sum(t.y) OVER (ORDER BY t.k DESC) AS r FROM w JOIN t USING (id)) q`,
	`SELECT sum(w.x * t.y) FROM w JOIN t USING (id) WHERE t.k = (SELECT max(k) FROM t)`,
	`SELECT sum(w.x * t.y) FROM w JOIN t USING (id), (SELECT min(t.k) AS k FROM w JOIN t USING (id)) m WHERE t.k = m.k`,
	`SELECT sum(w.x * q.y) FROM w JOIN (SELECT DISTINCT id, k, y FROM t) q USING (id) WHERE q.k < LIT`,
	`SELECT sum(w.x * q.y) FROM w JOIN (SELECT DISTINCT id, k, y FROM t) q USING (id) WHERE q.k = LIT`,
	`SELECT sum(w.x * u.y) FROM w JOIN (SELECT * FROM t LIMIT 100) q USING (id) JOIN u ON q.k = u.k`,
	`SELECT sum(w.x * u.y) FROM w JOIN (SELECT id, k FROM t EXCEPT SELECT id, k FROM t WHERE id = 1) q USING (id) ` +
		`JOIN u ON u.k >= q.k`,
	`SELECT sum(q.x) FROM (SELECT w.x, t.k FROM w JOIN t USING (id) UNION ALL SELECT 2 * w.x, u.k FROM w JOIN u ` +
		`USING (id)) q WHERE q.k = LIT`,
	`SELECT sum(q.x) FROM (SELECT w.x, t.k FROM w JOIN t USING (id) UNION ALL SELECT 2 * w.x, '2024-02-15'::timestamp ` +
		`FROM w) q WHERE q.k = '2024-02-15'`,
	`SELECT sum(w.x * (SELECT count(*) FROM u WHERE u.k = t.k)) FROM w JOIN t USING (id)`,
	`SELECT sum(w.x * (SELECT count(*) FROM (SELECT DISTINCT k::timestamp AS m FROM u) v WHERE v.m = t.k)) FROM w ` +
		`JOIN t USING (id)`,
	`SELECT sum(x * CASE WHEN p = LIT THEN 1 ELSE 3 END) FROM (SELECT w.x, lag(t.k, 1, LIT) OVER (ORDER BY t.id) AS p ` +
		`FROM w JOIN t USING (id)) q`,
	`SELECT sum(w.x * length(t.k)) FROM w JOIN t USING (id)`,
	`SELECT sum(w.x) FROM w JOIN t USING (id) WHERE lower(t.k) IS NOT NULL`,
	`SELECT sum(w.x) FROM w JOIN t USING (id) WHERE t.k LIKE 'a%'`,
	`SELECT sum(w.x * length(t.k::text)) FROM w JOIN t USING (id)`,
	`SELECT sum(w.x * t.y) FROM w JOIN t USING (id) WHERE t.k::text < 'b'`,
	`SELECT sum(p.x * t.y) FROM p JOIN t USING (k)`,
	`SELECT sum(p.x ^ 2) FROM p`,
	`SELECT sum(p.x ^ 2) FROM p WHERE k = LIT`,
	`SELECT sum(z.x ^ 2) FROM (SELECT k, x FROM p UNION ALL SELECT k, y FROM t) z JOIN p USING (k)`,
	`SELECT sum(w.x * r) FROM w JOIN (SELECT id, rank() OVER (ORDER BY k) AS r FROM t) q USING (id)`,
}

// refusalCodes are the errors of what a loss may not ask.
var refusalCodes = []string{"0A000", "42883", "42846", "42804", "42P22", "22023", "42P18", "42809"}

// typeServer tries a type; computed counts the answers that were the server's, by query.
func (s *viewServer) tryType(typ, samplesOf string) (computed map[string]bool, err error) {
	samples := typeSamples[samplesOf]
	computed = map[string]bool{}
	s.exec("DROP TABLE IF EXISTS w, t, u, p CASCADE; CREATE TABLE w (id int PRIMARY KEY, x double precision); CREATE " +
		"TABLE t (id int PRIMARY KEY, k " + typ +
		", y double precision); CREATE TABLE u (id int PRIMARY KEY, k " + typ +
		", y double precision); INSERT INTO t VALUES (0, NULL, 3); INSERT INTO w VALUES (0, 5)")
	for i, v := range samples {
		s.exec(fmt.Sprintf("INSERT INTO t VALUES (%d, '%[2]s', %[3]d); INSERT INTO u VALUES (%[1]d, '%[2]s', %[4]d); "+
			"INSERT INTO w VALUES (%[1]d, %[5]g)",
			i+1, strings.ReplaceAll(v, "'", "''"), 1<<i, 3*i*i+1, math.Sqrt(float64(i+2))))
	}
	keyed := s.try("CREATE TABLE p (k "+typ+" PRIMARY KEY, x double precision)") == nil
	if keyed {
		for i, v := range samples { // equal values violate the key
			_ = s.try(fmt.Sprintf("INSERT INTO p VALUES ('%s', %g) ON CONFLICT DO NOTHING", strings.ReplaceAll(v, "'", "''"),
				math.Sqrt(float64(i+3))))
		}
	}
	literals := []string{"NULL"}
	for _, v := range samples {
		literals = append(literals, "'"+strings.ReplaceAll(v, "'", "''")+"'", "'"+strings.ReplaceAll(v, "'", "''")+"'::"+typ)
	}
	queries := typeQueries
	if len(samples) == 0 {
		queries = slices.DeleteFunc(slices.Clone(queries), func(q string) bool {
			return !strings.Contains(q, "t.k = u.k") && !strings.Contains(q, "u.k = t.k") && !strings.Contains(q, "u.k < t.k") &&
				!strings.Contains(q, "GROUP BY") || strings.Contains(q, "count(*)")
		})
	}
	for _, q := range queries {
		if (strings.Contains(q, " p ") || strings.HasSuffix(q, " p")) && !keyed {
			continue
		}
		lits := literals[:1]
		if strings.Contains(q, "LIT") {
			lits = literals[1:]
		}
		for _, l := range lits {
			ok, err := s.typeAgrees(strings.ReplaceAll(q, "LIT", l))
			if err != nil {
				return nil, err
			}
			computed[q] = computed[q] || ok
		}
	}
	return computed, nil
}

// typeAgrees compares a loss, and what happens to it when a row of its parameter changes, with the server's own answer.
// ok is false where the engines refuse it.
func (s *viewServer) typeAgrees(loss string) (ok bool, err error) {
	param := "w"
	if strings.Contains(loss, "kept") {
		param = "kept"
	} else if strings.Contains(loss, " p ") || strings.HasSuffix(loss, " p") {
		param = "p"
	}
	own := func() (float64, error) {
		var x *float64
		err := s.conn.QueryRow(context.Background(), loss).Scan(&x)
		if x == nil {
			return math.NaN(), err
		}
		return *x, err
	}
	want, wrong := own()
	differences := sync.OnceValue(func() float64 {
		s.exec("BEGIN; UPDATE " + param + " SET x = x + 0.0009765625")
		up, _ := own()
		s.exec("UPDATE " + param + " SET x = x - 2 * 0.0009765625")
		down, _ := own()
		s.exec("ROLLBACK")
		return (up - down) / (2 * 0.0009765625)
	})
	for _, mode := range engineModes {
		s.exec("SET relgrad.engine = " + mode)
		var got, slope float64
		e := s.conn.QueryRow(context.Background(), "SELECT relgrad.backward($loss$"+loss+"$loss$, ARRAY['"+param+"'])").
			Scan(&got)
		var pg *pgconn.PgError
		switch {
		case e != nil && *typeFlag != "" && errors.As(e, &pg) && slices.Contains(refusalCodes, pg.Code):
			s.t.Logf("%s: %s: %v", mode, loss, e)
			continue
		case e != nil && errors.As(e, &pg) && (slices.Contains(refusalCodes, pg.Code) || wrong != nil || math.IsNaN(want)):
			continue
		case e != nil:
			return false, fmt.Errorf("%s: %s: %w", mode, loss, e)
		case wrong != nil:
			return false, fmt.Errorf("%s: %s: %v, which the server refuses: %w", mode, loss, got, wrong)
		case math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)):
			return false, fmt.Errorf("%s: %s: %v, the server says %v", mode, loss, got, want)
		}
		if err := s.conn.QueryRow(context.Background(), "SELECT coalesce(sum(x), 0) FROM "+param+"_grad").
			Scan(&slope); err != nil {
			return false, err
		}
		if d := differences(); math.Abs(d-slope) > 1e-6*math.Max(1, math.Abs(d)) {
			return false, fmt.Errorf("%s: %s: the gradient's sum is %v, differences say %v", mode, loss, slope, d)
		}
		ok = true
	}
	return ok, nil
}

// TestTypes tries every type of the server, and some that it does not have: what a loss asks of its values is what the
// server says, or is refused.
func TestTypes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := newViewServer(t)
	s.exec(typeScript)
	rows, err := s.conn.Query(context.Background(), `SELECT pg_catalog.format_type(oid,
CASE WHEN typname = 'bpchar' THEN 9 WHEN typname = 'bit' THEN 3 END) FROM pg_type
		WHERE typtype <> 'p' AND (typnamespace <> 'information_schema'::regnamespace) AND typrelid = 0
AND typelem NOT IN (SELECT oid FROM pg_type WHERE typtype = 'p' OR typrelid <> 0)
AND typnamespace <> 'relgrad'::regnamespace
		OR typname IN ('pair') ORDER BY typname`)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"numeric(40,10)"}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	report := ""
	for _, typ := range names {
		if *typeFlag != "" && typ != *typeFlag {
			continue
		}
		computed, err := s.tryType(typ, typ)
		if err != nil {
			t.Errorf("type %s: %v", typ, err)
			continue
		}
		n := 0
		for _, ok := range computed {
			if ok {
				n++
			}
		}
		if least := typeFloors[typ]; n < least {
			t.Errorf("type %s: only %d of %d losses were computed, at least %d can be", typ, n, len(computed), least)
		}
		report += fmt.Sprintf("%s: %d of %d\n", typ, n, len(computed))
	}
	t.Log(report)
}
