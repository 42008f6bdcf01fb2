package pgsession_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/pgcluster"
)

// relgrad is the file of the command.
var relgrad string

func TestMain(m *testing.M) { need.Command(m, func(file string) { relgrad = file }) }

// server starts a server for a test, which also needs psql.
func server(t *testing.T) *pgcluster.Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a server")
	}
	if _, err := exec.LookPath("psql"); err != nil {
		need.Absent(t, "pg", "no psql; make pg-install installs what a server needs")
	}
	return pgcluster.Start(t)
}

// database makes an empty database with relgrad's extension and returns its DSN.
func database(t *testing.T, c *pgcluster.Cluster, name string) string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, sql := range []string{"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	dsn := strings.Replace(c.DSN, "dbname=postgres", "dbname="+name, 1)
	in, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close(ctx)
	if _, err := in.Exec(ctx, "CREATE EXTENSION relgrad"); err != nil {
		t.Fatal(err)
	}
	return dsn
}

// answer is what a command has written, and its status.
type answer struct {
	stdout, stderr string
	status         int
}

// command runs a program in a folder.
func command(t *testing.T, dir, stdin, program string, args ...string) answer {
	t.Helper()
	var out, messages bytes.Buffer
	c := exec.Command(program, args...)
	c.Dir, c.Stdout, c.Stderr, c.Stdin = dir, &out, &messages, strings.NewReader(stdin)
	c.Env = append(os.Environ(), "PGTZ=UTC", "LC_ALL=C.UTF-8")
	err := c.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return answer{out.String(), messages.String(), c.ProcessState.ExitCode()}
}

// both runs a script with psql and with relgrad, each in a new database of the same name.
func both(t *testing.T, c *pgcluster.Cluster, dir, stdin, stop string, files ...string) (psql, ours answer) {
	t.Helper()
	var f, g []string
	for _, file := range files {
		f, g = append(f, "-f", file), append(g, file)
	}
	dsn := database(t, c, "film")
	psql = command(t, dir, stdin, "psql", append([]string{"-X", "-v", "ON_ERROR_STOP=" + stop, dsn}, f...)...)
	dsn = database(t, c, "film")
	ours = command(t, dir, stdin, relgrad, append([]string{"run", "-v", "ON_ERROR_STOP=" + stop, "--db", dsn}, g...)...)
	return psql, ours
}

// varying matches text that differs between two runs of the same script.
var varying = regexp.MustCompile(`(?m)^(Time: ).*$|(process with PID )\d+|(pg_temp_|pg_toast_temp_)\d+`)

// anyKind and listOf match psql 18's words for a kind of relations, for which earlier versions say "relation" and
// "relations". notNull matches what psql 18 also shows of a server of its version.
var (
	notNull = regexp.MustCompile(`(?m)^Not-null constraints:\n(    ".*\n)+`)
	anyKind = regexp.MustCompile(
		`(did not find any )(tables|views|indexes|sequences|materialized views|foreign tables)( named)`)
	listOf = regexp.MustCompile(
		`(?m)^ *List of (relations|tables|views|indexes|sequences|materialized views|foreign tables) *$`)
)

// plain removes what may differ: the program's name before messages, how psql's own errors begin, process numbers and
// times, and the widths of tables that show the name of a numbered schema.
func plain(s string) string {
	tables := strings.Split(s, "\n\n")
	for i, table := range tables {
		if strings.Contains(table, "pg_temp_") {
			tables[i] = regexp.MustCompile(`([ -])[ -]+`).ReplaceAllString(table, "$1")
		}
	}
	s = strings.Join(tables, "\n\n")
	s = varying.ReplaceAllString(s, "$1$2$3…")
	s = regexp.MustCompile(`(?m)^(psql|relgrad):`).ReplaceAllString(s, "")
	s = regexp.MustCompile(`(?m)Did not (find .*)\.$`).ReplaceAllString(s, "did not $1")
	s = anyKind.ReplaceAllString(s, "${1}relation$3")
	s = notNull.ReplaceAllString(listOf.ReplaceAllString(s, "List of relations"), "")
	// psql's own errors
	return regexp.MustCompile(`(?m)^([^ ]+:\d+: )error: (ERROR:  )?`).ReplaceAllString(s, "${1}ERROR:  ")
}

// TestScripts compares what psql and relgrad print for the same scripts.
func TestScripts(t *testing.T) {
	c := server(t)
	files, err := filepath.Glob("testdata/*.sql")
	if err != nil || len(files) < 6 {
		t.Fatalf("only %d scripts: %v", len(files), err)
	}
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(strings.TrimSuffix(name, ".sql"), func(t *testing.T) {
			psql, ours := both(t, c, dir, "", "0", name)
			compare(t, psql, ours)
			if psql.stdout == "" {
				t.Error("the script prints nothing")
			}
		})
	}
}

func compare(t *testing.T, psql, ours answer) {
	t.Helper()
	if psql.status != ours.status {
		t.Errorf("exit status %d, psql's is %d", ours.status, psql.status)
	}
	for _, x := range []struct{ name, want, got string }{{"stdout", psql.stdout, ours.stdout},
		{"stderr", psql.stderr, ours.stderr}} {
		if diff := firstDifference(plain(x.want), plain(x.got)); diff != "" {
			t.Errorf("%s differs:\n%s", x.name, diff)
		}
	}
}

// firstDifference shows where two texts begin to differ, with some lines around.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		if i < len(w) && i < len(g) && w[i] == g[i] {
			continue
		}
		part := func(lines []string) string {
			return strings.Join(lines[min(len(lines), max(0, i-3)):min(len(lines), i+6)], "\n")
		}
		return fmt.Sprintf("line %d; psql:\n%s\nrelgrad:\n%s", i+1, part(w), part(g))
	}
	return ""
}
