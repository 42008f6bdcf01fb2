package executor

import (
	"github.com/relgrad/relgrad/kernels/blas"
)

// sharedProduct lowers products of one matrix with a narrow matrix of each row, such as the heads' projections of attention: several
// of them stand side by side in one product, so that the library lays the shared matrix out once for all of these.
type sharedProduct struct {
	p      product
	x, y   *val
	left   bool // x is shared, else y
	panels int  // of the result's other axis
	each   int  // products in a panel
}

// sharedNumbers bounds what a worker lays side by side.
const sharedNumbers = 4 << 20

// shared returns the form of a product whose operands are those of g; nil where no operand is shared, or the products are wide.
func (g *gemm) shared(products int) *sharedProduct {
	s := &sharedProduct{p: g.p, x: g.x, y: g.y, left: g.x.uniform()}
	narrow, other := g.p.n, g.p.m
	if !s.left {
		narrow, other = g.p.m, g.p.n
	}
	s.each = min((2*sharedWidth+narrow-1)/narrow, products, sharedNumbers/max(narrow*s.p.k, 1))
	if s.each < 2 || narrow >= sharedWidth || g.x.uniform() == g.y.uniform() || !s.left && !g.p.at {
		return nil
	}
	s.panels = (other + sharedWidth - 1) / sharedWidth
	return s
}

// scratch is the bytes that a worker needs: the narrow operands side by side, and a panel of the result.
func (s *sharedProduct) scratch(k kind) int {
	if s.left {
		return span(s.each * s.p.n * (s.p.k + sharedWidth) * k.bytes())
	}
	return span(s.each * s.p.m * s.p.k * k.bytes())
}

func (s *sharedProduct) run(m *machine, in *instr) error {
	return parallel(m.ctx, m.workers, (in.rows+s.each-1)/s.each*s.panels, func(w, task int) error {
		first, lo := task/s.panels*s.each, task%s.panels*sharedWidth
		d := place(m.scratch[w], 0, in.v.data.kind, s.scratch(in.v.data.kind)/in.v.data.kind.bytes(), 1, false)
		if in.v.data.kind == f32 {
			runShared[float32](in, s, first, min(s.each, in.rows-first), lo, of[float32](&d))
		} else {
			runShared[float64](in, s, first, min(s.each, in.rows-first), lo, of[float64](&d))
		}
		return nil
	})
}

// runShared computes n results from product first on: their rows, or columns where the right matrix is shared, from lo on.
func runShared[T float](in *instr, s *sharedProduct, first, n, lo int, tmp []T) {
	p, x, y, out := s.p, of[T](s.x.data), of[T](s.y.data), of[T](in.v.data)
	if !s.left {
		wide := n * p.m
		sideBySide(tmp, x[first*p.k*p.m:], n, p.k, p.m)
		ldb, right := p.n, y[lo:]
		if p.bt {
			ldb, right = p.k, y[lo*p.k:]
		}
		blas.Gemm(true, p.bt, wide, min(sharedWidth, p.n-lo), p.k, tmp, wide, right, ldb, 0, out[first*p.m*p.n+lo:], p.n)
		return
	}
	wide, rows := n*p.n, min(sharedWidth, p.m-lo)
	result, right, ldb := tmp[:rows*wide], y[first*p.n*p.k:], p.k // transposed, they follow each other as they are
	if !p.bt {
		right, ldb = tmp[rows*wide:], wide
		sideBySide(right, y[first*p.n*p.k:], n, p.k, p.n)
	}
	lda, left := p.k, x[lo*p.k:]
	if p.at {
		lda, left = p.m, x[lo:]
	}
	blas.Gemm(p.at, p.bt, rows, wide, p.k, left, lda, right, ldb, 0, result, wide)
	for i := range n {
		to := out[((first+i)*p.m+lo)*p.n:]
		for r := range rows {
			copy(to[r*p.n:(r+1)*p.n], result[r*wide+i*p.n:])
		}
	}
}

// sideBySide writes n matrices of rows × columns, one after the other in src, as one of rows × n·columns.
func sideBySide[T float](dst, src []T, n, rows, columns int) {
	for i := range n {
		for r := range rows {
			copy(dst[(r*n+i)*columns:(r*n+i+1)*columns], src[(i*rows+r)*columns:])
		}
	}
}
