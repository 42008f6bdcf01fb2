package sqlgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/kernels"
)

// update prints the CTE of a target's new values, and those that write them.
func (p *stepPrinter) update(t *target) ([]string, error) {
	name := fmt.Sprintf("new%d", t.n)
	var values, buffers []string
	out, from := t.keys("p."), p.source(t)
	for _, s := range t.slots {
		laterals, exprs, err := p.slot(s)
		if err != nil {
			return nil, err
		}
		from += laterals
		for i, b := range s.buffers {
			out = append(out, exprs[i]+" AS "+p.d.Ident(b))
			buffers = append(buffers, p.d.Ident(b)+" = n."+p.d.Ident(b))
		}
		v := p.d.Ident(s.col().Name)
		out = append(out, exprs[len(s.buffers)]+" AS "+v)
		values = append(values, v+" = n."+v)
	}
	ctes := []string{remark("new values of "+p.d.Table(t.Table)) + name + " AS MATERIALIZED (\n" + indent(list("SELECT ", out, ", ")+"\nFROM "+from) + "\n)"}
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

// source joins the rows p of a table with their state s and their gradients.
func (p *stepPrinter) source(t *target) string {
	s := p.d.Table(t.Table) + " AS p\nJOIN " + t.temp() + " AS s ON " + t.byKey()
	for _, g := range t.grads {
		join := "LEFT JOIN"
		if !slices.ContainsFunc(t.slots, func(s *stepSlot) bool { return !s.Sparse || s.g != g }) {
			join = "JOIN"
		}
		s += "\n" + join + " " + p.names[g.root.Node] + " AS " + g.alias + " ON " + conjunction(g.on)
	}
	return s
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

// shared prints what expressions have in common as LATERAL sub-queries, which OFFSET 0 keeps apart, so that it is computed once in a
// row; the writer knows the names.
func (p *stepPrinter) shared(exprs []*kernels.Expr, col func(kernels.Col) string) (laterals string, w *writer) {
	w = &writer{p: p.printer, share: newSharing(), col: col}
	r := &region{s: w.share, least: 1, exprs: map[int]*kernels.Expr{}, uses: map[int]int{}, always: map[int]bool{}}
	for _, e := range exprs {
		r.visit(e, true)
	}
	for _, level := range r.levels(-1) {
		x := p.lateral()
		var items []string
		for i, id := range level {
			items = append(items, fmt.Sprintf("%s AS x%d", w.expr(r.exprs[id]).sql, i+1))
		}
		for i, id := range level {
			w.share.names[id] = fmt.Sprintf("%s.x%d", x, i+1)
		}
		laterals += "\nCROSS JOIN LATERAL (" + list("SELECT ", items, ", ") + " OFFSET 0) AS " + x
	}
	return laterals, w
}

// slot prints the new buffers and the new value of a column.
func (p *stepPrinter) slot(s *stepSlot) (laterals string, out []string, err error) {
	grad := s.g.alias + "." + p.ref(s.grad.ID)
	if !s.Sparse {
		x := p.lateral()
		laterals, grad = "\nCROSS JOIN LATERAL (SELECT coalesce("+grad+", "+zero(s.grad.Type, textType(s.grad.Type))+") AS d OFFSET 0) AS "+x, x+".d"
	}
	more, w := p.shared(s.New, func(c kernels.Col) string { return p.column(s, grad, c) })
	laterals += more
	t := s.col().Type
	for i, e := range s.New {
		now := "p." + p.d.Ident(s.col().Name)
		if i < len(s.buffers) {
			now = "s." + p.d.Ident(s.buffers[i])
		}
		x := p.d.Output(t, w.expr(e).at(precAtom))
		if conds := p.chosen(s); conds != nil {
			x = "CASE WHEN " + strings.Join(conds, " AND ") + " THEN " + x + " ELSE " + now + " END"
		}
		out = append(out, x)
	}
	return laterals, out, w.err
}

// chosen are the conditions under which a column changes in a row of source.
func (p *stepPrinter) chosen(s *stepSlot) []string {
	var conds []string
	if s.flag != "" {
		conds = append(conds, "s."+p.d.Ident(s.flag))
	}
	if s.Sparse && slices.ContainsFunc(s.t.slots, func(o *stepSlot) bool { return !o.Sparse || o.g != s.g }) {
		conds = append(conds, s.g.alias+"."+p.ref(s.grad.ID)+" IS NOT NULL")
	}
	return conds
}

func (p *stepPrinter) lateral() string {
	p.serial++
	return fmt.Sprintf("l%d", p.serial)
}

// column prints a column of an update's expression.
func (p *stepPrinter) column(s *stepSlot, grad string, c kernels.Col) string {
	switch c.Input {
	case StepGradient:
		return grad
	case StepBuffer:
		b := *s.col()
		b.Name = s.buffers[c.ID]
		return "s." + p.d.Column(&b)
	case StepNumber:
		return p.number(int(c.ID))
	case StepScale:
		return "(SELECT scale FROM clip)"
	}
	return "p." + p.d.Column(s.col())
}

// clip prints the CTEs of the factor that brings the norm of the gradient, over all trained rows of all parameters, down
// to StepOptions.Clip. Norms of rows are divided by the largest, so that no square overflows or vanishes.
func (p *stepPrinter) clip() ([]string, error) {
	var parts []string
	for _, s := range p.out.slots {
		g := kernels.Column(kernels.Col{Input: StepGradient}, s.grad.Type)
		norm := Norm(g)
		laterals, w := p.shared([]*kernels.Expr{norm}, func(kernels.Col) string { return s.g.alias + "." + p.ref(s.grad.ID) })
		q := "SELECT " + w.expr(norm).sql + " AS n\nFROM " + p.names[s.g.root.Node] + " AS " + s.g.alias
		if s.conditional() {
			q += "\nJOIN " + p.d.Table(s.t.Table) + " AS p ON " + conjunction(s.g.on) + "\nJOIN " + s.t.temp() + " AS s ON " + s.t.byKey()
		}
		q += laterals
		if s.flag != "" {
			q += "\nWHERE s." + p.d.Ident(s.flag)
		}
		if w.err != nil {
			return nil, w.err
		}
		parts = append(parts, q)
	}
	bound, err := p.d.Const(kernels.FloatValue(p.o.Clip))
	if err != nil {
		return nil, err
	}
	return []string{
		remark("the norm of the gradient's rows") + "norms AS MATERIALIZED (\n" + indent(strings.Join(parts, "\nUNION ALL\n")) + "\n)",
		remark("the factor of clip_norm") + "clip AS MATERIALIZED (\n" + indent("SELECT CASE WHEN n > "+bound+" THEN relgrad.gen_div("+bound+", n) ELSE 1.0::double precision END AS scale\n"+
			"FROM (\n  SELECT relgrad.gen_mul(max(most), relgrad.sqrt(relgrad.sum(relgrad.square(relgrad.gen_div(n, nullif(most, 0)))))) AS n\n"+
			"  FROM norms, (SELECT max(n) AS most FROM norms) AS m\n) AS q") + "\n)",
	}, nil
}

// Norm is the Euclidean norm of a number or chunk x in double precision. Where the squares overflow or vanish it divides by
// the largest element first.
func Norm(x *kernels.Expr) *kernels.Expr {
	if !x.Type.IsChunk() {
		return kernels.Build("abs", x)
	}
	n := kernels.Build("norm", x)
	if x.Type.Kind == kernels.Float32 { // whose squares double precision holds
		return n
	}
	most := kernels.BuildAttr("max_elements", kernels.Attr{Axis: -1}, kernels.Build("abs", x))
	scaled := kernels.Mul(most, kernels.Build("norm", kernels.Div(x, most)))
	within := kernels.Build("lt", kernels.Build("maximum", n, kernels.Div(kernels.Num(1), n)), kernels.Num(1e140))
	return kernels.Build("case", within, n, kernels.Build("eq", most, kernels.Num(0)), kernels.Num(0), scaled)
}
