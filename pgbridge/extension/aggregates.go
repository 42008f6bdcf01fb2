package extension

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/kernels"
)

// fold is an aggregate: its arguments, where T stands for each of its types, and the C functions (see src/aggregate.c)
// that take a row into the state, merge two states and give the value.
type fold struct {
	args               string
	types              []string // of T
	step, merge, value string
	result             string // with T; "" is T
	loose              bool   // the step sees NULL
}

var chunks, floats = []string{"real[]", "double precision[]"}, []string{"real", "double precision"}

// folds are the aggregates by name. Those of numbers exist because Postgres's own sum of real adds up in real, and its
// sums raise errors where IEEE has infinities.
var folds = map[string][]fold{
	"sum":        {{"x T", chunks, "agg_add", "agg_add_combine", "agg_value", "", false}, {"x T", floats, "agg_add", "agg_add_combine", "agg_value", "", false}},
	"avg":        {{"x T", chunks, "agg_add", "agg_add_combine", "agg_mean", "", false}, {"x T", floats, "agg_add", "agg_add_combine", "agg_mean", "double precision", false}},
	"max_agg":    {{"x T", chunks, "agg_max", "agg_max_combine", "agg_value", "", false}},
	"min_agg":    {{"x T", chunks, "agg_min", "agg_min_combine", "agg_value", "", false}},
	"vector_agg": {{"index bigint, value T, size bigint", floats, "agg_scatter", "agg_scatter_combine", "agg_value", "T[]", true}},
}

// The aggregates' cost of one row: adding a chunk of side lengths.
const stepCost = chunkCost + side*side/unitFlops

const state = "double precision[]"

func writeAggregates(b *strings.Builder) error {
	b.WriteString("\n-- Aggregates. Their state is a double precision[]; see src/aggregate.c.\n")
	written := map[string]bool{}
	once := func(statement string) {
		if !written[statement] {
			b.WriteString(statement)
		}
		written[statement] = true
	}
	for _, a := range kernels.Aggregates() {
		if builtin[a.Name] {
			continue
		}
		list := folds[a.Name]
		if list == nil {
			return fmt.Errorf("the extension has no aggregate %s; see folds", a.Name)
		}
		for _, f := range list {
			for _, t := range f.types {
				f.write(once, a.Name, t)
			}
		}
	}
	return nil
}

// write writes the aggregate for one type, after the functions that it is made of.
func (f fold) write(once func(string), name, t string) {
	args, result := strings.ReplaceAll(f.args, "T", t), t
	if f.result != "" {
		result = strings.ReplaceAll(f.result, "T", t)
	}
	kind := "IMMUTABLE STRICT PARALLEL SAFE"
	stepKind := kind
	if f.loose {
		stepKind = "IMMUTABLE PARALLEL SAFE"
	}
	value := f.value + map[string]string{"real": "_number_real", "double precision": "_number", "real[]": "_real", "double precision[]": ""}[result]
	once(function(f.step, "state "+state+", "+args, state, stepKind, stepCost, f.step))
	once(function(f.merge, "a "+state+", b "+state, state, kind, stepCost, f.merge))
	once(function(value, "state "+state, result, kind, stepCost, f.value))
	once(fmt.Sprintf("CREATE AGGREGATE %s(%s) (SFUNC = %s, STYPE = %s, INITCOND = '{}', COMBINEFUNC = %s, FINALFUNC = %s, PARALLEL = SAFE);\n",
		name, args, f.step, state, f.merge, value))
}
