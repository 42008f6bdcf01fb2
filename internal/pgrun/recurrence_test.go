package pgrun

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/pgcluster"
)

// recurrence makes views h0 … hn, each over the one before, and the loss of the last one.
func recurrence(n int) string {
	var s strings.Builder
	fmt.Fprintf(&s, `SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS relgrad;
CREATE SCHEMA s; SET search_path = s, relgrad;
CREATE TABLE x (t int, id int, v double precision, PRIMARY KEY (t, id));
INSERT INTO x SELECT t, i, 0.1 * t - 0.01 * i FROM generate_series(0, 3) AS a(t), generate_series(1, 4) AS g(i);
CREATE TABLE w (one int PRIMARY KEY, w double precision); INSERT INTO w VALUES (1, 0.5);
CREATE VIEW h0 AS SELECT id, v AS h FROM x WHERE t = 0;
`)
	for t := 1; t <= n; t++ {
		fmt.Fprintf(&s, `CREATE VIEW h%d AS SELECT x.id, tanh(h.h * w.w + x.v) AS h
FROM h%d h JOIN x ON x.id = h.id AND x.t = %d CROSS JOIN w;
`, t, t-1, t%4)
	}
	fmt.Fprintf(&s, "CREATE VIEW loss AS SELECT avg(h * h) FROM h%d;\n", n)
	return s.String()
}

// TestRecurrences: both engines differentiate views upon views of a recurrence, from psql, to the same loss and
// gradient. How long the first call of a session takes is logged.
func TestRecurrences(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	c := pgcluster.Start(t)
	results := map[int]string{}
	for _, l := range []struct {
		steps  int
		engine string
	}{{60, "chunk"}, {200, "chunk"}, {60, "sql"}, {200, "sql"}} {
		inPsql(t, c.DSN, recurrence(l.steps))
		out := inPsql(t, c.DSN, fmt.Sprintf(`SET search_path = s, relgrad; SET relgrad.engine = '%s';
SELECT 1 FROM gradient('SELECT sum(w) FROM w', NULL::w) LIMIT 0;
\timing on
SELECT round(backward('loss', ARRAY['w'])::numeric, 9);
\timing off
SELECT round(w::numeric, 9) FROM w_grad;
`, l.engine))
		inPsql(t, c.DSN, "SET client_min_messages = warning; DROP SCHEMA s CASCADE")
		t.Logf("%d steps, engine %s: %v", l.steps, l.engine, lastTime(t, out))
		numbers := strings.Join(strings.Fields(timing.ReplaceAllString(out, "")), " ")
		if before := results[l.steps]; before != "" && before != numbers {
			t.Errorf("%d steps: %s by one engine, %s by the other", l.steps, before, numbers)
		}
		if results[l.steps] = numbers; len(strings.Fields(numbers)) != 2 {
			t.Errorf("%d steps, engine %s: %q is no loss and gradient", l.steps, l.engine, numbers)
		}
	}
}

// inPsql runs a script as a user would.
func inPsql(t *testing.T, dsn, script string) string {
	t.Helper()
	cmd := exec.Command("psql", "-X", "-q", "-t", "-v", "ON_ERROR_STOP=1", "-d", dsn)
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// timing is what psql says of a statement under \timing.
var timing = regexp.MustCompile(`(?m)^Time: ([0-9.]+) ms.*$`)

// lastTime is what \timing says of the last statement.
func lastTime(t *testing.T, out string) time.Duration {
	t.Helper()
	all := timing.FindAllStringSubmatch(out, -1)
	if len(all) == 0 {
		t.Fatalf("psql tells no time: %s", out)
	}
	ms, err := strconv.ParseFloat(all[len(all)-1][1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(ms * float64(time.Millisecond))
}
