package forms

import (
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
)

// The general forms: a tree of kernels over blocks of rows, whose result is stored or summed.

var _ = registerForm(Form{
	Name: "map",
	Match: func(_ *Lowerer, v *values.Val) (any, error) {
		return found(v.Op < values.OpAgg), nil
	},
	Cost: func(l *Lowerer, v *values.Val, _ any) float64 { return l.treeCost(v) },
	emit: func(l *Lowerer, v *values.Val, _ any) ([]*device.Instr, error) {
		in, err := l.store(v, v, v.Space.N)
		return []*device.Instr{in}, err
	},
})

var _ = registerForm(Form{
	Name:  "sum",
	Match: func(_ *Lowerer, v *values.Val) (any, error) { return found(v.Op == values.OpAgg), nil },
	Cost:  func(l *Lowerer, v *values.Val, _ any) float64 { return l.treeCost(v) },
	emit: func(l *Lowerer, v *values.Val, _ any) ([]*device.Instr, error) {
		t, err := Compile(l.g, v.Groups.Order, v.Args[0])
		if err != nil {
			return nil, err
		}
		return []*device.Instr{l.finish(&device.Instr{V: v, How: v.Fn.String(), Rows: v.Groups.In.N, T: t, Grp: v.Groups})},
			nil
	},
})

var _ = registerForm(Form{
	Name:  "one below the other",
	Match: func(_ *Lowerer, v *values.Val) (any, error) { return found(v.Op == values.OpConcat), nil },
	Cost:  func(l *Lowerer, v *values.Val, _ any) float64 { return l.treeCost(v) },
	emit: func(l *Lowerer, v *values.Val, _ any) ([]*device.Instr, error) {
		var out []*device.Instr
		off := 0
		for i, a := range v.Args {
			in, err := l.store(v, a, v.From[i].N)
			if err != nil {
				return nil, err
			}
			in.Off = off
			off += v.From[i].N
			out = append(out, in)
		}
		return out, nil
	},
})

// found is the result of a Match that finds nothing but whether the form applies.
func found(is bool) any {
	if is {
		return true
	}
	return nil
}
