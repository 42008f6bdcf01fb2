package physical

import (
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

const room = "optimizer/physical"

// Kind says where rows lie.
type Kind uint8

// Kinds of placements.
const (
	Single     Kind = iota // all rows at one site
	Replicated             // all rows at every site
	By                     // each row at one site, a function of some of its columns
	Anywhere               // each row at one site, no function of its columns that is known
	Needed                 // each row at the sites where rows of a partner join it: at several, or at none
)

// Placement says where the rows of a relation lie.
type Placement struct {
	Kind Kind
	Site int    // Single
	By   []Same // By: what the site is a function of
	Fn   Function
	Need *Need // Needed
	// Partial rows are not added up: of rows with equal identities, wherever they lie, Sums are still to be taken.
	Partial bool
	Sums    []ra.Agg // of a partial: ⊕ for each column that is none of the identity
}

// Same are columns of a relation that hold the same value in each row.
type Same []ra.ColumnID

// At is the placement of rows at one site, Everywhere that of copies at all sites.
func At(site int) Placement { return Placement{Kind: Single, Site: site} }

// Everywhere is the placement of a relation that each site holds whole.
func Everywhere() Placement { return Placement{Kind: Replicated} }

// Spread is the placement of a relation by columns of it.
func Spread(fn Function, by ...ra.ColumnID) Placement {
	out := Placement{Kind: By, Fn: fn}
	for _, id := range by {
		out.By = append(out.By, Same{id})
	}
	return out
}

// Equal reports whether rows lie alike, by what is known of them.
func (p Placement) Equal(o Placement) bool {
	return p.Kind == o.Kind && p.Site == o.Site && p.Fn.Equal(o.Fn) && p.Partial == o.Partial &&
		slices.Equal(p.Sums, o.Sums) && p.Need.equal(o.Need) &&
		slices.EqualFunc(p.By, o.By, func(a, b Same) bool { return slices.Equal(a, b) })
}

// once reports whether each row lies at one site.
func (p Placement) once() bool { return p.Kind != Replicated && p.Kind != Needed }

// within reports whether rows that are equal in the columns lie at one site, or each site has them all: then a group by
// these columns is whole wherever it is.
func (p Placement) within(columns []ra.ColumnID) bool {
	return p.Kind == Single || p.Kind == Replicated || p.Kind == By && !slices.ContainsFunc(p.By, func(s Same) bool {
		return !slices.ContainsFunc(s, func(id ra.ColumnID) bool { return slices.Contains(columns, id) })
	})
}

// mapped is the placement by the columns that hold those of p in another relation; where one has none, the function is
// known no more.
func (p Placement) mapped(to func(ra.ColumnID) []ra.ColumnID) Placement {
	if p.Kind != By {
		return p
	}
	out := p
	out.By = nil
	for _, s := range p.By {
		var same Same
		for _, id := range s {
			for _, c := range to(id) {
				if !slices.Contains(same, c) {
					same = append(same, c)
				}
			}
		}
		if same == nil {
			out.Kind, out.By, out.Fn = Anywhere, nil, Function{}
			return out
		}
		slices.Sort(same)
		out.By = append(out.By, same)
	}
	return out
}

// derive is the placement of what a node computes, by those of its inputs.
func derive(n *Node, sites int) (Placement, error) {
	if n.exchange() && n.Inputs[0].Place.Kind == Needed {
		return Placement{}, sqlerr.Broken(room, "a %v moves rows that are %v", n, n.Inputs[0].Place)
	}
	switch n.Op {
	case Bcast:
		return n.exchanged(Everywhere()), nil
	case Gather:
		return n.exchanged(At(n.Site)), nil
	case Shuf:
		return n.exchanged(Spread(n.Fn, n.By...).mapped(n.aliases())), n.unspreadable()
	case Halo:
		return haloed(n)
	}
	if len(n.Inputs) == 0 && n.RA.Op != ra.Join { // a Join of nothing has one row, which each site makes
		return n.Place, nil
	}
	return local(n)
}

// exchanged is a placement of the rows of the input, which stay partial if they are.
func (n *Node) exchanged(to Placement) Placement {
	from := n.Inputs[0].Place
	to.Partial, to.Sums = from.Partial, from.Sums
	return to
}

// aliases gives the columns of n's relation that equal a column of it.
func (n *Node) aliases() func(ra.ColumnID) []ra.ColumnID {
	of := n.bare()
	if of.RA.Out == nil {
		return func(id ra.ColumnID) []ra.ColumnID { return []ra.ColumnID{id} }
	}
	return of.linked().Aliases
}

// local is the placement of what an operator of ra computes at each site. These are the rules by which rows may be read
// where they lie.
func local(n *Node) (Placement, error) {
	if err := spare(n); err != nil {
		return Placement{}, err
	}
	for _, in := range n.Inputs {
		if in.Place.Partial {
			return partial(n)
		}
	}
	switch n.RA.Op {
	case ra.Select, ra.Join:
		return joined(n)
	case ra.SemiJoin, ra.AntiJoin:
		return chosen(n)
	case ra.Aggregate:
		return summed(n), nil
	case ra.Window:
		return windowed(n)
	case ra.Union:
		return united(n)
	case ra.Add:
		return added(n)
	case ra.Recursion:
		return looping(n)
	}
	return Placement{}, sqlerr.Broken(room, "no rule says where the rows of %v lie", n.RA.Op)
}

// joined: rows of a join meet where all but one of its inputs are replicated, or those that are not lie at one site, or
// are spread alike by columns that the join equates, or are what one of these needs. A row lies where those lay of
// which it is made.
func joined(n *Node) (Placement, error) {
	first := slices.IndexFunc(n.Inputs, func(in *Node) bool { return in.Place.once() })
	for i, in := range n.Inputs {
		switch {
		case in.Place.Kind == Needed && !needed(n, i):
			return Placement{}, sqlerr.Broken(room, "a %v reads input %d (%v) without its partner", n.RA.Op, i, in.Place)
		case i != first && in.Place.once() && !n.together(first, i):
			return Placement{}, apart(n, first, i)
		}
	}
	if first < 0 {
		return Everywhere(), nil
	}
	return n.Inputs[first].Place.mapped(func(id ra.ColumnID) (out []ra.ColumnID) {
		same := n.linked().Equated(kernels.Col{Input: first, ID: id})
		for j, x := range n.RA.Out {
			if x.IsCol && slices.Contains(same, x.Col) {
				out = append(out, n.RA.Cols[j].ID)
			}
		}
		return out
	}), nil
}

// looping: all inputs of a Recursion lie at one site, for its levels are made there.
func looping(n *Node) (Placement, error) {
	first := n.Inputs[0].Place
	for i, in := range n.Inputs {
		if in.Place.Kind != Single || in.Place.Site != first.Site {
			return Placement{}, apart(n, 0, i)
		}
	}
	return first, nil
}

// together reports whether rows of two inputs of a join that meet lie at one site.
func (n *Node) together(a, b int) bool {
	x, y := n.Inputs[a].Place, n.Inputs[b].Place
	switch {
	case x.Kind == Single:
		return y.Kind == Single && x.Site == y.Site
	case x.Kind != By || y.Kind != By || !x.Fn.Equal(y.Fn) || len(x.By) != len(y.By):
		return false
	}
	for k := range x.By {
		if !slices.ContainsFunc(x.By[k], func(id ra.ColumnID) bool { return n.meets(a, id, b, y.By[k]) }) {
			return false
		}
	}
	return true
}

// meets reports whether the join equates a column of one input to one of several of another.
func (n *Node) meets(a int, id ra.ColumnID, b int, others Same) bool {
	same := n.linked().Equated(kernels.Col{Input: a, ID: id})
	return slices.ContainsFunc(others, func(o ra.ColumnID) bool {
		return slices.Contains(same, kernels.Col{Input: b, ID: o})
	})
}

func apart(n *Node, a, b int) error {
	return sqlerr.Broken(room, "a %v reads inputs %d (%v) and %d (%v) as if rows that meet lay at one site", n.RA.Op, a,
		n.Inputs[a].Place, b, n.Inputs[b].Place)
}

// chosen: a semi-join or anti-join sees all partners of a row where its right side is replicated, or spread as the left
// side is by columns that it equates, or what the left side needs. The rows stay where they are.
func chosen(n *Node) (Placement, error) {
	switch p := n.Inputs[1].Place; {
	case p.Kind == Needed && !meetsAll(n, 0, 1), p.once() && (!n.Inputs[0].Place.once() || !n.together(0, 1)):
		return Placement{}, apart(n, 0, 1)
	}
	return n.byPosition(0), nil
}

// byPosition is the placement of input slot by the columns of n, which correspond.
func (n *Node) byPosition(slot int) Placement {
	return n.Inputs[slot].Place.mapped(func(id ra.ColumnID) []ra.ColumnID {
		if i := n.RA.Inputs[slot].Index(id); i < len(n.RA.Cols) {
			return []ra.ColumnID{n.RA.Cols[i].ID}
		}
		return nil
	})
}

// summed: Σ is whole where each group lies at one site, or each site has all rows. Otherwise each site has a part of
// it.
func summed(n *Node) Placement {
	from := n.Inputs[0].Place
	if !from.within(n.RA.Group) {
		return Placement{Kind: Anywhere, Partial: true, Sums: sums(n.RA)}
	}
	from.Partial, from.Sums = false, nil
	return from.mapped(func(id ra.ColumnID) (out []ra.ColumnID) {
		for i, g := range n.RA.Group {
			if g == id {
				out = append(out, n.RA.Cols[i].ID)
			}
		}
		return out
	})
}

// windowed: a window sees all rows of a partition where they lie at one site, or each site has all rows. They stay
// there.
func windowed(n *Node) (Placement, error) {
	from := n.Inputs[0].Place
	if !from.within(n.RA.Over.Partition) {
		return Placement{}, sqlerr.Broken(room, "a %v reads partitions whose rows lie at several sites (%v)", n.RA.Op, from)
	}
	return from.mapped(func(id ra.ColumnID) (out []ra.ColumnID) {
		if i := slices.Index(n.RA.Over.Pass, id); i >= 0 {
			out = append(out, n.RA.Cols[i].ID)
		}
		return out
	}), nil
}

// sums are the ⊕ by which parts of an aggregate are added up: parts of a count are summed.
func sums(n *ra.Node) (out []ra.Agg) {
	for i, a := range n.Aggs {
		out = append(out, ra.Agg{Fn: combining(a.Fn), Arg: n.Cols[len(n.Group)+i].ID})
	}
	return out
}

func combining(f ra.AggFn) ra.AggFn {
	if f == ra.Count || f == ra.CountRows {
		return ra.Sum
	}
	return f
}

// united: the rows of a union lie where those of its inputs do. Copies may not be mixed with rows that lie once.
func united(n *Node) (Placement, error) {
	out := n.byPosition(0)
	for i, in := range n.Inputs[1:] {
		p := n.byPosition(i + 1)
		switch {
		case in.Place.once() != out.once():
			return Placement{}, sqlerr.Broken(room, "a %v reads input %d (%v) as if it lay as input 0 (%v)", n.RA.Op, i+1,
				in.Place, n.Inputs[0].Place)
		default:
			out = common(out, p)
		}
	}
	return out, nil
}

// common is the placement of rows of which some lie by p and others by o.
func common(p, o Placement) Placement {
	out := p
	out.By = nil
	for k := range p.By {
		if len(o.By) == len(p.By) {
			same := slices.DeleteFunc(slices.Clone(p.By[k]), func(id ra.ColumnID) bool { return !slices.Contains(o.By[k], id) })
			out.By = append(out.By, same)
		}
	}
	if p.Kind != o.Kind || p.Site != o.Site || !p.Fn.Equal(o.Fn) || len(p.By) != len(o.By) ||
		slices.ContainsFunc(out.By, func(s Same) bool { return len(s) == 0 }) {
		return Placement{Kind: Anywhere}
	}
	return out
}

// added: a sum of gradients by key is whole where the inputs are spread alike by columns of the key. Where each row
// lies at some site, each site has a part of it.
func added(n *Node) (Placement, error) {
	out, err := united(n)
	if err != nil || out.within(n.RA.Key) {
		return out, err
	}
	return Placement{Kind: Anywhere, Partial: true, Sums: addends(n.RA)}, nil
}

// addends are the ⊕ of a sum of gradients.
func addends(n *ra.Node) (out []ra.Agg) {
	for _, c := range n.Cols[len(n.Key):] {
		out = append(out, ra.Agg{Fn: ra.Sum, Arg: c.ID})
	}
	return out
}
