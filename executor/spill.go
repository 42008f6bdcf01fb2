package executor

import (
	"unsafe"

	"github.com/relgrad/relgrad/executor/values"
)

// rowFile returns where rows of v are read from if v is a large column in a file, nil if they are read where v is
// mapped.
func (m *holdings) rowFile(v *values.Val) *values.RowFile {
	if m.opt.Memory <= 0 || v.Data == nil {
		return nil
	}
	d := v.Data
	all, row := d.Bytes(), d.Size()*d.Kind().Bytes()
	if row < values.LeastRow || d.Valid() != nil || int64(len(all)) <= residentColumns(m.opt.Memory) {
		return nil
	}
	b := m.bufferOf(unsafe.Pointer(unsafe.SliceData(all)))
	if b == nil {
		return nil
	}
	return &values.RowFile{File: b, Off: int(uintptr(unsafe.Pointer(unsafe.SliceData(all))) -
		uintptr(unsafe.Pointer(unsafe.SliceData(b.Bytes())))), Row: row}
}
