package cuda

import "sync/atomic"

// Calls counts calls of the driver by this process, on all its devices.
type Calls struct {
	Graphs  int64 // launches of graphs
	Kernels int64 // launches of single kernels
	Copies  int64 // copies to a device and from it
	Waits   int64 // waits for a device, those at the end of a copy apart

	Products int64 // products of cuBLASLt, each of which launches one kernel or more
}

var calls struct{ graphs, kernels, copies, waits, products atomic.Int64 }

// Count is what this process has called so far. Kernels and products that were launched while a graph was
// recorded count too.
func Count() Calls {
	return Calls{calls.graphs.Load(), calls.kernels.Load(), calls.copies.Load(), calls.waits.Load(),
		calls.products.Load()}
}

// Plus are the calls of both counts.
func (c Calls) Plus(more Calls) Calls {
	return Calls{c.Graphs + more.Graphs, c.Kernels + more.Kernels, c.Copies + more.Copies, c.Waits + more.Waits,
		c.Products + more.Products}
}

// Since are the calls since an earlier count.
func (c Calls) Since(before Calls) Calls {
	return Calls{c.Graphs - before.Graphs, c.Kernels - before.Kernels, c.Copies - before.Copies, c.Waits - before.Waits,
		c.Products - before.Products}
}
