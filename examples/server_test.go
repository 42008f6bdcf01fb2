package examples

import (
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/docstest"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/pgcluster"
)

// allVariable, set to any value, makes TestServer run all scripts on all their data.
const allVariable = "RELGRAD_SERVER_SCRIPTS"

// long are the scripts that take long on any data: the time goes into the steps of their loops, which those of the
// karate club have too.
var long = []string{"gcn/cora_loop.sql", "gcn_cora_loop.sql"}

const (
	// printed is how far numbers of the two outputs may be from each other, relative. Sums of real are rounded in another
	// order by another program; training multiplies the difference, which stays below this for the scripts' steps.
	printed = 1e-6
	// firstSteps have losses that agree to within stepLoss, relative: whatever happens later, they began the same.
	firstSteps = 20
	stepLoss   = 1e-6
)

// server is a server on which each script has a database.
type server struct{ dsn string }

// TestServer runs the scripts as they are by psql on a server and compares everything that is printed (tables, notices,
// statements' tags) and the first losses with the embedded store's. relgrad run --db must print what psql does, to the
// last digit: it is the same server that trains.
func TestServer(t *testing.T) {
	if testing.Short() {
		t.Skip("trains models")
	}
	if _, err := exec.LookPath("psql"); err != nil {
		need.Absent(t, "pg", "no psql; make pg-install installs what a server needs")
	}
	s := &server{pgcluster.Start(t).DSN}
	t.Run("scripts", func(t *testing.T) { // returns when all are done
		for i := range ours {
			s.run(t, &ours[i], "examples", filepath.Join(need.Root(), "examples"))
		}
		for i := range surface {
			s.run(t, &surface[i], "surface", need.Surface(t))
		}
		for _, c := range recipes {
			for _, name := range c.names {
				t.Run("cookbook/"+name, func(t *testing.T) {
					t.Parallel()
					s.prints(t, filepath.Join(need.Root(), "examples", "cookbook", name+".sql"))
				})
			}
		}
	})
}

// prints compares what a recipe prints by psql on the server with what it prints on the store.
func (s *server) prints(t *testing.T, script string) {
	want := output(t, "relgrad:", nil, command, "run", script)
	got := output(t, "psql:", serverSettings, "psql", "-X", "-v", "ON_ERROR_STOP=1", "-f", script, s.database(t, ""))
	if err := docstest.Same(want, got); err != nil {
		t.Errorf("psql: %v\n%s\nthe store:\n%s", err, got, want)
	}
}

func (s *server) run(t *testing.T, e *example, kind, folder string) {
	t.Run(kind+"/"+e.script, func(t *testing.T) {
		all := os.Getenv(allVariable) != ""
		if slices.Contains(long, e.script) && !all {
			t.Skip("runs for long; set " + allVariable)
		}
		vars := []string{"-v", "seed=1"}
		if e.data {
			data := need.Data(t)
			if files := fewer[e.script]; files != nil && !all {
				data = part(t, data, files)
				some := *e
				some.lo, some.hi = math.Inf(-1), math.Inf(1) // of all data they would be others
				e = &some
			}
			vars = append(vars, "-v", "data="+data)
		}
		if e.epochs > 0 {
			vars = append(vars, "-v", fmt.Sprint("epochs=", e.epochs))
		}
		t.Parallel()
		s.compare(t, e, filepath.Join(folder, e.script), vars)
	})
}

func (s *server) compare(t *testing.T, e *example, script string, vars []string) {
	begin := time.Now()
	store := filepath.Join(t.TempDir(), "store.db")
	want := output(t, "relgrad:", nil, command, append(append([]string{"run", "--store", store}, vars...), script)...)
	trained := time.Since(begin)

	begin = time.Now()
	first := s.database(t, "a")
	got := output(t, "psql:", serverSettings, "psql",
		append(append([]string{"-X", "-v", "ON_ERROR_STOP=1"}, vars...), "-f", script, first)...)
	t.Logf("%.1f s on the store, %.1f s by psql", trained.Seconds(), time.Since(begin).Seconds())
	if err := docstest.Close(want, got, printed); err != nil {
		t.Errorf("psql: %v\n%s\nthe store:\n%s", err, tail(got), tail(want))
	}
	e.check(t, quality(t, got))
	s.sameLosses(t, first, losses(t, store))
	checkGradients(t, e, first)

	second := s.database(t, "b")
	if other := output(t, "relgrad:", serverSettings, command,
		append(append([]string{"run", "--db", second}, vars...), script)...); other != got {
		t.Errorf("relgrad run --db prints\n%s\npsql\n%s", tail(other), tail(got))
	}
}

// serverSettings take away what makes two runs of one query on one server differ in the last digits, and compiling.
var serverSettings = []string{"PGOPTIONS=-c jit=off -c max_parallel_workers_per_gather=0"}

// database makes a database with the extension and gives its DSN.
func (s *server) database(t *testing.T, suffix string) string {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "_", ".", "_").Replace(t.Name())) + suffix
	sql(t, s.dsn, "CREATE DATABASE "+name)
	dsn := strings.Replace(s.dsn, "dbname=postgres", "dbname="+name, 1)
	sql(t, dsn, "CREATE EXTENSION relgrad")
	return dsn
}

// sql runs a statement and gives its rows.
func sql(t *testing.T, dsn, statement string) [][]string {
	t.Helper()
	out := output(t, "psql:", nil, "psql", "-X", "-q", "--csv", "-t", "-c", statement, dsn)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// output runs a program and gives what a terminal shows; prefix is the one of its messages, which all get psql's.
func output(t *testing.T, prefix string, env []string, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, tail(string(out)))
	}
	lines := strings.SplitAfter(string(out), "\n")
	for i, l := range lines {
		if rest, ok := strings.CutPrefix(l, prefix); ok {
			lines[i] = "psql:" + rest
		}
	}
	return strings.Join(lines, "")
}

// quality is the last table's last row, its last column behind a comma as in CSV.
func quality(t *testing.T, out string) string {
	t.Helper()
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	if len(lines) < 2 || !strings.HasPrefix(lines[len(lines)-1], "(") {
		t.Fatalf("no table at the end of %s", tail(out))
	}
	cells := strings.Split(lines[len(lines)-2], "|")
	return strings.TrimSpace(cells[len(cells)-1])
}

// sameLosses compares the losses that a database has recorded with those of the store.
func (s *server) sameLosses(t *testing.T, dsn string, want map[string][]float64) {
	t.Helper()
	got := map[string][]float64{}
	for _, row := range sql(t, dsn, "SELECT run, loss FROM relgrad.loss ORDER BY run, step") {
		x, err := strconv.ParseFloat(row[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		got[row[0]] = append(got[row[0]], x)
	}
	if len(got) != len(want) {
		t.Errorf("losses of %d runs, not %d", len(got), len(want))
	}
	for run, w := range want {
		if len(got[run]) != len(w) {
			t.Errorf("run %s: %d losses, not %d", run, len(got[run]), len(w))
			continue
		}
		for i, x := range w[:min(len(w), firstSteps)] {
			if d := math.Abs(got[run][i]-x) / math.Abs(x); !(d <= stepLoss) {
				t.Errorf("run %s: loss %.17g of step %d, in the store %.17g: off by %g", run, got[run][i], i+1, x, d)
			}
		}
	}
}

// byHand are the losses, with their parameters, of scripts without train().
var byHand = map[string][][]string{
	"gcn/karate_loop.sql": {{"loss", "w0", "w1"}},
	"gcn_karate_loop.sql": {{"loss", "w0", "w1"}},
	"gcn/cora_loop.sql":   {{"loss", "w0", "w1"}},
	"gcn_cora_loop.sql":   {{"loss", "w0", "w1"}},
	"matrix_product.sql": {{"product_loss", "a", "b"}, {"chain_loss", "a", "b", "c", "d", "e"},
		{"chain_loss2", "a", "d"}},
	"gcn/sampled.sql": {{"sampled_loss", "w0", "w1"}},
	"distributed/product.sql": {{"square_loss", "square_a", "square_b"}, {"common_loss", "common_a", "common_b"},
		{"large_loss", "large_a", "large_b"}},
	"distributed/chain.sql": {{"square_loss", "square_a", "square_b", "square_c", "square_d", "square_e"},
		{"skewed_loss", "skewed_a", "skewed_b", "skewed_c", "skewed_d", "skewed_e"}},
	"distributed/nearest.sql":   {{"large_loss", "large_a"}, {"wide_loss", "wide_a"}},
	"distributed/attention.sql": {{"loss", "wq", "wk", "wv", "wo"}},
	"distributed/llama.sql":     {{"loss", "norm1", "wq", "wk", "wv", "wo", "norm2", "wgate", "wup", "wdown", "x"}},
}

// smaller are statements after which a loss takes less time, and rounding less of its differences.
var smaller = map[string]string{"attention/language_model.sql": "DELETE FROM block WHERE b >= 8"}

// checkGradients compares elements of the gradients of a script's losses, in their last mini-batch and where the
// parameters have come to, with central differences.
func checkGradients(t *testing.T, e *example, dsn string) {
	t.Helper()
	calls := sql(t, dsn, "SELECT format('%L, %L, batch => %L, batch_size => %L', loss, p, options ->> 'batch', "+
		"options ->> 'batch_size') FROM relgrad.run, unnest(parameters) p")
	for _, l := range byHand[e.script] {
		for _, p := range l[1:] {
			calls = append(calls, []string{fmt.Sprintf("'%s', '%s'", l[0], p)})
		}
	}
	if s := smaller[e.script]; s != "" {
		sql(t, dsn, s)
	}
	if len(calls) == 0 {
		t.Error("no loss to check; see byHand")
	}
	for _, c := range calls {
		call := "check_gradient(" + c[0] + ", samples => 20, step => 1, seed => 1)"
		rows := sql(t, dsn+" options='-c search_path=public,relgrad'",
			"SELECT count(*), count(*) FILTER (WHERE ok), max(error) FROM "+call)
		if rows[0][0] == "0" || rows[0][0] != rows[0][1] {
			t.Errorf("%s: %s elements, %s of them agree, largest error %s", call, rows[0][0], rows[0][1], rows[0][2])
		}
	}
}

// TestLong keeps the lists of scripts that take long free of names that are gone.
func TestLong(t *testing.T) {
	for _, name := range append(slices.Collect(maps.Keys(fewer)), long...) {
		if !slices.ContainsFunc(append(slices.Clone(ours), surface...), func(e example) bool { return e.script == name }) {
			t.Errorf("no script %s", name)
		}
	}
}
