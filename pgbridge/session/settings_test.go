package session

import (
	"context"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/pgbridge/conn"
	"github.com/relgrad/relgrad/pgbridge/wire"
)

// noted is a Conn that records the statements that it is asked to run.
type noted struct {
	conn.Conn
	asked []string
}

func (n *noted) Query(_ context.Context, sql string, _ bool, _ func(*wire.Block) error) (string, int64, error) {
	n.asked = append(n.asked, sql)
	return "", 0, nil
}

// TestDefinitionsSettings: definitions are read under settings of our own, and the user's are restored.
func TestDefinitionsSettings(t *testing.T) {
	for _, c := range []struct {
		name     string
		values   map[string]string // settings that differ from the plain ones
		captures map[string]string
		before   []string
		after    []string
	}{
		{name: "plain"}, {name: "alike", values: map[string]string{"DateStyle": "ISO, DMY", "TimeZone": "Etc/UTC"}},
		{name: "digits", values: map[string]string{"extra_float_digits": "-3"}, before: []string{"'extra_float_digits', '1'"},
			after: []string{"'extra_float_digits', '-3'"}},
		{name: "texts", values: map[string]string{"DateStyle": "SQL, DMY", "standard_conforming_strings": "off",
			"quote_all_identifiers": "on", "IntervalStyle": "iso_8601"},
			before: []string{"'DateStyle', 'ISO, YMD'", "'standard_conforming_strings', 'on'", "'quote_all_identifiers', 'off'",
				"'IntervalStyle', 'postgres'"},
			after: []string{"'DateStyle', 'SQL, DMY'", "'standard_conforming_strings', 'off'", "'quote_all_identifiers', 'on'",
				"'IntervalStyle', 'iso_8601'"}},
		{name: "path", values: map[string]string{"search_path": "mine, public"}, captures: map[string]string{"+": "operator"},
			before: []string{"'search_path', 'pg_catalog'"}, after: []string{"'search_path', 'mine, public'"}},
	} {
		conn := &noted{}
		s := New(conn)
		s.searchPath.path, s.captured, s.values = []string{"mine", "public"}, map[string]string{},
			map[string]string{"search_path": "pg_catalog"}
		if c.captures != nil {
			s.captured = c.captures
		}
		for name, v := range plain {
			s.values[name] = v
		}
		for name, v := range c.values {
			s.values[name] = v
		}
		if _, err := s.definitions("SELECT 1"); err != nil {
			t.Fatal(err)
		}
		asked := conn.asked
		if c.before == nil {
			if len(asked) != 1 {
				t.Errorf("%s: %q", c.name, asked)
			}
			continue
		}
		if len(asked) != 3 || asked[1] != "SELECT 1" {
			t.Fatalf("%s: %q", c.name, asked)
		}
		for i, want := range [][]string{c.before, nil, c.after} {
			for _, w := range want {
				if !strings.Contains(asked[i], w) {
					t.Errorf("%s: %q has no %s", c.name, asked[i], w)
				}
			}
			if n := strings.Count(asked[i], "set_config"); n != len(want) {
				t.Errorf("%s: %q sets %d, not %d", c.name, asked[i], n, len(want))
			}
		}
	}
}
