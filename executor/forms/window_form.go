package forms

import (
	"fmt"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
)

var _ = registerForm(Form{
	Name: "windowed",
	Match: func(_ *Lowerer, v *values.Val) (any, error) {
		return found(v.Op == values.OpWindow && !v.ByExtremes()), nil
	},
	Cost: func(l *Lowerer, v *values.Val, _ any) float64 { return 2 * l.treeCost(v) },
	emit: func(l *Lowerer, v *values.Val, _ any) ([]*device.Instr, error) {
		t, err := Compile(l.g, nil)
		if err != nil {
			return nil, err
		}
		t.Also = v.Args
		w := &device.Windowed{Order: v.Order, Frame: v.Frame, Block: l.Tune.WindowRows}
		in := l.finish(&device.Instr{V: v, How: fmt.Sprintf("%v over %v", v.Fn, v.Frame), Rows: v.Space.N, T: t, Form: w})
		in.Flops = 2 * float64(in.Rows*v.Type.Size())
		in.Bytes += 2 * float64(in.Rows*v.Args[0].Type.Size()*column.KindOf(v.Args[0].Type).Bytes())
		l.s.Tmp = max(l.s.Tmp, w.Scratch(v.Args[0].Type.Size()))
		return []*device.Instr{in}, nil
	},
})

var _ = registerForm(Form{
	Name: "extremes",
	Match: func(_ *Lowerer, v *values.Val) (any, error) {
		return found(v.Op == values.OpWindow && v.ByExtremes()), nil
	},
	Cost: func(l *Lowerer, v *values.Val, _ any) float64 { return 4 * l.treeCost(v) },
	emit: func(l *Lowerer, v *values.Val, _ any) ([]*device.Instr, error) {
		t, err := Compile(l.g, nil)
		if err != nil {
			return nil, err
		}
		t.Also = v.Args
		how := fmt.Sprintf("%v over %v", v.Fn, v.Frame)
		if v.Among != nil {
			how += fmt.Sprintf(" where it attains the %v", v.Among.Fn)
		}
		in := l.finish(&device.Instr{V: v, How: how, Rows: v.Space.N, T: t,
			Form: &device.Extremes{Order: v.Order, Frame: v.Frame, Among: v.Among, Block: l.Tune.WindowRows}})
		in.Flops = 4 * float64(in.Rows)
		for _, a := range v.Args {
			in.Bytes += float64(in.Rows * column.KindOf(a.Type).Bytes())
		}
		return []*device.Instr{in}, nil
	},
})
