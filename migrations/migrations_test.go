package migrations

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

func exec(t *testing.T, c *pgx.Conn, sql string) {
	t.Helper()
	if _, err := c.Exec(context.Background(), sql); err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	c, err := Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// database makes a database that belongs to a role without rights of its own, and connects as that role.
func database(t *testing.T, root *pgx.Conn, dsn, name string) *pgx.Conn {
	t.Helper()
	exec(t, root, fmt.Sprintf("CREATE ROLE %[1]s LOGIN; ", name))
	exec(t, root, fmt.Sprintf("CREATE DATABASE %[1]s OWNER %[1]s", name))
	return connect(t,
		strings.Replace(strings.Replace(dsn, "user=relgrad", "user="+name, 1), "dbname=postgres", "dbname="+name, 1))
}

func TestInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	cluster := pgcluster.StartBare(t)
	root := connect(t, cluster.DSN)
	c := database(t, root, cluster.DSN, "plain")
	s, err := Read(ctx, c)
	if err != nil || s.Portable || s.Schema || s.Extension != "" || s.Pending() != s.Latest || s.Latest == 0 {
		t.Fatalf("before: %+v, %v", s, err)
	}
	for i := range 2 {
		before, err := Apply(ctx, c)
		if err != nil || before.Pending() != []int{s.Latest, 0}[i] {
			t.Fatalf("%+v, %v", before, err)
		}
	}
	if s, err = Read(ctx, c); err != nil || !s.Portable || s.Pending() != 0 {
		t.Errorf("after: %+v, %v", s, err)
	}
	var sum string
	if err := c.QueryRow(ctx, "SELECT (relgrad.exp('{0,0}'::real[]) OPERATOR(relgrad.+) 1)::text").
		Scan(&sum); err != nil || sum != "{2,2}" {
		t.Errorf("%s, %v", sum, err)
	}
	exec(t, c, "UPDATE relgrad.schema_version SET version = version + 1")
	refused(t, c, "migrations of relgrad, this program knows")
}

func refused(t *testing.T, c *pgx.Conn, message string) {
	t.Helper()
	_, err := Apply(context.Background(), c)
	var e *sqlerr.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, message) || e.Hint == "" {
		t.Errorf("%v (want %s)", err, message)
	}
}

// TestNothingLeft looks whether installations that fail leave the database as it was, and the lock free.
func TestNothingLeft(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	cluster := pgcluster.StartBare(t)
	root := connect(t, cluster.DSN)
	c := database(t, root, cluster.DSN, "other")
	exec(t, c, "CREATE SCHEMA relgrad; CREATE TABLE relgrad.mine (i int)")
	refused(t, c, "a schema relgrad that is not the portable tier's")
	exec(t, c, "DROP SCHEMA relgrad CASCADE")
	exec(t, root, "GRANT CONNECT ON DATABASE other TO PUBLIC; CREATE ROLE poor LOGIN")
	poor := connect(t,
		strings.Replace(strings.Replace(cluster.DSN, "user=relgrad", "user=poor", 1), "dbname=postgres", "dbname=other", 1))
	if _, err := Apply(ctx, poor); sqlerr.Code(err) != "42501" {
		t.Errorf("without the right to create a schema: %v", err)
	}
	admin := connect(t, strings.Replace(cluster.DSN, "dbname=postgres", "dbname=other", 1))
	exec(t, admin, "CREATE FUNCTION no() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no policies'; END $$")
	exec(t, admin, "CREATE EVENT TRIGGER no ON ddl_command_start WHEN TAG IN ('CREATE POLICY') EXECUTE FUNCTION no()")
	if _, err := Apply(ctx, c); err == nil || !strings.Contains(err.Error(), "migration 007_runs.sql: no policies") {
		t.Errorf("failing in the middle: %v", err)
	}
	exec(t, admin, "DROP EVENT TRIGGER no")
	if s, err := Read(ctx, c); err != nil || s.Schema {
		t.Errorf("left: %+v, %v", s, err)
	}
	if _, err := Apply(ctx, c); err != nil {
		t.Error(err)
	}
}

// functions lists what users and generated SQL may call, with what the catalogue says of it. Some are the extension's
// alone: the engine's rows, its hash of rows' places (it has a slower form without it), what needs an engine at other
// servers, differences, which relgrad check makes, and errors that take arguments of any type.
const functions = `SELECT string_agg(format('%s %s(%s) %s %s %s %s %s', prokind, proname, ` +
	`pg_get_function_arguments(p.oid), prorettype::regtype, proretset, provolatile, proisstrict, proparallel), E'\n'
	ORDER BY proname, pg_get_function_arguments(p.oid))
	FROM pg_proc p WHERE pronamespace = 'relgrad'::regnamespace AND proname NOT LIKE 'impl\_%' AND proname NOT IN ` +
	`('gen_rows', 'gen_place', 'gen_member', 'gen_servers', 'distribute', 'undistribute', 'check_gradient') ` +
	`AND '"any"'::regtype <> ALL (proargtypes)`

const operators = `SELECT string_agg(format('%s %s %s %s %s', oprname, oprleft::regtype, oprright::regtype, ` +
	`oprresult::regtype, oprcom <> 0), E'\n' ORDER BY oprname, oprleft, oprright)
	FROM pg_operator WHERE oprnamespace = 'relgrad'::regnamespace`

// silent lists what is in the schema relgrad and has no comment, or an empty one.
const silent = `SELECT coalesce(string_agg(pg_describe_object(o.class, o.oid, o.sub), ', '), '') FROM (
	SELECT 'pg_proc'::regclass AS class, oid, 0 AS sub FROM pg_proc WHERE pronamespace = 'relgrad'::regnamespace
	UNION ALL SELECT 'pg_operator'::regclass, oid, 0 FROM pg_operator WHERE oprnamespace = 'relgrad'::regnamespace
	UNION ALL SELECT 'pg_namespace'::regclass, oid, 0 FROM pg_namespace WHERE nspname = 'relgrad'
	UNION ALL SELECT 'pg_type'::regclass, oid, 0 FROM pg_type AS t WHERE typnamespace = 'relgrad'::regnamespace
		AND typelem = 0 AND NOT EXISTS (SELECT FROM pg_class AS c WHERE c.reltype = t.oid)
	UNION ALL SELECT 'pg_class'::regclass, c.oid, coalesce(attnum, 0) FROM pg_class AS c
		LEFT JOIN (SELECT attrelid, attnum FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped
			UNION ALL SELECT oid, 0 FROM pg_class) AS a ON attrelid = c.oid AND (attnum = 0 OR relkind <> 'S')
		WHERE relnamespace = 'relgrad'::regnamespace AND relkind NOT IN ('i', 't')
	UNION ALL SELECT classid, objid, 0 FROM pg_depend WHERE deptype = 'e'
		AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'relgrad')) AS o
	LEFT JOIN pg_description AS d ON d.classoid = o.class AND d.objoid = o.oid AND d.objsubid = o.sub
	WHERE coalesce(btrim(description), '') = ''`

// TestExtension compares the portable tier with the extension, and tries to have both. Both say what each of their
// objects is.
func TestExtension(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	cluster := pgcluster.Start(t)
	ext := connect(t, cluster.DSN)
	exec(t, ext, "CREATE DATABASE portable")
	port := connect(t, strings.Replace(cluster.DSN, "dbname=postgres", "dbname=portable", 1))
	exec(t, ext, "CREATE EXTENSION relgrad")
	refused(t, ext, "this database has the extension relgrad")
	if _, err := Apply(ctx, port); err != nil {
		t.Fatal(err)
	}
	if _, err := port.Exec(ctx, "CREATE EXTENSION relgrad"); err == nil {
		t.Error("the extension was created beside the portable tier")
	}
	for name, c := range map[string]*pgx.Conn{"the extension": ext, "the portable tier": port} {
		var without string
		if err := c.QueryRow(ctx, silent).Scan(&without); err != nil || without != "" {
			t.Errorf("%s has no comments on %s (%v)", name, without, err)
		}
	}
	for _, q := range []string{functions, operators} {
		var want, got string
		if err := ext.QueryRow(ctx, q).Scan(&want); err != nil {
			t.Fatal(err)
		}
		if err := port.QueryRow(ctx, q).Scan(&got); err != nil {
			t.Fatal(err)
		}
		w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
		if len(w) < 20 {
			t.Errorf("only %d objects", len(w))
		}
		for _, line := range missing(w, g) {
			t.Errorf("only the extension has %s", line)
		}
		for _, line := range missing(g, w) {
			t.Errorf("only the portable tier has %s", line)
		}
	}
}

// missing gives the lines of a that are not in b.
func missing(a, b []string) (out []string) {
	in := map[string]bool{}
	for _, l := range b {
		in[l] = true
	}
	for _, l := range a {
		if !in[l] {
			out = append(out, l)
		}
	}
	return out
}
