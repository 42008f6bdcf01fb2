package session

import (
	"testing"

	"github.com/relgrad/relgrad/kernels"
)

// TestNamedTypes checks which comparisons a loss may make of values of a server's types.
func TestNamedTypes(t *testing.T) {
	bytes := collation{bytes: true, deterministic: true}
	for _, c := range []struct {
		t            serverType
		equal, order bool
	}{
		{serverType{name: "text", builtIn: true, collation: bytes}, true, true},
		{serverType{name: "character varying(3)", builtIn: true, collation: collation{deterministic: true}}, true, false},
		{serverType{name: "character(3)", builtIn: true, collation: collation{name: "fold"}}, false, false},
		{serverType{name: "bit(8)", builtIn: true}, true, true},
		{serverType{name: "interval day to second(3)", builtIn: true}, true, true},
		{serverType{name: "time(3) without time zone", builtIn: true}, true, true},
		{serverType{name: "time(3) with time zone", builtIn: true}, true, false},
		{serverType{name: "timestamp(0) with time zone", builtIn: true}, true, true},
		{serverType{name: "inet", builtIn: true}, true, false},
		{serverType{name: "mood", kind: "e"}, true, true}, {serverType{name: "mood[]"}, false, false},
		{serverType{name: "text[]", builtIn: true}, false, false},
		{serverType{name: "citext"}, false, false}, {serverType{name: "date"}, false, false}, // of another schema
		{serverType{name: "jsonb", builtIn: true}, false, false}, {serverType{name: "money", builtIn: true}, false, false},
		{serverType{name: "numrange", builtIn: true}, false, false},
		{serverType{name: "tstzrange", builtIn: true}, false, false},
	} {
		n := c.t.named()
		if equal, order := n == nil || n.Equal == "", n == nil || n.Equal == "" &&
			n.Order == ""; equal != c.equal || order != c.order {
			t.Errorf("%s: equality %v, order %v", c.t.name, equal, order)
		}
	}
	if n := (serverType{name: "text", builtIn: true, collation: collation{name: "C", bytes: true, deterministic: true}}).
		named(); n == nil || n.Collation != "C" {
		t.Errorf("a text of the collation C is %v: where the database has another one, it would be taken for that", n)
	}
	far := "a0003652059" + kernels.KeyEnd + "10000-01-01"
	if got := (&kernels.Named{Name: "date", Keyed: true}).Plain(far); got != "10000-01-01" {
		t.Errorf("the plain text of %q is %q", far, got)
	}
}
