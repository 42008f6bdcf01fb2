package executor

import (
	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
)

func runMatmul[T float](b *block, o *op) error {
	p, rows := o.aux.(product), b.rows(o)
	x, y, out := of[T](b.arg(o, 0)), of[T](b.arg(o, 1)), of[T](b.out(o))
	sx, sy := b.step(o, 0), b.step(o, 1)
	lda, ldb := p.k, p.n
	if p.at {
		lda = p.m
	}
	if p.bt {
		ldb = p.k
	}
	switch {
	case sy == 0 && p.batch == 1 && !p.at && (sx != 0 || rows == 1):
		blas.Gemm(false, p.bt, rows*p.m, p.n, p.k, x, lda, y, ldb, 0, out, p.n)
	case sx == 0 && p.batch == 1 && p.n == 1 && (sy != 0 || rows == 1):
		blas.Gemm(false, !p.at, rows, p.m, p.k, y, p.k, x, lda, 0, out, p.m)
	default:
		size, mk, kn, mn := p.batch*p.m*p.n, p.m*p.k, p.k*p.n, p.m*p.n
		if p.m*p.k*p.n <= 4096 && !p.at && !p.bt {
			for t := range p.batch {
				cpu.Products(rows, p.m, p.k, p.n, x[t*mk:], sx, y[t*kn:], sy, out[t*mn:], size)
			}
			return nil
		}
		for r := range rows {
			for t := range p.batch {
				blas.Gemm(p.at, p.bt, p.m, p.n, p.k, x[r*sx+t*mk:], lda, y[r*sy+t*kn:], ldb, 0, out[r*size+t*mn:], p.n)
			}
		}
	}
	return nil
}

func runOuter[T float](b *block, o *op) error {
	p := o.aux.(product)
	cpu.Products(
		b.rows(o),
		p.m,
		1,
		p.n,
		of[T](b.arg(o, 0)),
		b.step(o, 0),
		of[T](b.arg(o, 1)),
		b.step(o, 1),
		of[T](b.out(o)),
		p.m*p.n,
	)
	return nil
}

func runPair[T float](b *block, o *op) error {
	p, n, out := o.aux.(*pairing), b.rows(o), b.out(o).f64
	b.strictValid(o)
	var rows [2]cpu.Rows[T]
	for i, s := range p.from {
		switch {
		case s.v == nil:
			rows[i] = cpu.Rows[T]{X: of[T](b.arg(o, p.cell[i])), Step: b.step(o, p.cell[i])}
		case s.idx == nil || s.idx.At == nil: // none: the order of the rows is the inverse of the index
			rows[i] = cpu.Rows[T]{X: of[T](s.v.data)[b.lo*p.size:], Step: p.size}
		default:
			rows[i] = cpu.Rows[T]{X: of[T](s.v.data), At: s.idx.At[b.lo : b.lo+n]}
		}
	}
	cpu.Pairs(n, p.size, p.diff, rows[0], rows[1], out[:n])
	switch o.name {
	case "norm":
		cpu.Unary(cpu.Sqrt, out[:n], out[:n])
		for r, x := range out[:n] {
			if !(x > 1e-135 && x < 1e150) && kindOf(o.v.args[0].typ) == f64 { // squares of real stay in range
				out[r] = cpu.Length(r, p.size, p.diff, rows[0], rows[1])
			}
		}
	case "mse":
		for i := range out[:n] {
			out[i] /= float64(p.size)
		}
	}
	return nil
}

func runTurned[T float](b *block, o *op) error {
	t, n := o.aux.(*turned), b.rows(o)
	b.strictValid(o)
	x, out, all := of[T](b.arg(o, 0)), of[T](b.out(o)), of[T](t.from.v.data)
	width, size, k := b.out(o).size, t.p.m*t.p.k*t.p.n, t.p.k
	ld, turn := t.second()
	row := func(r int) int {
		if t.from.idx == nil || t.from.idx.At == nil {
			return b.lo + r
		}
		return int(t.from.idx.At[b.lo+r])
	}
	for r := 0; r < n; {
		at, to := row(r), r+1
		for to < n && row(to) == at {
			to++
		}
		matrix, ld, turn := all[at*size:(at+1)*size], ld, turn
		if turn && to-r >= b.t.tune.RowsTransposed && size <= smallMatrix {
			transposed := of[T](&b.cells[t.cell])
			cpu.Transpose(width, k, matrix, k, transposed, width)
			matrix, ld, turn = transposed, width, false
		}
		blas.Gemm(false, turn, to-r, width, k, x[r*k:to*k], k, matrix, ld, 0, out[r*width:to*width], width)
		r = to
	}
	return nil
}
