package parse

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

func alterTable(c *stmtConv, s *pg.AlterTableStmt) ast.Statement {
	if s.Objtype != pg.ObjectType_OBJECT_TABLE {
		c.refuse(c.here().At, strings.ToUpper(firstWords(c.Src, c.from, 2)), "Drop it and create it again.")
	}
	out := &ast.AlterTable{Node: c.here(), Kind: "table", Schema: s.Relation.Schemaname, Name: s.Relation.Relname,
		IfExists: s.MissingOk}
	for _, n := range s.Cmds {
		out.Actions = append(out.Actions, alterAction(c, n.GetAlterTableCmd(), c.pos(s.Relation.Location)))
	}
	return out
}

func alterAction(c *stmtConv, a *pg.AlterTableCmd, at ast.Pos) ast.AlterAction {
	out := ast.AlterAction{Node: ast.Node{At: at}, Col: a.Name, IfExists: a.MissingOk}
	switch a.Subtype {
	case pg.AlterTableType_AT_AddColumn:
		d := columnDef(c.Converter, a.Def.GetColumnDef())
		out.Kind, out.Col, out.Def, out.At = "add_column", d.Name, &d, d.At
	case pg.AlterTableType_AT_DropColumn:
		out.Kind = "drop_column"
	case pg.AlterTableType_AT_ColumnDefault:
		out.Kind = "drop_default"
		if a.Def != nil && a.Def.Node != nil {
			out.Kind, out.X = "set_default", c.expr(a.Def)
		}
	case pg.AlterTableType_AT_SetNotNull:
		out.Kind = "set_not_null"
	case pg.AlterTableType_AT_DropNotNull:
		out.Kind = "drop_not_null"
	case pg.AlterTableType_AT_AddConstraint:
		k := tableConstraint(c.Converter, a.Def.GetConstraint())
		out.Kind, out.Constraint, out.At = "add_constraint", &k, k.At
	case pg.AlterTableType_AT_AlterColumnType:
		d := a.Def.GetColumnDef()
		out.Kind, out.Type, out.X = "alter_type", c.typeName(d.TypeName), c.optExpr(d.RawDefault)
	case pg.AlterTableType_AT_SetStorage, pg.AlterTableType_AT_SetCompression, pg.AlterTableType_AT_SetStatistics:
		if m := a.Def.GetString_().GetSval(); a.Subtype == pg.AlterTableType_AT_SetCompression {
			refuseCompression(c.Converter, at, m)
		}
		out.Kind = "noop" // it changes only how a server stores the column
	default:
		name := strings.TrimPrefix(a.Subtype.String(), "AT_")
		c.refuse(at, "this action of ALTER TABLE ("+name+")",
			"Supported: ADD/DROP/RENAME COLUMN, SET/DROP DEFAULT, SET/DROP NOT NULL, ALTER TYPE, ADD constraint, RENAME TO.")
	}
	return out
}

func renameStmt(c *stmtConv, s *pg.RenameStmt) ast.Statement {
	if s.Relation == nil {
		c.refuse(c.here().At, strings.ToUpper(firstWords(c.Src, c.from, 2))+" … RENAME", "Drop it and create it again.")
	}
	at := c.pos(s.Relation.Location)
	out := &ast.AlterTable{Node: c.here(), Kind: objectKinds[s.RenameType], Schema: s.Relation.Schemaname,
		Name: s.Relation.Relname, IfExists: s.MissingOk}
	if out.Kind == "column" {
		out.Kind = objectKinds[s.RelationType]
	}
	if out.Kind == "" {
		c.refuse(at, "this kind of RENAME", "Rename tables, views, indexes and columns.")
	}
	act := ast.AlterAction{Node: ast.Node{At: at}, NewName: s.Newname}
	switch s.RenameType {
	case pg.ObjectType_OBJECT_COLUMN:
		act.Kind, act.Col = "rename_column", s.Subname
	case pg.ObjectType_OBJECT_TABLE, pg.ObjectType_OBJECT_VIEW, pg.ObjectType_OBJECT_MATVIEW, pg.ObjectType_OBJECT_INDEX:
		act.Kind = "rename"
	default:
		c.refuse(at, "this kind of RENAME", "Rename tables, views, indexes and columns.")
	}
	out.Actions = []ast.AlterAction{act}
	return out
}

func dropStmt(c *stmtConv, s *pg.DropStmt) ast.Statement {
	kinds := map[pg.ObjectType]string{
		pg.ObjectType_OBJECT_TABLE: "table", pg.ObjectType_OBJECT_VIEW: "view",
		pg.ObjectType_OBJECT_MATVIEW: "materialized view",
		pg.ObjectType_OBJECT_INDEX:   "index", pg.ObjectType_OBJECT_FUNCTION: "function",
		pg.ObjectType_OBJECT_PROCEDURE: "procedure",
		pg.ObjectType_OBJECT_ROUTINE:   "routine", pg.ObjectType_OBJECT_SCHEMA: "schema",
	}
	kind, ok := kinds[s.RemoveType]
	if !ok {
		c.refuse(c.here().At, strings.ToUpper(firstWords(c.Src, c.from, 2)),
			"Supported: DROP TABLE, VIEW, INDEX, FUNCTION, PROCEDURE, SCHEMA.")
	}
	out := &ast.Drop{Node: c.here(), Kind: kind, IfExists: s.MissingOk,
		Cascade: s.Behavior == pg.DropBehavior_DROP_CASCADE, Outside: s.Concurrent}
	for _, o := range s.Objects {
		out.Names = append(out.Names, objectName(c, o))
		out.Args = append(out.Args, routineArgs(c.Converter, o))
	}
	return out
}

// routineArgs reads the arguments with which a function is named; nil: none are given.
func routineArgs(c *Converter, n *pg.Node) []ast.FuncParam {
	f := n.GetObjectWithArgs()
	if f == nil || f.ArgsUnspecified {
		return nil
	}
	out := []ast.FuncParam{}
	for _, p := range f.Objfuncargs {
		out = append(out, parameterOf(c, p.GetFunctionParameter()))
	}
	if len(out) == 0 {
		for _, t := range f.Objargs {
			out = append(out, ast.FuncParam{Type: c.typeName(t.GetTypeName()), Mode: "in"})
		}
	}
	return out
}

// objectName reads the name of an object in DROP, COMMENT or GRANT.
func objectName(c *stmtConv, n *pg.Node) ast.ObjectName {
	var parts []string
	switch x := n.GetNode().(type) {
	case *pg.Node_RangeVar:
		return relName(x.RangeVar)
	case *pg.Node_String_:
		parts = []string{x.String_.Sval}
	case *pg.Node_List:
		parts = Strings(x.List.Items)
	case *pg.Node_ObjectWithArgs:
		parts = Strings(x.ObjectWithArgs.Objname)
	}
	switch len(parts) {
	case 1:
		return ast.ObjectName{Name: parts[0]}
	case 2:
		return ast.ObjectName{Schema: parts[0], Name: parts[1]}
	}
	c.fail(c.here().At, sqlerr.Syntax, "", "improper qualified name: %s", strings.Join(parts, "."))
	return ast.ObjectName{}
}
