package physical

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
)

// reference runs a plan over its sites by definition: the oracle evaluates each operator at each site over the rows of
// that site alone, exchanges move rows one by one and count what leaves a site.
type reference struct {
	p     *Plan
	src   ra.Source
	env   *kernels.Env
	in    *interp.Interp
	at    map[*Node][][]interp.Row // by site
	moved map[*Node]int64          // floats, by exchange
	stays map[*Node]int64          // rows, by SHUF and Halo
}

// run runs a plan.
func run(ctx context.Context, p *Plan, src ra.Source, env *kernels.Env) (*reference, error) {
	r := &reference{p: p, src: src, env: env, in: interp.New(src, env), at: map[*Node][][]interp.Row{},
		moved: map[*Node]int64{}, stays: map[*Node]int64{}}
	for _, n := range p.Nodes() {
		var err error
		switch {
		case n.Op != Local:
			r.at[n] = r.exchange(n)
		case len(n.Inputs) == 0:
			r.at[n], err = r.leaf(ctx, n)
		default:
			r.at[n], err = r.local(ctx, n)
		}
		if err == nil {
			err = r.placed(n)
		}
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// leaf reads stored rows, each where it lies.
func (r *reference) leaf(ctx context.Context, n *Node) ([][]interp.Row, error) {
	rows, err := r.in.Eval(ctx, n.RA)
	out := make([][]interp.Row, r.p.Sites)
	for i, row := range rows {
		switch p := n.Place; p.Kind {
		case Single:
			out[p.Site] = append(out[p.Site], row)
		case Replicated:
			for s := range out {
				out[s] = append(out[s], row)
			}
		case By:
			s := p.Fn.Site(values(n.RA, row, firsts(p)), r.p.Sites)
			out[s] = append(out[s], row)
		case Anywhere:
			out[i%r.p.Sites] = append(out[i%r.p.Sites], row)
		}
	}
	return out, err
}

func firsts(p Placement) (out []ra.ColumnID) {
	for _, s := range p.By {
		out = append(out, s[0])
	}
	return out
}

func values(of *ra.Node, row interp.Row, ids []ra.ColumnID) (out []kernels.Value) {
	for _, id := range ids {
		out = append(out, row[of.Index(id)])
	}
	return out
}

// local runs an operator at each site; what lies at one site alone is run there alone.
func (r *reference) local(ctx context.Context, n *Node) ([][]interp.Row, error) {
	out := make([][]interp.Row, r.p.Sites)
	for s := range out {
		if n.Place.Kind == Single && n.Place.Site != s {
			continue
		}
		var inputs [][]interp.Row
		for _, in := range n.Inputs {
			inputs = append(inputs, r.at[in][s])
		}
		var err error
		if out[s], err = r.in.Apply(ctx, n.RA, inputs); err != nil {
			return nil, err
		}
		for i, row := range out[s] { // a semi-join passes what its input has, whether or not it is a column of the result
			out[s][i] = row[:len(n.RA.Cols)]
		}
	}
	return out, nil
}

// exchange moves rows. Of what is replicated each site takes its own copy.
func (r *reference) exchange(n *Node) [][]interp.Row {
	out := make([][]interp.Row, r.p.Sites)
	of := n.Relation()
	for from, rows := range r.at[n.Inputs[0]] {
		for _, row := range rows {
			var to []int
			switch n.Op {
			case Gather:
				to = []int{n.Site}
			case Shuf:
				to = []int{n.Fn.Site(values(of, row, n.By), r.p.Sites)}
			case Bcast:
				for s := range out {
					to = append(to, s)
				}
			case Halo:
				to = r.needs(n, row)
			}
			if n.Inputs[0].Place.Kind == Replicated {
				to = slices.DeleteFunc(to, func(s int) bool { return s != from })
			}
			for _, s := range to {
				out[s] = append(out[s], row)
				if s == from {
					r.stays[n]++
				} else {
					r.moved[n] += numbers(of, row)
				}
			}
		}
	}
	return out
}

// needs are the sites that have a row of the partner with which a row of a Halo matches.
func (r *reference) needs(n *Node, row interp.Row) (out []int) {
	own, on := values(n.Relation(), row, n.By), n.Inputs[1].Relation()
	for s, rows := range r.at[n.Inputs[1]] {
		if slices.ContainsFunc(rows, func(o interp.Row) bool { return match(own, values(on, o, n.On)) }) {
			out = append(out, s)
		}
	}
	return out
}

// match reports whether values are equal, as a join's conditions are: NULL equals nothing.
func match(a, b []kernels.Value) bool {
	text := func(v kernels.Value) string {
		out := fmt.Sprint(v.T, v.I)
		for _, x := range v.Floats() {
			out += fmt.Sprint(" ", x+0) // -0 is 0
		}
		return out
	}
	for i := range a {
		if a[i].Null || b[i].Null || text(a[i]) != text(b[i]) {
			return false
		}
	}
	return true
}

// numbers counts the numbers of a row that are none of its identity. A NULL takes the room of a value.
func numbers(of *ra.Node, row interp.Row) (out int64) {
	for i, v := range row {
		switch c := of.Cols[i]; {
		case of.IsKey(c.ID):
		case !c.Type.IsChunk():
			out++
		case v.Null:
			out += int64(c.Type.Size())
		default:
			out += int64(len(v.Floats()))
		}
	}
	return out
}

// placed checks that rows lie where the plan says.
func (r *reference) placed(n *Node) error {
	all := map[string]int{}
	for s, rows := range r.at[n] {
		for _, row := range rows {
			all[fmt.Sprint(row)]++
			for i := 0; n.Place.Kind == By && i < len(n.Place.By[0]); i++ {
				ids := firsts(n.Place)
				ids[0] = n.Place.By[0][i]
				if to := n.Place.Fn.Site(values(n.Relation(), row, ids), r.p.Sites); to != s {
					return fmt.Errorf("%v %v: a row of site %d lies at %d", n, n.Place, to, s)
				}
			}
			if n.Place.Kind == Single && s != n.Place.Site {
				return fmt.Errorf("%v %v: a row lies at site %d", n, n.Place, s)
			}
		}
	}
	for row, copies := range all {
		if n.Place.Kind == Replicated && copies%r.p.Sites != 0 {
			return fmt.Errorf("%v %v: row %s is there %d times", n, n.Place, row, copies)
		}
	}
	return nil
}

// Rows and Stays are those of the run.
func (r *reference) Rows(n *Node) (out []int64) {
	for _, rows := range r.at[n] {
		out = append(out, int64(len(rows)))
	}
	return out
}

func (r *reference) Stays(n *Node) int64 { return r.stays[n] }

// result is root i as the reader at its site finds it.
func (r *reference) result(i int) map[string][]float64 {
	root := r.p.Roots[i]
	return keyed(root.Node.Relation(), root.Cols, r.at[root.Node][root.Node.Place.Site])
}

func keyed(of *ra.Node, cols []ra.ColumnID, rows []interp.Row) map[string][]float64 {
	var wanted []interp.Row
	for _, row := range rows {
		wanted = append(wanted, values(of, row, cols))
	}
	slices.SortFunc(wanted, func(a, b interp.Row) int {
		for i := range a {
			if c := kernels.Compare(a[i], b[i]); c != 0 && !a[i].Null && !b[i].Null {
				return c
			}
		}
		return 0
	})
	return gradtest.Keyed(wanted)
}

// same checks that a plan gives the results of the logical plan and moves what it predicts.
func same(ctx context.Context, p *Plan, of *ra.Plan, src ra.Source, env *kernels.Env, tol float64) error {
	r, err := run(ctx, p, src, env)
	if err != nil {
		return err
	}
	oracle := interp.New(src, env)
	for i, root := range of.Roots {
		rows, err := oracle.Eval(ctx, root.Node)
		if err != nil {
			return err
		}
		if err := gradtest.Compare(r.result(i), keyed(root.Node, root.Cols, rows), tol); err != nil {
			return fmt.Errorf("root %s: %v", root.Name, err)
		}
	}
	moves, err := p.Moves(newForecast(ctx, p, src, env, r))
	if err != nil {
		return err
	}
	for _, m := range moves {
		if m.Exact != r.moved[m.Node] {
			return fmt.Errorf("%v of %v: %d floats are predicted, %d move", m.Node, m.Node.Inputs[0].Place, m.Exact,
				r.moved[m.Node])
		}
	}
	return nil
}

// must stops the test where there is an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
