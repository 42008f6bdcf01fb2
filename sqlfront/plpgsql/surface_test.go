package plpgsql_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlfront/plpgsql"
)

var variable = regexp.MustCompile(`([^:]):seed\b`)

// TestSurface parses every statement and every PL/pgSQL body of the user scripts.
func TestSurface(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(need.Surface(t), "*.sql"))
	if len(files) == 0 {
		t.Fatal("no scripts")
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(b), "\n")
		for i, l := range lines {
			if strings.HasPrefix(l, `\`) {
				lines[i] = ""
			}
		}
		text := &ast.Text{SQL: variable.ReplaceAllString(strings.Join(lines, "\n"), "${1}1"), File: filepath.Base(f)}
		ps, err := parse.Parse(text)
		if err != nil {
			t.Errorf("%s", sqlerr.Render(err))
			continue
		}
		for _, p := range ps {
			if got := text.SQL[p.At : int(p.At)+len(p.SQL)]; got != p.SQL {
				t.Errorf("%s: statement text %q is not at its position (%q)", f, p.SQL, got)
			}
			body, at := "", ast.Pos(0)
			switch s := p.Stmt.(type) {
			case *ast.Do:
				body, at = s.Body, s.BodyAt
			case *ast.CreateFunction:
				body, at = s.Body, s.BodyAt
			default:
				continue
			}
			if !strings.HasPrefix(text.SQL[at:], body) {
				t.Errorf("%s: body is not at %d", f, at)
			}
			if _, err := plpgsql.ParsePLpgSQL(plpgsql.BodyText(text, body, at)); err != nil {
				t.Errorf("%s", sqlerr.Render(err))
			}
		}
	}
}
