package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// Args are the arguments of one of the engine's functions, by name.
type Args struct {
	function string
	Where    int      // position of the call; -1: it has no text here
	Names    []string // in the order of the call
	Value    map[string]any
	expr     map[string]ast.Expr
}

// Values makes the arguments of a call that has no text here. Values that are NULL are omitted.
func Values(function string, values map[string]any) *Args {
	return &Args{function: function, Where: -1, Names: slices.Sorted(maps.Keys(values)), Value: values}
}

func (a *Args) Text(name string) string {
	switch x := a.Value[name].(type) {
	case string:
		return x
	case nil:
		return ""
	default:
		return fmt.Sprint(x)
	}
}

// Position is the position of an argument, -1 where the call has no text here.
func (a *Args) Position(name string) int {
	if e := a.expr[name]; e != nil {
		return int(e.Position())
	}
	return -1
}

// needs are the arguments of each function that must not be NULL.
var needs = map[string][]string{"gradient": {"loss"}, "backward": {"loss", "params"},
	"check_gradient": {"loss", "param"}, "explain_gradient": {"loss", "param"}, "distribute": {"what", "by"},
	"undistribute": {"what"}}

// Missing refuses a call that lacks one of these.
func (a *Args) Missing() error {
	for _, name := range needs[a.function] {
		if a.Value[name] == nil {
			return sqlerr.New(sqlerr.NullNotAllowed, "%s needs the argument %q, which is NULL", a.function, name)
		}
	}
	return nil
}

// CheckOptions reads the options of check_gradient.
func (a *Args) CheckOptions() CheckOptions {
	return CheckOptions{Samples: int(a.Int("samples", 100)), Step: a.Step(), Seed: a.Int("seed", 0),
		Batch: a.Text("batch"), BatchSize: a.Int("batch_size", 0)}
}

func (a *Args) List(name string) []string {
	switch v := a.Value[name].(type) {
	case []string:
		return v
	case string:
		return nameList(v)
	}
	return nil
}

// nameList splits a text that is a name or, in braces, a list of names as arrays are written.
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

// OneParam returns the element of a list that must have one.
func OneParam(list []string) (string, error) {
	if len(list) != 1 {
		return "", sqlerr.New(sqlerr.InvalidParameter, "check_gradient checks one parameter at a time, not %d", len(list))
	}
	return list[0], nil
}

// StageOf is the stage of explain_gradient; the default is "sql".
func StageOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return "sql"
}

func (a *Args) Int(name string, def int64) int64 {
	if i, ok := a.Value[name].(int64); ok {
		return i
	}
	return def
}

func (a *Args) Step() *int64 {
	if i, ok := a.Value["step"].(int64); ok {
		return &i
	}
	return nil
}

// ArgError is an error about an argument of a call, or about one element of a list.
type ArgError struct {
	Err  error
	arg  string
	item int
}

func (e *ArgError) Error() string { return e.Err.Error() }
func (e *ArgError) Unwrap() error { return e.Err }

// About makes an error an ArgError.
func About(err error, arg string, item int) error {
	if err == nil {
		return nil
	}
	return &ArgError{err, arg, item}
}

// Place gives an error about an argument the argument's position, unless it has a better one.
func (a *Args) Place(err error) error {
	var about *ArgError
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
		At(about.Err, int(e.Position()))
	}
	return about.Err
}

// At gives an error a position unless it has one.
func At(err error, pos int) error {
	var e *sqlerr.Error
	if errors.As(err, &e) && e.Pos < 0 && e.Text == nil {
		e.Pos = pos
	}
	return err
}

// NewArgs reads the arguments of a call by name: positional ones, of which the caller reads the first skip itself, and
// named ones that known accepts (nil: all).
func NewArgs(call *ast.FuncCall, positional []string, skip int, known func(string) error) (*Args, error) {
	a := &Args{function: call.Name, Where: int(call.At), Value: map[string]any{}, expr: map[string]ast.Expr{}}
	for i, e := range call.Args {
		name := call.ArgNames[i]
		if name == "" {
			if i >= len(positional) {
				return nil, sqlerr.At(int(e.Position()), sqlerr.UndefinedFunction, "%s takes at most %d arguments without names",
					call.Name, len(positional)).WithHint("Options are written name => value.")
			}
			name = positional[i]
		}
		if _, twice := a.expr[name]; twice {
			return nil, sqlerr.At(int(e.Position()), sqlerr.Syntax, "argument %q of %s is given twice", name, call.Name)
		}
		a.expr[name], a.Names = e, append(a.Names, name)
		if !slices.Contains(positional, name) {
			if err := known(name); err != nil {
				return nil, At(err, int(e.Position()))
			}
		}
		if i < skip && call.ArgNames[i] == "" {
			continue
		}
		if table, ok := bind.RowParam(e); ok && (name == "param" || name == "params") {
			a.Value[name] = table
			continue
		}
		v, err := constant(e)
		if err != nil {
			return nil, err
		}
		a.Value[name] = v
	}
	return a, nil
}

// DropNulls drops arguments that are NULL: a server does not distinguish them from missing ones.
func (a *Args) DropNulls() {
	a.Names = slices.DeleteFunc(a.Names, func(name string) bool {
		if a.Value[name] != nil {
			return false
		}
		delete(a.Value, name)
		return true
	})
}

// ReadArgs reads the arguments of gradient, backward and similar functions: positional ones, which are required, then
// named ones, which may also be given by position.
func ReadArgs(call *ast.FuncCall, positional []string, skip int, named ...string) (*Args, error) {
	all := append(slices.Clone(positional), named...)
	a, err := NewArgs(call, all, skip, func(name string) error {
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
		if v, ok := a.Value[n]; ok && v == nil && i >= skip {
			return nil, sqlerr.At(int(a.expr[n].Position()), sqlerr.NullNotAllowed, "%s needs the argument %q, which is NULL",
				call.Name, n)
		} else if !ok && i >= skip {
			return nil, sqlerr.At(int(call.At), sqlerr.UndefinedFunction, "%s needs the argument %q", call.Name, n)
		}
	}
	for _, name := range a.Names {
		if v, ok := a.Value[name]; ok && v == nil && slices.Contains(named, name) {
			continue // NULL counts as missing
		}
		if err := a.Check(name); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Check refuses an argument of the wrong kind.
func (a *Args) Check(name string) error {
	if v, ok := a.Value[name]; ok {
		if what := argKinds[name](v); what != "" {
			return sqlerr.At(a.Position(name), sqlerr.DatatypeMismatch, "%s of %s must be %s, not %s", name,
				a.function, what, quoted(v))
		}
	}
	return nil
}

// argKinds check the arguments by name: they return what the argument must be, "" where it is that.
var argKinds = map[string]func(v any) string{"loss": isText, "stage": isText, "param": isNames, "params": isNames,
	"step": isInt, "seed": isInt, "samples": isInt,
	"batch": isText, "batch_size": isInt, "dir": isText, "file": isText, "version": isInt, "name": isText, "slice": isText}

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
		parts := lists.Map(x, sqltext.Text)
		return "ARRAY[" + strings.Join(parts, ", ") + "]"
	}
	return "another type"
}

// constant reads an argument that is a constant: nil, bool, int64, float64, string or []string.
func constant(e ast.Expr) (any, error) {
	switch x := e.(type) {
	case *ast.Literal:
		return literal(x)
	case *ast.Bound:
		if v, ok, err := boundConstant(x); ok {
			return v, err
		}
	case *ast.Unary:
		if call := x.Function(); call != nil {
			return constant(call)
		}
		v, err := constant(x.X)
		switch n := v.(type) {
		case int64:
			if x.Op == "-" {
				return -n, err
			}
		case float64:
			if x.Op == "-" {
				return -n, err
			}
		}
	case *ast.Cast:
		return castConstant(x)
	case *ast.ArrayLit:
		list := []string{}
		for _, el := range x.Elems {
			v, err := constant(el)
			if err != nil {
				return nil, err
			}
			if list, err = appendName(list, v, int(el.Position())); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	return nil, sqlerr.At(int(e.Position()), sqlerr.FeatureNotSupported, "this argument must be a constant").
		WithHint("%s", ast.ByEquals(e))
}

func literal(x *ast.Literal) (any, error) {
	switch x.Kind {
	case ast.LitNull:
		return nil, nil
	case ast.LitBool:
		return x.Value == "true", nil
	case ast.LitString:
		return x.Value, nil
	case ast.LitInt:
		if i, err := strconv.ParseInt(x.Value, 0, 64); err == nil {
			return i, nil
		}
	}
	f, err := strconv.ParseFloat(x.Value, 64)
	return f, err
}

// boundConstant reads a value that replaces a variable. ok is false for types that no argument has.
func boundConstant(x *ast.Bound) (_ any, ok bool, err error) {
	switch v := x.Value.(type) {
	case nil, bool, int64, float64:
		return v, true, nil
	case string:
		if f, err := strconv.ParseFloat(v, 64); err == nil && x.Type == "numeric" {
			return f, true, nil
		}
		return v, true, nil
	case []any:
		var list []string
		for _, s := range v {
			if list, err = appendName(list, s, int(x.At)); err != nil {
				return nil, true, err
			}
		}
		return list, true, nil
	}
	return nil, false, nil
}

// castConstant reads a cast. A text cast to a number is read as a number.
func castConstant(x *ast.Cast) (any, error) {
	v, err := constant(x.X)
	if s, ok := v.(string); ok && err == nil {
		switch x.Type.Name {
		case "smallint", "integer", "bigint":
			if i, err := strconv.ParseInt(s, 10, 64); err == nil {
				return i, nil
			}
		case "real", "double precision", "numeric":
			if f, err := strconv.ParseFloat(s, 64); err == nil {
				return f, nil
			}
		}
	}
	return v, err
}

// appendName appends an element to a list of names.
func appendName(list []string, v any, at int) ([]string, error) {
	s, ok := v.(string)
	if v == nil {
		return nil, sqlerr.At(at, sqlerr.NullNotAllowed, "an array of names must hold texts, not NULL")
	}
	if !ok {
		return nil, sqlerr.At(at, sqlerr.InvalidParameter, "an array of names must hold texts, not %s", quoted(v))
	}
	return append(list, s), nil
}

// Plain removes from an error the position in a call of the engine's own statements.
func Plain(err error) error { return (&Args{}).Place(err) }

// Number reads a numeric result value.
func Number(v any) (float64, error) {
	switch x := v.(type) {
	case int64:
		return float64(x), nil
	case float64:
		return x, nil
	case string:
		if f, err := strconv.ParseFloat(x, 64); err == nil {
			return f, nil
		}
	case nil:
		return 0, sqlerr.New(sqlerr.NullNotAllowed, "the validation is NULL")
	}
	return 0, sqlerr.New(sqlerr.DatatypeMismatch, "the validation is %v, not a number", v)
}
