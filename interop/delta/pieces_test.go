package delta

import (
	"fmt"
	"io"
	"testing"

	"github.com/relgrad/relgrad/interop"
)

// counted are files of which it is counted how many bytes are read.
type counted struct {
	Files
	bytes map[string]int64
}

func (c *counted) Get(name string, from, n int64) ([]byte, error) {
	b, err := c.Files.Get(name, from, n)
	c.bytes[name] += int64(len(b))
	return b, err
}

// TestPieces: pieces are the row groups of all files, whatever the log's order of them; reading one reads its file
// only, and of it the footer and little more than its share.
func TestPieces(t *testing.T) {
	files := &counted{Files: NewLocal(t.TempDir()), bytes: map[string]int64{}}
	const groups, rows = 8, 4000
	o := WriteOptions{Parquet: interop.ParquetOptions{Rows: rows}}
	tx, err := Create(files, fields, TableOptions{}, o)
	for file := range 3 {
		if err != nil {
			t.Fatal(err)
		}
		for k := range groups * rows {
			v := any(float64(k*k%7919) / 3)
			if file == 1 && k == 2*rows {
				v = nil
			}
			if err = tx.Write([]any{int64(file*groups*rows + k*31%(groups*rows)), v, fmt.Sprint(k % 3)}); err != nil {
				t.Fatal(err)
			}
		}
		var s *Snapshot
		if s, err = tx.Commit("WRITE"); err == nil && file < 2 {
			tx, err = s.Begin(o)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, files, Latest())
	pieces, err := PiecesOf(s)
	if err != nil || len(pieces) != 3*groups {
		t.Fatal(len(pieces), err)
	}
	seen, holes := map[int64]bool{}, 0
	for i := range pieces {
		p := &pieces[i]
		if i > 0 && pieces[i-1].File() > p.File() {
			t.Errorf("file %s stands before %s", pieces[i-1].File(), p.File())
		}
		if !p.Whole("k") || !p.Whole("s") {
			t.Errorf("piece %d may have NULL", i)
		}
		if !p.Whole("v") {
			holes++
		}
		clear(files.bytes)
		in, err := p.Read([]interop.Column{{Name: "k", Type: "bigint"}, {Name: "v", Type: "double precision"},
			{Name: "s", Type: "text"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		for row := make([]any, 3); err == nil; n++ {
			if err = in.Next(row); err == nil {
				seen[row[0].(int64)] = true
			}
		}
		if err != io.EOF || n-1 != p.Rows || n-1 != rows {
			t.Errorf("piece %d: %d rows of %d, %v", i, n-1, p.Rows, err)
		}
		const tail = 1 << 16 // with which a footer is looked for; it stays in memory while pieces of its file are read
		got, most := files.bytes[p.File()], p.file.Size*3/2/groups+tail
		if first := i == 0 || pieces[i-1].File() != p.File(); first && got == 0 || len(files.bytes) > 1 || got > most {
			t.Errorf("piece %d: read are %v, at most %d of %d", i, files.bytes, most, p.file.Size)
		}
	}
	if len(seen) != 3*groups*rows || holes != groups { // of floats the log tells, of the file
		t.Errorf("%d rows, %d pieces with NULL", len(seen), holes)
	}
}
