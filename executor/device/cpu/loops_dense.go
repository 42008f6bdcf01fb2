package cpu

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
)

func runMatmul[T column.Float](b *block, o *device.Op) error {
	p, rows := o.Aux.(device.Product), b.rows(o)
	x, y, out := column.Numbers[T](b.arg(o, 0)), column.Numbers[T](b.arg(o, 1)), column.Numbers[T](b.out(o))
	sx, sy := b.step(o, 0), b.step(o, 1)
	lda, ldb := p.K, p.N
	if p.At {
		lda = p.M
	}
	if p.Bt {
		ldb = p.K
	}
	switch {
	case sy == 0 && p.Batch == 1 && !p.At && (sx != 0 || rows == 1):
		blas.Gemm(false, p.Bt, rows*p.M, p.N, p.K, x, lda, y, ldb, 0, out, p.N)
	case sx == 0 && p.Batch == 1 && p.N == 1 && (sy != 0 || rows == 1):
		blas.Gemm(false, !p.At, rows, p.M, p.K, y, p.K, x, lda, 0, out, p.M)
	default:
		size, mk, kn, mn := p.Batch*p.M*p.N, p.M*p.K, p.K*p.N, p.M*p.N
		if p.M*p.K*p.N <= 4096 && !p.At && !p.Bt {
			for t := range p.Batch {
				cpu.Products(rows, p.M, p.K, p.N, x[t*mk:], sx, y[t*kn:], sy, out[t*mn:], size)
			}
			return nil
		}
		for r := range rows {
			for t := range p.Batch {
				blas.Gemm(p.At, p.Bt, p.M, p.N, p.K, x[r*sx+t*mk:], lda, y[r*sy+t*kn:], ldb, 0, out[r*size+t*mn:], p.N)
			}
		}
	}
	return nil
}

func runOuter[T column.Float](b *block, o *device.Op) error {
	p := o.Aux.(device.Product)
	cpu.Products(b.rows(o), p.M, 1, p.N, column.Numbers[T](b.arg(o, 0)), b.step(o, 0), column.Numbers[T](b.arg(o, 1)),
		b.step(o, 1), column.Numbers[T](b.out(o)), p.M*p.N)
	return nil
}

func runPair[T column.Float](b *block, o *device.Op) error {
	p, n, out := o.Aux.(*device.Pairing), b.rows(o), b.out(o).F64()
	b.strictValid(o)
	var rows [2]cpu.Rows[T]
	for i, s := range p.From {
		switch {
		case s.V == nil:
			rows[i] = cpu.Rows[T]{X: column.Numbers[T](b.arg(o, p.Cell[i])), Step: b.step(o, p.Cell[i])}
		case s.Idx == nil || s.Idx.At == nil: // no index, or one that does nothing because the rows are in its order
			rows[i] = cpu.Rows[T]{X: column.Numbers[T](s.V.Data)[b.lo*p.Size:], Step: p.Size}
		default:
			rows[i] = cpu.Rows[T]{X: column.Numbers[T](s.V.Data), At: s.Idx.At[b.lo : b.lo+n]}
		}
	}
	cpu.Pairs(n, p.Size, p.Diff, rows[0], rows[1], out[:n])
	switch o.Name {
	case "norm":
		cpu.Unary(cpu.Sqrt, out[:n], out[:n])
		for r, x := range out[:n] {
			// squares of reals neither overflow nor vanish in double precision
			if !(x > 1e-135 && x < 1e150) && column.KindOf(o.V.Args[0].Type) == column.F64 {
				out[r] = cpu.Length(r, p.Size, p.Diff, rows[0], rows[1])
			}
		}
	case "mse":
		for i := range out[:n] {
			out[i] /= float64(p.Size)
		}
	}
	return nil
}

func runTurned[T column.Float](b *block, o *device.Op) error {
	t, n := o.Aux.(*device.Turned), b.rows(o)
	b.strictValid(o)
	x, out, all := column.Numbers[T](b.arg(o, 0)), column.Numbers[T](b.out(o)), column.Numbers[T](t.From.V.Data)
	width, size, k := b.out(o).Size(), t.P.M*t.P.K*t.P.N, t.P.K
	ld, turn := t.Second()
	row := func(r int) int {
		if t.From.Idx == nil || t.From.Idx.At == nil {
			return b.lo + r
		}
		return int(t.From.Idx.At[b.lo+r])
	}
	for r := 0; r < n; {
		at, to := row(r), r+1
		for to < n && row(to) == at {
			to++
		}
		matrix, ld, turn := all[at*size:(at+1)*size], ld, turn
		if turn && to-r >= b.t.Tune.RowsTransposed && size <= device.SmallMatrix {
			transposed := column.Numbers[T](&b.cells[t.Cell])
			cpu.Transpose(width, k, matrix, k, transposed, width)
			matrix, ld, turn = transposed, width, false
		}
		blas.Gemm(false, turn, to-r, width, k, x[r*k:to*k], k, matrix, ld, 0, out[r*width:to*width], width)
		r = to
	}
	return nil
}
