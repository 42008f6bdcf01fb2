package sqlgen

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// window prints aggregates OVER a window.
func window(p *printer, n *ra.Node) (string, error) {
	if n.Over.Among != nil {
		return amongExtremes(p, n)
	}
	in := n.Inputs[0]
	var out []string
	for i, c := range n.Cols {
		if !p.need[c.ID] {
			continue
		}
		if id, ok := n.Passed(i); ok {
			p.slim[columnOf{n, c.ID}] = p.slim[columnOf{in, id}]
			out = append(out, p.ref(id)+" AS "+colName(c.ID))
			continue
		}
		x, err := over(p, n, n.Aggs[i-len(n.Over.Pass)], c.Type)
		if err != nil {
			return "", err
		}
		out = append(out, x+" AS "+colName(c.ID))
	}
	return selectList(out) + "\nFROM " + p.source(in, p.names[in]), nil
}

// over prints one aggregate of a window.
func over(p *printer, n *ra.Node, a ra.Agg, out kernels.Type) (string, error) {
	if a.Fn == ra.Rank {
		return rankText(p, n, a)
	}
	rows, err := overText(p, n, n.Over.Frame)
	if err != nil {
		return "", err
	}
	if a.Fn == ra.CountRows {
		return "count(*)" + rows, nil
	}
	in := n.Inputs[0].Col(a.Arg)
	x := p.wide(n, p.column(nil))(kernels.Col{ID: a.Arg})
	if a.Fn == ra.Count {
		return p.d.Aggregate(ra.Count, in.Type, x) + rows, nil
	}
	if a.Fn == ra.Min || a.Fn == ra.Max {
		return p.d.Aggregate(a.Fn, in.Type, x) + rows, nil
	}
	if err := summable(in); err != nil {
		return "", err
	}
	f := n.Over.Frame
	s := p.d.Aggregate(ra.Sum, in.Type, x)
	if f.Lo > -ra.Unbounded && f.Hi < ra.Unbounded {
		s = p.d.Moving(in.Type, x)
	}
	cast := "" // stands behind OVER
	if at := strings.LastIndex(s, "::"); at > strings.LastIndex(s, ")") {
		s, cast = s[:at], s[at:]
	}
	if s += rows + cast; a.Fn == ra.Sum || !in.Type.Nullable && f.HoldsRow() {
		return s, nil
	}
	zero := kernels.Const(kernels.IntValue(0))
	if in.Type.IsFloat() {
		zero = kernels.ZerosLike(out)
	}
	z, err := p.d.Const(zero.Const)
	return "coalesce(" + s + ", " + z + ")", err
}

// rankText prints the number of the rows of a partition that precede the row by value or, with its value, in the order.
func rankText(p *printer, n *ra.Node, a ra.Agg) (string, error) {
	by := *n.Over
	by.Order = append([]ra.Sort{{Col: a.Arg}}, by.Order...)
	sorted := *n
	sorted.Over = &by
	rows, err := overText(p, &sorted, by.Frame)
	if err != nil {
		return "", err
	}
	x := "row_number()" + rows + " - 1"
	if n.Inputs[0].Col(a.Arg).Type.Nullable {
		x = "CASE WHEN " + p.ref(a.Arg) + " IS NOT NULL THEN " + x + " END"
	}
	return x, nil
}

// overText prints OVER (…) with a frame. One that ends with the partition is printed from the other end: databases add
// the rows of a frame that begins with the partition one by one, and those of others anew for each row.
func overText(p *printer, n *ra.Node, f ra.Frame) (string, error) {
	back := f.Lo > -ra.Unbounded && f.Hi == ra.Unbounded
	if back {
		f = f.Mirrored()
	}
	var parts, partition, order []string
	for _, id := range n.Over.Partition {
		if err := keyable(n.Inputs[0].Col(id)); err != nil {
			return "", err
		}
		partition = append(partition, p.ref(id))
	}
	for _, s := range n.Over.Order {
		if err := keyable(n.Inputs[0].Col(s.Col)); err != nil {
			return "", err
		}
		x := p.ref(s.Col)
		if s.Desc != back {
			x += " DESC"
		}
		if n.Inputs[0].Col(s.Col).Type.Nullable {
			x += map[bool]string{true: " NULLS FIRST", false: " NULLS LAST"}[s.NullsFirst != back]
		}
		order = append(order, x)
	}
	if partition != nil {
		parts = append(parts, list("PARTITION BY ", partition, ", "))
	}
	if order != nil {
		parts = append(parts, list("ORDER BY ", order, ", "))
	}
	if f.Lo > -ra.Unbounded || f.Hi < ra.Unbounded {
		parts = append(parts, f.String())
	} else if order != nil {
		parts = append(parts, "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING")
	}
	return " OVER (" + strings.Join(parts, " ") + ")", nil
}

// amongExtremes prints sums over those rows of each row's frame that attain its extreme: rows meet others by that
// value, which finds them fast, and then by their places.
func amongExtremes(p *printer, n *ra.Node) (string, error) {
	in, e, f := n.Inputs[0], n.Over.Among, n.Over.Frame
	rows := p.names[n] + "_rows"
	place, to := "row_number()", ra.Frame{Lo: -ra.Unbounded}
	if f.Peers {
		place, to.Peers = "rank()", true
	}
	ordered, err := overText(p, n, to)
	if err != nil {
		return "", err
	}
	of := f
	if e.Back {
		of = of.Mirrored()
	}
	framed, err := overText(p, n, of)
	if err != nil {
		return "", err
	}
	x := in.Col(e.Col)
	own := []string{place + ordered + " AS place",
		p.d.Aggregate(e.Fn, x.Type, p.wide(n, p.column(nil))(kernels.Col{ID: e.Col})) + framed + " AS top"}
	for _, c := range in.Cols {
		if p.need[c.ID] {
			own = append(own, p.ref(c.ID))
		}
	}
	var out, pass []string
	for i, c := range n.Cols {
		id, passed := n.Passed(i)
		switch {
		case !p.need[c.ID]:
			continue
		case passed:
			p.slim[columnOf{n, c.ID}] = p.slim[columnOf{in, id}]
			pass = append(pass, "a."+p.ref(id))
			out = append(out, "a."+p.ref(id)+" AS "+colName(c.ID))
			continue
		}
		a := n.Aggs[i-len(n.Over.Pass)]
		s := p.d.Aggregate(ra.Sum, in.Col(a.Arg).Type, "b."+p.ref(a.Arg))
		if a.Fn == ra.GradSum {
			z, err := p.d.Const(kernels.ZerosLike(c.Type).Const)
			if err != nil {
				return "", err
			}
			s = "coalesce(" + s + ", " + z + ")"
		}
		out = append(out, s+" AS "+colName(c.ID))
	}
	text := "WITH " + rows + " AS MATERIALIZED (\n" + indent(selectList(own)+"\nFROM "+p.source(in, p.names[in])) +
		"\n)\n" + selectList(out) + "\nFROM " + rows + " AS a LEFT JOIN " + rows + " AS b ON " +
		strings.Join(inFrame(p, n), " AND ")
	if pass == nil { // one row
		return text, nil
	}
	return text + "\n" + list("GROUP BY ", pass, ", "), nil
}

// inFrame lists the conditions under which row b counts for row a in whose frame it is, of rows with their places.
func inFrame(p *printer, n *ra.Node) []string {
	in, e, f := n.Inputs[0], n.Over.Among, n.Over.Frame
	on := []string{"b." + p.ref(e.Col) + " = a.top"}
	if e.Back {
		on = []string{"a." + p.ref(e.Col) + " = b.top"}
	}
	for _, id := range n.Over.Partition {
		l, r := "a."+p.ref(id), "b."+p.ref(id)
		if in.Col(id).Type.Nullable {
			on = append(on, p.d.Same(l, r))
		} else {
			on = append(on, l+" = "+r)
		}
	}
	if f.Lo > -ra.Unbounded {
		on = append(on, fmt.Sprintf("b.place >= a.place + %d", f.Lo))
	}
	if f.Hi < ra.Unbounded {
		on = append(on, fmt.Sprintf("b.place <= a.place + %d", f.Hi))
	}
	return on
}
