package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
)

// TestDeltaCommand: what relgrad delta prints of a table and of tensors, and what vacuum deletes.
func TestDeltaCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	// an hour of retention, so that a file can be older
	tx, err := delta.Create(delta.NewLocal("d"), []interop.Field{{Name: "k", Type: "long"}}, delta.TableOptions{
		Configuration: map[string]string{"delta.deletedFileRetentionDuration": "interval 1 hour"}}, delta.WriteOptions{})
	if err == nil {
		err = tx.Write([]any{int64(7)})
	}
	if err == nil {
		_, err = tx.Commit("WRITE")
	}
	if err != nil {
		t.Fatal(err)
	}
	do(t, "run|--store|s.db|-q|-c|CREATE TABLE d (k bigint PRIMARY KEY); INSERT INTO d VALUES (1), (2); CREATE TABLE w "+
		"(v real[]); INSERT INTO w VALUES ('{1,2}'), ('{3,4}'), ('{0,1}')")
	do(t, "export --store s.db d d")
	do(t, "export --store s.db --format delta --tensor weights w t")
	for _, tc := range []struct{ line, want string }{
		{"delta show d", `^d: version 1, 1 files, \d+ bytes\n column \| type \| relgrad \| null \n[-+]+\n k      \| long ` +
			`\| bigint  \| t\n\(1 row\)\n`},
		{"delta show d@0", `^d: version 0, 1 files`},
		{"delta tensors t", `\n weights \| ftsf   \| float32 \| \(3, 2\)\n`},
		{"delta history d", `\n       1 \| \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \| WRITE     \|     1 \|       1 \| \n` +
			`       0 \| .* \|     1 \|       0 \| changed\n`},
		{"delta vacuum d", `\(0 rows\)`},
		{"delta vacuum --retention 10d --dry-run d", `\(0 rows\)`},
	} {
		if got := do(t, tc.line); !regexp.MustCompile(tc.want).MatchString(got) {
			t.Errorf("%s prints\n%s\nnot %s", tc.line, got, tc.want)
		}
	}
	orphan := filepath.Join("d", "part-orphan.parquet") // as a writer leaves it that was ended
	old := time.Now().Add(-2 * time.Hour)
	if err := os.WriteFile(orphan, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(orphan, old, old); err != nil {
		t.Fatal(err)
	}
	if got := do(t, "delta vacuum --dry-run d"); !strings.Contains(got, " part-orphan.parquet\n(1 row)") {
		t.Error(got)
	}
	if _, err := os.Stat(orphan); err != nil {
		t.Error("a dry run has deleted it", err)
	}
	if got := do(t, "delta vacuum d"); !strings.Contains(got, " part-orphan.parquet\n(1 row)") {
		t.Error(got)
	}
	if _, err := os.Stat(orphan); !os.IsNotExist(err) {
		t.Error("it is still there", err)
	}
	for _, tc := range []struct {
		line   string
		status int
		want   string
	}{
		{"delta", 2, "an action is needed"},
		{"delta shwo d", 2, "perhaps you meant show"},
		{"delta show", 2, "show takes one folder, not 0"},
		{"delta show --dry-run d", 2, "--retention and --dry-run are options of vacuum"},
		{"delta history d@0", 2, "history is about all versions, not about one"},
		{"delta vacuum --retention 1m d", 1, "a retention of 1m0s is shorter than that of the table, 1h0m0s"},
		{"delta vacuum --retention soon d", 2, "invalid value"},
		{"delta show absent", 1, "could not open folder \"absent\": no such file or directory"},
		{"delta show d@5", 1, "\"d\": the table has no version 5, the newest is 1"},
		{"delta tensors d", 1, "the table has no column \"id\""},
	} {
		if _, errs, status := both(t, strings.Fields(tc.line)...); status != tc.status || !strings.Contains(errs, tc.want) {
			t.Errorf("%s: status %d\n%s", tc.line, status, errs)
		}
	}
}
