package values

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// RowFile is where rows of a column are read from that lies in a file and is too large to be resident: who reads it
// through an index reads the file, and none of its pages is mapped.
type RowFile struct {
	File *tensor.Buffer
	Off  int // where row 0 begins, in bytes
	Row  int // bytes of one
}

// A shorter row is not worth a system call. Where it is read, its column counts as resident.
const LeastRow = 64

// Read copies rows to out; a negative one is zeros.
func (f *RowFile) Read(out []byte, at []int32) error {
	if err := f.File.ReadRows(out, f.Off, at, f.Row); err != nil {
		return sqlerr.New(sqlerr.IO, "could not read what was spilled").WithDetail("%v.", err).Wrap(err)
	}
	return nil
}
