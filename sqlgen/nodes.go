package sqlgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// NoLoops is the error of a plan with a Recursion: what the steps of WITH RECURSIVE compute cannot be summed there.
func NoLoops() error {
	return sqlerr.New(sqlerr.FeatureNotSupported,
		"a recursive query that reads a parameter or a batch cannot be computed by the database").
		WithHint("SET relgrad.engine = chunk: relgrad's engine computes it.")
}

// body prints the query of a node's CTE.
func (p *printer) body(n *ra.Node) (string, error) {
	switch n.Op {
	case ra.Scan:
		return p.scan(n), nil
	case ra.Select, ra.Join:
		return p.join(n)
	case ra.Aggregate:
		return p.aggregate(n)
	case ra.Window:
		return window(p, n)
	case ra.Union:
		return p.union(n, n.Cols), nil
	case ra.SemiJoin, ra.AntiJoin:
		return p.semi(n)
	case ra.Add:
		return p.add(n)
	case ra.Opaque:
		return p.opaque(n)
	case ra.Recursion, ra.Self:
		return "", NoLoops()
	}
	return "", sqlerr.New(sqlerr.Internal, "internal error: %v cannot be printed as SQL", n.Op)
}

// selectList prints the columns of a SELECT; SQL wants at least one.
func selectList(items []string) string {
	if len(items) == 0 {
		return "SELECT 1 AS one"
	}
	return list("SELECT ", items, ", ")
}

func (p *printer) scan(n *ra.Node) string {
	var out []string
	for i, c := range n.Cols {
		if !p.need[c.ID] {
			continue
		}
		x := ""
		if t := n.TableCols[i]; t == ra.RowID {
			x = p.d.RowID(n.Table)
		} else {
			x = p.d.Column("", &n.Table.Cols[t])
			if p.d.Narrow(&n.Table.Cols[t]) {
				x, p.slim[columnOf{n, c.ID}] = p.d.Ident(n.Table.Cols[t].Name), true
			}
		}
		out = append(out, x+" AS "+colName(c.ID))
	}
	return selectList(out) + "\nFROM " + p.d.Table(n.Table)
}

// sources names the inputs of an operator. A CTE that occurs twice gets aliases.
func (p *printer) sources(n *ra.Node) (from, alias []string) {
	seen := map[*ra.Node]int{}
	for _, in := range n.Inputs {
		name := p.names[in]
		if seen[in]++; seen[in] > 1 {
			name = fmt.Sprintf("%s_%d", name, seen[in])
		}
		from, alias = append(from, p.source(in, name)), append(alias, name)
	}
	return from, alias
}

// column prints a column of one of n's inputs, qualified where there are several.
func (p *printer) column(alias []string) func(kernels.Col) string {
	return func(c kernels.Col) string {
		if len(alias) < 2 {
			return p.ref(c.ID)
		}
		return alias[c.Input] + "." + p.ref(c.ID)
	}
}

// wide prints a column of an input of n as an operand: integers as bigint. A column that is only compared, grouped by
// or passed on keeps its table's type (printer.slim), so that the planner can use its statistics.
func (p *printer) wide(n *ra.Node, col func(kernels.Col) string) func(kernels.Col) string {
	return func(c kernels.Col) string {
		if p.slim[columnOf{n.Inputs[c.Input], c.ID}] {
			return col(c) + "::bigint"
		}
		return col(c)
	}
}

func (p *printer) join(n *ra.Node) (string, error) {
	from, alias := p.sources(n)
	narrow := p.column(alias)
	col := p.wide(n, narrow)
	var out []string
	for i, c := range n.Cols {
		if !p.need[c.ID] {
			continue
		}
		if x := n.Out[i]; x.IsCol {
			p.slim[columnOf{n, c.ID}] = p.slim[columnOf{n.Inputs[x.Col.Input], x.Col.ID}]
			out = append(out, narrow(x.Col)+" AS "+colName(c.ID))
			continue
		}
		x, err := p.expr(n.Out[i], col)
		if err != nil {
			return "", err
		}
		if literal(n.Out[i]) {
			x.sql = p.d.Literal(c.Type, x.at(precAtom))
		}
		out = append(out, x.sql+" AS "+colName(c.ID))
	}
	on := make([][]string, len(n.Inputs)) // conditions by the last input that they read
	var where []string
	for _, q := range n.Equi {
		c, err := p.equi(n, q, narrow)
		if err != nil {
			return "", err
		}
		if i := max(q.L.Input, q.R.Input); i > 0 && q.L.Input != q.R.Input {
			on[i] = append(on[i], c)
		} else {
			where = append(where, c)
		}
	}
	s := selectList(out)
	for i := range from {
		if i == 0 {
			s += "\nFROM " + from[0]
			continue
		}
		s += "\nJOIN " + from[i] + " ON "
		if on[i] == nil {
			s += "TRUE"
		} else {
			s += strings.Join(on[i], " AND ")
		}
	}
	where, err := p.filter(n, slices.Concat(on...), where, col)
	return s + whereLine(where), err
}

// filter adds n's predicates to the conditions of WHERE, given those of the joins. Databases evaluate conditions in any
// order and as early as they can, so a condition that could fail stands in a CASE behind the earlier ones.
func (p *printer) filter(n *ra.Node, on, where []string, col func(kernels.Col) string) ([]string, error) {
	for _, e := range n.Pred {
		x, err := p.expr(e, col)
		if err != nil {
			return nil, err
		}
		c := x.at(precNot)
		if earlier := slices.Concat(on, where); p.risky(e) && len(earlier) > 0 {
			where, c = nil, "CASE WHEN "+strings.Join(earlier, " AND ")+" THEN "+x.sql+" ELSE FALSE END"
		}
		where = append(where, c)
	}
	return where, nil
}

// whereLine prints a WHERE clause on a line of its own, "" without conditions.
func whereLine(conds []string) string {
	if len(conds) == 0 {
		return ""
	}
	return "\n" + list("WHERE ", conds, " AND ")
}

// equi prints an equality of the join. Null-safety matters only where both sides may be NULL.
func (p *printer) equi(n *ra.Node, q ra.Equi, col func(kernels.Col) string) (string, error) {
	l, r := n.Inputs[q.L.Input].Col(q.L.ID), n.Inputs[q.R.Input].Col(q.R.ID)
	for _, c := range []*ra.Column{l, r} {
		if err := keyable(c); err != nil {
			return "", err
		}
	}
	if q.NullSafe && l.Type.Nullable && r.Type.Nullable {
		return p.d.Same(col(q.L), col(q.R)), nil
	}
	return col(q.L) + " = " + col(q.R), nil
}

// keyable refuses chunks as keys: databases compare their stored form.
func keyable(c *ra.Column) error {
	if c.Type.IsChunk() {
		return sqlerr.New(sqlerr.FeatureNotSupported, "column \"%s\" of type %v is a key of a join or a group", c.Name,
			c.Type).WithDetail("Generated SQL compares scalars only.")
	}
	return nil
}

func (p *printer) aggregate(n *ra.Node) (string, error) {
	in := n.Inputs[0]
	var out, group []string
	for i, g := range n.Group {
		if err := keyable(in.Col(g)); err != nil {
			return "", err
		}
		group = append(group, p.ref(g))
		if p.need[n.Cols[i].ID] {
			p.slim[columnOf{n, n.Cols[i].ID}] = p.slim[columnOf{in, g}]
			out = append(out, colName(g)+" AS "+colName(n.Cols[i].ID))
		}
	}
	for i, a := range n.Aggs {
		c := n.Cols[len(n.Group)+i]
		if !p.need[c.ID] {
			continue
		}
		if p.onlyRows(n, i) {
			out = append(out, "nullif(count(*), 0) AS "+colName(c.ID))
			continue
		}
		x, err := p.agg(n, a, c.Type)
		if err != nil {
			return "", err
		}
		out = append(out, x+" AS "+colName(c.ID))
	}
	if len(out) == 0 && len(group) == 0 {
		out = []string{"count(*) AS one"} // one row, even for an empty input
	}
	s := selectList(out) + "\nFROM " + p.source(in, p.names[in])
	if group != nil {
		s += "\n" + list("GROUP BY ", group, ", ")
	}
	return s, nil
}

func (p *printer) agg(n *ra.Node, a ra.Agg, out kernels.Type) (string, error) {
	in, grouped := n.Inputs[0], len(n.Group) > 0
	if a.Fn == ra.CountRows {
		return "count(*)", nil
	}
	t, x := in.Col(a.Arg).Type, p.wide(n, p.column(nil))(kernels.Col{ID: a.Arg})
	switch a.Fn {
	case ra.Count:
		return p.d.Aggregate(ra.Count, t, x), nil
	case ra.Min, ra.Max:
		return p.d.Aggregate(a.Fn, t, x), nil
	}
	if err := summable(in.Col(a.Arg)); err != nil {
		return "", err
	}
	s := p.d.Aggregate(ra.Sum, t, x)
	if a.Fn == ra.Sum || grouped && !t.Nullable { // no group is without rows
		return s, nil
	}
	zero := kernels.Const(kernels.IntValue(0))
	if t.IsFloat() {
		zero = kernels.ZerosLike(out)
	}
	z, err := p.d.Const(zero.Const)
	return "coalesce(" + s + ", " + z + ")", err
}

func summable(c *ra.Column) error {
	if c.Type.IsFloat() || c.Type.Kind == kernels.Int {
		return nil
	}
	return sqlerr.New(sqlerr.Internal, "internal error: sum of column \"%s\" of type %v", c.Name, c.Type)
}

// union prints the rows of all inputs; cols are n's columns to print.
func (p *printer) union(n *ra.Node, cols []ra.Column) string {
	parts := make([]string, len(n.Inputs))
	for k, in := range n.Inputs {
		var out []string
		for i, c := range cols {
			if !p.need[c.ID] {
				continue
			}
			x := p.ref(in.Cols[i].ID)
			p.slim[columnOf{n, c.ID}] = p.slim[columnOf{n, c.ID}] || p.slim[columnOf{in, in.Cols[i].ID}]
			if k == 0 {
				x += " AS " + colName(c.ID)
			}
			out = append(out, x)
		}
		parts[k] = selectList(out) + "\nFROM " + p.source(in, p.names[in])
	}
	return strings.Join(parts, "\nUNION ALL\n")
}

// add sums the rows of gradients that have the same key.
func (p *printer) add(n *ra.Node) (string, error) {
	var out, group []string
	for i, c := range n.Cols {
		switch {
		case n.IsKey(c.ID):
			if err := keyable(&n.Cols[i]); err != nil {
				return "", err
			}
			group = append(group, "u."+colName(c.ID))
			out = append(out, "u."+colName(c.ID)+" AS "+colName(c.ID))
		case p.need[c.ID]:
			if err := summable(&n.Cols[i]); err != nil {
				return "", err
			}
			out = append(out, p.d.Aggregate(ra.Sum, c.Type, "u."+colName(c.ID))+" AS "+colName(c.ID))
		}
	}
	s := selectList(out) + "\nFROM (\n" + indent(p.union(n, n.Cols)) + "\n) AS u\n"
	if group == nil {
		return s + "HAVING count(*) > 0", nil // without rows there is no row
	}
	return s + list("GROUP BY ", group, ", "), nil
}

func (p *printer) semi(n *ra.Node) (string, error) {
	from, alias := p.sources(n)
	col := p.column(alias)
	l, not := n.Inputs[0], ""
	if n.Op == ra.AntiJoin {
		not = "NOT "
	}
	var out, conds []string
	for i, c := range n.Cols {
		if p.need[c.ID] {
			p.slim[columnOf{n, c.ID}] = p.slim[columnOf{l, l.Cols[i].ID}]
			out = append(out, col(kernels.Col{ID: l.Cols[i].ID})+" AS "+colName(c.ID))
		}
	}
	for _, q := range n.Equi {
		c, err := p.equi(n, q, col)
		if err != nil {
			return "", err
		}
		conds = append(conds, c)
	}
	conds, err := p.filter(n, nil, conds, p.wide(n, col))
	if err != nil {
		return "", err
	}
	return selectList(out) + "\nFROM " + from[0] + "\nWHERE " + not + "EXISTS (\n" +
		indent("SELECT 1\nFROM "+from[1]+whereLine(conds)) + "\n)", nil
}

func (p *printer) opaque(n *ra.Node) (string, error) {
	if p.o.Opaque == nil {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "a sub-query that reads no parameter cannot be printed here")
	}
	text, err := p.o.Opaque(n)
	if err != nil {
		return "", err
	}
	return "SELECT q.*, row_number() OVER () - 1\nFROM (" + text + ") AS q", nil
}
