package physical

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/ra"
)

// Names are the plans that have a name: of products, and of tables of parameters.
var Names = []string{"BMM", "CMM", "RMM", "data parallel", "model parallel"}

// Known refuses a name that no plan has.
func Known(name string) error {
	if name == "" || slices.Contains(Names, name) {
		return nil
	}
	return sqlerr.New(sqlerr.InvalidParameter, "there is no plan \"%s\"", name).
		WithHint("There are %s.", strings.Join(Names, ", "))
}

// named reports whether all of a plan that could have the name has it, and anything does.
func named(p *Plan, name string) bool {
	found, all := false, true
	if name == "data parallel" || name == "model parallel" {
		for _, line := range p.parallel() {
			_, how, _ := strings.Cut(line, ": ")
			found, all = true, all && strings.HasPrefix(how, name) && !strings.Contains(how, ", and ")
		}
		return found && all
	}
	p.Walk(func(n *Node) {
		if n.Op == Local && summing(n.RA) && !n.Place.Partial {
			below := n.Inputs[0]
			for below.exchange() || below.RA.Op == ra.Select || below.RA.Op == ra.Aggregate && below.Place.Partial {
				below = below.Inputs[0]
			}
			if multiplying(below.RA) {
				found, all = true, all && product(n) == name
			}
		}
	})
	return found && all
}

// productOf is the join of two relations that a sum is over; nil for other operators.
func productOf(n *ra.Node) *ra.Node {
	if !summing(n) {
		return nil
	}
	for n = n.Inputs[0]; n.Op == ra.Select; {
		n = n.Inputs[0]
	}
	if !multiplying(n) {
		return nil
	}
	return n
}

// multiplying reports whether rows of two relations meet by equal columns.
func multiplying(n *ra.Node) bool { return n.Op == ra.Join && len(n.Inputs) == 2 && len(n.Equi) > 0 }

func summing(n *ra.Node) bool {
	return n.Op == ra.Aggregate && len(n.Group) > 0 &&
		slices.ContainsFunc(n.Aggs, func(a ra.Agg) bool { return a.Fn == ra.Sum || a.Fn == ra.GradSum })
}

// multiplies lists the joins whose products are summed, with the columns by which they are.
func (s *search) multiplies(order []*ra.Node) {
	s.products = map[*ra.Node][]ra.ColumnID{}
	for _, n := range order {
		if j := productOf(n); j != nil {
			s.products[j] = append(s.products[j], n.Group...)
		}
	}
}

// allows reports whether the plans that are looked for read the inputs of an operator so.
func (s *search) allows(v *vertex, local *Node) bool {
	for _, in := range local.Inputs {
		if !s.reads(in.RA, in.Place) {
			return false
		}
	}
	group, multiplied := s.products[v.relation]
	if !multiplied {
		return true
	}
	count := func(k Kind) (n int) {
		for _, in := range local.Inputs {
			if in.Place.Kind == k {
				n++
			}
		}
		return n
	}
	stays := slices.ContainsFunc(local.Place.By, func(s Same) bool {
		return slices.ContainsFunc(s, func(id ra.ColumnID) bool { return slices.Contains(group, id) })
	})
	switch apart := count(By)+count(Anywhere) == 2; s.costs.Only {
	case "BMM":
		return count(Replicated) == 1 && count(By)+count(Anywhere) == 1
	case "CMM":
		return apart && !stays
	case "RMM":
		return apart && stays
	}
	return true
}

// reads reports whether the plans that are looked for have a relation at a placement: tables of parameters are whole at
// each site, or in parts.
func (s *search) reads(of *ra.Node, p Placement) bool {
	if of.Op != ra.Scan || !slices.ContainsFunc(of.Cols, func(c ra.Column) bool { return c.Dep }) {
		return true
	}
	switch s.costs.Only {
	case "data parallel":
		return p.Kind == Replicated
	case "model parallel":
		return p.Kind == By
	}
	return true
}

// refused says that no plan of the name is found.
func (s *search) refused() error {
	why := "Its tables of parameters cannot be read only so."
	switch s.costs.Only {
	case "BMM", "CMM":
		why = "Some sum over a join of two relations cannot be computed so, or there is none."
	case "RMM":
		why = "Rows that are copied before they meet must be in the query: a join without a condition."
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "no plan for %d sites is found that is %s", s.plan.Sites, s.costs.Only).
		WithDetail("%s", why)
}
