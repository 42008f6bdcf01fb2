package relgrad

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/train"
)

// examples makes a regression of 23 examples with text and integer keys over an embedding of their colours; insert
// is the order of the rows in the table.
func examples(insert []int) string {
	var rows []string
	for _, i := range insert {
		rows = append(rows, fmt.Sprintf("('%c', %d, %d, %g, %g)", 'a'+i%3, i, i%5, float64(i)/7, math.Sin(float64(i))))
	}
	return `
CREATE TABLE example (part text, n int, colour int, x double precision, y double precision, PRIMARY KEY (part, n));
INSERT INTO example VALUES ` + strings.Join(rows, ", ") + `;
CREATE TABLE shade (colour int PRIMARY KEY, s double precision[]);
INSERT INTO shade SELECT c, random_normal(ARRAY[3], 1, ARRAY[c]) FROM generate_series(0, 4) AS g(c);
CREATE TABLE line (id int PRIMARY KEY, a double precision, b double precision);
INSERT INTO line VALUES (1, 0.1, -0.2);
CREATE VIEW guess AS SELECT e.part, e.n, e.y, l.a * e.x + l.b + sum_elements(dropout(s.s, 0.3)) / 10 AS z
    FROM line l, example e JOIN shade s USING (colour);
CREATE VIEW loss AS SELECT avg((y - z) ^ 2) + 0.01 * (SELECT count(*) FROM example) FROM guess;
CREATE VIEW whole AS SELECT avg((e.y - (l.a * e.x + l.b)) ^ 2) FROM example e, line l;
`
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// trained reads the losses of run 1 and the parameters, bit for bit.
func trained(t *testing.T, db *DB) []any {
	t.Helper()
	var out []any
	for _, q := range []string{"SELECT step, epoch, loss, validation FROM relgrad.loss WHERE run = 1 ORDER BY step",
		"SELECT s FROM shade ORDER BY colour", "SELECT a, b FROM line"} {
		for _, row := range mustRun(t, db, q).Rows {
			out = append(out, row...)
		}
	}
	return out
}

// byHand lists the batches of an epoch: the keys in order, permuted and cut.
func byHand(seed, epoch int64, size int) [][]string {
	var keys []string
	for _, part := range "abc" {
		for i := range 23 {
			if 'a'+rune(i%3) == part {
				keys = append(keys, fmt.Sprintf("('%c', %d)", part, i))
			}
		}
	}
	var out [][]string
	for at, i := range train.Permutation(seed, epoch, len(keys)) {
		if at%size == 0 {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], keys[i])
	}
	return out
}

// TestBatchesByHand: two epochs are steps over tables that hold one batch each.
func TestBatchesByHand(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, examples(upTo(23))+"CALL train('loss', ARRAY['line', 'shade'], optimizer => 'sgd', lr => 0.1, "+
		"epochs => 2, seed => 5, batch => 'example', batch_size => 6)")
	got := mustRun(t, db, "SELECT epoch, loss FROM relgrad.loss ORDER BY step").Rows
	if len(got) != 8 {
		t.Fatalf("%d steps for two epochs of 23 rows, 6 a step", len(got))
	}
	hand := open(t, "")
	setup := strings.Replace(examples(upTo(23)), "CREATE TABLE shade", `CREATE TABLE chosen (part text, n int,
    PRIMARY KEY (part, n));
ALTER TABLE example RENAME TO everything;
CREATE VIEW example AS SELECT e.* FROM everything e JOIN chosen USING (part, n);
CREATE TABLE shade`, 1)
	mustRun(t, hand, setup)
	step := 0
	for epoch := int64(1); epoch <= 2; epoch++ {
		batches := byHand(5, epoch, 6)
		if n := len(slices.Concat(batches...)); len(batches) != 4 || n != 23 || len(batches[3]) != 5 {
			t.Fatalf("epoch %d has %d batches of %d rows", epoch, len(batches), n)
		}
		for _, keys := range batches {
			step++
			mustRun(t, hand, "DELETE FROM chosen; INSERT INTO chosen VALUES "+strings.Join(keys, ", "))
			x := mustRun(t, hand, fmt.Sprintf("SELECT backward('loss', ARRAY['line', 'shade'], step => %d, seed => 5)", step)).
				Rows[0][0].(float64)
			mustRun(t, hand, `UPDATE line SET a = line.a - 0.1 * g.a, b = line.b - 0.1 * g.b FROM line_grad g
    WHERE g.id = line.id;
UPDATE shade SET s = shade.s - 0.1 * g.s FROM shade_grad g WHERE g.colour = shade.colour`)
			if g := got[step-1]; g[0] != epoch || math.Abs(g[1].(float64)-x) > 1e-12*math.Abs(x) {
				t.Errorf("step %d: epoch %v, loss %v; by hand epoch %d, loss %v", step, g[0], g[1], epoch, x)
			}
		}
	}
	if a, b := byHand(5, 1, 6), byHand(5, 2, 6); reflect.DeepEqual(a, b) {
		t.Error("two epochs have the same batches")
	}
}

const trainExamples = "CALL train('loss', ARRAY['line', 'shade'], lr => 0.01, epochs => 7, seed => 5, batch => " +
	"'example', batch_size => 5, validate => 'whole', every => 2, tolerance => 0.0001)"

// TestBatchesRepeat: neither the order of rows in the table nor the number of workers nor a cancel amid an epoch
// changes a bit.
func TestBatchesRepeat(t *testing.T) {
	whole := open(t, "")
	mustRun(t, whole, examples(upTo(23))+trainExamples)
	want := trained(t, whole)
	t.Run("other order", func(t *testing.T) {
		order := upTo(23)
		slices.Reverse(order)
		order[3], order[11] = order[11], order[3]
		db := open(t, "")
		db.Workers = 1
		mustRun(t, db, examples(order)+trainExamples)
		got, want := trained(t, db), slices.Clone(want)
		for i := 3; i < 4*35; i += 4 { // a validation sums over the whole table, in its order
			if a, b := got[i], want[i]; (a == nil) != (b == nil) || a != nil && math.Abs(a.(float64)-b.(float64)) > 1e-12 {
				t.Errorf("validation %v, in the other order %v", b, a)
			}
			got[i], want[i] = nil, nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v\n%v", got, want)
		}
	})
	t.Run("resumed", func(t *testing.T) {
		db := open(t, "")
		db.Workers = 2
		mustRun(t, db, examples(upTo(23)))
		for i, at := range []int64{3, 17} {
			ctx, cancel := context.WithCancel(context.Background())
			db.OnStep = func(row train.LossRow, steps int64) {
				if steps != 35 {
					t.Errorf("a run of %d steps", steps)
				}
				if row.Step == at {
					cancel()
				}
			}
			if _, err := db.Run(ctx, []string{trainExamples, "CALL train(resume => 1)"}[i]); err == nil {
				t.Fatal("the cancelled run gave no error")
			}
			cancel()
		}
		mustRun(t, db, "CALL train(resume => 1)")
		if got := trained(t, db); !reflect.DeepEqual(got, want) {
			t.Errorf("%v\n%v", got, want)
		}
	})
	t.Run("other rows", func(t *testing.T) {
		db := open(t, "")
		mustRun(t, db, examples(upTo(23)))
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		db.OnStep = func(train.LossRow, int64) { cancel() }
		if _, err := db.Run(ctx, trainExamples); err == nil {
			t.Fatal("the cancelled run gave no error")
		}
		mustRun(t, db, "INSERT INTO example VALUES ('z', 1, 1, 1, 1)")
		if _, err := db.Run(context.Background(), "CALL train(resume => 1)"); err == nil ||
			!strings.Contains(err.Error(), "its batch have other rows") {
			t.Errorf("error %v", err)
		}
	})
}

// TestBatchOfAll: a batch larger than the table is the table, in one step an epoch.
func TestBatchOfAll(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, examples(upTo(23))+"CALL train('loss', ARRAY['line'], epochs => 3, seed => 5, batch => 'example', "+
		"batch_size => 1000)"+
		"; UPDATE line SET a = 0.1, b = -0.2; CALL train('loss', ARRAY['line'], epochs => 3, seed => 5)")
	runs := map[any][]float64{}
	for _, row := range mustRun(t, db, "SELECT run, loss FROM relgrad.loss ORDER BY run, step").Rows {
		runs[row[0]] = append(runs[row[0]], row[1].(float64))
	}
	a, b := runs[int64(1)], runs[int64(2)]
	if len(a) != 3 || len(b) != 3 {
		t.Fatalf("%v %v", a, b)
	}
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-12 {
			t.Errorf("step %d: %v as one batch, %v without", i+1, a[i], b[i])
		}
	}
}

// TestBatchIsView: references to the view are restricted, those to its table are not.
func TestBatchIsView(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, examples(upTo(23))+`
CREATE VIEW few AS SELECT n AS number, part AS piece, x, y FROM example WHERE colour < 3;
CREATE VIEW counts AS SELECT 0 * l.a + 1000 * (SELECT count(*) FROM few) + (SELECT count(*)
    FROM example) + 1e6 * (SELECT count(DISTINCT n) FROM example) FROM line l;
CALL train('counts', ARRAY['line.a'], epochs => 1, batch => 'few', batch_size => 4)`)
	var got []any
	for _, row := range mustRun(t, db, "SELECT loss FROM relgrad.loss ORDER BY step").Rows {
		got = append(got, row[0])
	}
	if want := []any{23004023.0, 23004023.0, 23004023.0, 23003023.0}; !reflect.DeepEqual(got, want) { // 15 of 23 rows
		t.Errorf("losses %v, expected %v", got, want)
	}
}

// TestBatchOfParameter: the batch may be a parameter's table; rows outside it have no gradient.
func TestBatchOfParameter(t *testing.T) {
	for _, option := range []string{"optimizer => 'sgd'", "sparse => true, weight_decay => 0.1"} {
		db := open(t, "")
		mustRun(t, db, `CREATE TABLE word (id int PRIMARY KEY, v double precision[]);
INSERT INTO word SELECT i, random_normal(ARRAY[2], 1, ARRAY[i]) FROM generate_series(1, 50) AS g(i);
CREATE TABLE before AS SELECT * FROM word;
CREATE VIEW loss AS SELECT sum(sqnorm(v)) FROM word;
CALL train('loss', ARRAY['word'], lr => 0.1, epochs => 1, max_seconds => 1e-9, seed => 2, batch => 'word',
    batch_size => 8, `+option+`)`)
		var moved []int
		for _, row := range mustRun(t, db, "SELECT w.id FROM word w JOIN before b USING (id) WHERE w.v <> b.v ORDER BY id").
			Rows {
			moved = append(moved, int(row[0].(int64)))
		}
		var want []int
		for _, i := range train.Permutation(2, 1, 50)[:8] {
			want = append(want, int(i)+1)
		}
		slices.Sort(want)
		if !slices.Equal(moved, want) {
			t.Errorf("%s: the first step moved %v, its batch is %v", option, moved, want)
		}
	}
}

// TestCheckOfBatch: a check over a batch is one of the loss over a table that holds the rows of the step.
func TestCheckOfBatch(t *testing.T) {
	ctx, db := context.Background(), open(t, "")
	mustRun(t, db, examples(upTo(23))+"CREATE TABLE taken (part text, n int, x double precision, y double precision, "+
		"PRIMARY KEY (part, n))")
	batches := slices.Concat(byHand(5, 1, 6), byHand(5, 2, 6))
	for i, rows := range batches {
		mustRun(t, db, "DELETE FROM taken; INSERT INTO taken SELECT part, n, x, y FROM example WHERE (part, n) IN ("+
			strings.Join(rows, ", ")+")")
		step := int64(i + 1)
		got, err := db.Check(ctx, "whole", "line", engine.CheckOptions{Samples: 10, Step: &step, Seed: 5, Batch: "example",
			BatchSize: 6})
		if err != nil {
			t.Fatal(err)
		}
		want, err := db.Check(ctx, "SELECT avg((e.y - (l.a * e.x + l.b)) ^ 2) FROM taken e, line l", "line",
			engine.CheckOptions{Samples: 10})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 2 || len(want) != 2 {
			t.Fatalf("step %d: %d and %d elements", step, len(got), len(want))
		}
		of := map[string]float64{}
		for _, r := range want {
			of[r.Column] = r.Analytic
		}
		for _, r := range got {
			if !r.OK || math.Abs(r.Analytic-of[r.Column]) > 1e-14 {
				t.Errorf("step %d: %s: %+v, over a table of its rows %v", step, r.Column, r, of[r.Column])
			}
		}
	}
	res := mustRun(t, db,
		"SELECT count(*), bool_and(ok) FROM check_gradient('loss', 'shade', step => 3, seed => 5, batch => 'example', "+
			"batch_size => 6)")
	if fmt.Sprint(res.Rows[0]) != "[15 true]" {
		t.Errorf("check_gradient: %v", res.Rows[0])
	}
}

// TestBatchReducesAggregates: what is aggregated for the rows of a batch is aggregated for them alone, through views
// and joins.
func TestBatchReducesAggregates(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, `CREATE TABLE node (node int PRIMARY KEY, x double precision, y double precision, train boolean);
INSERT INTO node SELECT i, i / 100.0, sin(i), i % 2 = 0 FROM generate_series(0, 99) AS g(i);
CREATE TABLE edge (src int, dst int, PRIMARY KEY (src, dst));
INSERT INTO edge SELECT (i * 7 + j) % 100, i FROM generate_series(0, 99) AS g(i), generate_series(1, 5) AS h(j);
CREATE TABLE w (id int PRIMARY KEY, v double precision);
INSERT INTO w VALUES (1, 0.5);
CREATE VIEW one AS SELECT e.dst AS node, sum(tanh(n.x * w.v)) AS s FROM edge e JOIN node n ON n.node = e.src CROSS
    JOIN w GROUP BY e.dst;
CREATE VIEW two AS SELECT e.dst AS node, sum(one.s * w.v) AS s FROM edge e JOIN one ON one.node = e.src CROSS JOIN w
    GROUP BY e.dst;
CREATE VIEW chosen AS SELECT node, y FROM node WHERE train;
CREATE VIEW shifted AS SELECT node, s + v AS s FROM two CROSS JOIN w;
CREATE VIEW loss AS SELECT avg((y - s) ^ 2) FROM shifted JOIN chosen USING (node)`)
	text, err := db.Analyze(context.Background(), "loss", []string{"w"}, "chosen", 4)
	if err != nil {
		t.Fatal(err)
	}
	_, steps, _ := strings.Cut(text, "structure of a step")
	for line := range strings.Lines(steps) {
		if rows := regexp.MustCompile(`over (\d+) rows`).FindStringSubmatch(line); rows != nil {
			if n, _ := strconv.Atoi(rows[1]); n > 4*5*5 {
				t.Errorf("more than the 100 edges behind 4 nodes: %s", line)
			}
		}
	}
	if t.Failed() || steps == "" {
		t.Log(text)
		t.Error("the whole graph is computed for a batch of 4 nodes")
	}
}

// turned makes a regression of points that matrices turn, one of them for many points; some have none.
const turned = `
CREATE TABLE point (id int PRIMARY KEY, turn int, x double precision[], y double precision[]);
INSERT INTO point SELECT i, CASE WHEN i % 7 > 0 THEN 10 * ((5 * i) % 3) END, random_normal(ARRAY[2], 1, ARRAY[i]),
    random_normal(ARRAY[2], 2, ARRAY[i]) FROM generate_series(1, 40) AS g(i);
CREATE TABLE turn (id int PRIMARY KEY, m double precision[]);
INSERT INTO turn SELECT 10 * i, random_normal(ARRAY[2, 2], 3, ARRAY[i]) FROM generate_series(0, 2) AS g(i);
CREATE VIEW late AS SELECT id AS n, turn AS by, x, y FROM point WHERE id > 9;
CREATE VIEW loss AS SELECT avg(sqnorm(matmul(p.x, t.m) - p.y)) FROM point p JOIN turn t ON t.id = p.turn;
CREATE VIEW late_loss AS SELECT avg(sqnorm(matmul(l.x, t.m) - l.y)) FROM late l JOIN turn t ON l.by = t.id;
CREATE VIEW plain AS SELECT avg(sqnorm(p.x - p.y)) + 0.1 * (SELECT sum(sqnorm(m)) FROM turn) FROM point p;
CREATE VIEW made AS SELECT id, 10 * (id / (id - 3)) AS by, x, y FROM point WHERE turn < 50;
CREATE VIEW made_loss AS SELECT avg(sqnorm(matmul(p.x, t.m) - p.y)) FROM made p JOIN turn t ON t.id = p.by
    WHERE p.id > 3;
CREATE TABLE own (id int PRIMARY KEY, m double precision[]);
INSERT INTO own SELECT i, random_normal(ARRAY[2, 3], 4, ARRAY[i]) FROM generate_series(1, 40) AS g(i);
CREATE VIEW own_loss AS SELECT avg(sqnorm(matmul(matmul(p.x, t.m) - p.y, o.m))) FROM point p JOIN own o ON o.id = p.id
    JOIN turn t ON t.id = p.turn;
`

// TestBatchNearMatrices: the rows of a step are those that are drawn, and those that share a matrix follow each other.
func TestBatchNearMatrices(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		loss, batch, near string
		first             int64
	}{{"loss", "point", "turn", 1}, {"late_loss", "late", "by", 10}, {"plain", "point", "", 1},
		{"own_loss", "point", "turn", 1}, {"made_loss", "made", "", 0}} {
		db := open(t, "")
		mustRun(t, db, turned)
		config := train.Default()
		config.Batch, config.BatchSize, config.Seed = c.batch, 15, 5
		batch, err := db.core.OpenBatch(ctx, &config, []string{"turn"})
		if err != nil {
			t.Fatal(err)
		}
		compiled, err := db.core.Compile(ctx, engine.Request{Loss: c.loss, Params: []string{"turn"}, Draw: true,
			Batch: batch.Batch})
		if err != nil {
			t.Fatal(err)
		}
		compiled.Prog.Close()
		if batch.Near != c.near {
			t.Errorf("rows of %s are ordered by %q, not %q", c.loss, batch.Near, c.near)
		}
		if c.first == 0 { // the column is computed, which fails for a row that the loss does not read
			continue
		}
		keys, err := batch.Rows(&kernels.Env{Seed: 5, Step: 2})
		if err != nil {
			t.Fatal(err)
		}
		var want []int64
		for _, i := range train.Permutation(5, 1, batch.N)[15:30] {
			want = append(want, c.first+int64(i))
		}
		by := func(id int64) int64 {
			switch {
			case c.near == "":
				return 0
			case id%7 == 0:
				return -1 // NULL
			}
			return 5 * id % 3
		}
		slices.SortFunc(want, func(a, b int64) int { return cmp.Or(cmp.Compare(by(a), by(b)), cmp.Compare(a, b)) })
		if !slices.Equal(keys[0].I64(), want) {
			t.Errorf("the rows of %s are %v, not %v", c.loss, keys[0].I64(), want)
		}
	}
}

// TestBatchNearMatricesTrains: batches of all rows, which stand in another order, train as no batches do.
func TestBatchNearMatricesTrains(t *testing.T) {
	var want []any
	for _, batch := range []string{"", ", batch => 'point', batch_size => 40"} {
		db := open(t, "")
		mustRun(t, db, turned+"CALL train('loss', ARRAY['turn'], optimizer => 'sgd', lr => 0.1, epochs => 3"+batch+")")
		var got []any
		for _, row := range mustRun(t, db, "SELECT id, sum_elements(m), sqnorm(m) FROM turn ORDER BY id").Rows {
			got = append(got, row...)
		}
		if want == nil {
			want = got
		}
		for i, x := range got {
			if y, ok := x.(float64); ok && math.Abs(y-want[i].(float64)) > 1e-12*math.Abs(y) {
				t.Errorf("%v with batches, %v without", got, want)
				break
			}
		}
		if len(got) != 9 {
			t.Fatalf("%d numbers: %v", len(got), got)
		}
	}
}

// TestBatchOfRecurrence: a recurrence without parameters that starts from the rows of the step runs over these alone.
func TestBatchOfRecurrence(t *testing.T) {
	setup := `CREATE TABLE goal (seq int PRIMARY KEY, y double precision);
INSERT INTO goal SELECT i, sin(i) FROM generate_series(1, 10) AS g(i);
CREATE TABLE token (seq int, t int, x double precision, PRIMARY KEY (seq, t));
INSERT INTO token SELECT seq, t, cos(seq * t) FROM goal CROSS JOIN generate_series(1, 6) AS g(t) WHERE t < 3 + seq % 4;
CREATE TABLE cell (id int PRIMARY KEY, u double precision, v double precision);
INSERT INTO cell VALUES (1, 0.3, 0.7);
CREATE TABLE head (id int PRIMARY KEY, w double precision);
INSERT INTO head VALUES (1, 0.2);
`
	views := `CREATE VIEW state AS WITH RECURSIVE s(seq, t, h) AS (
    SELECT seq, 0, 0 * y FROM goal
    UNION ALL SELECT x.seq, x.t, tanh(u * x.x + v * s.h) FROM s JOIN token x ON x.seq = s.seq AND x.t = s.t + 1
    CROSS JOIN cell) SELECT * FROM s;
CREATE VIEW loss AS SELECT avg((h * w - y) ^ 2) FROM state JOIN goal USING (seq) CROSS JOIN head WHERE t > 0;
`
	db, hand := open(t, ""), open(t, "")
	mustRun(t, db, setup+views+"CALL train('loss', ARRAY['head'], optimizer => 'sgd', lr => 0.1, epochs => 2, seed => 3, "+
		"batch => 'goal', batch_size => 4)")
	mustRun(t, hand, setup+`CREATE TABLE chosen (seq int PRIMARY KEY);
ALTER TABLE goal RENAME TO everything;
CREATE VIEW goal AS SELECT e.* FROM everything e JOIN chosen USING (seq);
`+views)
	losses := mustRun(t, db, "SELECT loss FROM relgrad.loss ORDER BY step").Rows
	if len(losses) != 6 {
		t.Fatalf("%d steps for two epochs of 10 rows, 4 a step", len(losses))
	}
	for i, row := range losses {
		mustRun(t, hand, "DELETE FROM chosen")
		rows := train.Permutation(3, int64(i/3+1), 10)[4*(i%3):]
		for _, k := range rows[:min(4, len(rows))] {
			mustRun(t, hand, fmt.Sprintf("INSERT INTO chosen VALUES (%d)", k+1))
		}
		x := mustRun(t, hand, fmt.Sprintf("SELECT backward('loss', ARRAY['head'], step => %d, seed => 3)", i+1)).Rows[0][0]
		mustRun(t, hand, "UPDATE head SET w = head.w - 0.1 * g.w FROM head_grad g WHERE g.id = head.id")
		if want := x.(float64); want == 0 || math.Abs(row[0].(float64)-want) > 1e-12 {
			t.Errorf("step %d: loss %v, by hand %v", i+1, row[0], want)
		}
	}
}
