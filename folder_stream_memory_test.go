package relgrad

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
)

// TestStreamedMemory: a run over batches of a table of 128 MB takes less memory than the table, in a process of its
// own, and a query over it, which has pieces of the table, SQLite's pages and garbage in memory, less than twice as
// much; a run over the whole table takes more.
func TestStreamedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a table of 128 MB")
	}
	const bytes, wide = 128 << 20, 256
	if dir := os.Getenv("RELGRAD_TEST_STREAM"); dir != "" {
		db := testDB(t)
		mustRun(t, db, "CREATE TABLE w (id int PRIMARY KEY, q real[]); INSERT INTO w VALUES (1, "+
			"random_uniform(ARRAY[256], 1, ARRAY[1])); CREATE VIEW points AS SELECT v FROM "+
			"delta_table('"+dir+"'); CREATE VIEW loss AS SELECT avg(sqnorm(d.v - w.q)) AS loss FROM points d CROSS JOIN w")
		if _, err := db.Run(context.Background(), os.Getenv("RELGRAD_TEST_SQL")); err != nil {
			t.Fatal(err)
		}
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(regexp.MustCompile(`VmHWM:\s*\d+`).FindString(string(status)))
		return
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("no /proc")
	}
	dir := t.TempDir()
	s := delta.NewSink(delta.NewLocal(dir), delta.Add, delta.WriteOptions{Parquet: interop.ParquetOptions{Rows: 1024}})
	err := s.Begin("t", []interop.Column{{Name: "v", Type: "real[]"}}, nil)
	r := rand.New(rand.NewPCG(1, 2))
	row := make([]any, wide)
	for n := 0; n < bytes/4/wide && err == nil; n++ {
		for i := range row {
			row[i] = float64(r.Float32())
		}
		err = s.Write([]any{row})
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*.parquet")); len(files) < 3 {
		t.Errorf("the table has the files %v", files)
	}
	taken := func(sql string) (kilobytes int) {
		c := exec.Command(os.Args[0], "-test.run=TestStreamedMemory$")
		c.Env = append(os.Environ(), "RELGRAD_TEST_STREAM="+dir, "RELGRAD_TEST_SQL="+sql,
			"GOGC=100") // as users run it; make test has the collector wait
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		m := regexp.MustCompile(`VmHWM:\s*(\d+)`).FindSubmatch(out)
		if m == nil {
			t.Fatalf("%s", out)
		}
		fmt.Sscan(string(m[1]), &kilobytes)
		return kilobytes
	}
	const run = "CALL train('loss', ARRAY['w'], lr => 0.01, epochs => 1"
	query := taken("SELECT sum(sqnorm(v)) FROM points")
	batch, whole := taken(run+", batch => 'points', batch_size => 256)"), taken(run+")")
	t.Logf("of a table of %d kB: a query %d kB, a run with batches %d kB, without %d kB", bytes>>10, query, batch, whole)
	if query > 2*bytes>>10 {
		t.Errorf("a query takes %d kB, the table %d kB", query, bytes>>10)
	}
	if batch > bytes>>10 {
		t.Errorf("a run with batches takes %d kB, the table %d kB", batch, bytes>>10)
	}
	if whole < 2*bytes>>10 {
		t.Errorf("a run of the whole table takes %d kB only: then the bound says little", whole)
	}
}

// TestRowsInBudget: rows of a table of Delta Lake that a loss reads count towards relgrad.memory, and so do those of
// batches; where they do not fit, the run is refused before its first step.
func TestRowsInBudget(t *testing.T) {
	db, dir := testDB(t), t.TempDir()
	s := delta.NewSink(delta.NewLocal(dir), delta.Add, delta.WriteOptions{Parquet: interop.ParquetOptions{Rows: 1 << 14}})
	err := s.Begin("t", []interop.Column{{Name: "k", Type: "bigint"}, {Name: "note", Type: "text"}}, nil)
	for k := int64(0); k < 1<<18 && err == nil; k++ { // 2 MB of numbers and 10 MB of texts
		err = s.Write([]any{k, fmt.Sprintf("%024d", k%2)})
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, db, strings.ReplaceAll("CREATE TABLE w (note text PRIMARY KEY, p double precision); INSERT INTO w VALUES "+
		"('000000000000000000000000', 1), ('000000000000000000000001', 2); CREATE VIEW points AS SELECT * FROM "+
		"delta_table('DIR'); CREATE VIEW loss AS SELECT avg((d.k / 1e5 - w.p) ^ 2) AS loss FROM points d JOIN w USING (note)",
		"DIR", dir))
	const whole, batch = "", ", batch => 'points', batch_size => 16384"
	for _, tc := range []struct{ memory, options, code string }{
		{"8MB", whole, sqlerr.OutOfMemory}, {"64MB", whole, ""}, {"2MB", batch, sqlerr.OutOfMemory}, {"8MB", batch, ""}} {
		mustRun(t, db, "SET relgrad.memory = '"+tc.memory+"'")
		_, err := db.Run(context.Background(), "CALL train('loss', ARRAY['w'], lr => 0.01, epochs => 1"+tc.options+")")
		if sqlerr.Code(err) != tc.code {
			t.Errorf("%s%s: %v", tc.memory, tc.options, err)
		} else if err != nil && !strings.Contains(err.Error(), "the plan needs") {
			t.Error(err)
		} else {
			t.Log(tc.memory, tc.options, err)
		}
	}
}

// TestScanInPieces: rows that come in several pieces are all there, and an error in a later piece says where it is and
// leaves nothing behind.
func TestScanInPieces(t *testing.T) {
	db, dir := testDB(t), t.TempDir()
	row := make([]any, 1<<11)
	for file := range 2 { // of 8 MB each, in memory
		s := delta.NewSink(delta.NewLocal(dir), delta.Add, delta.WriteOptions{})
		err := s.Begin("t", []interop.Column{{Name: "k", Type: "bigint"}, {Name: "v", Type: "real[]"}, {Name: "note",
			Type: "text"}}, nil)
		for k := 0; k < 1<<10 && err == nil; k++ {
			for i := range row {
				row[i] = float64((k + i) % 3)
			}
			note := any(nil)
			if file == 1 {
				note = "second"
			}
			err = s.Write([]any{int64(file<<10 + k), row, note})
		}
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	sql := "SELECT count(*), min(k), max(k), count(note), sum(v[1]) FROM delta_table('" + dir + "')"
	want := "2048 0 2047 1024 2046"
	for _, f := range files {
		if got := answer(t, db, sql); got != want {
			t.Errorf("%s, not %s", got, want)
		}
		if err := os.Rename(f, f+".away"); err != nil {
			t.Fatal(err)
		}
		_, err := db.Run(context.Background(), sql)
		e, ok := sqlerr.From(err).(*sqlerr.Error)
		if !ok || !strings.Contains(e.Message, "no such file") || e.Pos != strings.Index(sql, "'") {
			t.Errorf("without %s: %v", f, err)
		}
		if err := os.Rename(f+".away", f); err != nil {
			t.Fatal(err)
		}
	}
	if got := answer(t, db, sql); got != want {
		t.Errorf("%s, not %s", got, want)
	}
}
