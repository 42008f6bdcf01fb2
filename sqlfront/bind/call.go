package bind

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/tensor"
)

// volatile functions cannot stand in a loss: a second evaluation would give another value.
var volatile = []string{"random", "nextval", "setval", "gen_random_uuid", "setseed", "set_config"}

// clocks are volatile functions that tell the time.
var clocks = []string{"now", "clock_timestamp", "timeofday", "statement_timestamp", "transaction_timestamp",
	"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"}

var (
	_ = bindExpr(funcCall)
	_ = bindExpr(subscriptExpr)
	_ = bindCall("dropout", dropoutCall)
	_ = bindCall("current_setting", currentSetting)
)

func funcCall(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
	if x := s.over[c]; x != nil {
		return x, nil
	}
	fn, err := s.b.cat.Function(s.b.ctx, s.f.text.Path, c.Schema, c.Name)
	switch {
	case err != nil:
		return nil, s.f.at(err, c)
	case fn != nil:
		return userCall(s, c, fn)
	case !builtIn(c):
		return nil, refuseForeign(s, c)
	}
	if err := refuseCall(s, c); err != nil {
		return nil, err
	}
	if bind := callBinders[c.Name]; bind != nil {
		return bind(s, c)
	}
	return kernelCall(s, c)
}

// kernelCall binds a call of the kernel of its name.
func kernelCall(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
	d := kernels.Find(c.Name)
	if d == nil {
		return nil, unknownFunction(s, c)
	}
	for i, n := range c.ArgNames {
		if n != "" {
			return nil, s.f.fail(c.Args[i], sqlerr.UndefinedFunction, "%s takes no named arguments", c.Name)
		}
	}
	args, err := s.exprs(c.Args)
	if err != nil {
		return nil, err
	}
	if err := onlyTexts(s, c, args); err != nil {
		return nil, err
	}
	if d.Divide != nil && len(args) > d.MaxArgs {
		x, err := kernels.Divided(d, args[0], args[1:])
		return x, s.f.at(err, c)
	}
	if d.PerStep {
		s.b.draws = true
	}
	if d.Name == "round" && len(args) == 1 && args[0].Type.Kind == kernels.Float64 && s.class(c.Args[0]) == numericClass {
		return awayFromZero(args[0]), nil
	}
	x, err := textArguments(s, d, c.Args, args)
	var e *sqlerr.Error
	if errors.As(err, &e) && e.Code == sqlerr.UndefinedFunction && e.Hint == "" {
		doc, _, _ := strings.Cut(d.Doc, ". ")
		e.Hint = fmt.Sprintf("It is called as %s(%s): %s.", d.Name, d.Args, strings.TrimSuffix(doc, "."))
		if slices.ContainsFunc(args, func(x *kernels.Expr) bool { return x.Type.Kind == kernels.Bool }) {
			e.Hint = "A cast makes 1 and 0 of a boolean: (a = b)::int. " + e.Hint
		}
	}
	if err == nil && d.Name == "round" && x.Def == d && slices.IndexFunc(args, func(a *kernels.Expr) bool {
		return !a.IsConst() || a.Const.Null
	}) < 0 {
		return constantOf(s, c, x)
	}
	return x, err
}

// refuseCall refuses calls that a loss cannot contain.
func refuseCall(s *scope, c *ast.FuncCall) error {
	switch {
	case isAggregate(c):
		return s.f.fail(c, sqlerr.Grouping, "aggregate function calls cannot stand here: %s", c.Name)
	case c.Over != nil:
		return s.f.fail(c, sqlerr.Windowing, "window functions cannot stand here: %s", c.Name).
			WithHint("They stand in the SELECT list; filter on them in a query around it.")
	case slices.Contains(clocks, c.Name):
		return s.f.fail(c, sqlerr.FeatureNotSupported,
			"%s changes between evaluations: a loss must be a function of its tables, seed and step", clockText(c.Name)).
			WithHint("Store the time in a table, or compare it in a sub-query that reads no parameter.")
	case slices.Contains(volatile, c.Name):
		return s.f.fail(c, sqlerr.FeatureNotSupported,
			"%s() is volatile: a loss must be a function of its tables, seed and step", c.Name).
			WithHint("Draw with random_uniform(shape, seed, key) or dropout(x, p).")
	}
	return nil
}

// clockText prints the call of a clock; SQL's own, such as current_date, have no parentheses.
func clockText(name string) string {
	if strings.HasPrefix(name, "current_") || strings.HasPrefix(name, "local") {
		return name
	}
	return name + "()"
}

// builtIn reports whether c may be a function of relgrad or of SQL: it is not qualified by another schema.
func builtIn(c *ast.FuncCall) bool {
	return c.Schema == "" || c.Schema == "relgrad" || c.Schema == "pg_catalog"
}

// refuseForeign is the error of a function of another schema that cannot be inlined.
func refuseForeign(s *scope, c *ast.FuncCall) error {
	return s.f.fail(c, sqlerr.UndefinedFunction, "function %s.%s is not differentiable or does not exist", c.Schema,
		c.Name).WithHint("Any function may stand in a sub-query that reads no parameter.")
}

func unknownFunction(s *scope, c *ast.FuncCall) error {
	e := s.f.fail(c, sqlerr.UndefinedFunction, "function %s is not differentiable or does not exist", c.Name)
	switch c.Name {
	case "unnest", "generate_series":
		return e.WithHint("Rows come from FROM: SELECT … FROM t, unnest(t.v) WITH ORDINALITY AS u(x, i).")
	}
	if slices.Contains(dateFunctions, c.Name) {
		return e.WithHint(dated, "extract(dow FROM day)")
	}
	if m := ast.Meant(c.Name); m != "" {
		return e.WithHint("%s", m)
	}
	names := append(slices.Sorted(maps.Keys(aggregates)), knownAggregates...)
	for _, a := range kernels.Aggregates() {
		if a.Loss == "" {
			names = append(names, a.Name)
		}
	}
	for _, d := range kernels.All() {
		if !d.Internal {
			names = append(names, d.Name)
		}
	}
	if n := sqlerr.Nearest(c.Name, names); n != "" {
		return e.WithHint("Perhaps you meant %s. Any function may stand in a sub-query that reads no parameter.", n)
	}
	return e.WithHint("Any function may stand in a sub-query that reads no parameter.")
}

// currentSetting is current_setting(name), a constant of the query.
func currentSetting(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
	if len(c.Args) >= 1 {
		arg := c.Args[0]
		if cast, ok := arg.(*ast.Cast); ok && cast.Type.Name == "text" { // as pg_get_viewdef prints it
			arg = cast.X
		}
		if x, err := s.expr(arg); err == nil && x.IsConst() && x.Type.Kind == kernels.Text && !x.Const.Null {
			v, ok := s.b.cat.Setting(x.Const.T)
			if !ok {
				return nil, s.f.fail(c, sqlerr.UndefinedObject, "unrecognized configuration parameter %q", x.Const.T)
			}
			return kernels.Const(kernels.TextValue(v)), nil
		}
	}
	return nil, s.f.fail(c, sqlerr.FeatureNotSupported, "current_setting needs a constant name here")
}

// dropoutCall is x times a mask, or just x where nothing draws. The mask is drawn by the seed, the step, the view with
// the call and the call's number in it, the identity of the relations from which x comes, and the element.
func dropoutCall(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
	if len(c.Args) != 2 {
		return nil, s.f.fail(c, sqlerr.UndefinedFunction, "dropout takes 2 arguments, not %d", len(c.Args))
	}
	ordinal := s.f.draws[c]
	args, err := s.exprs(c.Args)
	if err != nil {
		return nil, err
	}
	p, err := folded(s, c.Args[1], args[1])
	if err != nil {
		return nil, err
	}
	x := args[0]
	if !p.IsConst() || p.Const.Null || p.Type.Kind == kernels.Text || p.Type.Shape != nil ||
		!(p.Const.Float() >= 0 && p.Const.Float() < 1) {
		return nil, s.f.fail(c.Args[1], sqlerr.InvalidParameter, "dropout's probability must be a constant in [0, 1)")
	}
	if !x.Type.IsFloat() {
		return nil, s.f.fail(c, sqlerr.UndefinedFunction, "dropout(%v, …) does not exist", x.Type)
	}
	if !s.b.opt.Draw || p.Const.Float() == 0 {
		return x, nil
	}
	key, err := drawKey(s, c, x)
	if err != nil {
		return nil, err
	}
	s.b.draws = true
	stream := tensor.Mix(tensor.HashText(s.f.view) + uint64(ordinal))
	mask := kernels.BuildAttr("drop_mask",
		kernels.Attr{Shape: x.Type.Shape, Num: p.Const.Float(), Int: int64(stream), Kind: x.Type.Kind}, key)
	return s.apply("mul", c, x, mask)
}

// drawKey hashes the identity of the relations from which x comes.
func drawKey(s *scope, at ast.Tree, x *kernels.Expr) (*kernels.Expr, error) {
	var from []drawnFrom
	x.Cols(func(c kernels.Col) {
		o := relationOf(s, c)
		if i, found := slices.BinarySearchFunc(from, o, drawnFrom.compare); !found {
			from = slices.Insert(from, i, o)
		}
	})
	var key []*kernels.Expr
	for _, o := range from {
		if hidden(o.rel.node) {
			return nil, s.f.fail(at, sqlerr.FeatureNotSupported, "a draw needs a relation with a declared key").
				WithHint("Add a primary key to the table that the argument of dropout comes from.")
		}
		for _, k := range o.rel.node.Unique {
			slot := o.path[0]
			key = append(key, s.inputs[slot].node.Var(slot, o.up(k)))
		}
	}
	if len(key) == 0 {
		key = []*kernels.Expr{kernels.Const(kernels.IntValue(0))}
	}
	return kernels.Call(kernels.Lookup("row_key"), kernels.Attr{}, key...)
}

// drawnFrom is a relation of FROM: an input of a scope, or of the join that close made of inputs.
type drawnFrom struct {
	rel  *relation
	path []int // the slots down to it
	up   func(ra.ColumnID) ra.ColumnID
}

func (o drawnFrom) compare(p drawnFrom) int { return slices.Compare(o.path, p.path) }

// relationOf is the relation from which a column comes, up the way of its columns to the scope's input.
func relationOf(s *scope, c kernels.Col) drawnFrom {
	o := drawnFrom{rel: s.inputs[c.Input], path: []int{c.Input}, up: func(id ra.ColumnID) ra.ColumnID { return id }}
	for id := c.ID; o.rel.parts != nil; {
		r, up, at := o.rel, o.up, o.rel.node.Index(id)
		if at >= len(r.parts) { // computed over several of them
			return o
		}
		slot := r.parts[at].Input
		o.rel, id, o.path = r.joined[slot], r.parts[at].ID, append(o.path, slot)
		o.up = func(below ra.ColumnID) ra.ColumnID {
			return up(r.node.Cols[slices.Index(r.parts, kernels.Col{Input: slot, ID: below})].ID)
		}
	}
	return o
}

// hidden reports whether a hidden row number is part of the identity of n's rows.
func hidden(n *ra.Node) bool {
	bad := false
	var visit func(n *ra.Node)
	visit = func(n *ra.Node) {
		switch n.Op {
		case ra.Scan:
			bad = bad || slices.Contains(n.Table.Key, ra.RowID)
		case ra.Opaque:
			bad = bad || slices.Contains(n.Unique, n.Cols[len(n.Cols)-1].ID)
		case ra.Aggregate: // it is identified by its group
		case ra.SemiJoin, ra.AntiJoin:
			visit(n.Inputs[0])
		case ra.Gradient:
			visit(n.Inputs[1])
		default:
			for _, in := range n.Inputs {
				visit(in)
			}
		}
	}
	visit(n)
	return bad
}

// subscriptExpr is x[i][j]… or a slice.
func subscriptExpr(s *scope, x *ast.Subscript) (*kernels.Expr, error) {
	base, err := s.expr(x.X)
	if err != nil {
		return nil, err
	}
	if !base.Type.IsChunk() {
		e := s.f.fail(x, sqlerr.DatatypeMismatch, "cannot subscript type %s", called(base))
		if strings.HasSuffix(called(base), "[]") {
			e = s.f.fail(x, sqlerr.FeatureNotSupported, "an element of %s is not supported in a loss", called(base)).
				WithHint("%s", inSubQuery)
		}
		return nil, e
	}
	args := []*kernels.Expr{base}
	for _, i := range x.Indices {
		if i.Slice {
			return sliceExpr(s, x, base)
		}
		bind := s.expr
		if isText(i.I) {
			bind = func(e ast.Expr) (*kernels.Expr, error) { return textAs(s, e, ast.TypeName{Name: "bigint"}) }
		}
		e, err := bind(i.I)
		if err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	return kernels.Lookup("subscript").Apply(args...)
}

// sliceExpr is x[lo:hi]…. Bounds are constants, because shapes are static; an index without colon means 1:i.
func sliceExpr(s *scope, x *ast.Subscript, base *kernels.Expr) (*kernels.Expr, error) {
	var bounds []kernels.Bound
	for d, i := range x.Indices {
		if d >= len(base.Type.Shape) {
			return nil, s.f.fail(x, sqlerr.ArraySubscript, "%d slices of a value of type %v", len(x.Indices), base.Type)
		}
		lo, hi := i.Lo, i.Hi
		if !i.Slice {
			hi = i.I
		}
		b := kernels.Bound{From: 1, To: base.Type.Shape[d]}
		for _, part := range []struct {
			e  ast.Expr
			to *int
		}{{lo, &b.From}, {hi, &b.To}} {
			if part.e == nil {
				continue
			}
			v, err := s.expr(part.e)
			if err != nil {
				return nil, err
			}
			if v, err = folded(s, part.e, v); err != nil {
				return nil, err
			}
			if !v.IsConst() || v.Type.Kind != kernels.Int || v.Const.Null {
				return nil, s.f.fail(part.e, sqlerr.FeatureNotSupported,
					"the bounds of a slice must be constant integers in a loss")
			}
			*part.to = int(v.Const.I)
		}
		bounds = append(bounds, b)
	}
	return kernels.Slice(base, bounds)
}

// folded computes an expression that must be known when the query is bound, such as 64 / 8. One that reads columns, the
// step or the seed stays as it is.
func folded(s *scope, at ast.Expr, x *kernels.Expr) (*kernels.Expr, error) {
	varies := func(e *kernels.Expr) bool { return e.IsCol || e.Def != nil && (e.Def.PerStep || e.Def.PerCall) }
	if x.IsConst() || x.Any(varies) {
		return x, nil
	}
	v, err := x.Eval(&kernels.Env{}, nil)
	if err != nil {
		return nil, s.f.at(err, at)
	}
	return kernels.Const(v), nil
}
