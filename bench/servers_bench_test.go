package bench

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/train"
)

// spreadModels are trained on one server and on three others. Both have the same tables, those of one server with the
// prefix one_.
var spreadModels = []struct {
	name, what  string
	setup, loss string
	by          [][2]string
	params      []string
	options     string
	steps       map[string]int // by engine; 0: not measured
}{
	{"gcn", "graph network, 169,343 nodes, 2.5M entries, 128→64→40", `
CREATE TABLE one_node (node int PRIMARY KEY, x real[], label int);
INSERT INTO one_node SELECT k, random_normal(ARRAY[128], 1, ARRAY[0, k]), random_int(40, 1, ARRAY[1, k])
  FROM generate_series(0, 169342) AS g(k);
CREATE TABLE one_adj (dst int, src int, weight real, PRIMARY KEY (dst, src));
INSERT INTO one_adj SELECT DISTINCT ON (b.dst, b.src) b.dst, b.src, 0.3::real FROM (
  SELECT (sum_elements(random_uniform(ARRAY[1], 1, ARRAY[2, k])) ^ 2 * 169342)::int AS dst,
    random_int(169343, 1, ARRAY[3, k])::int AS src
  FROM generate_series(1, 1330000) AS g(k)) e, LATERAL (VALUES (e.dst, e.src), (e.src, e.dst)) AS b(dst, src);
CREATE TABLE layer1 (id int PRIMARY KEY DEFAULT 1, w real[][]);
INSERT INTO layer1 (w) SELECT glorot_uniform(ARRAY[128, 64], 1, ARRAY[1], 128, 64);
CREATE TABLE layer2 (id int PRIMARY KEY DEFAULT 1, w real[][]);
INSERT INTO layer2 (w) SELECT glorot_uniform(ARRAY[64, 40], 1, ARRAY[2], 64, 40)`,
		`SELECT avg(cross_entropy(l.z, n.label)) AS loss FROM (
  SELECT a.dst AS node, sum(a.weight * hw.v) AS z FROM PREFIXadj a JOIN (
    SELECT h.node, matmul(relu(h.v), layer2.w) AS v FROM (
      SELECT a.dst AS node, sum(a.weight * xw.v) AS v FROM PREFIXadj a JOIN (
        SELECT node, matmul(x, w) AS v FROM PREFIXnode CROSS JOIN layer1) xw ON xw.node = a.src GROUP BY a.dst) h
    CROSS JOIN layer2) hw ON hw.node = a.src GROUP BY a.dst) l JOIN PREFIXnode n USING (node)`,
		[][2]string{{"node", "node"}, {"adj", "dst"}}, []string{"layer1", "layer2"}, "optimizer => 'adam', lr => 0.01",
		map[string]int{"chunk": 12}},
	{"ratings", "factors of 1M ratings, 10,000 users × 2,000 films, rank 32", `
CREATE TABLE one_rating (usr int, item int, rating real, PRIMARY KEY (usr, item));
INSERT INTO one_rating SELECT u, (u * 7 + k * 13) % 2000, 1 + (u + k) % 5
  FROM generate_series(0, 9999) AS g(u), generate_series(0, 99) AS f(k);
CREATE TABLE taste (usr int PRIMARY KEY, v real[]);
INSERT INTO taste SELECT k, random_uniform(ARRAY[32], 1, ARRAY[1, k]) FROM generate_series(0, 9999) AS g(k);
CREATE TABLE trait (item int PRIMARY KEY, v real[]);
INSERT INTO trait SELECT k, random_uniform(ARRAY[32], 1, ARRAY[2, k]) FROM generate_series(0, 1999) AS g(k)`,
		`SELECT avg((r.rating - dot(u.v, i.v)) ^ 2) AS loss
FROM PREFIXrating r JOIN taste u USING (usr) JOIN trait i USING (item)`,
		[][2]string{{"rating", "usr"}}, []string{"taste", "trait"}, "optimizer => 'sgd', lr => 10",
		map[string]int{"chunk": 25, "sql": 2}},
}

// BenchmarkServers measures a step of training where tables lie at three servers beside one where they lie at the
// server that is called. All servers are on this machine, so that only what distribution costs is seen.
func BenchmarkServers(b *testing.B) {
	called := pgcluster.Start(b)
	s := connect(b, called.DSN)
	s.must("CREATE EXTENSION relgrad; CREATE EXTENSION postgres_fdw; " + settings)
	for i := range 3 {
		c := pgcluster.Start(b)
		connect(b, c.DSN).must("CREATE EXTENSION relgrad")
		var options []string
		for _, x := range strings.Fields(c.DSN) {
			if name, value, _ := strings.Cut(x, "="); name != "user" {
				options = append(options, fmt.Sprintf("%s '%s'", name, value))
			}
		}
		s.must(fmt.Sprintf("CREATE SERVER s%d FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s); CREATE USER MAPPING FOR "+
			"CURRENT_USER SERVER s%[1]d OPTIONS (user 'relgrad')", i+1, strings.Join(options, ", ")))
	}
	out := &Table{Head: []string{"measure", "three servers", "one server", "ratio", "asked", "pairs"}}
	for _, m := range spreadModels {
		s.must(m.setup)
		for _, x := range m.by {
			s.must(fmt.Sprintf("CREATE TABLE %s (LIKE one_%[1]s INCLUDING ALL); SELECT distribute('%[1]s', '%[2]s')", x[0],
				x[1]))
			s.must(fmt.Sprintf("INSERT INTO %s SELECT * FROM one_%[1]s", x[0]))
		}
		for prefix, view := range map[string]string{"": m.name, "one_": "one_" + m.name} {
			s.must("CREATE VIEW " + view + " AS " + strings.ReplaceAll(m.loss, "PREFIX", prefix))
		}
		s.must("ANALYZE")
		for _, x := range []struct {
			engine, how, asked string
			limits             *physical.Costs
			rounds             int
		}{{"chunk", "chunk engine", "1.5, and 10 ms", nil, 5},
			{"chunk", "chunk engine, planned as for servers on machines of their own", "",
				&physical.Costs{Cluster: engine.Servers}, 5},
			{"sql", "SQL engine", "1.3", nil, 3}} {
			if m.steps[x.engine] == 0 {
				continue
			}
			step := func(view string) func() (time.Duration, error) {
				return func() (time.Duration, error) {
					return stepTime(called.DSN, x.engine, x.limits, view, m.params, m.options, m.steps[x.engine])
				}
			}
			p, err := Alternate(x.rounds, step(m.name), step("one_"+m.name))
			if err != nil {
				b.Fatal(err)
			}
			out.AddPair(m.what+", "+x.how, p, x.asked)
		}
	}
	text := "# Measured on several servers\n\nWritten by `make servers-bench`: the median time of a step, of runs that " +
		"were trained alternately. The servers are\nall on this machine and share its processors, so a ratio shows what " +
		"distribution costs, never what it saves.\n\n" + machine(s) + out.String()
	fmt.Print(text)
	if *write {
		if err := os.WriteFile("SERVERS.md", []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

// stepTime trains some steps in a session of its own, and gives the median time of those behind the second.
func stepTime(dsn, mode string, limits *physical.Costs, view string, params []string, options string,
	steps int) (time.Duration, error) {
	ctx := context.Background()
	db, err := relgrad.Dial(ctx, dsn, nil)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	db.Mode, db.Cluster = mode, limits
	var times []float64
	last := time.Now()
	db.OnStep = func(train.LossRow, int64) {
		times = append(times, time.Since(last).Seconds())
		last = time.Now()
	}
	text := &ast.Text{SQL: fmt.Sprintf("CALL train('public.%s', ARRAY['public.%s'], %s, epochs => %d)", view,
		strings.Join(params, "', 'public."), options, steps)}
	stmts, err := parse.Parse(text)
	if err != nil {
		return 0, err
	}
	if err := db.CallTrain(ctx, stmts[0].Stmt.(*ast.Call).Func, text); err != nil {
		return 0, err
	}
	return time.Duration(Median(times[min(2, len(times)-1):]) * float64(time.Second)), nil
}
