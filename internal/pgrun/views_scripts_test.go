package pgrun

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/script/psql"
)

// TestPrintedScripts binds the losses of the example scripts, and of those that users bring, from the text that
// Postgres prints of their views.
func TestPrintedScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	data := need.Data(t)
	ours, err := filepath.Glob(filepath.Join(need.Root(), "examples", "*", "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := filepath.Glob(filepath.Join(need.Surface(t), "*.sql"))
	if err != nil || len(ours) == 0 || len(theirs) == 0 {
		t.Fatal(len(ours), len(theirs), err)
	}
	s := newViewServer(t)
	for _, path := range append(ours, theirs...) {
		name := filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path)
		if strings.HasPrefix(name, "servers/") {
			continue // of several servers, which the embedded store does not have: pgbridge/serverstest runs it
		}
		if strings.HasSuffix(path, "kge_data.sql") || strings.HasSuffix(path, "_model.sql") &&
			!strings.HasSuffix(path, "language_model.sql") {
			continue // others include it
		}
		t.Run(name, func(t *testing.T) {
			s.t = t
			s.clear()
			m := newMirror(s)
			run(t, m, path, data)
			if len(m.compared) == 0 {
				t.Error("no loss was compared")
			}
		})
	}
}

// run runs a script until it trains, then what it has run before each step.
func run(t *testing.T, m *mirror, path, data string) {
	r := psql.NewRunner(m, psql.Options{Vars: map[string]string{"data": data, "seed": "1", "epochs": "1"}, Quiet: true,
		Stdout: io.Discard, Stderr: io.Discard})
	ctx := context.Background()
	err := r.RunFile(ctx, path)
	if m.train == nil {
		if err != nil {
			t.Error(err)
		}
		return
	}
	if m.train.before != "" {
		if err := r.RunReader(ctx, "before_step", strings.NewReader(m.train.before+";\n")); err != nil {
			t.Fatal(err)
		}
	}
	m.compare(m.train.loss, m.train.params)
}
