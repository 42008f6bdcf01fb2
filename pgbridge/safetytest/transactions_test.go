package safetytest

import (
	"strings"
)

const gradient = "SELECT round(slope::numeric, 1) FROM gradient('loss', NULL::trend)"

// discard resets the session between calls.
func discard(e *env) {
	for range 3 {
		e.must("SELECT backward('loss', ARRAY['trend'])")
		e.gives("SELECT count(*) FROM trend_grad", "1")
		e.must("DISCARD ALL")
		e.fails("SELECT * FROM trend_grad", "42P01", "trend_grad")
		e.alive()
	}
	e.must("DISCARD PLANS; DISCARD TEMP; DISCARD SEQUENCES")
	e.alive()
	e.must("SET SESSION AUTHORIZATION DEFAULT; RESET ALL")
	e.must("SET search_path = public, relgrad")
	e.alive()
}

// savepoints undoes calls by rolling back to savepoints.
func savepoints(e *env) {
	e.must("BEGIN; SAVEPOINT a; SELECT backward('loss', ARRAY['trend'])")
	e.gives("SELECT count(*) FROM trend_grad", "1")
	e.must("ROLLBACK TO a")
	e.fails("SAVEPOINT b; SELECT * FROM trend_grad", "42P01", "trend_grad")
	e.must("ROLLBACK TO b; SELECT backward('loss', ARRAY['trend'])")
	e.gives("SELECT round(slope::numeric, 1) FROM trend_grad", slope)
	e.must("SAVEPOINT c; UPDATE trend SET slope = 1")
	e.must("SELECT backward('loss', ARRAY['trend'])")
	e.gives("SELECT round(slope::numeric, 2) FROM trend_grad", "-7.47")
	e.gives("ROLLBACK TO c; SELECT round(slope::numeric, 1) FROM trend_grad", slope)
	e.alive()
	e.must("SAVEPOINT d; CREATE TABLE later (id int PRIMARY KEY, slope double precision); INSERT INTO later VALUES (1, 5)")
	e.gives("SELECT slope FROM gradient('SELECT sum(slope ^ 2) FROM later', NULL::later)", "10")
	e.must("ROLLBACK TO d; CREATE TABLE later (id int PRIMARY KEY, slope real); INSERT INTO later VALUES (1, 6)")
	e.gives("SELECT slope FROM gradient('SELECT sum(slope ^ 2) FROM later', NULL::later)", "12")
	e.must("SAVEPOINT e; CALL train('loss', ARRAY['trend'], epochs => 3); ROLLBACK TO e")
	e.gives("SELECT count(*) FROM relgrad.run", "0")
	e.alive()
	e.must("CALL train('loss', ARRAY['trend'], epochs => 3)")
	e.gives("SELECT status, step FROM relgrad.run", "finished|3")
	e.must("ROLLBACK")
	e.gives("SELECT (SELECT count(*) FROM relgrad.run), (SELECT slope FROM trend), to_regclass('trend_grad') IS NULL",
		"0|0|t")
}

// functions calls from functions in each language.
func functions(e *env) {
	e.must(`CREATE FUNCTION in_sql() RETURNS numeric LANGUAGE sql AS $$ SELECT round(slope::numeric, 1)
FROM gradient('loss', NULL::trend) $$;
		CREATE FUNCTION in_plpgsql() RETURNS numeric LANGUAGE plpgsql AS $$ DECLARE r record; n numeric := 0;
BEGIN FOR r IN SELECT * FROM gradient('loss', NULL::trend) LOOP n := n + r.slope; END LOOP; RETURN round(n, 1); END $$;
		CREATE FUNCTION step() RETURNS double precision LANGUAGE plpgsql AS $$ DECLARE l double precision;
BEGIN l := backward('loss', ARRAY['trend']);
UPDATE trend t SET slope = t.slope - 0.1 * g.slope FROM trend_grad g WHERE g.id = t.id; RETURN l; END $$;
		CREATE ROLE owner_of_functions; GRANT CREATE ON SCHEMA public TO owner_of_functions; CREATE ROLE caller;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO owner_of_functions;
		SET ROLE owner_of_functions;
CREATE FUNCTION definer() RETURNS numeric LANGUAGE sql SECURITY DEFINER SET search_path = public, relgrad
AS $$ SELECT round(slope::numeric, 1) FROM gradient('loss', NULL::trend) $$;
		CREATE FUNCTION invoker() RETURNS numeric LANGUAGE sql AS $$ SELECT round(slope::numeric, 1)
FROM gradient('loss', NULL::trend) $$; RESET ROLE`)
	e.gives("SELECT in_sql(), in_plpgsql(), definer(), invoker()", strings.Repeat(slope+"|", 3)+slope)
	e.must("SET ROLE caller")
	e.gives("SELECT definer()", slope)
	e.fails("SELECT invoker()", "42501", "permission denied")
	e.must("RESET ROLE")
	e.gives("SELECT definer(), (SELECT sum(in_sql()) FROM generate_series(1, 20))", slope+"|-204.0")
	e.must("BEGIN; SELECT step(), step(), step()")
	e.gives("SELECT step() < 3; ROLLBACK; SELECT slope FROM trend", "0")
	e.must(`CREATE PROCEDURE steps() LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1..5 LOOP PERFORM step(); COMMIT; END LOOP; ` +
		`CALL train('loss', ARRAY['trend'], epochs => 5); COMMIT; END $$`)
	e.must("CALL steps()")
	e.gives("SELECT slope > 0 AND (SELECT step FROM relgrad.run) = 5 FROM trend", "t")
	e.must("CREATE FUNCTION on_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'gradient %', (SELECT " +
		"round(slope::numeric, 1) FROM gradient('loss', NULL::trend)); RETURN NULL; END $$;" +
		"CREATE TRIGGER t AFTER UPDATE ON trend FOR EACH STATEMENT EXECUTE FUNCTION on_change(); UPDATE trend SET slope = " +
		"0, shift = 0; DROP TRIGGER t ON trend")
	e.gives("SELECT g.n FROM generate_series(1, 2) AS s(i), LATERAL (SELECT round(slope::numeric, 1) AS n "+
		"FROM gradient('loss', NULL::trend) WHERE i > 0) AS g", slope+" "+slope)
	e.must("DROP OWNED BY owner_of_functions, caller; DROP ROLE owner_of_functions, caller")
}

// exceptions catches errors and cancelled calls.
func exceptions(e *env) {
	e.must("CREATE TABLE note (t text)")
	e.gives(`DO $$ BEGIN
		FOR i IN 1..5 LOOP
			BEGIN PERFORM * FROM gradient('SELECT nothing FROM trend', NULL::trend);
EXCEPTION WHEN undefined_column THEN INSERT INTO note VALUES ('column'); END;
			BEGIN PERFORM * FROM gradient('SELECT slope FROM trend FULL JOIN point USING (id)', NULL::trend);
EXCEPTION WHEN OTHERS THEN INSERT INTO note VALUES (SQLSTATE); END;
			BEGIN PERFORM backward('SELECT sum(1 / slope) FROM trend', ARRAY['trend']);
EXCEPTION WHEN OTHERS THEN INSERT INTO note VALUES ('infinite'); END;
			PERFORM * FROM gradient('loss', NULL::trend);
		END LOOP; END $$; SELECT t, count(*) FROM note WHERE t <> 'infinite' GROUP BY 1 ORDER BY 1`, "0A000|5 column|5")
	e.must("TRUNCATE note")
	e.must("CREATE TABLE many (id int PRIMARY KEY, v double precision); INSERT INTO many SELECT i, 1 " +
		"FROM generate_series(1, 3000) AS i;" +
		"CREATE VIEW slow AS SELECT sum(relgrad.exp(sin(a.v * b.v)) * slope) AS loss FROM many a, many b, trend")
	for _, engine := range []string{"chunk", "sql"} {
		e.gives("SET relgrad.engine = "+engine+"; SET statement_timeout = '100ms'; DO $$ BEGIN PERFORM * FROM "+
			"gradient('slow', NULL::trend); EXCEPTION WHEN query_canceled THEN INSERT INTO note VALUES ('cancelled'); END $$;"+
			"SET statement_timeout = 0; SELECT count(*) FROM note WHERE t = 'cancelled'",
			map[string]string{"chunk": "1", "sql": "2"}[engine])
		e.alive()
	}
	e.must("RESET relgrad.engine")
	// psql -1, with an error in the script and without
	psql := func(sql string) (string, error) {
		cmd := e.c.Client("psql", "-X", "-At", "-1", "-v", "ON_ERROR_STOP=1", "-d",
			strings.Replace(e.c.DSN, "dbname=postgres", "dbname="+e.db, 1), "-f", "-")
		cmd.Stdin = strings.NewReader("SET search_path = public, relgrad;\n" + sql)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := psql(gradient + ";\nSELECT backward('loss', ARRAY['trend']) > 0;\nCALL train('loss', ARRAY['trend'], " +
		"epochs => 2);\nSELECT nothing;"); err == nil || !strings.Contains(out, slope) {
		e.t.Errorf("psql -1: %v %s", err, out)
	}
	e.gives("SELECT count(*) FROM relgrad.run", "0")
	if out, err := psql(gradient + ";\nCALL train('loss', ARRAY['trend'], epochs => 2);"); err != nil ||
		!strings.Contains(out, slope) {
		e.t.Errorf("psql -1: %v %s", err, out)
	}
	e.gives("SELECT status, step FROM relgrad.run", "finished|2")
}

// prepared calls from prepared statements and cursors.
func prepared(e *env) {
	e.must("PREPARE g(text) AS SELECT round(slope::numeric, 1) FROM gradient($1, NULL::trend); " +
		"PREPARE b AS SELECT backward('loss', ARRAY['trend']) > 0")
	for range 7 { // from the sixth execution on Postgres may use a generic plan
		e.gives("EXECUTE g('loss')", slope)
		e.gives("EXECUTE b", "t")
	}
	e.must("ALTER TABLE trend ADD COLUMN extra real DEFAULT 1")
	e.gives("EXECUTE g('loss')", slope)
	e.gives("EXECUTE g('SELECT sum(slope * 2) FROM trend')", "2.0")
	e.must("BEGIN; CREATE TABLE wide AS SELECT i AS id, 1.5::double precision AS v FROM generate_series(1, 1000) AS i; " +
		"ALTER TABLE wide ADD PRIMARY KEY (id)")
	e.must("DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT id, v FROM gradient('SELECT sum(v * v) " +
		"FROM wide', NULL::wide); DECLARE d CURSOR FOR SELECT * FROM gradient('loss', NULL::trend)")
	e.gives("FETCH 2 FROM c", "1|3 2|3")
	e.gives("SELECT round(slope::numeric, 1) FROM gradient('loss', NULL::trend)", slope)
	e.gives("FETCH ABSOLUTE 1000 FROM c", "1000|3")
	e.gives("FETCH BACKWARD 1 FROM c", "999|3")
	e.must("FETCH d; COMMIT")
	e.gives("FETCH FIRST FROM c", "1|3")
	e.must("CLOSE c; DROP TABLE wide; DEALLOCATE ALL")
	e.fails("COPY (SELECT slope FROM gradient('nothing', NULL::trend)) TO STDOUT", "42P01", "nothing")
	e.must("EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM gradient('loss', NULL::trend)")
	e.alive()
}

// workers calls where the server would like to use parallel workers, or has to.
func workers(e *env) {
	setting := "force_parallel_mode"
	if e.must("SELECT current_setting('server_version_num')::int >= 160000") == "t" {
		setting = "debug_parallel_query"
	}
	e.must("INSERT INTO point SELECT i, i / 1e4, i / 1e4 FROM generate_series(21, 50000) AS i; ANALYZE")
	plain := e.must("SELECT slope FROM gradient('loss', NULL::trend)")
	e.must("SET " + setting + " = on; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET " +
		"min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2")
	for _, engine := range []string{"chunk", "sql"} {
		e.must("SET relgrad.engine = " + engine)
		e.gives("SELECT abs(g.slope / ("+plain+
			") - 1) < 1e-12 FROM gradient('loss', NULL::trend) AS g, point WHERE point.id = 40000 AND point.y > 0", "t")
		e.gives("SELECT backward('loss', ARRAY['trend']) > 0", "t")
		e.must("CALL train('loss', ARRAY['trend'], epochs => 2)")
		e.must("UPDATE trend SET slope = 0, shift = 0")
	}
}

// readOnly calls in transactions that may not write.
func readOnly(e *env) {
	e.must("BEGIN TRANSACTION READ ONLY")
	e.alive()
	e.must("SAVEPOINT a")
	// backward fills temporary tables: writing these needs no right, but they have to be created
	_, err := e.run("SELECT backward('loss', ARRAY['trend'])")
	e.t.Logf("backward: %v", err)
	e.fails("ROLLBACK TO a; CALL train('loss', ARRAY['trend'])", "25006", "read-only")
	e.must("ROLLBACK; SET default_transaction_read_only = on")
	e.alive()
	e.fails("CALL train('loss', ARRAY['trend'])", "25006", "read-only")
	e.must("RESET default_transaction_read_only")
	e.must("BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE")
	e.alive()
	e.must("COMMIT")
}

// standby calls on a server in recovery.
func standby(e *env) {
	e.must("CREATE TABLE arrived ()")
	c := e.c.Standby(e.t)
	s := open(e.t, c.DSN, "dbname="+e.db)
	s.gives("SELECT pg_is_in_recovery()", "t")
	for _, engine := range []string{"chunk", "sql"} {
		s.must("SET relgrad.engine = " + engine)
		s.alive()
		s.fails("SELECT backward('loss', ARRAY['trend'])", "25006", "read-only")
		s.fails("CALL train('loss', ARRAY['trend'])", "25006", "read-only")
		s.gives("SELECT bool_and(ok) FROM check_gradient('loss', 'trend')", "t")
		s.gives("SELECT explain_gradient('loss', 'trend') LIKE '%SELECT%'", "t")
	}
	s.Close(e.t.Context())
	quiet(e.t, c)
}
