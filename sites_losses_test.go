package relgrad

import (
	"fmt"
	"math/rand"
	"testing"
)

// sitesLosses are losses on the model of TestSitesTrain, and what is read behind them.
var sitesLosses = map[string][]string{
	"a parameter without a key": {`CREATE TABLE bias (x double precision);
		INSERT INTO bias VALUES (0.3);
		CREATE VIEW l AS SELECT sum((a.x - bias.x - coalesce(w.b, 1)) ^ 2) FROM a JOIN w USING (u) CROSS JOIN bias;
		CALL train('l', ARRAY['bias', 'w.b'], lr => 0.1, epochs => 4, before_step => 'UPDATE bias SET x = x + 1',
			clip_norm => 3)`,
		"SELECT x FROM bias", "SELECT coalesce(b, -1) FROM w ORDER BY u", "SELECT * FROM gradient('l', NULL::bias)"},
	"data without a key": {`CREATE TABLE d (u int, y double precision);
		INSERT INTO d SELECT u % 7, u FROM w;
		INSERT INTO d SELECT u % 7, 1 FROM w;
		INSERT INTO d VALUES (NULL, 3), (NULL, 3), (4, NULL);
		CREATE VIEW l AS SELECT sum((d.y - coalesce(w.b, 1)) ^ 2) + count(d.y) FROM d LEFT JOIN w USING (u)`,
		"SELECT u, coalesce(b, -5) FROM gradient('l', NULL::w) ORDER BY u"},
	"a join with itself": {`CREATE VIEW l AS SELECT sum(dot(p.v, q.v) * a.x) FROM a JOIN w p ON p.u = a.u
			JOIN w q ON q.u = (a.u + 3) % 23;
		CALL train('l', ARRAY['w.v'], lr => 0.1, epochs => 3)`, "SELECT v FROM w ORDER BY u"},
	"windows": {`CREATE VIEW l AS SELECT sum(d * place) FROM (
			SELECT a.x - sum(w.b) OVER (PARTITION BY a.kind ORDER BY a.u, a.name) AS d,
				rank() OVER (PARTITION BY a.name ORDER BY a.u) AS place FROM a JOIN w USING (u)) AS q`,
		"SELECT u, coalesce(b, -5) FROM gradient('l', NULL::w) ORDER BY u"},
	"no rows": {`CREATE TABLE none (u int PRIMARY KEY, y double precision);
		CREATE VIEW l AS SELECT coalesce(sum(y * w.b), 0) + sum(sqnorm(v)) FROM w LEFT JOIN none USING (u);
		CREATE VIEW m AS SELECT sum(sqnorm(v)) FROM w WHERE EXISTS (SELECT FROM none WHERE none.u = w.u) OR w.u = 5`,
		"SELECT u, v, coalesce(b, -5) FROM gradient('l', NULL::w) ORDER BY u",
		"SELECT u, v, coalesce(b, -5) FROM gradient('m', NULL::w) ORDER BY u"},
	"rows without partners": {`CREATE VIEW l AS SELECT sum(sqnorm(w.v)) FROM w
			WHERE NOT EXISTS (SELECT FROM a WHERE a.u = w.u AND a.x > 1) AND w.u NOT IN (SELECT u + 1 FROM seen);
		CALL train('l', ARRAY['w.v'], lr => 0.1, epochs => 3)`, "SELECT v FROM w ORDER BY u"},
	"sub-queries": {`CREATE VIEW l AS SELECT
			sum((w.b - (SELECT avg(a.x) FROM a WHERE a.u = w.u) - (SELECT max(h.s) FROM h)) ^ 2)
			* (SELECT 10 / count(*) FROM seen WHERE u < 9) FROM w`,
		"SELECT u, coalesce(b, -5) FROM gradient('l', NULL::w) ORDER BY u",
		"SELECT s FROM gradient('l', NULL::h) ORDER BY name, kind"},
	"a union": {`CREATE VIEW l AS SELECT sum(x ^ 2 * n) FROM (
			SELECT b AS x, u AS n FROM w UNION ALL SELECT s + 1, length(name) FROM h
			UNION ALL SELECT x, 1 FROM a UNION ALL SELECT c.x, 5 FROM c) AS q;
		CALL train('l', ARRAY['w.b', 'h.s', 'c.x'], lr => 0.1, epochs => 3, clip_norm => 1)`,
		"SELECT coalesce(b, -1) FROM w ORDER BY u", "SELECT s FROM h ORDER BY name", "SELECT x FROM c"},
	"keys of double precision": {`CREATE TABLE k (q double precision PRIMARY KEY, v double precision);
		INSERT INTO k SELECT u / 4.0, u FROM w;
		CREATE VIEW l AS SELECT sum((k.v - w.b) ^ 2) + sum(k.q * k.v) FROM k JOIN w ON k.q = w.u / 4.0;
		CALL train('l', ARRAY['w.b', 'k.v'], lr => 0.1, epochs => 3)`,
		"SELECT coalesce(b, -1) FROM w ORDER BY u", "SELECT v FROM k ORDER BY q"},
	"gradients that are parameters": {`CREATE TABLE p (i int PRIMARY KEY, x double precision NOT NULL);
		INSERT INTO p SELECT u, u / 10.0 FROM w;
		CREATE TABLE q (i int PRIMARY KEY, x double precision NOT NULL);
		INSERT INTO q SELECT u, 1 - u / 20.0 FROM w;
		CREATE VIEW l AS SELECT sum(p.x * q.x) FROM p JOIN q USING (i);
		CALL train('l', ARRAY['p', 'q'], optimizer => 'sgd', lr => 0.1, epochs => 3)`,
		"SELECT x FROM p ORDER BY i", "SELECT x FROM q ORDER BY i"},
	"seeds": {"", "SELECT u, v FROM gradient('dropped', NULL::w, seed => 1, step => 2) ORDER BY u",
		"SELECT u, v FROM gradient('dropped', NULL::w, seed => 1, step => 3) ORDER BY u",
		"SELECT u, v FROM gradient('dropped', NULL::w, seed => 2, step => 3) ORDER BY u",
		"SELECT u, v FROM gradient('dropped', NULL::w, seed => 1, step => 2) ORDER BY u"},
	"rows of a step": {`CREATE VIEW l AS SELECT sum((a.x - dot(w.v, h.v)) ^ 2) FROM (
			SELECT * FROM a WHERE (u + current_step()) % 4 = 0) AS a JOIN w USING (u) JOIN h USING (name, kind)`,
		"SELECT u, v FROM gradient('l', NULL::w, step => 2) ORDER BY u",
		"SELECT u, v FROM gradient('l', NULL::w, step => 3) ORDER BY u",
		"SELECT v FROM gradient('l', NULL::h, seed => 2, step => 3) ORDER BY name"},
	"tables that change": {"", "SELECT u, v FROM gradient('loss', NULL::w) ORDER BY u",
		"DELETE FROM a WHERE u = 3 RETURNING u, x", "SELECT u, v FROM gradient('loss', NULL::w) ORDER BY u",
		"INSERT INTO w VALUES (99, '{1,2,3}', NULL, 'x') RETURNING u",
		"SELECT u, v, coalesce(b, -9) FROM gradient('loss', NULL::w) ORDER BY u",
		"UPDATE w SET b = 1 WHERE b IS NULL RETURNING u", "SELECT u, v, b FROM gradient('loss', NULL::w) ORDER BY u"},
	"NULLs that change": {"", "SELECT u, v, coalesce(b, -9) FROM gradient('loss', NULL::w) ORDER BY u",
		"UPDATE w SET b = CASE WHEN b IS NULL THEN 1 WHEN u % 2 = 0 THEN NULL ELSE b END RETURNING u",
		"SELECT u, v, coalesce(b, -9) FROM gradient('loss', NULL::w) ORDER BY u"},
	"backward": {"SELECT backward('loss', ARRAY['w', 'h'])", "SELECT u, v, coalesce(b, -5) FROM w_grad ORDER BY u",
		"SELECT v, s FROM h_grad ORDER BY name, kind"},
	"products of matrices": {`CREATE TABLE k (i int, j int, v real[][], PRIMARY KEY (i, j));
		INSERT INTO k SELECT i, j, random_uniform(ARRAY[4, 4], 1, ARRAY[i, j])
			FROM generate_series(0, 3) AS gi(i), generate_series(0, 2) AS gj(j);
		CREATE TABLE x (j int, l int, v real[][], PRIMARY KEY (j, l));
		INSERT INTO x SELECT i, j, random_uniform(ARRAY[4, 4], 2, ARRAY[i, j])
			FROM generate_series(0, 2) AS gi(i), generate_series(0, 4) AS gj(j);
		CREATE VIEW l AS SELECT sum(sqnorm(v)) FROM (
			SELECT i, l, sum(matmul(k.v, x.v)) AS v FROM k JOIN x USING (j) GROUP BY i, l) AS q;
		CALL train('l', ARRAY['k', 'x'], lr => 0.1, epochs => 3)`,
		"SELECT v FROM k ORDER BY i, j", "SELECT v FROM x ORDER BY j, l"},
}

// TestSitesLosses: losses of many forms, with what they leave, are those of one site.
func TestSitesLosses(t *testing.T) {
	for name, c := range sitesLosses {
		t.Run(name, func(t *testing.T) {
			run := func(sites int) (out []float64) {
				db := modelAt(t, sites)
				for i, sql := range c {
					if res := mustRun(t, db, sql); i > 0 {
						out = append(out, numbersOf(t, res.Rows)...)
					}
				}
				return out
			}
			want, tol := run(1), 1e-9
			if name == "products of matrices" { // of real
				tol = 1e-5
			}
			for _, sites := range []int{2, 3, 7} {
				if err := far(run(sites), want, tol); err != nil {
					t.Errorf("%d sites: %v", sites, err)
				}
			}
		})
	}
}

// drawnRun draws a run of train on the model.
func drawnRun(r *rand.Rand) string {
	pick := func(xs ...string) string { return xs[r.Intn(len(xs))] }
	loss := pick("loss", "mean", "grouped", "dropped", "weighted", "toned")
	params := map[string][]string{"loss": {"'w'", "'w.b'", "'h'", "'c.x'", "'w', 'h', 'c.x'"},
		"toned": {"'tone'", "'h.s'"}, "mean": {"'w', 'h.v'", "'h.s', 'w.v'"}, "grouped": {"'w.v'", "'w.v', 'h.v'"},
		"dropped":  {"'w.v', 'h'", "'w.v'"},
		"weighted": {"'w'", "'seen.weight', 'w.b'"}}[loss]
	call := fmt.Sprintf("CALL train('%s', ARRAY[%s], optimizer => '%s', lr => %s, epochs => %d, seed => %d", loss,
		pick(params...), pick("sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw"), pick("0.01", "0.03"),
		1+r.Intn(5), r.Intn(9))
	call += pick("", ", clip_norm => 0.3", ", clip_norm => 5") + pick("", ", sparse => true") +
		pick("", ", schedule => 'cosine'", ", schedule => 'step', step_size => 2, gamma => 0.5", ", warmup => 3")
	if r.Intn(9) == 0 {
		return call + ", before_step => 'UPDATE w SET b = NULL WHERE u = 2 + current_step()')" // refused
	}
	return call + pick("", ", batch => 'a', batch_size => 25", ", validate => 'mean', every => 2, patience => 1",
		", before_step => 'UPDATE seen SET weight = weight + u'", ", before_step => 'DELETE FROM a WHERE u = current_step()'",
		", before_step => 'UPDATE w SET b = b * 0.9 WHERE u > 7; UPDATE h SET s = s + 0.1'") + ")"
}

// TestSitesDrawn: runs that are drawn end as at one site, with the same error where they have one.
func TestSitesDrawn(t *testing.T) {
	for seed := range int64(15) {
		r := rand.New(rand.NewSource(seed))
		call := drawnRun(r)
		run := func(sites int) ([]float64, string) {
			db := modelAt(t, sites)
			_, err := db.Run(t.Context(), call)
			return append(figures(t, db), numbersOf(t, mustRun(t, db, "SELECT u, weight FROM seen ORDER BY u").Rows)...),
				fmt.Sprint(err)
		}
		want, failed := run(1)
		sites := 2 + r.Intn(15)
		got, says := run(sites)
		if err := far(got, want, 1e-8); err != nil || says != failed {
			t.Errorf("%d sites: %v; error %v, not %v\n%s", sites, err, says, failed, call)
		}
	}
}
