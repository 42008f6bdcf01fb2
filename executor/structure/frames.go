package structure

import (
	"slices"

	"github.com/relgrad/relgrad/ra"
)

// Frames moves over the places of an order, and says which places each row's frame holds.
type Frames struct {
	o           *Order
	f           ra.Frame
	part, peers int // which partition, and which set of equal rows, holds the place
}

// Frames begins at a place.
func (o *Order) Frames(f ra.Frame, place int) *Frames {
	return &Frames{o: o, f: f, part: holding(o.Start, place), peers: holding(o.Peers, place)}
}

// holding is the number of the range that holds a place.
func holding(starts []int32, place int) int {
	at, found := slices.BinarySearch(starts, int32(place))
	if !found {
		at--
	}
	return at
}

// At is the frame of the row at a place, from lo until before hi, and the first place of its partition. Places must
// ascend from call to call.
func (x *Frames) At(place int) (lo, hi, first int) {
	o := x.o
	for int(o.Start[x.part+1]) <= place {
		x.part++
	}
	first, end := int(o.Start[x.part]), int(o.Start[x.part+1])
	if x.f.Peers {
		for int(o.Peers[x.peers+1]) <= place {
			x.peers++
		}
		lo, hi = int(o.Peers[x.peers]), int(o.Peers[x.peers+1])
		if x.f.Lo != 0 {
			lo = first
		}
		if x.f.Hi != 0 {
			hi = end
		}
		return lo, hi, first
	}
	lo = min(max(place+int(x.f.Lo), first), end)
	return lo, min(max(place+int(x.f.Hi)+1, lo), end), first
}

// End is where the partition ends of the place asked for last.
func (x *Frames) End() int { return int(x.o.Start[x.part+1]) }

// FrameRows is how many rows the frame of each row holds.
func (o *Order) FrameRows(f ra.Frame) []int64 {
	out, x := make([]int64, o.Space.N), o.Frames(f, 0)
	for k := range out {
		lo, hi, _ := x.At(k)
		out[o.Row(k)] = int64(hi - lo)
	}
	return out
}

// Facing is the order and the frame by which a device computes a window: the frame begins with its partition, or it is
// a number of rows. A frame that ends with its partition begins with it in the opposite order; equal rows by themselves
// are a partition.
func Facing(st *Stage, o *Order, f ra.Frame) (*Order, ra.Frame) {
	switch {
	case f.Peers && f.Lo == 0 && f.Hi == 0:
		if o.equals == nil {
			o.equals = &Order{ID: st.env.NewID(), Space: o.Space, Rows: o.Rows, Start: o.Peers, Peers: o.Peers,
				step: o.step}
		}
		return o.equals, ra.Frame{Lo: -ra.Unbounded, Hi: ra.Unbounded}
	case f.Lo == -ra.Unbounded || f.Hi != ra.Unbounded:
		return o, f
	}
	if o.opposite == nil {
		n := o.Space.N
		rows := st.Arrays.Ints(n)
		for k := range rows {
			rows[k] = int32(o.Row(n - 1 - k))
		}
		o.opposite = &Order{ID: st.env.NewID(), Space: o.Space, Rows: rows, Start: turned(st.Arrays, o.Start),
			Peers: turned(st.Arrays, o.Peers), step: o.step}
	}
	return o.opposite, f.Mirrored()
}

// turned are ranges in the opposite order.
func turned(mem *Arrays, starts []int32) []int32 {
	out := mem.Ints(len(starts))
	n := starts[len(starts)-1]
	for i, at := range starts {
		out[len(starts)-1-i] = n - at
	}
	return out
}
