package relgrad

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

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
