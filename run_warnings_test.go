package relgrad

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/engine"
)

// warningsOf runs statements and returns the warnings that they give.
func warningsOf(t *testing.T, db *Engine, run func(sql string) error, statements ...string) (out []string) {
	t.Helper()
	db.Notice = func(level, message string) {
		if level == "WARNING" {
			out = append(out, message)
		}
	}
	for _, sql := range statements {
		if err := run(sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	return out
}

const labelled = `
CREATE TABLE p (id int PRIMARY KEY, x double precision, y int);
INSERT INTO p VALUES (1, -1, 0), (2, 0.5, 0), (3, 0.25, 1), (4, 2, 1);
CREATE TABLE w (id int PRIMARY KEY, a double precision, b double precision);
INSERT INTO w VALUES (1, 0.5, 0);
CREATE VIEW z AS SELECT p.id, p.y, w.a * p.x + w.b AS z FROM p, w;
CREATE VIEW fit AS SELECT avg(bce_with_logits(z, y)) FROM z;
CREATE VIEW area AS SELECT round(auc(z, y)::numeric, 3) AS area FROM z;
`

// TestValidationsDirection: a run that decides by a figure of which higher is better says so.
func TestValidationsDirection(t *testing.T) {
	const decides = ", patience => 5, restore_best => true"
	cases := []struct{ validate, options, figure string }{
		{"SELECT auc(z, y) AS a, avg(z) AS b FROM z", decides, "auc"},
		{"SELECT ndcg(z, y) FROM z", ", patience => 5", "ndcg"},
		{"SELECT f1(z > 0, y = 1) FROM z", ", restore_best => true", "f1"},
		{"SELECT avg(((z > 0)::int = y)::int) AS accuracy FROM z", decides, "accuracy"},
		{"SELECT (SELECT accuracy(z > 0, y = 1) FROM z) AS s", decides, "accuracy"},
		{"area", decides, "auc"},
		{"SELECT auc(z, y) AS auc FROM z", "", ""},
		{"SELECT 1 - auc(z, y) AS auc FROM z", decides, ""},
		{"SELECT -auc(z, y) AS auc FROM z", decides, ""},
		{"SELECT avg(bce_with_logits(z, y)) AS loss, auc(z, y) AS auc FROM z", decides, ""},
		{"fit", decides, ""},
	}
	check := func(t *testing.T, db *Engine, run func(string) error) {
		for _, c := range cases {
			got := warningsOf(t, db, run, "CALL train('fit', ARRAY['w'], epochs => 3, validate => '"+c.validate+"'"+c.options+
				")")
			if c.figure == "" && len(got) > 0 || c.figure != "" && (len(got) != 1 ||
				!strings.HasPrefix(got[0], "train: validate decides by "+c.figure+", of which higher is better")) {
				t.Errorf("%s%s: warnings %q, expected one of %q", c.validate, c.options, got, c.figure)
			}
		}
	}
	db := open(t, "")
	mustRun(t, db, labelled)
	t.Run("store", func(t *testing.T) {
		check(t, db.Engine, func(sql string) error { _, err := db.Run(context.Background(), sql); return err })
	})
	if testing.Short() {
		return
	}
	s := startServer(t)
	if err := s.remote.Script(context.Background(), labelled); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{engine.ModeChunk, engine.ModeSQL} {
		s.Mode = mode
		t.Run(mode, func(t *testing.T) {
			check(t, s.Engine, func(sql string) error { callTrain(t, s, sql); return nil })
		})
	}
}

// TestChangedParameters: a run that goes on says which of its parameters have changed since its last commit.
func TestChangedParameters(t *testing.T) {
	const train = "CALL train('fit', ARRAY['w'], epochs => 3"
	const other = "UPDATE w SET b = 5"
	const since = " changed since run 1's last commit; it goes on from "
	const there = "what is there now, with the optimizer's state of the values before"
	const best = ", validate => 'SELECT -avg(bce_with_logits(z, y)) FROM z', restore_best => true" // the first step's
	cases := []struct {
		name, options string
		between       []string
		want          string
	}{
		{"nothing", "", nil, ""},
		{"one", "", []string{other}, "train: w.b has" + since + there},
		{"both", "", []string{other, "UPDATE w SET a = a + 1"}, "train: w.a, w.b have" + since + there},
		{"the same value again", "", []string{"UPDATE w SET b = b"}, ""},
		{"the best are restored", best, nil, ""},
		{"the best have changed", best, []string{other}, "train: w.b has" + since +
			"the values of its last step, which it has kept"},
		{"an older store", "", []string{other, "UPDATE relgrad.run SET progress = replace(progress, '\"values\"', '\"x\"')"},
			""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			db := open(t, "")
			run := func(sql string) error { _, err := db.Run(context.Background(), sql); return err }
			mustRun(t, db, labelled)
			got := warningsOf(t, db.Engine, run, slices.Concat([]string{train + c.options + ")"}, c.between,
				[]string{"CALL train(resume => 1, epochs => 5)"})...)
			if strings.Join(got, "\n") != c.want {
				t.Errorf("warnings %q, not %q", got, c.want)
			}
			if got = warningsOf(t, db.Engine, run, "CALL train(resume => 1, epochs => 7)"); len(got) > 0 {
				t.Errorf("resumed again: warnings %q", got)
			}
		})
	}
}

// TestServersChangedParameters is TestChangedParameters on a server, where a run whose steps the server computes reads
// what is there.
func TestServersChangedParameters(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := startServer(t)
	if err := s.remote.Script(context.Background(), labelled); err != nil {
		t.Fatal(err)
	}
	s.Mode = engine.ModeChunk
	run := func(sql string) error {
		if strings.HasPrefix(sql, "CALL") {
			callTrain(t, s, sql)
			return nil
		}
		return s.remote.Script(context.Background(), sql)
	}
	got := warningsOf(t, s.Engine, run, "CALL train('fit', ARRAY['w'], epochs => 3)",
		"CALL train(resume => 1, epochs => 5)")
	if len(got) > 0 {
		t.Errorf("nothing has changed: warnings %q", got)
	}
	got = warningsOf(t, s.Engine, run, "UPDATE w SET b = 5", "CALL train(resume => 1, epochs => 7)")
	if len(got) != 1 || !strings.HasPrefix(got[0], "train: w.b has changed since run 1's last commit") {
		t.Errorf("warnings %q", got)
	}
}
