package values

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// RowFile is the file of a column that is too large to be resident. Who reads it through an index reads
// rows by system calls: the file is not mapped.
type RowFile struct {
	File *tensor.Buffer
	Off  int // position of row 0 in bytes
	Row  int // bytes of a row
}

// LeastRow is the bytes from which a row is worth a system call. Columns of shorter rows are mapped and count as
// resident.
const LeastRow = 64

// Read copies rows to out. A negative row number gives zeros.
func (f *RowFile) Read(out []byte, at []int32) error {
	if err := f.File.ReadRows(out, f.Off, at, f.Row); err != nil {
		return sqlerr.New(sqlerr.IO, "could not read what was spilled").WithDetail("%v.", err).Wrap(err)
	}
	return nil
}
