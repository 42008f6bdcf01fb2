package eindecomp

import "context"

// Names of the methods, as Plan.By gives them.
const (
	ByElimination = "elimination"
	ByTree        = "tree"
	ByEnumeration = "enumeration"
	ByText        = "linearised_text"
	ByInformed    = "linearised_informed"
)

// Plan is a vector for each vertex, with its costs.
type Plan struct {
	Vectors []Vector
	Costs   Costs
	By      string // the method
	Why     string // why the plan is not exact; "" if it is
}

// Limits bound what exact methods may take.
type Limits struct {
	Cells int // of all tables together
	Steps int // additions
}

// defaultLimits take 256 MiB and a few seconds.
var defaultLimits = Limits{Cells: 1 << 25, Steps: 1 << 32}

// Decomposer finds plans of one graph for p kernel calls of each vertex.
type Decomposer struct {
	s      *space
	limits Limits
}

// NewDecomposer lists the viable vectors. A zero limit means the default.
func NewDecomposer(g *Graph, p int64, limits Limits) (*Decomposer, error) {
	s, err := newSpace(g, p)
	if err != nil {
		return nil, err
	}
	if limits.Cells == 0 {
		limits.Cells = defaultLimits.Cells
	}
	if limits.Steps == 0 {
		limits.Steps = defaultLimits.Steps
	}
	return &Decomposer{s, limits}, nil
}

// Viable counts the viable vectors of each vertex.
func (d *Decomposer) Viable() []int {
	out := make([]int, len(d.s.viable))
	for v := range out {
		out[v] = len(d.s.viable[v])
	}
	return out
}

// Decompose finds the cheapest plan, or where that would take more than the limits a good one; Plan.By and Plan.Why
// tell which.
func (d *Decomposer) Decompose(ctx context.Context) (*Plan, error) {
	h := newElimination(d.s)
	order, why := h.order(d.limits)
	switch {
	case why == "":
		return h.eliminate(ctx, order)
	case d.s.g.IsTree():
		return d.Tree(ctx)
	}
	plan, err := d.improved(ctx)
	if err == nil {
		plan.Why = why
	}
	return plan, err
}
