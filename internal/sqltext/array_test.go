package sqltext

import (
	"reflect"
	"testing"
)

func TestArray(t *testing.T) {
	for _, texts := range [][]string{{"w"}, {"w", "h.v"}, {`a"b`, `c\d`, "e,f", "{}", " ", "NULL"}, {`"`, `\\"`}} {
		if got, err := ParseArray(Array(texts)); err != nil || !reflect.DeepEqual(got, texts) {
			t.Errorf("%q came back as %q, %v", texts, got, err)
		}
	}
	for text, want := range map[string][]string{"{}": nil, "{w}": {"w"}, `{w,"h v"}`: {"w", "h v"}, `{"a",b}`: {"a", "b"},
		`{"NULL"}`: {"NULL"}} {
		if got, err := ParseArray(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %q, %v, not %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "w", "{", "{w", "{w,}", "{,w}", "{NULL}", "{{w},{h}}", `{"w}`, `{"w"h}`, `{w"h}`} {
		if got, err := ParseArray(text); err == nil {
			t.Errorf("%s is read as %q", text, got)
		}
	}
}
