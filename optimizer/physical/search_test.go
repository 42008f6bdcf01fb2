package physical

import (
	"fmt"
	"math/rand"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
)

// cells are what the tests give a search.
const cells = 1 << 20

// TestMinSum: elimination finds the least sum of random tables, as trying all choices does.
func TestMinSum(t *testing.T) {
	draw := rand.New(rand.NewSource(1))
	for range 300 {
		sizes := make([]int, 1+draw.Intn(6))
		for v := range sizes {
			sizes[v] = 1 + draw.Intn(4)
		}
		var terms []*table
		for range draw.Intn(9) {
			vars := draw.Perm(len(sizes))[:1+draw.Intn(min(3, len(sizes)))]
			slices.Sort(vars)
			of := &table{vars: vars}
			for range spanned(sizes, vars, 1<<20) {
				of.cost = append(of.cost, int64(draw.Intn(20)))
			}
			terms = append(terms, of)
		}
		choice, least, fixed, err := minSum(t.Context(), sizes, terms, cells)
		must(t, err)
		sum := func(choice []int) (out int64) {
			for _, of := range terms {
				at := 0
				for _, v := range of.vars {
					at = at*sizes[v] + choice[v]
				}
				out += of.cost[at]
			}
			return out
		}
		best := int64(impossible)
		for i := range spanned(sizes, draw.Perm(len(sizes)), 1<<20) {
			try := make([]int, len(sizes))
			for v := range try {
				try[v], i = i%sizes[v], i/sizes[v]
			}
			best = min(best, sum(try))
		}
		if fixed > 0 || least != best || sum(choice) != best {
			t.Fatalf("the least sum is %d, not %d (%v: %d)", best, least, choice, sum(choice))
		}
		choice, least, _, err = minSum(t.Context(), sizes, terms, 3) // some are fixed
		if must(t, err); least != sum(choice) || least < best {
			t.Fatalf("a choice with fixed variables costs %d, not %d; the least sum is %d", sum(choice), least, best)
		}
	}
	_, _, fixed, err := minSum(t.Context(), []int{50, 50, 50}, []*table{{[]int{0, 1}, make([]int64, 2500)},
		{[]int{1, 2}, make([]int64, 2500)}, {[]int{0, 2}, make([]int64, 2500)}}, 2000)
	if must(t, err); fixed != 1 {
		t.Errorf("%d variables of a table of 2,500 cells are fixed to pass a limit of 2,000", fixed)
	}
}

// stored are sites at which tables lie as in a plan.
func (p *Plan) stored() Sites {
	places := map[ra.ColumnID]Placement{} // of the leaves, by their first column
	for _, n := range p.locals() {
		if len(n.Inputs) == 0 {
			places[n.RA.Cols[0].ID] = n.Place
		}
	}
	return Sites{N: p.Sites, Spread: p.Spread, Stored: func(n *ra.Node) (Placement, bool) {
		return places[n.Cols[0].ID], true
	}}
}

// TestSearchLosses: what a search finds gives the same over any sites and costs no more than what it began with, by the
// numbers that it is given.
func TestSearchLosses(t *testing.T) {
	db, env := gradtest.Graph(), &kernels.Env{Seed: 1, Step: 2}
	exact, all, saved := 0, 0, 0
	for k, c := range gradtest.Losses {
		res, err := gradtest.Optimize(t.Context(), db, c.SQL, c.Params, optimizer.Options{})
		must(t, err)
		oracle := interp.New(db, env)
		sites := counts[k%len(counts)]
		draw := rand.New(rand.NewSource(int64(k)))
		even := Even{Sites: sites, Count: func(n *ra.Node) int64 {
			rows, err := oracle.Eval(t.Context(), n)
			must(t, err)
			return int64(len(rows))
		}}
		start, err := Compile(res.Plan, Sites{N: sites, Stored: func(n *ra.Node) (Placement, bool) {
			return drawn(draw, n, sites), draw.Intn(4) > 0
		}})
		must(t, err)
		costs := Costs{Least: Objective(k % 3), Cluster: InProcess, Cells: cells}
		if k%4 == 3 {
			costs.Cells = 40 // some relations are fixed
		}
		found, err := Search(t.Context(), res.Plan, start.stored(), even, costs)
		if err != nil {
			t.Errorf("%s over %d sites: %v", c.SQL, sites, err)
			continue
		}
		if all++; found.By == ByElimination {
			exact++
		}
		if err := same(t.Context(), found.Plan, res.Plan, db, env, 1e-12); err != nil {
			t.Errorf("%s over %d sites: %v\n%s", c.SQL, sites, err, found.Plan.Format())
		}
		costs.flow = newFlow(start)
		first := &Choice{Plan: start}
		must(t, first.measure(even, costs))
		now, before := found.Cost, first.Cost
		if now > before && found.By == ByElimination {
			t.Errorf("%s over %d sites costs %d, %d before\n%s", c.SQL, sites, now, before, found.Plan.Format())
		} else if now < before {
			saved++
		}
	}
	t.Logf("%d of %d searches are exact, %d plans cost less", exact, all, saved)
	if exact == all || exact < all/2 {
		t.Errorf("%d of %d searches are exact: not both ways are tried", exact, all)
	}
}

// TestSearchProducts: the search finds, for each way in which matrices may lie, a plan that moves no more than any of
// the ways to multiply them that begin so, by the exact numbers.
func TestSearchProducts(t *testing.T) {
	for _, size := range [][3]int{{2, 2, 2}, {64, 2, 2}, {2, 64, 2}, {2, 2, 64}, {16, 16, 1}} {
		for _, plan := range []string{"BMM_x", "BMM_x_aligned", "BMM_y_aligned", "CMM", "CMM_placed"} {
			h := newHand(t, 4, map[string]int64{"i": 4, "j": 4, "k": 4})
			of := h.query(plan, size, nil, nil)
			p := h.product(plan, of)
			r, err := run(t.Context(), p, h, nil)
			must(t, err)
			found, err := Search(t.Context(), of, p.stored(), newForecast(t.Context(), p, h, nil, r),
				Costs{Least: ExactFloats, Cells: cells})
			must(t, err)
			must(t, same(t.Context(), found.Plan, of, h, nil, 0))
			floats := int64(0)
			moves, err := p.Moves(r)
			must(t, err)
			for _, m := range moves {
				floats += m.Exact
			}
			if found.Cost > floats || found.By != ByElimination {
				t.Errorf("%s %v: %d floats by %s, the plan by hand moves %d\n%s", plan, size, found.Cost, found.By, floats,
					found.Plan.Format())
			}
			t.Logf("%s %v: %d floats, by hand %d", plan, size, found.Cost, floats)
		}
	}
}

// processorTime is what this process has taken of processors: what else runs on the machine does not count.
func processorTime() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// TestPlannerTime: a network of 50 layers, each a table of weights, is planned in two seconds for 16 sites, and in ten
// for 1,024.
func TestPlannerTime(t *testing.T) {
	const layers = 50
	db := newPaper().db
	table := func(name string, rows int64, shapes ...[]int) {
		of := &ra.Table{Schema: "public", Name: name, Declared: true, Key: []int{0}, Rows: rows,
			Cols: []ra.TableColumn{{Name: "id", PGType: "integer", Type: kernels.Type{Kind: kernels.Int}}}}
		for i, shape := range shapes {
			of.Cols = append(of.Cols, ra.TableColumn{Name: string("vy"[i]), PGType: "real[]",
				Type: kernels.Type{Kind: kernels.Float32, Shape: shape}})
		}
		db.Tables[name] = of
	}
	table("x", 100, []int{16}, []int{16})
	must(t, db.AddView("h0", "SELECT id, v AS h FROM x"))
	var params []string
	for l := range layers {
		name := fmt.Sprint("w", l)
		table(name, 1, []int{16, 16}, []int{16})
		params = append(params, name)
		must(t, db.AddView(fmt.Sprint("h", l+1), fmt.Sprintf("SELECT h.id, relu(matmul(h.h, w.v) + w.y) AS h "+
			"FROM h%d h CROSS JOIN %s w", l, name)))
	}
	res, err := gradtest.Optimize(t.Context(), db, fmt.Sprintf("SELECT avg(mse(h.h, x.y)) FROM h%d h JOIN x USING (id)",
		layers), params, optimizer.Options{})
	must(t, err)
	for sites, most := range map[int]time.Duration{16: 2 * time.Second, 1024: 10 * time.Second} {
		begin := processorTime()
		_, err := Choose(t.Context(), res.Plan, Sites{N: sites}, Costs{Cluster: InProcess})
		must(t, err)
		took := processorTime() - begin
		if t.Logf("%d sites: %v", sites, took); took > most {
			t.Errorf("a plan for %d sites takes %v, more than %v", sites, took, most)
		}
	}
}
