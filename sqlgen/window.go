package sqlgen

import (
	"strings"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// window prints aggregates OVER a window.
func window(p *printer, n *ra.Node) (string, error) {
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
	rows, err := overText(p, n)
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

// overText prints OVER (…). A frame that ends with the partition is printed from the other end: databases add the rows
// of a frame that begins with the partition one by one, and those of others anew for each row.
func overText(p *printer, n *ra.Node) (string, error) {
	f := n.Over.Frame
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
