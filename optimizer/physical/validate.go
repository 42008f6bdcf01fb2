package physical

import (
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Validate checks the invariants of a plan and returns an internal error that names the first broken one. Each
// placement must be the one that follows from the inputs': so what is replicated or partial is read as such, or not at
// all.
func Validate(p *Plan) error {
	if p.Sites < 1 {
		return sqlerr.Broken(room, "a plan for %d sites", p.Sites)
	}
	computed := map[*ra.Node]bool{}
	for _, n := range p.Nodes() {
		if n.Op == Local && computed[n.RA] { // then a halo may be sent for rows that lie elsewhere
			return sqlerr.Broken(room, "a %v is computed twice", n)
		}
		computed[n.RA] = true
		if err := n.check(p.Sites); err != nil {
			return err
		}
		place, err := derive(n, p.Sites)
		if err != nil {
			return err
		}
		if !place.Equal(n.Place) {
			return sqlerr.Broken(room, "the rows of %v are %v, not %v", n, place, n.Place)
		}
	}
	if err := checkLoops(p.Nodes()); err != nil {
		return err
	}
	for _, r := range p.Roots {
		if err := r.check(); err != nil {
			return err
		}
	}
	return ra.Validate(p.Logical().Nodes()...)
}

// check: a result is whole, and its reader finds each row once.
func (r Root) check() error {
	switch p := r.Node.Place; {
	case p.Partial:
		return sqlerr.Broken(room, "the result %s is read before its parts are added up", r.Name)
	case p.Kind == Needed:
		return sqlerr.Broken(room, "the result %s is read where its rows are %v", r.Name, p)
	case !r.placed():
		return sqlerr.Broken(room, "the result %s is read at %v, but its rows are %v", r.Name, r.Place, p)
	}
	for _, id := range r.Cols {
		if r.Node.Relation().Col(id) == nil {
			return sqlerr.Broken(room, "the result %s has no column %d", r.Name, id)
		}
	}
	return nil
}

func (n *Node) check(sites int) error {
	if n.Op == Local {
		return n.checkLocal(sites)
	}
	inputs := 1
	if n.Op == Halo {
		inputs = 2
	}
	if len(n.Inputs) != inputs {
		return sqlerr.Broken(room, "a %v has %d inputs", n.Op, len(n.Inputs))
	}
	switch n.Op {
	case Halo:
		return checkHalo(n)
	case Gather:
		return checkSite(n.Site, sites)
	case Shuf:
		return checkSpread(n.Relation(), n.By, n.Fn, sites)
	}
	return nil
}

func (n *Node) checkLocal(sites int) error {
	if len(n.Inputs) != len(n.RA.Inputs) {
		return sqlerr.Broken(room, "a %v of %d relations reads %d", n.RA.Op, len(n.RA.Inputs), len(n.Inputs))
	}
	for i, in := range n.Inputs {
		if in.Relation() != n.RA.Inputs[i] {
			return sqlerr.Broken(room, "input %d of a %v holds another relation than the operator reads", i, n.RA.Op)
		}
	}
	if len(n.Inputs) > 0 || n.RA.Op == ra.Join {
		return nil
	}
	switch p := n.Place; {
	case n.RA.Op != ra.Scan && n.RA.Op != ra.Opaque && n.RA.Op != ra.Self:
		return sqlerr.Broken(room, "a %v reads nothing", n.RA.Op)
	case p.Partial:
		return sqlerr.Broken(room, "what a %v reads is stored in parts that are not added up", n.RA.Op)
	case n.RA.Op != ra.Scan && p.Kind != Single:
		return sqlerr.Broken(room, "an %v runs at one site, but its rows are %v", n.RA.Op, p)
	case p.Kind == Single:
		return checkSite(p.Site, sites)
	case p.Kind == By:
		by := lists.Map(p.By, func(s Same) ra.ColumnID { return append(s, -1)[0] })
		return checkSpread(n.RA, by, p.Fn, sites)
	}
	return nil
}

// checkLoops: the levels of a Recursion are made at one site, for each reads the one before: its step moves nothing.
func checkLoops(nodes []*Node) error {
	for _, l := range nodes {
		if l.Op != Local || l.RA.Op != ra.Recursion {
			continue
		}
		if along := l.Inputs[len(l.Inputs)-1]; len(l.Inputs) > 2 && along.exchange() {
			return sqlerr.Broken(room, "a Recursion goes along the levels of another one after %v", along)
		}
		within := l.RA.Within()
		for _, n := range nodes {
			switch {
			case !slices.Contains(within, n.Relation()):
			case n.exchange() || !n.Place.Equal(l.Place):
				return sqlerr.Broken(room, "the step of a Recursion at %v has rows of %v at %v", l.Place, n, n.Place)
			}
		}
	}
	return nil
}

func checkSite(site, sites int) error {
	if site < 0 || site >= sites {
		return sqlerr.Broken(room, "there is no site %d of %d", site, sites)
	}
	return nil
}

// checkSpread: rows are spread by columns that they have and that do not change from step to step.
func checkSpread(of *ra.Node, by []ra.ColumnID, fn Function, sites int) error {
	if i := slices.IndexFunc(by, func(id ra.ColumnID) bool { return of.Col(id) == nil || of.Col(id).Dep }); i >= 0 {
		return sqlerr.Broken(room, "the rows of a %v cannot be spread by column %d", of.Op, by[i])
	}
	return fn.check(lists.Map(by, func(id ra.ColumnID) kernels.Type { return of.Col(id).Type }), sites)
}
