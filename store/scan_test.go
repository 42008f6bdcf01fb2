package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/relgrad/relgrad/column"
)

// cacheKB is the size of SQLite's caches, of the store and of temporary tables.
func cacheKB(t *testing.T, db *DB) (kB [2]int64) {
	t.Helper()
	for i, schema := range []string{"main", "temp"} {
		if err := db.rows("PRAGMA "+schema+".cache_size", func(r row) error {
			kB[i] = -r[0].Int()
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return kB
}

// TestScanCache: a table of a store that no cache holds is read past it: outside of transactions, with what an open one
// has changed, beside an open cursor, of a temporary table, and until it is cancelled. The cache is what it was after
// each, at the next statement at the latest.
func TestScanCache(t *testing.T) {
	for _, path := range []string{"", filepath.Join(t.TempDir(), "s.db")} {
		db := openTemp(t)
		if path != "" {
			db = openFile(t, path)
		}
		if err := db.LimitCache(48 << 20); err != nil { // 3 MB
			t.Fatal(err)
		}
		const rows, width = 1200, 1024
		fill := func(name string) string {
			return fmt.Sprintf("INSERT INTO %s SELECT i, array_fill(i::real, ARRAY[%d]) FROM generate_series(1, %d) AS g(i)",
				name, width, rows)
		}
		for _, sql := range []string{"CREATE TABLE t (id int PRIMARY KEY, v real[])",
			"CREATE TEMP TABLE u (id int PRIMARY KEY, v real[])", fill("t"), fill("u")} {
			mustRun(t, db, sql)
		}
		before := cacheKB(t, db)
		if before[0] >= scanKB<<1 || before[0] <= scanKB {
			t.Fatalf("a cache of %d kB", before)
		}
		read := func(ctx context.Context, name string, add float32) error {
			t.Helper()
			tab, err := db.Table("", name)
			if err != nil {
				t.Fatal(err)
			}
			var cols []*column.Column
			cols, err = db.Read(ctx, tab, []int{0, 1})
			if err != nil {
				return err
			}
			if now := cacheKB(t, db); now != before {
				t.Errorf("%q, %s: a cache of %d kB, not %d", path, name, now, before)
			}
			for r, id := range cols[0].I64() {
				for _, x := range cols[1].F32()[r*width : (r+1)*width] {
					if x != float32(id)+add {
						t.Fatalf("%q, %s: row %d holds %v, not %v", path, name, id, x, float32(id)+add)
					}
				}
			}
			if len(cols[0].I64()) != rows {
				t.Fatalf("%d rows", len(cols[0].I64()))
			}
			return nil
		}
		all := func(add float32) {
			t.Helper()
			for _, name := range []string{"t", "u"} {
				if err := read(context.Background(), name, add); err != nil {
					t.Fatal(err)
				}
			}
		}
		all(0)
		mustRun(t, db, "BEGIN; UPDATE t SET v = v + 1; UPDATE u SET v = v + 1")
		all(1)
		mustRun(t, db, "ROLLBACK")
		all(0)
		mustRun(t, db, "BEGIN; UPDATE t SET v = v + 1; SAVEPOINT s; UPDATE u SET v = v + 1; UPDATE t SET v = v + 1")
		mustRun(t, db, "ROLLBACK TO s; UPDATE u SET v = v + 1; COMMIT")
		all(1)
		for _, stopped := range []bool{false, true} {
			n := 0
			err := db.rows("SELECT id, v FROM t ORDER BY id", func(r row) error {
				if n++; r[0].Int() != int64(n) {
					t.Errorf("row %d is %d", n, r[0].Int())
				}
				switch {
				case n%400 != 0:
				case !stopped:
					all(1)
				default:
					ctx, cancel := context.WithCancel(context.Background())
					cancel()
					return read(ctx, "t", 1)
				}
				return nil
			})
			if want := map[bool]int{false: rows, true: 400}[stopped]; n != want || stopped != (err != nil) {
				t.Errorf("stopped %v: %d rows, not %d, %v", stopped, n, want, err)
			}
			mustRun(t, db, "SELECT 1")
			if now := cacheKB(t, db); now != before {
				t.Errorf("%q, stopped %v: a cache of %d kB, not %d", path, stopped, now, before)
			}
		}
		all(1)
	}
}
