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

// Extremes is the least or greatest of v over each row's frame, or the rank of its v there or, with among, v summed
// over those rows of the frame that attain that of x.
func (g *Graph) Extremes(fn ra.AggFn, v, x *Val, t kernels.Type, o *structure.Order, f ra.Frame,
	among *ra.Extremes) *Val {
	t = g.KindType(t)
	args, name, vary := []*Val{v}, fmt.Sprintf("x%v %v %d %d %v", fn, t, v.ID, o.ID, f), v.Vary || o.Varies()
	if among != nil {
		args, vary = append(args, x), vary || x.Vary
		name += fmt.Sprintf(" %d %v %v", x.ID, among.Fn, among.Back)
	}
	return g.intern(name, func() *Val {
		return &Val{Op: OpWindow, Space: o.Space, Type: t, Args: args, Fn: fn,
			Special: Special{Order: o, Frame: f, Among: among}, Vary: vary}
	})
}

// ByExtremes reports whether a window needs the extremes of frames, or ranks.
func (v *Val) ByExtremes() bool {
	return v.Among != nil || v.Fn == ra.Min || v.Fn == ra.Max || v.Fn == ra.Rank
}
