package pgrun

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/relgrad/relgrad/internal/pgcluster"
)

// TestColumnsThatNobodyReads: columns of a parameter's table that the loss does not read may be of any type, in a
// gradient and in training.
func TestColumnsThatNobodyReads(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, pgcluster.Start(t).DSN)
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
	run("CREATE EXTENSION relgrad; SET search_path = public, relgrad; CREATE TYPE mood AS ENUM ('sad', 'ok'); " +
		"CREATE TYPE pair AS (a int, b text); CREATE DOMAIN ints AS int[]")
	for i, c := range []struct{ typ, value string }{
		{"int[]", "{1,2}"}, {"int[]", "{{1},{2}}"}, {"text[]", "{a}"}, {"boolean[]", "{t,f}"}, {"numeric[]", "{1.5}"},
		{"date[]", "{2024-01-01}"}, {"mood[]", "{sad}"}, {"jsonb[]", "{}"}, {"pair[]", `{"(1,a)"}`}, {"ints", "{1}"},
		{"int[]", "[0:1]={1,2}"}, {"mood", "ok"}, {"pair", "(1,a)"}, {"char(4)", "ab"}, {"json", "{}"}, {"xml", "<a/>"},
		{"point", "(1,2)"}, {"box[]", "{(1,2),(3,4)}"}, {"int4range", "[1,2)"}, {"int4multirange", "{[1,2)}"},
		{"tsvector", "a b"}, {"int2vector", "1 2"}, {"oidvector", "1 2"}, {"name[]", "{a}"}, {"pg_lsn", "0/1"},
		{"bit(3)[]", "{101}"}, {"interval[]", "{1 day}"}, {"money", "1"}, {"double precision[]", "{1,2}"},
		{"real[]", "{{1}}"}, {"txid_snapshot", "10:20:10"}, {"\"char\"", "x"}, {"regclass", "pg_class"},
	} {
		name := fmt.Sprintf("t%d", i)
		run(fmt.Sprintf("CREATE TABLE %[1]s (id int PRIMARY KEY, x double precision NOT NULL, c %[2]s); "+
			"INSERT INTO %[1]s VALUES (1, 0.5, $v$%[3]s$v$), (2, 1.5, NULL)", name, c.typ, c.value))
		for _, engine := range []string{"chunk", "sql"} {
			run("SET relgrad.engine = " + engine)
			var sum, loss float64
			text := "SELECT sum(x * x) FROM " + name
			err := conn.QueryRow(ctx, fmt.Sprintf("SELECT sum(x) FROM gradient('%s', NULL::%s)", text, name)).Scan(&sum)
			if err != nil || sum != 4 {
				t.Errorf("%s, engine %s: gradient %v: %v", c.typ, engine, sum, err)
			}
			err = conn.QueryRow(ctx, fmt.Sprintf("SELECT backward('%s', '%s.x')", text, name)).Scan(&loss)
			if err != nil || loss != 2.5 {
				t.Errorf("%s, engine %s: backward %v: %v", c.typ, engine, loss, err)
			}
			_, err = conn.Exec(ctx, fmt.Sprintf("CALL train('%s', '%s.x', optimizer => 'sgd', lr => 0.25, epochs => 1)",
				text, name))
			if err != nil {
				t.Errorf("%s, engine %s: train: %v", c.typ, engine, err)
			}
			same := fmt.Sprintf("c IS NULL OR c::text = $v$%s$v$::%s::text", c.value, c.typ)
			err = conn.QueryRow(ctx, "SELECT sum(x) FROM "+name+" WHERE "+same).Scan(&sum)
			if err != nil || sum != 1 {
				t.Errorf("%s, engine %s: trained to %v: %v", c.typ, engine, sum, err)
			}
			run("UPDATE " + name + " SET x = id - 0.5; DROP TABLE " + name + "_grad")
		}
	}
}
