package relgrad

import (
	"context"
	"testing"

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
