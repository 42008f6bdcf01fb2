package relgrad

import (
	"fmt"
	"strings"
	"testing"
)

// ring is a graph whose neighbours are near by their numbers: each of 600 vertices has edges to the next three.
const ring = `
CREATE TABLE edge (src int, dst int, weight double precision, PRIMARY KEY (src, dst));
INSERT INTO edge SELECT i, (i + d) % 600, 0.1 * (1 + i % 3)
    FROM generate_series(0, 599) AS g(i), generate_series(1, 3) AS s(d);
CREATE TABLE vertex (node int PRIMARY KEY, v double precision[]);
INSERT INTO vertex SELECT i, random_normal(ARRAY[32], 1, ARRAY[i]) FROM generate_series(0, 599) AS g(i);
CREATE VIEW hidden AS SELECT dst AS node, tanh(sum(weight * v)) AS h FROM edge JOIN vertex ON node = src GROUP BY dst;
CREATE VIEW top AS SELECT dst AS node, sum(weight * h) AS z FROM edge JOIN hidden ON node = src GROUP BY dst;
CREATE VIEW loss AS SELECT avg(sqnorm(z)) AS loss FROM top`

// TestSitesRanges: a graph whose neighbours are near by their numbers is spread by ranges that balance its edges, and
// its parameters with it, since then little moves; training gives what it gives at one site.
func TestSitesRanges(t *testing.T) {
	const call = "CALL train('loss', ARRAY['vertex'], lr => 0.05, epochs => 4)"
	var want []float64
	for _, sites := range []int{1, 2, 3, 7} {
		db := open(t, "")
		mustRun(t, db, ring)
		mustRun(t, db, fmt.Sprintf("SET relgrad.sites = %d; %s", sites, call))
		got := numbersOf(t, mustRun(t, db, "SELECT loss FROM relgrad.loss ORDER BY step").Rows)
		got = append(got, numbersOf(t, mustRun(t, db, "SELECT v FROM vertex ORDER BY node").Rows)...)
		if want == nil {
			want = got
		}
		if err := far(got, want, 1e-9); err != nil {
			t.Errorf("%d sites: %v", sites, err)
		}
	}
	db := open(t, "")
	mustRun(t, db, ring)
	plan := fmt.Sprint(mustRun(t, db, "SELECT explain_gradient('loss', 'vertex', stage => 'sites:4')").Rows)
	for _, s := range []string{"Scan vertex -> by(node", "ranges from 150, 300, 450)", "vertex: model parallel by"} {
		if !strings.Contains(plan, s) {
			t.Errorf("the plan for 4 sites does not say %q:\n%s", s, plan)
		}
	}
}
