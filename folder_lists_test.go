package relgrad

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqlerr/sqlerrtest"
)

// TestFolderLists: arrays of all types become lists of a table of Delta Lake, and arrays again: with NULLs, without
// elements, and with texts that array literals quote. What its columns cannot hold is refused.
func TestFolderLists(t *testing.T) {
	db, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.Dir = t.TempDir()
	ctx := context.Background()
	run := func(sql string) error {
		_, err := db.Run(ctx, sql)
		return err
	}
	const columns = "(k int PRIMARY KEY, i int[], b bigint[], s smallint[], x text[], d date[], n numeric[], o bool[])"
	for _, sql := range []string{"CREATE TABLE a " + columns, "CREATE TABLE c " + columns,
		`INSERT INTO a VALUES (1, '{1,-2}', '{9007199254740993,NULL}', '{7}', '{a,"b c",NULL,"\"q\",","","{x}","NULL"}',
		'{2026-01-02,1969-12-31}', '{1.50,NULL}', '{t,f,NULL}'), (2, NULL, '{}', '{NULL}', '{}', NULL, '{}', NULL)`,
		"COPY a TO 'lists' (FORMAT delta)", "COPY c FROM 'lists' (FORMAT delta)"} {
		if err := run(sql); err != nil {
			t.Fatal(sql, err)
		}
	}
	res, err := db.Run(ctx, "SELECT (SELECT count(*) FROM c), (SELECT count(*) FROM (SELECT * FROM a EXCEPT "+
		"SELECT * FROM c) q)")
	if err != nil {
		t.Fatal(err)
	}
	if row := res.Rows[0]; row[0] != int64(2) || row[1] != int64(0) {
		t.Errorf("%v rows came back, %v of them were others", row[0], row[1])
	}
	sqlerrtest.Refused(t, run("COPY (SELECT ARRAY[ARRAY[1, 2], ARRAY[3, 4]] AS i) TO 'deep' (FORMAT delta)"),
		sqlerr.DatatypeMismatch, "an array cannot become integer")
}

// tablesPy runs the program of interop/delta's tests and returns its lines.
func tablesPy(t *testing.T, args ...string) []string {
	t.Helper()
	return strings.Split(strings.TrimSpace(need.RunPython(t, "interop/delta/testdata/tables.py", args...)), "\n")
}

// TestFolderListsPython: deltalake and polars read arrays of all types as the lists that they are.
func TestFolderListsPython(t *testing.T) {
	need.Python(t)
	db, dir := testDB(t), filepath.Join(t.TempDir(), "lists")
	mustRun(t, db, `CREATE TABLE a (k int PRIMARY KEY, s smallint[], i int[], l bigint[], x text[], d date[], n numeric[],
		o bool[], t timestamptz[], c timestamp[], f real[], g double precision[], w real[]);
		INSERT INTO a VALUES
		(1, '{7}', '{1,-2}', '{9007199254740993,NULL}', '{a,"b c",NULL,"\"q\",","","{x}","NULL",ä}',
		'{2026-01-02,1969-12-31}', '{1.50,NULL}', '{t,f,NULL}', '{2026-01-02 03:04:05.000006+00,NULL}',
		'{1960-01-02 03:04:05.5}', '{0.1,-0}', '{0.1,5e-324}', '{{1.5,2},{3,4}}'),
		(2, '{NULL}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{NULL}', '{Infinity,1}', '{NaN,1}', NULL),
		(3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
		COPY a TO '`+dir+`' (FORMAT delta)`)
	want := []string{"== " + dir,
		`[1, [7], [1, -2], [9007199254740993, null], ["a", "b c", null, "\"q\",", "", "{x}", "NULL", "ä"], ` +
			`["2026-01-02", "1969-12-31"], ["1.50", null], [true, false, null], ` +
			`["2026-01-02 03:04:05.000006+00:00", null], ["1960-01-02 03:04:05.500000"], ` +
			`[0.10000000149011612, -0.0], [0.1, 5e-324], [[1.5, 2.0], [3.0, 4.0]]]`,
		"[2, [null], [], [], [], [], [], [], [], [null], [Infinity, 1.0], [NaN, 1.0], null]",
		"[3" + strings.Repeat(", null", 12) + "]"}
	if got := tablesPy(t, "lists", dir); !slices.Equal(got, slices.Concat(want, want)) {
		t.Errorf("deltalake and polars read\n%s\nwant twice\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestFolderListsOfPython: relgrad reads the lists that deltalake writes as arrays, lists in lists too. An array of
// floats holds no NULL.
func TestFolderListsOfPython(t *testing.T) {
	db, dir := testDB(t), filepath.Join(t.TempDir(), "lists")
	tablesPy(t, "arrays", dir)
	const columns = "b, s, i, l, x, d, n, o, t, c, f, g, m, w"
	mustRun(t, db, `SET timezone = 'UTC'; CREATE TABLE a (k int PRIMARY KEY, b smallint[], s smallint[], i int[],
		l bigint[], x text[], d date[], n numeric[], o bool[], t timestamptz[], c timestamp[], f real[],
		g double precision[], m bigint[], w real[]);
		COPY a (k, `+columns+`) FROM '`+dir+`' (FORMAT delta)`)
	got := answer(t, db, "SELECT k, "+strings.ReplaceAll(columns, ",", "::text,")+"::text FROM a ORDER BY k")
	want := []string{`1 {1,-128} {32767} {1,NULL,-2} {9007199254740993,NULL} {"a b",NULL,"NULL","","\"q\"","{x,y}",` +
		`"ä\\"} {1969-12-31,NULL} {-1.50,NULL} {t,NULL,f} {"2026-01-02 03:04:05.000006+00",NULL} ` +
		`{"2026-01-02 03:04:05.000006",NULL} {0.1,-0} {0.1,NaN} {{1,2,NULL},{3,4,5}} {{1.5,2}}`,
		"2 {} {NULL} <nil> {} {} <nil> {} <nil> {} <nil> {Infinity,1} <nil> {} {{3,4}}",
		"3 <nil> {} {2147483647} <nil> {NULL} {} <nil> {} <nil> {} <nil> {5e-324,-Infinity} <nil> <nil>"}
	if got != strings.Join(want, "] [") {
		t.Errorf("got\n%s\nwant\n%s", strings.ReplaceAll(got, "] [", "\n"), strings.Join(want, "\n"))
	}
	mustRun(t, db, "CREATE TABLE h (k int PRIMARY KEY, hole real[])")
	_, err := db.Run(context.Background(), "COPY h (k, hole) FROM '"+dir+"' (FORMAT delta)")
	sqlerrtest.Refused(t, err, sqlerr.NullNotAllowed, "a list with a NULL element")
}
