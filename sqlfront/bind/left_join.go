package bind

import (
	"cmp"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// side is one side of an outer join: a closed relation, and its columns with their visible names.
type side struct {
	rel   *relation
	cols  []scopeCol // x reads slot 0
	items int
}

func bindSide(s *scope, item ast.FromItem) (*side, error) {
	in := &scope{b: s.b, f: s.f}
	if err := in.from(item); err != nil {
		return nil, err
	}
	var out []ra.OutCol
	var names []string
	for _, c := range in.cols {
		out, names = append(out, ra.OutCol{Name: c.name, X: c.x}), append(names, c.name)
	}
	r := in.project(out, names)
	d := &side{rel: r, cols: slices.Clone(in.cols), items: in.items}
	for i := range d.cols {
		d.cols[i].x = r.node.Var(0, r.cols[i])
	}
	return d, nil
}

// leftJoin is the inner join united with the left rows that have no partner, whose right values are invalid (§3). The
// condition is structure: which rows meet must not depend on a parameter.
func leftJoin(s *scope, j *ast.JoinFrom) error {
	l, r := j.L, j.R
	if j.Kind == ast.JoinRight {
		l, r = r, l
	}
	left, err := bindSide(s, l)
	if err != nil {
		return err
	}
	right, err := bindSide(s, r)
	if err != nil {
		return err
	}
	if right.rel.mask != 0 {
		return s.f.fail(j, sqlerr.FeatureNotSupported,
			"an outer join whose optional side is filtered by values that depend on a parameter is not differentiable").
			WithHint("Use an inner join, or filter by keys and attributes.")
	}
	on, using, err := onCondition(s, j, left, right)
	if err != nil {
		return err
	}
	inner := matchedRows(s, on, left, right)
	anti := unmatchedRows(s, on, inner, left, right)
	n := s.b.unite([]*ra.Node{inner, anti}, len(left.cols)+len(right.cols)+maskCols(left.rel))
	return openUnion(s, n, j, left, right, using)
}

func maskCols(r *relation) int {
	if r.mask != 0 {
		return 1
	}
	return 0
}

// onCondition binds the condition in a scope of the two sides alone.
func onCondition(s *scope, j *ast.JoinFrom, left, right *side) (*scope, []string, error) {
	on := &scope{b: s.b, f: s.f, apart: "sides of an outer join",
		inputs: []*relation{{node: left.rel.node}, {node: right.rel.node}}}
	on.cols = slices.Clone(left.cols)
	for _, c := range right.cols {
		c.x = kernels.Column(kernels.Col{Input: 1, ID: c.x.Col.ID}, c.x.Type)
		on.cols = append(on.cols, c)
	}
	using := j.Using
	if j.Natural {
		using = common(on.cols[:len(left.cols)], on.cols[len(left.cols):])
	}
	for _, name := range using {
		l, err := usingColumn(s, on.cols[:len(left.cols)], name, j)
		if err != nil {
			return nil, nil, err
		}
		r, err := usingColumn(s, on.cols[len(left.cols):], name, j)
		if err != nil {
			return nil, nil, err
		}
		if err := cmp.Or(refuseInexact(on, []numberClass{l.class, r.class}, []*kernels.Expr{l.x, r.x}, j),
			on.equate(l.x, r.x, j)); err != nil {
			return nil, nil, err
		}
	}
	if j.On != nil {
		if err := on.where(j.On); err != nil {
			return nil, nil, err
		}
	}
	if len(on.masks) > 0 {
		return nil, nil, s.f.fail(j, sqlerr.FeatureNotSupported,
			"the condition of an outer join depends on a parameter's values").
			WithHint("Which rows meet is structure: join on keys and attributes.")
	}
	return on, using, nil
}

// colOf finds the column of a scope's input that stands for column i of a side. Projections made for the condition keep
// positions.
func colOf(in *relation, d *side, i int) ra.ColumnID {
	return in.node.Cols[d.rel.node.Index(d.rel.cols[i])].ID
}

func matchedRows(s *scope, on *scope, left, right *side) *ra.Node {
	var out []ra.OutCol
	for k, d := range []*side{left, right} {
		for i, c := range d.cols {
			out = append(out, ra.OutCol{Name: c.name, X: on.inputs[k].node.Var(k, colOf(on.inputs[k], d, i))})
		}
	}
	if left.rel.mask != 0 {
		n := on.inputs[0].node
		out = append(out, ra.OutCol{Name: "mask", X: n.Var(0, n.Cols[left.rel.node.Index(left.rel.mask)].ID)})
	}
	return s.b.join(on.nodes(), on.equi, on.pred, out)
}

// unmatchedRows is the left rows without a partner. If a sub-query in the condition has restricted the left side or was
// joined to it, these are the rows that are missing in the inner join.
func unmatchedRows(s *scope, on *scope, inner *ra.Node, left, right *side) *ra.Node {
	l, met := left.rel.node, on.inputs[0].node
	partners, equi, pred := on.inputs[1].node, on.equi, on.pred
	if len(on.inputs) > 2 || restricted(met, l) {
		carry, ok := inner.Links().InputKey(0)
		if !ok { // its identity has too many columns
			inner = s.b.b.JoinWhole(inner.Inputs, inner.Equi, inner.Pred, nil)
			carry, _ = inner.Links().InputKey(0)
		}
		partners, equi, pred = inner, sameRow(l, met, carry), nil
		met = l
	}
	n := s.b.semiJoin(ra.AntiJoin, met, partners, equi, pred)
	in := &relation{node: n}
	var out []ra.OutCol
	for i, c := range left.cols {
		out = append(out, ra.OutCol{Name: c.name, X: n.Var(0, colOf(in, left, i))})
	}
	for _, c := range right.cols {
		out = append(out, ra.OutCol{Name: c.name, X: kernels.Const(kernels.NullOf(c.x.Type))})
	}
	if left.rel.mask != 0 {
		out = append(out, ra.OutCol{Name: "mask", X: n.Var(0, n.Cols[left.rel.node.Index(left.rel.mask)].ID)})
	}
	return s.b.projection(n, nil, out)
}

// restricted reports whether a semi-join lies between in and below, from which it was made.
func restricted(in, below *ra.Node) bool {
	for ; in != below; in = in.Inputs[0] {
		if in.Op == ra.SemiJoin || in.Op == ra.AntiJoin {
			return true
		}
	}
	return false
}

// openUnion makes the result an input of the scope, with the names of both sides.
func openUnion(s *scope, n *ra.Node, j *ast.JoinFrom, left, right *side, using []string) error {
	slot := len(s.inputs)
	r := &relation{node: n}
	first := len(s.cols)
	var cols [2][]scopeCol
	for k, d := range []*side{left, right} {
		for i, c := range d.cols {
			at := i + k*len(left.cols)
			r.cols, r.names = append(r.cols, n.Cols[at].ID), append(r.names, c.name)
			c.x = n.Var(slot, n.Cols[at].ID)
			if c.item += s.items; j.Kind == ast.JoinRight != (k == 1) { // the side that is written second
				c.item += []*side{right, left}[k].items
			}
			c.merged = c.merged || k == 1 && slices.Contains(using, c.name)
			cols[k] = append(cols[k], c)
		}
	}
	for _, name := range using { // the left row always exists
		l, err := usingColumn(s, cols[0], name, j)
		if err != nil {
			return err
		}
		r := cols[1][slices.IndexFunc(cols[1], func(c scopeCol) bool { return c.name == name })]
		m, other, err := metColumn(s, *l, r, j)
		if err != nil {
			return err
		}
		if other {
			l.merged = true
			cols[0] = append(cols[0], m)
		}
	}
	if j.Kind == ast.JoinRight { // in the order of the text
		cols[0], cols[1] = cols[1], cols[0]
	}
	s.items += left.items + right.items
	s.cols = append(append(s.cols, cols[0]...), cols[1]...)
	if left.rel.mask != 0 {
		r.mask = n.Cols[len(left.cols)+len(right.cols)].ID
		s.masks = append(s.masks, n.Var(slot, r.mask))
	}
	s.inputs = append(s.inputs, r)
	mergeOrder(s, first, using)
	return nil
}
