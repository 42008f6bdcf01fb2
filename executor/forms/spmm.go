package forms

import (
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// weightsTree compiles scalar factors in the kind of t.
func weightsTree(l *Lowerer, order *structure.Index, scalars []values.Factor, t kernels.Type) (*device.Tree, error) {
	c := newCompiler(l.g, order)
	for _, f := range scalars {
		r, err := c.emit(f.V, -1)
		if err != nil {
			return nil, err
		}
		c.t.Result = append(c.t.Result, c.convert(r, column.KindOf(t)))
	}
	c.finish(0)
	return c.t, nil
}

// readable finds v in memory: as a column in its own order, or one read through an index without gaps.
func readable(v *values.Val) (device.Source, bool) {
	switch {
	case v.Type.Nullable || v.Uniform():
		return device.Source{}, false
	case v.Data != nil:
		return device.Source{V: v}, true
	case v.Op == values.OpGather && v.Args[0].Data != nil && !v.Index.Missing:
		return device.Source{V: v.Args[0], Idx: v.Index}, true
	}
	return device.Source{}, false
}

// sources finds a chunk in memory, or the two whose difference it is; nil for others.
func sources(chunk *values.Val) []device.Source {
	if s, ok := readable(chunk); ok {
		return []device.Source{s}
	}
	if chunk.Op != values.OpCall || chunk.Data != nil || chunk.Expr.Def.Name != "sub" {
		return nil
	}
	x, ok := readable(chunk.Args[0])
	y, too := readable(chunk.Args[1])
	if !ok || !too || x.V.Type.Size() != chunk.Type.Size() || y.V.Type.Size() != chunk.Type.Size() {
		return nil
	}
	return []device.Source{x, y}
}

// onlySummed reports whether v is a chunk in memory, or a difference of two, times scalars, and only sums read it. They
// read the chunks where they lie.
func onlySummed(l *Lowerer, v *values.Val) bool {
	scalars, chunk := values.Factors(l.g, v)
	return len(scalars) > 0 && len(chunks(chunk)) > 0 && summed(l, v)
}

// summed reports whether only sums read v, directly or times scalars.
func summed(l *Lowerer, v *values.Val) bool {
	for _, u := range l.uses[v] {
		switch {
		case u.Op == values.OpAgg:
		case u.Op == values.OpCall && u.Type.Size() == v.Type.Size() && len(l.uses[u]) > 0:
			if _, chunk := values.Factors(l.g, u); chunk == u || !summed(l, u) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// chunks lists the columns read through an index in a chunk, or in a difference of two; nil for others.
func chunks(v *values.Val) []*values.Val {
	switch {
	case v.Op == values.OpGather && !v.Index.Missing && !v.Type.Nullable:
		return []*values.Val{v}
	case v.Op == values.OpCall && v.Data == nil && v.Expr.Def.Name == "sub":
		x, y := v.Args[0], v.Args[1]
		if x.Op == values.OpGather && y.Op == values.OpGather && x.Type.Size() == v.Type.Size() &&
			y.Type.Size() == v.Type.Size() && !x.Index.Missing && !y.Index.Missing && !v.Type.Nullable {
			return []*values.Val{x, y}
		}
	}
	return nil
}

// turnedInOrder reports whether v are products of vectors with large matrices that a sum would read in the order of its
// groups. In their own order, rows with the same matrix follow each other.
func turnedInOrder(l *Lowerer, v *values.Val) bool {
	if v.Op != values.OpCall || v.Expr.Def.Name != "matmul" || len(v.Type.Shape) != 1 {
		return false
	}
	for _, a := range v.Args {
		if a, _ = values.Untransposed(a); largeIndexed(a, l.Tune) {
			return slices.ContainsFunc(l.uses[v],
				func(u *values.Val) bool { return u.Op == values.OpAgg && u.Groups.Order != nil })
		}
	}
	return false
}

// inOrder reads the rows in another order.
func inOrder(s device.Source, g *values.Graph, order *structure.Index) device.Source {
	switch {
	case order == nil:
	case s.Idx == nil:
		s.Idx = order
	default:
		s.Idx = g.Compose(order, s.Idx)
	}
	if s.Idx != nil && s.Idx.At == nil {
		s.Idx = nil
	}
	return s
}

// leastLanes is the number of lanes below which the form is not used: a group may have at most this part of all rows,
// since one lane sums it and a larger group would keep workers waiting. In growing graphs nodes get more edges, but not
// a larger part of all.
const leastLanes = 32

var _ = registerForm(Form{
	Name: "SpMM",
	Match: func(l *Lowerer, v *values.Val) (any, error) {
		if w := weightedOf(l, v); w != nil {
			return w, nil
		}
		return nil, nil
	},
	Cost: func(_ *Lowerer, v *values.Val, found any) float64 {
		return rate{0.2, 0.1}.of(found.(*weightedRows).work(v))
	},
	emit: func(l *Lowerer, v *values.Val, found any) ([]*device.Instr, error) {
		in, err := spmmInstr(l, v, found.(*weightedRows))
		return []*device.Instr{in}, err
	},
})

// weightedRows is a sum by group of rows in memory, or of differences of two, times scalars.
type weightedRows struct {
	by   []values.Factor
	from []device.Source
}

// work is the operations and bytes: every row is read where it lies.
func (w *weightedRows) work(v *values.Val) (flops, bytes float64) {
	n := float64(v.Groups.In.N * v.Type.Size() * len(w.from))
	return n, n * float64(column.KindOf(v.Type).Bytes())
}

// weightedOf finds what the form needs; nil for other sums.
func weightedOf(l *Lowerer, v *values.Val) *weightedRows {
	if v.Op != values.OpAgg {
		return nil
	}
	arg := v.Args[0]
	if v.Fn != ra.Sum && v.Fn != ra.GradSum || !v.Type.IsFloat() || arg.Type.Nullable || arg.Type.Size() == 1 ||
		v.Groups.In.N == 0 {
		return nil
	}
	scalars, chunk := values.Factors(l.g, arg)
	from := sources(chunk)
	if from == nil || v.Groups.Largest() > max(int(l.Tune.LaneWork)/32, v.Groups.In.N/leastLanes, 1) {
		return nil
	}
	for _, x := range from {
		if x.V.Data.Kind() != column.KindOf(v.Type) {
			return nil
		}
	}
	return &weightedRows{scalars, from}
}

// spmmInstr makes the instruction of such a sum.
func spmmInstr(l *Lowerer, v *values.Val, w *weightedRows) (*device.Instr, error) {
	s := &device.SpMM{}
	for i, x := range w.from {
		if by := v.Groups.By; i == 1 && by != nil && x.Idx == by {
			s.X = append(s.X, device.Source{V: x.V, Held: v.Groups.SharedRows(l.g.Indexer)})
			continue
		}
		s.X = append(s.X, inOrder(x, l.g, v.Groups.Order))
	}
	s.Files = filed(s, l, v)
	in := &device.Instr{V: v, How: "SpMM", Rows: v.Groups.In.N, Grp: v.Groups, Form: s}
	if s.Files.Own != nil {
		in.How += " from a file"
	}
	if len(s.X) > 1 && s.X[1].Held != nil {
		in.How += " less one row a group"
	}
	var err error
	var order *structure.Index
	if s.By, order, err = weightsInOrder(l, v, w.by); err != nil {
		return nil, err
	}
	if in.T, err = weightsTree(l, order, s.By, v.Type); err != nil {
		return nil, err
	}
	for _, x := range s.X {
		in.T.Also = append(in.T.Also, x.V)
	}
	l.finish(in)
	n := float64(in.Rows * v.Type.Size() * len(s.X))
	in.Flops += n
	in.Bytes += n * float64(column.KindOf(v.Type).Bytes())
	s.Cuts = v.Groups.Cut(max(int(l.Tune.LaneWork)/(2*v.Type.Size()), 1))
	for _, c := range s.Cuts {
		rows := int(v.Groups.Start[c[1]] - v.Groups.Start[c[0]])
		s.Buf = append(s.Buf, column.Aligned(rows*column.KindOf(v.Type).Bytes()))
		l.s.Tmp = max(l.s.Tmp, column.Aligned(in.T.Bytes)+s.Buf[len(s.Buf)-1]+s.Files.Bytes)
	}
	return in, nil
}

// weightsInOrder returns the weights of a sum and the order in which they are read. Weights that are the same at each
// step are sorted by group once.
func weightsInOrder(l *Lowerer, v *values.Val, scalars []values.Factor) ([]values.Factor, *structure.Index, error) {
	order := v.Groups.Order
	if order == nil || order.Varies() || !v.Vary || l.Structural || l.g.Shared == nil || l.g.Parent != nil ||
		len(scalars) == 0 {
		return scalars, order, nil
	}
	out := slices.Clone(scalars)
	for i, f := range scalars {
		if f.V.Data == nil || f.V.Vary || f.V.Uniform() || f.V.Space != order.Src || f.V.Type.Nullable {
			return scalars, order, nil
		}
		w, err := l.g.Gather(f.V, order)
		if err != nil {
			return nil, nil, err
		}
		out[i].V = w
	}
	for _, f := range out {
		if f.V.Data != nil {
			continue
		}
		in, err := l.store(f.V, f.V, f.V.Space.N)
		if err != nil {
			return nil, nil, err
		}
		l.keep(f.V, in)
	}
	return out, nil, nil
}
