package engine

import (
	"slices"
	"sort"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Training overwrites a table of data that is named as a parameter by mistake. The loss shows what a column is for: a
// column with which the loss only compares a model is a target. A parameter's column is one if all of this holds:
//
//   - apart from conditions, the loss reads it only as a term of a difference (under a square, abs, norm, sqnorm, huber
//     or mse), as the second argument of bce_with_logits, or as the weight of a logarithm, y·ln(p);
//   - the difference has no other term without a parameter, which would then be the target, but for numbers and what a
//     table of one row holds;
//   - the rest of the difference is computed from another parameter's table;
//   - its table has at least two rows, and each is in only one row of the comparison, which its key determines: a bias
//     or an embedding that examples share is no target.
//
// Such a column has a trivial optimum, whatever the model is: what the model predicts.

// source is a column of a parameter.
type source struct {
	Table *ra.Table
	col   int
}

func (s source) Name() string { return s.Table.Name + "." + s.Table.Cols[s.col].Name }

// term is a summand of an expression, up to a constant factor.
type term struct {
	bare  *source         // the parameter's column that it is; nil: it is computed
	from  map[source]bool // parameters on which it depends
	fixed bool            // it is constant
}

// form is an expression as a sum.
type form []term

// mostTerms bounds a form. A longer sum counts as computed.
const mostTerms = 64

// target is a parameter's column that looks like data, with the parameters to which it is compared.
type target struct {
	source
	With []source
}

// targets finds them below the loss, which must not be optimized yet.
func targets(loss *ra.Node, col ra.ColumnID, tables []*ra.Table, cols [][]int) []target {
	l := &looker{tables: tables, cols: cols, columns: map[columnOf]form{}, exprs: map[exprOf]form{},
		seen: map[source]map[source]bool{}, other: map[source]bool{}}
	ra.Walk(func(n *ra.Node) {
		if n.Op == ra.Gradient || n.Op == ra.Opaque {
			l.useBelow(n)
		}
	}, loss)
	l.use(l.column(loss, col))
	var out []target
	for i, t := range tables {
		for _, c := range cols[i] {
			s := source{t, c}
			if with := l.seen[s]; len(with) > 0 && !l.other[s] {
				out = append(out, target{s, ordered(with)})
			}
		}
	}
	return out
}

func ordered(set map[source]bool) []source {
	var out []source
	for s := range set {
		out = append(out, s)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name() < out[j].Name() })
	return out
}

type columnOf struct {
	n  *ra.Node
	id ra.ColumnID
}

type exprOf struct {
	n *ra.Node
	e *kernels.Expr
}

// looker finds how columns are read.
type looker struct {
	tables  []*ra.Table
	cols    [][]int
	columns map[columnOf]form
	exprs   map[exprOf]form
	seen    map[source]map[source]bool // compared with values that other parameters make
	other   map[source]bool            // read in another way
}

// parameter finds the column of a scan among the parameters.
func (l *looker) parameter(t *ra.Table, col int) *source {
	for i, u := range l.tables {
		if u.Schema == t.Schema && u.Name == t.Name && slices.Contains(l.cols[i], col) {
			return &source{u, col}
		}
	}
	return nil
}

func (l *looker) useBelow(n *ra.Node) {
	ra.Walk(func(m *ra.Node) {
		if m.Op != ra.Scan {
			return
		}
		for _, c := range m.TableCols {
			if s := l.parameter(m.Table, c); s != nil {
				l.other[*s] = true
			}
		}
	}, n)
}

// use records that the terms of a form are read in another way.
func (l *looker) use(f form) {
	for _, t := range f {
		if t.bare != nil {
			l.other[*t.bare] = true
		}
	}
}

// computed is the form of a value computed from others, whose terms are read.
func (l *looker) computed(parts ...form) form {
	t := term{from: map[source]bool{}, fixed: true}
	for _, f := range parts {
		l.use(f)
		for _, x := range f {
			t.fixed = t.fixed && x.fixed
			for s := range x.from {
				t.from[s] = true
			}
		}
	}
	return form{t}
}

// column is the form of a node's column.
func (l *looker) column(n *ra.Node, id ra.ColumnID) form {
	at := columnOf{n, id}
	if f, ok := l.columns[at]; ok {
		return f
	}
	f := l.columnForm(n, id)
	l.columns[at] = f
	return f
}

func (l *looker) columnForm(n *ra.Node, id ra.ColumnID) form {
	i := n.Index(id)
	if i < 0 {
		return form{{}}
	}
	switch n.Op {
	case ra.Scan:
		if s := l.parameter(n.Table, n.TableCols[i]); s != nil {
			return form{{bare: s, from: map[source]bool{*s: true}}}
		}
		return form{{fixed: n.Table.Rows == 1}} // such as the mean of all targets, a constant of the loss
	case ra.Select, ra.Join:
		return l.expr(n, n.Out[i])
	case ra.SemiJoin, ra.AntiJoin:
		return l.column(n.Inputs[0], id)
	case ra.Aggregate:
		if i < len(n.Group) {
			return l.column(n.Inputs[0], n.Group[i])
		}
		if a := n.Aggs[i-len(n.Group)]; a.Fn != ra.CountRows {
			return l.computed(l.column(n.Inputs[0], a.Arg))
		}
	case ra.Window:
		id, ok := n.Passed(i)
		if ok {
			return l.column(n.Inputs[0], id)
		}
		if a := n.Aggs[i-len(n.Over.Pass)]; a.Fn != ra.CountRows {
			return l.computed(l.column(n.Inputs[0], a.Arg))
		}
	case ra.Union:
		var parts []form
		for _, in := range n.Inputs {
			if i < len(in.Cols) {
				parts = append(parts, l.column(in, in.Cols[i].ID))
			}
		}
		return l.computed(parts...)
	}
	return form{{}}
}

// expr is the form of an expression over the inputs of n.
func (l *looker) expr(n *ra.Node, e *kernels.Expr) form {
	at := exprOf{n, e}
	if f, ok := l.exprs[at]; ok {
		return f
	}
	f := l.exprForm(n, e)
	if len(f) > mostTerms {
		f = l.computed(f)
	}
	l.exprs[at] = f
	return f
}

func (l *looker) exprForm(n *ra.Node, e *kernels.Expr) form {
	if e.IsCol {
		return l.column(n.Inputs[e.Col.Input], e.Col.ID)
	}
	if e.IsConst() {
		return form{{fixed: true}}
	}
	if e.Type.Kind == kernels.Bool {
		return form{{}} // a condition: no gradient passes through it
	}
	args := lists.Map(e.Args, func(a *kernels.Expr) form { return l.expr(n, a) })
	if f := l.made(n, e, args); f != nil {
		return f
	}
	return l.computed(args...)
}

// made is the form of a kernel's value, given those of its arguments; nil where it is just computed from them.
func (l *looker) made(n *ra.Node, e *kernels.Expr, args []form) form {
	switch e.Def.Role {
	case kernels.RoleSum:
		return slices.Concat(args[0], args[1])
	case kernels.RoleScaled:
		if e.Type.IsFloat() {
			return args[0]
		}
	case kernels.RoleChoice:
		return l.chosen(e.Def, args)
	case kernels.RoleProduct, kernels.RoleQuotient, kernels.RoleScalar:
		return l.product(n, e, args)
	case kernels.RoleDistance:
		if len(args) == 1 || fixed(args[1]) {
			return l.compared(n, args[0])
		}
	case kernels.RoleDifference:
		return l.compared(n, slices.Concat(args[0], args[1]))
	case kernels.RoleLikelihood:
		if l.weighs(n, args[1], args[0]) {
			return l.computed(args[0])
		}
	}
	return nil
}

// product is the form of a product or quotient. A constant factor, or a factor that weights a row, keeps the other
// factor's form; a square compares; a logarithm gets a weight.
func (l *looker) product(n *ra.Node, e *kernels.Expr, args []form) form {
	role := e.Def.Role
	weighted := func(weight, x form) bool { return free(weight) && len(x) > 1 } // weights a row
	switch {
	case role != kernels.RoleScalar && fixed(args[1]):
		return args[0]
	case role == kernels.RoleProduct && fixed(args[0]):
		return args[1]
	case role != kernels.RoleScalar && weighted(args[1], args[0]):
		return args[0]
	case role == kernels.RoleProduct && weighted(args[0], args[1]):
		return args[1]
	case role == kernels.RoleQuotient:
		return nil
	case e.Args[0].Same(e.Args[1]):
		return l.compared(n, args[0])
	}
	for i := range 2 {
		if l.logarithm(n, e.Args[1-i]) && l.weighs(n, args[i], args[1-i]) {
			return l.computed(args[1-i])
		}
	}
	return nil
}

// fixed reports whether a form is constant.
func fixed(f form) bool { return !slices.ContainsFunc(f, func(t term) bool { return !t.fixed }) }

// free reports whether a form depends on no parameter.
func free(f form) bool { return !slices.ContainsFunc(f, func(t term) bool { return len(t.from) > 0 }) }

// chosen is the form of a choice: the form of its only value that is not constant.
func (l *looker) chosen(d *kernels.Def, args []form) form {
	values := args
	if d.Chosen != nil {
		values = nil
		for _, i := range d.Chosen(len(args)) {
			values = append(values, args[i])
		}
	}
	varying := slices.DeleteFunc(slices.Clone(values), fixed)
	if len(varying) != 1 {
		return l.computed(values...)
	}
	return varying[0]
}

// logarithm reports whether an expression is a logarithm, up to a constant factor.
func (l *looker) logarithm(n *ra.Node, e *kernels.Expr) bool {
	for {
		switch {
		case e.IsCol:
			n = n.Inputs[e.Col.Input]
			i := n.Index(e.Col.ID)
			if i < 0 || n.Op != ra.Select && n.Op != ra.Join {
				return false
			}
			e = n.Out[i]
		case e.Def == nil:
			return false
		case e.Def.Role == kernels.RoleScaled:
			e = e.Args[0]
		default:
			return e.Def.Role == kernels.RoleLogarithm
		}
	}
}

// weighs records a target that weights what another parameter's table makes.
func (l *looker) weighs(n *ra.Node, y, z form) bool {
	varying := slices.DeleteFunc(slices.Clone(y), func(t term) bool { return t.fixed })
	if len(varying) != 1 || varying[0].bare == nil {
		return false
	}
	return l.note(n, *varying[0].bare, z)
}

// compared records the target of a difference, if it has one.
func (l *looker) compared(n *ra.Node, f form) form {
	var found []source
	for i, t := range f {
		if !t.fixed && len(t.from) == 0 { // data: it is the target
			found = nil
			break
		}
		rest := slices.Delete(slices.Clone(f), i, i+1)
		if t.bare != nil && !depends(rest, *t.bare) && l.against(n, *t.bare, rest) {
			found = append(found, *t.bare)
		}
	}
	if len(found) != 1 {
		return l.computed(f)
	}
	l.note(n, found[0], f)
	for _, t := range f {
		if t.bare != nil && *t.bare != found[0] {
			l.other[*t.bare] = true
		}
	}
	return l.computed(slices.DeleteFunc(slices.Clone(f), func(t term) bool { return t.bare != nil }))
}

func depends(f form, s source) bool {
	return slices.ContainsFunc(f, func(t term) bool { return t.from[s] })
}

// against reports whether a column is one number for each row of n, compared with what another parameter's table makes.
func (l *looker) against(n *ra.Node, s source, rest form) bool {
	for _, t := range rest {
		for u := range t.from {
			if u.Table != s.Table {
				return s.Table.Rows > 1 && once(n, s.Table)
			}
		}
	}
	return false
}

func (l *looker) note(n *ra.Node, s source, rest form) bool {
	if !l.against(n, s, rest) {
		return false
	}
	if l.seen[s] == nil {
		l.seen[s] = map[source]bool{}
	}
	for _, t := range rest {
		for u := range t.from {
			if u.Table != s.Table {
				l.seen[s][u] = true
			}
		}
	}
	return true
}

// once reports whether each row of a table occurs in only one row of n, because the table's key determines n's rows.
func once(n *ra.Node, t *ra.Table) bool {
	key, of := n.Unique, 0
	if len(key) == 0 {
		key = n.Key
	}
	for _, id := range key {
		switch determined(n, id, t) {
		case notKey:
			return false
		case ofKey:
			of++
		}
	}
	return of > 0 && of <= len(t.Key)
}

// What a column of an identity is in relation to a table.
const (
	notKey = iota
	ofKey  // a column of the table's key
	single // of a table with one row
)

func determined(n *ra.Node, id ra.ColumnID, t *ra.Table) int {
	i := n.Index(id)
	if i < 0 {
		return notKey
	}
	switch n.Op {
	case ra.Scan:
		switch {
		case n.Table.Schema == t.Schema && n.Table.Name == t.Name && IsKey(t, n.TableCols[i]):
			return ofKey
		case n.Table.Rows <= 1:
			return single
		}
	case ra.Aggregate:
		if i < len(n.Group) {
			return determined(n.Inputs[0], n.Group[i], t)
		}
	case ra.Window:
		if id, ok := n.Passed(i); ok {
			return determined(n.Inputs[0], id, t)
		}
	case ra.SemiJoin, ra.AntiJoin:
		return determined(n.Inputs[0], id, t)
	case ra.Select, ra.Join:
		if !n.Out[i].IsCol {
			return notKey
		}
		best := notKey
		for _, c := range n.Equated(n.Out[i].Col) {
			best = max(best, determined(n.Inputs[c.Input], c.ID, t))
		}
		return best
	}
	return notKey
}
