package relgrad

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
	"github.com/relgrad/relgrad/train"
)

// addGroups appends the rows k, x, v, note of a table of Delta Lake, in files of some row groups each.
func addGroups(t *testing.T, dir string, from, to int64, groupRows int) {
	t.Helper()
	s := delta.NewSink(delta.NewLocal(dir), delta.Add, delta.WriteOptions{Parquet: interop.ParquetOptions{
		Rows: groupRows}})
	err := s.Begin("t", []interop.Column{{Name: "k", Type: "bigint"}, {Name: "x", Type: "double precision"},
		{Name: "v", Type: "real[]"}, {Name: "note", Type: "text"}, {Name: "day", Type: "date"}}, nil)
	for k := from; k < to && err == nil; k++ {
		x := any(float64(k%7) / 2)
		if k%11 == 3 {
			x = nil
		}
		err = s.Write([]any{k, x, []any{float64(k%5) / 4, float64(k % 3)}, fmt.Sprintf("n%d", k%4),
			fmt.Sprintf("2024-01-%02d", 1+k%28)})
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// drawnKeys lists the keys of each step of some epochs, by what the documentation says of the draw.
func drawnKeys(t *testing.T, dir string, seed int64, size, epochs int) (steps [][]int64) {
	t.Helper()
	s, err := delta.Open(delta.NewLocal(dir), delta.Latest())
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := delta.PiecesOf(s)
	if err != nil {
		t.Fatal(err)
	}
	var keys [][]int64
	for i := range pieces {
		rows, err := pieces[i].Read([]interop.Column{{Name: "k", Type: "bigint"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, nil)
		for row := make([]any, 1); ; {
			if err = rows.Next(row); err != nil {
				break
			}
			keys[i] = append(keys[i], row[0].(int64))
		}
		if err != io.EOF {
			t.Fatal(err)
		}
	}
	for epoch := 1; epoch <= epochs; epoch++ {
		var all []int64
		for _, part := range train.Permutation(seed, int64(epoch), len(keys)) {
			for _, row := range train.PermutationOf(seed, int64(epoch), int(part), len(keys[part])) {
				all = append(all, keys[part][row])
			}
		}
		for step := range slices.Chunk(all, size) {
			steps = append(steps, step)
		}
	}
	return steps
}

// streamed is a store with a table of Delta Lake of 100 rows in two files and 11 row groups, the same rows in an
// ordinary table, and losses over both.
func streamed(t *testing.T, size, epochs int) (db *DB, dir string) {
	t.Helper()
	db, dir = testDB(t), t.TempDir()
	addGroups(t, dir, 0, 50, 10)
	addGroups(t, dir, 50, 100, 9)
	mustRun(t, db, strings.ReplaceAll(`CREATE TABLE w (note text PRIMARY KEY, p double precision, q real[]);
		INSERT INTO w SELECT 'n' || k, 0.5, '{0.5,0.25}' FROM generate_series(0, 3) AS g(k);
		CREATE VIEW points AS SELECT k, 2 * x AS x, v, note, day FROM delta_table('DIR');
		CREATE VIEW loss AS SELECT avg((d.x - w.p) ^ 2) + avg(sqnorm(d.v - w.q)) AS loss
			FROM points d JOIN w USING (note) WHERE d.day < '2024-01-25';
		CREATE TABLE t (k bigint PRIMARY KEY, x double precision, v real[], note text, day date);
		INSERT INTO t SELECT * FROM delta_table('DIR');
		CREATE TABLE pick (step int, k bigint, PRIMARY KEY (step, k));
		CREATE VIEW ordinary AS SELECT avg((2 * d.x - w.p) ^ 2) + avg(sqnorm(d.v - w.q)) AS loss
			FROM pick JOIN t d USING (k) JOIN w USING (note)
			WHERE step = current_step() AND d.day < '2024-01-25'`, "DIR", dir))
	for i, step := range drawnKeys(t, dir, 3, size, epochs) {
		for _, k := range step {
			mustRun(t, db, fmt.Sprintf("INSERT INTO pick VALUES (%d, %d)", i+1, k))
		}
	}
	return db, dir
}

// TestStreamedBatches: a run over batches of a table of Delta Lake has the losses and ends with the parameters of one
// over the same rows of an ordinary table; all rows are there once in an epoch.
func TestStreamedBatches(t *testing.T) {
	const size, epochs = 16, 3
	db, _ := streamed(t, size, epochs)
	if got := answer(t, db, "SELECT count(*), count(DISTINCT k), min(n), max(n) FROM (SELECT k, count(*) AS n FROM pick "+
		"GROUP BY k) q"); got != "100 100 3 3" {
		t.Error(got)
	}
	mustRun(t, db, "CREATE TABLE first AS SELECT * FROM w; "+
		"CALL train('loss', ARRAY['w'], lr => 0.1, epochs => 3, seed => 3, batch => 'points', batch_size => 16)")
	mustRun(t, db, "CREATE TABLE ends AS SELECT * FROM w; UPDATE w SET p = f.p, q = f.q FROM first f WHERE f.note = "+
		"w.note; CALL train('ordinary', ARRAY['w'], lr => 0.1, epochs => 21, seed => 3)")
	if got := answer(t, db, "SELECT count(*), max(abs(a.loss - b.loss)) < 1e-6, min(a.epoch), max(a.epoch) FROM "+
		"relgrad.loss a JOIN relgrad.loss b USING (step) WHERE a.run = 1 AND b.run = 2"); got != "21 true 1 3" {
		t.Error(got)
	}
	// the sums of a step may be in another order
	if got := answer(t, db, "SELECT count(*), max(abs(w.p - e.p)) < 1e-9, max(sqnorm(w.q - e.q)) < 1e-12, max(sqnorm("+
		"w.q - f.q)) > 0.1 FROM w JOIN ends e USING (note) JOIN first f USING (note)"); got != "4 true true true" {
		t.Error(got)
	}
}

// TestStreamedResume: a run that is cancelled, again and again, and goes on ends as one that is not, bit by bit, and so
// does one with other numbers of processors; at two sites, but for rounding.
func TestStreamedResume(t *testing.T) {
	const call = "CALL train('loss', ARRAY['w'], lr => 0.1, epochs => 4, seed => 3, batch => 'points', batch_size => 16)"
	db, _ := streamed(t, 16, 1)
	mustRun(t, db, "CREATE TABLE first AS SELECT * FROM w; "+call)
	const state = "SELECT * FROM w ORDER BY note"
	ends := answer(t, db, state)
	again := func() { mustRun(t, db, "UPDATE w SET p = f.p, q = f.q FROM first f WHERE f.note = w.note") }
	again()
	ctx, cancel := context.WithCancel(context.Background())
	at := map[int64]bool{3: true, 9: true, 10: true}
	db.OnStep = func(row train.LossRow, _ int64) {
		if at[row.Step] {
			cancel()
		}
	}
	_, err := db.Run(ctx, call)
	for n := 0; err != nil; n++ {
		if sqlerr.Code(err) != sqlerr.QueryCanceled || n > len(at) {
			t.Fatal(err)
		}
		ctx, cancel = context.WithCancel(context.Background())
		_, err = db.Run(ctx, "CALL train(resume => 2)")
	}
	cancel()
	db.OnStep = nil
	if got := answer(t, db, state); got != ends {
		t.Errorf("a run that was interrupted ends as\n%s\nnot\n%s", got, ends)
	}
	if got := answer(t, db, "SELECT count(*), count(DISTINCT a.loss) > 20 FROM relgrad.loss a JOIN relgrad.loss b "+
		"USING (step, loss) WHERE a.run = 1 AND b.run = 2"); got != "28 true" {
		t.Error(got)
	}
	for _, n := range []int{1, 3} {
		again()
		func() {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
			mustRun(t, db, call)
		}()
		if got := answer(t, db, state); got != ends {
			t.Errorf("with %d processors the run ends as\n%s\nnot\n%s", n, got, ends)
		}
	}
	again()
	mustRun(t, db, "SET relgrad.sites = 2; "+call+"; RESET relgrad.sites")
	if got := answer(t, db, "SELECT count(*) FROM relgrad.loss a JOIN relgrad.loss b USING (step) WHERE a.run = 1 "+
		"AND b.run = 5 AND abs(a.loss - b.loss) < 1e-6"); got != "28" {
		t.Errorf("at two sites %s of 28 losses are the same", got)
	}
}

// TestStreamedViews: which views on a table of Delta Lake can be batches.
func TestStreamedViews(t *testing.T) {
	db, dir := streamed(t, 16, 1)
	const call = "CALL train('SELECT sum((d.x - w.p) ^ 2) FROM this d JOIN w ON w.note = ''n1''', ARRAY['w.p'], " +
		"batch => 'this', batch_size => 16, lr => 0.01, epochs => 2)"
	const uncut = "in a way that cannot be cut into steps"
	for _, tc := range []struct{ view, want string }{
		{"SELECT k, x FROM delta_table('DIR') WHERE k > 3 OR x < 1", uncut},
		{"SELECT k, x FROM delta_table('DIR') WHERE x IS NOT NULL AND k > 3", uncut},
		{"SELECT a AS k, b AS x FROM delta_table('DIR') AS d (a, b) WHERE b > 3", uncut},
		{"SELECT x FROM delta_table('DIR') WHERE k > 2.5", "the condition on column \"k\" of the batch is no range"},
		{"SELECT x FROM delta_table('DIR') WHERE k < 8 AND note > 'n1'", "the condition on column \"note\" of the batch"},
		{"SELECT x FROM delta_table('DIR') WHERE k > 5 AND k < 5", "batch \"this\" has no rows"},
		{"SELECT k, x FROM delta_table('DIR') AS d WHERE d.k BETWEEN 4 AND 43 AND 1 <= x", ""}, // 25 rows
		{"SELECT DISTINCT x FROM delta_table('DIR')", uncut},
		{"SELECT sum(x) AS x FROM delta_table('DIR') GROUP BY k", uncut},
		{"SELECT sum(x) OVER (PARTITION BY note) AS x FROM delta_table('DIR')", uncut},
		{"SELECT x FROM delta_table('DIR') LIMIT 3", uncut},
		{"SELECT d.x FROM delta_table('DIR') d JOIN w USING (note)", uncut},
		{"SELECT x FROM delta_table('DIR') UNION ALL SELECT x FROM t", uncut},
		{"SELECT x, md5(note) AS u FROM delta_table('DIR')", "computes what a loss cannot"},
		{"SELECT x, v, day, note FROM delta_table('DIR', version => 0)", ""},
		{"SELECT * FROM delta_table('DIR') AS d", ""},
		{"SELECT a AS k, b AS x FROM delta_table('DIR') AS d (a, b)", ""},
	} {
		mustRun(t, db, "DROP VIEW IF EXISTS this; CREATE VIEW this AS "+strings.ReplaceAll(tc.view, "DIR", dir))
		got := answer(t, db, call)
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s, want %q", tc.view, got, tc.want)
		}
	}
	if got := answer(t, db, "SELECT count(*) FROM relgrad.loss GROUP BY run ORDER BY run"); got != "4] [8] [14] [14" {
		t.Errorf("the runs have %s steps", got) // version 0 has 50 rows
	}
	if got := answer(t, db, "SELECT bool_and(ok), count(*) FROM check_gradient('loss', ARRAY['w'], batch => 'points', "+
		"batch_size => 30, step => 2)"); got != "true 12" {
		t.Error(got)
	}
}

// TestStreamedFiles: a run whose table gets a new version goes on with the files that it began with, and cannot be
// resumed with others. One of which a file vanishes fails, with what it has committed.
func TestStreamedFiles(t *testing.T) {
	db, dir := streamed(t, 16, 1)
	const call = "CALL train('loss', ARRAY['w'], lr => 0.1, epochs => 4, seed => 3, batch => 'points', batch_size => 16)"
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	db.OnStep = func(row train.LossRow, _ int64) {
		switch row.Step {
		case 5:
			addGroups(t, dir, 100, 110, 10)
		case 9:
			cancel()
		}
	}
	if _, err := db.Run(ctx, call); sqlerr.Code(err) != sqlerr.QueryCanceled {
		t.Fatal(err)
	}
	db.OnStep = nil
	got := answer(t, db, "CALL train(resume => 1)")
	if !strings.Contains(got, "its parameters or its batch have other rows") {
		t.Error(got)
	}
	mustRun(t, db, "CREATE TABLE before AS SELECT * FROM w")
	files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	db.OnStep = func(row train.LossRow, _ int64) {
		if row.Step == 2 {
			for _, f := range files {
				if err := os.Remove(f); err != nil {
					t.Error(err)
				}
			}
		}
	}
	got = answer(t, db, call)
	db.OnStep = nil
	if !strings.Contains(got, dir) || !strings.Contains(got, ".parquet") || !strings.Contains(got, "no such file") {
		t.Error(got)
	}
	if got := answer(t, db, "SELECT status FROM relgrad.run WHERE run = 2"); got != "failed" {
		t.Error(got)
	}
	if got := answer(t, db, "SELECT count(*) FROM w JOIN before b USING (note, p) WHERE w.q = b.q"); got != "4" {
		t.Errorf("%s of 4 rows are as of the last commit", got)
	}
}

// TestStreamedWhere: a batch with a condition has the rows of which it holds, each once in an epoch and as many as
// batch_size in a step, whatever the files' statistics say; and a run goes on with the same condition only.
func TestStreamedWhere(t *testing.T) {
	db, dir := testDB(t), t.TempDir()
	const n = 400
	s := delta.NewSink(delta.NewLocal(dir), delta.Add, delta.WriteOptions{Parquet: interop.ParquetOptions{Rows: 30}})
	err := s.Begin("t", []interop.Column{{Name: "k", Type: "bigint"}, {Name: "x", Type: "double precision"},
		{Name: "r", Type: "real"}, {Name: "note", Type: "text"}, {Name: "day", Type: "date"}}, nil)
	for k := int64(0); k < n && err == nil; k++ {
		x := any(float64(k%20) / 10)
		if k%13 == 5 {
			x = nil
		}
		err = s.Write([]any{k, x, float64(float32(k%20) / 10), fmt.Sprintf("n%d", k%3), fmt.Sprintf("2024-01-%02d", 1+k%28)})
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, db, strings.ReplaceAll("CREATE TABLE t (k bigint PRIMARY KEY, x double precision, r real, note text, day "+
		"date); INSERT INTO t SELECT * FROM delta_table('DIR'); CREATE TABLE w (k bigint PRIMARY KEY, p double precision); "+
		"INSERT INTO w SELECT k, 0 FROM t", "DIR", dir))
	// A step of sgd adds lr to the parameter of each of its rows.
	const call = "CALL train('SELECT -sum(w.p) FROM this d JOIN w USING (k)', ARRAY['w'], optimizer => 'sgd', lr => 1, " +
		"epochs => 2, batch => 'this', batch_size => 7)"
	for i, where := range []string{"k > 100", "k >= 370 AND k < 395", "k = 7", "x > 0.1", "x >= 0.1", "x < 0.1",
		"x <= 0.1 AND x > -1", "x = 0.1", "r > 0.1", "r >= 0.1", "r < 0.1", "r <= 0.1", "r = 0.1", "r = 0.5", "0.7 < r",
		"x BETWEEN 0.3 AND 1.1", "note = 'n2'", "day > '2024-01-05' AND day <= '2024-01-20'", "day < '2024-01-02'",
		"day = '2024-01-28' AND note = 'n0'"} {
		mustRun(t, db, "UPDATE w SET p = 0; DROP VIEW IF EXISTS this; CREATE VIEW this AS SELECT k, x FROM delta_table('"+
			dir+"') WHERE "+where)
		count := answer(t, db, "SELECT count(*) FROM t WHERE "+where)
		if got := answer(t, db, call); count == "0" && strings.Contains(got, "has no rows") {
			continue
		} else if got != "" {
			t.Errorf("%s: %s", where, got)
		}
		if got := answer(t, db, "SELECT count(*) FROM w WHERE p = 2"); got != count {
			t.Errorf("%s: %s rows, not %s", where, got, count)
		}
		if got := answer(t, db, "SELECT count(*) FROM t JOIN w USING (k) WHERE p <> 0 AND NOT coalesce("+where+
			", false)"); got != "0" {
			t.Errorf("%s: %s rows of which it does not hold", where, got)
		}
		if got := answer(t, db, "SELECT count(*) = 2 * (("+count+" + 6) / 7), min(loss) >= -14 FROM relgrad.loss WHERE run "+
			"= (SELECT max(run) FROM relgrad.run)"); got != "true true" {
			t.Errorf("%s (%d): steps: %s", where, i, got)
		}
	}
	mustRun(t, db, strings.ReplaceAll("CREATE VIEW these AS SELECT k FROM delta_table('DIR') WHERE x > 0.1", "DIR", dir))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	db.OnStep = func(row train.LossRow, _ int64) {
		if row.Step == 3 {
			cancel()
		}
	}
	if _, err := db.Run(ctx, strings.ReplaceAll(call, "this", "these")); sqlerr.Code(err) != sqlerr.QueryCanceled {
		t.Fatal(err)
	}
	db.OnStep = nil
	run := answer(t, db, "SELECT max(run) FROM relgrad.run")
	for _, tc := range []struct{ where, want string }{{"r > 0.1", "its batch have other rows"}, {"x > 0.1", ""}} {
		mustRun(t, db, strings.ReplaceAll("DROP VIEW these; CREATE VIEW these AS SELECT k FROM delta_table('DIR') WHERE "+
			tc.where, "DIR", dir))
		got := answer(t, db, "CALL train(resume => "+run+")")
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("resumed with %s: %s", tc.where, got)
		}
	}
}
