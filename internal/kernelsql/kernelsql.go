// Package kernelsql writes the sample calls of kernels as SQL.
//
// # What
//
// Call writes a kernel's sample call as a user would: functions by name with their static arguments, operators
// and SQL's own forms (CASE, COALESCE, subscripts) for the kernels behind them. Each fills a table with the
// arguments of every sample of every kernel. The test of this package runs them everywhere: as an ordinary SELECT on
// the embedded store, in the oracle, in the executor and as generated SQL, forward and as a gradient; that of
// pgbridge/extension as a SELECT on Postgres.
//
// # Invariants
//
// What Call writes means the sample's call: the binder makes the same expression of it.
//
// # Errors
//
// None: a kernel that no SQL names gives false.
//
// # Where to add
//
// A kernel with a SQL name needs nothing. A kernel behind an operator is a row of forms.
package kernelsql

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
)

// Names lists the names of a kernel's arguments as SQL has them, brackets and defaults removed.
func Names(d *kernels.Def) []string {
	var out []string
	for _, a := range strings.Split(strings.NewReplacer("[", "", "]", "").Replace(d.Args), ",") {
		if name, _, _ := strings.Cut(strings.TrimSpace(a), " "); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// Static is the text of the argument of that name where it stands in the sample's attributes; "" for an argument
// of run time.
func Static(d *kernels.Def, s kernels.Sample, name string) string {
	if d.Bind == nil || d.IsMacro() {
		return ""
	}
	switch {
	case name == "spec":
		return "'" + s.Attr.Spec + "'"
	case name == "shape":
		return Ints(s.Attr.Shape)
	case name == "axis" && s.Attr.Axis >= 0:
		return fmt.Sprint(s.Attr.Axis + 1)
	case name == "n":
		return fmt.Sprint(s.Attr.Int)
	}
	return ""
}

// Ints is a bigint[] of numbers.
func Ints(x []int) string {
	list := lists.Map(x, func(n int) string { return fmt.Sprint(n) })
	return "ARRAY[" + strings.Join(list, ",") + "]"
}

// Call writes the sample's call; args are its run-time arguments, as many as its Types. It returns false for
// a kernel that SQL does not reach by any name, such as the derivatives' own.
func Call(d *kernels.Def, s kernels.Sample, args []string) (string, bool) {
	if d.Internal {
		return form(d, s, args)
	}
	var list []string
	for _, name := range Names(d) {
		if t := Static(d, s, name); t != "" {
			list = append(list, t)
		} else if len(args) > 0 {
			list, args = append(list, args[0]), args[1:]
		}
	}
	return fmt.Sprintf("%s(%s)", d.Name, strings.Join(list, ", ")), true
}

// forms are SQL's forms for kernels without a name of their own; %s takes the arguments in turn.
var forms = map[string]string{
	"add": "(%s + %s)", "sub": "(%s - %s)", "mul": "(%s * %s)", "div": "(%s / %s)", "neg": "(- %s)",
	"eq": "(%s = %s)", "ne": "(%s <> %s)", "lt": "(%s < %s)", "le": "(%s <= %s)", "gt": "(%s > %s)", "ge": "(%s >= %s)",
	"is_distinct": "(%s IS DISTINCT FROM %s)", "nullif": "NULLIF(%s, %s)", "like": "(%s LIKE %s)", "textcat": "(%s || %s)",
	"and": "(%s AND %s)", "or": "(%s OR %s)", "not": "(NOT %s)", "is_true": "(%s IS TRUE)", "is_null": "(%s IS NULL)",
	"is_not_null": "(%s IS NOT NULL)",
}

// Internal lists the internal kernels for which SQL has no form: what derivatives and draws are made of.
var Internal = []string{"drop_mask", "eq_mask", "expand_to", "int_array", "lower_ascii", "midnight", "order_key", "pad",
	"plain", "put", "row_key", "select", "stack_row", "decimal", "sum_to", "to_real", "upper_ascii",
	"acosh_slope", "asin_slope", "asinh_slope", "atan_slope", "atanh_slope", "hypot_slope", "polygamma", "bce_slope",
	"cross_entropy_slope", "gauss", "l2_length", "l2_normalize_slope",
	"layer_norm_deviation", "layer_norm_slope",
	"log_softmax_slope", "normal_cdf", "normal_pdf", "sech2", "sigmoid_slope", "softmax_center"}

func form(d *kernels.Def, s kernels.Sample, args []string) (string, bool) {
	if f, ok := forms[d.Name]; ok {
		list := lists.Map(args, func(a string) any { return a })
		return fmt.Sprintf(f, list...), true
	}
	switch d.Name {
	case "coalesce", "greatest", "least":
		return fmt.Sprintf("%s(%s)", strings.ToUpper(d.Name), strings.Join(args, ", ")), true
	case "case":
		text := "(CASE"
		for i := 0; i+1 < len(args); i += 2 {
			text += fmt.Sprintf(" WHEN %s THEN %s", args[i], args[i+1])
		}
		return text + fmt.Sprintf(" ELSE %s END)", args[len(args)-1]), true
	case "cast":
		return fmt.Sprintf("CAST(%s AS %s%s)", args[0], s.Attr.Kind, strings.Repeat("[]", len(s.Types[0].Shape))), true
	case "subscript":
		text := "(" + args[0] + ")"
		for _, i := range s.Attr.From {
			text += fmt.Sprintf("[%d]", i+1)
		}
		for _, a := range args[1:] {
			text += fmt.Sprintf("[%s]", a)
		}
		return text, true
	case "slice":
		text := "(" + args[0] + ")"
		for i, from := range s.Attr.From {
			text += fmt.Sprintf("[%d:%d]", from+1, from+s.Attr.Shape[i])
		}
		return text, true
	}
	return "", false
}
