package rjp

import (
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// join is the RJP of σ and ⋈: the upstream gradient, joined back on identities with the inputs that the
// kernels' derivatives read, gives each output row's contribution; these are summed by the input's identity.
func join(c *Context, n *ra.Node, g *Grad) ([]*Grad, error) {
	up := len(n.Inputs) // the slot that stands for the upstream gradient
	parts := make([][]kernels.Contribution, len(n.Inputs))
	for _, i := range active(c, n, g) {
		gcol := g.Val[n.Cols[i].ID]
		gx := kernels.Column(kernels.Col{Input: up, ID: gcol}, g.Node.Col(gcol).Type)
		cs, err := kernels.VJP(n.Out[i], gx, func(col kernels.Col) bool { return c.Active(n.Inputs[col.Input], col.ID) })
		if err != nil {
			return nil, err
		}
		for _, part := range cs {
			addPart(&parts[part.Col.Input], part)
		}
	}
	ids, ok := identities(n)
	if !ok {
		return contributeWithin(c, n, g, parts)
	}
	for _, key := range ids { // where the gradient has them
		for j, id := range key {
			key[j] = g.at(n, id)
		}
	}
	if reached := slices.DeleteFunc(slices.Clone(parts), func(p []kernels.Contribution) bool {
		return len(p) == 0
	}); len(reached) > Wide {
		return contributeAll(c, n, g, ids, parts)
	}
	out := make([]*Grad, len(n.Inputs))
	for i := range n.Inputs {
		if len(parts[i]) > 0 {
			grad, err := contribute(c, n, g, i, ids, parts[i])
			if err != nil {
				return nil, err
			}
			out[i] = grad
		}
	}
	return out, nil
}

func addPart(parts *[]kernels.Contribution, p kernels.Contribution) {
	for i, q := range *parts {
		if q.Col == p.Col {
			(*parts)[i].Grad = kernels.Add(q.Grad, p.Grad)
			return
		}
	}
	*parts = append(*parts, p)
}

// Wide is the number of inputs from which on their contributions are computed in one relation: each may read all of the
// inputs, as the gradient of a sum of sub-queries does, and relations of their own would take the square of their
// number.
const Wide = 32

// contributeAll builds G ⋈ the inputs that any contribution reads, and of it Σ_{key of input} for each input.
func contributeAll(c *Context, n *ra.Node, g *Grad, ids [][]ra.ColumnID,
	parts [][]kernels.Contribution) ([]*Grad, error) {
	slot := map[int]int{len(n.Inputs): 0}
	inputs, equi := []*ra.Node{g.Node}, []ra.Equi(nil)
	move := kernels.NewMapper(func(e *kernels.Expr) *kernels.Expr { // what the contributions share stays shared
		s, ok := slot[e.Col.Input]
		if !ok {
			s = len(inputs)
			slot[e.Col.Input] = s
			inputs = append(inputs, n.Inputs[e.Col.Input])
			equi = append(equi, matchKey(ids[e.Col.Input], n.Inputs[e.Col.Input], s)...)
		}
		return kernels.Column(kernels.Col{Input: s, ID: e.Col.ID}, e.Type)
	})
	out, first := contributions(n, parts, func(i int) []ra.OutCol { return GroupOut(g.Node, ids[i]) }, move.Map)
	return sumInputs(c, n, c.B.Join(inputs, equi, nil, out), first, parts)
}

// contributeWithin is contributeAll for a join that does not pass the identities of its inputs up: G ⋈ the inputs as n
// joins them, on n's own identity.
func contributeWithin(c *Context, n *ra.Node, g *Grad, parts [][]kernels.Contribution) ([]*Grad, error) {
	up := len(n.Inputs)
	move := kernels.NewMapper(func(e *kernels.Expr) *kernels.Expr { // G is the first input
		return kernels.Column(kernels.Col{Input: (e.Col.Input + 1) % (up + 1), ID: e.Col.ID}, e.Type)
	})
	var equi []ra.Equi
	for j, k := range n.Key {
		x := n.Out[n.Index(k)]
		if x.IsConst() {
			continue
		}
		if !x.IsCol {
			return nil, fmt.Errorf("rjp: column %d of an identity is computed", k)
		}
		equi = append(equi, ra.Equi{L: kernels.Col{ID: g.Key[j]}, R: move.Map(x).Col, NullSafe: true})
	}
	for _, q := range n.Equi {
		q.L.Input, q.R.Input = q.L.Input+1, q.R.Input+1
		equi = append(equi, q)
	}
	var pred []*kernels.Expr
	for _, p := range n.Pred {
		pred = append(pred, move.Map(p))
	}
	out, first := contributions(n, parts, func(i int) []ra.OutCol {
		if key := n.Inputs[i].Key; len(key) > 0 {
			return keyOut(n.Inputs[i], i+1, key)
		}
		return GroupOut(nil, nil)
	}, move.Map)
	return sumInputs(c, n, c.B.Join(slices.Concat([]*ra.Node{g.Node}, n.Inputs), equi, pred, out), first, parts)
}

// identities returns, for each input, the columns of n that hold its identity; ok is false where n does not pass all
// up.
func identities(n *ra.Node) (ids [][]ra.ColumnID, ok bool) {
	links := n.Links()
	ids = make([][]ra.ColumnID, len(n.Inputs))
	for i := range ids {
		if ids[i], ok = links.InputKey(i); !ok {
			return nil, false
		}
	}
	return ids, true
}

// contributions makes the columns of what each input receives, from first on: its groups, then the contributions.
func contributions(n *ra.Node, parts [][]kernels.Contribution, key func(input int) []ra.OutCol,
	move func(*kernels.Expr) *kernels.Expr) (out []ra.OutCol, first []int) {
	first = make([]int, len(parts))
	for i, ps := range parts {
		if len(ps) == 0 {
			continue
		}
		first[i] = len(out)
		out = append(out, key(i)...)
		for _, p := range ps {
			out = append(out, ra.OutCol{Name: "d_" + n.Inputs[i].Col(p.Col.ID).Name, X: move(p.Grad)})
		}
	}
	return out, first
}

// sumInputs sums the contributions in rows by the identity of each input.
func sumInputs(c *Context, n, rows *ra.Node, first []int, parts [][]kernels.Contribution) ([]*Grad, error) {
	down := make([]*Grad, len(parts))
	for i, ps := range parts {
		if len(ps) == 0 {
			continue
		}
		nKey := max(1, len(n.Inputs[i].Key))
		sum, err := SumGroups(c.B, rows, first[i], nKey, len(ps))
		if err != nil {
			return nil, err
		}
		down[i] = &Grad{Node: sum}
		for j := range n.Inputs[i].Key {
			down[i].Key = append(down[i].Key, sum.Cols[j].ID)
		}
		for j, p := range ps {
			down[i].Set(p.Col.ID, sum.Cols[nKey+j].ID)
		}
	}
	return down, nil
}

// contribute builds Σ_{key of input i}(G ⋈ the inputs that the expressions read).
func contribute(c *Context, n *ra.Node, g *Grad, i int, ids [][]ra.ColumnID,
	parts []kernels.Contribution) (*Grad, error) {
	slot := map[int]int{len(n.Inputs): 0}
	inputs, equi := []*ra.Node{g.Node}, []ra.Equi(nil)
	for _, p := range parts {
		p.Grad.Cols(func(col kernels.Col) {
			if _, ok := slot[col.Input]; ok {
				return
			}
			slot[col.Input] = len(inputs)
			inputs = append(inputs, n.Inputs[col.Input])
			equi = append(equi, matchKey(ids[col.Input], n.Inputs[col.Input], slot[col.Input])...)
		})
	}
	key := ids[i]
	out := GroupOut(g.Node, key)
	var cols []ra.ColumnID
	for _, p := range parts {
		x := p.Grad.MapCols(func(e *kernels.Expr) *kernels.Expr {
			return kernels.Column(kernels.Col{Input: slot[e.Col.Input], ID: e.Col.ID}, e.Type)
		})
		out = append(out, ra.OutCol{Name: "d_" + n.Inputs[i].Col(p.Col.ID).Name, X: x})
		cols = append(cols, p.Col.ID)
	}
	rows := c.B.Join(inputs, equi, nil, out)
	sum, err := SumGroups(c.B, rows, 0, len(out)-len(cols), len(cols))
	if err != nil {
		return nil, err
	}
	down := &Grad{Node: sum}
	for j := range key {
		down.Key = append(down.Key, sum.Cols[j].ID)
	}
	for j, id := range cols {
		down.Set(id, sum.Cols[len(out)-len(cols)+j].ID)
	}
	return down, nil
}

// GroupOut makes the output columns by which the contributions to an input are summed: its identity, or, where
// that is empty, a constant. A sum without groups would give a row of zeros where the input has no row that
// reaches the loss (law 3).
func GroupOut(g *ra.Node, key []ra.ColumnID) []ra.OutCol {
	if len(key) == 0 {
		return []ra.OutCol{{Name: "all", X: kernels.Const(kernels.IntValue(0))}}
	}
	return keyOut(g, 0, key)
}

// SumGroups sums columns of rows by nKey of them from the given one on: the nVal that follow.
func SumGroups(b *ra.Builder, rows *ra.Node, from, nKey, nVal int) (*ra.Node, error) {
	var group []ra.ColumnID
	var aggs []ra.AggCol
	for i, col := range rows.Cols[from : from+nKey+nVal] {
		if i < nKey {
			group = append(group, col.ID)
		} else {
			aggs = append(aggs, ra.AggCol{Name: col.Name, Agg: ra.Agg{Fn: ra.GradSum, Arg: col.ID}})
		}
	}
	return b.Aggregate(rows, group, aggs)
}
