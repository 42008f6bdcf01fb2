package pgrun

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/internal/pgcluster"
)

// carriedSettings are settings of which some print a value so that it reads back as another one, or not at all.
var carriedSettings = []string{"DateStyle = 'ISO, DMY'", "DateStyle = 'German, MDY'", "DateStyle = 'German, YMD'",
	"DateStyle = 'SQL, YMD'", "DateStyle = 'Postgres, YMD'",
	"IntervalStyle = sql_standard", "extra_float_digits = 0"}

// TestCarriedValues: values that a loss only carries along, and that dates and numbers stand in, come out as they were,
// or are refused, under any setting by which they are printed.
func TestCarriedValues(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	c, ctx := pgcluster.Start(t), context.Background()
	conn, err := pgx.Connect(ctx, c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	s := &viewServer{&Engine{conn: conn}, t}
	s.exec(`CREATE EXTENSION relgrad; SET search_path = public, relgrad;
CREATE TYPE span AS RANGE (subtype = date); CREATE TYPE pair AS (d date, x double precision, i interval);
CREATE TABLE w (r daterange PRIMARY KEY, s span, p pair, d date[], x double precision);
INSERT INTO w VALUES ('[2020-02-01,2020-03-04)', '[2020-05-06,2020-07-08)', ROW('2020-02-01', 1.0/3,
'-1 year 2 mons -3 days')::pair, '{2020-02-01,2020-12-11}', 0.5);
CREATE TABLE v AS SELECT * FROM w`)
	for _, engine := range engineModes {
		for _, set := range carriedSettings {
			s.exec("RESET ALL; SET search_path = public, relgrad; SET client_min_messages = warning; DISCARD TEMP; SET " +
				"relgrad.engine = " + engine + "; SET " + set)
			same := " IS NOT DISTINCT FROM ROW((SELECT r FROM w), (SELECT s FROM w), (SELECT p FROM w), (SELECT d " +
				"FROM w), 1.0::float8)"
			for _, q := range []struct{ before, query string }{
				{"", "SELECT ROW(r, s, p, d, x)" + same + " FROM gradient('SELECT sum(x * x) AS l FROM w', NULL::w)"},
				{"SELECT backward('SELECT sum(x * x) AS l FROM w', ARRAY['w'])",
					"SELECT ROW(r, s, p, d, x)" + same + " FROM w_grad"},
			} {
				ok := true
				_, err := conn.Exec(ctx, q.before)
				if err == nil {
					err = conn.QueryRow(ctx, q.query).Scan(&ok)
				}
				if !ok || err != nil && !(engine == "sql" && readsNotBack(err)) {
					t.Errorf("%s, %s: %s: %v, %v", engine, set, q.query, ok, err)
				}
			}
			var back float64
			err := conn.QueryRow(ctx, "SELECT sum(x) FROM gradient('SELECT sum(w.x * q.y) AS l FROM w "+
				"JOIN (SELECT s, p, d, 3.0 AS y FROM v WHERE r @> ''2020-02-03''::date) q ON q.y > w.x', NULL::w)").Scan(&back)
			if !readsNotBack(err) && (err != nil || back != 3) {
				t.Errorf("%s, %s: a sub-query: %v, %v", engine, set, back, err)
			}
		}
	}
}

func readsNotBack(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && strings.Contains(e.Message, "does not read back")
}
