package executor

var _ = registerForm(form{
	name: "rows in place",
	match: func(l *lowerer, v *val) (any, error) {
		if a := addRowsOf(l, v); a != nil {
			return a, nil
		}
		return nil, nil
	},
	cost: func(l *lowerer, v *val, found any) float64 {
		if l.tune.SparseRows == 0 { // whatever it costs
			return 0
		}
		return blockwise.of(found.(*addRows).work(v))
	},
	emit: func(l *lowerer, v *val, found any) ([]*instr, error) {
		return []*instr{addRowsInstr(l, v, found.(*addRows))}, nil
	},
})

// work is the operations and the bytes: each row is looked up, and few are added to.
func (a *addRows) work(v *val) (flops, bytes float64) {
	looks, n := float64(len(a.from)*v.sp.N), float64(a.rows*v.typ.Size())
	return looks + n, 4*looks + 3*n*float64(kindOf(v.typ).bytes())
}

// addRowsOf finds such a map; nil for another.
func addRowsOf(l *lowerer, v *val) *addRows {
	if l.structural || v.op != vCall || v.typ.Nullable || v.typ.Size() < l.tune.SparseSize {
		return nil
	}
	a, base := &addRows{}, v
	for len(l.uses[base]) == 1 || base == v {
		if base.op != vCall || base.data != nil || base.expr.Def.Name != "add" || !base.typ.Is(v.typ) {
			break
		}
		s, n := fewOf(base.args[1], v)
		if n*l.tune.SparseRows > v.sp.N || s.v == nil {
			break
		}
		a.from, a.rows = append([]source{s}, a.from...), a.rows+n
		base = base.args[0]
	}
	if base.op != vAgg || base.typ.Nullable || len(a.from) == 0 || len(l.uses[base]) != 1 ||
		l.isRoot[base] || !base.vary || base.data == nil ||
		base.sp != v.sp || !base.typ.Is(v.typ) || base.data.kind != kindOf(v.typ) ||
		l.distributed[base] != nil ||
		l.distributed[v] != nil {
		return nil
	}
	a.base = base
	return a
}

// addRowsInstr makes the instruction of such a map.
func addRowsInstr(l *lowerer, v *val, a *addRows) *instr {
	v.over = a.base
	t := &tree{also: []*val{a.base}, rows: 1}
	for _, s := range a.from {
		t.also, t.gathers = append(t.also, s.v), append(t.gathers, s.v)
	}
	flops, bytes := a.work(v)
	in := &instr{v: v, how: "rows added in place", rows: v.sp.N, t: t, form: a, flops: flops, bytes: bytes}
	in.cut(l.tune)
	return in
}

// fewOf finds the column in memory of which x has rows, and how many rows of x have one.
func fewOf(x, v *val) (s source, n int) {
	if x.op != vGather || x.data != nil || x.typ.Nullable || !x.typ.Is(v.typ) || x.idx.At == nil || !x.idx.Missing {
		return s, 0
	}
	if y := x.args[0]; y.data == nil || y.data.kind != kindOf(v.typ) {
		return s, 0
	}
	for _, at := range x.idx.At {
		if at >= 0 {
			n++
		}
	}
	return source{v: x.args[0], idx: x.idx}, n
}
