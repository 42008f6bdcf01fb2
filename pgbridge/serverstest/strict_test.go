package serverstest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/relgrad/relgrad"
)

// strict: where all rows of a table at servers would come by its foreign tables, a notice says why, and relgrad.strict
// refuses it.
func (s *servers) strict(t *testing.T) {
	c := s.called
	c.must("%s", ratings)
	c.must("DROP VIEW loss; CREATE TABLE other (x int)")
	s.spread("rating", "u int, i int, x double precision", "u", false)
	c.must("%s", ratings[strings.Index(ratings, "CREATE VIEW"):])
	const call = "SELECT backward('loss', ARRAY['w', 'h'])"
	for _, x := range []struct{ engine, change, call, back, why string }{
		{"chunk", "BEGIN; DELETE FROM rating WHERE u = 1", call, "ROLLBACK",
			"this transaction has changed rows at server \"s"},
		{"sql", "BEGIN; DELETE FROM rating WHERE u = 1", call, "ROLLBACK",
			"this transaction has changed rows at server \"s"},
		{"chunk", "ALTER TABLE rating ENABLE ROW LEVEL SECURITY", call, "ALTER TABLE rating DISABLE ROW LEVEL SECURITY",
			"it has row-level security here"},
		{"chunk", "ALTER FOREIGN TABLE rating_1 ALTER x OPTIONS (column_name 'x')", call,
			"ALTER FOREIGN TABLE rating_1 ALTER x OPTIONS (DROP column_name)",
			"a column has another name at the server (column_name)"},
		{"sql", "SELECT", "SELECT count(*) FROM gradient('loss', NULL::w)", "SELECT",
			"gradient() writes nothing, not even temporary tables"},
		{"sql", "SELECT", "CALL train('loss', 'w', lr => 0.1, epochs => 2, before_step => 'DELETE FROM other')", "SELECT",
			"before_step may change it"},
	} {
		t.Run(x.engine+", "+x.why, func(t *testing.T) {
			c.must("SET relgrad.engine = '%s'; SET relgrad.strict = off", x.engine)
			c.must("%s", x.change)
			if _, err := c.run("SAVEPOINT a"); err != nil {
				c.must("BEGIN; SAVEPOINT a")
			}
			c.must("%s", x.call)
			c.must("ROLLBACK TO a; SET LOCAL relgrad.strict = on")
			_, err := c.run(x.call)
			if err == nil || !strings.Contains(err.Error(), "table \"rating\" is read through its foreign tables: "+x.why) ||
				!strings.Contains(err.Error(), "55000") {
				t.Errorf("strict: %v", err)
			}
			c.must("ROLLBACK; %s", x.back)
			if _, err := c.run("SET relgrad.strict = on; " + x.call); err != nil && x.change != "SELECT" {
				t.Errorf("strict, behind it: %v", err)
			}
		})
	}
	c.must("RESET relgrad.strict; RESET relgrad.engine")
	var notices []string
	db, err := relgrad.Dial(context.Background(), c.c.DSN, func(level, text string) {
		notices = append(notices, level+" "+text)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c.must("ALTER TABLE rating ENABLE ROW LEVEL SECURITY")
	if _, err := db.Backward(context.Background(), "public.loss", []string{"public.w"}, nil, 0); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(notices); !strings.Contains(got, "NOTICE table \"rating\" is read through its foreign tables: "+
		"it has row-level security here") {
		t.Errorf("the notices are %s", got)
	}
}
