package engine

import (
	"context"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
)

// sites is how many sites a loss runs at.
func (db *session) sites() int {
	if s, ok := db.Database.(catalog.Sited); ok && s.Sites() > 0 {
		return s.Sites()
	}
	return max(db.Sites, 1)
}

// costs are what plans of several sites make least.
func (db *session) costs() physical.Costs {
	if db.Cluster != nil {
		return *db.Cluster
	}
	return physical.Costs{Cluster: physical.InProcess}
}

// sites says where the rows of a loss's plan lie at so many sites: those of tables by the hash of their identity, those
// of a gradient where the parameter's rows lie, so that each site changes its own.
func (c *Compiled) sites(n int) physical.Sites {
	return physical.Sites{N: n, Result: func(i int, of *ra.Node) (physical.Placement, bool) {
		if i == 0 || i > len(c.Tables) || len(c.Tables[i-1].Key) == 0 {
			return physical.Placement{}, false
		}
		var by []ra.ColumnID
		for _, at := range c.GradKey(i - 1) {
			by = append(by, c.Res.Plan.Roots[i].Cols[at])
		}
		return physical.Spread(physical.Function{}, by...), true
	}}
}

// compiled builds the program of a plan, at several sites where the session has them.
func (db *compiler) compiled(ctx context.Context, c *Compiled, o executor.Options) (*executor.Program, error) {
	n := db.sites()
	if n == 1 {
		return executor.Compile(ctx, c.Res.Plan, db.Catalogue, o)
	}
	found, err := physical.Choose(ctx, c.Res.Plan, c.sites(n), db.costs())
	if err != nil {
		return nil, err
	}
	return executor.CompileSites(ctx, found.Plan, db.Catalogue, o)
}
