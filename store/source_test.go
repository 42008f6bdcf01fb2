package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/store/definitions"
)

func TestSource(t *testing.T) {
	db := openTemp(t)
	mustRun(t, db,
		"CREATE TABLE w (k int PRIMARY KEY, v real[][], x double precision, a text, n numeric, b bool); INSERT INTO w "+
			"VALUES (5, '{{1,2}}', 0.5, 'p', 1.25, true), (7, '{{3,4}}', NULL, NULL, NULL, false), (6, NULL, 2, 'q', 3, NULL)")
	tab, err := db.Table("", "w")
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintln(tab.Rows, tab.Key, tab.Declared, tab.Cols[1].Type, tab.Cols[1].PGType, tab.Cols[1].Type.Nullable,
		tab.Cols[0].Type.Nullable) != "3 [0] true real[1,2] real[][] true false\n" {
		t.Errorf("%+v", tab)
	}
	cols, err := db.Read(context.Background(), tab, []int{ra.RowID, 0, 1, 2, 3, 4, 5})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(cols[0].I64(), cols[1].I64(), cols[2].F32(), cols[2].Valid(), cols[3].F64(), cols[3].Valid(),
		cols[4].Texts(), cols[5].F64(), cols[6].I64()); got !=
		"[5 6 7] [5 6 7] [1 2 0 0 3 4] [1 0 1] [0.5 2 0] [1 1 0] [p q ] [1.25 3 0] [1 0 0]" {
		t.Error(got)
	}
	data := column.New(kernels.Type{Kind: kernels.Float64, Shape: []int{1, 2}}, 2)
	copy(data.F64(), []float64{9, 8, 7, 6})
	if err := db.WriteColumn(context.Background(), "", "w", "v", []int64{7, 6}, data); err != nil {
		t.Fatal(err)
	}
	check(t, db, [][2]string{{"SELECT k, v FROM w ORDER BY k", "k|v\n5|{{1,2}}\n6|{{7,6}}\n7|{{9,8}}"}})
	bad := column.New(kernels.Type{Kind: kernels.Float64, Shape: []int{2, 2}}, 1)
	if err := db.WriteColumn(context.Background(), "", "w", "v", []int64{7},
		bad); sqlerr.Code(err) != sqlerr.ArraySubscript {
		t.Error(err)
	}
	check(t, db, [][2]string{{"SELECT v FROM w WHERE k = 7", "v\n{{9,8}}"}})
	text := &ast.Text{SQL: "SELECT k * 2 AS d, v, 'x' AS c FROM w WHERE k > 5 ORDER BY k"}
	sel, err := parse.ParseSelect(text)
	if err != nil {
		t.Fatal(err)
	}
	names, vs, err := db.Query(context.Background(), sel, text)
	if err != nil || fmt.Sprint(names, vs[0].I64(), vs[1].F32(), vs[1].Type(),
		vs[2].Texts()) != "[{d integer} {v real[]} {c text}] [12 14] [7 6 9 8] real[1,2] [x x]" {
		t.Error(names, vs, err)
	}
	mustRun(t, db, "CREATE TABLE plain (x real); CREATE TABLE empty (id int PRIMARY KEY, v real[])")
	if p, _ := db.Table("", "plain"); p.Declared || p.Key[0] != ra.RowID {
		t.Errorf("%+v", p)
	}
	if e, _ := db.Table("", "empty"); e.Cols[1].NoType == "" {
		t.Errorf("%+v", e)
	}
	if _, err := db.Table("", "wx"); sqlerr.Code(err) != sqlerr.UndefinedTable {
		t.Error(err)
	}
}

// engine is a stand-in for the functions of the engine.
type engine struct {
	db    *DB
	calls int
}

func (e *engine) TableFunc(ctx context.Context, c *ast.FuncCall, _ ast.Needs, _ *ast.Text) (*catalog.Relation, bool,
	error) {
	if c.Name != "gradient" {
		return nil, false, nil
	}
	e.calls++
	tab, err := e.db.Table("", "w")
	if err != nil {
		return nil, true, err
	}
	cols, err := e.db.Read(ctx, tab, []int{0, 1})
	return &catalog.Relation{Names: []string{"k", "v"}, Types: []string{"integer", "real[]"}, Cols: cols}, true, err
}

func (e *engine) ScalarFunc(ctx context.Context, c *ast.FuncCall, text *ast.Text) (string, any, bool, error) {
	switch c.Name {
	case "backward":
		return "double precision", 1.5, true, nil
	case "current_step":
		return "bigint", int64(7), true, nil
	case "failing":
		return "", nil, true, sqlerr.At(int(c.Args[0].Position()), sqlerr.InvalidParameter, "bad argument")
	}
	return "", nil, false, nil
}

func TestIntrinsics(t *testing.T) {
	db := openTemp(t)
	e := &engine{db: db}
	db.SetIntrinsics(e)
	mustRun(t, db, "CREATE TABLE w (k int PRIMARY KEY, v real[]); INSERT INTO w VALUES (1, '{1,2}'), (2, '{3,4}')")
	check(t, db, [][2]string{
		{"SELECT g.k, norm(g.v) FROM gradient('loss', NULL::w) g WHERE g.k > 1", "k|norm\n2|5"},
		{"UPDATE w SET v = w.v - 0.5 * g.v FROM gradient('loss', NULL::w) AS g WHERE g.k = w.k; SELECT v FROM w ORDER BY k",
			"v\n{0.5,1}\n{1.5,2}"},
		{"CREATE VIEW gv AS SELECT k, v FROM gradient('loss', NULL::w); SELECT a.k, b.v FROM gv a JOIN gv b USING (k) " +
			"ORDER BY 1", "k|v\n1|{0.5,1}\n2|{1.5,2}"},
		{"BEGIN; UPDATE w SET v = 10 * v; SELECT sum(v) FROM gv", "sum\n{20,30}"}, // sees uncommitted rows
		{"UPDATE w SET v = w.v - g.v FROM gradient('loss', NULL::w) g WHERE g.k = w.k; SELECT sum(v) FROM w", "sum\n{0,0}"},
		{"ROLLBACK; SELECT sum(v) FROM gv", "sum\n{2,3}"},
		{"SELECT backward('loss', ARRAY['w'], step => 1) AS b, current_step(), current_seed()",
			"b|current_step|current_seed\n1.5|7|0"},
		{"SELECT failing('x')", "ERROR 22023"},
		{"SELECT unknown_function(1)", "ERROR 42883"},
	})
	mustRun(t, db, "DELETE FROM w; INSERT INTO w VALUES (3, '{1}')")
	check(t, db, [][2]string{{"SELECT * FROM gradient('loss', NULL::w)", "k|v\n3|{1}"}})
}

// TestLargeChunks: chunks that are read from where they lie are those that a query reads, whatever the table and the
// column are called, whether it is written in this transaction or long ago, and with NULLs between.
func TestLargeChunks(t *testing.T) {
	db := openFile(t, filepath.Join(t.TempDir(), "s.db"))
	for _, table := range []string{"w", "temp"} {
		kind := map[string]string{"w": "", "temp": "TEMP "}[table]
		mustRun(t, db, "CREATE "+kind+"TABLE "+table+
			` (id int PRIMARY KEY, "V""x" double precision[][], r real[], "rowid" int)`)
		mustRun(t, db, `BEGIN; INSERT INTO `+table+` SELECT i,
	CASE WHEN i % 3 <> 1 THEN (SELECT array_agg(ARRAY[k * i, k + i]::double precision[]) FROM generate_series(1,
	70000) AS h(k)) END,
			(SELECT array_agg((k + i)::real) FROM generate_series(1, 300000) AS h(k)), 7 FROM generate_series(1, 7)
	AS g(i) WHERE i <> 5`)
		for _, then := range []string{"COMMIT", "SELECT 1"} {
			tab, err := db.Table("", table)
			if err != nil {
				t.Fatal(err)
			}
			if !isLarge(&db.cat.Tables[definitions.Key{Schema: tab.Schema, Name: tab.Name}].Cols[1]) {
				t.Fatal("these chunks are not large")
			}
			cols, err := db.Read(context.Background(), tab, []int{1, 0, 2})
			if err != nil {
				t.Fatal(err)
			}
			v, ids, r := cols[0], cols[1], cols[2]
			if fmt.Sprint(ids.I64(), v.Valid(), r.Len(), r.Valid()) != "[1 2 3 4 6 7] [0 1 1 0 1 0] 6 []" {
				t.Fatal(ids.I64(), v.Valid(), r.Len(), r.Valid())
			}
			for at, id := range ids.I64() {
				for k := range 70000 {
					x, y := float64(k+1)*float64(id), float64(k+1)+float64(id)
					if v.IsNull(at) {
						x, y = 0, 0
					}
					if got := v.F64()[at*140000+2*k:][:2]; got[0] != x || got[1] != y {
						t.Fatalf("%s, id %d, row %d: %v, not %v and %v", table, id, k, got, x, y)
					}
				}
				for k, x := range r.F32()[at*300000:][:300000] {
					if x != float32(k+1+int(id)) {
						t.Fatalf("%s, id %d, element %d: %v", table, id, k, x)
					}
				}
			}
			mustRun(t, db, then)
		}
	}
}

// TestLargeChunksWithoutRowID: columns of all of the row id's names hide it.
func TestLargeChunksWithoutRowID(t *testing.T) {
	db := openFile(t, "")
	mustRun(t, db,
		"CREATE TABLE w (rowid int, _rowid_ int, oid int, v real[]); INSERT INTO w SELECT i, 3 - i, i, (SELECT "+
			"array_agg((k + i)::real) FROM generate_series(1, 300000) AS h(k)) FROM (VALUES (2), (1)) AS g(i)")
	tab, err := db.Table("", "w")
	if err != nil {
		t.Fatal(err)
	}
	cols, err := db.Read(context.Background(), tab, []int{0, 3})
	if err != nil {
		t.Fatal(err)
	}
	for at, id := range cols[0].I64() {
		if got := cols[1].F32()[at*300000]; got != float32(1+id) {
			t.Errorf("row %d has the chunk of another: %v", id, got)
		}
	}
}

// TestRoomForNoRows: rows that have come since a table was planned as empty are read, numbers and chunks, where the
// room given is none.
func TestRoomForNoRows(t *testing.T) {
	db := openTemp(t)
	mustRun(t, db,
		"CREATE TABLE w (id int PRIMARY KEY, x double precision, v real[]); INSERT INTO w VALUES (1, 2, '{3,4}'), (2, 5, "+
			"'{6,7}')")
	tab, err := db.Table("", "w")
	if err != nil {
		t.Fatal(err)
	}
	tab.Rows = 0
	asked := 0
	room := func(_ int, typ kernels.Type, _ int) *column.Column {
		asked++
		return column.New(typ, 0)
	}
	cols, err := db.ReadInto(context.Background(), tab, []int{0, 1, 2}, room)
	if err != nil || asked != 3 {
		t.Fatal(asked, err)
	}
	if got := fmt.Sprint(cols[0].I64(), cols[1].F64(), cols[2].F32()); got != "[1 2] [2 5] [3 4 6 7]" {
		t.Error(got)
	}
}
