package randquery

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
)

// checkReach compares the rows of each gradient with the rows of the table that reach the loss through keys
// (law 3), which are found by following rows and not by differentiation.
func (cs *Case) checkReach(ctx context.Context, want [][]interp.Row) error {
	in := interp.New(cs.DB, env)
	loss := cs.Result.RA.Roots[0]
	for p, param := range cs.Params {
		l := &lineage{ctx: ctx, in: in, cs: cs, p: p, memo: map[*ra.Node][][]set{}}
		rows, err := l.of(loss.Node)
		if err != nil {
			return err
		}
		expected := set{}
		for _, row := range rows {
			expected.add(row[loss.Node.Index(loss.Cols[0])])
		}
		got := set{}
		for _, row := range want[p+1] {
			got[rowKey(param.Table, cs.tableCols(p), row)] = true
		}
		if g, e := got.String(), expected.String(); g != e {
			return fmt.Errorf("gradient of %s has the rows %s, but %s reach the loss", param.Table.Name, g, e)
		}
	}
	return nil
}

// set is a set of rows of the parameter's table, by identity.
type set map[string]bool

func (s set) add(o set) {
	for k := range o {
		s[k] = true
	}
}

func (s set) String() string {
	keys := slices.Sorted(maps.Keys(s))
	return strings.Join(keys, " ")
}

// lineage finds, for every row and column of a node, the rows of parameter p that it is computed from.
type lineage struct {
	ctx  context.Context
	in   *interp.Interp
	cs   *Case
	p    int
	memo map[*ra.Node][][]set
}

func (l *lineage) of(n *ra.Node) ([][]set, error) {
	if out, ok := l.memo[n]; ok {
		return out, nil
	}
	rows, err := l.in.Eval(l.ctx, n)
	if err != nil {
		return nil, err
	}
	inputs, inRows := make([][][]set, len(n.Inputs)), make([][]interp.Row, len(n.Inputs))
	for i, c := range n.Inputs {
		if inputs[i], err = l.of(c); err != nil {
			return nil, err
		}
		if inRows[i], err = l.in.Eval(l.ctx, c); err != nil {
			return nil, err
		}
	}
	out := make([][]set, len(rows))
	for i := range out {
		out[i] = make([]set, len(n.Cols))
		for j := range out[i] {
			out[i][j] = set{}
		}
	}
	l.memo[n] = out
	return out, l.fill(n, rows, inputs, inRows, out)
}

// whole is a join that computes the rows of n, and passes the identities of all inputs up, which n need not.
func (l *lineage) whole(n *ra.Node) (*ra.Node, []interp.Row, error) {
	out := lists.Map(n.Out, func(x *kernels.Expr) ra.OutCol { return ra.OutCol{X: x} })
	whole := ra.NewBuilder(n).JoinWhole(n.Inputs, n.Equi, n.Pred, out)
	rows, err := l.in.Eval(l.ctx, whole)
	return whole, rows, err
}

func (l *lineage) fill(n *ra.Node, rows []interp.Row, inputs [][][]set, inRows [][]interp.Row, out [][]set) error {
	switch n.Op {
	case ra.Scan:
		t := l.cs.Params[l.p].Table
		for i := range rows {
			for j, c := range n.TableCols {
				if n.Table == t && c >= 0 && l.cs.active(l.p, c) {
					out[i][j][storedKey(t, l.cs.DB.Data[t.Name], i)] = true
				}
			}
		}
	case ra.Select, ra.Join:
		return l.fillJoin(n, inputs, inRows, out)
	case ra.Aggregate:
		fillGroups(n, rows, inputs[0], inRows[0], out)
	case ra.Union:
		at := 0
		for _, in := range inputs {
			for _, r := range in {
				copy(out[at], r)
				at++
			}
		}
	case ra.Window:
		fillFrames(n, inputs[0], inRows[0], out)
	case ra.SemiJoin, ra.AntiJoin, ra.Add:
		fillByKey(n, rows, inputs, inRows, out)
	}
	return nil
}

// fillJoin is fill of a join: what each of its expressions depends on smoothly.
func (l *lineage) fillJoin(n *ra.Node, inputs [][][]set, inRows [][]interp.Row, out [][]set) error {
	whole, wholeRows, err := l.whole(n)
	if err != nil {
		return err
	}
	for s, in := range n.Inputs {
		at := byKey(in, in.Key, inRows[s])
		key, _ := whole.Links().InputKey(s)
		for i, row := range wholeRows {
			from := inputs[s][at[keyText(whole, key, row)]]
			for j := range n.Out {
				smooth(n.Out[j], func(c kernels.Col) {
					if c.Input == s {
						out[i][j].add(from[in.Index(c.ID)])
					}
				})
			}
		}
	}
	return nil
}

// fillGroups is fill of an aggregate: a group has what its rows have.
func fillGroups(n *ra.Node, rows []interp.Row, input [][]set, inRows []interp.Row, out [][]set) {
	in := n.Inputs[0]
	groups := byKey(n, n.Key, rows)
	for r, row := range inRows {
		i := groups[keyText(in, n.Group, row)]
		for a, agg := range n.Aggs {
			if agg.Fn != ra.Count && agg.Fn != ra.CountRows {
				out[i][len(n.Group)+a].add(input[r][in.Index(agg.Arg)])
			}
		}
	}
}

// fillFrames is fill of a window: a row has what the rows of its frame have.
func fillFrames(n *ra.Node, input [][]set, inRows []interp.Row, out [][]set) {
	in, i := n.Inputs[0], 0
	interp.Frames(n, inRows, func(_ int, frame []int) {
		for _, r := range frame {
			for a, agg := range n.Aggs {
				if agg.Fn != ra.Count && agg.Fn != ra.CountRows {
					out[i][len(n.Over.Pass)+a].add(input[r][in.Index(agg.Arg)])
				}
			}
		}
		i++
	})
}

// fillByKey is fill of operators whose rows are those of inputs with the same identity.
func fillByKey(n *ra.Node, rows []interp.Row, inputs [][][]set, inRows [][]interp.Row, out [][]set) {
	for s, in := range inputs {
		if s > 0 && n.Op != ra.Add {
			break
		}
		key := lists.Map(n.Key, func(id ra.ColumnID) ra.ColumnID { return n.Inputs[s].Cols[n.Index(id)].ID })
		at := byKey(n, n.Key, rows)
		for r, row := range inRows[s] {
			if i, ok := at[keyText(n.Inputs[s], key, row)]; ok {
				for j := range n.Cols {
					out[i][j].add(in[r][j])
				}
			}
		}
	}
}

// smooth calls f for the float columns that an expression depends on other than through piecewise constant kernels.
func smooth(e *kernels.Expr, f func(kernels.Col)) {
	switch {
	case e.IsCol:
		if e.Type.IsFloat() {
			f(e.Col)
		}
	case e.Def == nil || e.Def.Zero || !e.Type.IsFloat():
	case e.Def.Is(kernels.OnlySelects):
		smooth(e.Args[0], f)
	default:
		for _, a := range e.Args {
			smooth(a, f)
		}
	}
}

// byKey indexes rows by identity.
func byKey(n *ra.Node, key []ra.ColumnID, rows []interp.Row) map[string]int {
	out := map[string]int{}
	for i, row := range rows {
		out[keyText(n, key, row)] = i
	}
	return out
}

func keyText(n *ra.Node, key []ra.ColumnID, row interp.Row) string {
	k := ""
	for _, id := range key {
		k += row[n.Index(id)].String() + "|"
	}
	return k
}
