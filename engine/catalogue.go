package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/autodiff"
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// Catalogue shows a store to the binder (sqlfront.Catalog) and the executor (ra.Source).
type Catalogue struct {
	db       catalog.Database
	settings map[string]string // what was read through Setting
	Env      kernels.Env       // what current_step() and current_seed() give to sub-queries that the store runs
	views    map[*catalog.ViewDef]*bind.View
	names    map[Lookup]Object                  // what was looked up, and what it was
	answers  map[*bind.OpaqueQuery][]*ra.Vector // from Describe, until the executor asks
	reads    map[*bind.OpaqueQuery][]Object     // tables that a sub-query looked at
	// tables that other rows may be in at every step, while a query is compiled
	perStep map[Object]bool
	// described while a query is planned: a description counts rows; nil: none is planned
	tables    map[Object]*ra.Table
	described []description // sub-queries that were described while a query is planned
	literals  bool          // one was read, which the session's settings have a say in
	reading   time.Duration // how long the executor's reads have taken
}

func newCatalogue(db catalog.Database) *Catalogue {
	return &Catalogue{db: db, settings: map[string]string{}, names: map[Lookup]Object{},
		views: map[*catalog.ViewDef]*bind.View{}, answers: map[*bind.OpaqueQuery][]*ra.Vector{},
		reads: map[*bind.OpaqueQuery][]Object{}}
}

// description is what was found of a sub-query's rows.
type description struct {
	query *bind.OpaqueQuery
	cols  []ra.Column
}

// Lookup is a name as a query writes it, of a relation or a function; path is joined, "" for the session's.
type Lookup struct {
	path, schema, Name string
	function           bool
	reach              bool // name is a query, and what it reads is asked for
}

// Object is what a name means: a view's or function's definition, which are immutable, or a table. All are zero where
// there is nothing of that name.
type Object struct {
	view          *catalog.ViewDef
	Schema, Table string
	function      *ast.CreateFunction
	wrong         error  // of a name that may mean several
	reach         string // what a query reads
}

// Notes runs f and returns the names and settings that it read.
func (c *Catalogue) Notes(f func() error) (map[Lookup]Object, map[string]string, error) {
	names, settings := c.names, c.settings
	defer func() { c.names, c.settings = names, settings }() // f may run amid another
	c.names, c.settings = map[Lookup]Object{}, map[string]string{}
	err := f()
	return c.names, c.settings, err
}

// Resolve looks a name up.
func (c *Catalogue) Resolve(l Lookup) Object {
	path := c.db.SearchPath()
	if l.path != "" {
		path = strings.Split(l.path, "\x00")
	}
	if l.reach {
		if r, err := c.db.Reach(context.Background(), l.Name); err == nil && r != nil {
			return Object{reach: r.String()}
		}
		return Object{}
	}
	if l.function {
		f, err := c.db.FunctionOn(path, l.schema, l.Name)
		return Object{function: f, wrong: err}
	}
	t, v := c.db.Relation(path, l.schema, l.Name)
	if t == nil {
		return Object{view: v}
	}
	return Object{view: v, Schema: t.Schema, Table: t.Name}
}

// on notes that a name was looked up; the plan holds as long as it means the same.
func (c *Catalogue) on(path []string, schema, name string) []string {
	l := Lookup{path: strings.Join(path, "\x00"), schema: schema, Name: name}
	c.names[l] = c.Resolve(l)
	if path == nil {
		path = c.db.SearchPath()
	}
	return path
}

// Function implements sqlfront.Catalog.
func (c *Catalogue) Function(_ context.Context, path []string, schema, name string) (*ast.CreateFunction, error) {
	l := Lookup{path: strings.Join(path, "\x00"), schema: schema, Name: name, function: true}
	c.names[l] = c.Resolve(l)
	return c.names[l].function, c.names[l].wrong
}

// Table implements sqlfront.Catalog.
func (c *Catalogue) Table(_ context.Context, path []string, schema, name string) (*ra.Table, error) {
	on := c.on(path, schema, name)
	of := c.names[Lookup{path: strings.Join(path, "\x00"), schema: schema, Name: name}]
	t, err := c.tables[of], error(nil)
	if t == nil {
		t, err = c.db.TableOn(on, schema, name)
		if t != nil && c.tables != nil && of.Table != "" {
			c.tables[of] = t
		}
	}
	if sqlerr.Code(err) == sqlerr.UndefinedTable {
		return nil, nil
	}
	if t != nil && c.perStep[Object{Schema: t.Schema, Table: t.Name}] {
		c.unsettle(t)
	}
	return t, err
}

// stepRows is the number of rows that plans assume of a table whose rows change from step to step.
const stepRows = 1000

// unsettle describes a table so that the plan holds whatever rows are in it, and is the same plan.
func (c *Catalogue) unsettle(t *ra.Table) {
	def := c.db.Definition(t.Schema, t.Name)
	t.Rows = stepRows
	if len(def.Keys()) == 0 {
		t.Key, t.Declared = []int{ra.RowID}, false
	}
	for i := range t.Cols {
		t.Cols[i].Type.Nullable = !def.Cols[i].NotNull
	}
}

// unsettled reports whether a sub-query reads a table whose rows change from step to step.
func (c *Catalogue) unsettled(q *bind.OpaqueQuery) bool {
	return slices.ContainsFunc(c.reads[q], func(t Object) bool { return c.perStep[t] })
}

// markSteps marks what a plan reads again at every step.
func (c *Catalogue) markSteps(p *ra.Plan) {
	if len(c.perStep) == 0 {
		return
	}
	ra.Walk(func(n *ra.Node) {
		switch n.Op {
		case ra.Scan:
			n.PerStep = c.perStep[Object{Schema: n.Table.Schema, Table: n.Table.Name}]
		case ra.Opaque:
			n.PerStep = n.PerStep || c.unsettled(n.Query.(*bind.OpaqueQuery))
		}
	}, p.Nodes()...)
}

// View implements sqlfront.Catalog.
func (c *Catalogue) View(_ context.Context, path []string, schema, name string) (*bind.View, error) {
	def, ok := c.db.View(c.on(path, schema, name), schema, name)
	if !ok {
		return nil, nil
	}
	if v := c.views[def]; v != nil {
		return v, nil
	}
	text := &ast.Text{SQL: def.SQL, View: def.Name, Path: def.ReadPath(), Stars: def.Stars}
	sel, err := parse.ParseQuery(text)
	if err != nil {
		return nil, err
	}
	v := &bind.View{Schema: def.Schema, Name: def.Name, Query: sel, Text: text}
	for _, col := range def.Cols {
		v.Cols = append(v.Cols, col.Name)
	}
	c.views[def] = v
	return v, nil
}

// Reach implements sqlfront.Catalog.
func (c *Catalogue) Reach(ctx context.Context, sql string) (*bind.Reach, error) {
	r, err := c.db.Reach(ctx, sql)
	if err == nil && r != nil {
		c.names[Lookup{Name: sql, reach: true}] = Object{reach: r.String()}
	}
	return r, err
}

// Names implements sqlfront.Catalog.
func (c *Catalogue) Names(context.Context) []string { return c.db.Relations() }

// Setting implements sqlfront.Catalog.
func (c *Catalogue) Setting(name string) (string, bool) {
	v, ok := c.db.Setting(name)
	c.settings[name] = v
	return v, ok
}

// Named implements sqlfront.Catalog.
func (c *Catalogue) Named(_ context.Context, path []string, t ast.TypeName) (*kernels.Named, error) {
	return c.db.Named(c.on(path, t.Schema, t.Name), t)
}

// Literal implements sqlfront.Catalog.
func (c *Catalogue) Literal(t *kernels.Named, text string) (string, error) {
	c.literals = true
	return c.db.Literal(t, text)
}

// Text implements sqlfront.Catalog.
func (c *Catalogue) Text() *kernels.Named { return c.db.Text() }

// Describe implements sqlfront.Catalog. The answer is kept for the executor, which asks next.
func (c *Catalogue) Describe(ctx context.Context, q *bind.OpaqueQuery) ([]ra.Column, error) {
	names, types, data, err := c.run(ctx, q)
	if err != nil {
		return nil, err
	}
	var cols []ra.Column
	for i, v := range data {
		if strings.HasSuffix(types[i], "[]") && v.Type.IsFloat() && v.Type.Shape == nil {
			return nil, sqlerr.New(sqlerr.InvalidParameter,
				"column %q of the sub-query holds no chunk, so its shape is not known", names[i]).
				WithDetail("The sub-query gives %d rows.", v.N)
		}
		col := ra.Column{Name: names[i], Type: v.Type}
		col.Type.Nullable = col.Type.Nullable || c.unsettled(q)
		cols = append(cols, col)
	}
	c.answers[q], q.Types = data, types
	c.described = append(c.described, description{q, cols})
	return cols, nil
}

// Structure implements sqlfront.Catalog.
func (c *Catalogue) Structure(ctx context.Context, b *ra.Builder, n *ra.Node) ([]*ra.Vector, error) {
	n, err := autodiff.Expand(ctx, b, n)
	if err != nil {
		return nil, err
	}
	root := ra.Root{Name: "structure", Node: n}
	for _, col := range n.Cols {
		root.Cols = append(root.Cols, col.ID)
	}
	plan, _, err := optimizer.Whole(ctx, b, &ra.Plan{Roots: []ra.Root{root}}, optimizer.Options{})
	if err != nil {
		return nil, err
	}
	prog, err := executor.Compile(ctx, plan, c, executor.Options{})
	if err != nil {
		return nil, err
	}
	defer prog.Close()
	if err := prog.Run(ctx, kernels.Env{}); err != nil {
		return nil, err
	}
	return prog.Result(0)
}

// Watch adds to who is told of the tables that are looked at; back leaves those from before.
func (c *Catalogue) Watch(f func(schema, name string) error) (back func()) {
	var outer func(schema, name string) error
	outer = c.db.Watch(func(schema, name string) error {
		if err := f(schema, name); err != nil || outer == nil {
			return err
		}
		return outer(schema, name)
	})
	return func() { c.db.Watch(outer) }
}

// run runs a parameter-free sub-query.
func (c *Catalogue) run(ctx context.Context, q *bind.OpaqueQuery) (names, types []string, data []*ra.Vector,
	err error) {
	c.reads[q] = nil
	defer c.Watch(func(schema, name string) error {
		c.reads[q] = append(c.reads[q], Object{Schema: schema, Table: name})
		return nil
	})()
	if err := c.db.Draw(c.Env); err != nil {
		return nil, nil, nil, err
	}
	cols, data, err := c.db.Query(ctx, q.Select, q.Text)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, r := range cols {
		names, types = append(names, r.Name), append(types, r.Type)
	}
	if !q.Scalar {
		return names, types, data, nil
	}
	if len(data) != 1 {
		return nil, nil, nil, sqlerr.New(sqlerr.Syntax, "subquery must return only one column")
	}
	switch data[0].N {
	case 0:
		t := data[0].Type
		data[0] = ra.NewVector(t, 1)
		data[0].SetNull(0)
		data[0].Type.Nullable = true
	case 1:
	default:
		return nil, nil, nil, sqlerr.New(sqlerr.Cardinality, "more than one row returned by a subquery used as an expression")
	}
	return names, types, data, nil
}

// timeRead adds the time until the returned function is called to that of reading; a read may hold others.
func (c *Catalogue) timeRead() func() {
	begin, before := time.Now(), c.reading
	return func() { c.reading = before + time.Since(begin) }
}

// Opaque implements ra.Source.
func (c *Catalogue) Opaque(ctx context.Context, n *ra.Node, env *kernels.Env) ([]*ra.Vector, error) {
	defer c.timeRead()()
	q := n.Query.(*bind.OpaqueQuery)
	if data, ok, err := bind.Rows(n, env); ok {
		return data, err
	}
	if data, ok := c.answers[q]; ok && !n.PerStep {
		return data, nil
	}
	before := c.Env
	c.Env = *env
	defer func() { c.Env = before }()
	_, _, data, err := c.run(ctx, q)
	if err != nil {
		return nil, err
	}
	for i, v := range data {
		want := n.Cols[i].Type
		if v.N == 0 {
			data[i] = ra.NewVector(want, 0)
		} else if !v.Type.Is(want) || v.Type.Nullable && !want.Nullable {
			return nil, sqlerr.New(sqlerr.ArraySubscript,
				"column %q of the sub-query is %v at step %d, it was %v when the loss was compiled", n.Cols[i].Name, v.Type,
				env.Step, want)
		}
		if of, now := want.Of, v.Type.Of; of != nil && of.Asked != nil && *of.Asked && now != nil && now.Equal != "" {
			return nil, sqlerr.New(sqlerr.SerializationFailure,
				"column %q of the sub-query: %s, and there were none when the loss was compiled",
				n.Cols[i].Name, now.Equal).WithHint("Run the statement again: it is planned for what is there now.")
		}
	}
	return data, nil
}

// Read implements ra.Source.
func (c *Catalogue) Read(ctx context.Context, t *ra.Table, cols []int) ([]*ra.Vector, error) {
	defer c.timeRead()()
	return c.db.Read(ctx, t, cols)
}

// ReadInto implements ra.Roomy; a database that reads into memory of its own is asked as ever.
func (c *Catalogue) ReadInto(ctx context.Context, t *ra.Table, cols []int, room ra.Room) ([]*ra.Vector, error) {
	db, ok := c.db.(ra.Roomy)
	if !ok {
		return c.Read(ctx, t, cols)
	}
	defer c.timeRead()()
	return db.ReadInto(ctx, t, cols, room)
}

// print prints an Opaque node's query for generated SQL.
func (c *Catalogue) print(ctx context.Context, n *ra.Node) (string, error) {
	q := n.Query.(*bind.OpaqueQuery)
	if q.Select == nil {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "the rows of a step have no form in SQL")
	}
	return c.text(ctx, q)
}

// text prints a sub-query as the database runs it. One that stands for a value is NULL where it has no row.
func (c *Catalogue) text(ctx context.Context, q *bind.OpaqueQuery) (string, error) {
	s, err := c.db.Native(ctx, q.Select, q.Text)
	if err == nil && q.Scalar {
		s = "SELECT (" + s + ")"
	}
	return s, err
}

func (o Object) Compare(p Object) int {
	return cmp.Or(strings.Compare(o.Schema, p.Schema), strings.Compare(o.Table, p.Table))
}
