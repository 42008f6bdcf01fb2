package physical

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/ra"
)

// String prints a placement: "single(0)", "replicated", "by(3, 4; hash)", "anywhere", or "partial(sum; anywhere)".
// Columns are printed by their ids.
func (p Placement) String() string {
	return p.format(func(id ra.ColumnID) string { return fmt.Sprint(id) })
}

func (p Placement) format(name func(ra.ColumnID) string) string {
	out := [...]string{"single(" + fmt.Sprint(p.Site) + ")", "replicated", "by(", "anywhere",
		"needed("}[p.Kind]
	if p.Kind == By {
		out += strings.Join(lists.Map(p.By, func(s Same) string { return name(s[0]) }), ", ") + "; " + p.Fn.String() + ")"
	}
	if p.Kind == Needed {
		out += matched(p.Need.Pairs, name) + ")"
	}
	if p.Partial {
		plus := strings.Join(lists.Map(p.Sums, func(a ra.Agg) string { return a.Fn.String() }), ", ")
		out = "partial(" + plus + "; " + out + ")"
	}
	return out
}

// matched prints "node = src, kind = kind".
func matched(pairs []Pair, name func(ra.ColumnID) string) string {
	return strings.Join(lists.Map(pairs, func(p Pair) string { return name(p.Own) + " = " + name(p.Partner) }), ", ")
}

// String prints the operator alone.
func (n *Node) String() string {
	if n.Op != Local {
		return n.Op.String()
	}
	return n.RA.Op.String()
}

// Format prints the plan as indented trees, each node with its placement. A node that is used several times is printed
// once and named @n afterwards.
func (p *Plan) Format() string { return p.FormatWith(func(*Node) string { return "" }) }

// FormatWith is Format with a note after each node.
func (p *Plan) FormatWith(note func(*Node) string) string {
	pr := p.printer(note)
	for _, r := range p.Roots {
		fmt.Fprintf(&pr.b, "%s:\n", r.Name)
		pr.node(r.Node, 1)
	}
	return pr.b.String()
}

// Describe calls f for each node, inputs first, with what FormatWith prints of it.
func (p *Plan) Describe(note func(*Node) string, f func(n *Node, what string)) {
	pr := p.printer(note)
	p.Walk(func(n *Node) { f(n, strings.TrimSpace(pr.detail(n)+" -> "+n.Place.format(pr.name)+note(n))) })
}

func (p *Plan) printer(note func(*Node) string) *printer {
	pr := &printer{uses: p.readers(), label: map[*Node]string{}, note: note, names: map[ra.ColumnID]string{}}
	ra.Walk(func(n *ra.Node) {
		for _, c := range n.Cols {
			pr.names[c.ID] = fmt.Sprintf("%s:%d", c.Name, c.ID)
		}
	}, p.Logical().Nodes()...)
	return pr
}

type printer struct {
	b     strings.Builder
	uses  map[*Node]int
	label map[*Node]string
	note  func(*Node) string
	names map[ra.ColumnID]string
}

func (p *printer) node(n *Node, depth int) {
	p.b.WriteString(strings.Repeat("  ", depth))
	if l, ok := p.label[n]; ok {
		fmt.Fprintln(&p.b, l)
		return
	}
	if p.uses[n] > 1 {
		p.label[n] = fmt.Sprintf("@%d", len(p.label)+1)
		p.b.WriteString(p.label[n] + " = ")
	}
	fmt.Fprintf(&p.b, "%v%s -> %s%s\n", n, p.detail(n), n.Place.format(p.name), p.note(n))
	for _, in := range n.Inputs {
		p.node(in, depth+1)
	}
}

func (p *printer) name(id ra.ColumnID) string { return p.names[id] }

func (p *printer) detail(n *Node) string {
	list := func(ids []ra.ColumnID) string { return strings.Join(lists.Map(ids, p.name), ", ") }
	switch {
	case n.Op == Shuf:
		return "(" + list(n.By) + "; " + n.Fn.String() + ")"
	case n.Op == Gather:
		return fmt.Sprintf("(%d)", n.Site)
	case n.Op == Bcast:
		return ""
	case n.Op == Halo:
		return "(" + matched(pairs(n), p.name) + ")"
	case n.RA.Table != nil:
		return " " + n.RA.Table.Name
	case n.RA.Op == ra.Aggregate:
		return " by (" + list(n.RA.Group) + ")"
	case n.RA.Op == ra.Window:
		return " by (" + list(n.RA.Over.Partition) + ")"
	case len(n.RA.Equi) > 0:
		var conditions []string
		for _, q := range n.RA.Equi {
			conditions = append(conditions, p.name(q.L.ID)+" = "+p.name(q.R.ID))
		}
		return " on [" + strings.Join(conditions, ", ") + "]"
	}
	return ""
}
