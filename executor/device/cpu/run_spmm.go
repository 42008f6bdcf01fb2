package cpu

import (
	"sort"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

var _ = registerForm(runSparse)

func runSparse(s *device.SpMM, in *task) error {
	return in.m.crew.Apportion(in.m.ctx, in.m.workers, len(s.Cuts), func(w, lane int) error {
		if in.V.Data.Kind() == column.F32 {
			return runSpMM[float32](in, s, w, lane)
		}
		return runSpMM[float64](in, s, w, lane)
	})
}

// trimNumbers is how many numbers are read before excess pages of files are released.
const trimNumbers = 1 << 20

func runSpMM[T column.Float](in *task, s *device.SpMM, w, lane int) error {
	lo, hi := s.Cuts[lane][0], s.Cuts[lane][1]
	start, size := in.Grp.Start[lo:hi+1], in.V.Type.Size()
	base, end := int(start[0]), int(start[hi-lo])
	l := &spmmLane[T]{in: in, s: s, buf: in.m.scratch[w], at: column.Aligned(in.T.Bytes) + s.Buf[lane], base: base}
	if len(s.By) > 0 && end > base {
		b, err := in.block(w)
		if err != nil {
			return err
		}
		if l.weights, err = blockWeights[T](in, s.By, b, in.m.scratch[w], base, end-base); err != nil {
			return err
		}
	}
	out := in.V.Data
	for g, most := lo, l.most(); g < hi; {
		to := g + 1 + sort.Search(hi-g-1, func(i int) bool { return int(start[g-lo+i+2]-start[g-lo]) > most })
		if err := l.sum(g, start[g-lo:to-lo+1], column.Numbers[T](out)[g*size:to*size]); err != nil {
			return err
		}
		tensor.Trim()
		g = to
	}
	for g := lo; out.Valid() != nil && g < hi; g++ {
		out.Valid()[g] = 1
		if in.V.Fn == ra.Sum && in.Grp.Start[g] == in.Grp.Start[g+1] {
			out.Valid()[g] = 0
		}
	}
	return nil
}

// blockWeights returns the weights of n rows from lo on. A weight that is a column in memory in the order of the rows
// is returned as it is.
func blockWeights[T column.Float](in *task, by []values.Factor, b *block, buf *tensor.Buffer, lo, n int) ([]T, error) {
	if c := in.T.Cells[in.T.Result[0]]; c.View && !c.Uniform && in.T.Ops[0].Out == in.T.Result[0] && len(by) == 1 &&
		!by[0].Divide {
		return column.Numbers[T](in.T.Ops[0].V.Data)[lo : lo+n], nil
	}
	d := column.Place(buf, column.Aligned(in.T.Bytes), in.V.Data.Kind(), n, 1, false)
	weights := column.Numbers[T](&d)
	for at := 0; at < n; at += in.T.Rows {
		k := min(in.T.Rows, n-at)
		if err := b.eval(lo+at, k); err != nil {
			return nil, err
		}
		multiply(b, by, weights[at:at+k], 0)
	}
	return weights, nil
}

var _ = registerState(func(s *device.SpMMBlocks, t *task) func() error {
	sums := make([]float64, t.Grp.Out.N*t.V.Type.Size()) // the sums of all groups
	return func() error { return runSparseBlocks(s, t, sums) }
})

// runSparseBlocks has each worker take the column's blocks one after the other, each for all of the worker's lanes. So
// what the weights are computed from is also read from memory only once.
func runSparseBlocks(s *device.SpMMBlocks, in *task, sums []float64) error {
	m := in.m
	tasks := min(m.workers, len(s.Cuts))
	return m.crew.Parallel(m.ctx, m.workers, tasks, func(w, task int) error {
		lo, hi := task*len(s.Cuts)/tasks, (task+1)*len(s.Cuts)/tasks
		if in.V.Data.Kind() == column.F32 {
			return runSpMMBlocks[float32](in, s, sums, w, lo, hi)
		}
		return runSpMMBlocks[float64](in, s, sums, w, lo, hi)
	})
}

func runSpMMBlocks[T column.Float](in *task, s *device.SpMMBlocks, all []float64, w, first, end int) error {
	b, err := in.block(w)
	if err != nil {
		return err
	}
	size, from, to := in.V.Type.Size(), s.Cuts[first][0], s.Cuts[end-1][1]
	sums := all[from*size : to*size]
	clear(sums)
	for block := range s.Blocks {
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
	out := in.V.Data
	for i, x := range sums {
		column.Numbers[T](out)[from*size+i] = T(x)
	}
	for g := from; out.Valid() != nil && g < to; g++ {
		out.Valid()[g] = 1
		if in.V.Fn == ra.Sum && in.Grp.Start[g] == in.Grp.Start[g+1] {
			out.Valid()[g] = 0
		}
	}
	return nil
}

// laneBlock adds to the sums of a lane's groups the rows that they read in a block.
func laneBlock[T column.Float](in *task, s *device.SpMMBlocks, all []float64, b *block, w, lane, block int) error {
	lo, hi, size := s.Cuts[lane][0], s.Cuts[lane][1], in.V.Type.Size()
	n := hi - lo
	start := s.Start[lane][block*n : (block+1)*n+1]
	from, to := int(start[0]), int(start[n])
	if from == to {
		return nil
	}
	var weights []T
	var err error
	if len(s.By) > 0 {
		if weights, err = blockWeights[T](in, s.By, b, in.m.scratch[w], from, to-from); err != nil {
			return err
		}
	}
	at, _ := s.Scratch(in.Instr)
	d := column.Place(in.m.scratch[w], at, in.V.Data.Kind(), n*size, 1, false)
	cpu.SpMM(n, start, from, weights, cpu.Rows[T]{X: column.Numbers[T](s.X.V.Data), At: s.X.Idx.At[from:to], Near: true},
		cpu.Rows[T]{}, size, column.Numbers[T](&d))
	cpu.AddRows(1, n*size, column.Numbers[T](&d), all[lo*size:hi*size])
	return nil
}

// spmmLane is the state of a lane.
type spmmLane[T column.Float] struct {
	in      *task
	s       *device.SpMM
	buf     *tensor.Buffer // the worker's memory
	at      int            // offset of its free part in bytes
	base    int            // the row of the first weight
	weights []T            // nil: all are 1
}

// most is how many rows are read before excess pages of files are released.
func (l *spmmLane[T]) most() int {
	if l.s.Files.Own != nil {
		return len(l.s.Files.Own)
	}
	return trimNumbers / l.in.V.Type.Size()
}

// sum computes the sums of groups from group g on; group g+i has the rows from start[i] to start[i+1]. It takes either
// one group, or groups with at most most rows together.
func (l *spmmLane[T]) sum(g int, start []int32, out []T) error {
	size, from, to := l.in.V.Type.Size(), int(start[0]), int(start[len(start)-1])
	if l.s.Files.Own != nil && to-from > len(l.s.Files.Own) {
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

// long computes the sum of one group that has more rows than a piece: chains of rows are added in double precision.
func (l *spmmLane[T]) long(g, from, to int, out []T) error {
	kind, size := l.in.V.Data.Kind(), len(out)
	at := l.at + len(l.s.X)*l.s.Files.Piece
	d, e := column.Place(l.buf, at, kind, size, 1, false),
		column.Place(l.buf, at+column.Aligned(size*kind.Bytes()), column.F64, size, 1, false)
	clear(e.F64())
	for lo := from; lo < to; lo += device.Chain {
		if err := l.sum(g, []int32{int32(lo), int32(min(lo+device.Chain, to))}, column.Numbers[T](&d)); err != nil {
			return err
		}
		cpu.AddRows(1, size, column.Numbers[T](&d), e.F64())
	}
	for i, x := range e.F64() {
		out[i] = T(x)
	}
	return nil
}

// rows returns the chunks of the rows lo to hi, which belong to the groups from g on.
func (l *spmmLane[T]) rows(lo, hi, g int) (x [2]cpu.Rows[T], err error) {
	for i, from := range l.s.X {
		switch {
		case from.File != nil:
			d := column.Place(l.buf, l.at+i*l.s.Files.Piece, l.in.V.Data.Kind(), hi-lo, l.in.V.Type.Size(), false)
			x[i] = cpu.Rows[T]{X: column.Numbers[T](&d), At: l.s.Files.Own[:hi-lo]}
			if err := from.File.Read(d.Bytes(), from.Idx.At[lo:hi]); err != nil {
				return x, err
			}
		case from.Held != nil:
			x[i] = cpu.Rows[T]{X: column.Numbers[T](from.V.Data), At: from.Held[g:], Held: true}
		case from.Idx != nil:
			x[i] = cpu.Rows[T]{X: column.Numbers[T](from.V.Data), At: from.Idx.At[lo:hi]}
		default:
			x[i] = cpu.Rows[T]{X: column.Numbers[T](from.V.Data)}
		}
	}
	return x, nil
}
