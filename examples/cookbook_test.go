package examples

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/docstest"
)

// recipes are the scripts of the cookbook, by chapter. A script begins with comments: its title and what it is, what it
// is called elsewhere, and what the figure is that it prints.
var recipes = []struct {
	chapter string
	names   []string
}{
	{"Linear models", []string{"linear", "logistic", "softmax", "ordinal", "poisson", "negative_binomial", "quantile",
		"cox"}},
	{"Recommendation and clicks", []string{"factorisation", "bpr", "deepfm"}},
	{"Vectors of words, nodes and facts", []string{"word2vec", "node2vec", "knowledge_graph", "metric"}},
	{"Graphs", []string{"gcn", "graphsage", "gat", "relational"}},
	{"Sequences", []string{"rnn", "lstm", "convolution", "transformer"}},
	{"Without labels", []string{"autoencoder", "vae", "mixture", "kmeans", "gaussian_process"}},
}

const (
	cookbook  = "../docs/cookbook.md"
	mostLines = 40 // of a script
)

// TestCookbook runs every recipe, and compares the page that shows them; -update writes it.
func TestCookbook(t *testing.T) {
	if testing.Short() {
		t.Skip("trains models")
	}
	files, err := filepath.Glob("cookbook/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var page, index strings.Builder
	listed := 0
	for _, c := range recipes {
		fmt.Fprintf(&page, "\n## %s\n", c.chapter)
		for _, name := range c.names {
			listed++
			t.Run(name, func(t *testing.T) { recipe(t, name, &index, &page) })
		}
	}
	if listed != len(files) {
		t.Errorf("%d recipes are listed, there are %d", listed, len(files))
	}
	if t.Failed() {
		return
	}
	old, err := os.ReadFile(cookbook)
	if err != nil {
		t.Fatal(err)
	}
	intro, _, ok := strings.Cut(string(old), "| model |")
	if !ok {
		t.Fatal("the page has no index")
	}
	text := intro + "| model | elsewhere |\n|---|---|\n" + index.String() + page.String()
	if err := docstest.Same(string(old), text); err != nil && !*update {
		t.Error(err)
	}
	if *update {
		if err := os.WriteFile(cookbook, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// recipe adds a script to the index and the page.
func recipe(t *testing.T, name string, index, page *strings.Builder) {
	file := "examples/cookbook/" + name + ".sql"
	text, err := os.ReadFile("../" + file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) > mostLines {
		t.Errorf("%d lines, more than %d", len(lines), mostLines)
	}
	n := slices.IndexFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "-- ") })
	head := strings.ReplaceAll(strings.Join(lines[:max(n, 0)], " "), "-- ", "")
	what, rest, ok := strings.Cut(head, " Elsewhere: ")
	elsewhere, figure, ok2 := strings.Cut(rest, " Figure: ")
	if !ok || !ok2 {
		t.Fatal("the script does not begin with what it is, Elsewhere: and Figure:")
	}
	var out []string
	for _, l := range strings.Split(shown(t, "run -q "+file), "\n") {
		if !strings.Contains(l, "NOTICE:") {
			out = append(out, l)
		}
	}
	title, _, _ := strings.Cut(strings.TrimSuffix(what, "."), ":")
	if comma := strings.Index(title, ". "); comma > 0 {
		title = title[:comma]
	}
	fmt.Fprintf(index, "| [%s](../%s) | %s |\n", title, file, strings.TrimSuffix(elsewhere, "."))
	fmt.Fprintf(page, "\n**[%s.sql](../%s)** %s\n\nIt prints %s\n\n```text\n%s\n```\n", name, file, what, figure,
		strings.Trim(strings.Join(out, "\n"), "\n"))
}
