package executor

import (
	"sort"

	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

func (s *spmm) run(in *task) error {
	return cpu.Apportion(in.m.ctx, in.m.workers, len(s.cuts), func(w, lane int) error {
		if in.v.data.kind == f32 {
			return runSpMM[float32](in, s, w, lane)
		}
		return runSpMM[float64](in, s, w, lane)
	})
}

// trimNumbers is how many numbers are read before pages of files that are too many go.
const trimNumbers = 1 << 20

func runSpMM[T float](in *task, s *spmm, w, lane int) error {
	lo, hi := s.cuts[lane][0], s.cuts[lane][1]
	start, size := in.grp.Start[lo:hi+1], in.v.typ.Size()
	base, end := int(start[0]), int(start[hi-lo])
	l := &spmmLane[T]{in: in, s: s, buf: in.m.scratch[w], at: span(in.t.bytes) + s.buf[lane], base: base}
	if len(s.by) > 0 && end > base {
		b, err := in.block(w)
		if err != nil {
			return err
		}
		if l.weights, err = blockWeights[T](in, s.by, b, in.m.scratch[w], base, end-base); err != nil {
			return err
		}
	}
	out := in.v.data
	for g, most := lo, l.most(); g < hi; {
		to := g + 1 + sort.Search(hi-g-1, func(i int) bool { return int(start[g-lo+i+2]-start[g-lo]) > most })
		if err := l.sum(g, start[g-lo:to-lo+1], of[T](out)[g*size:to*size]); err != nil {
			return err
		}
		tensor.Trim()
		g = to
	}
	for g := lo; out.valid != nil && g < hi; g++ {
		out.valid[g] = 1
		if in.v.fn == ra.Sum && in.grp.Start[g] == in.grp.Start[g+1] {
			out.valid[g] = 0
		}
	}
	return nil
}

// blockWeights computes the weights of n rows from lo on; where they are a column in memory as they stand,
// it is used in place.
func blockWeights[T float](in *task, by []factor, b *block, buf *tensor.Buffer, lo, n int) ([]T, error) {
	if c := in.t.cells[in.t.result[0]]; c.view && !c.uniform && in.t.ops[0].out == in.t.result[0] && len(by) == 1 &&
		!by[0].divide {
		return of[T](in.t.ops[0].v.data)[lo : lo+n], nil
	}
	d := place(buf, span(in.t.bytes), in.v.data.kind, n, 1, false)
	weights := of[T](&d)
	for at := 0; at < n; at += in.t.rows {
		k := min(in.t.rows, n-at)
		if err := b.eval(lo+at, k); err != nil {
			return nil, err
		}
		multiply(b, by, weights[at:at+k], 0)
	}
	return weights, nil
}

// run has each worker take a block of the column after the other, each for all of its lanes: what the weights are
// computed from is read from memory once, too.
func (s *spmmBlocks) run(in *task, sums []float64) error {
	m := in.m
	tasks := min(m.workers, len(s.cuts))
	return cpu.Parallel(m.ctx, m.workers, tasks, func(w, task int) error {
		lo, hi := task*len(s.cuts)/tasks, (task+1)*len(s.cuts)/tasks
		if in.v.data.kind == f32 {
			return runSpMMBlocks[float32](in, s, sums, w, lo, hi)
		}
		return runSpMMBlocks[float64](in, s, sums, w, lo, hi)
	})
}

func runSpMMBlocks[T float](in *task, s *spmmBlocks, all []float64, w, first, end int) error {
	b, err := in.block(w)
	if err != nil {
		return err
	}
	size, from, to := in.v.typ.Size(), s.cuts[first][0], s.cuts[end-1][1]
	sums := all[from*size : to*size]
	clear(sums)
	for block := range s.blocks {
		if err := in.m.ctx.Err(); err != nil {
			return err
		}
		for lane := first; lane < end; lane++ {
			if err := laneBlock[T](in, s, all, b, w, lane, block); err != nil {
				return err
			}
			tensor.Trim()
		}
	}
	out := in.v.data
	for i, x := range sums {
		of[T](out)[from*size+i] = T(x)
	}
	for g := from; out.valid != nil && g < to; g++ {
		out.valid[g] = 1
		if in.v.fn == ra.Sum && in.grp.Start[g] == in.grp.Start[g+1] {
			out.valid[g] = 0
		}
	}
	return nil
}

// laneBlock adds what a lane's groups read of a block to their sums.
func laneBlock[T float](in *task, s *spmmBlocks, all []float64, b *block, w, lane, block int) error {
	lo, hi, size := s.cuts[lane][0], s.cuts[lane][1], in.v.typ.Size()
	n := hi - lo
	start := s.start[lane][block*n : (block+1)*n+1]
	from, to := int(start[0]), int(start[n])
	if from == to {
		return nil
	}
	var weights []T
	var err error
	if len(s.by) > 0 {
		if weights, err = blockWeights[T](in, s.by, b, in.m.scratch[w], from, to-from); err != nil {
			return err
		}
	}
	at, _ := s.scratch(in.instr)
	d := place(in.m.scratch[w], at, in.v.data.kind, n*size, 1, false)
	cpu.SpMM(
		n,
		start,
		from,
		weights,
		cpu.Rows[T]{X: of[T](s.x.v.data), At: s.x.idx.At[from:to], Near: true},
		cpu.Rows[T]{},
		size,
		of[T](&d),
	)
	cpu.AddRows(1, n*size, of[T](&d), all[lo*size:hi*size])
	return nil
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
