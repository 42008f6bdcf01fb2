package executor

import (
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
)

// predicate is a condition over candidate rows of a join, as a tree.
type predicate struct {
	st  *stage
	idx []*structure.Index
	t   *tree
}

// Filter compiles p over columns in memory that are read through indexes of the candidates, which run sets.
func (st *stage) Filter(n *ra.Node, inputs []*structure.Relation, p *kernels.Expr) (*structure.Filter, error) {
	f := &predicate{st: st, idx: make([]*structure.Index, len(inputs))}
	slot := make([]bool, len(inputs))
	x := structure.NewIndexer(nil, &structure.Env{Workers: 1, Tune: st.p.tune}, nil)
	g := newGraph(true, x, x.Space(1, false))
	candidates := &structure.Space{ID: -1, N: 0}
	leaves := map[kernels.Col]*val{}
	var err error
	p.Cols(func(c kernels.Col) {
		if err != nil || leaves[c] != nil {
			return
		}
		in := n.Inputs[c.Input]
		var v *ra.Vector
		if v, err = st.Vector(in, in.Index(c.ID)); err != nil {
			return
		}
		slot[c.Input] = true
		src := &structure.Space{ID: g.NewID(), N: structure.MaxRows} // of any length: not uniform, and no smaller space
		if f.idx[c.Input] == nil {
			f.idx[c.Input] = &structure.Index{ID: g.NewID(), Dst: candidates, Src: src}
		}
		leaf := g.leaf("", v.Type, f.idx[c.Input].Src, fromVector(v), false)
		leaves[c] = &val{id: g.NewID(), op: vGather, sp: candidates, typ: leaf.typ, args: []*val{leaf}, idx: f.idx[c.Input]}
	})
	if err != nil {
		return nil, err
	}
	root, err := fromExpr(g, p, map[*kernels.Expr]*val{}, func(c kernels.Col) (*val, error) { return leaves[c], nil })
	if err != nil {
		return nil, err
	}
	if f.t, err = compile(g, nil, root); err != nil {
		return nil, err
	}
	return &structure.Filter{Slots: slot, Run: f.run}, nil
}

// run returns the positions of the n candidates on which the predicate holds, in keep, which holds n. at[s] are the
// candidates' rows of slot s, nil for the row of the position.
func (f *predicate) run(at [][]int32, n int, keep []int32) ([]int32, error) {
	for s, x := range f.idx {
		if x != nil {
			x.At = at[s]
		}
	}
	m := f.st.p.host
	if err := m.reserve(f.t.bytes); err != nil {
		return nil, err
	}
	blocks := make([]*block, m.workers)
	lane := (f.st.p.tune.LaneRows + f.t.rows - 1) / f.t.rows * f.t.rows
	kept := make([]int, (n+lane-1)/lane)
	if err := cpu.Parallel(f.st.Ctx, m.workers, len(kept), func(w, i int) error {
		if blocks[w] == nil {
			blocks[w] = f.t.newBlock(&f.st.p.env, m.scratch[w])
			if err := blocks[w].start(); err != nil {
				return err
			}
		}
		var err error
		kept[i], err = f.lane(blocks[w], i*lane, min((i+1)*lane, n), keep[i*lane:])
		return err
	}); err != nil {
		return nil, err
	}
	total := 0
	for i, k := range kept {
		total += copy(keep[total:], keep[i*lane:][:k])
	}
	return keep[:total], nil
}

// lane writes the positions from lo to hi on which the predicate holds, and returns how many they are.
func (f *predicate) lane(b *block, lo, hi int, keep []int32) (kept int, err error) {
	for ; lo < hi; lo += f.t.rows {
		if err := f.st.Ctx.Err(); err != nil {
			return 0, err
		}
		n := min(f.t.rows, hi-lo)
		if err := b.eval(lo, n); err != nil {
			return 0, err
		}
		d, uniform := b.result(0)
		for r := range n {
			k := r
			if uniform {
				k = 0
			}
			if d.i64[k] != 0 && (d.valid == nil || d.valid[k] != 0) {
				keep[kept] = int32(lo + r)
				kept++
			}
		}
	}
	return kept, nil
}
