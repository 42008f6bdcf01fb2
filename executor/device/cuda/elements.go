package cuda

import "fmt"

// elements are the element-wise kernels: what computes them of arguments of double precision, in the language of
// kernels. Those that device.Unary and device.Binary list, prelude.cu has in both precisions, under their names.
var elements = map[string]func(x []string) string{
	"power":           calls("pow"),
	"log":             calls("log10"),
	"sin":             calls("sin"),
	"cos":             calls("cos"),
	"tan":             calls("tan"),
	"sinh":            calls("sinh"),
	"cosh":            calls("cosh"),
	"asin":            calls("k_asin"),
	"acos":            calls("k_acos"),
	"atan":            calls("atan"),
	"erf":             calls("erf"),
	"erfc":            calls("erfc"),
	"log1p":           calls("log1p"),
	"expm1":           calls("expm1"),
	"elu":             calls("k_elu"),
	"gelu":            calls("k_gelu"),
	"normal_cdf":      calls("k_normal_cdf"),
	"log2":            calls("log2"),
	"cbrt":            calls("cbrt"),
	"asinh":           calls("asinh"),
	"acosh":           calls("acosh"),
	"atanh":           calls("atanh"),
	"atan2":           calls("atan2"),
	"hypot":           calls("hypot"),
	"cot":             calls("k_cot"),
	"sind":            calls("k_sind"),
	"cosd":            calls("k_cosd"),
	"tand":            calls("k_tand"),
	"cotd":            calls("k_cotd"),
	"lgamma":          calls("lgamma"),
	"digamma":         calls("k_digamma"),
	"polygamma":       calls("k_polygamma"),
	"asinh_slope":     calls("k_asinh_slope"),
	"acosh_slope":     calls("k_acosh_slope"),
	"atanh_slope":     calls("k_atanh_slope"),
	"hypot_slope":     calls("k_hypot_slope"),
	"asin_slope":      calls("k_asin_slope"),
	"atan_slope":      calls("k_atan_slope"),
	"softsign":        calls("k_softsign"),
	"bce_with_logits": calls("k_bce_with_logits"),
	"huber":           calls("k_huber"),
	"floor":           calls("floor"),
	"ceil":            calls("ceil"),
	"round":           calls("rint"),
	"trunc":           calls("trunc"),
	"decimal":         calls("k_decimal"),
	"leaky_relu": func(x []string) string {
		slope := "0.01"
		if len(x) == 2 {
			slope = x[1]
		}
		return fmt.Sprintf("(%s > 0 ? %[1]s : %s * %[1]s)", x[0], slope)
	},
}

func init() {
	for _, name := range []string{"neg", "abs", "square", "sqrt", "relu", "sign", "exp", "ln", "tanh", "sigmoid",
		"softplus", "silu", "sech2", "sigmoid_slope", "gauss", "normal_pdf", "add", "sub", "mul", "div", "maximum",
		"minimum", "greater", "eq_mask", "bce_slope", "select"} {
		elements[name] = calls("k_" + name)
	}
}

// calls is a call of a function.
func calls(name string) func(x []string) string {
	return func(x []string) string {
		out := name + "("
		for i, a := range x {
			if i > 0 {
				out += ", "
			}
			out += a
		}
		return out + ")"
	}
}
