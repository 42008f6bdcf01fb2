package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
		{0, "import --store s.db t.csv table_of_csv"},
		{1, "import --store s.db --whole t.csv v"},
		{2, "import --store s.db --format xml bad.npz t"},
		{1, "export --store s.db t t.npz"},
		{1, "export --store s.db --whole t t.parquet"},
		{1, "export --store s.db t absent/t.npz"},
		{2, "export --store s.db t"},
	} {
		if got := realMain(strings.Fields(tc.args)); got != tc.want {
			t.Errorf("%s: status %d, want %d", tc.args, got, tc.want)
		}
	}
	// no statement was written
	if _, errs, _ := both(t, "export", "--store", "s.db", "t",
		"t.npz"); errs != "ERROR:  relation \"t\" does not exist\n" {
		t.Errorf("export of a table that is absent prints %q", errs)
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
