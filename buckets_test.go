package relgrad

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/s3test"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// TestBucketCanceled: the context of a statement, and its timeout, end what is asked of a bucket.
func TestBucketCanceled(t *testing.T) {
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
