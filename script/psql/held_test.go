package psql

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/script"
)

// heap notes how much memory was in use when rows were taken or printed.
type heap struct {
	calls int
	most  uint64
}

func (h *heap) look() {
	if h.calls++; h.calls%16 != 0 {
		return
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h.most = max(h.most, m.HeapAlloc)
}

func (h *heap) Write(p []byte) (int, error) {
	h.look()
	return len(p), nil
}

// TestRowsAreNotHeld: of the rows that \gset, \gexec, a loop and RETURNING use, few are in memory at a time.
func TestRowsAreNotHeld(t *testing.T) {
	need.Time(t)
	db := open(t)
	const n, size = 64, 1 << 20
	long := "RESET search_path -- " + strings.Repeat("x", size)
	runs := func(s script.Session, h *heap, sql string) string {
		t.Helper()
		var messages strings.Builder
		r := NewRunner(s, Options{Stdout: h, Stderr: &messages, Stdin: strings.NewReader("")})
		if err := r.RunReader(context.Background(), "", strings.NewReader(sql)); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
		return messages.String()
	}
	const loop = "DO $$ DECLARE r record; n int := 0; BEGIN\nFOR r IN %s LOOP n := n + length(r.t); END LOOP;\n" +
		"RAISE NOTICE '%%', n; END $$;\n"
	runs(script.Embedded(db), &heap{}, "CREATE TABLE a (i int PRIMARY KEY, t text);")
	insert := func(from int) string {
		return fmt.Sprintf("INSERT INTO a SELECT i, repeat('x', %d) FROM generate_series(%d, %d) AS g(i) RETURNING i, t",
			size, from, from+n-1)
	}
	for _, tc := range []struct {
		sql, messages string
		counted       bool // the rows are made here
	}{
		{"\\set ON_ERROR_STOP off\nSELECT i, t FROM a \\gset\n", "more than one row returned for \\gset", true},
		{"SELECT i, t FROM a \\gexec\n", "", true},
		{fmt.Sprintf(loop, "SELECT i, t FROM a"), fmt.Sprint(n * len(long)), true},
		{fmt.Sprintf(loop, "EXECUTE 'SELECT i, t FROM a'"), fmt.Sprint(n * len(long)), true},
		{insert(1) + ";\n", "", false},
		{"UPDATE a SET i = -i RETURNING t;\n", "", false},
		{fmt.Sprintf(loop, insert(1)), fmt.Sprint(n * size), false},
		{fmt.Sprintf(loop, "EXECUTE "+quoted(insert(n+1))), fmt.Sprint(n * size), false},
		{"\\set ON_ERROR_STOP off\nDELETE FROM a RETURNING t \\gset\n", "more than one row returned for \\gset", false},
	} {
		h := &heap{}
		s := script.Embedded(db)
		if tc.counted {
			c := &counted{EmbeddedStore: script.EmbeddedStore{Engine: db}, n: n}
			c.row = func(int) []any {
				h.look()
				return []any{nil, strings.Clone(long)}
			}
			s = c
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		messages := runs(s, h, tc.sql)
		if !strings.Contains(messages, tc.messages) || tc.messages == "" && messages != "" {
			t.Errorf("%.100s says %q, not %q", tc.sql, messages, tc.messages)
		}
		if h.most > m.HeapAlloc+n*size/2 {
			t.Errorf("%.100s held %d MB", tc.sql, (h.most-m.HeapAlloc)>>20)
		}
	}
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// TestLoopsOverManyRows: the body of a loop over more rows than are held may change what its query has read.
func TestLoopsOverManyRows(t *testing.T) {
	db := open(t)
	var messages strings.Builder
	r := NewRunner(script.Embedded(db), Options{Stdout: io.Discard, Stderr: &messages, Stdin: strings.NewReader("")})
	err := r.RunReader(context.Background(), "", strings.NewReader(`
CREATE TABLE a (i int PRIMARY KEY, x double precision, t text);
INSERT INTO a SELECT i, i, repeat('x', 10000) FROM generate_series(1, 2000) AS g(i);
DO $$ DECLARE r record; s double precision := 0; n int := 0; BEGIN
FOR r IN SELECT * FROM a ORDER BY i DESC LOOP
    UPDATE a SET x = 0 WHERE i = r.i - 1;
    IF r.i % 500 = 0 THEN COMMIT; END IF;
    s := s + r.x; n := n + 1;
    EXIT WHEN r.i = 2;
END LOOP;
RAISE NOTICE '% % %', s, n, FOUND;
FOR r IN DELETE FROM a WHERE i > 1990 RETURNING i, t LOOP n := n + r.i; END LOOP;
RAISE NOTICE '%', n;
FOR r IN EXECUTE 'SELECT 1 AS i; SELECT 2 AS i' LOOP RAISE NOTICE '%', r.i; END LOOP;
END $$;
`))
	const want = "NOTICE:  2000999 1999 t\nNOTICE:  21954\nNOTICE:  2\n"
	if err != nil || messages.String() != want {
		t.Errorf("%v\n%s", err, messages.String())
	}
}
