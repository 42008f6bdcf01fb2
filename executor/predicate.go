package executor

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/forms"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Filter compiles p over columns in memory. Run of the result sets the indexes through which they are read.
func (st *stage) Filter(n *ra.Node, inputs []*structure.Relation, p *kernels.Expr) (*structure.Filter, error) {
	idx := make([]*structure.Index, len(inputs))
	slot := make([]bool, len(inputs))
	x := structure.NewIndexer(nil, &structure.Env{Workers: 1, Tune: st.p.tune}, nil)
	g := values.NewGraph(true, x, x.Space(1, false))
	candidates := &structure.Space{ID: -1, N: 0}
	leaves := map[kernels.Col]*values.Val{}
	var err error
	p.Cols(func(c kernels.Col) {
		if err != nil || leaves[c] != nil {
			return
		}
		in := n.Inputs[c.Input]
		var v *column.Column
		if v, err = st.Vector(in, in.Index(c.ID)); err != nil {
			return
		}
		slot[c.Input] = true
		src := &structure.Space{ID: g.NewID(), N: structure.MaxRows} // neither uniform nor small
		if idx[c.Input] == nil {
			idx[c.Input] = &structure.Index{ID: g.NewID(), Dst: candidates, Src: src}
		}
		leaf := g.Leaf("", v.Type(), idx[c.Input].Src, v, false)
		leaves[c] = &values.Val{ID: g.NewID(), Op: values.OpGather, Space: candidates, Type: leaf.Type,
			Args: []*values.Val{leaf}, Index: idx[c.Input]}
	})
	if err != nil {
		return nil, err
	}
	root, err := values.FromExpr(g, p, map[*kernels.Expr]*values.Val{},
		func(c kernels.Col) (*values.Val, error) { return leaves[c], nil })
	if err != nil {
		return nil, err
	}
	t, err := forms.Compile(g, nil, root)
	if err != nil {
		return nil, err
	}
	f := st.p.host.NewFilter(t, idx, &st.p.env)
	run := func(at [][]int32, n int, keep []int32) ([]int32, error) { return f.Run(st.Ctx, at, n, keep) }
	return &structure.Filter{Slots: slot, Run: run}, nil
}
