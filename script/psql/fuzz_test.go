package psql

import (
	"strings"
	"testing"

	"github.com/relgrad/relgrad/sqlfront/ast"
)

// FuzzScan: no script makes the scanner, the argument reader or \copy's parser panic or loop.
func FuzzScan(f *testing.F) {
	for _, s := range []string{"SELECT 1; SELECT 2", "\\copy t(a) from 'x.csv' csv header",
		"SELECT $a$;$a$ :x :'x' :\"x\" :{?x}", "/* /* */", "E'\\'", "\\set x 'a\\n' `b` \\\\ c", "((;));"} {
		f.Add(s)
	}
	vars := func(name string) (string, bool) {
		v, ok := map[string]string{"x": ":y;", "y": ":x 'q"}[name]
		return v, ok
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := &scanner{}
		for n, line := range strings.Split(text, "\n") {
			for i, steps := 0, 0; ; steps++ {
				if steps > 10*len(text)+100 {
					t.Fatal("no progress")
				}
				var why stop
				why, line, i = s.scan(line, i, n+1, vars)
				if why == stopEnd {
					s.endLine()
					break
				}
				if why == stopSemicolon {
					s.reset()
					continue
				}
				a := &argScanner{line: line, at: i, vars: vars, shell: func(string) (string, error) { return "out", nil }}
				if _, err := a.all(); err != nil {
					t.Fatal(err)
				}
				i = min(max(a.at, i+1), len(line))
			}
		}
		if c, _, err := parseCopy(&ast.Text{SQL: text}); err == nil && c == nil {
			t.Error("neither a tree nor an error")
		}
	})
}
