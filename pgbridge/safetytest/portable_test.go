package safetytest

import (
	"context"
	"strings"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/migrations"
	"github.com/relgrad/relgrad/train"
)

// portable checks the same sentences for the portable tier, in a database of its own.
func portable(e *env) {
	ctx := context.Background()
	e.must("CREATE DATABASE portable TEMPLATE template0")
	dsn := strings.Replace(e.c.DSN, "dbname=postgres", "dbname=portable", 1)
	conn, err := migrations.Connect(ctx, dsn)
	if err != nil {
		e.t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := migrations.Apply(ctx, conn); err != nil {
		e.t.Fatal(err)
	}
	p := &env{c: e.c, db: "portable", session: open(e.t, e.c.DSN, "dbname=portable")}
	p.must(model)
	anna, otto := p.two()
	// a run belongs to its owner
	as := func(user string) *relgrad.Server {
		s, err := relgrad.Dial(ctx, strings.Replace(dsn, "user=relgrad", "user="+user, 1), nil)
		if err != nil {
			e.t.Fatal(err)
		}
		e.t.Cleanup(func() { s.Close() })
		if _, err := s.RunSQL(ctx, "SET search_path = public, relgrad"); err != nil { // "$user" is relgrad too
			e.t.Fatal(err)
		}
		return s
	}
	run := trained(e, as("anna"))
	if _, err := as("relgrad").Resume(ctx, run); err == nil || !strings.Contains(err.Error(), "belongs to anna") {
		e.t.Errorf("a superuser resumes anna's run: %v", err)
	}
	if _, err := as("otto").Resume(ctx, run); err == nil || !strings.Contains(err.Error(), "does not exist") {
		e.t.Errorf("otto resumes anna's run: %v", err)
	}
	if _, err := as("anna").Resume(ctx, run); err != nil {
		e.t.Errorf("anna resumes her run: %v", err)
	}
	otto.gives("SELECT count(*) FROM relgrad.run", "0")
	for _, s := range []*session{anna, otto} {
		s.fails("UPDATE relgrad.run_row SET options = '{}'", "42501", "permission denied")
		s.fails("UPDATE relgrad.run SET context = '{}'", "42501", "permission denied")
		s.fails("INSERT INTO relgrad.run_row (run, loss, parameters, keys, options, seed, status, step, waited, started, "+
			"updated) VALUES (2, 'l', '{}', '', '{}', 0, 'running', 0, 0, now(), now())", "42501", "permission denied")
	}
	otto.fails("INSERT INTO relgrad.loss (run, step, epoch, loss, at) VALUES (1, 9, 1, 1, now())",
		"42501", "row-level security")
	// a call runs texts that its user or the installer has compiled
	if err := as("anna").CompileText(ctx, "loss", "trend"); err != nil {
		e.t.Fatal(err)
	}
	anna.must("UPDATE relgrad.compiled SET gradient = 'SELECT id, slope, shift " +
		"FROM (SELECT *, set_config(''caught.by'', current_user, false) FROM trend) q'")
	anna.gives("SELECT count(*) FROM gradient('loss', NULL::trend); SELECT current_setting('caught.by')", "anna")
	for _, s := range []*session{otto, p.session} {
		s.fails("SELECT * FROM gradient('loss', NULL::trend)", "55000", "not compiled")
		s.fails("SELECT backward('loss', 'trend')", "55000", "not compiled")
	}
	otto.fails("INSERT INTO relgrad.compiled (loss, param, path, draws, value, gradient, definitions, owner) VALUES "+
		"('public.loss', 'trend', '', false, '', '', '[]', 'relgrad')", "42501", "row-level security")
	if list, err := migrations.Gradients(ctx, conn); err != nil || len(list) != 0 {
		e.t.Errorf("the status runs the texts of others: %v %v", list, err)
	}
	if err := as("relgrad").CompileText(ctx, "loss", "trend"); err != nil {
		e.t.Fatal(err)
	}
	otto.alive2()
	p.texts(as("relgrad"))
	// tables that another role has prepared are not filled
	p.must("CREATE FUNCTION lent() RETURNS double precision LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = " +
		"public, relgrad AS $$ SELECT backward('loss', ARRAY['trend']) $$")
	otto.must("CREATE TEMP TABLE trend_grad (id int PRIMARY KEY, slope double precision, shift double precision); " +
		"COMMENT ON TABLE trend_grad IS 'a gradient, filled by backward()'")
	otto.fails("SELECT lent()", "42P07", "a relation of that name exists")
	otto.must("DROP TABLE trend_grad; SELECT lent()")
	p.must("CREATE TABLE " + strings.Repeat("x", 63) + " (id int PRIMARY KEY, slope double precision)")
	p.fails("SELECT backward('loss', '"+strings.Repeat("x", 63)+"')", "42622", "longer than 63")
	p.end(anna, otto)
}

// trained trains one step in a session from outside, and returns the run's number.
func trained(e *env, s *relgrad.Server) int64 {
	c := train.Default()
	c.Epochs, c.MaxSeconds, c.BeforeStep = 5, 1e-9, "SELECT 1"
	run, err := s.Train(context.Background(), "loss", []string{"trend"}, c)
	if err != nil {
		e.t.Fatal(err)
	}
	return run
}
