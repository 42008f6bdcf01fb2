package extension

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/internal/pgcluster"
)

// bridge is a session on a server whose engine follows scripts.
type bridge struct {
	*pgx.Conn
	t       *testing.T
	dsn     string
	notices []string
}

// open opens a session; the database has the extension and a few tables.
func open(t *testing.T, dsn string) *bridge {
	t.Helper()
	b := &bridge{t: t, dsn: dsn}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { b.notices = append(b.notices, n.Severity+": "+n.Message) }
	if b.Conn, err = pgx.ConnectConfig(context.Background(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close(context.Background()) })
	b.must("SET search_path = public, relgrad")
	return b
}

// run runs statements and gives the last one's rows in psql's unaligned form, joined by spaces.
func (b *bridge) run(sql string) (string, error) {
	b.notices = nil
	results, err := b.PgConn().Exec(context.Background(), sql).ReadAll()
	if err != nil {
		return "", err
	}
	var rows []string
	for _, r := range results[len(results)-1].Rows {
		var values []string
		for _, v := range r {
			if v == nil {
				values = append(values, "NULL")
			} else {
				values = append(values, string(v))
			}
		}
		rows = append(rows, strings.Join(values, "|"))
	}
	return strings.Join(rows, " "), nil
}

func (b *bridge) must(sql string) string {
	b.t.Helper()
	out, err := b.run(sql)
	if err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
	return out
}

// gives asserts the rows and the notices of statements.
func (b *bridge) gives(sql, want string, notices ...string) {
	b.t.Helper()
	got, err := b.run(sql)
	if err != nil {
		b.t.Errorf("%s: %v", sql, err)
	} else if got != want {
		b.t.Errorf("%s\ngives %q, want %q", sql, got, want)
	}
	if fmt.Sprint(b.notices) != fmt.Sprint(notices) {
		b.t.Errorf("%s\nsays %q, want %q", sql, b.notices, notices)
	}
}

// fails asserts the SQLSTATE and a part of the message and detail of an error, and that the session lives on.
func (b *bridge) fails(sql, code, message string) *pgconn.PgError {
	b.t.Helper()
	_, err := b.run(sql)
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		b.t.Errorf("%s: %v, want %s %s", sql, err, code, message)
		return &pgconn.PgError{}
	}
	if e.Code != code || !strings.Contains(e.Message+" "+e.Detail, message) {
		b.t.Errorf("%s\nfails with %s %s %s\nwant %s %s", sql, e.Code, e.Message, e.Detail, code, message)
	}
	if _, err := b.run("SELECT 1"); err != nil && e.Code != "25P02" && b.PgConn().TxStatus() == 'I' {
		b.t.Errorf("after %s: %v", sql, err)
	}
	return e
}

// script is a call of gradient that has the engine follow a script.
func script(lines ...string) string {
	return "gradient('" + strings.ReplaceAll(strings.Join(lines, "\n"), "'", "''") + "', NULL::w)"
}

func TestBridge(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	c := pgcluster.Start(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.UseEngine(program); err != nil {
		t.Fatal(err)
	}
	b := open(t, c.DSN)
	b.must("CREATE EXTENSION relgrad; CREATE TABLE w (id int PRIMARY KEY, gone text, name text, v real[], x double " +
		"precision); ALTER TABLE w DROP COLUMN gone;" +
		"INSERT INTO w VALUES (1, 'a', '{1,2}', 0.5), (2, NULL, '{3,4}', 'NaN'), (3, 'ç', NULL, NULL)")
	for _, c := range []struct {
		name string
		test func(*bridge)
	}{{"Results", results}, {"Types", types}, {"Described", described}, {"Bulk", bulk},
		{"Requests", requests}, {"Refusals", refusalsOfCalls}, {"Transactions", transactions}, {"Committing", committing},
		{"Nested", nested}, {"Workers", workers}, {"Owners", owners}, {"Dropped", dropped},
		{"Faults", faults}, {"Corrupted", corrupted}, {"Interrupts", interrupts}} {
		t.Run(c.name, func(t *testing.T) { c.test(open(t, b.dsn)) })
	}
}

const rowsOfW = "1|a|{1,2}|0.5 2|NULL|{3,4}|NaN 3|ç|NULL|NULL"

// results sends rows to the engine and back in each form.
func results(b *bridge) {
	b.gives("SELECT * FROM "+script("Q SELECT * FROM w ORDER BY id", "say", "O", "D"), rowsOfW, "NOTICE: SELECT 3, 3 rows")
	b.gives("SELECT * FROM "+script("J SELECT * FROM w ORDER BY id"), rowsOfW)
	b.gives("SELECT * FROM "+script("Q SELECT * FROM w ORDER BY id", "W",
		"J SELECT * FROM relgrad.gen_rows() AS r(id int, name text, v real[], x double precision)"), rowsOfW)
	b.gives("SELECT "+script("Q SELECT * FROM w WHERE id = 1", "O", "D"), `(1,a,"{1,2}",0.5)`)
}
