package values

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/lists"
)

// Made prints v's name, its type and how it is computed.
func (v *Val) Made(how string) string {
	if v.Op != OpLeaf && v.Name != "" {
		how += ", " + v.Name
	}
	out := v.Type.String()
	if v.Data != nil && v.Data.Kind() == column.F32 && column.KindOf(v.Type) == column.F64 {
		out += " as real"
	}
	if v.Space.N != 1 {
		out = fmt.Sprintf("%d × %s", v.Space.N, out)
	}
	return fmt.Sprintf("v%-4d %s = %s", v.ID, out, strings.TrimPrefix(how, "grad"))
}

func (v *Val) Body() string {
	if v.Op == OpAgg || v.Op == OpConcat {
		return v.Args[0].Text(true, 0)
	}
	return v.Text(false, 0)
}

// Text prints v: as its name if it is in memory and stop is set, else how it is computed.
func (v *Val) Text(stop bool, depth int) string {
	switch {
	case depth > 8:
		return "…"
	case v.Op == OpConst:
		if v.Type.Size() > 4 {
			return "const " + v.Type.String()
		}
		return v.Value.String()
	case v.Op == OpLeaf:
		return v.Name
	case v.Data != nil && stop:
		return fmt.Sprintf("v%d", v.ID)
	case v.Op == OpExchange && len(v.Args) == 0:
		return "rows of other sites"
	case v.Op == OpLayout, v.Op == OpExchange, v.Op == OpWindow:
		return v.Args[0].Text(true, depth+1)
	case v.Op == OpGather:
		return v.Args[0].Text(true, depth+1) + "[·]"
	case v.Op == OpCall:
		args := lists.Map(v.Args, func(a *Val) string { return a.Text(true, depth+1) })
		return v.Expr.Def.Name + "(" + strings.Join(args, ", ") + ")"
	}
	return fmt.Sprintf("v%d", v.ID)
}

func Count(x float64) string { return units(x, 1000, "flop") }

func Size(x float64) string { return units(x, 1024, "B") }

func units(x, base float64, unit string) string {
	for _, p := range []string{"", "k", "M", "G"} {
		if x < base || p == "G" {
			return fmt.Sprintf("%.3g %s%s", x, p, unit)
		}
		x /= base
	}
	return ""
}
