package cpu

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels/cpu"
)

var (
	_ = registerState(func(u *device.Update, t *task) func() error { return updating(u, t) })
	_ = registerForm(runFinite)
	_ = registerForm(runClip)
)

// UpdateShare is how many elements make another worker worth while.
const UpdateShare = 1 << 16

// updating returns the function that runs an update: the loop of its name or, if there is none, its tree, block by
// block.
func updating(u *device.Update, t *task) func() error {
	single, double := updates32[u.Loop.Name], updates64[u.Loop.Name]
	switch {
	case single.f == nil && u.New == nil:
		return nil
	case single.f == nil:
		return func() error { return updateBlocks(u, t) }
	case t.V.Data.Kind() == column.F32:
		return func() error { return newUpdater(u, t, &single).run() }
	}
	return func() error { return newUpdater(u, t, &double).run() }
}

// updateLoop updates some elements; if rows is set, whole rows.
type updateLoop[T column.Float] struct {
	rows bool
	f    func(n *stepNumbers[T], p, g []T, s [][]T)
}

// updater is an update that a loop computes.
type updater[T column.Float] struct {
	*device.Update
	*updateLoop[T]
	numbers stepNumbers[T]
	p, g    []T
	s       [][]T
	rows    int
	m       *Machine
}

func newUpdater[T column.Float](u *device.Update, t *task, loop *updateLoop[T]) *updater[T] {
	x := &updater[T]{Update: u, updateLoop: loop, p: column.Numbers[T](t.V.Data), rows: t.Rows, m: t.m}
	x.numbers = numbersOf(u.Loop, column.Numbers[T](u.Numbers.Data), t.V.Data.Size())
	if u.Gradient != nil {
		x.g = column.Numbers[T](u.Gradient.Data)
	}
	for _, b := range u.Buffers {
		x.s = append(x.s, column.Numbers[T](b.Data))
	}
	return x
}

// run shares the elements among workers. Each element is updated by itself, so any cut gives the same result.
func (x *updater[T]) run() error {
	unit := 1
	if x.updateLoop.rows {
		unit = x.numbers.size
	}
	all, each := x.rows*x.numbers.size/unit, x.numbers.size/unit
	parts := max(1, min(x.m.workers, all*unit/UpdateShare))
	x.m.crew.Together(parts, func(i int) {
		lo, hi, at := i*all/parts, (i+1)*all/parts, 0 // at: where a run of rows begins
		var tmp []T
		for _, r := range x.Runs {
			n := int(r[1]-r[0]) * each
			from, to := max(lo-at, 0), min(hi-at, n)
			if begin := int(r[0]) * each; from < to {
				tmp = x.update((begin+from)*unit, (begin+to)*unit, tmp)
			}
			at += n
		}
	})
	return nil
}

// gatherBlock is how many elements of a gradient are gathered at once.
const gatherBlock = 1 << 13

// update updates the elements from lo to hi. tmp is memory for gathered parts of the gradient.
func (x *updater[T]) update(lo, hi int, tmp []T) []T {
	var buf [2][]T
	for lo < hi {
		var g []T
		n := hi - lo
		switch {
		case x.Gradient == nil:
		case x.From == nil:
			g = x.g[lo:hi]
		default:
			if g = x.stretch(lo, hi); len(g) < min(n, gatherBlock) {
				if tmp == nil {
					tmp = make([]T, gatherBlock)
				}
				g = x.gather(lo, hi, tmp)
			}
			n = len(g)
		}
		state := buf[:0]
		for _, b := range x.s {
			state = append(state, b[lo:lo+n])
		}
		x.f(&x.numbers, x.p[lo:lo+n], g, state)
		lo += n
	}
	return tmp
}

// stretch is the gradient of the elements from lo on, as far as it is stored in their order.
func (x *updater[T]) stretch(lo, hi int) []T {
	size := x.numbers.size
	row := lo / size
	src, end := x.From[row], row+1
	if src < 0 {
		return nil
	}
	for end*size < hi && x.From[end] == src+int32(end-row) {
		end++
	}
	at := int(src)*size + lo - row*size
	return x.g[at : at+min(end*size, hi)-lo]
}

// gather copies the gradient of the elements from lo on to tmp, zero for rows without one.
func (x *updater[T]) gather(lo, hi int, tmp []T) []T {
	size, n := x.numbers.size, 0
	for n < len(tmp) && lo+n < hi {
		row := (lo + n) / size
		off := lo + n - row*size
		k := min(size-off, hi-lo-n, len(tmp)-n)
		if src := int(x.From[row]); src >= 0 {
			copy(tmp[n:n+k], x.g[src*size+off:])
		} else {
			clear(tmp[n : n+k])
		}
		n += k
	}
	return tmp[:n]
}

// updateBlocks computes an update by its tree.
func updateBlocks(u *device.Update, in *task) error {
	outs := u.Changed(in.Instr)
	for _, run := range u.Runs {
		from, rows := int(run[0]), int(run[1]-run[0])
		err := in.m.crew.Apportion(in.m.ctx, in.m.workers, (rows+in.T.Rows-1)/in.T.Rows, func(w, i int) error {
			b, err := in.block(w)
			if err != nil {
				return err
			}
			lo, n := from+i*in.T.Rows, min(in.T.Rows, rows-i*in.T.Rows)
			if err := b.eval(lo, n); err != nil {
				return err
			}
			for _, r := range in.T.Result { // a view must keep the old values
				if in.T.Cells[r].View {
					b.cells[r] = *b.cells[r].Clone()
				}
			}
			for j, v := range outs {
				d, uniform := b.result(j)
				store(v.Data, lo, n, d, uniform)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func runFinite(f *device.Finite, in *task) error {
	if in.V.Data.Kind() == column.F32 {
		return finite(f, in, in.V.Data.F32())
	}
	return finite(f, in, in.V.Data.F64())
}

// finite checks all numbers at once. Only if one is not finite does it look for the first row with such a number.
func finite[T column.Float](f *device.Finite, in *task, x []T) error {
	var bad atomic.Bool
	parts := max(1, min(in.m.workers, len(x)/UpdateShare))
	in.m.crew.Together(parts, func(i int) {
		if !cpu.Finite(x[i*len(x)/parts : (i+1)*len(x)/parts]) {
			bad.Store(true)
		}
	})
	if !bad.Load() {
		return nil
	}
	i := slices.IndexFunc(x, func(v T) bool { return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) })
	return &device.NotFinite{Slot: f.Slot, Row: i / in.V.Data.Size(), X: float64(x[i])}
}

// runClip computes the factor that bounds the gradients' norm (Pascanu, Mikolov and Bengio, ICML 2013, algorithm 1).
// The sum runs in the order of gradients, rows and elements.
func runClip(c *device.Clip, _ *task) error {
	var norms []float64
	for i, v := range c.Gradients {
		row := func(r int) {
			if x := v.Data.Rows(r, r+1); x.Kind() == column.F32 {
				norms = append(norms, l2(x.F32()))
			} else {
				norms = append(norms, l2(x.F64()))
			}
		}
		if c.Rows[i] == nil {
			for r := range v.Data.Len() {
				row(r)
			}
		}
		for _, r := range c.Rows[i] {
			row(int(r))
		}
	}
	factor, n := 1.0, l2(norms)
	switch {
	case c.Measure:
		factor = n
	case n > c.Bound:
		factor = c.Bound / n
	}
	for _, v := range c.Numbers {
		v.Data.SetFloat(0, factor)
	}
	return nil
}

// l2 is the Euclidean norm, summed in double precision in the elements' order. If squares overflow or vanish, the
// elements are first divided by the largest.
func l2[T column.Float](x []T) float64 {
	sum, most := 0.0, 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
		most = max(most, math.Abs(float64(v)))
	}
	if sum >= 1e-280 && !math.IsInf(sum, 1) || most == 0 || math.IsInf(most, 1) {
		return math.Sqrt(sum)
	}
	sum = 0
	for _, v := range x {
		sum += float64(v) / most * (float64(v) / most)
	}
	return most * math.Sqrt(sum)
}
