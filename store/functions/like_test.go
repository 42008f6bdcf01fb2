package functions

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// matches is LIKE by its definition: what % stands for is tried.
func matches(s, p []rune) bool {
	switch {
	case len(p) == 0:
		return len(s) == 0
	case p[0] == '%':
		return matches(s, p[1:]) || len(s) > 0 && matches(s[1:], p)
	case len(s) == 0:
		return false
	case p[0] == '\\':
		return s[0] == p[1] && matches(s[1:], p[2:])
	}
	return (p[0] == '_' || p[0] == s[0]) && matches(s[1:], p[1:])
}

// TestLike compares LIKE with its definition on random texts and patterns, whose characters take one byte and several.
func TestLike(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func(of []string) string {
		var b strings.Builder
		for range r.IntN(9) {
			b.WriteString(of[r.IntN(len(of))])
		}
		return b.String()
	}
	held := 0
	for range 200_000 {
		s, p := text([]string{"a", "b", "ä", "ö", "%", "_", `\`, "😀"}),
			text([]string{"a", "b", "ä", "%", "%", "_", `\%`, `\_`, `\\`, `\a`, `\ä`, "😀"})
		got, err := like(s, p)
		if want := matches([]rune(s), []rune(p)); err != nil || got != want {
			t.Fatalf("%q LIKE %q is %v, not %v: %v", s, p, got, want, err)
		}
		if got {
			held++
		}
	}
	if held < 5_000 {
		t.Errorf("only %d patterns match", held)
	}
	if _, err := like("a", `a\`); err == nil {
		t.Error("a pattern may end with an escape")
	}
	if ok, err := like(strings.Repeat("a", 1<<20), strings.Repeat("%a", 1<<18)+"b"); ok || err != nil { // once for hours
		t.Error(ok, err)
	}
}
