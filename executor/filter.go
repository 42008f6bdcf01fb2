package executor

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// filter is a predicate over candidate rows of a join: tuples of rows of the inputs.
type filter struct {
	st   *stage
	slot []bool // which slots it reads
	idx  []*index
	t    *tree
	done bool
}

// newFilter compiles p over columns in memory that are read through indexes of the candidates, which run sets.
func (st *stage) newFilter(n *ra.Node, inputs []*rel, p *kernels.Expr) (*filter, error) {
	f := &filter{st: st, slot: make([]bool, len(inputs)), idx: make([]*index, len(inputs))}
	g := newGraph(true, newIndexer(nil, new(int), 1, nil))
	candidates := &space{id: -1, n: 0}
	leaves := map[kernels.Col]*val{}
	var err error
	p.Cols(func(c kernels.Col) {
		if err != nil || leaves[c] != nil {
			return
		}
		in := n.Inputs[c.Input]
		var v *ra.Vector
		if v, err = st.vec(in, in.Index(c.ID)); err != nil {
			return
		}
		f.slot[c.Input] = true
		src := &space{id: g.id(), n: maxRows} // of any length: not uniform, and no smaller space
		if f.idx[c.Input] == nil {
			f.idx[c.Input] = &index{id: g.id(), dst: candidates, src: src}
		}
		leaf := g.leaf("", v.Type, f.idx[c.Input].src, fromVector(v), false)
		leaves[c] = &val{id: g.id(), op: vGather, sp: candidates, typ: leaf.typ, args: []*val{leaf}, idx: f.idx[c.Input]}
	})
	if err != nil {
		return nil, err
	}
	root, err := fromExpr(g, p, func(c kernels.Col) (*val, error) { return leaves[c], nil })
	if err != nil {
		return nil, err
	}
	f.t, err = compile(g, nil, root)
	return f, err
}

// reads reports whether the filter reads no other slots than these.
func (f *filter) reads(slots ...int) bool {
	for s, r := range f.slot {
		if !r {
			continue
		}
		ok := false
		for _, t := range slots {
			ok = ok || s == t
		}
		if !ok {
			return false
		}
	}
	return true
}

// run returns the positions of the n candidates on which the predicate holds. at[s] are the candidates'
// rows of slot s, nil for the row of the position.
func (f *filter) run(at [][]int32, n int) (keep []int32, err error) {
	for s, x := range f.idx {
		if x != nil {
			x.at = at[s]
		}
	}
	if n == 0 {
		return []int32{}, nil
	}
	m := &f.st.p.m
	if err := m.reserve(f.t.bytes); err != nil {
		return nil, err
	}
	b := f.t.newBlock(&f.st.p.env, m.scratch[0])
	if err := b.start(); err != nil {
		return nil, err
	}
	keep = make([]int32, 0, n)
	for lo := 0; lo < n; lo += f.t.rows {
		if err := f.st.ctx.Err(); err != nil {
			return nil, err
		}
		m := min(f.t.rows, n-lo)
		if err := b.eval(lo, m); err != nil {
			return nil, err
		}
		d, uniform := b.result(0)
		for r := range m {
			k := r
			if uniform {
				k = 0
			}
			if d.i64[k] != 0 && (d.valid == nil || d.valid[k] != 0) {
				keep = append(keep, int32(lo+r))
			}
		}
	}
	return keep, nil
}
