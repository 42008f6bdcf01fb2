package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

var block = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```\n")

// TestInteropExamples runs the examples of docs/interop.md in order, in one folder, on the store m.db: sql blocks as
// scripts, sh blocks as command lines. A block without a language is what the one before prints.
func TestInteropExamples(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(need.Root(), "docs", "interop.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	ran, compared, out := 0, 0, ""
	for _, m := range block.FindAllStringSubmatch(string(page), -1) {
		switch lang, text := m[1], m[2]; lang {
		case "sql":
			if err := os.WriteFile("step.sql", []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			out = stdout(t, "run", "-q", "--store", "m.db", "step.sql")
			ran++
		case "sh":
			out = ""
			for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
				args := strings.Fields(line)
				if args[0] != "relgrad" {
					t.Fatalf("%s: not a call of relgrad", line)
				}
				out += stdout(t, args[1:]...)
				ran++
			}
		case "":
			if compared++; out != text {
				t.Errorf("the page shows\n%s\nprinted was\n%s", text, out)
			}
		}
	}
	if ran < 8 || compared < 4 {
		t.Errorf("%d examples run, %d compared", ran, compared)
	}
	for _, q := range []string{"SELECT k, v, note FROM w ORDER BY k;", "SELECT k, b FROM bias ORDER BY k;"} {
		if err := os.WriteFile("q.sql", []byte(q), 0o600); err != nil {
			t.Fatal(err)
		}
		if a, b := stdout(t, "run", "--store", "m.db", "q.sql"), stdout(t, "run", "--store", "copy.db", "q.sql"); a != b || !strings.Contains(a, "(2 rows)") {
			t.Errorf("%s\n%s\n%s", q, a, b)
		}
	}
}

// TestImportErrors: what fails ends with a status, an error, and a store without the table.
func TestImportErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	quietly(t)
	if err := os.WriteFile("bad.npz", []byte("PK\x03\x04 no zip file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("t.csv", []byte("k\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		want int
		args string
	}{
		{2, "import --store s.db"},
		{2, "import bad.npz t"},
		{2, "import --store s.db --rows --whole bad.npz t"},
		{1, "import --store s.db bad.npz t"},
		{1, "import --store s.db absent.npz t"},
		{1, "import --store s.db bad.bin t"},
		{1, "import --store s.db t.csv t"},
		{1, "import --store s.db --index id t.csv t"},
		{1, "import --store s.db --format xml bad.npz t"},
		{1, "export --store s.db t t.npz"},
		{1, "export --store s.db --whole t t.parquet"},
		{1, "export --store s.db t absent/t.npz"},
		{2, "export --store s.db t"},
	} {
		if got := realMain(strings.Fields(tc.args)); got != tc.want {
			t.Errorf("%s: status %d, want %d", tc.args, got, tc.want)
		}
	}
	left, err := filepath.Glob("*t.npz*")
	if hidden, _ := filepath.Glob(".t.*"); err != nil || len(left)+len(hidden) > 0 {
		t.Errorf("left behind: %v %v (%v)", left, hidden, err)
	}
}

// stdout runs a command line, which must succeed, and returns what it prints.
func stdout(t *testing.T, args ...string) string {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	old := os.Stdout
	os.Stdout = f
	status := realMain(args)
	os.Stdout = old
	b, err := os.ReadFile(f.Name())
	if err != nil || status != 0 {
		t.Fatalf("%v: status %d (%v)\n%s", args, status, err, b)
	}
	return string(b)
}
