package executor

import (
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// spmmBlocks is SpMM over groups whose rows read a column that is larger than the second-level cache, each row of it
// often: lanes of groups take it a block at a time. The structure phase sorts a lane's rows by block, then group.
type spmmBlocks struct {
	by     []factor
	x      source
	order  *structure.Index // of the rows, as lanes read them
	cuts   [][2]int         // per lane: its groups
	start  [][]int32        // per lane: where the rows of each block and group of it begin, and their end
	blocks int
	most   int // rows of a lane's block at most
	wide   int // groups of a lane at most
}

var _ = registerForm(form{
	name: "SpMM in blocks",
	match: func(l *lowerer, v *val) (any, error) {
		if w := weightedOf(l, v); w != nil && len(w.from) == 1 && w.from[0].idx != nil {
			if s := inBlocksOf(l, v, w.by, w.from[0]); s != nil {
				return s, nil
			}
		}
		return nil, nil
	},
	cost: func(_ *lowerer, v *val, found any) float64 { // rows come from the cache
		n := float64(v.grp.In.N * v.typ.Size())
		return rate{0.2, 0.05}.of(n, n*float64(kindOf(v.typ).bytes()))
	},
	emit: func(l *lowerer, v *val, found any) ([]*instr, error) {
		in, err := spmmBlocksInstr(l, v, found.(*spmmBlocks))
		return []*instr{in}, err
	},
})

// inBlocksOf finds such a sum of weighted rows, and sorts its rows; nil where they are too few.
func inBlocksOf(l *lowerer, v *val, scalars []factor, x source) *spmmBlocks {
	x.idx.List()
	g, bytes := v.grp, x.v.typ.Size()*x.v.data.kind.bytes()
	rows, perBlock := x.v.sp.N, max(l.tune.SourceBlock/max(bytes, 1), 1)
	blocks := (rows + perBlock - 1) / perBlock
	if x.idx == nil || x.idx.At == nil || x.idx.Varies() || g.Varies() || l.g.parent != nil ||
		g.Order != nil && g.Order.At == nil ||
		blocks < 3 {
		return nil
	}
	lanes := min(4*l.tune.SourceLanes, g.In.N/(l.tune.SourceReads*rows))
	if lanes < l.tune.SourceLanes || g.In.N < l.tune.BlockReads*blocks*g.Out.N {
		return nil
	}
	s := &spmmBlocks{blocks: blocks, by: scalars, cuts: g.Cut((g.In.N + lanes - 1) / lanes)}
	for _, c := range s.cuts {
		s.wide = max(s.wide, c[1]-c[0])
	}
	if s.wide > l.tune.LaneSums/(8*v.typ.Size()) { // most groups have few rows, which a lane of them reads once
		return nil
	}
	s.start = make([][]int32, len(s.cuts))
	perm := l.g.Arrays.Ints(g.In.N)
	l.g.Env.Crew().Cut(len(s.cuts), 1, func(lane, _, _ int) {
		s.start[lane] = sortBlocks(g, s.cuts[lane], x.idx.At, perBlock, blocks, perm)
	})
	for lane, c := range s.cuts {
		n := c[1] - c[0]
		for b := range blocks {
			s.most = max(s.most, int(s.start[lane][(b+1)*n]-s.start[lane][b*n]))
		}
	}
	s.order = l.g.Index(g.In, g.In, perm)
	if s.x = x.in(l.g, s.order); s.x.idx == nil { // it undoes the index
		return nil
	}
	return s
}

// spmmBlocksInstr makes the instruction of such a sum.
func spmmBlocksInstr(l *lowerer, v *val, s *spmmBlocks) (*instr, error) {
	g := v.grp
	in := &instr{v: v, how: "SpMM in blocks", rows: g.In.N, grp: g, form: s}
	var err error
	if in.t, err = weightsTree(l, s.order, s.by, v.typ); err != nil {
		return nil, err
	}
	in.t.also = append(in.t.also, s.x.v)
	l.finish(in)
	n := float64(in.rows * v.typ.Size())
	in.flops, in.bytes = in.flops+n, in.bytes+n*float64(kindOf(v.typ).bytes())
	_, end := s.scratch(in)
	l.s.tmp = max(l.s.tmp, end)
	return in, nil
}

// sortBlocks writes the rows of a lane's groups to perm in the order of the blocks that they read, then of the groups,
// and returns where each block and group begins.
func sortBlocks(g *structure.Groups, lane [2]int, at []int32, perBlock, blocks int, perm []int32) []int32 {
	n, first := lane[1]-lane[0], g.Start[lane[0]]
	start := make([]int32, blocks*n+1)
	row := func(e int32) int32 {
		if g.Order == nil {
			return e
		}
		return g.Order.At[e]
	}
	for k := range n {
		for e := g.Start[lane[0]+k]; e < g.Start[lane[0]+k+1]; e++ {
			start[int(at[row(e)])/perBlock*n+k+1]++
		}
	}
	start[0] = first
	for i := range blocks * n {
		start[i+1] += start[i]
	}
	next := append([]int32(nil), start[:blocks*n]...)
	for k := range n {
		for e := g.Start[lane[0]+k]; e < g.Start[lane[0]+k+1]; e++ {
			r := row(e)
			i := int(at[r])/perBlock*n + k
			perm[next[i]] = r
			next[i]++
		}
	}
	return start
}

// scratch is where a block's sums lie in a worker's memory, behind the weights, and where they end.
func (s *spmmBlocks) scratch(in *instr) (part, end int) {
	bytes := kindOf(in.v.typ).bytes()
	part = span(in.t.bytes) + span(s.most*bytes)
	return part, part + span(s.wide*in.v.typ.Size()*bytes)
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
