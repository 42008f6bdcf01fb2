package randquery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/kernels"
)

// queryRelation draws a query whose columns have the kinds and shapes of sig, as a relation whose sql is the query.
func queryRelation(g *gen, depth int, sig []outCol) *relation {
	with := ""
	if depth > 0 && len(g.ctes) < 2 && g.one(6) {
		with = withClause(g, depth)
		defer func() { g.ctes = g.ctes[:len(g.ctes)-1] }()
	}
	draw := selectRelation
	if depth > 0 && g.one(7) {
		draw = unionRelation
	}
	rel := draw(g, depth, sig)
	rel.sql = with + rel.sql
	return rel
}

// withClause opens a WITH clause of one or two queries, which stay visible until the caller closes it.
func withClause(g *gen, depth int) string {
	var parts []string
	g.ctes = append(g.ctes, nil)
	at := len(g.ctes) - 1
	for range 1 + g.r.Intn(2) {
		name := g.name("q")
		rel := queryRelation(g, depth-1, g.signature(2))
		head := name
		if g.one(3) {
			names := make([]string, len(rel.cols))
			rel.cols = slices.Clone(rel.cols)
			for i := range rel.cols {
				if rel.cols[i].kind == kernels.Float64 {
					rel.cols[i].name = g.name("y")
				}
				names[i] = rel.cols[i].name
			}
			head += "(" + strings.Join(names, ", ") + ")"
		}
		parts = append(parts, fmt.Sprintf("%s AS (%s)", head, rel.sql))
		rel.sql, rel.uses = name, []string{"cte"}
		g.ctes[at] = append(g.ctes[at], rel)
	}
	return "WITH " + strings.Join(parts, ", ") + " "
}

// unionRelation draws UNION ALL of two or three queries.
func unionRelation(g *gen, depth int, sig []outCol) *relation {
	g.use("union all")
	n := 2
	if g.one(3) {
		n = 3
		g.use("union all of 3")
	}
	var out *relation
	for range n {
		rel := selectRelation(g, depth-1, sig)
		if out == nil {
			out = rel
			continue
		}
		out.sql += " UNION ALL " + rel.sql
		out.rows, out.hidden, out.masked = out.rows+rel.rows, out.hidden || rel.hidden, out.masked || rel.masked
		for i, c := range rel.cols {
			o := &out.cols[i]
			o.mag, o.dep, o.null = max(o.mag, c.mag), o.dep || c.dep, o.null || c.null
		}
	}
	return out
}

func selectRelation(g *gen, depth int, sig []outCol) *relation {
	if g.one(3) {
		return groupedSelect(g, depth, sig)
	}
	from, s := g.from(depth)
	where := whereClause(g, s, depth)
	unqualify(g, s)
	noteBeyond(g, s, true)
	cols, targets := targetList(g, s, sig, depth)
	sql := fmt.Sprintf("SELECT %s FROM %s%s", strings.Join(targets, ", "), from, where)
	return &relation{sql: sql, cols: cols, rows: s.rows, hidden: s.hidden, masked: s.masked}
}

// targetList draws the select list for a signature.
func targetList(g *gen, s *scope, sig []outCol, depth int) ([]outCol, []string) {
	var cols []outCol
	var targets []string
	for _, c := range sig {
		e := targetExpr(g, s, c, depth)
		targets = append(targets, e.sql+" AS "+c.name)
		cols = append(cols, outCol{c.name, describe(c, e)})
	}
	return cols, targets
}

// describe is the column that holds an expression.
func describe(c outCol, e expr) expr {
	return expr{kind: c.kind, shape: c.shape, mag: e.mag, dep: e.dep || c.kind == kernels.Float64,
		null: e.null, draws: true}
}

func targetExpr(g *gen, s *scope, c outCol, depth int) expr {
	switch c.kind {
	case kernels.Int:
		return g.integer(s, 1)
	case kernels.Bool:
		if g.one(2) {
			e := g.cond(s, 0)
			e.sql = "(" + e.sql + ")"
			return e
		}
		return g.boolean(s)
	case kernels.Text:
		if e, ok := g.text(s); ok {
			return e
		}
		return expr{sql: "'a'::text", kind: kernels.Text}
	}
	return liveExpr(g, s, arrayExpr(g, s, c.shape, depth))
}

// liveExpr mostly makes a value depend on a column that may be a parameter.
func liveExpr(g *gen, s *scope, e expr) expr {
	if e.dep || g.one(12) {
		return e
	}
	var own []expr
	for _, l := range s.leaves {
		if l.dep {
			own = append(own, l)
		}
	}
	if len(own) == 0 {
		return e
	}
	x := adaptShape(g, g.choose(own), e.shape)
	if e.shape == nil {
		return arithScalar(g, e, x)
	}
	return arithChunk(g, e, x)
}

// whereClause draws a WHERE clause, with the conditions that comma joins left.
func whereClause(g *gen, s *scope, depth int) string {
	conds := s.where
	for range g.pick(58, 34, 8) {
		switch g.pick(58, 24, 18) {
		case 0:
			conds = append(conds, g.cond(s, 1).sql)
		case 1:
			conds = append(conds, g.valueCond(s, 1).sql)
			g.use("value mask")
			s.masked = true
		case 2:
			if c := semiCond(g, s, depth); c != "" {
				conds = append(conds, c)
			}
		}
	}
	if len(conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conds, " AND ")
}

// semiCond draws x IN (SELECT …) on keys or attributes.
func semiCond(g *gen, s *scope, depth int) string {
	var left []expr
	for _, k := range []kernels.Kind{kernels.Int, kernels.Text} {
		left = append(left, s.ofKind(k)...)
	}
	if len(left) == 0 {
		return ""
	}
	switch g.pick(4, 4, 1) {
	case 1:
		return existsCond(g, s)
	case 2:
		return notInCond(g, s)
	}
	l := g.choose(left)
	g.use("in (select)")
	if depth > 0 && g.one(3) {
		rel := queryRelation(g, 0, []outCol{{g.name("z"), expr{kind: l.kind}}})
		if !rel.masked { // values cannot decide who has a partner
			return fmt.Sprintf("%s IN (%s)", l.sql, rel.sql)
		}
	}
	t := g.q.DB.Tables[g.r.Intn(len(g.q.DB.Tables))]
	inner := &scope{}
	alias := g.name("a")
	for _, c := range g.table(t).cols {
		e := c.expr
		e.sql = alias + "." + c.name
		inner.leaves = append(inner.leaves, e)
	}
	x := targetExpr(g, inner, outCol{"", expr{kind: l.kind}}, 0)
	text := fmt.Sprintf("%s IN (SELECT %s FROM %s %s", l.sql, x.sql, t.Name, alias)
	if g.one(3) {
		return fmt.Sprintf("%s) AND %s WHERE %s)", text, text, g.cond(inner, 0).sql) // one is a choice of the other
	}
	if g.one(2) {
		text += " WHERE " + g.cond(inner, 0).sql
	}
	return text + ")"
}

// unqualify lets some columns be named without their relation, where that is clear.
func unqualify(g *gen, s *scope) {
	count := map[string]int{}
	for _, it := range s.items {
		for _, n := range it.names {
			count[n]++
		}
	}
	for _, it := range s.items {
		for i, n := range it.names {
			if count[n] == 1 && g.one(4) {
				s.leaves[it.from+i].sql = n
				g.use("unqualified column")
			}
		}
	}
}

// groupedSelect draws SELECT … GROUP BY for a signature.
func groupedSelect(g *gen, depth int, sig []outCol) *relation {
	from, s := g.from(depth)
	where := whereClause(g, s, depth)
	unqualify(g, s)
	noteBeyond(g, s, false)
	post := &scope{rows: max(1, s.rows/2), above: true, sub: 1}
	var groups []string
	cols, targets := make([]outCol, len(sig)), make([]string, len(sig))
	it, whole := dependencyScope(g, s, &groups)
	for i, c := range sig {
		if c.kind == kernels.Float64 {
			continue
		}
		var e expr
		if whole && g.one(2) && len(it.ofKind(c.kind)) > 0 {
			e = g.choose(it.ofKind(c.kind)) // determined by the key that is grouped
			g.use("functional dependency")
		} else {
			e = groupItem(g, s, c, i+1, &groups)
		}
		targets[i] = e.sql + " AS " + c.name
		cols[i] = outCol{c.name, describe(c, e)}
		post.leaves = append(post.leaves, e)
	}
	if len(groups) == 0 {
		e := groupItem(g, s, outCol{"", expr{kind: kernels.Int}}, 0, &groups)
		post.leaves = append(post.leaves, e)
	}
	group := len(post.leaves)
	for i, c := range sig {
		if c.kind != kernels.Float64 {
			continue
		}
		post.leaves = append(post.leaves, aggregateExpr(g, s, c.shape, depth-1))
		if g.one(3) {
			post.leaves = append(post.leaves, aggregateExpr(g, s, nil, depth-1))
		}
		e := arrayExpr(g, post, c.shape, g.pick(60, 30, 10))
		if groups == nil && !strings.Contains(e.sql, post.leaves[group].sql) {
			e = adaptShape(g, g.choose(post.leaves[group:]), c.shape) // one row needs an aggregate
		}
		targets[i] = e.sql + " AS " + c.name
		cols[i] = outCol{c.name, describe(c, e)}
	}
	sql := fmt.Sprintf("SELECT %s FROM %s%s", strings.Join(targets, ", "), from, where)
	if groups != nil {
		sql += " GROUP BY " + strings.Join(groups, ", ")
	}
	switch g.pick(80, 10, 10) {
	case 1:
		keys := &scope{leaves: post.leaves[:group]}
		sql += " HAVING " + g.cond(keys, 0).sql
		g.use("having on keys")
	case 2:
		sql += fmt.Sprintf(" HAVING count(*) %s %d", [...]string{">=", "<", "<>"}[g.r.Intn(3)], 1+g.r.Intn(3))
		g.use("having on count")
	}
	return &relation{sql: sql, cols: cols, rows: post.rows, masked: s.masked}
}

// dependencyScope groups by the whole key of a table of FROM, which determines its other columns.
func dependencyScope(g *gen, s *scope, groups *[]string) (*scope, bool) {
	for _, it := range s.items {
		if it.rel.keys == nil || it.outer || !g.one(3) {
			continue
		}
		own := &scope{leaves: s.leaves[it.from : it.from+len(it.names)]}
		for i := range it.rel.keys {
			*groups = append(*groups, own.leaves[i].sql)
		}
		return own, true
	}
	return nil, false
}

// groupItem draws a group for output column c at a position (0: not an output) and adds it to GROUP BY; a
// scope without columns to make it of gives a constant, which needs no group.
func groupItem(g *gen, s *scope, c outCol, position int, groups *[]string) expr {
	if fixed := s.ofKind(kernels.Float64); len(fixed) > 0 && position == 0 && g.one(2) {
		e := g.choose(fixed)
		g.use("float attribute as structure")
		*groups = append(*groups, e.sql)
		return e
	}
	leaves := s.ofKind(c.kind)
	if len(leaves) == 0 && (c.kind != kernels.Bool || len(s.ofKind(kernels.Int)) == 0) {
		text := map[kernels.Kind]string{kernels.Int: "2", kernels.Text: "'a'::text", kernels.Bool: "TRUE"}[c.kind]
		return expr{sql: text, kind: c.kind, mag: 2}
	}
	e := targetExpr(g, s, c, 0)
	if len(leaves) > 0 && (g.one(2) || !readsColumn(s, e)) {
		e = g.choose(leaves)
	}
	if array := strings.Contains(e.sql, "(ARRAY["); c.kind == kernels.Bool && array &&
		len(s.ofKind(kernels.Int)) > 0 || !readsColumn(s, e) {
		e = expr{sql: "(" + s.ofKind(kernels.Int)[0].sql + " > 1)", kind: kernels.Bool}
	}
	if c.kind == kernels.Int && g.one(3) {
		e = expr{sql: fmt.Sprintf("(%s %% 2)", e.sql), kind: kernels.Int, null: e.null, mag: 2}
	}
	if e.null {
		g.use("group by nullable")
	}
	taken := position == 0
	for _, l := range s.items {
		taken = taken || slices.Contains(l.names, c.name)
	}
	switch k := g.pick(60, 20, 20); {
	case k == 1 && position > 0:
		*groups = append(*groups, fmt.Sprint(position))
		g.use("group by position")
	case k == 2 && !taken:
		*groups = append(*groups, c.name)
		g.use("group by alias")
	case e.bare:
		*groups = append(*groups, e.sql)
		g.use("group by column")
	default:
		*groups = append(*groups, e.sql)
		g.use("group by expression")
	}
	return e
}

// readsColumn reports whether an expression names a leaf of the scope.
func readsColumn(s *scope, e expr) bool {
	return slices.ContainsFunc(s.leaves, func(l expr) bool { return strings.Contains(e.sql, l.sql) })
}

// aggregateExpr draws an aggregate of a shape whose values are small.
func aggregateExpr(g *gen, s *scope, shape []int, depth int) expr {
	return tame(g, half(rawAggregate(g, s, shape, depth)), 20)
}

// half makes a count a floating-point number.
func half(e expr) expr {
	if strings.HasPrefix(e.sql, "count(") {
		e.sql = "(" + e.sql + " * 0.5)"
	}
	return e
}

// rawAggregate draws a call of an aggregate.
func rawAggregate(g *gen, s *scope, shape []int, depth int) expr {
	filter := ""
	switch g.pick(80, 10, 10) {
	case 1:
		filter = fmt.Sprintf(" FILTER (WHERE %s)", g.cond(s, 0).sql)
		g.use("filter on keys")
	case 2:
		filter = fmt.Sprintf(" FILTER (WHERE %s)", g.valueCond(s, 0).sql)
		g.use("filter on values")
	}
	out := expr{shape: shape, dep: true, null: true}
	k := g.pick(46, 18, 11, 10, 8, 7)
	if k == 4 && shape == nil {
		g.use("count")
		out.sql, out.mag, out.null = "count(*)"+filter, s.rows, false
		if x := s.floats(nil); len(x) > 0 && g.one(2) {
			out.sql = fmt.Sprintf("count(%s)%s", g.choose(x).sql, filter)
		}
		return out
	}
	if len(shape) == 1 && k >= 4 {
		x := liveExpr(g, s, scalarExpr(g, s, depth))
		g.use("vector_agg")
		out.sql = fmt.Sprintf("vector_agg((%s %% %d + %d) %% %d, %s, %d)%s", g.integer(s, 1).sql, shape[0], shape[0],
			shape[0], x.sql, shape[0], filter)
		out.mag = x.mag * min(s.rows, 10)
		return out
	}
	x := liveExpr(g, s, arrayExpr(g, s, shape, depth))
	if strings.Contains(x.sql, "CASE WHEN") {
		g.use("mask inside aggregate")
	}
	fn := "sum"
	out.mag = x.mag * min(s.rows, 10)
	switch {
	case k == 1:
		fn, out.mag = "avg", x.mag
	case k == 2 || k == 3:
		fn, out.mag = [...]string{"min", "max"}[k-2], x.mag
		if shape != nil {
			fn += "_agg"
		}
	case k == 5 && shape == nil:
		fn, out.mag = [...]string{"var_pop", "var_samp", "variance"}[g.r.Intn(3)], x.mag*x.mag
	}
	g.use(strings.TrimSuffix(map[bool]string{true: "chunk "}[shape != nil]+fn, "_agg"))
	out.sql = fmt.Sprintf("%s(%s)%s", fn, x.sql, filter)
	return out
}

// lossText draws a query of one row and one scalar.
func lossText(g *gen, depth int) string {
	if depth > 1 && g.one(12) {
		g.use("loss without from")
		return fmt.Sprintf("SELECT (%s) + COALESCE((%s), 0.5) AS loss", lossText(g, depth-1), lossText(g, depth-1))
	}
	with := ""
	if depth > 0 && len(g.ctes) < 2 && g.one(5) {
		with = withClause(g, depth)
		defer func() { g.ctes = g.ctes[:len(g.ctes)-1] }()
	}
	from, s := g.from(depth)
	where := whereClause(g, s, depth)
	unqualify(g, s)
	noteBeyond(g, s, false)
	post := &scope{rows: 1, above: true, sub: 1}
	for range 1 + g.pick(60, 30, 10) {
		shape := g.shape()
		if g.one(2) {
			shape = nil
		}
		post.leaves = append(post.leaves, aggregateExpr(g, s, shape, depth))
	}
	x := arrayExpr(g, post, nil, g.pick(50, 30, 20))
	if !strings.Contains(x.sql, post.leaves[0].sql) || len(post.leaves) > 1 {
		for _, l := range post.leaves {
			if !strings.Contains(x.sql, l.sql) || !tooLong(x) {
				x = arithScalar(g, x, reduceExpr(g, l))
			}
		}
	}
	if !g.one(4) {
		x.sql = "COALESCE(" + x.sql + ", 0.0)"
	}
	return fmt.Sprintf("%sSELECT %s AS loss FROM %s%s", with, x.sql, from, where)
}
