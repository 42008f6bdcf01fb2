package extension

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/train"
)

// TestTrainOptions compares the arguments of train with the options that package train has, and with their defaults.
func TestTrainOptions(t *testing.T) {
	var names []string
	config := train.Default()
	options := config.Map()
	for _, o := range trainOptions {
		names = append(names, o.name)
		text, err := json.Marshal(options[o.name])
		if err != nil {
			t.Fatal(err)
		}
		value := strings.ReplaceAll(string(text), `"`, "'")
		if nothing := value == "null" || value == "''"; nothing != (o.value == "") || !nothing && value != o.value {
			t.Errorf("the comment on train says %s => %s, but its default is %s", o.name, o.value, value)
		}
	}
	slices.Sort(names)
	if want := train.OptionNames(); !slices.Equal(names, want) {
		t.Errorf("train has the arguments %q, but the options %q", names, want)
	}
	if want := train.Synonyms(); !slices.Equal(trainSynonyms, want) {
		t.Errorf("train has the names %q of other programs, but should have %q", trainSynonyms, want)
	}
}

// TestSurface compares the functions' signatures with those that the engine's documentation shows.
func TestSurface(t *testing.T) {
	for _, s := range relgrad.Surface {
		if s.Args == "" || s.Procedure || s.Client { // a kernel; train, compared above; not of a server
			continue
		}
		if !slices.Contains(bridgeRemarks, Remark{Routine, s.Name, s.Doc}) {
			t.Errorf("the comment on %s is not what the engine says: %s", s.Name, s.Doc)
		}
		i := slices.IndexFunc(bridgeFuncs, func(f bridgeFunc) bool { return f.name == s.Name })
		if i < 0 {
			t.Errorf("the extension lacks %s", s.Name)
		} else if f := bridgeFuncs[i]; f.args != s.Args || f.result != s.Result {
			t.Errorf("%s(%s) %s, but the engine has (%s) %s", f.name, f.args, f.result, s.Args, s.Result)
		}
	}
}

// requests checks what the engine is told about a call.
func requests(b *bridge) {
	say := func(field, want string) {
		b.t.Helper()
		b.gives("SELECT count(*) FROM "+script("say "+field, "J SELECT * FROM w"), "3", "NOTICE: "+want)
	}
	b.must(`CREATE SCHEMA "S 1"; CREATE TABLE "S 1"."W" (id int PRIMARY KEY)`)
	defer b.must(`DROP SCHEMA "S 1" CASCADE`)
	say("function", "gradient")
	say("user", "relgrad")
	say("atomic", "t")
	say("read_only", "f")
	say("database", "postgres")
	say("engine", "auto")
	say("memory", "0")
	say("param_table", "public.w")
	b.gives(strings.ReplaceAll("SELECT count(*) FROM "+script("say param_table", `J SELECT * FROM "S 1"."W"`), "NULL::w",
		`NULL::"S 1"."W", step => 7`), "0", `NOTICE: "S 1"."W"`)
	b.must("SET relgrad.memory = '1GB'; SET relgrad.threads = 3; SET relgrad.sites = 4; SET relgrad.engine = chunk")
	say("sites", "4")
	say("memory", "1073741824")
	say("threads", "3")
	say("engine", "chunk")
	b.must("BEGIN READ ONLY")
	say("read_only", "t")
	b.must("ROLLBACK")
	b.must("DISCARD ALL")
	b.must("SET search_path = public, relgrad")
	say("engine", "auto")

	const end = `E'say args\nD'`
	for call, args := range map[string]string{
		`CALL train(` + end + `)`: `{"loss":"say args\nD"}`,
		`CALL train(` + end + `, ARRAY['w', 'u "v"'], lr => 0.1, epochs => 200, options => '{"w": {"lr": 1}}', sparse => ` +
			`true, tolerance => 'NaN')`: `{"loss":"say args\nD","params":["w","u \"v\""],"lr":0.1,"options":{"w": {"lr": ` +
			`1}},"sparse":true,"epochs":200,"tolerance":"NaN"}`,
		`CALL train(` + end +
			`, sparse => ARRAY['w'], seed => -9223372036854775808, lr => 1e-300, ` +
			`max_seconds => 2)`: `{"loss":"say args\nD","lr":1e-300,` +
			`"sparse":["w"],"seed":-9223372036854775808,"max_seconds":2}`,
	} {
		b.gives(call, "", "NOTICE: "+args)
	}
	b.gives("SELECT explain_gradient(E'say args\\nQ SELECT ''a''::text\\nO\\nD', 'w')", "a",
		`NOTICE: {"loss":"say args\nQ SELECT 'a'::text\nO\nD","param":"w","stage":"sql"}`)
	b.gives("SELECT backward(E'Q SELECT NULL::double precision\\nO\\nD', ARRAY['w']) IS NULL", "t")
	b.gives("SELECT key, ok FROM check_gradient(E'J SELECT ''k'', ''c'', 1::bigint, 1.5::double precision, 1.5::double "+
		"precision, 0::double precision, true', 'w', step => 3)", "k|t")
}

// refusalsOfCalls checks calls that are refused before an engine is asked.
func refusalsOfCalls(b *bridge) {
	b.must("CREATE TYPE pair AS (a int, b int); CREATE TABLE line (id int)")
	defer b.must("DROP TYPE pair; DROP TABLE line")
	if e := b.fails("SELECT gradient('D', NULL::line)", "42804",
		"of type line, which is no table's"); !strings.Contains(e.Hint, "NULL::public.line") {
		b.t.Error(e.Hint)
	}
	for sql, want := range map[string]string{
		"SELECT * FROM gradient('D', NULL::double precision) AS g(x)": "42804 the parameter of gradient() is of type " +
			"double precision, which is no table's",
		"SELECT gradient('D', NULL::pair)":   "42804 the parameter of gradient() is of type pair, which is no table's",
		"SELECT gradient('D', w) FROM w":     "22023 the parameter of gradient() is a row of w, not NULL",
		"CALL train('D', sparse => 3)":       "42804 sparse of train() cannot be of type integer",
		"CALL train('D', ARRAY['a', NULL])":  "22004 element 2 of params of train() is NULL",
		"CALL train('D', ARRAY[['a', 'b']])": "2202E params of train() is an array of 2 dimensions",
		"CALL train('D', ARRAY['w'], epochz => 3)": "42883 procedure train(unknown, text[], epochz => integer) does not " +
			"exist",
		"SELECT backward('D', ARRAY['w'])":     "XX000 the engine gave 0 rows as the result of backward(), not one",
		"SELECT * FROM gen_rows() AS r(a int)": "55000 there are no rows for gen_rows()",
		"SET relgrad.step = 'x'":               "22023 invalid value for parameter",
		"SET relgrad.motor = 1":                "42602 invalid configuration parameter name",
		"SET relgrad.threads = 5000":           "22023 5000 is outside the valid range",
		"SET relgrad.sites = 0":                "22023 0 is outside the valid range",
	} {
		if strings.Contains(sql, "motor") && b.must("SHOW server_version_num") < "150000" {
			continue // it reserves no prefix of names
		}
		code, message, _ := strings.Cut(want, " ")
		e := b.fails(sql, code, message)
		if strings.Contains(sql, "gradient(") && !strings.Contains(e.Hint, "NULL::w") {
			b.t.Errorf("%s: hint %q", sql, e.Hint)
		}
	}
}

// transactions checks what of a call stays, and what is undone.
func transactions(b *bridge) {
	b.must("CREATE TABLE log (n int PRIMARY KEY)")
	defer b.must("DROP TABLE log")
	call := func(lines ...string) string {
		return "backward('" +
			strings.ReplaceAll(strings.Join(append(lines, "Q SELECT 1.5::double precision", "O", "D"), "\n"), "'", "''") +
			"', NULL)"
	}
	b.gives("SELECT "+call("Q INSERT INTO log VALUES (1)", "say"), "1.5", "NOTICE: INSERT 0 1, 0 rows")
	b.gives("SELECT * FROM log", "1")
	b.gives("SELECT "+call("try INSERT INTO log VALUES (2), (1)", "say",
		"Q INSERT INTO log VALUES (3) RETURNING n", "say"), "1.5",
		`NOTICE: E C(23505) M(duplicate key value violates unique constraint "log_pkey") D(Key (n)=(1) already `+
			`exists.), 0 rows`, "NOTICE: INSERT 0 1, 1 rows")
	b.gives("SELECT * FROM log", "1 3")
	b.gives("SELECT "+call("try SELECT 'é', nothing", "say", "try DO 'BEGIN PERFORM 1 FROM nowhere; END'", "say"), "1.5",
		`NOTICE: E C(42703) M(column "nothing" does not exist) p(13), 0 rows`,
		`NOTICE: E C(42P01) M(relation "nowhere" does not exist) W(PL/pgSQL function inline_code_block line 1 at PERFORM) `+
			`p(15) q(SELECT 1 FROM nowhere), 0 rows`)
	b.must("BEGIN; SAVEPOINT a")
	b.gives("SELECT "+call("Q DELETE FROM log", "say"), "1.5", "NOTICE: DELETE 2, 0 rows")
	b.must("ROLLBACK TO a")
	b.fails("SELECT "+call("Q DELETE FROM log", "X 22000 no"), "22000", "no")
	b.must("ROLLBACK TO a; COMMIT")
	b.gives("SELECT * FROM log", "1 3")
	b.gives("DO $$ BEGIN BEGIN PERFORM "+call("Q DELETE FROM log", "kill")+
		"; EXCEPTION WHEN connection_failure THEN RAISE NOTICE '%', (SELECT count(*) FROM log); END; PERFORM "+
		call("Q INSERT INTO log VALUES (5)")+"; END $$", "", "NOTICE: 2")
	b.gives("SELECT * FROM log", "1 3 5")
	b.must("BEGIN READ ONLY")
	b.fails("SELECT "+call("Q INSERT INTO log VALUES (6)"), "25006", "read-only transaction")
	b.must("ROLLBACK; BEGIN READ ONLY")
	b.gives("SELECT "+call("read SELECT 1"), "1.5")
	b.must("COMMIT")
	// settings that a request makes end with it
	b.gives("BEGIN; SELECT "+call("Q SELECT set_config('relgrad.step', '7', false)",
		"Q SELECT relgrad.current_step()", "say")+"; SELECT current_step(), current_setting('relgrad.step')", "0|",
		"NOTICE: SELECT 1, 1 rows")
	b.must("COMMIT")
	b.gives("SELECT "+call("Q SET work_mem = '77MB'")+"; SHOW work_mem", "4MB")
	// a query of the engine inside a statement sees the statement's snapshot
	b.gives("WITH i AS (INSERT INTO log VALUES (10) RETURNING n) SELECT n, count(*) FROM i, "+
		script("read SELECT count(*) FROM log", "J SELECT * FROM w WHERE id <= (SELECT count(*) - 2 FROM log)")+" GROUP BY 1",
		"10|1")
}

// committing checks CALL train outside and inside of transactions.
func committing(b *bridge) {
	b.must("CREATE TABLE log (n int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED)")
	defer b.must("DROP TABLE log")
	other := open(b.t, b.dsn)
	call := func(lines ...string) string {
		return "CALL train('" + strings.ReplaceAll(strings.Join(lines, "\n"), "'", "''") + "')"
	}
	b.gives(call("say atomic", "Q INSERT INTO log VALUES (1)", "T c", "Q INSERT INTO log VALUES (2)", "T r",
		"read SELECT count(*) FROM log", "Q INSERT INTO log VALUES (3)", "read SELECT n FROM log", "say", "D"), "",
		"NOTICE: f", "NOTICE: SELECT 2, 2 rows")
	b.gives("SELECT * FROM log", "1 3")
	b.gives(call("T c", "plain SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "read SELECT 1",
		"Q SELECT current_setting('transaction_isolation')", "T c", "D"), "")
	b.fails(call("Q INSERT INTO log VALUES (4)", "T c", "Q INSERT INTO log VALUES (5)", "kill"), "08006", "signal 9")
	b.gives("SELECT * FROM log", "1 3 4")
	b.fails(call("Q INSERT INTO log VALUES (4)", "T c"), "23505", "duplicate key")
	b.fails(call("Q INSERT INTO log VALUES (6)", "T c",
		"Q SELECT set_config('relgrad.step', '7', false)", "T c", "X 22000 no"), "22000", "no")
	b.gives("SELECT current_step(), max(n) FROM log", "0|6")
	// settings of a request last through its transactions and end with it, however it ends
	for _, end := range []string{"D", "X 22000 no", "kill"} {
		_, _ = b.run(call("Q SELECT set_config('relgrad.step', '7', false), set_config('search_path', 'relgrad', false), "+
			"set_config('my.fold', '3', false)", "T c", "Q SELECT 1", "T r", "T c",
			"Q SELECT 1 / (relgrad.current_step() / 7)",
			"Q SELECT 1 / (current_setting('my.fold')::int - 2) FROM (SELECT current_step()) AS s", "N NOTICE here", end))
		if fmt.Sprint(b.notices) != "[NOTICE: here]" {
			b.t.Errorf("settings are lost amid a request that ends by %q", end)
		}
		b.gives("SELECT current_step(), current_setting('search_path'), current_setting('my.fold', true)",
			"0|public, relgrad|")
	}
	b.fails("BEGIN; "+call("say atomic", "T c"), "08P01", "the end 99 of a transaction")
	b.must("ROLLBACK")
	b.gives("DO $$ BEGIN "+call("say atomic", "Q INSERT INTO log VALUES (7)", "T c", "D")+"; END $$", "", "NOTICE: f")
	b.gives("BEGIN; DO $$ BEGIN "+call("say atomic", "Q INSERT INTO log VALUES (8)", "read SELECT n FROM log", "say", "D")+
		"; END $$; ROLLBACK", "", "NOTICE: t", "NOTICE: SELECT 6, 6 rows")
	other.gives("SELECT max(n) FROM log", "7")
	// a lock of the session does not outlive the request
	for _, end := range []string{"kill", "Q SELECT pg_advisory_unlock(4, 5)\nD"} {
		_, _ = b.run(call("U", "Q SELECT pg_advisory_lock(4, 5)", end))
		other.gives("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", "0")
	}
	pid := b.must("SELECT pg_backend_pid()")
	other.must("SELECT 1")
	b.must("SET statement_timeout = 100")
	b.fails(call("Q INSERT INTO log VALUES (9)", "T c", "sleep"), "57014", "statement timeout")
	b.gives("SET statement_timeout = 0; SELECT max(n) FROM log", "9")
	if list := children(pid); len(list) != 0 {
		b.t.Errorf("processes: %q", list)
	}
}

// nested checks requests that run inside other requests.
func nested(b *bridge) {
	pid := b.must("SELECT pg_backend_pid()")
	inner := "J SELECT * FROM w WHERE id = 2"
	for range 2 {
		inner = "J SELECT * FROM " + script(inner)
	}
	inner = "Q SELECT * FROM " + script(inner) +
		"\nW\nJ SELECT * FROM relgrad.gen_rows() AS r(id int, name text, v real[], x double precision)"
	b.gives("SELECT * FROM "+script(inner), "2|NULL|{3,4}|NaN")
	if list := children(pid); len(list) != 4 {
		b.t.Errorf("processes: %q", list)
	}
	b.fails("SELECT * FROM "+
		script("J SELECT * FROM "+
			script("J SELECT * FROM "+script("J SELECT * FROM "+script("J SELECT * FROM "+script("D"))))),
		"54001", "more than 4 deep")
	b.fails("SELECT * FROM "+script("Q SELECT * FROM "+script("Q SELECT * FROM "+script("kill"))), "08006", "signal 9")
	b.gives("SELECT * FROM "+script("try SELECT * FROM "+script("kill"), "J SELECT * FROM w WHERE id = 2"),
		"2|NULL|{3,4}|NaN")
}

// workers checks that calls work if the server would like to use parallel workers.
func workers(b *bridge) {
	setting := "force_parallel_mode"
	if b.must("SELECT current_setting('server_version_num')::int >= 160000") == "t" {
		setting = "debug_parallel_query"
	}
	b.must("SET " + setting +
		" = on; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0")
	b.gives("SELECT g.id, g.x FROM "+script("Q SELECT set_config('relgrad.step', '7', false)",
		"Q SELECT * FROM w WHERE relgrad.current_step() = 7", "O", "D")+" AS g JOIN w USING (id) ORDER BY id",
		"1|0.5 2|NaN 3|NULL")
}

// owners checks that a user's runs are the user's own.
func owners(b *bridge) {
	b.must("CREATE ROLE anna LOGIN; CREATE ROLE otto LOGIN; GRANT SELECT ON w TO anna")
	add := "INSERT INTO relgrad.run_row (loss, parameters, keys, options, seed, status, step, waited, started, updated) " +
		"SELECT 'l', '{}', '', '{}', 0, 'running', 0, 0, now(), now();" +
		"INSERT INTO relgrad.loss (run, step, epoch, loss, at) SELECT max(run), 1, 1, 0.5, now() FROM relgrad.run; " +
		"INSERT INTO relgrad.state (run, parameter, name, row, v) SELECT max(run), 'w', 'm', 0, '{1}' FROM relgrad.run; " +
		"INSERT INTO relgrad.validation (run, step, position, name) SELECT max(run), 1, 1, 'v' FROM relgrad.run"
	anna, otto := open(b.t, strings.Replace(b.dsn, "user=relgrad", "user=anna", 1)),
		open(b.t, strings.Replace(b.dsn, "user=relgrad", "user=otto", 1))
	anna.must(add)
	otto.must(add)
	for _, u := range []*bridge{anna, otto} {
		u.gives("SELECT owner = current_user, (SELECT count(*) FROM relgrad.loss), (SELECT count(*) "+
			"FROM relgrad.state), (SELECT count(*) FROM relgrad.validation) FROM relgrad.run", "t|1|1|1")
	}
	otto.gives("WITH u AS (UPDATE relgrad.run_row SET status = 'x' RETURNING run) SELECT count(*) FROM u", "1")
	// nobody trains this run
	anna.gives("SELECT status, (SELECT status FROM relgrad.run_row) FROM relgrad.run", "interrupted|running")
	anna.fails("UPDATE relgrad.run_row SET owner = 'otto'", "42501", "permission denied")
	anna.fails("INSERT INTO relgrad.loss (run, step, epoch, loss, at, owner) VALUES (2, 2, 1, 0, now(), 'otto')",
		"42501", "permission denied")
	anna.gives("SELECT count(*) FROM "+script("say user", "J SELECT * FROM w"), "3", "NOTICE: anna")
	otto.fails("SELECT count(*) FROM "+script("J SELECT * FROM w"), "42501", "permission denied for table w")
	for _, u := range []*bridge{anna, otto} {
		u.Close(context.Background())
	}
	b.must("DELETE FROM relgrad.run; DELETE FROM relgrad.loss; DELETE FROM relgrad.state; " +
		"DELETE FROM relgrad.validation; DROP OWNED BY anna, otto; DROP ROLE anna, otto")
}

// dropped checks that nothing of the extension is left.
func dropped(b *bridge) {
	what := "SELECT (SELECT count(*) FROM pg_class), (SELECT count(*) FROM pg_proc), (SELECT count(*) " +
		"FROM pg_type), (SELECT count(*) FROM pg_operator), (SELECT count(*) FROM pg_policy), (SELECT count(*) " +
		"FROM pg_depend WHERE refclassid <> 'pg_namespace'::regclass), (SELECT count(*) FROM pg_init_privs)"
	b.must("CREATE DATABASE other")
	c := open(b.t, strings.Replace(b.dsn, "dbname=postgres", "dbname=other", 1))
	before := c.must(what)
	c.must("CREATE EXTENSION relgrad; CREATE TABLE w (id int PRIMARY KEY)")
	c.must("SELECT * FROM " + script("D"))
	c.gives("SELECT string_agg(t::regclass::text, ' ' ORDER BY t::regclass::text) "+
		"FROM pg_extension, unnest(extconfig) AS t WHERE extname = 'relgrad'",
		"loss run_id run_row state validation") // what pg_dump keeps
	c.must("DROP TABLE w; DROP EXTENSION relgrad")
	c.gives(what, before)
}
