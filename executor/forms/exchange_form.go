package forms

import (
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
)

var _ = registerForm(Form{
	Name:  "exchanged",
	Match: func(_ *Lowerer, v *values.Val) (any, error) { return found(v.Op == values.OpExchange), nil },
	Cost:  func(l *Lowerer, v *values.Val, _ any) float64 { return l.treeCost(v) },
	emit: func(l *Lowerer, v *values.Val, _ any) ([]*device.Instr, error) {
		t, err := Compile(l.g, nil)
		if err != nil {
			return nil, err
		}
		t.Also = v.Args
		in := l.finish(&device.Instr{V: v, How: "exchanged", Rows: v.Space.N, T: t,
			Form: &device.Exchange{Exchange: v.Moves}})
		in.Flops = 0
		return []*device.Instr{in}, nil
	},
})
