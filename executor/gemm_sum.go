package executor

import (
	"slices"

	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// productSum lowers a sum of products of matrices by group, the sum over blocks of a matrix product in blocks: workers
// take panels of rows of the groups' results, into which the products of the group's rows are added one after the
// other. The operands are read in place, through their indexes.
type productSum struct {
	product *val
	p       product
	x, y    source
	down    int // panels of a result
	panel   int // rows of one
	long    int // Tuning.LongSum
}

// productsSummed returns the product whose rows v sums, where that is its form; nil for other vals.
func productsSummed(l *lowerer, v *val) *val {
	if v.op != vAgg || v.fn != ra.Sum && v.fn != ra.GradSum || v.typ.Nullable && v.fn == ra.GradSum {
		return nil
	}
	u := v.args[0]
	if u.op != vCall || u.data != nil || u.expr.Def.Name != "matmul" || u.typ.Nullable || !u.typ.IsFloat() || u.uniform() {
		return nil
	}
	for _, a := range u.args {
		if len(a.typ.Shape) != 2 || a.typ.Kind != v.typ.Kind {
			return nil
		}
	}
	if p := dims(u.args[0], u.args[1]); 2*p.m*p.n*p.k < l.tune.SumProduct ||
		v.grp.Out.N*((p.m+l.tune.SumPanel-1)/l.tune.SumPanel) < 8 && v.grp.In.N > 64 {
		return nil // too few panels for many rows
	}
	return u
}

// onlySummedProduct reports whether v is a large product that nothing but such a sum reads.
func onlySummedProduct(l *lowerer, v *val) bool {
	return !l.isRoot[v] && len(l.uses[v]) == 1 && productsSummed(l, l.uses[v][0]) == v
}

// sumsInPlace reports whether v is such a sum whose operands are in memory, or will be. A pass would keep partial sums
// of the results and copy the operands.
func sumsInPlace(l *lowerer, v *val) bool {
	u := productsSummed(l, v)
	there := func(a *val) bool { return a.data != nil || l.mat[a] }
	return u != nil && !slices.ContainsFunc(u.args, func(a *val) bool {
		if !there(a) {
			a, _ = untransposed(a)
		}
		return a.uniform() || a.typ.Nullable || !there(a) && (a.op != vGather || a.idx.Missing || !there(a.args[0]))
	})
}

var _ = registerForm(form{
	name: "GEMM of sums",
	match: func(l *lowerer, v *val) (any, error) {
		if s := productSumOf(l, v); s != nil {
			return s, nil
		}
		return nil, nil
	},
	cost: func(_ *lowerer, v *val, found any) float64 {
		s, rows := found.(*productSum), float64(v.grp.In.N)
		return panelwise.of(s.product.flops()*rows, rows*s.bytes(v))
	},
	emit: func(l *lowerer, v *val, found any) ([]*instr, error) {
		in, err := productSumInstr(l, v, found.(*productSum))
		return []*instr{in}, err
	},
})

// bytes is the size of a row's operands.
func (s *productSum) bytes(v *val) float64 {
	return float64((s.x.v.typ.Size() + s.y.v.typ.Size()) * kindOf(v.typ).bytes())
}

// productSumOf finds the operands of such a sum; nil where one is not in memory as it stands.
func productSumOf(l *lowerer, v *val) *productSum {
	u := productsSummed(l, v)
	if u == nil {
		return nil
	}
	s := &productSum{product: u, p: dims(u.args[0], u.args[1]), panel: l.tune.SumPanel, long: l.tune.LongSum}
	a, at := untransposed(u.args[0])
	b, bt := untransposed(u.args[1])
	s.p.at, s.p.bt = at, bt
	s.down = (s.p.m + l.tune.SumPanel - 1) / l.tune.SumPanel
	for i, x := range []*val{a, b} {
		from, ok := readable(x)
		if !ok || from.v.data.kind != kindOf(v.typ) {
			return nil
		}
		*[]*source{&s.x, &s.y}[i] = from.in(l.g, v.grp.Order)
	}
	return s
}

// productSumInstr makes the instruction of such a sum.
func productSumInstr(l *lowerer, v *val, s *productSum) (*instr, error) {
	t, err := compile(l.g, nil)
	if err != nil {
		return nil, err
	}
	t.also = []*val{s.x.v, s.y.v}
	if v.grp.Largest() > s.inOwnPrecision() {
		t.bytes = inPartsBytes(kindOf(v.typ), min(l.tune.SumPanel, s.p.m)*s.p.n)
	}
	in := &instr{v: v, how: v.fn.String() + " GEMM", rows: v.grp.In.N, t: t, grp: v.grp, form: s}
	l.finish(in)
	in.flops += s.product.flops() * float64(in.rows)
	in.bytes += float64(in.rows) * s.bytes(v)
	return in, nil
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

// inOwnPrecision is how many products are added in the kind of the result.
func (s *productSum) inOwnPrecision() int { return max(s.long/s.p.k, 1) }

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

// row is the row of the column that row r reads.
func (s source) row(r int) int {
	if s.idx == nil {
		return r
	}
	return int(s.idx.At[r])
}
