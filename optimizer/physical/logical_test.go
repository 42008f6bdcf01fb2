package physical

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/optimizer/rules"
	"github.com/relgrad/relgrad/ra"
)

// logicalCases are queries in which an R1 rule fires, or must not.
var logicalCases = []struct {
	rule  string
	fires bool
	sql   string
}{
	{"R1-1", true, "SELECT sum(weight) FROM (SELECT * FROM (SELECT * FROM adj WHERE src < 2) a WHERE dst > 0) b"},
	{"R1-1", false, "WITH q AS (SELECT src, dst, weight FROM adj WHERE src < 2) SELECT sum(a.weight * b.weight) FROM q " +
		"a JOIN q b ON a.src = b.dst"},
	{"R1-2", true, "SELECT sum(y + 1) FROM (SELECT exp(weight) AS y FROM adj) q"},
	{"R1-2", false, "SELECT sum(y * sin(y)) FROM (SELECT exp(weight) AS y FROM adj) q"},
	{"R1-3", true, "SELECT sum(y) FROM (SELECT src, exp(weight) AS y FROM adj) q WHERE src < 2"},
	{"R1-3", false, "SELECT sum(y) FROM (SELECT exp(weight) AS y FROM adj) q WHERE y < 2"},
	{"R1-4", true, "SELECT sum(sqnorm(h)) FROM (SELECT e.dst, sum(e.weight * matmul(x.v, w.v)) AS h FROM edge e " +
		"JOIN x ON x.node = e.src, w GROUP BY e.dst) q"},
	{"R1-4", false, "SELECT sum(h) FROM (SELECT e.dst, max(e.weight * sqnorm(matmul(x.v, w.v))) AS h FROM edge e " +
		"JOIN x ON x.node = e.src, w GROUP BY e.dst) q"},
	{"R1-5", true, "SELECT sum(s) FROM (SELECT src, sum(weight) AS s FROM adj GROUP BY src) q WHERE src < 2"},
	{"R1-5", false, "SELECT sum(s) FROM (SELECT src, sum(weight) AS s FROM adj GROUP BY src) q WHERE s < 2"},
	{"R1-6", true, "SELECT sum(a.weight * dot(w0.v, w0.v)) FROM adj a JOIN w0 ON w0.node = a.src WHERE w0.node < 2"},
	{"R1-6", false, "SELECT sum(a.weight * dot(w0.v, w0.v)) FROM adj a JOIN w0 ON w0.node = a.src WHERE a.dst < w0.node"},
	{"R1-7", true, "SELECT sum(exp(y)) FROM (SELECT a.weight * w0.v[1] AS y FROM adj a JOIN w0 ON w0.node = a.src) q"},
	{"R1-7", false, "SELECT sum(y * sin(y)) FROM (SELECT a.weight * w0.v[1] AS y FROM adj a JOIN w0 ON node = src) q"},
}

// graph is the database of the losses with a larger graph beside.
func graph() *memdb.DB {
	db, draw := gradtest.Graph(), rand.New(rand.NewSource(2))
	numbers := func(n int, shape ...int) *memdb.Column {
		return &memdb.Column{Name: "v", Data: chunks(shape, n, func(int) []float64 {
			out := make([]float64, (kernels.Type{Shape: shape}).Size())
			for i := range out {
				out[i] = draw.NormFloat64()
			}
			return out
		})}
	}
	h := newHand(nil, 1, map[string]int64{"src": 20, "dst": 20, "node": 20, "id": 1})
	h.table("edge", "src dst", nil, nil)
	h.table("x", "node", nil, nil)
	h.table("w", "id", nil, nil)
	weight := numbers(400)
	weight.Name = "weight"
	db.Create("edge", 2, memdb.Column{Name: "src", Data: h.data["edge"][0]},
		memdb.Column{Name: "dst", Data: h.data["edge"][1]}, *weight)
	db.Create("x", 1, memdb.Column{Name: "node", Data: h.data["x"][0]}, *numbers(20, 4))
	db.Create("w", 1, memdb.Column{Name: "id", Data: h.data["w"][0]}, *numbers(1, 4, 6))
	return db
}

// TestLogicalRules: the rules of the optimizer that are R1 rules fire where these may, and not where these must not.
// With and without them the query gives the same over any number of sites.
func TestLogicalRules(t *testing.T) {
	db, env := graph(), &kernels.Env{Seed: 1, Step: 2}
	var names []string
	for _, r := range rules.All() {
		names = append(names, r.Name)
	}
	seen := map[string]int{}
	for _, c := range logicalCases {
		at := slices.IndexFunc(LogicalRules, func(r struct{ Name, Rule, Doc string }) bool { return r.Name == c.rule })
		rule := LogicalRules[at].Rule
		if seen[c.rule]++; !slices.Contains(names, rule) {
			t.Fatalf("%s is %s, which the optimizer has not", c.rule, rule)
		}
		without, err := gradtest.Optimize(t.Context(), db, c.sql, nil, optimizer.Options{Disable: names})
		must(t, err)
		others := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return name == rule || name == "MergeJoins" // which brings together what the others look at
		})
		with, err := gradtest.Optimize(t.Context(), db, c.sql, nil, optimizer.Options{Disable: others})
		must(t, err)
		if (with.Fired[rule] > 0) != c.fires {
			t.Errorf("%s (%s) fires %d times in %s", c.rule, rule, with.Fired[rule], c.sql)
		}
		for _, sites := range counts {
			for _, plan := range []*ra.Plan{without.Plan, with.Plan} {
				p, err := Compile(plan, Sites{N: sites})
				must(t, err)
				must(t, same(t.Context(), p, without.Plan, db, env, 1e-12))
			}
		}
	}
	for _, r := range LogicalRules {
		if seen[r.Name] != 2 {
			t.Errorf("%s has %d cases, not one in which it fires and one in which it must not", r.Name, seen[r.Name])
		}
	}
}
