package sqlgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// update prints the CTEs of a target's new values, and those that write them.
func (p *stepPrinter) update(t *target) ([]string, error) {
	rows, err := p.rows(t)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("new%d", t.n)
	out := t.keys("")
	var values, buffers []string
	for _, s := range t.slots {
		for i, e := range s.New {
			c := p.d.Ident(s.col().Name)
			if i < len(s.buffers) {
				c = p.d.Ident(s.buffers[i])
				buffers = append(buffers, c+" = n."+c)
			} else {
				values = append(values, c+" = n."+c)
			}
			x := p.d.Output(s.col().Type, rows.writers[s].expr(e).at(precAtom))
			if s.chosen != nil {
				x = "CASE WHEN " + conjunction(s.chosen) + " THEN " + x + " ELSE " + c + " END"
			}
			out = append(out, x+" AS "+c)
		}
		if err := rows.writers[s].err; err != nil {
			return nil, err
		}
	}
	ctes := append(rows.ctes, remark("new values of "+p.d.Table(t.Table))+name+" AS MATERIALIZED (\n"+
		indent(list("SELECT ", out, ", ")+"\nFROM "+rows.name)+"\n)")
	ctes = append(ctes, p.write(t, fmt.Sprintf("set%d", t.n), p.d.Table(t.Table), name, values))
	if buffers != nil {
		ctes = append(ctes, p.write(t, fmt.Sprintf("keep%d", t.n), t.temp(), name, buffers))
	}
	return ctes, nil
}

// write prints the CTE that writes columns of a table.
func (p *stepPrinter) write(t *target, cte, table, from string, set []string) string {
	s := "UPDATE " + table + " AS t\n" + list("SET ", set, ", ") + "\nFROM " + from + " AS n"
	var on []string
	for _, k := range t.keys("") {
		on = append(on, "t."+k+" = n."+k)
	}
	return cte + " AS (\n" + indent(s+whereLine(on)) + "\n)"
}

// rows joins the rows of a table with their state and gradients, and computes expressions that new values
// share once for each row.
func (p *stepPrinter) rows(t *target) (*shared, error) {
	out := t.keys("p.")
	for _, s := range t.slots {
		out = append(out, "p."+p.d.Ident(s.col().Name))
		for _, b := range s.buffers {
			out = append(out, "s."+p.d.Ident(b))
		}
		if s.flag != "" {
			out, s.chosen = append(out, "s."+p.d.Ident(s.flag)), append(s.chosen, p.d.Ident(s.flag))
		}
		g := s.g.alias + "." + p.ref(s.grad.ID)
		s.gradient = t.free(s.col().Name + "_gradient")
		switch {
		case !s.Sparse:
			g = "coalesce(" + g + ", " + zero(s.grad.Type, textType(s.grad.Type)) + ")"
		// another slot has rows without this gradient: the join keeps them, and this slot leaves them as they are
		case slices.ContainsFunc(t.slots, func(o *stepSlot) bool { return !o.Sparse || o.g != s.g }):
			s.chosen = append(s.chosen, p.d.Ident(s.gradient)+" IS NOT NULL")
		}
		out = append(out, g+" AS "+p.d.Ident(s.gradient))
	}
	from := p.d.Table(t.Table) + " AS p\nJOIN " + t.temp() + " AS s ON " + t.byKey()
	for _, g := range t.grads {
		join := "LEFT JOIN"
		if !slices.ContainsFunc(t.slots, func(s *stepSlot) bool { return !s.Sparse || s.g != g }) {
			join = "JOIN"
		}
		from += "\n" + join + " " + p.names[g.root.Node] + " AS " + g.alias + " ON " + conjunction(g.on)
	}
	rows := &shared{p: p, name: fmt.Sprintf("row%d", t.n), writers: map[*stepSlot]*writer{}}
	rows.comment = remark("rows of " + p.d.Table(t.Table) +
		" that are trained, with the optimizer's buffers and the gradient")
	rows.add(list("SELECT ", out, ", ") + "\nFROM " + from)
	for _, s := range t.slots {
		rows.region(s, s.New, func(c kernels.Col) string { return p.column(s, c) })
	}
	return rows, rows.bind(t)
}

// byKey joins a row p with its state s.
func (t *target) byKey() string {
	var on []string
	for _, k := range t.keys("") {
		on = append(on, "s."+k+" = p."+k)
	}
	return conjunction(on)
}

func conjunction(conds []string) string {
	if len(conds) == 0 {
		return "TRUE"
	}
	return strings.Join(conds, " AND ")
}

// shared computes, once for each row, the parts that several expressions over one relation have in common: in CTEs,
// each of which reads the one before. OFFSET 0 keeps Postgres from inlining them at each use. A LATERAL sub-query
// would be a join, whose results Postgres may cache by their arguments.
type shared struct {
	p       *stepPrinter
	name    string // of the topmost CTE
	comment string // of the first
	ctes    []string
	writers map[*stepSlot]*writer
	regions []*region
	of      []*stepSlot // parallel to regions
}

func (s *shared) add(query string) {
	s.ctes = append(s.ctes, s.comment+s.name+" AS (\n"+indent(query+"\nOFFSET 0")+"\n)")
	s.comment = ""
}

// region notes the expressions of a slot, in which bind finds what they have in common.
func (s *shared) region(slot *stepSlot, exprs []*kernels.Expr, col func(kernels.Col) string) {
	w := &writer{p: s.p.printer, share: newSharing(), col: col}
	r := &region{s: w.share, least: 1, exprs: map[int]*kernels.Expr{}, uses: map[int]int{}, always: map[int]bool{}}
	for _, e := range exprs {
		r.visit(e, true)
	}
	s.writers[slot], s.regions, s.of = w, append(s.regions, r), append(s.of, slot)
}

// bind prints a CTE for each level of names, which read those of lower levels only.
func (s *shared) bind(t *target) error {
	var levels [][][]int
	depth := 0
	for _, r := range s.regions {
		levels = append(levels, r.levels(-1))
		depth = max(depth, len(levels[len(levels)-1]))
	}
	base, serial := s.name, 0
	for level := range depth {
		items, bind := []string{"r.*"}, []func(){}
		for i, l := range levels {
			if level >= len(l) {
				continue
			}
			w := s.writers[s.of[i]]
			for _, id := range l[level] {
				serial++
				x := t.free(fmt.Sprintf("x%d", serial))
				items = append(items, w.expr(s.regions[i].exprs[id]).sql+" AS "+x)
				bind = append(bind, func() { w.share.names[id] = x })
			}
			if w.err != nil {
				return w.err
			}
		}
		for _, f := range bind { // visible from the next level on
			f()
		}
		below := s.name
		s.name = fmt.Sprintf("%s_%d", base, level+1)
		s.add(list("SELECT ", items, ", ") + "\nFROM " + below + " AS r")
	}
	return nil
}

// column prints a column of an update's expression, read from the CTE of rows.
func (p *stepPrinter) column(s *stepSlot, c kernels.Col) string {
	col := *s.col()
	switch c.Input {
	case ra.StepGradient:
		return p.d.Ident(s.gradient)
	case ra.StepBuffer:
		col.Name = s.buffers[c.ID]
	case ra.StepNumber:
		return p.number(int(c.ID))
	case ra.StepScale:
		return "(SELECT scale FROM clip)"
	}
	return p.d.Column("", &col)
}

// clip prints the CTEs of the factor that reduces the norm of the gradient, over all trained rows of all parameters, to
// StepOptions.Clip. The norms of rows are divided by the largest, so that no square overflows or vanishes.
func (p *stepPrinter) clip() ([]string, error) {
	var ctes, parts []string
	for _, s := range p.out.slots {
		q := "SELECT " + s.g.alias + "." + p.ref(s.grad.ID) + " AS g\nFROM " + p.names[s.g.root.Node] + " AS " + s.g.alias
		if s.conditional() {
			q += "\nJOIN " + p.d.Table(s.t.Table) + " AS p ON " + conjunction(s.g.on) + "\nJOIN " + s.t.temp() +
				" AS s ON " + s.t.byKey()
		}
		if s.flag != "" {
			q += "\nWHERE s." + p.d.Ident(s.flag)
		}
		rows := &shared{p: p, name: fmt.Sprintf("grad%d", s.n+1), writers: map[*stepSlot]*writer{}}
		rows.add(q)
		norm := Norm(kernels.Column(kernels.Col{Input: ra.StepGradient}, s.grad.Type))
		rows.region(s, []*kernels.Expr{norm}, func(kernels.Col) string { return "g" })
		if err := rows.bind(s.t); err != nil {
			return nil, err
		}
		x := rows.writers[s].expr(norm)
		if err := rows.writers[s].err; err != nil {
			return nil, err
		}
		ctes, parts = append(ctes, rows.ctes...), append(parts, "SELECT "+x.sql+" AS n\nFROM "+rows.name)
	}
	bound, err := p.d.Const(kernels.FloatValue(p.o.Clip))
	if err != nil {
		return nil, err
	}
	return append(ctes, remark("the norm of the gradient's rows")+"norms AS MATERIALIZED (\n"+
		indent(strings.Join(parts, "\nUNION ALL\n"))+"\n)", remark("the factor of clip_norm")+"clip AS MATERIALIZED (\n"+
		indent("SELECT CASE WHEN n > "+bound+" THEN relgrad.gen_div("+bound+", n) ELSE 1.0::double precision END AS scale\n"+
			"FROM (\n  SELECT relgrad.gen_mul(max(most), relgrad.sqrt(relgrad.sum(relgrad.square(relgrad.gen_div(n, "+
			"nullif(most, 0)))))) AS n\n"+
			"  FROM norms, (SELECT max(n) AS most FROM norms) AS m\n) AS q")+"\n)"), nil
}

// Norm is the Euclidean norm of a number or chunk x in double precision. Where squares overflow or vanish, x is first
// divided by its largest element.
func Norm(x *kernels.Expr) *kernels.Expr {
	if !x.Type.IsChunk() {
		return kernels.Build("abs", x)
	}
	n := kernels.Build("norm", x)
	if x.Type.Kind == kernels.Float32 { // double precision holds the squares of real
		return n
	}
	most := kernels.BuildAttr("max_elements", kernels.Attr{Axis: -1}, kernels.Build("abs", x))
	scaled := kernels.Mul(most, kernels.Build("norm", kernels.Div(x, most)))
	within := kernels.Build("lt", kernels.Build("maximum", n, kernels.Div(kernels.Num(1), n)), kernels.Num(1e140))
	return kernels.Build("case", within, n, kernels.Build("eq", most, kernels.Num(0)), kernels.Num(0), scaled)
}
