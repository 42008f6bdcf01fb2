package relgrad

import (
	"context"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// TestReachOfFunctions: what a function of the user's calls in a sub-query that the store runs whole counts as if the
// sub-query called it: draws are refused, and the step is asked for anew at every step.
func TestReachOfFunctions(t *testing.T) {
	db, ctx := open(t, ""), context.Background()
	mustRun(t, db, `CREATE TABLE w (id int PRIMARY KEY, x double precision); INSERT INTO w VALUES (1, 0);
CREATE TABLE t (id int PRIMARY KEY, y double precision); INSERT INTO t VALUES (1, 3), (2, 4);
CREATE FUNCTION drawn(a double precision) RETURNS double precision LANGUAGE sql AS $$ SELECT a * random() $$;
CREATE FUNCTION again(a double precision) RETURNS double precision LANGUAGE sql AS $$ SELECT drawn(a) $$;
CREATE FUNCTION given(a double precision DEFAULT random()) RETURNS double precision LANGUAGE sql AS $$ SELECT a $$;
CREATE FUNCTION steps(a double precision) RETURNS double precision LANGUAGE sql AS $$ SELECT a * current_step() $$;
CREATE FUNCTION reads() RETURNS double precision LANGUAGE sql AS $$ SELECT sum(x) FROM w $$;
CREATE VIEW drawing AS SELECT DISTINCT again(y) AS z FROM t; CREATE VIEW stepping AS SELECT max(q.z) AS z
    FROM (SELECT DISTINCT steps(y) AS z FROM t) q`)
	for _, sub := range []string{"SELECT DISTINCT drawn(y) FROM t WHERE id = 1",
		"SELECT DISTINCT again(y) FROM t WHERE id = 1", "SELECT DISTINCT given() FROM t",
		"SELECT max(z) FROM (SELECT * FROM drawing LIMIT 1) q", "SELECT DISTINCT reads() FROM t"} {
		_, err := db.Run(ctx, "SELECT backward($$ SELECT sum(x + 1) * ("+sub+") FROM w $$, 'w')")
		if sqlerr.Code(err) != sqlerr.FeatureNotSupported {
			t.Errorf("%s: %v", sub, err)
		}
	}
	for _, sub := range []string{"SELECT max(z) FROM (SELECT DISTINCT steps(y) AS z FROM t) q",
		"SELECT z FROM (SELECT * FROM stepping LIMIT 1) q"} {
		if _, err := db.Run(ctx, "SELECT backward($$ SELECT sum(x) * ("+sub+") FROM w $$, 'w')"); err == nil ||
			!strings.Contains(err.Error(), "needs a step") {
			t.Errorf("%s without a step: %v", sub, err)
		}
		mustRun(t, db, "UPDATE w SET x = 0; CALL train($$ SELECT sum(x) * ("+sub+") FROM w $$, 'w', epochs => 3, lr => 1, "+
			"optimizer => 'sgd')")
		if got := mustRun(t, db, "SELECT x FROM w").Rows[0][0]; got != -4.0*(1+2+3) {
			t.Errorf("%s: three steps come to %v", sub, got)
		}
	}
}

// TestReachFromOutside: a sub-query that the server runs whole is refused where it reads the parameter behind what its
// text names.
func TestReachFromOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	s, _ := serverAt(t)
	runAll(t, s, "CREATE TABLE w (id int PRIMARY KEY, x double precision)", "INSERT INTO w VALUES (1, 2)",
		"CREATE TABLE t (id int PRIMARY KEY, y double precision)", "INSERT INTO t VALUES (1, 3)",
		"CREATE TABLE whole (id int PRIMARY KEY, x double precision) PARTITION BY RANGE (id)",
		"CREATE TABLE part PARTITION OF whole FOR VALUES FROM (1) TO (9)", "INSERT INTO whole VALUES (1, 2)",
		"CREATE TYPE mood AS ENUM ('sad', 'ok')",
		"CREATE FUNCTION score(m mood) RETURNS float8 LANGUAGE sql BEGIN ATOMIC SELECT sum(x) FROM w; END",
		"CREATE FUNCTION total() RETURNS float8 LANGUAGE sql AS 'SELECT sum(x) FROM w'",
		"CREATE FUNCTION again() RETURNS float8 LANGUAGE sql AS 'SELECT total()'",
		"CREATE FUNCTION run() RETURNS float8 LANGUAGE plpgsql AS 'DECLARE f float8; BEGIN EXECUTE ''SELECT sum(x) FROM "+
			"w'' INTO f; RETURN f; END'",
		"CREATE FUNCTION ys() RETURNS float8 LANGUAGE sql AS 'SELECT sum(y) FROM t'")
	for _, mode := range []string{engine.ModeChunk, engine.ModeSQL} {
		s.Mode = mode
		for _, c := range []struct{ param, loss, says string }{
			{"w", "SELECT sum(x) * (SELECT DISTINCT again()) FROM w", "behind function total"},
			{"w", "SELECT sum(x) * (SELECT DISTINCT score('ok')) FROM w", "behind function score"},
			{"w", "SELECT sum(x) * (SELECT DISTINCT run()) FROM w", "cannot be seen"},
			{"whole", "SELECT sum(whole.x * p.x) FROM whole JOIN part p USING (id)", "as those of table part"},
			{"w", "SELECT sum(x) * (SELECT DISTINCT ys()) FROM w", ""},
		} {
			_, err := s.Gradient(ctx, c.loss, c.param, nil, 0)
			if c.says == "" && err != nil || c.says != "" &&
				(sqlerr.Code(err) != sqlerr.FeatureNotSupported || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%s, %s: %v; want %q", mode, c.loss, err, c.says)
			}
		}
	}
	runAll(t, s, "CREATE CAST (mood AS float8) WITH FUNCTION score(mood)")
	if _, err := s.Gradient(ctx, "SELECT sum(x) * (SELECT DISTINCT 'ok'::mood::float8) FROM w", "w", nil, 0); err == nil ||
		!strings.Contains(err.Error(), "behind the cast") {
		t.Errorf("behind a cast: %v", err)
	}
}

// TestMeetingFromOutside: where values of two types meet no digit or letter is taken for another.
func TestMeetingFromOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	s, _ := serverAt(t)
	runAll(t, s, "CREATE TABLE w (id int PRIMARY KEY, x double precision)", "INSERT INTO w VALUES (7, 2)",
		"CREATE TABLE t (id double precision PRIMARY KEY, k text, b bigint, n numeric, m numeric(8, 2))",
		"INSERT INTO t VALUES (7, 'É', 9007199254741001, 9007199254741000, 1.25)")
	for _, mode := range []string{engine.ModeChunk, engine.ModeSQL} {
		s.Mode = mode
		for _, c := range []struct {
			loss string
			want float64 // the gradient; 0: refused, or as the server has it
		}{
			{"SELECT sum(x * (id / 2)) FROM w JOIN t USING (id)", 3.5},
			{"SELECT sum(x * (w.id / 2)) FROM w JOIN t USING (id)", 3},
			{"SELECT sum(x * (id / 2)) FROM w LEFT JOIN t USING (id)", 3.5},
			{"SELECT sum(x * CASE WHEN b = n THEN 5 ELSE 1 END) FROM w JOIN t USING (id)", 0},
			{"SELECT sum(x * CASE WHEN b = 9007199254741000.0 THEN 5 ELSE 1 END) FROM w JOIN t ON w.id = t.id", 1},
			{"SELECT sum(x * CASE WHEN b = m THEN 5 ELSE 1 END) FROM w JOIN t ON w.id = t.id", 0},
			{"SELECT sum(x * CASE WHEN m = 1.2500000000000000001 THEN 5 ELSE 1 END) FROM w JOIN t USING (id)", 0},
			{"SELECT sum(x * CASE WHEN lower(k) = 'é' THEN 5 ELSE 1 END) FROM w JOIN t USING (id)", 0},
		} {
			own, err := s.RunSQL(ctx, "SELECT ("+strings.Replace(c.loss, "sum(x *", "sum(", 1)+")::float8")
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Gradient(ctx, c.loss, "w", nil, 0)
			if err != nil && (c.want != 0 || sqlerr.Code(err) != sqlerr.FeatureNotSupported) {
				t.Errorf("%s, %s: %v", mode, c.loss, err)
			} else if err == nil && (r.Cols[1].Value(0).X != own.Rows[0][0] || c.want != 0 && c.want != own.Rows[0][0]) {
				t.Errorf("%s, %s: %v; the server: %v", mode, c.loss, r.Cols[1].Value(0).X, own.Rows[0][0])
			}
		}
	}
}
