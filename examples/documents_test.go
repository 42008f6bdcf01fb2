package examples

import (
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

// figures is how far numbers in documents may be from what a run prints, relative: machines differ in the last digits
// of a sum, and training makes more of it.
const figures = 0.02

var update = flag.Bool("update", false, "put the commands' output into the documents")

var console = regexp.MustCompile("(?s)```console\n\\$ bin/relgrad ([^\n]*)\n(.*?)```\n")

// TestExampleDocuments runs each command shown in the examples' READMEs and compares its output; -update puts the
// output into the documents.
func TestExampleDocuments(t *testing.T) {
	docs, err := filepath.Glob("*/README.md")
	if err != nil || len(docs) == 0 {
		t.Fatal(docs, err)
	}
	for _, doc := range docs {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		out := console.ReplaceAllStringFunc(string(text), func(block string) string {
			m := console.FindStringSubmatch(block)
			t.Run(filepath.Base(m[1]), func(t *testing.T) {
				got := shown(t, m[1])
				block = "```console\n$ bin/relgrad " + m[1] + "\n" + got + "```\n"
				if err := sameText(m[2], got); err != nil && !*update {
					t.Errorf("%s, %s: %v\n%s", doc, m[1], err, got)
				}
			})
			return block
		})
		if *update {
			if err := os.WriteFile(doc, []byte(out), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// shown runs a command line of a document from the repository's root and gives what a terminal shows.
func shown(t *testing.T, line string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("trains a model")
	}
	args := strings.Fields(line)
	for i, a := range args {
		if a == "data=../shared/data" {
			args[i] = "data=" + need.Data(t)
		}
	}
	cmd := exec.Command(command, args...)
	cmd.Dir = need.Root()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

var number = regexp.MustCompile(`-?\d+(\.\d+)?(e[-+]?\d+)?`)
var rule = regexp.MustCompile(`-{3,}|[ ]+`)

// sameText compares two outputs: words exactly, numbers to within figures, widths not at all.
func sameText(want, got string) error {
	plain := func(s string) string { return rule.ReplaceAllString(number.ReplaceAllString(s, "#"), " ") }
	if plain(want) != plain(got) {
		return fmt.Errorf("the output differs from the document's")
	}
	a, b := number.FindAllString(want, -1), number.FindAllString(got, -1)
	for i := range a {
		x, err1 := strconv.ParseFloat(a[i], 64)
		y, err2 := strconv.ParseFloat(b[i], 64)
		_, decimals, _ := strings.Cut(a[i], ".")
		unit := math.Pow(10, -float64(len(decimals))) // of the last digit shown
		if err1 != nil || err2 != nil || math.Abs(x-y) > math.Max(2*unit, figures*math.Abs(x)) {
			return fmt.Errorf("the output has %s where the document has %s", b[i], a[i])
		}
	}
	return nil
}

// TestReadme runs the ten lines of README.md and compares what they print.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(need.Root(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```sql\n(.*?)```.*?```\n(.*?)```").FindStringSubmatch(string(text))
	if m == nil {
		t.Fatal("README.md has no example")
	}
	file := filepath.Join(t.TempDir(), "line.sql")
	if err := os.WriteFile(file, []byte(m[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := relgrad(t, "-q", file); sameText(m[2], strings.TrimRight(got, "\n")+"\n") != nil {
		t.Errorf("README.md shows\n%s\nbut the example prints\n%s", m[2], got)
	}
}
