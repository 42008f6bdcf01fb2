// Package pgcluster starts a PostgreSQL server of its own for a test, with relgrad's extension in it.
//
// # What
//
// Start builds the extension for the server that pg_config names (or the program in PG_CONFIG), lays it beside links to
// that server's files in a private folder, and starts a server there: nothing of the machine's own installation is
// changed, no right to write to it is needed, and two copies of the repository do not meet.
//
// # Invariants
//
// The server listens on a Unix socket in a private folder and on nothing else. It runs as postgres, or nobody, where
// the test runs as root. It ends with the test, also when the test's process dies: a shell waits for the end of its
// input.
//
// # Errors
//
// Where no server, no headers or no C compiler is there, the test is skipped or fails; see internal/need. What does not
// build or start fails it.
//
// # Where to add
//
// A setting of the server is an argument in Cluster.start.
package pgcluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/need"
)

// Cluster is a running server.
type Cluster struct {
	DSN   string            // for pgx and psql: database postgres, a superuser
	Dir   string            // all of it
	Data  string            // the data folder, in Dir
	port  string            // names the socket; the environment may name another one
	paths map[string]string // of the machine's own installation, by pg_config's names
	as    *syscall.SysProcAttr
}

// startTime bounds the start of a server that has nothing to recover.
const startTime = 20 * time.Second

// Need skips the test where no server is installed.
func Need(t testing.TB) {
	t.Helper()
	locate(t)
}

// Start gives a server that ends with the test. The extension is installed, but created in no database. env is added to
// the server's environment.
func Start(t testing.TB, env ...string) *Cluster {
	t.Helper()
	return start(t, (*Cluster).install, env)
}

// StartBare is Start without the extension: a server as others manage it.
func StartBare(t testing.TB, env ...string) *Cluster {
	t.Helper()
	return start(t, func(*Cluster) error { return nil }, env)
}

func start(t testing.TB, install func(*Cluster) error, env []string) *Cluster {
	t.Helper()
	paths := locate(t)
	dir, err := os.MkdirTemp("", "relgrad-pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := newCluster(dir, "data", "5432", paths)
	if err := c.chooseUser(); err != nil {
		t.Fatal(err)
	}
	if err := c.layOut(); err != nil {
		t.Fatal(err)
	}
	if err := install(c); err != nil {
		t.Fatal(err)
	}
	if out, err := c.command(filepath.Join(c.bin(), "initdb"), "-D", c.Data, "-U", "relgrad", "-A", "trust", "-E", "UTF8",
		"--locale=C", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	c.start(t, env)
	return c
}

func newCluster(dir, data, port string, paths map[string]string) *Cluster {
	return &Cluster{Dir: dir, Data: filepath.Join(dir, data), port: port, paths: paths,
		DSN: fmt.Sprintf("host=%s port=%s user=relgrad dbname=postgres", dir, port)}
}

// bin is the folder of the server's programs.
func (c *Cluster) bin() string { return filepath.Join(c.Dir, c.paths["bindir"]) }

// Standby gives a copy of the server in recovery, which follows it and ends with the test.
func (c *Cluster) Standby(t testing.TB) *Cluster {
	t.Helper()
	s := newCluster(c.Dir, "standby", "5433", c.paths)
	s.as = c.as
	if out, err := c.Client("pg_basebackup", "-D", s.Data, "-R", "-X", "stream", "-c", "fast", "--no-sync", "-d", c.DSN).
		CombinedOutput(); err != nil {
		t.Fatalf("pg_basebackup: %v\n%s", err, out)
	}
	s.start(t, nil)
	return s
}

// Client is a program of the machine's own installation, to be run as the server's user.
func (c *Cluster) Client(program string, args ...string) *exec.Cmd {
	return c.command(filepath.Join(c.paths["bindir"], program), args...)
}

// Log is what the server has said.
func (c *Cluster) Log() (string, error) {
	text, err := os.ReadFile(c.Data + ".log")
	return string(text), err
}

// Script puts a file beside the extension's scripts.
func (c *Cluster) Script(name, text string) error {
	return os.WriteFile(filepath.Join(c.Dir, c.paths["sharedir"], "extension", name), []byte(text), 0o644)
}

func pgConfig() string {
	if p := os.Getenv("PG_CONFIG"); p != "" {
		return p
	}
	return "pg_config"
}

// locate asks pg_config for the server's folders.
func locate(t testing.TB) map[string]string {
	t.Helper()
	need.Time(t)
	for _, program := range []string{pgConfig(), "make", "gcc"} {
		if _, err := exec.LookPath(program); err != nil {
			need.Absent(t, "pg", "no "+program+"; make pg-install installs what a server needs")
		}
	}
	paths := map[string]string{}
	for _, name := range []string{"bindir", "pkglibdir", "sharedir", "includedir-server"} {
		out, err := exec.Command(pgConfig(), "--"+name).Output()
		if err != nil {
			t.Fatalf("%s --%s: %v", pgConfig(), name, err)
		}
		paths[name] = strings.TrimSpace(string(out))
	}
	for _, file := range []string{filepath.Join(paths["bindir"], "initdb"), filepath.Join(paths["bindir"], "postgres"),
		filepath.Join(paths["includedir-server"], "postgres.h")} {
		if _, err := os.Stat(file); err != nil {
			need.Absent(t, "pg", "no "+file+"; run make pg-install")
		}
	}
	return paths
}

// chooseUser finds a user who may run a server: PostgreSQL refuses root.
func (c *Cluster) chooseUser() error {
	if err := os.Chmod(c.Dir, 0o755); err != nil || os.Geteuid() != 0 {
		return err
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return err
		}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return err
	}
	c.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return os.Chown(c.Dir, uid, gid)
}

// layOut makes a copy of the installation below dir: the server finds its other files relative to its own place, so its
// programs are copied and all else is linked.
func (c *Cluster) layOut() error {
	if err := os.MkdirAll(c.bin(), 0o755); err != nil {
		return err
	}
	for _, program := range []string{"postgres", "initdb"} {
		code, err := os.ReadFile(filepath.Join(c.paths["bindir"], program))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(c.bin(), program), code, 0o755); err != nil {
			return err
		}
	}
	for _, folder := range []string{c.paths["pkglibdir"], c.paths["sharedir"],
		filepath.Join(c.paths["sharedir"], "extension")} {
		if err := c.link(folder); err != nil {
			return err
		}
	}
	return nil
}

// link makes a folder below dir with links to the entries of the real one, but for extensions and what is relgrad's.
func (c *Cluster) link(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	to := filepath.Join(c.Dir, folder)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == "extension" || strings.HasPrefix(e.Name(), "relgrad") {
			continue
		}
		if err := os.Symlink(filepath.Join(folder, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// install builds the extension, with every warning an error, and installs it below dir. What is built stays in the
// repository's folder bin, for the next test.
func (c *Cluster) install() error {
	version, err := exec.Command(pgConfig(), "--version").Output()
	if err != nil {
		return err
	}
	build := filepath.Join(need.Root(), "bin", fmt.Sprintf("pg-test-%x", version))
	if err := os.MkdirAll(build, 0o755); err != nil {
		return err
	}
	lock, err := os.Open(build)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	if err := engine(build); err != nil {
		return err
	}
	return making(build, "DESTDIR="+c.Dir, "install")
}

// engines are the errors of making the engine in a folder: it is made once in a process.
var engines sync.Map

func engine(build string) error {
	once, _ := engines.LoadOrStore(build, sync.OnceValue(func() error { return making(build, "engine") }))
	return once.(func() error)()
}

// making makes targets of the extension.
func making(build string, args ...string) error {
	file := filepath.Join(need.Root(), "pgbridge", "extension", "Makefile")
	make := exec.Command("make", append([]string{"-s", "-j2", "-f", file, "PG_CONFIG=" + pgConfig(), "COPT=-Werror"},
		args...)...)
	make.Dir = build
	if out, err := make.CombinedOutput(); err != nil {
		return fmt.Errorf("building the extension: %w\n%s", err, out)
	}
	return nil
}

// UseEngine puts another program in the place of the engine's.
func (c *Cluster) UseEngine(program string) error {
	code, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	file := filepath.Join(c.Dir, c.paths["pkglibdir"], "relgrad-engine")
	if err := os.Remove(file); err != nil { // it may be running
		return err
	}
	return os.WriteFile(file, code, 0o755)
}

// command is a command run as the server's user.
func (c *Cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.SysProcAttr = c.Dir, c.as
	return cmd
}

// start runs the server below a shell whose input is a pipe from this process: when that closes, for whatever reason,
// the shell stops the server.
func (c *Cluster) start(t testing.TB, env []string) {
	t.Helper()
	log, err := os.Create(c.Data + ".log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := c.command("sh", "-c", `trap : TERM INT HUP; "$@" & pid=$!; cat >/dev/null; kill -INT $pid; wait $pid`, "sh",
		filepath.Join(c.bin(), "postgres"), "-D", c.Data, "-k", c.Dir, "-p", c.port,
		"-c", "listen_addresses=", "-c", "fsync=off", "-c", "full_page_writes=off", "-c",
		"synchronous_commit=off", "-c", "max_connections=100", "-c",
		"jit=off") // compiling costs more than the tests' small queries; a test of settings compiles all of its own
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, append(os.Environ(), env...)
	pipe, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pipe.Close()
		_ = cmd.Wait() // its status is the signal's
	})
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	for !c.ready() {
		select {
		case <-ctx.Done():
			text, _ := os.ReadFile(log.Name())
			t.Fatalf("the server did not start within %v:\n%s", startTime, text)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// ready reports whether the server takes connections: the last line of its lock file says so.
func (c *Cluster) ready() bool {
	text, err := os.ReadFile(filepath.Join(c.Data, "postmaster.pid"))
	return err == nil && strings.HasSuffix(strings.TrimRight(string(text), " \n"), "ready")
}
