package examples

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/pgcluster"
)

// cora is the published check's model in double precision, with its weights:
// ((7919a + 104729b + 31ab + 13) mod 1009 − 504.3)/s.
const cora = `
SET search_path = public, relgrad;
\cd :data
CREATE TABLE node (node int PRIMARY KEY, label int, split text);
CREATE TABLE adj (src int, dst int, weight double precision, PRIMARY KEY (src, dst));
CREATE TABLE raw (node int, feature int, value double precision, PRIMARY KEY (node, feature));
\copy node FROM PROGRAM 'gzip -dc cora/nodes.csv.gz' WITH (FORMAT csv, HEADER)
\copy adj FROM PROGRAM 'gzip -dc cora/adj_norm.csv.gz' WITH (FORMAT csv, HEADER)
\copy raw FROM PROGRAM 'gzip -dc cora/features.csv.gz' WITH (FORMAT csv, HEADER)
CREATE TABLE feature (node int, feature int, value double precision, PRIMARY KEY (node, feature));
INSERT INTO feature SELECT node, feature, value / sum(value) OVER (PARTITION BY node) FROM raw;
CREATE TABLE w0 (feature int PRIMARY KEY, v double precision[]);
CREATE TABLE w1 (id int PRIMARY KEY, v double precision[][]);
INSERT INTO w0 SELECT a, array_agg(((7919 * a + 104729 * b + 31 * a * b + 13) % 1009 - 504.3::double precision) / 1000
ORDER BY b)
  FROM generate_series(0, 1432) AS r(a), generate_series(0, 15) AS c(b) GROUP BY a;
INSERT INTO w1 SELECT 1, reshape(array_agg(((7919 * a + 104729 * b + 31 * a * b + 13) % 1009 - 504.3::double
precision) / 500 ORDER BY a, b), ARRAY[16, 7])
  FROM generate_series(0, 15) AS r(a), generate_series(0, 6) AS c(b);
CREATE VIEW xw AS SELECT f.node, sum(f.value * w0.v) AS v FROM feature f JOIN w0 USING (feature) GROUP BY f.node;
CREATE VIEW hidden AS SELECT a.dst AS node, relu(sum(a.weight * xw.v)) AS h FROM adj a JOIN xw ON xw.node = a.src
GROUP BY a.dst;
CREATE VIEW logits AS SELECT a.dst AS node, sum(a.weight * matmul(h.h, w1.v)) AS z FROM adj a
JOIN hidden h ON h.node = a.src CROSS JOIN w1 GROUP BY a.dst;
CREATE VIEW loss AS SELECT avg(cross_entropy(z, label)) AS loss FROM logits NATURAL JOIN node WHERE split = 'train';
CREATE TABLE w0_start AS TABLE w0;
CREATE TABLE w1_start AS TABLE w1;
SELECT loss FROM loss;
`

// cancer is the published check of logistic regression: z-scores by the population's standard deviation, w_k = 0.01·k.
const cancer = `
SET search_path = public, relgrad;
\cd :data
CREATE TABLE raw (line text);
\copy raw FROM PROGRAM 'gzip -dc breast_cancer/wdbc.csv.gz | tail -n +2' WITH (DELIMITER '|')
CREATE TABLE x (row int, malignant int, k int, value double precision);
INSERT INTO x SELECT cells[1]::int, cells[3]::int, k, cells[3 + k]::double precision
FROM (SELECT string_to_array(line, ',') AS cells FROM raw) s, generate_series(1, 30) AS g(k);
CREATE TABLE scale AS SELECT k, avg(value) AS mean, stddev_pop(value) AS s FROM x GROUP BY k;
CREATE TABLE patient (row int PRIMARY KEY, malignant int, x double precision[]);
INSERT INTO patient SELECT row, malignant, array_agg((value - mean) / s ORDER BY k) FROM x JOIN scale USING (k)
GROUP BY row, malignant;
CREATE TABLE model (id int PRIMARY KEY, w double precision[], b double precision);
INSERT INTO model SELECT 1, array_agg(0.01::double precision * k ORDER BY k), 0 FROM generate_series(1, 30) AS g(k);
CREATE VIEW loss AS SELECT avg(softplus(z) - malignant * z) AS loss FROM (SELECT malignant, dot(p.x, m.w) + m.b AS z
FROM patient p, model m) s;
SELECT loss FROM loss;
`

// TestCheckNumbers compares losses and norms of gradients, by the server's own query and by both engines, with the
// published figures, and five epochs of Cora by both engines with the store's.
func TestCheckNumbers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	if _, err := exec.LookPath("psql"); err != nil {
		need.Absent(t, "pg", "no psql; make pg-install installs what a server needs")
	}
	data := need.Data(t)
	s := &server{pgcluster.Start(t).DSN}
	t.Run("Cora", func(t *testing.T) {
		dsn := s.database(t, "")
		figures(t, psql(t, dsn, data, cora), 1e-12, 1.949002714844385)
		for _, engine := range []string{"chunk", "sql"} {
			out := psql(t, dsn, data, "SET search_path = public, relgrad; SET relgrad.engine = "+engine+`;
SELECT backward('loss', ARRAY['w0', 'w1']);
SELECT sqrt(sum(sqnorm(v))) FROM w0_grad;
SELECT sqrt(sum(sqnorm(v))) FROM w1_grad;
SELECT sqrt(sum(sqnorm(v))) FROM gradient('loss', NULL::w0);
SELECT sqrt(sum(sqnorm(v))) FROM gradient('loss', NULL::w1);`)
			figures(t, out, 1e-12, 1.949002714844385, 0.029493697837361346, 0.011422649564992306,
				0.029493697837361346, 0.011422649564992306)
		}
		const train = "CALL train('loss', ARRAY['w0', 'w1'], lr => 0.01, epochs => 5);\nSELECT loss " +
			"FROM relgrad.loss WHERE run = (SELECT max(run) FROM relgrad.loss) ORDER BY step;\n"
		want := numbers(t, embedded(t, data, cora+train))[1:]
		if len(want) != 5 || !(want[4] < want[0]) {
			t.Fatalf("the store's losses are %v", want)
		}
		for _, engine := range []string{"chunk", "sql"} {
			figures(t, psql(t, dsn, data, "SET search_path = public, relgrad; SET relgrad.engine = "+engine+";\n"+
				"UPDATE w0 SET v = s.v FROM w0_start s WHERE s.feature = w0.feature; UPDATE w1 SET v = s.v FROM w1_start s;\n"+
				train), 1e-9, want...)
		}
	})
	t.Run("Cancer", func(t *testing.T) {
		dsn := s.database(t, "")
		figures(t, psql(t, dsn, data, cancer), 1e-12, 0.3375737131040747)
		want := numbers(t,
			embedded(t, data,
				cancer+"SELECT x FROM gradient('loss', NULL::model) g, unnest(g.w) WITH ORDINALITY AS u(x, i) ORDER BY i;\n"))[1:]
		for _, engine := range []string{"chunk", "sql"} {
			figures(t, psql(t, dsn, data, "SET search_path = public, relgrad; SET relgrad.engine = "+engine+`;
SELECT backward('loss', ARRAY['model']);
SELECT x FROM gradient('loss', NULL::model) g, unnest(g.w) WITH ORDINALITY AS u(x, i)
ORDER BY i;`), 1e-12, append([]float64{0.3375737131040747}, want...)...)
		}
	})
}

// psql runs a script and gives the cells of its results, one a line.
func psql(t *testing.T, dsn, data, script string) string {
	t.Helper()
	file := scriptFile(t, script)
	return output(t, "psql:", append([]string{"PGOPTIONS=-c jit=off -c client_min_messages=warning"}, os.Environ()...),
		"psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-v", "data="+data, "-f", file, dsn)
}

// embedded does so on a store.
func embedded(t *testing.T, data, script string) string {
	t.Helper()
	var out []string
	for _, l := range strings.Split(relgrad(t, "-q", "--format", "csv", "-v", "data="+data, scriptFile(t, script)), "\n") {
		if _, err := strconv.ParseFloat(l, 64); err == nil { // not a header
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

func scriptFile(t *testing.T, script string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.sql")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func numbers(t *testing.T, out string) []float64 {
	t.Helper()
	var xs []float64
	for _, l := range strings.Fields(out) {
		x, err := strconv.ParseFloat(l, 64)
		if err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		xs = append(xs, x)
	}
	return xs
}

// figures compares numbers with what is expected, relative.
func figures(t *testing.T, out string, tolerance float64, want ...float64) {
	t.Helper()
	got := numbers(t, out)
	if len(got) != len(want) {
		t.Errorf("%d numbers, not %d:\n%s", len(got), len(want), out)
		return
	}
	for i, x := range want {
		if d := math.Abs(got[i]-x) / math.Abs(x); !(d <= tolerance) {
			t.Errorf("number %d is %.17g, not %.17g: off by %g", i+1, got[i], x, d)
		}
	}
}
