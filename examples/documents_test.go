package examples

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/docstest"
	"github.com/relgrad/relgrad/internal/need"
)

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
				if err := docstest.Same(m[2], got); err != nil && !*update {
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
