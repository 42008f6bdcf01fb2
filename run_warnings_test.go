package relgrad

import (
	"context"
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
