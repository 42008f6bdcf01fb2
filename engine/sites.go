package engine

import (
	"context"
	"slices"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
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

// sites says where the rows of a loss's plan lie at so many sites: those of tables by their identity, those of a
// gradient where the parameter's rows lie, so that each site changes its own.
func (c *Compiled) sites(n int, read func(t *ra.Table, col int) *column.Column) physical.Sites {
	return physical.Sites{N: n, Read: read, Owned: c.owned(), Result: func(i int, of *ra.Node) (physical.Placement, bool) {
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

// owned pairs the identity of each gradient with that of the parameter's table, where it is one column: rows of both
// are to lie together.
func (c *Compiled) owned() (out [][2]ra.ColumnID) {
	ra.Walk(func(n *ra.Node) {
		for i, t := range c.Tables[:min(len(c.Tables), len(c.Res.Plan.Roots)-1)] { // a validation has no gradients
			if n.Op != ra.Scan || len(t.Key) != 1 || n.Table.Schema != t.Schema || n.Table.Name != t.Name {
				continue
			}
			if at := slices.Index(n.TableCols, t.Key[0]); at >= 0 {
				out = append(out, [2]ra.ColumnID{n.Cols[at].ID, c.Res.Plan.Roots[i+1].Cols[c.GradKey(i)[0]]})
			}
		}
	}, c.Res.Plan.Nodes()...)
	return out
}

// reader reads columns of tables, each once; what cannot be read is nil.
func (db *session) reader(ctx context.Context) func(t *ra.Table, col int) *column.Column {
	type of struct {
		schema, name string
		col          int
	}
	read := map[of]*column.Column{}
	return func(t *ra.Table, col int) *column.Column {
		key := of{t.Schema, t.Name, col}
		if c, ok := read[key]; ok {
			return c
		}
		if cols, err := db.Catalogue.Read(ctx, t, []int{col}); err == nil && len(cols) == 1 {
			read[key] = cols[0]
		} else {
			read[key] = nil
		}
		return read[key]
	}
}

// compiled builds the program of a plan, at several sites where the session has them, or its tables are.
func (db *compiler) compiled(ctx context.Context, c *Compiled, o executor.Options) (*executor.Program, error) {
	if err := db.guard(c, false); err != nil {
		return nil, err
	}
	if s, found, err := db.choose(ctx, c); err != nil {
		return nil, err
	} else if s != nil {
		return db.atServers(ctx, c, s, found, o)
	}
	if db.deviceName() == catalog.AutoDevice {
		return automatic(ctx, db, c, o)
	}
	if err := db.onDevice(&o, db.deviceName()); err != nil {
		return nil, err
	}
	return db.program(ctx, c, o)
}

// program builds the program of a plan on this machine.
func (db *compiler) program(ctx context.Context, c *Compiled, o executor.Options) (*executor.Program, error) {
	n := db.sites()
	if n == 1 {
		return executor.Compile(ctx, c.Res.Plan, db.Catalogue, o)
	}
	found, err := physical.Choose(ctx, c.Res.Plan, c.sites(n, db.reader(ctx)), db.costs())
	if err != nil {
		return nil, err
	}
	c.placed = found
	return executor.CompileSites(ctx, found.Plan, db.Catalogue, o)
}
