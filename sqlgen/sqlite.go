package sqlgen

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// SQLite is the dialect of the embedded store: tables and names as package store writes them, kernels as
// store/lite/kernelfunc registers them, rg_int of store/lite as the range check of integers.
type SQLite struct{}

var _ Dialect = SQLite{}

// Table prints main.name or temp.name; schemas other than public stand before a dot in the name itself.
func (d SQLite) Table(t *ra.Table) string {
	switch t.Schema {
	case "", "public":
		return "main." + d.Ident(t.Name)
	case "pg_temp":
		return "temp." + d.Ident(t.Name)
	}
	return "main." + sqltext.Ident(Mangle(t.Schema)+"."+Mangle(t.Name))
}

// RowID prints the first name of the row id that no column takes.
func (SQLite) RowID(t *ra.Table) string {
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		taken := false
		for i := range t.Cols {
			taken = taken || strings.EqualFold(t.Cols[i].Name, name)
		}
		if !taken {
			return name
		}
	}
	return "rowid" // all three names are taken, so the row id cannot be read
}

// Fence keeps the planner from moving the columns up into the outer query.
func (SQLite) Fence() string { return "LIMIT -1" }

// Narrow is false: SQLite stores all integers alike.
func (SQLite) Narrow(*ra.TableColumn) bool { return false }

// Column prints a column; numeric is stored as its digits.
func (d SQLite) Column(of string, c *ra.TableColumn) string {
	x := of + d.Ident(c.Name)
	if strings.HasPrefix(c.PGType, "numeric") && c.Type.IsFloat() && c.Type.Shape == nil {
		return "relgrad_double(" + x + ")"
	}
	return x
}

// Ident prints a name, capitals marked by Mangle.
func (SQLite) Ident(name string) string {
	m := Mangle(name)
	if plainName(m) {
		return m
	}
	return sqltext.Ident(m)
}

// Mangle spells a name for SQLite, which folds case, so that names that differ only in case stay different: it puts a
// '^' before each capital and each '^'. Package store spells names in the same way.
func Mangle(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return r >= 'A' && r <= 'Z' || r == '^' }) < 0 {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; c >= 'A' && c <= 'Z' || c == '^' {
			b.WriteByte('^')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// Const prints a constant.
func (SQLite) Const(v kernels.Value) (string, error) {
	switch t := v.Type; {
	case v.Null:
		return "NULL", nil
	case v.Ints != nil:
		return sqltext.Plain(tensorInts(v.Ints)), nil
	case t.IsChunk():
		return chunkConst(v), nil
	case t.Kind == kernels.Text:
		return sqltext.Plain(v.T), nil
	case t.Kind == kernels.Bool && v.I != 0:
		return "TRUE", nil
	case t.Kind == kernels.Bool:
		return "FALSE", nil
	case t.Kind == kernels.Int:
		return strconv.FormatInt(v.I, 10), nil
	}
	return floatConst(v.X)
}

func tensorInts(x []int64) string {
	s := make([]string, len(x))
	for i := range x {
		s[i] = strconv.FormatInt(x[i], 10)
	}
	return "[" + strings.Join(s, ",") + "]"
}

func floatConst(x float64) (string, error) {
	switch {
	case math.IsNaN(x):
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "a NaN constant cannot be written for SQLite").
			WithDetail("SQLite makes NULL of it.")
	case math.IsInf(x, 1):
		return "9e999", nil
	case math.IsInf(x, -1):
		return "-9e999", nil
	}
	s := tensor.FormatFloat(x, tensor.Float64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s, nil
}

// chunkConst prints relgrad_zeros('shape=[3]'), relgrad_full(1.0, 'shape=[3]') or relgrad_chunk('{1,2}', …).
func chunkConst(v kernels.Value) string {
	at := sqltext.Plain(kernels.Attr{Shape: v.Type.Shape, Kind: v.Type.Kind}.Encode())
	same := true
	for _, x := range v.F {
		same = same && math.Float64bits(x) == math.Float64bits(v.F[0])
	}
	if same {
		if math.Float64bits(v.F[0]) == 0 {
			return "relgrad_zeros(" + at + ")"
		}
		if x, err := floatConst(v.F[0]); err == nil {
			return "relgrad_full(" + x + ", " + at + ")"
		}
	}
	return "relgrad_chunk(" + sqltext.Plain((&tensor.Tensor{Shape: v.Type.Shape, Data: v.F}).String()) + ", " + at + ")"
}

// Same prints IS.
func (SQLite) Same(l, r string) string { return l + " IS " + r }

const rangeOpen, rangeClose = "rg_int(", ", 8)"

var operators = map[string]string{"add": " + ", "sub": " - ", "mul": " * ", "div": " / ", "mod": " % "}

// Arith prints operators. In SQLite an integer that overflows becomes a float, which rg_int refuses, and division by
// zero gives NULL, so only division by a constant is native.
func (SQLite) Arith(e *kernels.Expr, args []string) (s string, call bool) {
	op := operators[e.Def.Name]
	switch e.Def.Name {
	case "power":
		return "", false
	case "div", "mod":
		c := e.Args[1]
		if !c.IsConst() || c.Const.Null || c.Const.Float() == 0 || c.Type.Kind == kernels.Int && c.Const.I == -1 {
			return "", false
		}
		return args[0] + op + args[1], false
	}
	if e.Type.Kind == kernels.Int {
		for i, a := range args {
			if in, ok := strings.CutPrefix(a, rangeOpen); ok && e.Args[i].Type.Kind == kernels.Int {
				args[i] = "(" + strings.TrimSuffix(in, rangeClose) + ")" // one outermost check finds all overflows
			}
		}
	}
	if s = "-" + args[0]; len(args) == 2 {
		s = args[0] + op + args[1]
	}
	if e.Type.Kind == kernels.Int {
		return rangeOpen + s + rangeClose, true
	}
	return s, false
}

// Cast prints a cast between different types.
func (d SQLite) Cast(e *kernels.Expr, arg string) string {
	from, to := e.Args[0].Type, e.Type
	switch {
	case from.Shape != nil:
	case from.IsFloat() && to.IsFloat(), from.Kind == kernels.Bool && to.Kind == kernels.Int:
		return arg
	case from.Kind == kernels.Int && to.IsFloat():
		return "CAST(" + arg + " AS REAL)"
	case from.Kind == kernels.Int && to.Kind == kernels.Bool:
		return "(" + arg + " <> 0)"
	case from.Kind == kernels.Int && to.Kind == kernels.Text:
		return "CAST(" + arg + " AS TEXT)"
	case from.Kind == kernels.Bool && to.Kind == kernels.Text:
		return "CASE " + arg + " WHEN TRUE THEN 'true' WHEN FALSE THEN 'false' END"
	case from.Kind == kernels.Float32 && to.Kind == kernels.Text:
		return "relgrad_real_text(" + arg + ")"
	}
	s, _ := d.Call(e, []string{arg}, Draw{}) // it never fails
	return s
}

// Call prints relgrad_name(arguments[, seed, step][, 'attributes']).
func (SQLite) Call(e *kernels.Expr, args []string, draw Draw) (string, error) {
	d := e.Def
	if d.PerStep || d.PerCall {
		args = append(args, draw.Seed, draw.Step)
	}
	if d.Static() {
		args = append(args, sqltext.Plain(e.Attr.Encode()))
	}
	return "relgrad_" + d.Name + "(" + strings.Join(args, ", ") + ")", nil
}

// Aggregate prints relgrad's sum for floats and its extremes for chunks, else SQLite's own.
func (SQLite) Aggregate(fn ra.AggFn, t kernels.Type, arg string) string {
	switch {
	case fn == ra.Count:
		return "count(" + arg + ")"
	case fn != ra.Sum && t.IsChunk():
		return fmt.Sprintf("relgrad_%v_agg(%s)", fn, arg)
	case fn == ra.Sum && t.IsFloat():
		return "relgrad_sum(" + arg + ")"
	}
	return fmt.Sprintf("%v(%s)", fn, arg)
}

// Moving prints a sum of floats that adds the rows of each frame anew.
func (d SQLite) Moving(t kernels.Type, arg string) string {
	if t.IsFloat() {
		return "relgrad_sum_frame(" + arg + ")"
	}
	return d.Aggregate(ra.Sum, t, arg)
}

// Literal prints the column as it is.
func (SQLite) Literal(_ kernels.Type, x string) string { return x }

// Derived prints (SELECT items).
func (SQLite) Derived(items string) string { return "(SELECT " + items + ")" }

// Output prints the column as it is: SQLite's values carry their types.
func (SQLite) Output(_ kernels.Type, x string) string { return x }
