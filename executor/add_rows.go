package executor

import "github.com/relgrad/relgrad/kernels/cpu"

// addRows adds columns of few rows to a sum that nothing else reads, in its memory: the other rows stay as they are.
type addRows struct {
	from []source
}

// Sizes that tests make small: how many rows a sum has at least for each that is added in place, and how many numbers a row.
var sparseRows, sparseSize = 4, 16

// tryAddRows makes the instruction of a map that adds rows which most rows of it have none of, nil for another: x + y[·] + z[·].
func (l *lowerer) tryAddRows(v *val) *instr {
	if l.structural || v.op != vCall || v.typ.Nullable || v.typ.Size() < sparseSize {
		return nil
	}
	a := &addRows{}
	base := v
	for len(l.uses[base]) == 1 || base == v {
		if base.op != vCall || base.data != nil || base.expr.Def.Name != "add" || !base.typ.Is(v.typ) {
			break
		}
		s, ok := fewOf(base.args[1], v)
		if !ok {
			break
		}
		a.from = append([]source{s}, a.from...)
		base = base.args[0]
	}
	if base.op != vAgg || base.typ.Nullable || len(a.from) == 0 || len(l.uses[base]) != 1 || l.isRoot[base] || !base.vary || base.data == nil ||
		base.sp != v.sp || !base.typ.Is(v.typ) || base.data.kind != kindOf(v.typ) || l.distributed[base] != nil || l.distributed[v] != nil {
		return nil
	}
	v.over = base
	t := &tree{also: []*val{base}, rows: 1}
	for _, s := range a.from {
		t.also, t.gathers = append(t.also, s.v), append(t.gathers, s.v)
	}
	in := &instr{v: v, how: "rows added in place", rows: v.sp.n, t: t, lower: a}
	for _, s := range a.from {
		n := float64(s.v.sp.n * v.typ.Size())
		in.flops, in.bytes = in.flops+n, in.bytes+3*n*float64(kindOf(v.typ).bytes())
	}
	in.cut()
	return in
}

// fewOf finds the rows of a column in memory that v adds to few of its rows.
func fewOf(x, v *val) (source, bool) {
	if x.op != vGather || x.data != nil || x.typ.Nullable || !x.typ.Is(v.typ) || x.idx.at == nil || !x.idx.missing {
		return source{}, false
	}
	y := x.args[0]
	ok := y.data != nil && y.data.kind == kindOf(v.typ) && y.sp.n*sparseRows <= v.sp.n
	return source{v: y, idx: x.idx}, ok
}

func (a *addRows) run(m *machine, in *instr) error {
	return parallel(m.ctx, m.workers, in.lanes(), func(_, lane int) error {
		lo, hi := lane*in.lane, min((lane+1)*in.lane, in.rows)
		if in.v.data.kind == f32 {
			addFew[float32](a, in.v, lo, hi)
		} else {
			addFew[float64](a, in.v, lo, hi)
		}
		return nil
	})
}

// addFew adds to the rows lo to hi, in the order of the columns.
func addFew[T float](a *addRows, v *val, lo, hi int) {
	size := v.typ.Size()
	sum := of[T](v.data)
	for _, s := range a.from {
		x := of[T](s.v.data)
		for i, at := range s.idx.at[lo:hi] {
			if at >= 0 {
				row := sum[(lo+i)*size:][:size]
				cpu.Binary(cpu.Add, 1, size, row, 0, 1, x[int(at)*size:][:size], 0, 1, row)
			}
		}
	}
}
