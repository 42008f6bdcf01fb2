package engines

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand"
	"slices"
	"sync/atomic"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
)

// Sites runs a plan in the executor at several sites. How many, where tables lie and what is moved is drawn from the
// plan's text: half of the plans are those of TRA's Table 1, the others any that the search knows, half of them with
// halos wherever there can be one. The same sites must give the same bits with one worker and with several. halos
// counts the plans with halos.
func Sites(halos *atomic.Int64) randquery.Engine {
	return randquery.Engine{Name: "sites", Tol: 1e-9, TolReal: 2e-3,
		Run: func(ctx context.Context, db *memdb.DB, plan *ra.Plan, env *kernels.Env) ([][]interp.Row, error) {
			d := newDraw(plan)
			p, err := d.plan(ctx, plan)
			if err != nil {
				return nil, fmt.Errorf("%d sites: %w", d.sites, err)
			}
			if slices.ContainsFunc(p.Nodes(), func(n *physical.Node) bool { return n.Op == physical.Halo }) {
				halos.Add(1)
			}
			var first [][]interp.Row
			for _, workers := range []int{1, 5} {
				o := executor.Options{Workers: workers, Force64: !hasReal(db), Env: *env, Many: workers > 1}
				program, err := executor.CompileSites(ctx, p, db, o)
				var rows [][]interp.Row
				if err == nil {
					rows, err = results(ctx, program, plan, *env)
				}
				if err == nil && first != nil {
					err = bitEqual(first, rows)
				}
				if err != nil {
					return nil, fmt.Errorf("%w\n%d sites, %d workers:\n%s", err, d.sites, workers, p.Format())
				}
				first = rows
			}
			return first, nil
		}}
}

// mostSearched is how many nodes a plan has at most that is searched for: of more a search takes seconds.
const mostSearched = 100

// draw draws a plan for several sites.
type draw struct {
	*rand.Rand
	sites   int
	shared  map[string]map[int]bool // by table: the columns that all its Scans read
	trained map[string]bool
	apart   bool                                           // the sites are in different processes
	places  map[string]func(n *ra.Node) physical.Placement // by table
}

func newDraw(plan *ra.Plan) *draw {
	h := fnv.New64a()
	for _, r := range plan.Roots {
		h.Write([]byte(r.Node.Format()))
	}
	d := &draw{Rand: rand.New(rand.NewSource(int64(h.Sum64()))),
		places: map[string]func(*ra.Node) physical.Placement{}, shared: map[string]map[int]bool{},
		trained: map[string]bool{}}
	d.sites = 1 + d.Intn(7)
	ra.Walk(func(n *ra.Node) {
		if n.Op != ra.Scan {
			return
		}
		cols, before := map[int]bool{}, d.shared[n.Table.Name]
		for i, c := range n.Cols {
			d.trained[n.Table.Name] = d.trained[n.Table.Name] || c.Dep
			if !c.Dep && n.TableCols[i] >= 0 && (before == nil || before[n.TableCols[i]]) {
				cols[n.TableCols[i]] = true
			}
		}
		d.shared[n.Table.Name] = cols
	}, plan.Nodes()...)
	return d
}

func (d *draw) plan(ctx context.Context, plan *ra.Plan) (*physical.Plan, error) {
	on := physical.Sites{N: d.sites, Stored: d.stored, Result: d.result, First: d.apart}
	nodes := 0
	ra.Walk(func(*ra.Node) { nodes++ }, plan.Nodes()...)
	if d.Intn(2) == 0 || nodes > mostSearched {
		return physical.Compile(plan, on)
	}
	stats := physical.Stats(d.even())
	if d.Intn(2) == 0 {
		stats = Halos{d.even()}
	}
	c, err := physical.Search(ctx, plan, on, stats, d.costs())
	if err != nil {
		return nil, err
	}
	return c.Plan, nil
}

// stored draws where a table lies; all its Scans agree.
func (d *draw) stored(n *ra.Node) (physical.Placement, bool) {
	if n.Op != ra.Scan {
		return physical.Placement{}, false
	}
	place := d.places[n.Table.Name]
	if place == nil {
		site, kind := d.Intn(d.sites), d.Intn(5)
		var cols []int // of the table: ranges take one of integers
		for i, c := range n.Cols {
			if d.shared[n.Table.Name][n.TableCols[i]] && (kind != 3 || c.Type.Kind == kernels.Int && c.Type.Size() == 1) {
				cols = append(cols, n.TableCols[i])
			}
		}
		d.Shuffle(len(cols), func(i, j int) { cols[i], cols[j] = cols[j], cols[i] })
		if len(cols) > 0 && kind >= 2 {
			cols = cols[:1+d.Intn(min(2, len(cols)))]
		}
		fn := physical.Function{}
		if kind == 3 && len(cols) > 0 {
			cols, fn.Kind = cols[:1], physical.Ranges
			for s := range d.sites - 1 {
				fn.From = append(fn.From, int64(s*(1+site)))
			}
		}
		place = func(n *ra.Node) physical.Placement {
			var by []ra.ColumnID
			for _, c := range cols {
				if at := slices.Index(n.TableCols, c); at >= 0 {
					by = append(by, n.Cols[at].ID)
				}
			}
			switch {
			case kind == 0:
				return physical.At(site)
			case kind == 4 && d.apart && site%2 == 0 && len(n.Key) > 0:
				return physical.Placement{Kind: physical.Anywhere}
			case kind == 1 && !d.trained[n.Table.Name]:
				return physical.Everywhere()
			case len(by) == 0:
				return physical.At(site)
			}
			return physical.Spread(fn, by...)
		}
		d.places[n.Table.Name] = place
	}
	return place(n), true
}

// result leaves gradients where they are spread by their identity, or has them at one site.
func (d *draw) result(i int, of *ra.Node) (physical.Placement, bool) {
	if i == 0 || len(of.Key) == 0 || i%2 == 0 || d.apart {
		return physical.Placement{}, false
	}
	return physical.Spread(physical.Function{}, of.Key...), true
}

// costs draws what the search makes least.
func (d *draw) costs() physical.Costs {
	c := physical.InProcess
	c.Latency *= float64(d.Intn(2))
	c.Network /= math.Pow(10, float64(d.Intn(4)))
	return physical.Costs{Least: physical.Objective(d.Intn(3)), Cluster: c, Cells: 1 << 12}
}

// Halos tells a search that no row is ever needed at another site, so that it sends halos wherever it can.
type Halos struct{ physical.Even }

// Rows implements physical.Stats.
func (h Halos) Rows(n *physical.Node) []int64 {
	if n.Place.Kind == physical.Needed {
		return make([]int64, h.Sites)
	}
	return h.Even.Rows(n)
}

// Stays implements physical.Stats.
func (h Halos) Stays(n *physical.Node) int64 {
	if n.Op == physical.Halo {
		return 0
	}
	return h.Even.Stays(n)
}

// even draws how many rows relations have, so that the search finds any plan.
func (d *draw) even() physical.Even {
	return physical.Even{Sites: d.sites, Count: func(n *ra.Node) int64 {
		h := fnv.New64a()
		for _, c := range n.Cols {
			fmt.Fprint(h, n.Op, c.Name)
		}
		return int64(h.Sum64() % 100)
	}}
}
