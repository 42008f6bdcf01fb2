package relgrad

import (
	"context"
	"math"
	"reflect"
	"testing"

	"github.com/relgrad/relgrad/engine"
)

// TestMatricesByRows: products of vectors with matrices that rows share are right on both sides, also of transposed
// matrices, in the order of the rows and in that of groups.
func TestMatricesByRows(t *testing.T) {
	for _, typ := range []string{"double precision", "real"} {
		db := open(t, "")
		mustRun(t, db, `CREATE TABLE map (rel int PRIMARY KEY, m `+typ+`[33][40]);
INSERT INTO map SELECT r, random_normal(ARRAY[33, 40], 1, ARRAY[r]) / 6 FROM generate_series(1, 5) AS g(r);
CREATE TABLE thing (id int PRIMARY KEY, v `+typ+`[33], u `+typ+`[40]);
INSERT INTO thing SELECT i, random_normal(ARRAY[33], 2, ARRAY[i]), random_normal(ARRAY[40], 3, ARRAY[i])
    FROM generate_series(1, 9) AS g(i);
CREATE TABLE fact (n int PRIMARY KEY, rel int, a int, b int);
INSERT INTO fact SELECT n, 1 + n / 60, 1 + n * 7 % 9, 1 + n * n % 9 FROM generate_series(0, 299) AS g(n);
CREATE VIEW turned AS
SELECT f.n, f.a, f.b, matmul(x.v, m.m) AS p, matmul(m.m, y.u) AS q, matmul(transpose(m.m), x.v)
    AS s, matmul(y.u, transpose(m.m)) AS w
FROM fact f JOIN thing x ON x.id = f.a JOIN thing y ON y.id = f.b JOIN map m USING (rel);
CREATE VIEW summed AS SELECT b, sum(p) AS p, sum(q) AS q, sum(s * 0.5) AS s, sum(w) AS w FROM turned GROUP BY b;
CREATE VIEW loss AS SELECT sum(sqnorm(tanh(p / 10) + s) + dot(q, w)) / 100 + (SELECT avg(norm(p - s * 2) + sqnorm(q))
    FROM turned) AS loss FROM summed`)
		var got, want float64
		got = mustRun(t, db, "SELECT backward('loss', ARRAY['map', 'thing'])").Rows[0][0].(float64)
		want = mustRun(t, db, "SELECT loss FROM loss").Rows[0][0].(float64)
		tol := 1e-12
		if typ == "real" {
			tol = 1e-5
		}
		if !(math.Abs(got-want) <= tol*math.Abs(want)) {
			t.Errorf("%s: the loss is %v, the query's %v", typ, got, want)
		}
		for _, table := range []string{"map", "thing"} {
			rows, err := db.Check(context.Background(), "loss", table, engine.CheckOptions{Samples: 30})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				if !r.OK {
					t.Errorf("%s: %+v", typ, r)
				}
			}
		}
	}
}

// TestTrainByAnyKey: rows of parameters are found by keys of every type, also when what found them has been given back.
func TestTrainByAnyKey(t *testing.T) {
	var want []any
	for _, typ := range []string{"int", "double precision", "real", "text", "boolean"} {
		db := open(t, "")
		key := map[bool]string{true: "(k = 1)", false: "k::" + typ}[typ == "boolean"]
		mustRun(t, db, `CREATE TABLE w (k `+typ+` PRIMARY KEY, v double precision[2]);
INSERT INTO w SELECT `+key+`, ARRAY[k + 2, 3 - k] FROM generate_series(1, 0, -1) AS g(k);
CREATE TABLE x (i int PRIMARY KEY, k `+typ+`, y double precision);
INSERT INTO x SELECT i, `+key+`, i FROM (SELECT i, i % 2 AS k FROM generate_series(1, 5) AS g(i)) AS s;
CREATE VIEW loss AS SELECT sum((y - v[1] * v[2]) ^ 2) / 100 FROM x JOIN w USING (k);
CALL train('loss', ARRAY['w'], optimizer => 'sgd', lr => 0.1, epochs => 3)`)
		var got []any
		for _, row := range mustRun(t, db, "SELECT v FROM w ORDER BY k").Rows {
			got = append(got, row...)
		}
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: trained to %v, by int to %v", typ, got, want)
		}
	}
}
