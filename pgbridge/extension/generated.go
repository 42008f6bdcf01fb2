package extension

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/kernels"
)

// generatedPrefix begins the names of functions that only generated SQL calls.
const generatedPrefix = "gen_"

// generatedFunc is the function of an internal kernel. The kernel's attributes become arguments. T in a type stands for
// each of types.
type generatedFunc struct {
	name, args, result string
	types              []string // that T stands for; nil: there is no T
	symbol             string   // of the C function; "": the function's name
	cost               int
}

// generatedFuncs are the functions that sqlgen.Postgres calls besides the kernels that users can call. Single numbers
// are double precision.
var generatedFuncs = []generatedFunc{
	{"add", "a T, b T", "T", floats[1:], "chunk_add", 1},
	{"sub", "a T, b T", "T", floats[1:], "chunk_sub", 1},
	{"mul", "a T, b T", "T", floats[1:], "chunk_mul", 1},
	{"div", "a T, b T", "T", floats[1:], "chunk_div", 1},
	{"sum_to", "x T, shape bigint[]", "T", chunks, "", stepCost},
	{"expand_to", "x T, shape bigint[]", "T", chunks, "", stepCost},
	{"expand_to", "x double precision, shape bigint[]", "double precision[]", nil, "", stepCost},
	{"pad", "x T, shape bigint[], start bigint[]", "T", chunks, "", stepCost},
	{"softmax_center", "x T, g T", "T", chunks, "", stepCost},
	{"log_softmax_slope", "x T, g T", "T", chunks, "", stepCost},
	{"cross_entropy_slope", "logits T, label bigint", "T", chunks, "", stepCost},
	{"l2_normalize_slope", "x T, g T", "T", chunks, "", stepCost},
	{"l2_length", "x T", "T", chunks, "", stepCost},
	{"layer_norm_slope", "x T, g T", "T", chunks, "", stepCost},
	{"layer_norm_deviation", "x T", "T", chunks, "", stepCost},
	{"put", "g double precision, shape bigint[], index bigint[]", "double precision[]", nil, "", stepCost},
	{"polygamma", "n double precision, x T", "T", chunks, "", 2 * stepCost},
	{"polygamma", "n double precision, x double precision", "double precision", nil, "", 4},
	{"to_real", "x double precision", "real", nil, "", 1},
	{"to_real", "x double precision[]", "real[]", nil, "", stepCost},
	{"decimal", "x double precision", "double precision", nil, "", 2},
	{"stack_row", "place bigint, rows bigint, missing boolean, expected bigint", "bigint", nil, "", 1},
	{"changed", "what text", "boolean", nil, "", 1},
	{"shaped", "x T, shape bigint[]", "boolean", chunks, "", stepCost},
	{"row_id", "place tid", "bigint", nil, "", 1},
	{"drop_mask", "key bigint, p double precision, site bigint, seed bigint, step bigint", "double precision", nil, "", 2},
	{"drop_mask", "key bigint, p double precision, site bigint, seed bigint, step bigint, shape bigint[]",
		"double precision[]", nil, "", 2 * stepCost},
	{"row_key", "parts bigint[]", "bigint", nil, "", 1},
	{"text_key", "x text", "bigint", nil, "", 1},
	{"float_key", "x double precision", "bigint", nil, "", 1},
}

// generatedMaps are internal element-wise kernels that are plain SQL for numbers, and need a function only for chunks.
var generatedMaps = []string{"eq_mask", "select"}

// generatedNumbers are internal kernels that need a function for numbers too: derivatives.
var generatedNumbers = []string{"acosh_slope", "asin_slope", "asinh_slope", "atan_slope", "atanh_slope", "bce_slope",
	"gauss", "hypot_slope", "normal_cdf", "normal_pdf", "sech2", "sigmoid_slope"}

func writeGenerated(b *objects) {
	b.text("\n-- Functions that only generated SQL calls; numbers are double precision there.\n")
	for _, g := range generatedFuncs {
		types := g.types
		if types == nil {
			types = []string{""}
		}
		symbol := g.symbol
		if symbol == "" {
			symbol = generatedPrefix + g.name
		}
		for _, t := range types {
			result := g.result
			if result == "T" {
				result = t
			}
			args := parseArgs(strings.ReplaceAll(g.args, " T", " "+t))
			b.function(&Function{Name: generatedPrefix + g.name, Args: args, Result: result, Symbol: symbol, Cost: g.cost})
		}
	}
	for _, name := range append(slices.Clone(generatedMaps), generatedNumbers...) {
		d := kernels.Lookup(name)
		for _, o := range overloads(d) {
			if o.result.IsChunk() || slices.Contains(generatedNumbers, name) && !slices.Contains(o.types, "real") {
				b.function(o.function(generatedPrefix + name))
			}
		}
	}
}
