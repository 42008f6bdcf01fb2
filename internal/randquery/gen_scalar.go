package randquery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/kernels"
)

// floats lists the float leaves of a shape.
func (s *scope) floats(shape []int) []expr {
	var out []expr
	for _, e := range s.leaves {
		if e.kind == kernels.Float64 && slices.Equal(e.shape, shape) {
			out = append(out, e)
		}
	}
	return out
}

// chunks lists the leaves that are chunks.
func (s *scope) chunks() []expr {
	var out []expr
	for _, e := range s.leaves {
		if e.kind == kernels.Float64 && e.shape != nil {
			out = append(out, e)
		}
	}
	return out
}

// tame keeps values small, so that central differences stay exact.
func tame(g *gen, e expr, limit float64) expr {
	if e.mag <= limit {
		return e
	}
	e.bare = false
	if g.one(3) {
		e.sql, e.mag = fmt.Sprintf("tanh(%s)", e.sql), 1
		return e
	}
	f := limit / e.mag
	e.sql, e.mag = fmt.Sprintf("(%.3g * %s)", f, e.sql), limit
	return e
}

// leafScalar draws a scalar without operators: a column, an attribute as a number, a constant, or an element.
func leafScalar(g *gen, s *scope) expr {
	if xs := s.floats(nil); len(xs) > 0 && !g.one(8) {
		return g.choose(xs)
	}
	if cs := s.chunks(); len(cs) > 0 && !g.one(8) {
		return reduceExpr(g, g.choose(cs))
	}
	if is := s.ofKind(kernels.Int); len(is) > 0 && !g.one(4) {
		i := g.choose(is)
		g.use("integer as number")
		i.bare, i.kind, i.mag = false, kernels.Float64, 2
		if g.one(2) {
			g.use("cast to double")
			i.sql = fmt.Sprintf("(%s::double precision * 0.5)", i.sql)
		} else {
			i.sql = fmt.Sprintf("(0.5 * %s)", i.sql)
		}
		return i
	}
	return expr{sql: g.number(), mag: 1, draws: true}
}

// reduceExpr makes a scalar of a value.
func reduceExpr(g *gen, e expr) expr {
	if e.shape == nil {
		return e
	}
	size := 1
	for _, d := range e.shape {
		size *= d
	}
	out := expr{mag: e.mag * float64(size), dep: e.dep, draws: e.draws, null: e.null}
	switch g.pick(3, 3, 3, 2) {
	case 0:
		out.sql = fmt.Sprintf("sum_elements(%s)", e.sql)
	case 1:
		e = tame(g, e, 3)
		out.sql, out.mag = fmt.Sprintf("sqnorm(%s)", e.sql), e.mag*e.mag*float64(size)
	case 2:
		out.sql, out.mag = subscriptText(g, e, nil), e.mag
	case 3:
		out.sql, out.mag = fmt.Sprintf("logsumexp(%s)", tame(g, e, 4).sql), min(e.mag, 4)+2
	}
	return tame(g, out, 20)
}

// subscriptText draws x[i][j]; an index may be computed from an integer.
func subscriptText(g *gen, e expr, s *scope) string {
	text := e.sql
	if !e.bare || g.one(2) {
		text = "(" + text + ")"
	}
	g.use("subscript")
	for _, d := range e.shape {
		if s != nil && g.one(2) {
			g.use("computed subscript")
			text += fmt.Sprintf("[1 + abs(%s) %% %d]", g.integer(s, 0).sql, d)
			continue
		}
		text += fmt.Sprintf("[%d]", 1+g.r.Intn(d))
	}
	return text
}

// spendBudget takes one from the budget of expressions.
func spendBudget(g *gen) bool {
	g.budget--
	return g.budget > 0
}

// tooLong keeps one expression from growing without bounds: parts that are long already get no operators
// around them that repeat them.
func tooLong(e expr) bool { return strings.Count(e.sql, "(") > 25 }

// scalarExpr draws a scalar over the scope's leaves.
func scalarExpr(g *gen, s *scope, depth int) expr {
	if depth <= 0 || !spendBudget(g) {
		return leafScalar(g, s)
	}
	switch g.pick(10, 18, 20, 10, 7, 5, 5, 4, 3, 4, 4, 4, 4) {
	case 1:
		return arithScalar(g, scalarExpr(g, s, depth-1), scalarExpr(g, s, depth-1))
	case 2:
		return asScalar(g, kernelExpr(g, s, depth-1))
	case 3:
		return reduceExpr(g, chunkExpr(g, s, g.shape(), depth-1))
	case 4:
		return caseScalar(g, s, depth-1)
	case 5:
		return coalesceScalar(g, s, depth-1)
	case 6:
		return extremeScalar(g, s, depth-1)
	case 7:
		return castScalar(g, s, depth-1)
	case 8:
		x := leafScalar(g, s)
		g.use("nullif")
		x.sql, x.bare, x.null = fmt.Sprintf("NULLIF(%s, 0.12345)", x.sql), false, true
		return x
	case 9:
		if s.sub > 0 && len(g.ctes) < 3 {
			s.sub--
			return scalarQuery(g, depth-1)
		}
	case 10:
		if cs := s.chunks(); len(cs) > 0 {
			e := g.choose(cs)
			e.sql, e.shape, e.bare, e.null = subscriptText(g, e, s), nil, false, true
			return e
		}
	case 11:
		return powerScalar(g, s, depth-1)
	case 12:
		return droppedScalar(g, s, depth-1)
	}
	return leafScalar(g, s)
}

// droppedScalar is dropout of a scalar that may be dropped, else a leaf.
func droppedScalar(g *gen, s *scope, depth int) expr {
	if x := scalarExpr(g, s, depth); x.draws && x.dep && !s.above {
		return dropoutExpr(g, x)
	}
	return leafScalar(g, s)
}

// arithScalar combines two scalars.
func arithScalar(g *gen, a, b expr) expr {
	out := expr{dep: a.dep || b.dep, draws: a.draws && b.draws, null: a.null || b.null}
	switch g.pick(4, 3, 5, 2, 1) {
	case 0:
		out.sql, out.mag = fmt.Sprintf("(%s + %s)", a.sql, b.sql), a.mag+b.mag
	case 1:
		out.sql, out.mag = fmt.Sprintf("(%s - %s)", a.sql, b.sql), a.mag+b.mag
	case 2:
		out.sql, out.mag = fmt.Sprintf("%s * %s", a.sql, b.sql), a.mag*b.mag
		out.sql = "(" + out.sql + ")"
	case 3:
		b = tame(g, b, 4)
		out.sql, out.mag = fmt.Sprintf("(%s / (square(%s) + 0.5))", a.sql, b.sql), 2*a.mag
	case 4:
		out.sql, out.mag = fmt.Sprintf("(- %s - %s)", a.sql, b.sql), a.mag+b.mag
	}
	return tame(g, out, 20)
}

// unaryScalar applies an element-wise kernel to a value.
func unaryScalar(g *gen, e expr) expr {
	e = tame(g, e, 3)
	name := [...]string{"tanh", "sigmoid", "square", "silu", "sin", "softplus"}[g.r.Intn(6)]
	g.use("kernel:" + name)
	e.sql, e.bare = fmt.Sprintf("%s(%s)", name, e.sql), false
	e.mag = max(e.mag, 1)
	if name == "square" {
		e.mag *= e.mag
	}
	return e
}

func caseScalar(g *gen, s *scope, depth int) expr {
	x, y := scalarExpr(g, s, depth), scalarExpr(g, s, depth)
	out := expr{mag: max(x.mag, y.mag), dep: x.dep || y.dep, null: x.null || y.null}
	switch g.r.Intn(5) {
	case 0, 1:
		g.use("case on keys")
		out.sql = fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.cond(s, 0).sql, x.sql, y.sql)
	case 2:
		g.use("case on values")
		out.sql = fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.valueCond(s, 1).sql, x.sql, y.sql)
		out.dep = true
	case 3:
		if tooLong(x) || strings.Contains(x.sql, "dropout(") { // a second call draws for itself: no guard
			x = leafScalar(g, s)
		}
		g.use("guarded ln")
		x = tame(g, x, 6)
		f := [...]string{"ln", "sqrt", "log"}[g.r.Intn(3)]
		out.sql = fmt.Sprintf("CASE WHEN %s > 0.31 THEN %s(%s) ELSE %s END", x.sql, f, x.sql, y.sql)
		out.mag = max(3, y.mag)
	case 4:
		g.use("case on keys")
		out.sql = fmt.Sprintf("CASE %s WHEN 0 THEN %s WHEN 1 THEN %s END", g.integer(s, 0).sql, x.sql, y.sql)
		out.null = true
	}
	out.sql = "(" + out.sql + ")"
	return out
}

func coalesceScalar(g *gen, s *scope, depth int) expr {
	x := scalarExpr(g, s, depth)
	for _, e := range s.floats(nil) {
		if e.null && g.one(2) {
			x = e
		}
	}
	y := leafScalar(g, s)
	g.use("coalesce")
	return expr{sql: fmt.Sprintf("COALESCE(%s, %s, 0.5)", x.sql, y.sql), mag: max(x.mag, y.mag, 0.5), dep: x.dep || y.dep}
}

func extremeScalar(g *gen, s *scope, depth int) expr {
	list, mag, dep, null := []string(nil), 0.0, false, true
	for range 2 + g.r.Intn(2) {
		x := scalarExpr(g, s, depth)
		list, mag, dep, null = append(list, x.sql), max(mag, x.mag), dep || x.dep, null && x.null
	}
	name := [...]string{"GREATEST", "LEAST"}[g.r.Intn(2)]
	g.use(strings.ToLower(name))
	return expr{sql: fmt.Sprintf("%s(%s)", name, strings.Join(list, ", ")), mag: mag, dep: dep, null: null}
}

func castScalar(g *gen, s *scope, depth int) expr {
	if g.one(3) {
		b := g.boolean(s)
		x := scalarExpr(g, s, depth)
		g.use("boolean to int")
		x.sql, x.bare, x.null = fmt.Sprintf("((%s)::int * %s)", b.sql, x.sql), false, true
		return x
	}
	x := scalarExpr(g, s, depth)
	to := [...]string{"double precision", "real"}[g.pick(2, 1)]
	g.use(map[string]string{"real": "cast to real", "double precision": "cast to double"}[to])
	x.bare = false
	if x.sql = fmt.Sprintf("(%s)::%s", x.sql, to); g.one(3) {
		x.sql = fmt.Sprintf("CAST(%s AS %s)", strings.TrimSuffix(x.sql, "::"+to), to)
	}
	x.sql = "(" + x.sql + ")"
	return x
}

func powerScalar(g *gen, s *scope, depth int) expr {
	x := tame(g, scalarExpr(g, s, depth), 3)
	g.use("constant power")
	out := expr{dep: x.dep, draws: x.draws, null: x.null, mag: 30}
	switch g.r.Intn(4) {
	case 0:
		out.sql, out.mag = fmt.Sprintf("(%s ^ 2)", x.sql), 9
	case 1:
		out.sql = fmt.Sprintf("power(%s, 3)", x.sql)
	case 2:
		out.sql, out.mag = fmt.Sprintf("((square(%s) + 0.5) ^ -0.5)", x.sql), 2
	case 3:
		y := tame(g, leafScalar(g, s), 2)
		out.sql, out.dep, out.null = fmt.Sprintf("power(0.4 + sigmoid(%s), %s)", x.sql, y.sql), x.dep ||
			y.dep, x.null || y.null
		out.mag = 6
	}
	return tame(g, out, 20)
}

// scalarQuery draws an uncorrelated scalar sub-query.
func scalarQuery(g *gen, depth int) expr {
	for _, t := range g.q.DB.Tables {
		if t.single() && g.one(2) {
			return onlyRow(g, t)
		}
	}
	g.use("scalar sub-query")
	budget := g.budget
	g.budget = min(budget, 4)
	sql := lossText(g, max(0, depth-1))
	g.budget = budget - 3
	return expr{sql: "(" + sql + ")", mag: 4, dep: true, null: true}
}

// onlyRow draws a scalar sub-query of a table of one row, which a condition may leave out.
func onlyRow(g *gen, t *Table) expr {
	g.use("sub-query of one row")
	alias, s := g.name("a"), &scope{}
	for _, c := range g.table(t).cols {
		e := c.expr
		e.sql = alias + "." + c.name
		s.leaves = append(s.leaves, e)
	}
	x := leafScalar(g, s)
	x.sql, x.bare, x.null, x.draws = fmt.Sprintf("(SELECT %s FROM %s %s", x.sql, t.Name, alias), false, true, false
	if g.one(2) {
		x.sql += " WHERE " + g.cond(s, 0).sql
	}
	x.sql += ")"
	return x
}

// dropoutExpr applies dropout to a value; the caller knows that its identity is declared.
func dropoutExpr(g *gen, e expr) expr {
	g.use("dropout")
	g.use("kernel:dropout")
	g.q.ViewDraw = g.q.ViewDraw || g.inView
	e.sql, e.bare, e.mag = fmt.Sprintf("dropout(%s, 0.%d)", e.sql, 2+g.r.Intn(4)), false, 2*e.mag
	return e
}
