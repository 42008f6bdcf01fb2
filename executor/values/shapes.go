package values

import (
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// meanOf splits a number that is divided by a constant, as the mean of a chunk is; nil for others.
func meanOf(v *Val) (x, by *Val) {
	if v.Op != OpCall || v.Data != nil || v.Expr.Def.Name != "div" || v.Type.Kind != kernels.Float64 ||
		v.Args[0].Type.Kind != kernels.Float64 || v.Args[0].Type.Shape != nil {
		return nil, nil
	}
	if c := v.Args[1]; c.Op == OpConst && c.Type.Shape == nil && !c.Value.Null && c.Value.Float() != 0 {
		return v.Args[0], c
	}
	return nil, nil
}

// Iteration is the space over whose rows v is computed.
func Iteration(v *Val) *structure.Space {
	if v.Op == OpAgg {
		return v.Groups.In
	}
	return v.Space
}

// Flops is the work of one call, in operations.
func (v *Val) Flops() float64 {
	if v.Op != OpCall || v.Expr.Def.Flops == nil {
		return 0
	}
	return v.Expr.Def.Flops(v.argTypes(), v.Expr.Attr, v.Type)
}

// Untransposed returns the argument of a transpose that is not computed into memory, and true; else v.
func Untransposed(v *Val) (*Val, bool) {
	if v.Data == nil && Turned(v) {
		return v.Args[0], true
	}
	return v, false
}

func IsTwo(v *Val) bool { return IsThe(v, 2) }

// IsThe reports whether v is the constant x.
func IsThe(v *Val, x float64) bool {
	return v.Op == OpConst && !v.Value.Null && v.Type.Shape == nil && v.Value.Float() == x
}

// IsCall reports whether v is a call of this kernel that is computed where it is read.
func IsCall(v *Val, name string) bool {
	return v.Op == OpCall && v.Data == nil && v.Expr.Def.Name == name
}

// BroadcastOffsets lists, for each element of shape out, which element of shape s it reads.
func BroadcastOffsets(s, out tensor.Shape) []int32 {
	at := make([]int32, out.Size())
	for o := range at {
		rest, step, off := o, 1, 0
		for d := len(out) - 1; d >= 0; d-- {
			i := rest % out[d]
			rest /= out[d]
			if k := d - (len(out) - len(s)); k >= 0 {
				if s[k] != 1 {
					off += i * step
				}
				step *= s[k]
			}
		}
		at[o] = int32(off)
	}
	return at
}
