package executor

import (
	"unsafe"
)

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
