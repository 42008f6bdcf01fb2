package relgrad

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// args are the arguments of one of the engine's functions, by name.
type args struct {
	call  *ast.FuncCall
	names []string // in the order of the call
	value map[string]any
	expr  map[string]ast.Expr
}

func (a *args) text(name string) string {
	s, _ := a.value[name].(string)
	return s
}

func (a *args) list(name string) []string {
	switch v := a.value[name].(type) {
	case []string:
		return v
	case string:
		return nameList(v)
	}
	return nil
}

// nameList reads a text where a list of names is expected: one name, or, in braces, a list as arrays are written.
func nameList(s string) []string {
	text := strings.TrimSpace(s)
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") {
		return []string{s}
	}
	var out []string
	var word strings.Builder
	quoted, any := false, false
	for _, c := range []byte(text[1:]) {
		switch {
		case quoted && c != '"' || c != '"' && c != ',' && c != '}':
			word.WriteByte(c)
			any = true
		case c == '"':
			quoted, any = !quoted, true
		default: // the end of a name
			if name := strings.TrimSpace(word.String()); any {
				out = append(out, name)
			}
			word.Reset()
			any = false
		}
	}
	return out
}

// oneParam is the only element of a list.
func oneParam(list []string) (string, error) {
	if len(list) != 1 {
		return "", sqlerr.New(sqlerr.InvalidParameter, "check_gradient checks one parameter at a time, not %d", len(list))
	}
	return list[0], nil
}

// stageOf is the stage of explain_gradient, that of the SQL where none is given.
func stageOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return "sql"
}

func (a *args) int(name string, def int64) int64 {
	if i, ok := a.value[name].(int64); ok {
		return i
	}
	return def
}

func (a *args) step() *int64 {
	if i, ok := a.value["step"].(int64); ok {
		return &i
	}
	return nil
}

// argError says which argument of a call an error is about: one of its elements, where it is a list.
type argError struct {
	error
	arg  string
	item int
}

func (e *argError) Unwrap() error { return e.error }

// about marks an error as one about an argument.
func about(err error, arg string, item int) error {
	if err == nil {
		return nil
	}
	return &argError{err, arg, item}
}

// place gives an error about an argument that argument's position, unless it has a better one.
func (a *args) place(err error) error {
	var about *argError
	if !errors.As(err, &about) {
		return err
	}
	e := a.expr[about.arg]
	if e == nil && about.arg == "params" {
		e = a.expr["param"]
	}
	if l, ok := e.(*ast.ArrayLit); ok && about.item < len(l.Elems) {
		e = l.Elems[about.item]
	}
	if e != nil {
		at(about.error, int(e.Position()))
	}
	return about.error
}

// at gives an error without a position one.
func at(err error, pos int) error {
	var e *sqlerr.Error
	if errors.As(err, &e) && e.Pos < 0 && e.Text == nil {
		e.Pos = pos
	}
	return err
}

// newArgs names the arguments of a call and reads them: positional ones, the first skip of which the caller
// reads itself, and those of named (or all names, where known is nil).
func newArgs(call *ast.FuncCall, positional []string, skip int, known func(string) error) (*args, error) {
	a := &args{call: call, value: map[string]any{}, expr: map[string]ast.Expr{}}
	for i, e := range call.Args {
		name := call.ArgNames[i]
		if name == "" {
			if i >= len(positional) {
				return nil, sqlerr.At(int(e.Position()), sqlerr.UndefinedFunction, "%s takes at most %d arguments without names",
					call.Name, len(positional)).
					WithHint("Options are written name => value.")
			}
			name = positional[i]
		}
		if _, twice := a.expr[name]; twice {
			return nil, sqlerr.At(int(e.Position()), sqlerr.Syntax, "argument %q of %s is given twice", name, call.Name)
		}
		a.expr[name], a.names = e, append(a.names, name)
		if !slices.Contains(positional, name) {
			if err := known(name); err != nil {
				return nil, at(err, int(e.Position()))
			}
		}
		if i < skip && call.ArgNames[i] == "" {
			continue
		}
		if table, ok := bind.RowParam(e); ok && (name == "param" || name == "params") {
			a.value[name] = table
			continue
		}
		v, err := constant(e)
		if err != nil {
			return nil, err
		}
		a.value[name] = v
	}
	return a, nil
}

// dropNulls takes arguments that are NULL as if they were not given: a server does not tell them apart.
func (a *args) dropNulls() {
	a.names = slices.DeleteFunc(a.names, func(name string) bool {
		if a.value[name] != nil {
			return false
		}
		delete(a.value, name)
		return true
	})
}

// readArgs reads the arguments of gradient, backward and their like: positional ones that must be there, then
// the named ones, which may also be given by position.
func readArgs(call *ast.FuncCall, positional []string, skip int, named ...string) (*args, error) {
	all := append(slices.Clone(positional), named...)
	a, err := newArgs(call, all, skip, func(name string) error {
		e := sqlerr.New(sqlerr.UndefinedFunction, "%s has no argument %q", call.Name, name).
			WithDetail("It has %s.", strings.Join(all, ", "))
		if n := sqlerr.Nearest(name, all); n != "" {
			e = e.WithHint("Perhaps you meant %q.", n)
		}
		return e
	})
	if err != nil {
		return nil, err
	}
	for i, n := range positional {
		if v, ok := a.value[n]; ok && v == nil && i >= skip {
			return nil, sqlerr.At(int(a.expr[n].Position()), sqlerr.NullNotAllowed, "%s needs the argument %q, which is NULL",
				call.Name, n)
		} else if !ok && i >= skip {
			return nil, sqlerr.At(int(call.At), sqlerr.UndefinedFunction, "%s needs the argument %q", call.Name, n)
		}
	}
	for _, name := range a.names {
		if v, ok := a.value[name]; ok && v == nil && slices.Contains(named, name) {
			continue // as if it were not given
		}
		if err := a.check(name); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// check refuses an argument of another kind than its name's.
func (a *args) check(name string) error {
	if v, ok := a.value[name]; ok {
		if what := argKinds[name](v); what != "" {
			return sqlerr.At(int(a.expr[name].Position()), sqlerr.DatatypeMismatch, "%s of %s must be %s, not %s", name,
				a.call.Name, what, quoted(v))
		}
	}
	return nil
}

// argKinds say what an argument must be; "" where it is.
var argKinds = map[string]func(v any) string{"loss": isText, "stage": isText, "param": isNames, "params": isNames,
	"step": isInt, "seed": isInt, "samples": isInt,
	"batch": isText, "batch_size": isInt}

func isText(v any) string {
	if _, ok := v.(string); ok {
		return ""
	}
	return "a text"
}

func isNames(v any) string {
	switch v.(type) {
	case string, []string:
		return ""
	}
	return "a name or an array of names"
}

func isInt(v any) string {
	if _, ok := v.(int64); ok || v == nil {
		return ""
	}
	return "an integer"
}

// quoted prints a constant as SQL does.
func quoted(v any) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case bool:
		return strconv.FormatBool(x)
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case string:
		return sqltext.Text(x)
	case []string:
		parts := make([]string, len(x))
		for i, s := range x {
			parts[i] = sqltext.Text(s)
		}
		return "ARRAY[" + strings.Join(parts, ", ") + "]"
	}
	return "another type"
}
