package bind

import (
	"maps"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

var (
	_ = bindAggregate("sum", single(ra.Sum))
	_ = bindAggregate("min", ofNumbers(ra.Min))
	_ = bindAggregate("max", ofNumbers(ra.Max))
	_ = bindAggregate("min_agg", ofChunks(ra.Min))
	_ = bindAggregate("max_agg", ofChunks(ra.Max))
	_ = bindAggregate("count", aggregate{
		parts:  func(x *kernels.Expr) []aggPart { return []aggPart{{ra.Count, countable(x)}} },
		result: func(p []*kernels.Expr) *kernels.Expr { return p[0] },
	})
	_ = bindAggregate("avg", aggregate{
		parts: func(x *kernels.Expr) []aggPart { return []aggPart{{ra.Sum, precise(x)}, {ra.Count, countable(x)}} },
		result: func(p []*kernels.Expr) *kernels.Expr {
			sum, count := p[0], p[1]
			if !sum.Type.IsChunk() {
				sum = kernels.CastTo(kernels.Float64, sum)
			}
			return kernels.Div(sum, kernels.CastTo(kernels.Float64, count))
		},
	})
)

// single is a SQL aggregate that is one aggregate of the algebra.
func single(fn ra.AggFn) aggregate {
	return aggregate{
		parts:  func(x *kernels.Expr) []aggPart { return []aggPart{{fn, x}} },
		result: func(p []*kernels.Expr) *kernels.Expr { return p[0] },
	}
}

// ofNumbers is MIN or MAX of numbers and texts; ofChunks takes chunks, element by element.
func ofNumbers(fn ra.AggFn) aggregate {
	a := single(fn)
	a.takes = func(t kernels.Type) error {
		if t.IsChunk() {
			return sqlerr.New(sqlerr.FeatureNotSupported, "%v(%v) compares whole chunks", fn, t).
				WithHint("%v_agg(x) is taken element by element; or reduce each chunk first, e.g. with %v_elements.", fn, ra.Max)
		}
		return nil
	}
	return a
}

func ofChunks(fn ra.AggFn) aggregate {
	a := single(fn)
	a.takes = func(t kernels.Type) error {
		if !t.IsChunk() {
			return sqlerr.New(sqlerr.UndefinedFunction, "%v_agg(%v) does not exist", fn, t).
				WithHint("It takes chunks; %v(x) takes numbers.", fn)
		}
		return nil
	}
	return a
}

// knownAggregates are aggregates that only a query without parameters may use.
var knownAggregates = []string{"string_agg", "bool_and", "bool_or", "every", "json_agg", "mode"}

func isAggregate(c *ast.FuncCall) bool {
	_, ok := aggregates[c.Name]
	return c.Over == nil && builtIn(c) && (ok || slices.Contains(knownAggregates, c.Name) || kernels.Metric(c.Name) != nil)
}

// aggregateCalls lists the aggregate calls of an expression, outside sub-queries.
func aggregateCalls(e ast.Expr) []*ast.FuncCall { return outermostCalls(e, isAggregate) }

// outermostCalls lists the calls of an expression for which f holds, outside each other and outside sub-queries.
func outermostCalls(e ast.Expr, f func(*ast.FuncCall) bool) (out []*ast.FuncCall) {
	ast.Walk(e, func(t ast.Tree) bool {
		if c, ok := t.(*ast.FuncCall); ok && f(c) {
			out = append(out, c)
			return false
		}
		_, sub := t.(*ast.Select)
		return !sub
	})
	return out
}

func hasAggregate(targets []starTarget) bool {
	return slices.ContainsFunc(targets, func(t starTarget) bool { return t.x == nil && len(aggregateCalls(t.X)) > 0 })
}

// grouped is what a scope above a GROUP BY sees: the columns to which group expressions and aggregate calls have been
// bound.
type grouped struct {
	pre    *scope
	keys   []*kernels.Expr // over pre's inputs
	keyIDs []ra.ColumnID   // columns of the Aggregate
	calls  map[*ast.FuncCall]*kernels.Expr
	back   []*rejoined                   // relations below pre with ungrouped columns that the group determines
	values map[kernels.Col]*kernels.Expr // their columns above the grouping
}

// groupRows aggregates the scope's join and returns the scope above it.
func groupRows(s *scope, sel *ast.Select, targets []starTarget) (*scope, error) {
	g := &grouped{pre: s, calls: map[*ast.FuncCall]*kernels.Expr{}, values: map[kernels.Col]*kernels.Expr{}}
	for _, e := range sel.GroupBy {
		x, err := s.groupItem(e, targets)
		if err != nil {
			return nil, err
		}
		if s.depends(x) {
			return nil, s.f.fail(e, sqlerr.FeatureNotSupported,
				"GROUP BY on a value that depends on a parameter is not differentiable").
				WithHint("Structure may not depend on values: group by keys or attributes. What a table's key among these " +
					"determines may stand ungrouped.")
		}
		if x.Type.Shape != nil {
			return nil, s.f.fail(e, sqlerr.FeatureNotSupported, "GROUP BY on %v is not supported in a loss", x.Type).
				WithHint("Group by the key of its table: what the key determines may stand ungrouped.")
		}
		if err := checkGroupable(s, x, e); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(g.keys, x.Same) { // a repeated key would count twice in the identity of draws
			g.keys = append(g.keys, x)
		}
	}
	impliedKeys(s, g, sel, targets)
	var calls []*ast.FuncCall
	for _, t := range targets {
		if t.x == nil {
			calls = append(calls, aggregateCalls(t.X)...)
		}
	}
	if sel.Having != nil {
		calls = append(calls, aggregateCalls(sel.Having)...)
	}
	args, err := aggregateArgs(s, g, calls)
	if err != nil {
		return nil, err
	}
	post, err := aggregateNode(s, g, calls, args)
	if err != nil {
		return nil, err
	}
	if sel.Having != nil {
		x, err := post.boolean(sel.Having)
		if err != nil {
			return nil, err
		}
		post.filter(x)
	}
	return post, nil
}

// impliedKeys adds as keys the ungrouped columns of targets and HAVING that the group determines, because it contains
// their relation's identity. Columns that depend on a parameter, and chunks, cannot be keys: their relation is joined
// to the groups again (joinBack).
func impliedKeys(s *scope, g *grouped, sel *ast.Select, targets []starTarget) {
	var add func(t ast.Tree) bool
	add = func(t ast.Tree) bool {
		switch e := t.(type) {
		case *ast.Select:
			return false
		case *ast.FuncCall:
			return !isAggregate(e)
		case *ast.ColumnRef:
			if x, err := s.column(e); err == nil && x.IsCol {
				implyColumns(s, g, x)
			}
		}
		return true
	}
	for _, t := range targets {
		if t.x == nil {
			ast.Walk(t.X, add)
		} else {
			implyColumns(s, g, t.x)
		}
	}
	if sel.Having != nil {
		ast.Walk(sel.Having, add)
	}
}

func (g *grouped) has(x *kernels.Expr) bool {
	return slices.ContainsFunc(g.keys, func(k *kernels.Expr) bool { return k.Same(x) })
}

// callParts lists the Aggregate's aggregates that make up one aggregate call.
type callParts struct {
	call     *ast.FuncCall
	from, to int
}

// aggregateNode joins the inputs, projects keys and arguments, aggregates, and opens the scope above.
func aggregateNode(s *scope, g *grouped, calls []*ast.FuncCall, args []*kernels.Expr) (*scope, error) {
	out := lists.Map(g.keys, func(k *kernels.Expr) ra.OutCol { return ra.OutCol{Name: nameOf(s, k), X: k} })
	var fns []ra.AggFn
	var parts []callParts
	add := func(p aggPart, name string) int {
		fns, out = append(fns, p.fn), append(out, ra.OutCol{Name: name, X: p.arg})
		return len(fns) - 1
	}
	mask := s.mask()
	for i, c := range calls {
		from := len(fns)
		for _, p := range aggregateOf(c.Name).parts(args[i]) {
			if _, err := ra.AggType(p.fn, p.arg.Type); err != nil {
				return nil, s.f.at(err, c)
			}
			add(p, c.Name)
		}
		parts = append(parts, callParts{c, from, len(fns)})
	}
	present := -1
	if mask != nil && len(g.keys) > 0 {
		present = add(aggPart{ra.Count, countable(maskedBy(mask, kernels.Const(kernels.IntValue(1))))}, "present")
	}
	tells := map[int]int{} // by aggregate: the count of its values; it is NULL where that is 0
	for i := range fns {
		x := out[len(g.keys)+i].X
		if q := s.b.nulls.toldOf(s.nodes(), fns[i], x, len(g.keys) == 0); q != nil {
			tells[i] = add(aggPart{ra.Count, kernels.Build("case", q, nullInt(), intConst(1))}, "values")
		}
	}
	s.masks = nil
	rows := s.b.join(s.nodes(), s.equi, s.pred, out)
	var group []ra.ColumnID
	for i := range g.keys {
		group = append(group, rows.Cols[i].ID)
	}
	var aggs []ra.AggCol
	for i, fn := range fns {
		col := rows.Cols[len(group)+i]
		aggs = append(aggs, ra.AggCol{Name: col.Name, Agg: ra.Agg{Fn: fn, Arg: col.ID}})
	}
	n, err := s.b.b.Aggregate(rows, group, aggs)
	if err != nil {
		return nil, err
	}
	for i, count := range tells {
		s.b.nulls.of[n.Cols[len(group)+i].ID] = kernels.Build("eq", n.Var(0, n.Cols[len(group)+count].ID), intConst(0))
	}
	return aboveAggregate(s, g, n, parts, present)
}

func nameOf(s *scope, x *kernels.Expr) string {
	if x.IsCol {
		return s.inputs[x.Col.Input].node.Col(x.Col.ID).Name
	}
	return "group"
}

// precise is a number in double precision if it is real: as Postgres, an average does not round the sum of reals.
func precise(x *kernels.Expr) *kernels.Expr {
	if x.Type.Kind == kernels.Float32 && !x.Type.IsChunk() {
		return kernels.CastTo(kernels.Float64, x)
	}
	return x
}

// countable makes an argument of count. A chunk or float is replaced by whether it is NULL.
func countable(x *kernels.Expr) *kernels.Expr {
	if !x.Type.Nullable {
		return kernels.Const(kernels.IntValue(1))
	}
	return kernels.Build("case", kernels.Build("is_null", x),
		kernels.Const(kernels.NullOf(kernels.Type{Kind: kernels.Int})), kernels.Const(kernels.IntValue(1)))
}

// maskedBy is x where the mask holds, else NULL.
func maskedBy(mask, x *kernels.Expr) *kernels.Expr {
	return kernels.Build("case", mask, x, kernels.Const(kernels.NullOf(x.Type)))
}

// aggregateArgs binds the calls' arguments, and joins to the rows what some arguments need of their groups: variances
// the mean, array_agg the order. The join renames what was bound before.
func aggregateArgs(s *scope, g *grouped, calls []*ast.FuncCall) ([]*kernels.Expr, error) {
	out := make([]*kernels.Expr, len(calls))
	for i, c := range calls {
		var err error
		if out[i], err = aggregateArg(s, c); err != nil {
			return nil, err
		}
	}
	for i, c := range calls {
		swap, x, err := groupedArg(s, g.keys, c, out[i])
		if err != nil {
			return nil, err
		}
		if swap != nil {
			renameAll(swap, out, g.keys)
			for _, r := range g.back {
				renameAll(swap, r.cols)
			}
		}
		out[i] = x
	}
	return out, nil
}

func renameAll(swap renaming, lists ...[]*kernels.Expr) {
	for _, list := range lists {
		for i, x := range list {
			list[i] = swap(x)
		}
	}
}

// groupedArg joins to the rows what argument x needs of its group. The renaming is nil where it needs nothing.
func groupedArg(s *scope, groups []*kernels.Expr, c *ast.FuncCall, x *kernels.Expr) (renaming, *kernels.Expr, error) {
	switch agg := aggregateOf(c.Name); {
	case agg.arg != nil:
		return agg.arg(s, groups, c, x)
	case agg.centered:
		swap, x, err := centerOn(s, groups, x)
		return swap, x, s.f.at(err, c)
	case agg.pairs:
		swap, x, err := centerPairs(s, groups, x)
		return swap, x, s.f.at(err, c)
	}
	return nil, x, nil
}

// checkAggregate refuses aggregates that are not differentiable.
func checkAggregate(s *scope, c *ast.FuncCall) error {
	agg, ok := aggregates[c.Name]
	switch metric := kernels.Metric(c.Name); {
	case metric != nil && s.b.opt.Figures:
		s.b.metrics, agg = true, aggregateOf(c.Name)
	case metric != nil:
		return refuseMetric(s, c, metric)
	case !ok:
		return s.f.fail(c, sqlerr.FeatureNotSupported, "aggregate %s is not differentiable yet", c.Name).
			WithHint("It may stand in a sub-query that reads no parameter; %s are differentiable.", aggregateNames(true))
	}
	switch {
	case c.Distinct:
		return s.f.fail(c, sqlerr.FeatureNotSupported, "%s(DISTINCT …) is not differentiable", c.Name).
			WithHint("GROUP BY keys in a sub-query first.")
	case !c.Star && len(c.Args) != 1 && agg.args == nil:
		return s.f.fail(c, sqlerr.UndefinedFunction, "%s takes 1 argument, not %d", c.Name, len(c.Args))
	}
	return nil
}

// refuseMetric says what a loss takes in place of a metric: there is one way to write each loss.
func refuseMetric(s *scope, c *ast.FuncCall, m *kernels.Aggregate) error {
	return s.f.fail(c, sqlerr.FeatureNotSupported, "%s is a metric, which is no part of a loss", c.Name).
		WithHint("A loss takes %s. The metric may stand in any other query, or in a sub-query that reads no parameter.",
			m.Instead)
}

// aggregateArg binds the argument of an aggregate call, masked by the scope's mask and by FILTER. An aggregate with a
// function arg of its own applies these itself.
func aggregateArg(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
	if err := checkAggregate(s, c); err != nil {
		return nil, err
	}
	x, agg := kernels.Const(kernels.IntValue(1)), aggregateOf(c.Name)
	var err error
	switch {
	case agg.args != nil:
		x, err = agg.args(s, c)
	case !c.Star:
		x, err = s.expr(c.Args[0])
	}
	if err != nil || agg.arg != nil {
		return x, err
	}
	if agg.takes != nil {
		if err := agg.takes(x.Type); err != nil {
			return nil, s.f.at(err, c)
		}
	}
	if c.Name == "min" || c.Name == "max" { // the text begins with its sort key
		if err := checkComparable(s, []*kernels.Expr{x}, true, c); err != nil {
			return nil, err
		}
	}
	return passing(s, c, x)
}

// passing is the argument x of an aggregate call where FILTER and the scope's mask hold, else NULL.
func passing(s *scope, c *ast.FuncCall, x *kernels.Expr) (*kernels.Expr, error) {
	if c.Filter != nil {
		keep, err := s.boolean(c.Filter)
		if err != nil {
			return nil, err
		}
		x = maskedBy(keep, x)
	}
	if mask := s.mask(); mask != nil {
		x = maskedBy(mask, x)
	}
	return x, nil
}

// aggregateNames lists the differentiable aggregates, or those that are allowed over a window, as in "avg, count, max,
// min and sum".
func aggregateNames(all bool) string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(aggregates)), func(n string) bool {
		return !all && aggregates[n].arg != nil
	})
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// aboveAggregate opens the scope over an Aggregate.
func aboveAggregate(s *scope, g *grouped, n *ra.Node, parts []callParts, present int) (*scope, error) {
	k := len(g.keys)
	rel := &relation{node: n}
	post := &scope{b: s.b, f: s.f, inputs: []*relation{rel}, post: g}
	for i := range g.keys {
		g.keyIDs = append(g.keyIDs, n.Cols[i].ID)
	}
	for _, p := range parts {
		var cols []*kernels.Expr
		for i := p.from; i < p.to; i++ {
			cols = append(cols, n.Var(0, n.Cols[k+i].ID))
		}
		rows := n.Inputs[0]
		g.calls[p.call] = aggregated(p.call, cols, rows, rows.Out[k+p.from])
		g.calls[p.call] = post.decimal(p.call, g.calls[p.call])
	}
	joinBack(post, g)
	if present >= 0 {
		post.masks = append(post.masks,
			kernels.Build("gt", n.Var(0, n.Cols[k+present].ID), kernels.Const(kernels.IntValue(0))))
	}
	return post, nil
}

// column maps a column of the scope below the grouping to its column in the group.
func (g *grouped) column(s *scope, at ast.Expr, x *kernels.Expr) (*kernels.Expr, error) {
	for i, k := range g.keys {
		if k.Same(x) {
			return s.inputs[0].node.Var(0, g.keyIDs[i]), nil
		}
	}
	if v := g.values[x.Col]; x.IsCol && v != nil {
		return v, nil
	}
	name := targetName(ast.Target{X: at})
	e := s.f.fail(at, sqlerr.Grouping, "column %q must appear in the GROUP BY clause or be used in an aggregate function",
		name)
	switch {
	case !g.pre.depends(x):
		return nil, e.WithHint("Add it to GROUP BY.")
	case x.Type.IsChunk():
		return nil, e.WithHint("Where the group determines it, max_agg(%s) is its value.", name)
	}
	return nil, e.WithHint("Where the group determines it, max(%s) is its value.", name)
}

// lookup finds an aggregate call or a group expression above the grouping; nil for anything else.
func (g *grouped) lookup(s *scope, e ast.Expr) (*kernels.Expr, error) {
	switch x := e.(type) {
	case *ast.FuncCall:
		if r, ok := g.calls[x]; ok {
			return r, nil
		}
	case *ast.ColumnRef:
		c, err := g.pre.column(x)
		if err != nil {
			return nil, err
		}
		return g.column(s, e, c)
	case *ast.Literal, *ast.SubLink:
		return nil, nil
	}
	plain := true
	for _, k := range g.keys {
		plain = plain && k.IsCol
	}
	_, asks := e.(*ast.IsNull) // allowed for a parameter's column too
	if plain && !asks || len(aggregateCalls(e)) > 0 {
		return nil, nil
	}
	if c, err := g.pre.expr(e); err == nil && g.has(c) {
		return g.column(s, e, c)
	}
	return nil, nil
}
