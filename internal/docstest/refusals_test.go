package docstest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

// refusing are the sources whose refusals are of losses. The others of sqlfront read statements, whose refusals are in
// errors.md.
var refusing = []string{"sqlfront/bind/*.go", "sqlfront/ast/function.go",
	"sqlfront/parse/own_sql.go", "kernels/text.go", "pgbridge/conn/*.go", "pgbridge/session/*.go", "pgbridge/wire/*.go"}

// relayed are the refusals whose text comes from elsewhere, by the function that makes them, with where it is listed.
var relayed = map[string]string{
	"checkComparable": "Equal and Order of kernels.Named", "plainText": "NoText of kernels.Named",
	"casedText": "Cases of kernels.Named", "refuse": "the calls of refuse in InlineCall",
}

// reasons are the fields and variables that hold texts of refusals.
var reasons = map[string]bool{"NoText": true, "Equal": true, "Order": true, "Cases": true, "why": true}

// verbs are what a message is completed by.
var verbs = regexp.MustCompile(`%[-+#0-9.]*[a-z]`)

// messages collects the refusals of losses from the source, each with its hint.
func messages(t *testing.T) string {
	t.Helper()
	found := map[string]string{}
	declarations(t, refusing, func(_ string, d ast.Decl) { collect(t, d, isCode, relayed, reasons, found) })
	rows := "| message | what works |\n|---|---|\n"
	for _, m := range slices.Sorted(maps.Keys(found)) {
		rows += fmt.Sprintf("| %s | %s |\n", escape(m), escape(found[m]))
	}
	return rows
}

// declarations calls f for each declaration of the sources that patterns name.
func declarations(t *testing.T, patterns []string, f func(file string, d ast.Decl)) {
	t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(need.Root(), pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range tree.Decls {
				f(file, d)
			}
		}
	}
}

// judging are the sources whose errors under other states are of losses and their parameters.
var judging = append([]string{"autodiff/*.go", "rjp/*.go", "kernels/*.go", "engine/compile.go", "engine/catalogue.go",
	"engine/push.go", "engine/batch.go", "engine/grads.go", "engine/finite.go",
	"train/run/slots.go", "train/run/pushed.go", "train/run/hooks.go", "train/run/run.go", "train/run/programs.go",
	"train/run/commits.go"}, refusing...)

// elsewhere are the errors whose texts are made elsewhere, by the function that makes them.
var elsewhere = map[string]string{"ParseDSN": "of a connection, not of a loss",
	"parseEinsum": "what is wrong with the specification of an einsum"}

// states collects the errors of losses under all other states, each with its hint.
func states(t *testing.T) string {
	t.Helper()
	codes := map[string]string{} // by the name of the constant
	declarations(t, []string{"internal/sqlerr/sqlerr.go"}, func(_ string, d ast.Decl) {
		ast.Inspect(d, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
				if s, ok := constant(v.Values[0]); ok && len(s) == 5 {
					codes[v.Names[0].Name] = s
				}
			}
			return true
		})
	})
	delete(codes, "FeatureNotSupported")
	delete(codes, "Internal")
	rows := "| SQLSTATE | message | what works |\n|---|---|---|\n"
	byState := map[string]map[string]string{}
	for name, code := range codes {
		if byState[code] == nil {
			byState[code] = map[string]string{}
		}
		of := func(e ast.Expr) bool {
			sel, ok := e.(*ast.SelectorExpr)
			lit, is := e.(*ast.BasicLit)
			return ok && sel.Sel.Name == name || is && lit.Value == strconv.Quote(code)
		}
		declarations(t, judging, func(_ string, d ast.Decl) { collect(t, d, of, elsewhere, nil, byState[code]) })
	}
	for _, code := range slices.Sorted(maps.Keys(byState)) {
		for _, m := range slices.Sorted(maps.Keys(byState[code])) {
			rows += fmt.Sprintf("| %s | %s | %s |\n", code, escape(m), escape(byState[code][m]))
		}
	}
	return rows
}

// collect finds the refusals of a declaration, whose state is tells, and what fields hold of them.
func collect(t *testing.T, d ast.Decl, is func(ast.Expr) bool, relayed map[string]string, reasons map[string]bool,
	found map[string]string) {
	t.Helper()
	name, hinted := "", map[*ast.CallExpr]string{}
	if f, ok := d.(*ast.FuncDecl); ok {
		name = f.Name.Name
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.CallExpr:
			if sel, ok := x.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(sel.Sel.Name, "With") {
				if inner, ok := sel.X.(*ast.CallExpr); ok {
					if hinted[inner] = hinted[x]; sel.Sel.Name == "WithHint" {
						hinted[inner], _ = constant(x.Args[0])
					}
				}
				return true
			}
			for i, a := range x.Args[:max(len(x.Args)-1, 0)] {
				if !is(a) {
					continue
				}
				format := x.Args[i+1]
				if f, ok := x.Fun.(*ast.Ident); ok && f.Name == "refuse" { // of InlineCall: the hint comes first
					hinted[x], _ = constant(format)
					format = x.Args[i+2]
				}
				m, ok := constant(format)
				switch {
				case !ok || m == "…":
					if relayed[name] == "" {
						t.Errorf("%s: the text of a refusal is not in its source, and not in the list of relayed ones", name)
					}
				case found[m] == "":
					found[m] = hinted[x]
				}
			}
		case *ast.KeyValueExpr:
			if k, ok := x.Key.(*ast.Ident); ok && reasons[k.Name] {
				reason(x.Value, found)
			}
		case *ast.AssignStmt:
			for i, l := range x.Lhs {
				k, ok := l.(*ast.Ident)
				if sel, is := l.(*ast.SelectorExpr); is {
					k, ok = sel.Sel, true
				}
				if ok && reasons[k.Name] && i < len(x.Rhs) {
					reason(x.Rhs[i], found)
				}
			}
		}
		return true
	})
}

func reason(e ast.Expr, found map[string]string) {
	if m, ok := constant(e); ok && strings.Contains(m, " ") && found[m] == "" {
		found[m] = "A cast in a loss and for Postgres alike, or a sub-query that reads no parameter."
	}
}

// isCode reports the SQLSTATE of what is not supported.
func isCode(e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "FeatureNotSupported"
}

// constant is a text of the source, what completes it as …; ok is false where nothing of it is constant.
func constant(e ast.Expr) (text string, ok bool) {
	switch x := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(x.Value); err == nil && x.Kind == token.STRING {
			return verbs.ReplaceAllString(s, "…"), true
		}
	case *ast.BinaryExpr:
		l, lok := constant(x.X)
		r, rok := constant(x.Y)
		if !lok {
			l = "…"
		}
		if !rok {
			r = "…"
		}
		return l + r, lok || rok
	case *ast.Ident:
		switch x.Name {
		case "inSubQuery":
			return "It may stand in a sub-query that reads no parameter.", true
		case "inTheOpen":
			return "Write what it computes in the loss itself, or as a view of the parameter, and the gradient goes through it.",
				true
		}
	}
	return "", false
}
