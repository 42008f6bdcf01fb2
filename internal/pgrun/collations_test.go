package pgrun

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// elsewhere is a session in another database of the server, which create makes.
func (s *viewServer) elsewhere(name, create string) *viewServer {
	s.t.Helper()
	ctx := context.Background()
	s.exec("CREATE DATABASE " + name + " " + create)
	config := s.conn.Config().Copy()
	config.Database = name
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close(ctx) })
	other := &viewServer{&Engine{conn: conn}, s.t}
	other.exec("CREATE EXTENSION relgrad; SET jit = off; SET search_path = public, relgrad")
	return other
}

// collationScript makes collations that a database does not have: one that takes texts of any case for equal, and one
// that knows numbers.
const collationScript = `CREATE COLLATION fold (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION numbers (provider = icu, locale = 'en-u-kn-true');
CREATE DOMAIN nick AS text COLLATE numbers;`

// TestCollations: texts of any collation are compared as the server does, or the comparison is refused, in databases
// whose own collation is a language's and in those whose is "C".
func TestCollations(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	words := []string{"b", "B", "a10", "a9", "C", "ä", "a b", "Z"}
	plain := newViewServer(t)
	icu := plain.elsewhere("icu", "TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'")
	for name, s := range map[string]*viewServer{"C": plain, "icu": icu} {
		s.exec(collationScript)
		for typ, least := range map[string]int{
			"text": 18, `text COLLATE "C"`: 28, `text COLLATE "en-x-icu"`: 18, "text COLLATE fold": 2,
			"text COLLATE numbers": 18,
			"varchar(9)":           18, `varchar COLLATE "C"`: 28, "char(4)": 18, "name": 28, "nick": 18,
		} {
			typeSamples[typ] = words
			computed, err := s.tryType(typ, typ)
			if err != nil {
				t.Errorf("%s, %s: %v", name, typ, err)
				continue
			}
			n := 0
			for _, ok := range computed {
				if ok {
					n++
				}
			}
			if t.Logf("%s, %s: %d of %d", name, typ, n, len(computed)); n < least {
				t.Errorf("%s, %s: only %d of %d losses were computed", name, typ, n, len(computed))
			}
		}
		s.sides(t, name)
	}
}

// sides compares texts whose collations differ, and those of expressions.
func (s *viewServer) sides(t *testing.T, name string) {
	s.exec(`DROP TABLE IF EXISTS w, t, u, p CASCADE; CREATE TABLE w (id int PRIMARY KEY, x double precision);
CREATE TABLE t (id int PRIMARY KEY, k text, c text COLLATE "C", i text COLLATE "en-x-icu", f text COLLATE fold,
y double precision);
INSERT INTO t SELECT i, v, v, v, v, 2 ^ i FROM unnest(ARRAY['b', 'B', 'a10', 'a9', 'C', 'ä']) WITH ORDINALITY
AS u(v, i);
INSERT INTO w SELECT id, sqrt(id) FROM t`)
	for _, c := range []struct {
		where   string
		refused bool // in every database
	}{
		{"t.k = t.c", false}, {"t.k <= t.c", false}, {"t.k = t.i", false}, {"t.k <= t.i", true}, {"t.c = t.i", true},
		{"t.c <= t.i", true}, {"t.k = t.f", true},
		{`t.i COLLATE "C" <= t.c`, false}, {`t.i COLLATE "C" < 'b'`, false}, {`t.i < 'b' COLLATE "C"`, false},
		{`t.f COLLATE "C" = 'b'`, false},
		{`t.k COLLATE "en-x-icu" < 'b'`, true}, {`upper(t.i) < 'B'`, true}, {`t.i || 'x' < 'b'`, true},
		{`upper(t.c) < 'B'`, false}, {`t.c || 'x' < 'b'`, false},
		{`t.id::text || t.c < '3'`, false}, {`t.c LIKE 'a%'`, false}, {`t.i LIKE 'a%'`, false},
		{`greatest(t.c, 'b') = t.c`, false}, {`greatest(t.i, 'b') = t.i`, true},
		{`t.k IN (SELECT c FROM t)`, false}, {`t.i IN (SELECT c FROM t)`, true},
		{`t.id IN (SELECT id FROM t a WHERE a.k < 'b')`, false},
		{`t.id::text < '3'`, false}, {`(t.id > 3)::text < 'm'`, false}, {`length(t.f) > 1`, false},
		{`coalesce(t.c, 'b') > 'b'`, false}, {`CASE WHEN t.id > 2 THEN t.i ELSE 'b' END < 'c'`, true},
		{`current_setting('search_path') > t.c`, false},
	} {
		ok, err := s.typeAgrees("SELECT sum(w.x * t.y) FROM w JOIN t USING (id) WHERE " + c.where)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if free := strings.Contains(c.where, "SELECT") || name == "C" || strings.Contains(c.where, "t.c"); err == nil &&
			(ok && c.refused || !ok && !c.refused && free) {
			t.Errorf("%s: %s: computed %v", name, c.where, ok)
		}
	}
}
