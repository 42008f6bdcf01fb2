package executor

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// spmm lowers sum(scalars * chunk[index]) to sparse times dense: the chunks are read in place, through the
// index, and only the weights are computed row by row.
type spmm struct {
	x    *val     // the chunks, in memory
	idx  *index   // their rows, in group order; nil: row r is row r
	by   []factor // the weights: results of the tree
	cuts [][2]int // per lane: its groups
	buf  []int    // bytes of weights that a lane needs at most
}

// factor is a scalar by which a chunk is multiplied, or divided.
type factor struct {
	v      *val
	divide bool
}

// factors splits v into scalars and one chunk: v is the chunk times the scalars.
func factors(v *val) (scalars []factor, chunk *val) {
	if v.op != vCall || v.data != nil || v.typ.Size() == 1 {
		return nil, v
	}
	a := v.args
	part := func(s, c int, divide bool) ([]factor, *val) {
		rest, chunk := factors(a[c])
		return append(rest, factor{a[s], divide}), chunk
	}
	switch name := v.expr.Def.Name; {
	case name == "mul" && a[0].typ.Shape == nil && a[1].typ.Size() == v.typ.Size():
		return part(0, 1, false)
	case name == "mul" && a[1].typ.Shape == nil && a[0].typ.Size() == v.typ.Size():
		return part(1, 0, false)
	case name == "div" && a[1].typ.Shape == nil:
		return part(1, 0, true)
	}
	return nil, v
}

// weights compiles scalar factors, in the kind of t.
func (l *lowerer) weights(order *index, scalars []factor, t kernels.Type) (*tree, error) {
	c := newCompiler(l.g, order)
	for _, f := range scalars {
		r, err := c.emit(f.v, -1)
		if err != nil {
			return nil, err
		}
		c.t.result = append(c.t.result, c.convert(r, kindOf(t)))
	}
	c.finish()
	return c.t, nil
}

// readable reports whether v is in memory, or such a column read through an index without gaps.
func readable(v *val) (x *val, idx *index, ok bool) {
	switch {
	case v.data != nil:
		return v, nil, true
	case v.op == vGather && v.args[0].data != nil && !v.idx.missing:
		return v.args[0], v.idx, true
	}
	return nil, nil, false
}

// trySpMM returns the instruction for an aggregate of that form, nil for another.
func (l *lowerer) trySpMM(v *val) (*instr, error) {
	arg := v.args[0]
	if v.fn != ra.Sum && v.fn != ra.GradSum || !v.typ.IsFloat() || arg.typ.Nullable || arg.typ.Size() == 1 || v.grp.in.n == 0 {
		return nil, nil
	}
	scalars, chunk := factors(arg)
	if chunk.typ.Nullable || chunk.uniform() {
		return nil, nil
	}
	x, idx, ok := readable(chunk)
	if !ok || x.data.kind != kindOf(v.typ) || v.grp.largest() > max(int(laneWork)/32, 1) {
		return nil, nil
	}
	s := &spmm{x: x, idx: idx, by: scalars}
	if v.grp.order != nil {
		if s.idx = v.grp.order; idx != nil {
			s.idx = l.g.compose(v.grp.order, idx)
		}
	}
	if s.idx != nil && s.idx.at == nil {
		s.idx = nil
	}
	in := &instr{v: v, how: "SpMM", rows: v.grp.in.n, grp: v.grp, lower: s}
	var err error
	if in.t, err = l.weights(v.grp.order, scalars, v.typ); err != nil {
		return nil, err
	}
	in.t.also = append(in.t.also, x)
	l.finish(in)
	n := float64(in.rows * v.typ.Size())
	in.flops += n
	in.bytes += n * float64(kindOf(v.typ).bytes())
	s.cuts = v.grp.cut(max(int(laneWork)/(2*v.typ.Size()), 1))
	for _, c := range s.cuts {
		rows := int(v.grp.start[c[1]] - v.grp.start[c[0]])
		s.buf = append(s.buf, span(rows*kindOf(v.typ).bytes()))
		l.s.tmp = max(l.s.tmp, span(in.t.bytes)+s.buf[len(s.buf)-1])
	}
	return in, nil
}

// largest is the number of rows of the largest group.
func (x *groups) largest() int {
	if x.most == 0 {
		for g := range x.out.n {
			x.most = max(x.most, int(x.start[g+1]-x.start[g]))
		}
	}
	return x.most
}

// cut makes lanes of whole groups with at least so many rows, or groups.
func (x *groups) cut(rows int) [][2]int {
	const most = 256
	rows = max(rows, (x.in.n+x.out.n)/most)
	var out [][2]int
	lo := 0
	for g := range x.out.n {
		if int(x.start[g+1]-x.start[lo])+g+1-lo >= rows || g == x.out.n-1 {
			out = append(out, [2]int{lo, g + 1})
			lo = g + 1
		}
	}
	return out
}

func (s *spmm) run(m *machine, in *instr) error {
	return parallel(m.ctx, m.workers, len(s.cuts), func(w, lane int) error {
		if in.v.data.kind == f32 {
			return runSpMM[float32](m, in, s, w, lane)
		}
		return runSpMM[float64](m, in, s, w, lane)
	})
}

// trimNumbers is how many numbers are read before pages of files that are too many go.
const trimNumbers = 1 << 20

func runSpMM[T float](m *machine, in *instr, s *spmm, w, lane int) error {
	lo, hi := s.cuts[lane][0], s.cuts[lane][1]
	start, size := in.grp.start[lo:hi+1], in.v.typ.Size()
	base, end := int(start[0]), int(start[hi-lo])
	var weights []T
	if len(s.by) > 0 && end > base {
		b, err := in.block(m, w)
		if err != nil {
			return err
		}
		if weights, err = blockWeights[T](in, s.by, b, m.scratch[w], base, end-base); err != nil {
			return err
		}
	}
	var at []int32
	if s.idx != nil {
		at = s.idx.at[base:end]
	}
	out := in.v.data
	for g := lo; g < hi; {
		to := g + 1
		for to < hi && int(in.grp.start[to+1]-in.grp.start[g])*size < trimNumbers {
			to++
		}
		cpu.SpMM(to-g, start[g-lo:to-lo+1], base, at, weights, of[T](s.x.data), size, of[T](out)[g*size:to*size])
		tensor.Trim()
		g = to
	}
	for g := lo; out.valid != nil && g < hi; g++ {
		out.valid[g] = 1
		if in.v.fn == ra.Sum && in.grp.start[g] == in.grp.start[g+1] {
			out.valid[g] = 0
		}
	}
	return nil
}

// blockWeights computes the weights of n rows from lo on; where they are a column in memory as they stand,
// it is used in place.
func blockWeights[T float](in *instr, by []factor, b *block, buf *tensor.Buffer, lo, n int) ([]T, error) {
	if c := in.t.cells[in.t.result[0]]; c.view && !c.uniform && len(in.t.ops) == 1 && len(by) == 1 && !by[0].divide {
		return of[T](in.t.ops[0].v.data)[lo : lo+n], nil
	}
	d := place(buf, span(in.t.bytes), in.v.data.kind, n, 1, false)
	weights := of[T](&d)
	for at := 0; at < n; at += in.t.rows {
		k := min(in.t.rows, n-at)
		if err := b.eval(lo+at, k); err != nil {
			return nil, err
		}
		multiply(b, by, weights[at:at+k], 0)
	}
	return weights, nil
}
