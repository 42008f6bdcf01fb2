package archtest

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

// named matches what looks like a path of the repository in a document: words joined by slashes, or a file name
// with an extension that only our files have.
var (
	named  = regexp.MustCompile(`[A-Za-z0-9_.<>*-]+(?:/[A-Za-z0-9_.<>*-]+)+|\b[A-Za-z0-9_-]+\.(?:go|md|sql|mod)\b`)
	link   = regexp.MustCompile(`\]\(([^)#:]+)\)`)
	quoted = regexp.MustCompile("`[^`\n]+`")
)

// TestPathsInDocuments checks that paths in Markdown documents (in backticks or as links) and in package comments
// exist. A path with a placeholder, such as kernels/<name>.go, needs its folder only.
func TestPathsInDocuments(t *testing.T) {
	seen := 0
	for _, f := range files(t) {
		if path.Ext(f) != ".md" || strings.Contains(f, "testdata/") {
			continue
		}
		text := string(read(t, f))
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			seen++
			if !exists(path.Join(path.Dir(f), m[1])) {
				t.Errorf("%s links %s, which does not exist", f, m[1])
			}
		}
		for _, code := range quoted.FindAllString(text, -1) {
			for _, p := range named.FindAllString(code, -1) {
				if ours(p) {
					seen++
					check(t, f, p)
				}
			}
		}
	}
	for _, s := range sources(t) {
		for _, p := range named.FindAllString(s.ast.Doc.Text(), -1) {
			if p = strings.TrimRight(p, "."); ours(p) {
				seen++
				check(t, s.file, p)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d paths found in documents", seen)
	}
}

// ours reports whether a word is meant as a path of this repository: its first part is one of our folders.
func ours(p string) bool {
	first, _, slash := strings.Cut(p, "/")
	if !slash || first == "bin" || strings.HasPrefix(first, ".") {
		return false
	}
	for l := range levels {
		if top, _, _ := strings.Cut(l, "/"); top == first {
			return true
		}
	}
	info, err := os.Stat(filepath.Join(need.Root(), first))
	return err == nil && info.IsDir()
}

func check(t *testing.T, file, p string) {
	t.Helper()
	for strings.ContainsAny(p, "<>*") || strings.HasSuffix(p, "/...") {
		p = path.Dir(p)
	}
	if !exists(p) && !exists(path.Join(path.Dir(file), p)) {
		t.Errorf("%s names %s, which does not exist", file, p)
	}
}

func exists(p string) bool {
	_, err := os.Stat(filepath.Join(need.Root(), p))
	return err == nil
}

// TestArchitectureNamesPackages asks of each package a row in ARCHITECTURE.md, its own or its parent folder's.
func TestArchitectureNamesPackages(t *testing.T) {
	text := string(read(t, "ARCHITECTURE.md"))
	for _, s := range sources(t) {
		if within(s.dir, "internal") || s.dir == "." || s.test() {
			continue
		}
		named := false
		for d := s.dir; d != "."; d = path.Dir(d) {
			named = named || strings.Contains(text, "`"+d+"`")
		}
		if !named {
			t.Errorf("ARCHITECTURE.md does not name package %s", s.dir)
		}
	}
}

// TestArchitectureNamesLevels asks for the level of each package in the table of ARCHITECTURE.md.
func TestArchitectureNamesLevels(t *testing.T) {
	row := regexp.MustCompile(`(?m)^\| ([-\d, ]+) \| (.*?) \|`)
	name := regexp.MustCompile("`([^`]+)`")
	rows := row.FindAllStringSubmatch(string(read(t, "ARCHITECTURE.md")), -1)
	if len(rows) < 30 {
		t.Fatalf("the table of ARCHITECTURE.md has %d rows", len(rows))
	}
	for _, r := range rows {
		said := strings.Split(r[1], ", ")
		for _, p := range name.FindAllStringSubmatch(r[2], -1) {
			if l, ok := levelOf(p[1]); !ok || !slices.Contains(said, fmt.Sprint(l)) {
				t.Errorf("ARCHITECTURE.md says level %s of %s, levels.go says %d", r[1], p[1], l)
			}
		}
	}
}
