package parse

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

func createFunction(c *stmtConv, s *pg.CreateFunctionStmt) ast.Statement {
	names := Strings(s.Funcname)
	out := &ast.CreateFunction{Node: c.here(), Name: names[len(names)-1], Replace: s.Replace, Procedure: s.IsProcedure,
		Volatility: "volatile"}
	if len(names) == 2 {
		out.Schema = names[0]
	}
	if s.SqlBody != nil && c.own {
		out.Body = sqlBody(c.Converter, s.SqlBody)
	} else if s.SqlBody != nil {
		c.refuse(out.At, "a function body without quotes (RETURN, BEGIN ATOMIC)", "Write LANGUAGE sql AS $$ SELECT … $$.")
	}
	for _, n := range s.Parameters {
		funcParam(c, out, n.GetFunctionParameter())
	}
	checkParameters(c.Converter, out)
	if r := s.ReturnType; r != nil {
		t := c.typeName(r)
		t.Mods = nil
		if t.Name == "trigger" || t.Name == "event_trigger" {
			c.refuse(t.At, "a trigger function", "Call the function by a statement.")
		}
		out.SetOf = r.Setof && len(out.Table) == 0
		if t.Name != "void" && len(out.Table) == 0 {
			out.Returns = &t
		}
		resultType(c.Converter, out, t)
	} else if !out.Procedure && len(out.Outputs()) == 0 && len(out.Table) == 0 {
		c.fail(out.At, invalidFunction, "Add RETURNS.", "function result type must be specified")
	}
	for _, n := range s.Options {
		funcOption(c, out, n.GetDefElem())
	}
	if out.Language == "" {
		c.refuse(out.At, "a function without LANGUAGE", "Add LANGUAGE plpgsql or LANGUAGE sql.")
	}
	if out.Procedure && (out.Strict || len(s.Options) > 0 &&
		hasOption(s.Options, "volatility", "window", "leakproof", "cost", "rows", "parallel", "support", "strict")) {
		c.fail(out.At, invalidFunction, "Leave it out.", "invalid attribute in procedure definition")
	}
	return out
}

// invalidFunction is the SQLSTATE of an invalid function definition.
const invalidFunction = "42P13"

func hasOption(options []*pg.Node, names ...string) bool {
	return slices.ContainsFunc(options,
		func(n *pg.Node) bool { return slices.Contains(names, n.GetDefElem().GetDefname()) })
}

// checkParameters refuses parameters that no function can have (interpret_function_parameter_list).
func checkParameters(c *Converter, fn *ast.CreateFunction) {
	fail := func(p ast.FuncParam, format string, args ...any) {
		c.fail(p.Type.At, invalidFunction, "", format, args...)
	}
	def := false
	for i, p := range append(slices.Clone(fn.Params), fn.Table...) {
		input := p.Mode != "out"
		switch {
		case !input && p.Default != nil:
			fail(p, "only input parameters can have default values")
		case input && def && p.Default == nil:
			fail(p, "input parameters after one with a default value must also have defaults")
		case !input && def && fn.Procedure:
			fail(p, "procedure OUT parameters cannot appear after one with a default value")
		}
		def = def || p.Default != nil
		for _, q := range append(slices.Clone(fn.Params), fn.Table...)[:i] {
			if p.Name != "" && p.Name == q.Name && !(p.Mode == "in" && q.Mode == "out" || p.Mode == "out" && q.Mode == "in") {
				fail(p, "parameter name \"%s\" used more than once", p.Name)
			}
		}
	}
	refusePolymorphic(c, fn)
}

// families are pseudo-types, which stand for the type of an argument. A result of such a type needs an argument of the
// same family.
var families = map[string]string{
	"anyelement":              "any",
	"anyarray":                "any",
	"anynonarray":             "any",
	"anyenum":                 "any",
	"anyrange":                "any range",
	"anymultirange":           "any range",
	"anycompatible":           "compatible",
	"anycompatiblearray":      "compatible",
	"anycompatiblenonarray":   "compatible",
	"anycompatiblerange":      "compatible range",
	"anycompatiblemultirange": "compatible range",
}

// refusePolymorphic refuses outputs whose type no argument determines.
func refusePolymorphic(c *Converter, fn *ast.CreateFunction) {
	for _, p := range append(fn.Outputs(), fn.Table...) {
		resultDetermined(c, fn, p.Type)
	}
}

func resultDetermined(c *Converter, fn *ast.CreateFunction, t ast.TypeName) {
	family := families[t.Name]
	if family == "" {
		return
	}
	for _, p := range fn.Params {
		if f := families[p.Type.Name]; p.Mode != "out" && (f == family || f == family+" range") {
			return
		}
	}
	c.fail(t.At, invalidFunction, "Give it an argument of this kind.",
		"cannot determine result data type: a result of type %s needs an argument of its kind", t)
}

// resultType checks RETURNS against the parameters.
func resultType(c *Converter, fn *ast.CreateFunction, t ast.TypeName) {
	outs := fn.Outputs()
	switch {
	case len(outs) > 0 && len(fn.Table) > 0:
		c.fail(t.At, sqlerr.Syntax, "", "OUT and INOUT arguments aren't allowed in TABLE functions")
	case len(outs) > 1 && t.String() != "record":
		c.fail(t.At, invalidFunction, "", "function result type must be record because of OUT parameters")
	case len(outs) == 1 && t.String() != outs[0].Type.String():
		c.fail(t.At, invalidFunction, "", "function result type must be %s because of OUT parameters", outs[0].Type)
	}
	if len(fn.Table) == 0 {
		resultDetermined(c, fn, t)
	}
}

func funcParam(c *stmtConv, out *ast.CreateFunction, p *pg.FunctionParameter) {
	fp := parameterOf(c.Converter, p)
	switch p.Mode {
	case pg.FunctionParameterMode_FUNC_PARAM_VARIADIC:
		c.refuse(fp.Type.At, "a VARIADIC parameter", "Use an array parameter.")
	case pg.FunctionParameterMode_FUNC_PARAM_TABLE:
		out.Table = append(out.Table, fp)
		return
	}
	out.Params = append(out.Params, fp)
}

// parameterOf reads a parameter. Modifiers of its type have no effect: a numeric(3, 0) takes any numeric.
func parameterOf(c *Converter, p *pg.FunctionParameter) ast.FuncParam {
	fp := ast.FuncParam{Name: p.Name, Type: c.typeName(p.ArgType), Default: c.optExpr(p.Defexpr), Mode: "in"}
	fp.Type.Mods = nil
	switch p.Mode {
	case pg.FunctionParameterMode_FUNC_PARAM_OUT, pg.FunctionParameterMode_FUNC_PARAM_TABLE:
		fp.Mode = "out"
	case pg.FunctionParameterMode_FUNC_PARAM_INOUT:
		fp.Mode = "inout"
	}
	return fp
}

func funcOption(c *stmtConv, out *ast.CreateFunction, d *pg.DefElem) {
	at := c.pos(d.Location)
	switch d.Defname {
	case "language":
		out.Language = LowerASCII(d.Arg.GetString_().GetSval())
		if out.Language != "plpgsql" && out.Language != "sql" {
			c.refuse(at, "LANGUAGE "+out.Language, "Use plpgsql or sql.")
		}
	case "as":
		items := d.Arg.GetList().GetItems()
		if len(items) != 1 {
			c.refuse(at, "a function in a library", "Use LANGUAGE plpgsql or sql.")
		}
		out.Body = items[0].GetString_().GetSval()
		as := Lex(c.Src, int(d.Location)) // the keyword AS, then the string
		out.BodyAt = bodyAt(c, as.End)
	case "volatility":
		out.Volatility = d.Arg.GetString_().GetSval()
	case "strict":
		out.Strict = d.Arg.GetBoolean().GetBoolval()
	case "cost", "rows", "parallel", "leakproof", "security": // only a server plans with them, or checks them
	default:
		c.refuse(at, "the function option "+strings.ToUpper(d.Defname), "Leave it out.")
	}
}

// bodyAt returns the position of the text of the first string literal from at on.
func bodyAt(c *stmtConv, at int) ast.Pos {
	t := Lex(c.Src, at)
	if t.Kind == TokDollar {
		return c.pos(int32(t.At + strings.IndexByte(t.Word[1:], '$') + 2))
	}
	return c.pos(int32(t.At + strings.IndexByte(t.Word, '\'') + 1))
}
