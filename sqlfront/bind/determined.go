package bind

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// If a GROUP BY contains a relation's identity, the group determines the relation's columns, which may then stand
// ungrouped. The relation may be an input of the scope, or lie below one: beneath conditions, joins and outer joins.

// origin is a relation whose identity the group holds, and from which a column of an input comes.
type origin struct {
	node *ra.Node
	col  ra.ColumnID
	keys []ra.ColumnID // for each column of the identity, the input's column that equals it
	// optional: some rows of the input have no row of node (an outer join); its columns and identity are NULL there.
	optional bool
}

func (o origin) is(p origin) bool {
	return o.node == p.node && o.col == p.col && slices.Equal(o.keys, p.keys)
}

// holds maps a column of a node below to an equal column of a scope's input that the group contains.
type holds func(ra.ColumnID) (held ra.ColumnID, ok bool)

// origins lists the relations at and below node n from which column id comes and whose identity the group holds.
func origins(n *ra.Node, id ra.ColumnID, held holds) []origin {
	var out []origin
	if keys, ok := allHeld(n, held); ok {
		out = append(out, origin{node: n, col: id, keys: keys})
	}
	i := n.Index(id)
	switch n.Op {
	case ra.SemiJoin, ra.AntiJoin:
		l := n.Inputs[0]
		return append(out, origins(l, l.Cols[i].ID, byPosition(n, l, held))...)
	case ra.Select, ra.Join:
		if !n.Out[i].IsCol {
			return out
		}
		from := n.Out[i].Col
		return append(out, origins(n.Inputs[from.Input], from.ID, func(id ra.ColumnID) (ra.ColumnID, bool) {
			for j, o := range n.Out {
				if o.IsCol && o.Col == (kernels.Col{Input: from.Input, ID: id}) {
					if h, ok := held(n.Cols[j].ID); ok {
						return h, true
					}
				}
			}
			return 0, false
		})...)
	case ra.Window:
		if from, ok := n.Passed(i); ok {
			return append(out, origins(n.Inputs[0], from, func(id ra.ColumnID) (ra.ColumnID, bool) {
				if at := slices.Index(n.Over.Pass, id); at >= 0 {
					return held(n.Cols[at].ID)
				}
				return 0, false
			})...)
		}
	case ra.Union:
		return append(out, unionOrigins(n, i, held)...)
	}
	return out
}

func allHeld(n *ra.Node, held holds) (keys []ra.ColumnID, ok bool) {
	for _, k := range n.Unique {
		h, ok := held(k)
		if !ok {
			return nil, false
		}
		keys = append(keys, h)
	}
	return keys, len(n.Unique) > 0
}

// unionOrigins are relations from which all branches of a union have the column, such as the branches of an outer join.
// In a branch without the relation, column and identity must be NULL, which no row of the relation is.
func unionOrigins(n *ra.Node, i int, held holds) []origin {
	var common []origin
	lacking, known := []*ra.Node(nil), false
	for _, in := range n.Inputs {
		if nullColumn(in, in.Cols[i].ID) {
			lacking = append(lacking, in)
			continue
		}
		here := origins(in, in.Cols[i].ID, byPosition(n, in, held))
		if !known {
			common, known = here, true
			continue
		}
		common = slices.DeleteFunc(common, func(o origin) bool { return !slices.ContainsFunc(here, o.is) })
		for k, o := range common {
			common[k].optional = o.optional || slices.ContainsFunc(here, func(p origin) bool { return p.is(o) && p.optional })
		}
	}
	if len(lacking) == 0 {
		return common
	}
	common = slices.DeleteFunc(common, func(o origin) bool { return !absentFrom(n, lacking, o, held) })
	for k := range common {
		common[k].optional = true
	}
	return common
}

// byPosition converts held to an input of n whose columns correspond to n's by position.
func byPosition(n, in *ra.Node, held holds) holds {
	return func(id ra.ColumnID) (ra.ColumnID, bool) {
		if i := in.Index(id); i < len(n.Cols) {
			return held(n.Cols[i].ID)
		}
		return 0, false
	}
}

// absentFrom reports whether the identity of o is NULL in those branches of a union that lack o.
func absentFrom(n *ra.Node, lacking []*ra.Node, o origin, held holds) bool {
	for k, id := range o.keys {
		if o.node.Col(o.node.Unique[k]).Type.Nullable {
			return false
		}
		null := false
		for j, c := range n.Cols {
			if h, ok := held(c.ID); ok && h == id {
				null = null || !slices.ContainsFunc(lacking, func(in *ra.Node) bool { return !nullColumn(in, in.Cols[j].ID) })
			}
		}
		if !null {
			return false
		}
	}
	return true
}

// nullColumn reports whether a column is NULL in every row.
func nullColumn(n *ra.Node, id ra.ColumnID) bool {
	i := n.Index(id)
	switch n.Op {
	case ra.Select, ra.Join:
		x := n.Out[i]
		return x.IsConst() && x.Const.Null || x.IsCol && nullColumn(n.Inputs[x.Col.Input], x.Col.ID)
	case ra.SemiJoin, ra.AntiJoin:
		return nullColumn(n.Inputs[0], n.Inputs[0].Cols[i].ID)
	}
	return false
}

// rejoined is a relation below a grouping that is joined to the groups again, because they contain its identity.
type rejoined struct {
	origin
	slot int
	at   []int           // for each column of its identity, the position in the group's key
	cols []*kernels.Expr // columns of the scope below the grouping
	ids  []ra.ColumnID   // the columns of node that they are
}

// implyColumns lets a column x stand ungrouped if the group determines it. It becomes a key, except if it depends on a
// parameter or is a chunk: then its relation is joined to the groups again.
func implyColumns(s *scope, g *grouped, x *kernels.Expr) {
	n, slot := s.inputs[x.Col.Input].node, x.Col.Input
	if g.has(x) {
		return
	}
	from := origins(n, x.Col.ID, func(id ra.ColumnID) (ra.ColumnID, bool) { return id, g.has(n.Var(slot, id)) })
	plain := !s.depends(x) && !x.Type.IsChunk()
	switch {
	case len(n.Key) == 0 && plain: // one row in total
		g.keys = append(g.keys, x)
		return
	case len(n.Key) == 0:
		from = []origin{{node: n, col: x.Col.ID}}
	case len(from) == 0:
		return
	case plain:
		g.keys = append(g.keys, x)
		return
	}
	o := from[0]
	k := slices.IndexFunc(g.back, func(r *rejoined) bool {
		return r.slot == slot && r.node == o.node && slices.Equal(r.keys, o.keys)
	})
	if k < 0 {
		r := &rejoined{origin: o, slot: slot}
		for _, id := range o.keys {
			r.at = append(r.at, slices.IndexFunc(g.keys, n.Var(slot, id).Same))
		}
		k, g.back = len(g.back), append(g.back, r)
	}
	g.back[k].cols, g.back[k].ids = append(g.back[k].cols, x), append(g.back[k].ids, o.col)
}

// joinBack joins to the groups the relations below whose identity the group contains.
func joinBack(s *scope, g *grouped) {
	for _, r := range g.back {
		at := len(s.inputs)
		if r.optional {
			joinPresent(s, g, r)
			continue
		}
		s.inputs = append(s.inputs, &relation{node: r.node})
		for i, u := range r.node.Unique {
			s.equi = append(s.equi,
				ra.Equi{L: kernels.Col{ID: g.keyIDs[r.at[i]]}, R: kernels.Col{Input: at, ID: u}, NullSafe: true})
		}
		for i, id := range r.ids {
			g.values[r.cols[i].Col] = r.node.Var(at, id)
		}
	}
}

// joinPresent is joinBack for a relation without a row for some groups, where its columns are NULL.
func joinPresent(s *scope, g *grouped, r *rejoined) {
	groups := s.inputs[0].node
	var equi []ra.Equi
	for i, u := range r.node.Unique {
		equi = append(equi, ra.Equi{L: kernels.Col{ID: g.keyIDs[r.at[i]]}, R: kernels.Col{Input: 1, ID: u}})
	}
	rest := s.b.semiJoin(ra.AntiJoin, groups, r.node, equi, nil)
	var met, unmet []ra.OutCol
	for _, k := range groups.Key {
		met = append(met, ra.OutCol{Name: groups.Col(k).Name, X: groups.Var(0, k)})
		unmet = append(unmet, ra.OutCol{Name: groups.Col(k).Name, X: rest.Var(0, rest.Cols[groups.Index(k)].ID)})
	}
	for _, id := range r.ids {
		c := r.node.Col(id)
		met = append(met, ra.OutCol{Name: c.Name, X: r.node.Var(1, id)})
		unmet = append(unmet, ra.OutCol{Name: c.Name, X: kernels.Const(kernels.NullOf(c.Type))})
	}
	n := s.b.unite([]*ra.Node{s.b.join([]*ra.Node{groups, r.node}, equi, nil, met), s.b.projection(rest, nil, unmet)},
		len(met))
	at := len(s.inputs)
	s.inputs = append(s.inputs, &relation{node: n})
	for i, k := range groups.Key {
		s.equi = append(s.equi, ra.Equi{L: kernels.Col{ID: k}, R: kernels.Col{Input: at, ID: n.Cols[i].ID}, NullSafe: true})
	}
	for i := range r.ids {
		g.values[r.cols[i].Col] = n.Var(at, n.Cols[len(groups.Key)+i].ID)
	}
}
