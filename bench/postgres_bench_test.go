package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/pgcluster"
)

var write = flag.Bool("write", false, "write POSTGRES.md and the generated gradients")

// Runs of each pair.
const (
	manyRuns = 41
	someRuns = 15
)

var head = []string{"measure", "relgrad", "peer", "ratio", "asked", "pairs"}

// BenchmarkPostgres measures everything once, whatever b.N is; see the package's comment.
func BenchmarkPostgres(b *testing.B) {
	c, s := start(b)
	s.peers()
	s.file("postgres/kernels.sql")
	pairs := &Table{Head: head}
	products(s, pairs)
	sums(s, pairs)
	gradients(s, pairs)
	fromTable(s, pairs)
	singles := &Table{Head: []string{"measure", "value", "asked"}}
	bulk(b, singles)
	cora(b, c, s, pairs, singles)
	text := report(s, pairs, singles)
	fmt.Print(text)
	if *write {
		if err := os.WriteFile("POSTGRES.md", []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

// products compares matmul with its parts, in one function and one by one.
func products(s *server, out *Table) {
	const what = "`matmul` of 100 pairs of 256² `real[]` in a table, against "
	ours := "SELECT count(matmul(a, b)) FROM pair"
	s.must(ours)
	if !s.hasBLAS() {
		out.Add(what+"OpenBLAS", "", "missing: no libopenblas.so.0", "", "", "")
		return
	}
	out.AddPair(what+"one C function that detoasts, allocates and calls OpenBLAS",
		s.alternate(manyRuns, ours, "SELECT count(bench_product(a, b)) FROM pair"), "1.3")
	parts := []string{"SELECT scan_chunks(a) + scan_chunks(b) FROM pair", "SELECT bench_sgemm(a, 100) FROM pair LIMIT 1",
		"SELECT sum(bench_allocate(256, i)) FROM generate_series(1, 100) AS i"}
	p, err := Alternate(manyRuns, func() (time.Duration, error) { return s.takes(ours) },
		func() (sum time.Duration, err error) {
			for _, sql := range parts {
				d, err := s.takes(sql)
				if err != nil {
					return 0, err
				}
				sum += d
			}
			return sum, nil
		})
	if err != nil {
		s.t.Fatal(err)
	}
	out.AddPair(what+"the sum of a scan that detoasts, OpenBLAS on memory at hand, allocations", p, "1.3")
}

// sums compares the aggregate with aggregates that compute nothing.
func sums(s *server, out *Table) {
	const what = "`sum` of 100,000 × `real[128]`, against a scan that "
	out.AddPair(what+"detoasts", s.alternate(manyRuns, "SELECT sum(v) FROM big", "SELECT scan_chunks(v) FROM big"), "1.3")
	out.AddPair("the same scan when it reads one number of each line of the cache, against the scan that detoasts",
		s.alternate(manyRuns, "SELECT touch_chunks(v) FROM big", "SELECT scan_chunks(v) FROM big"), "")
	out.AddPair(what+"detoasts and reads one number of each line of the cache",
		s.alternate(manyRuns, "SELECT sum(v) FROM big", "SELECT touch_chunks(v) FROM big"), "1.3")
	out.AddPair(what+"detoasts and reads the elements",
		s.alternate(manyRuns, "SELECT sum(v) FROM big", "SELECT read_chunks(v) FROM big"), "")
}

// gradients compares generated SQL with what is written by hand.
func gradients(s *server, out *Table) {
	for _, m := range models {
		s.file("postgres/" + m.name + ".sql")
		text := s.generated(m.name, m.param)
		if *write {
			if err := os.WriteFile("postgres/"+m.name+".generated.sql", []byte(text), 0o644); err != nil {
				s.t.Fatal(err)
			}
		}
		p := s.alternate(someRuns, text, read(s.t, "postgres/"+m.name+".hand.sql"))
		out.AddPair("generated gradient of "+m.what+", against SQL by hand", p, "1.1")
	}
}

// bulk measures how fast rows come from a table into the engine's vectors. The engine is this program (see TestMain).
func bulk(b *testing.B, out *Table) {
	c := pgcluster.Start(b)
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.UseEngine(program); err != nil {
		b.Fatal(err)
	}
	s := connect(b, c.DSN)
	s.must("CREATE EXTENSION relgrad; " + settings +
		"; CREATE TABLE timing (rows bigint, seconds double precision); CREATE TABLE big (id int PRIMARY KEY, v real[])")
	s.must("INSERT INTO big SELECT i, random_uniform(ARRAY[128], 1, ARRAY[2, i]) FROM generate_series(1, 99000) AS i")
	s.must("VACUUM ANALYZE big")
	s.must("BEGIN; INSERT INTO big SELECT i, random_uniform(ARRAY[128], 1, ARRAY[2, i]) " +
		"FROM generate_series(99001, 100000) AS i")
	var speeds []float64
	for range manyRuns {
		var rows int64
		var seconds float64
		if err := s.QueryRow(context.Background(), "SELECT * FROM gradient('big', NULL::timing)").
			Scan(&rows, &seconds); err != nil {
			b.Fatal(err)
		}
		if rows != 100000 {
			b.Fatalf("%d rows", rows)
		}
		speeds = append(speeds, 51.2e6/seconds)
	}
	s.must("ROLLBACK")
	out.Add(fmt.Sprintf("100,000 × `real[128]` with integer keys, the last 1,000 rows uncommitted, from the table to "+
		"the engine's vectors; median of %d", manyRuns),
		fmt.Sprintf("%.2f GB/s (%.2f to %.2f)", Median(speeds)/1e9, slices.Min(speeds)/1e9, slices.Max(speeds)/1e9), "1 GB/s")
}

// cora measures on the graph network of examples/gcn: cancelling, calls of backward, training.
func cora(b *testing.B, c *pgcluster.Cluster, s *server, pairs, singles *Table) {
	data := need.Data(b)
	if _, err := exec.LookPath("psql"); err != nil {
		singles.Add("training on Cora", "missing: no psql", "")
		return
	}
	s.must("CREATE DATABASE cora")
	dsn := strings.Replace(c.DSN, "dbname=postgres", "dbname=cora", 1)
	one := connect(b, dsn)
	one.must("CREATE EXTENSION relgrad")
	example := filepath.Join(need.Root(), "examples", "gcn")
	inPsql(b, dsn, "-v", "data="+data, "-f", filepath.Join(example, "cora_model.sql"))
	one.must("ANALYZE")
	one.must(settings)
	calls(one, singles)
	cancels(one, singles)
	training(b, c, data, example, pairs)
}

func inPsql(b *testing.B, dsn string, args ...string) string {
	b.Helper()
	out, err := exec.Command("psql", append([]string{"-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", dsn}, args...)...).
		CombinedOutput()
	if err != nil {
		b.Fatalf("psql: %v\n%s", err, out)
	}
	return string(out)
}

// calls measures backward() with an engine that knows the query, without and with changes of the parameters in between.
func calls(s *server, out *Table) {
	const call = "SELECT backward('loss', ARRAY['w0', 'w1'], step => %d)"
	for _, change := range []string{"", "UPDATE w0 SET v = 0.999 * v"} {
		var times []float64
		for step := range someRuns + 1 {
			if change != "" {
				s.must(change)
			}
			d, err := s.takes(fmt.Sprintf(call, step+1))
			if err != nil {
				s.t.Fatal(err)
			}
			if step > 0 {
				times = append(times, d.Seconds())
			}
		}
		what := fmt.Sprintf("`SELECT backward(…)` of Cora, the engine warm; median of %d", someRuns)
		if change != "" {
			what += ", w0 updated before each"
		}
		out.Add(what, fmt.Sprintf("%s (worst %s)", Seconds(Median(times)), Seconds(slices.Max(times))), "")
	}
}

// cancels measures how long CALL train() goes on after pg_cancel_backend.
func cancels(s *server, out *Table) {
	const cancels = 20
	other := connect(s.t, s.dsn)
	pid := s.must("SELECT pg_backend_pid()")
	var times []float64
	for i := range cancels {
		ended := make(chan time.Time)
		var failed error
		go func() {
			_, failed = s.Exec(context.Background(),
				"CALL train('loss', ARRAY['w0', 'w1'], optimizer => 'adam', lr => 0.0001, epochs => 1000000)",
				pgx.QueryExecModeSimpleProtocol)
			ended <- time.Now()
		}()
		time.Sleep(time.Second + time.Duration(i)*37*time.Millisecond) // into any part of a step
		begin := time.Now()
		other.must("SELECT pg_cancel_backend(" + pid + ")")
		times = append(times, (<-ended).Sub(begin).Seconds())
		var e *pgconn.PgError
		if !errors.As(failed, &e) || e.Code != "57014" {
			s.t.Fatalf("the cancelled training ended with %v", failed)
		}
	}
	out.Add(fmt.Sprintf("`pg_cancel_backend` of `CALL train` on Cora until the error is there; median and worst of %d",
		cancels),
		Seconds(Median(times))+", "+Seconds(slices.Max(times)), "100 ms")
}

var timing = regexp.MustCompile(`Time: ([0-9.]+) ms`)

// training runs the script of 200 steps in psql and on the embedded store; CALL train alone is timed.
func training(b *testing.B, c *pgcluster.Cluster, data, example string, out *Table) {
	dir := b.TempDir()
	relgrad := filepath.Join(dir, "relgrad")
	if text, err := exec.Command("go", "build", "-o", relgrad, "../cmd/relgrad").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, text)
	}
	call := "\\timing on\nCALL train('loss', ARRAY['w0', 'w1'], optimizer => 'adam', lr => 0.01, epochs => " +
		"200, seed => 1);\n"
	script := filepath.Join(dir, "cora.sql")
	if err := os.WriteFile(script, []byte("\\i "+filepath.Join(example, "cora_model.sql")+"\n"+call), 0o644); err != nil {
		b.Fatal(err)
	}
	time1 := func(text string) (time.Duration, error) {
		m := timing.FindStringSubmatch(text)
		if m == nil {
			return 0, fmt.Errorf("no time in %s", text)
		}
		ms, err := strconv.ParseFloat(m[1], 64)
		return time.Duration(ms * float64(time.Millisecond)), err
	}
	n := 0
	p, err := Alternate(3, func() (time.Duration, error) {
		n++
		name := fmt.Sprintf("train%d", n)
		inPsql(b, c.DSN, "-c", "CREATE DATABASE "+name)
		dsn := strings.Replace(c.DSN, "dbname=postgres", "dbname="+name, 1)
		inPsql(b, dsn, "-c", "CREATE EXTENSION relgrad")
		return time1(inPsql(b, dsn, "-v", "data="+data, "-f", script))
	}, func() (time.Duration, error) {
		cmd := exec.Command(relgrad, "run", "-v", "data="+data, script)
		text, err := cmd.CombinedOutput()
		if err != nil {
			return 0, fmt.Errorf("relgrad run: %w\n%s", err, text)
		}
		return time1(string(text))
	})
	if err != nil {
		b.Fatal(err)
	}
	out.AddPair("`CALL train` of 200 steps on Cora in psql, against `relgrad run` on the embedded store", p, "")
}
