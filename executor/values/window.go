package values

import (
	"fmt"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Window aggregates v, a column of the order's rows, over each row's frame, which begins with its partition or is a
// number of rows (structure.Facing).
func (g *Graph) Window(fn ra.AggFn, v *Val, t kernels.Type, o *structure.Order, f ra.Frame) *Val {
	t = g.KindType(t)
	return g.intern(fmt.Sprintf("w%v %v %d %d %v", fn, t, v.ID, o.ID, f), func() *Val {
		return &Val{Op: OpWindow, Space: o.Space, Type: t, Args: []*Val{v}, Fn: fn,
			Special: Special{Order: o, Frame: f}, Vary: v.Vary || o.Varies()}
	})
}
