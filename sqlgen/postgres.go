package sqlgen

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// Postgres is the dialect of a PostgreSQL server with relgrad's extension. Inside the text every scalar float is double
// precision, every integer operand is bigint, and text has the collation "C". Result columns are cast to their types.
// Kernels and sums are functions of the extension, which follow IEEE 754 where Postgres's own functions raise errors;
// only generated SQL calls relgrad.gen_….
type Postgres struct{}

var _ Dialect = Postgres{}

// Table prints schema.name; no schema is public.
func (d Postgres) Table(t *ra.Table) string {
	schema := t.Schema
	if schema == "" {
		schema = "public"
	}
	return d.Ident(schema) + "." + d.Ident(t.Name)
}

// RowID numbers a row by its place in the table's file.
func (Postgres) RowID(*ra.Table) string { return "relgrad.gen_row_id(ctid)" }

// Column casts a column whose declared type differs from the one that it is computed with. How a date or time is
// printed depends on settings of the session, such as DateStyle.
func (d Postgres) Column(of string, c *ra.TableColumn) string {
	x := of + d.Ident(c.Name)
	switch {
	case c.Type.IsChunk():
		return x
	case c.Type.Kind == kernels.Text && (c.PGType != "text" || c.Type.Of != nil && c.Type.Of.Read != ""):
		return c.Type.Of.SQL(x) + ` COLLATE "C"`
	case c.Type.Kind == kernels.Text:
		return x + ` COLLATE "C"`
	case c.Type.Kind == kernels.Bool:
		return x
	}
	if t := scalarType(c.Type); c.PGType != t {
		return x + "::" + t
	}
	return x
}

// Fence keeps the planner from moving the columns up into the outer query.
func (Postgres) Fence() string { return "OFFSET 0" }

// Narrow reports integer and smallint.
func (Postgres) Narrow(c *ra.TableColumn) bool {
	return c.Type.Kind == kernels.Int && c.Type.Shape == nil && (c.PGType == "integer" || c.PGType == "smallint")
}

// scalarType is the type that scalars of t are computed with.
func scalarType(t kernels.Type) string {
	if t.IsFloat() {
		return "double precision"
	}
	return t.Kind.String()
}

// textType is the type that values of t have inside of the text.
func textType(t kernels.Type) string {
	if t.Shape != nil {
		return t.Kind.String() + "[]"
	}
	return scalarType(t)
}

// Ident prints a name.
func (Postgres) Ident(name string) string {
	if plainName(name) {
		return name
	}
	return sqltext.Ident(name)
}

// Const prints a constant. Its type is the one that Postgres gives to the text (integer, numeric); it becomes the
// wanted one where it meets a column. See Literal.
func (Postgres) Const(v kernels.Value) (string, error) {
	switch t := v.Type; {
	case v.Null:
		return "NULL::" + textType(t), nil
	case v.Ints != nil:
		return intArray(v.Ints), nil
	case t.IsChunk():
		return pgChunk(v), nil
	case t.Kind == kernels.Text:
		return sqltext.Text(v.T), nil
	case t.Kind == kernels.Bool && v.I != 0:
		return "TRUE", nil
	case t.Kind == kernels.Bool:
		return "FALSE", nil
	case t.Kind == kernels.Int && v.I == math.MinInt64:
		return "'-9223372036854775808'::bigint", nil
	case t.Kind == kernels.Int:
		return strconv.FormatInt(v.I, 10), nil
	}
	s := tensor.FormatFloat(v.X, tensor.Float64)
	switch {
	case math.IsInf(v.X, 0) || math.IsNaN(v.X) || s == "-0": // numeric has no negative zero
		return sqltext.Plain(s) + "::double precision", nil
	case !strings.ContainsAny(s, ".e"):
		s += ".0"
	}
	return s, nil
}

func intArray(x []int64) string {
	if len(x) == 0 {
		return "'{}'::bigint[]"
	}
	s := make([]string, len(x))
	for i := range x {
		s[i] = strconv.FormatInt(x[i], 10)
	}
	return "ARRAY[" + strings.Join(s, ", ") + "]"
}

// dims prints a shape, or indices that count from by.
func dims(x []int, by int) string {
	y := make([]int64, len(x))
	for i := range x {
		y[i] = int64(x[i] + by)
	}
	return intArray(y)
}

// pgChunk prints relgrad.full(…) for a chunk of equal elements, else an array constant.
func pgChunk(v kernels.Value) string {
	const small = 8
	same := len(v.F) > small
	for _, x := range v.F {
		same = same && math.Float64bits(x) == math.Float64bits(v.F[0])
	}
	if !same {
		return sqltext.Plain((&tensor.Tensor{Shape: v.Type.Shape, Data: v.F}).String()) + "::" + textType(v.Type)
	}
	x, _ := Postgres{}.Const(kernels.FloatValue(v.F[0])) // a number never fails
	s := fmt.Sprintf("relgrad.full(%s, %s)", dims(v.Type.Shape, 0), x)
	if v.Type.Kind == kernels.Float32 {
		s = "relgrad.gen_to_real(" + s + ")"
	}
	return s
}

// Literal casts an expression of constants.
func (Postgres) Literal(t kernels.Type, x string) string {
	if t.Kind == kernels.Text {
		return x + `::pg_catalog.text COLLATE "C"`
	}
	return x + "::" + textType(t)
}

// Same prints IS NOT DISTINCT FROM.
func (Postgres) Same(l, r string) string { return l + " IS NOT DISTINCT FROM " + r }

// Derived prints a sub-query of one row. OFFSET 0 keeps Postgres from inlining the items at each place of their use.
func (Postgres) Derived(items string) string { return "(SELECT " + items + " OFFSET 0) AS x" }

// Arith prints integer operators, which raise the same errors as the kernels. Operators on floats raise errors where
// IEEE 754 has infinities, so of these only the sign is native.
func (Postgres) Arith(e *kernels.Expr, args []string) (s string, call bool) {
	switch e.Def.Name {
	case "neg":
		return "-" + args[0], false
	case "power":
		return "relgrad.power(" + strings.Join(args, ", ") + ")", true
	}
	if e.Type.IsFloat() {
		return "relgrad.gen_" + e.Def.Name + "(" + strings.Join(args, ", ") + ")", true
	}
	if literal(e.Args[0]) && literal(e.Args[1]) {
		args[0] += "::bigint"
	}
	return args[0] + operators[e.Def.Name] + args[1], false
}

// Cast prints a cast between different types.
func (d Postgres) Cast(e *kernels.Expr, arg string) string {
	from, to := e.Args[0].Type, e.Type
	switch {
	case to.IsChunk() && to.Kind == kernels.Float32:
		return "relgrad.gen_to_real(" + arg + ")"
	case from.IsFloat() && to.IsFloat() && from.Shape == nil: // inside of the text both are double precision
		return arg
	case from.Kind == kernels.Int && to.Kind == kernels.Bool:
		return "(" + arg + " <> 0)"
	case from.Kind == kernels.Bool && to.Kind == kernels.Int:
		return arg + "::integer::bigint"
	case from.Kind == kernels.Float32 && to.Kind == kernels.Text:
		return "relgrad.gen_to_real(" + arg + `)::pg_catalog.text COLLATE "C"`
	case to.Kind == kernels.Text:
		if literal(e.Args[0]) && from.IsFloat() {
			arg += "::double precision"
		}
		return arg + `::pg_catalog.text COLLATE "C"`
	}
	return arg + "::" + textType(to)
}

// own are kernels for which Postgres has a function with the same meaning that raises no error.
var own = map[string]string{"ceil": "", "floor": "", "round": "", "trunc": "", "greatest": "",
	"least": "", "length": "bigint"}

// Call prints relgrad.name(arguments, attributes).
func (d Postgres) Call(e *kernels.Expr, args []string, draw Draw) (string, error) {
	if cast, isOwn := own[e.Def.Name]; isOwn || e.Type.Kind == kernels.Int && e.Def.Ints != nil {
		s := e.Def.Name + "(" + strings.Join(args, ", ") + ")"
		if cast != "" {
			s += "::" + cast
		}
		return s, nil
	}
	if s := d.form(e, args); s != "" {
		return s, nil
	}
	s, wide, err := d.function(e, args, draw)
	if e.Type.IsChunk() && e.Type.Kind == kernels.Float32 && wide {
		s = "relgrad.gen_to_real(" + s + ")"
	}
	return s, err
}

// form prints kernels for which Postgres has a form of its own.
func (d Postgres) form(e *kernels.Expr, args []string) string {
	switch e.Def.Name {
	case "lower", "upper", "lower_ascii", "upper_ascii": // the collation "C" knows only ASCII letters
		return strings.TrimSuffix(e.Def.Name, "_ascii") + "(" + operand(args[0]) + ` COLLATE ` +
			d.locale(e.Args[0].Type.Of) + `) COLLATE "C"`
	case "like":
		return "(" + operand(args[0]) + " LIKE " + operand(args[1]) + ")"
	case "plain":
		return plainText(operand(args[0])) + ` COLLATE "C"`
	case "order_key":
		return "split_part(" + operand(args[0]) + `, E'\x1f', 1) COLLATE "C"`
	case "midnight":
		return midnight(operand(args[0]))
	case "textcat":
		return "(" + operand(args[0]) + " || " + operand(args[1]) + ")"
	case "int_array":
		return d.array(e.Args, args)
	case "subscript":
		s := "(" + args[0] + ")"
		for _, i := range e.Attr.From {
			s += fmt.Sprintf("[%d]", i+1)
		}
		for _, i := range args[1:] {
			s += "[" + i + "]"
		}
		if e.Type.Kind == kernels.Float32 {
			s += "::double precision"
		}
		return s
	case "slice":
		s := "(" + args[0] + ")"
		for i, from := range e.Attr.From {
			s += fmt.Sprintf("[%d:%d]", from+1, from+e.Attr.Shape[i])
		}
		return s
	case "to_real":
		s := "relgrad.gen_to_real(" + args[0] + ")"
		if e.Type.Shape == nil {
			s += "::double precision"
		}
		return s
	}
	return ""
}

// locale is the collation by which letters change their case.
func (d Postgres) locale(of *kernels.Named) string {
	if of != nil && of.Collation != "" {
		return "pg_catalog." + d.Ident(of.Collation)
	}
	return `"default"`
}

// midnight is the kernel of that name; see it.
func midnight(x string) string {
	own := plainText(x)
	return "CASE WHEN " + x + " LIKE '%infinity' THEN " + x + " WHEN strpos(" + x + ", E'\\x1f') = 0 THEN " +
		x + " || ' 00:00:00'" +
		" ELSE split_part(" + x + ", E'\\x1f', 1) || ' 00:00:00.000000' || E'\\x1f' || split_part(" + own + ", ' ', 1)" +
		" || CASE WHEN " + x + " LIKE '% BC' THEN ' 00:00:00 BC' ELSE ' 00:00:00' END END"
}

// operand puts an argument of a function, which may be any expression, between parentheses.
func operand(arg string) string {
	if plainName(arg) {
		return arg
	}
	return "(" + arg + ")"
}

// array prints ARRAY[…], NULL where one of the elements is.
func (d Postgres) array(x []*kernels.Expr, args []string) string {
	if len(args) == 0 {
		return "'{}'::bigint[]"
	}
	var valid []string
	for i := range x {
		if x[i].Type.Nullable {
			valid = append(valid, "("+args[i]+") IS NOT NULL")
		}
	}
	s := "ARRAY[" + strings.Join(args, ", ") + "]::bigint[]"
	if valid == nil {
		return s
	}
	return "CASE WHEN " + strings.Join(valid, " AND ") + " THEN " + s + " END"
}

// function prints a call of one of the extension's functions. wide: the result is double precision[] though the
// kernel's may be real[].
func (d Postgres) function(e *kernels.Expr, args []string, draw Draw) (s string, wide bool, err error) {
	name, at := e.Def.Name, e.Attr
	for _, a := range e.Args {
		wide = wide || a.Type.IsChunk() && a.Type.Kind == kernels.Float64
	}
	switch name {
	case "add", "sub", "mul", "div", "neg":
		name = "chunk_" + name
	case "eq_mask", "select", "decimal":
		name = "gen_" + name
	case "stack_row":
		name, args = "gen_stack_row", append(args, strconv.FormatInt(at.Int, 10))
	case "reshape", "concat_axis", "sum_elements", "mean_elements", "max_elements", "logsumexp", "one_hot",
		"random_uniform", "random_normal", "glorot_uniform":
		args = withAttributes(name, args, at)
	case "matmul":
		if e.Type.Shape == nil {
			name = "dot"
		}
	case "einsum":
		return d.einsum(e, args), wide, nil
	default:
		if e.Def.Internal && (e.Def.Elem != nil || e.Def.Lane != nil) || name == "cross_entropy_slope" { // derivatives
			return "relgrad.gen_" + name + "(" + strings.Join(args, ", ") + ")", wide, nil
		}
		switch f := d.internal(e, &args, draw); {
		case f == identity:
			return operand(args[0]), false, nil
		case f != "":
			name, wide = f, wide || e.Args[0].Type.Shape == nil
		case e.Attr.Encode() != "":
			return "", false, sqlerr.New(sqlerr.Internal,
				"internal error: the dialect Postgres does not know the attributes of kernel %s", name)
		}
	}
	return "relgrad." + name + "(" + strings.Join(args, ", ") + ")", wide, nil
}

// withAttributes adds to the arguments of a call those that are attributes of the kernel.
func withAttributes(name string, args []string, at kernels.Attr) []string {
	switch name {
	case "reshape":
		return append(args, dims(at.Shape, 0))
	case "one_hot":
		return append(args, strconv.FormatInt(at.Int, 10))
	case "random_uniform", "random_normal", "glorot_uniform":
		return slices.Insert(args, 0, dims(at.Shape, 0))
	}
	if at.Axis >= 0 || name == "concat_axis" {
		args = append(args, strconv.Itoa(at.Axis+1))
	}
	return args
}

const identity = "itself"

// internal completes the arguments of kernels that only derivatives and draws use, and returns the names of their
// functions.
func (d Postgres) internal(e *kernels.Expr, args *[]string, draw Draw) string {
	a, at := *args, e.Attr
	switch e.Def.Name {
	case "sum_to":
		switch {
		case e.Args[0].Type.Shape == nil:
			return identity
		case at.Shape == nil:
			return "sum_elements"
		}
		*args = append(a, dims(at.Shape, 0))
	case "expand_to":
		*args = append(a, dims(at.Shape, 0))
	case "pad":
		*args = append(a, dims(at.Shape, 0), dims(at.From, 1))
	case "put":
		index := dims(at.From, 1)
		if at.From == nil {
			index = d.array(e.Args[1:], a[1:])
		}
		*args = []string{a[0], dims(at.Shape, 0), index}
	case "drop_mask":
		x, _ := d.Const(kernels.FloatValue(at.Num)) // a number never fails
		*args = append(a, x, strconv.FormatInt(at.Int, 10), draw.Seed, draw.Step)
		if at.Shape != nil {
			*args = append(*args, dims(at.Shape, 0))
		}
	case "row_key":
		*args = []string{d.array(e.Args, keyParts(e.Args, a))}
	default:
		return ""
	}
	return "gen_" + e.Def.Name
}

// keyParts casts each part of a key to bigint.
func keyParts(x []*kernels.Expr, args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		switch {
		case x[i].Type.Kind == kernels.Text:
			out[i] = "relgrad.gen_text_key(" + a + ")"
		case x[i].Type.IsFloat():
			out[i] = "relgrad.gen_float_key(" + a + ")"
		case x[i].Type.Kind == kernels.Bool:
			out[i] = "(" + a + ")::integer"
		default:
			out[i] = a
		}
	}
	return out
}

// einsum prints a call. The function returns chunks only, so a result without labels is the sum over one label that is
// kept.
func (d Postgres) einsum(e *kernels.Expr, args []string) string {
	spec, total := e.Attr.Spec, e.Type.Shape == nil
	if !slices.ContainsFunc(e.Args, func(a *kernels.Expr) bool { return a.Type.Shape != nil }) { // a product of numbers
		s := operand(args[0])
		for _, a := range args[1:] {
			s = "relgrad.gen_mul(" + s + ", " + a + ")"
		}
		return s
	}
	if total {
		spec += strings.TrimLeft(spec, ",")[:1]
		for i, a := range e.Args {
			if a.Type.IsChunk() && a.Type.Kind == kernels.Float32 { // else sums are rounded to real
				args[i] = operand(args[i]) + "::double precision[]"
			}
		}
	}
	s := "relgrad.einsum(" + strings.Join(append([]string{sqltext.Plain(spec)}, args...), ", ") + ")"
	if total {
		s = "relgrad.sum_elements(" + s + ")"
	}
	return s
}

// Aggregate prints relgrad's sum for floats and its extremes for chunks, else Postgres's own.
func (Postgres) Aggregate(fn ra.AggFn, t kernels.Type, arg string) string {
	switch {
	case fn == ra.Count: // a user's count(type) would be preferred to count("any")
		return "pg_catalog.count(" + arg + ")"
	case fn != ra.Sum && t.IsChunk():
		return fmt.Sprintf("relgrad.%v_agg(%s)", fn, arg)
	case fn == ra.Sum && t.IsFloat():
		return "relgrad.sum(" + arg + ")"
	case fn == ra.Sum:
		return "sum(" + arg + ")::bigint"
	}
	return fmt.Sprintf("%v(%s)", fn, arg)
}

// Moving prints the same sum: Postgres adds the rows of each frame anew.
func (d Postgres) Moving(t kernels.Type, arg string) string { return d.Aggregate(ra.Sum, t, arg) }

// Output casts a result column to its type.
func (Postgres) Output(t kernels.Type, x string) string {
	switch {
	case t.Kind == kernels.Float32 && t.Shape == nil:
		return "relgrad.gen_to_real(" + x + ")"
	case t.Shape != nil:
		return x + "::" + t.Kind.String() + "[]"
	case t.Kind == kernels.Text && t.Of != nil && t.Of.Keyed:
		return plainText(x)
	}
	return x + "::" + t.Kind.String()
}

// plainText removes the prefix by which a keyed text is ordered.
func plainText(x string) string { return "substr(" + x + ", strpos(" + x + ", E'\\x1f') + 1)" }
