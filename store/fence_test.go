package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/store/bind"
)

// TestFence looks at what is printed: a column that calls a kernel and is used twice is materialised.
func TestFence(t *testing.T) {
	db := openTemp(t)
	mustRun(t, db, `CREATE TABLE e (id int PRIMARY KEY, v real[]); INSERT INTO e SELECT i, ARRAY[i,
	1]::real[] FROM generate_series(1, 4) i;
CREATE VIEW d AS SELECT id, norm(v) AS d FROM e; CREATE VIEW plain AS SELECT id FROM e WHERE id > 1`)
	for _, c := range []struct {
		sql  string
		want bool
	}{
		{"SELECT d FROM d", false},
		{"SELECT d, d + 1 FROM d", true},
		{"SELECT a.d FROM d a JOIN d b USING (id)", true},
		{"SELECT a.id FROM plain a JOIN plain b USING (id)", false},
		{"SELECT x, x FROM (SELECT sum(norm(v)) AS x FROM e) s", false}, // grouped: never merged
		{"SELECT u[1], u[2] FROM (SELECT 2 * v AS u FROM e) s", true},
		{"SELECT y, y FROM (SELECT x AS y FROM (SELECT norm(v) AS x FROM e) s) t", true},
		{"WITH w AS (SELECT norm(v) AS n FROM e) SELECT count(*) FROM w WHERE n > 1", false},
		{"WITH w AS (SELECT norm(v) AS n FROM e) SELECT count(*) FROM w WHERE n > 1 AND n < 9", true},
	} {
		r := mustRun(t, db, "EXPLAIN "+c.sql)
		var sql strings.Builder
		for _, row := range r.Rows {
			sql.WriteString(strings.TrimSpace(fmt.Sprint(row[0])) + " ")
		}
		if got := strings.Contains(sql.String(), " MATERIALIZED "); got != c.want ||
			strings.ContainsAny(sql.String(), bind.OpenMark+bind.CloseMark) {
			t.Errorf("%s: materialised %v\n%s", c.sql, got, sql.String())
		}
	}
	check(t, db, [][2]string{
		{"SELECT a.id, round(a.d * b.d) AS p FROM d a JOIN d b ON b.id = a.id WHERE a.d > 2 ORDER BY a.d",
			"id|p\n2|5\n3|10\n4|17"},
		{"SELECT u[1] + u[2] AS s FROM (SELECT 2 * v AS u FROM e) s ORDER BY u[1] DESC LIMIT 2", "s\n10\n8"},
	})
}
