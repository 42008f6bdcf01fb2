package relgrad

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/train"
)

// TestCarriedFromOutside: values that a loss carries along as texts are those of the table whatever DateStyle is, or
// are refused.
func TestCarriedFromOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	s, _ := serverAt(t)
	runAll(t, s, "CREATE TABLE w (r daterange PRIMARY KEY, x double precision)",
		"INSERT INTO w VALUES ('[2020-02-01,2020-03-04)', 0.5)", "SET datestyle = 'German, MDY'")
	const loss = "SELECT sum(x * x) FROM w"
	s.Mode = engine.ModeChunk
	if got, err := s.Gradient(ctx, loss, "w", nil, 0); err != nil || got.Cols[0].Texts()[0] != "[2020-02-01,2020-03-04)" {
		t.Errorf("%+v, %v", got, err)
	}
	s.Mode = engine.ModeSQL
	if got, err := s.Gradient(ctx, loss, "w", nil, 0); sqlerr.Code(err) != sqlerr.FeatureNotSupported ||
		!strings.Contains(err.Error(), "does not read back") {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestRoundedFromOutside: it is said, on both engines, where a gradient's rows round numerics of the table.
func TestRoundedFromOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	s, _ := serverAt(t)
	var warnings []string
	s.Notice = func(_, message string) { warnings = append(warnings, message) }
	runAll(t, s, "CREATE TABLE a (n int PRIMARY KEY, k numeric, x double precision)", "INSERT INTO a VALUES (1, 0.1, 0.5)")
	for _, k := range []string{"12345678901234567890.50", "0.1"} {
		runAll(t, s, "UPDATE a SET k = "+k)
		for _, s.Mode = range []string{engine.ModeChunk, engine.ModeSQL} {
			warnings = nil
			if _, err := s.Gradient(ctx, "SELECT sum(x * x) FROM a", "a", nil, 0); err != nil {
				t.Fatal(err)
			}
			said := strings.Contains(strings.Join(warnings, "\n"), `column "k" of table "a" holds numerics of more than 15`)
			if said != (k != "0.1") {
				t.Errorf("%s, %s: warnings %q", s.Mode, k, warnings)
			}
		}
	}
}

// TestLongNumericsFromOutside: a number of a sub-query that gets more digits than a double precision keeps, amid a run
// that compares it, ends the run.
func TestLongNumericsFromOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	s, dsn := serverAt(t)
	other, err := Dial(ctx, dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	runAll(t, s, "CREATE TABLE w (id int PRIMARY KEY, x double precision)", "INSERT INTO w VALUES (1, 0.5)",
		"CREATE TABLE f (id int PRIMARY KEY, n numeric(9, 2))", "INSERT INTO f VALUES (1, 1)",
		"CREATE TABLE d (id int PRIMARY KEY, n numeric)")
	for _, mode := range []string{engine.ModeChunk, engine.ModeSQL} {
		runAll(t, s, "DELETE FROM d", "INSERT INTO d VALUES (1, 1)", "UPDATE w SET x = 0.5")
		s.Mode = mode
		c := train.Default()
		// it ends as soon as it meets the other session's number, or by the time limit, which is an error
		c.Epochs = 10_000_000
		const loss = "SELECT sum(w.x * w.x) AS l FROM w JOIN f USING (id) " +
			"JOIN (SELECT d.id, d.n FROM d WHERE current_step() > -1 LIMIT 5) AS e ON f.n = e.n"
		written := make(chan error, 1)
		time.AfterFunc(300*time.Millisecond, func() {
			_, err := other.RunSQL(ctx, "UPDATE d SET n = 1.0000000000000001")
			written <- err
		})
		within, cancel := context.WithTimeout(ctx, 20*time.Second)
		_, err := s.Train(within, loss, []string{"w"}, c)
		cancel()
		if err == nil || !strings.Contains(err.Error(), "more than 15 digits") {
			t.Errorf("%s: %v", mode, err)
		}
		if err := <-written; err != nil {
			t.Error(err)
		}
	}
}
