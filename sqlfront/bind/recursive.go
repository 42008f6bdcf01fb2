package bind

import (
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// invalidRecursion is the SQLSTATE of a recursive query that Postgres refuses.
const invalidRecursion = "42P19"

// recursion binds a query of WITH RECURSIVE that refers to itself. One that reads no parameter is the store's, unless
// it reads the rows of a step, which the store does not know.
func recursion(b *binder, f *place, c *cte) (*relation, error) {
	inner := *f
	inner.ctes = append(f.ctes[:len(f.ctes):len(f.ctes)], c)
	all := &ast.Select{Node: c.sel.Node, End: -1,
		Targets: []ast.Target{{Node: c.sel.Node, X: &ast.ColumnRef{Node: c.sel.Node, Star: true}}},
		From:    []ast.FromItem{&ast.TableRef{Node: c.sel.Node, Name: c.name}}}
	if refuseBatch(b, &inner, all) == nil || wellFormed(f, c) != nil {
		if o, ok := opaqueQuery(b, &inner, all, false); ok {
			return o.rel, o.err
		}
	}
	if err := wellFormed(f, c); err != nil {
		return nil, err
	}
	start, err := b.subSelect(f, c.sel.L)
	if err != nil {
		return nil, err
	}
	if start.mask != 0 {
		return nil, valuesDecide(f, c.sel.L)
	}
	cols := make([]ra.Column, len(start.cols))
	for i, id := range start.cols {
		cols[i] = *start.node.Col(id)
		if cols[i].Name = start.names[i]; i < len(c.cols) {
			cols[i].Name = c.cols[i]
		}
	}
	defer func() { c.self = nil }()
	for {
		key, err := recursionKey(f, c, cols)
		if err != nil {
			return nil, err
		}
		self := b.b.Self(cols, key)
		c.self = &relation{node: self, names: columnNames(cols), cols: columnIDs(self.Cols), classes: start.classes}
		step, err := b.subSelect(&inner, c.sel.R)
		if err != nil {
			return nil, err
		}
		again, err := stepColumns(f, c, cols, step)
		if err != nil {
			return nil, err
		}
		if again { // some column may be NULL, or depends on a parameter, from the second level on
			continue
		}
		if slices.ContainsFunc(ra.Reading(step.node, self), func(n *ra.Node) bool { return n.Op == ra.Recursion }) {
			return nil, f.fail(c.sel.R, sqlerr.FeatureNotSupported, "a recursive query within the step of another one is not "+
				"differentiable yet").WithHint("A recursive query may be read by the step if it does not read what the step does.")
		}
		if why := ra.Mixed(step.node, self); why != "" {
			return nil, f.fail(c.sel.R, sqlerr.FeatureNotSupported, "a step of the recursive query \"%s\" %s", c.name, why).
				WithDetail("The gradient is that of all steps together, which would mix the rows of different steps.").
				WithHint("Group by a column that counts the steps, and join other rows to them.")
		}
		n := b.b.Recursion(self, visibleOf(b, start), visibleOf(b, step))
		return &relation{node: n, names: columnNames(cols), cols: columnIDs(n.Cols[:n.States()]), classes: start.classes}, nil
	}
}

func columnNames(cols []ra.Column) (out []string) {
	for _, c := range cols {
		out = append(out, c.Name)
	}
	return out
}

func columnIDs(cols []ra.Column) (out []ra.ColumnID) {
	for _, c := range cols {
		out = append(out, c.ID)
	}
	return out
}

// visibleOf is a relation's node whose first columns are those that are visible.
func visibleOf(b *binder, r *relation) *ra.Node {
	var out []ra.OutCol
	for i, id := range r.cols {
		out = append(out, ra.OutCol{Name: r.names[i], X: r.node.Var(0, id)})
	}
	return b.projection(r.node, nil, out)
}

// refersTo reports whether a query reads a WITH item.
func refersTo(q *ast.Select, name string) bool { return references(q, name) > 0 }

// references counts how often a query reads a WITH item.
func references(q *ast.Select, name string) (n int) {
	ast.Walk(q, func(t ast.Tree) bool {
		if r, ok := t.(*ast.TableRef); ok && r.Schema == "" && r.Name == name {
			n++
		}
		return true
	})
	return n
}

// wellFormed refuses what Postgres refuses, and what has no derivative.
func wellFormed(f *place, c *cte) error {
	q := c.sel
	refuse := func(where string) error {
		return f.fail(q, invalidRecursion, "recursive reference to query \"%s\" must not appear %s", c.name, where)
	}
	inExpr := false
	if q.R != nil {
		ast.Walk(q.R, func(t ast.Tree) bool {
			if l, ok := t.(*ast.SubLink); ok && refersTo(l.Query, c.name) {
				inExpr = true
			}
			return true
		})
	}
	switch {
	case q.SetOp != "union":
		return f.fail(q, invalidRecursion,
			"recursive query \"%s\" does not have the form non-recursive-term UNION [ALL] recursive-term", c.name).
			WithHint("Write WITH RECURSIVE %s AS (start UNION ALL step).", c.name)
	case !q.All:
		return f.fail(q, sqlerr.FeatureNotSupported, "UNION in a recursive query is not differentiable: it compares values").
			WithHint("UNION ALL is.")
	case len(q.With) > 0 || len(q.OrderBy) > 0 || q.Limit != nil || q.Offset != nil:
		return f.fail(q, sqlerr.FeatureNotSupported, "WITH, ORDER BY and LIMIT of a recursive query are not differentiable").
			WithHint("It is start UNION ALL step; other queries may stand before it in WITH, or read it.")
	case refersTo(q.L, c.name):
		return refuse("within its non-recursive term")
	case inExpr:
		return refuse("within a subquery")
	case references(q.R, c.name) > 1:
		return refuse("more than once")
	}
	return nil
}

// recursionKey lists the columns that tell the rows of a recursive query apart: those that hold no values.
func recursionKey(f *place, c *cte, cols []ra.Column) (key []int, err error) {
	for i, col := range cols {
		if !col.Dep && !col.Type.IsFloat() && !col.Type.IsChunk() {
			key = append(key, i)
		}
	}
	if key == nil {
		return nil, f.fail(c.sel, sqlerr.FeatureNotSupported,
			"the recursive query \"%s\" has no column that tells its rows apart", c.name).
			WithHint("Add one that counts the steps: SELECT 0 AS step, … UNION ALL SELECT step + 1, ….")
	}
	return key, nil
}

// stepColumns compares the step's columns with those of the level before. It reports whether some of these must be
// bound again: cols says as what.
func stepColumns(f *place, c *cte, cols []ra.Column, step *relation) (again bool, err error) {
	if step.mask != 0 {
		return false, valuesDecide(f, c.sel.R)
	}
	if len(step.cols) != len(cols) {
		return false, f.fail(c.sel, sqlerr.Syntax, "each UNION query must have the same number of columns, not %d and %d",
			len(cols), len(step.cols))
	}
	for i, id := range step.cols {
		to, t := &cols[i], step.node.Col(id).Type
		switch {
		case t.Kind != to.Type.Kind || t.Of.String() != to.Type.Of.String():
			return false, f.fail(c.sel, sqlerr.DatatypeMismatch,
				"recursive query \"%s\" column %d has type %s in non-recursive term but type %s overall", c.name, i+1,
				typeOfExpr(kernels.Column(kernels.Col{}, to.Type)), typeOfExpr(kernels.Column(kernels.Col{}, t))).
				WithHint("Cast the output of the non-recursive term to the correct type.")
		case !t.Shape.Equal(to.Type.Shape) || (t.Shape == nil) != (to.Type.Shape == nil):
			return false, f.fail(c.sel, sqlerr.ArraySubscript,
				"column \"%s\" of the recursive query \"%s\" is %v at first and %v after a step", to.Name, c.name, to.Type, t)
		}
		dep := step.node.Col(id).Dep
		if again = again || t.Nullable && !to.Type.Nullable || dep && !to.Dep; t.Nullable {
			to.Type.Nullable = true
		}
		to.Dep = to.Dep || dep
	}
	return again, nil
}

// valuesDecide is the error of a condition on values in a recursive query.
func valuesDecide(f *place, q *ast.Select) error {
	return f.fail(q, sqlerr.FeatureNotSupported, "which rows a recursive query has depends on values of a parameter").
		WithDetail("The number of its steps must follow from keys, so that it is the same at every step of training.").
		WithHint("Keep all rows, and choose among values by CASE.")
}
