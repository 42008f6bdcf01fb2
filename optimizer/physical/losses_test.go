package physical

import (
	"context"
	"flag"
	"math/rand"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/optimizer/cost"
	"github.com/relgrad/relgrad/ra"
)

var queries = flag.Int("queries", 150, "number of queries of TestRandom")

// counts are the numbers of sites that the tests plan for.
var counts = []int{1, 2, 3, 4, 7, 8, 16}

// drawn draws a placement of a table.
func drawn(draw *rand.Rand, n *ra.Node, sites int) Placement {
	var by []ra.ColumnID
	var types []kernels.Type
	for _, c := range n.Cols {
		if !c.Dep && draw.Intn(2) == 0 {
			by, types = append(by, c.ID), append(types, c.Type)
		}
	}
	switch lies := draw.Intn(5); {
	case lies == 0 || n.Op == ra.Opaque:
		return At(draw.Intn(sites))
	case lies == 1:
		return Everywhere()
	case lies == 2:
		return Placement{Kind: Anywhere}
	}
	fn := Function{Kind: FunctionKind(draw.Intn(3)), Lens: make([]int64, len(by)), From: make([]int64, sites-1)}
	for i := range fn.Lens {
		fn.Lens[i] = int64(1 + draw.Intn(4))
	}
	for i := range fn.From {
		fn.From[i] = int64(draw.Intn(5))
	}
	slices.Sort(fn.From)
	switch fn.Kind {
	case Hash:
		fn.Lens, fn.From = nil, nil
	case Grid:
		fn.From = nil
	case Ranges:
		fn.Lens = nil
	}
	if fn.check(types, sites) != nil {
		return At(draw.Intn(sites))
	}
	return Spread(fn, by...)
}

// compiled is the plan of a loss whose tables lie anywhere.
func compiled(t *testing.T, draw *rand.Rand, c gradtest.Loss, plan *ra.Plan, sites int) *Plan {
	t.Helper()
	p, err := Compile(plan, Sites{N: sites, Stored: func(n *ra.Node) (Placement, bool) {
		return drawn(draw, n, sites), draw.Intn(4) > 0
	}})
	if err != nil {
		t.Fatalf("%s over %d sites: %v", c.SQL, sites, err)
	}
	return p
}

// TestLosses: losses with their gradients give the same over any sites, as compiled and after rules at random.
func TestLosses(t *testing.T) {
	need.Time(t)
	db, env := gradtest.Graph(), &kernels.Env{Seed: 1, Step: 2}
	fired := map[string]int{}
	for k, c := range gradtest.Losses {
		res, err := gradtest.Optimize(t.Context(), db, c.SQL, c.Params, optimizer.Options{})
		must(t, err)
		for _, sites := range counts {
			draw := rand.New(rand.NewSource(int64(100*k + sites)))
			p := compiled(t, draw, c, res.Plan, sites)
			if err := same(t.Context(), p, res.Plan, db, env, 1e-12); err != nil {
				t.Errorf("%s over %d sites: %v\n%s", c.SQL, sites, err, p.Format())
				continue
			}
			q := rewritten(draw, p, fired)
			if err := same(t.Context(), q, res.Plan, db, env, 1e-12); err != nil {
				t.Errorf("%s over %d sites: %v\n%s\nrewritten\n%s", c.SQL, sites, err, p.Format(), q.Format())
			}
		}
	}
	t.Log(fired)
	for _, r := range append(Rules(), Rule{Name: "halo"}) {
		if fired[r.Name] < 10 {
			t.Errorf("%s fired %d times", r.Name, fired[r.Name])
		}
	}
}

// detour is no rule: it moves the rows of an input somewhere before they are read. Rules have to put that right again.
func detour(seed int64, sites int) Rule {
	return Rule{Name: "detour", find: func(c *ruleContext, n *Node) func() {
		draw := rand.New(rand.NewSource(seed)) // a rule is asked twice
		if len(n.Inputs) == 0 {
			return nil
		}
		i := draw.Intn(len(n.Inputs))
		x := &Node{Op: Bcast + Op(draw.Intn(3)), Site: draw.Intn(sites), Inputs: []*Node{n.Inputs[i]}}
		for _, col := range x.Relation().Cols {
			if x.Op == Shuf && !col.Dep && draw.Intn(3) == 0 {
				x.By = append(x.By, col.ID)
			}
		}
		if x.Op == Shuf && len(x.By) == 0 {
			return nil
		}
		return func() { n.Inputs[i] = x }
	}}
}

// halfway is no rule: it sends an input of a join only where another one needs it.
func halfway(seed int64, sites int) Rule {
	return Rule{Name: "halo", find: func(c *ruleContext, n *Node) func() {
		draw := rand.New(rand.NewSource(seed))
		if n.Op != Local || n.RA.Op != ra.Join && n.RA.Op != ra.SemiJoin && n.RA.Op != ra.AntiJoin || len(n.Inputs) < 2 {
			return nil
		}
		slots := draw.Perm(len(n.Inputs))
		e, x := slots[0], slots[1]
		if n.RA.Op != ra.Join {
			e, x = 0, 1
		}
		pairs, of, partner := pairsOf(n.RA, e, x), n.Inputs[x].bare(), n.Inputs[e]
		if !partner.Place.once() { // a SHUF of it, or its rows where they lie
			partner = partner.bare()
		}
		if len(pairs) == 0 || !of.Place.once() || !partner.Place.once() || of.Place.Partial || partner.Place.Partial {
			return nil
		}
		if len(pairs) > 1 && draw.Intn(2) == 0 {
			pairs = pairs[:1]
		}
		sent := halo(of, partner, &Need{Pairs: pairs})
		if draw.Intn(2) == 0 {
			sent.Inputs = []*Node{{Op: Gather, Site: draw.Intn(sites), Inputs: []*Node{of}}, partner}
		}
		return func() { n.Inputs[e], n.Inputs[x] = partner, sent }
	}}
}

// rewritten applies rules at random.
func rewritten(draw *rand.Rand, p *Plan, fired map[string]int) *Plan {
	rules := Rules()
	for range 12 {
		r := rules[draw.Intn(len(rules))]
		switch draw.Intn(6) {
		case 0, 1:
			r = detour(draw.Int63(), p.Sites)
		case 2, 3:
			r = halfway(draw.Int63(), p.Sites)
		}
		nodes := p.Nodes()
		for _, i := range draw.Perm(len(nodes)) {
			if out, ok := r.Apply(p, nodes[i]); ok {
				fired[r.Name]++
				p = out
				break
			}
		}
	}
	return p
}

// searched checks what a search finds.
func searched(ctx context.Context, of *ra.Plan, on Sites, even Even, db ra.Source, env *kernels.Env) error {
	found, err := Search(ctx, of, on, even, Costs{Cluster: InProcess, Cells: cells})
	if err == nil {
		err = same(ctx, found.Plan, of, db, env, 1e-9)
	}
	return err
}

// TestRandom: random losses over random databases, with their gradients, give the same over any sites.
func TestRandom(t *testing.T) {
	env, fired, n := &kernels.Env{Seed: 1, Step: 2}, map[string]int{}, 0
	for seed := int64(1); seed <= int64(*queries); seed++ {
		q := randquery.Generate(seed, randquery.Options{})
		db, err := q.Open(kernels.Float64)
		must(t, err)
		res, err := gradtest.Optimize(t.Context(), db, q.Loss, q.Params, optimizer.Options{})
		if err != nil { // no parameter reaches the loss
			continue
		}
		draw := rand.New(rand.NewSource(seed))
		sites := counts[draw.Intn(len(counts))]
		p, err := Compile(res.Plan, Sites{N: sites, Stored: func(n *ra.Node) (Placement, bool) {
			return drawn(draw, n, sites), draw.Intn(4) > 0
		}})
		if err == nil {
			on, model := p.stored(), cost.New()
			p = rewritten(draw, p, fired)
			if err = same(t.Context(), p, res.Plan, db, env, 1e-9); err == nil {
				even := Even{Sites: sites, Count: func(n *ra.Node) int64 { return int64(model.Rows(n)) }}
				err = searched(t.Context(), res.Plan, on, even, db, env)
			}
		}
		if n++; err != nil {
			t.Errorf("seed %d over %d sites: %v\n%s", seed, sites, err, q.Report())
		}
	}
	t.Logf("%d losses, %v", n, fired)
	if n < *queries/2 {
		t.Errorf("only %d losses of %d reach a parameter", n, *queries)
	}
}

// TestRecursions: no rule moves rows of a recursive query's step, which runs at site 0, nor the levels that another one
// goes along.
func TestRecursions(t *testing.T) {
	db, fired := gradtest.Graph(), map[string]int{}
	for k, c := range gradtest.Recursions {
		res, err := gradtest.Optimize(t.Context(), db, c.SQL, c.Params, optimizer.Options{})
		must(t, err)
		for _, sites := range counts {
			draw := rand.New(rand.NewSource(int64(100*k + sites)))
			q := rewritten(draw, compiled(t, draw, c, res.Plan, sites), fired)
			inside := looped(q.Logical().Nodes()...)
			for _, n := range q.Nodes() {
				if of := n.Relation(); of.Op != ra.Recursion && inside[of] && n.exchange() {
					t.Fatalf("%s over %d sites: %v moves rows of a step\n%s", c.SQL, sites, n, q.Format())
				}
			}
		}
	}
	t.Log(fired)
	for _, r := range append(Rules(), Rule{Name: "halo"}, Rule{Name: "detour"}) {
		if fired[r.Name] == 0 {
			t.Errorf("%s has not fired", r.Name)
		}
	}
}
