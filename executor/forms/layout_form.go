package forms

import (
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
)

// layoutInstr makes the instruction of a layout that is not a view.
func layoutInstr(l *Lowerer, v *values.Val) (*device.Instr, error) {
	v.Layout.List()
	t, err := Compile(l.g, nil)
	if err != nil {
		return nil, err
	}
	t.Also = []*values.Val{v.Args[0]}
	in := &device.Instr{V: v, How: "re-chunked from " + v.Args[0].Type.String(), Rows: v.Layout.Rows, T: t,
		Form: &device.Relayout{L: v.Layout.Layout, Back: v.Layout.Back}}
	l.finish(in)
	in.Flops = 0
	in.Bytes *= 2
	return in, nil
}

var _ = registerForm(Form{
	Name:  "re-chunked",
	Match: func(_ *Lowerer, v *values.Val) (any, error) { return found(v.Op == values.OpLayout), nil },
	Cost:  func(l *Lowerer, v *values.Val, _ any) float64 { return l.treeCost(v) },
	emit: func(l *Lowerer, v *values.Val, _ any) ([]*device.Instr, error) {
		in, err := layoutInstr(l, v)
		return []*device.Instr{in}, err
	},
})
