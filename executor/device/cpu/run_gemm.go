package cpu

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/tensor"
)

var _ = registerForm(runGEMM)

func runGEMM(g *device.GEMM, in *task) error {
	m := in.m
	down := (g.P.M + g.Rows - 1) / g.Rows
	n, width := device.Across(in.Rows, down, g.P.N)
	if down*n*in.Rows < 4 && width >= g.P.N && g.P.N >= 2*device.LeastPanel { // too few panels for the workers
		n, width = 2, (g.P.N+1)/2
	}
	return m.crew.Parallel(m.ctx, m.workers, in.Rows*down*n, func(w, task int) error {
		row, at := task/(down*n), task%(down*n)
		lo, left := at%down*g.Rows, at/down*width
		if in.V.Data.Kind() == column.F32 {
			runPanel[float32](in, g, row, lo, left, min(width, g.P.N-left))
		} else {
			runPanel[float64](in, g, row, lo, left, min(width, g.P.N-left))
		}
		return nil
	})
}

// part is the matrix of v that the product of a row reads: the row's own, or the one of all rows.
func part[T column.Float](v *values.Val, row, size int) []T {
	if v.Uniform() {
		return column.Numbers[T](v.Data)[:size]
	}
	return column.Numbers[T](v.Data)[row*size : (row+1)*size]
}

// runPanel computes a panel of one product's result: from row lo and column left on.
func runPanel[T column.Float](in *task, g *device.GEMM, row, lo, left, width int) {
	p := g.P
	x, y, out := part[T](g.X, row, p.M*p.K), part[T](g.Y, row, p.K*p.N),
		column.Numbers[T](in.V.Data)[row*p.M*p.N:(row+1)*p.M*p.N]
	n := min(g.Rows, p.M-lo)
	lda, ldb := p.K, p.N
	if p.At {
		lda = p.M
		x = x[lo:]
	} else {
		x = x[lo*p.K:]
	}
	if p.Bt {
		ldb = p.K
		y = y[left*p.K:]
	} else {
		y = y[left:]
	}
	blas.Gemm(p.At, p.Bt, n, width, p.K, x, lda, y, ldb, 0, out[lo*p.N+left:], p.N)
}

var _ = registerForm(runOuterSums)

func runOuterSums(o *device.Outers, in *task) error {
	m := in.m
	down, n, width := o.Tiles()
	return m.crew.Parallel(m.ctx, m.workers, down*n, func(w, task int) error {
		lo, left := task%down*device.OutersTile, task/down*width
		if in.V.Data.Kind() == column.F32 {
			runOuters[float32](in, o, lo, min(device.OutersTile, o.P-lo), left, min(width, o.Q-left), m.scratch[w])
		} else {
			runOuters[float64](in, o, lo, min(device.OutersTile, o.P-lo), left, min(width, o.Q-left), m.scratch[w])
		}
		return nil
	})
}

// inParts returns zeroed memory for n sums in double precision, and memory for parts of these sums in the result's
// kind.
func inParts[T column.Float](k column.Kind, n int, scratch *tensor.Buffer) (part []T, sum []float64) {
	d, wide := column.Place(scratch, 0, k, n, 1, false),
		column.Place(scratch, column.Aligned(n*k.Bytes()), column.F64, n, 1, false)
	clear(wide.F64())
	return column.Numbers[T](&d), wide.F64()
}

// runOuters computes a tile of the result: n rows from lo on, width columns from left on.
func runOuters[T column.Float](in *task, o *device.Outers, lo, n, left, width int, scratch *tensor.Buffer) {
	x, y, out := column.Numbers[T](o.X.Data), column.Numbers[T](o.Y.Data), column.Numbers[T](in.V.Data)
	if in.Rows <= device.ProductRows {
		blas.Gemm(true, false, n, width, in.Rows, x[lo:], o.P, y[left:], o.Q, 0, out[lo*o.Q+left:], o.Q)
		return
	}
	part, sum := inParts[T](in.V.Data.Kind(), n*width, scratch)
	for at := 0; at < in.Rows; at += device.ProductRows {
		blas.Gemm(true, false, n, width, min(device.ProductRows, in.Rows-at), x[at*o.P+lo:], o.P, y[at*o.Q+left:], o.Q,
			0, part, width)
		cpu.AddRows(1, n*width, part, sum)
		tensor.Trim()
	}
	for r := range n {
		to := out[(lo+r)*o.Q+left:]
		for i, s := range sum[r*width : (r+1)*width] {
			to[i] = T(s)
		}
	}
}

var _ = registerForm(runNarrowProducts)

func runNarrowProducts(s *device.NarrowProduct, in *task) error {
	m := in.m
	panels := (s.Long + s.Rows - 1) / s.Rows
	return m.crew.Parallel(m.ctx, m.workers, in.Rows*panels, func(w, task int) error {
		operand, result := s.Scratch()
		d := column.Place(m.scratch[w], 0, in.V.Data.Kind(), operand+result, 1, false)
		if in.V.Data.Kind() == column.F32 {
			runNarrow(in, s, task/panels, task%panels*s.Rows, d.F32())
		} else {
			runNarrow(in, s, task/panels, task%panels*s.Rows, d.F64())
		}
		return nil
	})
}

// runNarrow computes a panel of one product's result, from lo on along the long side.
func runNarrow[T column.Float](in *task, s *device.NarrowProduct, row, lo int, scratch []T) {
	n, operand := min(s.Rows, s.Long-lo), 0
	wide, narrow := part[T](s.Wide, row, s.Long*s.Inner), part[T](s.Narrow, row, s.Side*s.Inner)
	out := column.Numbers[T](in.V.Data)[row*s.Side*s.Long : (row+1)*s.Side*s.Long]
	if s.Turn {
		operand, _ = s.Scratch()
		rows, cols := s.Side, s.Inner
		if !s.Left { // the panel, side × inner beside the wide matrix, is stored as inner × side
			rows, cols = cols, rows
		}
		cpu.Transpose(rows, cols, narrow, cols, scratch[:operand], rows)
		narrow = scratch[:operand]
	}
	to, ld := out[lo*s.Side:], s.Side
	if !s.Left {
		to, ld = out[lo:], s.Long
	}
	if s.Back {
		to = scratch[operand:]
		if !s.Left {
			ld = n
		}
	}
	if s.Left {
		blas.Gemm(false, false, n, s.Side, s.Inner, wide[lo*s.Inner:], s.Inner, narrow, s.Side, 0, to, ld)
	} else {
		blas.Gemm(false, false, s.Side, n, s.Inner, narrow, s.Inner, wide[lo:], s.Long, 0, to, ld)
	}
	switch {
	case s.Back && s.Left:
		cpu.Transpose(n, s.Side, to, s.Side, out[lo:], s.Long)
	case s.Back:
		cpu.Transpose(s.Side, n, to, n, out[lo*s.Side:], s.Side)
	}
}

var _ = registerForm(runProductSums)

func runProductSums(s *device.ProductSum, in *task) error {
	m := in.m
	return m.crew.Parallel(m.ctx, m.workers, in.Grp.Out.N*s.Down, func(w, task int) error {
		g, lo := task/s.Down, task%s.Down*s.Panel
		if in.V.Data.Kind() == column.F32 {
			sumProducts[float32](in, s, g, lo, m.scratch[w])
		} else {
			sumProducts[float64](in, s, g, lo, m.scratch[w])
		}
		if valid := in.V.Data.Valid(); valid != nil && lo == 0 {
			valid[g] = 1
			if in.Grp.Start[g] == in.Grp.Start[g+1] {
				valid[g] = 0
			}
		}
		return nil
	})
}

// sumProducts computes a panel of group g's result, from row lo on. Sums over at most LongSum numbers are in the
// result's kind, longer ones in double precision.
func sumProducts[T column.Float](in *task, s *device.ProductSum, g, lo int, scratch *tensor.Buffer) {
	p, first, end := s.P, int(in.Grp.Start[g]), int(in.Grp.Start[g+1])
	n := min(s.Panel, p.M-lo)
	out := column.Numbers[T](in.V.Data)[(g*p.M+lo)*p.N : (g*p.M+lo+n)*p.N]
	run := s.InOwnPrecision()
	if end-first <= run {
		addProducts(s, lo, n, first, end, out)
		return
	}
	part, sum := inParts[T](in.V.Data.Kind(), n*p.N, scratch)
	for ; first < end; first += run {
		addProducts(s, lo, n, first, min(first+run, end), part)
		cpu.AddRows(1, n*p.N, part, sum)
	}
	for i, x := range sum {
		out[i] = T(x)
	}
}

// addProducts sets out to n rows, from row lo on, of the sum of the products first to end.
func addProducts[T column.Float](s *device.ProductSum, lo, n, first, end int, out []T) {
	p := s.P
	if first == end {
		clear(out)
	}
	lda, ldb, left := p.K, p.N, lo*p.K
	if p.At {
		lda, left = p.M, lo
	}
	if p.Bt {
		ldb = p.K
	}
	beta := T(0)
	for r := first; r < end; r++ {
		x, y := s.X.Row(r)*p.M*p.K, s.Y.Row(r)*p.K*p.N
		blas.Gemm(p.At, p.Bt, n, p.N, p.K, column.Numbers[T](s.X.V.Data)[x+left:x+p.M*p.K], lda,
			column.Numbers[T](s.Y.V.Data)[y:y+p.K*p.N], ldb, beta, out, p.N)
		beta = 1
		tensor.Trim()
	}
}
