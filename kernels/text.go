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
		true, Bool, func(a []Value) Value { return BoolValue(Like(a[0].T, a[1].T)) })
}

// Like matches a text with a LIKE pattern. On a mismatch, the last % takes one more character. A \ at the end stands
// for itself.
func Like(s, p string) bool {
	i, j := 0, 0          // what is left of s and of p
	lastS, lastP := 0, -1 // where the last % began to match, and what follows it
	for i < len(s) || j < len(p) {
		if j < len(p) && p[j] == '%' {
			j++
			lastS, lastP = i, j
			continue
		}
		if i < len(s) && j < len(p) {
			if n, m := likeOne(s, p, i, j); n > 0 {
				i, j = i+n, j+m
				continue
			}
		}
		if lastP < 0 || lastS >= len(s) {
			return false
		}
		_, n := utf8.DecodeRuneInString(s[lastS:])
		lastS += n
		i, j = lastS, lastP
	}
	return true
}

// likeOne matches one character of each: how many bytes they take, 0 where they differ.
func likeOne(s, p string, i, j int) (n, m int) {
	if p[j] == '_' {
		_, n = utf8.DecodeRuneInString(s[i:])
		return n, 1
	}
	if p[j] == '\\' && j+1 < len(p) {
		m = 1
	}
	if s[i] != p[j+m] {
		return 0, 0
	}
	return 1, m + 1
}
