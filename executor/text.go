package executor

import (
	"fmt"
	"strings"
)

// made prints v's name, what it holds and how that is computed.
func (v *val) made(how string) string {
	if v.note != "" {
		how += ", " + v.note
	}
	out := v.typ.String()
	if v.data != nil && v.data.kind == f32 && kindOf(v.typ) == f64 {
		out += " as real"
	}
	if v.sp.N != 1 {
		out = fmt.Sprintf("%d × %s", v.sp.N, out)
	}
	return fmt.Sprintf("v%-4d %s = %s", v.id, out, strings.TrimPrefix(how, "grad"))
}

func (v *val) body() string {
	if v.op == vAgg || v.op == vConcat {
		return v.args[0].text(true, 0)
	}
	return v.text(false, 0)
}

// text prints v; what is in memory is a name only, unless it is to be computed here.
func (v *val) text(stop bool, depth int) string {
	switch {
	case depth > 8:
		return "…"
	case v.op == vConst:
		if v.typ.Size() > 4 {
			return "const " + v.typ.String()
		}
		return v.konst.String()
	case v.op == vLeaf:
		return v.name
	case v.data != nil && stop:
		return fmt.Sprintf("v%d", v.id)
	case v.op == vLayout:
		return v.args[0].text(true, depth+1)
	case v.op == vGather:
		return v.args[0].text(true, depth+1) + "[·]"
	case v.op == vCall:
		args := make([]string, len(v.args))
		for i, a := range v.args {
			args[i] = a.text(true, depth+1)
		}
		return v.expr.Def.Name + "(" + strings.Join(args, ", ") + ")"
	}
	return fmt.Sprintf("v%d", v.id)
}

func count(x float64) string { return units(x, 1000, "flop") }

func size(x float64) string { return units(x, 1024, "B") }

func units(x, base float64, unit string) string {
	for _, p := range []string{"", "k", "M", "G"} {
		if x < base || p == "G" {
			return fmt.Sprintf("%.3g %s%s", x, p, unit)
		}
		x /= base
	}
	return ""
}
