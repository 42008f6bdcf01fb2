package psql

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/store"
)

// TestCommands runs the scripts of testdata/commands.txt, which need no store: psql's own language.
func TestCommands(t *testing.T) {
	datadriven.RunTest(t, "testdata/commands.txt", func(t *testing.T, d *datadriven.TestData) string {
		return runScript(t, nil, d)
	})
}

// runScript runs a test's input and returns what a terminal would show.
func runScript(t *testing.T, s script.Session, d *datadriven.TestData) string {
	var out bytes.Buffer
	o := Options{Stdout: &out, Stderr: &out, Stdin: strings.NewReader("me\nyou\n"),
		Vars: map[string]string{}, Dir: "testdata"}
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "quiet":
			o.Quiet = true
		case "format":
			o.Format = a.Vals[0]
		case "var":
			o.Vars[a.Vals[0]] = a.Vals[1]
		}
	}
	r := NewRunner(s, o)
	err := r.RunReader(context.Background(), "t.sql", strings.NewReader(d.Input))
	if e := r.Close(); e != nil {
		t.Error(e)
	}
	if err != nil {
		out.WriteString("stopped\n")
	}
	return out.String()
}

// TestCommandList: \? lists every command, with its arguments, once.
func TestCommandList(t *testing.T) {
	help := CommandHelp()
	seen := map[string]bool{}
	for _, g := range commandTable {
		for _, c := range g.commands {
			name := strings.Fields(c.names)[0]
			if seen[name] || c.summary == "" || !strings.Contains(help, "  \\"+name+" ") {
				t.Errorf("\\%s is listed wrongly", name)
			}
			seen[name] = true
		}
	}
}

// TestWatch: a statement runs as often as \watch says, each time under the date.
func TestWatch(t *testing.T) {
	db, err := store.OpenTemp()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var out bytes.Buffer
	r := NewRunner(script.Embedded(db), Options{Stdout: &out, Stderr: &out})
	if err := r.RunReader(context.Background(), "",
		strings.NewReader("\\pset title 'a title'\nSELECT 1 AS x\n\\watch i=0 c=3\nSELECT 2 AS y;\n")); err != nil {
		t.Fatal(err, out.String())
	}
	if n := strings.Count(out.String(), " x \n---\n 1\n"); n != 3 || strings.Count(out.String(), "(every 0s)") != 3 ||
		strings.Count(out.String(), "a title\n y ") != 1 {
		t.Errorf("%d times:\n%s", n, out.String())
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.RunReader(ctx, "", strings.NewReader("SELECT 1 \\watch\n")); err == nil {
		t.Error("it does not end when it is cancelled")
	}
}

// TestScripts runs the other files of testdata on a store of their own, one for each file.
func TestScripts(t *testing.T) {
	for _, name := range []string{"describe", "print", "plpgsql", "function", "copy", "transaction", "errors"} {
		t.Run(name, func(t *testing.T) {
			db, err := store.OpenTemp()
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			datadriven.RunTest(t, "testdata/"+name+".txt", func(t *testing.T, d *datadriven.TestData) string {
				return runScript(t, script.Embedded(db), d)
			})
		})
	}
}
