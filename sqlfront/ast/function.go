package ast

import (
	"errors"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// String prints a type as Postgres names it, whatever its number of dimensions.
func (t TypeName) String() string {
	if t.Dims > 0 {
		return t.Name + "[]"
	}
	return t.Name
}

// Signature is f(integer,text), as in CONTEXT lines.
func (fn *CreateFunction) Signature() string {
	ts := lists.Map(fn.Inputs(), func(p FuncParam) string { return p.Type.String() })
	return fn.Name + "(" + strings.Join(ts, ",") + ")"
}

// Named reports whether a statement means this function by these arguments: the types of its inputs, or for a procedure
// of all its parameters.
func (fn *CreateFunction) Named(args []FuncParam) bool {
	types := func(list []FuncParam, outputs bool) (out []string) {
		for _, p := range list {
			if p.Mode != "out" || outputs {
				out = append(out, p.Type.String())
			}
		}
		return out
	}
	return slices.Equal(types(fn.Params, false), types(args, false)) ||
		fn.Procedure && slices.Equal(types(fn.Params, true), types(args, true))
}

// Inputs lists the parameters that take arguments.
func (fn *CreateFunction) Inputs() []FuncParam {
	return slices.DeleteFunc(slices.Clone(fn.Params), func(p FuncParam) bool { return !fn.Procedure && p.Mode == "out" })
}

// Arrange orders a call's arguments by the inputs; nil stands for the default.
func (fn *CreateFunction) Arrange(call *FuncCall, text *Text) ([]Expr, error) {
	params := fn.Inputs()
	kind := "function"
	if fn.Procedure {
		kind = "procedure"
	}
	fail := func(detail string, args ...any) error {
		e := sqlerr.At(int(call.At), sqlerr.UndefinedFunction, "%s %s(%d arguments) does not exist", kind, call.Name,
			len(call.Args)).WithDetail(detail, args...)
		return sqlerr.In(e.WithHint("Its signature is %s.", fn.Signature()), text)
	}
	if len(call.Args) > len(params) {
		return nil, fail("It takes %d arguments.", len(params))
	}
	out := make([]Expr, len(params))
	for i, a := range call.Args {
		at := i
		if call.ArgNames != nil && call.ArgNames[i] != "" {
			name := call.ArgNames[i]
			if at = slices.IndexFunc(params, func(p FuncParam) bool { return p.Name == name }); at < 0 {
				return nil, fail("It has no parameter named \"%s\".", name)
			}
		}
		if out[at] != nil {
			return nil, fail("Parameter \"%s\" is given twice.", params[at].Name)
		}
		out[at] = a
	}
	for i, p := range params {
		if out[i] == nil && p.Default == nil {
			return nil, fail("There is no value for parameter %d, \"%s\".", i+1, p.Name)
		}
	}
	return out, nil
}

// Inlining is the CONTEXT line of errors in an inlined body.
func (fn *CreateFunction) Inlining() string {
	return "SQL function \"" + fn.Name + "\" during inlining"
}

// InContext adds the function to an error in its body, which is inlined at at. Errors in arguments stay unchanged.
func (fn *CreateFunction) InContext(err error, at Pos) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Context != "" || e.Pos != int(at) {
		return err
	}
	c := *e
	c.Context = fn.Inlining()
	return &c
}

// Outputs lists the parameters that return results.
func (fn *CreateFunction) Outputs() []FuncParam {
	return slices.DeleteFunc(slices.Clone(fn.Params), func(p FuncParam) bool { return p.Mode == "in" })
}
