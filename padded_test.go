package relgrad

import (
	"context"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// padded are conditions on character(n) c, varying v and text t. answered: a loss has them; it must not refuse.
var padded = []struct {
	condition string
	answered  bool
}{
	{"c = v", false}, {"v = c", false}, {"c < v", false}, {"c <> v", false}, {"c IS DISTINCT FROM v", false},
	{"v IN (c, 'q')", false}, {"v IN (SELECT c FROM n)", false}, {"NULLIF(c, v) IS NULL", false},
	{"CASE c WHEN v THEN true ELSE false END", false}, {"(c, id) = (v, id)", false},
	{"(CASE WHEN id > 0 THEN v ELSE c END) = c", false}, {"coalesce(v, c) = 'ab '", false},
	{"coalesce(c, v) = 'ab '", false}, {"c = 'cd '::text", false}, {"c = ANY (ARRAY['cd '])", false},
	{"c = ANY (ARRAY['cd ', 'ab'])", false}, {"v = 'ab'::bpchar", false}, {"t = 'cd  '::bpchar", false}, {"c = t", false},
	{"v::bpchar = c", false}, {"greatest(c, v) = c", false}, {"c BETWEEN v AND t", false},
	{"c = 'cd' || ' '", false}, {"c = coalesce('cd ', 'q')", false}, {"c = lower('CD ')", false},
	{"c = CASE WHEN true THEN 'cd ' ELSE 'q' END", false}, {"c = (SELECT 'cd ')", false},
	{"c = greatest('cd ', 'aa')", false}, {"c = nullif('cd ', 'x')", false},
	{"c = CASE WHEN id > 0 THEN 'cd ' END", false},
	{"c IN (SELECT 'cd ')", false}, {"c = 'cd '::varchar", false}, {"c = ('cd '::text)::bpchar", false},
	{"c = 'cd '", true}, {"c IN ('cd ', 'y')", true}, {"c = ANY ('{cd ,zz}')", true}, {"c::text = v", true},
	{"c::text = t", true}, {"v = t", true}, {"c::text = 'cd '::text", true}, {"c = 'cd '::bpchar", true},
	{"t = 'cd'::text", true}, {"v = 'ab '::varchar", true}, {"t = ANY (ARRAY['cd', 'q'])", true}, {"c = c", true},
	{"c = ANY (ARRAY['cd '::bpchar])", true}, {"c IS NOT DISTINCT FROM 'ab    '", true},
	{"coalesce(c, 'q') = 'ab  '", true},
}

// TestPaddedFromOutside: a character(n) is compared as the server does, or not at all, in queries and in views, which
// show the casts that the server has added.
func TestPaddedFromOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	s, _ := serverAt(t)
	runAll(t, s, "CREATE TABLE w (id int PRIMARY KEY, x double precision)",
		"INSERT INTO w VALUES (1, 1), (2, 10), (3, 100)",
		"CREATE TABLE n (id int PRIMARY KEY, c char(4), v varchar(4), t text)",
		"INSERT INTO n VALUES (1, 'ab', 'ab ', 'ab  '), (2, 'cd', 'cd', 'cd'), (3, 'cd ', 'cd ', 'x')")
	const from = "SELECT coalesce(sum(x), 0) AS l FROM w JOIN n USING (id) WHERE "
	check := func(mode, loss, as string, answered bool) {
		own, err := s.RunSQL(ctx, "SELECT l FROM ("+loss+") q")
		if err != nil {
			t.Fatalf("%s: %v", loss, err)
		}
		got, err := s.Backward(ctx, as, []string{"w"}, nil, 0)
		switch {
		case err != nil && (answered || sqlerr.Code(err) != sqlerr.FeatureNotSupported && sqlerr.Code(err) !=
			sqlerr.CannotCoerce):
			t.Errorf("%s, %s: %v", mode, loss, err)
		case err == nil && got != own.Rows[0][0]:
			t.Errorf("%s, %s as %s: %v, the server %v", mode, loss, as, got, own.Rows[0][0])
		}
	}
	for _, mode := range []string{engine.ModeChunk, engine.ModeSQL} {
		s.Mode = mode
		for _, c := range padded {
			loss := from + c.condition
			check(mode, loss, loss, c.answered)
			runAll(t, s, "CREATE OR REPLACE VIEW seen AS "+loss)
			check(mode, loss, "seen", c.answered && !strings.Contains(c.condition, "{"))
		}
		join := "SELECT sum(w.x) AS l FROM w JOIN n a ON a.id = w.id JOIN n b ON a.c = b."
		for col, answered := range map[string]bool{"v": false, "t": false, "c": true} {
			check(mode, join+col, join+col, answered)
		}
		union := "SELECT sum(w.x) AS l FROM w JOIN (SELECT id, c AS k FROM n UNION ALL SELECT id, v FROM n) u USING (id) " +
			"WHERE k = 'cd'"
		check(mode, union, union, false)
	}
}
