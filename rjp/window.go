package rjp

import (
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// window is the RJP of a window's sums: a row receives the gradients of the rows whose frames hold it. These are the
// rows of its own mirrored frame, among all rows of the input, of which those without a gradient count as zero. Only
// rows that some gradient reaches are in the result (law 3); a NULL took no part and receives zero.
func window(c *Context, n *ra.Node, g *Grad) ([]*Grad, error) {
	in, cols := n.Inputs[0], active(c, n, g)
	if len(cols) == 0 {
		return []*Grad{nil}, nil
	}
	arranged, key := n.Arranged(), make([]ra.ColumnID, len(n.Key))
	for i, k := range in.Key {
		key[i] = g.at(n, n.Cols[slices.Index(n.Over.Pass, k)].ID)
	}
	at := len(in.Key) + len(arranged) // of the mark of a gradient's row, before the gradients
	there := keyOut(in, 1, slices.Concat(in.Key, arranged))
	none := keyOut(in, 0, slices.Concat(in.Key, arranged))
	there = append(there, ra.OutCol{Name: "reached", X: kernels.Const(kernels.IntValue(1))})
	none = append(none, ra.OutCol{Name: "reached", X: kernels.Const(kernels.NullOf(kernels.Type{Kind: kernels.Int}))})
	for _, i := range cols {
		x := g.Node.Var(0, g.Val[n.Cols[i].ID])
		there = append(there, ra.OutCol{Name: n.Cols[i].Name, X: x})
		none = append(none, ra.OutCol{Name: n.Cols[i].Name, X: kernels.ZerosLike(x.Type)})
	}
	found := matchKey(key, in, 1)
	lacks := lists.Map(found, func(q ra.Equi) ra.Equi {
		return ra.Equi{L: kernels.Col{ID: q.R.ID}, R: kernels.Col{Input: 1, ID: q.L.ID}, NullSafe: true}
	})
	without := c.B.Semi(ra.AntiJoin, in, g.Node, lacks, nil)
	none = moved(none, in, without)
	all := c.B.Union([]*ra.Node{c.B.Join([]*ra.Node{g.Node, in}, found, nil, there), c.B.Select(without, nil, none)},
		len(there))
	ids := lists.Map(all.Cols, func(c ra.Column) ra.ColumnID { return c.ID })
	over := n.Over.Renamed(func(id ra.ColumnID) ra.ColumnID {
		if i := slices.Index(arranged, id); i >= 0 {
			return ids[len(in.Key)+i]
		}
		return id // one that is only passed on
	})
	over.Frame = over.Frame.Mirrored()
	over.Pass = slices.Concat(ids[:len(in.Key)], all.Key)
	aggs := []ra.AggCol{{Name: "reached", Agg: ra.Agg{Fn: ra.Count, Arg: ids[at]}}}
	for k, i := range cols {
		aggs = append(aggs, ra.AggCol{Name: "d_" + n.Cols[i].Name, Agg: ra.Agg{Fn: ra.GradSum, Arg: ids[at+1+k]}})
	}
	w, err := c.B.Window(all, *over, aggs)
	if err != nil {
		return nil, err
	}
	return []*Grad{spreadBack(c, n, w, cols)}, nil
}

// moved are expressions over columns of in, over those of a relation whose columns correspond by position.
func moved(out []ra.OutCol, in, to *ra.Node) []ra.OutCol {
	return lists.Map(out, func(o ra.OutCol) ra.OutCol {
		o.X = o.X.MapCols(func(e *kernels.Expr) *kernels.Expr { return to.Var(0, to.Cols[in.Index(e.Col.ID)].ID) })
		return o
	})
}

// spreadBack makes the gradient of the input of a window n of the sums w over mirrored frames, whose columns begin with
// the identity of the input; cols are the sums of n.
func spreadBack(c *Context, n, w *ra.Node, cols []int) *Grad {
	in := n.Inputs[0]
	sums := w.Cols[len(w.Cols)-1-len(cols):]
	some := kernels.Build("gt", w.Var(0, sums[0].ID), kernels.Const(kernels.IntValue(0)))
	own := lists.Map(w.Cols[:len(in.Key)], func(c ra.Column) ra.ColumnID { return c.ID })
	out := keyOut(w, 0, own)
	inputs, equi := []*ra.Node{w}, []ra.Equi(nil)
	var args []ra.ColumnID
	var grads []*kernels.Expr
	for k, i := range cols {
		arg := n.Aggs[i-len(n.Over.Pass)].Arg
		t := in.Col(arg).Type
		gx := w.Var(0, sums[1+k].ID)
		if t.Nullable {
			if len(inputs) == 1 {
				inputs, equi = append(inputs, in), matchKey(own, in, 1)
			}
			gx = kernels.Guard(kernels.Build("is_not_null", in.Var(1, arg)), gx)
		}
		gx = kernels.NullToZero(kernels.CastTo(t.Kind, gx))
		if at := slices.Index(args, arg); at >= 0 { // several sums of one column
			grads[at] = kernels.Add(grads[at], gx)
			continue
		}
		args, grads = append(args, arg), append(grads, gx)
	}
	for i, id := range args {
		out = append(out, ra.OutCol{Name: "d_" + in.Col(id).Name, X: grads[i]})
	}
	return result(c.B.Join(inputs, equi, []*kernels.Expr{some}, out), len(in.Key), args)
}
