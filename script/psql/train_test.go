package psql

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/tensor"
	"github.com/relgrad/relgrad/train"
)

// embedding is a small model whose batch a procedure draws.
const embedding = `
CREATE TABLE pair (a int, b int, PRIMARY KEY (a, b));
INSERT INTO pair SELECT a, b FROM generate_series(1, 6) AS x(a), generate_series(1, 6) AS y(b) WHERE a <> b;
CREATE TABLE entity (id int PRIMARY KEY, name text, v double precision[]);
INSERT INTO entity SELECT id, 'e' || id, random_uniform(ARRAY[4], 7, ARRAY[id]) - 0.5 FROM generate_series(1, 6)
AS g(id);
CREATE TABLE scale (k int PRIMARY KEY, x double precision);
INSERT INTO scale VALUES (1, 0.25);
CREATE TABLE batch (n int PRIMARY KEY, a int, b int);
CREATE PROCEDURE draw(size int) LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM batch;
  INSERT INTO batch SELECT row_number() OVER (ORDER BY (random_uniform(ARRAY[1], current_seed(), ARRAY[current_step(),
a, b]))[1]), a, b FROM pair;
  DELETE FROM batch WHERE n > size;
END $$;
CREATE VIEW loss AS SELECT sum((dot(x.v, y.v) - s.x) ^ 2) + 0.1 * sum(sqnorm(x.v)) AS loss FROM batch
JOIN entity x ON x.id = a JOIN entity y ON y.id = b CROSS JOIN scale s;
`

// on opens a store, runs a script on it and returns what it printed.
func on(t *testing.T, db *relgrad.DB, ctx context.Context, sql string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	r := NewRunner(script.Embedded(db),
		Options{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Quiet: true, Format: FormatUnaligned})
	defer r.Close()
	db.Notice = func(level, message string) {}
	err := r.RunReader(ctx, "test.sql", strings.NewReader(sql))
	return out.String(), err
}

func openAt(t *testing.T, path string) *relgrad.DB {
	t.Helper()
	db, err := relgrad.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// vectors reads a chunk column in the order of a query.
func vectors(t *testing.T, db *relgrad.DB, sql string) []float64 {
	t.Helper()
	res, err := db.Run(context.Background(), sql)
	if err != nil {
		t.Fatal(err)
	}
	var out []float64
	for _, row := range res.Rows {
		switch v := row[0].(type) {
		case *tensor.Tensor:
			out = append(out, v.Data...)
		case float64:
			out = append(out, v)
		}
	}
	return out
}

// trained runs the model with a training script and returns entity's values and the losses.
func trained(t *testing.T, script string) (values, losses []float64) {
	t.Helper()
	db := openAt(t, "")
	if out, err := on(t, db, context.Background(), embedding+script); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return vectors(t, db, "SELECT v FROM entity ORDER BY id"), vectors(t, db,
		"SELECT loss FROM relgrad.loss ORDER BY step")
}

// TestBeforeStep compares train with before_step with the loop that it stands for.
func TestBeforeStep(t *testing.T) {
	const loop = `DO $$ BEGIN FOR s IN 1..6 LOOP
  %s
  INSERT INTO relgrad.loss VALUES (1, s, s, backward('loss', ARRAY['entity'], step => s, seed => 3), NULL, now());
  UPDATE entity e SET v = e.v - 0.05 * g.v FROM entity_grad g WHERE g.id = e.id;
END LOOP; END $$;`
	for name, tc := range map[string]struct{ setup, hook, loop string }{
		"draws a batch":          {"", "CALL draw(10)", ""},
		"batches of other sizes": {"", "CALL draw((3 * current_step())::int)", ""},
		"writes the parameter": {"", "CALL draw(10); UPDATE entity SET v = l2_normalize(v)",
			"UPDATE entity SET v = l2_normalize(v);"},
		"writes some of its rows": {"", "CALL draw(10); UPDATE entity SET v = v * 0.5 WHERE id % 2 = current_step() % 2",
			"UPDATE entity SET v = v * 0.5 WHERE id % 2 = s % 2;"},
		"writes from its own values": {"", "CALL draw(10); UPDATE scale SET x = (SELECT avg(norm(v)) FROM entity)",
			"UPDATE scale SET x = (SELECT avg(norm(v)) FROM entity);"},
		"writes a constant late": {"",
			"CALL draw(10); DO 'BEGIN IF current_step() = 4 THEN UPDATE scale SET x = 2; END IF; END'",
			"IF s = 4 THEN UPDATE scale SET x = 2; END IF;"},
		"through dynamic SQL": {"", "CALL draw(10); DO $x$ BEGIN EXECUTE 'UPDATE sca' || 'le SET x = x + 0.1'; END $x$",
			"UPDATE scale SET x = x + 0.1;"},
		"writes an attribute of the parameter": {"CREATE OR REPLACE VIEW loss AS SELECT sum((dot(x.v, y.v) - " +
			"length(x.name)) ^ 2) AS loss FROM batch JOIN entity x ON x.id = a JOIN entity y ON y.id = b;",
			"CALL draw(10); UPDATE entity SET name = name || 'x' WHERE id = current_step()",
			"UPDATE entity SET name = name || 'x' WHERE id = s;"},
		"a sub-query over the batch": {"CREATE OR REPLACE VIEW loss AS SELECT sum((dot(x.v, y.v) - q.c) ^ 2) AS loss " +
			"FROM (SELECT a, min(b) AS b, count(DISTINCT b) AS c FROM batch GROUP BY a ORDER BY a LIMIT 4) q " +
			"JOIN entity x ON x.id = a JOIN entity y ON y.id = b;",
			"CALL draw(10)", ""},
		"another view": {"CREATE VIEW part AS SELECT * FROM batch; CREATE OR REPLACE VIEW loss AS SELECT sum((dot(x.v, " +
			"y.v) - 0.2) ^ 2) AS loss FROM part JOIN entity x ON x.id = a JOIN entity y ON y.id = b;",
			"CALL draw(10); CREATE OR REPLACE VIEW part AS SELECT * FROM batch WHERE n % 2 = 0",
			"CREATE OR REPLACE VIEW part AS SELECT * FROM batch WHERE n % 2 = 0;"},
		"a setting": {"SET my.batch = 0; CREATE OR REPLACE VIEW loss AS SELECT sum((dot(x.v, y.v) - 0.2) ^ 2) AS loss " +
			"FROM pair JOIN entity x ON x.id = a JOIN entity y ON y.id = b WHERE a % 2 = current_setting('my.batch')::int;",
			"SELECT set_config('my.batch', (current_step() % 2)::text, false)",
			"PERFORM set_config('my.batch', (s % 2)::text, false);"},
	} {
		t.Run(name, func(t *testing.T) {
			var hand string
			if strings.Contains(tc.hook, "CALL draw(10)") {
				hand = handDraw("10")
			} else if strings.Contains(tc.hook, "CALL draw(") {
				hand = handDraw("3 * s")
			}
			values, losses := trained(t, tc.setup+fmt.Sprintf("CALL train('loss', ARRAY['entity'], optimizer => 'sgd', lr => "+
				"0.05, epochs => 6, seed => 3, before_step => $h$%s$h$);", tc.hook))
			want, wantLosses := trained(t, tc.setup+fmt.Sprintf(loop, hand+tc.loop))
			agree(t, "values", values, want)
			agree(t, "losses", losses, wantLosses)
		})
	}
}

// handDraw is the procedure draw at step s with seed 3, without current_step(), which is 0 in a loop.
func handDraw(size string) string {
	return `DELETE FROM batch;
  INSERT INTO batch SELECT row_number() OVER (ORDER BY (random_uniform(ARRAY[1], 3, ARRAY[s, a, b]))[1]), a, b
FROM pair;
  DELETE FROM batch WHERE n > ` + size + ";\n"
}

func agree(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) || len(got) == 0 {
		t.Fatalf("%d %s, expected %d", len(got), what, len(want))
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-12*math.Max(1, math.Abs(want[i])) {
			t.Fatalf("%s differ: %v\nby hand %v", what, got, want)
		}
	}
}

// TestBeforeStepValidates: a validation over the batch is that of the present batch.
func TestBeforeStepValidates(t *testing.T) {
	db := openAt(t, "")
	out, err := on(t, db, context.Background(), embedding+`
CREATE VIEW validation AS SELECT sum(n * 1.0::double precision) AS v FROM batch;
CALL train('loss', ARRAY['entity'], epochs => 4, validate => 'validation',
before_step => 'CALL draw(current_step()::int)');
SELECT step, validation FROM relgrad.loss ORDER BY step;`)
	if want := "step|validation\n1|1\n2|3\n3|6\n4|10\n(4 rows)\n"; err != nil || out != want {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestBeforeStepChangesTheValidation: a view that the engine ran until before_step made it one that only the store can
// run.
func TestBeforeStepChangesTheValidation(t *testing.T) {
	db := openAt(t, "")
	out, err := on(t, db, context.Background(), embedding+`
CREATE VIEW validation AS SELECT sum(sqnorm(v)) AS v FROM entity;
CREATE TABLE first AS SELECT v FROM validation;
CALL train('SELECT sum(sqnorm(v)) FROM entity', ARRAY['entity'], lr => 0, epochs => 4, validate => 'validation',
before_step => $h$DO $x$ BEGIN
  IF current_step() = 3 THEN CREATE OR REPLACE VIEW validation AS SELECT 8 * max(n) AS v
FROM (SELECT DISTINCT sqnorm(v) AS n FROM entity ORDER BY n LIMIT 1) q; END IF; END $x$ $h$);
SELECT step, abs(validation - f.v) < 1e-9 AS first, abs(validation - l.v) < 1e-9 AS last
FROM relgrad.loss, first f, validation l ORDER BY step;`)
	if want := "step|first|last\n1|t|f\n2|t|f\n3|f|t\n4|f|t\n(4 rows)\n"; err != nil || out != want {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestResumeAfterRareWrites: before_step writes a table at one step only, after which plans no more count its rows;
// those of a resumed run do not either, so that it sums in the same order.
func TestResumeAfterRareWrites(t *testing.T) {
	const setup = `
CREATE TABLE node (id int PRIMARY KEY, x double precision[]);
INSERT INTO node SELECT i, random_normal(ARRAY[8], 1, ARRAY[1, i]) FROM generate_series(1, 500) AS g(i);
CREATE TABLE edge (s int, d int, weight double precision, PRIMARY KEY (s, d));
INSERT INTO edge SELECT i * 7 % 280 + 1, i % 37 + 1, sin(i) FROM generate_series(1, 298) AS g(i);
CREATE TABLE h (id int PRIMARY KEY, v double precision[]);
INSERT INTO h SELECT i, random_normal(ARRAY[8], 1, ARRAY[2, i]) FROM generate_series(1, 500) AS g(i);
CREATE TABLE m (id int PRIMARY KEY, v double precision[][]);
INSERT INTO m SELECT 1, random_normal(ARRAY[8, 8], 1, ARRAY[3]);
CREATE VIEW sums AS SELECT e.d AS id, sum(e.weight * matmul(h.v, m.v)) AS v FROM edge e
JOIN h ON h.id = e.s CROSS JOIN m GROUP BY e.d;
CREATE VIEW loss AS SELECT avg(sqnorm(n.x - tanh(p.v))) FROM node n JOIN sums p USING (id);
CALL train('loss', ARRAY['h', 'm'], lr => 0.01, epochs => 8, before_step => $h$DO $x$
BEGIN IF current_step() = 2 THEN UPDATE edge SET weight = weight * 1.1; END IF; END $x$ $h$`
	whole, db := openAt(t, ""), openAt(t, "")
	if out, err := on(t, whole, context.Background(), setup+");"); err != nil {
		t.Fatal(err, out)
	}
	if out, err := on(t, db, context.Background(), setup+", max_seconds => 1e-9);"+
		strings.Repeat("CALL train(resume => 1);", 7)); err != nil {
		t.Fatal(err, out)
	}
	for _, q := range []string{"SELECT v FROM h ORDER BY id", "SELECT v FROM m",
		"SELECT loss FROM relgrad.loss ORDER BY step"} {
		if a, b := vectors(t, whole, q), vectors(t, db, q); fmt.Sprint(a) != fmt.Sprint(b) || len(a) == 0 {
			t.Errorf("%s differ", q)
		}
	}
}

// TestResumeBeforeStep: a run with before_step that is cancelled and resumed ends as an undisturbed one, bit for bit,
// with an optimizer that has state; before_step keeps a sum of its own that must not count a step twice.
func TestResumeBeforeStep(t *testing.T) {
	const call = `CREATE TABLE count (k int PRIMARY KEY, n int); INSERT INTO count VALUES (1, 0);
CALL train('loss', ARRAY['entity'], lr => 0.05, epochs => 40, seed => 3, schedule => 'cosine',
before_step => 'CALL draw(10 + current_step()::int % 5);
UPDATE count SET n = n + 1; UPDATE entity SET v = v * 0.99');`
	whole := openAt(t, "")
	if out, err := on(t, whole, context.Background(), embedding+call); err != nil {
		t.Fatal(err, out)
	}
	db := openAt(t, filepath.Join(t.TempDir(), "s.db"))
	ctx, cancel := context.WithCancel(context.Background())
	db.OnStep = func(row train.LossRow, _ int64) {
		if row.Step == 17 {
			cancel()
		}
	}
	if _, err := on(t, db, ctx, embedding+call); err == nil {
		t.Fatal("the cancelled run gave no error")
	}
	db.OnStep = nil
	if out, err := on(t, db, context.Background(),
		"SELECT status, step FROM relgrad.run; CALL train(resume => 1);"); err != nil ||
		!strings.Contains(out, "cancelled|17") {
		t.Fatal(err, out)
	}
	for _, q := range []string{"SELECT v FROM entity ORDER BY id", "SELECT loss FROM relgrad.loss ORDER BY step",
		"SELECT n::double precision FROM count"} {
		if a, b := vectors(t, whole, q), vectors(t, db, q); fmt.Sprint(a) != fmt.Sprint(b) || len(a) == 0 {
			t.Errorf("%s differ:\n%v\n%v", q, a, b)
		}
	}
}

// TestBeforeStepFlushesOnlyWhatIsUsed: parameters that before_step does not look at are not written at each step.
func TestBeforeStepFlushesOnlyWhatIsUsed(t *testing.T) {
	db := openAt(t, "")
	if out, err := on(t, db, context.Background(), embedding); err != nil {
		t.Fatal(err, out)
	}
	for _, tc := range []struct {
		hook   string
		writes bool
	}{{"CALL draw(10)", false}, {"CALL draw(10); SELECT count(*) FROM entity", true}} {
		var before catalog.Version
		db.OnStep = func(row train.LossRow, _ int64) {
			now, err := db.Version("public", "entity")
			if err != nil {
				t.Error(err)
			}
			if row.Step > 1 && (now != before) != tc.writes {
				t.Errorf("%s: entity is written before step %d: %v", tc.hook, row.Step, now != before)
			}
			before = now
		}
		if out, err := on(t, db, context.Background(),
			fmt.Sprintf("CALL train('loss', ARRAY['entity'], epochs => 4, before_step => '%s');", tc.hook)); err != nil {
			t.Fatal(err, out)
		}
	}
}
