package serverstest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/relgrad/relgrad"
)

// transactions: what the caller's own transaction has changed at servers counts, before it commits: rows are as
// SELECT shows them. What it undoes does not.
func (s *servers) transactions(t *testing.T) {
	c := s.called
	c.must("%s", ratings)
	c.must("DROP VIEW loss; CREATE TABLE one AS TABLE rating")
	s.spread("rating", "u int, i int, x double precision", "u", false)
	c.must("%s", ratings[strings.Index(ratings, "CREATE VIEW"):])
	c.must("CREATE VIEW loss_one AS SELECT avg((r.x - dot(w.v, h.v)) ^ 2) AS loss FROM one r JOIN w USING (u) " +
		"JOIN h USING (i); CREATE TABLE was AS TABLE w")
	s.others[0].must("CREATE TABLE aside (x int)")
	c.must("CREATE FOREIGN TABLE aside (x int) SERVER s1")

	const call = "SELECT backward('loss%s', ARRAY['w', 'h'])"
	differs := ""
	same := func(what string) {
		t.Helper()
		want := c.must(call, "_one")[0]
		if err := sameValues(want, c.must(call, "")[0]); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if want == differs {
			t.Errorf("%s: the loss is what it was, %s", what, want)
		}
		differs = want
	}
	same("before")
	const insert = "INSERT INTO %s VALUES (3, 5, 9), (4, 5, 11)"
	c.must("BEGIN")
	if got := c.must(call, "")[0]; sameValues(differs, got) != nil {
		t.Errorf("in a transaction that has changed nothing: %s, not %s", got, differs)
	}
	c.must(insert+"; "+insert, "one", "rating")
	same("rows inserted")
	c.must("SAVEPOINT a; DELETE FROM one WHERE u = 7; DELETE FROM rating WHERE u = 7")
	same("rows deleted")
	c.must("ROLLBACK TO a")
	same("back at a savepoint")
	c.must("UPDATE one SET x = x + 1 WHERE u %% 2 = 0; UPDATE rating SET x = x + 1 WHERE u %% 2 = 0")
	same("rows updated")
	c.must("CALL train('loss', 'w', lr => 0.1, epochs => 2); CREATE TABLE a AS TABLE w; UPDATE w SET v = was.v FROM was " +
		"WHERE was.u = w.u; CALL train('loss_one', 'w', lr => 0.1, epochs => 2)")
	if n := c.must("SELECT count(*) FROM (TABLE a EXCEPT TABLE w) x"); n[0] != "0" {
		b := c.must("SELECT a.v, w.v FROM a JOIN w USING (u) WHERE a.v <> w.v LIMIT 1")
		if err := sameValues(strings.Split(b[0], "|")[0], strings.Split(b[0], "|")[1]); err != nil {
			t.Errorf("trained in the transaction: %v", err)
		}
	}
	c.must("ROLLBACK")
	same("rolled back")
	c.must("DO $$ BEGIN "+insert+"; "+insert+`;
  CREATE TABLE inside AS SELECT backward('loss', ARRAY['w', 'h']) AS a, backward('loss_one', ARRAY['w', 'h']) AS b;
END $$`, "one", "rating")
	if x := strings.Split(c.must("SELECT a, b FROM inside")[0], "|"); sameValues(x[0], x[1]) != nil {
		t.Errorf("in a block: %s, not %s", x[0], x[1])
	}
	same("committed")
	s.planned(t)
	// a table that is no partition is at the same server, and may be the same table there
	c.must("BEGIN; INSERT INTO aside VALUES (1)")
	if text := c.must("SELECT explain_gradient('loss', 'w', 'sites')"); strings.Contains(text[0], "server s1") {
		t.Errorf("the plan is one of several servers:\n%s", text[0])
	}
	c.must("ROLLBACK")
	if text := c.must("SELECT explain_gradient('loss', 'w', 'sites')"); !strings.Contains(text[0], "server s1") {
		t.Errorf("the plan is not one of several servers:\n%s", text[0])
	}
	for _, table := range []string{"one", "rating"} { // a run's own statement changes the rows
		loss := map[string]string{"one": "loss_one", "rating": "loss"}[table]
		c.must("UPDATE w SET v = was.v FROM was WHERE was.u = w.u; CALL train('%s', 'w', lr => 0.1, epochs => 4, "+
			"before_step => 'UPDATE %s SET x = x * 0.5 WHERE u > 5'); CREATE TABLE by_%[2]s AS TABLE w", loss, table)
	}
	s.resumed(t)
	rows := c.must("SELECT a.v, b.v FROM by_one a JOIN by_rating b USING (u) ORDER BY u")
	for _, row := range rows {
		if v := strings.Split(row, "|"); sameValues(v[0], v[1]) != nil {
			t.Errorf("before_step: %s, not %s", v[1], v[0])
		}
	}
	if len(rows) != 40 || c.must("SELECT count(*) FROM by_one a JOIN was USING (u) WHERE a.v <> was.v")[0] == "0" {
		t.Error("before_step: nothing is compared")
	}
}

// resumed: a run that goes on sees what its before_step changes at servers, too.
func (s *servers) resumed(t *testing.T) {
	c := s.called
	for _, table := range []string{"one", "rating"} {
		loss := map[string]string{"one": "loss_one", "rating": "loss"}[table]
		c.must("UPDATE %s SET x = 1 + u + i", table)
		c.must("UPDATE w SET v = was.v FROM was WHERE was.u = w.u; SET statement_timeout = '2500ms'")
		if _, err := c.run(fmt.Sprintf("CALL train('%s', 'w', lr => 0.1, epochs => 9, before_step => 'UPDATE %s SET x = x * "+
			"0.9 WHERE u > 5; SELECT pg_sleep(0.5)')", loss, table)); err == nil {
			t.Fatal("the run is not cut off")
		}
		c.must("RESET statement_timeout")
		run := strings.Split(c.must("SELECT run, step FROM relgrad.run ORDER BY run DESC LIMIT 1")[0], "|")
		if run[1] == "0" {
			t.Errorf("the run of %s is cut off before its first commit", table)
		}
		c.must("CALL train(resume => %s)", run[0])
		c.must("CREATE TABLE again_%s AS TABLE w", table)
	}
	rows := c.must("SELECT a.v, b.v FROM again_one a JOIN again_rating b USING (u) ORDER BY u")
	for _, row := range rows {
		if v := strings.Split(row, "|"); sameValues(v[0], v[1]) != nil {
			t.Fatalf("a resumed run with before_step: %s, not %s", v[1], v[0])
		}
	}
}

// planned: what a call has planned the next one uses, while the rows at servers and the sessions there are the same.
// The calls are of a session from outside.
func (s *servers) planned(t *testing.T) {
	c, o, ctx := s.called, s.others[1], context.Background()
	db, err := relgrad.Dial(ctx, c.c.DSN, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.Mode = "chunk"
	plans := 0
	db.OnCompiling = func() { plans++ }
	for i, x := range []struct {
		what  string
		plans int
		do    func()
	}{
		{"the first", 1, func() {}},
		{"nothing has changed", 0, func() {}},
		{"a parameter", 0, func() { c.must("UPDATE w SET v = array_append(v[1:2], v[3] * 0.9)") }},
		{"rows", 1, func() { c.must("UPDATE rating SET x = x + 0.5; UPDATE one SET x = x + 0.5") }},
		{"rows come", 1, func() { c.must("INSERT INTO rating VALUES (9, 9, 9); INSERT INTO one VALUES (9, 9, 9)") }},
		{"rows go at the server", 1, func() {
			o.must("DELETE FROM part_rating WHERE u %% 5 = 0")
			c.must("DELETE FROM one WHERE NOT EXISTS (SELECT FROM rating r WHERE r.u = one.u)")
		}},
		{"a session ends", 1, func() {
			o.must("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'relgrad'")
		}},
		{"nothing again", 0, func() {}},
	} {
		x.do()
		plans = 0
		got, err := db.Backward(ctx, "public.loss", []string{"public.w", "public.h"}, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if want := c.must("SELECT loss FROM loss_one")[0]; sameValues(want, fmt.Sprint(got)) != nil {
			t.Errorf("%s: %v, not %s", x.what, got, want)
		}
		if plans != x.plans {
			t.Errorf("call %d, %s: the loss is planned %d times", i, x.what, plans)
		}
	}
}
