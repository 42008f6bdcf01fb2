package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/store/definitions"
)

// TestCounts: whatever statements two sessions of a store run, what a table is said to hold is what it holds.
func TestCounts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	sessions := []*DB{openFile(t, path), openFile(t, path)}
	mustRun(t, sessions[0],
		"CREATE TABLE w (id int PRIMARY KEY, v real[], x double precision, a text NOT NULL DEFAULT 'p')")
	r := rand.New(rand.NewPCG(7, 1))
	inside := false
	for step := range 400 {
		db, open := sessions[0], inside
		sql := randomWrite(r, &inside)
		if !open && !inside {
			db = sessions[r.IntN(2)]
		}
		if sql == "" {
			writeX(t, db, r)
		} else if _, err := run(db, sql); err != nil && !strings.Contains(err.Error(), "duplicate key") &&
			!strings.Contains(err.Error(), "aborted") {
			t.Fatalf("%s: %v", sql, err)
		} else if err != nil && inside {
			mustRun(t, db, "ROLLBACK")
			inside = false
		}
		if r.IntN(3) == 0 {
			continue // so that changes add up
		}
		sameCount(t, db, fmt.Sprintf("step %d: %s", step, sql))
	}
	if inside {
		mustRun(t, sessions[0], "COMMIT")
	}
	for i, db := range sessions {
		sameCount(t, db, fmt.Sprint("session ", i))
	}
	again := openFile(t, path)
	sameCount(t, again, "opened again")
}

// randomWrite returns a statement, "" for a write of a column by the engine. Only the first session begins
// transactions.
func randomWrite(r *rand.Rand, inside *bool) string {
	id, x := r.IntN(60), []string{"NULL", "1", "NULL", "2.5"}[r.IntN(4)]
	v := []string{"'{1,2}'", "NULL", "'{3,4}'"}[r.IntN(3)]
	switch r.IntN(14) {
	case 0, 1:
		return fmt.Sprintf("INSERT INTO w (id, v, x) SELECT %d + i, %s, %s FROM generate_series(1, %d) AS g(i) ON CONFLICT "+
			"(id) DO UPDATE SET x = excluded.x", id, v, x, r.IntN(30))
	case 2, 3:
		return fmt.Sprintf("INSERT INTO w (id, v, x) VALUES (%d, %s, %s)", id, v, x)
	case 4:
		return fmt.Sprintf("UPDATE w SET x = %s WHERE id < %d", x, id)
	case 5:
		return fmt.Sprintf("UPDATE w SET v = %s WHERE id > %d", v, id)
	case 6:
		return fmt.Sprintf("DELETE FROM w WHERE id > %d", id)
	case 7:
		return []string{"TRUNCATE w", "DELETE FROM w", "DELETE FROM w WHERE x IS NULL"}[r.IntN(3)]
	case 8:
		return fmt.Sprintf("ALTER TABLE w ADD COLUMN n%d int; ALTER TABLE w DROP COLUMN n%d", id, id)
	case 9:
		return "DROP TABLE w; CREATE TABLE w (id int PRIMARY KEY, v real[], x double precision, a text NOT NULL DEFAULT 'p')"
	case 10:
		return "CREATE TABLE u AS SELECT * FROM w; DELETE FROM w; INSERT INTO w SELECT * FROM u; DROP TABLE u"
	case 11, 12:
		*inside = !*inside
		if *inside {
			return "BEGIN"
		}
		return []string{"COMMIT", "ROLLBACK"}[r.IntN(2)]
	}
	return ""
}

// writeX writes column x of some rows as training does.
func writeX(t *testing.T, db *DB, r *rand.Rand) {
	t.Helper()
	var ids []int64
	for _, row := range mustRun(t, db, "SELECT id FROM w").Rows {
		if r.IntN(2) == 0 {
			ids = append(ids, row[0].(int64))
		}
	}
	data := column.New(kernels.Type{Kind: kernels.Float64}, len(ids))
	if r.IntN(2) == 0 && len(ids) > 0 {
		data.SetValid(make([]byte, len(ids)))
		data.Valid()[0] = byte(1 - r.IntN(2))
	}
	if err := db.WriteColumn(context.Background(), "", "w", "x", ids, data); err != nil {
		t.Fatal(err)
	}
}

// sameCount compares what the catalogue says with what the table holds.
func sameCount(t *testing.T, db *DB, when string) {
	t.Helper()
	tab, err := db.Table("", "w")
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	row := mustRun(t, db, "SELECT count(*), count(*) > count(v), count(*) > count(x) FROM w").Rows[0]
	if got := fmt.Sprint(tab.Rows, tab.Cols[1].Type.Nullable, tab.Cols[2].Type.Nullable); got != fmt.Sprintf("%v %v %v",
		row...) {
		t.Fatalf("%s: the catalogue says %s, the table %v", when, got, row)
	}
}

// TestCountsAreKept: what a load has left is known without reading the table, and a small change makes it unknown.
func TestCountsAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	db := openFile(t, path)
	mustRun(t, db,
		"CREATE TABLE w (id int PRIMARY KEY, x real); INSERT INTO w SELECT i, nullif(i, 9) FROM generate_series(1, 100) AS "+
			"g(i)")
	kept := func(when, want string) {
		t.Helper()
		c := openFile(t, path).cat.Tables[definitions.Key{Schema: "public", Name: "w"}].Count
		if got := fmt.Sprint(c.Rows, c.Nulls, c.Stale); got != want {
			t.Errorf("%s: %s, not %s", when, got, want)
		}
	}
	kept("loaded", "100 [x] false")
	mustRun(t, db, "UPDATE w SET x = 0 WHERE id = 9")
	kept("after a small change", "100 [x] true")
	sameAs := func() *catalog.Count {
		if _, err := db.Table("", "w"); err != nil {
			t.Fatal(err)
		}
		return db.cat.Tables[definitions.Key{Schema: "public", Name: "w"}].Count
	}
	if c := sameAs(); fmt.Sprint(c.Rows, c.Nulls, c.Stale) != "100 [] false" || sameAs() != c {
		t.Errorf("counted: %+v", c)
	}
	mustRun(t, db, "UPDATE w SET x = NULL WHERE id < 60")
	kept("after a large change", "100 [x] false")
}

// TestCountsOfFilled: a table that the engine fills holds what it was filled with last, also nothing.
func TestCountsOfFilled(t *testing.T) {
	db := openFile(t, "")
	for _, n := range []int{3, 0, 2} {
		v := column.New(kernels.Type{Kind: kernels.Int}, n)
		for i := range v.I64() {
			v.I64()[i] = int64(i)
		}
		if _, err := db.Fill(context.Background(), "g",
			&catalog.Relation{Names: []string{"k"}, Types: []string{"bigint"},
				Cols: []*column.Column{v}}, []string{"k"}); err != nil {
			t.Fatal(err)
		}
		tab, err := db.Table("", "g")
		if err != nil || tab.Rows != int64(n) {
			t.Fatalf("%d rows: %+v, %v", n, tab, err)
		}
	}
}
