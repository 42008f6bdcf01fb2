package relgrad

import (
	"context"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/train"
)

const targetTables = `
CREATE TABLE p (id int PRIMARY KEY, x double precision, y double precision, k double precision);
INSERT INTO p SELECT i, i / 2.0, 0.25 + i / 16.0, 1 FROM generate_series(1, 4) AS g(i);
CREATE TABLE w (id int PRIMARY KEY, a double precision);
INSERT INTO w VALUES (1, 0.5);
CREATE TABLE mu (id int PRIMARY KEY, m double precision);
INSERT INTO mu VALUES (1, 0.25);
CREATE TABLE q (id int PRIMARY KEY, x double precision[], y double precision[]);
INSERT INTO q VALUES (1, '{1,2}', '{3,4}'), (2, '{1,1}', '{0,1}');
CREATE TABLE m (id int PRIMARY KEY, v double precision[]);
INSERT INTO m VALUES (1, '{{1,2},{0,1}}');
CREATE TABLE r (i int, j int, y double precision, o double precision, PRIMARY KEY (i, j));
INSERT INTO r SELECT i, j, i * j, 0 FROM generate_series(1, 3) AS g(i), generate_series(1, 4) AS h(j);
CREATE TABLE u (i int PRIMARY KEY, v double precision[], b double precision);
INSERT INTO u SELECT i, '{1,2}', 0 FROM generate_series(1, 3) AS g(i);
CREATE TABLE h (j int PRIMARY KEY, v double precision[], b double precision);
INSERT INTO h SELECT j, '{1,2}', CASE WHEN j > 1 THEN 0 END FROM generate_series(1, 4) AS g(j);
CREATE VIEW residual AS SELECT p.id, p.y - w.a * p.x AS e FROM p, w;
CREATE VIEW logit AS SELECT p.id, p.y, w.a * p.x AS z FROM p, w;
CREATE VIEW model AS SELECT p.id, sum(w.a * p.x) AS z FROM p, w GROUP BY p.id;
`

// targetCases are losses, what of them is trained, and which column looks like data.
var targetCases = []struct {
	loss   string
	params []string
	trains string
	data   string
}{
	{"SELECT avg((p.y - w.a * p.x) ^ 2) FROM p, w", []string{"w", "p.x", "p.y"}, "w.a (1), p.x, p.y (4)", "p.y"},
	{"SELECT avg(power(w.a * p.x - p.y, 2)) FROM p, w", []string{"w", "p.y"}, "w.a (1), p.y (4)", "p.y"},
	{"SELECT sum(abs(w.a * p.x - coalesce(p.y, 0))) FROM p, w WHERE p.y IS NOT NULL AND p.y > 0", []string{"w", "p.y"},
		"w.a (1), p.y (4)", "p.y"},
	{"SELECT sum(e * e) FROM residual", []string{"w", "p.y"}, "w.a (1), p.y (4)", "p.y"},
	{"SELECT sqrt(avg(e ^ 2)) + 0.1 * (SELECT sum(a ^ 2) FROM w) FROM residual", []string{"w", "p.y"}, "w.a (1), p.y (4)",
		"p.y"},
	{"SELECT sum(CASE WHEN id > 1 THEN 0.5 * huber(e, 1) ELSE 0 END) FROM residual", []string{"w", "p.y"},
		"w.a (1), p.y (4)", "p.y"},
	{"SELECT sum((k * e) ^ 2) FROM residual JOIN p USING (id)", []string{"w", "p.y"}, "w.a (1), p.y (4)", "p.y"},
	{"SELECT sum((p.y - z) ^ 2) FROM p JOIN model USING (id)", []string{"w", "p.y"}, "w.a (1), p.y (4)", "p.y"},
	{"SELECT -sum(y * ln(sigmoid(z)) + (1 - y) * ln(1 - sigmoid(z))) FROM logit", []string{"w", "p.y"}, "w.a (1), p.y (4)",
		"p.y"},
	{"SELECT sum(bce_with_logits(z, y)) FROM logit", []string{"w", "p.y"}, "w.a (1), p.y (4)", "p.y"},
	{"SELECT sum(mse(matmul(m.v, q.x), q.y)) FROM q, m", []string{"m", "q"}, "m.v (4), q.x, q.y (4)", "q.y"},
	{"SELECT sum(sqnorm(q.y - matmul(m.v, q.x))) FROM q, m", []string{"m", "q.y"}, "m.v (4), q.y (4)", "q.y"},
	{"SELECT -sum(dot(q.y, log_softmax(matmul(m.v, q.x)))) FROM q, m", []string{"m", "q.y"}, "m.v (4), q.y (4)", "q.y"},
	{"SELECT sum((r.y - dot(u.v, h.v)) ^ 2) FROM r JOIN u USING (i) JOIN h USING (j)", []string{"u.v", "h.v", "r.y"},
		"u.v (6), h.v (8), r.y (12)", "r.y"},
	{"SELECT avg((p.y - (mu.m + w.a * p.x)) ^ 2) FROM p, w, mu", []string{"w", "p.y"}, "w.a (1), p.y (4)", "p.y"},
	{"SELECT sum((r.y - mu.m - dot(u.v, h.v) - u.b - h.b) ^ 2) FROM r JOIN u USING (i) JOIN h USING (j), mu WHERE j > 1",
		[]string{"u", "h", "r.y"}, "u.v (6), u.b (3), h.v (8), h.b (3), r.y (12)", "r.y"},

	// data that are none of the parameters, biases, regularized and latent values, and what two models share
	{"SELECT avg((p.y - w.a * p.x) ^ 2) FROM p, w", []string{"w"}, "w.a (1)", ""},
	{"SELECT avg((p.y - w.a * p.x) ^ 2) FROM p, w", []string{"p.y"}, "p.y (4)", ""},
	{"SELECT avg((p.y - w.a * p.x) ^ 2) FROM p, w", []string{"w", "p.x"}, "w.a (1), p.x (4)", ""},
	{"SELECT avg((p.y - w.a * p.x) ^ 2) + 0.1 * (SELECT sum(y ^ 2) FROM p) FROM p, w", []string{"w", "p.y"},
		"w.a (1), p.y (4)", ""},
	{"SELECT sum((r.y - dot(u.v, h.v) - u.b - h.b) ^ 2) FROM r JOIN u USING (i) JOIN h USING (j) WHERE j > 1",
		[]string{"u", "h"}, "u.v (6), u.b (3), h.v (8), h.b (3)", ""},
	{"SELECT sum((r.y - dot(u.v, h.v) - r.o) ^ 2) FROM r JOIN u USING (i) JOIN h USING (j)", []string{"u.v", "h.v", "r.o"},
		"u.v (6), h.v (8), r.o (12)", ""},
	{"SELECT sum((r.y - mu.m - dot(u.v, h.v) - r.o) ^ 2) FROM r JOIN u USING (i) JOIN h USING (j), mu",
		[]string{"u.v", "h.v", "r.o"}, "u.v (6), h.v (8), r.o (12)", ""},
	{"SELECT sum((u.b - h.b) ^ 2) FROM u JOIN h ON u.i = h.j", []string{"u.b", "h.b"}, "u.b (3), h.b (3)", ""},
	{"SELECT sum(norm(u.v + h.v - t.v)) FROM r JOIN u USING (i) JOIN h USING (j) JOIN u AS t ON t.i = (r.j % 3) + 1",
		[]string{"u.v", "h.v"}, "u.v (6), h.v (8)", ""},
	{"SELECT sum(sqnorm(matmul(m.v, u.v) + h.v)) FROM r JOIN u USING (i) JOIN h USING (j), m", []string{"u.v", "h.v", "m"},
		"u.v (6), h.v (8), m.v (4)", ""},
}

// TestTargets: train says what it trains, and which of it looks like data.
func TestTargets(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, targetTables)
	t.Run("store", func(t *testing.T) { checkTargets(t, db.Engine) })
	if testing.Short() {
		return
	}
	s := startServer(t)
	if err := s.remote.Script(context.Background(), targetTables); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{engine.ModeChunk, engine.ModeSQL} {
		t.Run(mode, func(t *testing.T) {
			s.Mode = mode
			checkTargets(t, s.Engine)
		})
	}
}

func checkTargets(t *testing.T, db *Engine) {
	ctx := context.Background()
	var said []string
	db.Notice = func(level, message string) { said = append(said, level+": "+message) }
	// told asserts what the call before has said.
	told := func(loss, trains, data string) {
		t.Helper()
		all := strings.Join(said, "\n")
		if !strings.Contains(all, ", trains "+trains+", optimizer") {
			t.Errorf("%s: not said: trains %s\n%s", loss, trains, all)
		}
		warned := strings.Count(all, "WARNING: ")
		if data == "" && warned > 0 || data != "" && (warned != 1 ||
			!strings.Contains(all, "WARNING: train: parameter "+data+" looks like data: ")) {
			t.Errorf("%s: %d warnings, expected one about %q\n%s", loss, warned, data, all)
		}
	}
	for _, c := range targetCases {
		said = nil
		config := train.Default()
		config.Epochs, config.LR, config.MaxSeconds = 2, 1e-9, 1e-9
		run, err := db.Train(ctx, c.loss, c.params, config)
		if err != nil {
			t.Errorf("%s: %v", c.loss, err)
			continue
		}
		told(c.loss, c.trains, c.data)
		said = nil
		if _, err := db.Resume(ctx, run); err != nil {
			t.Errorf("%s: resuming: %v", c.loss, err)
			continue
		}
		told(c.loss+", resumed", c.trains, c.data)
	}
	said = nil
	config := train.Default()
	config.Epochs = 1
	config.Options = map[string]train.ParamOptions{"p": {Where: "id > 1"}}
	if _, err := db.Train(ctx, targetCases[0].loss, targetCases[0].params, config); err != nil {
		t.Fatal(err)
	}
	told("with frozen rows", "w.a (1), p.x, p.y (3)", "p.y")
}
