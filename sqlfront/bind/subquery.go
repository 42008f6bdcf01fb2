package bind

import (
	"errors"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

var _ = bindExpr(subLinkExpr)

// subLinkExpr binds a sub-select in an expression: an uncorrelated scalar one becomes an input of the join.
func subLinkExpr(s *scope, l *ast.SubLink) (*kernels.Expr, error) {
	switch l.Kind {
	case ast.SubScalar:
	case ast.SubExists, ast.SubAny, ast.SubAll:
		return foundExpr(s, l)
	default:
		return nil, refuseNotFound(s, l)
	}
	if x, done, err := correlatedScalar(s, l); done {
		return x, err
	}
	r, err := s.b.selectStmt(s.f, l.Query)
	if err == nil && len(r.node.Key) > 0 && !pinned(r.node) { // it may have several rows
		err = s.f.fail(l, sqlerr.FeatureNotSupported, "a scalar sub-query must be an aggregate without GROUP BY here").
			WithHint("Where it finds one row, max(…) or sum(…) of it is its value. A sub-query that reads no " +
				"parameter may be any query.")
	}
	if err != nil {
		o, ok := opaqueQuery(s.b, s.f, l.Query, true)
		if !ok {
			return nil, refuseCorrelated(s, l, err)
		}
		if o.err != nil {
			// it refers to something outside
			if code := sqlerr.Code(o.err); code == sqlerr.UndefinedTable || code == sqlerr.UndefinedColumn {
				o.err = err
			}
			return nil, refuseCorrelated(s, l, o.err)
		}
		r = o.rel
	}
	if len(r.cols) != 1 {
		return nil, s.f.fail(l, sqlerr.Syntax, "a scalar sub-query must return one column, not %d", len(r.cols))
	}
	if r.mask != 0 {
		r = s.b.unmask(r)
	}
	if !oneRow(r.node) {
		if r, err = orNull(s, l, r); err != nil {
			return nil, err
		}
	}
	s.b.classes[l] = r.class(0)
	slot := len(s.inputs)
	s.inputs = append(s.inputs, r)
	return r.node.Var(slot, r.cols[0]), nil
}

// pinned reports whether conditions, here or in views below, equate the whole identity of a query's rows with
// constants, so that it has at most one row.
func pinned(n *ra.Node) bool {
	return !slices.ContainsFunc(n.Unique, func(u ra.ColumnID) bool { return !fixed(n, u) })
}

// fixed reports whether a column is equal in all rows.
func fixed(n *ra.Node, id ra.ColumnID) bool {
	i := n.Index(id)
	switch n.Op {
	case ra.SemiJoin, ra.AntiJoin:
		return fixed(n.Inputs[0], n.Inputs[0].Cols[i].ID)
	case ra.Aggregate:
		return i < len(n.Group) && fixed(n.Inputs[0], n.Group[i])
	case ra.Window:
		id, ok := n.Passed(i)
		return ok && fixed(n.Inputs[0], id)
	case ra.Select, ra.Join:
		x := n.Out[i]
		return x.IsConst() || x.IsCol && fixed(n.Inputs[x.Col.Input], x.Col.ID) ||
			slices.ContainsFunc(n.Pred, func(p *kernels.Expr) bool {
				return p.Def.Is(kernels.Equates) && p.Args[0].Type.Kind == p.Args[1].Type.Kind &&
					(p.Args[0].Same(x) && p.Args[1].IsConst() || p.Args[1].Same(x) && p.Args[0].IsConst())
			})
	}
	return false
}

// oneRow reports whether a node without identity always has its row.
func oneRow(n *ra.Node) bool {
	switch n.Op {
	case ra.Select, ra.Join:
		return len(n.Pred) == 0 && len(n.Equi) == 0 && !slices.ContainsFunc(n.Inputs, func(in *ra.Node) bool {
			return !oneRow(in)
		})
	case ra.Aggregate, ra.Scan, ra.Opaque:
		return len(n.Key) == 0
	}
	return false
}

// orNull gives a scalar sub-query that may have no row exactly one, NULL in that case: the sum of its at most one
// value.
func orNull(s *scope, l *ast.SubLink, r *relation) (*relation, error) {
	fn := ra.Sum
	switch r.node.Col(r.cols[0]).Type.Kind {
	case kernels.Text:
		fn = ra.Max
	case kernels.Bool:
		return nil, s.f.fail(l, sqlerr.FeatureNotSupported,
			"a boolean sub-query that may have no row is not supported in a loss").WithHint("It may be cast to integer inside.")
	}
	n, err := s.b.b.Aggregate(r.node, nil, []ra.AggCol{{Name: r.names[0], Agg: ra.Agg{Fn: fn, Arg: r.cols[0]}}})
	if err != nil {
		return nil, s.f.at(err, l)
	}
	return &relation{node: n, names: r.names, classes: r.classes, cols: []ra.ColumnID{n.Cols[0].ID}}, nil
}

// refuseCorrelated explains an unknown name in a sub-query if it is a column of the outer query.
func refuseCorrelated(s *scope, l *ast.SubLink, err error) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Text != s.f.text || e.Code != sqlerr.UndefinedTable && e.Code != sqlerr.UndefinedColumn {
		return err
	}
	if !ast.Any(l.Query, func(c *ast.ColumnRef) bool {
		if c.Star || int(c.Position()) != e.Pos {
			return false
		}
		_, miss := s.column(c)
		return miss == nil
	}) {
		return err
	}
	return s.f.fail(l, sqlerr.FeatureNotSupported, "a correlated sub-query is not differentiable yet").
		WithHint("Write it as a join, with GROUP BY where it aggregates.")
}
