package relgrad

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/cudamock"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/pgbridge/conn"
)

// TestServerGraphics: on a server a superuser has losses run on a graphics processor, here on its double; nobody else
// may. After an error of a kernel, which no call of a process survives, the next call works: it has another engine.
func TestServerGraphics(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	if _, err := exec.LookPath("g++"); err != nil {
		need.Absent(t, "g++", err.Error())
	}
	dir, err := os.MkdirTemp("", "relgrad-double-") // where the server's user may read and write
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	lib, err := cudamock.LibraryIn(dir)
	for at := filepath.Dir(lib); err == nil && len(at) >= len(dir); at = filepath.Dir(at) {
		err = os.Chmod(at, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := pgcluster.Start(t, "RELGRAD_CUDA_DRIVER="+lib, "RELGRAD_NVRTC="+lib, "RELGRAD_CUBLASLT="+lib,
		"RELGRAD_CUDA_CACHE=off")
	failing(t, c, "cuGraphLaunch 5 719")
	ctx := context.Background()
	r, err := conn.Dial(ctx, c.DSN, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	script := func(sql string) error { return r.Script(ctx, sql) }
	if err := script("CREATE EXTENSION relgrad"); err != nil {
		t.Fatal(err)
	}
	s, err := Dial(ctx, c.DSN, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	query := func(sql string) (string, error) {
		res, err := s.RunSQL(ctx, sql)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(res.Rows), nil
	}
	run := func(sql string) string {
		t.Helper()
		text, err := query(sql)
		if err != nil {
			t.Fatalf("%v\n%s", err, sql)
		}
		return text
	}
	runAll(t, s, "SET search_path = public, relgrad", "CREATE TABLE w (k int PRIMARY KEY, v double precision[])",
		"INSERT INTO w VALUES (1, '{1,2}'), (2, '{3,4}')", "CREATE VIEW loss AS SELECT sum(sqnorm(v)) FROM w",
		"SET relgrad.engine = chunk", "CREATE ROLE anna")
	const gradient = "SELECT string_agg(g::text, ' ' ORDER BY k) FROM gradient('loss', NULL::w) g"
	want := run(gradient)
	runAll(t, s, "SET relgrad.device = 'cuda'")
	if text := run("SELECT explain_gradient('loss', 'w', 'physical')"); !strings.Contains(text, "executor: cuda:0, mock") {
		t.Error(text)
	}
	failures := 0
	for range 100 {
		got, err := query(gradient)
		var e *sqlerr.Error
		switch {
		case err == nil && got != want:
			t.Fatalf("the gradient is %s, not %s", got, want)
		case errors.As(err, &e) && e.Code == sqlerr.System && strings.Contains(e.Detail, "error 719"):
			failures++
		case err != nil:
			t.Fatal(err)
		}
	}
	if failures < 2 {
		t.Errorf("%d launches have failed", failures)
	}
	for _, sql := range []string{"SET relgrad.device = 'gpu'", "SET ROLE anna; SET relgrad.device = 'cuda'"} {
		if err := script(sql); sqlerr.Code(err) != "22023" && sqlerr.Code(err) != "42501" {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// failing has each engine of a server fail in a call of the double.
func failing(t *testing.T, c *pgcluster.Cluster, call string) {
	t.Helper()
	var engine string
	if err := filepath.WalkDir(c.Dir, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.Name() == "relgrad-engine" {
			engine = path
		}
		return nil
	}); err != nil || engine == "" {
		t.Fatalf("the engine is not found: %v", err)
	}
	if err := os.Rename(engine, engine+".real"); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("#!/bin/sh\nRELGRAD_MOCK_FAIL='%s' exec %s.real \"$@\"\n", call, engine)
	if err := os.WriteFile(engine, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
