package physical

import (
	"context"
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
)

// forecast predicts which rows lie where without moving any: from the rows of the logical plan and the placements
// alone.
type forecast struct {
	ctx     context.Context
	p       *Plan
	oracle  *interp.Interp
	measure *reference       // where rows lie anywhere, nobody but a run knows where
	rows    map[*Node][]spot // of nodes that have been asked for
	guessed int              // nodes that are left to the run

	partners map[*Need]*Node
}

// spot is a row with its site.
type spot struct {
	row  interp.Row
	site int
}

func newForecast(ctx context.Context, p *Plan, src ra.Source, env *kernels.Env, r *reference) *forecast {
	return &forecast{ctx: ctx, p: p, oracle: interp.New(src, env), measure: r, rows: map[*Node][]spot{},
		partners: map[*Need]*Node{}}
}

func (f *forecast) Rows(n *Node) []int64 {
	out := make([]int64, f.p.Sites)
	for _, r := range f.spots(n) {
		out[r.site]++
	}
	return out
}

func (f *forecast) Stays(n *Node) (out int64) {
	if n.Op == Halo {
		for _, at := range f.spots(n.Inputs[0]) {
			if slices.Contains(f.needs(n.Place.Need, n.Relation(), at.row), at.site) {
				out++
			}
		}
		return out
	}
	for _, r := range f.spots(n.Inputs[0]) {
		if n.Fn.Site(values(n.Relation(), r.row, n.By), f.p.Sites) == r.site {
			out++
		}
	}
	return out
}

// spots are the rows of n; a replicated one is there once for each site.
func (f *forecast) spots(n *Node) []spot {
	out, ok := f.rows[n]
	if !ok {
		switch p := n.Place; {
		case p.Kind == Needed:
			rows, err := f.oracle.Eval(f.ctx, n.Relation())
			if err != nil {
				panic(err)
			}
			for _, row := range rows {
				for _, s := range f.needs(p.Need, n.Relation(), row) {
					out = append(out, spot{row, s})
				}
			}
		case p.Partial && n.Op != Local:
			out = f.moved(n)
		case p.Partial && n.RA.Op == ra.Aggregate:
			out = f.parts(n)
		case p.Partial || p.Kind == Anywhere:
			out = f.measured(n)
		default:
			out = f.whole(n)
		}
		f.rows[n] = out
	}
	return out
}

// needs are the sites that need a row.
func (f *forecast) needs(need *Need, of *ra.Node, row interp.Row) (out []int) {
	for _, at := range f.spots(f.partner(need)) {
		same := func(p Pair) bool {
			return match(values(of, row, []ra.ColumnID{p.Own}), values(need.Of, at.row, []ra.ColumnID{p.Partner}))
		}
		if !slices.Contains(out, at.site) && !slices.ContainsFunc(need.Pairs, func(p Pair) bool { return !same(p) }) {
			out = append(out, at.site)
		}
	}
	return out
}

// partner is the node of the plan that holds a partner as it is needed; in a search, which has none, one like it.
func (f *forecast) partner(need *Need) *Node {
	for _, n := range f.p.Nodes() {
		if n.Relation() == need.Of && n.Place.Equal(need.At) {
			return n
		}
	}
	if f.partners[need] == nil {
		f.partners[need] = &Node{RA: need.Of, Place: need.At}
	}
	return f.partners[need]
}

// whole are the rows of a relation that is no partial, at the sites of its placement.
func (f *forecast) whole(n *Node) (out []spot) {
	rows, err := f.oracle.Eval(f.ctx, n.Relation())
	if err != nil {
		panic(err)
	}
	for _, row := range rows {
		switch p := n.Place; p.Kind {
		case Single:
			out = append(out, spot{row, p.Site})
		case By:
			out = append(out, spot{row, p.Fn.Site(values(n.Relation(), row, firsts(p)), f.p.Sites)})
		case Replicated:
			for s := range f.p.Sites {
				out = append(out, spot{row, s})
			}
		}
	}
	return out
}

// moved are the rows of an exchange of parts.
func (f *forecast) moved(n *Node) (out []spot) {
	for _, r := range f.spots(n.Inputs[0]) {
		switch n.Op {
		case Gather:
			out = append(out, spot{r.row, n.Site})
		case Shuf:
			out = append(out, spot{r.row, n.Fn.Site(values(n.Relation(), r.row, n.By), f.p.Sites)})
		case Bcast:
			for s := range f.p.Sites {
				out = append(out, spot{r.row, s})
			}
		}
	}
	return out
}

// parts are those of a Σ: one for each site and group; without a group, one for each site.
func (f *forecast) parts(n *Node) (out []spot) {
	seen := map[string]bool{}
	add := func(row interp.Row, site int) {
		if k := fmt.Sprint(row, site); !seen[k] {
			seen[k] = true
			part := make(interp.Row, len(n.RA.Cols))
			copy(part, row)
			out = append(out, spot{part, site})
		}
	}
	for s := 0; len(n.RA.Group) == 0 && s < f.p.Sites; s++ {
		add(nil, s)
	}
	for _, r := range f.spots(n.Inputs[0]) {
		add(values(n.RA.Inputs[0], r.row, n.RA.Group), r.site)
	}
	return out
}

func (f *forecast) measured(n *Node) (out []spot) {
	f.guessed++
	for s, rows := range f.measure.at[n] {
		for _, row := range rows {
			out = append(out, spot{row, s})
		}
	}
	return out
}
