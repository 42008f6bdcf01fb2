package relgrad

import (
	"context"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/train"
)

// TestRightsFromOutside: a session from outside holds to the same rights as the extension's own calls.
func TestRightsFromOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	s, dsn := serverAt(t)
	runAll(t, s, "CREATE ROLE anna LOGIN",
		"CREATE TABLE p (id int PRIMARY KEY, x double precision, hidden double precision)",
		"INSERT INTO p VALUES (1, 2, 5), (2, 3, 7)",
		"CREATE TABLE w (id int PRIMARY KEY, a double precision, note text)", "INSERT INTO w VALUES (1, 0.5, 'mine')",
		"CREATE TABLE ran (name name, session name)", "GRANT INSERT, SELECT ON ran TO anna",
		"GRANT SELECT (x) ON p TO anna", "GRANT SELECT (id, a) ON w TO anna")
	anna, err := Dial(ctx, strings.Replace(dsn, "user=relgrad", "user=anna", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer anna.Close()
	const loss = "SELECT sum((x - a) ^ 2) FROM p, w"
	c := train.Default()
	c.Epochs, c.MaxSeconds, c.BeforeStep = 5, 1e-9, "INSERT INTO ran VALUES (current_user, session_user)"
	for _, mode := range []string{engine.ModeChunk, engine.ModeSQL} {
		s.Mode, anna.Mode = mode, mode
		if r, err := anna.Gradient(ctx, loss, "w", nil, 0); err != nil || len(r.Names) != 2 {
			t.Errorf("%s: columns one by one: %v %v", mode, r, err)
		}
		if _, err := anna.Gradient(ctx, "SELECT sum((hidden - a) ^ 2) FROM p, w", "w", nil, 0); sqlerr.Code(err) != "42501" {
			t.Errorf("%s: a column without a right: %v", mode, err)
		}
		if _, err := anna.Train(ctx, loss, []string{"w"}, c); sqlerr.Code(err) != "42501" {
			t.Errorf("%s: training without UPDATE: %v", mode, err)
		}
		if res, err := anna.RunSQL(ctx,
			"SELECT status, step, (SELECT count(*) FROM ran) FROM relgrad.run ORDER BY run DESC LIMIT 1"); err != nil ||
			res.Rows[0][0] != "failed" || res.Rows[0][1] != int64(0) || res.Rows[0][2] != int64(0) {
			t.Errorf("%s: the refused run: %v %v", mode, res.Rows, err)
		}
		runAll(t, s, "GRANT UPDATE (a) ON w TO anna")
		run, err := anna.Train(ctx, loss, []string{"w"}, c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Resume(ctx, run); sqlerr.Code(err) != "42501" {
			t.Errorf("%s: a superuser resumes anna's run: %v", mode, err)
		}
		runAll(t, s, "SET ROLE anna")
		if _, err := s.Resume(ctx, run); sqlerr.Code(err) != "42501" {
			t.Errorf("%s: a superuser resumes anna's run behind SET ROLE: %v", mode, err)
		}
		runAll(t, s, "RESET ROLE")
		if _, err := anna.Resume(ctx, run); err != nil {
			t.Errorf("%s: anna resumes her run: %v", mode, err)
		}
		if res, err := s.RunSQL(ctx,
			"SELECT count(*), count(*) FILTER (WHERE name = 'anna' AND session = 'anna') FROM ran"); err != nil ||
			res.Rows[0][0] != int64(2) || res.Rows[0][1] != int64(2) {
			t.Errorf("%s: before_step ran as %v %v", mode, res.Rows, err)
		}
		runAll(t, s, "REVOKE UPDATE (a) ON w FROM anna", "TRUNCATE ran")
	}
}
