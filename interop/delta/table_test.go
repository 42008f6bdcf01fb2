package delta

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqlerr/sqlerrtest"
	"github.com/relgrad/relgrad/interop"
)

// fields are the columns of the tests' tables.
var fields = []interop.Field{{Name: "k", Type: "long"}, {Name: "v", Type: "double"}, {Name: "s", Type: "string"}}

func newTable(t testing.TB, files Files, o TableOptions, rows ...[]any) *Snapshot {
	t.Helper()
	tx, err := Create(files, fields, o, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return commit(t, tx, rows...)
}

func commit(t testing.TB, tx *Tx, rows ...[]any) *Snapshot {
	t.Helper()
	for _, row := range rows {
		if err := tx.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	s, err := tx.Commit("WRITE")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func begin(t testing.TB, s *Snapshot) *Tx {
	t.Helper()
	tx, err := s.Begin(WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

func open(t testing.TB, files Files, at At) *Snapshot {
	t.Helper()
	s, err := Open(files, at)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// keys are the values of a column, sorted.
func keys(t testing.TB, s *Snapshot, column string, where ...Bound) []string {
	t.Helper()
	out, err := scan(s, []string{column}, where...)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func scan(s *Snapshot, want []string, where ...Bound) (out []string, err error) {
	rows, err := s.Scan(want, where)
	if err != nil {
		return nil, err
	}
	row := make([]any, len(want))
	for {
		if err := rows.Next(row); err == io.EOF {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		out = append(out, strings.Trim(fmt.Sprint(row...), "[]"))
	}
}

func wants(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestVersions creates, appends, deletes and replaces, and reads each version.
func TestVersions(t *testing.T) {
	files := NewLocal(t.TempDir())
	s := newTable(t, files, TableOptions{}, []any{int64(1), 1.5, "a"}, []any{int64(2), nil, "b"})
	between := time.Now()
	time.Sleep(5 * time.Millisecond)
	s = commit(t, begin(t, s), []any{int64(3), 3.0, nil}, []any{int64(4), 4.0, "d"})
	tx := begin(t, s)
	if n, err := tx.Delete(Bound{"k", int64(2), int64(3)}); n != 2 || err != nil {
		t.Errorf("%d files, %v", n, err)
	}
	s = commit(t, tx)
	wants(t, keys(t, s, "k"), "1", "4")
	tx = begin(t, s)
	if n, err := tx.Delete(); n != 1 || err != nil {
		t.Errorf("%d files, %v", n, err)
	}
	s = commit(t, tx, []any{int64(9), 9.0, "z"})
	for v, want := range [][]string{{"1", "2"}, {"1", "2", "3", "4"}, {"1", "4"}, {"9"}} {
		wants(t, keys(t, open(t, files, Version(int64(v))), "k"), want...)
	}
	wants(t, keys(t, open(t, files, Latest()), "k"), "9")
	wants(t, keys(t, open(t, files, Timestamp(between)), "k"), "1", "2")
	_, err := Open(files, Version(4))
	sqlerrtest.Refused(t, err, sqlerr.UndefinedObject, "no version 4, the newest is 3")
	_, err = Open(files, Timestamp(between.Add(-time.Hour)))
	sqlerrtest.Refused(t, err, sqlerr.UndefinedObject, "no version of the table at")
	_, err = Create(files, fields, TableOptions{}, WriteOptions{})
	sqlerrtest.Refused(t, err, sqlerr.DuplicateTable, "already")
	_, err = Open(NewLocal(t.TempDir()), Latest())
	sqlerrtest.Refused(t, err, sqlerr.UndefinedTable, "no commits")
}

// TestRows reads a table as values of Postgres types and writes it by a sink.
func TestRows(t *testing.T) {
	files := NewLocal(t.TempDir())
	cols := []interop.Column{{Name: "i", Type: "smallint"}, {Name: "d", Type: "date"},
		{Name: "at", Type: "timestamp without time zone"}, {Name: "x", Type: "real"}, {Name: "raw", Type: "bytea"},
		{Name: "n", Type: "numeric"}, {Name: "c", Type: "real[]", Shape: []int{2, 2}}}
	chunk := append([]byte{}, tensorOf(1, 2, 3, 4)...)
	rows := [][]any{{int64(1), "2024-02-29", "2024-02-29 01:02:03.5", 1.5, []byte{0, 255}, "1.10", chunk},
		{nil, nil, nil, nil, nil, nil, nil}}
	for _, mode := range []Mode{New, Add, Replace, Add} {
		sink := NewSink(files, mode, WriteOptions{})
		if err := sink.Begin("t", cols, nil); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if err := sink.Write(row); err != nil {
				t.Fatal(err)
			}
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, files, Latest())
	for i, c := range s.Columns() {
		if want := cols[i].Type; c.Type != want && want != "numeric" {
			t.Errorf("column %v, not %v", c, cols[i])
		}
	}
	got, err := s.Rows(cols, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		row := make([]any, len(cols))
		if err := got.Next(row); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(row, rows[i%2]) {
			t.Errorf("row %d is %v, not %v", i, row, rows[i%2])
		}
	}
	if err := got.Next(make([]any, len(cols))); err != io.EOF {
		t.Errorf("a fifth row: %v", err)
	}
	sink := NewSink(files, New, WriteOptions{})
	sqlerrtest.Refused(t, sink.Begin("t", cols, nil), sqlerr.DuplicateTable)
}

// tensorOf is a chunk of 2x2 real.
func tensorOf(x ...float32) []byte {
	f := interop.Field{Type: "array", Parts: []interop.Field{{Type: "array", Parts: []interop.Field{{Type: "float"}}}}}
	b, err := f.Convert([]any{[]float32{x[0], x[1]}, []float32{x[2], x[3]}}, "real[]")
	if err != nil {
		panic(err)
	}
	return b.([]byte)
}

// TestEvolution adds a column: it is NULL in the rows of before, and columns are found by name, not by place.
func TestEvolution(t *testing.T) {
	files := NewLocal(t.TempDir())
	s := newTable(t, files, TableOptions{}, []any{int64(1), 1.0, "a"})
	tx := begin(t, s)
	if err := tx.AddColumns([]interop.Field{{Name: "w", Type: "integer"}, {Name: "k", Type: "long"}}); err != nil {
		t.Fatal(err)
	}
	s = commit(t, tx, []any{int64(2), 2.0, "b", int64(7)})
	got, err := scan(s, []string{"w", "k"})
	if wants(t, got, "<nil> 1", "7 2"); err != nil {
		t.Error(err)
	}
	wants(t, keys(t, s, "k", Equal("w", int64(7))), "2")
	tx = begin(t, s)
	sqlerrtest.Refused(t, tx.AddColumns([]interop.Field{{Name: "w", Type: "long"}}), sqlerr.DatatypeMismatch, "integer")
	sqlerrtest.Refused(t, tx.AddColumns([]interop.Field{{Name: "K", Type: "long"}}), sqlerr.DatatypeMismatch, "\"k\"")
	if _, err := tx.Delete(Equal("w", int64(7))); err != nil {
		t.Fatal(err)
	}
	wants(t, keys(t, commit(t, tx), "k"), "1")
}

// TestPartitions writes and reads partition columns of all types.
func TestPartitions(t *testing.T) {
	types := map[string][]any{"boolean": {true, false}, "byte": {int64(-128)}, "long": {int64(1) << 62, int64(0)},
		"float": {float32(0.1)}, "double": {math.Inf(-1), 1e300, math.MaxFloat64},
		"string": {"a b/c%", "é=ü", "NULL"}, "binary": {[]byte{0, 200, 255}}, "date": {interop.Day(19000)},
		"timestamp": {interop.Moment(1), interop.Moment(1700000000123456)}, "timestamp_ntz": {interop.Moment(-1)}}
	for typ, values := range types {
		files := NewLocal(t.TempDir())
		tx, err := Create(files, []interop.Field{{Name: "v", Type: "long"}, {Name: "p q"[:1], Type: typ}},
			TableOptions{Partition: []string{"p"}}, WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var rows [][]any
		for i, v := range append(values, nil, values[0]) {
			rows = append(rows, []any{int64(i), v})
		}
		commit(t, tx, rows...)
		s := open(t, files, Latest())
		for i, row := range rows {
			got, err := scan(s, []string{"p"}, Equal("v", int64(i)))
			if wants(t, got, strings.Trim(fmt.Sprint(row[1]), "[]")); err != nil {
				t.Error(err)
			}
		}
		if len(s.Files()) != len(values)+1 {
			t.Errorf("%s: %d files for %d values and NULL", typ, len(s.Files()), len(values))
		}
		if typ == "binary" {
			continue
		}
		r, err := s.Scan([]string{"v"}, []Bound{Equal("p", values[0])})
		row, n := make([]any, 1), 0
		for err == nil {
			if err = r.Next(row); err == nil {
				n++
			}
		}
		if n != 2 || r.Files != 1 || err != io.EOF {
			t.Errorf("%s: %d rows of %d files (%v)", typ, n, r.Files, err)
		}
	}
	tx, err := Create(NewLocal(t.TempDir()), fields, TableOptions{Partition: []string{"s"}}, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sqlerrtest.Refused(t, tx.Write([]any{int64(1), 1.0, ""}), sqlerr.InvalidParameter, "NULL")
	_, err = Create(NewLocal(t.TempDir()), fields, TableOptions{Partition: []string{"x"}}, WriteOptions{})
	sqlerrtest.Refused(t, err, sqlerr.InvalidColumnRef, "\"x\"")
}

// TestVacuum deletes what no version within the retention needs, and nothing else.
func TestVacuum(t *testing.T) {
	dir := t.TempDir()
	files := NewLocal(dir)
	o := TableOptions{Configuration: map[string]string{"delta.deletedFileRetentionDuration": "interval 0 seconds"}}
	s := newTable(t, files, o, []any{int64(1), 1.0, "a"})
	gone := s.Files()[0].Path
	tx := begin(t, s)
	if _, err := tx.Delete(); err != nil {
		t.Fatal(err)
	}
	s = commit(t, tx, []any{int64(2), 2.0, "b"})
	lost := begin(t, s)
	lost.o.FileBytes = 1
	lost.o.Parquet.Rows = 1
	if err := lost.Write([]any{int64(3), 3.0, "c"}); err != nil { // and no commit
		t.Fatal(err)
	}
	for _, name := range []string{"_other/x", ".hidden", "_delta_log/.relgrad-x.tmp"} {
		if err := files.Put(name, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := s.Vacuum(time.Hour, false); err != nil || len(list) != 0 {
		t.Errorf("%v, %v: all files are new", list, err)
	}
	time.Sleep(5 * time.Millisecond)
	list, err := s.Vacuum(0, true)
	if err != nil || len(list) != 3 || !slices.Contains(list, gone) || !slices.Contains(list, lost.added[0].Path) {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := s.Vacuum(0, false); err != nil {
		t.Error(err)
	}
	wants(t, keys(t, open(t, files, Latest()), "k"), "2")
	if _, err := os.Stat(filepath.Join(dir, gone)); !os.IsNotExist(err) {
		t.Errorf("%s: %v", gone, err)
	}
	for _, name := range []string{"_other/x", ".hidden"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	_, err = scan(open(t, files, Version(0)), []string{"k"})
	sqlerrtest.Refused(t, err, sqlerr.UndefinedFile, gone)
	_, err = newTable(t, Memory{}, TableOptions{}).Vacuum(time.Hour, false)
	sqlerrtest.Refused(t, err, sqlerr.InvalidParameter, "168h")
	for text, want := range map[string]time.Duration{"interval 2 weeks": 336 * time.Hour, "interval 1 day": 24 * time.Hour,
		"interval 90 minutes": 90 * time.Minute, "interval 2 months": math.MaxInt64, "soon": math.MaxInt64} {
		s := &Snapshot{meta: &Metadata{Configuration: map[string]string{"delta.deletedFileRetentionDuration": text}}}
		if got := s.Retention(); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
