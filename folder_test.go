package relgrad

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop/delta"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// rowsOfTable loads a table of Delta Lake into another store and dumps it.
func rowsOfTable(t *testing.T, dir, table string, o FileOptions) string {
	t.Helper()
	other := testDB(t)
	o.Format = "delta"
	if _, err := other.ImportFolder(context.Background(), dir, table, o); err != nil {
		t.Fatal(err)
	}
	return rowsOnly(dump(t, other, table))
}

// rowsOnly leaves out the types: a list in a list of Delta Lake is of no dimensions that the schema tells.
func rowsOnly(dump string) string {
	_, rows, _ := strings.Cut(dump, "\n")
	return rows
}

// TestFolderBitEqual: a table comes back from Delta Lake with its bits, key and types, and each version stays readable.
func TestFolderBitEqual(t *testing.T) {
	ctx, db, dir := context.Background(), testDB(t), filepath.Join(t.TempDir(), "d")
	fillBits(t, db)
	n, said, err := db.ExportFolder(ctx, dir, "w", FileOptions{Format: "delta"})
	if err != nil || n != 40 || said != "" {
		t.Fatal(n, said, err)
	}
	first := rowsOnly(dump(t, db, "w"))
	if got := rowsOfTable(t, dir, "w", FileOptions{}); got != first {
		t.Errorf("read back as\n%s\nwritten was\n%s", got, first)
	}
	mustRun(t, db, "DELETE FROM w WHERE k > 90; UPDATE w SET x = 7")
	if _, said, err = db.ExportFolder(ctx, dir, "w", FileOptions{Format: "delta"}); err != nil ||
		said != "version 1 of \""+dir+"\" replaces the rows of version 0" {
		t.Fatal(said, err)
	}
	if got, want := rowsOfTable(t, dir, "w", FileOptions{}), rowsOnly(dump(t, db, "w")); got != want {
		t.Errorf("read back as\n%s\nwritten was\n%s", got, want)
	}
	old := FileOptions{FolderOptions: ast.FolderOptions{Version: "0"}}
	if got := rowsOfTable(t, dir, "w", old); got != first {
		t.Errorf("version 0 is\n%s\nnot\n%s", got, first)
	}
}

// TestCopyFolder: COPY in both directions, of rows and tensors.
func TestCopyFolder(t *testing.T) {
	db, dir := testDB(t), t.TempDir()
	mustRun(t, db, `CREATE TABLE a (k int PRIMARY KEY, v real[]);
		INSERT INTO a SELECT k, ARRAY[k, 2 * k, 0.5]::real[] FROM generate_series(0, 4) AS g(k);
		CREATE TABLE e (i0 bigint, i1 bigint, i2 bigint, value double precision, PRIMARY KEY (i0, i1, i2));
		INSERT INTO e SELECT k, k % 3, 2 * k, 1.5 * k FROM generate_series(1, 9) AS g(k)`)
	run := func(sql string) string {
		res, err := db.Run(context.Background(), strings.ReplaceAll(sql, "DIR", dir))
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return res.Tag + " " + res.Notice
	}
	if got := run("COPY (SELECT * FROM a WHERE k < 3) TO 'DIR/a' (FORMAT delta)"); got != "COPY 3 " {
		t.Error(got)
	}
	if got := run("COPY a TO 'DIR/a' (FORMAT delta)"); got != "COPY 5 version 1 of \""+dir+
		"/a\" replaces the rows of version 0" {
		t.Error(got)
	}
	mustRun(t, db, "CREATE TABLE b (k int PRIMARY KEY, v real[]); CREATE TABLE b0 (k int PRIMARY KEY, v real[])")
	run("COPY b FROM 'DIR/a' (FORMAT delta)")
	run("COPY b0 FROM 'DIR/a' (FORMAT delta, VERSION 0)")
	if a, b := dump(t, db, "a"), dump(t, db, "b"); a != b {
		t.Errorf("%s, not %s", b, a)
	}
	if b := dump(t, db, "b0"); strings.Count(b, "\n") != 4 {
		t.Error(b)
	}
	if got := run("COPY a (v) TO 'DIR/t' (FORMAT delta, TENSOR 'dense')"); !strings.Contains(got, "layout ftsf, 15 elem") {
		t.Error(got)
	}
	for _, layout := range []string{"coo", "csr", "csc", "csf", "bsgs"} {
		if got := run("COPY e TO 'DIR/" + layout + "' (FORMAT delta, TENSOR 'sparse', LAYOUT " + layout +
			", SHAPE '20,3,19')"); !strings.Contains(got, "layout "+layout+", 9 elem") {
			t.Error(got)
		}
		mustRun(t, db, "DROP TABLE IF EXISTS f; CREATE TABLE f (i0 bigint, i1 bigint, i2 bigint, value double precision, "+
			"PRIMARY KEY (i0, i1, i2)); ")
		run("COPY f FROM 'DIR/" + layout + "' (FORMAT delta, TENSOR 'sparse')")
		if e, f := dump(t, db, "e"), dump(t, db, "f"); e != f {
			t.Errorf("%s: %s, not %s", layout, f, e)
		}
		mustRun(t, db, "DROP TABLE IF EXISTS h; CREATE TABLE h (i0 bigint, i2 bigint, value double precision, "+
			"PRIMARY KEY (i0, i2)); ")
		run("COPY h FROM 'DIR/" + layout + "' (FORMAT delta, TENSOR 'sparse', SLICE '3:8, 1')")
		mustRun(t, db, "DROP TABLE IF EXISTS want; CREATE TABLE want (i0 bigint, i2 bigint, value double precision, "+
			"PRIMARY KEY (i0, i2)); INSERT INTO want SELECT i0, i2, value FROM e WHERE i0 >= 3 AND i0 < 8 AND i1 = 1")
		if e, f := dump(t, db, "want"), dump(t, db, "h"); e != f {
			t.Errorf("%s: %s, not %s", layout, f, e)
		}
	}
	got := rowsOfTable(t, dir+"/t", "d", FileOptions{FolderOptions: ast.FolderOptions{Tensor: "dense",
		Slice: "1:3, 0:2"}})
	mustRun(t, db, "CREATE TABLE d (i0 bigint, value real[], PRIMARY KEY (i0)); "+
		"INSERT INTO d VALUES (1, '{1,2}'), (2, '{2,4}')")
	if want := rowsOnly(dump(t, db, "d")); got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

// meanwhile is a sink before whose second row another writer replaces the table.
type meanwhile struct {
	*delta.Sink
	other func()
	rows  int
}

// Write implements interop.Sink.
func (m *meanwhile) Write(row []any) error {
	if m.rows++; m.rows == 2 {
		m.other()
	}
	return m.Sink.Write(row)
}

// TestFolderWrittenMeanwhile: of two that replace a table's rows the later one is refused,
// and the table has the rows of
// the other alone.
func TestFolderWrittenMeanwhile(t *testing.T) {
	ctx, db, dir := context.Background(), testDB(t), t.TempDir()
	mustRun(t, db, "CREATE TABLE a (k int PRIMARY KEY); INSERT INTO a VALUES (1), (2); "+
		"COPY a TO '"+dir+"' (FORMAT delta)")
	other := testDB(t)
	mustRun(t, other, "CREATE TABLE a (k int PRIMARY KEY); INSERT INTO a VALUES (7)")
	c, text, err := copyOf("a", dir, FileOptions{Format: "delta"})
	if err != nil {
		t.Fatal(err)
	}
	sink := &meanwhile{Sink: delta.NewSink(delta.NewLocal(dir), delta.Replace, delta.WriteOptions{})}
	sink.other = func() { mustRun(t, other, "COPY a TO '"+dir+"' (FORMAT delta)") }
	if _, err = db.writeTo(ctx, sink, "a", c, text); err == nil {
		err = sink.Close()
	}
	if sqlerr.Code(err) != sqlerr.SerializationFailure {
		t.Errorf("the later writer: %v", err)
	}
	if got := answer(t, db, "SELECT * FROM delta_table('"+dir+"')"); got != "7" {
		t.Errorf("the table has %s", got)
	}
}

// TestFolderErrors: each error names the folder and what is wrong, and changes nothing.
func TestFolderErrors(t *testing.T) {
	db, dir := testDB(t), t.TempDir()
	mustRun(t, db, strings.ReplaceAll(`CREATE TABLE a (k int PRIMARY KEY, v real[]); INSERT INTO a VALUES (1, '{1,2}');
		CREATE TABLE s (k text); CREATE TABLE two (x int, y int);
		CREATE TABLE e (i0 int, i1 int, value real); INSERT INTO e VALUES (0, 0, 1), (0, 0, 2);
		COPY a TO 'DIR/a' (FORMAT delta); COPY a (v) TO 'DIR/t' (FORMAT delta, TENSOR 'weights')`, "DIR", dir))
	for _, tc := range []struct{ sql, want string }{
		{"COPY a FROM 'DIR/none' (FORMAT delta)", "could not open folder \"DIR/none\": no such file or directory"},
		{"COPY a FROM 'DIR' (FORMAT delta)", "\"DIR\": there is no table of Delta Lake: _delta_log/ has no commits"},
		{"COPY a FROM 'DIR/a' (FORMAT delta, VERSION 3)", "\"DIR/a\": the table has no version 3, the newest is 0"},
		{"COPY a FROM 'DIR/a' (FORMAT delta, VERSION newest)", "invalid value for the COPY option VERSION: \"newest\""},
		{"COPY a FROM 'DIR/a' (FORMAT delta, LAYOUT csf)",
			"the COPY option LAYOUT has no meaning for COPY … FROM with the format delta"},
		{"COPY a FROM 'DIR/a' (FORMAT delta, SLICE '1')", "the COPY option SLICE needs the name of a tensor"},
		{"COPY a FROM 'DIR/a' (FORMAT npy, VERSION 1)", "the COPY option VERSION has no meaning for the format npy"},
		{"COPY a FROM 'DIR/t' (FORMAT delta, TENSOR 'weight')", "\"DIR/t\": the table has no tensor \"weight\""},
		{"COPY a FROM 'DIR/t' (FORMAT delta, TENSOR 'weights', SLICE '1:x')", "invalid slice \"1:x\" at \"1:x\""},
		{"COPY a FROM 'DIR/t' (FORMAT delta, TENSOR 'weights', SLICE '0,5')",
			"\"DIR/t\": tensor \"weights\": index 5 of dimension 1, which has 2"},
		{"COPY s (k) TO 'DIR/a' (FORMAT delta)", "\"DIR/a\": column \"k\": "},
		{"COPY two TO 'DIR/a' (FORMAT delta)", "\"DIR/a\": the table has no column \"x\""},
		{"COPY two TO 'DIR/t' (FORMAT delta, TENSOR 'x')",
			"\"DIR/t\": a tensor is one column, or the columns i0, i1, … and value, not \"x\", \"y\""},
		{"COPY s TO 'DIR/t' (FORMAT delta, TENSOR 'x')",
			"\"DIR/t\": column \"k\" of type text has no elements of a tensor"},
		{"COPY a (v) TO 'DIR/t' (FORMAT delta, TENSOR 'x', LAYOUT abc)", "\"DIR/t\": there is no layout \"abc\""},
		{"COPY e TO 'DIR/t' (FORMAT delta, TENSOR 'x')", "\"DIR/t\": two elements at (0, 0)"},
		{"COPY a TO STDOUT (FORMAT delta)", ""},
	} {
		if strings.HasPrefix(tc.sql, "COPY s (k) TO") {
			mustRun(t, db, "INSERT INTO s VALUES ('x')")
		}
		_, err := db.Run(context.Background(), strings.ReplaceAll(tc.sql, "DIR", dir))
		if want := strings.ReplaceAll(tc.want, "DIR", dir); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", tc.sql, err)
		}
	}
	for name, version := range map[string]int64{"a": 0, "t": 0} {
		s, err := delta.Open(delta.NewLocal(dir+"/"+name), delta.Latest())
		if err != nil || s.Version != version {
			t.Errorf("%s is at version %v (%v)", name, s, err)
		}
	}
}
