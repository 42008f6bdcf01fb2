package executor

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// rowFile is where rows of a column are read from that lies in a file and is too large to be resident: who reads it
// through an index reads the file, and none of its pages is mapped.
type rowFile struct {
	file *tensor.Buffer
	off  int // where row 0 begins, in bytes
	row  int // bytes of one
}

// A shorter row is not worth a system call. Where it is read, its column counts as resident.
const leastRow = 64

// read copies rows to out; a negative one is zeros.
func (f *rowFile) read(out []byte, at []int32) error {
	if err := f.file.ReadRows(out, f.off, at, f.row); err != nil {
		return sqlerr.New(sqlerr.IO, "could not read what was spilled").WithDetail("%v.", err).Wrap(err)
	}
	return nil
}
