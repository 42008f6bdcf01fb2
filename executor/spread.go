package executor

import (
	"context"
	"slices"
	"sync"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
)

// spreadSource reads the tables of a plan for several sites, and gives each site its rows.
type spreadSource struct {
	ra.Source
	sites  int
	mu     sync.Mutex // sites read at once
	tables map[string]*spreadTable
}

// spreadTable is a table whose rows lie at several sites.
type spreadTable struct {
	t    *ra.Table
	fn   physical.Function
	by   []int         // columns of the table; nil: all rows lie at each site that reads them
	read []*readColumn // of all sites, until they have their rows
	rows [][]int32     // by site; nil: not known now
	kept bool          // a parameter's: its rows stay known
}

type readColumn struct {
	col  int
	data *column.Column
}

// newSpread notes where the tables of a plan lie.
func newSpread(src ra.Source, p *physical.Plan) (*spreadSource, error) {
	out := &spreadSource{Source: src, sites: p.Sites, tables: map[string]*spreadTable{}}
	var err error
	p.Walk(func(n *physical.Node) {
		if n.Op != physical.Local || n.RA.Op != ra.Scan {
			return
		}
		t := &spreadTable{t: n.RA.Table, fn: n.Place.Fn}
		t.kept = slices.ContainsFunc(n.RA.Cols, func(c ra.Column) bool { return c.Dep })
		for _, same := range n.Place.By {
			t.by = append(t.by, n.RA.TableCols[n.RA.Index(same[0])])
		}
		key := tableKey(n.RA.Table)
		if o := out.tables[key]; o != nil && !(slices.Equal(o.by, t.by) && o.fn.Equal(t.fn)) {
			err = internal("the rows of %s lie in two ways", t.t.Name)
		} else if o != nil {
			t.kept = t.kept || o.kept
		}
		out.tables[key] = t
	})
	return out, err
}

// forget drops what has been read: all sites have their rows, or the table may have changed.
func (s *spreadSource) forget() {
	if s == nil {
		return
	}
	for _, t := range s.tables {
		if t.read = nil; !t.kept {
			t.rows = nil
		}
	}
}

// columns are columns of a whole table. Sites read the same ones.
func (s *spreadSource) columns(ctx context.Context, t *spreadTable, cols []int) ([]*column.Column, error) {
	find := func(col int) *readColumn {
		if i := slices.IndexFunc(t.read, func(c *readColumn) bool { return c.col == col }); i >= 0 {
			return t.read[i]
		}
		return nil
	}
	var missing []int
	for _, c := range slices.Concat(cols, t.by) {
		if find(c) == nil && !slices.Contains(missing, c) {
			missing = append(missing, c)
		}
	}
	if len(missing) > 0 {
		data, err := s.Source.Read(ctx, t.t, missing)
		if err != nil {
			return nil, err
		}
		if len(data) != len(missing) {
			return nil, internal("the source returned %d columns of %s for %d", len(data), t.t.Name, len(missing))
		}
		for i, c := range missing {
			t.read = append(t.read, &readColumn{c, data[i]})
		}
	}
	out := make([]*column.Column, len(cols))
	for i, c := range cols {
		out[i] = find(c).data
		if len(t.read) > 0 && out[i].Len() != t.read[0].data.Len() {
			return nil, sqlerr.New(sqlerr.SerializationFailure, "table \"%s\" has changed while it was read", t.t.Name).
				WithHint("Run the statement again.")
		}
	}
	return out, nil
}

// at lists the rows of a table that lie at each site, in their order.
func (s *spreadSource) at(ctx context.Context, t *spreadTable) ([][]int32, error) {
	if t.rows != nil || t.by == nil {
		return t.rows, nil
	}
	keys, err := s.columns(ctx, t, t.by)
	if err != nil {
		return nil, err
	}
	rows := make([][]int32, s.sites)
	for r, site := range t.fn.Sites(keys, s.sites) {
		rows[site] = append(rows[site], int32(r))
	}
	t.rows = rows
	return rows, nil
}

// placed are columns of a whole table, and which of its rows lie at each site.
func (s *spreadSource) placed(ctx context.Context, t *spreadTable, cols []int) ([]*column.Column, [][]int32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, err := s.columns(ctx, t, cols)
	if err != nil {
		return nil, nil, err
	}
	rows, err := s.at(ctx, t)
	return out, rows, err
}

// siteSource is the source of one site.
type siteSource struct {
	*spreadSource
	site int
}

// Read implements ra.Source: the rows that lie at the site.
func (s *siteSource) Read(ctx context.Context, of *ra.Table, cols []int) ([]*column.Column, error) {
	t := s.tables[tableKey(of)]
	if t == nil {
		return nil, internal("no site holds rows of %s", of.Name)
	}
	out, rows, err := s.placed(ctx, t, cols)
	if err != nil || t.by == nil {
		return out, err
	}
	for i, c := range out {
		out[i] = column.Gather(c, rows[s.site])
	}
	return out, nil
}

// Opaque implements ra.Source.
func (s *siteSource) Opaque(ctx context.Context, n *ra.Node, env *kernels.Env) ([]*column.Column, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Source.Opaque(ctx, n, env)
}
