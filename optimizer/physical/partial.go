package physical

import (
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// partial is the placement of what an operator computes of rows that are not added up yet. It may be Σ with the same ⊕,
// which adds them up where all parts of a group have come together; a sum of gradients; or a selection that does not
// look at what is not added up. Everything else would read a part as if it were the whole.
func partial(n *Node) (Placement, error) {
	why := ""
	switch n.RA.Op {
	case ra.Aggregate:
		if why = n.addsAnother(); why == "" {
			return summed(n), nil
		}
	case ra.Add:
		if why = n.mixes(); why == "" {
			return Placement{Kind: Anywhere, Partial: true, Sums: addends(n.RA)}, nil
		}
	case ra.Select:
		var out Placement
		if out, why = n.passes(); why == "" {
			return out, nil
		}
	default:
		why = "it is not linear in them"
	}
	return Placement{}, sqlerr.Broken(room, "a %v reads parts as if they were sums: %s", n.RA.Op, why)
}

// unspreadable: parts are spread by columns of their identity, or those of one row would never come together.
func (n *Node) unspreadable() error {
	for _, id := range n.By {
		if n.Inputs[0].Place.Partial && !n.Relation().IsKey(id) {
			return sqlerr.Broken(room, "parts are spread by column %d, which is none of their identity", id)
		}
	}
	return nil
}

// addsAnother says why a Σ does not add the parts that it reads: it must take ⊕ of each column by columns of the
// identity.
func (n *Node) addsAnother() string {
	from, in := n.Inputs[0].Place, n.RA.Inputs[0]
	for _, g := range n.RA.Group {
		if !in.IsKey(g) {
			return "it groups them by a column that is none of their identity"
		}
	}
	for _, a := range n.RA.Aggs {
		if !slices.Contains(from.Sums, a) {
			return a.Fn.String() + " is not the ⊕ of what it reads"
		}
	}
	return ""
}

// mixes says why a sum of gradients cannot be taken of the parts where they lie.
func (n *Node) mixes() string {
	for _, in := range n.Inputs {
		p := in.Place
		switch {
		case !p.once():
			return "another summand is replicated"
		case p.Partial && p.Kind != Anywhere:
			return "the parts have been moved, and a site may have several of one key"
		case slices.ContainsFunc(p.Sums, func(a ra.Agg) bool { return a.Fn != ra.Sum && a.Fn != ra.GradSum }):
			return "their ⊕ is no sum"
		}
	}
	return ""
}

// passes is the placement of a selection of parts, by conditions on their identity, which passes the identity and parts
// of it as they are; or why the selection is another.
func (n *Node) passes() (Placement, string) {
	from, in := n.Inputs[0].Place, n.RA.Inputs[0]
	to := map[ra.ColumnID]ra.ColumnID{}
	for i, x := range n.RA.Out {
		if !x.IsCol {
			return from, "it computes with them"
		}
		if id := n.RA.Cols[i].ID; to[x.Col.ID] == 0 || n.RA.IsKey(id) {
			to[x.Col.ID] = id
		}
	}
	read := map[ra.ColumnID]bool{}
	note := func(c kernels.Col) { read[c.ID] = true }
	for _, p := range n.RA.Pred {
		p.Cols(note)
	}
	for _, q := range n.RA.Equi {
		note(q.L)
		note(q.R)
	}
	for id := range read {
		if !in.IsKey(id) {
			return from, "its conditions read them"
		}
	}
	for _, k := range in.Key {
		if to[k] == 0 || !n.RA.IsKey(to[k]) {
			return from, "it does not pass their identity"
		}
	}
	out := from.mapped(func(id ra.ColumnID) []ra.ColumnID {
		if to[id] == 0 {
			return nil
		}
		return []ra.ColumnID{to[id]}
	})
	out.Sums = nil
	for _, a := range from.Sums {
		if to[a.Arg] != 0 {
			out.Sums = append(out.Sums, ra.Agg{Fn: a.Fn, Arg: to[a.Arg]})
		}
	}
	return out, ""
}
