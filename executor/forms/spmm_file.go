package forms

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
)

// filed chooses which rows are read from files. Rows of several kilobytes are not: they are mapped.
func filed(s *device.SpMM, l *Lowerer, v *values.Val) (f device.FiledRows) {
	const most = 4096 // bytes of a row
	size, bytes := v.Type.Size(), column.KindOf(v.Type).Bytes()
	rows := max(l.Tune.FiledNumbers/size, device.Chain)
	if size*bytes > most || column.KindOf(v.Type) == column.F64 && v.Groups.Largest() > rows {
		return f
	}
	f.Piece = column.Aligned(rows * size * bytes)
	for i, x := range s.X {
		if x.Idx == nil {
			continue
		}
		f.Bytes = len(s.X)*f.Piece + column.Aligned(size*bytes) + column.Aligned(8*size)
		if s.X[i].File = l.g.Shared.RowFile(x.V); s.X[i].File != nil {
			f.Own = make([]int32, rows)
		}
	}
	for r := range f.Own {
		f.Own[r] = int32(r)
	}
	return f
}
