package sqlfront

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

func (c *stmtConv) alterTable(s *pg.AlterTableStmt) Statement {
	if s.Objtype != pg.ObjectType_OBJECT_TABLE {
		c.refuse(c.here().At, strings.ToUpper(firstWords(c.src, c.from, 2)), "Drop it and create it again.")
	}
	out := &AlterTable{Node: c.here(), Schema: s.Relation.Schemaname, Name: s.Relation.Relname, IfExists: s.MissingOk}
	for _, n := range s.Cmds {
		out.Actions = append(out.Actions, c.alterAction(n.GetAlterTableCmd(), c.pos(s.Relation.Location)))
	}
	return out
}

func (c *stmtConv) alterAction(a *pg.AlterTableCmd, at Pos) AlterAction {
	out := AlterAction{Node: Node{at}, Col: a.Name, IfExists: a.MissingOk}
	switch a.Subtype {
	case pg.AlterTableType_AT_AddColumn:
		d := c.columnDef(a.Def.GetColumnDef())
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
		k := c.tableConstraint(a.Def.GetConstraint())
		out.Kind, out.Constraint, out.At = "add_constraint", &k, k.At
	case pg.AlterTableType_AT_AlterColumnType:
		d := a.Def.GetColumnDef()
		out.Kind, out.Type, out.X = "alter_type", c.typeName(d.TypeName), c.optExpr(d.RawDefault)
	case pg.AlterTableType_AT_SetStorage, pg.AlterTableType_AT_SetCompression, pg.AlterTableType_AT_SetStatistics:
		out.Kind = "noop" // these change how a server stores the column, nothing else
	default:
		name := strings.TrimPrefix(a.Subtype.String(), "AT_")
		c.refuse(at, "this action of ALTER TABLE ("+name+")",
			"Supported: ADD/DROP/RENAME COLUMN, SET/DROP DEFAULT, SET/DROP NOT NULL, ALTER TYPE, ADD constraint, RENAME TO.")
	}
	return out
}

func (c *stmtConv) rename(s *pg.RenameStmt) Statement {
	if s.Relation == nil {
		c.refuse(c.here().At, strings.ToUpper(firstWords(c.src, c.from, 2))+" … RENAME", "Drop it and create it again.")
	}
	at := c.pos(s.Relation.Location)
	out := &AlterTable{Node: c.here(), Schema: s.Relation.Schemaname, Name: s.Relation.Relname, IfExists: s.MissingOk}
	act := AlterAction{Node: Node{at}, NewName: s.Newname}
	switch s.RenameType {
	case pg.ObjectType_OBJECT_COLUMN:
		act.Kind, act.Col = "rename_column", s.Subname
	case pg.ObjectType_OBJECT_TABLE, pg.ObjectType_OBJECT_VIEW, pg.ObjectType_OBJECT_INDEX:
		act.Kind = "rename"
	default:
		c.refuse(at, "this kind of RENAME", "Rename tables, views, indexes and columns.")
	}
	out.Actions = []AlterAction{act}
	return out
}

func (c *stmtConv) drop(s *pg.DropStmt) Statement {
	kinds := map[pg.ObjectType]string{
		pg.ObjectType_OBJECT_TABLE: "table", pg.ObjectType_OBJECT_VIEW: "view", pg.ObjectType_OBJECT_MATVIEW: "materialized view",
		pg.ObjectType_OBJECT_INDEX: "index", pg.ObjectType_OBJECT_FUNCTION: "function", pg.ObjectType_OBJECT_PROCEDURE: "procedure",
		pg.ObjectType_OBJECT_ROUTINE: "function", pg.ObjectType_OBJECT_SCHEMA: "schema",
	}
	kind, ok := kinds[s.RemoveType]
	if !ok {
		c.refuse(c.here().At, strings.ToUpper(firstWords(c.src, c.from, 2)), "Supported: DROP TABLE, VIEW, INDEX, FUNCTION, PROCEDURE, SCHEMA.")
	}
	out := &Drop{Node: c.here(), Kind: kind, IfExists: s.MissingOk, Cascade: s.Behavior == pg.DropBehavior_DROP_CASCADE}
	for _, o := range s.Objects {
		out.Names = append(out.Names, c.objectName(o))
	}
	return out
}

// objectName reads the name of an object as DROP, COMMENT and GRANT hold it.
func (c *stmtConv) objectName(n *pg.Node) ObjectName {
	var parts []string
	switch x := n.GetNode().(type) {
	case *pg.Node_RangeVar:
		return relName(x.RangeVar)
	case *pg.Node_String_:
		parts = []string{x.String_.Sval}
	case *pg.Node_List:
		parts = strs(x.List.Items)
	case *pg.Node_ObjectWithArgs:
		parts = strs(x.ObjectWithArgs.Objname)
	}
	switch len(parts) {
	case 1:
		return ObjectName{Name: parts[0]}
	case 2:
		return ObjectName{parts[0], parts[1]}
	}
	c.fail(c.here().At, sqlerr.Syntax, "", "improper qualified name: %s", strings.Join(parts, "."))
	return ObjectName{}
}

func (c *stmtConv) createFunction(s *pg.CreateFunctionStmt) Statement {
	names := strs(s.Funcname)
	out := &CreateFunction{Node: c.here(), Name: names[len(names)-1], Replace: s.Replace, Procedure: s.IsProcedure, Volatility: "volatile"}
	if len(names) == 2 {
		out.Schema = names[0]
	}
	if s.SqlBody != nil && c.own {
		out.Body = c.sqlBody(s.SqlBody)
	} else if s.SqlBody != nil {
		c.refuse(out.At, "a function body without quotes (RETURN, BEGIN ATOMIC)", "Write LANGUAGE sql AS $$ SELECT … $$.")
	}
	for _, n := range s.Parameters {
		c.funcParam(out, n.GetFunctionParameter())
	}
	if r := s.ReturnType; r != nil {
		t := c.typeName(r)
		if t.Name == "trigger" || t.Name == "event_trigger" {
			c.refuse(t.At, "a trigger function", "Call the function by a statement.")
		}
		out.SetOf = r.Setof && len(out.Table) == 0
		if t.Name != "void" && len(out.Table) == 0 {
			out.Returns = &t
		}
	}
	for _, n := range s.Options {
		c.funcOption(out, n.GetDefElem())
	}
	if out.Language == "" {
		c.refuse(out.At, "a function without LANGUAGE", "Add LANGUAGE plpgsql or LANGUAGE sql.")
	}
	return out
}

func (c *stmtConv) funcParam(out *CreateFunction, p *pg.FunctionParameter) {
	fp := FuncParam{Name: p.Name, Type: c.typeName(p.ArgType), Default: c.optExpr(p.Defexpr), Mode: "in"}
	switch p.Mode {
	case pg.FunctionParameterMode_FUNC_PARAM_OUT:
		fp.Mode = "out"
	case pg.FunctionParameterMode_FUNC_PARAM_INOUT:
		fp.Mode = "inout"
	case pg.FunctionParameterMode_FUNC_PARAM_VARIADIC:
		c.refuse(fp.Type.At, "a VARIADIC parameter", "Use an array parameter.")
	case pg.FunctionParameterMode_FUNC_PARAM_TABLE:
		fp.Mode = "out"
		out.Table = append(out.Table, fp)
		return
	}
	out.Params = append(out.Params, fp)
}

func (c *stmtConv) funcOption(out *CreateFunction, d *pg.DefElem) {
	at := c.pos(d.Location)
	switch d.Defname {
	case "language":
		out.Language = lowerASCII(d.Arg.GetString_().GetSval())
		if out.Language != "plpgsql" && out.Language != "sql" {
			c.refuse(at, "LANGUAGE "+out.Language, "Use plpgsql or sql.")
		}
	case "as":
		items := d.Arg.GetList().GetItems()
		if len(items) != 1 {
			c.refuse(at, "a function in a library", "Use LANGUAGE plpgsql or sql.")
		}
		out.Body = items[0].GetString_().GetSval()
		as := Lex(c.src, int(d.Location)) // the keyword AS, then the string
		out.BodyAt = c.bodyAt(as.End)
	case "volatility":
		out.Volatility = d.Arg.GetString_().GetSval()
	case "strict":
		out.Strict = d.Arg.GetBoolean().GetBoolval()
	case "cost", "rows", "parallel", "leakproof", "security": // planning and permissions of a server
	default:
		c.refuse(at, "the function option "+strings.ToUpper(d.Defname), "Leave it out.")
	}
}

// bodyAt returns where the text of the string literal at or after at begins.
func (c *stmtConv) bodyAt(at int) Pos {
	t := Lex(c.src, at)
	if t.Kind == TokDollar {
		return c.pos(int32(t.At + strings.IndexByte(t.Word[1:], '$') + 2))
	}
	return c.pos(int32(t.At + strings.IndexByte(t.Word, '\'') + 1))
}
