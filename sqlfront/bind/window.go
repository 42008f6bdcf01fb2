package bind

import (
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// bindWindows binds the targets' aggregates over partitions: each is grouped by the partition and joined to the rows.
func bindWindows(s *scope, sel *ast.Select, targets []starTarget) error {
	var calls []*ast.FuncCall
	for _, t := range targets {
		if t.x == nil {
			calls = append(calls, windowCalls(t.X)...)
		}
	}
	for _, c := range calls {
		if err := bindWindow(s, sel, c); err != nil {
			return err
		}
	}
	return nil
}

// windowCalls lists the calls with OVER of an expression, outside sub-queries.
func windowCalls(e ast.Expr) []*ast.FuncCall {
	return outermostCalls(e, func(c *ast.FuncCall) bool { return c.Over != nil })
}

func bindWindow(s *scope, sel *ast.Select, c *ast.FuncCall) error {
	if !builtIn(c) {
		return refuseForeign(s, c)
	}
	w, bad := ast.WindowOf(sel.Windows, c.Over)
	if bad != nil {
		return s.f.at(bad, c)
	}
	keys, err := partitionKeys(s, w)
	if err != nil {
		return err
	}
	ordered := rowFunctions[c.Name] != nil || len(w.OrderBy) > 0 || w.Frame != ""
	if ordered && readsBatch(s) {
		return s.f.fail(c, sqlerr.FeatureNotSupported,
			"a window with an order or a frame over the batch %q sees only the rows of the step", s.b.opt.Batch.Name).
			WithHint("Put it into a view over all rows, and name that view as the batch.")
	}
	var x *kernels.Expr
	switch f := rowFunctions[c.Name]; {
	case f != nil:
		x, err = f(s, c, w, keys)
	case kernels.Metric(c.Name) != nil:
		return refuseMetric(s, c, kernels.Metric(c.Name))
	case aggregates[c.Name].parts == nil || aggregates[c.Name].arg != nil:
		return s.f.fail(c, sqlerr.FeatureNotSupported, "window function %s is not differentiable", c.Name).
			WithHint("It may stand in a sub-query that reads no parameter; %s OVER (PARTITION BY …) are differentiable.",
				aggregateNames(false))
	case ordered:
		x, err = runningAggregate(s, c, w, keys)
	default:
		x, err = overPartition(s, c, keys)
	}
	if err != nil {
		return s.f.at(err, c)
	}
	if s.over == nil {
		s.over = map[*ast.FuncCall]*kernels.Expr{}
	}
	s.over[c] = s.decimal(c, x)
	return nil
}

func partitionKeys(s *scope, w *ast.Window) ([]*kernels.Expr, error) {
	var keys []*kernels.Expr
	for _, e := range w.PartitionBy {
		k, err := s.expr(e)
		if err != nil {
			return nil, err
		}
		if s.depends(k) {
			return nil, s.f.fail(e, sqlerr.FeatureNotSupported,
				"PARTITION BY on a value that depends on a parameter is not differentiable").
				WithHint("Structure may not depend on values: partition by keys or attributes.")
		}
		if k.Type.Shape != nil {
			return nil, s.f.fail(e, sqlerr.FeatureNotSupported, "PARTITION BY on %v is not supported in a loss", k.Type).
				WithHint("Partition by the key of its table.")
		}
		if err := checkGroupable(s, k, e); err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// overPartition is an aggregate over the whole partition.
func overPartition(s *scope, c *ast.FuncCall, keys []*kernels.Expr) (*kernels.Expr, error) {
	x, err := aggregateArg(s, c)
	if err != nil {
		return nil, err
	}
	swap, x, err := groupedArg(s, keys, c, x)
	if err != nil {
		return nil, err
	}
	if swap != nil {
		renameAll(swap, keys)
	}
	parts := aggregates[c.Name].parts(x)
	a, err := attachTo(s, keys, parts)
	if err != nil {
		return nil, err
	}
	return aggregated(c, a.cols, a.rows, parts[0].arg), nil
}

// aggregated is the value of an aggregate call, computed from the columns of its parts. arg is the argument of the
// first part, over rows.
func aggregated(c *ast.FuncCall, cols []*kernels.Expr, rows *ra.Node, arg *kernels.Expr) *kernels.Expr {
	x := aggregateOf(c.Name).result(cols)
	if c.Name == "sum" && x.Type.Kind == kernels.Int && sumIsNumeric(c.Args[0], rows, arg) {
		x = kernels.CastTo(kernels.Float64, x)
	}
	return x
}

// renaming converts an expression over the scope's earlier inputs to its present ones.
type renaming func(*kernels.Expr) *kernels.Expr

// centerOn subtracts from x its mean over the rows with equal keys.
func centerOn(s *scope, keys []*kernels.Expr, x *kernels.Expr) (renaming, *kernels.Expr, error) {
	if x.Type.IsChunk() || !x.Type.IsFloat() && x.Type.Kind != kernels.Int {
		return nil, nil, sqlerr.New(sqlerr.UndefinedFunction, "the variance of %v is not defined", x.Type).
			WithHint("It takes numbers; reduce each chunk first, e.g. with sum_elements.")
	}
	x = kernels.CastTo(kernels.Float64, x)
	mean := aggregates["avg"]
	a, err := attachTo(s, keys, mean.parts(x))
	if err != nil {
		return nil, nil, err
	}
	return a.swap, kernels.Sub(a.swap(x), mean.result(a.cols)), nil
}

// attached is the result of attachTo: the aggregates' columns, the rows, and the renaming for what was bound before.
type attached struct {
	cols []*kernels.Expr
	rows *ra.Node
	swap renaming
}

// attachTo aggregates the scope's rows by keys and joins the result as a further input, so that every row has its
// group's values. First it joins the scope's inputs into one.
func attachTo(s *scope, keys []*kernels.Expr, parts []aggPart) (*attached, error) {
	extra := slices.Clone(keys)
	for _, p := range parts {
		if _, err := ra.AggType(p.fn, p.arg.Type); err != nil {
			return nil, err
		}
		extra = append(extra, p.arg)
	}
	ids, swap := s.close(extra)
	a := &attached{rows: s.inputs[0].node, swap: swap}
	group := ids[:len(keys)]
	var aggs []ra.AggCol
	for i, p := range parts {
		aggs = append(aggs, ra.AggCol{Name: "part", Agg: ra.Agg{Fn: p.fn, Arg: ids[len(keys)+i]}})
	}
	n, err := s.b.b.Aggregate(a.rows, group, aggs)
	if err != nil {
		return nil, err
	}
	s.inputs = append(s.inputs, &relation{node: n})
	for i, g := range group {
		s.equi = append(s.equi, ra.Equi{L: kernels.Col{ID: g}, R: kernels.Col{Input: 1, ID: n.Cols[i].ID}, NullSafe: true})
	}
	for i := range aggs {
		a.cols = append(a.cols, n.Var(1, n.Cols[len(group)+i].ID))
	}
	return a, nil
}

// rename applies swap to all expressions that the scope has bound over its inputs, except its conditions.
func (s *scope) rename(swap renaming) {
	for i := range s.cols {
		s.cols[i].x = swap(s.cols[i].x)
	}
	for i, t := range s.stars {
		if t.x != nil {
			s.stars[i].x = swap(t.x)
		}
	}
	renameAll(swap, s.masks)
	for c, x := range s.over {
		s.over[c] = swap(x)
	}
	if g := s.post; g != nil {
		for c, x := range g.calls {
			g.calls[c] = swap(x)
		}
		for c, x := range g.values {
			g.values[c] = swap(x)
		}
	}
}

// close joins the scope's inputs into one with extra columns, whose ids it returns. It renames what the scope holds;
// callers must rename what they have bound.
func (s *scope) close(extra []*kernels.Expr) ([]ra.ColumnID, renaming) {
	var out []ra.OutCol
	at := map[kernels.Col]int{}
	var parts []kernels.Col
	for slot, r := range s.inputs {
		for _, c := range r.node.Cols {
			parts = append(parts, kernels.Col{Input: slot, ID: c.ID})
			at[parts[len(out)]] = len(out)
			out = append(out, ra.OutCol{Name: c.Name, X: r.node.Var(slot, c.ID)})
		}
	}
	first := len(out)
	for _, x := range extra {
		out = append(out, ra.OutCol{Name: "x", X: x})
	}
	n := s.b.join(s.nodes(), s.equi, s.pred, out)
	swap := func(x *kernels.Expr) *kernels.Expr {
		return x.MapCols(func(e *kernels.Expr) *kernels.Expr { return n.Var(0, n.Cols[at[e.Col]].ID) })
	}
	s.rename(swap)
	if g := s.post; g != nil {
		for i, id := range g.keyIDs {
			g.keyIDs[i] = n.Cols[at[kernels.Col{ID: id}]].ID
		}
	}
	s.inputs, s.equi, s.pred = []*relation{{node: n, joined: s.inputs, parts: parts}}, nil, nil
	var ids []ra.ColumnID
	for i := range extra {
		ids = append(ids, n.Cols[first+i].ID)
	}
	return ids, swap
}
