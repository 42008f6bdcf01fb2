package store

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// withoutEnd gives a text, then one without an end, and counts what is read of it.
type withoutEnd struct {
	begin, part string
	read        int
}

func (r *withoutEnd) Read(p []byte) (int, error) {
	if r.begin != "" {
		n := copy(p, r.begin)
		r.begin = r.begin[n:]
		return n, nil
	}
	n := 0
	for n+len(r.part) <= len(p) {
		n += copy(p[n:], r.part)
	}
	r.read += n
	return n, nil
}

// TestCopyLongRow: a row longer than the limit is refused when that much has been read, whatever follows, and its line
// is named.
func TestCopyLongRow(t *testing.T) {
	db := openTemp(t)
	if db.longestRecord != 256<<20 {
		t.Errorf("the limit is %d bytes, docs/limits.md says 256 MB", db.longestRecord)
	}
	db.longestRecord = 1 << 20
	mustRun(t, db, "CREATE TABLE t (id int, s text)")
	for _, c := range []struct{ options, begin, part, line string }{
		{"", "1\ta\n2\tb\n3\t", "x", "line 3"},
		{"", "", "x", "line 1"},
		{"", "1\ta\n", "\t", "line 2"},
		{"WITH (FORMAT csv)", "1,a\n2,", "x", "line 2"},
		{"WITH (FORMAT csv)", "1,a\n2,\"", "x\n", "line 2"}, // a quote that is not closed
		{"WITH (FORMAT csv, HEADER)", "", "x", "line 1"},
		{"WITH (FORMAT csv, HEADER)", "id,s\n1,a\n2,\"b\n", "\"\"\n", "line 3"},
	} {
		st, text := parseOne(t, "COPY t FROM STDIN "+c.options)
		r := &withoutEnd{begin: c.begin, part: c.part}
		_, err := db.CopyIn(t.Context(), st.(*ast.Copy), text, r, "")
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Code != sqlerr.ProgramLimit || !strings.HasPrefix(e.Context, "COPY t, "+c.line) ||
			r.read > db.longestRecord+(1<<19) {
			t.Errorf("%s, %q: %v after %d bytes", c.options, c.begin, err, r.read)
		}
		if got := show(db, "SELECT count(*) FROM t"); got != "count\n0" {
			t.Errorf("%s left %s", c.options, got)
		}
	}
	st, text := parseOne(t, "COPY t FROM STDIN")
	if n, err := db.CopyIn(t.Context(), st.(*ast.Copy), text,
		io.MultiReader(strings.NewReader("1\t"),
			strings.NewReader(strings.Repeat("x", db.longestRecord-3)+"\n")), ""); err != nil || n != 1 {
		t.Errorf("a row of the greatest length: %d, %v", n, err)
	}
}

// TestCopyIsInterrupted: rows without an end are left when the statement is cancelled.
func TestCopyIsInterrupted(t *testing.T) {
	db := openTemp(t)
	mustRun(t, db, "CREATE TABLE t (id int, s text)")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	st, text := parseOne(t, "COPY t FROM STDIN")
	r := &withoutEnd{part: "1\ta\n"}
	_, err := db.CopyIn(ctx, st.(*ast.Copy), text, io.LimitReader(r, 64<<20), "")
	if sqlerr.Code(err) != sqlerr.QueryCanceled || r.read > 48<<20 {
		t.Errorf("%v after %d bytes", err, r.read)
	}
	if got := show(db, "SELECT count(*) FROM t"); got != "count\n0" {
		t.Errorf("it left %s", got)
	}
}
