package randquery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/kernels"
)

// scope is what expressions of one SELECT may read.
type scope struct {
	leaves         []expr
	items          []item
	where          []string // conditions that the joins left for WHERE
	rows           float64
	hidden, masked bool
	above          bool // above a grouping: no aggregates, no draws
	sub            int  // scalar sub-queries that may still be drawn
}

// item is an entry of FROM.
type item struct {
	alias string
	rel   *relation
	from  int // its columns are leaves[from:]
	names []string
	outer bool // part of an outer join: its key determines nothing to the binder
}

// visible is a column name of a join group, for USING and NATURAL.
type visible struct {
	name string
	leaf int
}

// maxRows bounds the estimated rows of a join.
const maxRows = 40

// from draws a FROM clause.
func (g *gen) from(depth int) (string, *scope) {
	s := &scope{rows: 1, sub: 1}
	n := 1 + g.pick(40, 42, 18)
	var groups []string
	var seen []visible // of the last group
	for i := range n {
		rel := g.relation(depth, s)
		if i > 0 && s.rows*rel.rows > 8*maxRows {
			break
		}
		text, it := g.addItem(s, rel)
		cols := it.visible()
		if i == 0 || g.one(3) {
			if i > 0 {
				g.use("comma join")
				s.where = append(s.where, g.equalities(s, it, 0)...)
			}
			groups, seen = append(groups, text), cols
			continue
		}
		last := &groups[len(groups)-1]
		*last, seen = g.join(s, *last, text, it, seen, cols)
	}
	if g.one(45) {
		if u := unnestItem(g, s); u != "" {
			groups = append(groups, u)
		}
	}
	return strings.Join(groups, ", "), s
}

func (it item) visible() []visible {
	var out []visible
	for i, n := range it.names {
		out = append(out, visible{n, it.from + i})
	}
	return out
}

// addItem gives a relation an alias and makes its columns readable.
func (g *gen) addItem(s *scope, rel *relation) (string, item) {
	it := item{alias: g.name("a"), rel: rel, from: len(s.leaves)}
	text := rel.sql + " " + it.alias
	if g.one(4) {
		text = rel.sql + " AS " + it.alias
	}
	renamed := g.one(8)
	for _, o := range s.items {
		if o.rel.sql == rel.sql && !rel.sub {
			g.use("relation twice in one operator")
			if rel.keys != nil {
				g.use("self-join")
			}
		}
	}
	for _, c := range rel.cols {
		name := c.name
		if renamed && c.kind == kernels.Float64 {
			name = g.name("r")
		}
		it.names = append(it.names, name)
	}
	if renamed {
		g.use("column aliases")
		text += "(" + strings.Join(it.names, ", ") + ")"
	}
	for i, c := range rel.cols {
		e := c.expr
		e.bare, e.sql = true, it.alias+"."+it.names[i]
		e.draws = !rel.hidden
		s.leaves = append(s.leaves, e)
	}
	rel.reads++
	for _, u := range rel.uses {
		g.use(u)
	}
	if rel.reads == 2 && slices.Contains(rel.uses, "view") {
		g.use("view used twice")
	}
	if rel.reads == 2 && slices.Contains(rel.uses, "cte") {
		g.use("cte used twice")
	}
	s.items = append(s.items, it)
	s.rows *= max(1, rel.rows)
	s.hidden, s.masked = s.hidden || rel.hidden, s.masked || rel.masked
	return text, it
}

// join writes l JOIN r and returns the columns visible in the result.
func (g *gen) join(s *scope, l, r string, it item, seen, cols []visible) (string, []visible) {
	var common []string
	clash := false
	for _, c := range cols {
		n := 0
		for _, v := range seen {
			if v.name == c.name {
				n++
			}
		}
		clash = clash || n > 1
		if n == 1 && s.leaves[c.leaf].kind != kernels.Float64 {
			common = append(common, c.name)
		}
		clash = clash || n == 1 && s.leaves[c.leaf].kind == kernels.Float64
	}
	text := ""
	switch k := g.pick(30, 30, 30, 10, 14); {
	case k == 4:
		if text = g.outerJoin(s, l, r, it, seen); text == "" {
			text = l + " CROSS JOIN " + r
		}
	case k == 1 && len(common) > 0:
		using := common[:1+g.r.Intn(len(common))]
		text = fmt.Sprintf("%s JOIN %s USING (%s)", l, r, strings.Join(using, ", "))
		cols = g.merge(s, using, cols)
		g.use("join using")
	case k == 2 && len(common) > 0 && !clash:
		text = fmt.Sprintf("%s NATURAL JOIN %s", l, r)
		cols = g.merge(s, common, cols)
		g.use("natural join")
	case k == 3 && s.rows <= maxRows:
		text = fmt.Sprintf("%s CROSS JOIN %s", l, r)
		g.use("cross join")
	default:
		first := it.from
		if len(seen) > 0 {
			first = seen[0].leaf
		}
		on := g.equalities(s, it, first)
		if on == nil {
			on = []string{"TRUE"}
		} else if g.one(5) {
			on = append(on, g.cond(s, 1).sql)
		}
		if len(on) > 1 || on[0] == "TRUE" {
			on = g.within(s, on, first)
		}
		text = fmt.Sprintf("%s JOIN %s ON %s", l, r, strings.Join(on, " AND "))
		g.use("join on")
	}
	if g.one(4) {
		text = "(" + text + ")"
		g.use("parenthesised join")
	}
	return text, append(slices.Clone(seen), cols...)
}

// outerJoin writes l LEFT JOIN r or l RIGHT JOIN r; "" where values decide which rows the optional side has. A
// condition is drawn over both sides alone.
func (g *gen) outerJoin(s *scope, l, r string, it item, seen []visible) string {
	first := seen[0].leaf
	masked := false
	for _, o := range s.items {
		masked = masked || o.from >= first && o.from < it.from && o.rel.masked
	}
	left := it.rel.masked || !masked && g.one(4)
	if left && masked || !left && it.rel.masked {
		return ""
	}
	rows := s.rows
	on := g.equalities(s, it, first)
	if on == nil || g.one(5) {
		on = append(on, g.cond(&scope{leaves: s.leaves[first:]}, 0).sql)
	}
	s.rows = max(s.rows, rows/2)
	kind, from, to := "LEFT", it.from, len(s.leaves)
	if left {
		kind, from, to = "RIGHT", first, it.from
	}
	g.use(strings.ToLower(kind) + " join")
	for i := from; i < to; i++ {
		s.leaves[i].null = true
	}
	for i := first; i < len(s.leaves); i++ { // a draw would be keyed by both sides
		s.leaves[i].draws = false
	}
	for i := range s.items {
		if s.items[i].from >= first {
			s.items[i].outer = true
		}
	}
	return fmt.Sprintf("%s %s JOIN %s ON %s", l, kind, r, strings.Join(on, " AND "))
}

// within drops conditions that read items before leaf first, which a JOIN in a later comma group cannot see.
func (g *gen) within(s *scope, on []string, first int) []string {
	var out []string
	for _, c := range on {
		ok := true
		for _, it := range s.items {
			if it.from < first && (strings.Contains(c, it.alias+".") || !strings.Contains(c, ".")) {
				ok = false
			}
		}
		if ok {
			out = append(out, c)
		}
	}
	if out == nil {
		return []string{"TRUE"}
	}
	return out
}

// merge removes the right side of USING columns from what is visible by name.
func (g *gen) merge(s *scope, using []string, cols []visible) []visible {
	var out []visible
	for _, c := range cols {
		if slices.Contains(using, c.name) {
			s.rows = max(1, s.rows/4)
			continue
		}
		out = append(out, c)
	}
	return out
}

// equalities draws equalities between the newest item and the leaves from first on; nil where none fit.
func (g *gen) equalities(s *scope, it item, first int) []string {
	type pair struct{ l, r expr }
	var pairs []pair
	for _, l := range s.leaves[first:it.from] {
		for _, r := range s.leaves[it.from:] {
			if l.kind == r.kind && (l.kind != kernels.Float64 || l.fixed && r.fixed) && l.kind != kernels.Bool {
				pairs = append(pairs, pair{l, r})
			}
		}
	}
	if len(pairs) == 0 || s.rows <= 6 && g.one(4) {
		return nil
	}
	var out []string
	for range 1 + g.pick(88, 12) {
		p := pairs[g.r.Intn(len(pairs))]
		l, r := p.l.sql, p.r.sql
		if g.one(2) {
			l, r = r, l
		}
		switch {
		case p.l.kind == kernels.Float64:
			g.use("float attribute as structure")
		case p.l.kind == kernels.Text:
			g.use("text key join")
		case g.one(5):
			r = fmt.Sprintf("(%s + %d) %% 4", r, 1+g.r.Intn(3))
			g.use("computed join key")
		}
		out = append(out, l+" = "+r)
		s.rows = max(1, s.rows/4)
	}
	return out
}

// relation draws what stands in FROM.
func (g *gen) relation(depth int, s *scope) *relation {
	if len(s.items) > 0 && g.one(6) {
		if last := s.items[len(s.items)-1].rel; !last.sub {
			return last
		}
	}
	var ctes []*relation
	for _, list := range g.ctes {
		ctes = append(ctes, list...)
	}
	switch k := g.pick(50, 22, 22, 10, 12); {
	case k == 1 && len(g.views) > 0:
		return g.views[g.r.Intn(len(g.views))]
	case k == 2 && len(ctes) > 0:
		return ctes[g.r.Intn(len(ctes))]
	case k == 3 && depth > 1:
		if rel := g.gradient(); rel != nil {
			return rel
		}
	case k == 4 && depth > 0:
		return g.subQuery(depth - 1)
	}
	tables := g.q.DB.Tables
	t := tables[0]
	if g.one(2) {
		t = tables[g.r.Intn(len(tables))]
	}
	rel := g.table(t)
	if g.one(12) {
		rel.sql, rel.sub, rel.keys = "(SELECT * FROM "+rel.sql+" )", true, nil
		rel.uses = append(rel.uses, "star", "sub-query in from")
	}
	return rel
}

func (g *gen) subQuery(depth int) *relation {
	rel := queryRelation(g, depth, g.signature(2))
	rel.sql, rel.sub, rel.uses = "("+rel.sql+")", true, []string{"sub-query in from"}
	return rel
}

// gradient draws gradient('view', NULL::w): the view is a new loss that depends on w.
func (g *gen) gradient() *relation {
	if len(g.q.Nested) >= 2 || g.budget < 4 {
		return nil
	}
	inView, ctes := g.inView, g.ctes
	g.inView, g.ctes = true, nil // a view sees no CTE
	defer func() { g.inView, g.ctes = inView, ctes }()
	var t *Table
	for _, c := range g.q.DB.Tables {
		if c.Keys > 0 && !c.Fixed && c.Rows > 0 && (t == nil || g.one(2)) {
			t = c
		}
	}
	if t == nil {
		return nil
	}
	name := g.name("inner")
	sql := g.innerLoss(t)
	g.q.Views = append(g.q.Views, View{name, sql})
	g.q.Nested = append(g.q.Nested, t.Name)
	rel := g.table(t)
	rel.sql, rel.keys = fmt.Sprintf("gradient('%s', NULL::%s )", name, t.Name), nil
	for i := range rel.cols {
		rel.cols[i].null = rel.cols[i].null && rel.cols[i].kind != kernels.Float64
		rel.cols[i].mag *= 4
	}
	rel.uses = []string{"nested gradient"}
	return rel
}

// innerLoss draws a loss that surely depends on t: a term over t itself is added.
func (g *gen) innerLoss(t *Table) string {
	alias := g.name("a")
	s := &scope{rows: float64(t.Rows), above: true}
	rel := g.table(t)
	var own []expr
	for _, c := range rel.cols {
		e := c.expr
		e.sql = alias + "." + c.name
		s.leaves = append(s.leaves, e)
		if e.dep {
			own = append(own, e)
		}
	}
	x := reduceExpr(g, unaryScalar(g, own[g.r.Intn(len(own))]))
	sql := fmt.Sprintf("SELECT COALESCE(sum(%s), 0.0) AS l FROM %s %s",
		arithScalar(g, x, scalarExpr(g, s, 2)).sql, t.Name, alias)
	if g.one(2) {
		other := lossText(g, 1)
		sql = fmt.Sprintf("SELECT (%s) + COALESCE((%s), 0.0) AS l", sql, other)
	}
	return sql
}
