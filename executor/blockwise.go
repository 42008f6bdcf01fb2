package executor

// The general forms: a tree of kernels, run over blocks of rows and ended by a store or a sum.

var _ = registerForm(form{
	name: "map",
	match: func(_ *lowerer, v *val) (any, error) {
		return found(v.op != vAgg && v.op != vConcat && v.op != vLayout), nil
	},
	cost: func(l *lowerer, v *val, _ any) float64 { return l.treeCost(v) },
	emit: func(l *lowerer, v *val, _ any) ([]*instr, error) {
		in, err := l.store(v, v, v.sp.N)
		return []*instr{in}, err
	},
})

var _ = registerForm(form{
	name:  "sum",
	match: func(_ *lowerer, v *val) (any, error) { return found(v.op == vAgg), nil },
	cost:  func(l *lowerer, v *val, _ any) float64 { return l.treeCost(v) },
	emit: func(l *lowerer, v *val, _ any) ([]*instr, error) {
		t, err := compile(l.g, v.grp.Order, v.args[0])
		if err != nil {
			return nil, err
		}
		return []*instr{l.finish(&instr{v: v, how: v.fn.String(), rows: v.grp.In.N, t: t, grp: v.grp})}, nil
	},
})

var _ = registerForm(form{
	name:  "one below the other",
	match: func(_ *lowerer, v *val) (any, error) { return found(v.op == vConcat), nil },
	cost:  func(l *lowerer, v *val, _ any) float64 { return l.treeCost(v) },
	emit: func(l *lowerer, v *val, _ any) ([]*instr, error) {
		var out []*instr
		off := 0
		for i, a := range v.args {
			in, err := l.store(v, a, v.from[i].N)
			if err != nil {
				return nil, err
			}
			in.off = off
			off += v.from[i].N
			out = append(out, in)
		}
		return out, nil
	},
})

// found is what a form of which nothing more is to be known has found.
func found(is bool) any {
	if is {
		return true
	}
	return nil
}
