package extension

import (
	"fmt"
	"strings"
)

// Arg is an argument of a function.
type Arg struct{ Name, Type string }

// Function is an SQL function of the extension. It is parallel safe, but restricted where it is Stable.
type Function struct {
	Name   string
	Args   []Arg
	Result string
	Symbol string // the C function relgrad_<symbol>; the overloads of a name have one
	Cost   int    // in units of cpu_operator_cost
	Stable bool   // it depends on the step or the seed, else it is immutable
	Loose  bool   // it sees NULL, else it is strict
	Body   string // an expression that it stands for, in the place of Symbol
}

// Signature is name(arguments) RETURNS result.
func (f *Function) Signature() string {
	args := make([]string, len(f.Args))
	for i, a := range f.Args {
		args[i] = a.Name + " " + a.Type
	}
	return f.Name + "(" + strings.Join(args, ", ") + ") RETURNS " + f.Result
}

// Attributes are what CREATE FUNCTION says about volatility, NULL and parallel workers.
func (f *Function) Attributes() string {
	switch {
	case f.Stable:
		return "STABLE STRICT PARALLEL RESTRICTED"
	case f.Loose:
		return "IMMUTABLE PARALLEL SAFE"
	}
	return "IMMUTABLE STRICT PARALLEL SAFE"
}

// create is the statement for the function.
func (f *Function) create() string {
	if f.Body != "" {
		return fmt.Sprintf("CREATE FUNCTION %s LANGUAGE sql %s COST %d RETURN %s;\n", f.Signature(),
			f.Attributes(), f.Cost, f.Body)
	}
	return fmt.Sprintf("CREATE FUNCTION %s LANGUAGE c %s COST %d AS 'MODULE_PATHNAME', 'relgrad_%s';\n", f.Signature(),
		f.Attributes(), f.Cost, f.Symbol)
}

// Object is a part of the extension's script: a function, or a text (a statement or a comment) that no function is.
type Object struct {
	Function *Function
	Text     string
}

// objects collects a script.
type objects []Object

func (o *objects) text(format string, args ...any) {
	*o = append(*o, Object{Text: fmt.Sprintf(format, args...)})
}

func (o *objects) function(f *Function) { *o = append(*o, Object{Function: f}) }

// parseArgs reads arguments written as in SQL: "x real, axis bigint".
func parseArgs(text string) []Arg {
	var out []Arg
	for _, a := range strings.Split(text, ", ") {
		name, typ, _ := strings.Cut(a, " ")
		out = append(out, Arg{name, typ})
	}
	return out
}
