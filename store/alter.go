package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/bind"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/definitions"
)

func alterTable(b *writer, s *ast.AlterTable) (*catalog.Result, error) {
	r := &catalog.Result{Tag: "ALTER " + strings.ToUpper(s.Kind)}
	t, v := b.db.cat.Relation(b.Path, s.Schema, s.Name)
	alterable(b, s, t, v)
	switch {
	case len(s.Actions) == 1 && s.Actions[0].Kind == "rename" && t == nil:
		return r, renameOther(b, s, v)
	case t == nil && v == nil && s.IfExists:
		r.Notice = fmt.Sprintf("relation \"%s\" does not exist, skipping", s.Name)
		return r, nil
	case v != nil:
		b.Refuse(s.At, "ALTER of a view's columns", "Use CREATE OR REPLACE VIEW.")
	case t == nil:
		b.UndefinedTable(s.At, s.Schema, s.Name)
	}
	for i := range s.Actions {
		t = b.db.cat.Tables[definitions.KeyOf(t)]
		var err error
		if t, err = alterOne(b, t, &s.Actions[i], r); err != nil {
			return nil, err
		}
		b.db.bump(definitions.KeyOf(t), true)
	}
	return r, nil
}

// alterable refuses ALTER TABLE on another kind of relation; only its RENAME takes every kind.
func alterable(b *writer, s *ast.AlterTable, t *catalog.TableDef, v *catalog.ViewDef) {
	rename := s.Actions[0].Kind == "rename" || s.Actions[0].Kind == "rename_column"
	switch is := ""; {
	case t == nil && v == nil:
		return
	case t != nil:
		is = definitions.KindOf(t)
		fallthrough
	default:
		if is == "" {
			is = "view"
		}
		if is != s.Kind && !(rename && s.Kind == "table") && s.Kind != "" {
			b.Fail(s.At, sqlerr.WrongObjectType, "\"%s\" is not a %s", s.Name, s.Kind)
		}
	}
}

// alterOne runs one action and returns the table's new definition.
func alterOne(b *writer, t *catalog.TableDef, a *ast.AlterAction, r *catalog.Result) (*catalog.TableDef, error) {
	n := t.Clone()
	n.Count = n.Count.AsStale()
	switch a.Kind {
	case "noop":
		columnOf(b, a.At, t, a.Col)
		return t, nil
	case "add_column":
		same := sameViews(b, a, t)
		n, err := alterAdd(b, t, n, a)
		if err == nil {
			same()
		}
		return n, err
	case "drop_column":
		return alterDrop(b, t, n, a, r)
	case "rename_column":
		return alterRenameColumn(b, t, n, a)
	case "rename":
		return alterRename(b, t, n, a)
	case "set_default":
		c := columnOf(b, a.At, n, a.Col)
		noIdentityOf(b, a.At, n, c)
		c.Default = defaultText(b, n, c, a.X)
		return n, b.db.putTable(definitions.KeyOf(n), n)
	case "drop_default":
		c := columnOf(b, a.At, n, a.Col)
		noIdentityOf(b, a.At, n, c)
		c.Default = ""
		return n, b.db.putTable(definitions.KeyOf(n), n)
	case "set_not_null", "drop_not_null":
		c := columnOf(b, a.At, n, a.Col)
		c.NotNull = a.Kind == "set_not_null"
		if !c.NotNull && n.PK != nil && slices.Contains(n.PK.Cols, c.Name) {
			b.Fail(a.At, "42P16", "column \"%s\" is in a primary key", c.Name)
		}
		return n, rebuild(b, a.At, t, n, nil)
	case "add_constraint":
		addConstraint(b, n, a.Constraint)
		return n, rebuild(b, a.At, t, n, nil)
	case "alter_type":
		return alterType(b, t, n, a)
	}
	b.Refuse(a.At, "this action of ALTER TABLE", "")
	return nil, nil
}

// noIdentityOf refuses to change the default of an identity column. A serial column loses its sequence.
func noIdentityOf(b *writer, at ast.Pos, t *catalog.TableDef, c *catalog.Column) {
	if c.Identity != nil && !c.Identity.Serial {
		b.Fail(at, sqlerr.Syntax, "column \"%s\" of relation \"%s\" is an identity column", c.Name, t.Name)
	}
	c.Identity = nil
}

func noDependents(b *writer, at ast.Pos, what string, k definitions.Key, col, hint string) {
	if vs := b.db.cat.Dependents(k, col); len(vs) > 0 {
		e := sqlerr.At(int(at), "2BP01", "cannot %s because other objects depend on it", what).
			WithDetail("View %s depends on it.", vs[0].Name)
		e.Hint, e.Text = hint, b.Text
		panic(e)
	}
}

// sameViews returns a function that refuses a column by whose name a view would mean something else: the names in a
// view's text are looked up each time, where Postgres remembers what they stood for.
func sameViews(b *writer, a *ast.AlterAction, t *catalog.TableDef) func() {
	views := b.db.cat.Dependents(definitions.KeyOf(t), "")
	meaning := func(v *catalog.ViewDef) string { return bind.Meaning(b.Context, binding{b.db}, v) }
	before := lists.Map(views, meaning)
	return func() {
		for i, v := range views {
			if meaning(v) != before[i] {
				b.FailHint(a.At, sqlerr.FeatureNotSupported,
					"Drop the view first, and qualify its names where it is created again.",
					"column \"%s\" of table %s would change what the names in view %s stand for", a.Def.Name, t.Name, v.Name)
			}
		}
	}
}

func alterAdd(b *writer, t, n *catalog.TableDef, a *ast.AlterAction) (*catalog.TableDef, error) {
	if n.Column(a.Def.Name) >= 0 {
		b.Fail(a.At, sqlerr.DuplicateColumn, "column \"%s\" of relation \"%s\" already exists", a.Def.Name, t.Name)
	}
	addColumn(b, n, a.Def)
	addConstraints(b, n, a.Def.Constraints)
	c := &n.Cols[len(n.Cols)-1]
	fill := bind.DefaultSQL(b.Binder, n, c)
	if fill == "" && !c.NotNull && len(n.Checks) == len(t.Checks) && len(n.Uniques) == len(t.Uniques) &&
		len(n.Foreign) == len(t.Foreign) {
		sql := "ALTER TABLE " + definitions.SQL(t) + " ADD COLUMN " +
			columns.Collated(c.Type, definitions.Ident(c.Name)+" "+columns.StorageOf(c.Type))
		if err := b.db.exec(sql); err != nil {
			return nil, err
		}
		return n, b.db.putTable(definitions.KeyOf(n), n)
	}
	if fill == "" {
		fill = "NULL"
	}
	return n, rebuild(b, a.At, t, n, map[string]string{c.Name: fill})
}

func alterDrop(b *writer, t, n *catalog.TableDef, a *ast.AlterAction, r *catalog.Result) (*catalog.TableDef, error) {
	if t.Column(a.Col) < 0 && a.IfExists {
		r.Notice = fmt.Sprintf("column \"%s\" of relation \"%s\" does not exist, skipping", a.Col, t.Name)
		return t, nil
	}
	columnOf(b, a.At, t, a.Col)
	noDependents(b, a.At, fmt.Sprintf("drop column %s of table %s", a.Col, t.Name), definitions.KeyOf(t), a.Col,
		"Drop the view first.")
	has := func(cols []string) bool { return slices.Contains(cols, a.Col) }
	n.Cols = slices.DeleteFunc(n.Cols, func(c catalog.Column) bool { return c.Name == a.Col })
	if n.PK != nil && has(n.PK.Cols) {
		n.PK = nil
	}
	n.Uniques = slices.DeleteFunc(n.Uniques, func(u catalog.Unique) bool { return has(u.Cols) })
	n.Checks = slices.DeleteFunc(n.Checks, func(c catalog.Check) bool { return has(c.Cols) })
	n.Foreign = slices.DeleteFunc(n.Foreign, func(f catalog.Foreign) bool { return has(f.Cols) })
	n.Indexes = slices.DeleteFunc(n.Indexes, func(x catalog.Index) bool {
		return has(x.Cols) || strings.Contains(x.Keys, definitions.Ident(a.Col)) ||
			strings.Contains(x.Where, definitions.Ident(a.Col))
	})
	return n, rebuild(b, a.At, t, n, nil)
}

func alterRenameColumn(b *writer, t, n *catalog.TableDef, a *ast.AlterAction) (*catalog.TableDef, error) {
	c := columnOf(b, a.At, n, a.Col)
	if t.Column(a.NewName) >= 0 {
		b.Fail(a.At, sqlerr.DuplicateColumn, "column \"%s\" of relation \"%s\" already exists", a.NewName, t.Name)
	}
	noDependents(b, a.At, fmt.Sprintf("rename column %s of table %s", a.Col, t.Name), definitions.KeyOf(t), a.Col,
		"Drop the view, rename the column, and create the view again.")
	c.Name = a.NewName
	renameInKeys(b, t, n, a)
	if err := b.db.exec("ALTER TABLE " + definitions.SQL(t) + " RENAME COLUMN " + definitions.Ident(a.Col) + " TO " +
		definitions.Ident(a.NewName)); err != nil {
		return nil, err
	}
	for k, o := range b.db.cat.Tables { // foreign keys of other tables refer to the new name
		if k == definitions.KeyOf(t) {
			continue
		}
		m := o.Clone()
		for i, f := range o.Foreign {
			if f.Schema == t.Schema && f.Name == t.Name {
				m.Foreign[i].RefCols = renamed(f.RefCols, a)
				if err := b.db.putTable(k, m); err != nil {
					return nil, err
				}
			}
		}
	}
	return n, b.db.putTable(definitions.KeyOf(n), n)
}

// renamed are columns after RENAME COLUMN.
func renamed(cols []string, a *ast.AlterAction) []string {
	out := slices.Clone(cols)
	for i := range out {
		if out[i] == a.Col {
			out[i] = a.NewName
		}
	}
	return out
}

// renameInKeys renames a column in the keys, indexes and constraints of its table t, whose new definition is n.
func renameInKeys(b *writer, t, n *catalog.TableDef, a *ast.AlterAction) {
	text := func(s string) string {
		return replaceOutside(s, definitions.Ident(a.Col), definitions.Ident(a.NewName))
	}
	if n.PK != nil {
		n.PK = &catalog.Unique{Name: n.PK.Name, Cols: renamed(n.PK.Cols, a)}
	}
	for i, u := range n.Uniques {
		n.Uniques[i].Cols = renamed(u.Cols, a)
	}
	for i, x := range n.Indexes {
		n.Indexes[i].Cols, n.Indexes[i].Keys, n.Indexes[i].Where = renamed(x.Cols, a), text(x.Keys), text(x.Where)
	}
	for i, k := range n.Checks {
		if !slices.Contains(k.Cols, a.Col) {
			continue
		}
		n.Checks[i].Cols = renamed(k.Cols, a)
		if !bindAgain(b, a.At, n, &n.Checks[i], renaming(a.Col, a.NewName)) {
			n.Checks[i].SQL = text(k.SQL)
		}
	}
	for i, f := range n.Foreign {
		n.Foreign[i].Cols = renamed(f.Cols, a)
		if f.Schema == t.Schema && f.Name == t.Name {
			n.Foreign[i].RefCols = renamed(f.RefCols, a)
		}
	}
}

// renaming returns a function that renames a column in references.
func renaming(old, name string) func(ast.Expr) ast.Expr {
	return func(x ast.Expr) ast.Expr {
		return ast.SubstituteColumns(x, func(r *ast.ColumnRef) ast.Expr {
			last := len(r.Names) - 1
			if r.Names[last] != old {
				return nil
			}
			c := *r
			c.Names = append(slices.Clone(r.Names[:last]), name)
			return &c
		})
	}
}

// replaceOutside replaces a quoted name in SQL text outside of string constants.
func replaceOutside(sql, old, name string) string {
	var out strings.Builder
	for sql != "" {
		quote := strings.IndexAny(sql, `'"`)
		if quote < 0 {
			break
		}
		out.WriteString(sql[:quote])
		end := quote + 1 // after the closing quote; two quotes stand for one
		for end < len(sql) && (sql[end] != sql[quote] || end+1 < len(sql) && sql[end+1] == sql[quote]) {
			if sql[end] == sql[quote] {
				end++
			}
			end++
		}
		end = min(end+1, len(sql))
		if token := sql[quote:end]; token == old {
			out.WriteString(name)
		} else {
			out.WriteString(token)
		}
		sql = sql[end:]
	}
	return out.String() + sql
}

func alterRename(b *writer, t, n *catalog.TableDef, a *ast.AlterAction) (*catalog.TableDef, error) {
	noDependents(b, a.At, "rename table "+t.Name, definitions.KeyOf(t), "",
		"Drop the view, rename the table, and create the view again.")
	n.Name = a.NewName
	if t.Matview != nil {
		v := *t.Matview
		v.Name, n.Matview = a.NewName, &v
	}
	newKey(b, a.At, t.Schema, n.Name, t.Temp, false)
	if err := b.db.exec("ALTER TABLE " + definitions.SQL(t) + " RENAME TO " +
		sqltext.Ident(definitions.FileName(n))); err != nil {
		return nil, err
	}
	for i, f := range n.Foreign {
		if f.Schema == t.Schema && f.Name == t.Name {
			n.Foreign[i].Name = n.Name
		}
	}
	for k, o := range b.db.cat.Tables {
		m := o.Clone()
		for i, f := range o.Foreign {
			if k != definitions.KeyOf(t) && f.Schema == t.Schema && f.Name == t.Name {
				m.Foreign[i].Name = n.Name
				if err := b.db.putTable(k, m); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := b.db.putTable(definitions.KeyOf(t), nil); err != nil {
		return nil, err
	}
	b.db.bump(definitions.KeyOf(t), true)
	n.Filled = false // the table is the user's now
	return n, b.db.putTable(definitions.KeyOf(n), n)
}

// renameOther is RENAME of a view or an index.
func renameOther(b *writer, s *ast.AlterTable, v *catalog.ViewDef) error {
	a := s.Actions[0]
	if v != nil {
		k := definitions.Key{Schema: v.Schema, Name: v.Name}
		noDependents(b, s.At, "rename view "+v.Name, k, "",
			"Drop the other view, rename this one, and create the other again.")
		nk, _ := newKey(b, a.At, v.Schema, a.NewName, v.Temp, false)
		n := *v
		n.Name = a.NewName
		if err := b.db.putView(k, nil); err != nil {
			return err
		}
		return b.db.putView(nk, &n)
	}
	if t, i := findIndex(b, ast.ObjectName{Schema: s.Schema, Name: s.Name}); t != nil {
		b.Refuse(s.At, "renaming an index", "Drop index "+t.Indexes[i].Name+" and create it again.")
	}
	if !s.IfExists {
		b.UndefinedTable(s.At, s.Schema, s.Name)
	}
	return nil
}

func alterType(b *writer, t, n *catalog.TableDef, a *ast.AlterAction) (*catalog.TableDef, error) {
	c := columnOf(b, a.At, n, a.Col)
	noDependents(b, a.At, "alter type of a column used by a view", definitions.KeyOf(t), a.Col,
		"Drop the view, alter the type, and create the view again.")
	old := *c
	c.Type, c.Mods, c.Shape = bind.TypeOf(b.Binder, a.Type), a.Type.Mods, nil
	if c.Identity != nil && !c.Type.IsInt() {
		b.Fail(a.At, sqlerr.InvalidParameter, "identity column type must be smallint, integer, or bigint")
	}
	if !c.Type.Is(old.Type) {
		retyped(b, a.At, n, c)
	}
	rel := plainRelation(b, t, t.Name, "")
	v := bind.Value{SQL: definitions.Ident(c.Name), Type: old.Type, At: a.At}
	if a.X != nil {
		v = b.Expr(&bind.Scope{Relations: []*bind.Relation{rel}, Columns: rel.Columns,
			Level: &bind.Level{InAgg: true, Clause: "transform expressions"}}, a.X)
	}
	if !catalog.Assignable(v.Type, c.Type) {
		b.FailHint(a.At, sqlerr.DatatypeMismatch, fmt.Sprintf("You might need to specify \"USING %s::%s\".", c.Name, c.Type),
			"column \"%s\" cannot be cast automatically to type %s", c.Name, c.Type)
	}
	if c.Default != "" {
		c.Default = bind.CastSQL(b.Binder, a.At, bind.Value{SQL: c.Default, Type: old.Type}, c.Type)
	}
	return n, rebuild(b, a.At, t, n, map[string]string{c.Name: b.Assign(v, n, c)})
}

// retyped prints the keys of indexes for a column's new type. It refuses the change where an expression depends on the
// column, since that was bound for the old type.
func retyped(b *writer, at ast.Pos, t *catalog.TableDef, c *catalog.Column) {
	refuse := func(what, name string) {
		b.Refuse(at, "a new type of a column of "+what+" \""+name+"\"",
			"Make the table anew, by CREATE TABLE and INSERT … SELECT.")
	}
	for i := range t.Checks {
		k := &t.Checks[i]
		if slices.Contains(k.Cols, c.Name) && !bindAgain(b, at, t, k, func(x ast.Expr) ast.Expr { return x }) {
			refuse("the CHECK constraint", k.Name)
		}
	}
	for _, f := range t.Foreign {
		if slices.Contains(f.Cols, c.Name) && !c.Type.IsInt() {
			refuse("the foreign key", f.Constraint)
		}
	}
	for i, x := range t.Indexes {
		switch plain := slices.Contains(x.Cols, c.Name); {
		case strings.Contains(x.Where, definitions.Ident(c.Name)) || !plain &&
			strings.Contains(x.Keys, definitions.Ident(c.Name)):
			refuse("the index", x.Name)
		case plain:
			indexable(b, at, c.Type)
			keys := strings.Split(x.Keys, ", ") // one for each column
			for j, name := range x.Cols {
				if name != c.Name || len(keys) != len(x.Cols) {
					continue
				}
				desc := ""
				if strings.HasSuffix(keys[j], " DESC") {
					desc = " DESC"
				}
				keys[j] = columns.Collated(c.Type, definitions.Ident(name)) + desc
			}
			t.Indexes[i].Keys = strings.Join(keys, ", ")
		}
	}
}

// rebuild makes the table anew with definition n and copies its rows. values has the expressions of columns that are
// not copied as they are.
func rebuild(b *writer, at ast.Pos, t, n *catalog.TableDef, values map[string]string) error {
	if o := referring(b, definitions.KeyOf(t)); o != nil {
		b.Refuse(at, "this change of a table that foreign keys refer to (from \""+o.Name+"\")",
			"Drop the referring table first.")
	}
	list, exprs := []string{}, []string{}
	for i := range n.Cols {
		c := &n.Cols[i]
		x, ok := values[c.Name]
		if !ok {
			x = definitions.Ident(c.Name)
		}
		if i == definitions.RowidColumn(n) { // SQLite would invent a value for NULL
			x = "coalesce(" + x + ", rg_fail(" +
				sqltext.Plain(fmt.Sprintf("23502 column \"%s\" of relation \"%s\" contains null values", c.Name, n.Name)) + "))"
		}
		list, exprs = append(list, definitions.Ident(c.Name)), append(exprs, x)
	}
	if definitions.RowidColumn(n) < 0 {
		list, exprs = append(list, definitions.RowidName(n)), append(exprs, definitions.RowidName(t))
	}
	phys := definitions.FileName(n) + definitions.Rebuilt
	copySQL := "INSERT INTO " + definitions.Database(n) + "." + sqltext.Ident(phys) + " (" + strings.Join(list, ", ") +
		") SELECT " +
		strings.Join(exprs, ", ") + " FROM " + definitions.SQL(t)
	if err := b.db.exec(definitions.CreateTable(n, phys)); err != nil {
		return err
	}
	if err := runEach(b, copySQL, nil); err != nil {
		return notUnique(err, n, "")
	}
	for _, sql := range []string{"DROP TABLE " + definitions.SQL(t),
		"ALTER TABLE " + definitions.Database(n) + "." + sqltext.Ident(phys) + " RENAME TO " +
			sqltext.Ident(definitions.FileName(n))} {
		if err := b.db.exec(sql); err != nil {
			return err
		}
	}
	for _, x := range n.Indexes {
		if err := b.db.exec(definitions.CreateIndex(n, x)); err != nil {
			return notUnique(err, n, x.Name)
		}
	}
	if err := b.db.putTable(definitions.KeyOf(n), n); err != nil {
		return err
	}
	err := checkSlots(b, n, 0)
	b.Slots, b.IDs, b.IDCols = nil, nil, nil
	return err
}
