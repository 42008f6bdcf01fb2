package sqlgen

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// What neither a trained column nor the step reaches is the same at every step: Setup computes it once, into temporary
// tables that the statement reads. A sub-query that only the server understands (Opaque) must not be run again, since
// it may give other rows; the rest is saved work.

// fixedAndStep prints the tables of what is fixed into Setup and returns the CTEs of the plan's roots.
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
		delete(fixed, n) // its own text computes it
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
	for _, r := range p.roots { // a gradient is read by its update and by the check
		read = append(read, r.Node, r.Node)
	}
	return p.sub(bodies, fixed, read...), nil
}

// sub prints the CTEs of some nodes, what is fixed being read from its table.
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
	same := map[*ra.Node]bool{} // with all that is computed for it, so that its text can stand alone
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
	var choose func(n *ra.Node) // n is fixed and somebody asks for it
	choose = func(n *ra.Node) {
		if n.Op == ra.Scan || !same[n] {
			return
		}
		if out[n] = p.worth(n); !out[n] {
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

// worth reports whether a table is better than computing the node again: not where it would copy a table's chunks, nor
// where it is no more than some columns of one.
func (p *stepPrinter) worth(n *ra.Node) bool {
	switch n.Op {
	case ra.Opaque, ra.Aggregate:
		return true
	case ra.Select, ra.Join:
	default:
		return !p.chunks(n)
	}
	work := n.Op == ra.Join || len(n.Pred) > 0
	for i, c := range n.Cols {
		if !p.need[c.ID] {
			continue
		}
		if n.Out[i].IsCol && c.Type.IsChunk() {
			return false
		}
		work = work || n.Out[i].Def != nil
	}
	return work
}

// chunks reports whether a node has a column of chunks.
func (p *stepPrinter) chunks(n *ra.Node) bool {
	for _, c := range n.Cols {
		if p.need[c.ID] && c.Type.IsChunk() {
			return true
		}
	}
	return false
}

// varying tells which rows and columns are not the same at every step.
type varying struct {
	trained []*stepSlot
	rows    map[*ra.Node]bool
	cols    map[ra.ColumnID]bool
}

// node decides about a node whose inputs are decided.
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
	for _, g := range n.Group {
		rows = rows || v.cols[g]
	}
	v.rows[n] = rows
	for i, c := range n.Cols {
		v.cols[c.ID] = rows || v.column(n, i)
	}
}

func (v *varying) column(n *ra.Node, i int) bool {
	switch n.Op {
	case ra.Scan: // also one that reads a parameter as data, to know its NULLs, which before_step may change
		for _, s := range v.trained {
			if s.t.Schema == n.Table.Schema && s.t.Name == n.Table.Name && s.Col == n.TableCols[i] {
				return true
			}
		}
		return false
	case ra.Select, ra.Join:
		return v.expr(n.Out[i])
	case ra.Aggregate:
		if i < len(n.Group) {
			return false // see rows
		}
		a := n.Aggs[i-len(n.Group)]
		return a.Fn != ra.CountRows && v.cols[a.Arg]
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
