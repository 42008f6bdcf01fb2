package extension

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/kernels"
)

// fold is an aggregate: its arguments, in which T stands for each of its types, and its C functions (src/aggregate.c):
// step adds a row to the state, merge joins two states, value gives the result.
type fold struct {
	args               string
	types              []string // that T stands for
	step, merge, value string
	result             string // the result's type, may contain T; "" is T
	loose              bool   // the step sees NULL
}

var chunks, floats = []string{"real[]", "double precision[]"}, []string{"real", "double precision"}

// folds are the aggregates by name. Those of numbers are there because Postgres's own sum of real adds in real, and its
// sums raise errors where IEEE 754 gives infinities.
var folds = map[string][]fold{
	"sum": {{"x T", chunks, "agg_add", "agg_add_combine", "agg_value", "", false},
		{"x T", floats, "agg_add", "agg_add_combine", "agg_value", "", false}},
	"avg": {{"x T", chunks, "agg_add", "agg_add_combine", "agg_mean", "", false},
		{"x T", floats, "agg_add", "agg_add_combine", "agg_mean", "double precision", false}},
	"max_agg": {{"x T", chunks, "agg_max", "agg_max_combine", "agg_value", "", false}},
	"min_agg": {{"x T", chunks, "agg_min", "agg_min_combine", "agg_value", "", false}},
	"vector_agg": {{"index bigint, value T, size bigint", floats, "agg_scatter",
		"agg_scatter_combine", "agg_value", "T[]", true}},
	"accuracy": {metric("predicted anycompatible, actual anycompatible", "accuracy", "mean"),
		metric("predicted boolean, actual double precision", "accuracy", "mean")},
	"rmse":     {metric("predicted double precision, actual double precision", "rmse", "root")},
	"log_loss": {metric("probability double precision, label T", "log_loss", "mean")},
	"f1": {metric("predicted boolean, actual T", "f1", "f1_value"),
		metric("predicted double precision, actual double precision", "f1", "f1_value")},
	"auc": {ofPairs("score double precision, label T", "auc")},
	"ndcg": {ofPairs("score double precision, relevance double precision", "ndcg"),
		ofPairs("score double precision, relevance double precision, k bigint", "ndcg")},
}

// metric is an aggregate whose state is a sum; T is a label's types.
func metric(args, step, value string) fold {
	types := []string{""}
	if strings.HasSuffix(args, " T") {
		types = []string{"boolean", "double precision"}
	}
	return fold{args, types, "agg_" + step, "agg_add_combine", "agg_" + value, "double precision", false}
}

// ofPairs is one whose state keeps the rows.
func ofPairs(args, name string) fold {
	f := metric(args, name, name+"_value")
	f.merge = "agg_pairs_combine"
	return f
}

// stepCost is the cost of one row of an aggregate: adding a chunk of side × side numbers.
const stepCost = chunkCost + side*side/unitFlops

const state = "double precision[]"

func writeAggregates(b *objects) error {
	b.text("\n-- Aggregates. Their state is a double precision[]; see src/aggregate.c.\n")
	written := map[string]bool{}
	once := func(f *Function) {
		if !written[f.Signature()] {
			b.function(f)
		}
		written[f.Signature()] = true
	}
	for _, a := range kernels.Aggregates() {
		if builtin[a.Name] {
			continue
		}
		if a.Name == "product" {
			b.text("CREATE AGGREGATE product(x double precision) (SFUNC = pg_catalog.float8mul, STYPE = double precision, " +
				"COMBINEFUNC = pg_catalog.float8mul, PARALLEL = SAFE);\n")
			continue
		}
		list := folds[a.Name]
		if list == nil {
			return fmt.Errorf("the extension has no aggregate %s; see folds", a.Name)
		}
		for _, f := range list {
			for _, t := range f.types {
				f.write(once, t)
				b.text("%s", f.aggregate(a.Name, t))
			}
		}
	}
	return nil
}

// last returns the name and the result type of the function that gives the aggregate's result for type t.
func (f fold) last(t string) (name, result string) {
	result = t
	if f.result != "" {
		result = strings.ReplaceAll(f.result, "T", t)
	}
	return f.value + map[string]string{"real": "_number_real", "double precision": "_number", "real[]": "_real",
		"double precision[]": ""}[result], result
}

// write passes the functions of which the aggregate for type t consists to once.
func (f fold) write(once func(*Function), t string) {
	value, result := f.last(t)
	args := append([]Arg{{"state", state}}, parseArgs(strings.ReplaceAll(f.args, "T", t))...)
	once(&Function{Name: f.step, Args: args, Result: state, Symbol: f.step, Cost: stepCost, Loose: f.loose})
	once(&Function{Name: f.merge, Args: []Arg{{"a", state}, {"b", state}}, Result: state, Symbol: f.merge, Cost: stepCost})
	once(&Function{Name: value, Args: []Arg{{"state", state}}, Result: result, Symbol: f.value, Cost: stepCost})
}

// aggregate is the CREATE AGGREGATE statement for type t.
func (f fold) aggregate(name, t string) string {
	value, _ := f.last(t)
	return fmt.Sprintf("CREATE AGGREGATE %s(%s) (SFUNC = %s, STYPE = %s, INITCOND = '{}', COMBINEFUNC = %s, FINALFUNC = "+
		"%s, PARALLEL = SAFE);\n", name, strings.ReplaceAll(f.args, "T", t), f.step, state, f.merge, value)
}
