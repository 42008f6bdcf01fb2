package pgrun

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

var typedFlag = flag.Int64("typed", 80, "number of random queries over a server's own types")

// typedCases are queries that an engine has got wrong, beside the random ones.
var typedCases = []*randquery.Typed{
	{Script: []string{"CREATE TABLE a (k int PRIMARY KEY, h char(4), n int UNIQUE NOT NULL, x double precision NOT NULL)",
		"INSERT INTO a VALUES (1, 'b', 0, 1.5), (2, 'ab', 1, 2.25), (3, 'abcb', 2, 0.5)"},
		Loss: "SELECT sum(a.x * a.x) FROM a WHERE a.h LIKE '%b'"},
	{Script: []string{"CREATE TABLE a (k int PRIMARY KEY, h char(4), n int UNIQUE NOT NULL, x double precision NOT NULL)",
		"CREATE TABLE b (id int PRIMARY KEY, g int, h numeric)", "INSERT INTO a VALUES (1, 'b', 0, 1.5), (2, 'ab', 1, 2.25)",
		"INSERT INTO b VALUES (1, 1, 12345678901234567890.5), (2, 2, 1)"},
		Loss: "SELECT sum(a.x * a.x) FROM a JOIN (SELECT b.g AS v, max(b.h) AS m FROM b GROUP BY b.g) q ON a.k = q.v"},
	{Script: []string{"CREATE TABLE a (k int PRIMARY KEY, h text, n int UNIQUE NOT NULL, x double precision NOT NULL)",
		"CREATE TABLE b (id int PRIMARY KEY, k inet, h text)",
		"INSERT INTO a VALUES (1, 'b', 0, 1.5), (2, '9', 1, 2.25)",
		"INSERT INTO b VALUES (1, '10.0.0.1', 'a'), (2, '::1', '10'), (3, '::1', NULL), (4, NULL, '5')"},
		Loss: "SELECT sum(a.x * a.x) FROM a JOIN b ON a.h < b.h WHERE b.h IN (SELECT b.h FROM b WHERE b.h > '10' OR " +
			"b.k < CASE WHEN b.k IS NULL THEN '10.0.0.1/32' ELSE b.k END) OR b.h < nullif(b.h, 'b')"},
	{Script: []string{"CREATE TABLE a (k mood PRIMARY KEY, h text, n int UNIQUE NOT NULL, x double precision NOT NULL)",
		"INSERT INTO a VALUES ('sad', 'a', 0, 1.5), ('happy', 'b', 1, 2.25)"},
		Settings: []string{"quote_all_identifiers = on"},
		Loss:     "SELECT sum(q.x * q.x) FROM (SELECT a.x FROM a WHERE a.k = 'sad'::mood OR a.k > 'ok'::mood) q"},
}

// typedServer runs typed queries in one of two databases.
type typedServer struct {
	*viewServer
	refusals map[string]int // by message
}

// newTypedServers gives a database with the collation C, and one with ICU's en-US.
func newTypedServers(t *testing.T) map[bool]*typedServer {
	c, ctx, out := pgcluster.Start(t), context.Background(), map[bool]*typedServer{}
	for icu, db := range map[bool]string{false: "plain", true: "icu"} {
		make := "CREATE DATABASE " + db
		if icu {
			make += " TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'"
		}
		for dsn, sql := range map[string]string{c.DSN: make, strings.Replace(c.DSN, "dbname=postgres", "dbname="+db, 1): ""} {
			conn, err := pgx.Connect(ctx, dsn)
			if err == nil && sql != "" {
				_, err = conn.Exec(ctx, sql)
			}
			if err != nil && sql != "" {
				t.Fatal(err)
			}
			if conn != nil {
				conn.Close(ctx)
			}
		}
		conn, err := pgx.Connect(ctx, strings.Replace(c.DSN, "dbname=postgres", "dbname="+db, 1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(ctx) })
		s := &typedServer{&viewServer{&Engine{conn: conn}, t}, map[string]int{}}
		s.exec("CREATE EXTENSION relgrad; SET search_path = public, relgrad; " + randquery.TypedSetup)
		out[icu] = s
	}
	return out
}

// outcomes of a typed query.
const (
	typedAgrees  = iota
	typedRefused // by both engines
	typedHalf    // by one of them; the other agrees
	typedNull    // the loss is NULL
	typedInvalid // the server does not take it, which random types that meet come to
)

// typedStep moves x exactly.
const typedStep = 1.0 / 1024

// run compares one query.
func (s *typedServer) run(q *randquery.Typed) (outcome int, err error) {
	s.exec("RESET ALL; SET search_path = public, relgrad; SET client_min_messages = warning; DROP TABLE IF EXISTS a, b, " +
		"a_grad; DISCARD TEMP")
	for _, sql := range q.Script {
		s.exec(sql)
	}
	s.exec("CREATE TABLE moves AS SELECT n, (n * 7919 % 13 - 6) / 4.0::float8 AS d FROM a; " +
		"ALTER TABLE moves ADD PRIMARY KEY (n)")
	defer s.exec("RESET ALL; DROP TABLE moves")
	for _, set := range q.Settings {
		s.exec("SET " + set)
	}
	want, slope, err := s.ownGradient(q.Loss)
	var e *pgconn.PgError
	switch {
	case errors.As(err, &e):
		return typedInvalid, nil
	case errors.Is(err, errNull):
		return typedNull, nil
	case err != nil:
		return 0, err
	}
	refused := 0
	for _, mode := range engineModes {
		s.exec("SET relgrad.engine = " + mode)
		if err := s.compareTyped(q, want, slope); errors.As(err, &e) && e.Code != sqlerr.Internal {
			if isRefusal(e) {
				refused++
				s.refusals[e.Message]++
				continue
			}
			return 0, fmt.Errorf("%s: %w %s", mode, err, e.Detail)
		} else if err != nil {
			return 0, fmt.Errorf("%s: %w", mode, err)
		}
	}
	return [...]int{typedAgrees, typedHalf, typedRefused}[refused], nil
}

// isRefusal tells an error that says that a loss is not supported from one about a query that the server takes.
func isRefusal(e *pgconn.PgError) bool {
	switch e.Code {
	case sqlerr.FeatureNotSupported, sqlerr.CannotCoerce, sqlerr.UndefinedFunction, sqlerr.DatatypeMismatch,
		sqlerr.AmbiguousFunction, sqlerr.ObjectNotPrereqState:
		return true
	}
	return e.Code == sqlerr.InvalidParameter && strings.Contains(e.Message, "cannot be read by a loss")
}

var errNull = errors.New("the loss is NULL")

// ownGradient is the server's value of a loss, and the central difference along moves.
func (s *typedServer) ownGradient(loss string) (value, slope float64, err error) {
	var f [3]float64
	for i := range f {
		s.exec(fmt.Sprintf("BEGIN; UPDATE a SET x = x + %v * (SELECT d FROM moves WHERE moves.n = a.n)",
			float64(i-1)*typedStep))
		f[i], err = s.binaryNumber("SELECT (" + loss + ")::float8")
		s.exec("ROLLBACK")
		if err != nil && strings.Contains(err.Error(), "is NULL") {
			return 0, 0, errNull
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return f[1], (f[2] - f[0]) / (2 * typedStep), nil
}

// compareTyped compares what backward and gradient give with the server's own numbers.
func (s *typedServer) compareTyped(q *randquery.Typed, want, slope float64) error {
	got, err := s.binaryNumber("SELECT relgrad.backward($loss$" + q.Loss + "$loss$, ARRAY['a.x'])")
	if err != nil {
		return err
	}
	if !closeTo(got, want) {
		return fmt.Errorf("the loss is %v; the server: %v", got, want)
	}
	const along = "SELECT coalesce(sum(g.x * m.d), 0) + CASE WHEN count(*) = count(a.n) THEN 0 ELSE 1e9 END " +
		"FROM %s g LEFT JOIN public.moves m ON m.n = g.n LEFT JOIN public.a ON a.n = g.n AND " +
		"CASE WHEN pg_typeof(a.k) = 'numeric'::regtype THEN " + // a gradient's rows hold 15 digits, and those exactly
		"g.k::text::numeric = a.k::text::numeric::float8::numeric ELSE a.k = g.k END"
	from := []string{"pg_temp.a_grad"}
	if q.Seed%3 == 0 {
		from = append(from, "relgrad.gradient($loss$"+q.Loss+"$loss$, NULL::public.a)")
	}
	for _, f := range from {
		if got, err = s.binaryNumber(fmt.Sprintf(along, f)); err != nil {
			return err
		}
		if !closeTo(got, slope) {
			return fmt.Errorf("the gradient in %.20s along moves is %v; the server's difference: %v", f, got, slope)
		}
	}
	return nil
}

func closeTo(got, want float64) bool { return math.Abs(got-want) <= 1e-7*math.Max(1, math.Abs(want)) }

// TestBackendTypes compares both engines with the server itself on random losses over its types, under settings and
// collations: what the server takes is computed as it does, or refused.
func TestBackendTypes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	servers := newTypedServers(t)
	uses, counts := map[string][5]int{}, [5]int{} // by outcome
	queries := slices.Clone(typedCases)
	for seed := *seedFlag; seed < *seedFlag+*typedFlag; seed++ {
		queries = append(queries, randquery.GenerateTyped(seed))
	}
	for _, q := range queries {
		outcome, err := servers[q.ICU].run(q)
		if err != nil {
			t.Errorf("seed %d (go test ./internal/pgrun -run TestBackendTypes -seed=%d -typed=1): %v\n%s", q.Seed,
				q.Seed, err, q.Report())
			if !*allFlag {
				return
			}
			continue
		}
		counts[outcome]++
		for u := range q.Uses {
			by := uses[u]
			by[outcome]++
			uses[u] = by
		}
	}
	t.Logf("%d agree, %d refused, %d by one engine, %d NULL, %d invalid", counts[0], counts[1],
		counts[2], counts[3], counts[4])
	if *allFlag {
		for _, s := range servers {
			for m, n := range s.refusals {
				t.Logf("refused %d: %s", n, m)
			}
		}
		for _, u := range slices.Sorted(maps.Keys(uses)) {
			t.Logf("drawn %s: %v", u, uses[u])
		}
	}
	if n := int(*typedFlag); n >= 80 && (counts[typedRefused]+counts[typedHalf] > n/3 || counts[typedAgrees] < n/3) {
		t.Errorf("of %d queries %d agree, %d are refused", n, counts[typedAgrees], counts[typedRefused]+counts[typedHalf])
	}
}
