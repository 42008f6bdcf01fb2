package engines

import (
	"context"
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/apart"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
)

// Apart runs a plan in the executor at several sites that have nothing in common: each has a program of its own, made
// of the plan's bytes, and they send each other messages. Where tables lie is drawn as for Sites; some lie anywhere.
// Results come to the first site.
func Apart() randquery.Engine {
	return randquery.Engine{Name: "apart", Tol: 1e-9, TolReal: 2e-3,
		Run: func(ctx context.Context, db *memdb.DB, plan *ra.Plan, env *kernels.Env) ([][]interp.Row, error) {
			d := newDraw(plan)
			d.apart, d.sites = true, d.sites+1
			placed, err := d.plan(ctx, plan)
			if err != nil {
				return nil, fmt.Errorf("%d sites: %w", d.sites, err)
			}
			var rows [][]interp.Row
			o := executor.Options{Workers: 2, Force64: !hasReal(db), Env: *env, Many: d.Intn(2) == 0}
			err = placedApart(ctx, db, placed, o, func(p *executor.Program) (err error) {
				rows, err = results(ctx, p, plan, *env)
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("%w\n%d sites:\n%s", err, d.sites, placed.Format())
			}
			return rows, nil
		}}
}

// placedApart compiles a plan at all its sites, and calls f with the program of the first one, which leads the others.
func placedApart(ctx context.Context, db *memdb.DB, plan *physical.Plan, o executor.Options,
	f func(p *executor.Program) error) error {
	text, err := apart.AppendPlan(nil, plan, func(t *ra.Table) *ra.Table { return t })
	if err != nil {
		return err
	}
	callers := make([]apart.Caller, plan.Sites)
	for s := 1; s < plan.Sites; s++ {
		m := &sited{}
		m.Member = apart.NewMember(plan.Sites, func(ctx context.Context, command []byte) ([]byte, error) {
			if m.program != nil {
				return m.program.Obey(ctx, command)
			}
			plan, _, err := apart.ReadPlan(command)
			if err == nil {
				m.program, err = executor.CompileApart(ctx, plan, s, newPart(db, plan, s), m, o)
			}
			return nil, err
		})
		defer m.close()
		callers[s] = m
	}
	c := apart.NewConductor(callers)
	var p *executor.Program
	if _, err := c.Do(ctx, text, func(ctx context.Context) (err error) {
		p, err = executor.CompileApart(ctx, plan, 0, newPart(db, plan, 0), c, o)
		return err
	}); err != nil {
		p.Close()
		return err
	}
	p.Lead(ctx, c)
	return f(p)
}

// sited is a member with its program.
type sited struct {
	*apart.Member
	program *executor.Program
}

func (s *sited) close() {
	s.Close()
	s.program.Close()
}

// part is the part of a database that lies at a site.
type part struct {
	*memdb.DB
	site, sites int
	by          map[string]*physical.Node // the Scan of a table
}

func newPart(db *memdb.DB, plan *physical.Plan, site int) *part {
	p := &part{DB: db, site: site, sites: plan.Sites, by: map[string]*physical.Node{}}
	for _, n := range plan.Nodes() {
		if n.Op == physical.Local && n.RA.Op == ra.Scan {
			p.by[n.RA.Table.Name] = n
		}
	}
	return p
}

// Read implements ra.Source.
func (p *part) Read(ctx context.Context, t *ra.Table, cols []int) ([]*column.Column, error) {
	n := p.by[t.Name]
	keys := slices.Clone(cols)
	for _, same := range n.Place.By {
		keys = append(keys, n.RA.TableCols[n.RA.Index(same[0])])
	}
	all, err := p.DB.Read(ctx, n.RA.Table, keys) // t has the rows that the site is thought to have
	if err != nil || len(all) == 0 {
		return all, err
	}
	sites := make([]int32, all[0].Len())
	switch n.Place.Kind {
	case physical.By:
		sites = n.Place.Fn.Sites(all[len(cols):], p.sites)
	case physical.Anywhere:
		for r := range sites {
			sites[r] = int32((7*r + 3) % p.sites)
		}
	default:
		return all[:len(cols)], nil
	}
	var own []int32
	for r, s := range sites {
		if int(s) == p.site {
			own = append(own, int32(r))
		}
	}
	return lists.Map(all[:len(cols)], func(c *column.Column) *column.Column { return column.Gather(c, own) }), nil
}
