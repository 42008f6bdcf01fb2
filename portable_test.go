package relgrad

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/migrations"
	"github.com/relgrad/relgrad/tensor"
	"github.com/relgrad/relgrad/train"
)

// startPortable gives a session on a server with the portable tier, and the server.
func startPortable(t *testing.T) (*Server, *pgcluster.Cluster) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a server")
	}
	c := pgcluster.StartBare(t)
	ctx := context.Background()
	conn, err := migrations.Connect(ctx, c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := migrations.Apply(ctx, conn); err != nil {
		t.Fatal(err)
	}
	return dialPortable(t, c.DSN), c
}

func dialPortable(t *testing.T, dsn string) *Server {
	t.Helper()
	s, err := Dial(context.Background(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	runAll(t, s, "SET search_path = public, relgrad", "SET jit = off")
	return s
}

// numbersOf flattens the values of a result.
func numbersOf(t *testing.T, rows [][]any) (out []float64) {
	t.Helper()
	for _, r := range rows {
		for _, v := range r {
			switch x := v.(type) {
			case int64:
				out = append(out, float64(x))
			case float64:
				out = append(out, x)
			case *tensor.Tensor:
				out = append(out, x.Data...)
			default:
				t.Fatalf("value %v of type %T", v, v)
			}
		}
	}
	return out
}

// relationNumbers flattens a relation, ordered by its first column.
func relationNumbers(r *catalog.Relation) (out []float64) {
	order := make([]int, r.Cols[0].Len())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(r.Cols[0].Value(a).I - r.Cols[0].Value(b).I) })
	for _, row := range order {
		for _, c := range r.Cols {
			v := c.Value(row)
			if v.Type.Kind.String() == "bigint" {
				out = append(out, float64(v.I))
			} else {
				out = append(out, v.Floats()...)
			}
		}
	}
	return out
}

func near(got, want []float64, tolerance float64) error {
	if len(got) != len(want) || len(want) == 0 {
		return fmt.Errorf("%d numbers, not %d", len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*math.Max(1, math.Abs(want[i]))) {
			return fmt.Errorf("number %d is %v, not %v", i, got[i], want[i])
		}
	}
	return nil
}

// portableScript adds losses to serverScript: draws, single precision, sub-queries of any SQL.
const portableScript = serverScript + `
CREATE TABLE emb (node int PRIMARY KEY, note text, v real[] NOT NULL, bias real NOT NULL);
INSERT INTO emb SELECT i, 'n' || i, ARRAY[i / 3.0, 1.0 / i, -i]::real[], i / 10.0 FROM generate_series(1, 6) AS s(i);
CREATE TABLE edge (src int, dst int, PRIMARY KEY (src, dst));
INSERT INTO edge SELECT i, i % 6 + 1 FROM generate_series(1, 6) AS s(i);
CREATE VIEW dropped AS SELECT sum(sqnorm(dropout(tanh(v), 0.4)) + bias ^ 2) FROM emb;
CREATE VIEW sampled AS SELECT sum(dot(a.v, b.v) * sigmoid(a.bias)) FROM edge JOIN emb a ON a.node = src
    JOIN emb b ON b.node = dst WHERE (src + current_step() * current_epoch() + current_seed()) % 2 = 0;
CREATE VIEW top AS SELECT dst AS node FROM edge ORDER BY dst DESC LIMIT 3;
CREATE VIEW pinned AS SELECT sum(bias ^ 2) * (SELECT dst FROM edge ORDER BY dst DESC LIMIT 1) FROM emb;
CREATE VIEW topped AS SELECT sum(logsumexp(v) + (SELECT max(dst) FROM edge) * bias) FROM emb WHERE node IN (SELECT node
    FROM top);
`

// TestPortableGradients compares gradients that SQL computes on the portable tier with the embedded store's.
func TestPortableGradients(t *testing.T) {
	s, _ := startPortable(t)
	ctx := context.Background()
	db, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Run(ctx, "SET search_path = public, relgrad;"+portableScript); err != nil {
		t.Fatal(err)
	}
	if err := s.remote.Script(ctx, portableScript); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		loss, param string
		draws       bool
	}{
		{"loss", "w", false}, {"public.loss", "b", false}, {"dropped", "emb", true}, {"sampled", "emb", true},
		{"topped", "emb", false}, {"pinned", "emb", false},
		{"SELECT sum(sqnorm(v)) FROM w WHERE k > 1", "w", false},
	} {
		if err := s.CompileText(ctx, c.loss, c.param); err != nil {
			t.Errorf("%s: %v", c.loss, err)
			continue
		}
		for step := range int64(3) {
			args, of := "", (*int64)(nil)
			if c.draws {
				args, of = fmt.Sprintf(", step => %d, seed => %d", step, 5*step), &step
			} else if step > 0 {
				continue
			}
			want, err := db.Gradient(ctx, c.loss, c.param, of, 5*step)
			if err != nil {
				t.Fatal(err)
			}
			list := "k, v"
			switch c.param {
			case "emb":
				list = "node, v, bias"
				want = without(want, "note")
			case "b":
				list = "v"
			}
			got, err := s.RunSQL(ctx, fmt.Sprintf("SELECT %s FROM gradient(%s, NULL::%s%s) ORDER BY 1", list,
				sqltext.Text(c.loss), c.param, args))
			if err != nil {
				t.Errorf("%s: %v", c.loss, err)
				continue
			}
			if err := near(numbersOf(t, got.Rows), relationNumbers(want),
				map[bool]float64{true: 1e-6, false: 1e-12}[c.param == "emb"]); err != nil {
				t.Errorf("%s with respect to %s, step %d: %v", c.loss, c.param, step, err)
			}
		}
	}
	portableBackward(t, s, db)
}

func without(r *catalog.Relation, name string) *catalog.Relation {
	out := &catalog.Relation{}
	for i, n := range r.Names {
		if n != name {
			out.Names, out.Cols = append(out.Names, n), append(out.Cols, r.Cols[i])
		}
	}
	return out
}

// portableBackward compares backward, and training from outside.
func portableBackward(t *testing.T, s *Server, db *DB) {
	ctx := context.Background()
	want, err := db.Backward(ctx, "loss", []string{"w", "b"}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	grad, err := db.Gradient(ctx, "loss", "w", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second empties the tables
		got, err := s.RunSQL(ctx, "SELECT backward('loss', ARRAY['w', 'public.b'])")
		if err != nil {
			t.Fatal(err)
		}
		if err := near(numbersOf(t, got.Rows), []float64{want}, 1e-12); err != nil {
			t.Error(err)
		}
	}
	got, err := s.RunSQL(ctx, "SELECT w_grad.* FROM w_grad, b_grad ORDER BY 1")
	if err != nil {
		t.Fatal(err)
	}
	if err := near(numbersOf(t, got.Rows), relationNumbers(grad), 1e-12); err != nil {
		t.Error(err)
	}
	checks, err := s.Check(ctx, "loss", "w", engine.CheckOptions{Samples: 4})
	if err != nil || len(checks) != 4 {
		t.Fatal(err, len(checks))
	}
	for _, r := range checks {
		if !r.OK {
			t.Errorf("check: %+v", r)
		}
	}
	c := train.Default()
	c.Epochs, c.LR = 10, 0.05
	for _, e := range []*Engine{s.Engine, db.Engine} {
		if _, err := e.Train(ctx, "loss", []string{"w", "b"}, c); err != nil {
			t.Fatal(err)
		}
	}
	a, err := s.RunSQL(ctx, "SELECT * FROM w ORDER BY k")
	if err != nil {
		t.Fatal(err)
	}
	b, err := db.Run(ctx, "SELECT * FROM w ORDER BY k")
	if err != nil {
		t.Fatal(err)
	}
	if err := near(numbersOf(t, a.Rows), numbersOf(t, b.Rows), 1e-9); err != nil {
		t.Errorf("trained: %v", err)
	}
}

// TestPortableStale changes what texts were made from, each time in a transaction that is undone.
func TestPortableStale(t *testing.T) {
	s, cluster := startPortable(t)
	ctx := context.Background()
	if err := s.remote.Script(ctx, portableScript+`
CREATE FUNCTION twice(x double precision) RETURNS double precision LANGUAGE sql IMMUTABLE AS 'SELECT 2 * x';
CREATE VIEW called AS SELECT sum(twice(v[1])) FROM w;
CREATE ROLE other LOGIN; GRANT SELECT ON w, b, x, loss, guess TO other;`); err != nil {
		t.Fatal(err)
	}
	const query = "SELECT sum(sqnorm(v)) FROM w"
	for _, loss := range []string{"loss", "called", "topped", "pinned", query} {
		param := "w"
		if loss == "topped" || loss == "pinned" {
			param = "emb"
		}
		if err := s.CompileText(ctx, loss, param); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ change, loss, message, detail string }{
		{"SELECT 1", "loss", "", ""},
		{"UPDATE w SET v = '{1,2,3}'", "loss", "", ""},
		{"INSERT INTO w VALUES (7, '{1,2,3}')", "loss", "", ""},
		{"UPDATE x SET y = 1", "loss", "", ""}, // a text for NULL is one without
		{"INSERT INTO emb VALUES (0, 'z', '{1,2,3}', 1)", "topped", "", ""},
		{"CREATE OR REPLACE VIEW loss AS SELECT avg((y - z) ^ 2) AS \"?column?\" FROM guess", "loss", "stale",
			"The definition of public.loss has changed."},
		{"CREATE OR REPLACE VIEW guess AS SELECT i, y, y AS z FROM x", "loss", "stale",
			"The definition of public.guess has changed."},
		{"CREATE OR REPLACE FUNCTION twice(x double precision) RETURNS double precision LANGUAGE sql IMMUTABLE AS 'SELECT " +
			"3 * x'", "called", "stale", "The definition of public.twice has changed."},
		{"ALTER TABLE w ADD c int", "loss", "stale", "list of columns"},
		{"ALTER TABLE w DROP CONSTRAINT w_pkey", "loss", "stale", "Of public.w: key"},
		{"UPDATE w SET v = NULL WHERE k = 1", "loss", "stale", "Of public.w: column v"},
		{"UPDATE w SET v = '{1,2}'", "loss", "stale", "[1:2]"},
		{"INSERT INTO b VALUES (1)", "loss", "stale", "Of public.b: one row"},
		{"DELETE FROM edge", "pinned", "stale", "one row; it was true and is false"}, // the sub-query's value is NULL
		{"SET LOCAL search_path = pg_catalog, public, relgrad", query, "stale", "The search path was public, relgrad"},
		{"ALTER VIEW guess RENAME TO estimate", "loss", "stale", "public.guess is not there any more"},
		{"DELETE FROM relgrad.compiled", "loss", "is not compiled", "its command makes gradients"},
		{"UPDATE b SET v = 'Infinity'", "loss", "the loss is Infinity", ""},
		{"DELETE FROM x", "loss", "the loss is NULL", ""},
	} {
		runAll(t, s, "BEGIN", c.change)
		param := "w"
		if c.loss == "topped" || c.loss == "pinned" {
			param = "emb"
		}
		_, err := s.RunSQL(ctx, "SELECT * FROM gradient("+sqltext.Text(c.loss)+", NULL::"+param+")")
		var e *sqlerr.Error
		switch {
		case c.message == "" && err != nil:
			t.Errorf("%s: %v", c.change, err)
		case c.message != "" && (!errors.As(err, &e) || !strings.Contains(e.Message, c.message) ||
			!strings.Contains(e.Detail, c.detail)):
			t.Errorf("%s: %v, %+v", c.change, err, e)
		case c.message == "stale" && !strings.Contains(e.Hint, "relgrad pg compile --db DSN '"+c.loss+"' "):
			t.Errorf("%s: hint %s", c.change, e.Hint)
		}
		runAll(t, s, "ROLLBACK")
	}
	portableRights(t, s, dialPortable(t, strings.Replace(cluster.DSN, "user=relgrad", "user=other", 1)))
}

// portableRights looks who runs whose texts: they run with the rights of whoever calls.
func portableRights(t *testing.T, owner, other *Server) {
	ctx := context.Background()
	if _, err := other.RunSQL(ctx, "SELECT * FROM gradient('loss', NULL::w)"); err != nil {
		t.Errorf("the installer's text for another user: %v", err)
	}
	runAll(t, owner, "ALTER TABLE x ENABLE ROW LEVEL SECURITY")
	if _, err := other.RunSQL(ctx, "SELECT * FROM gradient('loss', NULL::w)"); err == nil ||
		!strings.Contains(err.Error(), "was compiled by relgrad") {
		t.Errorf("the installer's text over a table with row-level security: %v", err)
	}
	runAll(t, owner, "ALTER TABLE x DISABLE ROW LEVEL SECURITY")
	if err := other.CompileText(ctx, "loss", "b"); err != nil {
		t.Fatal(err)
	}
	if _, err := other.RunSQL(ctx, "SELECT * FROM gradient('loss', NULL::b)"); err != nil {
		t.Error(err)
	}
	if err := owner.remote.Script(ctx,
		"CREATE ROLE third LOGIN; GRANT SELECT ON w, b, x, loss, guess TO third"); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"relgrad", "third"} { // the first is a superuser, who sees all rows
		runAll(t, owner, "SET ROLE "+role)
		if _, err := owner.RunSQL(ctx, "SELECT * FROM gradient('loss', NULL::b)"); err == nil ||
			!strings.Contains(err.Error(), "is not compiled") {
			t.Errorf("%s runs another user's text: %v", role, err)
		}
	}
	runAll(t, owner, "RESET ROLE")
	if _, err := other.RunSQL(ctx,
		"INSERT INTO relgrad.compiled (loss, param, path, draws, value, gradient, definitions, owner) VALUES "+
			"('public.loss', 'w', '', false, '', '', '[]', 'relgrad')"); err == nil {
		t.Error("a user may write texts in another's name")
	}
}
