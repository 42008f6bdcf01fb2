package relgrad

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/s3test"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// TestBucketCanceled: the context of a statement, and its timeout, end what is asked of a bucket.
func TestBucketCanceled(t *testing.T) {
	need.Time(t)
	server := s3test.New(t)
	server.Environment(t)
	db := testDB(t)
	mustRun(t, db, "CREATE TABLE w (k int PRIMARY KEY, p float8); INSERT INTO w VALUES (1, 2); "+
		"COPY w TO 's3://tables/w' (FORMAT delta)")
	var asked atomic.Bool
	var method atomic.Value
	server.Fault = func(r *http.Request) (f s3test.Fault) {
		if r.Method == method.Load() {
			asked.Store(true)
			f.Wait = 20 * time.Second
		}
		return f
	}
	const loss = "SELECT sum((d.p - w.p) ^ 2) FROM delta_table(''s3://tables/w'') d JOIN w USING (k)"
	for _, c := range []struct{ sql, method string }{
		{"SELECT * FROM delta_table('s3://tables/w')", http.MethodGet},
		{"SELECT * FROM gradient('" + loss + "', NULL::w)", http.MethodGet},
		{"CALL train('" + loss + "', ARRAY['w'], epochs => 2)", http.MethodGet},
		{"COPY w FROM 's3://tables/w' (FORMAT delta)", http.MethodGet},
		{"COPY w TO 's3://tables/w' (FORMAT delta)", http.MethodPut},
	} {
		for _, timeout := range []bool{false, true} {
			method.Store(c.method)
			asked.Store(false)
			ctx, cancel := context.WithCancel(context.Background())
			if timeout {
				mustRun(t, db, "SET statement_timeout = '2s'")
			} else {
				go func() {
					for !asked.Load() && ctx.Err() == nil {
						time.Sleep(time.Millisecond)
					}
					cancel()
				}()
			}
			begun := time.Now()
			_, err := db.Run(ctx, c.sql)
			cancel()
			if took := time.Since(begun); sqlerr.Code(err) != sqlerr.QueryCanceled || took > 10*time.Second {
				t.Errorf("%s, timeout %v: %v after %v", c.sql, timeout, err, took)
			}
			if !asked.Load() {
				t.Errorf("%s: no request %s", c.sql, c.method)
			}
			mustRun(t, db, "RESET statement_timeout")
			method.Store("")
			const counts = "SELECT (SELECT count(*) FROM delta_table('s3://tables/w')), count(*) FROM w"
			if got := answer(t, db, counts); got != "1 1" {
				t.Errorf("after %s: %s", c.sql, got)
			}
		}
	}
}

// TestReadOnce: a run of train asks a bucket as often whatever its steps, with batches too. It reads the rows of which
// the conditions of the loss hold, for all batches.
func TestReadOnce(t *testing.T) {
	server := s3test.New(t)
	server.Environment(t)
	db := testDB(t)
	mustRun(t, db, `CREATE TABLE w (k int PRIMARY KEY, p float8);
		INSERT INTO w SELECT k, 0 FROM generate_series(1, 20) AS g(k);
		COPY (SELECT k, k % 3 AS x FROM w) TO 's3://tables/w' (FORMAT delta);
		CREATE VIEW d AS SELECT k, x FROM delta_table('s3://tables/w');
		CREATE TABLE pick AS SELECT k FROM w;
		ALTER TABLE pick ADD PRIMARY KEY (k)`)
	const loss = "SELECT avg((d.x - w.p) ^ 2) FROM pick JOIN d USING (k) JOIN w USING (k)"
	for _, options := range []string{"", ", batch => 'pick', batch_size => 5"} {
		requests := func(epochs string) int {
			before := server.Requests["GET"]
			mustRun(t, db, "UPDATE w SET p = 0; CALL train('"+loss+"', ARRAY['w'], lr => 0.1, epochs => "+epochs+
				options+")")
			return server.Requests["GET"] - before
		}
		if one, many := requests("1"), requests("40"); one == 0 || many != one {
			t.Errorf("%q: %d requests of one epoch, %d of 40", options, one, many)
		}
		if got := answer(t, db, "SELECT max(abs(p - k % 3)) > 0.5 FROM w"); got != "false" {
			t.Errorf("%q: it has not learned: %s", options, got)
		}
	}
}
