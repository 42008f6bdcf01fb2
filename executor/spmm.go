package executor

import (
	"slices"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// weightsTree compiles scalar factors, in the kind of t.
func weightsTree(l *lowerer, order *structure.Index, scalars []factor, t kernels.Type) (*tree, error) {
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

// readable finds where v is in memory: as it stands, or as a column read through an index without gaps.
func readable(v *val) (source, bool) {
	switch {
	case v.typ.Nullable || v.uniform():
		return source{}, false
	case v.data != nil:
		return source{v: v}, true
	case v.op == vGather && v.args[0].data != nil && !v.idx.Missing:
		return source{v: v.args[0], idx: v.idx}, true
	}
	return source{}, false
}

// sources finds a chunk in memory, or the two that it is the difference of; nil for others.
func sources(chunk *val) []source {
	if s, ok := readable(chunk); ok {
		return []source{s}
	}
	if chunk.op != vCall || chunk.data != nil || chunk.expr.Def.Name != "sub" {
		return nil
	}
	x, ok := readable(chunk.args[0])
	y, too := readable(chunk.args[1])
	if !ok || !too || x.v.typ.Size() != chunk.typ.Size() || y.v.typ.Size() != chunk.typ.Size() {
		return nil
	}
	return []source{x, y}
}

// onlySummed reports whether v is a chunk in memory, or a difference of two, times scalars, and is read by sums alone:
// they read the chunks where they are.
func onlySummed(l *lowerer, v *val) bool {
	scalars, chunk := l.g.factors(v)
	return len(scalars) > 0 && len(chunks(chunk)) > 0 && summed(l, v)
}

// summed reports whether sums alone read v, as it is or times scalars.
func summed(l *lowerer, v *val) bool {
	for _, u := range l.uses[v] {
		switch {
		case u.op == vAgg:
		case u.op == vCall && u.typ.Size() == v.typ.Size() && len(l.uses[u]) > 0:
			if _, chunk := l.g.factors(u); chunk == u || !summed(l, u) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// chunks lists the columns that are read through an index in a chunk or a difference of two; nil for others.
func chunks(v *val) []*val {
	switch {
	case v.op == vGather && !v.idx.Missing && !v.typ.Nullable:
		return []*val{v}
	case v.op == vCall && v.data == nil && v.expr.Def.Name == "sub":
		x, y := v.args[0], v.args[1]
		if x.op == vGather && y.op == vGather && x.typ.Size() == v.typ.Size() && y.typ.Size() == v.typ.Size() &&
			!x.idx.Missing &&
			!y.idx.Missing &&
			!v.typ.Nullable {
			return []*val{x, y}
		}
	}
	return nil
}

// turnedInOrder reports whether v are products of vectors with large matrices that a sum would read in the order of its
// groups: in their own order, rows of one matrix follow each other.
func turnedInOrder(l *lowerer, v *val) bool {
	if v.op != vCall || v.expr.Def.Name != "matmul" || len(v.typ.Shape) != 1 {
		return false
	}
	for _, a := range v.args {
		if a, _ = untransposed(a); largeIndexed(a, l.tune) {
			return slices.ContainsFunc(l.uses[v], func(u *val) bool { return u.op == vAgg && u.grp.Order != nil })
		}
	}
	return false
}

// in gives the rows in another order.
func (s source) in(g *graph, order *structure.Index) source {
	switch {
	case order == nil:
	case s.idx == nil:
		s.idx = order
	default:
		s.idx = g.Compose(order, s.idx)
	}
	if s.idx != nil && s.idx.At == nil {
		s.idx = nil
	}
	return s
}

// leastLanes is the part of all rows that a group may have: a group is the work of one lane, and a larger one would
// keep workers waiting. Graphs have nodes of ever more edges as they grow, but not of an ever larger part of them.
const leastLanes = 32

var _ = registerForm(form{
	name: "SpMM",
	match: func(l *lowerer, v *val) (any, error) {
		if w := weightedOf(l, v); w != nil {
			return w, nil
		}
		return nil, nil
	},
	cost: func(_ *lowerer, v *val, found any) float64 { return rate{0.2, 0.1}.of(found.(*weightedRows).work(v)) },
	emit: func(l *lowerer, v *val, found any) ([]*instr, error) {
		in, err := spmmInstr(l, v, found.(*weightedRows))
		return []*instr{in}, err
	},
})

// weightedRows is a sum by group of rows in memory, or of the differences of two, times scalars.
type weightedRows struct {
	by   []factor
	from []source
}

// work is the operations and the bytes: every row is read where it lies.
func (w *weightedRows) work(v *val) (flops, bytes float64) {
	n := float64(v.grp.In.N * v.typ.Size() * len(w.from))
	return n, n * float64(kindOf(v.typ).bytes())
}

// weightedOf finds such a sum; nil for another.
func weightedOf(l *lowerer, v *val) *weightedRows {
	if v.op != vAgg {
		return nil
	}
	arg := v.args[0]
	if v.fn != ra.Sum && v.fn != ra.GradSum || !v.typ.IsFloat() || arg.typ.Nullable || arg.typ.Size() == 1 ||
		v.grp.In.N == 0 {
		return nil
	}
	scalars, chunk := l.g.factors(arg)
	from := sources(chunk)
	if from == nil || v.grp.Largest() > max(int(l.tune.LaneWork)/32, v.grp.In.N/leastLanes, 1) {
		return nil
	}
	for _, x := range from {
		if x.v.data.kind != kindOf(v.typ) {
			return nil
		}
	}
	return &weightedRows{scalars, from}
}

// spmmInstr makes the instruction of such a sum.
func spmmInstr(l *lowerer, v *val, w *weightedRows) (*instr, error) {
	s := &spmm{}
	for i, x := range w.from {
		if by := v.grp.By; i == 1 && by != nil && x.idx == by {
			s.x = append(s.x, source{v: x.v, held: v.grp.SharedRows(l.g.Indexer)})
			continue
		}
		s.x = append(s.x, x.in(l.g, v.grp.Order))
	}
	s.files = s.filed(l, v)
	in := &instr{v: v, how: "SpMM", rows: v.grp.In.N, grp: v.grp, form: s}
	if s.files.own != nil {
		in.how += " from a file"
	}
	if len(s.x) > 1 && s.x[1].held != nil {
		in.how += " less one row a group"
	}
	var err error
	var order *structure.Index
	if s.by, order, err = weightsInOrder(l, v, w.by); err != nil {
		return nil, err
	}
	if in.t, err = weightsTree(l, order, s.by, v.typ); err != nil {
		return nil, err
	}
	for _, x := range s.x {
		in.t.also = append(in.t.also, x.v)
	}
	l.finish(in)
	n := float64(in.rows * v.typ.Size() * len(s.x))
	in.flops += n
	in.bytes += n * float64(kindOf(v.typ).bytes())
	s.cuts = v.grp.Cut(max(int(l.tune.LaneWork)/(2*v.typ.Size()), 1))
	for _, c := range s.cuts {
		rows := int(v.grp.Start[c[1]] - v.grp.Start[c[0]])
		s.buf = append(s.buf, span(rows*kindOf(v.typ).bytes()))
		l.s.tmp = max(l.s.tmp, span(in.t.bytes)+s.buf[len(s.buf)-1]+s.files.bytes)
	}
	return in, nil
}

// weightsInOrder gives the weights of a sum and the order in which they are to be read. Those that are the same at each step
// are put in the order of groups once.
func weightsInOrder(l *lowerer, v *val, scalars []factor) ([]factor, *structure.Index, error) {
	order := v.grp.Order
	if order == nil || order.Varies() || !v.vary || l.structural || l.g.shared == nil || l.g.parent != nil ||
		len(scalars) == 0 {
		return scalars, order, nil
	}
	out := slices.Clone(scalars)
	for i, f := range scalars {
		if f.v.data == nil || f.v.vary || f.v.uniform() || f.v.sp != order.Src || f.v.typ.Nullable {
			return scalars, order, nil
		}
		w, err := l.g.gather(f.v, order)
		if err != nil {
			return nil, nil, err
		}
		out[i].v = w
	}
	for _, f := range out {
		if f.v.data != nil {
			continue
		}
		in, err := l.store(f.v, f.v, f.v.sp.N)
		if err != nil {
			return nil, nil, err
		}
		l.keep(f.v, in)
	}
	return out, nil, nil
}
