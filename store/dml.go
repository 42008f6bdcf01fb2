package store

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/bind"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/definitions"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/tensor"
)

// targetTable finds the table that a statement writes.
func targetTable(b *writer, at ast.Pos, schema, name string) *catalog.TableDef {
	t := tableOf(b, at, schema, name)
	b.Check(at, definitions.CheckWritable(t))
	return t
}

// tableOf finds a table, also a materialized view.
func tableOf(b *writer, at ast.Pos, schema, name string) *catalog.TableDef {
	t, v := b.db.cat.Relation(b.Path, schema, name)
	if v != nil {
		b.FailHint(at, sqlerr.ObjectNotPrereqState, "Write to the tables that it reads.", "cannot write to view \"%s\"", name)
	}
	if t == nil {
		b.UndefinedTable(at, schema, name)
	}
	b.Check(at, b.db.use(t))
	return t
}

func runInsert(b *writer, s *ast.Insert) (*catalog.Result, error) {
	t := targetTable(b, s.At, s.Schema, s.Name)
	sc := &bind.Scope{}
	with := b.WithList(sc, s.With, true)
	cols := insertColumns(b, s, t)
	var list, exprs []string
	var source string
	given := map[string]bool{}
	if s.Query != nil {
		source, exprs = insertSource(b, s, t, cols, sc)
	} else {
		cols = nil
	}
	for _, c := range cols {
		if given[c.Name] {
			b.Fail(s.At, sqlerr.DuplicateColumn, "column \"%s\" specified more than once", c.Name)
		}
		given[c.Name] = true
		list = append(list, definitions.Ident(c.Name))
	}
	generated := ""
	missing, values := bind.NotGiven(b.Binder, t, given)
	for _, d := range values {
		generated += ", " + d
	}
	list, exprs = append(list, missing...), append(exprs, values...)
	var sql string
	name := definitions.SQL(t) + " AS " + definitions.Ident(insertAlias(b, s))
	oneRow := s.Query == nil || len(s.Query.Values) == 1
	switch key, kinds := proposedKey(b, s, t, list[:len(list)-len(missing)]); {
	case key != nil && !oneRow && strings.HasPrefix(source, "VALUES"):
		exprs = make([]string, len(list))
		for i := range exprs {
			exprs[i] = "column" + strconv.Itoa(i+1)
		}
		sql = "INSERT INTO " + name + " (" + strings.Join(list, ", ") + ") SELECT " +
			strings.Join(onceProposed(exprs, key, kinds), ", ") +
			" FROM (" + strings.ReplaceAll(source, rowEnd, generated) + ") WHERE TRUE"
	case key != nil && !oneRow:
		sql = "INSERT INTO " + name + " (" + strings.Join(list, ", ") + ") SELECT " +
			strings.Join(onceProposed(exprs, key, kinds), ", ") + " FROM (" + source + ") AS s WHERE TRUE"
	case len(list) == 0:
		sql = "INSERT INTO " + name + " DEFAULT VALUES"
	case strings.HasPrefix(source, "VALUES"):
		sql = "INSERT INTO " + name + " (" + strings.Join(list, ", ") + ") " + strings.ReplaceAll(source, rowEnd, generated)
	case source == "":
		sql = "INSERT INTO " + name + " (" + strings.Join(list, ", ") + ") VALUES (" + strings.Join(exprs, ", ") + ")"
	default:
		sql = "INSERT INTO " + name + " (" + strings.Join(list, ", ") + ") SELECT " + strings.Join(exprs, ", ") + " FROM (" +
			source + ") AS s WHERE TRUE"
	}
	sql += onConflict(b, s, t)
	return runWrite(b, t, with, sql, "INSERT 0", returning{s.Returning, insertAlias(b, s), nil}, true)
}

// rowEnd marks in each row of VALUES where generated values go.
const rowEnd = "\x00"

func insertAlias(b *writer, s *ast.Insert) string {
	if s.Alias != "" {
		return s.Alias
	}
	return s.Name
}

// insertColumns lists the columns that are given values.
func insertColumns(b *writer, s *ast.Insert, t *catalog.TableDef) []*catalog.Column {
	var out []*catalog.Column
	for _, n := range s.Cols {
		out = append(out, columnOf(b, s.At, t, n))
	}
	if s.Cols == nil {
		for i := range t.Cols {
			out = append(out, &t.Cols[i])
		}
	}
	return out
}

func columnOf(b *writer, at ast.Pos, t *catalog.TableDef, name string) *catalog.Column {
	if i := t.Column(name); i >= 0 {
		return &t.Cols[i]
	}
	var names []string
	for _, c := range t.Cols {
		names = append(names, c.Name)
	}
	hint := "Its columns are " + strings.Join(names, ", ") + "."
	if near := sqlerr.Nearest(name, names); near != "" {
		hint = "Perhaps you meant \"" + near + "\"."
	}
	b.FailHint(at, sqlerr.UndefinedColumn, hint, "column \"%s\" of relation \"%s\" does not exist", name, t.Name)
	return nil
}

// insertSource binds the rows. It shortens cols to the columns that the rows have.
func insertSource(b *writer, s *ast.Insert, t *catalog.TableDef, cols []*catalog.Column, sc *bind.Scope) (string,
	[]string) {
	if s.Query.Values != nil && s.Query.SetOp == "" && len(s.Query.OrderBy) == 0 && s.Query.Limit == nil &&
		s.Query.Offset == nil && s.Query.With == nil {
		return insertValues(b, s, t, cols, sc), nil
	}
	q := b.SelectQuery(s.Query, sc)
	countColumns(b, s, len(q.Columns), cols)
	exprs := make([]string, len(q.Columns))
	for i := range q.Columns {
		c := cols[i]
		noIdentity(b, s, c)
		if q.Columns[i].Type.IsUnknown() {
			q.Coerce(b.Binder, i, c.Type)
		}
		at := s.At
		if i < len(q.Targets) {
			at = q.Targets[i].At
		}
		exprs[i] = b.Assign(bind.Value{SQL: "s." + q.Phys(i), Type: q.Columns[i].Type, At: at, NotNull: q.Columns[i].NotNull},
			t, c)
	}
	for i := len(q.Columns); i < len(cols); i++ { // columns without values get their defaults
		exprs = append(exprs, defaultOrNull(b, t, cols[i]))
	}
	return q.Text(), exprs
}

func countColumns(b *writer, s *ast.Insert, n int, cols []*catalog.Column) {
	if n > len(cols) {
		b.Fail(s.At, sqlerr.Syntax, "INSERT has more expressions than target columns")
	}
	if n < len(cols) && s.Cols != nil {
		b.Fail(s.At, sqlerr.Syntax, "INSERT has more target columns than expressions")
	}
}

func noIdentity(b *writer, s *ast.Insert, c *catalog.Column) {
	if c.Identity != nil && c.Identity.Always && !s.Overriding {
		b.FailHint(s.At, "428C9", "Use OVERRIDING SYSTEM VALUE to override.",
			"cannot insert a non-DEFAULT value into column \"%s\"", c.Name)
	}
}

// insertValues prints VALUES with each value converted to its column's type.
func insertValues(b *writer, s *ast.Insert, t *catalog.TableDef, cols []*catalog.Column, sc *bind.Scope) string {
	sc = &bind.Scope{Outer: sc, Level: &bind.Level{Clause: "VALUES"}}
	rows := make([]string, len(s.Query.Values))
	for r, list := range s.Query.Values {
		if len(list) != len(s.Query.Values[0]) {
			b.Fail(s.At, sqlerr.Syntax, "VALUES lists must all be the same length")
		}
		countColumns(b, s, len(list), cols)
		out := make([]string, len(cols))
		for i, c := range cols {
			if i >= len(list) {
				out[i] = defaultOrNull(b, t, c)
				continue
			}
			if _, ok := list[i].(*ast.Default); ok {
				out[i] = defaultOrNull(b, t, c)
				continue
			}
			noIdentity(b, s, c)
			out[i] = b.Assign(b.Expr(sc, list[i]), t, c)
		}
		rows[r] = "(" + strings.Join(out, ", ") + rowEnd + ")"
	}
	return "VALUES " + strings.Join(rows, ", ")
}

func defaultOrNull(b *writer, t *catalog.TableDef, c *catalog.Column) string {
	if d := bind.DefaultSQL(b.Binder, t, c); d != "" {
		if definitions.IsRowID(t, c) && c.Identity == nil {
			d = "coalesce(" + d + ", " + bind.NoKey(t, c) + ")"
		}
		return d
	}
	return b.Assign(bind.Value{SQL: "NULL", Type: catalog.Unknown, Literal: &ast.Literal{Kind: ast.LitNull}}, t, c)
}

// plainRelation names a table whose columns are printed behind prefix.
func plainRelation(b *writer, t *catalog.TableDef, name, prefix string) *bind.Relation {
	r := &bind.Relation{Name: name, Schema: t.Schema, Alias: prefix, Table: t}
	if prefix != "" {
		prefix += "."
	}
	for i := range t.Cols {
		c := &t.Cols[i]
		r.Columns = append(r.Columns, &bind.Column{Name: c.Name, Type: c.Type, Mods: c.Mods,
			SQL: prefix + definitions.Ident(c.Name), NotNull: c.NotNull, Relation: r})
	}
	return r
}

// assignments prints SET lists.
func assignments(b *writer, s *bind.Scope, t *catalog.TableDef, set []ast.Assign) []string {
	var out []string
	done := map[string]bool{}
	for _, a := range set {
		c := columnOf(b, a.At, t, a.Col)
		if done[c.Name] {
			b.Fail(a.At, sqlerr.Syntax, "multiple assignments to same column \"%s\"", c.Name)
		}
		done[c.Name] = true
		if a.X != nil && c.Identity != nil && c.Identity.Always {
			b.FailHint(a.At, "428C9", "Write "+c.Name+" = DEFAULT.", "column \"%s\" can only be updated to DEFAULT", c.Name)
		}
		switch {
		case a.X == nil:
			out = append(out, definitions.Ident(c.Name)+" = "+defaultOrNull(b, t, c))
		case a.Indices != nil:
			out = append(out, definitions.Ident(c.Name)+" = "+assignElement(b, s, t, c, a))
		default:
			v := b.Expr(s, a.X)
			if v.At < 0 {
				v.At = a.At
			}
			out = append(out, definitions.Ident(c.Name)+" = "+b.Assign(v, t, c))
		}
	}
	return out
}

// assignElement is SET v[i] = x.
func assignElement(b *writer, s *bind.Scope, t *catalog.TableDef, c *catalog.Column, a ast.Assign) string {
	if !c.Type.Array {
		b.Fail(a.At, sqlerr.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting", c.Type)
	}
	x := b.Expr(s, a.X)
	if !catalog.Assignable(x.Type, c.Type.Elem()) {
		b.Fail(x.At, sqlerr.DatatypeMismatch,
			"subscripted assignment to \"%s\" requires type %s but expression is of type %s", c.Name, c.Type.Elem(), x.Type)
	}
	args := []string{sqltext.Plain(c.Type.String()), s.Relations[0].Columns[t.Column(c.Name)].SQL,
		b.Cast(x.At, x, c.Type.Elem(), nil).SQL}
	for _, i := range a.Indices {
		if i.Slice {
			b.Refuse(a.At, "an assignment to a slice", "Assign the whole array: v = v[1:2] || …")
		}
		args = append(args, b.Cast(i.I.Position(), b.Expr(s, i.I), catalog.Int4, nil).SQL)
	}
	return b.Assign(bind.Value{SQL: "rg_array_set(" + strings.Join(args, ", ") + ")", Type: c.Type, At: a.At}, t, c)
}

func runUpdate(b *writer, s *ast.Update) (*catalog.Result, error) {
	t := targetTable(b, s.At, s.Schema, s.Name)
	sc := &bind.Scope{Level: &bind.Level{InAgg: true, Clause: "UPDATE"}}
	with := b.WithList(sc, s.With, true)
	r := b.TableRelation(t)
	bind.NameRelation(b.Binder, s.At, r, ast.Alias{Name: s.Alias})
	sc.Relations, sc.Columns = []*bind.Relation{r}, r.Columns
	from := b.From(sc, s.From)
	sql := "UPDATE " + definitions.SQL(t) + " AS " + r.Alias + " SET " + strings.Join(assignments(b, sc, t, s.Set), ", ")
	if from != "" {
		sql += " FROM " + from
	}
	if s.Where != nil {
		sql += " WHERE " + bind.BindCondition(b.Binder, sc, s.Where, "WHERE").SQL
	}
	keys := false
	for _, a := range s.Set {
		c := &t.Cols[t.Column(a.Col)]
		keys = keys || !c.Type.IsChunk() && !c.Type.IsFloat() || definitions.InKey(t, c.Name)
	}
	return runWrite(b, t, with, sql, "UPDATE", returning{s.Returning, r.Name, sc.Relations[1:]}, keys)
}

func runDelete(b *writer, s *ast.Delete) (*catalog.Result, error) {
	t := targetTable(b, s.At, s.Schema, s.Name)
	sc := &bind.Scope{Level: &bind.Level{InAgg: true, Clause: "DELETE"}}
	with := b.WithList(sc, s.With, true)
	r := b.TableRelation(t)
	bind.NameRelation(b.Binder, s.At, r, ast.Alias{Name: s.Alias})
	sc.Relations, sc.Columns = []*bind.Relation{r}, r.Columns
	using := b.From(sc, s.Using)
	where := ""
	if s.Where != nil {
		where = " WHERE " + bind.BindCondition(b.Binder, sc, s.Where, "WHERE").SQL
	}
	sql := "DELETE FROM " + definitions.SQL(t) + " AS " + r.Alias + where
	if using != "" {
		id := definitions.RowidName(t)
		sql = "DELETE FROM " + definitions.SQL(t) + " WHERE " + id + " IN (SELECT " + r.Alias + "." + id + " FROM " +
			definitions.SQL(t) +
			" AS " + r.Alias + " JOIN " + using + where + ")"
	}
	return runWrite(b, t, with, sql, "DELETE", returning{s.Returning, r.Name, sc.Relations[1:]}, true)
}

func runTruncate(b *writer, s *ast.Truncate) (*catalog.Result, error) {
	emptied := map[definitions.Key]bool{}
	for _, n := range s.Tables {
		emptied[definitions.KeyOf(targetTable(b, s.At, n.Schema, n.Name))] = true
	}
	for _, t := range b.db.cat.Tables {
		for _, f := range t.Foreign {
			if emptied[definitions.Key{Schema: f.Schema, Name: f.Name}] && !emptied[definitions.KeyOf(t)] {
				e := sqlerr.At(int(s.At), sqlerr.FeatureNotSupported,
					"cannot truncate a table referenced in a foreign key constraint").
					WithDetail("Table \"%s\" references \"%s\".", t.Name, f.Name).
					WithHint("Truncate table \"%s\" at the same time.", t.Name)
				e.Text = b.Text
				panic(e)
			}
		}
	}
	for _, n := range s.Tables {
		t := targetTable(b, s.At, n.Schema, n.Name)
		if err := b.db.exec("DELETE FROM " + definitions.SQL(t)); err != nil {
			return nil, err
		}
		b.db.bump(definitions.KeyOf(t), true)
		empty := t.Clone()
		empty.Count = &catalog.Count{}
		if err := b.db.putTable(definitions.KeyOf(t), empty); err != nil {
			return nil, err
		}
	}
	return &catalog.Result{Tag: "TRUNCATE TABLE"}, nil
}

// returning is a RETURNING list, the name of the table it is about, and the other tables of the statement.
type returning struct {
	list  []ast.Target
	alias string
	other []*bind.Relation
}

// unreachable marks columns that RETURNING cannot refer to in SQLite.
const unreachable = "\x01"

func returningSQL(b *writer, t *catalog.TableDef, r returning) *bind.Query {
	rel := plainRelation(b, t, r.alias, "")
	sc := &bind.Scope{Relations: []*bind.Relation{rel}, Columns: rel.Columns,
		Level: &bind.Level{InAgg: true, Clause: "RETURNING"}}
	for _, o := range r.other {
		other := &bind.Relation{Name: o.Name, Schema: o.Schema}
		for _, c := range o.Columns {
			other.Columns = append(other.Columns,
				&bind.Column{Name: c.Name, Type: c.Type, Mods: c.Mods, SQL: unreachable, Relation: other})
		}
		sc.Relations, sc.Columns = append(sc.Relations, other), append(sc.Columns, other.Columns...)
	}
	q := &bind.Query{}
	bind.BindTargets(b.Binder, sc, &ast.Select{Targets: r.list}, q)
	q.Settle(b.Binder)
	for _, x := range q.Targets {
		if strings.Contains(x.SQL, unreachable) {
			b.Refuse(x.At, "RETURNING of another table's column", "Return the columns of "+r.alias+" alone.")
		}
	}
	return q
}

// runWrite runs a printed INSERT, UPDATE or DELETE, checks law 1 and collects RETURNING.
func runWrite(b *writer, t *catalog.TableDef, with []string, sql, tag string, ret returning,
	keys bool) (*catalog.Result, error) {
	r := &catalog.Result{}
	var cols []bind.OutputColumn
	if len(ret.list) > 0 {
		q := returningSQL(b, t, ret)
		sql += " RETURNING " + bind.ListSQL(q.Targets)
		cols, r.HasRows, r.Cols = q.Columns, true, resultCols(q.Columns)
	}
	if b.plan != nil { // EXPLAIN only prints
		*b.plan = b.Finish(with, sql)
		return r, nil
	}
	each := func(row []any) error {
		r.Rows = append(r.Rows, row)
		return nil
	}
	if b.take != nil && r.HasRows {
		each = b.take.each
		if err := b.take.start(r.Cols); err != nil {
			return nil, err
		}
	}
	err := runEach(b, b.Finish(with, sql), func(row []lite.Cell) error {
		vals, err := values(cols, row)
		if err != nil {
			return err
		}
		return each(vals)
	})
	if err != nil {
		return nil, err
	}
	r.Count = b.db.c.Changes()
	r.Tag = fmt.Sprintf("%s %d", tag, r.Count)
	b.db.bump(definitions.KeyOf(t), keys)
	return r, checkSlots(b, t, r.Count)
}

// checkSlots checks law 1 after a statement: every chunk column has one shape. It also stores the counters of generated
// columns and the table's count; wrote is the number of rows written.
func checkSlots(b *writer, t *catalog.TableDef, wrote int64) error {
	n := t.Clone()
	// the statement's own queries may have counted before it wrote
	if now := b.db.cat.Tables[definitions.KeyOf(t)]; now != nil {
		n.Count = now.Count
	}
	changed, err := b.db.recount(n, wrote)
	if err != nil {
		return err
	}
	for _, s := range b.Slots {
		if s.Head == nil {
			continue
		}
		c := &n.Cols[n.Column(s.Col)]
		if s.Mixed != nil || c.Shape != nil && !c.Shape.Equal(s.Shape) {
			if err := oneShape(b.db, n, s); err != nil {
				return err
			}
		}
		if !c.Shape.Equal(s.Shape) || c.Shape == nil {
			c.Shape, changed = s.Shape, true
		}
	}
	for i, id := range b.IDs {
		if c := &n.Cols[n.Column(b.IDCols[i])]; c.Identity.Next != id.Next {
			c.Identity, changed = id, true
		}
	}
	if !changed || t.Result {
		return nil
	}
	return b.db.putTable(definitions.KeyOf(t), n)
}

// oneShape looks for a chunk whose shape differs from that of the first chunk written.
func oneShape(db *DB, t *catalog.TableDef, s *columns.Slot) error {
	keys, names := []string{definitions.RowidName(t)}, []string{"row id"}
	if k := t.Keys(); len(k) > 0 {
		keys, names = nil, nil
		for _, c := range k[0] {
			keys, names = append(keys, definitions.Ident(c)), append(names, c)
		}
	}
	col := definitions.Ident(s.Col)
	sql := "SELECT substr(" + col + ", 1, 28), " + strings.Join(keys, ", ") + " FROM " + definitions.SQL(t) +
		" WHERE rg_head(" +
		col + ") <> ? LIMIT 1"
	var other tensor.Shape
	var others, firsts string
	read := func(key *string, shape *tensor.Shape) func(r row) error {
		return func(r row) error {
			var vals []string
			for i := range keys {
				v, _ := columns.FromCell(&r[i+1], catalog.Text)
				vals = append(vals, fmt.Sprint(v))
			}
			*key, *shape = "("+strings.Join(names, ", ")+")=("+strings.Join(vals, ", ")+")", columns.HeadShape(r[0].Bytes())
			return nil
		}
	}
	if err := db.rows(sql, read(&others, &other), s.Head); err != nil || others == "" {
		return err
	}
	var first tensor.Shape
	if err := db.rows(strings.Replace(sql, "<> ?", "= ?", 1), read(&firsts, &first), s.Head); err != nil {
		return err
	}
	return sqlerr.New(sqlerr.ArraySubscript,
		"table \"%s\", column \"%s\": the chunk of %s has shape %v, that of %s has shape %v", t.Name, s.Col,
		firsts, first, others, other).WithDetail("All chunks of a column have one shape at the end of a statement.")
}
