package relgrad

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/train"
)

// sitesModel has parameters whose keys are of several types and stored in no order, some of them NULL, and data that
// reach some of their rows.
const sitesModel = `
CREATE TABLE w (u int PRIMARY KEY, v double precision[] NOT NULL, b double precision, part text);
INSERT INTO w SELECT (7 * u) % 23, random_uniform(ARRAY[3], 1, ARRAY[1, u]), CASE WHEN u % 3 > 0 THEN u / 10.0 END,
    CASE WHEN u % 4 > 0 THEN 'some' ELSE 'rest' END FROM generate_series(0, 22) AS g(u);
CREATE TABLE h (name text, kind text, v double precision[] NOT NULL, s double precision NOT NULL,
    PRIMARY KEY (name, kind));
INSERT INTO h SELECT 'item ' || (5 * i) % 17, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END,
    random_uniform(ARRAY[3], 2, ARRAY[2, i]), 0 FROM generate_series(0, 16) AS g(i);
CREATE TABLE c (one int PRIMARY KEY, x double precision NOT NULL, r real NOT NULL);
INSERT INTO c VALUES (1, 0.5, 0.25);
CREATE TABLE tone (kind text PRIMARY KEY, b double precision, f double precision);
INSERT INTO tone VALUES ('a', NULL, 1), ('b', 0.5, NULL), ('c', 1, 2), ('d', NULL, 1);
CREATE TABLE a (u int, name text, kind text, x double precision, PRIMARY KEY (u, name));
INSERT INTO a SELECT w.u, h.name, h.kind, (w.u * 3 + length(h.name)) % 5 / 2.0
    FROM w CROSS JOIN h WHERE w.u % 5 > 0 AND (w.u + length(h.name) * 3 + ascii(h.kind)) % 4 = 0;
CREATE TABLE seen (u int PRIMARY KEY, weight double precision);
INSERT INTO seen SELECT u, 1 FROM w WHERE u % 2 = 0;
CREATE VIEW term AS SELECT a.u, a.x - dot(w.v, h.v) - coalesce(w.b, 0.5) - h.s * c.x AS d
    FROM a JOIN w USING (u) JOIN h USING (name, kind) CROSS JOIN c;
CREATE VIEW loss AS SELECT sum(d ^ 2) + (SELECT sum(sqnorm(v)) FROM w) * 0.01 AS loss FROM term;
CREATE VIEW mean AS SELECT avg(d ^ 2) AS mean FROM term;
CREATE VIEW figures AS SELECT avg(d ^ 2) AS mean, sum(abs(d)) AS far, max(d) AS most FROM term;
CREATE VIEW weighted AS SELECT sum(d ^ 2 * weight) FROM term JOIN seen USING (u);
CREATE VIEW dropped AS SELECT sum((a.x - dot(dropout(w.v, 0.3), h.v) - h.s) ^ 2)
    FROM a JOIN w USING (u) JOIN h USING (name, kind);
CREATE VIEW grouped AS SELECT sum(best ^ 2) FROM (SELECT a.u, max(dot(w.v, h.v)) AS best
    FROM a JOIN w USING (u) JOIN h USING (name, kind) GROUP BY a.u) AS x;
CREATE VIEW toned AS SELECT sum((a.x - coalesce(tone.b, 1.5) - coalesce(tone.f, 0.5) * h.s) ^ 2)
    FROM a JOIN h USING (name, kind) JOIN tone ON tone.kind = a.kind OR tone.kind = 'd';
CREATE VIEW other AS SELECT a.u, a.name, random_int(23, current_seed(), ARRAY[current_step(), a.u]) AS o FROM a;
CREATE VIEW drawn AS SELECT sum((o.v[1] - u.v[2] * other.o) ^ 2)
    FROM other JOIN w AS o ON o.u = other.o JOIN w AS u ON u.u = other.u;
CREATE VIEW away AS SELECT sum(sqnorm(w.v)) FROM w WHERE w.u NOT IN (SELECT o FROM other);
CREATE VIEW turns AS SELECT sum(s ^ 2) FROM (SELECT a.name, sum(dot(w.v, w.v) * a.x) AS s FROM a JOIN w USING (u)
    GROUP BY a.name HAVING sum(a.x * sin(a.u * current_step())) > 0) AS q;
CREATE VIEW narrow AS SELECT sum((a.x - c.r * (1 + h.s)) ^ 2) FROM a JOIN h USING (name, kind) CROSS JOIN c;`

// sitesRuns are runs of train on that model.
var sitesRuns = map[string]string{
	"adam, a bound of the norm": `CALL train('loss', ARRAY['w', 'h', 'c.x'], lr => 0.05, epochs => 5, clip_norm => 0.7)`,
	"chosen rows": `CALL train('loss', ARRAY['w', 'h'], lr => 0.05, epochs => 4, clip_norm => 0.5, options =>
		'{"w.v": {"where": "part = ''some''", "weight_decay": 0.1}, "h": {"where": "kind = ''b''", "lr": 0.01}}')`,
	"sparse": `CALL train('mean', ARRAY['w', 'h.v'], optimizer => 'momentum', sparse => true, lr => 0.1, epochs => 4)`,
	"batches": `CALL train('loss', ARRAY['w', 'h'], lr => 0.05, epochs => 2, batch => 'a', batch_size => 20,
		validate => 'figures', every => 2, seed => 5)`,
	"batches of a parameter": `CALL train('loss', ARRAY['w.v', 'h'], optimizer => 'sgd', lr => 0.01, epochs => 2, batch =>
		'w', batch_size => 9, sparse => true)`,
	"dropout": `CALL train('dropped', ARRAY['w.v', 'h'], lr => 0.05, epochs => 4, validate => 'figures', seed => 3)`,
	"groups": `CALL train('grouped', ARRAY['w.v', 'h.v'], optimizer => 'rmsprop', lr => 0.01, epochs => 3,
		project => ARRAY['w.v: unit_ball'], nonnegative => ARRAY['h.v'])`,
	"data that change": `CALL train('weighted', ARRAY['w', 'h'], lr => 0.05, epochs => 4,
		before_step => 'UPDATE seen SET weight = current_step() + u % 3')`,
	"rows that change": `CALL train('weighted', ARRAY['w', 'h'], lr => 0.05, epochs => 4, before_step =>
		'DELETE FROM seen WHERE u = 2 * current_step(); INSERT INTO seen VALUES (2 * current_step() + 1, 2)')`,
	"a parameter that is written": `CALL train('loss', ARRAY['w', 'h'], lr => 0.05, epochs => 4, before_step =>
		'UPDATE w SET b = b + u, v = v * 0.9 WHERE u % 4 = current_step() % 4; UPDATE h SET s = s + 0.1 WHERE kind = ''a''')`,
	"one run, another one": `CALL train('loss', ARRAY['w', 'h'], lr => 0.05, epochs => 2);
		UPDATE w SET v = v * 2 WHERE u < 9; UPDATE h SET s = 1;
		CALL train('loss', ARRAY['w', 'h'], lr => 0.05, epochs => 2)`,
	"keys that a step draws":     `CALL train('drawn', ARRAY['w.v'], optimizer => 'sgd', lr => 1e-6, epochs => 4)`,
	"partners that a step draws": `CALL train('away', ARRAY['w.v'], optimizer => 'sgd', lr => 0.01, epochs => 4)`,
	"groups that a step chooses": `CALL train('turns', ARRAY['w.v'], optimizer => 'sgd', lr => 1e-4, epochs => 4)`,
	"NULL moves":                 `CALL train('toned', ARRAY['tone.b', 'h.s'], lr => 0.05, epochs => 3)`,
	"real":                       `CALL train('narrow', ARRAY['c.r', 'h.s'], lr => 0.05, epochs => 4)`,
}

// figures are all numbers that a run leaves: those of its log, and the parameters.
func figures(t *testing.T, db *DB) (out []float64) {
	t.Helper()
	for _, q := range []string{"SELECT loss, coalesce(validation, -1) FROM relgrad.loss ORDER BY run, step",
		"SELECT position, coalesce(value, -1) FROM relgrad.validation ORDER BY run, step, position",
		"SELECT v, coalesce(b, -99) FROM w ORDER BY u", "SELECT v, s FROM h ORDER BY name", "SELECT x, r FROM c",
		"SELECT coalesce(b, -99) FROM tone ORDER BY kind"} {
		out = append(out, numbersOf(t, mustRun(t, db, q).Rows)...)
	}
	return out
}

// modelAt is a store with the model, and with so many sites.
func modelAt(t *testing.T, sites int) *DB {
	t.Helper()
	db := open(t, "")
	db.Cluster = &physical.Costs{Cluster: physical.Cluster{Network: 1e9, Operations: 8e9}} // exchanges begin at once
	mustRun(t, db, sitesModel)
	mustRun(t, db, fmt.Sprintf("SET relgrad.sites = %d", sites))
	return db
}

// far tells of the first number that is not as it should be.
func far(got, want []float64, tol float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d numbers, not %d", len(got), len(want))
	}
	for i, x := range got {
		if !(math.Abs(x-want[i]) <= tol*max(1, math.Abs(want[i]))) {
			return fmt.Errorf("number %d is %v, not %v", i, x, want[i])
		}
	}
	return nil
}

// TestSitesTrain: training at several sites gives the losses and the parameters of one site, the same bits each time
// and with any number of workers.
func TestSitesTrain(t *testing.T) {
	need.Time(t)
	for name, script := range sitesRuns {
		t.Run(name, func(t *testing.T) {
			run := func(sites, workers int) []float64 {
				db := modelAt(t, sites)
				db.Engine.Workers = workers
				mustRun(t, db, script)
				return figures(t, db)
			}
			tol, want := 1e-9, run(1, 2)
			if name == "real" {
				tol = 1e-5
			}
			for _, sites := range []int{2, 3, 7} {
				got := run(sites, 2)
				if err := far(got, want, tol); err != nil {
					t.Errorf("%d sites: %+v", sites, err)
				}
				if sites == 3 && !reflect.DeepEqual(got, run(sites, 7)) {
					t.Errorf("%d sites give other bits the second time", sites)
				}
			}
		})
	}
}

// TestSitesResume: a run at several sites that is cancelled goes on with the state of its optimizer, at the same sites
// bit for bit, and at others too.
func TestSitesResume(t *testing.T) {
	const call = "CALL train('loss', ARRAY['w', 'h'], lr => 0.05, epochs => 9, clip_norm => 0.8)"
	whole := modelAt(t, 3)
	mustRun(t, whole, call)
	want := figures(t, whole)
	for _, sites := range []int{3, 1, 2} {
		db := modelAt(t, 3)
		ctx, cancel := context.WithCancel(context.Background())
		db.OnStep = func(row train.LossRow, _ int64) {
			if row.Step == 4 {
				cancel()
			}
		}
		if _, err := db.Run(ctx, call); sqlerr.Code(err) != sqlerr.QueryCanceled {
			t.Fatalf("the cancelled run gave %v", err)
		}
		mustRun(t, db, fmt.Sprintf("SET relgrad.sites = %d; CALL train(resume => 1)", sites))
		got := figures(t, db)
		if err := far(got, want, 1e-9); err != nil || sites == 3 && !reflect.DeepEqual(got, want) {
			t.Errorf("resumed at %d sites: %v; equal bits: %v", sites, err, reflect.DeepEqual(got, want))
		}
	}
}

// TestSitesNotFinite: a gradient that is not finite is named by the row of the whole parameter, as at one site, and no
// site has changed anything.
func TestSitesNotFinite(t *testing.T) {
	// the first of these rows lies at the last site, or at the first
	for _, zeros := range []string{"7, 12, 14, 20, 25, 29, 33", "12, 14, 20, 25, 29, 33"} {
		sitesNotFinite(t, strings.ReplaceAll(`
CREATE TABLE e (name text PRIMARY KEY, x double precision NOT NULL);
INSERT INTO e SELECT 'e' || (11 * i) % 37, CASE WHEN i IN (zeros) THEN 0 ELSE i END
    FROM generate_series(1, 36) AS g(i);
CREATE TABLE f (id int PRIMARY KEY, x double precision NOT NULL);
INSERT INTO f SELECT i, i FROM generate_series(1, 20) AS g(i);
CREATE VIEW root AS SELECT sum(power(x, 0.5)) + (SELECT sum(x ^ 2) FROM f) FROM e;`, "zeros", zeros))
	}
}

func sitesNotFinite(t *testing.T, script string) {
	said := ""
	for _, sites := range []int{1, 2, 3, 7} {
		db := modelAt(t, sites)
		mustRun(t, db, script)
		before := mustRun(t, db, "SELECT * FROM e ORDER BY name").Rows
		for _, clip := range []string{"", ", clip_norm => 1"} {
			_, err := db.Run(context.Background(), "CALL train('root', ARRAY['f', 'e'], optimizer => 'sgd', lr => 0.1"+clip+")")
			var e *sqlerr.Error
			if !errors.As(err, &e) || e.Code != sqlerr.NumericOutOfRange {
				t.Fatalf("%d sites: %v", sites, err)
			}
			e.Detail = strings.Split(e.Detail, "Run ")[0] // its number
			if said == "" {
				said = sqlerr.Render(e)
			}
			if got := sqlerr.Render(e); got != said || !strings.Contains(e.Message, "parameter e.x, key (name = 'e") {
				t.Errorf("%d sites say\n%s\none says\n%s", sites, got, said)
			}
		}
		if got := mustRun(t, db, "SELECT * FROM e ORDER BY name").Rows; !reflect.DeepEqual(got, before) {
			t.Errorf("%d sites have changed rows of e: %v", sites, got)
		}
		if n := mustRun(t, db, "SELECT count(*) FROM f WHERE x <> id").Rows[0][0]; n != int64(0) {
			t.Errorf("%d sites have changed %v rows of f", sites, n)
		}
	}
}

// TestSitesCalls: gradients and their check are those of one site, also of changed parameters, and their rows come in
// the order of their keys. What a session has compiled for some sites is not taken for others.
func TestSitesCalls(t *testing.T) {
	ctx, db, compiled := context.Background(), modelAt(t, 1), 0
	db.OnCompiled = func(engine.Compilation) { compiled++ }
	gradients := func() (out []float64) {
		for _, q := range []string{"SELECT u, v, coalesce(b, -99) FROM gradient('loss', NULL::w) ORDER BY u",
			"SELECT v, s FROM gradient('loss', NULL::h) ORDER BY name, kind", "SELECT x, r FROM gradient('loss', NULL::c)"} {
			out = append(out, numbersOf(t, mustRun(t, db, q).Rows)...)
		}
		return out
	}
	for i, sites := range []int{2, 1, 2, 1} {
		mustRun(t, db, fmt.Sprintf("SET relgrad.sites = %d", sites))
		gradients()
		if programs := 3 * min(i+1, 2); compiled != programs {
			t.Errorf("%d programs have been compiled, not %d", compiled, programs)
		}
	}
	var want [][]float64
	for _, sites := range []int{1, 2, 3, 7} {
		mustRun(t, db, fmt.Sprintf("SET relgrad.sites = %d", sites))
		got := [][]float64{gradients()}
		mustRun(t, db, "UPDATE w SET b = b + u, v = v * 2 WHERE u % 4 <> 1")
		got = append(got, gradients())
		mustRun(t, db, "UPDATE w SET b = b - u, v = v / 2 WHERE u % 4 <> 1")
		if want == nil {
			want = got
		}
		for k, g := range got {
			if err := far(g, want[k], 1e-12); err != nil {
				t.Errorf("%d sites: %+v", sites, err)
			}
		}
		var keys []int64
		for _, row := range mustRun(t, db, "SELECT u FROM gradient('mean', NULL::w)").Rows {
			keys = append(keys, row[0].(int64))
		}
		if sites > 1 && !slices.IsSorted(keys) {
			t.Errorf("%d sites give rows in the order %v", sites, keys)
		}
		for _, param := range []string{"w", "h"} {
			of, err := db.Check(ctx, "loss", param, engine.CheckOptions{Samples: 60})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range of {
				if !c.OK {
					t.Errorf("%d sites: %+v", sites, c)
				}
			}
		}
	}
}

// TestSitesFile: a store keeps what sites have trained.
func TestSitesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	db := open(t, path)
	mustRun(t, db, sitesModel+"SET relgrad.sites = 3; CALL train('loss', ARRAY['w', 'h'], lr => 0.05, epochs => 3)")
	want := figures(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := figures(t, open(t, path)); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}
