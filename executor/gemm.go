package executor

import (
	"github.com/relgrad/relgrad/kernels/blas"
)

// gemm lowers a product of few but large matrices: workers take panels of rows of the result.
type gemm struct {
	p    product
	x, y *val
	rows int // of a panel
}

// large reports whether v is a product that is worth cutting into panels: both operands are then computed
// into memory first.
func large(v *val) bool {
	if v.op != vCall || v.data != nil || v.expr.Def.Name != "matmul" || len(v.typ.Shape) != 2 || v.typ.Nullable || v.sp.n == 0 {
		return false
	}
	for _, a := range v.args {
		if a.typ.Kind != v.typ.Kind {
			return false
		}
	}
	return v.flops() >= 1e8 && v.sp.n <= 64
}

// feedsLarge reports whether v is an operand of such a product, perhaps through a transpose.
func (l *lowerer) feedsLarge(v *val) bool {
	for _, u := range l.uses[v] {
		if large(u) {
			_, turned := untransposed(v)
			return !turned
		}
		if _, turned := untransposed(u); turned {
			for _, w := range l.uses[u] {
				if large(w) {
					return true
				}
			}
		}
	}
	return false
}

// gemm makes the instruction for a large product; nil where an operand is not in memory as it stands.
func (l *lowerer) gemm(v *val) (*instr, error) {
	if !large(v) {
		return nil, nil
	}
	g := &gemm{p: dims(v.args[0], v.args[1]), rows: 256}
	g.x, g.p.at = untransposed(v.args[0])
	g.y, g.p.bt = untransposed(v.args[1])
	for _, x := range []*val{g.x, g.y} {
		if x.data == nil || x.data.kind != kindOf(v.typ) {
			return nil, nil
		}
	}
	t, err := compile(l.g, nil)
	if err != nil {
		return nil, err
	}
	t.also = []*val{g.x, g.y}
	in := &instr{v: v, how: "GEMM", rows: v.sp.n, t: t, lower: g}
	l.finish(in)
	in.flops = v.flops() * float64(in.rows)
	in.bytes += float64(in.rows * (g.x.typ.Size() + g.y.typ.Size()) * kindOf(v.typ).bytes())
	return in, nil
}

func (g *gemm) run(m *machine, in *instr) error {
	panels := (g.p.m + g.rows - 1) / g.rows
	return parallel(m.ctx, m.workers, in.rows*panels, func(_, task int) error {
		if in.v.data.kind == f32 {
			runPanel[float32](in, g, task/panels, task%panels)
		} else {
			runPanel[float64](in, g, task/panels, task%panels)
		}
		return nil
	})
}

// runPanel computes rows of the result of one product.
func runPanel[T float](in *instr, g *gemm, row, panel int) {
	p := g.p
	side := func(v *val, size int) []T {
		if v.uniform() {
			return of[T](v.data)[:size]
		}
		return of[T](v.data)[row*size : (row+1)*size]
	}
	x, y, out := side(g.x, p.m*p.k), side(g.y, p.k*p.n), of[T](in.v.data)[row*p.m*p.n:(row+1)*p.m*p.n]
	lo := panel * g.rows
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
	}
	blas.Gemm(p.at, p.bt, n, p.n, p.k, x, lda, y, ldb, 0, out[lo*p.n:], p.n)
}
