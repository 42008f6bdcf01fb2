package executor

// filed chooses what is read from files. Rows of several kilobytes are not: they are mapped.
func (s *spmm) filed(l *lowerer, v *val) (f filedRows) {
	const most = 4096 // bytes of a row
	size, bytes := v.typ.Size(), kindOf(v.typ).bytes()
	rows := max(l.tune.FiledNumbers/size, chain)
	if size*bytes > most || kindOf(v.typ) == f64 && v.grp.Largest() > rows {
		return f
	}
	f.piece = span(rows * size * bytes)
	for i, x := range s.x {
		if x.idx == nil {
			continue
		}
		f.bytes = len(s.x)*f.piece + span(size*bytes) + span(8*size)
		if s.x[i].file = l.g.shared.rowFile(x.v); s.x[i].file != nil {
			f.own = make([]int32, rows)
		}
	}
	for r := range f.own {
		f.own[r] = int32(r)
	}
	return f
}
