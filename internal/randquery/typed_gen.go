package randquery

import (
	"fmt"
	"slices"
	"strings"
)

// pick draws a column whose type ok accepts, seldom one that a loss refuses to compare.
func (g *typedGen) pick(cols []col, ok func(t *typ) bool) (col, bool) {
	easy := !g.one(6)
	fit := slices.DeleteFunc(slices.Clone(cols), func(c col) bool {
		t := &typs[c.t]
		return !ok(t) || easy && (t.hard || t.icu && g.q.ICU)
	})
	if len(fit) == 0 {
		return col{}, false
	}
	return fit[g.r.Intn(len(fit))], true
}

func ordered(t *typ) bool { return t.order }
func keyed(t *typ) bool   { return t.key }
func extreme(t *typ) bool { return t.order && !t.none }
func anyType(*typ) bool   { return true }

// of draws an expression of a column's type: another column, a constant, or what is made of them.
func (g *typedGen) of(c col, cols []col, inner bool) string {
	same, ok := g.pick(cols, func(t *typ) bool { return t == &typs[c.t] })
	switch k := g.r.Intn(12); {
	case k < 4 && ok:
		return same.sql
	case k == 4 && typs[c.t].order && !typs[c.t].none:
		g.use("greatest, least")
		return fmt.Sprintf("%s(%s, %s)", [...]string{"greatest", "least"}[g.r.Intn(2)], c.sql, g.literal(c.t))
	case k == 5:
		g.use("coalesce")
		return fmt.Sprintf("coalesce(%s, %s)", c.sql, g.literal(c.t))
	case k == 6 && typs[c.t].key:
		g.use("nullif")
		return fmt.Sprintf("nullif(%s, %s)", c.sql, g.literal(c.t))
	case k == 7 && inner && typs[c.t].order && !typs[c.t].none:
		g.use("scalar sub-query")
		if d, ok := g.pick(g.b, func(t *typ) bool { return t == &typs[c.t] }); ok {
			return fmt.Sprintf("(SELECT %s(%s) FROM b)", [...]string{"min", "max"}[g.r.Intn(2)], d.sql)
		}
	case k == 8:
		g.use("case of type")
		return fmt.Sprintf("CASE WHEN %s IS NULL THEN %s ELSE %s END", c.sql, g.literal(c.t), c.sql)
	}
	return g.literal(c.t)
}

// cond draws a condition on columns.
func (g *typedGen) cond(cols []col, depth int) string {
	if depth > 0 && g.one(5) {
		return fmt.Sprintf("(%s %s %s)", g.cond(cols, depth-1), [...]string{"AND", "OR"}[g.r.Intn(2)], g.cond(cols, depth-1))
	}
	if g.one(12) {
		g.use("not")
		return "NOT (" + g.cond(cols, depth) + ")"
	}
	c, ok := g.pick(cols, keyed)
	if !ok || g.one(14) {
		c, _ = g.pick(cols, anyType)
		g.use("is null")
		return c.sql + [...]string{" IS NULL", " IS NOT NULL"}[g.r.Intn(2)]
	}
	if !typs[c.t].order {
		return fmt.Sprintf("%s %s %s", c.sql, [...]string{"=", "<>"}[g.r.Intn(2)], g.of(c, cols, true))
	}
	switch g.r.Intn(9) {
	case 0:
		g.use("=")
		return fmt.Sprintf("%s %s %s", c.sql, [...]string{"=", "<>"}[g.r.Intn(2)], g.of(c, cols, true))
	case 1:
		g.use("between")
		return fmt.Sprintf("%s BETWEEN %s AND %s", c.sql, g.literal(c.t), g.literal(c.t))
	case 2:
		g.use("in list")
		return fmt.Sprintf("%s IN (%s, %s)", c.sql, g.literal(c.t), g.literal(c.t))
	case 3:
		if d, ok := g.pick(g.b, func(t *typ) bool { return t == &typs[c.t] }); ok {
			g.use("in select")
			return fmt.Sprintf("%s IN (SELECT %s FROM b%s)", c.sql, d.sql, g.where(g.b))
		}
	case 4:
		if d, ok := g.pick(g.b, func(t *typ) bool { return t == &typs[c.t] }); ok {
			g.use("exists")
			return fmt.Sprintf("%sEXISTS (SELECT 1 FROM b WHERE %s %s %s)", [...]string{"", "NOT "}[g.r.Intn(2)], d.sql,
				[...]string{"=", "=", "=", "=", "=", "<", ">="}[g.r.Intn(7)], c.sql)
		}
	case 5:
		g.use("is distinct")
		return fmt.Sprintf("%s IS %sDISTINCT FROM %s", c.sql, [...]string{"", "NOT "}[g.r.Intn(2)], g.of(c, cols, true))
	case 6:
		if typs[c.t].text && !strings.Contains(typs[c.t].name, "nocase") {
			g.use("like")
			return fmt.Sprintf("%s LIKE '%s'", c.sql, [...]string{"a%", "%b", "_", "1%"}[g.r.Intn(4)])
		}
	}
	g.use("<")
	return fmt.Sprintf("%s %s %s", c.sql, [...]string{"<", "<=", ">", ">="}[g.r.Intn(4)], g.of(c, cols, true))
}

func (g *typedGen) where(cols []col) string {
	if g.one(2) {
		return ""
	}
	return " WHERE " + g.cond(cols, 1)
}

// number draws a factor of x that depends on columns.
func (g *typedGen) number(cols []col, window bool) string {
	c, ok := g.pick(cols, ordered)
	switch k := g.r.Intn(10); {
	case k < 3:
		return fmt.Sprintf("CASE WHEN %s THEN 2 ELSE 0.5 END", g.cond(cols, 1))
	case k < 6 && window && ok:
		g.use("window")
		dir := [...]string{"", " DESC", " NULLS FIRST"}[g.r.Intn(3)]
		switch g.r.Intn(10) {
		case 0, 1, 2:
			return fmt.Sprintf("rank() OVER (ORDER BY %s%s)", c.sql, dir)
		case 3, 4, 5:
			return fmt.Sprintf("row_number() OVER (ORDER BY %s%s, a.n)", c.sql, dir)
		case 6, 7, 8:
			return fmt.Sprintf("count(*) OVER (PARTITION BY %s)", c.sql)
		}
		return fmt.Sprintf("dense_rank() OVER (ORDER BY %s%s)", c.sql, dir)
	case k < 8 && ok:
		if d, ok := g.pick(g.b, func(t *typ) bool { return t == &typs[c.t] }); ok {
			g.use("correlated count")
			return fmt.Sprintf("(SELECT count(*) FROM b WHERE %s %s %s)", d.sql,
				[...]string{"=", "=", "=", "=", "=", "<", ">"}[g.r.Intn(7)], c.sql)
		}
	}
	return "a.x"
}

// from draws what joins a, with the columns that it adds.
func (g *typedGen) from() (string, []col) {
	cols := slices.Clone(g.a)
	c, ok := g.pick(g.a, keyed)
	d, same := g.pick(g.b, func(t *typ) bool { return ok && t == &typs[c.t] })
	if !ok || !same || g.one(4) {
		return "a", cols
	}
	q := g.name("q")
	switch g.r.Intn(7) {
	case 0:
		g.use("join")
		return fmt.Sprintf("a JOIN b ON %s = %s", c.sql, d.sql), append(cols, g.b...)
	case 1:
		g.use("left join")
		return fmt.Sprintf("a LEFT JOIN b ON %s = %s", d.sql, c.sql), append(cols, g.b...)
	case 2:
		g.use("join distinct")
		return fmt.Sprintf("a JOIN (SELECT DISTINCT %s AS v FROM b) %s ON %s.v = %s", d.sql, q, q, c.sql),
			append(cols, col{q + ".v", d.t, true})
	case 3:
		g.use("join group by")
		m, _ := g.pick(g.b, extreme)
		item := "count(*)"
		if m.sql != "" {
			item = fmt.Sprintf("max(%s)", m.sql)
		}
		cols = append(cols, col{q + ".v", d.t, true})
		if m.sql != "" {
			cols = append(cols, col{q + ".m", m.t, true})
		}
		return fmt.Sprintf("a JOIN (SELECT %s AS v, %s AS m FROM b GROUP BY %s) %s ON %s = %s.v", d.sql, item,
			d.sql, q, c.sql, q), cols
	case 4:
		g.use("join limit")
		o, has := g.pick(g.b, ordered)
		order := "b.id"
		if has {
			order = o.sql + ", b.id"
		}
		return fmt.Sprintf("a JOIN (SELECT %s AS v FROM b ORDER BY %s LIMIT 3) %s ON %s.v = %s", d.sql, order, q, q, c.sql),
			append(cols, col{q + ".v", d.t, true})
	case 5:
		g.use("join values")
		cast := typs[c.t].cast
		if cast == "" {
			cast = typs[c.t].name
		}
		return fmt.Sprintf("a JOIN (VALUES (%s::%s, 1.5), (%s, 2.5)) AS %s(v, w) ON %s.v = %s", g.value(c.t, false), cast,
			g.value(c.t, false), q, q, c.sql), append(cols, col{q + ".v", c.t, true})
	}
	g.use("join order")
	if !typs[c.t].order {
		return "a", cols
	}
	return fmt.Sprintf("a JOIN b ON %s %s %s", c.sql, [...]string{"<", ">="}[g.r.Intn(2)], d.sql), append(cols, g.b...)
}

// loss draws the whole query.
func (g *typedGen) loss() string {
	from, cols := g.from()
	plain := from == "a"
	c, grouped := g.pick(g.a, keyed)
	m, has := g.pick(g.a, extreme)
	switch k := g.r.Intn(8); {
	case k < 3 && grouped:
		g.use("group by")
		items, where := "", ""
		if has {
			items = fmt.Sprintf(", %s(%s) AS m", [...]string{"min", "max"}[g.r.Intn(2)], m.sql)
			if g.one(2) {
				g.use("condition on an extreme")
				where = fmt.Sprintf(" WHERE q.m %s %s", [...]string{"<", "=", ">="}[g.r.Intn(3)], g.literal(m.t))
			}
		}
		having := ""
		if has && g.one(4) {
			g.use("having")
			having = fmt.Sprintf(" HAVING max(%s) > %s", m.sql, g.literal(m.t))
		}
		return fmt.Sprintf("SELECT coalesce(sum(q.s * q.s), 0) + coalesce(sum(q.s * q.c), 0) "+
			"FROM (SELECT %s AS v, sum(a.x) AS s, count(*) AS c%s FROM %s%s GROUP BY %s%s) q%s",
			c.sql, items, from, g.where(cols), c.sql, having, where)
	case k == 3 && plain:
		if o, ok := g.pick(g.a, ordered); ok {
			g.use("window sum")
			return fmt.Sprintf(
				"SELECT coalesce(sum(q.s * q.s * q.n), 0) FROM (SELECT a.n, sum(a.x) OVER (%sORDER BY %s, a.n) AS s FROM a%s) q",
				[...]string{"", "PARTITION BY " + c.sql + " "}[map[bool]int{grouped: g.r.Intn(2)}[true]], o.sql, g.where(g.a))
		}
	case k == 4 && plain:
		if o, ok := g.pick(g.a, ordered); ok {
			g.use("array_agg")
			return fmt.Sprintf("SELECT sqnorm(array_agg(a.x ORDER BY %s%s, a.n)) + dot(array_agg(a.x "+
				"ORDER BY %s, a.n), array_agg(a.x ORDER BY a.n)) FROM a", o.sql, [...]string{"", " DESC"}[g.r.Intn(2)], o.sql)
		}
	case k == 5 && plain:
		if o, ok := g.pick(g.a, ordered); ok {
			g.use("lag")
			return fmt.Sprintf(
				"SELECT coalesce(sum(q.l * q.x), 0) FROM (SELECT a.x, lag(a.x, 1, 0.5) OVER (ORDER BY %s, a.n) AS l FROM a%s) q",
				o.sql, g.where(g.a))
		}
	}
	g.use("sum")
	if plain {
		return fmt.Sprintf("SELECT coalesce(sum(q.x * q.f), 0) FROM (SELECT a.x, %s AS f FROM a%s) q",
			g.number(cols, true), g.where(cols))
	}
	return fmt.Sprintf("SELECT coalesce(sum(a.x * %s), 0) FROM %s%s", g.number(cols, false), from, g.where(cols))
}

// Report prints a query so that it can be replayed by hand.
func (q *Typed) Report() string {
	var b strings.Builder
	if q.ICU {
		b.WriteString("-- CREATE DATABASE icu TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'\n")
	}
	b.WriteString("-- with the types of randquery.TypedSetup\n" + strings.Join(q.Script, ";\n") + ";\n")
	for _, s := range q.Settings {
		b.WriteString("SET " + s + ";\n")
	}
	fmt.Fprintf(&b, "%s;\nSELECT backward($loss$%s$loss$, ARRAY['a.x'])\n", q.Loss, q.Loss)
	return b.String()
}
