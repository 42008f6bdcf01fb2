package forms

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
)

var _ = registerForm(Form{
	Name: "SpMM in blocks",
	Match: func(l *Lowerer, v *values.Val) (any, error) {
		if w := weightedOf(l, v); w != nil && len(w.from) == 1 && w.from[0].Idx != nil {
			if s := inBlocksOf(l, v, w.by, w.from[0]); s != nil {
				return s, nil
			}
		}
		return nil, nil
	},
	Cost: func(_ *Lowerer, v *values.Val, found any) float64 { // the rows are in the cache
		n := float64(v.Groups.In.N * v.Type.Size())
		return rate{0.2, 0.05}.of(n, n*float64(column.KindOf(v.Type).Bytes()))
	},
	emit: func(l *Lowerer, v *values.Val, found any) ([]*device.Instr, error) {
		in, err := spmmBlocksInstr(l, v, found.(*device.SpMMBlocks))
		return []*device.Instr{in}, err
	},
})

// inBlocksOf finds such a sum of weighted rows, which are not sorted yet; nil where they are too few.
func inBlocksOf(l *Lowerer, v *values.Val, scalars []values.Factor, x device.Source) *device.SpMMBlocks {
	g, rows, perBlock := v.Groups, x.V.Space.N, sourceRows(l, x)
	blocks := (rows + perBlock - 1) / perBlock
	if x.Idx.Varies() || g.Varies() || l.g.Parent != nil || g.Order != nil && g.Order.At == nil || blocks < 3 ||
		g.In.N <= rows { // so few are read once each
		return nil
	}
	lanes := min(4*l.Tune.SourceLanes, g.In.N/(l.Tune.SourceReads*rows))
	if lanes < l.Tune.SourceLanes || g.In.N < l.Tune.BlockReads*blocks*g.Out.N {
		return nil
	}
	s := &device.SpMMBlocks{Blocks: blocks, By: scalars, X: x, Cuts: g.Cut((g.In.N + lanes - 1) / lanes)}
	for _, c := range s.Cuts {
		s.Wide = max(s.Wide, c[1]-c[0])
	}
	if s.Wide > l.Tune.LaneSums/(8*v.Type.Size()) { // most groups have few rows, which a lane reads once
		return nil
	}
	if x.Idx.List(); x.Idx.At == nil {
		return nil
	}
	return s
}

// sourceRows is how many rows of a source are a block.
func sourceRows(l *Lowerer, x device.Source) int {
	return max(l.Tune.SourceBlock/max(x.V.Type.Size()*x.V.Data.Kind().Bytes(), 1), 1)
}

// sortInBlocks sorts the rows of such a sum by the blocks that they read.
func sortInBlocks(l *Lowerer, g *structure.Groups, s *device.SpMMBlocks) {
	s.Start = make([][]int32, len(s.Cuts))
	perm, at, perBlock := l.g.Arrays.Ints(g.In.N), s.X.Idx.At, sourceRows(l, s.X)
	l.g.Env.Crew().Cut(len(s.Cuts), 1, func(lane, _, _ int) {
		s.Start[lane] = sortBlocks(g, s.Cuts[lane], at, perBlock, s.Blocks, perm)
	})
	for lane, c := range s.Cuts {
		n := c[1] - c[0]
		for b := range s.Blocks {
			s.Most = max(s.Most, int(s.Start[lane][(b+1)*n]-s.Start[lane][b*n]))
		}
	}
	s.Order = l.g.Index(g.In, g.In, perm)
	s.X = inOrder(s.X, l.g, s.Order)
}

// spmmBlocksInstr makes the instruction of such a sum.
func spmmBlocksInstr(l *Lowerer, v *values.Val, s *device.SpMMBlocks) (*device.Instr, error) {
	g := v.Groups
	sortInBlocks(l, g, s)
	in := &device.Instr{V: v, How: "SpMM in blocks", Rows: g.In.N, Grp: g, Form: s}
	var err error
	if in.T, err = weightsTree(l, s.Order, s.By, v.Type); err != nil {
		return nil, err
	}
	in.T.Also = append(in.T.Also, s.X.V)
	l.finish(in)
	n := float64(in.Rows * v.Type.Size())
	in.Flops, in.Bytes = in.Flops+n, in.Bytes+n*float64(column.KindOf(v.Type).Bytes())
	_, end := s.Scratch(in)
	l.s.Tmp = max(l.s.Tmp, end)
	return in, nil
}

// sortBlocks writes to perm the rows of a lane's groups, sorted by the block that they read and then by group. It
// returns where each block and group begins.
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
