package randquery

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/kernels"
)

// noteBeyond adds to a scope values that other rows decide: an aggregate over a partition, which may stand in the
// SELECT list only, a correlated sub-query, and a table's column as one chunk.
func noteBeyond(g *gen, s *scope, window bool) {
	positions := len(s.items) == 1 && s.items[0].rel.keys != nil && !s.masked
	if window && (g.one(7) || positions && g.one(6)) {
		s.leaves = append(s.leaves, windowExpr(g, s))
	}
	if g.one(10) {
		if e, ok := correlatedExpr(g, s); ok {
			s.leaves = append(s.leaves, e)
		}
	}
	if g.one(60) {
		if e, ok := stackExpr(g); ok {
			s.leaves = append(s.leaves, e)
		}
	}
}

// windowExpr draws an aggregate OVER (PARTITION BY … ORDER BY …).
func windowExpr(g *gen, s *scope) expr {
	shape := g.shape()
	if g.one(2) {
		shape = nil
	}
	e := rawAggregate(g, s, shape, 0)
	g.use("window")
	over := ""
	if g.one(2) {
		over = "PARTITION BY " + g.integer(s, 1).sql
		if t, ok := g.text(s); ok && g.one(3) {
			over += ", " + t.sql
		}
		g.use("partition by")
	}
	if order, unique := orderText(g, s); order != "" && !strings.HasPrefix(e.sql, "var") && (unique || g.one(2)) {
		over += " ORDER BY " + order
		g.use("window order")
		switch k := g.pick(27, 38, 33, 2, 12); {
		case k == 4:
			g.use("window peers")
			over += [...]string{" RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", " RANGE CURRENT ROW",
				" RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"}[g.r.Intn(3)]
		case !unique || k == 3:
		case k == 0:
			g.use("window frame")
			if g.one(5) { // without the row, and perhaps without any
				n := 1 + g.r.Intn(2)
				over += fmt.Sprintf([...]string{" ROWS BETWEEN %[2]d PRECEDING AND %[1]d PRECEDING",
					" ROWS BETWEEN %[1]d FOLLOWING AND %[2]d FOLLOWING", " ROWS BETWEEN UNBOUNDED PRECEDING AND %[1]d PRECEDING",
					" ROWS BETWEEN %[1]d FOLLOWING AND UNBOUNDED FOLLOWING"}[g.r.Intn(4)], n, n+g.r.Intn(2))
				e.null = true
				break
			}
			over += fmt.Sprintf(" ROWS BETWEEN %d PRECEDING AND %d FOLLOWING", g.r.Intn(3), g.r.Intn(3)-1)
			over = strings.NewReplacer("0 PRECEDING", "UNBOUNDED PRECEDING", "-1 FOLLOWING",
				"UNBOUNDED FOLLOWING", "0 FOLLOWING", "CURRENT ROW").Replace(over)
			e.null = true
		case k == 1:
			g.use("lag, lead")
			x := liveExpr(g, s, arrayExpr(g, s, shape, 0))
			e.sql, e.mag, e.null = fmt.Sprintf("%s(%s, %d)", [...]string{"lag", "lead"}[g.r.Intn(2)], x.sql,
				g.r.Intn(3)), x.mag, true
			if g.one(2) {
				g.use("first_value")
				e.sql = fmt.Sprintf([...]string{"first_value(%s)", "last_value(%s)", "nth_value(%s, 2)"}[g.r.Intn(3)], x.sql)
				over += [...]string{"", " ROWS 1 PRECEDING", " ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING",
					" ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING", " RANGE CURRENT ROW"}[g.r.Intn(5)]
			}
		case k == 2:
			g.use("row_number")
			over += ") * " + rankText(g, order)
			e.mag *= 10
		}
	}
	e.sql += fmt.Sprintf(" OVER (%s)", over)
	return tame(g, half(e), 20)
}

// rankText draws a rank and its window up to the order, which tells rows apart. Some have an order that does not.
func rankText(g *gen, order string) string {
	if g.one(3) {
		return "row_number() OVER (ORDER BY " + order
	}
	g.use("rank")
	ranks := [...]string{"ntile(2)", "rank()", "dense_rank()", "(1 + percent_rank()", "(1 + cume_dist()"}
	k := g.r.Intn(len(ranks))
	if k > 0 && g.one(2) {
		order, _, _ = strings.Cut(order, ", ")
	}
	if ranks[k][0] == '(' {
		order += ")"
	}
	return ranks[k] + " OVER (ORDER BY " + order
}

// orderText draws ORDER BY of keys and attributes; unique says that no two rows are equal in it, so that it gives
// positions.
func orderText(g *gen, s *scope) (text string, unique bool) {
	dir := func() string { return [...]string{"", " DESC", " NULLS FIRST"}[g.r.Intn(3)] }
	if len(s.items) == 1 && s.items[0].rel.keys != nil && !s.masked {
		var keys []string
		for i := range s.items[0].rel.keys {
			keys = append(keys, s.leaves[s.items[0].from+i].sql+dir())
		}
		return strings.Join(keys, ", "), true
	}
	if len(s.ofKind(kernels.Int)) == 0 {
		return "", false
	}
	return g.integer(s, 1).sql + dir(), false
}

// stackExpr draws array_agg of a table's column.
func stackExpr(g *gen) (expr, bool) {
	t := g.q.DB.Tables[g.r.Intn(len(g.q.DB.Tables))]
	var keys []string
	alias := g.name("a")
	for _, c := range t.Cols[:t.Keys] {
		keys = append(keys, alias+"."+c.Name)
	}
	for _, c := range g.table(t).cols {
		if c.kind != kernels.Float64 || c.null && c.shape != nil || t.Rows == 0 || keys == nil {
			continue
		}
		x := alias + "." + c.name
		if c.null {
			x = "COALESCE(" + x + ", 0.5)"
		}
		g.use("array_agg")
		e := expr{shape: append([]int{t.Rows}, c.shape...), mag: c.mag, dep: c.dep}
		e.sql = fmt.Sprintf("(SELECT array_agg(%s ORDER BY %s) FROM %s %s)", x, strings.Join(keys, ", "), t.Name, alias)
		return e, true
	}
	return expr{}, false
}

// unnestItem draws the elements of a chunk of FROM as rows; "" where there is none.
func unnestItem(g *gen, s *scope) string {
	chunks := s.chunks()
	if len(chunks) == 0 || s.rows > maxRows/4 {
		return ""
	}
	g.use("unnest")
	c, u, x, i := g.choose(chunks), g.name("u"), g.name("e"), g.name("i")
	s.leaves = append(s.leaves, expr{sql: u + "." + x, mag: c.mag, kind: kernels.Float64, dep: c.dep, null: true},
		expr{sql: u + "." + i, kind: kernels.Int, mag: 4})
	s.rows *= 4
	s.masked = s.masked || c.null
	return fmt.Sprintf("unnest(%s) WITH ORDINALITY AS %s(%s, %s)", c.sql, u, x, i)
}

// someTable draws a table under an alias of its own, with its columns.
func someTable(g *gen) (from string, inner *scope) {
	t := g.q.DB.Tables[g.r.Intn(len(g.q.DB.Tables))]
	alias := g.name("a")
	inner = &scope{rows: float64(t.Rows), sub: 0}
	for _, c := range g.table(t).cols {
		e := c.expr
		e.sql = alias + "." + c.name
		inner.leaves = append(inner.leaves, e)
	}
	return t.Name + " " + alias, inner
}

// meetsAny draws conditions that equate attributes of a sub-query with ones around it; "" where there are none.
func meetsAny(g *gen, s, inner *scope) string {
	kind := [...]kernels.Kind{kernels.Int, kernels.Int, kernels.Text}[g.r.Intn(3)]
	l, r := s.ofKind(kind), inner.ofKind(kind)
	if len(l) == 0 || len(r) == 0 {
		return ""
	}
	a, b := g.choose(l).sql, g.choose(r).sql
	if kind == kernels.Int && g.one(4) {
		a = fmt.Sprintf("(%s + 1) %% 4", a)
	}
	if g.one(2) {
		a, b = b, a
	}
	cond := a + " = " + b
	if g.one(4) {
		cond += " AND " + meetsOne(g, s, inner)
	}
	return cond
}

func meetsOne(g *gen, s, inner *scope) string {
	l, r := s.ofKind(kernels.Int), inner.ofKind(kernels.Int)
	if len(l) == 0 || len(r) == 0 {
		return "TRUE"
	}
	return g.choose(l).sql + " = " + g.choose(r).sql
}

// correlatedExpr draws a scalar sub-query that is an aggregate over the rows that meet the row around it.
func correlatedExpr(g *gen, s *scope) (expr, bool) {
	from, inner := someTable(g)
	cond := meetsAny(g, s, inner)
	if cond == "" {
		return expr{}, false
	}
	g.use("correlated sub-query")
	if g.one(3) {
		cond += " AND " + g.cond(inner, 0).sql
	}
	if g.one(5) {
		cond += " AND " + g.valueCond(inner, 0).sql
	}
	e := rawAggregate(g, inner, nil, 0)
	if g.one(3) {
		e.sql, e.null = fmt.Sprintf("COALESCE(%s, 0.25) + 0.5 * count(*)", e.sql), false
		e.mag += inner.rows
	}
	e = half(e)
	e.sql, e.dep = fmt.Sprintf("(SELECT %s FROM %s WHERE %s)", e.sql, from, cond), true
	return tame(g, e, 20), true
}

// existsCond draws [NOT] EXISTS (SELECT …) with conditions on keys and attributes of both queries, or x [NOT] IN
// (SELECT …) with one on both.
func existsCond(g *gen, s *scope) string {
	from, inner := someTable(g)
	cond := meetsAny(g, s, inner)
	if cond == "" {
		return ""
	}
	if g.one(3) {
		cond += fmt.Sprintf(" AND %s %s %s", g.integer(inner, 0).sql,
			[...]string{"<", "<>", ">="}[g.r.Intn(3)], g.integer(s, 0).sql)
	}
	if g.one(3) {
		cond += " AND " + g.cond(inner, 0).sql
	}
	if left := s.ofKind(kernels.Int); len(left) > 0 && g.one(2) {
		g.use("correlated in")
		return fmt.Sprintf("%s IN (SELECT %s FROM %s WHERE %s)", g.choose(left).sql, g.integer(inner, 0).sql, from, cond)
	}
	if g.one(2) {
		g.use("not exists")
		return fmt.Sprintf("NOT EXISTS (SELECT 1 FROM %s WHERE %s)", from, cond)
	}
	g.use("exists")
	return fmt.Sprintf("EXISTS (SELECT %s FROM %s WHERE %s)", g.integer(inner, 0).sql, from, cond)
}

// notInCond draws x NOT IN (SELECT …) of attributes that hold no NULL.
func notInCond(g *gen, s *scope) string {
	from, inner := someTable(g)
	var l, r []expr
	for _, e := range s.ofKind(kernels.Int) {
		if !e.null && e.bare {
			l = append(l, e)
		}
	}
	for _, e := range inner.ofKind(kernels.Int) {
		if !e.null {
			r = append(r, e)
		}
	}
	if len(l) == 0 || len(r) == 0 {
		return ""
	}
	g.use("not in (select)")
	text := fmt.Sprintf("%s NOT IN (SELECT %s FROM %s", g.choose(l).sql, g.choose(r).sql, from)
	if g.one(2) {
		text += " WHERE " + g.cond(inner, 0).sql
	}
	return text + ")"
}

// arrayOfRows draws ARRAY[…] of scalars.
func arrayOfRows(g *gen, s *scope, n, depth int) expr {
	g.use("array of values")
	out := expr{shape: []int{n}}
	var parts []string
	for range n {
		e := scalarExpr(g, s, depth-1)
		if e.null {
			e.sql, e.null = "COALESCE("+e.sql+", 0.5)", false
		}
		out.mag, out.dep = max(out.mag, e.mag), out.dep || e.dep
		parts = append(parts, e.sql)
	}
	out.sql = "ARRAY[" + strings.Join(parts, ", ") + "]::double precision[]"
	return out
}
