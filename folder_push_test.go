package relgrad

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
)

// addRandom appends files of random rows, with NULLs, to a table of Delta Lake.
func addRandom(t *testing.T, dir string, r *rand.Rand) {
	t.Helper()
	null := func(x any) any {
		if r.IntN(5) == 0 {
			return nil
		}
		return x
	}
	for file := range 6 {
		s := delta.NewSink(delta.NewLocal(dir), delta.Add, delta.WriteOptions{})
		err := s.Begin("t", []interop.Column{{Name: "k", Type: "bigint"}, {Name: "x", Type: "double precision"},
			{Name: "s", Type: "text"}}, nil)
		for range 1 + r.IntN(4) {
			if err == nil {
				err = s.Write([]any{null(int64(2*file + r.IntN(5))), null(float64(r.IntN(12))),
					null(string(rune('a' + r.IntN(3))))})
			}
		}
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// randomCondition is about a relation, whose name may be left out where it is alone.
func randomCondition(r *rand.Rand, name string) string {
	ops := []string{"=", "<", "<=", ">", ">=", "<>"}
	one := func() string {
		op := ops[r.IntN(len(ops))]
		switch r.IntN(6) {
		case 0:
			return fmt.Sprintf("%ss = '%c'", name, 'a'+rune(r.IntN(3)))
		case 1:
			return fmt.Sprintf("%sk IS NULL", name)
		case 2:
			return fmt.Sprintf("%sk BETWEEN %d AND %d", name, r.IntN(10), 2+r.IntN(14))
		case 3:
			return fmt.Sprintf("%d %s %sk", r.IntN(14), op, name)
		case 4:
			return fmt.Sprintf("%sx %s %d", name, op, r.IntN(12))
		}
		return fmt.Sprintf("%sk %s %d", name, op, r.IntN(14))
	}
	switch r.IntN(5) {
	case 0:
		return one() + " AND " + one()
	case 1:
		return "(" + one() + " OR " + one() + ")"
	case 2:
		return "NOT " + one()
	}
	return one()
}

// randomFrom is a relation of columns k, x and s of a table, or of a view or sub-query on it.
func randomFrom(r *rand.Rand) string {
	switch r.IntN(7) {
	case 0:
		return "seen"
	case 1:
		return "turned"
	case 2:
		return "(SELECT * FROM TABLE)"
	case 3:
		return "(SELECT DISTINCT d.k, d.x, d.s FROM TABLE d WHERE " + randomCondition(r, "d.") + ")"
	case 4:
		return "(SELECT k, max(x) AS x, min(s) AS s FROM TABLE GROUP BY k)"
	case 5:
		return "(SELECT a.k, b.x, a.s FROM TABLE a LEFT JOIN TABLE b ON a.k = b.k AND " + randomCondition(r, "b.") + ")"
	}
	return "TABLE"
}

// TestPushedConditions: random queries on a table of Delta Lake, of which conditions leave out files, give what they
// give on an ordinary table with the same rows.
func TestPushedConditions(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 7))
		db, dir := testDB(t), t.TempDir()
		addRandom(t, dir, r)
		call := "delta_table('" + dir + "')"
		mustRun(t, db, "CREATE TABLE t AS SELECT * FROM "+call)
		for schema, table := range map[string]string{"plain": "public.t", "lake": call} {
			mustRun(t, db, strings.ReplaceAll("CREATE SCHEMA "+schema+"; SET search_path = "+schema+"; CREATE VIEW seen AS "+
				"SELECT k, x, s FROM TABLE; CREATE VIEW turned (k, s, x) AS SELECT x AS k, s, k AS x FROM TABLE", "TABLE", table))
		}
		for range 40 {
			joins := []string{"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"}
			on := "ON a.k = b.k"
			join := joins[r.IntN(len(joins))]
			if join != "FULL JOIN" { // the store joins fully by = only
				on += " AND " + randomCondition(r, []string{"a.", "b."}[r.IntN(2)])
			}
			sql := "SELECT a.k, a.x, a.s, b.k, b.x, b.s FROM " + randomFrom(r) + " a " + join + " " + randomFrom(r) + " b " + on
			if r.IntN(3) > 0 {
				sql += " WHERE " + randomCondition(r, []string{"a.", "b."}[r.IntN(2)])
			}
			if r.IntN(4) == 0 {
				sql = "SELECT * FROM " + randomFrom(r) + " q WHERE " + randomCondition(r, "")
			}
			sql += " ORDER BY 1, 2, 3"
			if strings.Contains(sql, " b ON ") {
				sql += ", 4, 5, 6"
			}
			mustRun(t, db, "SET search_path = plain")
			want := answer(t, db, strings.ReplaceAll(sql, "TABLE", "public.t"))
			mustRun(t, db, "SET search_path = lake")
			if got := answer(t, db, strings.ReplaceAll(sql, "TABLE", call)); got != want {
				t.Errorf("seed %d: %s: %s, want %s", seed, sql, got, want)
			}
			if strings.Contains(want, "does not exist") || strings.Contains(want, "syntax") {
				t.Fatalf("%s: %s", sql, want)
			}
		}
	}
}
