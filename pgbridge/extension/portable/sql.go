package portable

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/pgbridge/extension"
)

// The types of the functions that the tables write.
const (
	number = "double precision"
	chunk  = "double precision[]"
)

const header = `-- Generated from the registry of kernels by go test ./pgbridge/extension/portable -update. DO NOT EDIT.
-- The extension's functions, operators and aggregates: those in double precision, then those in real, which call them and round.
SET search_path = pg_catalog;
`

// costFactor makes the costs of these functions out of those of the extension's.
const costFactor = 100

// SQL is the text of the migration.
func SQL() (string, error) {
	list, err := extension.Objects()
	if err != nil {
		return "", err
	}
	var wide, narrow, rest strings.Builder
	for _, o := range list {
		f := o.Function
		switch {
		case f == nil && strings.HasPrefix(o.Text, "CREATE "):
			rest.WriteString(qualified(o.Text))
		case f == nil: // a comment
		case delegates(f):
			narrow.WriteString(create(f, delegate(f)))
		default:
			text, err := body(f)
			if err != nil {
				return "", err
			}
			wide.WriteString(create(f, text))
		}
	}
	return header + wide.String() + narrow.String() + "\n" + rest.String(), nil
}

var commutator = regexp.MustCompile(`COMMUTATOR = ([^ )]+)`)

// qualified puts the schema into a statement that makes an operator or an aggregate.
func qualified(statement string) string {
	for _, kind := range []string{"CREATE OPERATOR ", "CREATE AGGREGATE ", " FUNCTION = ", "SFUNC = ", "COMBINEFUNC = ", "FINALFUNC = "} {
		statement = strings.Replace(statement, kind, kind+"relgrad.", 1)
	}
	return commutator.ReplaceAllString(statement, "COMMUTATOR = OPERATOR(relgrad.$1)")
}

// create is the statement for a function: a body that begins with RETURN is SQL, bound when it is created, and pasted into the
// queries that call it; else it is PL/pgSQL, which sets the search path, for the functions impl_… too.
func create(f *extension.Function, body string) string {
	head := fmt.Sprintf("\nCREATE FUNCTION relgrad.%s LANGUAGE ", f.Signature())
	tail := fmt.Sprintf(" %s COST %d", f.Attributes(), f.Cost*costFactor)
	if strings.HasPrefix(body, "\nRETURN ") {
		return head + "sql" + tail + body + ";\n"
	}
	settings := " SET search_path = pg_catalog"
	if strings.Contains(body, "SELECT") { // planned once, not for the lengths of each chunk
		settings += " SET plan_cache_mode = force_generic_plan"
	}
	return head + "plpgsql" + tail + settings + " AS $$" + body + " $$;\n"
}

// block is the body of a function in PL/pgSQL.
func block(declare []string, code string) string {
	s := ""
	if len(declare) > 0 {
		s = "\nDECLARE\n"
		for _, d := range declare {
			s += "  " + d + ";\n"
		}
		s = s[:len(s)-1]
	}
	return s + "\nBEGIN\n  " + strings.ReplaceAll(code, "\n", "\n  ") + "\nEND"
}

func isReal(t string) bool { return strings.HasPrefix(t, "real") }

// delegates reports whether a function calls another overload: it has arguments in real, or it rounds an aggregate's result.
func delegates(f *extension.Function) bool {
	return slices.ContainsFunc(f.Args, func(a extension.Arg) bool { return isReal(a.Type) }) || isReal(f.Result) && f.Symbol != "gen_to_real"
}

// delegate is the body of such a function.
func delegate(f *extension.Function) string {
	args := make([]string, len(f.Args))
	for i, a := range f.Args {
		args[i] = a.Name
		if isReal(a.Type) {
			args[i] += "::" + strings.Replace(a.Type, "real", number, 1)
		}
	}
	call := fmt.Sprintf("relgrad.%s(%s)", strings.TrimSuffix(f.Name, "_real"), strings.Join(args, ", "))
	if isReal(f.Result) {
		call = "relgrad.gen_to_real(" + call + ")"
	}
	if check := checks[f.Symbol]; check != "" {
		return block(nil, check+"\nRETURN "+call+";")
	}
	return "\nRETURN " + call
}

// body is the body of a function without real.
func body(f *extension.Function) (string, error) {
	if e, ok := maps[f.Symbol]; ok {
		return e.text(f), nil
	}
	b, ok := bodies[f.Symbol]
	if !ok {
		return "", fmt.Errorf("the portable tier has no text for %s (%s)", f.Symbol, f.Signature())
	}
	return b(f), nil
}
