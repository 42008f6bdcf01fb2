package relgrad

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// several is a validation of three columns, of which the last becomes NULL; only the store can run stored, which is the
// same.
const (
	several = steep + `
CREATE VIEW several AS SELECT sum(abs(x - 1)) AS far, avg(x) AS mean, max(x) FILTER (WHERE x > 2.5) AS "High x" FROM p;
CREATE VIEW stored AS SELECT sum(abs(x - 1)) AS far, avg(x) AS mean,
  (SELECT max(x) FROM (SELECT DISTINCT x FROM p WHERE x > 2.5 ORDER BY x LIMIT 9) AS s) AS "High x", count(*) AS n
  FROM p;
CREATE VIEW measured AS SELECT rmse(x, 1) AS rmse, auc(x - 3.2, id = 2) AS auc, count(*) AS n FROM p;`
	trainSeveral = "CALL train('loss', ARRAY['p'], optimizer => 'momentum', lr => 0.02, momentum => 0.5, "
	readSeveral  = "SELECT step, position, name, value FROM relgrad.validation WHERE run = %d AND position < 4 " +
		"ORDER BY step, position"
)

// TestFigures: all columns of a validation are recorded by name, whoever computes it, also of a run in parts. The first
// one decides; another one may be NULL.
func TestFigures(t *testing.T) {
	read := func(db *DB, run int) [][]any { return mustRun(t, db, fmt.Sprintf(readSeveral, run)).Rows }
	whole := open(t, "")
	mustRun(t, whole, several+trainSeveral+"epochs => 3000, validate => 'several', patience => 4)")
	rows := read(whole, 1)
	alone := open(t, "")
	mustRun(t, alone, steep+trainSteep+", epochs => 3000, patience => 4)")
	steps := mustRun(t, alone, "SELECT max(step) FROM relgrad.loss").Rows[0][0].(int64)
	if len(rows) != int(3*steps) {
		t.Fatalf("%d figures of %d steps", len(rows), steps)
	}
	kinds := map[bool]int{}
	for i, row := range rows {
		if want := []any{int64(i/3 + 1), int64(i%3 + 1), []string{"far", "mean", "High x"}[i%3]}; !reflect.DeepEqual(row[:3],
			want) || row[3] == nil && i%3 < 2 {
			t.Errorf("row %d is %v, not %v", i, row, want)
		}
		if i%3 == 2 {
			kinds[row[3] == nil]++
		}
	}
	if kinds[true] < 3 || kinds[false] < 3 {
		t.Errorf("of the figures %d are NULL", kinds[true])
	}
	if got := mustRun(t, whole, "SELECT count(*) FROM relgrad.loss l JOIN relgrad.validation v ON v.run = l.run AND "+
		"v.step = l.step AND v.position = 1 AND v.value = l.validation").Rows[0][0]; got != steps {
		t.Errorf("%v steps have the first figure in relgrad.loss", got)
	}
	if now := mustRun(t, whole, "SELECT far, mean FROM several").Rows[0]; !reflect.DeepEqual(now,
		[]any{rows[len(rows)-3][3], rows[len(rows)-2][3]}) {
		t.Errorf("the view says %v at the end, not %v", now, rows[len(rows)-3:])
	}
	for name, call := range map[string]string{
		"stored": "epochs => 3000, validate => 'stored', patience => 4)",
		"text": "epochs => 3000, validate => 'SELECT sum(abs(x - 1)) AS far, avg(x) AS mean, max(x) FILTER (WHERE x > 2.5) " +
			"AS \"High x\" FROM p', patience => 4)"} {
		db := open(t, "")
		mustRun(t, db, several+trainSeveral+call)
		if got := read(db, 1); !reflect.DeepEqual(got, rows) {
			t.Errorf("%s: figures are\n%v\nnot\n%v", name, got, rows)
		}
	}
	parts := open(t, "")
	mustRun(t, parts, several+trainSeveral+"epochs => 3000, validate => 'several', patience => 4, max_seconds => 1e-9)")
	for range steps - 1 {
		mustRun(t, parts, "CALL train(resume => 1)")
	}
	if got := read(parts, 1); !reflect.DeepEqual(got, rows) {
		t.Errorf("in parts figures are\n%v\nnot\n%v", got, rows)
	}
	mustRun(t, whole, "DELETE FROM relgrad.run; DELETE FROM relgrad.loss; DELETE FROM relgrad.state;"+trainSteep+
		", epochs => 1)")
	if got := mustRun(t, whole, "SELECT run FROM relgrad.run").Rows[0][0]; got != int64(2) {
		t.Errorf("the number of a run whose figures are left is given to run %v", got)
	}
	if err := whole.DeleteRuns(context.Background(), 2); err != nil {
		t.Fatal(err)
	}
	if got := mustRun(t, whole, "SELECT count(*) FROM relgrad.validation WHERE run = 2").Rows[0][0]; got != int64(0) {
		t.Errorf("%v figures of a deleted run", got)
	}
}

// TestFigureIsNaN: a figure beside the first that is no number is recorded as NULL, an infinite one as it is.
func TestFigureIsNaN(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, steep+trainSeveral+`epochs => 12, validate =>
		'SELECT sum(abs(x - 1)) AS far, ln(avg(x) - 2.5) AS l, exp(1000 - avg(x)) AS e FROM p')`)
	res := mustRun(t, db, "SELECT l.value IS NULL, e.value FROM relgrad.validation l JOIN relgrad.validation e "+
		"USING (step) WHERE l.name = 'l' AND e.name = 'e' ORDER BY step")
	if n := len(res.Rows); n != 12 || res.Rows[0][0] != false || res.Rows[n-1][0] != true ||
		!math.IsInf(res.Rows[n-1][1].(float64), 1) {
		t.Error(res.Rows)
	}
	if got := mustRun(t, db, "SELECT status FROM relgrad.run").Rows[0][0]; got != "finished" {
		t.Error(got)
	}
}

// TestFigureNames: names that would not tell figures apart are refused before the first step, whoever computes them.
func TestFigureNames(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, steep+"CREATE VIEW twice AS SELECT sum(x) AS a, avg(x) AS loss FROM p;"+
		"CREATE VIEW named AS SELECT sum(x) AS loss, avg(x) AS mean FROM p;"+
		"CREATE VIEW counted AS SELECT count(*) AS n, sum(x) AS validation FROM p;"+
		"CREATE VIEW texts AS SELECT sum(x) AS a, max(id)::text || 'x' AS b FROM p")
	for validate, want := range map[string]string{
		"SELECT avg(x), avg(v[1]) FROM p":       `the validation has two columns "avg"`,
		"SELECT count(*), count(x) FROM p":      `the validation has two columns "count"`,
		"twice":                                 `column 2 of the validation is named "loss"`,
		"counted":                               `column 2 of the validation is named "validation"`,
		"texts":                                 "the validation is 2x, not a number",
		"SELECT x, id FROM p":                   "the validation has 2 rows, not one",
		"SELECT sum(x) AS a, NULL AS b FROM p":  "",
		"named":                                 "",
		"SELECT NULL::real AS a, 1 AS b FROM p": "the validation has 2 rows, not one",
	} {
		before := mustRun(t, db, "SELECT count(*) FROM relgrad.run").Rows[0][0]
		_, err := db.Run(context.Background(), trainSeveral+"epochs => 2, validate => '"+validate+"')")
		if want == "" {
			if err != nil {
				t.Errorf("%s: %s", validate, sqlerr.Render(err))
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %s", validate, err, want)
		}
		if after := mustRun(t, db, "SELECT count(*) FROM relgrad.run").Rows[0][0]; after != before {
			t.Errorf("%s: a run was recorded", validate)
		}
	}
}

// TestFiguresOfAnOlderStore: a store that did not record figures beside the first does so when it is opened again.
func TestFiguresOfAnOlderStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	db := open(t, path)
	mustRun(t, db, several+trainSeveral+"epochs => 4, validate => 'several', max_seconds => 1e-9)")
	for _, sql := range []string{"DROP TABLE relgrad.validation", "ALTER TABLE relgrad.validation RENAME TO other"} {
		if _, err := db.Run(context.Background(), sql); sqlerr.Code(err) != "2BP01" {
			t.Errorf("%s: %v", sql, err)
		}
	}
	text := &ast.Text{SQL: "DROP TABLE relgrad.validation"}
	stmts, err := parse.Parse(text)
	if err == nil {
		_, err = db.DB.Exec(context.Background(), stmts[0].Stmt, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	db = open(t, path)
	mustRun(t, db, "CALL train(resume => 1, max_seconds => 100)")
	if got := mustRun(t, db, "SELECT min(step), max(step), count(*) FROM relgrad.validation").Rows[0]; !reflect.DeepEqual(
		got, []any{int64(2), int64(4), int64(9)}) {
		t.Error(got)
	}
}

// TestServerFigures: on a server, whichever engine computes, the figures are those of the store.
func TestServerFigures(t *testing.T) {
	ctx := context.Background()
	s := startServer(t)
	db := open(t, "")
	mustRun(t, db, several)
	run := 0
	for _, mode := range []string{engine.ModeChunk, engine.ModeSQL} {
		for _, view := range []string{"several", "stored", "measured"} {
			s.Mode = mode
			if err := s.remote.Script(ctx, "DROP TABLE IF EXISTS p CASCADE;"+several); err != nil {
				t.Fatal(err)
			}
			run++
			call := trainSeveral + "epochs => 12, validate => '" + view + "', patience => 3)"
			callTrain(t, s, call)
			mustRun(t, db, "UPDATE p SET x = id + 2, v = ARRAY[2 * id - 1, 2 * id]::double precision[];"+call)
			got, err := s.RunSQL(ctx, fmt.Sprintf(readSeveral, run))
			if err != nil {
				t.Fatal(err)
			}
			want := mustRun(t, db, fmt.Sprintf(readSeveral, run)).Rows
			if len(got.Rows) != len(want) || len(want) < 9 {
				t.Fatalf("%s, %s: %d figures, not %d", mode, view, len(got.Rows), len(want))
			}
			for i, row := range got.Rows {
				a, is := row[3].(float64)
				b, was := want[i][3].(float64)
				if !reflect.DeepEqual(row[:3], want[i][:3]) || is != was || math.Abs(a-b) > 1e-9 {
					t.Errorf("%s, %s: row %d is %v, not %v", mode, view, i, row, want[i])
				}
			}
		}
	}
}
