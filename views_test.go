package relgrad

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"sort"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// viewTables holds what the store and the executor treat differently: numerics, integers near the end of their range,
// zeros, tiny and huge floats, NULLs, and infinity and NaN in chunks.
const viewTables = `
CREATE TABLE p (id int PRIMARY KEY, g int, label int, near int, f boolean, name text, d date, n numeric,
    s double precision, r real, tiny double precision,
  v double precision[], m real[][], wild double precision[]);
INSERT INTO p SELECT i, i % 7, CASE WHEN i % 5 > 0 THEN i % 3 END, 2147483647 - i % 2, i % 2 = 0, 'n' || i % 4,
    '2020-01-01', 0.1, CASE WHEN i % 11 > 0 THEN i - 700.5 END,
  i % 10, 1e-200, CASE WHEN i % 13 > 0 THEN random_normal(ARRAY[3], 1, ARRAY[i]) END, random_normal(ARRAY[2, 3], 2,
    ARRAY[i])::real[],
  CASE i WHEN 5 THEN '{1,NaN,2}' WHEN 6 THEN '{Infinity,1,-Infinity}' ELSE '{1,2,3}' END::double precision[]
  FROM generate_series(0, 1499) AS t(i);
CREATE TABLE q (g int PRIMARY KEY, w double precision[], x double precision, day date);
INSERT INTO q SELECT i, random_normal(ARRAY[3], 3, ARRAY[i]), i, '2020-01-01' FROM generate_series(0, 5) AS t(i);
CREATE VIEW summed AS SELECT g, sum(v) AS v, sum(s) AS s, count(*) AS n FROM p GROUP BY g;
CREATE VIEW best AS SELECT id, g, argmax(v) AS k, s FROM p;`

// viewQueries are compared as views; those behind "fast" the executor must run, those behind "slow" it must not.
var viewQueries = []string{
	"fast SELECT g, sum(v) AS v FROM p GROUP BY g",
	"fast SELECT g, sum(v[1]) AS x FROM p WHERE s > 299 GROUP BY g",
	"fast SELECT g, sum(v[1]) AS x FROM p WHERE s > 699 AND g = 3 GROUP BY g",
	"fast SELECT g, avg(r * v) AS v, count(v) AS n, count(*) AS c FROM p WHERE f GROUP BY g",
	"fast SELECT sum(v) AS v FROM p WHERE id < 0",
	"fast SELECT g, sum(v) AS v FROM p WHERE id < 0 GROUP BY g",
	"fast SELECT p.name, relu(sum(p.r * p.v + q.w)) AS v FROM p JOIN q USING (g) GROUP BY p.name",
	"slow SELECT p.g, sum(sum(p.v[1])) OVER () AS x FROM p GROUP BY p.g",
	"fast SELECT p.g, sum(p.v + q.w) AS v, count(q.w) AS n FROM p LEFT JOIN q USING (g) GROUP BY p.g",
	"fast SELECT g, sum(matmul(m, v)) AS v, sum(dot(v, v)) AS x FROM p GROUP BY g",
	"fast SELECT g, avg(cross_entropy(v, label)) AS loss FROM p WHERE label IS NOT NULL GROUP BY g",
	"fast SELECT g, sum((argmax(v) = label)::int) AS hits FROM p GROUP BY g",
	"fast SELECT label, sum(sqnorm(v)) AS x FROM p WHERE argmax(v) = label GROUP BY label",
	"fast SELECT g, sum(v) AS v FROM p GROUP BY g HAVING count(v) > 198",
	"fast SELECT g, sum(v) AS v FROM p GROUP BY g HAVING g BETWEEN 2 AND 4 OR g IN (6, 7)",
	"fast SELECT f, sum(2.5 * v - 1) AS v, min(s) AS lo, max(id) AS hi, sum(label) AS l FROM p GROUP BY f",
	"fast SELECT k, count(*) AS n, sum(p.v) AS v FROM best JOIN p USING (id) WHERE k = 1 GROUP BY k",
	"fast SELECT z.g, sum(z.v + q.w) AS v FROM (SELECT g, dropout(v, 0.5) AS v FROM p WHERE id % 3 = 1) z JOIN q ON " +
		"q.g = z.g GROUP BY z.g",
	"fast WITH a AS (SELECT g, sum(v) AS v FROM p GROUP BY g) SELECT a.g, dot(a.v, q.w) + 1.5 AS x FROM a, q WHERE a.g " +
		"= q.g AND a.g > 2",
	"fast SELECT g, sum(wild) AS v FROM p GROUP BY g",
	"fast SELECT g, sum(relu(wild)) AS v FROM p WHERE id > 6 GROUP BY g",
	"fast SELECT g, sum(wild[1]) AS x FROM p WHERE id > 6 GROUP BY g",
	"fast SELECT g, sum(wild[1]) AS x FROM p GROUP BY g", // infinity is a number
	"fast SELECT g, sum(wild[2]) AS x FROM p GROUP BY g", // NaN is an error
	"fast SELECT sum(cross_entropy(v, id)) AS x FROM p",  // no such label
	"slow SELECT g, sum(round(n) * v[2]) AS x FROM p GROUP BY g",
	"slow SELECT g, sum(n * v[2]) AS x FROM p GROUP BY g",
	"slow SELECT g, sum(v) AS v, sum(n) AS n FROM p GROUP BY g",
	"slow SELECT n, sum(v) AS v FROM p GROUP BY n",
	"slow SELECT g, avg(label) AS x, sum(v) AS v FROM p GROUP BY g",
	"slow SELECT g, sum(v) AS v, avg(label) * 3 > 2.9 AS x FROM p GROUP BY g",
	"slow SELECT g, sum(v) AS v, 1 / 3.0 AS x FROM p GROUP BY g",
	"slow SELECT g, sum(v) AS v, 7 / 2 + 0.5 AS x FROM p GROUP BY g",
	"slow SELECT g, sum(v[1] / r) AS x FROM p GROUP BY g", // division by zero
	"slow SELECT g, sum(near + label) AS x, sum(v) AS v FROM p GROUP BY g",
	"slow SELECT g, sum(v) AS v FROM p WHERE near + id > 0 GROUP BY g",
	"slow SELECT g, sum(-near) AS x, sum(v) AS v FROM p GROUP BY g",
	"slow SELECT g, sum(tiny * tiny) AS x, sum(v) AS v FROM p GROUP BY g", // underflow
	"slow SELECT g, sum(s ^ 120) AS x, sum(v) AS v FROM p GROUP BY g",
	"slow SELECT g, sum(exp(s)) AS x, sum(v) AS v FROM p GROUP BY g",
	"slow SELECT g, sum(relu(wild[2]) * v) AS v FROM p GROUP BY g", // the NaN would be lost
	"slow SELECT g, sum(v) AS v FROM p WHERE wild[2] > 1 GROUP BY g",
	"slow SELECT g, sum(v) AS v FROM p GROUP BY g HAVING sum(wild[1]) > 0",
	"slow SELECT g, max(wild[1]) AS x, sum(v) AS v FROM p GROUP BY g",
	"slow SELECT g, sum(v) AS v FROM p GROUP BY g HAVING sum(v[1]) > 0",
	"slow SELECT g, sum(v) AS v, sum(CASE WHEN wild[2] > 0 THEN 1 ELSE 0 END) AS x FROM p GROUP BY g",
	"slow SELECT g, sum(v) AS v FROM p WHERE id > 700.5 GROUP BY g",
	"slow SELECT g, sum(v) AS v, avg(r) AS x FROM p GROUP BY g",
	"slow SELECT d, sum(v) AS v FROM p GROUP BY d",
	"slow SELECT p.d, sum(v) AS v FROM p JOIN q ON q.day = p.d GROUP BY p.d",
	"slow SELECT s, sum(v) AS v FROM p GROUP BY s",
	"slow SELECT p.g, sum(v) AS v FROM p JOIN q ON q.x = p.s GROUP BY p.g",
	"slow SELECT g, sum(v) AS v FROM p GROUP BY g ORDER BY g LIMIT 2",
	"slow SELECT DISTINCT sum(wild) AS v FROM p WHERE id > 6 GROUP BY g, label",
	"slow SELECT g, sum(v) AS v FROM p WHERE id > (SELECT avg(id) FROM p) GROUP BY g",
	"slow SELECT g, sum(v) AS v FROM p GROUP BY g UNION ALL SELECT g, w FROM q",
	"slow SELECT g, sum(DISTINCT label) AS x, sum(v) AS v FROM p GROUP BY g",
	"slow SELECT g, sum(v[1]::int) AS x FROM p GROUP BY g",
	"slow SELECT g, sum(near::smallint) AS x, sum(v) AS v FROM p GROUP BY g",
	"slow SELECT g, sum(v) AS v, sum(v[7]) AS x FROM p GROUP BY g",
	"slow SELECT id, v FROM p WHERE s > 299",
}

// TestViewsAsStatements: a SELECT from a view is the view's query, whoever runs it.
func TestViewsAsStatements(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, viewTables)
	for i, q := range viewQueries {
		how, query, _ := strings.Cut(q, " ")
		if taken := sameAsView(t, db, fmt.Sprintf("v%d", i), query); taken != (how == "fast") {
			t.Errorf("%s: run by the executor: %v", query, taken)
		}
	}
}

// TestRandomViews draws views of pieces of SQL of which the executor may run some.
func TestRandomViews(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, viewTables)
	r := rand.New(rand.NewSource(1))
	taken, n := 0, 150
	if testing.Short() {
		n = 40
	}
	for i := range n {
		if sameAsView(t, db, fmt.Sprintf("r%d", i), randomView(r)) {
			taken++
		}
		mustRun(t, db, fmt.Sprintf("DROP VIEW r%d", i))
	}
	t.Logf("the executor ran %d of %d views", taken, n)
	if taken < n/3 || taken > n*9/10 {
		t.Errorf("the executor ran %d of %d views: the test compares nothing", taken, n)
	}
}

func randomView(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.Intn(len(list))] }
	from := pick("p", "p JOIN q USING (g)", "p LEFT JOIN q USING (g)", "p JOIN q ON q.g = p.label", "p CROSS JOIN q",
		"(SELECT * FROM p WHERE s < 650) p JOIN q ON q.g = p.g % 3",
		"p JOIN summed q0 ON q0.g = p.g JOIN q ON q.g = q0.g")
	key := pick("p.g", "p.name", "p.label", "p.f", "p.id % 4", "p.g, p.label")
	sum := func() string {
		x := pick("p.v", "p.v", "p.s * p.v", "relu(p.v - 0.5)", "softmax(p.v)", "matmul(p.m, p.v)", "p.v / 3",
			"p.label * p.v", "p.v ^ 2")
		if from != "p" && r.Intn(2) == 0 {
			x = pick("p.v + q.w", "p.s * q.w", "p.v * q.w * 2", "q.x * p.v")
		}
		switch r.Intn(12) {
		case 0:
			return "sum(sqnorm(p.v))"
		case 1:
			return "avg(p.v[" + pick("1", "2", "3") + "] - p.s)"
		case 2:
			return "sum((argmax(p.v) = p.label)::int)"
		case 3:
			return "sum(p.v[1]) FILTER (WHERE p.s > 0)"
		case 4:
			return pick("min(p.s)", "max(p.label)", "count(p.v)", "count(*)", "sum(p.label)", "max(p.id) + 1", "avg(p.label)",
				"sum(p.n)", "sum(p.s * p.s)", "sum(p.v[1] / p.r)")
		}
		return pick("sum", "sum", "avg") + "(" + x + ")"
	}
	q := fmt.Sprintf("SELECT %s, %s AS a, %s AS b FROM %s", key, sum(), sum(), from)
	if r.Intn(3) > 0 {
		q += " WHERE " + pick("p.s > 100", "p.f", "NOT p.f", "p.label = 1", "p.label <> 1 OR p.s IS NULL",
			"p.name IN ('n1', 'n2')", "p.v IS NOT NULL AND p.id < 1200",
			"p.id BETWEEN 100 AND 900", "p.id < 0", "argmax(p.v) = 1", "p.v[1] > 0", "p.id + 1 > 5", "p.r = 3",
			"p.s >= p.r AND p.f = (p.id % 3 = 0)")
	}
	q += " GROUP BY " + key
	if r.Intn(3) == 0 {
		q += " HAVING " + pick("count(*) > 100", "count(p.v) < 1000", "max(p.label) > 0", "sum(p.s) > 0",
			"count(p.label) > 0 AND max(p.id) > 10")
	}
	return q
}

// TestViewsFollowChanges: what a view gives follows its tables, in and out of transactions.
// TestLargeResults: statements read the large chunks of a view's result, also twice, sorted, joined, stored and NULL,
// as they are where the store computes the view; nothing of them stays behind.
func TestLargeResults(t *testing.T) {
	db := open(t, "")
	run := func(sql string) *catalog.Result {
		t.Helper()
		res, err := db.Run(context.Background(), sql)
		if err != nil {
			t.Fatalf("%s\n%s", sql, sqlerr.Render(err))
		}
		return res
	}
	run(`CREATE TABLE m (i int, j int, v real[][], PRIMARY KEY (i, j));
		INSERT INTO m SELECT i, j, CASE WHEN i <> 3 THEN sign(random_normal(ARRAY[150, 150], 1, ARRAY[i, j]))::real[] END
    FROM generate_series(1, 3) AS a(i), generate_series(1, 3) AS b(j);
		CREATE VIEW big AS SELECT i, sum(matmul(v, v)) AS v, sum(v) AS w, count(*) AS n FROM m
    GROUP BY i; CREATE TABLE kept (i int, v real[][])`)
	_, before := tensor.LiveBuffers()
	for _, query := range []string{"SELECT * FROM big ORDER BY i", "SELECT i, sqnorm(v), v IS NULL AS gone FROM big",
		"SELECT a.i, b.v FROM big a JOIN big b ON a.i = b.n - b.i + 1 ORDER BY sqnorm(b.v), a.i",
		"SELECT max(i) AS i, sum(v) AS v FROM big",
		"WITH x AS MATERIALIZED (SELECT v, n FROM big) SELECT sum(v) AS v FROM x GROUP BY n",
		"SELECT (SELECT w FROM big WHERE i = 2) AS w, v[2][3] AS e FROM big",
		"INSERT INTO kept SELECT i, v FROM big; SELECT * FROM kept ORDER BY i; DELETE FROM kept; SELECT i, w FROM big",
		"SELECT v FROM big UNION ALL SELECT w FROM big", "SELECT DISTINCT v, sqnorm(v) AS s FROM big ORDER BY s"} {
		db.ViewRows = 0
		got := run(query)
		db.ViewRows = -1
		if diff := rowsDiffer(got, run(query)); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	db.ViewRows = 0
	_, def := db.Relation(db.SearchPath(), "", "big")
	if _, taken := db.views().Program(context.Background(), def); !taken {
		t.Error("the store computes the view")
	}
	if _, after := tensor.LiveBuffers(); after > before+(64<<20) {
		t.Errorf("%d bytes stay", after-before)
	}
}

func TestViewsFollowChanges(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, viewTables)
	queries := []string{
		"SELECT p.g, sum(p.v + q.w) AS v, count(p.v) AS n FROM p JOIN q USING (g) WHERE p.s > -100 GROUP BY p.g",
		"SELECT g, sum(v[1]) AS x FROM p WHERE argmax(v) = 1 GROUP BY g",
	}
	for i, q := range queries {
		if !sameAsView(t, db, fmt.Sprintf("v%d", i), q) {
			t.Fatalf("the executor did not run %s", q)
		}
	}
	for _, change := range []string{
		"UPDATE p SET v = v * 2 WHERE id < 100",
		"UPDATE p SET v = NULL WHERE id = 700",
		"UPDATE q SET w = NULL WHERE g = 3",
		"UPDATE p SET s = 0 WHERE s IS NULL",
		"UPDATE p SET g = 5 WHERE g = 6",
		"DELETE FROM p WHERE id % 10 = 0",
		"INSERT INTO p (id, g, s, v) SELECT i, 2, 3, random_normal(ARRAY[3], 9, ARRAY[i]) FROM generate_series(2000, " +
			"2100) AS t(i)",
		"BEGIN; UPDATE p SET v = v + 1",
		"ROLLBACK",
		"UPDATE p SET v = NULL",
		"UPDATE p SET v = '{1,2}'; UPDATE q SET w = '{3,4}'",
		"DELETE FROM p WHERE id > 50",
		"DELETE FROM p",
		"INSERT INTO p (id, g, s, v) SELECT i, i % 7, 3, random_normal(ARRAY[2], 9, ARRAY[i]) FROM generate_series(0, " +
			"1100) AS t(i)",
	} {
		mustRun(t, db, change)
		for i, q := range queries {
			compareView(t, db, fmt.Sprintf("v%d", i), change+"; "+q, q)
		}
	}
	for i, q := range queries {
		_, def := db.Relation(db.SearchPath(), "", fmt.Sprintf("v%d", i))
		if _, taken := db.views().Program(context.Background(), def); !taken {
			t.Errorf("after all changes the executor did not run %s", q)
		}
	}
}

// sameAsView compares a new view with its query; it reports whether the executor runs it.
func sameAsView(t *testing.T, db *DB, name, query string) bool {
	t.Helper()
	mustRun(t, db, fmt.Sprintf("CREATE VIEW %s AS %s", name, query))
	_, def := db.Relation(db.SearchPath(), "", name)
	_, taken := db.views().Program(context.Background(), def)
	compareView(t, db, name, query, query)
	return taken
}

// compareView compares a view with its query, and with itself when only the store runs it.
func compareView(t *testing.T, db *DB, name, title, query string) {
	t.Helper()
	ctx, least := context.Background(), db.ViewRows
	got, err := db.Run(ctx, "SELECT * FROM "+name)
	again, err2 := db.Run(ctx, "SELECT * FROM "+name)
	db.ViewRows = -1
	off, offErr := db.Run(ctx, "SELECT * FROM "+name)
	want, wantErr := db.Run(ctx, query)
	db.ViewRows = least
	for _, r := range []struct {
		what string
		res  *catalog.Result
		err  error
	}{{"as a view", got, err}, {"a second time", again, err2}, {"with the executor off", off, offErr}} {
		if sqlerr.Code(r.err) != sqlerr.Code(wantErr) {
			t.Errorf("%s\n%s: %v\ninline: %v", title, r.what, r.err, wantErr)
		} else if wantErr == nil {
			if d := rowsDiffer(r.res, want); d != "" {
				t.Errorf("%s\n%s: %s", title, r.what, d)
			}
		}
	}
}

// rowsDiffer compares results without regard to the order of rows; "" where they are the same.
func rowsDiffer(got, want *catalog.Result) string {
	if len(got.Rows) != len(want.Rows) {
		return fmt.Sprintf("%d rows, not %d", len(got.Rows), len(want.Rows))
	}
	for _, r := range []*catalog.Result{got, want} {
		sort.SliceStable(r.Rows, func(i, j int) bool { return exactCells(r.Rows[i]) < exactCells(r.Rows[j]) })
	}
	for i, row := range want.Rows {
		for c, x := range row {
			if y := got.Rows[i][c]; !sameCell(y, x, got.Cols[c].Type) {
				return fmt.Sprintf("row %s, column %s is %v, not %v", exactCells(row), want.Cols[c].Name, y, x)
			}
		}
	}
	return ""
}

// exactCells prints the cells that rounding does not touch.
func exactCells(row []any) string {
	var out []string
	for _, x := range row {
		switch x.(type) {
		case float64, *tensor.Tensor:
		default:
			out = append(out, fmt.Sprint(x))
		}
	}
	return strings.Join(out, "|")
}

func sameCell(got, want any, typ string) bool {
	tol := 1e-9
	if strings.HasPrefix(typ, "real") {
		tol = 1e-4
	}
	near := func(a, b float64) bool {
		return a == b || math.IsNaN(a) && math.IsNaN(b) ||
			math.Abs(a-b) <= tol*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
	}
	switch w := want.(type) {
	case float64:
		g, ok := got.(float64)
		return ok && near(g, w)
	case *tensor.Tensor:
		g, ok := got.(*tensor.Tensor)
		if !ok || !g.Shape.Equal(w.Shape) {
			return false
		}
		for i := range w.Data {
			if !near(g.Data[i], w.Data[i]) {
				return false
			}
		}
		return true
	}
	return fmt.Sprint(got) == fmt.Sprint(want)
}
