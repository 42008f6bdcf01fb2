package relgrad

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/relgrad/relgrad/internal/cudamock"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels/cuda"
	"github.com/relgrad/relgrad/train"
)

// TestGraphics runs the tests of the setting on the graphics processor of the machine, and on a double of two. On the
// double alone a test can have the driver fail.
func TestGraphics(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles kernels")
	}
	cudamock.Card(t, cuda.Absent, "^TestGraphics(Train|Refuses|Chosen|NotFinite|Clips)$")
	cudamock.Rerun(t, "^TestGraphics.+$", nil)
}

// graphicsModels are losses with tables, and how they are trained.
var graphicsModels = map[string]string{
	"ratings": `CREATE TABLE rating (u int, i int, r real); CREATE TABLE w (k int PRIMARY KEY, v real[]);
CREATE TABLE h (k int PRIMARY KEY, v real[]);
INSERT INTO rating SELECT a % 13, a * 7 % 11, (a % 5)::real FROM generate_series(1, 100) a;
INSERT INTO w SELECT a, ARRAY[0.1 * a, 0.2, 0.3]::real[] FROM generate_series(0, 12) a;
INSERT INTO h SELECT a, ARRAY[0.3, 0.1 * a, 0.2]::real[] FROM generate_series(0, 10) a;
CREATE VIEW loss AS SELECT avg((r - dot(w.v, h.v)) ^ 2) FROM rating JOIN w ON w.k = u JOIN h ON h.k = i;
CALL train('loss', ARRAY['w', 'h'], optimizer => 'adam', lr => 0.01, epochs => 20)`,
	"logistic regression, batches": `CREATE TABLE p (id int PRIMARY KEY, x float8[], y float8);
CREATE TABLE w (k int PRIMARY KEY, v float8[]); CREATE TABLE h (k int PRIMARY KEY, v float8[]);
INSERT INTO p SELECT a, ARRAY[a % 7 - 3, a % 5 - 2, 1]::float8[], (a % 3 > 0)::int FROM generate_series(1, 2600) a;
INSERT INTO w VALUES (1, '{0,0,0}'); INSERT INTO h VALUES (1, '{0}');
CREATE VIEW loss AS SELECT avg(bce_with_logits(dot(x, w.v), y)) + 0.01 * max(sqnorm(w.v))
FROM p JOIN w ON true;
CALL train('loss', 'w', optimizer => 'sgd', lr => 0.1, epochs => 5, clip_norm => 1,
batch => 'p', batch_size => 1300)`,
	"graph convolution": `CREATE TABLE edge (src int, dst int, a float8);
CREATE TABLE node (id int PRIMARY KEY, x real[], y int);
CREATE TABLE w (k int PRIMARY KEY, v real[][]); CREATE TABLE h (k int PRIMARY KEY, v real[][]);
INSERT INTO node SELECT a, ARRAY[a % 3, a % 4, 1]::real[], a % 2 FROM generate_series(0, 29) a;
INSERT INTO edge SELECT a, (a * 7 + b) % 30, 0.5 FROM generate_series(0, 29) a, generate_series(0, 2) b;
INSERT INTO w VALUES (1, '{{0.1,0.2,-0.1,0.3},{0.2,-0.3,0.1,0.1},{0.05,0.1,0.2,-0.2}}');
INSERT INTO h VALUES (1, '{{0.1,-0.2},{0.3,0.1},{0.2,0.2},{-0.1,0.4}}');
CREATE VIEW hidden AS SELECT dst AS id, dropout(relu(sum((a * matmul(x, v))::real[])), 0.2) AS z
FROM edge JOIN node ON node.id = src JOIN w ON true GROUP BY dst;
CREATE VIEW loss AS SELECT avg(cross_entropy(matmul(z, h.v), y)) FROM hidden JOIN node USING (id) JOIN h ON true;
CALL train('loss', ARRAY['w', 'h'], optimizer => 'momentum', lr => 0.05, epochs => 10, seed => 3)`,
	"a group's greatest, and NULLs": `CREATE TABLE p (id int PRIMARY KEY, g int, x float8);
CREATE TABLE w (k int PRIMARY KEY, v float8); CREATE TABLE h (k int PRIMARY KEY, v float8);
INSERT INTO p SELECT a, least(a % 40, 5), CASE WHEN a % 5 > 0 THEN a % 9 / 7.0 END FROM generate_series(1, 2500) a;
INSERT INTO w SELECT a, 0.3 * a FROM generate_series(0, 5) a; INSERT INTO h VALUES (1, 0.5);
CREATE VIEW loss AS SELECT sum((m - coalesce(h.v, 1)) ^ 2 + (s / n - h.v) ^ 2) FROM (SELECT g, max(x * w.v) AS m,
sum(x * w.v + 1) AS s, count(x) AS n FROM p JOIN w ON w.k = g GROUP BY g) q JOIN h ON true;
CALL train('loss', ARRAY['w', 'h'], optimizer => 'rmsprop', lr => 0.01, epochs => 12)`,
	"shares of what is drawn": `CREATE TABLE p (id int PRIMARY KEY, g int, x float8);
CREATE TABLE w (k int PRIMARY KEY, v float8); CREATE TABLE h (k int PRIMARY KEY, v float8);
INSERT INTO p SELECT a, a % 6, a % 9 / 7.0 FROM generate_series(1, 60) a; INSERT INTO h VALUES (1, 0.5);
INSERT INTO w SELECT a, 0.3 * a FROM generate_series(0, 5) a;
CREATE VIEW loss AS SELECT sum(CASE WHEN n > 0 THEN (s * (1.0 / n) - h.v) ^ 2 * (n / 3.0) END) / sum(1.5 * n) FROM
(SELECT g, sum(x * w.v) AS s, count(*) AS n FROM p JOIN w ON w.k = g WHERE random_int(3, current_seed(),
ARRAY[current_step(), id]) > 0 GROUP BY g) q JOIN h ON true;
CALL train('loss', ARRAY['w', 'h'], optimizer => 'adam', lr => 0.01, epochs => 12)`,
	"more rows at each step": `CREATE TABLE p (id int PRIMARY KEY, g int, x float8[]);
CREATE TABLE w (k int PRIMARY KEY, v float8[]); CREATE TABLE h (k int PRIMARY KEY, v float8);
INSERT INTO p SELECT a, a % 6, ARRAY[a % 9 / 7.0, a % 5, 1]::float8[] FROM generate_series(1, 2400) a;
INSERT INTO w SELECT a, ARRAY[0.1 * a, 0.2, 0.3]::float8[] FROM generate_series(0, 5) a; INSERT INTO h VALUES (1, 0.5);
CREATE VIEW loss AS SELECT avg(sqnorm(exp(-s) - h.v)) FROM (SELECT id / 2, sum(x * w.v) AS s FROM p JOIN w ON w.k = g
WHERE id <= 200 * (current_step() + 1) GROUP BY id / 2) q JOIN h ON true;
CALL train('loss', ARRAY['w', 'h'], optimizer => 'adam', lr => 0.01, epochs => 12)`,
	"rows that a parameter chooses": `CREATE TABLE w (k int PRIMARY KEY, v float8);
CREATE TABLE h (k int PRIMARY KEY, v float8); INSERT INTO w SELECT a, 0.1 * a FROM generate_series(1, 20) a;
INSERT INTO h VALUES (1, 0.5); CREATE VIEW loss AS SELECT sum(w.v ^ 2 * h.v) FROM w, h WHERE w.v > 0.5;
CALL train('loss', ARRAY['w', 'h'], optimizer => 'sgd', lr => 0.02, epochs => 12)`,
}

// TestGraphicsTrain: training on a graphics processor gives the losses and parameters that processors give, the same
// bits each time.
func TestGraphicsTrain(t *testing.T) {
	if !cudamock.Devices() {
		t.Skip("runs in TestGraphics")
	}
	for name, script := range graphicsModels {
		t.Run(name, func(t *testing.T) {
			run := func(device string, sites int) (out []float64) {
				db := open(t, "")
				mustRun(t, db, fmt.Sprintf("SET relgrad.device = '%s'; SET relgrad.sites = %d", device, sites))
				mustRun(t, db, script)
				for _, q := range []string{"SELECT loss FROM relgrad.loss ORDER BY run, step", "SELECT v FROM w ORDER BY k",
					"SELECT v FROM h ORDER BY k"} {
					out = append(out, numbersOf(t, mustRun(t, db, q).Rows)...)
				}
				return out
			}
			tol, got := 1e-11, run("cuda", 1)
			if strings.Contains(script, "real") {
				tol = 1e-5
			}
			if err := far(got, run("cpu", 1), tol); err != nil {
				t.Error(err)
			}
			again := "cuda"
			if all, err := cuda.Devices(); err == nil && len(all) > 1 {
				again = "cuda:1"
			}
			if err := far(run(again, 1), got, 0); err != nil {
				t.Errorf("again, on %s: %v", again, err)
			}
			if err := far(run("cuda", 3), run("cpu", 3), tol); err != nil { // two of the sites share a processor
				t.Errorf("at three sites: %v", err)
			}
		})
	}
}

// TestGraphicsChosen: chosen automatically, a run of much work is on a graphics processor, a small or impossible one on
// the processors, with the reason.
func TestGraphicsChosen(t *testing.T) {
	if !cudamock.Devices() {
		t.Skip("runs in TestGraphics")
	}
	db := open(t, "")
	var program string
	db.Engine.OnCompiled = func(c Compilation) { program = c.Program.Explain() }
	mustRun(t, db, `CREATE TABLE x (i int PRIMARY KEY, v real[]); CREATE TABLE w (k int PRIMARY KEY, v real[]);
INSERT INTO x SELECT a, array_fill(0.01, ARRAY[64])::real[] FROM generate_series(1, 2000) a;
INSERT INTO w SELECT a, array_fill(0.01 * a, ARRAY[64])::real[] FROM generate_series(1, 20) a;
CREATE VIEW large AS SELECT sum(dot(x.v, w.v) ^ 2) FROM x, w;
CREATE VIEW small AS SELECT sum(dot(x.v, w.v) ^ 2) FROM x, w WHERE i < 5;
CREATE VIEW texts AS SELECT sum((CASE WHEN i::text < (current_step() + k)::text THEN 2 ELSE 1 END * dot(x.v, w.v)) ^ 2)
FROM x, w;
SET relgrad.device = 'auto'`)
	for _, c := range []struct{ loss, on, why string }{
		{"large", "executor: cuda:0, ", ""},
		{"small", "executor: ", "a step is estimated to take "},
		{"texts", "executor: ", "the device has no kernel for "},
	} {
		mustRun(t, db, "CALL train('"+c.loss+"', 'w', optimizer => 'sgd', lr => 1e-9, epochs => 2)")
		if c.why != "" && strings.Contains(program, "cuda") || !strings.HasPrefix(program, c.on) {
			t.Errorf("%s: %s", c.loss, program)
		}
		text, err := db.Engine.Explain(t.Context(), c.loss, []string{"w"}, "physical")
		if why := "device: the processors, since " + c.why; err != nil || c.why != "" && !strings.HasPrefix(text, why) {
			t.Errorf("%s: %v, not %q: %s", c.loss, err, why, text)
		}
	}
}

// TestGraphicsClips: the norm of more than a million numbers, which takes three rounds of kernels.
func TestGraphicsClips(t *testing.T) {
	if !cudamock.Devices() {
		t.Skip("runs in TestGraphics")
	}
	run := func(device string) []float64 {
		db := open(t, "")
		mustRun(t, db, `CREATE TABLE w (k int PRIMARY KEY, v float8[]);
INSERT INTO w SELECT a, array_fill(a % 7 - 3, ARRAY[1024])::float8[] FROM generate_series(1, 1030) a;
CREATE VIEW loss AS SELECT sum(sqnorm(v)) FROM w; SET relgrad.device = '`+device+`';
CALL train('loss', 'w', optimizer => 'sgd', lr => 0.1, epochs => 1, clip_norm => 1)`)
		return numbersOf(t, mustRun(t, db, "SELECT v[1] FROM w ORDER BY k").Rows)
	}
	if err := far(run("cuda"), run("cpu"), 1e-11); err != nil {
		t.Error(err)
	}
}

// TestGraphicsNotFinite: where a gradient is not finite, or a kernel finds an error, at the first step or at one that
// is launched at once, the error is that of the processors, and so are the parameters.
func TestGraphicsNotFinite(t *testing.T) {
	if !cudamock.Devices() {
		t.Skip("runs in TestGraphics")
	}
	const grows, leaves = "sum(1e37 * w.v * h.v[1])', lr => 1e-36",
		"sum(w.v - h.v[1] ^ 2 * CASE WHEN (1e7 * h.v[1])::int > 0 THEN 1 ELSE 2 END)', lr => 1" // leaves the integers
	for _, c := range [][2]string{{"50", grows}, {"1", grows}, {"0.1", grows}, {"50", leaves}, {"1", leaves}} {
		loss, rest, _ := strings.Cut(c[1], "'")
		run := func(device string) (values []float64, text string) {
			db := open(t, "")
			mustRun(t, db, `CREATE TABLE w (k int PRIMARY KEY, v real); INSERT INTO w VALUES (1, -0.1), (7, 9);
CREATE TABLE h (k int PRIMARY KEY, v float8[]); INSERT INTO h VALUES (1, '{`+c[0]+`,2}');
CREATE VIEW loss AS SELECT `+loss+` FROM w, h WHERE w.k = 1; SET relgrad.device = '`+device+`'`)
			_, err := db.Run(t.Context(), "CALL train('loss', ARRAY['h', 'w'], optimizer => 'sgd', epochs => 30"+rest+")")
			if err == nil || sqlerr.Code(err) == sqlerr.Internal {
				t.Fatalf("%s from %s on %s: %v", loss, c[0], device, err)
			}
			for _, q := range []string{"SELECT count(*) FROM relgrad.loss", "SELECT v FROM w ORDER BY k", "SELECT v FROM h"} {
				values = append(values, numbersOf(t, mustRun(t, db, q).Rows)...)
			}
			return values, err.Error()
		}
		got, text := run("cuda")
		want, wanted := run("cpu")
		if got[0] != want[0] { // a run that lasts stores parameters once a second
			got, want = nil, nil
		}
		if err := far(got, want, 1e-11); err != nil || text != wanted {
			t.Errorf("%s from %s: %v; %s, not %s", loss, c[0], err, text, wanted)
		}
	}
}

// TestGraphicsMemory: before a run begins it is known how much memory it needs; with so much it runs. Steps with rows
// of their own may need more, one after the other, which each says.
func TestGraphicsMemory(t *testing.T) {
	if !cudamock.Inside() {
		t.Skip("runs in TestGraphics")
	}
	for name, model := range graphicsModels {
		run := func(memory int) (needed int) {
			t.Setenv("RELGRAD_MOCK_MEMORY", fmt.Sprint(memory))
			db := open(t, "")
			defer db.core.Close()
			mustRun(t, db, "SET relgrad.device = cuda")
			_, err := db.Run(t.Context(), model)
			if err == nil {
				return memory
			}
			var there int
			const text = "the device has not enough memory: %d bytes are needed, and %d are there"
			_, words, _ := strings.Cut(err.Error(), "the device")
			if _, e := fmt.Sscanf("the device"+words, text, &needed, &there); e != nil || there != memory || needed <= there ||
				sqlerr.Code(err) != sqlerr.OutOfMemory {
				t.Fatalf("%s: %v", name, err)
			}
			return needed
		}
		least := 1000
		for most := 1; ; most++ {
			needed := run(least)
			if needed == least {
				break
			}
			times := 1 // that it may ask for more
			if strings.Contains(model, "batch") {
				times = 5
			} else if strings.Contains(model, "current_step") {
				times = 12 // once for each step
			}
			if least = needed; most > times {
				t.Fatalf("%s: %d bytes are asked for behind others", name, needed)
			}
		}
		if run(least-1) == least-1 {
			t.Errorf("%s runs with %d bytes, one less than it asks for", name, least-1)
		}
	}
}

// countdown is a context that is cancelled at a number of looks at it.
type countdown struct {
	context.Context
	left   atomic.Int64
	cancel func()
}

func (c *countdown) Err() error {
	if c.left.Add(-1) == 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// TestGraphicsCancelled: wherever a run is cancelled, what is stored are the parameters of the steps that it counts: a
// run that goes on comes to the same bits as one that was never cancelled.
func TestGraphicsCancelled(t *testing.T) {
	if !cudamock.Inside() {
		t.Skip("runs in TestGraphics")
	}
	tables, call, _ := strings.Cut(graphicsModels["logistic regression, batches"], "CALL")
	begin := func() *DB {
		db := open(t, "")
		mustRun(t, db, tables+"; SET relgrad.device = cuda")
		return db
	}
	parameters := func(db *DB) []float64 { return numbersOf(t, mustRun(t, db, "SELECT v FROM w").Rows) }
	whole := begin()
	mustRun(t, whole, "CALL"+call)
	want, cancelled := parameters(whole), 0
	for looks := int64(1); looks < 40; looks++ { // behind step 3
		ctx, cancel := context.WithCancel(t.Context())
		c := &countdown{Context: ctx, cancel: cancel}
		db := begin()
		db.OnStep = func(row train.LossRow, _ int64) {
			if row.Step == 3 {
				c.left.Store(looks)
			}
		}
		_, err := db.Run(c, "CALL"+call)
		cancel()
		switch runs := mustRun(t, db, "SELECT run FROM relgrad.run").Rows; {
		case err == nil:
		case sqlerr.Code(err) != sqlerr.QueryCanceled:
			t.Fatalf("cancelled at look %d: %v", looks, err)
		case len(runs) == 0:
			continue
		default:
			cancelled++
			mustRun(t, db, fmt.Sprintf("CALL train(resume => %v)", runs[0][0]))
		}
		if err := far(parameters(db), want, 0); err != nil {
			t.Errorf("cancelled at look %d: %v", looks, err)
		}
	}
	if cancelled < 5 {
		t.Errorf("only %d runs were cancelled", cancelled)
	}
}

// TestGraphicsRefuses: what a step asks of the device without a kernel there, and devices that there are not, are
// errors that say so; the session goes on.
func TestGraphicsRefuses(t *testing.T) {
	if !cudamock.Devices() {
		t.Skip("runs in TestGraphics")
	}
	db := open(t, "")
	mustRun(t, db, `CREATE TABLE w (k int PRIMARY KEY, v float8[]); INSERT INTO w VALUES (1, '{1,2}');
CREATE VIEW loss AS SELECT sum(CASE WHEN (current_step() + k)::text < k::text THEN v[1] ELSE v[2] END ^ 2) FROM w`)
	for _, c := range []struct{ set, code, want string }{
		{"cuda", sqlerr.FeatureNotSupported, "the device has no kernel for"},
		{"cuda:99", sqlerr.InvalidParameter, "there is no device cuda:99"},
	} {
		mustRun(t, db, "SET relgrad.device = '"+c.set+"'")
		_, err := db.Run(t.Context(), "SELECT * FROM gradient('loss', NULL::w, step => 1)")
		if sqlerr.Code(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.set, err)
		}
	}
	if _, err := db.Run(t.Context(), "SET relgrad.device = 'gpu'"); sqlerr.Code(err) != sqlerr.InvalidParameter {
		t.Error(err)
	}
	mustRun(t, db, "SET relgrad.device = 'cpu'; SELECT * FROM gradient('loss', NULL::w, step => 1)")
}

// TestGraphicsFails: an error of the driver amid a run is one error with its class, the parameters are those of the
// last commit, and the run goes on exactly on a processor that works. Launches of whole steps are among the calls that
// fail.
func TestGraphicsFails(t *testing.T) {
	if !cudamock.Inside() {
		t.Skip("runs in TestGraphics")
	}
	parameters := func(db *DB) []float64 {
		return append(numbersOf(t, mustRun(t, db, "SELECT v FROM w ORDER BY k").Rows),
			numbersOf(t, mustRun(t, db, "SELECT v FROM h ORDER BY k").Rows)...)
	}
	begin := func(t *testing.T, device string) *DB {
		db := open(t, "")
		mustRun(t, db, graphicsModels["ratings"])
		mustRun(t, db, "SET relgrad.device = '"+device+"'")
		return db
	}
	const call = "CALL train('loss', ARRAY['w', 'h'], optimizer => 'adam', lr => 0.01, epochs => 20)"
	whole := begin(t, "cuda")
	mustRun(t, whole, call)
	want := parameters(whole)
	whole.core.Close() // the device is free, so that what has failed there is forgotten with the next one's session
	for _, c := range []struct{ fail, code string }{
		{"cuMemAlloc_v2 5 2", sqlerr.OutOfMemory}, {"cuMemAlloc_v2 1 2", sqlerr.OutOfMemory},
		{"cuModuleLoadData 1 200", sqlerr.System}, {"cuModuleGetFunction 2 500", sqlerr.System},
		{"cuLaunchKernel 3 700", sqlerr.System}, {"cuGraphLaunch 1 719", sqlerr.System},
		{"cuGraphLaunch 11 719", sqlerr.System}, {"cuStreamSynchronize 8 715", sqlerr.System},
		{"cuEventCreate 2 2", sqlerr.OutOfMemory}, {"cuEventRecord 7 719", sqlerr.System},
		{"cuEventSynchronize 9 700", sqlerr.System},
		{"cuMemcpyDtoHAsync_v2 9 717", sqlerr.System}, {"cuMemcpyHtoDAsync_v2 9 718", sqlerr.System},
		{"cuStreamEndCapture 1 901", sqlerr.System}, {"cuGraphInstantiateWithFlags 1 2", sqlerr.OutOfMemory},
		{"cuDevicePrimaryCtxRetain 1 2", sqlerr.OutOfMemory}, {"cuStreamCreate 1 2", sqlerr.OutOfMemory},
	} {
		t.Run(c.fail, func(t *testing.T) {
			opens := strings.HasPrefix(c.fail, "cuDevicePrimaryCtx") || strings.HasPrefix(c.fail, "cuStreamCreate")
			db := begin(t, "cuda")
			before := parameters(db)
			t.Setenv("RELGRAD_MOCK_FAIL", c.fail)
			_, err := db.Run(t.Context(), call)
			os.Unsetenv("RELGRAD_MOCK_FAIL")
			if sqlerr.Code(err) != c.code || strings.Contains(fmt.Sprint(err), "it is opened") != opens {
				t.Fatalf("%v, not of class %s", err, c.code)
			}
			done := mustRun(t, db, "SELECT count(*) FROM relgrad.loss WHERE run = 2").Rows[0][0]
			if err := far(parameters(db), before, 0); fmt.Sprint(done) == "0" && err != nil {
				t.Errorf("no step is committed, and %v", err)
			}
			mustRun(t, db, "SET relgrad.device = 'cuda:1'")
			if fmt.Sprint(done) == "0" {
				mustRun(t, db, call)
			} else {
				mustRun(t, db, "CALL train(resume => 2)")
			}
			if err := far(parameters(db), want, 0); err != nil {
				t.Errorf("the run that goes on: %v", err)
			}
		})
	}
}

// TestNoGraphics: without a driver the setting is refused when a loss is run, with what the loader said.
func TestNoGraphics(t *testing.T) {
	if cudamock.Devices() {
		return
	}
	if os.Getenv("RELGRAD_CUDA_DRIVER") != "off" { // a process looks for the driver once
		c := exec.Command(os.Args[0], "-test.run=^TestNoGraphics$", "-test.v")
		c.Env = append(os.Environ(), "RELGRAD_CUDA_DRIVER=off")
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestNoGraphics") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	db := open(t, "")
	mustRun(t, db, `CREATE TABLE w (k int PRIMARY KEY, v float8); INSERT INTO w VALUES (1, 2);
CREATE VIEW loss AS SELECT sum(v ^ 2) FROM w; SET relgrad.device = cuda`)
	_, err := db.Run(t.Context(), "SELECT * FROM gradient('loss', NULL::w)")
	if sqlerr.Code(err) != sqlerr.FeatureNotSupported || !strings.Contains(err.Error(), "relgrad.device is cuda: ") {
		t.Error(err)
	}
	mustRun(t, db, "RESET relgrad.device; SELECT * FROM gradient('loss', NULL::w)")
}
