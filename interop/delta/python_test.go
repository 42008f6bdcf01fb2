package delta

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/mutation"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
)

// python runs testdata/tables.py and returns the rows that it prints, by the table's folder; a table that was read
// twice has them twice.
func python(t testing.TB, args ...string) map[string][][]string {
	t.Helper()
	out := map[string][][]string{}
	for _, part := range strings.Split(need.RunPython(t, "testdata/tables.py", args...), "== ")[1:] {
		lines := strings.Split(strings.TrimSuffix(part, "\n"), "\n")
		out[lines[0]] = append(out[lines[0]], lines[1:])
	}
	return out
}

// shown is a value as tables.py prints it.
func shown(v any) string {
	switch x := v.(type) {
	case nil:
		return "-"
	case float32:
		return fmt.Sprintf("%016x", math.Float64bits(float64(x)))
	case float64:
		return fmt.Sprintf("%016x", math.Float64bits(x))
	case []byte:
		return "x" + hex.EncodeToString(x)
	case interop.Day:
		return time.Unix(int64(x)*86400, 0).UTC().Format("2006-01-02")
	case interop.Moment:
		return "t" + strconv.FormatInt(int64(x), 10)
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(x)) {
			parts = append(parts, k+"="+shown(x[k]))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case []any:
		return shownList(x)
	case []int64:
		return shownList(x)
	case []float32:
		return shownList(x)
	case []float64:
		return shownList(x)
	}
	return fmt.Sprint(v)
}

func shownList[T any](list []T) string {
	var parts []string
	for _, v := range list {
		parts = append(parts, shown(v))
	}
	return "[" + strings.Join(parts, " ") + "]"
}

// shownRows are the rows of a table as tables.py prints them.
func shownRows(t testing.TB, fields []interop.Field, read func(names []string) (interop.Rows, error)) (out []string) {
	t.Helper()
	var names []string
	types := map[string]string{}
	for _, f := range fields {
		names = append(names, f.Name)
		types[f.Name] = f.Type
	}
	slices.Sort(names)
	rows, err := read(names)
	row := make([]any, len(names))
	for err == nil {
		if err = rows.Next(row); err == nil {
			var parts []string
			for i, v := range row {
				if m, ok := v.(map[string]any); ok && types[names[i]] == "map" {
					pairs := []any{}
					for _, k := range slices.Sorted(maps.Keys(m)) {
						pairs = append(pairs, []any{k, m[k]})
					}
					v = pairs
				}
				parts = append(parts, shown(v))
			}
			out = append(out, strings.Join(parts, " | "))
		}
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func tableRows(t testing.TB, s *Snapshot) []string {
	t.Helper()
	return shownRows(t, s.Fields(), func(names []string) (interop.Rows, error) { return s.Scan(names, nil) })
}

func sameRows(t testing.TB, what string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d rows, not %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s: row %d\n%s\nnot\n%s", what, i, got[i], want[i])
			return
		}
	}
}

// everything has a column of each type.
var everything = []interop.Field{{Name: "b", Type: "boolean"}, {Name: "i1", Type: "byte"}, {Name: "i2", Type: "short"},
	{Name: "i4", Type: "integer", Required: true}, {Name: "f4", Type: "float"}, {Name: "f8", Type: "double"},
	{Name: "s", Type: "string"}, {Name: "raw", Type: "binary"}, {Name: "day", Type: "date"},
	{Name: "at", Type: "timestamp"}, {Name: "clock", Type: "timestamp_ntz"},
	{Name: "money", Type: "decimal(9,2)"}, {Name: "big", Type: "decimal(30,0)"},
	{Name: "list", Type: "array", Parts: []interop.Field{{Name: "element", Type: "float"}}},
	{Name: "st", Type: "struct", Parts: []interop.Field{{Name: "x", Type: "long"}, {Name: "y", Type: "string"}}},
	{Name: "p", Type: "string"}, {Name: "q", Type: "date"}}

func everyRow(i int) []any {
	if i%7 == 3 {
		row := make([]any, len(everything))
		row[3] = int64(i)
		return row
	}
	return []any{i%2 == 0, int64(i % 100), int64(-i), int64(i), []float32{float32(i) / 3, float32(math.NaN()), 0}[i%3],
		[]float64{float64(i) / 3, math.Inf(1), math.Copysign(0, -1)}[i%3], strings.Repeat("é", i%40),
		[]byte{byte(i), 0}, interop.Day(i), interop.Moment(i) * 1_000_003,
		interop.Moment(-i) * 1_000_003, fmt.Sprintf("%d.%02d", i, i%100),
		fmt.Sprintf("%d00000000000000000000", i+1), []float32{float32(i), 1},
		map[string]any{"x": int64(i), "y": "z"}, []any{"a b%", "ü/=", nil}[i%3], interop.Day(i % 2)}
}

// TestPython: deltalake and polars read what relgrad writes, and relgrad reads what deltalake writes, with appends,
// deletions and checkpoints of both in one table.
func TestPython(t *testing.T) {
	dir := t.TempDir()
	types, mixed := filepath.Join(dir, "types"), filepath.Join(dir, "mixed")
	tx, err := Create(NewLocal(types), everything, TableOptions{Name: "t", Partition: []string{"p", "q"}}, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	for i := range 100 {
		rows = append(rows, everyRow(i))
	}
	s := commit(t, tx, rows...)
	tx = begin(t, s)
	if err := tx.AddColumns([]interop.Field{{Name: "new", Type: "long"}}); err != nil {
		t.Fatal(err)
	}
	s = commit(t, tx, append(everyRow(100), int64(5)))
	if err := errors.Join(s.Checkpoint(), s.store.Delete(commitFile(0))); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{types: tableRows(t, s)}
	m := newTable(t, NewLocal(mixed), TableOptions{}, []any{int64(0), 0.0, "a"})
	for i := range 11 { // with a checkpoint
		m = commit(t, begin(t, m), []any{int64(i + 1), 0.5, "b"})
	}
	tx = begin(t, m)
	if _, err := tx.Delete(Bound{"k", int64(2), int64(5)}); err != nil {
		t.Fatal(err)
	}
	m = commit(t, tx)
	want[mixed] = tableRows(t, m)
	for v := range int64(10) { // which are in the checkpoint of version 10
		if err := NewLocal(mixed).Delete(commitFile(v)); err != nil {
			t.Fatal(err)
		}
	}
	for path, got := range python(t, "read", types, mixed) {
		if len(got) != 2 {
			t.Errorf("%s was read %d times", path, len(got))
		}
		for i := range got {
			sameRows(t, path, got[i], want[path])
		}
	}
	for path, got := range python(t, "change", mixed) {
		m = open(t, NewLocal(path), Latest())
		sameRows(t, path, tableRows(t, m), got[0])
		wants(t, keys(t, m, "k", Bound{"k", int64(90), nil}), "100", "100", "101")
	}
	m = commit(t, begin(t, m), []any{int64(200), 1.0, nil})
	if err := m.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	sameRows(t, mixed, python(t, "read", mixed)[mixed][1], tableRows(t, m))
}

// TestPythonTables reads tables and files that deltalake, polars and pyarrow write.
func TestPythonTables(t *testing.T) {
	tables := python(t, "write", t.TempDir())
	if len(tables) != 9 {
		t.Errorf("%d tables and files", len(tables))
	}
	for path, want := range tables {
		if !strings.HasSuffix(path, ".parquet") {
			s := open(t, NewLocal(path), Latest())
			sameRows(t, path, tableRows(t, s), want[0])
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := interop.OpenParquet(strings.NewReader(string(b)), int64(len(b)), path)
		if err != nil {
			t.Fatal(err)
		}
		sameRows(t, path, shownRows(t, p.Fields(), func(names []string) (interop.Rows, error) {
			return p.Read(all(len(p.Groups())), names)
		}), want[0])
		checkSpoilt(t, b)
	}
}

// checkSpoilt reads a Parquet file with changed bytes.
func checkSpoilt(t *testing.T, good []byte) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(len(good))))
	for range 50 {
		b := mutation.Bytes(r, good)
		err := measured(t, func() error {
			p, err := interop.OpenParquet(bytes.NewReader(b), int64(len(b)), "spoilt")
			if err != nil {
				return err
			}
			rows, err := p.Read(all(len(p.Groups())), []string{"k", "s", "at"})
			for row := make([]any, 3); err == nil; {
				err = rows.Next(row)
			}
			return err
		})
		var e *sqlerr.Error
		if err != io.EOF && (!errors.As(err, &e) || e.Code == sqlerr.Internal) {
			t.Error(err)
		}
	}
}

// TestPythonRace: relgrad and deltalake append to one table at once, and no row is lost.
func TestPythonRace(t *testing.T) {
	need.Python(t)
	dir := t.TempDir()
	newTable(t, NewLocal(dir), TableOptions{})
	var all sync.WaitGroup
	all.Go(func() { python(t, "append", dir) })
	for {
		tx := begin(t, open(t, NewLocal(dir), Latest()))
		s := commit(t, tx, []any{int64(1), 0.5, "go"})
		if s.Version >= 300 || len(keys(t, s, "k", Equal("s", "python"))) == 10 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	all.Wait()
	s := open(t, NewLocal(dir), Latest())
	if n := len(keys(t, s, "k")); int64(n) != s.Version || len(keys(t, s, "k", Equal("s", "python"))) != 10 {
		t.Errorf("%d rows after %d commits", n, s.Version)
	}
}
