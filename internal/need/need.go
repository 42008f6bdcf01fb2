// Package need skips tests that lack something, loudly, or fails them where it was required.
//
// # What
//
// Data and Surface say what a test needs beyond the repository. Where it is absent the test is skipped with
// a line that starts with "needs data:" and the like, which the summary of make test collects. CSV reads a file of it,
// Command builds relgrad, Python finds one with packages that read tables, Chromium a browser. Row holds a page to what
// a test finds. Time leaves a test out of a quick run, which uses neither data nor a server, a browser or Python.
//
// # Invariants
//
// The comma-separated names in RELGRAD_REQUIRE (pg, data, python, pgsuite, g++, sanitizers, chromium, …) turn these
// skips into failures.
//
// # Errors
//
// None: the test is skipped or fails.
//
// # Where to add
//
// A further need is one function here that calls Absent with a name of its own.
package need

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Root is the repository's root folder.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// Data gives the absolute path of the folder with real data: RELGRAD_DATA, by default ../shared/data beside the
// repository. A relative RELGRAD_DATA counts from the repository's root.
func Data(t testing.TB) string {
	t.Helper()
	return folder(t, "data", "RELGRAD_DATA", "../shared/data")
}

// Surface gives the absolute path of the folder with the scripts that must run unmodified: RELGRAD_SURFACE, by
// default ../shared/surface beside the repository.
func Surface(t testing.TB) string {
	t.Helper()
	return folder(t, "data", "RELGRAD_SURFACE", "../shared/surface")
}

// CSV gives the rows of a gzipped CSV file without its header.
func CSV(t testing.TB, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return rows[1:]
}

// Command builds the relgrad command into a folder of its own, tells use where it lies, runs the tests and exits.
func Command(m *testing.M, use func(file string)) {
	dir, err := os.MkdirTemp("", "relgrad-test")
	if err != nil {
		panic(err)
	}
	file := filepath.Join(dir, "relgrad")
	build := exec.Command("go", "build", "-o", file, "./cmd/relgrad")
	build.Dir = Root()
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Printf("building cmd/relgrad: %v\n%s", err, out)
		os.Exit(1)
	}
	use(file)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func folder(t testing.TB, name, variable, fallback string) string {
	t.Helper()
	Time(t)
	dir := os.Getenv(variable)
	if dir == "" {
		dir = fallback
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(Root(), dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		Absent(t, name, "no folder "+dir+"; set "+variable)
	}
	return dir
}

// Chromium gives the path of the browser of Debian's package chromium.
func Chromium(t testing.TB) string {
	t.Helper()
	Time(t)
	path, err := exec.LookPath("chromium")
	if err != nil {
		Absent(t, "chromium", "no chromium on PATH; scripts/setup chromium installs it")
	}
	return path
}

// Absent skips the test because it needs what name says (pg, cuda, data, …), or fails it where RELGRAD_REQUIRE
// lists that name. It does not return.
func Absent(t testing.TB, name, why string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("RELGRAD_REQUIRE"), ","), name) {
		t.Fatalf("needs %s: %s (RELGRAD_REQUIRE asks for it)", name, why)
	}
	t.Skipf("needs %s: %s", name, why)
}

// Time skips a test of many seconds in a quick run (go test -short).
func Time(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs time: it has no part in a quick run")
	}
}

// Row checks that a page, named from the repository's root, has a row of a table with these cells: what a test finds is
// what the page says.
func Row(t testing.TB, page string, cells ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(), page))
	if err != nil {
		t.Fatal(err)
	}
	if row := "| " + strings.Join(cells, " | ") + " |"; !strings.Contains(string(text), "\n"+row+"\n") {
		t.Errorf("%s has no row\n%s", page, row)
	}
}
