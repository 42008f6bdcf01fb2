package views

import (
	"slices"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// A view may run on the executor only if the store gives the same rows. The two differ on purpose. The store has
// Postgres's numeric, and refuses an integer or scalar float that overflows, a float that underflows or is NaN, and a
// division by zero. The executor computes in IEEE arithmetic and 64-bit integers. So the code below admits joins,
// groups, and sums of kernels of chunks, whose arithmetic is IEEE's in both, and refuses everything else.

// trust is how far an expression has the same value in the executor and in the store.
type trust int

const (
	differs  trust = iota // it may differ
	computed              // a scalar float that the store refuses where the executor gives infinity or NaN
	same
)

// exact reports whether the executor gives the rows that the store would give, or numbers that are not finite where the
// store may raise an error.
func exact(t *catalog.Typed) bool {
	x := typed{t}
	return !slices.ContainsFunc(t.Selects, func(s *ast.Select) bool { return !x.block(s) })
}

// typed judges expressions by their Postgres types.
type typed struct{ *catalog.Typed }

// block judges one SELECT. Its sub-queries are judged separately.
func (t typed) block(s *ast.Select) bool {
	if s.SetOp != "" || s.Values != nil || s.Recursive || s.Distinct || s.DistinctOn != nil || s.Windows != nil ||
		s.OrderBy != nil || s.Limit != nil || s.Offset != nil {
		return false
	}
	for _, f := range s.From {
		if !t.from(f) {
			return false
		}
	}
	for _, g := range s.GroupBy {
		if !t.group(g, s.Targets) {
			return false
		}
	}
	for _, c := range s.Targets {
		if ref, ok := c.X.(*ast.ColumnRef); ok && ref.Star {
			continue
		}
		if t.value(c.X) == differs {
			return false
		}
	}
	return (s.Where == nil || t.condition(s.Where)) && (s.Having == nil || t.condition(s.Having))
}

func (t typed) from(f ast.FromItem) bool {
	switch f := f.(type) {
	case *ast.TableRef:
		return true
	case *ast.SubSelect:
		return !f.Lateral
	case *ast.JoinFrom:
		return (f.Kind == ast.JoinInner || f.Kind == ast.JoinLeft) && t.from(f.L) && t.from(f.R) &&
			(f.On == nil || t.condition(f.On))
	}
	return false
}

// group judges an item of GROUP BY. The name or number of an output column is judged as a target.
func (t typed) group(e ast.Expr, targets []ast.Target) bool {
	if l, ok := e.(*ast.Literal); ok {
		return l.Kind == ast.LitInt
	}
	if _, bound := t.Types[e]; !bound {
		ref, ok := e.(*ast.ColumnRef)
		return ok && len(ref.Names) == 1 && slices.ContainsFunc(targets,
			func(c ast.Target) bool { return c.Name == ref.Names[0] })
	}
	return t.value(e) == same
}

// kind is the part of a type that matters here.
type kind int

const (
	otherType kind = iota
	integer
	float
	chunk
	boolean
	text
)

func (t typed) kind(e ast.Expr) kind {
	switch typ := t.Types[e]; {
	case typ.Array && (typ.Name == "real" || typ.Name == "double precision"):
		return chunk
	case typ.Array:
	case typ.Name == "smallint" || typ.Name == "integer" || typ.Name == "bigint":
		return integer
	case typ.Name == "real" || typ.Name == "double precision":
		return float
	case typ.Name == "boolean":
		return boolean
	case typ.Name == "text":
		return text
	}
	return otherType
}

func (t typed) name(e ast.Expr) string { return t.Types[e].String() }

// written reports whether an expression is a number literal, and its kind.
func written(e ast.Expr) (ast.LiteralKind, bool) {
	if u, ok := e.(*ast.Unary); ok && u.Op == "-" {
		e = u.X
	}
	l, ok := e.(*ast.Literal)
	return literalKind(l), ok && (l.Kind == ast.LitInt || l.Kind == ast.LitNumeric)
}

func literalKind(l *ast.Literal) ast.LiteralKind {
	if l == nil {
		return ast.LitNull
	}
	return l.Kind
}

// value judges an expression. A literal with a decimal point is numeric: its context decides what it is converted to.
func (t typed) value(e ast.Expr) trust {
	if k, ok := written(e); ok && k == ast.LitInt && t.kind(e) == integer {
		return same
	}
	if t.kind(e) == otherType {
		return differs
	}
	switch x := e.(type) {
	case *ast.ColumnRef:
		if t.kind(x) == float && !t.Stored[x] {
			return computed
		}
		return same
	case *ast.Literal:
		return when(x.Kind == ast.LitBool)
	case *ast.Unary:
		if k := t.kind(x); x.Op == "-" && (k == float || k == chunk) {
			return t.value(x.X)
		}
	case *ast.Binary:
		if t.kind(x) != boolean {
			return t.arithmetic(x)
		}
	case *ast.FuncCall:
		return t.call(x)
	case *ast.Cast:
		return t.cast(x)
	case *ast.Subscript:
		return t.subscript(x)
	}
	return when(t.condition(e))
}

func when(ok bool) trust {
	if ok {
		return same
	}
	return differs
}

// scalar judges a scalar operand of float arithmetic, which converts numbers to double precision.
func (t typed) scalar(e ast.Expr) trust {
	if _, ok := written(e); ok {
		return same
	}
	if k := t.kind(e); k != integer && k != float {
		return differs
	}
	return t.value(e)
}

// arithmetic judges an operator. A product of scalars may underflow silently; a sum is right or not finite.
func (t typed) arithmetic(x *ast.Binary) trust {
	switch t.kind(x) {
	case integer:
		k, ok := written(x.R)
		l, plain := x.R.(*ast.Literal)
		return when((x.Op == "/" || x.Op == "%") && t.value(x.L) == same && ok && k == ast.LitInt && plain && l.Value != "0")
	case float:
		if (x.Op == "+" || x.Op == "-") && t.scalar(x.L) != differs && t.scalar(x.R) != differs {
			return computed
		}
	case chunk:
		return when(slices.Contains([]string{"+", "-", "*", "/", "^"}, x.Op) && t.operand(x.L) && t.operand(x.R))
	}
	return differs
}

// operand judges an argument of a kernel of chunks, whose result may be finite though the argument is not.
func (t typed) operand(e ast.Expr) bool {
	if t.kind(e) == chunk {
		return t.value(e) == same
	}
	return t.scalar(e) == same
}

// condition judges a predicate. It decides which rows there are, so it must not contain computed floats.
func (t typed) condition(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.ColumnRef:
		return t.kind(x) == boolean
	case *ast.Literal:
		return x.Kind == ast.LitBool
	case *ast.Unary:
		return x.Op == "not" && t.condition(x.X)
	case *ast.Binary:
		switch x.Op {
		case "and", "or":
			return t.condition(x.L) && t.condition(x.R)
		case "=", "<>", "<", "<=", ">", ">=":
			return t.comparable(x.Op, x.L, x.R)
		}
	case *ast.IsNull:
		return t.value(x.X) == same
	case *ast.Between:
		return t.comparable("<=", x.X, x.Lo) && t.comparable("<=", x.X, x.Hi)
	case *ast.In:
		return !slices.ContainsFunc(x.List, func(y ast.Expr) bool { return !t.comparable("=", x.X, y) })
	}
	return false
}

// comparable judges a comparison: of integers, of floats, or of texts and conditions for equality. The store compares
// integers with floats exactly.
func (t typed) comparable(op string, l, r ast.Expr) bool {
	k, num := written(r)
	str, isStr := r.(*ast.Literal)
	if _, ok := written(l); ok || t.value(l) != same {
		return false
	}
	switch t.kind(l) {
	case integer:
		return num && k == ast.LitInt || t.kind(r) == integer && t.value(r) == same
	case float:
		return num || t.kind(r) == float && t.value(r) == same
	case text:
		return (op == "=" || op == "<>") && (isStr && str.Kind == ast.LitString || t.kind(r) == text && t.value(r) == same)
	case boolean:
		return (op == "=" || op == "<>") && t.kind(r) == boolean && t.value(r) == same
	}
	return false
}

// call judges an aggregate or a kernel.
func (t typed) call(c *ast.FuncCall) trust {
	if c.Distinct || c.OrderBy != nil || c.Over != nil ||
		slices.ContainsFunc(c.ArgNames, func(n string) bool { return n != "" }) || c.Filter != nil && !t.condition(c.Filter) {
		return differs
	}
	switch c.Name {
	case "count":
		return when(c.Star || len(c.Args) == 1 && t.value(c.Args[0]) == same)
	case "sum", "avg", "min", "max":
		if len(c.Args) == 1 {
			return t.aggregate(c)
		}
		return differs
	case "dropout": // in an ordinary SELECT it returns its argument
		if _, ok := written(c.Args[1]); ok {
			return t.value(c.Args[0])
		}
		return differs
	}
	return t.kernel(c)
}

// aggregate judges a sum, mean or extreme. An extreme may skip values that are not finite; the store's mean of reals is
// double precision.
func (t typed) aggregate(c *ast.FuncCall) trust {
	arg := t.value(c.Args[0])
	switch k := t.kind(c.Args[0]); {
	case arg == differs, k != integer && k != float && k != chunk:
		return differs
	case k == chunk || k == integer:
		return arg
	case c.Name == "min" || c.Name == "max":
		return when(arg == same)
	case c.Name == "avg" && t.name(c.Args[0]) == "real":
		return differs
	}
	return computed
}

// kernel judges a call of a kernel of chunks. Functions of scalars are Postgres's own in the store.
func (t typed) kernel(c *ast.FuncCall) trust {
	if d := kernels.Find(c.Name); d == nil || d.PerStep || d.PerCall {
		return differs
	}
	chunks := false
	for _, a := range c.Args {
		l, _ := a.(*ast.Literal)
		chunks = chunks || t.kind(a) == chunk
		if literalKind(l) != ast.LitString && !integers(a) && !t.operand(a) {
			return differs
		}
	}
	switch k := t.kind(c); {
	case !chunks, k == float && t.name(c) == "real":
		return differs
	case k == float:
		return computed
	}
	return same
}

// integers reports whether e is an array of integer literals, such as a shape.
func integers(e ast.Expr) bool {
	a, ok := e.(*ast.ArrayLit)
	return ok && !slices.ContainsFunc(a.Elems, func(x ast.Expr) bool {
		k, ok := written(x)
		return !ok || k != ast.LitInt
	})
}

// cast judges a conversion. One that rounds or may overflow is left to the store.
func (t typed) cast(c *ast.Cast) trust {
	from, to := t.name(c.X), t.name(c)
	_, num := written(c.X)
	switch {
	case len(c.Type.Mods) > 0:
		return differs
	case to == "double precision" && num:
		return same
	case to == "integer" && from == "boolean":
		return when(t.condition(c.X))
	case from == to, to == "double precision[]" && from == "real[]", to == "double precision" &&
		(from == "real" || t.kind(c.X) == integer):
		return t.value(c.X)
	}
	return differs
}

// subscript judges x[i][j] with constant indices. The element may be NaN, which the store refuses in a scalar.
func (t typed) subscript(s *ast.Subscript) trust {
	for _, i := range s.Indices {
		if l, ok := i.I.(*ast.Literal); i.Slice || !ok || l.Kind != ast.LitInt {
			return differs
		}
	}
	if t.kind(s.X) != chunk || t.value(s.X) != same {
		return differs
	}
	return computed
}

// exactKeys reports whether the rows of a bound query meet in the executor as in the store: on integers, booleans and
// texts, not on floats (which numerics are in the executor) nor on a date that may meet a timestamp.
func exactKeys(q *bind.Query) bool {
	ok, texts := true, true
	for _, s := range q.Scans {
		for i, c := range s.Table.Cols {
			texts = texts && (c.Type.Kind != kernels.Text || c.PGType == "text")
			ok = ok && !(engine.IsKey(s.Table, i) && c.PGType == "numeric")
		}
	}
	meet := func(t kernels.Type, texts bool) {
		ok = ok && t.Shape == nil && (t.Kind == kernels.Int || t.Kind == kernels.Bool || t.Kind == kernels.Text && texts)
	}
	ra.Walk(func(n *ra.Node) {
		for _, e := range n.Equi {
			meet(n.Inputs[e.L.Input].Col(e.L.ID).Type, texts)
			meet(n.Inputs[e.R.Input].Col(e.R.ID).Type, texts)
		}
		for _, g := range n.Group {
			meet(n.Inputs[0].Col(g).Type, true)
		}
		if n.Op == ra.Window {
			for _, g := range n.Over.Partition {
				meet(n.Inputs[0].Col(g).Type, texts)
			}
		}
	}, q.Node)
	return ok
}
