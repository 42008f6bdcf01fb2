package gradtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
)

// drawn are losses whose rows and keys are drawn at each step.
var drawn = []Loss{
	{"SELECT sum(sqnorm(o.v) * n.k) FROM (SELECT src, random_int(4, current_seed(), ARRAY[current_step(), src, dst]) " +
		"AS k FROM adj) n JOIN w0 o ON o.node = n.k", []string{"w0"}},
	{"SELECT sum(s * s) FROM (SELECT dst, sum(weight) AS s FROM adj GROUP BY dst " +
		"HAVING sum(weight * sin(src * current_step())) > 0) q", []string{"adj"}},
	{"SELECT sum(sqnorm(v)) FROM w0 WHERE node NOT IN (SELECT random_int(4, current_seed(), ARRAY[current_step(), src]) " +
		"FROM adj)", []string{"w0"}},
	{"WITH n AS (SELECT src, dst, weight, random_int(4, current_seed(), ARRAY[current_step(), src, dst]) AS k FROM adj) " +
		"SELECT (SELECT sum(weight * sqnorm(o.v)) FROM n JOIN w0 o ON o.node = k) + " +
		"(SELECT sum(weight * k * dot(o.v, u.v)) FROM n JOIN w0 o ON o.node = src JOIN w0 u ON u.node = dst)",
		[]string{"w0"}},
	{"WITH n AS (SELECT src, dst, weight, random_int(4, current_seed(), ARRAY[current_step(), src, dst]) AS k FROM adj) " +
		"SELECT (SELECT sum(h * h) FROM (SELECT src, sum(weight * sqnorm(o.v)) AS h FROM n JOIN w0 o ON o.node = k " +
		"GROUP BY src) q) + (SELECT sum(weight * dot(o.v, u.v)) FROM n JOIN w0 o ON o.node = src JOIN w0 u ON u.node = dst)",
		[]string{"w0"}},
	{"SELECT s * sum_elements(w1.v) FROM (SELECT coalesce(sum(weight), 1) AS s FROM adj " +
		"WHERE (src + current_step()) % 2 = 0) q, w1", []string{"w1"}},
}

// TestSites compares the executor at several sites with the oracle, by the plans of TRA's Table 1 and by those of the
// search, of these some with halos wherever there can be one, with gradients at one site or where the parameters lie.
// What exchanges move is predicted to the byte.
func TestSites(t *testing.T) {
	for _, sites := range []int{1, 2, 3, 4, 7, 8, 16} {
		t.Run(fmt.Sprint(sites), func(t *testing.T) {
			t.Parallel()
			moved, halos := int64(0), 0
			for i, c := range slices.Concat(Losses, drawn) {
				for way := range 6 { // all of them at three sites
					by, owned := plans(way%3), way < 3
					if sites != 3 && (by != plans((i+sites)%3) || owned != (i%2 == 0)) {
						continue
					}
					m, h := atSites(t, c, sites, by, owned)
					moved, halos = moved+m, halos+h
				}
			}
			if (moved > 0) != (sites > 1) || sites > 1 && halos < 20 {
				t.Errorf("%d bytes were moved; there were %d halos", moved, halos)
			}
		})
	}
}

// plans are the ways in which the tests plan for several sites.
type plans int

const (
	byTable plans = iota
	chosen
	withHalos
)

// noneNeeded tells a search that no row is ever needed at another site, so that it sends halos wherever it can.
type noneNeeded struct{ physical.Even }

func (h noneNeeded) Rows(n *physical.Node) []int64 {
	if n.Place.Kind == physical.Needed {
		return make([]int64, h.Sites)
	}
	return h.Even.Rows(n)
}

func (h noneNeeded) Stays(n *physical.Node) int64 {
	if n.Op == physical.Halo {
		return 0
	}
	return h.Even.Stays(n)
}

// planned plans a loss.
func (by plans) planned(p *ra.Plan, on physical.Sites) (*physical.Plan, error) {
	if by == byTable {
		return physical.Compile(p, on)
	}
	apart := physical.Costs{Cluster: physical.Cluster{Network: 1e9, Operations: 8e9}} // exchanges begin at once
	found, err := physical.Choose(context.Background(), p, on, apart)
	if by == withHalos {
		rows := physical.Even{Sites: on.N, Count: func(n *ra.Node) int64 { return int64(10 + len(n.Cols)) }}
		floats := physical.Costs{Least: physical.ExactFloats, Cells: 1 << 12}
		found, err = physical.Search(context.Background(), p, on, noneNeeded{rows}, floats)
	}
	if err != nil {
		return nil, err
	}
	return found.Plan, nil
}

// atSites runs a loss at several sites and returns how many bytes its exchanges have moved, and how many are halos.
func atSites(t *testing.T, c Loss, sites int, by plans, owned bool) (moved int64, halos int) {
	db, ctx := Graph(), context.Background()
	res, err := Optimize(ctx, db, c.SQL, c.Params, optimizer.Options{})
	if err != nil {
		t.Fatalf("%s: %v", c.SQL, err)
	}
	on := physical.Sites{N: sites, Result: func(i int, of *ra.Node) (physical.Placement, bool) {
		return physical.Spread(physical.Function{}, of.Key...), owned && i > 0 && len(of.Key) > 0
	}}
	plan, err := by.planned(res.Plan, on)
	if err != nil {
		t.Fatalf("%s: %v", c.SQL, err)
	}
	env := kernels.Env{Seed: 1}
	p, err := executor.CompileSites(ctx, plan, db, executor.Options{Workers: 2, Env: env, Many: owned})
	if err != nil {
		t.Errorf("%s: %v", c.SQL, err)
		return 0, 0
	}
	defer p.Close()
	for env.Step = range int64(2) { // what is computed once must be right at the next step, too
		if err := p.Run(ctx, env); err != nil {
			t.Errorf("%s: %v", c.SQL, err)
			return 0, 0
		}
		likeOracle(t, fmt.Sprintf("%s: step %d\n%s", c.SQL, env.Step, plan.Format()), p, res.Plan, db, env)
	}
	exchanges, err := p.Exchanges()
	if err != nil {
		t.Errorf("%s: %v\n%s", c.SQL, err, plan.Format())
	}
	for _, x := range exchanges {
		if moved += x.Moved; x.Predicted != x.Moved {
			t.Errorf("%s: %v of %s moves %d bytes, not %d\n%s", c.SQL, x.Node, strings.Join(x.Columns, ", "), x.Moved,
				x.Predicted, plan.Format())
		}
	}
	for _, n := range plan.Nodes() {
		if n.Op == physical.Halo {
			halos++
		}
	}
	return moved, halos
}
