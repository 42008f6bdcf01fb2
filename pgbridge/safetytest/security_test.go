package safetytest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// These tests check the sentences of docs/security.md, in its order.

// two makes the roles anna and otto, who may train the model, and their sessions.
func (e *env) two() (anna, otto *session) {
	e.must("CREATE ROLE anna LOGIN; CREATE ROLE otto LOGIN; GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA public TO " +
		"anna, otto; GRANT CREATE ON SCHEMA public TO anna, otto")
	return e.another("user=anna"), e.another("user=otto")
}

// end closes the sessions and drops the roles.
func (e *env) end(anna, otto *session) {
	anna.Close(e.t.Context())
	otto.Close(e.t.Context())
	e.must("DROP OWNED BY anna, otto; DROP ROLE anna, otto")
}

const once = "CALL train('loss', ARRAY['trend'], epochs => 5, max_seconds => 1e-9"

// resumes: the text that is stored of a run is run for its owner only.
func resumes(e *env) {
	anna, otto := e.two()
	e.must("CREATE TABLE who (name name, session name); GRANT INSERT, SELECT ON who TO PUBLIC")
	const hook = ", before_step => 'INSERT INTO who VALUES (current_user, session_user)')"
	anna.must(once + hook)
	run := anna.must("SELECT run FROM relgrad.run")
	e.fails("CALL train(resume => "+run+")", "42501", "run "+run+" belongs to anna")
	e.fails("BEGIN; CALL train(resume => "+run+")", "42501", "run "+run+" belongs to anna")
	e.must("ROLLBACK")
	otto.fails("CALL train(resume => "+run+")", "42704", "run "+run+" does not exist")
	e.must("GRANT anna TO otto") // a member of the role anna can become anna, but is not anna
	otto.fails("CALL train(resume => "+run+")", "42704", "does not exist")
	e.gives("SELECT string_agg(DISTINCT name || ' ' || session, ',') FROM who", "anna anna")
	anna.must("CALL train(resume => " + run + ")")
	otto.must("SET ROLE anna; CALL train(resume => " + run + "); RESET ROLE")
	e.gives("SELECT string_agg(DISTINCT name || ' ' || session, ',' ORDER BY name || ' ' || session) FROM who",
		"anna anna,anna otto")
	e.gives("SELECT status, step FROM relgrad.run", "stopped by max_seconds|3")
	// a text of anna's cannot take back the rights of the session
	for _, sql := range []string{"RESET ROLE", "SET ROLE NONE", "SET SESSION AUTHORIZATION DEFAULT",
		"SELECT set_config('role', 'none', false)", "DO $$ BEGIN RESET ROLE; END $$"} {
		e.fails("SET ROLE anna; "+once+", before_step => "+literal(sql)+")", "42501", "cannot set parameter")
		e.must("RESET ROLE")
	}
	anna.must("CREATE FUNCTION sly() RETURNS double precision LANGUAGE plpgsql AS $$ BEGIN PERFORM set_config('role', " +
		"'none', false); RETURN 1; END $$; CREATE VIEW slyly AS SELECT sum(slope * f) AS loss " +
		"FROM trend, (SELECT DISTINCT sly() AS f) q")
	e.fails("SET ROLE anna; SELECT * FROM gradient('slyly', NULL::trend)", "0A000", "volatile by set_config()")
	e.must("RESET ROLE")
	e.end(anna, otto)
}

// records: nobody changes the stored record of another's run, takes numbers in advance, or adds to the runs of others.
func records(e *env) {
	anna, otto := e.two()
	anna.must(once + ")")
	anna.gives("SELECT run, owner FROM relgrad.run", "1|anna")
	otto.gives("SELECT count(*) FROM relgrad.run", "0")
	otto.gives("SELECT count(*) FROM relgrad.run_row", "0")
	for _, col := range []string{"run = 5", "loss = 'other'", "parameters = '{}'", "keys = ''",
		"options = '{\"before_step\": \"SELECT 1\"}'", "seed = 1", "context = '{}'", "owner = 'otto'"} {
		for _, table := range []string{"run", "run_row"} {
			for _, s := range []*session{anna, otto} {
				s.fails("UPDATE relgrad."+table+" SET "+col, "42501", "permission denied for")
			}
		}
	}
	const values = "'l', '{}', '', '{}', 0, 'running', 0, 0, now(), now()"
	const cols = "loss, parameters, keys, options, seed, status, step, waited, started, updated) VALUES ("
	for _, into := range []string{"run (run, " + cols + "2, ", "run (" + cols, "run_row (run, " + cols + "2, ",
		"run_row (owner, " + cols + "'anna', "} {
		otto.fails("INSERT INTO relgrad."+into+values+")", "42501", "permission denied")
	}
	otto.fails("INSERT INTO relgrad.loss (run, step, epoch, loss, at) VALUES (1, 2, 1, 1, now())", "42501",
		"row-level security")
	otto.fails("INSERT INTO relgrad.loss (run, step, epoch, loss, at) VALUES (7, 2, 1, 1, now())",
		"42501", "row-level security")
	otto.fails("INSERT INTO relgrad.state (run, parameter, name, row) VALUES (1, 'trend.slope', 'm', 7)",
		"42501", "row-level security")
	otto.fails("INSERT INTO relgrad.validation (run, step, position, name) VALUES (1, 1, 1, 'v')",
		"42501", "row-level security")
	otto.fails("SELECT setval('relgrad.run_id', 100)", "42501", "permission denied")
	for _, sql := range []string{"TRUNCATE relgrad.run_row", "ALTER TABLE relgrad.run_row DISABLE ROW LEVEL SECURITY",
		"CREATE TABLE relgrad.mine ()", "DROP VIEW relgrad.run",
		"CREATE TRIGGER t BEFORE INSERT ON relgrad.loss FOR EACH ROW EXECUTE FUNCTION relgrad.impl_change_run()"} {
		otto.fails(sql, "42501", "")
	}
	otto.must("DELETE FROM relgrad.run; DELETE FROM relgrad.run_row; DELETE FROM relgrad.loss; DELETE FROM relgrad.state")
	anna.must("CALL train(resume => 1)")
	e.must(once + ")")
	e.gives("SELECT string_agg(run || ' ' || owner, ',' ORDER BY run) FROM relgrad.run", "1 anna,2 relgrad")
	anna.must("DELETE FROM relgrad.run WHERE run = 1")
	anna.gives("SELECT count(*) FROM relgrad.run", "0")
	e.end(anna, otto)
}

// viewRights: a view does not read for anybody what its owner may not read, and a user without the right to the view
// reads nothing.
func viewRights(e *env) {
	anna, otto := e.two()
	e.must("CREATE TABLE secret (id int PRIMARY KEY, v double precision, w double precision); INSERT INTO " +
		"secret VALUES (1, 42, 1)")
	anna.must("CREATE TABLE mine (id int PRIMARY KEY, v double precision); INSERT INTO mine VALUES (1, 0); " +
		"CREATE VIEW thief AS SELECT sum((m.v - s.v) ^ 2) AS loss FROM mine m JOIN secret s USING (id);" +
		"CREATE VIEW above AS SELECT loss * 1 AS loss FROM thief")
	for _, engine := range []string{"chunk", "sql"} {
		e.must("SET relgrad.engine = " + engine)
		for _, loss := range []string{"thief", "above", "SELECT loss FROM above"} {
			e.fails("SELECT * FROM gradient('"+loss+"', NULL::mine)", "42501", "permission denied for table secret")
			e.fails("CALL train('"+loss+"', ARRAY['mine'])", "42501", "permission denied for table secret")
		}
		e.must("GRANT SELECT (id, w) ON secret TO anna")
		e.fails("SELECT * FROM gradient('thief', NULL::mine)", "42501", "permission denied for table secret")
		e.must("GRANT SELECT (v) ON secret TO anna")
		e.gives("SELECT * FROM gradient('above', NULL::mine)", "1|-84")
		e.must("REVOKE ALL ON secret FROM anna; REVOKE ALL (id, v, w) ON secret FROM anna")
	}
	e.must("GRANT SELECT ON secret TO anna, otto")
	anna.must("GRANT SELECT ON mine TO otto")
	otto.fails("SELECT * FROM gradient('thief', NULL::mine)", "42501", "permission denied for view thief")
	anna.must("GRANT SELECT ON thief TO otto")
	otto.gives("SELECT * FROM gradient('thief', NULL::mine)", "1|-84")
	otto.fails("SELECT * FROM gradient('above', NULL::mine)", "42501", "permission denied for view above")
	e.end(anna, otto)
}

// guarded: a function with other rights or settings than its caller's is not inlined.
func guarded(e *env) {
	e.must("CREATE TABLE secret (v double precision); INSERT INTO secret VALUES (3); CREATE ROLE poor LOGIN; " +
		"GRANT SELECT ON trend TO poor;" +
		"CREATE FUNCTION lends(x double precision) RETURNS double precision LANGUAGE sql STABLE SECURITY DEFINER AS " +
		"'SELECT x * 2';" +
		"CREATE FUNCTION reads() RETURNS double precision LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, " +
		"pg_temp AS 'SELECT v FROM secret';" +
		"CREATE FUNCTION sets(x double precision) RETURNS double precision LANGUAGE sql STABLE SET search_path = " +
		"pg_catalog AS 'SELECT x * 2'")
	p := e.another("user=poor")
	for _, engine := range []string{"chunk", "sql"} {
		p.must("SET relgrad.engine = " + engine)
		p.fails("SELECT * FROM gradient('SELECT sum(lends(slope)) FROM trend', NULL::trend)", "0A000", "SECURITY DEFINER")
		p.fails("SELECT * FROM gradient('SELECT sum(sets(slope)) FROM trend', NULL::trend)", "0A000", "with SET")
		p.gives(
			"SELECT slope FROM gradient('SELECT sum(slope * q.f) FROM trend, (SELECT DISTINCT reads() AS f) q', NULL::trend)",
			"3")
	}
	p.Close(e.t.Context())
	e.must("DROP OWNED BY poor; DROP ROLE poor")
}

// gradTables: backward fills no table that another role has prepared in the session.
func gradTables(e *env) {
	e.must("CREATE ROLE otto LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO otto; " +
		"CREATE TABLE caught (name name); GRANT INSERT ON caught TO PUBLIC;" +
		"CREATE FUNCTION lent() RETURNS double precision LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, " +
		"relgrad AS $$ SELECT backward('loss', ARRAY['trend']) $$")
	o := e.another("user=otto")
	o.must("CREATE FUNCTION pg_temp.catch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.caught " +
		"VALUES (current_user); RETURN NEW; END $$;" +
		"CREATE TEMP TABLE trend_grad (id int PRIMARY KEY, slope double precision, shift double precision); COMMENT ON " +
		"TABLE trend_grad IS 'a gradient, filled by backward()';" +
		"CREATE TRIGGER t BEFORE INSERT ON trend_grad FOR EACH ROW EXECUTE FUNCTION pg_temp.catch()")
	for _, engine := range []string{"chunk", "sql"} {
		o.must("SET relgrad.engine = " + engine)
		o.fails("SELECT lent()", "42P07", "a relation of that name exists")
	}
	e.gives("SELECT count(*) FROM caught", "0")
	o.must("DROP TABLE trend_grad; SELECT lent()")
	o.Close(e.t.Context())
	e.must("DROP OWNED BY otto; DROP ROLE otto")
}

// caps: the administrator decides what a session may take.
func caps(e *env) {
	e.must("CREATE TABLE chunk (id int PRIMARY KEY, v real[]); INSERT INTO chunk SELECT i, array_fill(0.5::real, " +
		"ARRAY[256, 256]) FROM generate_series(1, 40) AS i;" +
		"CREATE VIEW heavy AS SELECT sum(sum_elements(relgrad.tanh(matmul(a.v, b.v)))) AS loss FROM chunk a, chunk b " +
		"WHERE b.id <= 10;" +
		"CREATE ROLE anna LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO anna; " +
		"ALTER ROLE anna SET relgrad.max_memory = '8MB'; ALTER ROLE anna SET relgrad.engine = chunk")
	a := e.another("user=anna")
	// a value that is set before the library is loaded does not count either: the library knows who set it
	a.must("SET relgrad.max_memory = '2GB'; SET relgrad.memory = '1GB'")
	a.fails("SELECT count(*) FROM gradient('heavy', NULL::chunk)", "53200", "memory")
	a.gives("SHOW relgrad.max_memory", "8MB")
	for _, name := range []string{"max_memory", "max_threads", "max_spill"} {
		a.fails("SET relgrad."+name+" = 0", "42501", "permission denied to set parameter")
		a.fails("SELECT set_config('relgrad."+name+"', '0', false)", "42501", "permission denied to set parameter")
	}
	for _, asked := range []string{"0", "'1GB'"} {
		a.fails("SET relgrad.memory = "+asked+"; SELECT count(*) FROM gradient('heavy', NULL::chunk)", "53200", "memory")
	}
	// with 120 MB it spills to files in the tablespace, as much as is allowed
	a.Close(e.t.Context())
	e.must("CREATE TABLESPACE fast LOCATION '" + e.folder("fast") + "'")
	e.must("GRANT CREATE ON TABLESPACE fast TO anna; ALTER ROLE anna SET relgrad.max_memory = '120MB'; ALTER ROLE anna " +
		"SET temp_tablespaces = fast")
	oid := e.must("SELECT oid FROM pg_tablespace WHERE spcname = 'fast'")
	a = e.another("user=anna")
	a.gives("SELECT count(*) FROM gradient('heavy', NULL::chunk)", "40")
	if said := strings.Join(a.notices, "\n"); !strings.Contains(said, "pg_tblspc/"+oid+"/") {
		e.t.Errorf("what did not fit lies elsewhere: %s", said)
	}
	for _, set := range []string{"relgrad.max_spill = '1MB'", "temp_file_limit = '1MB'", "relgrad.max_spill = 0"} {
		name, _, _ := strings.Cut(set, " ")
		e.must("ALTER ROLE anna SET " + set)
		b := e.another("user=anna")
		b.fails("SELECT count(*) FROM gradient('heavy', NULL::chunk)", "53400", "temporary files of the engine would take")
		b.alive()
		b.Close(e.t.Context())
		e.must("ALTER ROLE anna RESET " + name)
	}
	a.Close(e.t.Context())
	e.must("DROP OWNED BY anna")
	e.must("DROP ROLE anna")
	e.must("DROP TABLESPACE fast")
	// threads, and which process is killed first when memory runs out
	e.must("SET relgrad.max_threads = 1; SET relgrad.threads = 8; SELECT backward('loss', ARRAY['trend'])")
	for _, p := range engines(map[int]bool{e.pid(): true}) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", p.pid))
		own, _ := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", e.pid()))
		engine, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		backend, _ := strconv.Atoi(strings.TrimSpace(string(own)))
		if err != nil || engine < 500 || engine <= backend {
			e.t.Errorf("oom_score_adj of the engine is %d, of its backend %d: %v", engine, backend, err)
		}
	}
}

// notPermitted: a change that a run may not make is found before its first step, and the run has failed.
func notPermitted(e *env) {
	e.must("CREATE ROLE anna LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO anna; CREATE TABLE stepped (n int); " +
		"GRANT INSERT, SELECT ON stepped TO anna")
	a := e.another("user=anna")
	const call = "CALL train('SELECT avg((y - (slope * x + shift)) ^ 2) FROM point CROSS " +
		"JOIN trend', ARRAY['trend'], epochs => 2, before_step => 'INSERT INTO stepped VALUES (1)')"
	e.must("CREATE ROLE olga LOGIN; GRANT SELECT (id) ON trend TO olga; GRANT SELECT ON point TO olga")
	e.another("user=olga").fails("SELECT * FROM gradient('SELECT avg(x) FROM point CROSS JOIN trend', NULL::trend)",
		"42501", "permission denied for table trend")
	for _, engine := range []string{"chunk", "sql"} {
		a.must("SET relgrad.engine = " + engine)
		a.fails(call, "42501", `train changes its column "slope", "shift"`)
		a.gives("SELECT status, step FROM relgrad.run ORDER BY run DESC LIMIT 1", "failed|0")
		e.must("GRANT UPDATE (slope) ON trend TO anna")
		a.fails(call, "42501", `train changes its column "shift"`)
		a.fails("BEGIN; "+call, "42501", "permission denied for table trend")
		a.must("ROLLBACK; CALL train('loss', ARRAY['trend.slope'], epochs => 1)")
		e.must("GRANT UPDATE (shift) ON trend TO anna")
		a.must("CALL train('loss', ARRAY['trend'], epochs => 1)")
		e.must("REVOKE UPDATE (slope, shift) ON trend FROM anna")
		// row-level security that hides rows from UPDATE, or refuses the new rows
		e.must("GRANT UPDATE ON trend TO anna; ALTER TABLE trend ENABLE ROW LEVEL SECURITY; " +
			"CREATE POLICY see ON trend FOR SELECT USING (true); CREATE POLICY few ON trend FOR UPDATE USING (id > 1)")
		a.fails(call, "42501", "row-level security lets you change 0 of the 1 rows of parameter trend")
		e.must("DROP POLICY few ON trend; CREATE POLICY few ON trend FOR UPDATE USING (true) WITH CHECK (id > 1)")
		a.fails(call, "42501", "row-level security")
		a.gives("SELECT count(*) FROM relgrad.run WHERE status IN ('running', 'interrupted')", "0")
		e.must("DROP POLICY see ON trend; DROP POLICY few ON trend; ALTER TABLE trend DISABLE ROW LEVEL SECURITY")
		for right, table := range map[string]string{"INSERT": "loss", "DELETE": "state",
			"SELECT": "run", "UPDATE": "run_row"} {
			e.must("REVOKE " + right + " ON relgrad." + table + " FROM PUBLIC")
			a.fails(call, "42501", "permission denied for relgrad."+table)
			a.fails("CALL train(resume => 1)", "42501", "permission denied for")
			e.must("GRANT " + right + " ON relgrad." + table + " TO PUBLIC")
		}
		e.must("REVOKE UPDATE ON trend FROM anna")
	}
	e.gives("SELECT count(*) FROM stepped", "0")
	e.must("GRANT UPDATE ON trend TO anna")
	a.fails("CALL train('loss', ARRAY['trend'], epochs => 2, before_step => 'INSERT INTO point VALUES (100, 1, 1)')",
		"42501", "permission denied for table point")
	a.gives("SELECT status, step FROM relgrad.run ORDER BY run DESC LIMIT 1", "failed|0")
	a.Close(e.t.Context())
	e.must("DROP OWNED BY anna; DROP ROLE anna")
}

// running waits until a run after the last one has committed a step, and returns its number. An earlier run that has
// ended with its session says running, too, while a new one takes its lock to correct that.
func (e *env) running(last string) string {
	e.reached("SELECT count(*) = 1 FROM relgrad.run WHERE status = 'running' AND step > 0 AND run > " + last)
	return e.must("SELECT max(run) FROM relgrad.run")
}

// notRunning: relgrad.run shows as running only what runs, and a cancelled run says how to go on.
func notRunning(e *env) {
	for _, engine := range []string{"chunk", "sql"} {
		a := e.another()
		a.must("SET relgrad.engine = " + engine)
		last := e.must("SELECT coalesce(max(run), 0) FROM relgrad.run")
		done := background(a, long)
		run := e.running(last)
		e.must(fmt.Sprintf("SELECT pg_cancel_backend(%d)", a.PgConn().PID()))
		err := <-done
		if err == nil || !strings.Contains(err.Error(), "57014") {
			e.t.Fatalf("the cancelled run: %v", err)
		}
		detail := fields(err)
		if step := e.must("SELECT step FROM relgrad.run WHERE run = " + run); !strings.Contains(detail,
			"Run "+run+" is interrupted. The parameters as of step "+step+" of 100000000 are committed.") ||
			!strings.Contains(detail, "CALL train(resume => "+run+"); goes on with it.") {
			e.t.Errorf("%s: a cancelled run says %s; it is at step %s", engine, detail, step)
		}
		e.gives("SELECT status FROM relgrad.run WHERE run = "+run, "interrupted")
		a.must("SET statement_timeout = '2s'")
		a.fails("CALL train('loss', ARRAY['trend'], epochs => 1000, before_step => 'SELECT pg_sleep(60)')", "57014",
			"None of its steps is committed")
		a.must("SET statement_timeout = 0")
		// the second way kills the client
		for _, end := range []string{"SELECT pg_terminate_backend(%d, 10000)", "kill"} {
			b := e.another()
			b.must("SET relgrad.engine = " + engine)
			last := e.must("SELECT max(run) FROM relgrad.run")
			background(b, long)
			run := e.running(last)
			if pid := b.PgConn().PID(); end == "kill" {
				_ = b.PgConn().Conn().Close()
				e.must(fmt.Sprintf("SELECT pg_terminate_backend(%d, 10000)", pid))
			} else {
				e.must(fmt.Sprintf(end, pid))
			}
			e.reached("SELECT status = 'interrupted' FROM relgrad.run WHERE run = " + run)
		}
		a.Close(e.t.Context())
	}
}

// installs checks who may create the extension: no owner of a database.
func installs(e *env) {
	e.must("DROP EXTENSION relgrad CASCADE; CREATE ROLE owner LOGIN")
	e.must(fmt.Sprintf("ALTER DATABASE %q OWNER TO owner", e.db))
	owner := e.another("user=owner")
	owner.must("CREATE SCHEMA own; DROP SCHEMA own")
	owner.fails("CREATE EXTENSION relgrad", "42501", "permission denied to create extension")
	e.must("CREATE EXTENSION relgrad")
	owner.must("SET search_path = public, relgrad; CREATE TABLE public.mine (id int PRIMARY KEY, x double precision); " +
		"INSERT INTO mine VALUES (1, 2)")
	owner.gives("SELECT x FROM gradient('SELECT sum(x * x) FROM mine', NULL::mine)", "4")
	owner.must("DROP TABLE mine")
	e.must(fmt.Sprintf("ALTER DATABASE %q OWNER TO relgrad; DROP ROLE owner", e.db))
}
