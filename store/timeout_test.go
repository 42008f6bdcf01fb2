package store

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// slow are statements that would run for minutes: one long scan, a join, a recursion, an aggregate, a sort, a write.
var slow = []string{
	"SELECT count(*) FROM generate_series(1, 100000) a(i), generate_series(1, 1000000) b(j) WHERE i + j = -1",
	"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r",
	"INSERT INTO t SELECT a.i FROM generate_series(1, 100000) a(i), generate_series(1, 100000) b(j)",
	"SELECT sum(exp(1.0 + i)) FROM generate_series(1, 5000) a(i), generate_series(1, 100000) b(j)",
	"SELECT i FROM generate_series(1, 100000) a(i), generate_series(1, 100000) b(j) ORDER BY i + j",
}

// TestTimeout: statement_timeout and a cancelled context end what runs within 100 ms, and the store goes on.
func TestTimeout(t *testing.T) {
	const limit, late = 50 * time.Millisecond, 400 * time.Millisecond // of a loaded machine
	db := openTemp(t)
	mustRun(t, db, "CREATE TABLE t (i bigint)")
	for _, sql := range slow {
		for _, way := range []string{"timeout", "cancel"} {
			ctx, cancel := context.WithCancel(context.Background())
			want := "canceling statement due to user request"
			if way == "timeout" {
				mustRun(t, db, "SET statement_timeout = '50ms'")
				want = "canceling statement due to statement timeout"
			} else {
				time.AfterFunc(limit, cancel)
			}
			st, text := parseOne(t, sql)
			begin := time.Now()
			_, err := db.Exec(ctx, st, text)
			took := time.Since(begin)
			cancel()
			if sqlerr.Code(err) != sqlerr.QueryCanceled || err.Error() != want || took > limit+late {
				t.Errorf("%s: %v after %v: %v", way, sql, took, err)
			}
			mustRun(t, db, "SET statement_timeout = 0")
			if got := show(db, "SELECT count(*) FROM t"); got != "count\n0" {
				t.Errorf("%s: %s: %s", way, sql, got)
			}
		}
	}
}

// TestTimeoutSetting: a value is a time of Postgres's or refused.
func TestTimeoutSetting(t *testing.T) {
	db := openTemp(t)
	for _, ok := range []string{"0", "100", "'100ms'", "'1.5 s'", "'2min'", "'1h'", "'1d'"} {
		mustRun(t, db, "SET statement_timeout = "+ok)
	}
	mustRun(t, db, "SET statement_timeout = 0")
	for _, bad := range []string{"'x'", "-1", "'5 parsecs'", "'1e30'"} {
		if _, err := run(db, "SET statement_timeout = "+bad); sqlerr.Code(err) != sqlerr.InvalidParameter ||
			!strings.Contains(err.Error(), "statement_timeout") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
