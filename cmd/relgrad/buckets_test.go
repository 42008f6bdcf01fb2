package main

import (
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/internal/s3test"
)

// words splits a command line at | where there is one.
func words(line string) []string {
	if strings.Contains(line, "|") {
		return strings.Split(line, "|")
	}
	return strings.Fields(line)
}

// TestDeltaInBuckets: every command and statement that names a folder of Delta Lake takes the URL of one in a bucket.
func TestDeltaInBuckets(t *testing.T) {
	s3test.New(t).Environment(t)
	t.Chdir(t.TempDir())
	const ask = "run|--store|s.db|-q|-c|\\t|-c|\\a|-c|"
	do(t, "run|--store|s.db|-q|-c|CREATE TABLE r (u int, i int, x real, PRIMARY KEY (u, i)); INSERT INTO r SELECT u, i, "+
		"u + 0.5 * i FROM generate_series(1, 4) AS a(u), generate_series(1, 3) AS b(i); CREATE TABLE w (u int PRIMARY "+
		"KEY, p float8); INSERT INTO w SELECT u, 0 FROM generate_series(1, 4) AS g(u); CREATE TABLE e (LIKE r)")
	const loss = "SELECT avg((d.x - w.p) ^ 2) FROM delta_table(''s3://tables/a/r'') d JOIN w USING (u)"
	for _, c := range []struct{ line, want string }{
		{"export --store s.db --format delta r s3://tables/a/r", "^COPY 12\n$"},
		{"run|--store|s.db|-q|-c|DELETE FROM r WHERE i = 3", "^$"},
		{"export --store s.db r s3://tables/a/r", "^COPY 8\nversion 1 of \"s3://tables/a/r\" replaces the rows of "},
		{"import --store s.db s3://tables/a/r now", "^COPY 8\n$"},
		{"import --store s.db s3://tables/a/r@0 before", "^COPY 12\n$"},
		{ask + "SELECT count(*), sum(x) FROM before JOIN now USING (u, i, x)", "^8\\|26\n$"},
		{ask + "SELECT count(*) FROM delta_table('s3://tables/a/r'), delta_table('s3://tables/a/r', 0) b", "^96\n$"},
		{ask + "\\copy e FROM s3://tables/a/r (FORMAT delta, VERSION 0)|-c|SELECT count(*) FROM e", "^12\n$"},
		{ask + "\\cd /tmp|-c|\\copy e TO 's3://tables/e' (FORMAT delta)|-c|SELECT count(*) FROM delta_table('s3://tables/e')",
			"^12\n$"},
		{"delta show s3://tables/e", "^s3://tables/e: version 0"},
		{ask + "COPY (SELECT * FROM e WHERE u = 1) TO 's3://tables/e' (FORMAT delta)|-c|TRUNCATE e|-c|COPY e FROM " +
			"'s3://tables/e' (FORMAT delta)|-c|SELECT count(*) FROM e", "^3\n$"},
		{ask + "CALL train('" + loss + "', ARRAY['w'], lr => 0.3, epochs => 300)|-c|SELECT u, round(p::numeric, 2) FROM w " +
			"ORDER BY u", "^1\\|1.75\n2\\|2.75\n3\\|3.75\n4\\|4.75\n$"},
		{"export|--store|s.db|--format|delta|--tensor|p|w (p)|s3://tables/t", "^COPY 4\nversion 0 of \"s3://tables/t\" has"},
		{ask + "SELECT i0, round(value::numeric, 2) FROM delta_tensor('s3://tables/t', 'p', slice => '1:3')",
			"^1\\|2.75\n2\\|3.75\n$"},
		{"delta tensors s3://tables/t", "\n p      \\| ftsf "},
		{"delta show s3://tables/a/r", "^s3://tables/a/r: version 1, 1 files"},
		{"delta show s3://tables/a/r@0", "^s3://tables/a/r: version 0, 1 files"},
		{"delta history s3://tables/a/r", "\n       1 \\| .*\n       0 \\| .* changed\n"},
		{"delta vacuum s3://tables/a/r", "\\(0 rows\\)"},
		{"export --store s.db --format delta r s3://tables/odd@7", "^COPY 8\n$"},
		{"delta show s3://tables/odd@7", "^s3://tables/odd@7: version 0"},
	} {
		if got := do(t, c.line); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s prints\n%s\nnot %s", c.line, got, c.want)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 1 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

// TestBucketErrors: what is said of a bucket that cannot be reached or used, or that has no such table.
func TestBucketErrors(t *testing.T) {
	server := s3test.New(t)
	server.Environment(t)
	t.Chdir(t.TempDir())
	do(t, "run|--store|s.db|-q|-c|CREATE TABLE r (u int PRIMARY KEY); INSERT INTO r VALUES (1)")
	do(t, "export --store s.db --format delta r s3://tables/r")
	const sql = "run|--store|s.db|-c|SELECT * FROM delta_table('s3://tables/r')"
	for _, c := range []struct {
		line  string
		wrong string
		want  []string
	}{
		{sql, "denied", []string{"LINE 1: SELECT", "'s3://tables/r'", "the server answers 403 AccessDenied",
			"HINT:  Check AWS_ACCESS_KEY_ID"}},
		{"export --store s.db r s3://tables/r", "denied", []string{"could not", "403 AccessDenied"}},
		{"delta show s3://tables/r@0", "denied", []string{"403 AccessDenied"}},
		{"delta history s3://tables/r", "unreachable", []string{"could not read \"s3://tables/r/_delta_log/",
			"connection refused", "It was tried 5 times"}},
		{"delta vacuum s3://tables/r", "no key", []string{"an object store needs a key and its secret"}},
		{sql, "no key", []string{"an object store needs a key and its secret", "LINE 1", "HINT:  Set AWS_ACCESS_KEY_ID"}},
		{strings.ReplaceAll(sql, "')", "', 4)"), "", []string{"\"s3://tables/r\": the table has no version 4"}},
		{"delta show s3://elsewhere/r", "", []string{"there is no bucket \"elsewhere\""}},
		{strings.ReplaceAll(sql, "tables/r')", "elsewhere/r', 0)"), "", []string{"there is no bucket \"elsewhere\"",
			"\n" + strings.Repeat(" ", 34) + "^"}},
		{"import --store s.db s3://tables/none r2", "", []string{"there is no table of Delta Lake at \"s3://tables/none\""}},
		{"export --store s.db r s3://tables/none.npy", "", []string{"there is no table of Delta Lake at"}},
		{"export --store s.db --format npy r s3://tables/n", "", []string{"is a URL, where the format npy cannot be"}},
		{"import --store s.db gs://tables/r r2", "", []string{"\"gs\""}},
	} {
		t.Run(c.line+" "+c.wrong, func(t *testing.T) {
			switch c.wrong {
			case "denied":
				server.Fault = func(*http.Request) s3test.Fault { return s3test.Fault{Status: 403, Code: "AccessDenied"} }
				defer func() { server.Fault = nil }()
			case "unreachable":
				t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
			case "no key":
				t.Setenv("AWS_SECRET_ACCESS_KEY", "")
			}
			_, errs, status := both(t, words(c.line)...)
			for _, want := range c.want {
				if status == 0 || !strings.Contains(errs, want) {
					t.Errorf("status %d\n%s\nwant %s", status, errs, want)
				}
			}
		})
	}
}

// TestBucketsAndServers: the same with a server from outside, which reaches no bucket itself.
func TestBucketsAndServers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	if _, err := exec.LookPath("psql"); err != nil {
		need.Absent(t, "pg", "no psql; make pg-install installs what a server needs")
	}
	c := pgcluster.Start(t)
	objects := s3test.New(t)
	objects.Environment(t)
	db := "|--db|" + c.DSN
	do(t, "run"+db+"|-q|-c|CREATE EXTENSION relgrad; CREATE TABLE r (u int PRIMARY KEY, x float8); INSERT INTO r SELECT "+
		"u, 2 * u FROM generate_series(1, 9) AS g(u); CREATE TABLE w (u int PRIMARY KEY, p float8); INSERT INTO w SELECT "+
		"u, 1 FROM generate_series(1, 9) AS g(u)")
	const loss = "SELECT sum((d.x - w.p) ^ 2) FROM delta_table(''s3://tables/r'') d JOIN w USING (u) WHERE d.u < 3"
	for _, c := range []struct{ line, want string }{
		{"export" + db + "|--format|delta|r|s3://tables/r", "COPY 9\n"},
		{"import" + db + "|s3://tables/r|again", "COPY 9\n"},
		{"run" + db + "|-q|-c|\\t|-c|\\a|-c|SELECT count(*) FROM again NATURAL JOIN delta_table('s3://tables/r')", "9\n"},
		{"run" + db + "|-q|-c|\\t|-c|\\a|-c|SELECT * FROM gradient('" + loss + "', NULL::w) WHERE u < 4", "1|-2\n2|-6\n"},
	} {
		if got := do(t, c.line); got != c.want {
			t.Errorf("%s prints\n%s\nnot %s", c.line, got, c.want)
		}
	}
	call := "|-c|SELECT count(*) FROM delta_table('s3://tables/r')"
	requests := func(line string) int {
		before := objects.Requests["GET"]
		do(t, line)
		return objects.Requests["GET"] - before
	}
	if one, two := requests("run"+db+"|-q"+call), requests("run"+db+"|-q"+call+call); one == 0 || two >= 2*one {
		t.Errorf("a call makes %d requests, the same call twice in a session %d", one, two)
	}
}
