package cpu

import (
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/tensor"
)

// Sums over a residual X − A·B by parts. X is read once, panel by panel: while a panel is in the cache, it is
// multiplied by Bᵀ and by Aᵀ. In each round every panel of A meets a different panel of B, so all products of a round
// may be computed at once. The parts of a sum are added in the order of the rounds, whichever worker computes them.

var _ = registerState(func(d *device.Distributed, t *task) func() error {
	return func() (err error) {
		t.done, err = runParts(d, t)
		return err
	}
})

// runParts computes the targets by parts. done is false where they would be too inexact.
func runParts(d *device.Distributed, in *task) (done bool, err error) {
	b, err := in.block(0)
	if err != nil {
		return false, err
	}
	at, scale := 0, make([]float64, len(d.Targets))
	for i, t := range d.Targets {
		scale[i] = 1
		for _, f := range t.Scalars {
			v, _ := b.result(at)
			if at++; f.Divide {
				scale[i] /= v.Float(0)
			} else {
				scale[i] *= v.Float(0)
			}
		}
		if t.Neg {
			scale[i] = -scale[i]
		}
		if t.Side >= 0 && d.Flip {
			scale[i] = -scale[i]
		}
	}
	if column.KindOf(d.R.Type) == column.F32 {
		return newParts[float32](in.m, d, scale).compute()
	}
	return newParts[float64](in.m, d, scale).compute()
}

// parts is one run of the sums.
type parts[T column.Float] struct {
	*device.Distributed
	*device.Distribution
	m     *Machine
	scale []float64
	x     []T
	f     [2][]T // the factors, n × k
	acc   [2][]T
	w     []float64
	added [2][]int // by panel: how many products are added, and whether the sum has begun
}

func newParts[T column.Float](m *Machine, d *device.Distributed, scale []float64) *parts[T] {
	r := &parts[T]{Distributed: d, Distribution: d.Plan, m: m, scale: scale, x: column.Numbers[T](d.From.V.Data),
		w: d.Work.Data.F64()}
	for i, s := range d.Sides {
		n := s.Count * s.N * d.K
		if r.added[i], r.f[i] = make([]int, len(d.Plan.Panels[i])), column.Numbers[T](s.V.Data); s.Turned {
			r.f[i] = overlay[T](tensor.AsBytes(r.w[d.Plan.Pack[i]:]), n)
		}
		if s.Wanted {
			r.acc[i] = overlay[T](tensor.AsBytes(r.w[d.Plan.Acc[i]:]), n)
		}
	}
	return r
}

// compute computes the targets. It returns false if they may be too inexact.
func (r *parts[T]) compute() (bool, error) {
	for i := range r.Sides {
		if err := r.square(i); err != nil {
			return false, err
		}
	}
	least := r.least()
	near, err := r.estimate()
	if err != nil || !(near >= least) {
		return false, err
	}
	if err := r.multiplyAll(); err != nil {
		return false, err
	}
	var dot [2]float64
	for i, s := range r.Sides {
		if s.Wanted {
			if dot[i], err = r.finish(i); err != nil {
				return false, err
			}
		}
	}
	if !r.Sides[0].Wanted {
		dot[0] = dot[1]
	} else if !r.Sides[1].Wanted {
		dot[1] = dot[0]
	}
	grams, _ := r.grams()
	loss := r.Norm.Data.Float(0) - 2*dot[0] + grams
	if !(loss >= least) || !(2*math.Abs(dot[0]-dot[1]) <= r.tolerance()*loss) || math.IsInf(loss, 0) {
		return false, nil
	}
	for i, t := range r.Targets {
		if t.Side < 0 {
			t.V.Data.SetFloat(0, r.scale[i]*loss)
		}
	}
	return true, nil
}

// overlay views the beginning of memory as n numbers of another type.
func overlay[T column.Float](b []byte, n int) []T {
	_ = b[n*int(unsafe.Sizeof(T(0)))-1]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// meets returns the i-th pair of panels that meet in a round.
func (r *parts[T]) meets(round, i int) (a, b int) {
	if n := len(r.Panels[1]); len(r.Panels[0]) <= n {
		return i, (i + round) % n
	}
	return (i + round) % len(r.Panels[0]), i
}

func (r *parts[T]) tolerance() float64 {
	if column.KindOf(r.R.Type) == column.F32 {
		return r.m.tune.DistributeReal
	}
	return r.m.tune.DistributeDouble
}

// least is the smallest sum of squares that is exact enough. Its error is less than twice the error of ⟨X·Bᵀ, A⟩, which
// is less than γ·|X|·Σ|aₖ||bₖ| over the columns and rows of the factors (Cauchy and Schwarz). Here γ is the length of
// the sums in single precision times half a unit in the last place (Higham, Accuracy and Stability of Numerical
// Algorithms, 2002, §3.1). The bound includes the errors of the other two parts, which are sums in double precision,
// and of what underflows. Columns and rows may cancel, so the last part can be the largest.
func (r *parts[T]) least() float64 {
	unit, length := 0x1p-53, r.Size(0)+r.Size(1)
	if column.KindOf(r.R.Type) == column.F32 {
		unit, length = 0x1p-24, 0
	}
	q, traces, long := 0.0, [2]float64{}, 0
	for k := range r.K {
		var x [2]float64
		for i := range x {
			x[i] = r.w[r.Gram[i]+k*r.K+k]
			traces[i] += x[i]
		}
		q += math.Sqrt(x[0]) * math.Sqrt(x[1])
	}
	norm, chain := r.Norm.Data.Float(0), 0
	for i := range r.Sides {
		long = max(long, r.Runs[i]*r.Each[1-i])
		chain += r.Each[i] + device.GramLanes + len(r.Panels[i])/device.GramLanes
	}
	_, products := r.grams()
	wide := 0x1p-53 * ((r.Size(0)+r.Size(1))*norm + float64(chain)*q*q + float64(r.K*r.K)*products)
	tiny := 0x1p-149 * r.Size(0) * r.Size(1) * float64(r.K) * (math.Sqrt(traces[0]) + math.Sqrt(traces[1]))
	return (2*unit*(float64(long)+length)*math.Sqrt(norm)*q + wide + tiny) / r.tolerance()
}

// grams is ⟨Aᵀ·A, B·Bᵀ⟩, and the sum of the absolute values of its terms.
func (r *parts[T]) grams() (sum, all float64) {
	for i, x := range r.w[r.Gram[0]:][:r.K*r.K] {
		y := x * r.w[r.Gram[1]+i]
		sum, all = sum+y, all+math.Abs(y)
	}
	return sum, all
}

// rowsOf is a panel of a factor, n × k.
func (r *parts[T]) rowsOf(side int, p device.Panel) []T { return r.f[side][p.At:][:p.N*r.K] }

// wide copies a panel in double precision.
func (r *parts[T]) wide(worker, side int, p device.Panel) []float64 {
	out := tensor.View[float64](r.m.scratch[worker], 0, p.N*r.K)
	clear(out)
	cpu.AddRows(1, len(out), r.rowsOf(side, p), out)
	return out
}

// square computes factorᵀ·factor in double precision. A factor stored as k × n is transposed first, because products
// are faster then.
func (r *parts[T]) square(side int) error {
	k, panels := r.K, r.Panels[side]
	lanes := min(device.GramLanes, len(panels))
	lane := func(i int) []float64 { return r.w[r.Part[side]+i*k*k:][:k*k] }
	err := r.m.crew.Parallel(r.m.ctx, r.m.workers, lanes, func(w, i int) error {
		beta := 0.0
		for at := i; at < len(panels); at += lanes {
			p, s := panels[at], r.Sides[side]
			if s.Turned {
				transpose(column.Numbers[T](s.V.Data)[p.Tile*s.N*k+p.From:], s.N, r.rowsOf(side, p), k, p.N, k, 1)
			}
			x := r.wide(w, side, p)
			blas.Gemm(true, false, k, k, p.N, x, k, x, k, beta, lane(i), k)
			beta = 1
		}
		return nil
	})
	if err != nil {
		return err
	}
	sum := r.w[r.Gram[side]:][:k*k]
	clear(sum)
	for i := range lanes {
		cpu.AddRows(1, k*k, lane(i), sum)
	}
	return nil
}

// transpose writes scale times the transpose of x, of cols columns and rows rows, to out. from and to are the distances
// between rows in x and in out.
func transpose[A, B column.Float](x []A, from int, out []B, to, cols, rows int, scale A) {
	const block = 16 // columns whose places in out stay in the cache
	for lo := 0; lo < cols; lo += block {
		for r := range rows {
			for c, v := range x[r*from+lo:][:min(block, cols-lo)] {
				out[(lo+c)*to+r] = B(scale * v)
			}
		}
	}
}

// tile is the part of X in which two panels meet. Its rows are a tile's length apart.
func (r *parts[T]) tile(a, b device.Panel) []T {
	if r.Rows {
		return r.x[a.From*r.Sides[1].N+b.From:]
	}
	row := int(r.Tiles[a.Tile*r.Sides[1].Count+b.Tile])
	if r.From.Idx != nil && r.From.Idx.At != nil {
		row = int(r.From.Idx.At[row])
	}
	return r.x[(row*r.Sides[0].N+a.From)*r.Sides[1].N+b.From:]
}

// estimate is the sum of squares of the residual, estimated from some rows of each panel.
func (r *parts[T]) estimate() (float64, error) {
	a, b := r.Panels[0], r.Panels[1]
	n := max(len(a), len(b))
	squares := r.w[r.Sample:][:2*n]
	err := r.m.crew.Parallel(r.m.ctx, r.m.workers, n, func(w, i int) error {
		squares[2*i], squares[2*i+1] = r.sampled(w, a[i%len(a)], b[i%len(b)])
		return nil
	})
	residual, all := 0.0, 0.0
	for i := 0; i < 2*n; i += 2 {
		residual, all = residual+squares[i], all+squares[i+1]
	}
	if all == 0 {
		return residual, err
	}
	return residual / all * r.Norm.Data.Float(0), err
}

// sampled returns the sums of squares of the first rows where two panels meet: the residual's and X's.
func (r *parts[T]) sampled(worker int, a, b device.Panel) (residual, all float64) {
	n := min(device.SampleRows, a.N)
	x, y := r.tile(a, b), tensor.View[byte](r.m.scratch[worker], 0, r.Scratch)
	p := overlay[T](y, n*b.N)
	blas.Gemm(false, true, n, b.N, r.K, r.rowsOf(0, a), r.K, r.rowsOf(1, b), r.K, 0, p, b.N)
	for i := range n {
		for j, v := range x[i*r.Sides[1].N:][:b.N] {
			e := float64(v) - float64(p[i*b.N+j])
			residual, all = residual+e*e, all+float64(v)*float64(v)
		}
	}
	return residual, all
}

// multiplyAll multiplies all pairs of panels, round by round. A pair only waits for earlier pairs with one of its
// panels. Workers that waited for a whole round would begin the next one with other threads, whose caches and memory
// are cold.
func (r *parts[T]) multiplyAll() error {
	n := min(len(r.Panels[0]), len(r.Panels[1]))
	var before [2][]int32 // by pair: how many earlier pairs have the same panel
	var done [2][]atomic.Int32
	for i, p := range r.Panels {
		before[i], done[i] = make([]int32, 0, len(r.Panels[0])*len(r.Panels[1])), make([]atomic.Int32, len(p))
		count := make([]int32, len(p))
		for t := range cap(before[i]) {
			a, b := r.meets(t/n, t%n)
			at := [2]int{a, b}[i]
			before[i] = append(before[i], count[at])
			count[at]++
		}
	}
	return r.m.crew.Parallel(r.m.ctx, min(r.m.workers, n), len(before[0]), func(_, t int) error {
		a, b := r.meets(t/n, t%n)
		defer done[0][a].Add(1)
		defer done[1][b].Add(1)
		for done[0][a].Load() < before[0][t] || done[1][b].Load() < before[1][t] {
			if err := r.m.ctx.Err(); err != nil {
				return err
			}
			runtime.Gosched()
		}
		r.multiply(a, b)
		return nil
	})
}

// multiply adds the part of X in which two panels meet to the sums of both: X times B's panel, and Xᵀ times A's.
func (r *parts[T]) multiply(a, b int) {
	x := r.tile(r.Panels[0][a], r.Panels[1][b])
	for side, at := range [2]int{a, b} {
		if !r.Sides[side].Wanted {
			continue
		}
		p, q := r.Panels[side][at], r.Panels[1-side][[2]int{b, a}[side]]
		beta := T(1)
		if r.added[side][at]%r.Runs[side] == 0 {
			beta = 0
		}
		blas.Gemm(side == 1, false, p.N, r.K, q.N, x, r.Sides[1].N, r.rowsOf(1-side, q), r.K, beta,
			r.acc[side][p.At:][:p.N*r.K], r.K)
		if r.added[side][at]++; r.added[side][at]%r.Runs[side] == 0 {
			r.flush(side, at)
		}
	}
}

// flush adds the products of a run to the panel's sum. The first run begins the sum.
func (r *parts[T]) flush(side, at int) {
	p := r.Panels[side][at]
	sum := r.w[r.Sum[side]+p.At:][:p.N*r.K]
	if (r.added[side][at]-1)/r.Runs[side] == 0 {
		clear(sum)
	}
	cpu.AddRows(1, p.N*r.K, r.acc[side][p.At:][:p.N*r.K], sum)
}

// finish computes the targets that are the gradient of a factor from its sum, which is X times the other factor. It
// returns ⟨sum, factor⟩.
func (r *parts[T]) finish(side int) (float64, error) {
	panels := r.Panels[side]
	dots := r.w[r.Dots[side]:][:len(panels)]
	err := r.m.crew.Parallel(r.m.ctx, r.m.workers, len(panels), func(w, at int) error {
		if r.added[side][at]%r.Runs[side] != 0 {
			r.flush(side, at)
		}
		p := panels[at]
		sum := r.w[r.Sum[side]+p.At:][:p.N*r.K]
		f := r.wide(w, side, p)
		dots[at] = r.dot(w, sum, f)
		blas.Gemm(false, false, p.N, r.K, r.K, f, r.K, r.w[r.Gram[1-side]:], r.K, -1, sum, r.K)
		for i, t := range r.Targets {
			if t.Side == side {
				r.put(t, p, sum, -r.scale[i])
			}
		}
		tensor.Trim()
		return nil
	})
	sum := 0.0
	for _, x := range dots {
		sum += x
	}
	return sum, err
}

// dot is the inner product, summed row by row.
func (r *parts[T]) dot(worker int, x, y []float64) (sum float64) {
	rows := len(x) / r.K
	each := tensor.View[float64](r.m.scratch[worker], 8*len(x), rows)
	cpu.Dot(rows, r.K, x, r.K, y, r.K, each)
	for _, v := range each {
		sum += v
	}
	return sum
}

// put writes a panel's numbers, times scale, to a target.
func (r *parts[T]) put(t *device.Target, p device.Panel, x []float64, scale float64) {
	n := r.Sides[t.Side].N
	out := column.Numbers[T](t.V.Data)[int(t.Row[p.Tile])*n*r.K:][:n*r.K]
	if t.Turned {
		transpose(x, r.K, out[p.From:], n, r.K, p.N, scale)
		return
	}
	out = out[p.From*r.K:][:len(x)]
	for i, v := range x {
		out[i] = T(scale * v)
	}
}
