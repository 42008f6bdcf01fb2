package portable

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/pgbridge/extension"
)

// checks check the ranks of some kernels' arguments. The overloads in real make the same check, so that its message
// names their type.
var checks = map[string]string{
	"argmax": wrongRank("argmax", "array_ndims(x) <> 1", "The argument must be a vector.", "x"),
	"argmin": wrongRank("argmin", "array_ndims(x) <> 1", "The argument must be a vector.", "x"),
	"cross_entropy": wrongRank("cross_entropy", "array_ndims(logits) <> 1",
		"The arguments must be a vector of logits and a bigint label.", "logits"),
	"diag": wrongRank("diag", "array_ndims(x) > 2 OR array_ndims(x) = 2 AND array_length(x, 1) <> array_length(x, 2)",
		"The argument must be a vector or a square matrix.", "x"),
	"outer": wrongRank("outer", "array_ndims(a) <> 1 OR array_ndims(b) <> 1",
		"Both arguments must be vectors.", "a", "b"),
	"transpose": wrongRank("transpose", "array_ndims(m) < 2", "The argument must have at least two dimensions.", "m"),
}

func wrongRank(kernel, condition, hint string, args ...string) string {
	for i, a := range args {
		args[i] = "relgrad.impl_type(" + a + ")"
	}
	return fmt.Sprintf("IF %s THEN\n  PERFORM relgrad.impl_wrong_type('%s', '%s', %s);\nEND IF;", condition, kernel, hint,
		strings.Join(args, ", "))
}

// flat is an array of a chunk's elements.
func flat(arg string) string { return "ARRAY(SELECT unnest(" + arg + "))" }

// chunkArg declares a chunk's lengths, which are checked on the way.
func chunkArg(dims, arg, kernel string) string {
	return fmt.Sprintf("%s int[] := relgrad.impl_chunk(%s, '%s')", dims, arg, kernel)
}

func flatArg(name, arg string) string { return name + " double precision[] := " + flat(arg) }

// writer writes the body of a function.
type writer func(f *extension.Function) string

// fixed is a body that is the same for all overloads.
func fixed(declare []string, code ...string) writer {
	return func(f *extension.Function) string {
		if c := checks[f.Symbol]; c != "" {
			code = append([]string{c}, code...)
		}
		return block(declare, strings.Join(code, "\n"))
	}
}

func expression(e string) writer { return fixed(nil, "RETURN "+e+";") }

// fail is a statement that raises an error if a condition holds.
func fail(condition, code, message string, args ...string) string {
	return failHint(condition, code, "", message, args...)
}

func failHint(condition, code, hint, message string, args ...string) string {
	if len(args) > 0 {
		message = "format('" + message + "', " + strings.Join(args, ", ") + ")"
	} else {
		message = "'" + message + "'"
	}
	if hint != "" {
		hint = ", HINT = '" + hint + "'"
	}
	return fmt.Sprintf("IF %s THEN\n  RAISE EXCEPTION USING ERRCODE = '%s', MESSAGE = %s%s;\nEND IF;",
		condition, code, message, hint)
}

const (
	subscript = "array_subscript_error"
	parameter = "invalid_parameter_value"
)

// reduce is the body of a reduction of all elements, or along an axis, which keeps length 1.
func reduce(lane string) writer {
	return func(f *extension.Function) string {
		if len(f.Args) == 1 {
			return block(nil,
				fmt.Sprintf("PERFORM relgrad.impl_chunk(x, '%s');\nRETURN relgrad.%s(%s);", f.Name, lane, flat("x")))
		}
		return block([]string{chunkArg("dims", "x", f.Name),
			fmt.Sprintf("at int := relgrad.impl_axis(axis, '%s', dims)", f.Name), "n int := dims[at]",
			"below bigint := relgrad.impl_size(dims[at + 1:])", flatArg("flat", "x")},
			"RETURN relgrad.impl_build(ARRAY(SELECT relgrad."+lane+`(ARRAY(SELECT flat[o / below * below * n + o % below + `+
				`i * below + 1] FROM generate_series(0, n - 1) AS i ORDER BY i))
  FROM generate_series(0, cardinality(flat) / n - 1) AS o ORDER BY o), dims[:at - 1] || 1 || dims[at + 1:]);`)
	}
}

// rows is the body of a map over each lane of the last axis. With two chunks, which have one shape, it takes a lane of
// each.
func rows(lane string) writer { return lanes(lane, "dims") }

// lengths is rows for maps from a lane to one number, which replace the last axis by one of length 1.
func lengths(lane string) writer { return lanes(lane, "dims[:cardinality(dims) - 1] || 1") }

func lanes(lane, dims string) writer {
	return func(f *extension.Function) string {
		name := strings.TrimPrefix(f.Name, "gen_")
		declare := []string{chunkArg("dims", "x", name), "n int := dims[cardinality(dims)]", flatArg("flat", "x")}
		part, before := "flat[r * n + 1:(r + 1) * n]", ""
		if len(f.Args) == 2 {
			declare = append(declare, flatArg("other", "g"))
			part += ", other[r * n + 1:(r + 1) * n]"
			before = fmt.Sprintf("PERFORM relgrad.impl_pair(x, g, '%s');\n", name)
		}
		return block(declare, before+"RETURN relgrad.impl_build(ARRAY(SELECT e FROM generate_series(0, cardinality(flat) / "+
			"n - 1) AS r, unnest(relgrad."+lane+
			"("+part+")) WITH ORDINALITY AS t(e, o)\n  ORDER BY r, o), "+dims+");")
	}
}

// itself is the body of a function that returns its argument, checked if it is a chunk.
func itself(before string) writer {
	return func(f *extension.Function) string {
		code := before
		if f.Args[0].Type == chunk {
			code += fmt.Sprintf("PERFORM relgrad.impl_chunk(x, '%s');\n", f.Name)
		}
		return block(nil, code+"RETURN x;")
	}
}

// einsum passes each operand as a flat array with its lengths.
func einsum(f *extension.Function) string {
	if f.Result == number {
		var list []string
		for _, a := range f.Args[1:] {
			list = append(list, a.Name)
		}
		return block(nil, "RETURN relgrad.impl_einsum_numbers(spec, ARRAY["+strings.Join(list, ", ")+"]);")
	}
	call := fmt.Sprintf("RETURN relgrad.impl_einsum(spec, %d", len(f.Args)-1)
	for _, a := range f.Args[1:] {
		if a.Type == chunk {
			call += fmt.Sprintf(", %s, relgrad.impl_chunk(%s, 'einsum')", flat(a.Name), a.Name)
		} else {
			call += fmt.Sprintf(", ARRAY[%s], '{}'", a.Name)
		}
	}
	return block(nil, call+");")
}

// draw is the body of a function that fills a shape with draws from the stream (seed, hash of the key).
func draw(of string, before ...string) writer {
	return func(f *extension.Function) string {
		key := "'{}'"
		if len(f.Args) > 2 {
			key = fmt.Sprintf("relgrad.impl_list(key, '%s', 'key')", f.Name)
		}
		return block([]string{fmt.Sprintf("dims int[] := relgrad.impl_shape(shape, '%s')", f.Name),
			"h bigint := relgrad.impl_hash(" + key + ")"},
			strings.Join(append(before, "RETURN relgrad.impl_build(ARRAY(SELECT "+of+
				" FROM generate_series(0, relgrad.impl_size(dims) - 1) AS i ORDER BY i), dims);"), "\n"))
	}
}

// dropMask is a number or, with a shape, a chunk whose elements come four from each block of draws.
func dropMask(f *extension.Function) string {
	const of, start = "CASE WHEN %s >= dropped THEN 1 / (1 - p) ELSE 0 END",
		"PERFORM relgrad.impl_probability(p);\ndropped := relgrad.impl_threshold(p);\nRETURN "
	declare := []string{"h bigint := relgrad.impl_hash(ARRAY[site, step, key])", "dropped bigint"}
	if len(f.Args) == 5 {
		return block(declare, start+fmt.Sprintf(of, "(relgrad.impl_philox(seed, h, 0))[1]")+";")
	}
	return block(append(declare, "dims int[] := relgrad.impl_shape(shape, 'drop_mask')",
		"size bigint := relgrad.impl_size(dims)"),
		start+"relgrad.impl_build((ARRAY(SELECT "+fmt.Sprintf(of, "w")+" FROM generate_series(0, (size - 1) / 4) AS i, "+
			"unnest(relgrad.impl_philox(seed, h, i)) WITH ORDINALITY AS t(w, o)\n"+
			"  ORDER BY i, o))[:size], dims);")
}

// expandTo repeats a chunk or a number so that it fills a shape.
func expandTo(f *extension.Function) string {
	if f.Args[0].Type == number {
		return block(nil, "RETURN array_fill(x, relgrad.impl_shape(shape, 'expand_to'));")
	}
	return block([]string{chunkArg("d", "x", "expand_to"), "dims int[] := relgrad.impl_shape(shape, 'expand_to')"},
		fail("relgrad.impl_strides(dims, d) IS NULL", subscript, "shape %s does not expand to shape %s",
			"relgrad.impl_dims_text(d)", "relgrad.impl_dims_text(dims)")+
			"\nRETURN relgrad.impl_build(relgrad.impl_spread(x, d, dims), dims);")
}

// toReal rounds to real. The elements of an array are rounded one by one, and the array is of double precision.
func toReal(f *extension.Function) string {
	if f.Args[0].Type == number {
		return block(nil, "RETURN relgrad.impl_to_real(x);")
	}
	return block([]string{chunkArg("dims", "x", "to_real")},
		"RETURN relgrad.impl_build(ARRAY(SELECT relgrad.impl_to_real(e) FROM unnest(x) WITH ORDINALITY AS t(e, o) "+
			"ORDER BY o)::double precision[], dims)::real[];")
}

// fold is the body of an aggregate's step.
func fold(aggregate string) writer {
	return func(f *extension.Function) string {
		if f.Args[1].Type == number { // short, because it is the usual case
			return block(nil, "IF cardinality(state) = 3 AND state[2] = 0 THEN\n  RETURN ARRAY[state[1] + 1, 0, "+
				"relgrad.impl_add(state[3], x)];\nEND IF;\n"+
				"RETURN relgrad.impl_fold(state, ARRAY[x], '{}', '"+aggregate+"', 1);")
		}
		return block(nil, fmt.Sprintf("RETURN relgrad.impl_fold(state, %s, relgrad.impl_chunk(x, '%s'), '%s', 1);",
			flat("x"), aggregate, aggregate))
	}
}

// finish is the body of the function that gives an aggregate's result.
func finish(mean bool) writer {
	return func(f *extension.Function) string {
		if f.Result == chunk {
			return block(nil, fmt.Sprintf("RETURN relgrad.impl_finish(state, %t, TRUE);", mean))
		}
		return block(nil, fmt.Sprintf("RETURN (relgrad.impl_finish(state, %t, FALSE))[1];", mean))
	}
}

// labelled is the body of a metric's step, in whose expression the verbs are labels: numbers 0 and 1, or booleans.
func labelled(e string, labels ...string) writer {
	return func(f *extension.Function) string {
		text := make([]any, len(labels))
		for i, l := range labels {
			text[i] = labelText(f, l)
		}
		return block(nil, "RETURN "+fmt.Sprintf(e, text...)+";")
	}
}

// labelText is the label in an argument, as a number.
func labelText(f *extension.Function, arg string) string {
	for _, a := range f.Args {
		if a.Name == arg && a.Type == "boolean" {
			return arg + "::int"
		}
	}
	return fmt.Sprintf("relgrad.impl_label(%s, '%s')", arg, strings.TrimPrefix(f.Name, "agg_"))
}

// accuracy is the body of that metric's step.
func accuracy(f *extension.Function) string {
	equal := "predicted = actual"
	if f.Args[2].Type == number {
		equal = "predicted::int = " + labelText(f, "actual")
	}
	return block(nil, "RETURN relgrad.impl_fold(state, ARRAY[CASE WHEN "+equal+" THEN 1 ELSE 0 END], '{}', 'sum', 1);")
}

// gained is the body of ndcg's step, with k or without.
func gained(f *extension.Function) string {
	k, check := "0", ""
	if len(f.Args) > 3 {
		k, check = "k", fail("k < 1", parameter, "ndcg: k is %s, not at least 1", "k")+"\n"
	}
	return block(nil, fail("relevance < 0 OR relevance >= 'Infinity'", parameter,
		"ndcg: the relevance %s is not a finite number of at least 0", "relevance")+"\n"+check+
		"RETURN relgrad.impl_pair(state, "+k+", score, relevance, 'ndcg');")
}
