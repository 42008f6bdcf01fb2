package serverstest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/pgbridge/conn"
	relgradsession "github.com/relgrad/relgrad/pgbridge/session"
)

// distributed: tables that relgrad.distribute has made lie at all servers have their rows, key, defaults and rights,
// and views read them; the loss stays what it was. What cannot be distributed is refused, and nothing has changed.
func (s *servers) distributed(t *testing.T) {
	c := s.called
	c.must("CREATE ROLE reader; %s", ratings)
	c.must("ALTER TABLE w ALTER v SET DEFAULT '{0,0,0}'; GRANT SELECT ON w TO reader; CREATE VIEW twice AS SELECT u, v " +
		"FROM w")
	c.must("CREATE TABLE kept_w AS TABLE w; CREATE TABLE kept_h AS TABLE h")
	want := c.must("SELECT backward('loss', ARRAY['w', 'h'])")[0]
	c.must("BEGIN; SELECT distribute('rating', by => 'u'); ROLLBACK")
	if n := c.must("SELECT count(*) FROM rating WHERE tableoid = 'rating'::regclass"); n[0] != "600" {
		t.Errorf("%s rows are here behind a distribution that was undone", n[0])
	}
	c.must("SELECT distribute('rating', by => 'u'); SELECT distribute('w', 'u'); SELECT distribute('h', 'i', " +
		"ARRAY['s2', 's3'])")
	for _, x := range [][2]string{{"SELECT count(*), count(DISTINCT tableoid) FROM rating", "600|3"},
		{"SELECT count(*), count(DISTINCT tableoid) FROM w", "40|3"},
		{"SELECT count(*), count(DISTINCT tableoid) FROM h", "31|2"}, {"SELECT count(*) FROM twice", "40"},
		{"SELECT has_table_privilege('reader', 'w', 'SELECT')", "t"},
		{"INSERT INTO w (u) VALUES (77); SELECT v FROM w WHERE u = 77", "{0,0,0}"},
		{"DELETE FROM w WHERE u = 77; SELECT to_regclass('w_undistributed') IS NULL", "t"}} {
		if got := c.must("%s", x[0]); len(got) != 1 || got[0] != x[1] {
			t.Errorf("%s: %v, not %s", x[0], got, x[1])
		}
	}
	if err := sameValues(want, c.must("SELECT backward('loss', ARRAY['w', 'h'])")[0]); err != nil {
		t.Error(err)
	}
	s.listed(t)
	c.must("CALL train('loss', ARRAY['w', 'h'], optimizer => 'adam', lr => 0.05, epochs => 3)")
	s.counted(t)
	s.others[2].must("DROP EXTENSION relgrad")
	c.must("DISCARD TEMP; SET relgrad.engine = sql")
	if _, err := c.run("CALL train('loss', 'w', lr => 0.05, epochs => 2)"); err == nil ||
		!strings.Contains(err.Error(), `server "s3": relgrad is not installed there, or another version of it`) {
		t.Errorf("a server without relgrad has rows: %v", err)
	}
	if _, err := c.run("CALL train('SELECT sum(sqnorm(v)) AS loss FROM w', 'w', lr => 0.05, epochs => 2)"); err == nil ||
		!strings.Contains(err.Error(), `server "s3": parameters lie there, and relgrad is not installed`) {
		t.Errorf("a server without relgrad has parameters: %v", err)
	}
	s.others[2].must("CREATE EXTENSION relgrad")
	c.must("RESET relgrad.engine")
	_, err := c.run(`SET relgrad.server_limits = '{"net": "1GB"}'; SELECT backward('loss', ARRAY['w'])`)
	if err == nil || !strings.Contains(err.Error(), "relgrad.server_limits: limits of a cluster: json: unknown field") {
		t.Errorf("limits of a field that is none: %v", err)
	}
	c.must(apart)
	if _, err := s.others[1].run("INSERT INTO w SELECT u, v FROM w LIMIT 1"); err == nil {
		t.Error("a part has no primary key")
	}

	c.must("CREATE TABLE a (k int PRIMARY KEY, x real); INSERT INTO a VALUES (1, 2); CREATE TABLE b (k int REFERENCES a)")
	c.must("CREATE TABLE g (k int GENERATED ALWAYS AS IDENTITY, x real); CREATE TABLE q (k int, x real)")
	c.must("CREATE TABLE u (k int UNIQUE); CREATE MATERIALIZED VIEW seen AS SELECT * FROM q; CREATE TABLE taken (k int)")
	c.must("CREATE TABLE keyed (k int PRIMARY KEY, x real)")
	s.others[2].must("CREATE TABLE taken (k int); INSERT INTO taken VALUES (1)")
	for _, x := range []struct{ call, code, says string }{
		{"distribute('keyed', 'x')", "22023", `"x" is not in the primary key of "keyed", (k)`},
		{"distribute('a', 'k')", "42809", `table "a" cannot lie at other servers: it has a foreign key`},
		{"distribute('g', 'k')", "42809", "it has a column that is generated"},
		{"distribute('q', 'k')", "42809", "a materialized view or a rule reads it"},
		{"distribute('u', 'k')", "42809", "it has a constraint that is no primary key"},
		{"distribute('twice', 'u')", "42809", "it is no ordinary table"},
		{"distribute('rating', 'u')", "42809", "it is no ordinary table"},
		{"distribute('taken', 'kk')", "42703", `column "kk" of relation "taken" does not exist`},
		{"undistribute('twice')", "42809", `table "twice" cannot come back from other servers: it is no partitioned table`},
		{"undistribute('a')", "42809", "it is no partitioned table"},
		{"undistribute('w_s1')", "42809", "it is no partitioned table"},
		{"undistribute('none')", "42P01", `relation "none" does not exist`},
		{"undistribute(NULL)", "22004", "what"},
		{"distribute('none', 'k')", "42P01", `relation "none" does not exist`},
		{"distribute('taken', 'k', ARRAY['s9'])", "42704", `server "s9" does not exist`},
		{"distribute('taken', 'k')", "42P07", `server "s3" has a table "public"."taken" with rows`},
		{"distribute('taken', NULL)", "22004", "by"},
	} {
		_, err := c.run("SELECT " + x.call)
		var e *pgconn.PgError
		if !errors.As(err, &e) || e.Code != x.code || !strings.Contains(e.Message, x.says) {
			t.Errorf("%s: %v", x.call, err)
		}
	}
	// who may not read a table here reads it nowhere; a policy here holds, and so does a column's other name there
	c.must("GRANT USAGE ON SCHEMA public TO reader; GRANT SELECT ON loss, w, h TO reader; GRANT USAGE ON FOREIGN SERVER " +
		"s1, s2, s3 TO reader; GRANT ALL ON SCHEMA relgrad TO reader")
	for i := range 3 {
		c.must("CREATE USER MAPPING FOR reader SERVER s%d OPTIONS (user 'relgrad', password_required 'false')", i+1)
	}
	c.must("SET ROLE reader")
	mayNot := func(what string) {
		_, err := c.run("SELECT count(*) FROM gradient('SELECT count(*) * sum(dot(v, v)) FROM rating, w', NULL::w)")
		if err == nil || !strings.Contains(err.Error(), "permission denied for table rating") {
			t.Errorf("%s: %v", what, err)
		}
	}
	mayNot("who may not read the ratings")
	c.must("RESET ROLE; GRANT SELECT ON rating TO reader; SET ROLE reader")
	c.must("SELECT count(*) FROM gradient('SELECT count(*) * sum(dot(v, v)) FROM rating, w', NULL::w)")
	c.must("RESET ROLE; REVOKE SELECT ON rating FROM reader; SET ROLE reader")
	mayNot("who may no longer read the ratings")
	c.must("RESET ROLE")
	s.others[1].must("ALTER TABLE h RENAME v TO other; ALTER TABLE h ADD v double precision[] DEFAULT '{0,0,0}'")
	c.must("ALTER FOREIGN TABLE h_s2 ALTER v OPTIONS (ADD column_name 'other')")
	c.must("UPDATE w SET v = o.v FROM kept_w o WHERE o.u = w.u; UPDATE h SET v = o.v FROM kept_h o WHERE o.i = h.i")
	if err := sameValues(want, c.must("SELECT backward('loss', ARRAY['w'])")[0]); err != nil {
		t.Errorf("a column has another name at a server: %v", err)
	}
	if _, err := c.run("SELECT undistribute('h')"); err == nil || !strings.Contains(err.Error(), "another name there") {
		t.Errorf("a column has another name: %v", err)
	}
	c.must("ALTER FOREIGN TABLE h_s2 ALTER v OPTIONS (DROP column_name)")
	s.others[1].must("ALTER TABLE h DROP v; ALTER TABLE h RENAME other TO v")
	c.must("SELECT undistribute('h'); SELECT undistribute('w')")
	c.must("BEGIN; SELECT undistribute('rating'); ROLLBACK")
	for _, x := range [][2]string{{"SELECT count(*), count(DISTINCT tableoid) FROM rating", "600|3"},
		{"SELECT count(*) FROM w WHERE tableoid = 'w'::regclass", "40"},
		{"SELECT count(*) FROM h WHERE tableoid = 'h'::regclass", "31"}, {"SELECT count(*) FROM twice", "40"},
		{"SELECT string_agg(pg_get_constraintdef(oid), ',' ORDER BY conname) FROM pg_constraint WHERE conrelid IN " +
			"('w'::regclass, 'h'::regclass)", "PRIMARY KEY (i),PRIMARY KEY (u)"},
		{"SELECT has_table_privilege('reader', 'w', 'SELECT')", "t"},
		{"INSERT INTO w (u) VALUES (77); SELECT v FROM w WHERE u = 77", "{0,0,0}"},
		{"DELETE FROM w WHERE u = 77; SELECT count(*) FROM pg_class WHERE relname ~ '_distributed$|^[wh]_s'", "0"}} {
		if got := c.must("%s", x[0]); len(got) != 1 || got[0] != x[1] {
			t.Errorf("%s: %v, not %s", x[0], got, x[1])
		}
	}
	left := int64(0) // a server that commits before this one fails must not have lost them
	for _, o := range s.others {
		n, err := strconv.ParseInt(o.must("SELECT count(*) FROM w")[0], 10, 64)
		if left += n; err != nil {
			t.Error(err)
		}
	}
	if left != 40 {
		t.Errorf("%d rows are left at the servers", left)
	}
	if err := sameValues(want, c.must("SELECT backward('loss', ARRAY['w', 'h'])")[0]); err != nil {
		t.Errorf("two tables have come back: %v", err)
	}
	for _, o := range s.others {
		o.must("TRUNCATE w")
	}
	s.others[2].must("ALTER TABLE w ALTER v TYPE real[]")
	if _, err := c.run("SELECT distribute('w', 'u')"); err == nil || !strings.Contains(err.Error(),
		`server "s3" has another table "public"."w": (u integer NOT NULL, v real[]), primary key (u)`) {
		t.Errorf("a table of other columns: %v", err)
	}
	s.others[2].must("ALTER TABLE w ALTER v TYPE double precision[]; CREATE FUNCTION takes() RETURNS trigger " +
		"LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; " +
		"CREATE TRIGGER takes BEFORE INSERT ON w FOR EACH ROW EXECUTE FUNCTION takes()")
	if _, err := c.run("SELECT distribute('w', 'u')"); err == nil || !strings.Contains(err.Error(),
		`of 40 rows of table "w" arrive`) {
		t.Errorf("a trigger there takes rows away: %v", err)
	}
	for _, o := range s.others {
		o.must("DROP TABLE w")
	}
	c.must("SELECT distribute('w', 'u'); SELECT undistribute('w'); DROP OWNED BY reader; DROP ROLE reader")
}

// counted: the values of a column are counted over all parts, each once, and estimated where there are many.
func (s *servers) counted(t *testing.T) {
	line, err := conn.Dial(context.Background(), s.called.c.DSN, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	db := relgradsession.New(line)
	defer db.HangUp()
	for _, x := range []struct {
		column string
		rows   int64 // that the table is taken to have
		want   float64
	}{{"u", 600, 40}, {"i", 600, 31}, {"u", 1 << 17, 40}} {
		got, err := db.Distinct("public", "rating", x.column, x.rows)
		if err != nil || math.Abs(got-x.want) > 20*float64(x.rows-600)/1e5 {
			t.Errorf("%d rows have %g values of %s, %v; there are %g", x.rows, got, x.column, err, x.want)
		}
	}
}

// listed: relgrad.servers tells what lies where.
func (s *servers) listed(t *testing.T) {
	c := s.called
	for _, o := range s.others {
		o.must("ANALYZE")
	}
	var want []string
	for i := range s.others {
		for _, table := range []string{"h", "rating", "w"} {
			if table == "h" && i == 0 {
				continue
			}
			there := s.others[i].must("SELECT count(*), pg_total_relation_size('%s') FROM %[1]s", table)[0]
			want = append(want, fmt.Sprintf("s%d|ready|%s|%s|%s", i+1,
				c.must("SELECT extversion FROM pg_extension WHERE extname = 'relgrad'")[0], table, there))
		}
	}
	list := func() string { return strings.Join(c.must("SELECT * FROM servers ORDER BY 1, 4"), "\n") }
	if got := list(); got != strings.Join(want, "\n") {
		t.Errorf("%s\nnot\n%s", got, strings.Join(want, "\n"))
	}
	c.must("CREATE SERVER s0 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '/nowhere', dbname 'none'); " +
		"CREATE USER MAPPING FOR CURRENT_USER SERVER s0")
	s.others[2].must("CREATE DATABASE empty")
	c.must("ALTER SERVER s3 OPTIONS (SET dbname 'empty')")
	for _, want := range []string{"s0|connection to server on socket", "s3|relgrad is not installed||w||"} {
		if got := list(); !strings.Contains(got, want) {
			t.Errorf("%s\nhas not %s", got, want)
		}
	}
	c.must("ALTER SERVER s3 OPTIONS (SET dbname 'postgres'); DROP SERVER s0 CASCADE")
}
