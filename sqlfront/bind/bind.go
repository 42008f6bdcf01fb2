package bind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlfront/print"
)

// Catalog is what binding needs to know about stored objects. A nil result without error means unknown.
type Catalog interface {
	Types
	// Table and View look up unqualified names in the schemas of path; nil stands for the session's path.
	Table(ctx context.Context, path []string, schema, name string) (*ra.Table, error)
	View(ctx context.Context, path []string, schema, name string) (*View, error)
	// Function finds a function of the user, or an operator by its sign, as Table does; nil: none. It is an error if
	// several have the name.
	Function(ctx context.Context, path []string, schema, name string) (*ast.CreateFunction, error)
	// Names lists tables and views, for the nearest name in errors.
	Names(ctx context.Context) []string
	// Setting is the value of current_setting(name).
	Setting(name string) (string, bool)
	// Describe returns the columns of a query without parameters, with their shapes. It runs the query.
	Describe(ctx context.Context, q *OpaqueQuery) ([]ra.Column, error)
	// Reach finds what a query reads and calls beyond its own text, through functions; nil: nothing.
	Reach(ctx context.Context, sql string) (*Reach, error)
	// Structure runs a query that reads no value of a parameter. b has made its nodes.
	Structure(ctx context.Context, b *ra.Builder, n *ra.Node) ([]*column.Column, error)
}

// Types are the types of the database that the algebra does not have.
type Types interface {
	// Named is the type of a cast whose values are kept as texts without being of type text; nil for other types.
	Named(ctx context.Context, path []string, t ast.TypeName) (*kernels.Named, error)
	// Literal converts the text of a literal to the form in which values of the type are kept.
	Literal(t *kernels.Named, text string) (string, error)
	// Text is the type of a text without a collation; nil: texts compare byte by byte.
	Text() *kernels.Named
}

// View is a stored view.
type View struct {
	Schema, Name string
	Cols         []string // column names, fixed at creation
	Query        *ast.Select
	Text         *ast.Text
}

// OpaqueQuery is the statement of an Opaque node.
type OpaqueQuery struct {
	Select *ast.Select
	Text   *ast.Text
	Types  []string // the columns' Postgres types, set by Describe
	Scalar bool     // a scalar sub-query: it has one column; without rows it is NULL, and two rows are an error
	// Rows, unless nil, computes the rows without the store: those of a batch or of generate_series.
	Rows func(env *kernels.Env) ([]*column.Column, error)
}

// ParamRef names a parameter: a table, or one column of it.
type ParamRef struct{ Schema, Table, Column string }

// String prints table or table.column.
func (p ParamRef) String() string {
	if p.Column != "" {
		return p.Table + "." + p.Column
	}
	return p.Table
}

// BindOptions tell for what a query is bound.
type BindOptions struct {
	Params []ParamRef
	Draw   bool   // dropout draws; otherwise it passes its argument on
	As     string // the name of a query of BindLoss in messages; "": "loss"
	// Figures: a query of BindLoss may have several columns, and metrics.
	Figures bool
	Batch   *Batch // the relation of which a step reads some rows; nil: none
}

// Query is a bound query.
type Query struct {
	Node  *ra.Node
	Cols  []ra.ColumnID // output columns, in order
	Names []string
	Scans map[string]*ra.Node // scans by table name
	Draws bool                // the query draws: its value depends on the step
	// Masks: some condition reads a value of a parameter. Rows that it removes are NULL in the query's result.
	Masks     bool
	Surprises []string // what the query means and its author perhaps does not
	// Metrics: some column is made of a metric, which is NaN also where the database would raise an error.
	Metrics bool
}

// Bind turns a SELECT into an ra query. Errors contain the text into which they point.
func Bind(ctx context.Context, cat Catalog, b *ra.Builder, sel *ast.Select, text *ast.Text,
	opt BindOptions) (_ *Query, err error) {
	defer noPanic(&err)
	for tell := false; ; {
		bd := newBinder(ctx, cat, b, opt)
		bd.nulls.on = tell
		q, err := bd.query(sel, text)
		var more *moreParams
		if errors.As(err, &more) { // a nested gradient has a parameter that was not in the options
			opt.Params = append(opt.Params[:len(opt.Params):len(opt.Params)], more.ref)
			continue
		}
		if bd.nulls.wanted && !tell {
			tell = true
			continue
		}
		if err == nil && bd.batch != nil {
			opt.Batch.Near = nearestName(bd, q.Node)
		}
		return q, err
	}
}

// noPanic turns a panic into an error at the package's border.
func noPanic(err *error) {
	if p := recover(); p != nil {
		*err = sqlerr.FromPanic(p)
	}
}

// BindLoss binds a loss, given as the name of a view or the text of a query, with one row and one scalar.
func BindLoss(ctx context.Context, cat Catalog, b *ra.Builder, loss string, opt BindOptions) (*Query, error) {
	if opt.As == "" {
		opt.As = "loss"
	}
	sel, text, err := LossQuery(ctx, cat, opt.As, loss)
	if err != nil {
		return nil, err
	}
	q, err := Bind(ctx, cat, b, sel, text, opt)
	if err != nil {
		return nil, err
	}
	return q, checkLoss(q, opt.As, opt.Figures)
}

// LossQuery resolves the first argument of gradient() to a query. as is its name in messages.
func LossQuery(ctx context.Context, cat Catalog, as, loss string) (*ast.Select, *ast.Text, error) {
	if schema, name, ok := splitName(loss); ok {
		v, err := cat.View(ctx, nil, schema, name)
		if err != nil {
			return nil, nil, err
		}
		if v != nil {
			return &ast.Select{Node: ast.Node{At: -1},
					Targets: []ast.Target{{X: &ast.ColumnRef{Node: ast.Node{At: -1}, Star: true}}},
					From:    []ast.FromItem{&ast.TableRef{Node: ast.Node{At: -1}, Schema: schema, Name: name}}, End: -1},
				&ast.Text{SQL: loss}, nil
		}
		t, err := cat.Table(ctx, nil, schema, name)
		if err != nil {
			return nil, nil, err
		}
		if t != nil {
			e := sqlerr.New(sqlerr.WrongObjectType, "%s %q is a table, not a view", as, name).
				WithHint("A loss is a view or a query text: its gradient goes through the query that computes it.")
			if as == "validation" {
				e = e.WithHint("A validation is a view or a query text whose columns are figures, such as SELECT avg((y - z) ^ 2) "+
					"AS mse FROM %s.", name)
			}
			if t.Schema == "relgrad" && t.Name == "loss" {
				e = e.WithHint("relgrad.loss is relgrad's own log of losses, and no view of that name comes before it: " +
					"CREATE VIEW loss AS SELECT ….")
			}
			return nil, nil, e
		}
		e := sqlerr.New(sqlerr.UndefinedTable, "%s %q does not exist", as, loss)
		if n := sqlerr.Nearest(name, cat.Names(ctx)); n != "" {
			e = e.WithHint("Perhaps you meant %q.", n)
		}
		return nil, nil, e
	}
	text := &ast.Text{SQL: loss}
	sel, err := parse.ParseQuery(text)
	if err == nil {
		err = judge(ctx, cat, text, sel)
	}
	return sel, text, err
}

// IsName reports whether a loss is given as a name, not as a text.
func IsName(s string) bool {
	_, _, ok := splitName(s)
	return ok
}

// checkLoss refuses columns that are no numbers, and several of them unless they are figures beside each other.
func checkLoss(q *Query, as string, figures bool) error {
	if len(q.Cols) != 1 && (!figures || len(q.Cols) == 0) {
		return sqlerr.New(sqlerr.InvalidParameter, "the %s has %d columns, not one: %s", as, len(q.Cols),
			strings.Join(q.Names, ", ")).WithHint("A loss yields one row with one scalar.")
	}
	for _, c := range q.Cols {
		switch t := q.Node.Col(c).Type; {
		case t.IsChunk():
			return sqlerr.New(sqlerr.DatatypeMismatch, "the %s is an array, %v", as, t).
				WithHint("Reduce it to a scalar, e.g. with sum_elements or sqnorm.")
		case !t.IsFloat():
			return sqlerr.New(sqlerr.DatatypeMismatch, "the %s is of type %v, not a floating-point number", as, t).
				WithHint("A loss yields one row with one scalar; integers, texts and conditions are piecewise constant.")
		}
	}
	return nil
}

// ParseParam reads "table", "schema.table", "table.column" or "schema.table.column".
func ParseParam(ctx context.Context, cat Catalog, s string) (ParamRef, *ra.Table, error) {
	names, ok := nameParts(s)
	if !ok {
		e := sqlerr.New(sqlerr.InvalidParameter, "parameter %q is not a table or table.column", s)
		if strings.ContainsAny(s, " -") {
			e = e.WithHint("A name with spaces or signs is quoted: '%s'.", print.QualifiedName("", s))
		}
		return ParamRef{}, nil, e
	}
	ref, t, err := paramTable(ctx, cat, names)
	if err != nil {
		return ParamRef{}, nil, err
	}
	if t == nil {
		return ParamRef{}, nil, noParam(ctx, cat, s, ref)
	}
	if i := unreadable(t); !t.Declared && i >= 0 {
		return ParamRef{}, nil, noRight(t.Name, t.Cols[i].Name).
			WithDetail("A parameter's key must be readable: it names the rows of its gradient.")
	}
	if !t.Declared {
		return ParamRef{}, nil, sqlerr.New(sqlerr.InvalidParameter, "parameter %q has no primary key", t.Name).
			WithHint("%s", keyHint(ctx, cat, "Without a key the rows of its gradient cannot be named", t))
	}
	ref.Schema = t.Schema
	return ref, t, checkParam(t, ref)
}

// unreadable is the first column that the user may not read; -1: there is none.
func unreadable(t *ra.Table) int {
	return slices.IndexFunc(t.Cols, func(c ra.TableColumn) bool { return c.NoType == ra.NoRight })
}

// noRight is the error of a column that the user may not read.
func noRight(table, column string) *sqlerr.Error {
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for table %s", table).
		WithHint("GRANT SELECT (%s) ON %s TO the role that calls.", print.QualifiedName("", column),
			print.QualifiedName("", table))
}

// keyHint is a hint how a table gets a key.
func keyHint(ctx context.Context, cat Catalog, why string, t *ra.Table) string {
	name := print.QualifiedName(t.Schema, t.Name)
	if u, err := cat.Table(ctx, nil, "", t.Name); err == nil && u != nil && u.Schema == t.Schema {
		name = print.QualifiedName("", t.Name)
	}
	if t.Kind != "" {
		return fmt.Sprintf("%s, and a %s has none: CREATE TABLE … AS TABLE %s makes a table, which can.", why, t.Kind, name)
	}
	return fmt.Sprintf("%s: ALTER TABLE %s ADD PRIMARY KEY (…).", why, name)
}

func checkParam(t *ra.Table, ref ParamRef) error {
	values := 0
	var names []string
	for _, c := range t.Cols {
		// its gradient would lack the part that passes through the columns from which this one is computed
		if c.Computed && c.Type.IsFloat() {
			return sqlerr.New(sqlerr.FeatureNotSupported, "parameter %q has a generated column, %q", t.Name, c.Name).
				WithDetail("The gradient does not go through what the server computes when a row is written.").
				WithHint("Compute it in a view that the loss reads, and drop the column.")
		}
	}
	for i, c := range t.Cols {
		names = append(names, c.Name)
		isKey := false
		for _, k := range t.Key {
			isKey = isKey || k == i
		}
		if (ref.Column == "" || ref.Column == c.Name) && !isKey {
			if c.NoType == ra.NoRight && ref.Column == "" { // another column's: the loss may not need it
				continue
			}
			if c.NoType == ra.NoRight {
				return noRight(t.Name, c.Name)
			}
			if c.NoType != "" && c.IsValue() {
				return sqlerr.New(sqlerr.InvalidParameter, "column %q of parameter %q has no derivative: %s",
					c.Name, t.Name, c.NoType)
			}
			if c.IsValue() {
				values++
			}
		}
	}
	if ref.Column != "" && t.Column(ref.Column) < 0 {
		e := sqlerr.New(sqlerr.UndefinedColumn, "column %q of parameter %q does not exist", ref.Column, t.Name)
		switch n := sqlerr.Nearest(ref.Column, names); {
		case n == "":
		case print.QualifiedName("", n) == n:
			e = e.WithHint("Perhaps you meant %q.", n)
		default: // it needs quotes
			e = e.WithHint("Perhaps you meant '%s'.", print.QualifiedName(t.Name, n))
		}
		return e
	}
	if i := unreadable(t); values == 0 && i >= 0 {
		return noRight(t.Name, t.Cols[i].Name)
	}
	if values == 0 {
		return sqlerr.New(sqlerr.InvalidParameter, "parameter %q has no value column", ref.String()).
			WithDetail("Value columns are real, double precision and arrays of these outside the key.")
	}
	return nil
}

// moreParams is panicked with to bind again with one more parameter.
type moreParams struct{ ref ParamRef }

func (m *moreParams) Error() string { return "sqlfront: parameter " + m.ref.String() }

// binder is shared by all parts of a query. It binds each table and view once, so that each is one node.
type binder struct {
	ctx   context.Context
	cat   Catalog
	b     *ra.Builder
	opt   BindOptions
	scans map[string]*ra.Node
	views map[string]*relation
	batch *relation // the step's rows, once bound
	// orders is set while a batch is bound. Its rows need an identity, which rows of the store lack.
	orders bool

	nulls        nulls
	classes      map[ast.Expr]numberClass // classes of the scalar sub-queries and calls of user functions that are bound
	depth        int
	calls        int // depth of functions being inlined
	needs        ast.Notes
	draws, masks bool
	surprises    []string
	metrics      bool // the query has a metric
}

func newBinder(ctx context.Context, cat Catalog, b *ra.Builder, opt BindOptions) *binder {
	return &binder{ctx: ctx, cat: cat, b: b, opt: opt, scans: map[string]*ra.Node{}, views: map[string]*relation{},
		classes: map[ast.Expr]numberClass{}, nulls: nulls{of: map[ra.ColumnID]*kernels.Expr{}, tables: map[string]*ra.Node{}}}
}

// place is a text being bound, with the WITH items visible in it.
type place struct {
	text  *ast.Text
	view  string
	draws map[*ast.FuncCall]int // dropout calls of the text, in order of their positions
	ctes  []*cte
}

type cte struct {
	name string
	cols []string
	sel  *ast.Select
	rel  *relation
	loop bool      // its WITH is RECURSIVE
	self *relation // the level before, while the step of a recursion is bound
}

// relation is a bound FROM item or query: a node and its visible columns. mask, unless 0, is a boolean column: it tells
// whether a row exists as far as conditions on values decide (law 6).
type relation struct {
	node   *ra.Node
	names  []string
	cols   []ra.ColumnID
	mask   ra.ColumnID // 0: none
	lookup bool        // other inputs look up its values
	table  *ra.Table   // the table that has these columns; nil for a query

	classes []numberClass // of cols, as far as known

	joined []*relation   // made by close: the inputs that are joined
	parts  []kernels.Col // and the columns of theirs that the first columns of node are
}

// MaxViews bounds views over views and nested sub-queries, since planning recurses through them and takes time that
// grows faster than their number.
const MaxViews = 500

func (b *binder) query(sel *ast.Select, text *ast.Text) (*Query, error) {
	rel, err := b.selectStmt(newPlace(text, sel), sel)
	if err == nil {
		err = refuseKin(b)
	}
	if err != nil {
		return nil, sqlerr.In(err, text)
	}
	if rel.mask != 0 { // rows removed by conditions on values are NULL here
		rel = b.unmask(rel)
	}
	if b.opt.Figures {
		rel = b.figures(rel)
	}
	return &Query{Node: rel.node, Cols: rel.cols, Names: rel.names, Scans: b.scans, Draws: b.draws, Masks: b.masks,
		Surprises: b.surprises, Metrics: b.metrics}, nil
}

// surprise notes what a query means and its author perhaps does not, once.
func (b *binder) surprise(what string) {
	if !slices.Contains(b.surprises, what) {
		b.surprises = append(b.surprises, what)
	}
}

func (b *binder) unmask(rel *relation) *relation {
	mask := rel.node.Var(0, rel.mask)
	return b.eachColumn(rel, func(x *kernels.Expr) *kernels.Expr {
		if !rel.node.Col(x.Col.ID).Dep {
			return x
		}
		return kernels.Build("case", mask, x, kernels.Const(kernels.NullOf(x.Type)))
	})
}

// figures makes whole numbers, such as counts, figures too.
func (b *binder) figures(rel *relation) *relation {
	whole := func(t kernels.Type) bool { return t.Kind == kernels.Int && t.Shape == nil }
	if !slices.ContainsFunc(rel.cols, func(id ra.ColumnID) bool { return whole(rel.node.Col(id).Type) }) {
		return rel
	}
	return b.eachColumn(rel, func(x *kernels.Expr) *kernels.Expr {
		if !whole(x.Type) {
			return x
		}
		return kernels.CastTo(kernels.Float64, x)
	})
}

// eachColumn is a relation whose columns are f of those of rel.
func (b *binder) eachColumn(rel *relation, f func(*kernels.Expr) *kernels.Expr) *relation {
	var out []ra.OutCol
	for i, id := range rel.cols {
		out = append(out, ra.OutCol{Name: rel.names[i], X: f(rel.node.Var(0, id))})
	}
	n := b.projection(rel.node, nil, out)
	r := &relation{node: n, names: rel.names, classes: rel.classes}
	for i := range out {
		r.cols = append(r.cols, n.Cols[i].ID)
	}
	return r
}

// at gives an error the frame's text, and the position of a tree unless it has one.
func (f *place) at(err error, t ast.Tree) error {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		if e.Pos < 0 && e.Text == nil {
			e.Pos = int(t.Position())
		}
		if e.Text == nil {
			e.Text = f.text
		}
	}
	return err
}

// fail makes an error at the position of a tree.
func (f *place) fail(t ast.Tree, code, format string, args ...any) *sqlerr.Error {
	e := sqlerr.At(int(t.Position()), code, format, args...)
	e.Text = f.text
	return e
}

func (b *binder) isParam(t *ra.Table) func(int) bool {
	return func(col int) bool {
		for _, k := range t.Key {
			if k == col {
				return false
			}
		}
		return slices.ContainsFunc(b.opt.Params, func(p ParamRef) bool {
			return p.Table == t.Name && (p.Schema == "" || p.Schema == t.Schema) &&
				(p.Column == "" || p.Column == t.Cols[col].Name)
		})
	}
}

// scan returns the one Scan of a table.
func (b *binder) scan(t *ra.Table) *ra.Node {
	name := t.Schema + "." + t.Name
	if n, ok := b.scans[name]; ok {
		return n
	}
	n := b.b.Scan(t, b.isParam(t))
	b.scans[name] = n
	return n
}

// ScanOf returns the scan of a parameter's table in a bound query, nil when the query does not read it.
func (q *Query) ScanOf(t *ra.Table) *ra.Node { return q.Scans[fmt.Sprintf("%s.%s", t.Schema, t.Name)] }

func newPlace(text *ast.Text, sel *ast.Select) *place {
	p := &place{text: text, view: text.View, draws: map[*ast.FuncCall]int{}}
	ast.Each(sel, func(c *ast.FuncCall) {
		if c.Name == "dropout" {
			p.draws[c] = len(p.draws) + 1
		}
	})
	return p
}
