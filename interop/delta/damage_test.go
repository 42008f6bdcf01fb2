package delta

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/mutation"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqlerr/sqlerrtest"
	"github.com/relgrad/relgrad/interop"
)

// TestMutated changes bytes of logs, checkpoints and data files: none may crash, hang or take much memory. What
// is read of a table whose checkpoint or file was changed is what is there, or an error. A log may say something else
// after a change that no reader can see, as where a text is another.
func TestMutated(t *testing.T) {
	const mutants = 200
	files := Memory{}
	tx, err := Create(files, everything, TableOptions{Partition: []string{"p"}}, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := commit(t, tx, everyRow(0), everyRow(1), everyRow(2), everyRow(3))
	s = commit(t, begin(t, s), everyRow(4), everyRow(5))
	if err := s.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range everything {
		names = append(names, f.Name)
	}
	want, err := scan(s, names)
	if slices.Sort(want); err != nil {
		t.Fatal(err)
	}
	check := logDir + "00000000000000000001.checkpoint.parquet"
	for what, name := range map[string]string{"log": commitFile(0), "checkpoint": check, "data": s.Files()[0].name} {
		r, refused := rand.New(rand.NewPCG(7, uint64(len(what)))), 0
		for i := range mutants {
			spoilt := Memory{}
			for k, v := range files {
				if what != "log" || k != check {
					spoilt[k] = v
				}
			}
			spoilt[name] = mutation.Bytes(r, files[name])
			err := measured(t, func() error {
				s, err := Open(spoilt, Latest())
				if err != nil {
					return err
				}
				names := names
				if what == "log" {
					names = readableOf(s)
				}
				rows, err := scan(s, names)
				slices.Sort(rows)
				if err == nil && what != "log" && !slices.Equal(rows, want) {
					t.Errorf("%s %d: rows\n%s\nnot\n%s", what, i, strings.Join(rows, "\n"), strings.Join(want, "\n"))
				}
				return err
			})
			var e *sqlerr.Error
			if err != nil {
				refused++
				if !errors.As(err, &e) || e.Code == sqlerr.Internal {
					t.Errorf("%s %d: %v %s", what, i, err, e.Detail)
				}
			}
		}
		if refused < mutants/10 {
			t.Errorf("%s: only %d of %d refused", what, refused, mutants)
		}
		t.Logf("%s: %d of %d refused", what, refused, mutants)
	}
}

// readableOf are the columns that can be read.
func readableOf(s *Snapshot) (names []string) {
	for _, f := range s.Fields() {
		if f.Refused == "" {
			names = append(names, f.Name)
		}
	}
	return names
}

func measured(t *testing.T, do func() error) error {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	err := do()
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 128<<20 || time.Since(began) > 10*time.Second {
		t.Errorf("%d bytes and %v taken: %v", took, time.Since(began), err)
	}
	return err
}

// TestFlippedBits changes each bit of the headers of a file's pages and of its footer: none may make a value NULL.
func TestFlippedBits(t *testing.T) {
	files := Memory{}
	some := []interop.Field{{Name: "k", Type: "long"}, {Name: "big", Type: "decimal(30,0)"}}
	tx, err := Create(files, some, TableOptions{}, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := commit(t, tx, []any{int64(1), "5"}, []any{int64(2), nil}, []any{int64(3), "7"})
	name, want, refused := s.Files()[0].name, []string{"15", "2 <nil>", "37"}, 0
	for bit := range 8 * len(files[name]) {
		b := bytes.Clone(files[name])
		b[bit/8] ^= 1 << (bit % 8)
		got, err := scan(open(t, Memory{commitFile(0): files[commitFile(0)], name: b}, Latest()), []string{"k", "big"})
		var e *sqlerr.Error
		if err != nil {
			if refused++; !errors.As(err, &e) || e.Code == sqlerr.Internal {
				t.Errorf("bit %d: %v", bit, err)
			}
		} else if !slices.Equal(got, want) {
			t.Errorf("bit %d: %q", bit, got)
		}
	}
	t.Logf("%d of %d refused", refused, 8*len(files[name]))
}

// TestIncomplete: actions that lack what they must have are refused, rather than read as something else.
func TestIncomplete(t *testing.T) {
	files := Memory{}
	newTable(t, files, TableOptions{Partition: []string{"s"}}, []any{int64(1), 1.5, "a"})
	good := string(files[commitFile(0)])
	for _, c := range []struct{ from, to, want string }{
		{`"partitionColumns"`, `"other"`, "without partitionColumns"},
		{`"partitionValues"`, `"other"`, "does not say its partition"},
		{`\"name\":\"v\"`, `\"nome\":\"v\"`, "column without a name"},
		{`WRITE`, "WRIT\xe9", "bytes that are no text"},
		{`\"name\":\"v\"`, `\"name\":\"w\"`, ""}, // a column of which the log has no count of NULLs
		{`\"v\"`, `\"w\"`, "lacks the column \"w\""},
	} {
		if !strings.Contains(good, c.from) {
			t.Fatalf("no %s in %s", c.from, good)
		}
		spoilt := Memory{}
		for k, v := range files {
			spoilt[k] = v
		}
		spoilt[commitFile(0)] = []byte(strings.ReplaceAll(good, c.from, c.to))
		s, err := Open(spoilt, Latest())
		if err == nil {
			_, err = scan(s, readableOf(s))
		}
		if c.want == "" && err != nil {
			t.Errorf("%s: %v", c.to, err)
		} else if c.want != "" {
			sqlerrtest.Refused(t, err, sqlerr.DataCorrupted, c.want)
		}
	}
}
