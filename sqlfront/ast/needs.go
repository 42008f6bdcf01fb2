package ast

import "slices"

// Needs is what a query needs of a function in its FROM clause: the function may leave out the rest.
type Needs struct {
	Cols  map[string]bool // the names of columns; nil: all
	Where []Condition     // only rows of which all of these hold
}

// Condition is a comparison of a column with a constant.
type Condition struct {
	Column, Op string // = < <= > >=
	Value      Expr   // a Literal, negative or not
	Tree       Expr   // the comparison itself
}

// Ranges are functions in FROM that read only what is needed of them: relations outside of the database.
var Ranges = []string{"delta_table", "delta_tensor"}

// NoteNeeds notes what a query needs of functions in its FROM clause.
func NoteNeeds(sel *Select, to *map[*FuncFrom]Needs) {
	for _, it := range sel.From {
		Walk(it, func(t Tree) bool {
			if f, ok := t.(*FuncFrom); ok && slices.Contains(Ranges, f.Func.Name) {
				if *to == nil {
					*to = map[*FuncFrom]Needs{}
				}
				if f.Needs != nil {
					(*to)[f] = *f.Needs
				} else {
					(*to)[f] = needsOf(sel, f)
				}
			}
			_, inner := t.(*SubSelect)
			return !inner
		})
	}
}

// needsOf finds what a query needs of a function in its FROM clause. Conditions are those of WHERE, which hold for all
// rows of the result: rows of which they do not hold can be left out on either side of a join.
func needsOf(sel *Select, it *FuncFrom) (n Needs) {
	name := it.Alias.Name
	if name == "" {
		name = it.Func.Name
	}
	alone := len(sel.From) == 1 && sel.From[0] == FromItem(it)
	n.Cols = map[string]bool{}
	all := len(it.Alias.Cols) > 0
	Walk(sel, func(t Tree) bool {
		switch x := t.(type) {
		case *ColumnRef:
			all = all || x.Star || len(x.Names) == 1 && x.Names[0] == name
			for _, c := range x.Names {
				n.Cols[c] = true
			}
		case *JoinFrom:
			all = all || x.Natural
			for _, c := range x.Using {
				n.Cols[c] = true
			}
		}
		return true
	})
	if all {
		n.Cols = nil
	}
	if len(it.Alias.Cols) > 0 {
		return n // its columns have other names
	}
	for _, x := range conjuncts(sel.Where, nil) {
		for _, c := range conditions(x) {
			names := c.Tree.(*ColumnRef).Names
			if len(names) == 2 && names[0] == name || len(names) == 1 && alone {
				c.Column, c.Tree = names[len(names)-1], x
				n.Where = append(n.Where, c)
			}
		}
	}
	return n
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
