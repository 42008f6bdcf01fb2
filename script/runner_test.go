package script

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/relgrad/relgrad/store"
)

// TestCommands runs the scripts of testdata/commands.txt, which need no store: psql's own language.
func TestCommands(t *testing.T) {
	datadriven.RunTest(t, "testdata/commands.txt", func(t *testing.T, d *datadriven.TestData) string {
		return runScript(t, nil, d)
	})
}

// runScript runs a test's input and returns what a terminal would show.
func runScript(t *testing.T, s Session, d *datadriven.TestData) string {
	var out bytes.Buffer
	o := Options{Stdout: &out, Stderr: &out, Stdin: strings.NewReader(""), Vars: map[string]string{}, Dir: "testdata"}
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

// TestScripts runs the other files of testdata on a store of their own, one for each file.
func TestScripts(t *testing.T) {
	for _, name := range []string{"print", "plpgsql", "function", "copy", "transaction", "errors"} {
		t.Run(name, func(t *testing.T) {
			db, err := store.OpenTemp()
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			datadriven.RunTest(t, "testdata/"+name+".txt", func(t *testing.T, d *datadriven.TestData) string {
				return runScript(t, Embedded(db), d)
			})
		})
	}
}
