package archtest

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

const module = "github.com/relgrad/relgrad"

// files lists the repository's files, as slash-separated paths from its root. Hidden folders (but .ci), the
// binaries and vendored code stay out.
func files(t *testing.T) []string {
	t.Helper()
	root := need.Root()
	var out []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && rel != ".ci" && (strings.HasPrefix(d.Name(), ".") || rel == "bin" || d.Name() == "vendor") {
				return filepath.SkipDir
			}
			return nil
		}
		out = append(out, rel)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(need.Root(), file))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// source is a parsed Go file.
type source struct {
	file string // path from the root
	dir  string
	ast  *ast.File
}

func (s *source) test() bool { return strings.HasSuffix(s.file, "_test.go") }

func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	for _, f := range files(t) {
		if !strings.HasSuffix(f, ".go") || strings.Contains(f, "testdata/") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), f, read(t, f), parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, source{file: f, dir: path.Dir(f), ast: tree})
	}
	if len(out) < 50 {
		t.Fatalf("only %d Go files found", len(out))
	}
	return out
}

func (s *source) imports() []string {
	var out []string
	for _, i := range s.ast.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		out = append(out, p)
	}
	return out
}

// levelOf gives a folder's level; ok is false when levels has no row for it or its parents.
func levelOf(dir string) (level int, ok bool) {
	for d := dir; ; d = path.Dir(d) {
		if l, ok := levels[d]; ok && (d != "." || dir == ".") {
			return l, true
		}
		if d == "." {
			return 0, false
		}
	}
}

// within reports whether dir is folder or below it.
func within(dir, folder string) bool { return dir == folder || strings.HasPrefix(dir, folder+"/") }

// local gives the folder of a package of this module.
func local(imported string) (dir string, ok bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

// mayImport is the import order.
func mayImport(from, to string) bool {
	f, ok1 := levelOf(from)
	g, ok2 := levelOf(to)
	return ok1 && ok2 && (g < f || g == f && (f == tools || within(from, to) || within(to, from)))
}

func TestImportOrder(t *testing.T) {
	upward := map[string]bool{}
	for _, s := range sources(t) {
		if _, ok := levelOf(s.dir); !ok {
			t.Errorf("%s: package %s has no level; add a row to internal/archtest/levels.go and ARCHITECTURE.md", s.file, s.dir)
			continue
		}
		for _, i := range s.imports() {
			to, ok := local(i)
			if !ok || mayImport(s.dir, to) {
				continue
			}
			if s.test() {
				if within(to, "internal") || to == s.dir {
					continue // test support; an external test package
				}
				upward[s.dir+" → "+to] = true
				continue
			}
			f, _ := levelOf(s.dir)
			g, _ := levelOf(to)
			t.Errorf("%s (level %d) imports %s (level %d)", s.file, f, to, g)
		}
	}
	var list []string
	for u := range upward {
		list = append(list, u)
	}
	sort.Strings(list)
	t.Logf("tests that look upward: %s", strings.Join(list, ", "))
}

func TestForbiddenImports(t *testing.T) {
	for _, s := range sources(t) {
		for _, i := range s.imports() {
			for pkg, dirs := range only {
				if within(i, pkg) && !slices.ContainsFunc(dirs, func(dir string) bool { return within(s.dir, dir) }) {
					t.Errorf("%s imports %s, which only %v may", s.file, i, dirs)
				}
			}
			if i == "C" && !slices.Contains(cgo, s.dir) {
				t.Errorf("%s imports C; cgo stays in %v", s.file, cgo)
			}
		}
	}
}

func TestFileLength(t *testing.T) {
	for _, f := range files(t) {
		switch path.Ext(f) {
		case ".go", ".c", ".h", ".cu", ".sql", ".sh":
		default:
			continue
		}
		if strings.Contains(f, "testdata/") {
			continue
		}
		data := read(t, f)
		if bytes.Contains(data[:min(len(data), 200)], []byte("DO NOT EDIT")) {
			continue // generated
		}
		if n := bytes.Count(data, []byte("\n")); n > maxLines {
			t.Errorf("%s has %d lines, more than %d: split it", f, n, maxLines)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, f := range files(t) {
		if !strings.HasSuffix(f, ".go") || strings.Contains(f, "testdata/") {
			continue
		}
		src := read(t, f)
		if out, err := format.Source(src); err != nil || !bytes.Equal(out, src) {
			t.Errorf("%s is not formatted (%v); run gofmt -w on it", f, err)
		}
	}
}

func TestPackageComments(t *testing.T) {
	docs := map[string]string{}
	for _, s := range sources(t) {
		if !s.test() {
			docs[s.dir] += s.ast.Doc.Text()
		}
	}
	for dir, doc := range docs {
		for _, h := range []string{"What", "Invariants", "Errors", "Where to add"} {
			if !strings.Contains(doc, "# "+h+"\n") {
				t.Errorf("the package comment of %s lacks the heading %q", dir, "# "+h)
			}
		}
	}
}

// workplace matches paths that exist on one machine only.
var workplace = regexp.MustCompile(`(^|[\s"'(=:` + "`" + `])/(root|home|work|Users)/[A-Za-z.]`)

func TestNoMachinePaths(t *testing.T) {
	for _, f := range files(t) {
		if f == "go.sum" || path.Ext(f) == ".gz" {
			continue
		}
		for i, line := range strings.Split(string(read(t, f)), "\n") {
			if m := workplace.FindString(line); m != "" {
				t.Errorf("%s:%d names a path of one machine: %s", f, i+1, strings.TrimSpace(line))
			}
		}
	}
}
