package bind

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/print"
)

// scope is one SELECT's FROM clause: inputs that will be joined, and the names visible in expressions.
type scope struct {
	b      *binder
	f      *place
	inputs []*relation
	equi   []ra.Equi
	pred   []*kernels.Expr
	masks  []*kernels.Expr // conditions on values, and the inputs' masks
	cols   []scopeCol
	stars  []starTarget                    // the targets; those from * are bound
	items  int                             // number of relations of FROM so far
	absent []absent                        // columns that a loss cannot read
	apart  string                          // what two inputs are that must not be joined, e.g. "sides of an outer join"
	post   *grouped                        // set while binding above the grouping
	over   map[*ast.FuncCall]*kernels.Expr // columns of the aggregates over partitions
}

// absent is a column that the algebra cannot represent.
type absent struct{ table, name, why, of string }

type scopeCol struct {
	table, name string
	x           *kernels.Expr
	class       numberClass
	item        int  // number of the relation in FROM
	place       int  // in that relation
	merged      bool // the right side of USING: only its qualified name refers to it
}

func (s *scope) nodes() []*ra.Node {
	return lists.Map(s.inputs, func(r *relation) *ra.Node { return r.node })
}

// addInput appends a relation as the next input slot, visible under alias.
func (s *scope) addInput(r *relation, alias string, cols []string) {
	slot := len(s.inputs)
	s.inputs = append(s.inputs, r)
	for i, id := range r.cols {
		name := r.names[i]
		if i < len(cols) {
			name = cols[i]
		}
		s.cols = append(s.cols, scopeCol{table: alias, name: name, x: r.node.Var(slot, id), class: r.class(i), item: s.items,
			place: i})
	}
	s.items++
	if r.mask != 0 {
		s.masks = append(s.masks, r.node.Var(slot, r.mask))
	}
	if r.table != nil {
		for _, c := range r.table.Cols {
			if c.NoType != "" {
				s.absent = append(s.absent, absent{alias, c.Name, c.NoType, r.table.Name})
			}
		}
	}
}

// from adds an item of FROM. The columns that it makes visible are appended to s.cols.
func (s *scope) from(item ast.FromItem) error {
	if bind := fromBinders[reflect.TypeOf(item)]; bind != nil {
		return bind(s, item)
	}
	return s.f.fail(item, sqlerr.FeatureNotSupported, "this FROM item is not supported in a loss")
}

var (
	_ = bindFrom(joinFrom)
	_ = bindFrom(func(s *scope, it *ast.TableRef) error {
		r, err := s.b.tableRef(s.f, it)
		return s.visible(it, r, err, it.Alias, it.Name)
	})
	_ = bindFrom(func(s *scope, it *ast.SubSelect) error {
		if it.Lateral {
			return s.f.fail(it, sqlerr.FeatureNotSupported, "a LATERAL sub-query is not differentiable yet").
				WithHint("Write it as a join, with GROUP BY where it aggregates.")
		}
		r, err := s.b.subSelect(s.f, it.Query)
		return s.visible(it, r, err, it.Alias, "")
	})
	_ = bindFrom(func(s *scope, it *ast.FuncFrom) error {
		if done, err := tileFrom(s, it); done || err != nil {
			return err
		}
		r, err := funcFrom(s.b, s.f, it)
		return s.visible(it, r, err, it.Alias, it.Func.Name)
	})
)

// maxInputs is the largest number of relations of one FROM clause.
const maxInputs = 100

// visible makes a bound relation an input, visible under its alias or else its name.
func (s *scope) visible(at ast.Tree, r *relation, err error, alias ast.Alias, name string) error {
	if err != nil {
		return err
	}
	if len(s.inputs) >= maxInputs {
		return s.f.fail(at, sqlerr.TooComplex, "more than %d relations are joined at once", maxInputs).
			WithHint("Join fewer of them, or put repeated patterns into rows of one table.")
	}
	name = orName(alias.Name, name)
	for _, c := range s.cols {
		if name != "" && c.table == name {
			return s.f.fail(at, "42712", "table name %q specified more than once", name).
				WithHint("Give each an alias of its own.")
		}
	}
	s.addInput(r, name, alias.Cols)
	return nil
}

func orName(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// joinFrom flattens an inner join into the scope's inputs.
func joinFrom(s *scope, j *ast.JoinFrom) error {
	if j.Kind == ast.JoinFull {
		return s.f.fail(j, sqlerr.FeatureNotSupported, "FULL JOIN is not differentiable").
			WithHint("LEFT JOIN is, and so is UNION ALL with an aggregate above it.")
	}
	if j.Kind != ast.JoinInner {
		return leftJoin(s, j)
	}
	first := len(s.cols)
	if err := s.from(j.L); err != nil {
		return err
	}
	mid := len(s.cols)
	if err := s.from(j.R); err != nil {
		return err
	}
	using := j.Using
	if j.Natural {
		using = common(s.cols[first:mid], s.cols[mid:])
	}
	var met []scopeCol
	for _, name := range using {
		l, err := usingColumn(s, s.cols[first:mid], name, j)
		if err != nil {
			return err
		}
		r, err := usingColumn(s, s.cols[mid:], name, j)
		if err != nil {
			return err
		}
		if err := cmp.Or(refuseInexact(s, []numberClass{l.class, r.class}, []*kernels.Expr{l.x, r.x}, j),
			s.equate(l.x, r.x, j)); err != nil {
			return err
		}
		m, other, err := metColumn(s, *l, *r, j)
		if err != nil {
			return err
		}
		if r.merged = true; other {
			l.merged, met = true, append(met, m)
		}
	}
	s.cols = append(s.cols, met...)
	mergeOrder(s, first, using)
	if j.On != nil {
		if err := s.where(j.On); err != nil {
			return err
		}
	}
	return nil
}

// mergeOrder puts USING columns first, as SELECT * shows them.
func mergeOrder(s *scope, first int, using []string) {
	var head, tail []scopeCol
	for _, name := range using {
		for _, c := range s.cols[first:] {
			if c.name == name && !c.merged {
				head = append(head, c)
			}
		}
	}
	for _, c := range s.cols[first:] {
		if c.merged || !slices.Contains(using, c.name) {
			tail = append(tail, c)
		}
	}
	s.cols = append(append(s.cols[:first:first], head...), tail...)
}

func common(l, r []scopeCol) []string {
	var out []string
	for _, a := range l {
		for _, b := range r {
			if a.name == b.name && !a.merged && !b.merged && !slices.Contains(out, a.name) {
				out = append(out, a.name)
			}
		}
	}
	return out
}

func usingColumn(s *scope, cols []scopeCol, name string, at ast.Tree) (*scopeCol, error) {
	var found *scopeCol
	for i := range cols {
		if cols[i].name == name && !cols[i].merged {
			if found != nil {
				return nil, s.f.fail(at, sqlerr.AmbiguousColumn, "common column name %q appears more than once", name)
			}
			found = &cols[i]
		}
	}
	if found == nil {
		e := s.f.fail(at, sqlerr.UndefinedColumn, "column %q specified in USING clause does not exist", name)
		names := lists.Map(cols, func(c scopeCol) string { return c.name })
		if n := sqlerr.Nearest(name, names); n != "" {
			e = e.WithHint("Perhaps you meant %q.", n)
		}
		return nil, e
	}
	return found, nil
}

// where adds the conjuncts of a condition. Those with sub-queries come last, when the rows are known.
func (s *scope) where(e ast.Expr) error {
	var later []ast.Expr
	for _, e := range conjuncts(e) {
		if ast.Has[*ast.SubLink](e) {
			later = append(later, e)
		} else if err := s.condition(e); err != nil {
			return err
		}
	}
	for _, e := range later {
		if err := s.condition(e); err != nil {
			return err
		}
	}
	return nil
}

// ReadsColumn reports whether an expression reads a column, directly or in a sub-query.
func ReadsColumn(e ast.Expr) bool {
	found := false
	ast.Walk(e, func(t ast.Tree) bool {
		_, is := t.(*ast.ColumnRef)
		found = found || is
		return !found
	})
	return found
}

func hasSubLink(e ast.Expr) bool {
	found := false
	ast.Walk(e, func(t ast.Tree) bool {
		_, is := t.(*ast.SubLink)
		found = found || is
		return !found
	})
	return found
}

// condition adds one conjunct.
func (s *scope) condition(e ast.Expr) error {
	if done, err := bindSemiJoin(s, e); done || err != nil {
		return err
	}
	if eq, ok := e.(*ast.Binary); ok && eq.Op == "=" {
		l, err := s.expr(eq.L)
		if err != nil {
			return err
		}
		r, err := s.expr(eq.R)
		if err != nil {
			return err
		}
		if l, r, err = typeOperands(s, eq, l, r); err != nil {
			return err
		}
		return s.equate(l, r, eq)
	}
	x, err := s.boolean(e)
	if err != nil {
		return err
	}
	s.filter(x)
	return nil
}

// filter adds a condition to the structure, or to the mask if it reads values.
func (s *scope) filter(x *kernels.Expr) {
	if s.depends(x) {
		s.masks, s.b.masks = append(s.masks, x), true
		return
	}
	s.pred = append(s.pred, x)
}

func (s *scope) depends(x *kernels.Expr) bool { return dependsOn(s.nodes(), x) }

// equate adds the condition l = r. If both sides are structure, of two inputs, it becomes a join condition.
func (s *scope) equate(l, r *kernels.Expr, at ast.Tree) error {
	args := []*kernels.Expr{l, r}
	if err := cmp.Or(oneType(s, args, at), checkComparable(s, args, false, at)); err != nil {
		return err
	}
	l, r = args[0], args[1]
	ls, lok := s.oneSlot(l)
	rs, rok := s.oneSlot(r)
	if lok && rok && ls != rs && l.Type.Kind == r.Type.Kind && l.Type.Shape == nil && r.Type.Shape == nil {
		lc, rc := s.columnOf(l, ls), s.columnOf(r, rs)
		s.equi = append(s.equi, ra.Equi{L: lc, R: rc})
		return nil
	}
	x, err := s.compare("eq", l, r, at)
	if err != nil {
		return err
	}
	s.filter(x)
	return nil
}

// oneSlot returns the input that an expression reads. It returns false if it reads several, or a value.
func (s *scope) oneSlot(x *kernels.Expr) (int, bool) {
	slot, ok := -1, true
	x.Cols(func(c kernels.Col) {
		ok = ok && (slot < 0 || slot == c.Input)
		slot = c.Input
	})
	return slot, ok && slot >= 0 && !s.depends(x)
}

// columnOf returns a column that holds x. If x is not a plain column, it projects the input first.
func (s *scope) columnOf(x *kernels.Expr, slot int) kernels.Col {
	if x.IsCol {
		return x.Col
	}
	r := s.inputs[slot]
	out := lists.Map(r.node.Cols, func(c ra.Column) ra.OutCol { return ra.OutCol{Name: c.Name, X: r.node.Var(0, c.ID)} })
	at0 := x.MapCols(func(e *kernels.Expr) *kernels.Expr { return r.node.Var(0, e.Col.ID) })
	n := s.b.projection(r.node, nil, append(out, ra.OutCol{Name: "key", X: at0}))
	fresh := map[ra.ColumnID]ra.ColumnID{}
	for i, c := range r.node.Cols {
		fresh[c.ID] = n.Cols[i].ID
	}
	s.replaceInput(slot, n, fresh)
	return kernels.Col{Input: slot, ID: n.Cols[len(out)].ID}
}

// replaceInput replaces an input by a projection of it, whose first columns are its own, and renames its columns
// everywhere in the scope.
func (s *scope) replaceInput(slot int, n *ra.Node, fresh map[ra.ColumnID]ra.ColumnID) {
	old := s.inputs[slot]
	r := &relation{node: n, names: old.names, classes: old.classes, mask: fresh[old.mask], lookup: old.lookup,
		joined: old.joined, parts: old.parts}
	for _, id := range old.cols {
		r.cols = append(r.cols, fresh[id])
	}
	s.inputs[slot] = r
	swap := func(x *kernels.Expr) *kernels.Expr {
		return x.MapCols(func(e *kernels.Expr) *kernels.Expr {
			if e.Col.Input == slot {
				return n.Var(slot, fresh[e.Col.ID])
			}
			return e
		})
	}
	s.rename(swap)
	renameAll(swap, s.pred)
	for i := range s.equi {
		for _, c := range []*kernels.Col{&s.equi[i].L, &s.equi[i].R} {
			if c.Input == slot {
				c.ID = fresh[c.ID]
			}
		}
	}
}

// mask is the conjunction of the scope's masks, nil when there is none.
func (s *scope) mask() *kernels.Expr {
	var m *kernels.Expr
	for _, x := range s.masks {
		if m == nil {
			m = x
		} else {
			m = kernels.Build("and", m, x)
		}
	}
	return m
}

// column resolves a column reference among the visible columns.
func (s *scope) column(c *ast.ColumnRef) (*kernels.Expr, error) {
	sc, err := s.visibleAs(c)
	if err != nil {
		return nil, err
	}
	return sc.x, nil
}

// visibleAs finds the visible column to which a reference refers.
func (s *scope) visibleAs(c *ast.ColumnRef) (*scopeCol, error) {
	name := c.Names[len(c.Names)-1]
	table := ""
	if len(c.Names) > 1 {
		table = c.Names[len(c.Names)-2]
	}
	var found *scopeCol
	var near []string
	tables := map[string]bool{}
	for i := range s.cols {
		sc := &s.cols[i]
		tables[sc.table] = true
		if sc.name != name {
			near = append(near, sc.name)
			continue
		}
		if table != "" && sc.table != table || table == "" && sc.merged {
			continue
		}
		if found != nil && !found.x.Same(sc.x) {
			return nil, s.f.fail(c, sqlerr.AmbiguousColumn, "column reference %q is ambiguous", name)
		}
		found = sc
	}
	if found != nil {
		return found, nil
	}
	if table != "" && !tables[table] {
		e := s.f.fail(c, sqlerr.UndefinedTable, "missing FROM-clause entry for table %q", table)
		if n := sqlerr.Nearest(table, slices.Sorted(maps.Keys(tables))); n != "" {
			e = e.WithHint("Perhaps you meant %q.", n)
		}
		return nil, e
	}
	for _, a := range s.absent {
		if a.name == name && (table == "" || a.table == table) {
			if a.why == ra.NoRight {
				e := s.f.fail(c, sqlerr.InsufficientPrivilege, "permission denied for table %s", a.of)
				return nil, e.WithHint("The engine reads the tables of a loss, also those behind its views, with the rights of "+
					"who calls: GRANT SELECT (%s) ON them.", print.QualifiedName("", name))
			}
			return nil, s.f.fail(c, sqlerr.InvalidParameter,
				"column %q of %q cannot be read by a loss: %s", name, a.table, a.why)
		}
	}
	e := s.f.fail(c, sqlerr.UndefinedColumn, "column %q does not exist", strings.Join(c.Names, "."))
	if n := sqlerr.Nearest(name, near); n != "" {
		e = e.WithHint("Perhaps you meant %q.", n)
	}
	return nil, e
}

// tableRef binds a name in FROM: a CTE, a view or a table.
func (b *binder) tableRef(f *place, t *ast.TableRef) (*relation, error) {
	if c, before := f.cte(t); c != nil {
		return b.cte(before, c)
	}
	if r, err := b.view(f, t); r != nil || err != nil {
		return r, err
	}
	tab, err := b.cat.Table(b.ctx, f.text.Path, t.Schema, t.Name)
	if err != nil {
		return nil, f.at(err, t)
	}
	if tab != nil && t.Only {
		return nil, f.fail(t, sqlerr.FeatureNotSupported, "ONLY %s is not supported in a loss", t.Name).
			WithHint("%s", inSubQuery)
	}
	if tab == nil {
		e := f.fail(t, sqlerr.UndefinedTable, "relation %q does not exist", strings.TrimPrefix(t.Schema+"."+t.Name, "."))
		switch n := sqlerr.Nearest(t.Name, b.cat.Names(b.ctx)); {
		case n == t.Name:
			e = e.WithHint("There is %q, outside of the schema %q.", n, t.Schema)
		case n != "":
			e = e.WithHint("Perhaps you meant %q.", n)
		case strings.HasPrefix(t.Name, "pg_"):
			e = e.WithHint("A catalogue of the server may stand in a sub-query that reads no parameter.")
		}
		return nil, e
	}
	for _, k := range tab.Key {
		if k != ra.RowID && tab.Cols[k].PGType == "numeric" {
			return nil, f.fail(t, sqlerr.FeatureNotSupported,
				"the key column %q of %q is numeric, which a loss would round to double precision", tab.Cols[k].Name, t.Name).
				WithHint("Use bigint or text for keys.")
		}
	}
	scan := b.scan(tab)
	r := &relation{node: b.telling(scan), table: tab}
	for i, c := range r.node.Cols[:len(scan.Cols)] {
		if scan.TableCols[i] != ra.RowID {
			r.names, r.cols = append(r.names, c.Name), append(r.cols, c.ID)
			r.classes = append(r.classes, classOf[tab.Cols[scan.TableCols[i]].PGType])
		}
	}
	return batchedRows(b, tab.Schema, tab.Name, r), nil
}

// view binds a view once; nil where t names none.
func (b *binder) view(f *place, t *ast.TableRef) (*relation, error) {
	v, err := b.cat.View(b.ctx, f.text.Path, t.Schema, t.Name)
	if v == nil || err != nil {
		return nil, f.at(err, t)
	}
	if r, ok := b.views[v.Schema+"."+v.Name]; ok {
		return r, nil
	}
	where := b.needs.Views[t]
	if t := b.opt.Batch; t != nil && t.Schema == v.Schema && t.Name == v.Name {
		defer func(before bool) { b.orders = before }(b.orders)
		b.orders, where = true, nil // batches are drawn from all rows
	}
	r, where, err := b.viewRows(v, where)
	if err != nil {
		return nil, sqlerr.In(err, v.Text)
	}
	if err := unstreamed(b, v, r); err != nil {
		return nil, f.at(err, t)
	}
	r = &relation{node: r.node, names: slices.Clone(r.names), cols: r.cols, classes: r.classes, mask: r.mask}
	copy(r.names, v.Cols)
	r = batchedRows(b, v.Schema, v.Name, r)
	if where == nil { // else it is bound at each use
		b.views[v.Schema+"."+v.Name] = r
	}
	return r, nil
}

// readsRange reports whether a view reads what lies outside of the database, itself or through other views.
func readsRange(b *binder, v *View, seen map[*View]bool) bool {
	seen[v] = true
	found := ast.ReadsRange(v.Query)
	ast.Walk(v.Query, func(t ast.Tree) bool {
		if x, ok := t.(*ast.TableRef); ok && !found {
			w, err := b.cat.View(b.ctx, v.Text.Path, x.Schema, x.Name)
			found = err == nil && w != nil && !seen[w] && readsRange(b, w, seen)
		}
		return !found
	})
	return found
}

// viewRows binds a view's query. Where it reads what lies outside of the database, only the rows may be there of which
// conditions on the view's columns hold; it returns those that were used.
func (b *binder) viewRows(v *View, where []ast.Condition) (*relation, []ast.Condition, error) {
	if where != nil && !readsRange(b, v, map[*View]bool{}) {
		where = nil
	}
	b.needs.Around(v.Query, where)
	r, err := b.subSelect(newPlace(v.Text, v.Query), v.Query)
	if err == nil && where != nil && v.Cols != nil && !slices.Equal(r.names, v.Cols) {
		return b.viewRows(v, nil) // the conditions may be on other columns
	}
	return r, where, err
}

// cte binds a WITH item once. Names in it are resolved at its own place, not where the item is read.
func (b *binder) cte(f *place, c *cte) (*relation, error) {
	switch {
	case c.self != nil:
		return c.self, nil
	case c.rel != nil:
		return c.rel, nil
	}
	bind := b.subSelect
	if c.loop && refersTo(c.sel, c.name) {
		bind = func(f *place, _ *ast.Select) (*relation, error) { return recursion(b, f, c) }
	}
	r, err := bind(f, c.sel)
	if err != nil {
		return nil, err
	}
	c.rel = &relation{node: r.node, names: slices.Clone(r.names), cols: r.cols, classes: r.classes, mask: r.mask}
	copy(c.rel.names, c.cols)
	return c.rel, nil
}
