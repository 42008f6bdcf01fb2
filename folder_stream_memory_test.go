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
// own; a run over the whole table takes more than twice as much as the table.
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
		if _, err := db.Run(context.Background(), "CALL train('loss', ARRAY['w'], lr => 0.01, epochs => 1"+
			os.Getenv("RELGRAD_TEST_OPTIONS")+")"); err != nil {
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
	taken := func(options string) (kilobytes int) {
		c := exec.Command(os.Args[0], "-test.run=TestStreamedMemory$")
		c.Env = append(os.Environ(), "RELGRAD_TEST_STREAM="+dir, "RELGRAD_TEST_OPTIONS="+options,
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
	batch, whole := taken(", batch => 'points', batch_size => 256"), taken("")
	t.Logf("%d kB with batches, %d kB without, of a table of %d kB", batch, whole, bytes>>10)
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
