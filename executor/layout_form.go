package executor

// layoutInstr makes the instruction of a layout that is no view.
func layoutInstr(l *lowerer, v *val) (*instr, error) {
	v.lay.list()
	t, err := compile(l.g, nil)
	if err != nil {
		return nil, err
	}
	t.also = []*val{v.args[0]}
	in := &instr{
		v:    v,
		how:  "re-chunked from " + v.args[0].typ.String(),
		rows: v.lay.rows,
		t:    t,
		form: &relayout{v.lay, v.back},
	}
	l.finish(in)
	in.flops = 0
	in.bytes *= 2
	return in, nil
}

var _ = registerForm(form{
	name:  "re-chunked",
	match: func(_ *lowerer, v *val) (any, error) { return found(v.op == vLayout), nil },
	cost:  func(l *lowerer, v *val, _ any) float64 { return l.treeCost(v) },
	emit: func(l *lowerer, v *val, _ any) ([]*instr, error) {
		in, err := layoutInstr(l, v)
		return []*instr{in}, err
	},
})
