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

// TestRecurrences: views upon views of a recurrence are planned by psql's own session as fast as on the store, by the engine that
// computes in chunks; what the engine sql takes is Postgres's own planning of the text for the most part.
func TestRecurrences(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	c := pgcluster.Start(t)
	for _, l := range []struct {
		steps  int
		engine string
		most   time.Duration // on an idle machine
	}{{60, "chunk", 500 * time.Millisecond}, {200, "chunk", 2 * time.Second}, {60, "sql", 3 * time.Second}} {
		inPsql(t, c.DSN, recurrence(l.steps))
		best := time.Hour
		for try := 0; try < 5 && (try < 2 || best > l.most); try++ { // a new session has planned nothing
			best = min(best, lastTime(t, inPsql(t, c.DSN, fmt.Sprintf(`SET search_path = s, relgrad; SET relgrad.engine = '%s';
SELECT 1 FROM gradient('SELECT sum(w) FROM w', NULL::w) LIMIT 0;
\timing on
SELECT backward('loss', ARRAY['w']);
`, l.engine))))
		}
		inPsql(t, c.DSN, "SET client_min_messages = warning; DROP SCHEMA s CASCADE")
		t.Logf("%d steps, engine %s: %v", l.steps, l.engine, best)
		if best > 4*l.most { // it may be busy
			t.Errorf("%d steps take %v on the engine %s", l.steps, best, l.engine)
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

// lastTime is what \timing says of the last statement.
func lastTime(t *testing.T, out string) time.Duration {
	t.Helper()
	all := regexp.MustCompile(`Time: ([0-9.]+) ms`).FindAllStringSubmatch(out, -1)
	if len(all) == 0 {
		t.Fatalf("psql tells no time: %s", out)
	}
	ms, err := strconv.ParseFloat(all[len(all)-1][1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(ms * float64(time.Millisecond))
}
