package ast

import (
	"cmp"
	"slices"
)

// Needs is what a query needs of a function in its FROM clause: the function may leave out the rest.
type Needs struct {
	Cols  map[string]bool // the names of columns; nil: all
	Where []Condition     // only rows of which all of these hold
	Typed bool            // only the columns' names and types: no rows
}

// Condition is a comparison of a column with a constant.
type Condition struct {
	Column, Op string // = < <= > >=
	Value      Expr   // a Literal, negative or not
	Tree       Expr   // the comparison itself
}

// Ranges are functions in FROM that read only what is needed of them: relations outside of the database.
var Ranges = []string{"delta_table", "delta_tensor", "file_table"}

// Notes are what queries need of the functions and sub-queries of their FROM clauses.
type Notes struct {
	Funcs map[*FuncFrom]Needs
	Views map[*TableRef][]Condition // conditions on the columns of views, which the query that reads them sets
	outer map[*Select][]Condition   // the same of sub-queries and WITH queries
}

// Around says that of a sub-query's rows only those are wanted of which conditions hold; nil: all are.
func (to *Notes) Around(sel *Select, where []Condition) {
	if to.outer == nil {
		to.Funcs, to.Views, to.outer = map[*FuncFrom]Needs{}, map[*TableRef][]Condition{}, map[*Select][]Condition{}
	}
	to.outer[sel] = where
}

// ReadsRange reports whether a FROM clause of a query calls one of Ranges.
func ReadsRange(sel *Select) bool {
	return Any(sel, func(f *FuncFrom) bool { return slices.Contains(Ranges, f.Func.Name) })
}

// Note notes what a query needs of its FROM clause. The query around it must have been noted before.
func (to *Notes) Note(sel *Select) {
	if to.outer == nil {
		to.Around(sel, nil)
	}
	where := conjuncts(sel.Where, nil)
	for _, c := range to.outer[sel] {
		where = append(where, inside(sel, c)...)
	}
	for _, it := range sel.From {
		to.item(sel, it, where)
	}
}

// With notes what a query needs of the queries of its WITH clause, which are to be noted after it: of each those rows
// of which the conditions hold that are set wherever it is read. The query around this one must have been noted before.
func (to *Notes) With(sel *Select) {
	if len(sel.With) > 0 {
		to.deep(sel)
	}
}

// deep notes a query and those in it: each one after those that read it.
func (to *Notes) deep(sel *Select) {
	to.Note(sel)
	with, refs := map[*Select]bool{}, map[string][]*TableRef{}
	for _, w := range sel.With {
		if q, ok := w.Query.(*Select); ok {
			with[q] = true
		}
	}
	Walk(sel, func(t Tree) bool {
		q, ok := t.(*Select)
		if ok && q != sel && !with[q] {
			to.deep(q)
		}
		return !ok || q == sel
	})
	if len(with) > 0 && !sel.Recursive {
		Each(sel, func(t *TableRef) {
			if t.Schema == "" {
				refs[t.Name] = append(refs[t.Name], t)
			}
		})
	}
	for i := len(sel.With) - 1; i >= 0; i-- { // each one reads those before it only, unless they are recursive
		w := &sel.With[i]
		q, ok := w.Query.(*Select)
		if !ok {
			continue
		}
		if to.outer[q] = nil; len(w.Cols) == 0 {
			to.outer[q] = to.everywhere(refs[w.Name])
		}
		to.deep(q)
	}
}

// everywhere finds the conditions that all references to a WITH query have. References to other relations of its name
// only make them fewer.
func (to *Notes) everywhere(refs []*TableRef) (out []Condition) {
	for i, t := range refs {
		if i == 0 {
			out = slices.Clone(to.Views[t])
			continue
		}
		out = slices.DeleteFunc(out, func(c Condition) bool { return !slices.ContainsFunc(to.Views[t], c.same) })
	}
	return out
}

// same reports whether two conditions on the columns of one relation are the same.
func (c Condition) same(d Condition) bool {
	x, quoted := ConstantText(c.Value)
	y, alike := ConstantText(d.Value)
	return c.Column == d.Column && c.Op == d.Op && x == y && quoted == alike
}

// item notes an item of FROM, of whose rows only those are wanted of which conditions hold. A condition holds for no
// NULL. So it may leave out rows on any side of a join below it: rows that are then extended by NULLs, since their
// partners are left out, are those of which it does not hold either.
func (to *Notes) item(sel *Select, it FromItem, where []Expr) {
	switch it := it.(type) {
	case *FuncFrom:
		if slices.Contains(Ranges, it.Func.Name) {
			n := Needs{}
			if it.Needs != nil {
				n = *it.Needs
			} else {
				n.Cols, n.Where = columnsOf(sel, it), on(sel, it, cmp.Or(it.Alias.Name, it.Func.Name), it.Alias, where)
			}
			to.Funcs[it] = n
		}
	case *TableRef:
		to.Views[it] = on(sel, it, cmp.Or(it.Alias.Name, it.Name), it.Alias, where) // also none: it may be noted again
	case *SubSelect:
		to.outer[it.Query] = on(sel, it, it.Alias.Name, it.Alias, where)
	case *JoinFrom:
		here := conjuncts(it.On, nil)
		l, r := slices.Clone(where), slices.Clone(where)
		if it.Kind == JoinInner || it.Kind == JoinRight {
			l = append(l, here...)
		}
		if it.Kind == JoinInner || it.Kind == JoinLeft {
			r = append(r, here...)
		}
		to.item(sel, it.L, l)
		to.item(sel, it.R, r)
	}
}

// on finds the conditions that are about an item of FROM.
func on(sel *Select, it FromItem, name string, alias Alias, where []Expr) (out []Condition) {
	if len(alias.Cols) > 0 {
		return nil // its columns have other names
	}
	alone := len(sel.From) == 1 && sel.From[0] == it
	for _, x := range where {
		for _, c := range conditions(x) {
			names := c.Tree.(*ColumnRef).Names
			if len(names) == 2 && names[0] == name || len(names) == 1 && alone {
				c.Column, c.Tree = names[len(names)-1], x
				out = append(out, c)
			}
		}
	}
	return out
}

// Compares reports whether the WHERE clause of a query of one function in FROM consists of comparisons of its columns
// with constants, joined by AND: those that are noted.
func Compares(sel *Select, it *FuncFrom) bool {
	return !slices.ContainsFunc(conjuncts(sel.Where, nil), func(x Expr) bool {
		return len(on(sel, it, cmp.Or(it.Alias.Name, it.Func.Name), it.Alias, []Expr{x})) == 0
	})
}

// inside is a condition on a column of a sub-query, as one on the columns of its FROM clause; none where rows that it
// leaves out matter to others.
func inside(sel *Select, c Condition) []Expr {
	if sel.SetOp != "" || sel.Limit != nil || sel.Offset != nil || sel.DistinctOn != nil || len(sel.Windows) > 0 ||
		Any(sel, func(f *FuncCall) bool { return f.Over != nil }) {
		return nil
	}
	var found []*ColumnRef
	for _, t := range sel.Targets {
		x, is := t.X.(*ColumnRef)
		switch {
		case is && x.Star && len(sel.Targets) == 1 && (len(x.Names) > 0 || len(sel.From) == 1):
			found = append(found, &ColumnRef{Node: x.Node, Names: append(slices.Clone(x.Names), c.Column)})
		case is && x.Star, !is && t.Name == "":
			return nil // it may have this name
		case is && cmp.Or(t.Name, x.Names[len(x.Names)-1]) == c.Column:
			found = append(found, x)
		case t.Name == c.Column:
			return nil
		}
	}
	if len(found) != 1 {
		return nil
	}
	return []Expr{&Binary{Node: found[0].Node, Op: c.Op, L: found[0], R: c.Value}}
}

// columnsOf finds the columns of a function in FROM that a query reads; nil: all.
func columnsOf(sel *Select, it *FuncFrom) map[string]bool {
	name := cmp.Or(it.Alias.Name, it.Func.Name)
	cols, all := map[string]bool{}, len(it.Alias.Cols) > 0
	Walk(sel, func(t Tree) bool {
		switch x := t.(type) {
		case *ColumnRef:
			all = all || x.Star || len(x.Names) == 1 && x.Names[0] == name
			for _, c := range x.Names {
				cols[c] = true
			}
		case *JoinFrom:
			all = all || x.Natural
			for _, c := range x.Using {
				cols[c] = true
			}
		}
		return true
	})
	if all {
		return nil
	}
	return cols
}

// conjuncts lists the parts of a condition that are joined by AND.
func conjuncts(x Expr, out []Expr) []Expr {
	if b, ok := x.(*Binary); ok && b.Op == "and" {
		return conjuncts(b.R, conjuncts(b.L, out))
	}
	if x == nil {
		return out
	}
	return append(out, x)
}

var turned = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// conditions are the comparisons that an expression consists of, none where it is of another form. Their trees are the
// columns.
func conditions(x Expr) []Condition {
	switch x := x.(type) {
	case *Binary:
		op, l, r := x.Op, x.L, x.R
		if _, ok := l.(*ColumnRef); !ok {
			op, l, r = turned[op], r, l
		}
		if c, ok := l.(*ColumnRef); ok && turned[op] != "" && x.Schema == "" && isNumberOrText(r) {
			return []Condition{{Op: op, Value: r, Tree: c}}
		}
	case *Between:
		if c, ok := x.X.(*ColumnRef); ok && !x.Not && isNumberOrText(x.Lo) && isNumberOrText(x.Hi) {
			return []Condition{{Op: ">=", Value: x.Lo, Tree: c}, {Op: "<=", Value: x.Hi, Tree: c}}
		}
	}
	return nil
}

func isNumberOrText(x Expr) bool {
	if u, ok := x.(*Unary); ok && u.Op == "-" && u.Schema == "" {
		x = u.X
	}
	l, ok := x.(*Literal)
	return ok && slices.Contains([]LiteralKind{LitInt, LitNumeric, LitString}, l.Kind)
}

// ConstantText is the text of the constant of a Condition, and whether it was written as one.
func ConstantText(x Expr) (s string, quoted bool) {
	switch x := x.(type) {
	case *Unary:
		s, _ := ConstantText(x.X)
		return "-" + s, false
	case *Literal:
		return x.Value, x.Kind == LitString
	}
	return "", false
}
