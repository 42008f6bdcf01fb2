package relgrad

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/train"
)

// while trains the model of a store with options and runs sql on another connection after a step. logged is the number
// of losses that were committed when sql had run: none, unless the machine took more than a second so far.
func while(t *testing.T, step int64, sql, options string) (db, other *DB, logged any, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.db")
	db, other = open(t, path), open(t, path)
	mustRun(t, db, model+"CREATE TABLE note (x int); CREATE TABLE counter (n int); INSERT INTO counter VALUES (0);")
	mustRun(t, other, "SET lock_timeout = 100")
	db.OnStep = func(row train.LossRow, _ int64) {
		if row.Step == step {
			mustRun(t, other, sql)
			logged = mustRun(t, other, "SELECT count(*) FROM relgrad.loss WHERE step < 9").Rows[0][0]
		}
	}
	_, err = db.Run(context.Background(),
		"CALL train('loss', ARRAY['w', 'h'], lr => 0.01, epochs => 30, seed => 3"+options+")")
	return db, other, logged, err
}

// TestOthersWriteMeanwhile: a run holds no lock and no snapshot between its commits.
func TestOthersWriteMeanwhile(t *testing.T) {
	whole := open(t, "")
	mustRun(t, whole, model+"CALL train('loss', ARRAY['w', 'h'], lr => 0.01, epochs => 30, seed => 3)")
	for _, options := range []string{"", ", validate => 'validation'",
		// the last: by the store
		", validate => 'SELECT count(*) + sum(sqnorm(v)) FROM (SELECT DISTINCT i, v FROM w ORDER BY 1 LIMIT 3) AS z'"} {
		for _, sql := range []string{
			"INSERT INTO note VALUES (1)",
			"CREATE TABLE more AS SELECT * FROM w; DROP TABLE more",
			"UPDATE a SET v = v WHERE i = 0",
			"UPDATE w SET v = v; UPDATE h SET b = b", // the same values
			"BEGIN; INSERT INTO note VALUES (2); COMMIT; SELECT count(*) FROM w",
		} {
			db, other, _, err := while(t, 7, sql, options)
			if err != nil {
				t.Errorf("%s%s: %v", sql, options, err)
				continue
			}
			if a, b := parameters(t, whole), parameters(t, other); !reflect.DeepEqual(a, b) {
				t.Errorf("%s%s: the parameters differ from an undisturbed run's", sql, options)
			}
			if got := mustRun(t, db, "SELECT status, step FROM relgrad.run").
				Rows[0]; !reflect.DeepEqual(got, []any{"finished", int64(30)}) {
				t.Errorf("%s%s: the run is %v", sql, options, got)
			}
		}
	}
}

// TestOthersChangeTheRun: a run does not write over parameters, or rows of its own, that another process has changed.
func TestOthersChangeTheRun(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"UPDATE w SET v = 2 * v WHERE i = 1", "another process changed parameter w.v while it was trained"},
		{"UPDATE h SET b = 1 WHERE j = 2", "another process changed parameter h.b while it was trained"},
		{"UPDATE h SET b = NULL WHERE j = 2", "another process changed parameter h.b while it was trained"},
		{"INSERT INTO w SELECT 9, v FROM w WHERE i = 1", "another process changed parameter w.v while it was trained"},
		{"DELETE FROM w WHERE i = 1", "another process changed parameter w.v while it was trained"},
		{"UPDATE w SET i = i + 10", "another process changed parameter w.v while it was trained"},
		{"ALTER TABLE w ADD COLUMN more int", "another process changed the definition of table \"w\" while it was trained"},
		{"DROP VIEW loss; DROP VIEW validation; DROP TABLE w", "another process changed parameter w.v while it was trained"},
		{"DELETE FROM relgrad.run", "another process changed run 1 in relgrad.run or relgrad.loss while it was trained"},
		{"UPDATE relgrad.run SET step = 4",
			"another process changed run 1 in relgrad.run or relgrad.loss while it was trained"},
		{"INSERT INTO relgrad.loss SELECT 1, 9, 9, 0.5, NULL, started FROM relgrad.run",
			"another process changed run 1 in relgrad.run or relgrad.loss while it was trained"},
	} {
		_, other, logged, err := while(t, 7, c.sql, "")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || sqlerr.Code(err) != "40001" {
			t.Errorf("%s: error %v", c.sql, err)
			continue
		}
		if n := mustRun(t, other, "SELECT count(*) FROM relgrad.loss WHERE step < 9").Rows[0][0]; n != logged {
			t.Errorf("%s: %v steps are committed, %v before", c.sql, n, logged)
		}
		if got := mustRun(t, other, "SELECT count(*) FROM relgrad.run WHERE status <> 'failed'").Rows[0][0]; got != int64(0) {
			t.Errorf("%s: the run has not failed", c.sql)
		}
	}
	db, _, _, err := while(t, 1, "UPDATE w SET v = 2 * v", "")
	if err == nil {
		t.Fatal("no error")
	}
	db.OnStep = nil
	mustRun(t, db, "CALL train(resume => 1)")
	doubled := open(t, "")
	mustRun(t, doubled, model+"UPDATE w SET v = 2 * v; CALL train('loss', ARRAY['w', 'h'], lr => 0.01, epochs => 30, "+
		"seed => 3)")
	if a, b := parameters(t, doubled), parameters(t, db); !reflect.DeepEqual(a, b) {
		t.Error("the resumed run did not go on from what the other process wrote")
	}
}

// TestTrainingsAtOnce: sessions train and write in one store, all at the same time, over several commits each.
func TestTrainingsAtOnce(t *testing.T) {
	need.Time(t)
	path := filepath.Join(t.TempDir(), "s.db")
	setup := open(t, path)
	for i := range 3 {
		mustRun(t, setup, fmt.Sprintf("CREATE TABLE w%d (k int PRIMARY KEY, v double precision); INSERT INTO w%d VALUES "+
			"(1, 1), (2, 2); CREATE TABLE done%d (n bigint)", i, i, i))
	}
	mustRun(t, setup, "CREATE TABLE note (x int)")
	hooks := []string{"", ", before_step => 'INSERT INTO done1 SELECT current_step()'",
		", before_step => 'INSERT INTO done2 SELECT current_step()'"}
	var wg sync.WaitGroup
	for i, hook := range hooks {
		db := open(t, path)
		db.OnStep = func(train.LossRow, int64) { time.Sleep(25 * time.Millisecond) }
		wg.Add(1)
		go func() {
			defer wg.Done()
			sql := fmt.Sprintf("CALL train('SELECT sum(v * v) FROM w%d', ARRAY['w%d'], epochs => 100%s)", i, i, hook)
			if _, err := db.Run(context.Background(), sql); err != nil {
				t.Errorf("%s: %v", sql, err)
			}
		}()
	}
	for i := range 10 {
		time.Sleep(100 * time.Millisecond)
		mustRun(t, setup, fmt.Sprintf("INSERT INTO note VALUES (%d)", i))
	}
	wg.Wait()
	for _, q := range []string{"SELECT count(*) FROM relgrad.run WHERE status = 'finished' AND step = 100",
		"SELECT count(*) / 100 FROM relgrad.loss"} {
		if n := mustRun(t, setup, q).Rows[0][0]; n != int64(3) {
			t.Errorf("%s: %v", q, n)
		}
	}
	for _, q := range []string{"SELECT count(DISTINCT n) FROM done1", "SELECT count(DISTINCT n) FROM done2"} {
		if n := mustRun(t, setup, q).Rows[0][0]; n != int64(100) {
			t.Errorf("%s: %v", q, n)
		}
	}
}

// between is a store whose tables another process writes when the engine reads them first.
type between struct {
	catalog.Database
	write func()
}

func (b *between) Read(ctx context.Context, t *ra.Table, cols []int) ([]*column.Column, error) {
	if b.write != nil {
		b.write()
		b.write = nil
	}
	return b.Database.Read(ctx, t, cols)
}

// TestOthersWriteWhatWasPlanned: what a plan rests on is read in the state in which it was seen.
func TestOthersWriteWhatWasPlanned(t *testing.T) {
	for _, sql := range []string{"INSERT INTO one VALUES (2)", "DELETE FROM one", "INSERT INTO data VALUES (3, NULL)",
		"UPDATE data SET x = 10"} {
		path := filepath.Join(t.TempDir(), "s.db")
		db, other := open(t, path), open(t, path)
		mustRun(t, db, "CREATE TABLE one (a double precision); INSERT INTO one VALUES (1); CREATE TABLE data (i int "+
			"PRIMARY KEY, x double precision); INSERT INTO data VALUES (1, 1), (2, 2);"+
			"CREATE TABLE p (i int PRIMARY KEY, v double precision); INSERT INTO p VALUES (1, 0.5); CREATE VIEW loss AS "+
			"SELECT sum(v * x * a) / count(x) AS loss FROM data, p, one")
		mustRun(t, other, "SET lock_timeout = 100")
		wrote := false
		b := &between{Database: db.Database, write: func() {
			_,
				err := other.Run(context.Background(), sql)
			wrote = err == nil
		}}
		x, err := newEngine(b).Backward(context.Background(), "loss", []string{"p"}, nil, 0)
		if err != nil || x != 0.75 || b.write != nil {
			t.Errorf("%s (done: %t): the loss is %v, %v", sql, wrote, x, err)
		}
		if !wrote {
			t.Errorf("%s: the other process could not write", sql)
		}
	}
}
