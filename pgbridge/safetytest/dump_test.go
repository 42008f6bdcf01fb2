package safetytest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/relgrad/relgrad/internal/need"
)

// dropped checks that nothing is left when the extension is dropped.
func dropped(e *env) {
	what := "SELECT (SELECT count(*) FROM pg_class), (SELECT count(*) FROM pg_proc), (SELECT count(*) " +
		"FROM pg_type), (SELECT count(*) FROM pg_operator), (SELECT count(*) FROM pg_policy), (SELECT count(*) " +
		"FROM pg_cast), (SELECT count(*) FROM pg_namespace), (SELECT count(*) FROM pg_init_privs)"
	e.must(
		"CALL train('loss', ARRAY['trend'], epochs => 2); SELECT backward('loss', ARRAY['trend']); DROP TABLE trend_grad")
	e.must("CREATE VIEW uses AS SELECT dot(ARRAY[1, 2]::real[], ARRAY[3, 4]::real[]) AS d")
	e.fails("DROP EXTENSION relgrad", "2BP01", "cannot drop extension relgrad because other objects depend on it")
	e.must("DROP VIEW uses; DROP EXTENSION relgrad; SET search_path = public")
	without := e.must(what)
	e.gives("SELECT count(*) FROM pg_namespace WHERE nspname = 'relgrad'", "0")
	e.fails("SELECT * FROM relgrad.gradient('loss', NULL::trend)", "3F000", "relgrad")
	for range 2 { // the second time in a session whose library is loaded and whose engine runs
		e.must("CREATE EXTENSION relgrad; SET search_path = public, relgrad")
		e.must("CREATE VIEW uses AS SELECT dot(ARRAY[1, 2]::real[], ARRAY[3, 4]::real[]) AS d; DROP VIEW loss; " +
			"CREATE VIEW loss AS SELECT avg((y - (slope * x + shift)) ^ 2) AS loss FROM point CROSS JOIN trend")
		e.must("CALL train('loss', ARRAY['trend'], epochs => 2); UPDATE trend SET slope = 0, shift = 0")
		e.alive()
		e.gives("SELECT run FROM relgrad.run", "1")
		e.must("DROP EXTENSION relgrad CASCADE")
		e.gives(what, without)
		e.gives("SELECT to_regclass('uses') IS NULL, to_regclass('loss') IS NOT NULL", "t|t")
	}
}

// dump restores a database from a dump, and goes on training there.
func dump(e *env) {
	e.must("CREATE TABLE whole (id int PRIMARY KEY, v real[]); INSERT INTO whole VALUES (1, '{0.5,-0.5}'), (2, " +
		"'{0.25,1}'); CREATE VIEW guess AS SELECT point.id, y, sum(dot(v, ARRAY[x, 1]::real[])) AS z " +
		"FROM point, whole GROUP BY 1, 2;" +
		"CREATE VIEW net AS SELECT avg((y - z) ^ 2) + 0.01 * (SELECT sum(sqnorm(v * 2 - v)) FROM whole) AS loss " +
		"FROM guess; CREATE ROLE anna LOGIN; GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA public TO anna")
	a := e.another("user=anna")
	a.must("CALL train('net', ARRAY['whole'], lr => 0.01, epochs => 500)") // run 1
	a.must("CALL train('net', ARRAY['whole'], lr => 0.01, epochs => 700, max_seconds => 1e-9)")
	a.gives("SELECT run, status, step FROM relgrad.run WHERE run = 2",
		a.must("SELECT 2, status, 1 FROM relgrad.run WHERE run = 2"))
	dsn := func(db string) string { return strings.Replace(e.c.DSN, "dbname=postgres", "dbname="+db, 1) }
	for _, format := range []string{"plain", "custom"} {
		file, db := filepath.Join(e.c.Dir, "dump."+format), "restored_"+format
		if out, err := e.c.Client("pg_dump", "-F", format, "-f", file, "-d", dsn(e.db)).CombinedOutput(); err != nil {
			e.t.Fatalf("pg_dump: %v\n%s", err, out)
		}
		e.must("CREATE DATABASE " + db + " TEMPLATE template0")
		restore := e.c.Client("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", file, "-d", dsn(db))
		if format == "custom" {
			restore = e.c.Client("pg_restore", "--exit-on-error", "-d", dsn(db), file)
		}
		if out, err := restore.CombinedOutput(); err != nil {
			e.t.Fatalf("restoring: %v\n%s", err, out)
		}
	}
	a.must("CALL train(resume => 2)")
	want := a.must("SELECT v::text FROM whole ORDER BY id")
	for _, db := range []string{"restored_plain", "restored_custom"} {
		r := open(e.t, e.c.DSN, "dbname="+db)
		r.alive()
		r.gives("SELECT string_agg(run::text || ' ' || owner, ', ' ORDER BY run) FROM relgrad.run", "1 anna, 2 anna")
		r.gives("SELECT count(*) FROM pg_extension WHERE extname = 'relgrad'", "1")
		r.Close(e.t.Context())
		r = open(e.t, e.c.DSN, "dbname="+db, "user=anna")
		r.gives("SELECT step FROM relgrad.run WHERE run = 2", "1")
		r.must("CALL train(resume => 2)")
		r.gives("SELECT v::text FROM whole ORDER BY id", want)
		r.gives("SELECT step FROM relgrad.run WHERE run = 2", "2")
		r.must("CALL train('net', ARRAY['whole'], epochs => 1)")
		r.gives("SELECT max(run) FROM relgrad.run", "3")
		r.Close(e.t.Context())
	}
	a.Close(e.t.Context())
	for _, sql := range []string{"DROP DATABASE restored_plain", "DROP DATABASE restored_custom",
		"DROP OWNED BY anna; DROP ROLE anna"} {
		e.must(sql)
	}
}

// upgrade updates the extension to a version that exists only in this test.
func upgrade(e *env) {
	e.must("CALL train('loss', ARRAY['trend'], epochs => 2); UPDATE trend SET slope = 0, shift = 0")
	base := filepath.Join(need.Root(), "pgbridge", "extension")
	script, err := os.ReadFile(filepath.Join(base, "relgrad--0.1.sql"))
	if err != nil {
		e.t.Fatal(err)
	}
	control, err := os.ReadFile(filepath.Join(base, "relgrad.control"))
	if err != nil {
		e.t.Fatal(err)
	}
	const added = "\nCREATE FUNCTION is_new() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 2';\nALTER TABLE run_row " +
		"ADD COLUMN place text;\n"
	update := "\\echo Use \"ALTER EXTENSION relgrad UPDATE\" to load this file. \\quit\n" +
		strings.ReplaceAll(strings.ReplaceAll(added, "is_new", "relgrad.is_new"), "TABLE run_row", "TABLE relgrad.run_row")
	for name, text := range map[string]string{"relgrad--0.2.sql": string(script) + added, "relgrad--0.1--0.2.sql": update,
		"relgrad.control": strings.Replace(string(control), "'0.1'", "'0.2'", 1)} {
		if err := e.c.Script(name, text); err != nil {
			e.t.Fatal(err)
		}
	}
	e.must("ALTER EXTENSION relgrad UPDATE")
	e.gives("SELECT extversion, relgrad.is_new(), (SELECT count(*) FROM relgrad.run_row WHERE place IS NULL) "+
		"FROM pg_extension WHERE extname = 'relgrad'", "0.2|2|1")
	e.alive()
	e.must("CALL train('loss', ARRAY['trend'], epochs => 2)")
	e.gives("SELECT max(run) FROM relgrad.run", "2")
	objects := "SELECT string_agg(pg_describe_object(classid, objid, 0), ',' " +
		"ORDER BY pg_describe_object(classid, objid, 0)) FROM pg_depend WHERE deptype = 'e' " +
		"AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'relgrad')"
	updated := e.must(objects)
	e.must("DROP EXTENSION relgrad CASCADE; CREATE EXTENSION relgrad VERSION '0.2'")
	if fresh := e.must(objects); fresh != updated {
		e.t.Errorf("an update gives other objects than a new installation:\n%s\n%s", updated, fresh)
	}
	if err := e.c.Script("relgrad.control", string(control)); err != nil {
		e.t.Fatal(err)
	}
	e.must(fmt.Sprintf("DROP EXTENSION relgrad CASCADE; CREATE EXTENSION relgrad VERSION '0.1'"))
}
