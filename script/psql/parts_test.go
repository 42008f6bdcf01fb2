package psql

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/script/plpgsql"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store"
)

// counted is a store whose queries give n rows and count how many were taken.
type counted struct {
	script.EmbeddedStore
	n, taken int
	row      func(i int) []any
}

func (c *counted) SelectEach(ctx context.Context, _ ast.Statement, text *ast.Text, start func([]script.Col) error,
	each func([]any) error) (*script.Result, error) {
	if err := start([]script.Col{{Name: "i", Type: "integer"}, {Name: "t", Type: "text"}}); err != nil {
		return nil, err
	}
	for c.taken = 0; c.taken < c.n; {
		c.taken++
		if err := each(c.row(c.taken)); err != nil {
			return nil, err
		}
	}
	return &script.Result{HasRows: true, Cols: []script.Col{{Name: "i", Type: "integer"}, {Name: "t", Type: "text"}},
		Tag: fmt.Sprintf("SELECT %d", c.n)}, nil
}

// gaps is a writer that notes how many rows of a source were taken between two writes of rows.
type gaps struct {
	of         *counted
	last, most int
	text       bytes.Buffer // not embedded: whoever finds its other methods writes past Write
}

func (g *gaps) Write(p []byte) (int, error) {
	g.most, g.last = max(g.most, g.of.taken-g.last), g.of.taken
	return g.text.Write(p)
}

func (g *gaps) String() string { return g.text.String() }

func run(t *testing.T, s script.Session, out *gaps, format, sql string) error {
	t.Helper()
	r := NewRunner(s, Options{Stdout: out, Stderr: &out.text, Stdin: strings.NewReader(""), Format: format})
	return r.RunReader(context.Background(), "", strings.NewReader(sql))
}

func open(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.OpenTemp()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// TestPartsAreBounded: no more rows, and no more bytes, are held than those of a part, in each format.
func TestPartsAreBounded(t *testing.T) {
	db := open(t)
	long := strings.Repeat("x", 1<<20)
	for _, tc := range []struct {
		set  string
		n    int
		row  func(i int) []any
		most int
	}{
		{"", 5*plpgsql.PartRows + 1, func(i int) []any { return []any{int64(i), "t"} }, plpgsql.PartRows},
		{"\\set FETCH_COUNT 7\n", 100, func(i int) []any { return []any{int64(i), "t"} }, 7},
		{"", 40, func(i int) []any { return []any{int64(i), long} }, 4},
		{"\\x\n", 3 * plpgsql.PartRows, func(i int) []any { return []any{int64(i), "t"} }, plpgsql.PartRows},
	} {
		for _, format := range []string{FormatAligned, FormatUnaligned, FormatCSV, FormatJSON} {
			c := &counted{EmbeddedStore: script.EmbeddedStore{Engine: db}, n: tc.n, row: tc.row}
			out := &gaps{of: c}
			if err := run(t, c, out, format, tc.set+"SELECT 1;"); err != nil {
				t.Fatal(err, out.String())
			}
			if out.most > tc.most || c.taken != tc.n {
				t.Errorf("%s%s: %d of %d rows were taken, %d before some were printed", tc.set, format, c.taken, tc.n, out.most)
			}
		}
	}
}

// TestPartsAreOne: parts print what the whole prints, where no later row is wider than those of the first part.
func TestPartsAreOne(t *testing.T) {
	db := open(t)
	for _, n := range []int{0, 1, 3, 6, 7} {
		for _, set := range []string{"", "\\x\n", "\\t\n", "\\x\n\\t\n", "\\pset border 2\n",
			"\\pset border 0\n\\x\n", "\\C title\n", "\\pset footer off\n"} {
			for _, format := range []string{FormatAligned, FormatUnaligned, FormatCSV, FormatJSON} {
				sql := fmt.Sprintf("%sSELECT 10 - i AS i, repeat('x', 9 - i) || E'\\nb' AS t, NULL AS u "+
					"FROM generate_series(1, %d) AS g(i); SELECT 'z' AS z;", set, n)
				var whole, cut gaps
				whole.of, cut.of = &counted{}, &counted{}
				if err := run(t, script.Embedded(db), &whole, format, sql); err != nil {
					t.Fatal(err, whole.String())
				}
				if err := run(t, script.Embedded(db), &cut, format, "\\set FETCH_COUNT 3\n"+sql); err != nil {
					t.Fatal(err, cut.String())
				}
				if whole.String() != cut.String() || whole.text.Len() == 0 {
					t.Errorf("%s%s, %d rows:\n%s\nin parts:\n%s", set, format, n, whole.String(), cut.String())
				}
			}
		}
	}
}

// TestPartsGrow: a value of a later part widens its column from there on; an error ends the table, and the next one
// begins anew.
func TestPartsGrow(t *testing.T) {
	db := open(t)
	out := gaps{of: &counted{}}
	err := run(t, script.Embedded(db), &out, FormatAligned, `\set ON_ERROR_STOP off
\set FETCH_COUNT 2
SELECT i, repeat('x', i) AS t FROM generate_series(1, 5) AS g(i);
\echo :ROW_COUNT
SELECT 6 / (4 - i) AS j FROM generate_series(1, 4) AS g(i);
SELECT 1 AS one;
SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 3 \gset
SELECT 'SELECT ' || i || ' AS g' FROM generate_series(1, 3) AS g(i) \gexec
`)
	const want = ` i | t  
---+----
 1 | x
 2 | xx
 3 | xxx
 4 | xxxx
 5 | xxxxx
(5 rows)

5
 j 
---
 2
 3
ERROR:  division by zero
 one 
-----
   1
(1 row)

ERROR:  more than one row returned for \gset
 g 
---
 1
(1 row)

 g 
---
 2
(1 row)

 g 
---
 3
(1 row)

`
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// full is a disk that takes n writes.
type full struct{ n int }

func (f *full) Write(p []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, fmt.Errorf("no space left on device")
	}
	return len(p), nil
}

// TestPartsCannotBeWritten: the query ends with the first part that cannot be written, and the session goes on.
func TestPartsCannotBeWritten(t *testing.T) {
	db := open(t)
	var messages bytes.Buffer
	r := NewRunner(script.Embedded(db), Options{Stdout: &full{1}, Stderr: &messages, Stdin: strings.NewReader("")})
	err := r.RunReader(context.Background(), "",
		strings.NewReader("SELECT i FROM generate_series(1, 2000000000) AS g(i);"))
	if sqlerr.Code(err) != sqlerr.IO ||
		messages.String() != "ERROR:  could not write the result: no space left on device\n" {
		t.Fatalf("%v\n%s", err, messages.String())
	}
	out := gaps{of: &counted{}}
	if err := run(t, script.Embedded(db), &out, FormatCSV, "SELECT 1 AS x;"); err != nil || out.String() != "x\n1\n" {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestCopyLinesInParts: a line longer than the reader's buffer comes in parts, of which none is the end of the data.
func TestCopyLinesInParts(t *testing.T) {
	for _, c := range []struct{ in, data, rest string }{
		{strings.Repeat("x", 16) + "\\.\ny\n\\.\nrest\n", strings.Repeat("x", 16) + "\\.\ny\n", "rest\n"},
		{strings.Repeat("x", 40) + "\n\\.\r\nrest", strings.Repeat("x", 40) + "\n", "rest"},
		{strings.Repeat("x", 32), strings.Repeat("x", 32), ""},
		{"a\n\\.", "a\n", ""},
	} {
		src := &source{r: bufio.NewReaderSize(strings.NewReader(c.in), 16)}
		data, err := io.ReadAll(&copyLines{src: src})
		rest, _ := io.ReadAll(src.r)
		if err != nil || string(data) != c.data || string(rest) != c.rest {
			t.Errorf("%q: %q, then %q: %v", c.in, data, rest, err)
		}
	}
}
