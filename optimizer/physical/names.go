package physical

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/ra"
)

// product is the name that a sum over a join has as a product of distributed matrices (TRA 2021, §5.2); "" for others.
// BMM broadcasts one operand, or what is needed of it, CMM joins both where the columns lie that are summed over, RMM
// where columns lie that stay, for which it copies rows before. Where both operands have a column that stays, such as
// the head of an attention, rows that lie by it meet without a copy: such a product has no name.
func product(n *Node) string {
	if n.Op != Local || n.RA.Op != ra.Aggregate || n.Place.Partial || len(n.RA.Group) == 0 ||
		!slices.ContainsFunc(n.RA.Aggs, func(a ra.Agg) bool { return a.Fn == ra.Sum || a.Fn == ra.GradSum }) {
		return ""
	}
	below, sum := n.Inputs[0], n
	for below.exchange() || below.RA.Op == ra.Select || below.RA.Op == ra.Aggregate && below.Place.Partial {
		if below.Op == Local && below.RA.Op == ra.Aggregate {
			sum = below
		}
		below = below.Inputs[0]
	}
	if below.RA.Op != ra.Join || len(below.Inputs) != 2 || len(below.RA.Equi) == 0 {
		return ""
	}
	a, b := below.Inputs[0].Place.Kind, below.Inputs[1].Place.Kind
	switch {
	case a == Single || b == Single || a == Replicated && b == Replicated:
		return ""
	case a == Replicated || b == Replicated || a == Needed || b == Needed: // a halo is a part of a broadcast
		return "BMM"
	case slices.ContainsFunc(below.Place.By, func(s Same) bool {
		return slices.ContainsFunc(s, func(id ra.ColumnID) bool { return slices.Contains(sum.RA.Group, id) })
	}):
		if copied(below.Inputs[0]) || copied(below.Inputs[1]) {
			return "RMM"
		}
		return ""
	}
	return "CMM"
}

// copied tells whether rows were copied on their way to an operator: joined, without a condition, with what each site
// has.
func copied(n *Node) bool {
	for n.exchange() || n.RA.Op == ra.Select {
		n = n.Inputs[0]
	}
	return n.RA.Op == ra.Join && len(n.RA.Equi) == 0 &&
		slices.ContainsFunc(n.Inputs, func(in *Node) bool { return in.Place.Kind == Replicated })
}

// parallel tells, for each table of parameters, how the plan splits the work on it: by the data where each site has the
// whole table, by the model where each row stays with its site and the data's rows come there, or where each site gets
// the rows that its data need, the halo of its own.
func (p *Plan) parallel() []string {
	readers, whole, halos := map[*Node][]*Node{}, map[string]bool{}, map[string]bool{}
	parts := map[string][]string{}
	p.Walk(func(n *Node) {
		for _, in := range n.Inputs {
			readers[in] = append(readers[in], n)
		}
	})
	add := func(name string, by []string) {
		if text := strings.Join(by, ", "); text != "" && !slices.Contains(parts[name], text) {
			parts[name] = append(parts[name], text)
		}
	}
	var order []string
	p.Walk(func(n *Node) {
		dep := func(c ra.Column) bool { return c.Dep }
		if n.Op != Local || n.RA.Op != ra.Scan || !slices.ContainsFunc(n.RA.Cols, dep) {
			return
		}
		name := n.RA.Table.Name
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
		for _, r := range readers[n] {
			switch {
			case r.Op == Bcast:
				whole[name] = true
			case r.Op == Halo && r.Inputs[0] != n: // the join with the halo reads n, too
			case r.Op == Halo:
				halos[name] = true
				add(name, lists.Map(n.Place.By, func(s Same) string { return called(n, s) }))
			case r.Op != Gather && r.Place.Kind != Single:
				add(name, lists.Map(r.Place.By, func(s Same) string { return called(r, s) }))
			}
		}
	})
	return lists.Map(order, func(name string) string {
		var ways []string
		if whole[name] {
			ways = append(ways, "data parallel")
		}
		if parts[name] != nil {
			ways = append(ways, "model parallel by "+strings.Join(parts[name], "; "))
		}
		switch {
		case halos[name] && len(ways) == 0:
			return name + ": at one site, which sends halo rows"
		case len(ways) == 0:
			return name + ": at one site"
		}
		out := name + ": " + strings.Join(ways, ", and ")
		if halos[name] {
			out += ", with halo rows"
		}
		return out
	})
}

// called is what a column that n is spread by is called.
func called(n *Node, s Same) string {
	if c := n.Relation().Col(s[0]); c != nil {
		return c.Name
	}
	return fmt.Sprint(s[0])
}
