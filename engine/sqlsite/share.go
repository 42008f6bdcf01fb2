package sqlsite

import (
	"context"
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlgen"
)

// query is what a statement computes: a relation, or all results.
type query struct {
	roots  []*ra.Node
	cols   []ra.ColumnID // of the only root
	varies bool          // it is run at each step
}

// keep is a relation that a temporary table keeps, since several statements read it, or since a statement of each step
// does while it stays the same.
type keep struct {
	query
	scan *ra.Node
	name string
	step int64 // of which it holds the rows; 0: of none
}

// inputs are those of a relation at the site.
func (s *Site) inputs(n *ra.Node) (out []*ra.Node) {
	for _, in := range n.Inputs {
		out = append(out, s.at(in))
	}
	return out
}

// at is what a relation is at the site: what an exchange brings from the site itself is what it takes there.
func (s *Site) at(n *ra.Node) *ra.Node {
	for s.alias[n] != nil {
		n = s.alias[n]
	}
	return n
}

// queries lists what statements compute, but for what is kept.
func (s *Site) queries() (out []*query) {
	for _, x := range s.exchanges {
		for _, q := range []*query{x.keys, x.rows} {
			if q != nil {
				out = append(out, q)
			}
		}
	}
	if s.rest != nil {
		out = append(out, s.rest)
	}
	return out
}

// walk visits all relations at the site, inputs first.
func (s *Site) walk(f func(*ra.Node)) {
	seen := map[*ra.Node]bool{}
	var visit func(n *ra.Node)
	visit = func(n *ra.Node) {
		if n = s.at(n); seen[n] {
			return
		}
		seen[n] = true
		for _, in := range n.Inputs {
			visit(in)
		}
		f(n)
	}
	for _, q := range s.queries() {
		for _, r := range q.roots {
			visit(r)
		}
	}
}

// share chooses the relations that are kept.
func (s *Site) share() {
	var nodes []*ra.Node
	s.walk(func(n *ra.Node) { nodes = append(nodes, n) })
	whole := s.cutter(nil) // without what is kept
	roots := s.roots(whole)
	needs := sqlgen.Needed(roots...)
	by := map[*ra.Node]map[*query]bool{} // the statements that compute a relation
	add := func(n *ra.Node, q *query) {
		if n = s.at(n); by[n] == nil {
			by[n] = map[*query]bool{}
		}
		by[n][q] = true
	}
	for _, q := range s.queries() {
		for _, r := range q.roots {
			add(r, q)
		}
	}
	for _, n := range slices.Backward(nodes) { // readers first
		if s.shared(n, by[n]) && worth(n, needs) {
			k := &keep{query: query{roots: []*ra.Node{n}, varies: s.varies(n)}}
			for _, c := range n.Cols {
				if needs[c.ID] {
					k.cols = append(k.cols, c.ID)
				}
			}
			k.scan, k.name = s.table(n, k.cols)
			k.scan.PerStep = k.varies
			s.kept[n], by[n] = k, map[*query]bool{&k.query: true}
			// its values and its order may need columns that no other statement reads
			roots = append(roots, ra.Root{Node: whole.node(n), Cols: k.cols})
			needs = sqlgen.Needed(roots...)
		}
		for _, in := range n.Inputs {
			for q := range by[n] {
				add(in, q)
			}
		}
	}
}

// roots are the relations that statements compute, with what they read of them.
func (s *Site) roots(c *cutter) (roots []ra.Root) {
	for _, x := range s.exchanges {
		for _, q := range []*query{x.keys, x.rows} {
			if q != nil {
				roots = append(roots, ra.Root{Node: c.node(q.roots[0]), Cols: q.cols})
			}
		}
	}
	for _, r := range s.results {
		roots = append(roots, ra.Root{Node: c.node(r.Node), Cols: r.Cols})
	}
	return roots
}

// shared reports whether several statements compute a relation, or one does at each step though the relation stays the
// same. Of the latter the statement of the results takes care itself.
func (s *Site) shared(n *ra.Node, by map[*query]bool) bool {
	if n.Op == ra.Scan && (s.o.Snapshot || n.Table.Schema == temporary || s.varies(n)) {
		return false
	}
	again := false
	for q := range by {
		again = again || s.o.Steps && q.varies && q != s.rest && !s.varies(n)
	}
	return len(by) > 1 || again
}

// varies reports whether a relation may be another one at each step.
func (s *Site) varies(n *ra.Node) bool {
	if varies, made := s.made[n]; made {
		return varies
	}
	return s.flow(n)
}

// worth reports whether a table is better than computing a relation again. It is for sums, also of chunks, and for the
// rows of a table that others may change.
func worth(n *ra.Node, needs map[ra.ColumnID]bool) bool {
	return n.Op == ra.Add || n.Op == ra.Scan || sqlgen.Worth(n, needs)
}

// cutter makes the plan of a statement: what is kept it reads from there.
type cutter struct {
	*Site
	self  *query
	done  map[*ra.Node]*ra.Node
	reads []*keep
}

func (s *Site) cutter(self *query) *cutter {
	return &cutter{Site: s, self: self, done: map[*ra.Node]*ra.Node{}}
}

func (c *cutter) node(n *ra.Node) *ra.Node {
	n = c.at(n)
	if out := c.done[n]; out != nil {
		return out
	}
	out := n
	if k := c.kept[n]; k != nil && &k.query != c.self {
		out, c.reads = k.scan, append(c.reads, k)
	} else {
		var inputs []*ra.Node
		for _, in := range n.Inputs {
			inputs = append(inputs, c.node(in))
		}
		if !slices.Equal(inputs, n.Inputs) {
			copied := *n
			copied.Inputs, out = inputs, &copied
		}
	}
	c.done[n] = out
	return out
}

// need has the tables ready that a statement reads.
func (s *Site) need(ctx context.Context, q *query, env *kernels.Env) error {
	c := s.cutter(q)
	for _, r := range q.roots {
		c.node(r)
	}
	for _, k := range c.reads {
		if k.step == s.step || k.step > 0 && !k.varies {
			continue
		}
		text, err := s.text(ctx, &k.query, env)
		if err != nil {
			return err
		}
		if k.step > 0 {
			if err := s.db.EmptyTemp(ctx, k.name); err != nil {
				return err
			}
		}
		if err := s.run(ctx, "INSERT INTO pg_temp."+k.name+"\n"+text); err != nil {
			return err
		}
		if k.step == 0 {
			if err := s.run(ctx, "ANALYZE pg_temp."+k.name); err != nil {
				return err
			}
		}
		k.step = s.step
	}
	return nil
}

// text prints the statement of a relation, when what it reads is there.
func (s *Site) text(ctx context.Context, q *query, env *kernels.Env) (string, error) {
	if err := s.need(ctx, q, env); err != nil {
		return "", err
	}
	return s.print(ctx, q, env)
}

func (s *Site) print(ctx context.Context, q *query, env *kernels.Env) (string, error) {
	o := sqlgen.Options{Env: env, Typed: s.db.Captured(), Inexact: s.db.Inexact()}
	if s.o.Opaque != nil {
		o.Opaque = func(n *ra.Node) (string, error) { return s.o.Opaque(ctx, n, env) }
	}
	if !s.o.Snapshot {
		o.Holds = s.holds
	}
	// a step that fails leaves other places in the files of parameters
	return sqlgen.Relation(ra.Root{Node: s.cutter(q).node(q.roots[0]), Cols: q.cols}, !s.o.Snapshot && q.varies, o)
}
