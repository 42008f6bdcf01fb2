package rjp

import (
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// window is the RJP of a window's aggregates: a row receives the gradients of the rows whose frames hold it. These are
// the rows of its own mirrored frame, among all rows of the input, of which those without a gradient count as zero. Of
// a frame's extreme only the rows receive it that attain it, in equal shares (law 6). Only rows that some gradient
// reaches are in the result (law 3): which they are does not depend on who attains what. A NULL took no part and
// receives zero.
func window(c *Context, n *ra.Node, g *Grad) ([]*Grad, error) {
	in, cols := n.Inputs[0], active(c, n, g)
	if len(cols) == 0 {
		return []*Grad{nil}, nil
	}
	all, err := reached(c, n, g, cols)
	if err != nil {
		return nil, err
	}
	// one window for each way in which rows are chosen
	mark := len(all.from)
	aggs := []ra.AggCol{{Name: "reached", Agg: ra.Agg{Fn: ra.Count, Arg: all.id(mark)}}}
	grads := make([]*kernels.Expr, len(cols))
	where := map[ra.Extremes][]int{}
	var order []ra.Extremes
	for k, i := range cols {
		e := chosenBy(n, i)
		if e == nil {
			aggs = append(aggs, ra.AggCol{Name: "d_" + n.Cols[i].Name,
				Agg: ra.Agg{Fn: ra.GradSum, Arg: all.id(mark + 1 + k)}})
			continue
		}
		if where[*e] == nil {
			order = append(order, *e)
		}
		where[*e] = append(where[*e], k)
	}
	w, err := c.B.Window(all.node, all.over(nil), aggs)
	if err != nil {
		return nil, err
	}
	at := len(w.Cols) - len(aggs) + 1
	for k, i := range cols {
		if chosenBy(n, i) == nil {
			grads[k] = w.Var(0, w.Cols[at].ID)
			at++
		}
	}
	back := &spread{n: n, w: w, inputs: []*ra.Node{w}, reached: w.Cols[len(w.Cols)-len(aggs)].ID}
	for _, e := range order {
		aggs = nil
		for _, k := range where[e] {
			aggs = append(aggs, ra.AggCol{Name: "d_" + n.Cols[cols[k]].Name,
				Agg: ra.Agg{Fn: ra.GradSum, Arg: all.id(mark + 1 + k)}})
		}
		x, err := c.B.Window(all.node, all.over(e.Turned()), aggs)
		if err != nil {
			return nil, err
		}
		slot := len(back.inputs)
		back.inputs, back.equi = append(back.inputs, x), append(back.equi, matchKey(w.Key, x, slot)...)
		for j, k := range where[e] {
			grads[k] = x.Var(slot, x.Cols[len(x.Cols)-len(aggs)+j].ID)
		}
	}
	return []*Grad{back.grad(c, in, cols, grads)}, nil
}

// chosenBy says among which rows of a frame column i of a window is taken; nil: all.
func chosenBy(n *ra.Node, i int) *ra.Extremes {
	if a := n.Aggs[i-len(n.Over.Pass)]; a.Fn == ra.Min || a.Fn == ra.Max {
		return &ra.Extremes{Col: a.Arg, Fn: a.Fn}
	}
	return n.Over.Among
}

// allRows are the rows of a window's input: identity, what divides and orders them, what chooses among them, a mark
// where a gradient reaches the row, and the gradients.
type allRows struct {
	n    *ra.Node
	node *ra.Node
	from []ra.ColumnID // columns of the input that the first columns are
}

func (a *allRows) id(i int) ra.ColumnID { return a.node.Cols[i].ID }

// over is the window over them from the other side, among the given ones.
func (a *allRows) over(among *ra.Extremes) ra.Over {
	from := *a.n.Over
	from.Among = among
	over := from.Renamed(func(id ra.ColumnID) ra.ColumnID {
		if i := slices.Index(a.from[len(a.n.Inputs[0].Key):], id); i >= 0 {
			return a.id(len(a.n.Inputs[0].Key) + i)
		}
		return id // one that is only passed on
	})
	over.Frame = over.Frame.Mirrored()
	keys := lists.Map(a.node.Cols[:len(a.n.Inputs[0].Key)], func(c ra.Column) ra.ColumnID { return c.ID })
	over.Pass = slices.Concat(keys, a.node.Key)
	return *over
}

// reached joins the gradients to all rows of the input.
func reached(c *Context, n *ra.Node, g *Grad, cols []int) (*allRows, error) {
	in, key := n.Inputs[0], make([]ra.ColumnID, len(n.Key))
	a := &allRows{n: n, from: slices.Concat(in.Key, n.Arranged())}
	for i, k := range in.Key {
		key[i] = g.at(n, n.Cols[slices.Index(n.Over.Pass, k)].ID)
	}
	inputs, found := []*ra.Node{g.Node, in}, matchKey(key, in, 1)
	var grads []*kernels.Expr
	equi := found
	for _, i := range cols {
		x := g.Node.Var(0, g.Val[n.Cols[i].ID])
		if e := chosenBy(n, i); e != nil {
			if !slices.Contains(a.from[len(in.Key):], e.Col) {
				a.from = append(a.from, e.Col)
			}
			if n.Over.Among == nil { // an extreme, of which each row that attains it has a share
				ties, err := tiesInFrames(c, n, e)
				if err != nil {
					return nil, err
				}
				slot := len(inputs)
				inputs, equi = append(inputs, ties), append(equi, matchKey(key, ties, slot)...)
				shares := ties.Var(slot, ties.Cols[len(ties.Cols)-1].ID)
				x = kernels.NullToZero(kernels.CastTo(x.Type.Kind, kernels.Div(x, shares)))
			}
		}
		grads = append(grads, x)
	}
	there, none := keyOut(in, 1, a.from), keyOut(in, 0, a.from)
	there = append(there, ra.OutCol{Name: "reached", X: kernels.Const(kernels.IntValue(1))})
	none = append(none, ra.OutCol{Name: "reached", X: kernels.Const(kernels.NullOf(kernels.Type{Kind: kernels.Int}))})
	for k, i := range cols {
		there = append(there, ra.OutCol{Name: n.Cols[i].Name, X: grads[k]})
		none = append(none, ra.OutCol{Name: n.Cols[i].Name, X: kernels.ZerosLike(grads[k].Type)})
	}
	lacks := lists.Map(found, func(q ra.Equi) ra.Equi {
		return ra.Equi{L: kernels.Col{ID: q.R.ID}, R: kernels.Col{Input: 1, ID: q.L.ID}, NullSafe: true}
	})
	without := c.B.Semi(ra.AntiJoin, in, g.Node, lacks, nil)
	a.node = c.B.Union([]*ra.Node{c.B.Join(inputs, equi, nil, there),
		c.B.Select(without, nil, moved(none, in, without))}, len(there))
	return a, nil
}

// tiesInFrames counts for each row the rows of its frame that attain the extreme. Its columns begin with the identity
// of the input.
func tiesInFrames(c *Context, n *ra.Node, e *ra.Extremes) (*ra.Node, error) {
	in := n.Inputs[0]
	from := slices.Concat(in.Key, n.Arranged(), []ra.ColumnID{e.Col})
	rows := c.B.Select(in, nil, append(keyOut(in, 0, from), ra.OutCol{Name: "one", X: kernels.Num(1)}))
	over := n.Over.Renamed(func(id ra.ColumnID) ra.ColumnID {
		if i := slices.Index(from[len(in.Key):], id); i >= 0 {
			return rows.Cols[len(in.Key)+i].ID
		}
		return id
	})
	over.Pass = lists.Map(rows.Cols[:len(in.Key)], func(c ra.Column) ra.ColumnID { return c.ID })
	over.Among = &ra.Extremes{Col: rows.Cols[len(from)-1].ID, Fn: e.Fn}
	return c.B.Window(rows, *over, []ra.AggCol{{Name: "ties",
		Agg: ra.Agg{Fn: ra.Sum, Arg: rows.Cols[len(from)].ID}}})
}

// moved are expressions over columns of in, over those of a relation whose columns correspond by position.
func moved(out []ra.OutCol, in, to *ra.Node) []ra.OutCol {
	return lists.Map(out, func(o ra.OutCol) ra.OutCol {
		o.X = o.X.MapCols(func(e *kernels.Expr) *kernels.Expr { return to.Var(0, to.Cols[in.Index(e.Col.ID)].ID) })
		return o
	})
}

// spread makes the gradient of the input of a window n from windows over the mirrored frames.
type spread struct {
	n       *ra.Node
	w       *ra.Node    // its columns begin with the identity of the input
	reached ra.ColumnID // of w: how many gradients reach a row
	inputs  []*ra.Node  // of the join that makes the gradient; w is the first
	equi    []ra.Equi
}

// grad is the gradient, of what the columns cols of the window give back.
func (b *spread) grad(c *Context, in *ra.Node, cols []int, back []*kernels.Expr) *Grad {
	some := kernels.Build("gt", b.w.Var(0, b.reached), kernels.Const(kernels.IntValue(0)))
	own := lists.Map(b.w.Cols[:len(in.Key)], func(c ra.Column) ra.ColumnID { return c.ID })
	out := keyOut(b.w, 0, own)
	slot := -1 // of the input
	var args []ra.ColumnID
	var grads []*kernels.Expr
	for k, i := range cols {
		arg := b.n.Aggs[i-len(b.n.Over.Pass)].Arg
		t := in.Col(arg).Type
		gx := back[k]
		if t.Nullable {
			if slot < 0 {
				slot = len(b.inputs)
				b.inputs, b.equi = append(b.inputs, in), append(b.equi, matchKey(own, in, slot)...)
			}
			gx = kernels.Guard(kernels.Build("is_not_null", in.Var(slot, arg)), gx)
		}
		gx = kernels.NullToZero(kernels.CastTo(t.Kind, gx))
		if at := slices.Index(args, arg); at >= 0 { // several aggregates of one column
			grads[at] = kernels.Add(grads[at], gx)
			continue
		}
		args, grads = append(args, arg), append(grads, gx)
	}
	for i, id := range args {
		out = append(out, ra.OutCol{Name: "d_" + in.Col(id).Name, X: grads[i]})
	}
	return result(c.B.Join(b.inputs, b.equi, []*kernels.Expr{some}, out), len(in.Key), args)
}
