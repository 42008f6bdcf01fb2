package delta

import (
	"io"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/interop"
)

// TestSplit: the parts of a scan have all its rows, in its order, each once: also of files without any, and within
// bounds.
func TestSplit(t *testing.T) {
	const files, rows = 5, 40
	table := NewLocal(t.TempDir())
	for i := range int64(files) {
		columns := []interop.Field{{Name: "k", Type: "long"}}
		var tx *Tx
		var err error
		if i == 0 {
			tx, err = Create(table, columns, TableOptions{}, WriteOptions{Parquet: interop.ParquetOptions{Rows: 7}})
		} else {
			var s *Snapshot
			if s, err = Open(table, Latest()); err == nil {
				tx, err = s.Begin(WriteOptions{Parquet: interop.ParquetOptions{Rows: 7}})
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		for k := range rows * i {
			if err := tx.Write([]any{100*i + k}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := tx.Commit("WRITE"); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(table, Latest())
	if err != nil {
		t.Fatal(err)
	}
	for _, where := range [][]Bound{nil, {{Column: "k", Min: int64(150), Max: int64(410)}},
		{{Column: "k", Min: int64(1000)}}} {
		want, whole := split(t, s, where, 0)
		for n := 1; n <= 2*files; n++ {
			got, seen := split(t, s, where, n)
			if !slices.Equal(got, want) || seen != whole {
				t.Errorf("%v in %d parts: %d rows of %d, %+v opened, not %+v", where, n, len(got), len(want), seen, whole)
			}
		}
		if bounded := where != nil; bounded == (len(want) == 400) {
			t.Errorf("%v: %d rows", where, len(want))
		}
	}
	if none, err := s.Scan(nil, nil); err != nil || len(none.Split(1000)) != 400 {
		t.Errorf("not as many parts as rows: %v", err)
	}
}

// split gives the rows of a scan in n parts, those of columns and the others, or undivided where n is 0.
func split(t *testing.T, s *Snapshot, where []Bound, n int) (out []int64, seen Opened) {
	t.Helper()
	in, err := s.Scan([]string{"k"}, where)
	if err != nil {
		t.Fatal(err)
	}
	parts := []*Scan{in}
	if n > 0 {
		parts = in.Split(n)
	}
	for i, p := range parts {
		most, _ := p.Most()
		row := make([]any, 1)
		for before := int64(len(out)); err == nil; {
			if i%2 == 0 {
				if rows := p.Columns(row); rows > 0 {
					out = append(out, row[0].([]int64)...)
					continue
				}
			}
			if err = p.Next(row); err == nil {
				out = append(out, row[0].(int64))
			} else if got := int64(len(out)) - before; err == io.EOF && got > most+7 {
				t.Errorf("%d rows of at most %d", got, most)
			}
		}
		if err != io.EOF {
			t.Fatal(err)
		}
		err = nil
		seen.Files, seen.Groups = seen.Files+p.Files, seen.Groups+p.Groups
	}
	return out, seen
}
