package executor

import (
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/tensor"
)

// filedRows is how SpMM reads rows of columns in files: a piece of them at a time is copied to a worker's memory.
type filedRows struct {
	own   []int32 // 0, 1, …: the rows of a piece; nil: no column lies in a file
	piece int     // bytes of one
	// bytes is what a worker needs for the pieces, and for the sums of a group that is larger than one; they count under any
	// budget
	bytes int
}

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

// spmmLane is a lane at work.
type spmmLane[T float] struct {
	in      *task
	s       *spmm
	buf     *tensor.Buffer // the worker's memory
	at      int            // where it is free, in bytes
	base    int            // the first row that has a weight
	weights []T            // nil: they are all one
}

// most is how many rows are read before pages of files that are too many go.
func (l *spmmLane[T]) most() int {
	if l.s.files.own != nil {
		return len(l.s.files.own)
	}
	return trimNumbers / l.in.v.typ.Size()
}

// sum makes the sums of groups from g on, whose rows begin and end at start. They are at most most together, or one
// group.
func (l *spmmLane[T]) sum(g int, start []int32, out []T) error {
	size, from, to := l.in.v.typ.Size(), int(start[0]), int(start[len(start)-1])
	if l.s.files.own != nil && to-from > len(l.s.files.own) {
		return l.long(g, from, to, out)
	}
	x, err := l.rows(from, to, g)
	if err != nil {
		return err
	}
	var by []T
	if l.weights != nil {
		by = l.weights[from-l.base:]
	}
	cpu.SpMM(len(start)-1, start, from, by, x[0], x[1], size, out)
	return nil
}

// long makes the sum of one group of more rows than a piece, as SpMM does: chains of rows, added up in double.
func (l *spmmLane[T]) long(g, from, to int, out []T) error {
	kind, size := l.in.v.data.kind, len(out)
	at := l.at + len(l.s.x)*l.s.files.piece
	d, e := place(l.buf, at, kind, size, 1, false), place(l.buf, at+span(size*kind.bytes()), f64, size, 1, false)
	clear(e.f64)
	for lo := from; lo < to; lo += chain {
		if err := l.sum(g, []int32{int32(lo), int32(min(lo+chain, to))}, of[T](&d)); err != nil {
			return err
		}
		cpu.AddRows(1, size, of[T](&d), e.f64)
	}
	for i, x := range e.f64 {
		out[i] = T(x)
	}
	return nil
}

// rows are the chunks of rows from lo to hi, which belong to the groups from g on.
func (l *spmmLane[T]) rows(lo, hi, g int) (x [2]cpu.Rows[T], err error) {
	for i, from := range l.s.x {
		switch {
		case from.file != nil:
			d := place(l.buf, l.at+i*l.s.files.piece, l.in.v.data.kind, hi-lo, l.in.v.typ.Size(), false)
			x[i] = cpu.Rows[T]{X: of[T](&d), At: l.s.files.own[:hi-lo]}
			if err := from.file.read(d.bytes(), from.idx.At[lo:hi]); err != nil {
				return x, err
			}
		case from.held != nil:
			x[i] = cpu.Rows[T]{X: of[T](from.v.data), At: from.held[g:], Held: true}
		case from.idx != nil:
			x[i] = cpu.Rows[T]{X: of[T](from.v.data), At: from.idx.At[lo:hi]}
		default:
			x[i] = cpu.Rows[T]{X: of[T](from.v.data)}
		}
	}
	return x, nil
}
