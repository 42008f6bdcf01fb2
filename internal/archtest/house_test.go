package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/kernels"
)

// The rules by which rooms stay small enough to be held in one's head. Where the code does not keep one yet, houseRules
// says in how many places: the number may only fall.

// houseRules are the rules, and in how many places each is not kept.
var houseRules = []struct {
	name   string
	places int
	find   func(h *house) []string
}{
	{"at most 25 files in a folder, tests and registries apart", 0, (*house).folders},
	{"at most 40 methods of a type, in at most 5 files", 0, (*house).methods},
	{"at most 20 fields of a struct", 0, (*house).fields},
	{"at most 10 methods of an interface", 0, (*house).interfaces},
	{"at most 120 columns of a line", 0, (*house).lines},
	{"at most 15 branches of a function", 0, (*house).branches},
	{"no kernel by name outside of kernels and forms", 0, (*house).kernelNames},
	{"no package variable that a test changes", 0, (*house).changedVariables},
}

// registries are folders with a file for each thing.
var registries = map[string]bool{"kernels": true, "optimizer/rules": true, "sqlfront/bind": true,
	"rjp": true, "executor/forms": true, "executor/device/cpu": true}

// formRooms are the folders that know kernels by name.
var formRooms = map[string]bool{"kernels": true, "kernels/cpu": true, "executor/values": true, "executor/forms": true,
	"executor/device/cpu": true, "internal/digits": true}

// house is the parsed repository.
type house struct {
	t     *testing.T
	files []houseFile
	used  map[string]bool // the exceptions that are needed
}

type houseFile struct {
	name, dir string
	test      bool
	tree      *ast.File
	text      []byte
	at        *token.FileSet
}

func (f *houseFile) line(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.name, f.at.Position(n.Pos()).Line)
}

func openHouse(t *testing.T) *house {
	h := &house{t: t}
	for _, name := range files(t) {
		if !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata/") {
			continue
		}
		text, set := read(t, name), token.NewFileSet()
		if strings.Contains(string(text[:min(len(text), 200)]), "DO NOT EDIT") {
			continue
		}
		tree, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		test := strings.HasSuffix(name, "_test.go")
		h.files = append(h.files, houseFile{name, path.Dir(name), test, tree, text, set})
	}
	return h
}

// TestHouse checks the rules.
func TestHouse(t *testing.T) {
	h := openHouse(t)
	for _, r := range houseRules {
		found := r.find(h)
		sort.Strings(found)
		switch {
		case len(found) > r.places:
			t.Errorf("%s: %d places, more than the %d of before:\n\t%s", r.name, len(found), r.places, some(found))
		case len(found) < r.places:
			t.Errorf("%s: %d places, fewer than the %d of before: write the number into houseRules",
				r.name, len(found), r.places)
		}
		if t.Logf("%s: not kept in %d places", r.name, len(found)); len(found) < 100 {
			t.Logf("\t%s", strings.Join(found, "\n\t"))
		}
	}
	h.checkExceptions(t)
}

func some(list []string) string {
	const most = 400
	return strings.Join(list[:min(len(list), most)], "\n\t")
}

func (h *house) folders() (out []string) {
	count := map[string]int{}
	for _, f := range h.files {
		if !f.test {
			count[f.dir]++
		}
	}
	for dir, n := range count {
		if n > 25 && !registries[dir] && !h.excused(dir, "") {
			out = append(out, fmt.Sprintf("%s has %d files", dir, n))
		}
	}
	return out
}

func (h *house) methods() (out []string) {
	count, where := map[string]int{}, map[string]map[string]bool{}
	for _, f := range h.files {
		for _, d := range f.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || f.test {
				continue
			}
			key := f.dir + " " + receiver(fn)
			if where[key] == nil {
				where[key] = map[string]bool{}
			}
			count[key]++
			where[key][f.name] = true
		}
	}
	for key, n := range count {
		dir, name, _ := strings.Cut(key, " ")
		if (n > 40 || len(where[key]) > 5) && !h.excused(dir, name) {
			out = append(out, fmt.Sprintf("%s has %d methods in %d files", key, n, len(where[key])))
		}
	}
	return out
}

// receiver is the name of the type that a method is of.
func receiver(fn *ast.FuncDecl) string {
	x := fn.Recv.List[0].Type
	for {
		switch t := x.(type) {
		case *ast.StarExpr:
			x = t.X
		case *ast.IndexExpr:
			x = t.X
		case *ast.IndexListExpr:
			x = t.X
		case *ast.Ident:
			return t.Name
		default:
			return "?"
		}
	}
}

func (h *house) fields() (out []string) {
	h.types(func(f *houseFile, spec *ast.TypeSpec) {
		if s, ok := spec.Type.(*ast.StructType); ok {
			n := 0
			for _, field := range s.Fields.List {
				n += max(len(field.Names), 1)
			}
			if n > 20 && !h.excused(f.dir, spec.Name.Name) {
				out = append(out, fmt.Sprintf("%s: %s has %d fields", f.line(spec), spec.Name.Name, n))
			}
		}
	})
	return out
}

func (h *house) interfaces() (out []string) {
	h.types(func(f *houseFile, spec *ast.TypeSpec) {
		s, ok := spec.Type.(*ast.InterfaceType)
		if ok && s.Methods.NumFields() > 10 && !h.excused(f.dir, spec.Name.Name) {
			out = append(out, fmt.Sprintf("%s: %s has %d methods", f.line(spec), spec.Name.Name, s.Methods.NumFields()))
		}
	})
	return out
}

// types calls do for each type outside of tests.
func (h *house) types(do func(f *houseFile, spec *ast.TypeSpec)) {
	for i := range h.files {
		if f := &h.files[i]; !f.test {
			ast.Inspect(f.tree, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok {
					do(f, spec)
				}
				return true
			})
		}
	}
}

func (h *house) lines() (out []string) {
	for _, f := range h.files {
		for i, l := range strings.Split(string(f.text), "\n") {
			if n := utf8.RuneCountInString(l); n > 120 {
				out = append(out, fmt.Sprintf("%s:%d has %d columns", f.name, i+1, n))
			}
		}
	}
	return out
}

func (h *house) branches() (out []string) {
	for i := range h.files {
		f := &h.files[i]
		for _, d := range f.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || f.test || fn.Body == nil {
				continue
			}
			n := 0
			ast.Inspect(fn.Body, func(x ast.Node) bool {
				switch c := x.(type) {
				case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.CommClause:
					n++
				case *ast.CaseClause:
					if c.List != nil { // a default is no branch of its own
						n++
					}
				}
				return true
			})
			if n > 15 && !h.excused(f.dir, fn.Name.Name) {
				out = append(out, fmt.Sprintf("%s: %s has %d branches", f.line(fn), fn.Name.Name, n))
			}
		}
	}
	return out
}

// kernelNames finds comparisons of a kernel's name with a text.
func (h *house) kernelNames() (out []string) {
	for i := range h.files {
		f := &h.files[i]
		if f.test || formRooms[f.dir] {
			continue
		}
		ast.Inspect(f.tree, func(x ast.Node) bool {
			b, ok := x.(*ast.BinaryExpr)
			if !ok || b.Op != token.EQL && b.Op != token.NEQ {
				return true
			}
			sel, ok := b.X.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Name" {
				return true
			}
			def, ok := sel.X.(*ast.SelectorExpr)
			lit, isText := b.Y.(*ast.BasicLit)
			if name := ""; ok && isText && def.Sel.Name == "Def" {
				if name, _ = strconv.Unquote(lit.Value); kernels.Lookup(name) != nil {
					out = append(out, fmt.Sprintf("%s compares with %s", f.line(b), name))
				}
			}
			return true
		})
	}
	return out
}

// changedVariables finds variables of a package that a test of it assigns to.
func (h *house) changedVariables() (out []string) {
	variables := map[string]bool{}
	for _, f := range h.files {
		for _, d := range f.tree.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR && !f.test {
				for _, s := range g.Specs {
					for _, id := range s.(*ast.ValueSpec).Names {
						variables[f.dir+" "+id.Name] = true
					}
				}
			}
		}
	}
	for i := range h.files {
		f := &h.files[i]
		if !f.test {
			continue
		}
		ast.Inspect(f.tree, func(x ast.Node) bool {
			if a, ok := x.(*ast.AssignStmt); ok && a.Tok == token.ASSIGN {
				for _, l := range a.Lhs {
					if id, ok := l.(*ast.Ident); ok && id.Name != "_" && variables[f.dir+" "+id.Name] {
						out = append(out, fmt.Sprintf("%s changes %s", f.line(a), id.Name))
					}
				}
			}
			return true
		})
	}
	return out
}

// TestLevelsExist: every folder in the list of levels is there.
func TestLevelsExist(t *testing.T) {
	for dir := range levels {
		if info, err := os.Stat(filepath.Join(need.Root(), dir)); err != nil || !info.IsDir() {
			t.Errorf("levels has %s, which is no folder", dir)
		}
	}
}
