package bind

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// subSelect binds a query. If it cannot be differentiated but reads no parameter, the store runs it.
func (b *binder) subSelect(f *place, sel *ast.Select) (*relation, error) {
	r, err := b.selectStmt(f, sel)
	if err == nil {
		return r, nil
	}
	if o, ok := opaqueQuery(b, f, sel, false); ok {
		return o.rel, o.err
	}
	return nil, err
}

// selectStmt binds a SELECT with its WITH clause.
func (b *binder) selectStmt(f *place, sel *ast.Select) (*relation, error) {
	if b.depth++; b.depth > MaxViews {
		return nil, f.fail(sel, sqlerr.TooComplex, "queries are nested more than %d deep", MaxViews)
	}
	defer func() { b.depth-- }()
	if err := b.ctx.Err(); err != nil {
		return nil, err
	}
	if len(sel.With) > 0 {
		b.needs.With(sel)
		inner := *f
		inner.ctes = f.ctes[:len(f.ctes):len(f.ctes)]
		for _, w := range sel.With {
			q, ok := w.Query.(*ast.Select)
			if !ok {
				return nil, f.fail(w, sqlerr.FeatureNotSupported, "a writing WITH query cannot stand in a loss")
			}
			inner.ctes = append(inner.ctes, &cte{name: w.Name, cols: w.Cols, sel: q, loop: sel.Recursive})
		}
		f = &inner
	}
	if err := b.refuseClauses(f, sel); err != nil {
		return nil, err
	}
	if sel.Own != nil {
		return nil, sel.Own.Why
	}
	if sel.SetOp != "" {
		return unionQuery(b, f, sel)
	}
	if sel.Values != nil {
		return nil, f.fail(sel, sqlerr.FeatureNotSupported, "VALUES is not differentiable").
			WithHint("Write SELECT … UNION ALL SELECT …; VALUES of constants may stand in a sub-query.")
	}
	return b.block(f, sel)
}

// refuseClauses refuses clauses that only a query without parameters may have.
func (b *binder) refuseClauses(f *place, sel *ast.Select) error {
	var at ast.Tree = sel
	what := ""
	switch {
	case sel.Distinct || sel.DistinctOn != nil:
		what = "DISTINCT"
	case sel.Limit != nil:
		at, what = sel.Limit, "LIMIT"
	case sel.Offset != nil:
		at, what = sel.Offset, "OFFSET"
	default:
		return nil
	}
	return f.fail(at, sqlerr.FeatureNotSupported, "%s is not differentiable", what).
		WithHint("It may stand in a sub-query that reads no parameter.")
}

// block binds FROM, WHERE, GROUP BY, HAVING and the targets of one SELECT.
func (b *binder) block(f *place, sel *ast.Select) (*relation, error) {
	if !b.orders && sorts(sel) {
		if o, ok := opaqueQuery(b, f, sel, false); ok && o.err == nil { // the store sorts; an order here is pairs
			return o.rel, nil
		}
	}
	b.needs.Note(sel)
	s := &scope{b: b, f: f}
	for _, item := range sel.From {
		if err := s.from(item); err != nil {
			return nil, err
		}
	}
	if sel.Where != nil {
		if err := s.where(sel.Where); err != nil {
			return nil, err
		}
	}
	targets, err := s.expandStars(sel.Targets)
	if err != nil {
		return nil, err
	}
	if len(sel.GroupBy) > 0 || sel.Having != nil || hasAggregate(targets) {
		if s, err = groupRows(s, sel, targets); err != nil {
			return nil, err
		}
	}
	if err := bindWindows(s, sel, targets); err != nil {
		return nil, err
	}
	var out []ra.OutCol
	var names []string
	var classes []numberClass
	for _, t := range targets {
		x, err := s.target(t)
		if err != nil {
			return nil, err
		}
		if classes = append(classes, t.class); t.x == nil {
			classes[len(out)] = s.class(t.X)
		}
		name := targetName(t.Target)
		out, names = append(out, ra.OutCol{Name: name, X: x}), append(names, name)
	}
	r := s.project(out, names)
	r.classes = classes
	return r, nil
}

// project closes a scope: it joins the inputs and computes the output columns.
func (s *scope) project(out []ra.OutCol, names []string) *relation {
	visible := len(out)
	mask := s.mask()
	if mask != nil {
		out = append(out, ra.OutCol{Name: "mask", X: mask})
	}
	n := s.b.join(s.nodes(), s.equi, s.pred, out)
	r := &relation{node: n, names: names}
	for i := range visible {
		r.cols = append(r.cols, n.Cols[i].ID)
	}
	if mask != nil {
		r.mask = n.Cols[visible].ID
	}
	return r
}

// starTarget is a target. x is set for columns from *.
type starTarget struct {
	ast.Target
	x     *kernels.Expr
	class numberClass
}

func (s *scope) expandStars(targets []ast.Target) ([]starTarget, error) {
	var out []starTarget
	for _, t := range targets {
		c, ok := t.X.(*ast.ColumnRef)
		if !ok || !c.Star {
			out = append(out, starTarget{Target: t})
			continue
		}
		var cols []scopeCol
		for _, sc := range s.cols {
			if len(c.Names) > 0 && sc.table == c.Names[len(c.Names)-1] || len(c.Names) == 0 && !sc.merged {
				cols = append(cols, sc)
			}
		}
		if len(c.Names) > 0 { // USING has put its columns first, but only those of *
			slices.SortStableFunc(cols, func(a, b scopeCol) int { return a.place - b.place })
		}
		if len(cols) == 0 && len(c.Names) > 0 {
			return nil, s.f.fail(c, sqlerr.UndefinedTable, "missing FROM-clause entry for table %q", c.Names[len(c.Names)-1])
		}
		if fixed, ok := s.f.text.Stars[int(c.At)]; ok {
			if cols = created(cols, fixed); len(cols) < len(fixed) {
				return nil, s.f.fail(c, sqlerr.Internal, "internal error: * stood for %v when the view was created", fixed)
			}
		}
		for _, sc := range cols {
			out = append(out, starTarget{ast.Target{Node: t.Node, X: c, Name: sc.name}, sc.x, sc.class})
		}
	}
	s.stars = out
	return out, nil
}

// created keeps the columns for which a view's * stood when the view was created.
func created(cols []scopeCol, fixed []string) []scopeCol {
	var out []scopeCol
	for _, sc := range cols {
		if len(out) < len(fixed) && fixed[len(out)] == fmt.Sprintf("%d.%s", sc.item, sc.name) {
			out = append(out, sc)
		}
	}
	return out
}

func (s *scope) target(t starTarget) (*kernels.Expr, error) {
	if t.x == nil {
		return s.expr(t.X)
	}
	if s.post != nil {
		return s.post.column(s, t.X, t.x)
	}
	return t.x, nil
}

// targetName is the name that Postgres gives an output column.
func targetName(t ast.Target) string {
	if t.Name != "" {
		return t.Name
	}
	switch x := t.X.(type) {
	case *ast.ColumnRef:
		if !x.Star {
			return x.Names[len(x.Names)-1]
		}
	case *ast.FuncCall:
		return x.Name
	case *ast.Cast:
		if n := targetName(ast.Target{X: x.X}); n != "?column?" {
			return n
		}
		return x.Type.Name
	case *ast.Case:
		return "case"
	case *ast.Coalesce:
		return "coalesce"
	case *ast.MinMax:
		if x.Greatest {
			return "greatest"
		}
		return "least"
	case *ast.Subscript:
		return targetName(ast.Target{X: x.X})
	case *ast.ArrayLit:
		return "array"
	case *ast.SubLink:
		if x.Kind == ast.SubScalar && len(x.Query.Targets) == 1 {
			return targetName(x.Query.Targets[0])
		}
	}
	return "?column?"
}

// groupItem resolves an item of GROUP BY: an input column, the number or name of an output column, or an expression.
func (s *scope) groupItem(e ast.Expr, targets []starTarget) (*kernels.Expr, error) {
	if l, ok := e.(*ast.Literal); ok && l.Kind == ast.LitInt {
		i, _ := strconv.Atoi(l.Value)
		if i < 1 || i > len(targets) {
			return nil, s.f.fail(l, sqlerr.InvalidColumnRef, "GROUP BY position %s is not in select list", l.Value)
		}
		return s.target(targets[i-1])
	}
	if c, ok := e.(*ast.ColumnRef); ok && len(c.Names) == 1 {
		known := false
		for _, sc := range s.cols {
			known = known || sc.name == c.Names[0]
		}
		for _, t := range targets {
			if !known && t.Name == c.Names[0] {
				return s.target(t)
			}
		}
	}
	return s.expr(e)
}
