package relgrad

import (
	"context"
	"fmt"
	"testing"
)

// TestCountsOfWrittenTables: statements that write a table from a gradient by it leave the catalogue knowing what the
// table holds, however much of it they write.
func TestCountsOfWrittenTables(t *testing.T) {
	const hundred = "CREATE TABLE w (id int PRIMARY KEY, v double precision); INSERT INTO w SELECT i, i FROM " +
		"generate_series(1, 100) AS g(i); INSERT INTO w VALUES (1000, 5)"
	for _, c := range [][2]string{
		{hundred, "INSERT INTO w SELECT id + 2000, v FROM gradient('SELECT sum(v*v) FROM w', NULL::w) WHERE id <= 5"},
		{hundred, "UPDATE w SET v = NULL FROM gradient('SELECT sum(v*v) FROM w', NULL::w) g WHERE w.id = g.id AND g.v > 195"},
		{hundred + ", (2000, NULL)",
			"UPDATE w SET v = 1 FROM gradient('SELECT sum(v*v) FROM w', NULL::w) g WHERE w.id = 2000 AND g.id = 1"},
		{hundred, "DELETE FROM w USING gradient('SELECT sum(v*v) FROM w', NULL::w) g WHERE w.id = g.id AND g.v > 100"},
		{hundred + "; DELETE FROM w WHERE id <= 40; DELETE FROM w WHERE id <= 80; DELETE FROM w",
			"INSERT INTO w SELECT id, v FROM gradient('SELECT sum(u.v * u.v + coalesce(w.v, 0)) FROM u LEFT JOIN w ON u.id = " +
				"w.id', NULL::u)"},
		{"CREATE TABLE w (id int, v double precision); INSERT INTO w VALUES (1, 1), (2, 2), (3, 3); DELETE FROM w WHERE v " +
			"= 1; DELETE FROM w WHERE v = 2",
			"INSERT INTO w SELECT id, v FROM gradient('SELECT sum(v*v) FROM w', NULL::w)"},
	} {
		db := open(t, "")
		do := func(sql string) [][]any {
			t.Helper()
			r, err := db.Run(context.Background(), sql)
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			return r.Rows
		}
		do("CREATE TABLE u (id int PRIMARY KEY, v double precision); INSERT INTO u VALUES (1, 2), (2, 3); " + c[0])
		do(c[1])
		tab, err := db.DB.Table("", "w")
		if err != nil {
			t.Fatal(err)
		}
		held := do("SELECT count(*), count(*) > count(v) FROM w")[0]
		if got, want := fmt.Sprint(tab.Rows, tab.Cols[1].Type.Nullable),
			fmt.Sprint(held...); got != fmt.Sprintf("%v %v", held...) {
			t.Errorf("%s: the catalogue says %s, the table %s", c[1], got, want)
		}
		if !tab.Declared {
			continue // no gradient by a table of several rows without a key
		}
		gradient := "SELECT id, v FROM gradient('SELECT sum(v*v)/count(v) FROM w', NULL::w) ORDER BY id"
		got := fmt.Sprint(do(gradient))
		do("UPDATE w SET id = id") // counts again
		if want := fmt.Sprint(do(gradient)); got != want {
			t.Errorf("%s: the gradient is %s, not %s", c[1], got, want)
		}
	}
}

// TestReloadOfCounted: a hook may change rows of a parameter that once held a NULL.
func TestReloadOfCounted(t *testing.T) {
	db := open(t, "")
	for _, sql := range []string{
		"CREATE TABLE w (id int PRIMARY KEY, v double precision); INSERT INTO w SELECT i, i FROM generate_series(1, 100) " +
			"AS g(i); INSERT INTO w VALUES (200, NULL)",
		"UPDATE w SET v = 1 FROM gradient('SELECT sum(v*v) FROM w', NULL::w) g WHERE w.id = 200 AND g.id = 1",
		"CREATE VIEW loss AS SELECT sum(v*v) FROM w",
		"CALL train('loss', ARRAY['w'], epochs => 3, before_step => 'UPDATE w SET v = 2 WHERE id = current_step()')",
	} {
		if _, err := db.Run(context.Background(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}
