package relgrad

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/kernelsql"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
)

// figuresOf computes a validation beside the training, and reports whether the database must be asked.
func figuresOf(t *testing.T, db *DB, sql string) (out []any, guesses bool) {
	t.Helper()
	ctx := context.Background()
	c, err := db.core.Compile(ctx, engine.Request{Loss: sql, Params: []string{"one"}, Forward: true, Figures: true,
		As: "validation"})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer c.Prog.Close()
	if !c.Metrics() {
		t.Fatalf("%s: no metric", sql)
	}
	figures, err := c.Figures(ctx, kernels.Env{})
	if sqlerr.Code(err) == sqlerr.NullNotAllowed {
		return []any{nil}, false
	} else if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	for _, f := range figures {
		if f.Value == nil {
			out = append(out, nil)
		} else {
			out = append(out, *f.Value)
		}
	}
	return out, c.Guesses(figures)
}

const oneParameter = "CREATE TABLE one (x double precision); INSERT INTO one VALUES (1);"

// TestMetricsBesideTraining: metrics of scores that depend on a parameter are what they are by definition, computed
// beside the training; only where the database has an error, or for ndcg of equal scores, it is asked.
func TestMetricsBesideTraining(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, oneParameter)
	computed, asked := 0, 0
	for _, m := range kernelsql.Metrics() {
		name, rest, _ := strings.Cut(m.SQL, "(")
		if strings.HasPrefix(rest, "p") && !strings.Contains(m.SQL, "'a'") && !strings.HasPrefix(rest, "p::text") {
			rest = "x * " + rest
		}
		switch {
		case strings.Contains(m.SQL, "v(p, y)"):
			rest = strings.Replace(rest, "v(p, y)", "v(p, y), one", 1)
		case strings.Contains(m.SQL, " WHERE "), strings.Contains(m.SQL, " FROM "): // of no rows; k that varies
			continue
		default:
			rest += " FROM one"
		}
		sql := "SELECT " + name + "(" + rest
		if m.Err == "ndcg: k is 0, not at least 1" {
			continue
		}
		got, guesses := figuresOf(t, db, sql)
		switch {
		case guesses:
			if asked++; m.Err == "" && name != "ndcg" {
				t.Errorf("%s is NaN", sql)
			}
		case m.Err != "":
			t.Errorf("%s is %v, not an error", sql, got)
		case got[0] == nil != math.IsNaN(m.Want) || got[0] != nil && math.Abs(got[0].(float64)-m.Want) > 1e-14:
			t.Errorf("%s is %v, not %v", sql, got[0], m.Want)
		default:
			computed++
		}
	}
	if computed < 40 || asked < 15 {
		t.Errorf("%d are computed, of %d the database is asked", computed, asked)
	}
}

// TestMetricsOfQueries: metrics of groups, of rows that pass a FILTER or a condition on a parameter, and beside other
// aggregates are what the store computes; of texts, of NULLs, and in expressions.
func TestMetricsOfQueries(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, oneParameter+`
CREATE TABLE t (id int PRIMARY KEY, g int, p double precision, r real, y int, b boolean, c text);
INSERT INTO t SELECT i, i % 7, nullif(i * 37 % 101, 5) / 101.0, (i * 29 % 64) / 64.0, nullif(i * i % 11, 9) % 2,
  nullif(i % 3, 2) = 1, chr(97 + i % 3) FROM generate_series(1, 200) AS s(i);`)
	for _, sql := range []string{
		"SELECT auc(x * p, y), rmse(x * p, y), f1(x * p > 0.5, y), accuracy(x * p > 0.5, b), log_loss(x * p, b), " +
			"ndcg(x * p + t.id * 1e-6, y), accuracy(c, CASE WHEN b THEN 'b' ELSE 'a' END), count(*), avg(x * p) FROM t, one",
		"SELECT avg(a), max(n), min(f) FROM (SELECT g, auc(x * r, b) AS a, ndcg(x * (r + t.id), g + y, 4) AS n, " +
			"f1(x * r > 0.3, b) AS f FROM t, one GROUP BY g) q",
		"SELECT auc(x * p, y) FILTER (WHERE g > 2), accuracy(y, g) FILTER (WHERE b), ndcg(x * p - t.id, p, 3) FILTER " +
			"(WHERE g = 1), rmse(r, x * p) FILTER (WHERE c <> 'a') FROM t, one",
		"SELECT auc(p, y), ndcg(p + t.id, y), log_loss(p, y), rmse(p, r) FROM t, one WHERE p < x * 0.5",
		"SELECT 1 - auc(x * p, y) AS miss, 100 * accuracy(round(x * r), y) AS percent FROM t, one WHERE g < 5",
		"SELECT sum(q.n * q.rmse) / sum(q.n) AS r FROM (SELECT g, count(*) AS n, rmse(x * p, y) FROM t, one GROUP BY g " +
			"HAVING auc(x * p, y) > 0.4) q",
		"SELECT count(*), auc(x * p, y) FILTER (WHERE g > 9), rmse(x, y) FILTER (WHERE x > 1), " +
			"f1(x, y) FILTER (WHERE x > 1), ndcg(x, y) FILTER (WHERE g > 9), log_loss(x, y) FILTER (WHERE g > 9), " +
			"accuracy(x, y) FILTER (WHERE x < 1), auc(x * p, 1) FROM t, one",
	} {
		got, guesses := figuresOf(t, db, sql)
		want := mustRun(t, db, sql).Rows[0]
		if guesses || len(got) != len(want) {
			t.Errorf("%s: %v, not %v", sql, got, want)
			continue
		}
		for i, v := range want {
			if v == nil && got[i] == nil {
				continue
			}
			w, err := engine.Number(v)
			if err != nil || got[i] == nil || math.Abs(got[i].(float64)-w) > 1e-13*max(1, math.Abs(w)) {
				t.Errorf("%s: column %d is %v, not %v", sql, i+1, got[i], v)
			}
		}
	}
	for sql, want := range map[string]string{
		"SELECT auc(x * p, y, 1) FROM t, one":           "auc takes 2 arguments, not 3",
		"SELECT rmse(c, x) FROM t, one":                 "rmse(text, double precision) does not exist",
		"SELECT ndcg(x * p, y, t.id) FROM t, one":       "must be an integer constant",
		"SELECT sum(auc(x * p, y) OVER ()) FROM t, one": "window functions cannot stand here: auc",
	} {
		_, err := db.core.Compile(context.Background(), engine.Request{Loss: sql, Params: []string{"one"}, Forward: true,
			Figures: true, As: "validation"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", sql, err, want)
		}
	}
}

// TestMetricsOfRuns: a wrong label ends a run before its first step, also where a step would meet it; figures of equal
// scores are the database's.
func TestMetricsOfRuns(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, oneParameter+`
CREATE TABLE t (id int PRIMARY KEY, p double precision, y int);
INSERT INTO t SELECT i, i % 4 / 4.0, i % 3 FROM generate_series(1, 20) AS s(i);
CREATE VIEW loss AS SELECT avg((x * p - y) ^ 2) AS l FROM t, one;`)
	const call = "CALL train('loss', ARRAY['one'], epochs => 2, validate => 'SELECT %s FROM t, one')"
	if _, err := db.Run(context.Background(), fmt.Sprintf(call, "auc(x * p, y)")); err == nil ||
		!strings.Contains(err.Error(), "the label 2 is neither 0 nor 1") {
		t.Errorf("a wrong label: %v", err)
	}
	if n := mustRun(t, db, "SELECT count(*) FROM relgrad.run").Rows[0][0]; n != int64(0) {
		t.Errorf("%v runs", n)
	}
	const metrics = "ndcg(x * p, y, 5) AS gain, auc(x * p, y > 0) AS auc"
	mustRun(t, db, fmt.Sprintf(call, metrics))
	want := mustRun(t, db, "SELECT "+metrics+" FROM t, one").Rows[0]
	got := mustRun(t, db, "SELECT value FROM relgrad.validation WHERE step = 2 ORDER BY position").Rows
	for i, w := range want {
		if math.Abs(got[i][0].(float64)-w.(float64)) > 1e-14 {
			t.Errorf("figure %d is %v, not %v", i+1, got[i][0], w)
		}
	}
}
