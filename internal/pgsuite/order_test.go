package pgsuite

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// sortedBy gives the output columns by which a statement's rows are sorted: those of its ORDER BY up to the first key
// that is no output column. Rows that agree in them may come in any order.
func sortedBy(sql string, cols []string) []int {
	stmts, err := parse.Parse(&ast.Text{SQL: sql})
	if err != nil || len(stmts) != 1 {
		return nil
	}
	sel, ok := stmts[0].Stmt.(*ast.Select)
	if !ok {
		return nil
	}
	var keys []int
	for _, k := range sel.OrderBy {
		i := outputOf(sel, k.X, cols)
		if i < 0 {
			break
		}
		keys = append(keys, i)
	}
	return keys
}

// outputOf is the output column that a sort key names, -1 for none.
func outputOf(sel *ast.Select, key ast.Expr, cols []string) int {
	switch x := key.(type) {
	case *ast.Literal:
		if n, err := strconv.Atoi(x.Value); err == nil && x.Kind == ast.LitInt && n >= 1 && n <= len(cols) {
			return n - 1
		}
	case *ast.ColumnRef:
		if i := slices.Index(cols, x.Names[len(x.Names)-1]); len(x.Names) == 1 && i >= 0 {
			return i
		}
		for i, t := range sel.Targets {
			ref, ok := t.X.(*ast.ColumnRef)
			if !ok || ref.Star {
				break // a star stands for any number of columns
			}
			if slices.Equal(ref.Names, x.Names) {
				return i
			}
		}
	}
	return -1
}

// ordering reports where two answers of the same rows stand in different orders, by the columns that sort them.
func ordering(mine, its *answer, keys []int) string {
	for i := range mine.rows {
		for _, k := range keys {
			if !equalRows([][]*string{{mine.rows[i][k]}}, [][]*string{{its.rows[i][k]}}, mine.floats[k:k+1]) {
				return fmt.Sprintf("order: row %d is %s instead of %s", i+1, rowText(mine.rows[i]), rowText(its.rows[i]))
			}
		}
	}
	return ""
}

// fingerprint names a statement of the suite, whose text is not kept.
func fingerprint(sql string) string {
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(sql), " ")))
	return fmt.Sprintf("%x", sum[:6])
}

// undetermined are the statements whose answer SQL leaves open, by file and fingerprint, with what leaves it open.
func undetermined(t *testing.T) map[string]string {
	text, err := os.ReadFile("testdata/undetermined.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, line := range strings.Split(string(text), "\n") {
		if f := strings.SplitN(line, " ", 3); len(f) == 3 && f[0] != "#" {
			out[f[0]+" "+f[1]] = f[2]
		}
	}
	return out
}
