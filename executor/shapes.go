package executor

import (
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// meanOf takes a number apart that is divided by a constant, as the mean of a chunk is; nil for another.
func meanOf(v *val) (x, by *val) {
	if v.op != vCall || v.data != nil || v.expr.Def.Name != "div" || v.typ.Kind != kernels.Float64 ||
		v.args[0].typ.Kind != kernels.Float64 ||
		v.args[0].typ.Shape != nil {
		return nil, nil
	}
	if c := v.args[1]; c.op == vConst && c.typ.Shape == nil && !c.konst.Null && c.konst.Float() != 0 {
		return v.args[0], c
	}
	return nil, nil
}

// iteration is the space over whose rows v is computed.
func iteration(v *val) *structure.Space {
	if v.op == vAgg {
		return v.grp.In
	}
	return v.sp
}

// flops is the work of one call, in operations.
func (v *val) flops() float64 {
	if v.op != vCall || v.expr.Def.Flops == nil {
		return 0
	}
	return v.expr.Def.Flops(v.argTypes(), v.expr.Attr, v.typ)
}

// untransposed looks through a transpose of a matrix that only this product reads as such.
func untransposed(v *val) (*val, bool) {
	if v.data == nil && turns(v) {
		return v.args[0], true
	}
	return v, false
}

func isTwo(v *val) bool { return isThe(v, 2) }

// isThe reports whether v is that number.
func isThe(v *val, x float64) bool {
	return v.op == vConst && !v.konst.Null && v.typ.Shape == nil && v.konst.Float() == x
}

// isCall reports whether v is a call of the kernel that is computed where it is read.
func isCall(v *val, name string) bool {
	return v.op == vCall && v.data == nil && v.expr.Def.Name == name
}

// broadcastOffsets lists, for each element of shape out, the element of shape s that it reads.
func broadcastOffsets(s, out tensor.Shape) []int32 {
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
