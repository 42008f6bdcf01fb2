package plpgsql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// resolver finds the column references of a statement that name PL/pgSQL variables. As in Postgres, a name that is both
// a variable and a column in scope is an error. Where the columns of a FROM item are unknown (a function's result), the
// variable wins.
type resolver struct {
	session script.Store
	isVar   func(names []string) bool
	columns bool // a column hides a parameter (SQL functions); otherwise both is an error
	found   map[*ast.ColumnRef]bool
	text    *ast.Text
	err     error
}

// fromItem is a name in FROM with its columns, as far as they are known.
type fromItem struct {
	alias string
	cols  []string
}

type nameScope struct {
	outer *nameScope
	items []fromItem
	ctes  map[string]fromItem
}

func (s *nameScope) cte(name string) (fromItem, bool) {
	for ; s != nil; s = s.outer {
		if c, ok := s.ctes[name]; ok {
			return c, true
		}
	}
	return fromItem{}, false
}

// variables returns the references in tree that are variables.
func (r *resolver) variables(tree ast.Tree) (map[*ast.ColumnRef]bool, error) {
	r.found = map[*ast.ColumnRef]bool{}
	r.tree(tree, nil)
	return r.found, r.err
}

// tree dispatches on statements, which open scopes; anything else is an expression.
func (r *resolver) tree(t ast.Tree, s *nameScope) {
	switch x := t.(type) {
	case *ast.Select:
		r.query(x, s)
	case *ast.Insert:
		in := r.with(x.With, s)
		if x.Query != nil {
			r.query(x.Query, in)
		}
		in.items = append(in.items, r.table(x.Schema, x.Name, x.Alias, in), fromItem{alias: "excluded"})
		if x.OnConflict != nil {
			r.assigns(x.OnConflict.Set, in)
			r.exprs(x.OnConflict.Where, in)
		}
		r.targets(x.Returning, in)
	case *ast.Update:
		in := r.with(x.With, s)
		in.items = append(in.items, r.table(x.Schema, x.Name, x.Alias, in))
		r.from(x.From, in)
		r.assigns(x.Set, in)
		r.exprs(x.Where, in)
		r.targets(x.Returning, in)
	case *ast.Delete:
		in := r.with(x.With, s)
		in.items = append(in.items, r.table(x.Schema, x.Name, x.Alias, in))
		r.from(x.Using, in)
		r.exprs(x.Where, in)
		r.targets(x.Returning, in)
	case *ast.CreateTable, *ast.AlterTable, *ast.CreateIndex, *ast.CreateFunction, *ast.CreateView:
		// the rest are definitions, which contain no variables' values
	default:
		r.exprs(t, s)
	}
}

func (r *resolver) with(ctes []ast.CTE, s *nameScope) *nameScope {
	in := &nameScope{outer: s, ctes: map[string]fromItem{}}
	for _, c := range ctes {
		item := fromItem{alias: c.Name}
		if q, ok := c.Query.(*ast.Select); ok {
			in.ctes[c.Name] = fromItem{alias: c.Name, cols: c.Cols} // a recursive CTE sees its own name
			item.cols = r.query(q, in)
		} else {
			r.tree(c.Query, in)
		}
		copy(item.cols, c.Cols)
		in.ctes[c.Name] = item
	}
	return in
}

// query resolves a SELECT and returns its output columns.
func (r *resolver) query(q *ast.Select, s *nameScope) (cols []string) {
	in := r.with(q.With, s)
	if q.SetOp != "" {
		cols = r.query(q.L, in)
		r.query(q.R, in)
	}
	r.from(q.From, in)
	for _, row := range q.Values {
		for _, x := range row {
			r.exprs(x, in)
		}
		cols = make([]string, len(row))
		for i := range cols {
			cols[i] = "column" + strconv.Itoa(i+1)
		}
	}
	if q.SetOp == "" && q.Values == nil {
		cols = r.outputs(q.Targets, in)
	}
	r.targets(q.Targets, in)
	for _, x := range q.DistinctOn {
		r.exprs(x, in)
	}
	r.exprs(q.Where, in)
	for _, x := range q.GroupBy {
		r.orderExpr(x, cols, in)
	}
	r.exprs(q.Having, in)
	for i := range q.Windows {
		r.exprs(&q.Windows[i], in)
	}
	for _, k := range q.OrderBy {
		r.orderExpr(k.X, cols, in)
	}
	r.exprs(q.Limit, in)
	r.exprs(q.Offset, in)
	return cols
}

// orderExpr resolves an item of GROUP BY or ORDER BY; a bare name may be an output column's.
func (r *resolver) orderExpr(x ast.Expr, outputs []string, s *nameScope) {
	if c, ok := x.(*ast.ColumnRef); ok && len(c.Names) == 1 && slices.Contains(outputs, c.Names[0]) {
		return
	}
	r.exprs(x, s)
}

func (r *resolver) outputs(ts []ast.Target, s *nameScope) (cols []string) {
	for _, t := range ts {
		c, ok := t.X.(*ast.ColumnRef)
		if !ok || !c.Star {
			name := t.Name
			if name == "" {
				name = ast.ColumnName(t.X)
			}
			cols = append(cols, name)
			continue
		}
		for _, i := range s.items {
			if len(c.Names) == 0 || c.Names[len(c.Names)-1] == i.alias {
				cols = append(cols, i.cols...)
			}
		}
	}
	return cols
}

func (r *resolver) targets(ts []ast.Target, s *nameScope) {
	for _, t := range ts {
		r.exprs(t.X, s)
	}
}

func (r *resolver) assigns(as []ast.Assign, s *nameScope) {
	for _, a := range as {
		r.exprs(a.X, s)
		for _, i := range a.Indices {
			r.exprs(i.I, s)
			r.exprs(i.Lo, s)
			r.exprs(i.Hi, s)
		}
	}
}

// table describes a table, view or CTE.
func (r *resolver) table(schema, name, alias string, s *nameScope) fromItem {
	item := fromItem{alias: alias}
	if alias == "" {
		item.alias = name
	}
	if schema == "" {
		if c, ok := s.cte(name); ok {
			item.cols = c.cols
			return item
		}
	}
	cols, _ := r.session.Columns(schema, name)
	for _, c := range cols {
		item.cols = append(item.cols, c.Name)
	}
	return item
}

func (r *resolver) from(items []ast.FromItem, s *nameScope) {
	for _, f := range items {
		r.fromItem(f, s)
	}
}

func (r *resolver) fromItem(f ast.FromItem, s *nameScope) {
	var item fromItem
	var alias ast.Alias
	switch x := f.(type) {
	case *ast.TableRef:
		item, alias = r.table(x.Schema, x.Name, x.Alias.Name, s), x.Alias
	case *ast.SubSelect:
		in := s
		if !x.Lateral {
			in = &nameScope{outer: s.outer, ctes: s.ctes}
		}
		item.cols = r.query(x.Query, in)
		alias = x.Alias
	case *ast.FuncFrom:
		for _, a := range x.Func.Args {
			r.exprs(a, s)
		}
		item, alias = r.function(x), x.Alias
	case *ast.JoinFrom:
		r.fromItem(x.L, s)
		r.fromItem(x.R, s)
		r.exprs(x.On, s)
		return
	default:
		return
	}
	if alias.Name != "" {
		item.alias = alias.Name
	}
	item.cols = slices.Clone(item.cols)
	copy(item.cols, alias.Cols)
	s.items = append(s.items, item)
}

// function returns the columns of a function in FROM: gradient(…, NULL::w) has w's columns; a function without a column
// list may have one column of its own name.
func (r *resolver) function(f *ast.FuncFrom) fromItem {
	item := fromItem{alias: f.Func.Name, cols: f.Alias.Cols}
	for _, a := range f.Func.Args {
		if c, ok := a.(*ast.Cast); ok {
			if cols, ok := r.session.Columns(c.Type.Schema, c.Type.Name); ok {
				for _, c := range cols {
					item.cols = append(item.cols, c.Name)
				}
				return item
			}
		}
	}
	if len(f.Alias.Cols) == 0 {
		name := f.Alias.Name
		if name == "" {
			name = f.Func.Name
		}
		item.cols = []string{name}
	}
	return item
}

// exprs resolves the references below an expression; sub-selects open their own scopes.
func (r *resolver) exprs(x ast.Tree, s *nameScope) {
	if x == nil {
		return
	}
	ast.Walk(x, func(t ast.Tree) bool {
		switch n := t.(type) {
		case *ast.Select:
			r.query(n, s)
			return false
		case *ast.ColumnRef:
			r.column(n, s)
		}
		return true
	})
}

func (r *resolver) column(c *ast.ColumnRef, s *nameScope) {
	if r.err != nil || c.Star && len(c.Names) == 0 || !r.isVar(c.Names) {
		return
	}
	switch {
	case !s.has(c):
		r.found[c] = true
	case r.columns:
	default:
		e := sqlerr.At(int(c.At), sqlerr.AmbiguousColumn, "column reference \"%s\" is ambiguous", strings.Join(c.Names, ".")).
			WithDetail("It could refer to either a PL/pgSQL variable or a table column.")
		e.Text = r.text
		r.err = e
	}
}

// has reports whether the reference surely is a column of a FROM item in scope.
func (s *nameScope) has(c *ast.ColumnRef) bool {
	for ; s != nil; s = s.outer {
		for _, i := range s.items {
			if len(c.Names) == 1 && !c.Star && slices.Contains(i.cols, c.Names[0]) {
				return true
			}
			if (len(c.Names) == 2 || c.Star) && i.alias == c.Names[0] {
				return true
			}
		}
	}
	return false
}
