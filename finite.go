package relgrad

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/train"
)

// Explain says where a step's loss stops being finite, with the run's parameters; "" where that cannot be found.
func (r *run) Explain(ctx context.Context, step int64) string {
	return r.db.firstNotFinite(ctx, r.c, kernels.Env{Seed: r.config.Seed, Step: step}, r.copyParams)
}

// finite refuses a loss that is infinite or no number: its gradient would mean nothing.
func (db *Engine) finite(ctx context.Context, c *compiled, x float64, env kernels.Env) error {
	if !math.IsNaN(x) && !math.IsInf(x, 0) {
		return nil
	}
	e := sqlerr.New(sqlerr.NumericOutOfRange, "the loss is %s", train.Number(x)).
		WithHint("A guard in the loss may help, e.g. CASE WHEN x > 0 THEN ln(x) ELSE 0 END.")
	if where := db.firstNotFinite(ctx, c, env, func(*executor.Program) {}); where != "" {
		e = e.WithDetail("%s", where)
	}
	return e
}

// firstNotFinite says which relation of the loss, as it is written, holds the first value that is not finite, and
// in which row; "" where that cannot be found. It computes every intermediate relation, once; fill sets parameters
// that are not the store's.
func (db *Engine) firstNotFinite(ctx context.Context, c *compiled, env kernels.Env, fill func(*executor.Program)) string {
	plan, live := &ra.Plan{}, liveColumns(c.res.RA)
	ra.Walk(func(n *ra.Node) {
		root := ra.Root{Name: "intermediate", Node: n, Cols: slices.Clone(n.Key)}
		for _, c := range n.Cols {
			if c.Type.IsFloat() && !slices.Contains(n.Key, c.ID) && live[n][c.ID] {
				root.Cols = append(root.Cols, c.ID)
			}
		}
		if len(root.Cols) > len(n.Key) {
			plan.Roots = append(plan.Roots, root)
		}
	}, c.res.RA.Nodes()...)
	o := db.options(c.prog)
	o.Env, o.Spills = env, nil
	p, err := executor.Compile(ctx, plan, db.cat, o)
	if err != nil {
		return "" // larger than the loss itself, perhaps; the message stands without it
	}
	defer p.Close()
	fill(p)
	if p.Run(ctx, env) != nil {
		return ""
	}
	for i, root := range plan.Roots {
		cols, err := p.Result(i)
		if err != nil {
			return ""
		}
		if where := firstBad(root, cols); where != "" {
			return where
		}
	}
	return ""
}

// firstBad describes the first value of a relation that is not finite.
func firstBad(root ra.Root, cols []*ra.Vector) string {
	n, keys := root.Node, len(root.Node.Key)
	for i, v := range cols[keys:] {
		for row := range v.N {
			if v.IsNull(row) {
				continue
			}
			x, finite := badElement(v, row)
			if finite {
				continue
			}
			bad := train.Number(x)
			var key []string
			for k, id := range n.Key {
				key = append(key, fmt.Sprintf("%s = %s", n.Col(id).Name, cols[k].Value(row)))
			}
			col := n.Col(root.Cols[keys+i]).Name
			where := ""
			if len(key) > 0 {
				where = ", key (" + strings.Join(key, ", ") + ")"
			}
			if n.Op == ra.Scan {
				return fmt.Sprintf("Table %s holds %s in column %q%s.", n.Table.Name, bad, col, where)
			}
			in := fmt.Sprintf("column %q of the %s", col, called[n.Op])
			if slices.Contains(aggregates, col) && n.Op != ra.Aggregate {
				in = "the argument of " + col
			}
			return fmt.Sprintf("The first value that is not is %s in %s over %s%s.", bad, in, tablesOf(n), where)
		}
	}
	return ""
}

// aggregates name the columns that hold their arguments.
var aggregates = []string{"sum", "avg", "min", "max"}

// called says what messages call an operator's result.
var called = map[ra.Op]string{ra.Select: "query", ra.Join: "join", ra.Aggregate: "aggregate", ra.Union: "union", ra.SemiJoin: "query",
	ra.AntiJoin: "query", ra.Add: "sum", ra.Opaque: "sub-query"}

// badElement returns the first element of a row that is not finite.
func badElement(v *ra.Vector, row int) (x float64, finite bool) {
	size := v.Type.Size()
	for i := row * size; i < (row+1)*size; i++ {
		if v.F32 != nil {
			x = float64(v.F32[i])
		} else {
			x = v.F64[i]
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return x, false
		}
	}
	return 0, true
}

// tablesOf names the tables below a node.
func tablesOf(n *ra.Node) string {
	var names []string
	ra.Walk(func(m *ra.Node) {
		if m.Op == ra.Scan && !slices.Contains(names, m.Table.Name) {
			names = append(names, m.Table.Name)
		}
	}, n)
	slices.Sort(names)
	return strings.Join(names, ", ")
}
