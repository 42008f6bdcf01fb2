package psql

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/store"
)

// TestComplete: each line of the input is a text, ¶ standing for a newline; what may follow its last word is shown,
// long lists cut.
func TestComplete(t *testing.T) {
	db, err := store.OpenTemp()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := NewRunner(script.Embedded(db), Options{Stdout: io.Discard, Stderr: io.Discard, Dir: "testdata"})
	datadriven.RunTest(t, "testdata/complete.txt", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd == "setup" {
			if err := r.RunReader(context.Background(), "", strings.NewReader(d.Input)); err != nil {
				t.Fatal(err)
			}
			return ""
		}
		var out strings.Builder
		for line := range strings.SplitSeq(d.Input, "\n") {
			text := strings.ReplaceAll(line, "¶", "\n")
			word, found := r.Complete(text)
			out.WriteString(line + "|" + text[word:] + ":")
			for i, c := range found {
				if i == 12 {
					out.WriteString(" …")
					break
				}
				out.WriteString(" " + c.Text + "(" + c.Kind + ")")
			}
			out.WriteByte('\n')
		}
		return out.String()
	})
}
