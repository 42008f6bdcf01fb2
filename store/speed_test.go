package store

import (
	"context"
	"fmt"
	"testing"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// copyData runs \copy with programs in the data folder.
func copyData(t testing.TB, db *DB, sql string) *catalog.Result {
	t.Helper()
	dir := need.Data(t)
	text := &ast.Text{SQL: sql}
	ps, err := parse.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := db.CopyFile(context.Background(), ps[0].Stmt.(*ast.Copy), text, dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// cora builds the model of surface/gcn_cora.
func cora(t testing.TB, db *DB) {
	mustRun(t, db, `SET search_path = public, relgrad;
CREATE TABLE node (node int PRIMARY KEY, label int, split text);
CREATE TABLE adj (src int, dst int, weight real, PRIMARY KEY (src, dst));
CREATE TABLE raw_feature (node int, feature int, value real, PRIMARY KEY (node, feature))`)
	copyData(t, db, "COPY node FROM PROGRAM 'gzip -dc cora/nodes.csv.gz' WITH (FORMAT csv, HEADER)")
	copyData(t, db, "COPY adj FROM PROGRAM 'gzip -dc cora/adj_norm.csv.gz' WITH (FORMAT csv, HEADER)")
	copyData(t, db, "COPY raw_feature FROM PROGRAM 'gzip -dc cora/features.csv.gz' WITH (FORMAT csv, HEADER)")
	mustRun(t, db, `CREATE TABLE feature (node int, feature int, value real, PRIMARY KEY (node, feature));
INSERT INTO feature SELECT node, feature, value / sum(value) OVER (PARTITION BY node) FROM raw_feature;
CREATE TABLE w0 (feature int PRIMARY KEY, v real[]);
CREATE TABLE w1 (id int PRIMARY KEY DEFAULT 1, v real[][]);
INSERT INTO w0 SELECT f, (2 * random_uniform(ARRAY[16], 1, ARRAY[0, f]) - 1) * sqrt(6.0 / (1433 + 16))
	FROM generate_series(0, 1432) AS g(f);
INSERT INTO w1 (v) SELECT glorot_uniform(ARRAY[16, 7], 1, ARRAY[1], 16, 7);
CREATE VIEW xw AS SELECT f.node, sum(dropout(f.value, 0.5) * w0.v) AS v FROM feature f JOIN w0 USING (feature)
	GROUP BY f.node;
CREATE VIEW hidden AS SELECT a.dst AS node, relu(sum(a.weight * xw.v))
	AS h FROM adj a JOIN xw ON xw.node = a.src GROUP BY a.dst;
CREATE VIEW logits AS SELECT a.dst AS node, sum(a.weight * matmul(dropout(h.h, 0.5), w1.v)) AS z
FROM adj a JOIN hidden h ON h.node = a.src CROSS JOIN w1 GROUP BY a.dst;
CREATE VIEW validation AS SELECT avg(cross_entropy(z, label)) FROM logits JOIN node USING (node) WHERE split = 'val'`)
}

func BenchmarkCora(b *testing.B) {
	db := openTemp(b)
	cora(b, db)
	mustRun(b, db,
		"CREATE TABLE adam0 AS SELECT feature, 0 * v AS m, 0 * v AS s FROM w0; CREATE UNIQUE INDEX ON adam0 (feature); "+
			"CREATE TABLE g AS SELECT * FROM w0; ALTER TABLE g ADD PRIMARY KEY (feature)")
	for _, q := range []string{
		"SELECT count(*) FROM xw", "SELECT count(*) FROM hidden", "SELECT count(*) FROM logits", "SELECT * FROM validation",
		"UPDATE adam0 a SET m = 0.9 * a.m + (1 - 0.9) * g.v, s = 0.99 * a.s + (1 - 0.99) * g.v * g.v FROM g WHERE " +
			"g.feature = a.feature",
		"UPDATE w0 SET v = w0.v - 0.01 * a.m / (sqrt(a.s) + 1e-8) FROM adam0 a WHERE a.feature = w0.feature",
	} {
		b.Run(q[:min(len(q), 25)], func(b *testing.B) {
			for range b.N {
				mustRun(b, db, q)
			}
		})
	}
	r := mustRun(b, db, "EXPLAIN SELECT * FROM validation")
	for _, x := range r.Rows {
		b.Log(x[0])
	}
}

func BenchmarkLoad(b *testing.B) {
	for range b.N {
		db := openTemp(b)
		mustRun(b, db,
			"CREATE TABLE raw_feature (node int, feature int, value real, PRIMARY KEY (node, feature)); CREATE TABLE feature "+
				"(LIKE raw_feature INCLUDING ALL)")
		copyData(b, db, "COPY raw_feature FROM PROGRAM 'gzip -dc cora/features.csv.gz' WITH (FORMAT csv, HEADER)")
		b.StopTimer()
		b.StartTimer()
	}
}

func BenchmarkWindow(b *testing.B) {
	db := openTemp(b)
	cora(b, db)
	b.ResetTimer()
	for i := range b.N {
		mustRun(b, db,
			fmt.Sprintf("CREATE TABLE f%d (node int, feature int, value real, PRIMARY KEY (node, feature)); INSERT INTO f%d "+
				"SELECT node, feature, value / sum(value) OVER (PARTITION BY node) FROM raw_feature", i, i))
	}
}

// BenchmarkKernels reports the time of one kernel call inside a statement, in ns.
func BenchmarkKernels(b *testing.B) {
	db := openTemp(b)
	mustRun(b, db,
		"CREATE TABLE k AS SELECT i, random_normal(ARRAY[16], 1, ARRAY[i])::real[] AS v, random_normal(ARRAY[16, 7], 1, "+
			"ARRAY[i])::real[] AS m FROM generate_series(1, 2000) i")
	for _, x := range []string{"sqnorm(v)", "sqnorm(v + v)", "sqnorm(relu(v))", "norm(v)", "dot(v, v)",
		"sum_elements(matmul(v, m))", "cross_entropy(v, 3)", "argmax(v)", "sigmoid(i)", "v[3]"} {
		b.Run(x, func(b *testing.B) {
			for range b.N {
				mustRun(b, db, "SELECT sum("+x+") FROM k")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2000, "ns/row")
		})
	}
}
