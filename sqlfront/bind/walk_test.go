package bind

import (
	"reflect"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

func mustSelect(t *testing.T, sql string) *ast.Select {
	t.Helper()
	s, err := parse.ParseSelect(&ast.Text{SQL: sql})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func columns(n ast.Tree) string {
	var out []string
	ast.Walk(n, func(n ast.Tree) bool {
		if c, ok := n.(*ast.ColumnRef); ok {
			out = append(out, strings.Join(c.Names, "."))
		}
		return true
	})
	return strings.Join(out, " ")
}

func TestWalk(t *testing.T) {
	s := mustSelect(t,
		`WITH q AS (SELECT a1 FROM t) SELECT a2, f(a3 ORDER BY a4) FILTER (WHERE a5) OVER (PARTITION BY a6 ORDER BY a7),
		CASE a8 WHEN a9 THEN b1 ELSE b2 END
		FROM x JOIN y ON b3 = b4, LATERAL (SELECT b5) s, g(b6) WHERE b7 IN (b8, b9) AND EXISTS (SELECT c1) AND c2[c3:c4]
		BETWEEN c5 AND c6
		GROUP BY c7 HAVING c8 ORDER BY c9 LIMIT d1`)
	want := "a1 a2 a3 a4 a5 a6 a7 a8 a9 b1 b2 b3 b4 b5 b6 b7 b8 b9 c1 c2 c3 c4 c5 c6 c7 c8 c9 d1"
	if got := columns(s); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, sql := range []string{"UPDATE t SET a = b WHERE c = d", "INSERT INTO t SELECT b RETURNING c, d",
		"CREATE VIEW v AS SELECT b, c, d",
		"DELETE FROM t USING (SELECT b) s WHERE c = d", "CALL p(b, c, x => d)",
		"CREATE TABLE t (a int DEFAULT b, CHECK (c = d))"} {
		ps, err := parse.Parse(&ast.Text{SQL: sql})
		if err != nil {
			t.Fatal(err)
		}
		if got := columns(ps[0].Stmt); got != "b c d" {
			t.Errorf("%s: got %q", sql, got)
		}
	}
}

func TestRewriteCopies(t *testing.T) {
	const sql = "SELECT a, b + a AS s, a::int, max(a) FROM t, (SELECT a FROM u) x WHERE a IN (1, a) ORDER BY a"
	s, before := mustSelect(t, sql), mustSelect(t, sql)
	out := ast.SubstituteColumns(s, func(c *ast.ColumnRef) ast.Expr {
		if c.Names[0] == "a" {
			return &ast.Bound{Type: "integer", Value: int64(7)}
		}
		return nil
	})
	if !reflect.DeepEqual(s, before) {
		t.Error("the shared tree was changed")
	}
	if got := columns(out); got != "b" {
		t.Errorf("columns left: %q", got)
	}
	var names []string
	for _, x := range out.Targets {
		names = append(names, x.Name)
	}
	if got := strings.Join(names, " "); got != "a s a max" {
		t.Errorf("output names %q", got)
	}
	if out.From[0] != s.From[0] {
		t.Error("an unchanged item was copied")
	}
	same := ast.SubstituteColumns(s, func(*ast.ColumnRef) ast.Expr { return nil })
	if same != s {
		t.Error("a rewrite without changes must return the tree itself")
	}
}

func TestRewriteTables(t *testing.T) {
	s := mustSelect(t, "SELECT * FROM a JOIN g ON true, (SELECT * FROM g) x WHERE EXISTS (SELECT 1 FROM g)")
	n := 0
	ast.Rewrite(s, func(x ast.Tree) ast.Tree {
		if r, ok := x.(*ast.TableRef); ok && r.Name == "g" {
			n++
			return &ast.SubSelect{Query: s, Alias: ast.Alias{Name: "g"}}
		}
		return nil
	})
	if n != 3 {
		t.Errorf("%d references seen, want 3", n)
	}
}

func TestColumnName(t *testing.T) {
	for x, want := range map[string]string{"a.b": "b", "f(1)": "f", "1": "?column?", "1::int": "int4", "a::int": "a",
		"a[1]": "a", "NULL::w0": "w0",
		"CASE WHEN a THEN b END": "case", "CASE WHEN a THEN 1 ELSE b END": "b", "coalesce(a, 1)": "coalesce",
		"greatest(a, b)":         "greatest",
		"(SELECT max(x) FROM t)": "max", "EXISTS (SELECT 1)": "exists", "a + b": "?column?", "ARRAY[1]": "array",
		"'x'::double precision": "float8"} {
		e, err := parse.ParseExpr(&ast.Text{SQL: x})
		if err != nil {
			t.Fatal(err)
		}
		if got := ast.ColumnName(e); got != want {
			t.Errorf("%s: got %q, want %q", x, got, want)
		}
	}
}

func TestRelocate(t *testing.T) {
	s := mustSelect(t, "SELECT a + f(b, ARRAY[1]) FROM t WHERE EXISTS (SELECT 1)")
	before := mustSelect(t, "SELECT a + f(b, ARRAY[1]) FROM t WHERE EXISTS (SELECT 1)")
	ast.Walk(ast.Relocate(s, 3), func(n ast.Tree) bool {
		if n.Position() != 3 {
			t.Errorf("%T at %d", n, n.Position())
		}
		return true
	})
	if !reflect.DeepEqual(s, before) {
		t.Error("the shared tree was changed")
	}
}
