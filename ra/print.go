package ra

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
)

// Format prints the DAGs below the plan's roots as indented trees; a node used several times is printed once
// and named @n afterwards.
func (p *Plan) Format() string {
	pr := &printer{uses: map[*Node]int{}, label: map[*Node]string{}, names: map[ColumnID]string{}}
	for _, n := range p.Nodes() {
		pr.count(n)
	}
	for i, r := range p.Roots {
		fmt.Fprintf(&pr.b, "%s:\n", r.Name)
		pr.node(p.Roots[i].Node, 1)
	}
	return pr.b.String()
}

// Format prints the DAG below n.
func (n *Node) Format() string {
	return strings.TrimPrefix((&Plan{Roots: []Root{{Name: "", Node: n}}}).Format(), ":\n")
}

// Describe calls f for each node below the plan's roots, inputs first, with what Format prints of it.
func (p *Plan) Describe(f func(n *Node, what string)) {
	pr := &printer{uses: map[*Node]int{}, names: map[ColumnID]string{}}
	for _, n := range p.Nodes() {
		pr.count(n)
	}
	Walk(func(n *Node) { f(n, strings.TrimSpace(pr.detail(n))) }, p.Nodes()...)
}

type printer struct {
	b     strings.Builder
	uses  map[*Node]int
	label map[*Node]string
	names map[ColumnID]string
}

func (p *printer) count(n *Node) {
	p.uses[n]++
	if p.uses[n] > 1 {
		return
	}
	for _, c := range n.Cols {
		p.names[c.ID] = fmt.Sprintf("%s:%d", c.Name, c.ID)
	}
	for _, in := range n.Inputs {
		p.count(in)
	}
}

func (p *printer) node(n *Node, depth int) {
	pad := strings.Repeat("  ", depth)
	if l, ok := p.label[n]; ok {
		fmt.Fprintf(&p.b, "%s%s\n", pad, l)
		return
	}
	p.b.WriteString(pad)
	if p.uses[n] > 1 {
		p.label[n] = fmt.Sprintf("@%d", len(p.label)+1)
		p.b.WriteString(p.label[n] + " = ")
	}
	fmt.Fprintf(&p.b, "%v%s\n", n.Op, p.detail(n))
	for _, in := range n.Inputs {
		p.node(in, depth+1)
	}
}

func (p *printer) detail(n *Node) string {
	var b strings.Builder
	if n.Table != nil {
		fmt.Fprintf(&b, " %s", n.Table.Name)
	}
	if n.Label != "" {
		fmt.Fprintf(&b, " %s", n.Label)
	}
	col := func(c kernels.Col) string { return p.names[c.ID] }
	var conds []string
	for _, q := range n.Equi {
		op := " = "
		if q.NullSafe {
			op = " == "
		}
		conds = append(conds, col(q.L)+op+col(q.R))
	}
	for _, e := range n.Pred {
		conds = append(conds, e.Format(col))
	}
	if conds != nil {
		fmt.Fprintf(&b, " on [%s]", strings.Join(conds, ", "))
	}
	if n.Op == Aggregate {
		fmt.Fprintf(&b, " by (%s)", p.idList(n.Group))
	}
	if n.Op == Window {
		b.WriteString(p.windowDetail(n))
	}
	if n.Op == Recursion && n.Loop.Back {
		b.WriteString(" back")
	}
	outs := make([]string, len(n.Cols))
	for i, c := range n.Cols {
		outs[i] = fmt.Sprintf("%s %v", p.names[c.ID], c.Type)
		switch {
		case len(n.Aggs) > 0 && i >= len(n.Cols)-len(n.Aggs):
			a := n.Aggs[i-len(n.Cols)+len(n.Aggs)]
			outs[i] += fmt.Sprintf(" := %v(%s)", a.Fn, p.names[a.Arg])
		case n.Out != nil && !(n.Out[i].IsCol && p.names[c.ID] == ""):
			outs[i] += " := " + n.Out[i].Format(col)
		}
		if c.Dep {
			outs[i] = "*" + outs[i]
		}
	}
	fmt.Fprintf(&b, " -> %s key (%s)", strings.Join(outs, ", "), p.idList(n.Key))
	return b.String()
}

func (p *printer) idList(ids []ColumnID) string {
	return strings.Join(lists.Map(ids, func(id ColumnID) string { return p.names[id] }), ", ")
}
