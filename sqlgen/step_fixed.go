package sqlgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// What depends neither on a trained column nor on the step is the same at every step. Setup computes it once into
// temporary tables, which the statement reads. That saves work, and it is necessary for a sub-query that only the
// server understands (Opaque): run again it might give other rows.

// fixedAndStep prints the tables of fixed nodes into Setup and returns the CTEs of the plan's roots.
func (p *stepPrinter) fixedAndStep() ([]string, error) {
	bodies, err := p.bodies()
	if err != nil {
		return nil, err
	}
	fixed := p.fixed()
	for _, n := range p.nodes {
		if !fixed[n] {
			continue
		}
		delete(fixed, n) // n's own table must be computed, not read
		ctes := p.sub(bodies, fixed, n)
		fixed[n] = true
		var cols, chunks []string
		for _, c := range n.Cols {
			if p.need[c.ID] {
				cols = append(cols, colName(c.ID))
				if c.Type.IsChunk() {
					chunks = append(chunks, colName(c.ID))
				}
			}
		}
		name := fmt.Sprintf("%s_%s", p.o.State, p.names[n])
		query := selectList(cols)
		p.table(name, "WITH\n"+strings.Join(ctes, ",\n")+"\n"+query+"\nFROM "+p.names[n], chunks)
		bodies[n] = query + "\nFROM pg_temp." + p.d.Ident(name)
	}
	var read []*ra.Node
	for _, r := range p.roots { // the update and the check both read a gradient
		read = append(read, r.Node, r.Node)
	}
	return p.sub(bodies, fixed, read...), nil
}

// sub prints the CTEs of some nodes. Fixed nodes are read from their tables.
func (p *stepPrinter) sub(bodies map[*ra.Node]string, fixed map[*ra.Node]bool, roots ...*ra.Node) []string {
	p.uses, p.width = map[*ra.Node]int{}, map[*ra.Node]int{}
	var visit func(n *ra.Node)
	visit = func(n *ra.Node) {
		if p.uses[n]++; p.uses[n] > 1 || fixed[n] {
			return
		}
		for _, in := range n.Inputs {
			visit(in)
		}
	}
	for _, n := range roots {
		visit(n)
	}
	var read []*ra.Node
	for _, n := range p.nodes {
		if p.uses[n] > 0 {
			read = append(read, n)
		}
	}
	return p.texts(read, bodies, fixed, roots...)
}

// fixed chooses the nodes that get a table.
func (p *stepPrinter) fixed() map[*ra.Node]bool {
	v := &varying{rows: map[*ra.Node]bool{}, cols: map[ra.ColumnID]bool{}}
	for _, t := range p.targets {
		for _, s := range t.slots {
			v.trained = append(v.trained, s)
		}
	}
	same := map[*ra.Node]bool{} // fixed nodes, and all that they are computed from
	for _, n := range p.nodes {
		v.node(n)
		same[n] = !v.rows[n]
		for _, c := range n.Cols {
			same[n] = same[n] && !(p.need[c.ID] && v.cols[c.ID])
		}
		for _, in := range n.Inputs {
			same[n] = same[n] && (in.Op == ra.Scan || same[in])
		}
	}
	out := map[*ra.Node]bool{}
	var choose func(n *ra.Node) // gives n a table, or where it is not worth one its inputs
	choose = func(n *ra.Node) {
		if n.Op == ra.Scan || !same[n] {
			return
		}
		if out[n] = Worth(n, p.need); !out[n] {
			for _, in := range n.Inputs {
				choose(in)
			}
		}
	}
	for _, n := range p.nodes {
		if same[n] {
			continue
		}
		for _, in := range n.Inputs {
			choose(in)
		}
	}
	for _, r := range p.roots {
		choose(r.Node)
	}
	return out
}

// Worth reports whether a table of the columns that are needed is better than computing the node again. It is not where
// it would only copy chunks or some columns of a table.
func Worth(n *ra.Node, need map[ra.ColumnID]bool) bool {
	switch n.Op {
	case ra.Opaque, ra.Aggregate, ra.Window:
		return true
	case ra.Select, ra.Join:
	default:
		return !slices.ContainsFunc(n.Cols, func(c ra.Column) bool { return need[c.ID] && c.Type.IsChunk() })
	}
	work := n.Op == ra.Join || len(n.Pred) > 0
	for i, c := range n.Cols {
		if !need[c.ID] {
			continue
		}
		if n.Out[i].IsCol && c.Type.IsChunk() {
			return false
		}
		work = work || n.Out[i].Def != nil
	}
	return work
}

// varying tells which rows and columns are not the same at every step.
type varying struct {
	trained []*stepSlot
	rows    map[*ra.Node]bool
	cols    map[ra.ColumnID]bool
}

// node marks what varies of a node, given its inputs.
func (v *varying) node(n *ra.Node) {
	rows := n.PerStep
	for _, in := range n.Inputs {
		rows = rows || v.rows[in]
	}
	for _, e := range n.Pred {
		rows = rows || v.expr(e)
	}
	for _, q := range n.Equi {
		rows = rows || v.cols[q.L.ID] || v.cols[q.R.ID]
	}
	for _, g := range n.Arranged() {
		rows = rows || v.cols[g]
	}
	v.rows[n] = rows
	for i, c := range n.Cols {
		v.cols[c.ID] = rows || v.column(n, i)
	}
}

func (v *varying) column(n *ra.Node, i int) bool {
	switch n.Op {
	case ra.Scan: // a parameter read as data varies too, because before_step may change which values are NULL
		return slices.ContainsFunc(v.trained, func(s *stepSlot) bool {
			return s.t.Schema == n.Table.Schema && s.t.Name == n.Table.Name && s.Col == n.TableCols[i]
		})
	case ra.Select, ra.Join:
		return v.expr(n.Out[i])
	case ra.Aggregate:
		if i < len(n.Group) {
			return false // see rows
		}
		a := n.Aggs[i-len(n.Group)]
		return a.Fn != ra.CountRows && v.cols[a.Arg]
	case ra.Window:
		return slices.ContainsFunc(n.Sources(i), func(id ra.ColumnID) bool { return v.cols[id] })
	case ra.SemiJoin, ra.AntiJoin:
		return v.cols[n.Inputs[0].Cols[i].ID]
	}
	for _, in := range n.Inputs { // Union, Add: by position
		if i < len(in.Cols) && v.cols[in.Cols[i].ID] {
			return true
		}
	}
	return false
}

func (v *varying) expr(e *kernels.Expr) bool {
	out := e.PerStep()
	e.Cols(func(c kernels.Col) { out = out || v.cols[c.ID] })
	return out
}
