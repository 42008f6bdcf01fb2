package store

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/store/columns"
)

// The files of testdata hold statements and what PostgreSQL 15 printed for them: psql -A with the header, NULL
// as NULL, errors as their SQLSTATE. -golden rewrites them with the Postgres that psql's environment names
// (PGHOST, PGPORT, PGUSER); nothing but Postgres's own output is ever written.
var golden = flag.Bool("golden", false, "rewrite testdata from the Postgres server in psql's environment")
var goldenFiles = flag.String("files", "testdata/*.sql", "the files of TestGolden")

type block struct{ sql, want string }

func readBlocks(t *testing.T, path string) []block {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []block
	for _, p := range regexp.MustCompile("\n\n+").Split(strings.TrimSpace(string(b)), -1) {
		sql, want, _ := strings.Cut(p, "\n----")
		out = append(out, block{strings.TrimSuffix(sql, "\n----"), strings.TrimPrefix(want, "\n")})
	}
	return out
}

func TestGolden(t *testing.T) {
	files, _ := filepath.Glob(*goldenFiles)
	if len(files) == 0 {
		t.Fatal("no files")
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			blocks := readBlocks(t, f)
			if *golden {
				askPostgres(t, f, blocks)
			}
			db := openTemp(t)
			for _, b := range blocks {
				if got := show(db, b.sql); got != b.want {
					t.Errorf("%s\n got: %s\nwant: %s", b.sql, got, b.want)
				}
			}
		})
	}
}

func askPostgres(t *testing.T, path string, blocks []block) {
	const mark = "@@@@"
	var in strings.Builder
	in.WriteString("\\set VERBOSITY sqlstate\nDROP SCHEMA public CASCADE; CREATE SCHEMA public;\n")
	for _, b := range blocks {
		fmt.Fprintf(&in, "\\echo %s\n%s;\n", mark, b.sql)
	}
	cmd := exec.Command("psql", "-X", "-q", "-A", "-P", "null=NULL", "-P", "footer=off", "-f", "-")
	cmd.Stdin = strings.NewReader(in.String())
	cmd.Env = append(os.Environ(), "PGOPTIONS=-c client_min_messages=error")
	raw, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err, string(raw))
	}
	parts := strings.Split(string(raw), mark+"\n")[1:]
	if len(parts) != len(blocks) {
		t.Fatal(len(parts), len(blocks))
	}
	var out strings.Builder
	for i := range blocks {
		w := strings.TrimSuffix(parts[i], "\n")
		if k := strings.Index(w, "ERROR:  "); k >= 0 {
			w = "ERROR " + w[k+8:k+13]
		}
		blocks[i].want = w
		fmt.Fprintf(&out, "%s\n\n", strings.TrimSpace(blocks[i].sql+"\n----\n"+w))
	}
	if err := os.WriteFile(path, []byte(strings.TrimSuffix(out.String(), "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

func openTemp(t testing.TB) *DB {
	db, err := OpenTemp()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// run executes a script and returns the last result.
func run(db *DB, sql string) (*catalog.Result, error) {
	text := &ast.Text{SQL: sql}
	ps, err := parse.Parse(text)
	if err != nil {
		return nil, err
	}
	var r *catalog.Result
	for _, p := range ps {
		if r, err = db.Exec(context.Background(), p.Stmt, text); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// show prints a statement's result as psql -A does.
func show(db *DB, sql string) string {
	r, err := run(db, sql)
	if err != nil {
		return "ERROR " + sqlerr.Code(err) + note(err)
	}
	if r == nil || !r.HasRows {
		return ""
	}
	var lines []string
	var head []string
	for _, c := range r.Cols {
		head = append(head, c.Name)
	}
	lines = append(lines, strings.Join(head, "|"))
	for _, row := range r.Rows {
		var f []string
		for i, v := range row {
			if v == nil {
				f = append(f, "NULL")
				continue
			}
			f = append(f, columns.Format(v, r.Cols[i].Type))
		}
		lines = append(lines, strings.Join(f, "|"))
	}
	return strings.Join(lines, "\n")
}

// note adds the message of an internal error, which no golden file expects.
func note(err error) string {
	if c := sqlerr.Code(err); c == sqlerr.Internal || os.Getenv("STORE_ERRORS") != "" {
		return " " + sqlerr.Render(err)
	}
	return ""
}

func mustRun(t testing.TB, db *DB, sql string) *catalog.Result {
	t.Helper()
	r, err := run(db, sql)
	if err != nil {
		t.Fatalf("%s\n%s", sql, sqlerr.Render(err))
	}
	return r
}

// parseOne parses one statement.
func parseOne(t testing.TB, sql string) (ast.Statement, *ast.Text) {
	t.Helper()
	text := &ast.Text{SQL: sql}
	ps, err := parse.Parse(text)
	if err != nil || len(ps) != 1 {
		t.Fatal(sql, err)
	}
	return ps[0].Stmt, text
}
