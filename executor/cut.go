package executor

import (
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
)

// Fragment is what one site computes of a plan for several sites, for an engine that is not this package's.
type Fragment struct {
	Plan      *ra.Plan    // its results
	Results   []int       // which of the whole plan's they are
	Exchanges []*Exchange // in the order in which all sites run them
	Nothing   []*ra.Node  // Scans of rows that all lie elsewhere

	roots []*ra.Node
	flow  *structure.Flow
}

// Nodes are the relations that the site computes: results, what it sends, and what others are needed for.
func (f *Fragment) Nodes() []*ra.Node { return f.roots }

// Varies reports whether a relation may have other rows, or other values in them, at each step.
func (f *Fragment) Varies(n *ra.Node) bool {
	if f.flow.Structure[n] {
		return true
	}
	for i := range n.Cols {
		if f.flow.Column[structure.ColumnOf{Node: n, Col: i}] {
			return true
		}
	}
	return false
}

// Exchange is an exchange of a plan as a site sees it.
type Exchange struct {
	Node    *physical.Node
	Cols    []int    // of its relation: those that are moved
	Moved   []bool   // of these: those that the executor moves with each run; other ones come with the structure
	PerStep bool     // other rows may be moved in each step
	Varies  bool     // other rows or numbers may be
	Send    *ra.Node // the rows that leave the site; nil: it has none
	Receive *ra.Node // the Scan of rows that arrive, to be replaced; nil: none do
	Partner *ra.Node // of a HALO: the rows for which others are needed here; nil: it has none

	link *link
}

// Sources are the sites whose rows come to a site.
func (e *Exchange) Sources(site int) []int { return e.link.sources(site) }

// Comes reports whether rows may come from a site to another one.
func (e *Exchange) Comes(from, to int) bool { return e.link.comes(from, to) }

// Asks reports whether a site has rows of a HALO's partner.
func (e *Exchange) Asks(site int) bool { return e.link.partner[site] != nil }

// FragmentOf cuts a plan for several sites.
func FragmentOf(p *physical.Plan, site int) *Fragment {
	f, out := cut(p), &Fragment{}
	var own *siteBuilder
	for s := range p.Sites {
		plan, results, b := f.site(s)
		if s == site {
			plan.Roots = plan.Roots[:len(results)] // behind them is what it sends
			out.Plan, out.Results, own = plan, results, b
		}
	}
	whole := &ra.Plan{Roots: slices.Clone(out.Plan.Roots)}
	for _, l := range f.links {
		e := &Exchange{Node: l.node, PerStep: l.perStep, Varies: l.perStep || slices.Contains(l.varies, true),
			Send: l.send[site], Receive: l.receive[site], Partner: l.partner[site], link: l}
		for i, c := range l.relation().Cols {
			wanted := slices.Contains(l.wanted, i)
			if wanted || l.read[i] {
				e.Cols = append(e.Cols, i)
				e.Moved = append(e.Moved, wanted && (l.varies[i] || c.Type.IsFloat()))
			}
		}
		for what, n := range []*ra.Node{e.Send, e.Partner} {
			if n != nil {
				whole.Roots = append(whole.Roots, ra.Root{Name: fmt.Sprintf("exchange %d, %d", l.number, what), Node: n})
			}
		}
		out.Exchanges = append(out.Exchanges, e)
	}
	out.roots, out.flow = whole.Nodes(), structure.Analyse(whole)
	ra.Walk(func(n *ra.Node) {
		if l, arrives := own.received[n]; arrives && l == nil {
			out.Nothing = append(out.Nothing, n)
		}
	}, out.roots...)
	return out
}
