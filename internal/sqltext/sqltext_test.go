package sqltext

import "testing"

func TestQuoting(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Ident(`a"b`), `"a""b"`}, {Name("S", "t"), `"S"."t"`}, {Text("it's"), "'it''s'"}, {Text(`a\'`), `E'a\\'''`},
		{Plain(`a\'`), `'a\'''`},
	} {
		if c.got != c.want {
			t.Errorf("%s, not %s", c.got, c.want)
		}
	}
}
