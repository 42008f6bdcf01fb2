package relgrad

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/pgbridge/conn"
	"github.com/relgrad/relgrad/train"
)

// serverScript makes the same tables and views on the store and on a server.
const serverScript = `
CREATE TABLE x (i int PRIMARY KEY, v double precision[] NOT NULL, y double precision, part text);
INSERT INTO x SELECT i, ARRAY[i / 7.0, 1, (i % 3) / 2.0]::double precision[], CASE WHEN i % 4 = 0 THEN NULL
    ELSE i % 5 END, chr(97 + i % 3) FROM generate_series(1, 40) AS s(i);
CREATE TABLE w (k int PRIMARY KEY, v double precision[]);
INSERT INTO w VALUES (2, '{0.1,0.2,0.3}'), (1, '{-0.5,0.25,0.125}');
CREATE TABLE b (v double precision);
INSERT INTO b VALUES (0.5);
CREATE VIEW guess AS SELECT x.i, x.y, sum(dot(x.v, w.v)) AS z FROM x, w WHERE x.i % 2 = w.k % 2 OR w.k = 1
    GROUP BY x.i, x.y;
CREATE VIEW loss AS SELECT avg((y - z - b.v) ^ 2) + 0.01 * (SELECT sum(sqnorm(v)) FROM w) FROM guess, b
    WHERE i NOT IN (SELECT i FROM x ORDER BY i DESC LIMIT 3);
`

func startServer(t *testing.T) *Server {
	t.Helper()
	s, _ := serverAt(t)
	return s
}

// serverAt gives the server's address too.
func serverAt(t *testing.T) (*Server, string) {
	t.Helper()
	c := pgcluster.Start(t)
	ctx := context.Background()
	if _, err := Dial(ctx, c.DSN, nil); sqlerr.Code(err) != sqlerr.UndefinedObject {
		t.Errorf("without the extension: %v", err)
	}
	r, err := conn.Dial(ctx, c.DSN, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Script(ctx, "CREATE EXTENSION relgrad"); err != nil {
		t.Fatal(err)
	}
	s, err := Dial(ctx, c.DSN, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	runAll(t, s, "SET search_path = public, relgrad") // "$user" is relgrad too
	return s, c.DSN
}

func runAll(t *testing.T, s *Server, stmts ...string) {
	t.Helper()
	for _, sql := range stmts {
		if _, err := s.RunSQL(context.Background(), sql); err != nil {
			t.Fatalf("%v\n%s", err, sql)
		}
	}
}

// compareRelations fails where two relations differ by more than tolerance, relative.
func compareRelations(t *testing.T, got, want *catalog.Relation, tolerance float64) {
	t.Helper()
	if fmt.Sprint(got.Names) != fmt.Sprint(want.Names) {
		t.Fatalf("columns %v, not %v", got.Names, want.Names)
	}
	for i, v := range want.Cols {
		g := got.Cols[i]
		if g.Len() != v.Len() || fmt.Sprint(g.I64(), g.Texts(), g.Valid()) != fmt.Sprint(v.I64(), v.Texts(), v.Valid()) ||
			len(g.F64()) != len(v.F64()) || len(g.F32()) != len(v.F32()) {
			t.Fatalf("column %s: %+v, not %+v", want.Names[i], g, v)
		}
		for j, x := range v.F64() {
			if math.Abs(g.F64()[j]-x) > tolerance*math.Max(1, math.Abs(x)) {
				t.Fatalf("column %s: %g, not %g", want.Names[i], g.F64()[j], x)
			}
		}
		for j, x := range v.F32() {
			if math.Abs(float64(g.F32()[j]-x)) > max(tolerance, 1e-6)*math.Max(1, math.Abs(float64(x))) {
				t.Fatalf("column %s: %g, not %g", want.Names[i], g.F32()[j], x)
			}
		}
	}
}

// TestServer compares the engine on a server, from outside, with the embedded store.
func TestServer(t *testing.T) {
	ctx := context.Background()
	s := startServer(t)
	db, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Run(ctx, serverScript); err != nil {
		t.Fatal(err)
	}
	if err := s.remote.Script(ctx, serverScript); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"w", "b"} {
		want, err := db.Gradient(ctx, "loss", table, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second from the cache
			got, err := s.Gradient(ctx, "loss", table, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			compareRelations(t, got, want, 1e-12)
		}
	}
	c := train.Default()
	c.Epochs, c.LR = 20, 0.05
	if _, err := db.Train(ctx, "loss", []string{"w", "b"}, c); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{engine.ModeChunk, engine.ModeSQL} {
		if mode == engine.ModeSQL { // from the beginning
			runAll(t, s, "UPDATE w SET v = CASE k WHEN 2 THEN '{0.1,0.2,0.3}' ELSE '{-0.5,0.25,0.125}' END::double precision[]",
				"UPDATE b SET v = 0.5")
		}
		s.Mode = mode
		if _, err := s.Train(ctx, "loss", []string{"w", "b"}, c); err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		compareGradients(t, db, s)
	}
}

// compareGradients compares what depends on the values of all parameters.
func compareGradients(t *testing.T, db *DB, s *Server) {
	t.Helper()
	ctx := context.Background()
	for _, table := range []string{"w", "b"} {
		want, err := db.Gradient(ctx, "loss", table, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Gradient(ctx, "loss", table, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		compareRelations(t, got, want, 1e-9)
	}
}

// TestServerTraining trains the same ways on the store and, with both engines, on a server: the losses of all steps
// agree.
func TestServerTraining(t *testing.T) {
	ctx := context.Background()
	s := startServer(t)
	const script = serverScript + `
CREATE TABLE chosen (i int PRIMARY KEY);
CREATE VIEW batched AS SELECT avg((y - z - b.v) ^ 2) AS loss FROM guess, b;
CREATE VIEW drawn AS SELECT avg((y - z - b.v) ^ 2) AS loss FROM guess JOIN chosen USING (i), b
    WHERE i <> (SELECT current_step());
CREATE VIEW dropped AS SELECT avg((y - z - b.v) ^ 2) + sum(sqnorm(dropout(w.v, 0.4))) AS loss FROM guess, b, w;
CREATE VIEW error AS SELECT avg(abs(y - z)) FROM guess WHERE i > 30;
CREATE TABLE scale (id int PRIMARY KEY, a real, s real[]);
INSERT INTO scale VALUES (1, 0.5, '{1,-1,2}'), (2, NULL, '{0.5,0.25,1}'), (3, 1.5, NULL);
CREATE VIEW scaled AS SELECT sum((coalesce(a, 1) * coalesce(dot(s, x.v), 0.5) - y) ^ 2) / 40 AS loss FROM scale, x;
`
	cases := []struct {
		loss   string
		params []string
		set    map[string]any
	}{
		{"loss", []string{"w", "b"}, map[string]any{"optimizer": "adam", "lr": 0.05, "epochs": int64(8), "validate": "error",
			"every": int64(2)}},
		{"loss", []string{"w"}, map[string]any{"optimizer": "momentum", "lr": 0.01, "epochs": int64(8), "clip_norm": 0.5,
			"weight_decay": 0.1}},
		{"batched", []string{"w", "b"}, map[string]any{"optimizer": "sgd", "lr": 0.01, "epochs": int64(2), "batch": "x",
			"batch_size": int64(7), "seed": int64(3)}},
		{"drawn", []string{"w", "b"}, map[string]any{"optimizer": "rmsprop", "lr": 0.01, "epochs": int64(6),
			"before_step": "DELETE FROM chosen; INSERT INTO chosen SELECT i FROM x WHERE i % 5 = current_step() % 5"}},
		{"dropped", []string{"w"}, map[string]any{"optimizer": "adamw", "lr": 0.01, "epochs": int64(6), "seed": int64(5),
			"nonnegative": []string{"w"}}},
		{"scaled", []string{"scale"}, map[string]any{"optimizer": "adagrad", "lr": 0.1, "epochs": int64(6),
			"options": `{"scale": {"where": "id <> 2"}}`}},
	}
	db, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i, c := range cases {
		config := train.Default()
		names := []string{}
		for name, v := range c.set {
			if err := config.Set(name, v); err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		if err := config.Check(names); err != nil {
			t.Fatal(err)
		}
		schema := fmt.Sprintf("case%d", i)
		prepare := "CREATE SCHEMA " + schema + "; SET search_path = " + schema + ", relgrad;" + script
		if _, err := db.Run(ctx, prepare); err != nil {
			t.Fatal(err)
		}
		want := lossesOf(t, db.Engine, c.loss, c.params, config)
		for _, mode := range []string{engine.ModeChunk, engine.ModeSQL} {
			s.Mode = mode
			if err := s.remote.Script(ctx, "DROP SCHEMA IF EXISTS "+schema+" CASCADE;"+prepare); err != nil {
				t.Fatal(err)
			}
			got := lossesOf(t, s.Engine, c.loss, c.params, config)
			if len(got) != len(want) {
				t.Errorf("%s %v: %d steps, not %d", mode, c.set, len(got), len(want))
				continue
			}
			for j := range want {
				for k := range want[j] {
					if math.Abs(got[j][k]-want[j][k]) > 1e-6*math.Max(1, math.Abs(want[j][k])) {
						t.Errorf("%s %v: step %d is %v, not %v", mode, c.set, j+1, got[j], want[j])
					}
				}
			}
		}
	}
}

// lossesOf trains and returns losses and validations of all steps.
func lossesOf(t *testing.T, e *Engine, loss string, params []string, c train.Config) (out [][]float64) {
	t.Helper()
	run, err := e.Train(context.Background(), loss, params, c)
	if err != nil {
		t.Fatalf("%s: %s: %v", e.Mode, loss, err)
	}
	res, err := e.core.Runf(context.Background(),
		"SELECT loss, coalesce(validation, 0) FROM relgrad.loss WHERE run = %d ORDER BY step", run)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range res.Rows {
		out = append(out, []float64{r[0].(float64), r[1].(float64)})
	}
	return out
}

// TestServerChanges: a session from outside sees what changes between its calls.
func TestServerChanges(t *testing.T) {
	ctx := context.Background()
	s := startServer(t)
	for _, c := range []struct {
		sql  string
		want []float64
	}{
		{"CREATE TABLE w (k int PRIMARY KEY, v double precision); INSERT INTO w VALUES (1, 3); CREATE VIEW loss AS SELECT " +
			"sum(v * v) AS loss FROM w", []float64{6}},
		{"CREATE OR REPLACE VIEW loss AS SELECT sum(5 * v) AS loss FROM w", []float64{5}},
		{"INSERT INTO w VALUES (2, NULL), (3, 1)", []float64{5, 0, 5}},
		{"CREATE OR REPLACE VIEW loss AS SELECT sum(v * v * v) AS loss FROM w", []float64{27, 0, 3}},
	} {
		if err := s.remote.Script(ctx, c.sql); err != nil {
			t.Fatal(err)
		}
		got, err := s.Gradient(ctx, "loss", "w", nil, 0)
		if err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		v := got.Cols[1]
		if v.Len() != len(c.want) {
			t.Fatalf("%s: %d rows, not %d", c.sql, v.Len(), len(c.want))
		}
		for i, x := range c.want {
			if v.IsNull(i) || v.F64()[i] != x {
				t.Errorf("%s: row %d is %v", c.sql, i, v.Value(i))
			}
		}
	}
}

// TestPushedDefinition: a step as a statement does not go on with a view that before_step has replaced.
func TestPushedDefinition(t *testing.T) {
	ctx := context.Background()
	s := startServer(t)
	if err := s.remote.Script(ctx,
		"CREATE TABLE w (k int PRIMARY KEY, v double precision); INSERT INTO w VALUES (1, 3); CREATE VIEW loss AS SELECT "+
			"sum(v * v) AS loss FROM w"); err != nil {
		t.Fatal(err)
	}
	s.Mode = engine.ModeSQL
	c := train.Default()
	c.Epochs, c.BeforeStep = 3, "CREATE OR REPLACE VIEW loss AS SELECT sum(5 * v) AS loss FROM w"
	if _, err := s.Train(ctx, "loss", []string{"w"}, c); sqlerr.Code(err) != sqlerr.FeatureNotSupported {
		t.Errorf("it ends with %v", err)
	}
}

// TestServerResume: a run on a server that is cancelled and resumed ends as an undisturbed one, bit for bit;
// before_step keeps a sum of its own, that must not count a step twice, and changes a parameter and what the loss
// reads.
func TestServerResume(t *testing.T) {
	s := startServer(t)
	for _, mode := range []string{engine.ModeChunk, engine.ModeSQL} {
		s.Mode = mode
		whole, n := resumedAt(t, s, mode+"_whole", 0)
		for _, at := range []int64{1, 7, 11} {
			parts, m := resumedAt(t, s, fmt.Sprint(mode, "_parts", at), at)
			if fmt.Sprint(whole) != fmt.Sprint(parts) || n != 12 || m != 12 {
				t.Errorf("%s, cancelled after step %d: before_step ran %d times, it ends with\n%v\nand not, as the %d steps "+
					"without, with\n%v", mode, at, m, parts, n, whole)
			}
		}
	}
}

// resumedAt trains in a schema of its own, and says what the tables hold at the end and how often before_step ran.
// After step at the run is cancelled and goes on.
func resumedAt(t *testing.T, s *Server, schema string, at int64) (out [][]any, steps int64) {
	t.Helper()
	err := s.remote.Script(context.Background(), "CREATE SCHEMA "+schema+"; SET search_path = "+schema+", relgrad;"+
		serverScript+`
CREATE TABLE chosen (i int PRIMARY KEY);
CREATE TABLE counted (id int PRIMARY KEY, n bigint);
INSERT INTO counted VALUES (1, 0);
CREATE VIEW drawn AS SELECT avg((y - z - b.v) ^ 2) AS loss FROM guess JOIN chosen USING (i), b;`)
	if err != nil {
		t.Fatal(err)
	}
	c := train.Default()
	c.Epochs, c.LR, c.Seed = 12, 0.05, 3
	c.BeforeStep = "DELETE FROM chosen; INSERT INTO chosen SELECT i FROM x WHERE (i + current_step() + current_seed()) " +
		"% 5 < 2; UPDATE counted SET n = n + 1; UPDATE b SET v = v * 0.9"
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.OnStep = func(row train.LossRow, _ int64) {
		if row.Step == at {
			cancel()
		}
	}
	run, err := s.Train(ctx, "drawn", []string{"w", "b"}, c)
	s.OnStep = nil
	if (err != nil) != (at > 0) {
		t.Fatalf("cancelled after step %d: %v", at, err)
	}
	if at > 0 {
		if _, err := s.Resume(context.Background(), run); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range []string{"SELECT k, v FROM w ORDER BY k", "SELECT v FROM b",
		fmt.Sprintf("SELECT step, loss FROM relgrad.loss WHERE run = %d ORDER BY step", run)} {
		res, err := s.RunSQL(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, res.Rows...)
	}
	res, err := s.RunSQL(context.Background(), "SELECT n FROM counted")
	if err != nil {
		t.Fatal(err)
	}
	return out, res.Rows[0][0].(int64)
}

// TestServerTransaction: what the server refuses leaves the transaction as it was.
func TestServerTransaction(t *testing.T) {
	ctx := context.Background()
	s := startServer(t)
	if err := s.remote.Script(ctx, serverScript); err != nil {
		t.Fatal(err)
	}
	if err := s.Begin(); err != nil {
		t.Fatal(err)
	}
	runAll(t, s, "UPDATE b SET v = 2")
	for _, loss := range []string{"SELECT sum(v) FROM absent", "SELECT sum(absent(w.v)) FROM w"} {
		if _, err := s.Gradient(ctx, loss, "w", nil, 0); err == nil {
			t.Fatalf("%s has a gradient", loss)
		}
		if _, err := s.Gradient(ctx, "SELECT sum(v * v) FROM b", "b", nil, 0); err != nil {
			t.Fatalf("after %s: %v", loss, err)
		}
	}
	got, err := s.Gradient(ctx, "SELECT sum(v * v) FROM b", "b", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if x := got.Cols[0].F64(); len(x) != 1 || x[0] != 4 {
		t.Errorf("the gradient is %v", x)
	}
	if err := s.Rollback(); err != nil {
		t.Fatal(err)
	}
}
