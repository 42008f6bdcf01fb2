package kernels

import (
	"strings"
	"unicode/utf8"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

func inferText(name string, out Kind) func([]Type, Attr) (Type, error) {
	return func(a []Type, _ Attr) (Type, error) {
		t := Type{Kind: out}
		for _, x := range a {
			if x.Kind != Text {
				return Type{}, wrongType(name, a)
			}
			if out == Text && x.Of != nil { // a text keeps its collation
				t.Of = x.Of
			}
		}
		return t, nil
	}
}

func registerText(name, args, doc string, internal bool, out Kind, f func(a []Value) Value) *Def {
	n := strings.Count(args, ",") + 1
	return Register(&Def{
		Name: name, Args: args, MinArgs: n, Zero: true, Internal: internal,
		Doc:     doc,
		Infer:   inferText(name, out),
		Eval:    func(_ *Env, a []Value, _ Attr, _ Type) (Value, error) { return f(a), nil },
		Samples: []Sample{{Types: []Type{{Kind: Text}, {Kind: Text}}[:n]}},
	})
}

func init() {
	registerText("lower", "s", "s in lower case.", false, Text, func(a []Value) Value {
		return TextValue(strings.ToLower(a[0].T))
	})
	registerText("upper", "s", "s in upper case.", false, Text, func(a []Value) Value {
		return TextValue(strings.ToUpper(a[0].T))
	})
	for name, f := range map[string]func(string) string{"lower": strings.ToLower, "upper": strings.ToUpper} {
		Register(&Def{
			Name: name + "_ascii", Args: "s", MinArgs: 1, Zero: true, Internal: true,
			Doc: "s in " + name + " case as a server puts it, whose locale decides for all letters but those of ASCII, " +
				"which no other may be among.",
			Infer: inferText(name, Text),
			Eval: func(_ *Env, a []Value, _ Attr, _ Type) (Value, error) {
				if strings.IndexFunc(a[0].T, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
					return Value{}, sqlerr.New(sqlerr.FeatureNotSupported,
						"%s of a text with letters other than A to Z is not supported in a loss: %q", name, a[0].T).
						WithHint("The locale decides there. It may stand in a sub-query that reads no parameter.")
				}
				return TextValue(f(a[0].T)), nil
			},
			Samples: []Sample{{Types: []Type{{Kind: Text}}}},
		})
	}
	registerText("length", "s", "The number of characters of s.", false, Int,
		func(a []Value) Value { return IntValue(int64(utf8.RuneCountInString(a[0].T))) }).Traits = SmallInteger
	registerText("textcat", "s, t", "s || t.", true, Text, func(a []Value) Value { return TextValue(a[0].T + a[1].T) })
	registerText("like", "s, pattern", "s LIKE pattern: % is any text, _ one character, \\ takes the next literally.",
		true, Bool, func(a []Value) Value { return BoolValue(like([]rune(a[0].T), []rune(a[1].T))) })
}

// like matches with one point of return, the last %: later ones need no backtracking past it.
func like(s, p []rune) bool {
	i, j, back, from := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case j < len(p) && p[j] == '%':
			back, from = j, i
			j++
		case j < len(p) && p[j] == '_':
			i, j = i+1, j+1
		case j < len(p) && literal(p, j) == s[i]:
			if p[j] == '\\' && j+1 < len(p) {
				j++
			}
			i, j = i+1, j+1
		case back >= 0:
			from++
			i, j = from, back+1
		default:
			return false
		}
	}
	for j < len(p) && p[j] == '%' {
		j++
	}
	return j == len(p)
}

func literal(p []rune, j int) rune {
	if p[j] == '\\' && j+1 < len(p) {
		return p[j+1]
	}
	return p[j]
}
