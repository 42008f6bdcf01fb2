package executor

import (
	"unsafe"

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

// rowFile returns the file of such a column; nil for others, which are read where they are.
func (p *Program) rowFile(v *val) *rowFile {
	if p.opt.Memory <= 0 || v.data == nil {
		return nil
	}
	d := v.data
	all, row := d.bytes(), d.size*d.kind.bytes()
	if row < leastRow || d.valid != nil || int64(len(all)) <= residentColumns(p.opt.Memory) {
		return nil
	}
	b := p.bufferOf(unsafe.Pointer(unsafe.SliceData(all)))
	if b == nil {
		return nil
	}
	return &rowFile{
		b,
		int(uintptr(unsafe.Pointer(unsafe.SliceData(all))) - uintptr(unsafe.Pointer(unsafe.SliceData(b.Bytes())))),
		row,
	}
}

// read copies rows to out; a negative one is zeros.
func (f *rowFile) read(out []byte, at []int32) error {
	if err := f.file.ReadRows(out, f.off, at, f.row); err != nil {
		return sqlerr.New(sqlerr.IO, "could not read what was spilled").WithDetail("%v.", err).Wrap(err)
	}
	return nil
}
