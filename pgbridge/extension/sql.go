package extension

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/kernels"
)

// builtin are kernels and aggregates that need no function: Postgres's own one has the same meaning, and raises no
// error where the kernel gives a value.
var builtin = map[string]bool{
	"ceil": true, "floor": true, "round": true, "trunc": true, "mod": true, "length": true, "lower": true, "upper": true,
	"count": true, "min": true, "max": true, "array_agg": true,
	"var_pop, var_samp, variance": true, "stddev_pop, stddev_samp, stddev": true, "covar_pop, covar_samp": true,
	"corr": true, "regr_slope, regr_intercept, regr_r2": true, "regr_sxx, regr_syy, regr_sxy": true,
	"regr_avgx, regr_avgy, regr_count": true,
}

// operator is an operator of SQL, with the kernel that computes it.
type operator struct {
	kernel, sign string
	commutes     bool
}

// operators are the operators on chunks. Each is a C function chunk_<kernel>, but power's is the kernel's own.
var operators = []operator{{"add", "+", true}, {"sub", "-", false}, {"mul", "*", true}, {"div", "/", false},
	{"power", "^", false}, {"neg", "-", false}}

// roles are the SQL types of arguments, by name. Any other argument is a number or a chunk, as the shape rule says.
var roles = map[string]string{
	"spec": "text", "shape": "bigint[]", "key": "bigint[]", "axis": "bigint", "label": "bigint",
	"n": "bigint", "seed": "bigint",
	"p": "double precision", "fan_in": "double precision", "fan_out": "double precision",
}

const header = `-- Generated from the registry of kernels by go test ./pgbridge/extension -update. DO NOT EDIT.
\echo Use "CREATE EXTENSION relgrad" to load this file. \quit

-- A schema that the script makes belongs to the extension: nobody else made it, and DROP EXTENSION takes it along.
CREATE SCHEMA relgrad;
SET LOCAL search_path = relgrad, pg_temp;
GRANT USAGE ON SCHEMA relgrad TO PUBLIC;
`

// SQL returns the extension's script.
func SQL() (string, error) {
	list, err := Objects()
	var b strings.Builder
	b.WriteString(header)
	for _, o := range list {
		if o.Function != nil {
			b.WriteString(o.Function.create())
		} else {
			b.WriteString(o.Text)
		}
	}
	writeBridge(&b)
	remarks, failed := Remarks()
	b.WriteString(Comments(append(remarks, serverRemarks()...)))
	return b.String(), errors.Join(err, failed)
}

// Objects lists the kernels, operators and aggregates, each after those that it uses.
func Objects() ([]Object, error) {
	var b objects
	for _, d := range kernels.All() {
		if d.Internal || builtin[d.Name] {
			continue
		}
		list := overloads(d)
		if len(list) == 0 {
			return nil, fmt.Errorf("the shape rule of %s accepts none of the types that the extension tries; see roles", d.Name)
		}
		b.text("\n-- %s(%s)\n", d.Name, d.Args)
		for _, o := range list {
			b.function(o.function(d.Name))
		}
		for _, f := range exact(d, list) {
			b.function(f)
		}
	}
	b.text("\n-- Operators on chunks; a number is double precision, and the chunk keeps its type.\n")
	for _, op := range operators {
		d := kernels.Lookup(op.kernel)
		name := "chunk_" + d.Name
		if !d.Internal {
			name = d.Name
		}
		for _, o := range overloads(d) {
			if !o.result.IsChunk() {
				continue
			}
			if d.Internal {
				b.function(o.function(name))
			}
			b.text("%s", o.operator(op.sign, name, op.commutes))
		}
	}
	writeGenerated(&b)
	err := writeAggregates(&b)
	return b, err
}

// overload is one SQL function.
type overload struct {
	names, types []string
	result       kernels.Type
	stable       bool // it depends on the step or the seed
	flops        float64
}

// exactTypes are arrays of exact numbers, such as ARRAY[1, 2.5]. Postgres can cast them to both types of chunks, and so
// chooses neither.
var exactTypes = []string{"smallint[]", "integer[]", "bigint[]", "numeric[]"}

// exact returns overloads that take such arrays as chunks of double precision, as the embedded store does. Only
// functions whose arguments are all numbers and chunks have them.
func exact(d *kernels.Def, list []overload) (out []*Function) {
	for _, o := range list {
		if slices.ContainsFunc(o.types, func(t string) bool { return strings.HasPrefix(t, "real") }) ||
			slices.ContainsFunc(o.names, func(a string) bool { return roles[a] != "" }) {
			continue
		}
		var chunks []int
		for i, t := range o.types {
			if strings.HasSuffix(t, "[]") {
				chunks = append(chunks, i)
			}
		}
		for _, types := range exactArgs(len(chunks)) {
			f := o.function(d.Name)
			args := make([]string, len(f.Args))
			for i, a := range f.Args {
				args[i] = a.Name
			}
			for k, i := range chunks {
				f.Args[i].Type = types[k]
				args[i] += "::" + o.types[i]
			}
			f.Body = "relgrad." + d.Name + "(" + strings.Join(args, ", ") + ")"
			out = append(out, f)
		}
	}
	return out
}

// exactArgs returns the types of n such arrays: all of one type; for two also integers with decimal fractions.
func exactArgs(n int) (out [][]string) {
	if n == 0 {
		return nil
	}
	for _, t := range exactTypes {
		out = append(out, slices.Repeat([]string{t}, n))
	}
	if n == 2 {
		out = append(out, []string{"integer[]", "numeric[]"}, []string{"numeric[]", "integer[]"})
	}
	return out
}

// names returns a kernel's argument names in SQL, without brackets and defaults.
func names(d *kernels.Def) []string {
	var out []string
	for _, a := range strings.Split(strings.NewReplacer("[", "", "]", "").Replace(d.Args), ",") {
		if name, _, _ := strings.Cut(strings.TrimSpace(a), " "); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// overloads lists the overloads of a kernel by argument types. First those with numbers only: in real and double
// precision if the kernel keeps real, else in double precision. Then, for both types of chunk, all mixtures of chunks
// and double precision numbers. Each number of arguments has overloads of its own, because a default cannot follow the
// type of its neighbour.
func overloads(d *kernels.Def) []overload {
	all := names(d)
	var out []overload
	for n := d.MinArgs; n <= min(d.MaxArgs, len(all)); n++ {
		out = append(out, numbers(d, all[:n])...)
		for _, chunk := range []string{"real[]", "double precision[]"} {
			out = append(out, try(d, all[:n], chunk, "double precision")...)
		}
	}
	return out
}

// numbers returns the overloads without a chunk.
func numbers(d *kernels.Def, args []string) []overload {
	if narrow := try(d, args, "real"); len(narrow) > 0 && narrow[0].result.Kind == kernels.Float32 {
		return try(d, args, "real", "double precision")
	}
	return try(d, args, "double precision")
}

// try lists the overloads whose free arguments take each of the choices in turn. If the first choice is a chunk type,
// only those with a chunk.
func try(d *kernels.Def, args []string, choices ...string) []overload {
	free := 0
	for _, a := range args {
		if roles[a] == "" {
			free++
		}
	}
	if free == 0 && choices[0] != "double precision" {
		return nil
	}
	var out []overload
	for i := range int(math.Pow(float64(len(choices)), float64(free))) {
		o := overload{names: args, stable: d.PerStep || d.PerCall}
		for _, a := range args {
			t := roles[a]
			if t == "" {
				t, i = choices[i%len(choices)], i/len(choices)
			}
			o.types = append(o.types, t)
		}
		if strings.HasSuffix(choices[0], "[]") && !slices.Contains(o.types, choices[0]) {
			continue
		}
		if o.infer(d) {
			out = append(out, o)
		}
	}
	return out
}

// Costs are in units of cpu_operator_cost, which is about the time of one scalar addition and of unitFlops operations
// of a kernel. A function on chunks spends about chunkCost on reading headers and making a result. Its chunks are
// assumed to have axes of length side.
const (
	side      = 16
	unitFlops = 40
	chunkCost = 5
)

// infer asks the kernel's shape rule for the result. It tries matrices and vectors, of small and of usual size.
func (o *overload) infer(d *kernels.Def) bool {
	for rank := 2; rank > 0; rank-- {
		e, err := d.Apply(o.dummies(rank)...)
		if err != nil || d.Name == "einsum" && e.Type.Shape == nil && o.chunks() ||
			d.Name == "matmul" && e.Type.Shape == nil {
			continue
		}
		o.result, o.flops = e.Type, flops(e)
		return true
	}
	return false
}

// chunks reports whether an argument is a chunk.
func (o *overload) chunks() bool {
	return slices.ContainsFunc(o.types, func(t string) bool { return t == "real[]" || t == "double precision[]" })
}

func flops(e *kernels.Expr) float64 {
	if e.Def == nil {
		return 0
	}
	types, sum := make([]kernels.Type, len(e.Args)), 0.0
	for i, a := range e.Args {
		types[i] = a.Type
		sum += flops(a)
	}
	return sum + e.Def.Flops(types, e.Attr, e.Type)
}

// dummies returns arguments of the overload's types.
func (o *overload) dummies(rank int) []*kernels.Expr {
	var out []*kernels.Expr
	shape, lengths := make([]int, rank), make([]int64, rank)
	for i := range shape {
		shape[i], lengths[i] = side, side
	}
	var spec []string
	for i, t := range o.types {
		col := kernels.Type{Kind: kernels.Float64}
		switch t {
		case "text":
			out = append(out, nil)
			continue
		case "bigint[]":
			out = append(out, kernels.IntArray(lengths...))
			continue
		case "bigint":
			out = append(out, kernels.Const(kernels.IntValue(1)))
			continue
		}
		if strings.HasPrefix(t, "real") {
			col.Kind = kernels.Float32
		}
		labels := ""
		if strings.HasSuffix(t, "[]") {
			col.Shape, labels = shape, "ijklmnop"[:rank]
		}
		spec = append(spec, labels)
		out = append(out, kernels.Column(kernels.Col{ID: kernels.ColumnID(i + 1)}, col))
	}
	for i := range out {
		if out[i] == nil {
			out[i] = kernels.Const(kernels.TextValue(strings.Join(spec, ",") + "->" +
				strings.Join(spec, "")[:min(rank, len(strings.Join(spec, "")))]))
		}
	}
	return out
}

// sqlType is the SQL name of a kernel's type.
func sqlType(t kernels.Type) string {
	if t.Shape != nil {
		return t.Kind.String() + "[]"
	}
	return t.Kind.String()
}

func (o *overload) cost() int {
	c := 1 + o.flops/unitFlops
	if o.result.Shape != nil || slices.ContainsFunc(o.types, func(t string) bool { return strings.HasSuffix(t, "[]") }) {
		c += chunkCost
	}
	return int(math.Round(c))
}

func (o *overload) function(name string) *Function {
	f := &Function{Name: name, Result: sqlType(o.result), Symbol: name, Cost: o.cost(), Stable: o.stable}
	for i, t := range o.types {
		f.Args = append(f.Args, Arg{o.names[i], t})
	}
	return f
}

func (o *overload) operator(sign, function string, commutes bool) string {
	if len(o.types) == 1 {
		return fmt.Sprintf("CREATE OPERATOR %s (RIGHTARG = %s, FUNCTION = %s);\n", sign, o.types[0], function)
	}
	more := ""
	if commutes {
		more = ", COMMUTATOR = " + sign
	}
	return fmt.Sprintf("CREATE OPERATOR %s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = %s%s);\n", sign, o.types[0],
		o.types[1], function, more)
}
