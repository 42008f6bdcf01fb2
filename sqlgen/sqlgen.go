package sqlgen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Options are what a text needs beside the plan.
type Options struct {
	// Env gives the seed, step and epoch of kernels that draw; nil: both 0.
	Env *kernels.Env
	// Seed, Step and Epoch are SQL texts such as "$1::bigint" where one text serves for all seeds or steps; "": the
	// numbers of Env.
	Seed, Step, Epoch string
	// Opaque prints an Opaque node's query: as many columns as the node has without its row number, in order, in
	// the representation that the dialect gives to their types.
	Opaque func(n *ra.Node) (string, error)
	// Typed casts numbers that are compared with a column. Otherwise Postgres may find no operator: a schema can have
	// its own for the column's type and a number of another type.
	Typed bool
	// Inexact says why a text that stands for a date or number may not read back as the same value
	// (kernels.Named.Loose). Columns of such texts are then refused. "": it reads back.
	Inexact string
	// Holds are conditions that raise an error where the plan's assumptions no longer hold. Every text checks them.
	Holds []string
	// InFrom prints queries that are read once in FROM instead of WITH, as in long texts.
	InFrom    bool
	unordered bool // rows of a root come in no order
	// Note adds words to a node's comment, such as the rule that made it; nil: none.
	Note func(n *ra.Node) string
}

// Dialect is what differs between databases. Arguments and results are SQL texts. An argument is an operand: it needs
// no parentheses.
type Dialect interface {
	Tables
	Expressions
	// Derived prints a sub-query of one row in FROM that is computed once.
	Derived(items string) string
	// Fence ends a sub-query whose columns are to be computed before it is joined.
	Fence() string
	// Output gives a result column its final type.
	Output(t kernels.Type, x string) string
}

// Tables is how a database names tables and columns.
type Tables interface {
	// Table names a table in FROM, qualified, so that no CTE can hide it.
	Table(t *ra.Table) string
	// RowID reads the hidden row id of a table without a key.
	RowID(t *ra.Table) string
	// Column reads a table's column in the representation of its ra type; of is "", or the table's alias and a dot.
	Column(of string, c *ra.TableColumn) string
	// Narrow reports whether an integer column's own type is narrower than bigint; values compare and order as bigints
	// do.
	Narrow(c *ra.TableColumn) bool
	// Ident prints a name, quoted where necessary.
	Ident(name string) string
}

// Expressions is how a database writes values and computes with them.
type Expressions interface {
	// Const prints a constant.
	Const(v kernels.Value) (string, error)
	// Same compares so that NULL equals NULL.
	Same(l, r string) string
	// Arith prints native arithmetic (add, sub, mul, div, mod, neg and power of scalars) where it means the same as the
	// kernel, else "". call: the text is a function call, not an operator.
	Arith(e *kernels.Expr, args []string) (s string, call bool)
	// Cast prints the kernel cast between different types.
	Cast(e *kernels.Expr, arg string) string
	// Call prints the call of a kernel's function.
	Call(e *kernels.Expr, args []string, draw Draw) (string, error)
	// Aggregate prints Count, Sum, Min or Max of values of a type.
	Aggregate(fn ra.AggFn, t kernels.Type, arg string) string
	// Moving prints Sum over a frame that rows leave.
	Moving(t kernels.Type, arg string) string
	// Literal casts a column of constants (see literal) to the type that its values have inside the text.
	Literal(t kernels.Type, x string) string
}

// Draw is the seed and the step of kernels that draw, as SQL.
type Draw struct{ Seed, Step string }

// SQL prints root number root of a plan in a dialect.
func SQL(plan *ra.Plan, root int, d Dialect, o Options) (string, error) {
	if root < 0 || root >= len(plan.Roots) {
		return "", sqlerr.New(sqlerr.Internal, "internal error: no root %d", root)
	}
	r := plan.Roots[root]
	p := newPrinter(d, o, r)
	ctes, err := p.ctes(r.Node)
	if err != nil {
		return "", err
	}
	return "WITH\n" + strings.Join(ctes, ",\n") + "\n" + p.last(r) + "\n", nil
}

type printer struct {
	d     Dialect
	o     Options
	draw  Draw
	nodes []*ra.Node // inputs first
	names map[*ra.Node]string
	need  map[ra.ColumnID]bool // columns to print
	value map[ra.ColumnID]bool // those of need whose values matter, not only whether they are NULL
	slim  map[columnOf]bool    // those that may keep a table's narrower type: see wide
	refs  map[ra.ColumnID]int  // how often a column's name has been printed
	uses  map[*ra.Node]int     // edges to a node
	from  map[ra.ColumnID]bool // columns that can fail to be computed
	late  map[ra.ColumnID]bool // columns read by joins of several inputs
	joins map[*ra.Node]bool    // inputs of joins and selections
	width map[*ra.Node]int     // see joined
	fence bool                 // some condition can fail: none may run before those of its inputs
}

// columnOf is a column of a node. Where rows of a relation are at hand in two ways, as at a site, two nodes have its
// columns.
type columnOf struct {
	n  *ra.Node
	id ra.ColumnID
}

func newPrinter(d Dialect, o Options, roots ...ra.Root) *printer {
	if o.Env == nil {
		o.Env = &kernels.Env{}
	}
	p := &printer{d: d, o: o, draw: Draw{o.Seed, o.Step}, names: map[*ra.Node]string{}, uses: map[*ra.Node]int{},
		late: map[ra.ColumnID]bool{}, need: map[ra.ColumnID]bool{}, value: map[ra.ColumnID]bool{},
		slim: map[columnOf]bool{}, refs: map[ra.ColumnID]int{}, joins: map[*ra.Node]bool{}, width: map[*ra.Node]int{}}
	if o.Seed == "" {
		p.draw.Seed = strconv.FormatInt(o.Env.Seed, 10)
	}
	if o.Step == "" {
		p.draw.Step = strconv.FormatInt(o.Env.Step, 10)
	}
	nodes := lists.Map(roots, func(r ra.Root) *ra.Node { return r.Node })
	ra.Walk(func(n *ra.Node) {
		p.nodes = append(p.nodes, n)
		p.names[n] = fmt.Sprintf("%s%d", strings.ToLower(n.Op.String()), len(p.nodes))
		for _, in := range n.Inputs {
			p.uses[in]++
			p.joins[in] = p.joins[in] || n.Op == ra.Select || n.Op == ra.Join
		}
	}, nodes...)
	p.live(roots)
	p.fence = p.conditionsMayFail()
	return p
}

// live marks the columns that the roots need; a node comes before its inputs.
func (p *printer) live(roots []ra.Root) {
	for _, r := range roots {
		p.mark(r.Cols)
		if !p.o.unordered {
			p.mark(order(r.Node))
		}
	}
	for i := len(p.nodes) - 1; i >= 0; i-- {
		n := p.nodes[i]
		for _, q := range n.Equi {
			p.mark([]ra.ColumnID{q.L.ID, q.R.ID})
		}
		for _, e := range n.Pred {
			p.reads(e)
		}
		switch n.Op {
		case ra.Select, ra.Join:
			for j, c := range n.Cols {
				switch x := n.Out[j]; {
				case !p.need[c.ID]:
				case x.IsCol:
					p.need[x.Col.ID], p.value[x.Col.ID] = true, p.value[x.Col.ID] || p.value[c.ID]
				default:
					p.reads(x)
				}
				if n.Op == ra.Join && p.need[c.ID] {
					n.Out[j].Cols(func(c kernels.Col) { p.late[c.ID] = p.late[c.ID] || len(n.Inputs) > 1 })
				}
			}
		case ra.Aggregate, ra.Window:
			liveSums(p, n)
		case ra.Union, ra.Add, ra.SemiJoin, ra.AntiJoin:
			p.livePositions(n)
		}
	}
}

// liveSums marks the columns that an Aggregate or a Window needs of its input.
func liveSums(p *printer, n *ra.Node) {
	p.mark(n.Arranged())
	for j, c := range n.Cols {
		switch {
		case !p.need[c.ID]:
		case n.Op == ra.Window:
			p.mark(n.Sources(j))
		case j >= len(n.Group):
			if a := n.Aggs[j-len(n.Group)]; a.Fn != ra.CountRows && !p.onlyRows(n, j-len(n.Group)) {
				p.mark([]ra.ColumnID{a.Arg})
			}
		}
	}
}

// reads marks the columns of an expression.
func (p *printer) reads(e *kernels.Expr) {
	if e.IsCol {
		p.mark([]ra.ColumnID{e.Col.ID})
	}
	if e.Def.Is(kernels.TestsNull) && e.Args[0].IsCol {
		p.need[e.Args[0].Col.ID] = true
		return
	}
	for _, a := range e.Args {
		p.reads(a)
	}
}

// onlyRows reports whether of aggregate j only the NULL of an empty input matters. Its argument, which may be the whole
// loss, then need not be computed.
func (p *printer) onlyRows(n *ra.Node, j int) bool {
	a := n.Aggs[j]
	return a.Fn == ra.Sum && !p.value[n.Cols[len(n.Group)+j].ID] && !n.Inputs[0].Col(a.Arg).Type.Nullable
}

// livePositions marks the columns that n needs of its inputs, if its columns correspond to theirs by position.
func (p *printer) livePositions(n *ra.Node) {
	inputs := n.Inputs
	switch n.Op {
	case ra.Add: // the groups
		p.mark(n.Key)
	case ra.SemiJoin, ra.AntiJoin:
		inputs = inputs[:1]
	}
	for j, c := range n.Cols {
		if p.need[c.ID] {
			for _, in := range inputs {
				p.mark([]ra.ColumnID{in.Cols[j].ID})
			}
		}
	}
}

func (p *printer) mark(ids []ra.ColumnID) {
	for _, id := range ids {
		p.need[id], p.value[id] = true, true
	}
}

// order lists the columns that identify the rows, by which a result is ordered.
func order(n *ra.Node) []ra.ColumnID {
	if len(n.Unique) > 0 {
		return n.Unique
	}
	return n.Key
}

// ctes prints the CTEs that roots need, inputs first.
func (p *printer) ctes(roots ...*ra.Node) ([]string, error) {
	bodies, err := p.bodies()
	if err != nil {
		return nil, err
	}
	return p.texts(p.nodes, bodies, nil, roots...), nil
}

// bodies prints the queries of all nodes.
func (p *printer) bodies() (map[*ra.Node]string, error) {
	out := map[*ra.Node]string{}
	for _, n := range p.nodes {
		err := p.carries(n)
		if err == nil {
			out[n], err = p.body(n)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// carries refuses values that would travel as texts which do not read back (Options.Inexact).
func (p *printer) carries(n *ra.Node) error {
	if n.Op != ra.Scan || p.o.Inexact == "" {
		return nil
	}
	for i, c := range n.Cols {
		if of := c.Type.Of; p.need[c.ID] && of != nil && of.Loose && n.TableCols[i] != ra.RowID {
			return sqlerr.New(sqlerr.FeatureNotSupported,
				"column \"%s\" of table \"%s\" is of type %s, whose text does not read back where %s",
				n.Table.Cols[n.TableCols[i]].Name, n.Table.Name, of.Name, p.o.Inexact).
				WithHint("SET datestyle = ISO and extra_float_digits = 1, or relgrad.engine = chunk.")
		}
	}
	return nil
}

func (p *printer) cte(n *ra.Node, hint, body string) string {
	s := p.comment(n) + p.names[n]
	if n.Op == ra.Opaque && hint == "MATERIALIZED " { // else its rows are already in a table
		ids := lists.Map(n.Cols, func(c ra.Column) string { return colName(c.ID) })
		s += "(" + strings.Join(ids, ", ") + ")"
	}
	return s + " AS " + hint + "(\n" + indent(body) + "\n)"
}

// last is the outermost SELECT.
func (p *printer) last(r ra.Root) string {
	from := p.names[r.Node]
	out := make([]string, len(r.Cols))
	for i, id := range r.Cols {
		c := r.Node.Col(id)
		out[i] = p.d.Output(c.Type, p.ref(id)) + " AS " + p.d.Ident(c.Name)
	}
	s := list("SELECT ", out, ", ") + "\nFROM " + from + whereLine(p.o.Holds)
	if ids := order(r.Node); len(ids) > 0 {
		keys := make([]string, len(ids))
		for i, id := range ids {
			keys[i] = from + "." + colName(id) // qualified: a result column may have the same name
		}
		s += "\n" + list("ORDER BY ", keys, ", ")
	}
	return s
}

// hint chooses how a CTE is computed where the databases choose badly. They inline a CTE that is used once, and then
// compute a column again for each mention, and the consumer's conditions before the CTE's own. They store one that is
// used several times, and then no index of its table can be used.
func (p *printer) hint(n *ra.Node) string {
	switch {
	case n.Op == ra.Opaque: // may be volatile
		return "MATERIALIZED "
	case n.Op == ra.Scan && p.uses[n] > 1, p.pasted(n):
		return "NOT MATERIALIZED "
	case p.uses[n] > 1:
		return ""
	case p.joins[n] && p.joined(n) > maxJoined, p.fence && len(n.Pred)+len(n.Equi) > 0:
		return "MATERIALIZED "
	case p.once(n) && heavy(n): // a nested loop would compute it again for each row of its other side
		return "MATERIALIZED "
	}
	for i, c := range n.Cols {
		if n.Out != nil && n.Out[i].Def != nil && p.refs[c.ID] > 1 {
			return "MATERIALIZED "
		}
	}
	return ""
}

// pasted reports whether a query that is used several times is inlined at each use. The planner then sees the tables'
// statistics, which a stored CTE hides, and no table of chunks is written; but its rows are found again each time.
func (p *printer) pasted(n *ra.Node) bool {
	return p.uses[n] > 1 && !p.fence && p.cheap(n) && p.joined(n) <= maxJoined
}

// cheap reports whether copies of n's query compute nothing twice: each reader computes only the columns that it reads.
// A copy contains no copies of other queries, since their number would double at each level.
func (p *printer) cheap(n *ra.Node) bool {
	if n.Op != ra.Select && n.Op != ra.Join {
		return false
	}
	for i, c := range n.Cols {
		if n.Out[i].Def != nil && p.refs[c.ID] > 1 {
			return false
		}
	}
	for _, in := range n.Inputs {
		plain := in.Op == ra.Scan || in.Op == ra.Opaque || in.Op == ra.Select && len(in.Inputs) == 1 &&
			in.Inputs[0].Op == ra.Scan
		switch {
		case plain && (p.uses[in] == 1 || in.Op != ra.Select || p.cheap(in)):
		case p.uses[in] > 1 && p.pasted(in), p.uses[in] == 1 && !p.cheap(in):
			return false
		}
	}
	return true
}

// once reports whether a query inlined into a join must be computed before the join. The planner would compute its
// kernels after the join, for each pair of rows; the optimizer has placed them where they cost least.
func (p *printer) once(n *ra.Node) bool {
	if n.Op != ra.Select && n.Op != ra.Join || p.uses[n] > 1 && !p.pasted(n) {
		return false
	}
	for i, c := range n.Cols {
		if n.Out[i].Def != nil && p.need[c.ID] && p.late[c.ID] && kernelOnChunks(n.Out[i]) {
			return true
		}
	}
	return false
}

// heavy reports whether computing a row of n takes longer than storing it.
func heavy(n *ra.Node) bool {
	flops := 0.0
	for _, x := range n.Out {
		flops += x.Flops()
	}
	return flops >= 8192
}

// kernelOnChunks reports whether an expression takes or makes a chunk.
func kernelOnChunks(e *kernels.Expr) bool {
	return e.Type.IsChunk() || slices.ContainsFunc(e.Args, kernelOnChunks)
}

// comment says what a CTE is: the operator, the user's names of its columns, the caller's note.
func (p *printer) comment(n *ra.Node) string {
	words := []string{n.Op.String()}
	if n.Label != "" {
		words = append(words, n.Label)
	}
	var cols []string
	for _, c := range n.Cols {
		if p.need[c.ID] && n.Op != ra.Scan && c.Name != "" {
			cols = append(cols, colName(c.ID)+" "+c.Name)
		}
	}
	if cols != nil {
		words = append(words, "("+strings.Join(cols, ", ")+")")
	}
	if p.o.Note != nil {
		if s := p.o.Note(n); s != "" {
			words = append(words, s)
		}
	}
	return remark(strings.Join(words, " "))
}

// remark prints a comment of one line.
func remark(s string) string {
	return "-- " + strings.Map(func(r rune) rune { // a name must not end the comment
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, s) + "\n"
}

func colName(id ra.ColumnID) string { return fmt.Sprintf("c%d", id) }

// ref prints a column's name and counts it.
func (p *printer) ref(id ra.ColumnID) string {
	p.refs[id]++
	return colName(id)
}

// list joins items on one line, or one to a line where that would be long.
func list(head string, items []string, sep string) string {
	s := head + strings.Join(items, sep)
	if len(items) < 2 || len(s) <= 110 && !strings.Contains(s, "\n") {
		return s
	}
	trimmed := strings.TrimRight(sep, " ")
	if strings.HasPrefix(sep, " ") { // AND begins the new line
		return head + strings.Join(items, "\n  "+strings.TrimLeft(sep, " "))
	}
	return strings.TrimRight(head, " ") + "\n  " + strings.Join(items, trimmed+"\n  ")
}

// indent indents the lines of a text, but not those inside string constants.
func indent(s string) string {
	var b strings.Builder
	quote := byte(0)
	b.WriteString("  ")
	for i := range len(s) {
		c := s[i]
		b.WriteByte(c)
		switch {
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		case quote == 0 && c == '\n':
			b.WriteString("  ")
		}
	}
	return b.String()
}
