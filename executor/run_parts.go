package executor

import (
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/tensor"
)

// How sums over a residual X − A·B are computed by parts. X is read once, panel by panel: while one is in the cache it
// is multiplied by Bᵀ and by Aᵀ. In a round each panel of A meets another one of B, so that all products of a round may
// be made at once; the order in which a sum's parts are added is that of the rounds, whoever makes them.

// run reports whether the targets could be made by parts.
func (d *distributed) run(in *task) (done bool, err error) {
	b, err := in.block(0)
	if err != nil {
		return false, err
	}
	at, scale := 0, make([]float64, len(d.targets))
	for i, t := range d.targets {
		scale[i] = 1
		for _, f := range t.scalars {
			v, _ := b.result(at)
			if at++; f.divide {
				scale[i] /= v.float(0)
			} else {
				scale[i] *= v.float(0)
			}
		}
		if t.neg {
			scale[i] = -scale[i]
		}
		if t.side >= 0 && d.flip {
			scale[i] = -scale[i]
		}
	}
	if kindOf(d.r.typ) == f32 {
		return newParts[float32](in.m, d, scale).compute()
	}
	return newParts[float64](in.m, d, scale).compute()
}

// parts is a run of it.
type parts[T float] struct {
	*distributed
	*distribution
	m     *machine
	scale []float64
	x     []T
	f     [2][]T // the factors, n × k
	acc   [2][]T
	w     []float64
	added [2][]int // products that a panel's sum has, and whether it has begun
}

func newParts[T float](m *machine, d *distributed, scale []float64) *parts[T] {
	r := &parts[T]{distributed: d, distribution: d.plan, m: m, scale: scale, x: of[T](d.from.v.data), w: d.work.data.f64}
	for i, s := range d.sides {
		n := s.count * s.n * d.k
		if r.added[i], r.f[i] = make([]int, len(d.plan.panels[i])), of[T](s.v.data); s.turned {
			r.f[i] = overlay[T](tensor.AsBytes(r.w[d.plan.pack[i]:]), n)
		}
		if s.wanted {
			r.acc[i] = overlay[T](tensor.AsBytes(r.w[d.plan.acc[i]:]), n)
		}
	}
	return r
}

// compute makes the targets; false where they may be too inexact.
func (r *parts[T]) compute() (bool, error) {
	for i := range r.sides {
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
	for i, s := range r.sides {
		if s.wanted {
			if dot[i], err = r.finish(i); err != nil {
				return false, err
			}
		}
	}
	if !r.sides[0].wanted {
		dot[0] = dot[1]
	} else if !r.sides[1].wanted {
		dot[1] = dot[0]
	}
	grams, _ := r.grams()
	loss := r.norm.data.float(0) - 2*dot[0] + grams
	if !(loss >= least) || !(2*math.Abs(dot[0]-dot[1]) <= r.tolerance()*loss) || math.IsInf(loss, 0) {
		return false, nil
	}
	for i, t := range r.targets {
		if t.side < 0 {
			setFloat(t.v.data, r.scale[i]*loss)
		}
	}
	return true, nil
}

// setFloat writes the number of a column of one.
func setFloat(d *data, x float64) {
	if d.kind == f32 {
		d.f32[0] = float32(x)
		return
	}
	d.f64[0] = x
}

// overlay takes the first n numbers of memory as such of another type.
func overlay[T float](b []byte, n int) []T {
	_ = b[n*int(unsafe.Sizeof(T(0)))-1]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// meets are the panels that meet in a round, the i-th pair of it.
func (r *parts[T]) meets(round, i int) (a, b int) {
	if n := len(r.panels[1]); len(r.panels[0]) <= n {
		return i, (i + round) % n
	}
	return (i + round) % len(r.panels[0]), i
}

func (r *parts[T]) tolerance() float64 {
	if kindOf(r.r.typ) == f32 {
		return r.m.tune.DistributeReal
	}
	return r.m.tune.DistributeDouble
}

// least is the smallest sum of squares that is exact enough: its error is less than twice the error of ⟨X·Bᵀ, A⟩, which
// is less than γ·|X|·Σ|aₖ||bₖ| over the columns and rows of the factors (Cauchy and Schwarz), where γ is the length of
// the sums in single precision times half a unit in the last place (Higham, Accuracy and Stability of Numerical
// Algorithms, 2002, §3.1), the errors of the other two parts, which are sums in double precision, and what underflows.
// Columns and rows may cancel, so that the last part is the largest.
func (r *parts[T]) least() float64 {
	unit, length := 0x1p-53, r.size(0)+r.size(1)
	if kindOf(r.r.typ) == f32 {
		unit, length = 0x1p-24, 0
	}
	q, traces, long := 0.0, [2]float64{}, 0
	for k := range r.k {
		var x [2]float64
		for i := range x {
			x[i] = r.w[r.gram[i]+k*r.k+k]
			traces[i] += x[i]
		}
		q += math.Sqrt(x[0]) * math.Sqrt(x[1])
	}
	norm, chain := r.norm.data.float(0), 0
	for i := range r.sides {
		long = max(long, r.runs[i]*r.each[1-i])
		chain += r.each[i] + gramLanes + len(r.panels[i])/gramLanes
	}
	_, products := r.grams()
	wide := 0x1p-53 * ((r.size(0)+r.size(1))*norm + float64(chain)*q*q + float64(r.k*r.k)*products)
	tiny := 0x1p-149 * r.size(0) * r.size(1) * float64(r.k) * (math.Sqrt(traces[0]) + math.Sqrt(traces[1]))
	return (2*unit*(float64(long)+length)*math.Sqrt(norm)*q + wide + tiny) / r.tolerance()
}

// grams is ⟨Aᵀ·A, B·Bᵀ⟩, and the sum of its products' absolute values.
func (r *parts[T]) grams() (sum, all float64) {
	for i, x := range r.w[r.gram[0]:][:r.k*r.k] {
		y := x * r.w[r.gram[1]+i]
		sum, all = sum+y, all+math.Abs(y)
	}
	return sum, all
}

// rowsOf are the numbers of a panel, n × k.
func (r *parts[T]) rowsOf(side int, p panel) []T { return r.f[side][p.at:][:p.n*r.k] }

// wide copies a panel in double precision.
func (r *parts[T]) wide(worker, side int, p panel) []float64 {
	out := tensor.View[float64](r.m.scratch[worker], 0, p.n*r.k)
	clear(out)
	cpu.AddRows(1, len(out), r.rowsOf(side, p), out)
	return out
}

// square computes factorᵀ·factor in double precision; a factor that is stored as k × n is turned first, since products
// are faster so.
func (r *parts[T]) square(side int) error {
	k, panels := r.k, r.panels[side]
	lanes := min(gramLanes, len(panels))
	lane := func(i int) []float64 { return r.w[r.part[side]+i*k*k:][:k*k] }
	err := cpu.Parallel(r.m.ctx, r.m.workers, lanes, func(w, i int) error {
		beta := 0.0
		for at := i; at < len(panels); at += lanes {
			p, s := panels[at], r.sides[side]
			if s.turned {
				transpose(of[T](s.v.data)[p.tile*s.n*k+p.from:], s.n, r.rowsOf(side, p), k, p.n, k, 1)
			}
			x := r.wide(w, side, p)
			blas.Gemm(true, false, k, k, p.n, x, k, x, k, beta, lane(i), k)
			beta = 1
		}
		return nil
	})
	if err != nil {
		return err
	}
	sum := r.w[r.gram[side]:][:k*k]
	clear(sum)
	for i := range lanes {
		cpu.AddRows(1, k*k, lane(i), sum)
	}
	return nil
}

// transpose writes scale times a matrix of so many columns, whose rows begin from apart, turned into one whose rows
// begin to apart.
func transpose[A, B float](x []A, from int, out []B, to, cols, rows int, scale A) {
	const block = 16 // columns whose places stay in the cache
	for lo := 0; lo < cols; lo += block {
		for r := range rows {
			for c, v := range x[r*from+lo:][:min(block, cols-lo)] {
				out[(lo+c)*to+r] = B(scale * v)
			}
		}
	}
}

// tile is the part of X that two panels meet in, whose rows begin a tile's length apart.
func (r *parts[T]) tile(a, b panel) []T {
	if r.rows {
		return r.x[a.from*r.sides[1].n+b.from:]
	}
	row := int(r.tiles[a.tile*r.sides[1].count+b.tile])
	if r.from.idx != nil && r.from.idx.At != nil {
		row = int(r.from.idx.At[row])
	}
	return r.x[(row*r.sides[0].n+a.from)*r.sides[1].n+b.from:]
}

// estimate is the sum of squares that a sample of X's rows lets expect: some of each panel.
func (r *parts[T]) estimate() (float64, error) {
	a, b := r.panels[0], r.panels[1]
	n := max(len(a), len(b))
	squares := r.w[r.sample:][:2*n]
	err := cpu.Parallel(r.m.ctx, r.m.workers, n, func(w, i int) error {
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
	return residual / all * r.norm.data.float(0), err
}

// sampled is the sum of squares of the residual's first rows where two panels meet, and that of X's.
func (r *parts[T]) sampled(worker int, a, b panel) (residual, all float64) {
	n := min(sampleRows, a.n)
	x, y := r.tile(a, b), tensor.View[byte](r.m.scratch[worker], 0, r.scratch)
	p := overlay[T](y, n*b.n)
	blas.Gemm(false, true, n, b.n, r.k, r.rowsOf(0, a), r.k, r.rowsOf(1, b), r.k, 0, p, b.n)
	for i := range n {
		for j, v := range x[i*r.sides[1].n:][:b.n] {
			e := float64(v) - float64(p[i*b.n+j])
			residual, all = residual+e*e, all+float64(v)*float64(v)
		}
	}
	return residual, all
}

// multiplyAll multiplies all pairs of panels, round by round. A pair waits for those before it that one of its panels
// is in, and for no others: a worker that waited for a whole round would begin the next one with other threads, whose
// caches and memory are cold.
func (r *parts[T]) multiplyAll() error {
	n := min(len(r.panels[0]), len(r.panels[1]))
	var before [2][]int32 // per pair: the pairs before it with the same panel
	var done [2][]atomic.Int32
	for i, p := range r.panels {
		before[i], done[i] = make([]int32, 0, len(r.panels[0])*len(r.panels[1])), make([]atomic.Int32, len(p))
		count := make([]int32, len(p))
		for t := range cap(before[i]) {
			a, b := r.meets(t/n, t%n)
			at := [2]int{a, b}[i]
			before[i] = append(before[i], count[at])
			count[at]++
		}
	}
	return cpu.Parallel(r.m.ctx, min(r.m.workers, n), len(before[0]), func(_, t int) error {
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

// multiply adds what the part of X that two panels meet in gives to the sums of both: X times B's panel, and Xᵀ times
// A's.
func (r *parts[T]) multiply(a, b int) {
	x := r.tile(r.panels[0][a], r.panels[1][b])
	for side, at := range [2]int{a, b} {
		if !r.sides[side].wanted {
			continue
		}
		p, q := r.panels[side][at], r.panels[1-side][[2]int{b, a}[side]]
		beta := T(1)
		if r.added[side][at]%r.runs[side] == 0 {
			beta = 0
		}
		blas.Gemm(
			side == 1,
			false,
			p.n,
			r.k,
			q.n,
			x,
			r.sides[1].n,
			r.rowsOf(1-side, q),
			r.k,
			beta,
			r.acc[side][p.at:][:p.n*r.k],
			r.k,
		)
		if r.added[side][at]++; r.added[side][at]%r.runs[side] == 0 {
			r.flush(side, at)
		}
	}
}

// flush adds the products of a run to the sum, which the first one begins.
func (r *parts[T]) flush(side, at int) {
	p := r.panels[side][at]
	sum := r.w[r.sum[side]+p.at:][:p.n*r.k]
	if (r.added[side][at]-1)/r.runs[side] == 0 {
		clear(sum)
	}
	cpu.AddRows(1, p.n*r.k, r.acc[side][p.at:][:p.n*r.k], sum)
}

// finish makes the targets of a factor's gradient of its sum, X times the other factor, and returns ⟨sum, factor⟩.
func (r *parts[T]) finish(side int) (float64, error) {
	panels := r.panels[side]
	dots := r.w[r.dots[side]:][:len(panels)]
	err := cpu.Parallel(r.m.ctx, r.m.workers, len(panels), func(w, at int) error {
		if r.added[side][at]%r.runs[side] != 0 {
			r.flush(side, at)
		}
		p := panels[at]
		sum := r.w[r.sum[side]+p.at:][:p.n*r.k]
		f := r.wide(w, side, p)
		dots[at] = r.dot(w, sum, f)
		blas.Gemm(false, false, p.n, r.k, r.k, f, r.k, r.w[r.gram[1-side]:], r.k, -1, sum, r.k)
		for i, t := range r.targets {
			if t.side == side {
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
	rows := len(x) / r.k
	each := tensor.View[float64](r.m.scratch[worker], 8*len(x), rows)
	cpu.Dot(rows, r.k, x, r.k, y, r.k, each)
	for _, v := range each {
		sum += v
	}
	return sum
}

// put writes a panel's numbers, scaled, into a target.
func (r *parts[T]) put(t *target, p panel, x []float64, scale float64) {
	n := r.sides[t.side].n
	out := of[T](t.v.data)[int(t.row[p.tile])*n*r.k:][:n*r.k]
	if t.turned {
		transpose(x, r.k, out[p.from:], n, r.k, p.n, scale)
		return
	}
	out = out[p.from*r.k:][:len(x)]
	for i, v := range x {
		out[i] = T(scale * v)
	}
}
