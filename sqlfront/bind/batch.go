package bind

import (
	"context"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Batch is a table or view of which a query reads only some rows, others at every step.
type Batch struct {
	Schema, Name string
	Key          []string // columns that identify its rows
	Types        []string // their Postgres types
	Size         int64    // rows of a step, at most
	// Rows returns the identities of a step's rows: a column for each column of Key, of the same kind.
	Rows func(env *kernels.Env) ([]*column.Column, error)
	Used bool // some query reads it
	// Near is set where a query looks up matrices by a column of the relation that comes unchanged from a table: rows
	// with the same matrix should follow each other. Order, if not nil, is then called.
	Near  string
	Order func(ctx context.Context) error
	// Streamed is the call in FROM of a view whose rows are read as the steps need them, nil for other batches. There is
	// no Key then: Rows returns the columns of Cols, whose Postgres types are Types.
	Streamed *ast.FuncFrom
	Text     *ast.Text // of Streamed
	Needs    ast.Needs // of the view's query
	Cols     []ra.Column
	Bytes    int64 // of the rows that lie in memory for it, at most
}

// ResolveBatch finds a table or view by name, and the columns that identify its rows. If the database streams, a view
// may be columns of a table that lies outside of it.
func ResolveBatch(ctx context.Context, cat Catalog, name string, params []ParamRef, streams bool) (_ *Batch,
	err error) {
	defer noPanic(&err)
	schema, bare, ok := splitName(name)
	if !ok {
		return nil, sqlerr.New(sqlerr.InvalidParameter, "batch %q is not the name of a table or view", name)
	}
	b := newBinder(ctx, cat, ra.NewBuilder(), BindOptions{Params: params})
	b.orders = true
	v, err := cat.View(ctx, nil, schema, bare)
	switch {
	case err != nil:
		return nil, err
	case v != nil:
		if call := streamed(v.Query); call != nil && streams {
			b.needs.Note(v.Query)
			return &Batch{Schema: v.Schema, Name: v.Name, Streamed: call, Text: v.Text, Needs: b.needs.Funcs[call]}, nil
		}
		return batchView(b, v, streams)
	}
	t, err := cat.Table(ctx, nil, schema, bare)
	switch {
	case err != nil:
		return nil, err
	case t == nil:
		e := sqlerr.New(sqlerr.UndefinedTable, "batch %q does not exist", name)
		if n := sqlerr.Nearest(bare, cat.Names(ctx)); n != "" {
			e = e.WithHint("Perhaps you meant %q.", n)
		}
		return nil, e
	case !t.Declared || len(t.Key) == 0:
		return nil, sqlerr.New(sqlerr.InvalidParameter, "batch %q has no primary key", name).
			WithHint("%s", keyHint(ctx, cat, "Rows are drawn by their keys", t))
	}
	out := &Batch{Schema: t.Schema, Name: t.Name}
	for _, k := range t.Key {
		out.Key, out.Types = append(out.Key, t.Cols[k].Name), append(out.Types, t.Cols[k].PGType)
	}
	return out, nil
}

// batchView finds the columns that identify the rows of a view. Which rows it has must depend neither on values of
// parameters nor on the step.
func batchView(b *binder, v *View, streams bool) (*Batch, error) {
	r, err := b.view(&place{text: &ast.Text{}}, &ast.TableRef{Node: ast.Node{At: -1}, Schema: v.Schema, Name: v.Name})
	if err != nil {
		return nil, err
	}
	if r.mask != 0 {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "the rows of the batch %q depend on values of a parameter",
			v.Name).WithHint("The batches of an epoch are drawn when it begins: filter by keys and attributes.")
	}
	if stepwise(r.node) {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "the rows of the batch %q depend on the step", v.Name).
			WithHint("The batches of an epoch are drawn when it begins. A view that draws the rows of each step needs no batch.")
	}
	out, hidden := &Batch{Schema: v.Schema, Name: v.Name}, []string(nil)
	for _, k := range r.node.Unique {
		i := slices.IndexFunc(r.cols, func(id ra.ColumnID) bool {
			return id == k || (r.node.Op == ra.Select || r.node.Op == ra.Join) && slices.Contains(r.node.Aliases(k), id)
		})
		if i < 0 {
			hidden = append(hidden, calledName(b, r.node, k))
			continue
		}
		out.Key, out.Types = append(out.Key, r.names[i]), append(out.Types, columnType(r.node, k))
	}
	if len(hidden) > 0 {
		return nil, noIdentity(v, hidden, streams)
	}
	if len(out.Key) == 0 {
		return nil, sqlerr.New(sqlerr.InvalidParameter, "the batch %q has one row at most", v.Name)
	}
	return out, nil
}

// noIdentity is the error of a batch that does not show these columns, which identify its rows.
func noIdentity(v *View, hidden []string, streams bool) error {
	reads := func(function string) bool {
		return ast.Any(v.Query, func(c *ast.FuncCall) bool { return c.Name == function })
	}
	outside := streams && ast.ReadsRange(v.Query)
	switch {
	case outside && reads("file_table") && !reads("delta_table"):
		return sqlerr.New(sqlerr.FeatureNotSupported, "the batch %q reads a file, whose rows nothing identifies", v.Name).
			WithHint("relgrad import makes a table of it. A folder of Delta Lake is read in steps: FROM delta_table('dir').")
	case outside:
		return sqlerr.New(sqlerr.FeatureNotSupported, "the batch %q reads a table outside of the database in a way that "+
			"cannot be cut into steps", v.Name).WithHint("Its view may be SELECT … FROM delta_table('dir') WHERE …, with " +
			"columns, expressions and comparisons of columns with constants; put other conditions, joins and groups into the " +
			"loss.")
	}
	e := sqlerr.New(sqlerr.InvalidParameter, "the batch %q does not show what identifies its rows: %s", v.Name,
		strings.Join(slices.Compact(hidden), ", "))
	if slices.Contains(hidden, noKey) || slices.Contains(hidden, branches) {
		return e.WithHint("Name the table that its rows come from, or make a table of the view: CREATE TABLE … (…, PRIMARY "+
			"KEY (…)); INSERT INTO … SELECT … FROM %s.", v.Name)
	}
	return e.WithHint("Add that to its SELECT list, or name the table that its rows come from.")
}

// What a batch cannot show.
const (
	noKey    = "a key of a sub-query that the store runs, which has none"
	branches = "the branch of UNION ALL and its keys"
)

// calledName is the name that a column of an identity has in its table.
func calledName(b *binder, n *ra.Node, id ra.ColumnID) string {
	i := n.Index(id)
	switch n.Op {
	case ra.Scan:
		if n.TableCols[i] == ra.RowID {
			return "a primary key of " + n.Table.Name + ", which has none"
		}
		return n.Table.Name + "." + n.Cols[i].Name
	case ra.Select, ra.Join:
		if x := n.Out[i]; x.IsCol {
			return calledName(b, n.Inputs[x.Col.Input], x.Col.ID)
		}
	case ra.SemiJoin, ra.AntiJoin:
		return calledName(b, n.Inputs[0], n.Inputs[0].Cols[i].ID)
	case ra.Window:
		if id, ok := n.Passed(i); ok {
			return calledName(b, n.Inputs[0], id)
		}
	case ra.Opaque:
		return noKey
	case ra.Union:
		return branches
	}
	return n.Cols[i].Name
}

// stepwise reports whether the rows below n depend on the step.
func stepwise(root *ra.Node) bool {
	found := false
	ra.Walk(func(n *ra.Node) {
		found = found || n.PerStep
		n.Exprs(func(x *kernels.Expr) { found = found || x.PerStep() })
	}, root)
	return found
}

// batchedRows restricts a relation of the batch to the step's rows, by a join with their identities. The structure of a
// step is then found from these, without a pass over the relation.
func batchedRows(b *binder, schema, name string, r *relation) *relation {
	t := b.opt.Batch
	if t == nil || t.Schema != schema || t.Name != name || t.Streamed != nil {
		return r
	}
	t.Used = true
	if b.batch != nil {
		return b.batch
	}
	k := len(t.Key)
	cols, ids := make([]ra.Column, k), make([]ra.ColumnID, k)
	for i, name := range t.Key {
		ids[i] = r.cols[slices.Index(r.names, name)]
		cols[i] = *r.node.Col(ids[i])
	}
	step := b.b.Opaque(&OpaqueQuery{Types: t.Types, Rows: t.Rows}, "rows of the step", cols)
	step.PerStep, step.Rows = true, t.Size
	step.Key = nil
	for _, c := range step.Cols[:k] {
		step.Key = append(step.Key, c.ID)
	}
	step.Unique = step.Key
	var equi []ra.Equi
	for i, id := range ids {
		equi = append(equi,
			ra.Equi{L: kernels.Col{ID: step.Key[i]}, R: kernels.Col{Input: 1, ID: id}, NullSafe: cols[i].Type.Nullable})
	}
	var out []ra.OutCol
	for i, id := range r.cols {
		out = append(out, ra.OutCol{Name: r.names[i], X: r.node.Var(1, id)})
	}
	n := b.join([]*ra.Node{step, r.node}, equi, nil, out)
	b.batch = &relation{node: n, names: r.names, classes: r.classes, table: r.table}
	for i := range r.cols {
		b.batch.cols = append(b.batch.cols, n.Cols[i].ID)
	}
	return b.batch
}

// nearestName finds the batch's column by which joins look up the largest matrices, "" if there is none.
func nearestName(b *binder, root *ra.Node) (name string) {
	size := 0
	ra.Walk(func(n *ra.Node) {
		for _, q := range n.Equi {
			for _, at := range [][2]kernels.Col{{q.L, q.R}, {q.R, q.L}} {
				from, to := at[0], n.Inputs[at[1].Input]
				if !slices.Equal(to.Unique, []ra.ColumnID{at[1].ID}) {
					continue
				}
				for _, c := range to.Cols {
					if !c.Type.IsChunk() || len(c.Type.Shape) < 2 || c.Type.Size() <= size {
						continue
					}
					if by := ofBatch(b, n.Inputs[from.Input], from.ID); by != "" {
						name, size = by, c.Type.Size()
					}
				}
			}
		}
	}, root)
	return name
}

// ofBatch names the column of the batch from which an output column of n comes unchanged. It is "" where there is none,
// or where the column identifies rows or is computed, so that reading it cannot fail.
func ofBatch(b *binder, n *ra.Node, id ra.ColumnID) string {
	name := ""
	for n.Op != ra.Scan {
		if n == b.batch.node {
			at := slices.Index(b.batch.cols, id)
			if at < 0 {
				return ""
			}
			if name = b.batch.names[at]; slices.Equal(b.opt.Batch.Key, []string{name}) {
				return ""
			}
		}
		i := n.Index(id)
		switch {
		case n.Op == ra.SemiJoin || n.Op == ra.AntiJoin:
			n, id = n.Inputs[0], n.Inputs[0].Cols[i].ID
		case (n.Op == ra.Select || n.Op == ra.Join) && n.Out[i].IsCol:
			n, id = n.Inputs[n.Out[i].Col.Input], n.Out[i].Col.ID
		default:
			return ""
		}
	}
	return name
}

// readsBatch reports whether the scope's rows depend on the step's rows.
func readsBatch(s *scope) bool {
	found := false
	if s.b.batch != nil {
		ra.Walk(func(n *ra.Node) { found = found || n == s.b.batch.node }, s.nodes()...)
	}
	return found
}

// refuseBatch refuses a sub-query that reads the batch and that the store runs, which would see all rows.
func refuseBatch(b *binder, f *place, sel *ast.Select) error {
	t := b.opt.Batch
	if t == nil || !anyRef(b, f, sel, map[string]bool{}, func(o object) bool { return o == object{t.Schema, t.Name} }) {
		return nil
	}
	return f.fail(sel, sqlerr.FeatureNotSupported, "a sub-query that only the store can run reads the batch %q", t.Name).
		WithDetail("It would see all rows, not those of the step.").
		WithHint("Joins, filters, arithmetic and aggregates see those of the step.")
}

// object is a table, view or WITH item in FROM.
type object struct{ schema, name string }

// anyRef reports whether f holds for a table or view that a query reads, directly or through views and WITH items.
func anyRef(b *binder, p *place, sel *ast.Select, seen map[string]bool, f func(object) bool) bool {
	found := false
	ast.Walk(sel, func(t ast.Tree) bool {
		x, ok := t.(*ast.TableRef)
		if !ok || found {
			return !found
		}
		if c, before := p.cte(x); c != nil {
			found = anyRef(b, before, c.sel, seen, f)
			return !found
		}
		if k := p.seenKey(x); seen[k] {
			return true
		} else {
			seen[k] = true
		}
		if v, err := b.cat.View(b.ctx, p.text.Path, x.Schema, x.Name); err == nil && v != nil {
			found = f(object{v.Schema, v.Name}) || anyRef(b, &place{text: v.Text}, v.Query, seen, f)
		} else if tab, err := b.cat.Table(b.ctx, p.text.Path, x.Schema, x.Name); err == nil && tab != nil {
			found = f(object{tab.Schema, tab.Name})
		}
		return !found
	})
	return found
}

// columnType follows a column to where it is stored.
func columnType(n *ra.Node, id ra.ColumnID) string {
	i := n.Index(id)
	switch n.Op {
	case ra.Scan:
		if t := n.TableCols[i]; t != ra.RowID {
			return n.Table.Cols[t].PGType
		}
	case ra.Gradient:
		if i < len(n.TableCols) && n.TableCols[i] != ra.RowID {
			return n.Table.Cols[n.TableCols[i]].PGType
		}
	case ra.Opaque:
		if q := n.Query.(*OpaqueQuery); i < len(q.Types) {
			return q.Types[i]
		}
	case ra.Select, ra.Join:
		if x := n.Out[i]; x.IsCol {
			return columnType(n.Inputs[x.Col.Input], x.Col.ID)
		}
	case ra.Aggregate, ra.Window:
		if id, ok := handedOn(n, i); ok {
			return columnType(n.Inputs[0], id)
		}
	case ra.Union:
		for _, in := range n.Inputs {
			if t := columnType(in, in.Cols[i].ID); t != "" {
				return t
			}
		}
	case ra.SemiJoin, ra.AntiJoin:
		return columnType(n.Inputs[0], n.Inputs[0].Cols[i].ID)
	}
	return ""
}

// handedOn is the column of the input whose values column i of an Aggregate or Window has.
func handedOn(n *ra.Node, i int) (id ra.ColumnID, ok bool) {
	first := len(n.Group)
	if n.Op == ra.Window {
		if id, ok = n.Passed(i); ok {
			return id, ok
		}
		first = len(n.Over.Pass)
	} else if i < first {
		return n.Group[i], true
	}
	a := n.Aggs[i-first]
	return a.Arg, a.Fn == ra.Min || a.Fn == ra.Max
}
