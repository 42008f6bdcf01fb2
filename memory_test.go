package relgrad

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// heavy is a regression on 200 MB of data, with a hidden layer whose results take as much again.
const heavy = `
CREATE TABLE sample (id int PRIMARY KEY, x real[], y double precision);
INSERT INTO sample SELECT i, random_normal(ARRAY[1000], 1, ARRAY[i]), sin(i) FROM generate_series(1, 50000) AS g(i);
CREATE TABLE layer (id int PRIMARY KEY, w real[][], v real[]);
INSERT INTO layer SELECT 1, (random_normal(ARRAY[1000, 64], 2) / 30)::real[], (random_normal(ARRAY[64], 3) / 8)::real[];
CREATE VIEW hidden AS SELECT s.id, tanh(matmul(s.x, l.w)) AS h FROM sample s CROSS JOIN layer l;
CREATE VIEW loss AS SELECT avg((s.y - dot(h.h, l.v)) ^ 2) AS loss FROM sample s JOIN hidden h USING (id) CROSS
    JOIN layer l;`

// deep is a recurrence of 300 steps whose states take 31 MB, as their gradients do.
const deep = `
CREATE TABLE serie (s int, t int, x double precision, PRIMARY KEY (s, t));
INSERT INTO serie SELECT s, t, sin(s + t / 5.0) FROM generate_series(1, 200) AS a(s), generate_series(1, 300) AS b(t);
CREATE TABLE layer (id int PRIMARY KEY, w real[][], v real[]);
INSERT INTO layer SELECT 1, (random_normal(ARRAY[128, 128], 2) / 12)::real[], random_normal(ARRAY[128], 3)::real[];
CREATE VIEW state AS WITH RECURSIVE h(s, t, h) AS (
  SELECT s, 0, zeros(ARRAY[128]) FROM serie WHERE t = 1
  UNION ALL
  SELECT x.s, x.t, tanh(x.x * l.v + matmul(h.h, l.w))
  FROM h JOIN serie x ON x.s = h.s AND x.t = h.t + 1 CROSS JOIN layer l
) SELECT s, t, h FROM h;
CREATE VIEW loss AS SELECT avg((x.x - dot(h.h, l.v)) ^ 2) AS loss
FROM state h JOIN serie x ON x.s = h.s AND x.t = h.t + 1 CROSS JOIN layer l;`

// trainedUnder trains three steps in the store and returns the losses and what was said.
func trainedUnder(t testing.TB, path string, memory int64) (losses string, notices []string) {
	t.Helper()
	db, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.Engine.Memory = memory
	db.Notice = func(_, message string) { notices = append(notices, message) }
	ctx := context.Background()
	if _, err := db.Run(ctx, "CALL train('loss', ARRAY['layer'], epochs => 3, validate => 'loss')"); err != nil {
		t.Fatal(sqlerr.Render(err))
	}
	res, err := db.Run(ctx, "SELECT string_agg(loss::text, ' ' ORDER BY step) FROM relgrad.loss")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(res.Rows[0][0]), notices
}

// peakOf is the largest resident size of this process so far, in bytes (proc(5)).
func peakOf(t testing.TB) int64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmHWM:" {
			kb, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatal("/proc/self/status tells no peak")
	return 0
}

// TestPeak: a process that trains under a budget stays below it times 1.2 and 100 MB more, and finds the same losses.
func TestPeak(t *testing.T) {
	if path := os.Getenv("RELGRAD_TEST_PEAK"); path != "" { // the process that is measured
		memory, err := strconv.ParseInt(os.Getenv("RELGRAD_TEST_MEMORY"), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		losses, notices := trainedUnder(t, path, memory)
		fmt.Printf("peak %d losses %s spills %v\n", peakOf(t), losses,
			strings.Contains(strings.Join(notices, "\n"), "lie in files in "+filepath.Dir(path)))
		return
	}
	if runtime.GOOS != "linux" || testing.Short() {
		t.Skip("spilling exists on Linux only, and the data are large")
	}
	t.Run("regression", func(t *testing.T) { peaksOf(t, heavy, 64<<20) })
	t.Run("recurrence", func(t *testing.T) { peaksOf(t, deep, 96<<20) })
}

// peaksOf trains in two processes, with memory for everything and with little.
func peaksOf(t *testing.T, script string, little int64) {
	dir := t.TempDir()
	db, err := Open(filepath.Join(dir, "made.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Run(context.Background(), script); err != nil {
		t.Fatal(sqlerr.Render(err))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadFile(filepath.Join(dir, "made.db"))
	if err != nil {
		t.Fatal(err)
	}
	losses := map[int64]string{}
	for _, memory := range []int64{4 << 30, little} {
		path := filepath.Join(dir, fmt.Sprint(memory, ".db"))
		if err := os.WriteFile(path, made, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestPeak$")
		cmd.Env = append(os.Environ(), "RELGRAD_TEST_PEAK="+path, fmt.Sprint("RELGRAD_TEST_MEMORY=", memory))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		_, said, ok := strings.Cut(string(out), "peak ")
		f := strings.Fields(said)
		if !ok || len(f) < 7 {
			t.Fatalf("%s", out)
		}
		peak, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		bound, spills := memory+memory/5+100<<20, f[6] == "true"
		if losses[memory] = strings.Join(f[2:5], " "); peak > bound || spills != (memory < 1<<30) {
			t.Errorf("budget %d MB: peak %d MB, at most %d are allowed; it spills: %v", memory>>20, peak>>20, bound>>20, spills)
		}
		t.Logf("budget %d MB: peak %d MB", memory>>20, peak>>20)
	}
	if losses[4<<30] != losses[little] {
		t.Errorf("losses %s without spilling, %s with it", losses[4<<30], losses[little])
	}
}

// TestMemorySetting: SET relgrad.memory bounds the plans of a session, before Engine.Memory does.
func TestMemorySetting(t *testing.T) {
	db, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.Engine.Memory = 1 << 30
	ctx := context.Background()
	run := func(sql string) (*catalog.Result, error) { return db.Run(ctx, sql) }
	if _, err := run("CREATE TABLE w (id int PRIMARY KEY, x double precision); INSERT INTO w VALUES (1, 2); CREATE " +
		"VIEW loss AS SELECT sum(x ^ 2) AS loss FROM w"); err != nil {
		t.Fatal(err)
	}
	const gradient = "SELECT x FROM gradient('loss', NULL::w)"
	for _, step := range []struct{ set, code string }{
		{"SELECT 1", ""},
		{"SET relgrad.memory = '1kB'", sqlerr.OutOfMemory}, // the plan that was kept is not used
		{"RESET relgrad.memory", ""},
		{"SELECT set_config('relgrad.memory', '1kB', false)", sqlerr.OutOfMemory},
		{"SET relgrad.memory = 0", ""},
		{"SET relgrad.memory = '64MB'", ""},
	} {
		if _, err := run(step.set); err != nil {
			t.Fatal(err)
		}
		if _, err := run(gradient); sqlerr.Code(err) != step.code {
			t.Errorf("after %s: %v", step.set, err)
		}
	}
	for _, bad := range []string{"SET relgrad.memory = '1 day'", "SET relgrad.memory = 4096",
		"SELECT set_config('relgrad.memory', 'much', false)"} {
		if _, err := run(bad); sqlerr.Code(err) != sqlerr.InvalidParameter {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if v, _ := db.Setting("relgrad.memory"); v != "64MB" {
		t.Errorf("after refused values the setting is %q", v)
	}
}
