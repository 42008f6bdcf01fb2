package extension

import (
	"fmt"
	"strings"
)

// Arg is an argument of a function.
type Arg struct{ Name, Type string }

// Function is an SQL function of the extension. It is parallel safe; if Stable, only parallel restricted.
type Function struct {
	Name   string
	Args   []Arg
	Result string
	Symbol string // the C function is relgrad_<symbol>, one for all overloads of a name
	Cost   int    // in units of cpu_operator_cost
	Stable bool   // it depends on the step or the seed; else it is immutable
	Loose  bool   // it is called with NULL; else it is strict
	Body   string // an SQL expression that is called in place of a C function
}

// Signature is name(arguments) RETURNS result.
func (f *Function) Signature() string {
	args := make([]string, len(f.Args))
	for i, a := range f.Args {
		args[i] = a.Name + " " + a.Type
	}
	return f.Name + "(" + strings.Join(args, ", ") + ") RETURNS " + f.Result
}

// Attributes is what CREATE FUNCTION says about volatility, NULL and parallel workers.
func (f *Function) Attributes() string {
	switch {
	case f.Stable:
		return "STABLE STRICT PARALLEL RESTRICTED"
	case f.Loose:
		return "IMMUTABLE PARALLEL SAFE"
	}
	return "IMMUTABLE STRICT PARALLEL SAFE"
}

// create is the CREATE FUNCTION statement.
func (f *Function) create() string {
	if f.Body != "" {
		return fmt.Sprintf("CREATE FUNCTION %s LANGUAGE sql %s COST %d RETURN %s;\n", f.Signature(),
			f.Attributes(), f.Cost, f.Body)
	}
	return fmt.Sprintf("CREATE FUNCTION %s LANGUAGE c %s COST %d AS 'MODULE_PATHNAME', 'relgrad_%s';\n", f.Signature(),
		f.Attributes(), f.Cost, f.Symbol)
}

// Object is a part of the extension's script: a function, or another text (a statement or a comment).
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
