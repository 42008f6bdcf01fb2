package rules

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "PushAggregateBelowJoin", Phase: Forward,
	Doc: "Sums of kernels that are linear in what one side of a join gives are taken on that side first, by " +
		"its part of the " +
		"group and of the join's conditions; the kernel then runs once for each sum: Σ (w·x)·W is (Σ w·x)·W (eager " +
		"aggregation, Yan and Larson 1995). In a GCN whose features are narrower than its units the neighbours are summed " +
		"before the product, once per run where no parameter reaches them. Must not fire where the side's " +
		"identity is in the group " +
		"already, where a product first gives narrower sums, on min, max and count, nor where kernels that " +
		"can fail would see rows " +
		"that the join drops.",
	Apply: func(c *Context, n *ra.Node) bool {
		if n.Op != ra.Aggregate || len(n.Aggs) == 0 || !c.Sole(n.Inputs[0]) {
			return false
		}
		for _, a := range n.Aggs {
			if a.Fn != ra.Sum && a.Fn != ra.GradSum {
				return false
			}
		}
		in := n.Inputs[0]
		if in.Op == ra.Join && eager(c, n, in) {
			return true
		}
		if in.Op != ra.Join && in.Op != ra.Select {
			return false
		}
		for s, below := range in.Inputs { // as if a kernel had not been moved below the join
			if (below.Op == ra.Join || below.Op == ra.Select) && c.Sole(below) && !plain(below) && plainConditions(in, s) &&
				eager(c, n, merged(in, s)) {
				return true
			}
		}
		return false
	},
})

// plain reports whether a Select or Join computes nothing.
func plain(n *ra.Node) bool {
	return !slices.ContainsFunc(n.Out, func(x *kernels.Expr) bool { return !x.IsCol && !x.IsConst() })
}

// merged returns n with input s replaced by that input's own inputs.
func merged(n *ra.Node, s int) *ra.Node {
	m := *n
	m.Out, m.Pred, m.Equi = slices.Clone(n.Out), slices.Clone(n.Pred), slices.Clone(n.Equi)
	mergeInput(&m, s)
	return &m
}

// eager tries for each input of join to take sums before it is joined.
func eager(c *Context, agg, join *ra.Node) bool {
	read := slots(join)
	for late := range join.Inputs {
		if !read[late] && !constant(agg, join) { // nothing of it could be taken out of the sums
			continue
		}
		s := &split{c: c, agg: agg, join: join, late: late}
		if s.linear() && s.build() && s.cheaper() {
			s.apply()
			return true
		}
	}
	return false
}

// constant reports whether an aggregate sums a constant.
func constant(agg, join *ra.Node) bool {
	in := agg.Inputs[0]
	return slices.ContainsFunc(agg.Aggs, func(a ra.Agg) bool { return join.Out[in.Index(a.Arg)].IsConst() })
}

// split is an aggregate whose sums are taken before input late of its join is joined.
type split struct {
	c         *Context
	agg, join *ra.Node
	late      int
	forms     []*kernels.LinearForm // of the aggregates' arguments
	rows      *ra.Node              // the join of the other inputs
	sums      *ra.Node              // the early sums
	out       *ra.Node              // sums joined with the late input: the group's columns, then the arguments
}

// arg is the expression of aggregate i.
func (s *split) arg(i int) *kernels.Expr { return s.join.Out[s.agg.Inputs[0].Index(s.agg.Aggs[i].Arg)] }

// linear splits each argument into a core that is summed early and a linear function of it that needs the late input.
// It reports whether some argument needs the late input.
func (s *split) linear() bool {
	late := false
	for i := range s.agg.Aggs {
		l := kernels.SplitLinear(s.arg(i), func(c kernels.Col) bool { return c.Input == s.late })
		if l == nil || !(known{}).of(l.Core).total { // it also sees rows that the late input drops
			return false
		}
		late = late || l.Late()
		s.forms = append(s.forms, l)
	}
	return late
}

// build makes the new nodes. It returns false if each early sum would be of one row, or if a condition reads both
// sides.
func (s *split) build() bool {
	var slots []int
	var inputs []*ra.Node
	for i, in := range s.join.Inputs {
		if i != s.late {
			slots, inputs = append(slots, i), append(inputs, in)
		}
	}
	below := func(e *kernels.Expr) *kernels.Expr {
		return e.MapCols(func(l *kernels.Expr) *kernels.Expr {
			return kernels.Column(kernels.Col{Input: slices.Index(slots, l.Col.Input), ID: l.Col.ID}, l.Type)
		})
	}
	var before, after []*kernels.Expr
	for _, p := range s.join.Pred {
		switch early, late := s.sides(p); {
		case early && late || !late && !(known{}).of(p).total:
			return false
		case late:
			after = append(after, p)
		default:
			before = append(before, below(p))
		}
	}
	group, ok := s.group()
	if !ok {
		return false
	}
	var out []ra.OutCol
	for _, g := range group {
		out = append(out, ra.OutCol{Name: s.join.Inputs[g.Input].Col(g.ID).Name, X: below(s.join.InputVar(g.Input, g.ID))})
	}
	if len(group) == 0 { // without a group there would be a row even if there is nothing to sum
		out = append(out, ra.OutCol{Name: "all", X: kernels.Const(kernels.IntValue(0))})
	}
	n := len(out)
	for i, l := range s.forms {
		out = append(out, ra.OutCol{Name: s.agg.Cols[len(s.agg.Group)+i].Name, X: below(l.Core)})
	}
	s.rows = s.c.B.Join(inputs, among(s.join, slots), before, out)
	return s.sum(n) && s.rejoin(group, after)
}

// sides reports whether e reads columns of the early inputs, and of the late one.
func (s *split) sides(e *kernels.Expr) (early, late bool) {
	e.Cols(func(c kernels.Col) { early, late = early || c.Input != s.late, late || c.Input == s.late })
	return early, late
}

// group lists the columns by which the early sums are grouped: the early columns of the aggregate's group and of the
// equalities with the late input.
func (s *split) group() ([]kernels.Col, bool) {
	var out []kernels.Col
	add := func(c kernels.Col) {
		if c.Input != s.late && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	for _, g := range s.agg.Group {
		switch x := s.join.Out[s.agg.Inputs[0].Index(g)]; {
		case x.IsCol:
			add(x.Col)
		case !x.IsConst():
			return nil, false
		}
	}
	for _, q := range s.join.Equi {
		if q.L.Input == s.late || q.R.Input == s.late {
			add(q.L)
			add(q.R)
		}
	}
	return out, true
}

// sum makes the early sums, grouped by the first n columns of the rows.
func (s *split) sum(n int) bool {
	var ids []ra.ColumnID
	var aggs []ra.AggCol
	links := s.rows.Links()
	for i, col := range s.rows.Cols[:n+len(s.forms)] {
		if i < n {
			ids = append(ids, links.Aliases(col.ID)...)
			continue
		}
		a := ra.Agg{Fn: ra.Sum, Arg: col.ID}
		if s.forms[i-n].Core.IsConst() { // a sum of ones
			a = ra.Agg{Fn: ra.CountRows}
		}
		aggs = append(aggs, ra.AggCol{Name: col.Name, Agg: a})
	}
	if !slices.ContainsFunc(s.rows.Unique, func(u ra.ColumnID) bool { return !slices.Contains(ids, u) }) {
		return false
	}
	ids = nil
	for _, col := range s.rows.Cols[:n] {
		ids = append(ids, col.ID)
	}
	sums, err := s.c.B.Aggregate(s.rows, ids, aggs)
	s.sums = sums
	return err == nil
}

// rejoin joins the sums with the late input.
func (s *split) rejoin(group []kernels.Col, pred []*kernels.Expr) bool {
	to := func(c kernels.Col) kernels.Col {
		if c.Input == s.late {
			return kernels.Col{Input: 1, ID: c.ID}
		}
		return kernels.Col{ID: s.sums.Cols[slices.Index(group, c)].ID}
	}
	above := func(e *kernels.Expr) *kernels.Expr {
		return e.MapCols(func(l *kernels.Expr) *kernels.Expr {
			if l.Col.Input < 0 {
				return kernels.Column(kernels.Col{ID: l.Col.ID}, l.Type)
			}
			return kernels.Column(to(l.Col), l.Type)
		})
	}
	var equi []ra.Equi
	for _, q := range s.join.Equi {
		if q.L.Input == s.late || q.R.Input == s.late {
			equi = append(equi, ra.Equi{L: to(q.L), R: to(q.R), NullSafe: q.NullSafe})
		}
	}
	for i, p := range pred {
		pred[i] = above(p)
	}
	var out []ra.OutCol
	for _, g := range s.agg.Group {
		i := s.agg.Inputs[0].Index(g)
		out = append(out, ra.OutCol{Name: s.agg.Inputs[0].Cols[i].Name, X: above(s.join.Out[i])})
	}
	for i, l := range s.forms {
		col := s.sums.Cols[len(s.sums.Group)+i]
		x := above(l.Of(kernels.Column(kernels.Col{Input: -1, ID: col.ID}, col.Type)))
		if old := s.arg(i).Type; !x.Type.Is(old) || x.Type.Nullable && !old.Nullable {
			return false
		}
		out = append(out, ra.OutCol{Name: col.Name, X: x})
	}
	s.out = s.c.B.Join([]*ra.Node{s.sums, s.join.Inputs[s.late]}, equi, pred, out)
	return true
}

// flopsPerNumber is how many operations of a kernel cost as much as gathering and adding one number: operations run in
// the cache, gathering goes through the memory.
const flopsPerNumber = 32

// cheaper compares the costs of both ways, in numbers gathered and added. The gradient gathers again what depends on a
// parameter; what does not is computed once per run.
func (s *split) cheaper() bool {
	m := s.c.Cost
	early, groups, rows, after := m.Rows(s.rows), m.Rows(s.sums), m.Rows(s.join), m.Rows(s.out)
	if groups > 0.9*early {
		return false
	}
	then, now, wider := 0.0, 0.0, false
	for i, l := range s.forms {
		x, core := s.arg(i), s.rows.Cols[len(s.sums.Group)+i]
		kernel := max(0, x.Flops()-l.Core.Flops()) / flopsPerNumber
		now += s.kernelRows()*kernel + rows*float64(x.Type.Size())*weight(s.agg.Cols[len(s.agg.Group)+i].Dep, 1)
		then += after*kernel + early*float64(core.Type.Size())*weight(core.Dep, 0.5) + after*float64(x.Type.Size())
		wider = wider || core.Type.Size() > x.Type.Size()
	}
	if !wider && len(s.join.Inputs[s.late].Unique) == 0 { // the late input is one factor of the whole sum
		return groups < 0.9*rows
	}
	return then < now
}

// weight is how often a step gathers a column: twice if it depends on a parameter, else free times.
func weight(dep bool, free float64) float64 {
	if dep {
		return 2
	}
	return free
}

// kernelRows estimates the rows on which the kernels run that PushKernelBelowJoin would move.
func (s *split) kernelRows() float64 {
	known, rows := known{}, s.c.Cost.Rows(s.join)
	for i := range s.forms {
		part(s.arg(i), false, map[*kernels.Expr]bool{}, func(e *kernels.Expr) bool {
			k := known.of(e)
			if k.slots.count() < len(s.join.Inputs) && k.slots.has(s.late) && k.total && e.Takes(4) {
				rows = min(rows, subRows(s.c, s.join, k.slots.list()))
				return true
			}
			return false
		})
	}
	return rows
}

// apply has the aggregate sum the early sums.
func (s *split) apply() {
	n := len(s.agg.Group)
	s.agg.Inputs = []*ra.Node{s.out}
	s.agg.Group, s.agg.Aggs = slices.Clone(s.agg.Group), slices.Clone(s.agg.Aggs)
	for i, col := range s.out.Cols[:n+len(s.forms)] {
		if i < n {
			s.agg.Group[i] = col.ID
		} else {
			s.agg.Aggs[i-n].Arg = col.ID
		}
	}
}
