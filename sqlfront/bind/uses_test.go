package bind

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// said prints what is used, in order: a tree is walked in any.
func said(u *Uses) string {
	list := func(names []QName) string {
		var out []string
		for _, n := range names {
			out = append(out, strings.TrimPrefix(n.Schema+"."+n.Name, "."))
		}
		slices.Sort(out)
		return strings.Join(slices.Compact(out), " ")
	}
	fields := slices.Sorted(slices.Values(u.Fields))
	return fmt.Sprintf("%s | %s | %s | %s | %s", list(u.Tables), list(u.Calls), list(u.Operators),
		strings.Join(fields, " "), u.Unseen)
}

// TestUses: what a text reads and calls is found wherever it stands in it.
func TestUses(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT a.f, (b).g FROM s.a, LATERAL (SELECT h(1) FROM b) q WHERE x <+> 1 = ALL (TABLE c) ORDER BY y USING <<<",
			"b c s.a | h | <+> <<< = | f g | "},
		{"WITH d AS (SELECT i() OVER w FROM a WINDOW w AS (ORDER BY j(x))) SELECT * FROM k(l(1)) WITH ORDINALITY, d",
			"a d | i j k l |  |  | "},
		{"SELECT query_to_xml('SELECT x FROM w', true, false, ''), table_to_xml('s.u'::regclass, true, true, '')",
			"s.u w | query_to_xml table_to_xml |  |  | "},
		{"SELECT ts_stat('SELECT x FROM ' || y)", " | ts_stat | || |  | ts_stat() runs a query that it is given"},
		{"SELECT database_to_xml(true, true, '')",
			" | database_to_xml |  |  | database_to_xml() reads tables that it does not name"},
	} {
		u, err := UsesOf(c.sql)
		if err != nil || said(u) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.sql, said(u), err, c.want)
		}
	}
	for _, c := range []struct{ sql, want string }{
		{"CREATE FUNCTION f(a int DEFAULT g()) RETURNS int LANGUAGE sql AS 'SELECT x FROM w WHERE h(x) > a'",
			"w | g h | > |  |  false"},
		{"CREATE FUNCTION f() RETURNS int LANGUAGE sql RETURN (SELECT x FROM w)", "w |  |  |  |  true"},
		{"CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; SELECT x FROM w; END", "w |  |  |  |  true"},
		{"CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS 'DECLARE r record; a int[] := (SELECT i FROM d); BEGIN FOR r " +
			"IN SELECT x FROM w LOOP PERFORM g(); a[h(1)] := r.x <+> 1; END LOOP; RETURN (SELECT max(x) FROM u); END'",
			"d u w | g h max | <+> | x |  false"},
		{"CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS 'BEGIN EXECUTE ''SELECT 1''; RETURN 1; END'",
			" |  |  |  | it runs what EXECUTE is given false"},
		{"CREATE FUNCTION f() RETURNS SETOF int LANGUAGE plpgsql AS 'BEGIN RETURN QUERY EXECUTE ''SELECT 1''; END'",
			" |  |  |  | it runs what EXECUTE is given false"},
		{"CREATE FUNCTION f() RETURNS SETOF int LANGUAGE plpgsql AS 'DECLARE c refcursor; BEGIN OPEN c FOR EXECUTE " +
			"''SELECT 1''; RETURN; END'", " |  |  |  | its body cannot be read false"},
		{"CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT'' FROM'", " |  |  |  | its body cannot be read false"},
	} {
		if u, bound := UsesOfFunction(c.sql); fmt.Sprint(said(u), " ", bound) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.sql, said(u), bound, c.want)
		}
	}
}
