package store

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/tensor"
)

// targetTable finds the table that a statement writes.
func targetTable(b *binder, at ast.Pos, schema, name string) *catalog.TableDef {
	t := tableOf(b, at, schema, name)
	b.check(at, writable(t))
	return t
}

// writable refuses to write a materialized view.
func writable(t *catalog.TableDef) error {
	if t.Matview == nil {
		return nil
	}
	return sqlerr.New(sqlerr.WrongObjectType, "cannot change materialized view \"%s\"", t.Name).
		WithHint("Change the tables that it reads, then REFRESH it.")
}

// tableOf finds a table, also a materialized view.
func tableOf(b *binder, at ast.Pos, schema, name string) *catalog.TableDef {
	t, v := b.db.cat.relation(b.path, schema, name)
	if v != nil {
		b.failHint(at, sqlerr.ObjectNotPrereqState, "Write to the tables that it reads.", "cannot write to view \"%s\"", name)
	}
	if t == nil {
		b.undefinedTable(at, schema, name)
	}
	b.check(at, b.db.use(t))
	return t
}

func keyOf(t *catalog.TableDef) objectKey { return objectKey{t.Schema, t.Name} }

// rowidName is a name by which SQLite reaches the row id, not hidden by a column.
func rowidName(t *catalog.TableDef) string {
	for _, n := range []string{"rowid", "_rowid_", "oid"} {
		if t.Column(n) < 0 {
			return n
		}
	}
	return "rowid"
}

func runInsert(b *binder, s *ast.Insert) (*catalog.Result, error) {
	t := targetTable(b, s.At, s.Schema, s.Name)
	sc := &scope{}
	with := b.withList(sc, s.With, true)
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
			b.fail(s.At, sqlerr.DuplicateColumn, "column \"%s\" specified more than once", c.Name)
		}
		given[c.Name] = true
		list = append(list, ident(c.Name))
	}
	generated := ""
	missing, values := notGiven(b, t, given)
	for _, d := range values {
		generated += ", " + d
	}
	list, exprs = append(list, missing...), append(exprs, values...)
	var sql string
	name := sqlOf(t) + " AS " + ident(insertAlias(b, s))
	oneRow := s.Query == nil || len(s.Query.Values) == 1
	switch key, kinds := proposedKey(b, s, t, list[:len(list)-len(missing)]); {
	case key != nil && !oneRow && strings.HasPrefix(source, "VALUES"):
		exprs = make([]string, len(list))
		for i := range exprs {
			exprs[i] = "column" + itoa(i+1)
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

// rowEnd marks where generated values go into each row of VALUES.
const rowEnd = "\x00"

func insertAlias(b *binder, s *ast.Insert) string {
	if s.Alias != "" {
		return s.Alias
	}
	return s.Name
}

// insertColumns lists the columns that are given values.
func insertColumns(b *binder, s *ast.Insert, t *catalog.TableDef) []*catalog.Column {
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

func columnOf(b *binder, at ast.Pos, t *catalog.TableDef, name string) *catalog.Column {
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
	b.failHint(at, sqlerr.UndefinedColumn, hint, "column \"%s\" of relation \"%s\" does not exist", name, t.Name)
	return nil
}

// insertSource binds the rows; it cuts cols to those that the rows have (through the slice's length).
func insertSource(b *binder, s *ast.Insert, t *catalog.TableDef, cols []*catalog.Column, sc *scope) (string, []string) {
	if s.Query.Values != nil && s.Query.SetOp == "" && len(s.Query.OrderBy) == 0 && s.Query.Limit == nil &&
		s.Query.Offset == nil && s.Query.With == nil {
		return insertValues(b, s, t, cols, sc), nil
	}
	q := b.selectQuery(s.Query, sc)
	countColumns(b, s, len(q.cols), cols)
	exprs := make([]string, len(q.cols))
	for i := range q.cols {
		c := cols[i]
		noIdentity(b, s, c)
		if q.cols[i].typ.IsUnknown() {
			q.coerce(b, i, c.Type)
		}
		at := s.At
		if i < len(q.targets) {
			at = q.targets[i].at
		}
		exprs[i] = b.assign(val{sql: "s." + q.phys(i), typ: q.cols[i].typ, at: at, notNull: q.cols[i].notNull}, t, c)
	}
	for i := len(q.cols); i < len(cols); i++ { // not given: their defaults
		exprs = append(exprs, defaultOrNull(b, t, cols[i]))
	}
	return q.text(), exprs
}

func countColumns(b *binder, s *ast.Insert, n int, cols []*catalog.Column) {
	if n > len(cols) {
		b.fail(s.At, sqlerr.Syntax, "INSERT has more expressions than target columns")
	}
	if n < len(cols) && s.Cols != nil {
		b.fail(s.At, sqlerr.Syntax, "INSERT has more target columns than expressions")
	}
}

func noIdentity(b *binder, s *ast.Insert, c *catalog.Column) {
	if c.Identity != nil && c.Identity.Always && !s.Overriding {
		b.failHint(s.At, "428C9", "Use OVERRIDING SYSTEM VALUE to override.",
			"cannot insert a non-DEFAULT value into column \"%s\"", c.Name)
	}
}

// insertValues prints VALUES with each value converted to its column's type.
func insertValues(b *binder, s *ast.Insert, t *catalog.TableDef, cols []*catalog.Column, sc *scope) string {
	sc = &scope{up: sc, level: &level{clause: "VALUES"}}
	rows := make([]string, len(s.Query.Values))
	for r, list := range s.Query.Values {
		if len(list) != len(s.Query.Values[0]) {
			b.fail(s.At, sqlerr.Syntax, "VALUES lists must all be the same length")
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
			out[i] = b.assign(b.expr(sc, list[i]), t, c)
		}
		rows[r] = "(" + strings.Join(out, ", ") + rowEnd + ")"
	}
	return "VALUES " + strings.Join(rows, ", ")
}

// defaultSQL prints a column's default, "" for NULL.
func defaultSQL(b *binder, t *catalog.TableDef, c *catalog.Column) string {
	switch {
	case c.Identity != nil:
		for i, n := range b.idCols {
			if n == c.Name {
				return fmt.Sprintf("rg_nextval(%d)", i)
			}
		}
		id := *c.Identity
		b.ids, b.idCols = append(b.ids, &id), append(b.idCols, c.Name)
		return fmt.Sprintf("rg_nextval(%d)", len(b.ids)-1)
	case c.Default != "" && c.Type.IsChunk():
		return fmt.Sprintf("rg_chunk(%s, %d)", c.Default, b.slot(t, c))
	}
	return c.Default
}

func defaultOrNull(b *binder, t *catalog.TableDef, c *catalog.Column) string {
	if d := defaultSQL(b, t, c); d != "" {
		if isRowID(t, c) && c.Identity == nil {
			d = "coalesce(" + d + ", " + noKey(t, c) + ")"
		}
		return d
	}
	return b.assign(val{sql: "NULL", typ: catalog.Unknown, lit: &ast.Literal{Kind: ast.LitNull}}, t, c)
}

// plainRelation names a table whose columns are printed behind prefix.
func plainRelation(b *binder, t *catalog.TableDef, name, prefix string) *relation {
	r := &relation{name: name, schema: t.Schema, alias: prefix, table: t}
	if prefix != "" {
		prefix += "."
	}
	for i := range t.Cols {
		c := &t.Cols[i]
		r.cols = append(r.cols, &column{name: c.Name, typ: c.Type, mods: c.Mods, sql: prefix + ident(c.Name),
			notNull: c.NotNull, rel: r})
	}
	return r
}

// assignments prints SET lists.
func assignments(b *binder, s *scope, t *catalog.TableDef, set []ast.Assign) []string {
	var out []string
	done := map[string]bool{}
	for _, a := range set {
		c := columnOf(b, a.At, t, a.Col)
		if done[c.Name] {
			b.fail(a.At, sqlerr.Syntax, "multiple assignments to same column \"%s\"", c.Name)
		}
		done[c.Name] = true
		if a.X != nil && c.Identity != nil && c.Identity.Always {
			b.failHint(a.At, "428C9", "Write "+c.Name+" = DEFAULT.", "column \"%s\" can only be updated to DEFAULT", c.Name)
		}
		switch {
		case a.X == nil:
			out = append(out, ident(c.Name)+" = "+defaultOrNull(b, t, c))
		case a.Indices != nil:
			out = append(out, ident(c.Name)+" = "+assignElement(b, s, t, c, a))
		default:
			v := b.expr(s, a.X)
			if v.at < 0 {
				v.at = a.At
			}
			out = append(out, ident(c.Name)+" = "+b.assign(v, t, c))
		}
	}
	return out
}

// assignElement is SET v[i] = x.
func assignElement(b *binder, s *scope, t *catalog.TableDef, c *catalog.Column, a ast.Assign) string {
	if !c.Type.Array {
		b.fail(a.At, sqlerr.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting", c.Type)
	}
	x := b.expr(s, a.X)
	if !catalog.Assignable(x.typ, c.Type.Elem()) {
		b.fail(x.at, sqlerr.DatatypeMismatch,
			"subscripted assignment to \"%s\" requires type %s but expression is of type %s", c.Name, c.Type.Elem(), x.typ)
	}
	args := []string{sqltext.Plain(c.Type.String()), s.rels[0].cols[t.Column(c.Name)].sql,
		b.cast(x.at, x, c.Type.Elem(), nil).sql}
	for _, i := range a.Indices {
		if i.Slice {
			b.refuse(a.At, "an assignment to a slice", "Assign the whole array: v = v[1:2] || …")
		}
		args = append(args, b.cast(i.I.Position(), b.expr(s, i.I), catalog.Int4, nil).sql)
	}
	return b.assign(val{sql: "rg_array_set(" + strings.Join(args, ", ") + ")", typ: c.Type, at: a.At}, t, c)
}

func runUpdate(b *binder, s *ast.Update) (*catalog.Result, error) {
	t := targetTable(b, s.At, s.Schema, s.Name)
	sc := &scope{level: &level{inAgg: true, clause: "UPDATE"}}
	with := b.withList(sc, s.With, true)
	r := b.tableRelation(t)
	nameRelation(b, s.At, r, ast.Alias{Name: s.Alias})
	sc.rels, sc.cols = []*relation{r}, r.cols
	from := b.from(sc, s.From)
	sql := "UPDATE " + sqlOf(t) + " AS " + r.alias + " SET " + strings.Join(assignments(b, sc, t, s.Set), ", ")
	if from != "" {
		sql += " FROM " + from
	}
	if s.Where != nil {
		sql += " WHERE " + bindCondition(b, sc, s.Where, "WHERE").sql
	}
	keys := false
	for _, a := range s.Set {
		c := &t.Cols[t.Column(a.Col)]
		keys = keys || !c.Type.IsChunk() && !c.Type.IsFloat() || inKey(t, c.Name)
	}
	return runWrite(b, t, with, sql, "UPDATE", returning{s.Returning, r.name, sc.rels[1:]}, keys)
}

func inKey(t *catalog.TableDef, col string) bool {
	for _, k := range t.Keys() {
		for _, c := range k {
			if c == col {
				return true
			}
		}
	}
	return false
}

func runDelete(b *binder, s *ast.Delete) (*catalog.Result, error) {
	t := targetTable(b, s.At, s.Schema, s.Name)
	sc := &scope{level: &level{inAgg: true, clause: "DELETE"}}
	with := b.withList(sc, s.With, true)
	r := b.tableRelation(t)
	nameRelation(b, s.At, r, ast.Alias{Name: s.Alias})
	sc.rels, sc.cols = []*relation{r}, r.cols
	using := b.from(sc, s.Using)
	where := ""
	if s.Where != nil {
		where = " WHERE " + bindCondition(b, sc, s.Where, "WHERE").sql
	}
	sql := "DELETE FROM " + sqlOf(t) + " AS " + r.alias + where
	if using != "" {
		id := rowidName(t)
		sql = "DELETE FROM " + sqlOf(t) + " WHERE " + id + " IN (SELECT " + r.alias + "." + id + " FROM " + sqlOf(t) +
			" AS " + r.alias + " JOIN " + using + where + ")"
	}
	return runWrite(b, t, with, sql, "DELETE", returning{s.Returning, r.name, sc.rels[1:]}, true)
}

func runTruncate(b *binder, s *ast.Truncate) (*catalog.Result, error) {
	emptied := map[objectKey]bool{}
	for _, n := range s.Tables {
		emptied[keyOf(targetTable(b, s.At, n.Schema, n.Name))] = true
	}
	for _, t := range b.db.cat.tables {
		for _, f := range t.Foreign {
			if emptied[objectKey{f.Schema, f.Name}] && !emptied[keyOf(t)] {
				e := sqlerr.At(int(s.At), sqlerr.FeatureNotSupported,
					"cannot truncate a table referenced in a foreign key constraint").
					WithDetail("Table \"%s\" references \"%s\".", t.Name, f.Name).
					WithHint("Truncate table \"%s\" at the same time.", t.Name)
				e.Text = b.text
				panic(e)
			}
		}
	}
	for _, n := range s.Tables {
		t := targetTable(b, s.At, n.Schema, n.Name)
		if err := b.db.exec("DELETE FROM " + sqlOf(t)); err != nil {
			return nil, err
		}
		b.db.bump(keyOf(t), true)
		empty := t.Clone()
		empty.Count = &catalog.Count{}
		if err := b.db.putTable(keyOf(t), empty); err != nil {
			return nil, err
		}
	}
	return &catalog.Result{Tag: "TRUNCATE TABLE"}, nil
}

// returning is a RETURNING list, the name of the table it is about, and the other tables of the statement.
type returning struct {
	list  []ast.Target
	alias string
	other []*relation
}

// unreachable marks columns that SQLite's RETURNING cannot see.
const unreachable = "\x01"

// returningSQL binds a RETURNING list.
func returningSQL(b *binder, t *catalog.TableDef, r returning) *query {
	rel := plainRelation(b, t, r.alias, "")
	sc := &scope{rels: []*relation{rel}, cols: rel.cols, level: &level{inAgg: true, clause: "RETURNING"}}
	for _, o := range r.other {
		other := &relation{name: o.name, schema: o.schema}
		for _, c := range o.cols {
			other.cols = append(other.cols, &column{name: c.name, typ: c.typ, mods: c.mods, sql: unreachable, rel: other})
		}
		sc.rels, sc.cols = append(sc.rels, other), append(sc.cols, other.cols...)
	}
	q := &query{}
	bindTargets(b, sc, &ast.Select{Targets: r.list}, q)
	q.settle(b)
	for _, x := range q.targets {
		if strings.Contains(x.sql, unreachable) {
			b.refuse(x.at, "RETURNING of another table's column", "Return the columns of "+r.alias+" alone.")
		}
	}
	return q
}

// runWrite runs a printed INSERT, UPDATE or DELETE, checks law 1 and collects RETURNING.
func runWrite(b *binder, t *catalog.TableDef, with []string, sql, tag string, ret returning,
	keys bool) (*catalog.Result, error) {
	r := &catalog.Result{}
	var cols []outcol
	if len(ret.list) > 0 {
		q := returningSQL(b, t, ret)
		sql += " RETURNING " + sqls(q.targets)
		cols, r.HasRows, r.Cols = q.cols, true, resultCols(q.cols)
	}
	if b.plan != nil { // EXPLAIN
		*b.plan = b.finish(with, sql)
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
	err := runEach(b, b.finish(with, sql), func(row []lite.Cell) error {
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
	b.db.bump(keyOf(t), keys)
	return r, checkSlots(b, t, r.Count)
}

// checkSlots holds law 1: after the statement every chunk column has one shape. It also keeps the state of
// generated columns, and the table's count; wrote is how many rows the statement has written.
func checkSlots(b *binder, t *catalog.TableDef, wrote int64) error {
	n := t.Clone()
	if now := b.db.cat.tables[keyOf(t)]; now != nil { // what the statement's own queries have found before it wrote
		n.Count = now.Count
	}
	changed, err := b.db.recount(n, wrote)
	if err != nil {
		return err
	}
	for _, s := range b.slots {
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
	for i, id := range b.ids {
		if c := &n.Cols[n.Column(b.idCols[i])]; c.Identity.Next != id.Next {
			c.Identity, changed = id, true
		}
	}
	if !changed || t.Result {
		return nil
	}
	return b.db.putTable(keyOf(t), n)
}

// oneShape looks for a chunk whose shape differs from the first one written.
func oneShape(db *DB, t *catalog.TableDef, s *columns.Slot) error {
	keys, names := []string{rowidName(t)}, []string{"row id"}
	if k := t.Keys(); len(k) > 0 {
		keys, names = nil, nil
		for _, c := range k[0] {
			keys, names = append(keys, ident(c)), append(names, c)
		}
	}
	col := ident(s.Col)
	sql := "SELECT substr(" + col + ", 1, 28), " + strings.Join(keys, ", ") + " FROM " + sqlOf(t) + " WHERE rg_head(" +
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
