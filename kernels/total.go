package kernels

import "strings"

// Total reports whether a kernel cannot fail on arguments of these types, whatever their values: then it may run on
// rows that the query does not ask for.
func (d *Def) Total(at Attr, args []Type) bool {
	for _, t := range args {
		if k := t.Kind; (k == Int || k == Bool) && !totalOnInts[d.Name] || k == Text && !totalOnTexts[d.Name] {
			return false
		}
	}
	switch d.Name {
	case "div", "mod", "power":
		return len(args) == 2 && (args[0].IsFloat() || args[1].IsFloat())
	case "cast":
		return at.Kind == Float64 || at.Kind == Float32
	}
	return d.Elem != nil || totalKernels[d.Name]
}

// Total reports whether computing e cannot fail, whatever its columns hold.
func (e *Expr) Total() bool { return !e.Any(func(x *Expr) bool { return !x.TotalCall() }) }

// TotalCall reports whether the outermost call of e cannot fail, whatever its arguments are. Constants have been
// computed already.
func (e *Expr) TotalCall() bool {
	types, fixed := make([]Type, len(e.Args)), true
	for i, a := range e.Args {
		types[i], fixed = a.Type, fixed && a.IsConst()
	}
	return e.Def == nil || fixed || e.Def.Total(e.Attr, types)
}

// totalOnInts are the kernels that cannot fail on integers or booleans either.
var totalOnInts = set("eq ne lt le gt ge and or not is_true is_null is_not_null is_distinct case coalesce greatest " +
	"least drop_mask row_key " +
	"select eq_mask greater relu random_uniform random_normal int_array subscript put")

// totalOnTexts cannot fail on texts, and make no text.
var totalOnTexts = set("eq ne lt le gt ge is_null is_not_null is_distinct row_key")

// totalKernels cannot fail on floats, though they are not element-wise.
var totalKernels = set("eq ne lt le gt ge and or not is_true is_null is_not_null is_distinct case coalesce nullif " +
	"greatest least dot sqnorm norm " +
	"matmul outer transpose sum_to expand_to sum_elements mean_elements max_elements logsumexp softmax log_softmax " +
	"l2_normalize " +
	"layer_norm softmax_center log_softmax_slope l2_normalize_slope l2_length layer_norm_slope layer_norm_deviation mse " +
	"einsum reshape slice pad concat_axis to_real stop_gradient drop_mask random_uniform random_normal int_array " +
	"subscript put " +
	"current_step current_epoch current_seed")

func set(names string) map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(names) {
		m[n] = true
	}
	return m
}
