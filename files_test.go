package relgrad

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store"
	"github.com/relgrad/relgrad/tensor"
)

// bitsOf makes a stored chunk of the given bits.
func bitsOf(d tensor.DType, shape tensor.Shape, bits ...uint64) []byte {
	t := tensor.New(d, shape...)
	b := t.Encode()
	p := b[4+4*len(shape):]
	for i, u := range bits {
		if d == tensor.Float32 {
			binary.LittleEndian.PutUint32(p[4*i:], uint32(u))
		} else {
			binary.LittleEndian.PutUint64(p[8*i:], u)
		}
	}
	return b
}

// load puts rows into a table; dump gives all that COPY … TO writes of it.
func load(t *testing.T, db *DB, table string, cols []string, rows [][]any) {
	t.Helper()
	i := 0
	_, err := db.CopyInRows(context.Background(), &ast.Copy{Name: table, From: true}, &ast.Text{}, "test",
		func(*catalog.TableDef) (store.RowSource, error) {
			return store.RowSource{Cols: cols, Next: func(row []any) error {
				if i++; i > len(rows) {
					return io.EOF
				}
				copy(row, rows[i-1])
				return nil
			}}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
}

func dump(t *testing.T, db *DB, table string) string {
	t.Helper()
	var b strings.Builder
	_, err := db.CopyOutRows(context.Background(), &ast.Copy{Name: table}, &ast.Text{}, func(c []catalog.ResultCol) error {
		fmt.Fprintf(&b, "%v\n", c)
		return nil
	}, func(row []any) error {
		for _, v := range row {
			if x, ok := v.(float64); ok {
				v = math.Float64bits(x)
			}
			fmt.Fprintf(&b, "%x|", v)
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func testDB(t *testing.T) *DB {
	t.Helper()
	db, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// fillBits fills tables w and u with bits that text and conversions would change.
func fillBits(t *testing.T, db *DB) {
	mustRun(t, db, `CREATE TABLE w (j text, k int, v real[][], m double precision[], x double precision, day date,
    PRIMARY KEY (j, k));
		CREATE TABLE u (id bigint PRIMARY KEY, b real)`)
	var rows [][]any
	for k := range int64(40) {
		rows = append(rows, []any{[]string{"a", "b", "é"}[k%3], 100 - k,
			bitsOf(tensor.Float32, tensor.Shape{2, 2}, 0x7fc00001+uint64(k), 0x7f800001, 0x80000000, uint64(k)),
			bitsOf(tensor.Float64, tensor.Shape{3}, 0x7ff0000000000001+uint64(k), 1<<63, uint64(k)),
			math.Ldexp(float64(k), -1074), "2024-02-29"})
	}
	load(t, db, "w", []string{"j", "k", "v", "m", "x", "day"}, rows)
	load(t, db, "u", []string{"id", "b"}, [][]any{{int64(math.MinInt64), 0.5}, {int64(math.MaxInt64), math.Inf(-1)}})
}

// TestFilesBitEqual exports tables, imports them into another store, and compares every bit.
func TestFilesBitEqual(t *testing.T) {
	ctx, db := context.Background(), testDB(t)
	fillBits(t, db)
	for _, format := range ast.FileFormats {
		t.Run(format, func(t *testing.T) {
			tables := []string{"w", "u"}
			if format == "npy" {
				tables = []string{"w (m)"}
			} else if format != "npz" && format != "safetensors" {
				tables = []string{"w"}
			}
			path := filepath.Join(t.TempDir(), "f."+format)
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := db.Export(ctx, f, path, FileOptions{Format: format}, tables...); err != nil {
				t.Fatal(err)
			}
			other, o := testDB(t), FileOptions{Format: format}
			if format == "npy" {
				mustRun(t, db, "DROP TABLE IF EXISTS n; CREATE TABLE n AS SELECT row_number() OVER (ORDER BY j, k) - 1 AS id, m "+
					"FROM w; ALTER TABLE n ADD PRIMARY KEY (id)")
				o.Index = "id"
				mustRun(t, other, "CREATE TABLE n (id bigint PRIMARY KEY, m double precision[])")
				tables = []string{"n"}
			}
			for _, name := range tables {
				if format == "npz" { // which notes neither key nor date
					o.Key = map[string][]string{"w": {"j", "k"}, "u": {"id"}}[name]
				}
				if _, err := other.Import(ctx, f, path, name, o); err != nil {
					t.Fatal(err)
				}
				want, got := dump(t, db, name), dump(t, other, name)
				if format == "npz" {
					want = strings.ReplaceAll(want, "{day date}", "{day text}")
				}
				if got != want {
					t.Errorf("%s: read back as\n%s\nwritten was\n%s", name, got, want)
				}
				if a, b := db.Definition("", name).PK.Cols, other.Definition("", name).PK.Cols; !reflect.DeepEqual(a, b) {
					t.Errorf("%s: key %v, want %v", name, b, a)
				}
			}
		})
	}
}

// TestImportAtomic: an error in the last row leaves neither rows nor the new table behind.
func TestImportAtomic(t *testing.T) {
	ctx, db := context.Background(), testDB(t)
	mustRun(t, db, "CREATE TABLE big (k int PRIMARY KEY, x bigint); INSERT INTO big SELECT i, i FROM "+
		"generate_series(1, 3000) AS g(i); UPDATE big SET x = 9007199254740993 WHERE k = 3000; CREATE TABLE y (k int "+
		"PRIMARY KEY, x double precision); INSERT INTO y VALUES (5000, 1)")
	for _, format := range []string{"npz", "safetensors", "arrow", "parquet"} {
		path := filepath.Join(t.TempDir(), "f")
		mustRun(t, db, "COPY big TO '"+path+"' WITH (FORMAT "+format+")")
		before := dump(t, db, "y")
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		_, err = db.Import(ctx, f, path, "y", FileOptions{Format: format})
		if sqlerr.Code(err) != sqlerr.NumericOutOfRange || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", format, err)
		}
		if now := dump(t, db, "y"); now != before || db.InTransaction() {
			t.Errorf("%s: y has changed", format)
		}
		if _, err := db.Import(ctx, f, path, "fresh",
			FileOptions{Format: format, Key: []string{"x", "nothing"}}); err == nil || db.Definition("", "fresh") != nil {
			t.Errorf("%s: %v; the table stayed: %v", format, err, db.Definition("", "fresh") != nil)
		}
		if _, err := db.Import(ctx, f, path, "y", FileOptions{Format: format,
			Key: []string{"k"}}); sqlerr.Code(err) != sqlerr.DuplicateTable {
			t.Errorf("%s: a key for a table that exists: %v", format, err)
		}
	}
}

// TestImportText: a text that is no UTF-8 is refused, as COPY refuses it.
func TestImportText(t *testing.T) {
	db := testDB(t)
	mustRun(t, db, "CREATE TABLE n (k int PRIMARY KEY, s text); INSERT INTO n VALUES (1, 'marker')")
	for _, bad := range []string{"mark\xffr", "mark\x00r"} {
		path := filepath.Join(t.TempDir(), "f.arrow")
		mustRun(t, db, "COPY n TO '"+path+"' WITH (FORMAT arrow)")
		b, err := os.ReadFile(path)
		if err != nil || strings.Count(string(b), "marker") != 1 {
			t.Fatal("the text is not in the file", err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(b), "marker", bad, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Run(context.Background(), "COPY n FROM '"+path+"' WITH (FORMAT arrow)"); sqlerr.Code(err) != "22021" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestImportUnreadable: a column that cannot be read is left out where the others are named, and not otherwise.
func TestImportUnreadable(t *testing.T) {
	ctx, db := context.Background(), testDB(t)
	path := filepath.Join("interop", "testdata", "pyarrow", "unreadable.parquet")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mustRun(t, db, "CREATE TABLE old (k bigint PRIMARY KEY, time64 text)")
	for _, table := range []string{"new", "old", "new (k, time64)", "old (k, time64)"} {
		_, err := db.Import(ctx, f, path, table, FileOptions{Format: "parquet", Index: ""})
		if sqlerr.Code(err) != sqlerr.FeatureNotSupported || !strings.Contains(err.Error(), "time") ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", table, err)
		}
		if db.Definition("", "new") != nil {
			t.Fatalf("%s: a table was made", table)
		}
	}
	for _, table := range []string{"new (k)", "old (k)"} {
		if n, err := db.Import(ctx, f, path, table, FileOptions{Format: "parquet"}); err != nil || n != 1 {
			t.Errorf("%s: %d %v", table, n, err)
		}
	}
	for _, kind := range []string{"empty", "empty_nodict", "empty_nogroup", "empty_v2"} {
		g, err := os.Open(filepath.Join("interop", "testdata", "pyarrow", kind+".parquet"))
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		if n, err := db.Import(ctx, g, kind, kind, FileOptions{Format: "parquet"}); err != nil || n != 0 ||
			len(db.Definition("", kind).Cols) != 5 {
			t.Errorf("%s: %d rows, %v", kind, n, err)
		}
	}
}
