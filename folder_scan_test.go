package relgrad

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
)

// addRows appends rows k, x of a table of Delta Lake, in a file of their own.
func addRows(t *testing.T, dir string, from, to int64) {
	t.Helper()
	s := delta.NewSink(delta.NewLocal(dir), delta.Add, delta.WriteOptions{})
	err := s.Begin("t", []interop.Column{{Name: "k", Type: "bigint"}, {Name: "x", Type: "double precision"},
		{Name: "list", Type: "integer[]"}, {Name: "day", Type: "date"}}, nil)
	for k := from; k < to && err == nil; k++ {
		err = s.Write([]any{k, float64(k) / 2, []any{k, int64(1)}, fmt.Sprintf("2024-01-%02d", 1+k%28)})
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// answer is the rows of a query, or its error.
func answer(t *testing.T, db *DB, sql string) string {
	t.Helper()
	res, err := db.Run(context.Background(), sql)
	if err != nil {
		return err.Error()
	}
	return strings.Trim(fmt.Sprint(res.Rows), "[]")
}

// TestDeltaTableReadsLess: files of which no row is wanted are not opened, columns that are not wanted not read. The
// first file of the table is gone, so whoever opens it fails.
func TestDeltaTableReadsLess(t *testing.T) {
	db, dir := testDB(t), t.TempDir()
	addRows(t, dir, 0, 10)
	first, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil || len(first) != 1 {
		t.Fatal(first, err)
	}
	addRows(t, dir, 10, 20)
	mustRun(t, db, "CREATE TABLE w (k bigint PRIMARY KEY, p double precision); INSERT INTO w SELECT k, 1 + k FROM "+
		"generate_series(0, 30) AS g(k); CREATE VIEW seen AS SELECT k, x FROM delta_table('"+dir+"'); CREATE VIEW "+
		"named (x, k) AS SELECT k, x FROM delta_table('"+dir+"')")
	mustRun(t, db, "CREATE VIEW over AS SELECT k AS n, x FROM seen; CREATE VIEW above AS SELECT * FROM over o; CREATE "+
		"VIEW few AS SELECT * FROM (SELECT * FROM above ORDER BY n LIMIT 15) q; CREATE VIEW other AS SELECT k, x FROM named")
	const loss = "SELECT sum((d.x - w.p) ^ 2) FROM delta_table('DIR') d JOIN w USING (k) WHERE d.k BETWEEN 15 AND 16"
	for _, tc := range []struct{ from, want string }{
		{"SELECT count(*), sum(x) FROM delta_table('DIR') WHERE k >= 18", "2 18.5"},
		{"SELECT count(*), sum(x) FROM delta_table('DIR') AS d, w WHERE d.k > 17 AND 19 > d.k AND w.k = d.k", "1 9"},
		{"SELECT sum(x) FROM delta_table('DIR') WHERE k = 12 AND day = '2024-01-13'", "6"},
		{"SELECT sum(d.x) FROM w LEFT JOIN delta_table('DIR') d USING (k) WHERE d.k = 14", "7"},
		{"SELECT sum(y) FROM (SELECT x AS y FROM delta_table('DIR') WHERE k > 18) q", "9.5"},
		{"SELECT sum(y) FROM (SELECT x AS y, k FROM delta_table('DIR')) q WHERE k > 18", "9.5"},
		{"SELECT sum(y) FROM (SELECT count(*) AS y, k FROM delta_table('DIR') GROUP BY k) q WHERE q.k = 18", "1"},
		{"SELECT * FROM (SELECT * FROM (SELECT * FROM delta_table('DIR') d) q) q WHERE k > 18", "column \"list\" holds"},
		{"SELECT sum(p) FROM gradient('SELECT sum((d.x - w.p) ^ 2) FROM seen d JOIN w USING (k) WHERE d.k > 18', NULL::w) " +
			"WHERE p <> 0", "21"},
		{"SELECT sum(p) FROM gradient('SELECT sum((d.x - w.p) ^ 2) FROM (SELECT k, x FROM seen) d JOIN w ON d.k = w.k AND " +
			"d.k > 18', NULL::w) WHERE p <> 0", "21"},
		{"SELECT count(*) FROM seen a, seen b WHERE a.k > 18", "*"},
		{"SELECT sum(p) FROM gradient('SELECT (SELECT sum((b.x - w.p) ^ 2) FROM seen b JOIN w USING (k) WHERE b.k > 18) + " +
			"(SELECT sum((a.x - w.p) ^ 2) FROM seen a JOIN w USING (k))', NULL::w) WHERE p <> 0", "*"},
		{"SELECT sum(x) FROM (SELECT k, x FROM (SELECT d.k, x FROM delta_table('DIR') d) q) q WHERE k > 18", "9.5"},
		{"SELECT sum(x) FROM seen WHERE k > 18", "9.5"},
		{"SELECT sum(v.x) FROM w JOIN seen v ON v.k = w.k AND v.k > 18", "9.5"},
		{"SELECT sum(x) FROM named WHERE k > 18", "*"},
		{"SELECT sum(x) FROM over WHERE n > 18", "9.5"},
		{"SELECT sum(x) FROM above WHERE n > 18", "9.5"},
		{"SELECT sum(a.x), count(*) FROM above a JOIN over b USING (n) WHERE a.n > 18 AND b.n > 17", "9.5 1"},
		{"SELECT count(*) FROM above a JOIN over b USING (n) WHERE a.n > 18", "*"},
		{"SELECT (SELECT count(*) FROM above WHERE n > 18) + (SELECT count(*) FROM over)", "*"},
		{"SELECT sum(x) FROM few WHERE n > 12", "*"},
		{"SELECT sum(x) FROM other WHERE k > 18", "*"},
		{"SELECT sum(p) FROM gradient('SELECT sum((d.x - w.p) ^ 2) FROM above d JOIN w ON w.k = d.n WHERE d.n > 18', " +
			"NULL::w) WHERE p <> 0", "21"},
		{"SELECT sum(p) FROM gradient('SELECT sum((d.x - w.p) ^ 2) FROM few d JOIN w ON w.k = d.n WHERE d.n > 12', " +
			"NULL::w) WHERE p <> 0", "*"},
		{"WITH q AS (SELECT k, x FROM delta_table('DIR')) SELECT sum(x) FROM q WHERE k > 18", "9.5"},
		{"WITH a AS (SELECT k, x FROM seen), b AS (SELECT k AS n, x FROM a) SELECT sum(x) FROM (SELECT * FROM b) q WHERE " +
			"n > 18", "9.5"},
		{"WITH q AS (SELECT k, x FROM seen) SELECT sum(q.x) FROM w JOIN q ON q.k = w.k AND q.k BETWEEN 18 AND 19", "18.5"},
		{"WITH q AS (SELECT k, x FROM seen) SELECT sum(a.x), count(*) FROM q a, q b WHERE a.k > 17 AND b.k = 19 AND b.k > 17",
			"18.5 2"},
		{"WITH q AS (SELECT k, x FROM seen) SELECT sum(x) FROM (SELECT x FROM q WHERE k > 18 UNION ALL (WITH r AS (SELECT " +
			"* FROM q) SELECT x FROM r WHERE k > 18 AND x < 9.5)) u", "9.5"},
		{"WITH q AS (SELECT k, x FROM seen) SELECT (SELECT max(x) FROM q WHERE k > 18), count(*) FROM q WHERE k > 18",
			"9.5 1"},
		{"SELECT sum(x) FROM (WITH q AS (SELECT k, x FROM seen) SELECT * FROM q) u WHERE k > 18", "9.5"},
		{"WITH q AS (SELECT k, x FROM seen) SELECT count(*) FROM q a, q b WHERE a.k > 18 AND b.k > 17", "*"},
		{"WITH q AS (SELECT k, x FROM seen) SELECT (SELECT count(*) FROM q), count(*) FROM q WHERE k > 18", "*"},
		{"WITH q AS (SELECT k, x FROM seen), r AS (SELECT count(*) AS n FROM q) SELECT sum(x), n FROM q, r WHERE q.k > 18 " +
			"GROUP BY n", "*"},
		{"WITH q AS (SELECT k, x FROM seen) SELECT sum(x) FROM q WHERE k > 18 AND x > (SELECT min(x) FROM q)", "*"},
		{"WITH q AS (SELECT k, x FROM seen ORDER BY k LIMIT 15) SELECT count(*) FROM q WHERE k > 12", "*"},
		{"WITH q (x, k) AS (SELECT k, x FROM seen) SELECT sum(x) FROM q WHERE k > 9", "*"},
		{"WITH RECURSIVE q AS (SELECT k, x FROM seen UNION SELECT k - 1, x FROM q WHERE k > 19) SELECT count(*) FROM q " +
			"WHERE k > 18", "*"},
		{"SELECT sum(p) FROM gradient('WITH q AS (SELECT k, x FROM seen) SELECT sum((d.x - w.p) ^ 2) FROM q d JOIN w USING " +
			"(k) WHERE d.k > 18', NULL::w) WHERE p <> 0", "21"},
		{"SELECT sum(p) FROM gradient('WITH q AS (SELECT k, x FROM delta_table(''DIR'')) SELECT sum((d.x - w.p) ^ 2) FROM " +
			"(SELECT * FROM q) d JOIN w USING (k) WHERE d.k > 18 AND d.k < 20', NULL::w) WHERE p <> 0", "21"},
		{"SELECT sum(p) FROM gradient('WITH q AS (SELECT k, x FROM seen) SELECT (SELECT sum((b.x - w.p) ^ 2) FROM q b JOIN " +
			"w USING (k) WHERE b.k > 18) + (SELECT sum((a.x - w.p) ^ 2) FROM q a JOIN w USING (k))', NULL::w) WHERE p <> 0",
			"*"},
		{"SELECT sum(p) FROM gradient('WITH q AS (SELECT k, x FROM seen) SELECT sum((b.x - w.p) ^ 2) FROM q b JOIN w USING " +
			"(k) WHERE b.k > 18 AND b.x > (SELECT min(x) FROM q)', NULL::w) WHERE p <> 0", "*"},
		{"SELECT sum(d.x) FROM w JOIN delta_table('DIR') d ON d.k = w.k AND d.k > 18", "9.5"},
		{"SELECT count(*), sum(d.x) FROM w LEFT JOIN delta_table('DIR') d ON d.k = w.k AND d.k > 18", "31 9.5"},
		{"SELECT count(*), sum(d.x) FROM delta_table('DIR') d RIGHT JOIN w ON d.k = w.k AND d.k > 18", "31 9.5"},
		{"SELECT count(*) FROM delta_table('DIR') d LEFT JOIN w ON d.k = w.k AND d.k > 18", "*"},
		{"SELECT count(*) FROM delta_table('DIR') d FULL JOIN w ON d.k = w.k AND d.k > 18", "*"},
		{"SELECT count(*) FROM (SELECT k FROM delta_table('DIR') ORDER BY k LIMIT 15) q WHERE k > 12", "*"},
		{"SELECT sum(n) FROM (SELECT k, count(*) OVER () AS n FROM delta_table('DIR')) q WHERE k > 18", "*"},
		{"SELECT sum((d.x - w.p) ^ 2) FROM delta_table('DIR') d JOIN w ON d.k = w.k AND d.k BETWEEN 15 AND 16", "153.25"},
		{loss, "153.25"},
		{"SELECT sum(p) FROM gradient('" + strings.ReplaceAll(loss, "'", "''") + "', NULL::w) WHERE p <> 0", "35"},
		{"SELECT count(*) FROM delta_table('DIR')", "*"},
		{"SELECT count(*) FROM delta_table('DIR') WHERE k < 18", "*"},
		{"SELECT count(*) FROM delta_table('DIR') WHERE k >= 18 OR x < 1", "*"},
		{"SELECT list FROM delta_table('DIR') WHERE k = 19", "column \"list\" holds arrays of type integer[]"},
		{"SELECT * FROM delta_table('DIR') WHERE k = 19", "column \"list\" holds arrays of type integer[]"},
	} {
		sql := strings.ReplaceAll(tc.from, "DIR", dir)
		whole := answer(t, db, sql)
		hidden := first[0] + ".away"
		if err := os.Rename(first[0], hidden); err != nil {
			t.Fatal(err)
		}
		part := answer(t, db, sql)
		if err := os.Rename(hidden, first[0]); err != nil {
			t.Fatal(err)
		}
		if tc.want == "*" {
			if !strings.Contains(part, "no such file") || strings.Contains(whole, "no such file") {
				t.Errorf("%s: %s, without the first file %s", tc.from, whole, part)
			}
		} else if whole != part || !strings.Contains(part, tc.want) {
			t.Errorf("%s: %s, without the first file %s, want %s", tc.from, whole, part, tc.want)
		}
	}
}

// TestDeltaViewReadsNothing: a view is made of a table whose rows are not read then.
func TestDeltaViewReadsNothing(t *testing.T) {
	db, dir := testDB(t), t.TempDir()
	addRows(t, dir, 0, 10)
	files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.Rename(files[0], files[0]+".away"); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"CREATE VIEW v AS SELECT k, x, day FROM delta_table('DIR') WHERE k > 2",
		"CREATE VIEW s AS SELECT count(*) AS n, sum(v.x) AS x FROM delta_table('DIR') d JOIN v USING (k)",
		"CREATE MATERIALIZED VIEW m AS SELECT k FROM delta_table('DIR') WITH NO DATA"} {
		if got := answer(t, db, strings.ReplaceAll(sql, "DIR", dir)); got != "" {
			t.Errorf("%s: %s", sql, got)
		}
	}
	if got := answer(t, db, "SELECT * FROM v"); !strings.Contains(got, "no such file") {
		t.Error(got)
	}
	if err := os.Rename(files[0]+".away", files[0]); err != nil {
		t.Fatal(err)
	}
	mustRun(t, db, "REFRESH MATERIALIZED VIEW m")
	got := answer(t, db, "SELECT *, (SELECT count(*) FROM m), (SELECT min(day) FROM v) FROM s")
	if got != "7 21 10 2024-01-04" {
		t.Error(got)
	}
}

// TestDeltaTableVersions: a call reads the version that is there, a plan of an older one is not used again.
func TestDeltaTableVersions(t *testing.T) {
	db, dir := testDB(t), t.TempDir()
	addRows(t, dir, 0, 4)
	mustRun(t, db, strings.ReplaceAll("CREATE TABLE w (k bigint PRIMARY KEY, p double precision); "+
		"INSERT INTO w SELECT k, 0 FROM generate_series(0, 30) AS g(k); CREATE VIEW loss AS "+
		"SELECT sum((d.x - w.p) ^ 2) FROM delta_table('DIR') d JOIN w USING (k)", "DIR", dir))
	const gradient = "SELECT sum(p), (SELECT count(*) FROM delta_table('DIR')), (SELECT count(*) FROM " +
		"delta_table('DIR', version => 0)) FROM gradient('loss', NULL::w)"
	sql := strings.ReplaceAll(gradient, "DIR", dir)
	if got := answer(t, db, sql); got != "-6 4 4" {
		t.Error(got)
	}
	addRows(t, dir, 4, 6)
	if got := answer(t, db, sql); got != "-15 6 4" {
		t.Error(got)
	}
}

// TestDeltaTensorSlices: a slice is the rows of the whole that have its indices, in every layout.
func TestDeltaTensorSlices(t *testing.T) {
	db, dir := testDB(t), t.TempDir()
	mustRun(t, db, strings.ReplaceAll(`CREATE TABLE e (i0 int, i1 int, i2 int, value real, PRIMARY KEY (i0, i1, i2));
		INSERT INTO e SELECT k, k % 3, 2 * k, 1.5 * k FROM generate_series(1, 9) AS g(k);
		CREATE TABLE a (k int PRIMARY KEY, v real[]);
		INSERT INTO a SELECT k, ARRAY[k, 2 * k, 0.5]::real[] FROM generate_series(0, 4) AS g(k);
		COPY a (v) TO 'DIR/ftsf' (FORMAT delta, TENSOR 'a'); CREATE TABLE p (i0 int PRIMARY KEY, q real[]);
		INSERT INTO p SELECT k, '{1,1}' FROM generate_series(0, 4) AS g(k)`, "DIR", dir))
	for _, layout := range []string{"coo", "csr", "csc", "csf", "bsgs"} {
		mustRun(t, db, "COPY e TO '"+dir+"/"+layout+"' (FORMAT delta, TENSOR 'e', LAYOUT "+layout+")")
		for _, tc := range []struct{ from, want string }{
			{"delta_tensor('DIR', 'e')", "e"},
			{"delta_tensor('DIR', 'e', slice => '3:8, :, 10')", "(SELECT i0, i1, value FROM e WHERE i0 >= 3 AND i0 < 8 AND " +
				"i2 = 10) q"},
			{"(SELECT * FROM delta_tensor('DIR', 'e', '2:9') WHERE i0 < 7 AND i2 >= 6 AND value > 5) q",
				"(SELECT * FROM e WHERE i0 BETWEEN 2 AND 6 AND i2 >= 6 AND value > 5) q"},
			{"(SELECT * FROM delta_tensor('DIR', 'e') WHERE i1 = 1 AND i0 > 100) q", "(SELECT * FROM e WHERE false) q"},
		} {
			from := strings.ReplaceAll(tc.from, "DIR", dir+"/"+layout)
			got := answer(t, db, "SELECT * FROM "+from+" ORDER BY i0")
			want := answer(t, db, "SELECT * FROM "+tc.want+" ORDER BY i0")
			if got != want {
				t.Errorf("%s %s: %s, want %s", layout, tc.from, got, want)
			}
		}
	}
	call := "delta_tensor('" + dir + "/ftsf', 'a', slice => '1:4, 0:2')"
	if got := answer(t, db, "SELECT i0, value[1] + value[2] FROM "+call+" WHERE i0 > 1"); got != "2 6] [3 9" {
		t.Error(got)
	}
	if got := answer(t, db, "SELECT sum(sqnorm(p.q - d.value)) FROM p JOIN "+call+" d USING (i0)"); got != "40" {
		t.Error(got)
	}
	if got := answer(t, db, "SELECT value FROM delta_tensor('"+dir+"/ftsf', 'a', '2, 1')"); got != "4" {
		t.Error(got)
	}
}

// TestDeltaScanErrors: each error says what is wrong, and where in the statement.
func TestDeltaScanErrors(t *testing.T) {
	db, dir := testDB(t), t.TempDir()
	addRows(t, dir+"/d", 0, 4)
	mustRun(t, db, "CREATE TABLE a (v real[]); INSERT INTO a VALUES ('{1,2}'); COPY a TO '"+dir+
		"/t' (FORMAT delta, TENSOR 'weights')")
	for _, tc := range []struct{ call, at, want string }{
		{"delta_table('DIR/none')", "'DIR/none'", "could not open folder \"DIR/none\": no such file or directory"},
		{"delta_table('DIR')", "'DIR'", "\"DIR\": there is no table of Delta Lake: _delta_log/ has no commits"},
		{"delta_table('DIR/d', 5)", "5)", "\"DIR/d\": the table has no version 5, the newest is 0"},
		{"delta_table('DIR/d', -1)", "-1", "\"-1\" is no version of a table"},
		{"delta_table('DIR/d', 'x')", "'x'", "version of delta_table must be an integer, not 'x'"},
		{"delta_table()", "delta_table()", "delta_table needs the argument \"dir\""},
		{"delta_tensor('DIR/t', 'weight')", "'weight'", "\"DIR/t\": the table has no tensor \"weight\""},
		{"delta_tensor('DIR/t', 'weights', slice => '1:x')", "'1:x'", "invalid slice \"1:x\" at \"1:x\""},
		{"delta_tensor('DIR/t', 'weights', slice => '0, 2')", "'0, 2'",
			"\"DIR/t\": tensor \"weights\": index 2 of dimension 1, which has 2"},
		{"delta_tensor('DIR/t', 'weights', slice => '0, 0, 0')", "'0, 0, 0'",
			"\"DIR/t\": tensor \"weights\": a slice of 3 dimensions of a tensor of shape (1, 2)"},
		{"delta_tensor('DIR/d', 'weights')", "'DIR/d'", "\"DIR/d\": the table has no column \"id\""},
	} {
		sql := strings.ReplaceAll("SELECT * FROM "+tc.call, "DIR", dir)
		_, err := db.Run(context.Background(), sql)
		var e *sqlerr.Error
		if err == nil {
			t.Errorf("%s: no error", tc.call)
			continue
		}
		e = sqlerr.From(err).(*sqlerr.Error)
		if want := strings.ReplaceAll(tc.want, "DIR", dir); e.Message != want {
			t.Errorf("%s: %s, want %s", tc.call, e.Message, want)
		}
		if at := strings.Index(sql, strings.ReplaceAll(tc.at, "DIR", dir)); e.Pos != at {
			t.Errorf("%s: at %d, want %d", tc.call, e.Pos, at)
		}
		if strings.Contains(tc.call, "'weight')") && e.Hint != "Perhaps you meant \"weights\"." {
			t.Errorf("%s: hint %q", tc.call, e.Hint)
		}
	}
}

// TestDeltaExplain: every stage of a loss over a table of Delta Lake is shown, and the SQL says that it reads one.
func TestDeltaExplain(t *testing.T) {
	db, dir := testDB(t), t.TempDir()
	addRows(t, dir, 0, 4)
	mustRun(t, db, "CREATE TABLE w (k bigint PRIMARY KEY, p double precision); INSERT INTO w VALUES (1, 2)")
	loss := "SELECT sum((d.x - w.p) ^ 2) FROM (SELECT k, x FROM delta_table('" + dir + "') WHERE k > 0) d JOIN w USING (k)"
	for _, stage := range []string{"sql", "all"} {
		s, err := db.Explain(context.Background(), loss, []string{"w"}, stage)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"-- This text does not run by itself: relgrad reads the rows of SELECT * FROM " +
			"delta_table('" + dir, "  FROM (SELECT * FROM delta_table('" + dir + "')", "JOIN scan"} {
			if !strings.Contains(s, want) {
				t.Errorf("stage %s:\n%s\nlacks %s", stage, s, want)
			}
		}
	}
	if s, err := db.Explain(context.Background(), "SELECT sum(p) FROM w", []string{"w"}, "sql"); err != nil ||
		strings.Contains(s, "by itself") {
		t.Errorf("%v\n%s", err, s)
	}
}
