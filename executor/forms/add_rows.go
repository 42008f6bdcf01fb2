package forms

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
)

var _ = registerForm(Form{
	Name: "rows in place",
	Match: func(l *Lowerer, v *values.Val) (any, error) {
		if a := addRowsOf(l, v); a != nil {
			return a, nil
		}
		return nil, nil
	},
	Cost: func(l *Lowerer, v *values.Val, found any) float64 {
		if l.Tune.SparseRows == 0 { // tests take it at any cost
			return 0
		}
		return blockwise.of(addRowsWork(found.(*device.AddRows), v))
	},
	emit: func(l *Lowerer, v *values.Val, found any) ([]*device.Instr, error) {
		return []*device.Instr{addRowsInstr(l, v, found.(*device.AddRows))}, nil
	},
})

// addRowsWork is the operations and bytes: each row is looked up, and few are changed.
func addRowsWork(a *device.AddRows, v *values.Val) (flops, bytes float64) {
	looks, n := float64(len(a.From)*v.Space.N), float64(a.Rows*v.Type.Size())
	return looks + n, 4*looks + 3*n*float64(column.KindOf(v.Type).Bytes())
}

// addRowsOf finds what the form needs; nil for other maps.
func addRowsOf(l *Lowerer, v *values.Val) *device.AddRows {
	if l.Structural || v.Op != values.OpCall || v.Type.Nullable || v.Type.Size() < l.Tune.SparseSize {
		return nil
	}
	a, base := &device.AddRows{}, v
	for len(l.uses[base]) == 1 || base == v {
		if base.Op != values.OpCall || base.Data != nil || base.Expr.Def.Name != "add" || !base.Type.Is(v.Type) {
			break
		}
		s, n := fewOf(base.Args[1], v)
		if n*l.Tune.SparseRows > v.Space.N || s.V == nil {
			break
		}
		a.From, a.Rows = append([]device.Source{s}, a.From...), a.Rows+n
		base = base.Args[0]
	}
	if base.Op != values.OpAgg || base.Type.Nullable || len(a.From) == 0 || len(l.uses[base]) != 1 || l.isRoot[base] ||
		!base.Vary || base.Data == nil || base.Space != v.Space || !base.Type.Is(v.Type) ||
		base.Data.Kind() != column.KindOf(v.Type) || l.distributed[base] != nil || l.distributed[v] != nil {
		return nil
	}
	a.Base = base
	return a
}

// addRowsInstr makes the instruction of such a map.
func addRowsInstr(l *Lowerer, v *values.Val, a *device.AddRows) *device.Instr {
	v.Over = a.Base
	t := &device.Tree{Also: []*values.Val{a.Base}, Rows: 1}
	for _, s := range a.From {
		t.Also, t.Gathers = append(t.Also, s.V), append(t.Gathers, s.V)
	}
	flops, bytes := addRowsWork(a, v)
	in := &device.Instr{V: v, How: "rows added in place", Rows: v.Space.N, T: t, Form: a, Flops: flops, Bytes: bytes}
	in.Cut(l.Tune)
	return in
}

// fewOf finds the column in memory from which x takes its rows, and how many rows of x have one.
func fewOf(x, v *values.Val) (s device.Source, n int) {
	if x.Op != values.OpGather || x.Data != nil || x.Type.Nullable || !x.Type.Is(v.Type) || x.Index.At == nil ||
		!x.Index.Missing {
		return s, 0
	}
	if y := x.Args[0]; y.Data == nil || y.Data.Kind() != column.KindOf(v.Type) {
		return s, 0
	}
	for _, at := range x.Index.At {
		if at >= 0 {
			n++
		}
	}
	return device.Source{V: x.Args[0], Idx: x.Index}, n
}
