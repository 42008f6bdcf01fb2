package parse

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// objectKinds are the kinds of objects of COMMENT ON and GRANT that a store has.
var objectKinds = map[pg.ObjectType]string{
	pg.ObjectType_OBJECT_TABLE: "table", pg.ObjectType_OBJECT_VIEW: "view",
	pg.ObjectType_OBJECT_MATVIEW: "materialized view", pg.ObjectType_OBJECT_INDEX: "index",
	pg.ObjectType_OBJECT_COLUMN: "column", pg.ObjectType_OBJECT_TABCONSTRAINT: "constraint",
	pg.ObjectType_OBJECT_SEQUENCE: "sequence",
	pg.ObjectType_OBJECT_FUNCTION: "function", pg.ObjectType_OBJECT_PROCEDURE: "procedure",
	pg.ObjectType_OBJECT_ROUTINE: "routine",
	pg.ObjectType_OBJECT_SCHEMA:  "schema", pg.ObjectType_OBJECT_EXTENSION: "extension",
}

// serverKinds are kinds that only a server has; statements about them are accepted.
var serverKinds = []pg.ObjectType{pg.ObjectType_OBJECT_DATABASE, pg.ObjectType_OBJECT_ROLE,
	pg.ObjectType_OBJECT_TABLESPACE, pg.ObjectType_OBJECT_LANGUAGE}

// privileges are the privileges of GRANT by kind of object.
var privileges = map[string][]string{
	"relation": {"select", "insert", "update", "delete", "truncate", "references", "trigger"},
	"sequence": {"usage", "select", "update"},
	"function": {"execute"}, "procedure": {"execute"}, "routine": {"execute"}, "schema": {"create", "usage"},
	"database": {"create", "connect", "temporary", "temp"}, "tablespace": {"create"}, "language": {"usage"},
}

// noopStmt accepts statements that only matter on a server. The objects that they name must exist.
func noopStmt(c *stmtConv, n *pg.Node) ast.Statement {
	out := &ast.Noop{Node: c.here()}
	switch x := n.GetNode().(type) {
	case *pg.Node_VacuumStmt:
		out.Tag = "ANALYZE"
		if x.VacuumStmt.IsVacuumcmd {
			out.Tag = "VACUUM"
		}
		for _, r := range x.VacuumStmt.Rels {
			v := r.GetVacuumRelation()
			out.About = append(out.About,
				ast.Mention{Kind: "relation", ObjectName: relName(v.Relation), Parts: Strings(v.VaCols)})
		}
	case *pg.Node_GrantStmt:
		out.Tag, out.Idle = "REVOKE", true
		if x.GrantStmt.IsGrant {
			out.Tag = "GRANT"
		}
		grantStmt(c, out, x.GrantStmt)
	case *pg.Node_CommentStmt:
		out.Tag = "COMMENT"
		out.Idle = slices.Contains(serverKinds, x.CommentStmt.Objtype)
		commentStmt(c, out, x.CommentStmt)
	case *pg.Node_CheckPointStmt:
		out.Tag = "CHECKPOINT"
	case *pg.Node_CreateExtensionStmt:
		refuseExtension(c, x.CreateExtensionStmt.Extname)
		out.Tag = "CREATE EXTENSION"
	default:
		return nil
	}
	return out
}

func refuseExtension(c *stmtConv, name string) {
	if name != "relgrad" {
		c.fail(c.here().At, sqlerr.FeatureNotSupported, "Only the extension relgrad is built in.",
			"extension \"%s\" is not available", name)
	}
}

// kindOf names an object's kind; "" for kinds that only a server has.
func kindOf(c *stmtConv, o pg.ObjectType, verb string) string {
	kind := objectKinds[o]
	if kind == "" && !slices.Contains(serverKinds, o) {
		what := strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(o.String(), "OBJECT_"), "_", " "))
		c.refuse(c.here().At, verb+" "+what,
			"Supported: tables, views, columns, indexes, constraints, sequences, functions, procedures and schemas.")
	}
	return kind
}

func commentStmt(c *stmtConv, out *ast.Noop, s *pg.CommentStmt) {
	kind := kindOf(c, s.Objtype, "COMMENT ON")
	switch kind {
	case "":
	case "extension":
		refuseExtension(c, s.Object.GetString_().GetSval())
	case "column", "constraint":
		names := Strings(s.Object.GetList().GetItems())
		if kind == "column" {
			kind = "relation"
		}
		m := ast.Mention{Kind: kind, Parts: names[len(names)-1:]}
		switch len(names) {
		case 1:
			c.fail(out.At, sqlerr.Syntax, "Write table.column.", "column name must be qualified")
		case 2:
			m.Name = names[0]
		default:
			m.Schema, m.Name = names[len(names)-3], names[len(names)-2]
		}
		out.About = append(out.About, m)
	default:
		out.About = append(out.About,
			ast.Mention{Kind: kind, ObjectName: objectName(c, s.Object), Args: routineArgs(c.Converter, s.Object)})
	}
}

func grantStmt(c *stmtConv, out *ast.Noop, s *pg.GrantStmt) {
	kind := kindOf(c, s.Objtype, "GRANT ON")
	if kind == "table" {
		kind = "relation"
	}
	var cols []string
	for _, p := range s.Privileges {
		a := p.GetAccessPriv()
		cols = append(cols, Strings(a.Cols)...)
		checkPrivilege(c, a.PrivName, kind, s.Objtype)
	}
	for _, o := range s.Objects {
		m := ast.Mention{Kind: kind, Parts: cols}
		switch {
		case s.Targtype == pg.GrantTargetType_ACL_TARGET_ALL_IN_SCHEMA:
			m = ast.Mention{Kind: "schema", ObjectName: ast.ObjectName{Name: o.GetString_().GetSval()}}
		case kind != "":
			m.ObjectName, m.Args = objectName(c, o), routineArgs(c.Converter, o)
		}
		if m.Kind != "" {
			out.About = append(out.About, m)
		}
	}
}

// checkPrivilege refuses a privilege that no object has, or none of this kind. ALL has no name.
func checkPrivilege(c *stmtConv, name, kind string, o pg.ObjectType) {
	if kind == "" {
		kind = strings.ToLower(strings.TrimPrefix(o.String(), "OBJECT_"))
	}
	if name == "" || slices.Contains(privileges[kind], name) {
		return
	}
	var all []string
	for _, l := range privileges {
		all = append(all, l...)
	}
	if slices.Contains(all, name) {
		c.fail(c.here().At, "0LP01", "They are "+strings.ToUpper(strings.Join(privileges[kind], ", "))+".",
			"invalid privilege type %s for %s", strings.ToUpper(name), kind)
	}
	hint := ""
	if near := sqlerr.Nearest(name, all); near != "" {
		hint = "Perhaps you meant " + strings.ToUpper(near) + "."
	}
	c.fail(c.here().At, sqlerr.Syntax, hint, "unrecognized privilege type \"%s\"", name)
}
