package serverstest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// model is a loss, its tables, and those of them that lie at several servers.
type model struct {
	name   string
	setup  string // tables, and a view loss
	spread []spreadTable
	params [][2]string // tables of parameters, with their keys
	train  string      // options
	cols   []string    // of the parameters that have them; nil: v
}

// spreadTable is a table that lies at several servers, its columns, and that by whose hash it is spread.
type spreadTable struct {
	name, columns, by string
	keyed             bool // it is the primary key
}

// ratings are films with the factors of users and of films.
const ratings = `
CREATE TABLE rating (u int, i int, x double precision);
INSERT INTO rating SELECT k % 40, (k * 7) % 31, 1 + k % 5 FROM generate_series(1, 600) AS g(k);
CREATE TABLE w (u int PRIMARY KEY, v double precision[]);
INSERT INTO w SELECT k, ARRAY[sin(k), cos(k), sin(3 * k)] FROM generate_series(0, 39) AS g(k);
CREATE TABLE h (i int PRIMARY KEY, v double precision[]);
INSERT INTO h SELECT k, ARRAY[cos(2 * k), sin(k), cos(k)] FROM generate_series(0, 30) AS g(k);
CREATE VIEW loss AS SELECT avg((r.x - dot(w.v, h.v)) ^ 2) AS loss FROM rating r JOIN w USING (u) JOIN h USING (i)`

// logistic is a logistic regression.
const logistic = `
CREATE TABLE sample (id bigint PRIMARY KEY, x double precision[], y int);
INSERT INTO sample SELECT k, ARRAY[sin(k), cos(k), sin(2 * k), 1], (sin(k) > 0.2)::int
  FROM generate_series(1, 500) AS g(k);
CREATE TABLE w (one int PRIMARY KEY, v double precision[]);
INSERT INTO w VALUES (1, '{0.1,-0.2,0.3,0}');
CREATE VIEW loss AS SELECT avg(bce_with_logits(dot(s.x, w.v), s.y)) AS loss FROM sample s, w`

var models = []model{
	{"film ratings", ratings,
		[]spreadTable{{"rating", "u int, i int, x double precision", "u", false}}, [][2]string{{"w", "u"}, {"h", "i"}},
		"optimizer => 'adam', lr => 0.05, epochs => 20", nil},
	{"parameters at servers, too", ratings,
		[]spreadTable{{"rating", "u int, i int, x double precision", "u", false},
			{"w", "u int, v double precision[]", "u", true}, {"h", "i int, v double precision[]", "i", true}},
		[][2]string{{"w", "u"}, {"h", "i"}}, "optimizer => 'adam', lr => 0.05, epochs => 20", nil},
	{"a sub-query that reads the step", strings.Replace(strings.Replace(ratings, "avg((r.x", "avg(s.f * (r.x", 1),
		"FROM rating r", "FROM rating r JOIN (SELECT k::int AS u, "+
			"(1 + abs(hashint4(k) + current_step()) % 5)::double precision AS f "+
			"FROM generate_series(0, 39) AS g(k)) s USING (u)", 1),
		[]spreadTable{{"rating", "u int, i int, x double precision", "u", false}}, [][2]string{{"w", "u"}, {"h", "i"}},
		"optimizer => 'sgd', lr => 0.01, epochs => 6", nil},
	{"logistic regression", logistic,
		[]spreadTable{{"sample", "id bigint, x double precision[], y int", "id", true}}, [][2]string{{"w", "one"}},
		"optimizer => 'momentum', momentum => 0.9, lr => 0.5, epochs => 30", nil},
	{"logistic regression in batches", logistic,
		[]spreadTable{{"sample", "id bigint, x double precision[], y int", "id", true}}, [][2]string{{"w", "one"}},
		"optimizer => 'adam', lr => 0.05, epochs => 5, batch => 'sample', batch_size => 60, seed => 7", nil},
	{"graph network", `
CREATE TABLE node (id int, x double precision[], label int);
INSERT INTO node SELECT k, ARRAY[sin(k), cos(k), sin(5 * k)], k % 2 FROM generate_series(0, 99) AS g(k);
CREATE TABLE edge (src int, dst int, weight double precision);
INSERT INTO edge SELECT (k * 13) % 100, (k * k + 7 * k) % 100, 1.0 / (1 + k % 4) FROM generate_series(1, 700) AS g(k);
CREATE TABLE l1 (one int PRIMARY KEY, v double precision[][]);
INSERT INTO l1 VALUES (1, '{{0.1,0.3,-0.2,0.4},{0.5,-0.1,0.2,0.1},{-0.3,0.2,0.6,-0.5}}');
CREATE TABLE l2 (one int PRIMARY KEY, v double precision[][]);
INSERT INTO l2 VALUES (1, '{{0.2,-0.4},{0.1,0.3},{-0.6,0.5},{0.7,-0.2}}');
CREATE VIEW hidden AS SELECT e.dst AS id, relu(sum(e.weight * matmul(n.x, l1.v))) AS h
  FROM edge e JOIN node n ON n.id = e.src, l1 GROUP BY e.dst;
CREATE VIEW loss AS SELECT avg(cross_entropy(matmul(z.h, l2.v), n.label)) AS loss
  FROM (SELECT e.dst AS id, sum(e.weight * h.h) AS h FROM edge e JOIN hidden h ON h.id = e.src GROUP BY e.dst) z
  JOIN node n USING (id), l2`,
		[]spreadTable{{"node", "id int, x double precision[], label int", "id", false},
			{"edge", "src int, dst int, weight double precision", "dst", false}}, [][2]string{{"l1", "one"}, {"l2", "one"}},
		"optimizer => 'adam', lr => 0.02, epochs => 20", nil},
}

// models: losses, gradients and trained parameters are those of one server, computed where the rows are.
func (s *servers) models(t *testing.T) {
	for _, m := range models {
		t.Run(m.name, func(t *testing.T) {
			s := s.of(t)
			c := s.called
			c.must("%s", m.setup)
			results(c, m, "one")
			s.spreadOut(m)
			results(c, m, "several")
			same(t, c, m, "several", "grad", "new")
			for i, o := range s.others {
				if n := o.must("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%%gen_member%%' AND pid <> " +
					"pg_backend_pid()"); n[0] != "1" {
					t.Errorf("%s sessions have led server %d", n[0], i+1)
				}
			}
			c.must("SET relgrad.engine = sql; SELECT fdw.postgres_fdw_disconnect_all()")
			c.must("SELECT backward('loss', ARRAY['%s'], step => 1)", strings.Join(names(m), "', '"))
			if !m.paramsApart() { // no row of a table at servers has come by its foreign table
				if far := c.must("SELECT server_name FROM fdw.postgres_fdw_get_connections()"); len(far) > 0 {
					t.Errorf("SQL reads foreign tables of %v", far)
				}
			}
			for _, name := range names(m) {
				c.must("DROP TABLE %s_grad", name)
			}
			results(c, m, "queries")
			same(t, c, m, "queries", "grad", "new")
			c.must("RESET relgrad.engine")
			for _, network := range []float64{1e5, 1e8, 1e12} { // bytes per second: plans differ
				trainedOutside(t, c, m, network)
				same(t, c, m, "outside", "new")
				c.must("DROP TABLE outside_new_%s", strings.Join(names(m), ", outside_new_"))
			}
		})
	}
}

// views makes the views of a model anew, behind a change of the tables that they read.
func (m model) views(c *session, change func()) {
	c.t.Helper()
	c.must("DROP VIEW loss; DROP VIEW IF EXISTS hidden")
	change()
	c.must("%s", m.setup[strings.Index(m.setup, "CREATE VIEW"):])
}

// spreadOut has the tables of a model lie at several servers.
func (s *servers) spreadOut(m model) {
	s.t.Helper()
	m.views(s.called, func() {
		for _, x := range m.spread {
			s.spread(x.name, x.columns, x.by, x.keyed)
		}
	})
}

// paramsApart reports whether tables of parameters lie at several servers.
func (m model) paramsApart() bool {
	return slices.ContainsFunc(m.spread, func(x spreadTable) bool { return slices.Contains(names(m), x.name) })
}

// names are those of the tables of parameters.
func names(m model) (out []string) {
	for _, p := range m.params {
		out = append(out, p[0])
	}
	return out
}

// trainedOutside trains in a session from outside, where computing costs so much that all servers take part.
func trainedOutside(t *testing.T, c *session, m model, network float64) {
	t.Helper()
	ctx := context.Background()
	db, err := relgrad.Dial(ctx, c.c.DSN, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.Mode = "chunk"
	db.Cluster = &physical.Costs{Cluster: physical.Cluster{Network: network, Operations: 1e4, Reads: 1e4}}
	steps := map[physical.Op]int{}
	db.OnCompiled = func(c relgrad.Compilation) {
		for _, n := range c.Placed.Plan.Nodes() {
			steps[n.Op]++
		}
	}
	text := &ast.Text{SQL: fmt.Sprintf("CALL train('public.loss', ARRAY['public.%s'], %s)",
		strings.Join(names(m), "', 'public."), m.train)}
	stmts, err := parse.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.CallTrain(ctx, stmts[0].Stmt.(*ast.Call).Func, text); err != nil {
		t.Fatal(err)
	}
	t.Logf("%.0g bytes a second: %v", network, steps)
	if steps[physical.Bcast]+steps[physical.Shuf]+steps[physical.Halo] == 0 {
		t.Errorf("no row leaves the first server: %v", steps)
	}
	for _, p := range m.params {
		c.must("CREATE TABLE outside_new_%s AS SELECT * FROM %[1]s; UPDATE %[1]s AS t SET v = o.v FROM one_was_%[1]s AS o "+
			"WHERE t.%[2]s = o.%[2]s", p[0], p[1])
	}
}

// results makes tables of the loss, the gradients, and the parameters that are trained, which are then what they were.
func results(c *session, m model, as string) {
	c.t.Helper()
	var params []string
	for _, p := range m.params {
		params = append(params, "'"+p[0]+"'")
	}
	list := "ARRAY[" + strings.Join(params, ", ") + "]"
	c.must("CREATE TABLE %s_loss AS SELECT backward('loss', %s, step => 1) AS x", as, list)
	for _, p := range m.params {
		c.must("CREATE TABLE %s_grad_%s AS SELECT * FROM %[2]s_grad; CREATE TABLE %[1]s_was_%[2]s AS SELECT * FROM %[2]s; "+
			"DROP TABLE %[2]s_grad", as, p[0])
	}
	c.must("CALL train('loss', %s, %s)", list, m.train)
	for _, p := range m.params {
		c.must("CREATE TABLE %s_new_%s AS SELECT * FROM %[2]s; UPDATE %[2]s AS t SET %[4]s FROM %[1]s_was_%[2]s AS o "+
			"WHERE t.%[3]s = o.%[3]s", as, p[0], p[1], m.set(c, p[0]))
	}
}

// valuesOf are the columns of a parameter that are trained.
func (m model) valuesOf(c *session, table string) (out []string) {
	for _, name := range append([]string{"v"}, m.cols...) {
		if c.must("SELECT count(*) FROM pg_attribute WHERE attrelid = '%s'::regclass AND attname = '%s'", table,
			name)[0] == "1" {
			out = append(out, name)
		}
	}
	return out
}

// set sets them to what o has.
func (m model) set(c *session, table string) string {
	var out []string
	for _, name := range m.valuesOf(c, table) {
		out = append(out, name+" = o."+name)
	}
	return strings.Join(out, ", ")
}

// same compares what results has made on one server and on several.
func same(t *testing.T, c *session, m model, as string, kinds ...string) {
	t.Helper()
	compare := func(what, sql string) {
		t.Helper()
		out := strings.Split(c.must("%s", sql)[0], "|")
		if n, _ := strconv.Atoi(out[0]); n == 0 || len(out) < 2 {
			t.Errorf("%s: nothing is compared", what)
		} else if x, err := strconv.ParseFloat(out[1], 64); err != nil || !(x <= 1e-9) {
			t.Errorf("%s differs by %s", what, out[1])
		}
	}
	if slices.Contains(kinds, "grad") {
		compare("the loss", "SELECT count(*), max(abs(o.x - s.x) / abs(o.x)) FROM one_loss o, "+as+"_loss s")
	}
	for _, p := range m.params {
		for _, kind := range kinds {
			for _, v := range m.valuesOf(c, p[0]) {
				of := v
				if c.must("SELECT pg_typeof(%s) FROM %s LIMIT 1", v, p[0])[0] == "double precision" {
					of = "ARRAY[" + v + "]"
				}
				compare(kind+" of "+p[0]+"."+v, fmt.Sprintf("SELECT count(*), max(abs(a - b)) FROM (SELECT %[3]s, %[5]s AS v FROM "+
					"one_%[1]s_%[2]s) o JOIN (SELECT %[3]s, %[5]s AS v FROM %[4]s_%[1]s_%[2]s) s USING (%[3]s), "+
					"unnest(o.v, s.v) AS u(a, b)", kind, p[0], p[1], as, of))
			}
		}
	}
}
