package errortest

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// TestErrorsInPsql runs the files of psql: the setups and cases of testdata, on a server by psql. What the embedded
// store says of the same case must be the same ERROR, DETAIL and HINT. Arguments of case:
//
//	server        the case holds what only a server has, and is not compared
//	says          the store says it in other words, which are shown behind psql's
//	user=U        the script runs as the role U, alice or bob; the setup does so as a superuser
func TestErrorsInPsql(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	if _, err := exec.LookPath("psql"); err != nil {
		need.Absent(t, "pg", "no psql; make pg-install installs what a server needs")
	}
	c := pgcluster.Start(t)
	p := &inPsql{dsn: c.DSN}
	p.must(t, "postgres", "CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE DATABASE prepared;")
	p.must(t, "prepared", "CREATE EXTENSION relgrad; GRANT CREATE ON SCHEMA public TO alice, bob;")
	files, err := filepath.Glob("psql/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			p.setup = ""
			datadriven.RunTest(t, f, p.run)
		})
	}
}

// inPsql runs cases by psql, each in a database of its own.
type inPsql struct {
	dsn, setup string
	databases  int
}

// psql runs a script in a database and returns what it prints.
func (p *inPsql) psql(database, user, sql string) (string, error) {
	dsn := p.dsn + " dbname=" + database
	if user != "" {
		dsn += " user=" + user
	}
	cmd := exec.Command("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", dsn)
	cmd.Env = append(cmd.Environ(), "PGOPTIONS=-c jit=off")
	cmd.Stdin = strings.NewReader(sql)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p *inPsql) must(t *testing.T, database, sql string) {
	t.Helper()
	if out, err := p.psql(database, "", sql); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func (p *inPsql) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "setup":
		p.setup += d.Input + "\n"
		return ""
	case "case":
	default:
		d.Fatalf(t, "unknown command %s", d.Cmd)
	}
	_, sql, ok := strings.Cut(d.Input, "\n\n")
	if !ok {
		d.Fatalf(t, "a case is a title, an empty line and a script")
	}
	sql = expand(sql)
	p.databases++
	name := fmt.Sprintf("case%d", p.databases)
	p.must(t, "postgres", "CREATE DATABASE "+name+" TEMPLATE prepared")
	defer p.must(t, "postgres", "DROP DATABASE "+name+" WITH (FORCE)")
	p.must(t, name, p.setup)
	user := ""
	d.MaybeScanArgs(t, "user", &user)
	out, err := p.psql(name, user, "SET search_path = public, relgrad;\n"+sql)
	faults := ""
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		faults += fmt.Sprintf("FAULT: it did not stop at an error: %v\n", err)
	}
	if !d.HasArg("server") {
		if said := p.embedded(t, d, sql); d.HasArg("says") {
			out += "the store:\n" + said
		} else if said != withoutPlace(out) {
			faults += "FAULT: the store says\n" + said
		}
	}
	if faults != "" && !rewriting() {
		t.Errorf("%s: %s", d.Pos, faults)
	}
	return cut(out) + faults
}

// embedded gives the messages of the same case on the embedded store, without its place.
func (p *inPsql) embedded(t *testing.T, d *datadriven.TestData, sql string) string {
	db, err := relgrad.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c := &trial{bench: &bench{setup: p.setup, dir: t.TempDir()}, t: t, d: d}
	c.prepare(db)
	_, err = c.script(db, "script.sql", "SET search_path = public, relgrad;\n"+sql, nil)
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return fmt.Sprintf("%v\n", err)
	}
	bare := *e
	bare.Text, bare.Pos, bare.Context = nil, -1, ""
	return sqlerr.Render(&bare)
}

// withoutPlace leaves of what psql prints the lines ERROR, DETAIL and HINT, with those that belong to them.
func withoutPlace(out string) string {
	var b strings.Builder
	keep := false
	for _, line := range strings.SplitAfter(out, "\n") {
		switch head, _, ok := strings.Cut(line, ":  "); {
		case strings.HasPrefix(line, "LINE "):
			keep = false
		case ok && strings.ToUpper(head) == head && !strings.Contains(head, " "):
			keep = head == "ERROR" || head == "DETAIL" || head == "HINT"
		}
		if keep {
			b.WriteString(line)
		}
	}
	return b.String()
}

// cut shortens long lines.
func cut(out string) string {
	const width = 300
	lines := strings.Split(out, "\n")
	for i, l := range lines {
		if r := []rune(l); len(r) > width {
			lines[i] = fmt.Sprintf("%s… (%d characters)", string(r[:width]), len(r))
		}
	}
	return strings.Join(lines, "\n")
}
