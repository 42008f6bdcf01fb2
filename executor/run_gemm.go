package executor

import (
	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/tensor"
)

func (g *gemm) run(in *task) error {
	m := in.m
	down := (g.p.m + g.rows - 1) / g.rows
	n, width := across(in.rows, down, g.p.n)
	if down*n*in.rows < 4 && width >= g.p.n && g.p.n >= 2*leastPanel { // too few for the workers
		n, width = 2, (g.p.n+1)/2
	}
	return cpu.Parallel(m.ctx, m.workers, in.rows*down*n, func(w, task int) error {
		row, at := task/(down*n), task%(down*n)
		lo, left := at%down*g.rows, at/down*width
		if in.v.data.kind == f32 {
			runPanel[float32](in, g, row, lo, left, min(width, g.p.n-left))
		} else {
			runPanel[float64](in, g, row, lo, left, min(width, g.p.n-left))
		}
		return nil
	})
}

// part are the numbers of v that product row multiplies, or all where it is the same matrix for each.
func part[T float](v *val, row, size int) []T {
	if v.uniform() {
		return of[T](v.data)[:size]
	}
	return of[T](v.data)[row*size : (row+1)*size]
}

// runPanel computes a panel of the result of one product, from row lo and column left on.
func runPanel[T float](in *task, g *gemm, row, lo, left, width int) {
	p := g.p
	x, y, out := part[T](g.x, row, p.m*p.k), part[T](g.y, row, p.k*p.n), of[T](in.v.data)[row*p.m*p.n:(row+1)*p.m*p.n]
	n := min(g.rows, p.m-lo)
	lda, ldb := p.k, p.n
	if p.at {
		lda = p.m
		x = x[lo:]
	} else {
		x = x[lo*p.k:]
	}
	if p.bt {
		ldb = p.k
		y = y[left*p.k:]
	} else {
		y = y[left:]
	}
	blas.Gemm(p.at, p.bt, n, width, p.k, x, lda, y, ldb, 0, out[lo*p.n+left:], p.n)
}

func (o *outers) run(in *task) error {
	m := in.m
	down, n, width := o.tiles()
	return cpu.Parallel(m.ctx, m.workers, down*n, func(w, task int) error {
		lo, left := task%down*outersTile, task/down*width
		if in.v.data.kind == f32 {
			runOuters[float32](in, o, lo, min(outersTile, o.p-lo), left, min(width, o.q-left), m.scratch[w])
		} else {
			runOuters[float64](in, o, lo, min(outersTile, o.p-lo), left, min(width, o.q-left), m.scratch[w])
		}
		return nil
	})
}

// inParts is scratch for n sums in double precision that begin at 0, and for parts of them in the result's kind.
func inParts[T float](k kind, n int, scratch *tensor.Buffer) (part []T, sum []float64) {
	d, wide := place(scratch, 0, k, n, 1, false), place(scratch, span(n*k.bytes()), f64, n, 1, false)
	clear(wide.f64)
	return of[T](&d), wide.f64
}

// runOuters sums n rows and width columns of the result.
func runOuters[T float](in *task, o *outers, lo, n, left, width int, scratch *tensor.Buffer) {
	x, y, out := of[T](o.x.data), of[T](o.y.data), of[T](in.v.data)
	if in.rows <= productRows {
		blas.Gemm(true, false, n, width, in.rows, x[lo:], o.p, y[left:], o.q, 0, out[lo*o.q+left:], o.q)
		return
	}
	part, sum := inParts[T](in.v.data.kind, n*width, scratch)
	for at := 0; at < in.rows; at += productRows {
		blas.Gemm(
			true,
			false,
			n,
			width,
			min(productRows, in.rows-at),
			x[at*o.p+lo:],
			o.p,
			y[at*o.q+left:],
			o.q,
			0,
			part,
			width,
		)
		cpu.AddRows(1, n*width, part, sum)
		tensor.Trim()
	}
	for r := range n {
		to := out[(lo+r)*o.q+left:]
		for i, s := range sum[r*width : (r+1)*width] {
			to[i] = T(s)
		}
	}
}

func (s *narrowProduct) run(in *task) error {
	m := in.m
	panels := (s.long + s.rows - 1) / s.rows
	return cpu.Parallel(m.ctx, m.workers, in.rows*panels, func(w, task int) error {
		operand, result := s.scratch()
		d := place(m.scratch[w], 0, in.v.data.kind, operand+result, 1, false)
		if in.v.data.kind == f32 {
			runNarrow(in, s, task/panels, task%panels*s.rows, d.f32)
		} else {
			runNarrow(in, s, task/panels, task%panels*s.rows, d.f64)
		}
		return nil
	})
}

// runNarrow computes one product's result from lo on, on its long side.
func runNarrow[T float](in *task, s *narrowProduct, row, lo int, scratch []T) {
	n, operand := min(s.rows, s.long-lo), 0
	wide, narrow := part[T](s.wide, row, s.long*s.inner), part[T](s.narrow, row, s.side*s.inner)
	out := of[T](in.v.data)[row*s.side*s.long : (row+1)*s.side*s.long]
	if s.turn {
		operand, _ = s.scratch()
		rows, cols := s.side, s.inner
		if !s.left { // what is side × inner beside the wide matrix is stored as inner × side
			rows, cols = cols, rows
		}
		cpu.Transpose(rows, cols, narrow, cols, scratch[:operand], rows)
		narrow = scratch[:operand]
	}
	to, ld := out[lo*s.side:], s.side
	if !s.left {
		to, ld = out[lo:], s.long
	}
	if s.back {
		to = scratch[operand:]
		if !s.left {
			ld = n
		}
	}
	if s.left {
		blas.Gemm(false, false, n, s.side, s.inner, wide[lo*s.inner:], s.inner, narrow, s.side, 0, to, ld)
	} else {
		blas.Gemm(false, false, s.side, n, s.inner, narrow, s.inner, wide[lo:], s.long, 0, to, ld)
	}
	switch {
	case s.back && s.left:
		cpu.Transpose(n, s.side, to, s.side, out[lo:], s.long)
	case s.back:
		cpu.Transpose(s.side, n, to, n, out[lo*s.side:], s.side)
	}
}

func (s *productSum) run(in *task) error {
	m := in.m
	return cpu.Parallel(m.ctx, m.workers, in.grp.Out.N*s.down, func(w, task int) error {
		g, lo := task/s.down, task%s.down*s.panel
		if in.v.data.kind == f32 {
			sumProducts[float32](in, s, g, lo, m.scratch[w])
		} else {
			sumProducts[float64](in, s, g, lo, m.scratch[w])
		}
		if valid := in.v.data.valid; valid != nil && lo == 0 {
			valid[g] = 1
			if in.grp.Start[g] == in.grp.Start[g+1] {
				valid[g] = 0
			}
		}
		return nil
	})
}

// sumProducts computes the panel of group g's result from row lo on: in the kind of the result over at most longSum
// numbers, in double precision beyond.
func sumProducts[T float](in *task, s *productSum, g, lo int, scratch *tensor.Buffer) {
	p, first, end := s.p, int(in.grp.Start[g]), int(in.grp.Start[g+1])
	n := min(s.panel, p.m-lo)
	out := of[T](in.v.data)[(g*p.m+lo)*p.n : (g*p.m+lo+n)*p.n]
	run := s.inOwnPrecision()
	if end-first <= run {
		addProducts(s, lo, n, first, end, out)
		return
	}
	part, sum := inParts[T](in.v.data.kind, n*p.n, scratch)
	for ; first < end; first += run {
		addProducts(s, lo, n, first, min(first+run, end), part)
		cpu.AddRows(1, n*p.n, part, sum)
	}
	for i, x := range sum {
		out[i] = T(x)
	}
}

// addProducts sets out to the sum of n rows, from row lo on, of the products of the rows first…end.
func addProducts[T float](s *productSum, lo, n, first, end int, out []T) {
	p := s.p
	if first == end {
		clear(out)
	}
	lda, ldb, left := p.k, p.n, lo*p.k
	if p.at {
		lda, left = p.m, lo
	}
	if p.bt {
		ldb = p.k
	}
	beta := T(0)
	for r := first; r < end; r++ {
		x, y := s.x.row(r)*p.m*p.k, s.y.row(r)*p.k*p.n
		blas.Gemm(
			p.at,
			p.bt,
			n,
			p.n,
			p.k,
			of[T](s.x.v.data)[x+left:x+p.m*p.k],
			lda,
			of[T](s.y.v.data)[y:y+p.k*p.n],
			ldb,
			beta,
			out,
			p.n,
		)
		beta = 1
		tensor.Trim()
	}
}
