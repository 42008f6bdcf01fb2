package pgrun

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/internal/pgcluster"
)

// TestRoundedAttributes: a gradient's rows hold the table's numerics as double precision; that digits are lost is said,
// and only then.
func TestRoundedAttributes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	config, err := pgx.ParseConfig(pgcluster.Start(t).DSN)
	if err != nil {
		t.Fatal(err)
	}
	var warnings []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { warnings = append(warnings, n.Message) }
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	run := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	run("CREATE EXTENSION relgrad")
	run("SET search_path = public, relgrad")
	for _, c := range []struct {
		typ, value string
		rounded    bool
	}{
		{"numeric", "12345678901234567890.50", true}, {"numeric", "1.00000000000000001", true},
		{"numeric", "0.1", false},
		{"numeric(30,20)", "0.12345678901234567890", true}, {"numeric(10,2)", "12345678.25", false},
		{"numeric", "NULL", false},
	} {
		run("DROP TABLE IF EXISTS a, a_grad")
		run("CREATE TABLE a (n int PRIMARY KEY, k " + c.typ + ", x double precision); " +
			"INSERT INTO a VALUES (1, " + c.value + ", 0.5)")
		for _, engine := range []string{"chunk", "sql"} {
			run("SET relgrad.engine = " + engine)
			for _, sql := range []string{
				"SELECT backward('SELECT sum(x * x) FROM a', 'a.x')",
				"SELECT * FROM gradient('SELECT sum(x * x) FROM a', NULL::a)",
			} {
				warnings = nil
				run(sql)
				says := strings.Join(warnings, "\n")
				const warning = "column \"k\" of table \"a\" holds numerics of more than 15 digits"
				if c.rounded != strings.Contains(says, warning) {
					t.Errorf("%s of %s, engine %s, %s: %q", c.value, c.typ, engine, sql, says)
				}
			}
		}
	}
}
