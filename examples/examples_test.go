// Package examples runs every example script, and the scripts of users that must run unmodified, with the command.
package examples

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/need"
)

var command string // the relgrad binary, built once

func TestMain(m *testing.M) {
	need.Command(m, func(file string) { command = file })
}

// example is a script with what must come out of it.
type example struct {
	script string
	data   bool    // reads real data
	trains int     // how many runs relgrad.run holds afterwards
	lo, hi float64 // bounds of the quality figure, the last column of the last result; both 0: it must be t (true)
	epochs int     // the script's variable epochs, where the test trains for fewer; the documents show the script's own
	same   bool    // what it prints is the same at any number of sites
}

var ours = []example{
	{script: "gcn/karate.sql", trains: 1, lo: 0.84, hi: 1},
	{script: "gcn/karate_loop.sql", lo: 0.84, hi: 1},
	{script: "gcn/cora.sql", data: true, trains: 1, lo: 0.80, hi: 0.83},
	{script: "gcn/cora_loop.sql", data: true, lo: 0.80, hi: 0.83},
	{script: "nnmf/lowrank.sql", trains: 1, lo: 0, hi: 0.01},
	{script: "nnmf/movies.sql", data: true, trains: 1, lo: 0.85, hi: 0.955},
	{script: "logreg/breast_cancer.sql", data: true, trains: 1, lo: 0.96, hi: 0.99},
	{script: "gcn/sampled.sql", data: true, trains: 1, lo: 0.79, hi: 0.83},
	{script: "nnmf/genes.sql", data: true, trains: 1, lo: 35, hi: 38},
	{script: "mlp/digits.sql", data: true, trains: 1, lo: 0.95, hi: 0.98},
	{script: "attention/attention.sql", trains: 1, lo: 0, hi: 0.1},
	{script: "attention/language_model.sql", trains: 1, lo: 3, hi: 3.9, epochs: 30},  // of 80; letters alone take 4.0
	{script: "kge/transe.sql", data: true, trains: 1, lo: 0.15, hi: 0.30, epochs: 2}, // of 10
	{script: "kge/transr.sql", data: true, trains: 1, lo: 0.10, hi: 0.30, epochs: 2}, // of 10
	{script: "distributed/product.sql", same: true},
	{script: "distributed/chain.sql", same: true},
	{script: "distributed/nearest.sql", same: true},
	{script: "distributed/ffnn.sql", trains: 2, lo: 0.9, hi: 1, same: true},
	{script: "distributed/attention.sql", same: true},
	{script: "distributed/llama.sql", same: true}, // TestLlama looks at its numbers
}

var surface = []example{
	{script: "gcn_karate.sql", trains: 1, lo: 0.84, hi: 1},
	{script: "gcn_karate_loop.sql", lo: 0.84, hi: 1},
	{script: "gcn_cora.sql", data: true, trains: 1, lo: 0.80, hi: 0.83},
	{script: "gcn_cora_loop.sql", data: true, lo: 0.80, hi: 0.83},
	{script: "nnmf_lowrank.sql", trains: 1, lo: 0, hi: 0.05},
	{script: "nnmf_movies.sql", data: true, trains: 1, lo: 0.85, hi: 0.96},
	{script: "logreg_breast_cancer.sql", data: true, trains: 1, lo: 0.96, hi: 0.99},
	{script: "mlp_digits.sql", data: true, trains: 1, lo: 0.93, hi: 0.97},
	{script: "matrix_product.sql"},
	{script: "attention.sql", trains: 1, lo: 30, hi: 55}, // from 102
	{script: "kge_transe.sql", data: true, trains: 1, lo: 0.05, hi: 0.2},
	{script: "kge_transe_view.sql", data: true, trains: 1, lo: 0.3, hi: 0.8},
	{script: "kge_transr.sql", data: true, trains: 1, lo: 600, hi: 950},
}

// included are the scripts of the surface folder that others include.
var included = []string{"gcn_cora_model.sql", "gcn_karate_model.sql", "kge_data.sql"}

func TestExamples(t *testing.T) {
	for _, e := range ours {
		t.Run(e.script, func(t *testing.T) {
			script := filepath.Join(need.Root(), "examples", e.script)
			losses, out := e.run(t, script)
			e.atSites(t, script, losses, out)
		})
	}
}

func TestSurface(t *testing.T) {
	for _, e := range surface {
		t.Run(e.script, func(t *testing.T) { e.run(t, filepath.Join(need.Surface(t), e.script)) })
	}
}

// TestEverySurfaceScript keeps the table of the users' scripts complete.
func TestEverySurfaceScript(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join(need.Surface(t), "*.sql"))
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, path := range scripts {
		name := filepath.Base(path)
		if !slices.Contains(included, name) && !slices.ContainsFunc(surface, func(e example) bool {
			return e.script == name
		}) {
			t.Errorf("no test runs %s", name)
		}
	}
}

// TestEveryScript keeps the table complete: each script is run, or is the model that others include.
func TestEveryScript(t *testing.T) {
	scripts, err := filepath.Glob("*/*.sql")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, s := range scripts {
		listed := strings.HasSuffix(s, "_model.sql") || strings.HasPrefix(s, "servers/") || // pgbridge/serverstest runs these
			strings.HasPrefix(s, "cookbook/") // TestCookbook
		for _, e := range ours {
			listed = listed || e.script == s
		}
		if !listed {
			t.Errorf("no test runs %s", s)
		}
	}
}

// run runs the script on a fresh store and checks its figure and the losses of its training runs, which it returns with
// what the script prints.
func (e *example) run(t *testing.T, script string, options ...string) (map[string][]float64, string) {
	if testing.Short() {
		t.Skip("trains a model")
	}
	if e.data {
		data := need.Data(t)
		if strings.HasPrefix(e.script, "kge") { // the documents' commands ask all of them
			data = part(t, data, someQuestions)
		}
		options = append(options, "-v", "data="+data)
	}
	if e.epochs > 0 {
		options = append(options, "-v", fmt.Sprint("epochs=", e.epochs))
	}
	start := time.Now()
	losses, out := trained(t, script, options...)
	name, value := last(t, out)
	t.Logf("%s = %s after %.1f s", name, value, time.Since(start).Seconds())
	e.check(t, value)
	if len(losses) != e.trains {
		t.Errorf("relgrad.loss holds %d runs, not %d", len(losses), e.trains)
	}
	for run, l := range losses {
		tenth := max(1, len(l)/10)
		first, end := mean(l[:tenth]), mean(l[len(l)-tenth:])
		if !(end < first) {
			t.Errorf("run %s: the loss did not fall: %g over the first %d steps, %g over the last", run, first, tenth, end)
		}
	}
	return losses, out
}

// trained runs a script on a fresh store, and returns the losses of its training runs and what it prints.
func trained(t *testing.T, script string, options ...string) (map[string][]float64, string) {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store.db")
	out := relgrad(t, append(append([]string{"--store", store, "--format", "csv", "-v", "seed=1"}, options...), script)...)
	return losses(t, store), out
}

func (e *example) check(t *testing.T, value string) {
	t.Helper()
	if e.lo == 0 && e.hi == 0 {
		if value != "t" {
			t.Errorf("the last result is %s, not t", value)
		}
		return
	}
	x, err := strconv.ParseFloat(value[strings.LastIndex(value, ",")+1:], 64)
	if err != nil || !(x >= e.lo && x <= e.hi) {
		t.Errorf("the last result %s is not between %g and %g", value, e.lo, e.hi)
	}
}

// relgrad runs the command's sub-command run and gives its standard output.
func relgrad(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(command, append([]string{"run"}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("relgrad run %s: %v\n%s\n%s", strings.Join(args, " "), err, tail(out.String()), tail(errs.String()))
	}
	return out.String()
}

// tail is the end of a long output.
func tail(s string) string {
	const limit = 4000
	if len(s) > limit {
		s = "…" + s[len(s)-limit:]
	}
	return s
}

// last gives the last result of a script, which has one row.
func last(t *testing.T, out string) (name, value string) {
	t.Helper()
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	if len(lines) < 2 {
		t.Fatalf("no result in %q", out)
	}
	return lines[len(lines)-2], lines[len(lines)-1]
}

// losses reads relgrad.loss: for each run the loss of each step, in order.
func losses(t *testing.T, store string) map[string][]float64 {
	t.Helper()
	query := filepath.Join(t.TempDir(), "losses.sql")
	if err := os.WriteFile(query, []byte("SELECT run, loss FROM relgrad.loss ORDER BY run, step;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(relgrad(t, "--store", store, "--format", "csv", query))).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatalf("relgrad.loss: %v, %v", rows, err)
	}
	out := map[string][]float64{}
	for _, r := range rows[1:] {
		x, err := strconv.ParseFloat(r[1], 64)
		if err != nil || math.IsNaN(x) {
			t.Fatalf("run %s has a loss %q", r[0], r[1])
		}
		out[r[0]] = append(out[r[0]], x)
	}
	return out
}

func mean(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s / float64(len(x))
}

// TestCora is the published protocol: the mean test accuracy of ten seeds.
func TestCora(t *testing.T) {
	if testing.Short() {
		t.Skip("trains ten models")
	}
	data := need.Data(t)
	var all []float64
	for seed := 1; seed <= 10; seed++ {
		out := relgrad(t, "--format", "csv", "-v", "data="+data, "-v", fmt.Sprint("seed=", seed), "gcn/cora.sql")
		_, value := last(t, out)
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	m := mean(all)
	t.Logf("test accuracy of seeds 1 to 10: %v, mean %.4f", all, m)
	if m < 0.808 || m > 0.822 {
		t.Errorf("the mean test accuracy %.4f is not between 0.808 and 0.822", m)
	}
}

// TestGenes: several seeds end at the published squared error, 6.866e10, and clusters.
func TestGenes(t *testing.T) {
	if testing.Short() {
		t.Skip("trains three models")
	}
	data := need.Data(t)
	for seed := 1; seed <= 3; seed++ {
		out := relgrad(t, "-q", "--format", "csv", "-v", "data="+data, "-v", fmt.Sprint("seed=", seed), "nnmf/genes.sql")
		_, rest, _ := strings.Cut(out, "squared error\n")
		text, _, _ := strings.Cut(rest, "\n")
		squares, err := strconv.ParseFloat(text, 64)
		_, value := last(t, out)
		labels, err2 := strconv.Atoi(value)
		if err != nil || err2 != nil || squares > 6.90e10 || labels < 35 {
			t.Errorf("seed %d: squared error %q, labels %q", seed, text, value)
		}
	}
}

// TestCoraWhole trains for all 200 epochs, and tells how long that takes with loading and everything.
func TestCoraWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a model")
	}
	store := filepath.Join(t.TempDir(), "store.db")
	start := time.Now()
	relgrad(t, "--store", store, "-v", "data="+need.Data(t), "-v", "early_stop=off", "gcn/cora.sql")
	t.Logf("%.2f s", time.Since(start).Seconds())
	if n := len(losses(t, store)["1"]); n != 200 {
		t.Errorf("%d steps, not 200", n)
	}
}
