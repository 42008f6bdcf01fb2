package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/autodiff"
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// Catalogue is a database in the role of bind.Catalog for the binder and of ra.Source for the executor.
type Catalogue struct {
	db       catalog.Database
	settings map[string]string // settings read through Setting
	Env      kernels.Env       // for current_step() and the like in sub-queries that the store runs
	views    map[*catalog.ViewDef]*bind.View
	names    map[Lookup]Object                      // names looked up, and their meaning
	answers  map[*bind.OpaqueQuery][]*column.Column // rows from Describe, kept until the executor reads them
	reads    map[*bind.OpaqueQuery][]Object         // tables that a sub-query has read
	// perStep are tables whose rows may change at every step; set while a query is compiled.
	perStep map[Object]bool
	// tables are the tables described while a query is planned, because describing counts rows; nil: no planning now.
	tables    map[Object]*ra.Table
	described []description // sub-queries described while a query is planned
	literals  bool          // a literal was read whose meaning depends on settings
	reading   time.Duration // total time of the executor's reads
}

func newCatalogue(db catalog.Database) *Catalogue {
	return &Catalogue{db: db, settings: map[string]string{}, names: map[Lookup]Object{},
		views: map[*catalog.ViewDef]*bind.View{}, answers: map[*bind.OpaqueQuery][]*column.Column{},
		reads: map[*bind.OpaqueQuery][]Object{}}
}

// description is what Describe has found of a sub-query's rows.
type description struct {
	query *bind.OpaqueQuery
	cols  []ra.Column
}

// Lookup is the name of a relation or function as a query writes it. path is the joined search path; "": the session's.
type Lookup struct {
	path, schema, Name string
	function           bool
	reach              bool // name is a query, and the question is what it reads
}

// Object is the meaning of a name: the immutable definition of a view or function, or a table. All fields are zero
// where nothing has the name.
type Object struct {
	view          *catalog.ViewDef
	Schema, Table string
	function      *ast.CreateFunction
	wrong         error  // the error of an ambiguous name
	reach         string // what a query reads
}

// Notes runs f and returns the names and settings that f has looked up.
func (c *Catalogue) Notes(f func() error) (map[Lookup]Object, map[string]string, error) {
	names, settings := c.names, c.settings
	defer func() { c.names, c.settings = names, settings }() // calls may be nested
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

// OnPath reports whether names are looked up in a schema: it is on the search path, or that of temporary tables.
func (c *Catalogue) OnPath(schema string) bool {
	return strings.HasPrefix(schema, "pg_temp") || slices.Contains(c.db.SearchPath(), schema)
}

// on records that a name was looked up: a plan is valid while the name has the same meaning.
func (c *Catalogue) on(path []string, schema, name string) []string {
	l := Lookup{path: strings.Join(path, "\x00"), schema: schema, Name: name}
	c.names[l] = c.Resolve(l)
	if path == nil {
		path = c.db.SearchPath()
	}
	return path
}

// Function implements bind.Catalog.
func (c *Catalogue) Function(_ context.Context, path []string, schema, name string) (*ast.CreateFunction, error) {
	l := Lookup{path: strings.Join(path, "\x00"), schema: schema, Name: name, function: true}
	c.names[l] = c.Resolve(l)
	return c.names[l].function, c.names[l].wrong
}

// Table implements bind.Catalog.
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

// stepRows is the number of rows assumed for a table whose rows change from step to step.
const stepRows = 1000

// unsettle describes a table so that the plan is right, and the same, for any rows in it.
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

// markSteps marks the nodes of a plan that are read again at every step.
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

// View implements bind.Catalog.
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

// Reach implements bind.Catalog.
func (c *Catalogue) Reach(ctx context.Context, sql string) (*bind.Reach, error) {
	r, err := c.db.Reach(ctx, sql)
	if err == nil && r != nil {
		c.names[Lookup{Name: sql, reach: true}] = Object{reach: r.String()}
	}
	return r, err
}

// Names implements bind.Catalog.
func (c *Catalogue) Names(context.Context) []string { return c.db.Relations() }

// Setting implements bind.Catalog.
func (c *Catalogue) Setting(name string) (string, bool) {
	v, ok := c.db.Setting(name)
	c.settings[name] = v
	return v, ok
}

// Named implements bind.Catalog.
func (c *Catalogue) Named(_ context.Context, path []string, t ast.TypeName) (*kernels.Named, error) {
	return c.db.Named(c.on(path, t.Schema, t.Name), t)
}

// Literal implements bind.Catalog.
func (c *Catalogue) Literal(t *kernels.Named, text string) (string, error) {
	c.literals = true
	return c.db.Literal(t, text)
}

// Text implements bind.Catalog.
func (c *Catalogue) Text() *kernels.Named { return c.db.Text() }

// Describe implements bind.Catalog. It keeps the rows for the executor, which reads them next.
func (c *Catalogue) Describe(ctx context.Context, q *bind.OpaqueQuery) ([]ra.Column, error) {
	names, types, data, err := c.run(ctx, q)
	if err != nil {
		return nil, err
	}
	var cols []ra.Column
	for i, v := range data {
		if strings.HasSuffix(types[i], "[]") && v.Type().IsFloat() && v.Type().Shape == nil {
			return nil, sqlerr.New(sqlerr.InvalidParameter,
				"column %q of the sub-query holds no chunk, so its shape is not known", names[i]).
				WithDetail("The sub-query gives %d rows.", v.Len())
		}
		col := ra.Column{Name: names[i], Type: v.Type()}
		col.Type.Nullable = col.Type.Nullable || c.unsettled(q)
		cols = append(cols, col)
	}
	c.answers[q], q.Types = data, types
	c.described = append(c.described, description{q, cols})
	return cols, nil
}

// Structure implements bind.Catalog.
func (c *Catalogue) Structure(ctx context.Context, b *ra.Builder, n *ra.Node) ([]*column.Column, error) {
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

// Watch calls f too for each table that is read, until back is called.
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

// run runs a sub-query that reads no parameter.
func (c *Catalogue) run(ctx context.Context, q *bind.OpaqueQuery) (names, types []string, data []*column.Column,
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
	switch data[0].Len() {
	case 0:
		t := data[0].Type()
		data[0] = column.New(t, 1)
		data[0].SetNull(0)
	case 1:
	default:
		return nil, nil, nil, sqlerr.New(sqlerr.Cardinality, "more than one row returned by a subquery used as an expression")
	}
	return names, types, data, nil
}

// timeRead measures the time until the returned function is called and adds it to reading. Reads may be nested.
func (c *Catalogue) timeRead() func() {
	begin, before := time.Now(), c.reading
	return func() { c.reading = before + time.Since(begin) }
}

// Opaque implements ra.Source.
func (c *Catalogue) Opaque(ctx context.Context, n *ra.Node, env *kernels.Env) ([]*column.Column, error) {
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
		if v.Len() == 0 {
			data[i] = column.New(want, 0)
		} else if !v.Type().Is(want) || v.Type().Nullable && !want.Nullable {
			return nil, sqlerr.New(sqlerr.ArraySubscript,
				"column %q of the sub-query is %v at step %d, it was %v when the loss was compiled", n.Cols[i].Name, v.Type(),
				env.Step, want)
		}
		if of, now := want.Of, v.Type().Of; of != nil && of.Asked != nil && *of.Asked && now != nil && now.Equal != "" {
			return nil, sqlerr.New(sqlerr.SerializationFailure,
				"column %q of the sub-query: %s, and there were none when the loss was compiled",
				n.Cols[i].Name, now.Equal).WithHint("Run the statement again: it is planned for what is there now.")
		}
	}
	return data, nil
}

// Read implements ra.Source.
func (c *Catalogue) Read(ctx context.Context, t *ra.Table, cols []int) ([]*column.Column, error) {
	defer c.timeRead()()
	return c.db.Read(ctx, t, cols)
}

// ReadInto implements ra.Roomy. If the database cannot read into given memory, it calls Read.
func (c *Catalogue) ReadInto(ctx context.Context, t *ra.Table, cols []int, room ra.Room) ([]*column.Column, error) {
	db, ok := c.db.(ra.Roomy)
	if !ok {
		return c.Read(ctx, t, cols)
	}
	defer c.timeRead()()
	return db.ReadInto(ctx, t, cols, room)
}

// print prints the query of an Opaque node for generated SQL.
func (c *Catalogue) print(ctx context.Context, n *ra.Node) (string, error) {
	q := n.Query.(*bind.OpaqueQuery)
	if q.Select == nil {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "the rows of a step have no form in SQL")
	}
	return c.text(ctx, q)
}

// text prints a sub-query for the database. A scalar one is NULL where it has no row.
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
