package values

import (
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
)

// Exchange says which rows of a column that lies at several sites make up a column at this one.
type Exchange struct {
	// Number is that of the exchange and the column among those of the plan, the same at each site. Sites run their
	// exchanges in this order.
	Number int
	Sent   *Val   // what this site holds of the column; nil: nothing
	Parts  []Part // what arrives, in the order of the rows here
	// Leaves says by site which rows of Sent leave for it; nil: none do. Only sites of other processes are sent rows:
	// those of this one take them.
	Leaves []*Leave
}

// Leave is some rows that leave for a site.
type Leave struct {
	All  bool
	Rows []int32 // if not all do
}

// Part is some rows that arrive from a site.
type Part struct {
	Site int
	Rows []int32 // of the column there; nil: all, in their order
	N    int     // how many rows
}

// Exchange makes the column of a space that an exchange brings. It may change from step to step if vary is set.
func (g *Graph) Exchange(x *Exchange, name string, t kernels.Type, sp *structure.Space, vary bool) *Val {
	v := &Val{ID: g.NewID(), Op: OpExchange, Space: sp, Type: g.KindType(t), Vary: vary || sp.Varies,
		Special: Special{Moves: x}, Name: name}
	if x.Sent != nil {
		v.Args = []*Val{x.Sent}
	}
	return v
}
