package parse

import (
	"testing"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/proto"

	"github.com/relgrad/relgrad/sqlfront/ast"
)

// TestOwnTexts: a sub-query that the trees cannot hold is kept as a text that parses to what the user wrote.
func TestOwnTexts(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT (ARRAY[1,2,3])[i] AS id, mode() WITHIN GROUP (ORDER BY x) AS f FROM t", ""},
		{"SELECT x, mode() WITHIN GROUP (ORDER BY y) FROM t GROUP BY x",
			"SELECT x, mode() WITHIN GROUP (ORDER BY y) FROM t GROUP BY x"},
		{"SELECT ((SELECT ARRAY[1]))[1], ((row(1,2)::pair)).a, (xs[1:2])[1] FROM t TABLESAMPLE system (50) REPEATABLE (1)",
			""},
		{"SELECT - (-1), (a = b) IS TRUE, a OPERATOR(pg_catalog.||) b, x -> 'y' -> 'z', mode() WITHIN GROUP (ORDER BY -x), " +
			"(x).y.z, ('{1}'::int[])[1], INTERVAL '1' DAY, DATE '2024-01-01', E'a\\nb''', U&'\\0041', B'101', X'1F' FROM t", ""},
	} {
		s, err := ParseQuery(&ast.Text{SQL: "SELECT sum(x) FROM (VALUES ((1))) AS v (x), ( " + c.sql + " ) AS q"})
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		q, ok := s.From[1].(*ast.SubSelect)
		if !ok || q.Query.Own == nil {
			t.Errorf("%s: %T is not kept as a text", c.sql, s.From[1])
			continue
		}
		if want := c.want; want != "" && q.Query.Own.SQL != want {
			t.Errorf("%s is kept as %s", c.sql, q.Query.Own.SQL)
		}
		if want, got := tree(t, c.sql), tree(t, q.Query.Own.SQL); !proto.Equal(want, got) {
			t.Errorf("%s is kept as %s", c.sql, q.Query.Own.SQL)
		}
	}
}

func tree(t *testing.T, sql string) proto.Message {
	t.Helper()
	r, err := pg.Parse(sql)
	if err != nil {
		t.Errorf("%s: %v", sql, err)
		return nil
	}
	return placeless(r.Stmts[0].Stmt)
}
