package executor

import (
	"github.com/relgrad/relgrad/executor/structure"
)

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
