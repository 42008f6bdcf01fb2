package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestMain lets the test binary be the command: the shell runs as a process of its own on a pseudo-terminal.
func TestMain(m *testing.M) {
	if os.Getenv("RELGRAD_TEST_COMMAND") != "" {
		os.Exit(realMain(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// process makes the command as a process, with its state in a folder.
func process(state string, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), "RELGRAD_TEST_COMMAND=1", "XDG_STATE_HOME="+state, "INPUTRC=/dev/null", "TERM=xterm")
	return c
}

// shell is a shell on a pseudo-terminal.
type shell struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	lock sync.Mutex
	out  bytes.Buffer // all that it wrote
	seen int          // up to where expect has looked, in the text without control sequences
}

func startShell(t *testing.T, state string, env []string, args ...string) *shell {
	t.Helper()
	s := &shell{t: t, cmd: process(state, append([]string{"sql"}, args...)...)}
	s.cmd.Env = append(s.cmd.Env, env...)
	var err error
	if s.tty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 24, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.tty.Close(); _ = s.cmd.Process.Kill() })
	go func() {
		b := make([]byte, 1<<16)
		for {
			n, err := s.tty.Read(b)
			s.lock.Lock()
			s.out.Write(b[:n])
			s.lock.Unlock()
			if err != nil {
				return
			}
		}
	}()
	s.expect("=> ")
	return s
}

var control = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\r")

// text is what was written, without control sequences.
func (s *shell) text() string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return control.ReplaceAllString(s.out.String(), "")
}

// keys types.
func (s *shell) keys(keys string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// expect waits for a text behind the ones found before.
func (s *shell) expect(want string) {
	s.t.Helper()
	for began := time.Now(); time.Since(began) < 30*time.Second; time.Sleep(5 * time.Millisecond) {
		text := s.text()
		if i := strings.Index(text[min(s.seen, len(text)):], want); i >= 0 {
			s.seen += i + len(want)
			return
		}
	}
	text := s.text()
	s.t.Fatalf("no %q in\n%s", want, text[min(s.seen, len(text)):])
}

// line types a line and waits for a text of its result.
func (s *shell) line(line, want string) {
	s.t.Helper()
	s.keys(line)
	s.expect(line) // what follows is its result
	s.keys("\r")
	s.expect("\n")
	s.expect(want)
}

// ends waits for the end of the process, which is a good one.
func (s *shell) ends() {
	s.t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			s.t.Fatalf("it ended with %v:\n%s", err, s.text())
		}
	case <-time.After(30 * time.Second):
		s.t.Fatalf("it does not end:\n%s", s.text())
	}
}

func TestShellPrompts(t *testing.T) {
	s := startShell(t, t.TempDir(), nil)
	s.line("SELECT 'a", "relgrad'> ")
	s.line("b' AS x, (", "relgrad(> ")
	s.line("3 + 4)", "relgrad-> ")
	s.line(";", " a+|        7\n")
	s.line("SELECT $$", "relgrad$> ")
	s.line("$$;", "(1 row)")
	s.line("/*", "relgrad*> ")
	s.line("*/", "relgrad=> ")
	s.line("SELECT 1/0;", "ERROR:  division by zero")
	s.line("BEGIN;", "relgrad=*> ")
	s.line("SELECT 1/0;", "relgrad=!> ")
	s.line("ROLLBACK;", "relgrad=> ")
	s.line(`\if false`, "relgrad@> ")
	s.line(`\endif`, "relgrad=> ")
	s.line(`\nope`, `HINT:  \? lists the commands.`)
	s.line("help", `\? lists the backslash commands`)
	s.line("SELECT 40 +", "relgrad-> ")
	s.keys("9 junk\x03") // Ctrl-C forgets the statement
	s.expect("relgrad=> ")
	s.line("SELECT 40 + 2 AS n;", " 42\n")
	s.keys("\x04")
	s.expect(`\q`)
	s.ends()
}

func TestShellEditing(t *testing.T) {
	dir := t.TempDir()
	editor := filepath.Join(dir, "editor")
	if err := os.WriteFile(editor,
		[]byte("#!/bin/sh\ncat \"$1\" >\"$1.old\"\necho \"SELECT 600 + 66 AS edited;\" >\"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "s.db")
	s := startShell(t, dir, []string{"PSQL_EDITOR=" + editor}, "--store", store, "-v", "who=nobody")
	s.line("CREATE TABLE point (id int PRIMARY KEY, abscissa real);", "CREATE TABLE")
	s.keys("INSERT INTO poi\t")
	s.expect("point")
	s.line(" VALUES (1, 2.5);", "INSERT 0 1")
	s.keys("SELECT absc\t")
	s.expect("abscissa")
	s.line(" * 2 AS twice FROM point;", "     5\n")
	s.line(`\e`, "   666\n")
	s.line("COPY point FROM STDIN;", ">> ")
	s.keys("2\t7\r\\.\r")
	s.expect("COPY 1")
	s.line(`\prompt 'Who? ' who`, "Who? ")
	s.line("someone", "relgrad=> ")
	s.line(`\echo <:who>`, "<someone>\n")
	s.line("SELECT count(*),", "relgrad-> ")
	s.line("  sum(abscissa) FROM point;", "     2 | 9.5\n")
	s.line(`\q`, "")
	s.ends()

	s = startShell(t, dir, nil, "--store", store) // the history is that of the session before
	s.keys("\x1b[A")                              // \q
	s.keys("\x1b[A")                              // the statement, with both lines
	s.expect("sum(abscissa) FROM point;")
	s.line("", "     2 | 9.5\n")
	s.line("quit", "")
	s.ends()
	if text, err := os.ReadFile(filepath.Join(dir, "relgrad", "history")); err != nil ||
		!strings.Contains(string(text), `"SELECT count(*),\n  sum(abscissa) FROM point;"`) {
		t.Errorf("the history is %s (%v)", text, err)
	}
}

func TestShellInterrupt(t *testing.T) {
	s := startShell(t, t.TempDir(), nil, "--store", filepath.Join(t.TempDir(), "s.db"))
	s.line("DO $$ BEGIN RAISE NOTICE 'begun'; LOOP NULL; END LOOP; END $$;", "NOTICE:  begun\n")
	s.keys("\x03")
	s.expect("ERROR:  canceling statement due to user request")
	s.line(`SELECT 3 AS three \watch 0.01`, "(every 0.01s)")
	s.expect("(every 0.01s)")
	s.keys("\x03")
	s.expect("relgrad=> ")
	s.line("SET search_path = public, relgrad;", "SET")
	s.line("CREATE TABLE w (id int PRIMARY KEY, x double precision);", "CREATE TABLE")
	s.line("INSERT INTO w VALUES (1, 3);", "INSERT 0 1")
	s.line("CREATE VIEW loss AS SELECT sum(x * x) AS loss FROM w;", "CREATE VIEW")
	s.line("CALL train('loss', ARRAY['w'], optimizer => 'sgd', lr => 1e-9, epochs => 1000000000);",
		"NOTICE:  train: run 1,")
	s.expect("loss 9") // the progress bar
	s.keys("\x03")
	s.expect("ERROR:  training was cancelled after step ")
	s.expect("DETAIL:  Run 1 is cancelled. ")
	s.expect("HINT:  CALL train(resume => 1); goes on with it.")
	s.line("SELECT status FROM run;", " cancelled\n")
	s.line("exit", "")
	s.ends()
}

// TestShellWithoutTerminal: the command sql then is run -.
func TestShellWithoutTerminal(t *testing.T) {
	c := process(t.TempDir(), "sql", "-q", "--format", "csv", "-v", "x=5")
	c.Stdin = strings.NewReader("SELECT :x AS a;\nSELECT 1/0;\nSELECT 2;\n")
	out, err := c.CombinedOutput()
	if string(out) != "a\n5\nERROR:  division by zero\n" || c.ProcessState.ExitCode() != 3 {
		t.Errorf("status %d (%v):\n%s", c.ProcessState.ExitCode(), err, out)
	}
}
