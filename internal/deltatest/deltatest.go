// Package deltatest tests tables of Delta Lake at any kind of place.
//
// # What
//
// Run tests an implementation of delta.Files, and tables that lie there: versions, writers at once, checkpoints,
// vacuum.
//
// # Invariants
//
// The tests use only what other packages can use, so they hold for every kind of place.
//
// # Errors
//
// Those of the test.
//
// # Where to add
//
// A test that holds for all places: a function and its row in Run. A place: a call of Run in the test of its package.
package deltatest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
)

// Run runs the tests, each at a place that place makes.
func Run(t *testing.T, place func(t *testing.T) delta.Files) {
	for name, test := range map[string]func(t *testing.T, files delta.Files){
		"files": testFiles, "versions": testVersions, "writers": testWriters, "checkpoints": testCheckpoints,
		"vacuum": testVacuum} {
		t.Run(name, func(t *testing.T) { test(t, place(t)) })
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func is(t testing.TB, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// testFiles tests what delta.Files says of each function.
func testFiles(t *testing.T, files delta.Files) {
	list := func(prefix, after string) string {
		all, err := files.List(prefix, after)
		must(t, err)
		out := []string{}
		for _, i := range all {
			out = append(out, fmt.Sprint(i.Name, " ", i.Size))
			if since := time.Since(i.Modified); since < -time.Minute || since > time.Minute {
				t.Errorf("%s was modified at %v", i.Name, i.Modified)
			}
		}
		return strings.Join(out, ", ")
	}
	is(t, "an empty list", list("", ""), "")
	odd := "p=a b%2F+&é/x?#y"
	for _, name := range []string{"a/2", "a/10", "a/1", "b", odd, "a.b"} {
		must(t, files.Put(name, []byte("0123456789")))
	}
	must(t, files.Put("b", []byte{}))
	is(t, "all", list("", ""), "a.b 10, a/1 10, a/10 10, a/2 10, b 0, "+odd+" 10")
	is(t, "a prefix", list("a/", ""), "a/1 10, a/10 10, a/2 10")
	is(t, "a part of a name, after another", list("a/1", "a/1"), "a/10 10")
	for _, c := range []struct {
		name    string
		from, n int64
		want    string
	}{{odd, 0, -1, "0123456789"}, {"a/1", 3, 4, "3456"}, {"a/1", 8, -1, "89"}, {"a/1", 10, -1, ""}, {"a/1", 4, 0, ""},
		{"b", 0, -1, ""}, {"b", 0, 0, ""}} {
		b, err := files.Get(c.name, c.from, c.n)
		must(t, err)
		is(t, fmt.Sprint(c), string(b), c.want)
	}
	for _, c := range []struct {
		name    string
		from, n int64
		want    error
	}{{"c", 0, -1, fs.ErrNotExist}, {"c", 3, 2, fs.ErrNotExist}, {"c", 0, 0, fs.ErrNotExist},
		{"a/1", 8, 3, io.ErrUnexpectedEOF}, {"a/1", 11, 1, io.ErrUnexpectedEOF}, {"a/1", 11, -1, io.ErrUnexpectedEOF},
		{"a/1", -1, 2, io.ErrUnexpectedEOF}} {
		if _, err := files.Get(c.name, c.from, c.n); !errors.Is(err, c.want) {
			t.Errorf("%v: %v", c, err)
		}
	}
	if err := files.PutIfAbsent("a/1", []byte("x")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there: %v", err)
	}
	must(t, files.PutIfAbsent("a/new", []byte("x")))
	must(t, files.Put("a/new", []byte("xyz")))
	must(t, files.Delete(odd))
	must(t, files.Delete(odd))
	must(t, files.Delete("none/of/it"))
	is(t, "after all", list("a/n", ""), "a/new 3")
	b, err := files.Get("a/1", 0, 2)
	must(t, err)
	is(t, "what was there", string(b), "01")
}

var fields = []interop.Field{{Name: "k", Type: "long"}, {Name: "s", Type: "string"}}

// change makes the next version: it deletes rows of keys in a range, none where that is empty, and adds others.
func change(t testing.TB, s *delta.Snapshot, from, to int64, add ...int64) *delta.Snapshot {
	t.Helper()
	tx, err := s.Begin(delta.WriteOptions{})
	must(t, err)
	if from <= to {
		_, err := tx.Delete(delta.Bound{Column: "k", Min: from, Max: to})
		must(t, err)
	}
	return commit(t, tx, add...)
}

func commit(t testing.TB, tx *delta.Tx, add ...int64) *delta.Snapshot {
	t.Helper()
	for _, k := range add {
		must(t, tx.Write([]any{k, fmt.Sprint("row ", k)}))
	}
	s, err := tx.Commit("WRITE")
	must(t, err)
	return s
}

func create(t testing.TB, files delta.Files, configuration map[string]string, add ...int64) *delta.Snapshot {
	t.Helper()
	tx, err := delta.Create(files, fields, delta.TableOptions{Configuration: configuration}, delta.WriteOptions{})
	must(t, err)
	return commit(t, tx, add...)
}

// keys are the table's keys at a version, sorted.
func keys(t testing.TB, files delta.Files, at delta.At) []int64 {
	t.Helper()
	s, err := delta.Open(files, at)
	must(t, err)
	rows, err := s.Scan([]string{"k", "s"}, nil)
	must(t, err)
	out, row := []int64{}, make([]any, 2)
	for {
		if err := rows.Next(row); err == io.EOF {
			slices.Sort(out)
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		k := row[0].(int64)
		is(t, "text", row[1], fmt.Sprint("row ", k))
		out = append(out, k)
	}
}

// testVersions creates, appends, deletes and replaces, and reads each version by number and by time.
func testVersions(t *testing.T, files delta.Files) {
	_, err := delta.Open(files, delta.Latest())
	code(t, err, sqlerr.UndefinedTable)
	s := create(t, files, nil, 1, 2)
	time.Sleep(5 * time.Millisecond)
	between := time.Now()
	time.Sleep(5 * time.Millisecond)
	s = change(t, s, 1, 0, 3, 4)
	s = change(t, s, 2, 3)
	change(t, s, 0, 100, 9)
	for v, want := range [][]int64{{1, 2}, {1, 2, 3, 4}, {1, 4}, {9}} {
		is(t, fmt.Sprint("version ", v), keys(t, files, delta.Version(int64(v))), want)
	}
	is(t, "the latest", keys(t, files, delta.Latest()), []int64{9})
	is(t, "by time", keys(t, files, delta.Timestamp(between)), []int64{1, 2})
	_, err = delta.Create(files, fields, delta.TableOptions{}, delta.WriteOptions{})
	code(t, err, sqlerr.DuplicateTable)
}

func code(t testing.TB, err error, want string) {
	t.Helper()
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Code != want {
		t.Errorf("%v, want an error of code %s", err, want)
	}
}

// testWriters lets several writers append at once: each makes versions of its own, and no row is lost.
func testWriters(t *testing.T, files delta.Files) {
	const writers, each = 5, 3
	create(t, files, nil)
	var all sync.WaitGroup
	want := []int64{}
	for w := range writers {
		for i := range each {
			want = append(want, int64(10*w+i))
		}
		all.Go(func() {
			s, err := delta.Open(files, delta.Latest())
			for i := 0; i < each && err == nil; i++ {
				var tx *delta.Tx
				if tx, err = s.Begin(delta.WriteOptions{}); err == nil {
					if err = tx.Write([]any{int64(10*w + i), fmt.Sprint("row ", 10*w+i)}); err == nil {
						_, err = tx.Commit("WRITE") // the next one begins at the old version again
					}
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	is(t, "rows", keys(t, files, delta.Latest()), want)
	for v := range int64(writers*each + 1) {
		is(t, fmt.Sprint("rows of version ", v), len(keys(t, files, delta.Version(v))), v)
	}
}

// testCheckpoints reads a table whose first commits are gone, by its checkpoint.
func testCheckpoints(t *testing.T, files delta.Files) {
	s := create(t, files, map[string]string{"delta.checkpointInterval": "3"}, 1)
	for k := range int64(4) {
		s = change(t, s, 1, 0, k+2)
	}
	for v := range 3 {
		must(t, files.Delete(fmt.Sprintf("_delta_log/%020d.json", v)))
	}
	is(t, "the latest", keys(t, files, delta.Latest()), []int64{1, 2, 3, 4, 5})
	is(t, "version 3", keys(t, files, delta.Version(3)), []int64{1, 2, 3, 4})
	_, err := delta.Open(files, delta.Version(1))
	code(t, err, sqlerr.UndefinedObject)
}

// testVacuum deletes what no version needs, and nothing else.
func testVacuum(t *testing.T, files delta.Files) {
	s := create(t, files, map[string]string{"delta.deletedFileRetentionDuration": "interval 0 seconds"}, 1)
	gone := s.Files()[0].Path
	s = change(t, s, 1, 1, 2)
	must(t, files.Put("left-behind.parquet", []byte("x")))
	must(t, files.Put("_other/x", []byte("x")))
	time.Sleep(20 * time.Millisecond)
	list, err := s.Vacuum(0, true)
	must(t, err)
	for _, name := range []string{gone, "left-behind.parquet"} {
		if !slices.Contains(list, name) {
			t.Errorf("%v without %s", list, name)
		}
	}
	_, err = s.Vacuum(0, false)
	must(t, err)
	is(t, "the latest", keys(t, files, delta.Latest()), []int64{2})
	if _, err := files.Get(gone, 0, -1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v", gone, err)
	}
	_, err = files.Get("_other/x", 0, -1)
	must(t, err)
}
