package parse

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// utilityStmt converts COPY, SET, DO, CALL, transaction control and the like; nil for anything else.
func utilityStmt(c *stmtConv, n *pg.Node) ast.Statement {
	switch x := n.GetNode().(type) {
	case *pg.Node_CopyStmt:
		return copyStmt(c, x.CopyStmt)
	case *pg.Node_TruncateStmt:
		out := &ast.Truncate{Node: c.here()}
		if x.TruncateStmt.RestartSeqs {
			c.refuse(out.At, "RESTART IDENTITY", "Leave it out, or drop and create the table.")
		}
		for _, r := range x.TruncateStmt.Relations {
			out.Tables = append(out.Tables, relName(r.GetRangeVar()))
		}
		return out
	case *pg.Node_TransactionStmt:
		return transactionStmt(c, x.TransactionStmt)
	case *pg.Node_VariableSetStmt:
		return setStmt(c, x.VariableSetStmt)
	case *pg.Node_VariableShowStmt:
		return &ast.Show{Node: c.here(), Name: x.VariableShowStmt.Name}
	case *pg.Node_DoStmt:
		return doStmt(c, x.DoStmt)
	case *pg.Node_CallStmt:
		return &ast.Call{Node: c.here(), Func: c.funcCall(x.CallStmt.Funccall)}
	case *pg.Node_ExplainStmt:
		return explainStmt(c, x.ExplainStmt)
	}
	return noopStmt(c, n)
}

func copyStmt(c *stmtConv, s *pg.CopyStmt) ast.Statement {
	out := &ast.Copy{Node: c.here(), From: s.IsFrom, Program: s.IsProgram, Source: s.Filename, Cols: Strings(s.Attlist)}
	if s.Relation != nil {
		out.Schema, out.Name = s.Relation.Schemaname, s.Relation.Relname
	}
	if s.Query != nil {
		out.Query = selectNode(c.Converter, s.Query)
	}
	if s.WhereClause != nil {
		c.refuse(out.At, "COPY … WHERE", "Copy into a temporary table, then INSERT … SELECT … WHERE.")
	}
	if s.Filename == "" && !s.IsProgram {
		out.Std, out.Source = true, "STDOUT"
		if s.IsFrom {
			out.Source = "STDIN"
		}
	}
	out.Options.Format = "text"
	for _, n := range s.Options {
		copyOption(c, &out.Options, n.GetDefElem())
	}
	copyOptionsFit(c, out, s)
	return out
}

// copyOptionsFit refuses options that the format does not have.
func copyOptionsFit(c *stmtConv, out *ast.Copy, s *pg.CopyStmt) {
	if out.Options.IsFolder() {
		folderOptionsFit(c, out, s)
		return
	}
	file := out.Options.IsFile()
	for _, n := range s.Options {
		d := n.GetDefElem()
		own := d.Defname == "whole" || d.Defname == "index"
		if folderOption[d.Defname] != nil {
			c.fail(c.pos(d.Location), sqlerr.FeatureNotSupported, "It is an option of the format delta.",
				"the COPY option %s has no meaning for the format %s", strings.ToUpper(d.Defname), out.Options.Format)
		}
		if d.Defname == "format" || own == file && (d.Defname != "index" || out.From) {
			continue
		}
		hint := "WHOLE and INDEX are options of npy, npz, safetensors, arrow and parquet."
		if file {
			hint = "Options of this format are WHOLE and, with FROM, INDEX."
		}
		c.fail(c.pos(d.Location), sqlerr.FeatureNotSupported, hint,
			"the COPY option %s has no meaning for COPY … %s with the format %s",
			strings.ToUpper(d.Defname), map[bool]string{true: "FROM", false: "TO"}[out.From], out.Options.Format)
	}
}

func copyOption(c *stmtConv, o *ast.CopyOptions, d *pg.DefElem) {
	at := c.pos(d.Location)
	text := d.Arg.GetString_().GetSval()
	if copyFlag(c, o, d, at, text) || copyFolder(c, o, d, at) {
		return
	}
	switch d.Defname {
	case "format":
		if text != "text" && text != "csv" && !slices.Contains(ast.AllFormats(), text) {
			c.refuse(at, "COPY format \""+text+"\"", "Use text, csv, "+strings.Join(ast.AllFormats(), ", ")+".")
		}
		o.Format = text
	case "delimiter":
		o.Delimiter = oneByte(c, at, d.Defname, text)
	case "null":
		o.Null, o.NullSet = text, true
	case "quote":
		o.Quote = oneByte(c, at, d.Defname, text)
	case "escape":
		o.Escape = oneByte(c, at, d.Defname, text)
	case "index":
		if text == "" {
			c.refuse(at, "INDEX without a name", "Name the column that takes the row's position, INDEX id.")
		}
		o.Index = text
	case "encoding":
		if e := strings.ToLower(text); e != "utf8" && e != "utf-8" {
			c.refuse(at, "COPY encoding "+text, "Convert the file to UTF-8.")
		}
	default:
		c.refuse(at, "the COPY option "+strings.ToUpper(d.Defname),
			"Supported: FORMAT, HEADER, DELIMITER, NULL, QUOTE, ESCAPE; for files of arrays WHOLE and INDEX.")
	}
}

// copyFlag reads an option that is true or false. It returns false for other options.
func copyFlag(c *stmtConv, o *ast.CopyOptions, d *pg.DefElem, at ast.Pos, text string) bool {
	on, ok := defBool(d)
	switch d.Defname {
	case "header":
		o.Match = strings.EqualFold(text, "match")
		if !ok && !o.Match {
			c.refuse(at, "HEADER "+text, "Use HEADER true, false or match.")
		}
		o.Header = on || o.Match
	case "whole":
		if !ok {
			c.refuse(at, "WHOLE "+text, "Use WHOLE true or false.")
		}
		o.Whole = on
	case "freeze":
		if on || !ok {
			c.refuse(at, "the COPY option FREEZE", "Leave it out: it changes only how a server stores the rows.")
		}
	default:
		return false
	}
	return true
}

func oneByte(c *stmtConv, at ast.Pos, option, text string) string {
	if len(text) != 1 || text == "\n" || text == "\r" {
		c.fail(at, sqlerr.InvalidParameter, "", "COPY %s must be a single one-byte character, not \"%s\"", option, text)
	}
	return text
}

// defBool reads an option's boolean as PostgreSQL's defGetBoolean does; a missing argument is true.
func defBool(d *pg.DefElem) (value, ok bool) {
	switch v := d.Arg.GetNode().(type) {
	case nil:
		return true, true
	case *pg.Node_Integer:
		return v.Integer.Ival == 1, v.Integer.Ival == 0 || v.Integer.Ival == 1
	case *pg.Node_Boolean:
		return v.Boolean.Boolval, true
	case *pg.Node_String_:
		return wordBool(v.String_.Sval)
	case *pg.Node_TypeName: // a bare word of WITH (…)
		if len(v.TypeName.Names) == 1 {
			return wordBool(v.TypeName.Names[0].GetString_().GetSval())
		}
	}
	return false, false
}

func wordBool(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "true", "on":
		return true, true
	case "false", "off":
		return false, true
	}
	return false, false
}

func transactionStmt(c *stmtConv, s *pg.TransactionStmt) ast.Statement {
	out := &ast.Transaction{Node: c.here(), Name: s.SavepointName}
	switch s.Kind {
	case pg.TransactionStmtKind_TRANS_STMT_BEGIN, pg.TransactionStmtKind_TRANS_STMT_START:
		out.Kind = "begin"
	case pg.TransactionStmtKind_TRANS_STMT_COMMIT:
		out.Kind = "commit"
	case pg.TransactionStmtKind_TRANS_STMT_ROLLBACK:
		out.Kind = "rollback"
	case pg.TransactionStmtKind_TRANS_STMT_SAVEPOINT:
		out.Kind = "savepoint"
	case pg.TransactionStmtKind_TRANS_STMT_RELEASE:
		out.Kind = "release"
	case pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:
		out.Kind = "rollback_to"
	default:
		c.refuse(out.At, "two-phase commit", "Use COMMIT.")
	}
	if s.Chain {
		c.refuse(out.At, "AND CHAIN", "Write COMMIT; BEGIN;.")
	}
	for _, n := range s.Options { // isolation levels: the embedded store is always serializable
		if d := n.GetDefElem(); d.Defname != "transaction_isolation" {
			c.refuse(out.At, "a transaction mode other than the isolation level", "Leave it out.")
		}
	}
	return out
}

func setStmt(c *stmtConv, s *pg.VariableSetStmt) ast.Statement {
	out := &ast.Set{Node: c.here(), Name: s.Name, Local: s.IsLocal}
	switch s.Kind {
	case pg.VariableSetKind_VAR_SET_VALUE:
	case pg.VariableSetKind_VAR_SET_DEFAULT, pg.VariableSetKind_VAR_RESET:
		out.Reset = true
	case pg.VariableSetKind_VAR_RESET_ALL:
		out.Reset, out.Name = true, "all"
	default:
		c.refuse(out.At, strings.ToUpper(firstWords(c.Src, c.from, 2)), "Use SET name = value.")
	}
	for _, a := range s.Args {
		k := a.GetAConst()
		if k == nil {
			c.refuse(out.At, "this value of SET", "Use a name, a number or a string.")
		}
		out.Values = append(out.Values, c.literal(k).(*ast.Literal).Value)
	}
	return out
}

func doStmt(c *stmtConv, s *pg.DoStmt) ast.Statement {
	out := &ast.Do{Node: c.here()}
	for _, n := range s.Args {
		d := n.GetDefElem()
		switch d.Defname {
		case "as":
			out.Body = d.Arg.GetString_().GetSval()
			out.BodyAt = bodyAt(c, int(d.Location))
		case "language":
			if l := d.Arg.GetString_().GetSval(); l != "plpgsql" {
				c.refuse(c.pos(d.Location), "DO in LANGUAGE "+l, "Use plpgsql.")
			}
		}
	}
	return out
}

func explainStmt(c *stmtConv, s *pg.ExplainStmt) ast.Statement {
	out := &ast.Explain{Node: c.here()}
	for _, n := range s.Options {
		d := n.GetDefElem()
		on, ok := defBool(d)
		switch {
		case d.Defname == "analyze" && ok:
			out.Analyze = on
		case d.Defname == "verbose" || d.Defname == "costs":
		default:
			c.refuse(c.pos(d.Location), "the EXPLAIN option "+strings.ToUpper(d.Defname), "Use ANALYZE, VERBOSE or COSTS.")
		}
	}
	out.Stmt = c.statement(s.Query)
	return out
}
