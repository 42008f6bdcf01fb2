package parse

import (
	"math"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// ddlStmt converts statements that define tables, views, indexes, functions; nil for anything else.
func ddlStmt(c *stmtConv, n *pg.Node) ast.Statement {
	switch x := n.GetNode().(type) {
	case *pg.Node_CreateStmt:
		return createTable(c, x.CreateStmt)
	case *pg.Node_CreateTableAsStmt:
		s := x.CreateTableAsStmt
		q := s.Query.GetSelectStmt()
		if q == nil {
			c.refuse(c.here().At, "CREATE TABLE AS EXECUTE", "Write the query out.")
		}
		if s.Objtype != pg.ObjectType_OBJECT_TABLE && s.Objtype != pg.ObjectType_OBJECT_MATVIEW {
			c.refuse(c.here().At, "this kind of CREATE … AS", "Use CREATE TABLE … AS.")
		}
		return createTableAs(c, s.Into, selectStmt(c.Converter, q), s.IfNotExists, s.Objtype == pg.ObjectType_OBJECT_MATVIEW)
	case *pg.Node_RefreshMatViewStmt:
		s := x.RefreshMatViewStmt
		if s.Concurrent {
			c.refuse(c.here().At, "REFRESH MATERIALIZED VIEW CONCURRENTLY", "Leave CONCURRENTLY out.")
		}
		return &ast.Refresh{Node: c.here(), Schema: s.Relation.Schemaname, Name: s.Relation.Relname, NoData: s.SkipData}
	case *pg.Node_ViewStmt:
		return createView(c, x.ViewStmt)
	case *pg.Node_IndexStmt:
		return createIndex(c, x.IndexStmt)
	case *pg.Node_AlterTableStmt:
		return alterTable(c, x.AlterTableStmt)
	case *pg.Node_RenameStmt:
		return renameStmt(c, x.RenameStmt)
	case *pg.Node_DropStmt:
		return dropStmt(c, x.DropStmt)
	case *pg.Node_CreateSchemaStmt:
		s := x.CreateSchemaStmt
		if len(s.SchemaElts) > 0 || s.Authrole != nil {
			c.refuse(c.here().At, "CREATE SCHEMA with elements or an owner", "Write CREATE SCHEMA name.")
		}
		return &ast.CreateSchema{Node: c.here(), Name: s.Schemaname, IfNotExists: s.IfNotExists}
	case *pg.Node_CreateFunctionStmt:
		return createFunction(c, x.CreateFunctionStmt)
	}
	return nil
}

func createTable(c *stmtConv, s *pg.CreateStmt) ast.Statement {
	out := &ast.CreateTable{Node: c.here(), Schema: s.Relation.Schemaname, Name: s.Relation.Relname,
		Temp: s.Relation.Relpersistence == "t", IfNotExists: s.IfNotExists}
	at := c.pos(s.Relation.Location)
	switch {
	case len(s.InhRelations) > 0:
		c.refuse(at, "INHERITS / PARTITION OF", "Use one table.")
	case s.Partspec != nil || s.Partbound != nil:
		c.refuse(at, "PARTITION BY", "Use one table.")
	case s.OfTypename != nil:
		c.refuse(at, "CREATE TABLE … OF type", "List the columns.")
	case s.Oncommit == pg.OnCommitAction_ONCOMMIT_DROP || s.Oncommit == pg.OnCommitAction_ONCOMMIT_DELETE_ROWS:
		c.refuse(at, "ON COMMIT DROP / DELETE ROWS", "Drop or empty the table by a statement.")
	}
	refuseStorage(c.Converter, at, s.AccessMethod, s.Tablespacename, s.Options)
	for _, n := range append(s.TableElts, s.Constraints...) {
		switch x := n.GetNode().(type) {
		case *pg.Node_ColumnDef:
			out.Cols = append(out.Cols, columnDef(c.Converter, x.ColumnDef))
		case *pg.Node_Constraint:
			out.Constraints = append(out.Constraints, tableConstraint(c.Converter, x.Constraint))
		case *pg.Node_TableLikeClause:
			tableLike(c.Converter, out, x.TableLikeClause)
		default:
			c.refuse(at, "this element of CREATE TABLE", "Use columns, constraints and LIKE.")
		}
	}
	return out
}

// refuseStorage refuses options of how a server stores a table, except those that change nothing else.
func refuseStorage(c *Converter, at ast.Pos, method, tablespace string, options []*pg.Node) {
	if method != "" && method != "heap" {
		c.refuse(at, "the table access method "+method, "Leave it out.")
	}
	if tablespace != "" {
		c.refuse(at, "TABLESPACE", "Leave it out.")
	}
	given := map[string]bool{}
	for _, n := range options {
		d := n.GetDefElem()
		if given[d.Defname] {
			c.fail(at, sqlerr.InvalidParameter, "", "parameter \"%s\" specified more than once", d.Defname)
		}
		given[d.Defname] = true
		if v, ok := defInt(d); d.Defname == "fillfactor" && ok && v >= 10 && v <= 100 && d.Defnamespace == "" {
			continue
		}
		if _, ok := defBool(d); d.Defname == "autovacuum_enabled" && ok {
			continue
		}
		c.refuse(at, "the storage parameter \""+d.Defname+"\"", "Leave it out.")
	}
}

func tableLike(c *Converter, out *ast.CreateTable, l *pg.TableLikeClause) {
	at := c.pos(l.Relation.Location)
	if out.Like.Name != "" || len(out.Cols) > 0 {
		c.refuse(at, "LIKE behind other columns", "Write LIKE first, then the new columns.")
	}
	out.Like = relName(l.Relation)
	switch l.Options {
	case 0:
	case math.MaxInt32:
		out.LikeIncluding = true
	default:
		c.refuse(at, "LIKE with single INCLUDING options", "Write INCLUDING ALL, or nothing.")
	}
}

func columnDef(c *Converter, d *pg.ColumnDef) ast.ColumnDef {
	out := ast.ColumnDef{Node: c.node(d.Location), Name: d.Colname, Type: c.typeName(d.TypeName), NotNull: d.IsNotNull}
	k := columnConstraints{Converter: c, d: &out}
	switch out.Type.Name {
	case "serial", "serial4", "bigserial", "serial8", "smallserial", "serial2":
		if out.Type.Schema == "" && out.Type.Dims == 0 {
			out.Type.Name = map[byte]string{'s': "integer", 'b': "bigint", 'm': "smallint"}[serialSize(out.Type.Name)]
			out.Identity, out.NotNull, k.serial = &ast.Identity{Serial: true, Start: 1, Inc: 1}, true, true
		}
	}
	storedAs(c, out.At, d)
	if d.CollClause != nil {
		c.refuse(c.pos(d.CollClause.Location), "COLLATE", "Leave it out: text compares byte by byte.")
	}
	if len(d.Fdwoptions) > 0 {
		c.refuse(out.At, "OPTIONS of a column", "Leave them out.")
	}
	out.Default = c.optExpr(d.RawDefault)
	for _, n := range d.Constraints {
		k.add(n.GetConstraint())
	}
	return out
}

// storedAs checks options of how a server stores a column. They have no other effect.
func storedAs(c *Converter, at ast.Pos, d *pg.ColumnDef) {
	refuseCompression(c, at, d.Compression)
	if d.Compression != "" || d.Storage != "" || d.StorageName != "" {
		if t := c.typeName(d.TypeName); fixedLength[t.Name] && t.Dims == 0 {
			c.refuse(at, "COMPRESSION or STORAGE of a column of type "+t.String(), "Leave it out.")
		}
	}
}

func refuseCompression(c *Converter, at ast.Pos, method string) {
	if method != "" && method != "pglz" && method != "lz4" && method != "default" {
		c.fail(at, sqlerr.InvalidParameter, "", "invalid compression method \"%s\"", method)
	}
}

// fixedLength are types whose values no server compresses or moves out of the row.
var fixedLength = map[string]bool{"smallint": true, "integer": true, "bigint": true, "real": true,
	"double precision": true, "boolean": true,
	"date": true, "timestamp": true, "timestamp with time zone": true, "uuid": true, "name": true}

func serialSize(name string) byte {
	switch name {
	case "bigserial", "serial8":
		return 'b'
	case "smallserial", "serial2":
		return 'm'
	}
	return 's'
}

// columnConstraints reads the constraints of one column.
type columnConstraints struct {
	*Converter
	d              *ast.ColumnDef
	serial, isNull bool
}

func (c *columnConstraints) add(k *pg.Constraint) {
	at, d := c.pos(k.Location), c.d
	switch k.Contype {
	case pg.ConstrType_CONSTR_NULL:
		c.isNull = true
	case pg.ConstrType_CONSTR_NOTNULL:
		d.NotNull = true
	case pg.ConstrType_CONSTR_DEFAULT:
		if d.Default != nil || c.serial {
			c.fail(at, sqlerr.Syntax, "", "multiple default values specified for column \"%s\"", d.Name)
		}
		d.Default = c.expr(k.RawExpr)
	case pg.ConstrType_CONSTR_IDENTITY:
		if c.serial {
			c.fail(at, sqlerr.Syntax, "", "both default and identity specified for column \"%s\"", d.Name)
		}
		if d.Identity != nil {
			c.fail(at, sqlerr.Syntax, "", "multiple identity specifications for column \"%s\"", d.Name)
		}
		d.Identity = identityOf(c.Converter, k)
		d.NotNull = true
	case pg.ConstrType_CONSTR_PRIMARY, pg.ConstrType_CONSTR_UNIQUE, pg.ConstrType_CONSTR_CHECK,
		pg.ConstrType_CONSTR_FOREIGN:
		t := tableConstraint(c.Converter, k)
		if t.Kind != "check" {
			t.Cols = []string{d.Name}
		}
		d.Constraints = append(d.Constraints, t)
	case pg.ConstrType_CONSTR_GENERATED:
		c.refuse(at, "GENERATED ALWAYS AS (…) STORED", "Compute the column in a view.")
	default:
		c.refuse(at, "this constraint (DEFERRABLE, EXCLUDE, …)", "Use NOT NULL, PRIMARY KEY, UNIQUE, CHECK, REFERENCES.")
	}
	if c.isNull && d.NotNull {
		c.fail(at, sqlerr.Syntax, "", "conflicting NULL/NOT NULL declarations for column \"%s\"", d.Name)
	}
}

func nullsDistinct(c *Converter, k *pg.Constraint) {
	if k.NullsNotDistinct {
		c.refuse(c.pos(k.Location), "NULLS NOT DISTINCT", "Add NOT NULL to the columns.")
	}
	if len(k.Including) > 0 || k.Indexname != "" {
		c.refuse(c.pos(k.Location), "a constraint with INCLUDE or USING INDEX", "Name the columns alone.")
	}
	if k.Deferrable {
		c.refuse(c.pos(k.Location), "DEFERRABLE", "Constraints are checked by each statement.")
	}
}

func identityOf(c *Converter, k *pg.Constraint) *ast.Identity {
	id := &ast.Identity{Always: k.GeneratedWhen == "a", Start: 1, Inc: 1}
	minimum, start := int64(1), int64(math.MinInt64)
	for _, n := range k.Options {
		d := n.GetDefElem()
		v, isInt := defInt(d)
		switch {
		case d.Defname == "start" && isInt:
			start = v
		case d.Defname == "increment" && isInt && v > 0:
			id.Inc = v
		case d.Defname == "minvalue" && isInt:
			minimum = v
		case d.Defname == "minvalue" || d.Defname == "maxvalue" && d.Arg == nil || d.Defname == "cache":
		default:
			c.refuse(c.pos(d.Location), "the identity option "+strings.ToUpper(d.Defname),
				"Use START, INCREMENT (positive) and MINVALUE.")
		}
	}
	id.Start = minimum
	if start != math.MinInt64 {
		id.Start = start
	}
	if id.Start < minimum {
		c.fail(c.pos(k.Location), sqlerr.InvalidParameter, "Add MINVALUE.",
			"START value (%d) cannot be less than MINVALUE (%d)", id.Start, minimum)
	}
	return id
}

// defInt returns an option's integer argument.
func defInt(d *pg.DefElem) (int64, bool) {
	switch v := d.Arg.GetNode().(type) {
	case *pg.Node_Integer:
		return int64(v.Integer.Ival), true
	case *pg.Node_Float:
		if kind, s := number(v.Float.Fval); kind == ast.LitInt {
			var n int64
			neg := strings.HasPrefix(s, "-")
			for _, r := range strings.TrimPrefix(s, "-") {
				n = n*10 + int64(r-'0')
			}
			if neg {
				n = -n
			}
			return n, true
		}
	}
	return 0, false
}

func tableConstraint(c *Converter, k *pg.Constraint) ast.TableConstraint {
	out := ast.TableConstraint{Node: c.node(k.Location), Name: k.Conname, Cols: Strings(k.Keys)}
	switch k.Contype {
	case pg.ConstrType_CONSTR_PRIMARY:
		out.Kind = "primary"
		nullsDistinct(c, k)
	case pg.ConstrType_CONSTR_UNIQUE:
		out.Kind = "unique"
		nullsDistinct(c, k)
	case pg.ConstrType_CONSTR_CHECK:
		out.Kind, out.Check = "check", c.expr(k.RawExpr)
	case pg.ConstrType_CONSTR_FOREIGN:
		out.Kind, out.Cols = "foreign", Strings(k.FkAttrs)
		out.RefTable, out.RefCols = referenceOf(c, k)
	default:
		c.refuse(out.At, "this constraint (EXCLUDE, …)", "Use PRIMARY KEY, UNIQUE, CHECK, FOREIGN KEY.")
	}
	return out
}

func relName(r *pg.RangeVar) ast.ObjectName {
	return ast.ObjectName{Schema: r.GetSchemaname(), Name: r.GetRelname()}
}

func referenceOf(c *Converter, k *pg.Constraint) (ast.ObjectName, []string) {
	at := c.pos(k.Location)
	if k.FkDelAction != "a" && k.FkDelAction != "r" || k.FkUpdAction != "a" && k.FkUpdAction != "r" {
		c.refuse(at, "ON DELETE / ON UPDATE with an action", "Delete or update the referencing rows by a statement.")
	}
	if k.FkMatchtype != "s" || k.Deferrable {
		c.refuse(at, "MATCH FULL or DEFERRABLE", "Leave it out.")
	}
	return relName(k.Pktable), Strings(k.PkAttrs)
}

func createTableAs(c *stmtConv, into *pg.IntoClause, q *ast.Select, ifNotExists, matview bool) ast.Statement {
	r := into.Rel
	if into.OnCommit == pg.OnCommitAction_ONCOMMIT_DROP || into.OnCommit == pg.OnCommitAction_ONCOMMIT_DELETE_ROWS {
		c.refuse(c.pos(r.Location), "ON COMMIT DROP / DELETE ROWS", "Drop or empty the table by a statement.")
	}
	refuseStorage(c.Converter, c.pos(r.Location), into.AccessMethod, into.TableSpaceName, into.Options)
	out := &ast.CreateTableAs{Node: c.here(), Schema: r.Schemaname, Name: r.Relname, Temp: r.Relpersistence == "t",
		IfNotExists: ifNotExists, Cols: Strings(into.ColNames), Query: q, NoData: into.SkipData, Matview: matview}
	if matview {
		from := viewQueryStart(c, c.pos(r.Location))
		out.SQL, out.SQLAt = c.Src[from:queryEnd(c, from)], c.pos(int32(from))
	}
	return out
}

// queryEnd finds where the query of CREATE MATERIALIZED VIEW ends: before WITH [NO] DATA, or with the statement.
func queryEnd(c *stmtConv, from int) int {
	var last []Token
	for i := from; i < c.to; {
		t := Lex(c.Src[:c.to], i)
		if t.Kind == TokEOF {
			break
		}
		last = append(last[max(0, len(last)-2):], t)
		i = t.End
	}
	n := len(last)
	switch {
	case n < 2 || !last[n-1].Is("data"):
	case last[n-2].Is("with"):
		return last[n-2].At
	case n == 3 && last[n-2].Is("no") && last[n-3].Is("with"):
		return last[n-3].At
	}
	return c.to
}

func createView(c *stmtConv, s *pg.ViewStmt) ast.Statement {
	at := c.pos(s.View.Location)
	if s.WithCheckOption > pg.ViewCheckOption_NO_CHECK_OPTION {
		c.refuse(at, "WITH CHECK OPTION", "Views cannot be written to.")
	}
	if len(s.Options) > 0 {
		c.refuse(at, "WITH (…) on a view", "Leave it out.")
	}
	from := viewQueryStart(c, at)
	q := selectNode(c.Converter, s.Query)
	out := &ast.CreateView{Node: c.here(), Schema: s.View.Schemaname, Name: s.View.Relname, Cols: Strings(s.Aliases),
		Temp: s.View.Relpersistence == "t", Replace: s.Replace, Query: q, SQL: c.Src[from:c.to], SQLAt: c.pos(int32(from))}
	q.At, q.End = out.SQLAt, c.pos(int32(c.to))
	return out
}

// viewQueryStart finds the first token after CREATE … VIEW name [(cols)] AS.
func viewQueryStart(c *stmtConv, at ast.Pos) int {
	depth := 0
	for i := c.from; i < c.to; {
		t := Lex(c.Src[:c.to], i)
		switch {
		case t.Is("recursive"):
			c.refuse(at, "CREATE RECURSIVE VIEW", "Write CREATE VIEW v AS WITH RECURSIVE v(…) AS (…) SELECT * FROM v.")
		case t.Is("("):
			depth++
		case t.Is(")"):
			depth--
		case t.Is("as") && depth == 0:
			return Lex(c.Src[:c.to], t.End).At
		}
		if t.Kind == TokEOF {
			break
		}
		i = t.End
	}
	c.fail(at, sqlerr.Internal, "", "internal error: no AS in CREATE VIEW")
	return 0
}

func createIndex(c *stmtConv, s *pg.IndexStmt) ast.Statement {
	out := &ast.CreateIndex{Node: c.here(), Name: s.Idxname, Table: relName(s.Relation), Unique: s.Unique,
		IfNotExists: s.IfNotExists, Outside: s.Concurrent, Where: c.optExpr(s.WhereClause)}
	at := c.pos(s.Relation.Location)
	refuseStorage(c.Converter, at, "", s.TableSpace, s.Options)
	if s.AccessMethod != "" && s.AccessMethod != "btree" && s.AccessMethod != "hash" {
		c.refuse(at, "the index method "+s.AccessMethod, "Use a btree index (the default).")
	}
	if len(s.IndexIncludingParams) > 0 || s.NullsNotDistinct {
		c.refuse(at, "INCLUDE or NULLS NOT DISTINCT", "Name the key columns alone.")
	}
	for _, n := range s.IndexParams {
		e := n.GetIndexElem()
		if len(e.Collation) > 0 || len(e.Opclass) > 0 {
			c.refuse(at, "a collation or operator class of an index", "Leave it out.")
		}
		k := ast.SortKey{Desc: e.Ordering == pg.SortByDir_SORTBY_DESC, NullsFirst: nullsFirst(e.NullsOrdering)}
		if e.Name != "" {
			k.X = &ast.ColumnRef{Node: ast.Node{At: at}, Names: []string{e.Name}}
		} else {
			k.X = c.expr(e.Expr)
		}
		out.Keys = append(out.Keys, k)
	}
	return out
}
