package executor

import (
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
)

// fragments cut a plan for several sites into the plan that each site computes. What an exchange brings to a site is a
// Scan there, what it takes from a site one more result.
type fragments struct {
	plan  *physical.Plan
	flow  *structure.Flow // of the plan without exchanges
	links []*link         // in the order in which the sites run them
	of    map[*physical.Node]*link
	next  ra.ColumnID // that no column has
}

// link is an exchange of a plan, with its ends at the sites.
type link struct {
	number  int // of its first column among all columns that are exchanged
	node    *physical.Node
	perStep bool       // what the structure reads of it may change from step to step
	wanted  []int      // the columns that are read, or by which rows are told apart or spread
	varies  []bool     // by column: its values come with each run, not with the structure
	read    []bool     // by column: the structure reads it
	send    []*ra.Node // by site: the relation whose rows leave it; nil: it has none
	receive []*ra.Node // by site: the Scan of the rows that arrive; nil: none do
	partner []*ra.Node // by site: of a halo, the relation that needs rows there; nil: it has none
}

// root is what leaves a site, as a result of its plan.
func (l *link) root(n *ra.Node) ra.Root {
	r := ra.Root{Name: fmt.Sprintf("exchange %d", l.number), Node: n}
	for i, c := range n.Cols {
		if l.read[i] || slices.Contains(l.wanted, i) {
			r.Cols = append(r.Cols, c.ID)
		}
	}
	return r
}

// relation is what is moved.
func (l *link) relation() *ra.Node { return l.node.Relation() }

// sources are the sites whose rows come to a site. Of replicas each site reads its own.
func (l *link) sources(site int) (out []int) {
	switch from := l.node.Inputs[0].Place; from.Kind {
	case physical.Single:
		return []int{from.Site}
	case physical.Replicated:
		return []int{site}
	}
	for s := range l.send {
		out = append(out, s)
	}
	return out
}

// cut lists the exchanges of a plan.
func cut(p *physical.Plan) *fragments {
	f := &fragments{plan: p, flow: structure.Analyse(p.Logical()), of: map[*physical.Node]*link{}}
	number, read := 0, f.structural()
	steps := map[*physical.Node]bool{} // whose rows, as sites have them, may change from step to step
	p.Walk(func(n *physical.Node) {
		of := n.Relation()
		steps[n] = f.flow.Structure[of] || slices.ContainsFunc(n.Inputs, func(in *physical.Node) bool { return steps[in] })
		for _, c := range of.Cols {
			f.next = max(f.next, c.ID+1)
		}
		if n.Op == physical.Local {
			return
		}
		l := &link{number: number, node: n, perStep: steps[n], send: make([]*ra.Node, p.Sites),
			receive: make([]*ra.Node, p.Sites), partner: make([]*ra.Node, p.Sites)}
		for _, id := range n.On {
			of := n.Inputs[1].Relation()
			l.perStep = l.perStep || f.flow.Column[structure.ColumnOf{Node: of, Col: of.Index(id)}]
		}
		for i := range of.Cols {
			if f.wanted(n, i) {
				l.wanted = append(l.wanted, i)
			}
			column := structure.ColumnOf{Node: of, Col: i}
			l.read = append(l.read, read[column])
			l.perStep = l.perStep || read[column] && f.flow.Column[column]
		}
		steps[n] = l.perStep // and so is what is made of it, at each site
		for i, c := range of.Cols {
			l.varies = append(l.varies, c.Dep || !l.perStep && f.flow.Column[structure.ColumnOf{Node: of, Col: i}])
		}
		number += len(of.Cols)
		f.links, f.of[n] = append(f.links, l), l
	})
	return f
}

// wanted reports whether a column of an exchange is read, or tells rows apart, or says where they go.
func (f *fragments) wanted(n *physical.Node, i int) bool {
	of := n.Relation()
	return f.flow.Need[of][i] || of.IsKey(of.Cols[i].ID) || slices.Contains(n.By, of.Cols[i].ID)
}

// structural lists the columns that the structure of a plan reads, and all that they are computed from. Of what an
// exchange moves it reads the keys, and all that is no float: that comes with the structure.
func (f *fragments) structural() map[structure.ColumnOf]bool {
	r := &reads{columns: map[structure.ColumnOf]bool{}, parts: map[*ra.Node]*kernels.Asker{}}
	f.plan.Walk(func(n *physical.Node) {
		of := n.Relation()
		for i, c := range of.Cols {
			if n.Op != physical.Local && f.wanted(n, i) && (of.IsKey(c.ID) || !c.Type.IsFloat() && !c.Dep) {
				r.mark(of, i)
			}
		}
		for _, id := range n.By {
			r.mark(of, of.Index(id))
		}
		for _, id := range n.On {
			r.mark(n.Inputs[1].Relation(), n.Inputs[1].Relation().Index(id))
		}
		if n.Op != physical.Local {
			return
		}
		for _, e := range of.Pred {
			r.within(of).Any(e)
		}
		for _, q := range of.Equi {
			for _, c := range []kernels.Col{q.L, q.R} {
				r.mark(of.Inputs[c.Input], of.Inputs[c.Input].Index(c.ID))
			}
		}
		for _, in := range of.Inputs {
			for _, id := range in.Key {
				if of.Op == ra.Join { // whose rows may be all combinations of its inputs'
					r.mark(in, in.Index(id))
				}
			}
		}
		for _, g := range of.Arranged() {
			r.mark(of.Inputs[0], of.Inputs[0].Index(g))
		}
		for k := range of.Key {
			for _, in := range of.Inputs {
				if of.Op == ra.Add {
					r.mark(in, k)
				}
			}
		}
		r.states(of)
	})
	return r.columns
}

// states marks the columns of levels that hold no values of parameters: the structure has these.
func (r *reads) states(n *ra.Node) {
	if n.Op != ra.Recursion {
		return
	}
	for i, c := range n.Cols[:n.States()] {
		for _, in := range n.Inputs[:2] {
			if !c.Dep {
				r.mark(in, i)
			}
		}
	}
}

// reads are columns that something reads, with all that they are computed from.
type reads struct {
	columns map[structure.ColumnOf]bool
	parts   map[*ra.Node]*kernels.Asker
}

// within marks what expressions of n read, each part once.
func (r *reads) within(n *ra.Node) *kernels.Asker {
	if r.parts[n] == nil {
		r.parts[n] = kernels.NewAsker(func(x *kernels.Expr) bool {
			if x.IsCol {
				in := n.Inputs[x.Col.Input]
				r.mark(in, in.Index(x.Col.ID))
			}
			return false
		})
	}
	return r.parts[n]
}

// mark marks column i of n.
func (r *reads) mark(n *ra.Node, i int) {
	if r.columns[structure.ColumnOf{Node: n, Col: i}] {
		return
	}
	r.columns[structure.ColumnOf{Node: n, Col: i}] = true
	switch n.Op {
	case ra.Select, ra.Join:
		r.within(n).Any(n.Out[i])
	case ra.Aggregate:
		if in := n.Inputs[0]; i < len(n.Group) {
			r.mark(in, in.Index(n.Group[i]))
		} else if a := n.Aggs[i-len(n.Group)]; a.Fn != ra.CountRows {
			r.mark(in, in.Index(a.Arg))
		}
	case ra.Window:
		for _, id := range n.Sources(i) {
			r.mark(n.Inputs[0], n.Inputs[0].Index(id))
		}
	case ra.Union, ra.Add:
		for _, in := range n.Inputs {
			r.mark(in, i)
		}
	case ra.SemiJoin, ra.AntiJoin:
		r.mark(n.Inputs[0], i)
	}
}

// site is the plan of a site: the results that lie there, then what exchanges take from it. results are the positions
// of the former among those of the whole plan.
func (f *fragments) site(s int) (plan *ra.Plan, results []int, b *siteBuilder) {
	b = &siteBuilder{fragments: f, site: s, done: map[*physical.Node]*ra.Node{}, received: map[*ra.Node]*link{}}
	plan = &ra.Plan{}
	for i, r := range f.plan.Roots {
		if n := b.node(r.Node); n != nil && (r.Node.Place.Kind != physical.Replicated || s == 0) {
			plan.Roots = append(plan.Roots, ra.Root{Name: r.Name, Node: n, Cols: r.Cols})
			results = append(results, i)
		}
	}
	for _, l := range f.links {
		if l.send[s] = b.node(l.node.Inputs[0]); l.send[s] != nil {
			plan.Roots = append(plan.Roots, l.root(l.send[s]))
		}
		if l.node.Op == physical.Halo {
			l.partner[s] = b.node(l.node.Inputs[1])
		}
		b.node(l.node)
	}
	return plan, results, b
}

// siteBuilder makes the plan of a site.
type siteBuilder struct {
	*fragments
	site     int
	done     map[*physical.Node]*ra.Node // nil: the rows lie elsewhere
	received map[*ra.Node]*link          // the Scans of what exchanges bring; nil: of nothing
}

// node is what a site computes of n; nil: its rows lie elsewhere.
func (b *siteBuilder) node(n *physical.Node) *ra.Node {
	if out, ok := b.done[n]; ok {
		return out
	}
	b.done[n] = nil
	at := n.Place
	if at.Kind == physical.Needed {
		at = at.Need.At
	}
	if at.Kind == physical.Single && at.Site != b.site {
		return nil
	}
	var out *ra.Node
	switch l := b.of[n]; {
	case l != nil:
		out = b.arriving(n.Relation(), l, fmt.Sprintf("exchange %d", l.number))
		l.receive[b.site] = out
	case len(n.Inputs) == 0:
		out = b.stored(n)
	default:
		c := *n.RA
		c.Inputs = make([]*ra.Node, len(n.Inputs))
		for i, in := range n.Inputs {
			if c.Inputs[i] = b.node(in); c.Inputs[i] == nil {
				c.Inputs[i] = b.arriving(in.Relation(), nil, "nothing")
			}
		}
		out = &c
	}
	b.done[n] = out
	return out
}

// arriving is the Scan of rows that an exchange brings. Those of parts that are not added up yet have their site as
// another column of their identity.
func (b *siteBuilder) arriving(of *ra.Node, l *link, name string) *ra.Node {
	t := &ra.Table{Name: name, Rows: -1}
	out := &ra.Node{Op: ra.Scan, Table: t, Key: of.Key, Unique: of.Unique, Fixed: of.Fixed,
		PerStep: l != nil && l.perStep, Pos: of.Pos}
	for i, c := range of.Cols {
		c.Dep = l != nil && l.varies[i]
		out.Cols = append(out.Cols, c)
	}
	if l != nil && l.node.Place.Partial {
		part := ra.Column{ID: b.next, Name: "site", Type: kernels.Type{Kind: kernels.Int}}
		out.Cols, b.next = append(out.Cols, part), b.next+1
		out.Key = append(out.Key[:len(out.Key):len(out.Key)], part.ID)
		out.Unique = out.Key
	}
	for i, c := range out.Cols {
		t.Cols, out.TableCols = append(t.Cols, ra.TableColumn{Name: c.Name, Type: c.Type}), append(out.TableCols, i)
	}
	b.received[out] = l
	return out
}

// stored is a Scan of the rows of a table that lie at the site, or an Opaque.
func (b *siteBuilder) stored(n *physical.Node) *ra.Node {
	c := *n.RA
	if c.Op == ra.Scan && n.Place.Kind == physical.By {
		t := *c.Table
		if t.Rows > 0 { // estimated; one row would be taken for certain
			t.Rows = t.Rows/int64(b.plan.Sites) + 2
		}
		c.Table = &t
	}
	return &c
}
