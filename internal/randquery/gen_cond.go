package randquery

import (
	"fmt"

	"github.com/relgrad/relgrad/kernels"
)

// ofKind lists the leaves of a kind that structure may read.
func (s *scope) ofKind(k kernels.Kind) []expr {
	var out []expr
	for _, e := range s.leaves {
		if e.kind == k && (k != kernels.Float64 || e.shape == nil && e.fixed) {
			out = append(out, e)
		}
	}
	return out
}

func (g *gen) choose(list []expr) expr { return list[g.r.Intn(len(list))] }

// integer draws an integer expression over keys and attributes.
func (g *gen) integer(s *scope, depth int) expr {
	leaves := s.ofKind(kernels.Int)
	if len(leaves) == 0 || g.one(12) {
		n := 1 + g.r.Intn(3)
		return expr{sql: fmt.Sprint(n), kind: kernels.Int, mag: float64(n)}
	}
	e := g.choose(leaves)
	if depth <= 0 || g.one(2) {
		return e
	}
	out := expr{kind: kernels.Int, mag: 6, null: e.null}
	switch g.pick(3, 3, 3, 1, 1, 1) {
	case 0:
		o := g.integer(s, depth-1)
		out.sql, out.null = fmt.Sprintf("(%s + %s)", e.sql, o.sql), e.null || o.null
	case 1:
		out.sql = fmt.Sprintf("(%s %% %d)", e.sql, 2+g.r.Intn(2))
	case 2:
		out.sql = fmt.Sprintf("(%d * %s - 1)", 2+g.r.Intn(2), e.sql)
	case 3:
		out.sql = fmt.Sprintf("abs(%s - 2)", e.sql)
	case 4:
		b := g.boolean(s)
		g.use("boolean to int")
		out.sql, out.null = fmt.Sprintf("(%s)::int", b.sql), b.null
	case 5:
		out.sql = fmt.Sprintf("COALESCE(%s, 1)", e.sql)
		out.null = false
	}
	return out
}

// boolean draws a boolean attribute, or a comparison where there is none.
func (g *gen) boolean(s *scope) expr {
	if leaves := s.ofKind(kernels.Bool); len(leaves) > 0 {
		return g.choose(leaves)
	}
	return expr{sql: fmt.Sprintf("(%s > 1)", g.integer(s, 0).sql), kind: kernels.Bool}
}

// text draws a text expression.
func (g *gen) text(s *scope) (expr, bool) {
	leaves := s.ofKind(kernels.Text)
	if len(leaves) == 0 {
		return expr{}, false
	}
	e := g.choose(leaves)
	if g.one(5) {
		e.sql, e.bare = fmt.Sprintf("(%s || 'b')", e.sql), false
	}
	if g.one(5) {
		name := [...]string{"lower", "upper"}[g.r.Intn(2)]
		g.use("kernel:" + name)
		e.sql, e.bare = fmt.Sprintf("%s(%s)", name, e.sql), false
	}
	return e, true
}

// cond draws a condition on keys and attributes.
func (g *gen) cond(s *scope, depth int) expr {
	out := expr{kind: kernels.Bool}
	if depth > 0 && g.one(4) {
		op := [...]string{"AND", "OR"}[g.r.Intn(2)]
		out.sql = fmt.Sprintf("(%s %s %s)", g.cond(s, depth-1).sql, op, g.cond(s, depth-1).sql)
		g.use("where or")
		return out
	}
	out.sql = g.simpleCond(s)
	if g.one(10) {
		out.sql = "NOT (" + out.sql + ")"
	}
	return out
}

func (g *gen) simpleCond(s *scope) string {
	i := g.integer(s, 1)
	compare := [...]string{"=", "<>", "<", "<=", ">", ">="}[g.r.Intn(6)]
	switch g.pick(4, 4, 3, 3, 3, 3, 2, 2, 2, 1, 5) {
	case 0:
		g.use("where arithmetic")
		return fmt.Sprintf("%s %s %s", i.sql, compare, g.integer(s, 1).sql)
	case 1:
		g.use("where %")
		return fmt.Sprintf("%s %% %d <> %d", i.sql, 2+g.r.Intn(3), g.r.Intn(2))
	case 2:
		if leaves := s.ofKind(kernels.Bool); len(leaves) > 0 {
			g.use("where boolean attribute")
			b := g.choose(leaves).sql
			return fmt.Sprintf([...]string{"%s", "NOT %s", "%s IS TRUE", "%s IS NOT FALSE", "%s = true"}[g.r.Intn(5)], b)
		}
	case 3:
		if t, ok := g.text(s); ok {
			g.use("where text equality")
			return fmt.Sprintf("%s %s '%s'", t.sql, compare, texts[g.r.Intn(len(texts))])
		}
	case 4:
		return inList(g, s, i)
	case 5:
		g.use("where between")
		return fmt.Sprintf("%s %s %d AND %d", i.sql, [...]string{"BETWEEN", "NOT BETWEEN"}[g.pick(3, 1)],
			g.r.Intn(2), 2+g.r.Intn(2))
	case 6:
		g.use("where is null")
		return fmt.Sprintf("%s IS %s", i.sql, [...]string{"NULL", "NOT NULL"}[g.pick(1, 3)])
	case 7:
		if t, ok := g.text(s); ok {
			g.use("where like")
			return fmt.Sprintf("%s LIKE '%s'", t.sql, [...]string{"a%", "%b", "_"}[g.r.Intn(3)])
		}
	case 8:
		g.use("is distinct")
		return fmt.Sprintf("%s IS %sDISTINCT FROM %d", i.sql, [...]string{"", "NOT "}[g.pick(2, 1)], g.r.Intn(3))
	case 9:
		g.use("where constant")
		return [...]string{"TRUE", "1 = 1", "2 > 1"}[g.r.Intn(3)]
	case 10:
		if leaves := s.ofKind(kernels.Float64); len(leaves) > 0 {
			g.use("float attribute as structure")
			return fmt.Sprintf("%s %s 0.5", g.choose(leaves).sql, [...]string{"<", ">=", "=", "<>"}[g.r.Intn(4)])
		}
	}
	g.use("where arithmetic")
	return fmt.Sprintf("%s %s %d", i.sql, compare, g.r.Intn(4))
}

// inList draws a condition by which the integer i, or a text, is in a list.
func inList(g *gen, s *scope, i expr) string {
	g.use("where in list")
	if g.one(4) {
		g.use("any array")
		return fmt.Sprintf("%s %s (ARRAY[0, %d, 3])", i.sql,
			[...]string{"= ANY", "<> ALL", "> ANY"}[g.r.Intn(3)], 1+g.r.Intn(2))
	}
	if t, ok := g.text(s); ok && g.one(3) {
		return fmt.Sprintf("%s IN ('a', 'b')", t.sql)
	}
	return fmt.Sprintf("%s %s (0, %d, 3)", i.sql, [...]string{"IN", "NOT IN"}[g.pick(3, 1)], 1+g.r.Intn(2))
}

// valueCond draws a condition on values.
func (g *gen) valueCond(s *scope, depth int) expr {
	x := scalarExpr(g, s, depth)
	out := expr{kind: kernels.Bool, dep: true}
	out.sql = fmt.Sprintf("%s %s %s", x.sql, [...]string{">", "<", ">=", "<="}[g.r.Intn(4)], g.number())
	switch g.r.Intn(10) {
	case 0:
		out.sql = fmt.Sprintf("(%s AND %s)", out.sql, g.cond(s, 0).sql)
	case 1:
		out.sql = fmt.Sprintf("(%s OR %s)", g.cond(s, 0).sql, out.sql)
	case 2:
		out.sql = fmt.Sprintf("NOT (%s)", out.sql)
	case 3:
		out.sql = fmt.Sprintf("%s IS NOT NULL", x.sql)
	case 4:
		out.sql = fmt.Sprintf("%s BETWEEN -1.5 AND %s", x.sql, g.number())
	}
	return out
}

// number draws a constant that values rarely equal.
func (g *gen) number() string {
	return [...]string{"0.37", "1.13", "-0.41", "0.73", "-0.19", "0.11"}[g.r.Intn(6)]
}
