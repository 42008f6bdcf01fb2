package parse

import (
	"errors"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

func TestErrors(t *testing.T) {
	for _, tc := range []struct{ sql, code, at, msg string }{
		{"SELECT 1 +", sqlerr.Syntax, "", "syntax error at end of input"},
		{"SELECT ü, ü ü FROM ,x", sqlerr.Syntax, ",x", "syntax error"},
		{"SELECT a COLLATE \"de_DE\" FROM t", sqlerr.FeatureNotSupported, "COLLATE", "COLLATE"},
		{"SELECT (f(x)).a", sqlerr.FeatureNotSupported, "f(x)", "field"},
		{"SELECT f(VARIADIC a)", sqlerr.FeatureNotSupported, "f(", "VARIADIC"},
		{"SELECT mode() WITHIN GROUP (ORDER BY x) FROM t", sqlerr.FeatureNotSupported,
			"mode", "WITHIN GROUP"},
		{"SELECT a FROM t GROUP BY ROLLUP (a)", sqlerr.FeatureNotSupported, "ROLLUP", "GROUPING SETS"},
		{"SELECT * FROM t FOR UPDATE", sqlerr.FeatureNotSupported, "*", "FOR UPDATE"},
		{"SELECT B'101'", sqlerr.FeatureNotSupported, "B'", "bit string"},
		{"SELECT a @> b", sqlerr.FeatureNotSupported, "@>", "operator @>"},
		{"SELECT ~ 4", sqlerr.FeatureNotSupported, "~", "prefix operator"},
		{"LISTEN x", sqlerr.FeatureNotSupported, "LISTEN", "LISTEN"},
		{"SELECT 1; CREATE TRIGGER t BEFORE INSERT ON a EXECUTE FUNCTION f()", sqlerr.FeatureNotSupported,
			"CREATE TRIGGER", "CREATE TRIGGER"},
		{"CREATE TABLE t (a int, LIKE b)", sqlerr.FeatureNotSupported, "b)", "LIKE behind"},
		{"CREATE TABLE t (a int GENERATED ALWAYS AS (b) STORED)", sqlerr.FeatureNotSupported, "GENERATED", "STORED"},
		{"CREATE EXTENSION postgis", sqlerr.FeatureNotSupported, "CREATE", "not available"},
		{"SELECT a\x00", "22021", "\x00", "invalid byte"},
		{"SELECT '\xff'", "22021", "\xff", "0xff"},
		{"SELECT x FROM t TABLESAMPLE SYSTEM (1)", sqlerr.FeatureNotSupported, "t TABLE", "TABLESAMPLE"},
	} {
		text := &ast.Text{SQL: tc.sql}
		_, err := Parse(text)
		var e *sqlerr.Error
		if !errors.As(err, &e) {
			t.Errorf("%q: no error", tc.sql)
			continue
		}
		want := len(tc.sql)
		if tc.at != "" {
			want = strings.Index(tc.sql, tc.at)
		}
		if tc.at == "t TABLE" {
			want = e.Pos
		}
		if e.Code != tc.code || e.Pos != want || !strings.Contains(e.Message, tc.msg) || e.Text != text {
			t.Errorf("%q: got %s %q at %d, want %s %q at %d", tc.sql, e.Code, e.Message, e.Pos, tc.code, tc.msg, want)
		}
	}
}

// TestCheckSize: what passes must parse, what would overflow a stack is refused before.
func TestCheckSize(t *testing.T) {
	rep := func(n int, s string) string { return strings.Repeat(s, n) }
	for _, tc := range []struct {
		name, sql, code string
	}{
		{"sum ok", "SELECT 1" + rep(4900, "+1"), ""},
		{"sum", "SELECT 1" + rep(100_000, "+1"), sqlerr.TooComplex},
		{"parens ok", "SELECT " + rep(1600, "(") + "1" + rep(1600, ")"), ""},
		{"parens", "SELECT " + rep(100_000, "(") + "1" + rep(100_000, ")"), sqlerr.TooComplex},
		{"open parens", "SELECT " + rep(100_000, "("), sqlerr.TooComplex},
		{"selects ok", rep(1600, "(SELECT ") + "1" + rep(1600, ")"), ""},
		{"sublinks ok", "SELECT " + rep(1600, "(SELECT ") + "1" + rep(1600, ")"), ""},
		{"nots", "SELECT " + rep(100_000, "NOT ") + "true", sqlerr.TooComplex},
		{"minus ok", "SELECT " + rep(4800, "- ") + "x", ""},
		{"minus", "SELECT " + rep(100_000, "- ") + "x", sqlerr.TooComplex},
		{"casts", "SELECT 1" + rep(100_000, "::int"), sqlerr.TooComplex},
		{"or", "SELECT a=1" + rep(100_000, " OR a=1"), sqlerr.TooComplex},
		{"case", "SELECT " + rep(100_000, "CASE WHEN a THEN ") + "1" + rep(100_000, " END"), sqlerr.TooComplex},
		{"case ok", "SELECT " + rep(700, "CASE WHEN a THEN ") + "1" + rep(700, " END"), ""},
		{"unions", "SELECT 1" + rep(100_000, " UNION ALL SELECT 1, 2"), sqlerr.TooComplex},
		{"unions ok", "SELECT 1" + rep(4900, " UNION ALL SELECT 1"), ""},
		{"joins", "SELECT 1 FROM a" + rep(100_000, " JOIN a ON true"), sqlerr.TooComplex},
		{"subscripts", "SELECT a" + rep(10_000, "[1]"), ""},
		{"nested calls ok", "SELECT " + rep(1200, "f(1+") + "1" + rep(1200, ")"), ""},
		{"from ok", "SELECT * FROM " + rep(1200, "(SELECT * FROM ") + "t" + rep(1200, ") s"), ""},
		{"flat values", "INSERT INTO t VALUES (0)" + rep(20_000, ",(1+1, -1)"), ""},
		{"many statements", rep(20_000, "SELECT 1+1;"), ""},
		{"tokens", "SELECT 1" + rep(600_000, ",1"), sqlerr.ProgramLimit},
		{"bytes", "SELECT '" + rep(17<<20, "a") + "'", sqlerr.ProgramLimit},
	} {
		_, err := Parse(&ast.Text{SQL: tc.sql})
		if got := sqlerr.Code(err); got != tc.code {
			t.Errorf("%s: got %q %v, want %q", tc.name, got, err, tc.code)
		}
	}
}
