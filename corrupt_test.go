package relgrad

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
)

// junk stands in the place of what a run's row holds: texts, JSON of other kinds, and numbers out of range.
var junk = []string{"", " ", "{", "[", "null", "[]", "{}", "7", "-1", "1e400", "true", `"x"`,
	`["x"]`, `[null]`, `{"a": {"b": 1}}`, `{"settings": 5}`,
	`{"settings": {"search_path": 7}}`,
	`{"settings": {"no.such": "x"}}`, `{"keys": 5}`, `{"written": [1]}`, `{"written": ["", ".", "a", "no.such"]}`,
	"\u0000x"[1:], "9223372036854775808", strings.Repeat("[", 20000)}

// TestCorruptRuns: whatever a user writes over the rows of a run, resuming is an error of its own or goes on, and never
// a fault of the program.
func TestCorruptRuns(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, "CREATE TABLE p (id int PRIMARY KEY, x double precision); INSERT INTO p SELECT i, i FROM "+
		"generate_series(1, 9) AS g(i); CREATE TABLE w (id int PRIMARY KEY, a double precision, v real[]);"+
		"INSERT INTO w SELECT i, i, array_fill(0.5::real, ARRAY[3000]) FROM generate_series(1, 3) AS g(i); CREATE VIEW l "+
		"AS SELECT avg((p.x - w.a) ^ 2) + sum(sqnorm(w.v)) * 0.1 AS loss FROM p, w;"+
		"CALL train('l', 'w', epochs => 4, batch => 'p', batch_size => 2, tolerance => 0.1, validate => 'l', max_seconds "+
		"=> 1e-9, options => '{\"w\": {\"lr\": 0.1}}', sparse => ARRAY['w'])")
	for _, sql := range []string{"CREATE TABLE kept_run AS TABLE relgrad.run",
		"CREATE TABLE kept_loss AS TABLE relgrad.loss", "CREATE TABLE kept_state AS TABLE relgrad.state"} {
		mustRun(t, db, sql)
	}
	var options map[string]any
	if err := json.Unmarshal([]byte(mustRun(t, db, "SELECT options::text FROM relgrad.run").Rows[0][0].(string)),
		&options); err != nil {
		t.Fatal(err)
	}
	var damage []string
	for _, col := range []string{"loss", "parameters", "keys", "options", "status", "context", "progress"} {
		for _, j := range junk {
			damage = append(damage, fmt.Sprintf("UPDATE relgrad.run SET %s = %s", col, sqltext.Text(j)))
		}
	}
	for name := range options {
		for _, j := range junk {
			if json.Valid([]byte(j)) {
				damage = append(damage, "UPDATE relgrad.run SET options = "+sqltext.Text(with(t, options, name,
					json.RawMessage(j))))
			}
		}
		damage = append(damage, "UPDATE relgrad.run SET options = "+sqltext.Text(with(t, options, name, nil)))
	}
	damage = append(damage, "UPDATE relgrad.run SET step = -1", "UPDATE relgrad.run SET step = 9223372036854775807",
		"UPDATE relgrad.run SET step = 3", "UPDATE relgrad.run SET waited = -5", "UPDATE relgrad.run SET best = NULL",
		"UPDATE relgrad.run SET context = NULL", "UPDATE relgrad.run SET progress = NULL",
		"UPDATE relgrad.state SET v = NULL", "UPDATE relgrad.state SET v = ARRAY[1.0]",
		"UPDATE relgrad.state SET v = array_fill(0.0::double precision, ARRAY[5000])",
		"UPDATE relgrad.state SET v = array_fill(0.0::double precision, ARRAY[64, 64])",
		"UPDATE relgrad.state SET row = row - 5", "UPDATE relgrad.state SET row = row + 5",
		"UPDATE relgrad.state SET row = 9223372036854775807 - row",
		"UPDATE relgrad.state SET row = 10 - row", "UPDATE relgrad.state SET name = 'other'",
		"UPDATE relgrad.state SET parameter = 'w'", "DELETE FROM relgrad.state", "DELETE FROM relgrad.state WHERE row = 1",
		"UPDATE relgrad.state SET v = array_fill('NaN'::double precision, ARRAY[4096])", "UPDATE relgrad.loss SET step = -3",
		"UPDATE relgrad.loss SET step = 900", "DELETE FROM relgrad.loss")
	for _, sql := range damage {
		mustRun(t, db, "DELETE FROM relgrad.run; DELETE FROM relgrad.loss; DELETE FROM relgrad.state; INSERT INTO "+
			"relgrad.run TABLE kept_run; INSERT INTO relgrad.loss TABLE kept_loss; INSERT INTO relgrad.state TABLE kept_state")
		if _, err := db.Run(context.Background(), sql); err != nil {
			continue // the store refuses it
		}
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%.150s: panic: %v", sql, p)
				}
			}()
			_, err := db.Run(context.Background(), "CALL train(resume => 1)")
			var e *sqlerr.Error
			switch {
			case strings.Contains(sql, "relgrad.state") && !strings.Contains(sql, "NaN") &&
				sqlerr.Code(err) != sqlerr.DataCorrupted:
				t.Errorf("%.150s: %v, expected an error about the optimizer's state", sql, err)
			case err == nil:
			case !errors.As(err, &e) || e.Code == sqlerr.Internal || strings.Contains(err.Error(), "runtime error") ||
				strings.Contains(err.Error(), "slice bounds"):
				t.Errorf("%.150s: %v", sql, err)
			}
		}()
	}
}

// with gives the options with another value of one, or without it.
func with(t *testing.T, options map[string]any, name string, v any) string {
	t.Helper()
	out := map[string]any{}
	for k, x := range options {
		out[k] = x
	}
	if out[name] = v; v == nil {
		delete(out, name)
	}
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
