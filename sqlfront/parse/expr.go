package parse

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

func (c *Converter) exprs(list []*pg.Node) []ast.Expr {
	var out []ast.Expr
	for _, n := range list {
		out = append(out, c.expr(n))
	}
	return out
}

// optExpr converts n, nil for a missing node.
func (c *Converter) optExpr(n *pg.Node) ast.Expr {
	if n == nil || n.Node == nil {
		return nil
	}
	return c.expr(n)
}

func (c *Converter) expr(n *pg.Node) ast.Expr {
	switch x := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		return c.columnRef(x.ColumnRef)
	case *pg.Node_AConst:
		return c.literal(x.AConst)
	case *pg.Node_AExpr:
		return c.operator(x.AExpr)
	case *pg.Node_BoolExpr:
		return c.boolExpr(x.BoolExpr)
	case *pg.Node_FuncCall:
		return c.funcCall(x.FuncCall)
	case *pg.Node_TypeCast:
		return c.typeCast(x.TypeCast)
	case *pg.Node_CaseExpr:
		return c.caseExpr(x.CaseExpr)
	case *pg.Node_CoalesceExpr:
		return &ast.Coalesce{Node: c.node(x.CoalesceExpr.Location), Args: c.exprs(x.CoalesceExpr.Args)}
	case *pg.Node_MinMaxExpr:
		m := x.MinMaxExpr
		return &ast.MinMax{Node: c.node(m.Location), Greatest: m.Op == pg.MinMaxOp_IS_GREATEST, Args: c.exprs(m.Args)}
	case *pg.Node_SubLink:
		return c.subLink(x.SubLink)
	case *pg.Node_NullTest:
		return &ast.IsNull{Node: c.node(x.NullTest.Location), X: c.expr(x.NullTest.Arg),
			Not: x.NullTest.Nulltesttype == pg.NullTestType_IS_NOT_NULL}
	case *pg.Node_BooleanTest:
		return c.boolTest(x.BooleanTest)
	case *pg.Node_AArrayExpr:
		return &ast.ArrayLit{Node: c.node(x.AArrayExpr.Location), Elems: c.exprs(x.AArrayExpr.Elements)}
	case *pg.Node_RowExpr:
		return &ast.RowExpr{Node: c.node(x.RowExpr.Location), Fields: c.exprs(x.RowExpr.Args)}
	case *pg.Node_AIndirection:
		return c.indirection(x.AIndirection)
	case *pg.Node_ParamRef:
		return &ast.Param{Node: c.node(x.ParamRef.Location), N: int(x.ParamRef.Number)}
	case *pg.Node_SetToDefault:
		return &ast.Default{Node: c.node(x.SetToDefault.Location)}
	case *pg.Node_SqlvalueFunction:
		return c.valueFunction(x.SqlvalueFunction)
	case *pg.Node_CollateClause:
		return c.collate(x.CollateClause)
	case *pg.Node_GroupingFunc:
		c.refuse(c.pos(x.GroupingFunc.Location), "GROUPING()", "Use one GROUP BY for each grouping and UNION ALL.")
	case *pg.Node_CurrentOfExpr:
		c.refuse(-1, "WHERE CURRENT OF", "Use the key in WHERE.")
	case *pg.Node_MultiAssignRef:
		c.refuse(-1, "SET (a, b) = (SELECT …)", "Write UPDATE … SET a = s.a, b = s.b FROM (SELECT …) s.")
	}
	kind := strings.TrimPrefix(fmt.Sprintf("%T", n.GetNode()), "*pg_query.Node_")
	c.refuse(-1, "the construct "+kind, "")
	return nil
}

// collate converts COLLATE. Only queries of a loss may have any: the store compares byte by byte, as "C" does.
func (c *Converter) collate(x *pg.CollateClause) ast.Expr {
	names := Strings(x.Collname)
	bytewise := slices.Contains([]string{"C", "POSIX", "ucs_basic"}, names[len(names)-1])
	if !c.own && !bytewise || len(names) > 2 {
		c.refuse(c.pos(x.Location), "COLLATE", "Leave it out: text compares byte by byte.")
	}
	out := &ast.Collate{Node: c.node(x.Location), X: c.expr(x.Arg), Name: names[len(names)-1]}
	if len(names) == 2 {
		out.Schema = names[0]
	}
	return out
}

func (c *Converter) columnRef(r *pg.ColumnRef) ast.Expr {
	out := &ast.ColumnRef{Node: c.node(r.Location)}
	for _, f := range r.Fields {
		if f.GetAStar() != nil {
			out.Star = true
			continue
		}
		out.Names = append(out.Names, f.GetString_().GetSval())
	}
	return out
}

func (c *Converter) literal(k *pg.A_Const) ast.Expr {
	at := c.node(k.Location)
	if k.Isnull {
		return &ast.Literal{Node: at, Kind: ast.LitNull, Value: "NULL"}
	}
	switch v := k.Val.(type) {
	case *pg.A_Const_Ival:
		return &ast.Literal{Node: at, Kind: ast.LitInt, Value: strconv.Itoa(int(v.Ival.GetIval()))}
	case *pg.A_Const_Fval:
		kind, s := number(v.Fval.GetFval())
		return &ast.Literal{Node: at, Kind: kind, Value: s}
	case *pg.A_Const_Boolval:
		return &ast.Literal{Node: at, Kind: ast.LitBool, Value: strconv.FormatBool(v.Boolval.GetBoolval())}
	case *pg.A_Const_Sval:
		return &ast.Literal{Node: at, Kind: ast.LitString, Value: v.Sval.GetSval()}
	}
	c.refuse(at.At, "a bit string literal", "Use an integer or a text literal.")
	return nil
}

// number classifies the text of a numeric literal that does not fit int4: 64-bit integers in any
// base become LitInt in decimal, all else LitNumeric without underscores.
func number(s string) (ast.LiteralKind, string) {
	plain := strings.ReplaceAll(s, "_", "")
	base, digits := 10, plain
	if len(plain) > 2 && plain[0] == '0' {
		switch plain[1] | 0x20 {
		case 'x':
			base, digits = 16, plain[2:]
		case 'o':
			base, digits = 8, plain[2:]
		case 'b':
			base, digits = 2, plain[2:]
		}
	}
	if v, err := strconv.ParseInt(digits, base, 64); err == nil {
		return ast.LitInt, strconv.FormatInt(v, 10)
	}
	return ast.LitNumeric, plain
}

var binaryOps = map[string]bool{
	"+": true, "-": true, "*": true, "/": true, "%": true, "^": true, "||": true, "=": true, "<>": true,
	"<": true, "<=": true, ">": true, ">=": true, "~~": true, "!~~": true, "~~*": true, "!~~*": true,
	"~": true, "!~": true, "~*": true, "!~*": true, "&": true, "|": true, "#": true, "<<": true, ">>": true,
}

// opName returns the operator's name; OPERATOR(pg_catalog.+) counts as +.
func (c *Converter) opName(names []*pg.Node, at ast.Pos) string {
	ns := Strings(names)
	if len(ns) == 2 && ns[0] == "pg_catalog" {
		ns = ns[1:]
	}
	if len(ns) != 1 {
		c.refuse(at, "the operator "+strings.Join(ns, "."), "")
	}
	return ns[0]
}

// ownOp is opName with the operator's schema: the schema relgrad has operators on chunks.
func (c *Converter) ownOp(e *pg.A_Expr, at ast.Pos) (schema, op string) {
	if ns := Strings(e.Name); e.Kind == pg.A_Expr_Kind_AEXPR_OP && len(ns) == 2 && ns[0] == "relgrad" && len(ns[1]) == 1 &&
		strings.Contains("+-*/^", ns[1]) {
		return ns[0], ns[1]
	} else if e.Kind == pg.A_Expr_Kind_AEXPR_OP && len(ns) == 2 && ns[0] == "pg_catalog" {
		schema = ns[0] // kept, so that no operator of the user is found when it is printed
	}
	return schema, c.opName(e.Name, at)
}

func (c *Converter) operator(e *pg.A_Expr) ast.Expr {
	at := c.node(e.Location)
	schema, op := c.ownOp(e, at.At)
	switch e.Kind {
	case pg.A_Expr_Kind_AEXPR_OP, pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE, pg.A_Expr_Kind_AEXPR_SIMILAR:
		if e.Lexpr == nil {
			u := &ast.Unary{Node: at, Op: op, X: c.expr(e.Rexpr), Schema: schema}
			if op != "-" && op != "+" && u.Function() == nil {
				c.refuse(at.At, "the prefix operator "+op, "Use a function.")
			}
			return u
		}
		if !binaryOps[op] {
			c.refuse(at.At, "the operator "+op, cmp.Or(ast.Meant(op),
				"On a server it may stand in a sub-query of the loss that reads no parameter."))
		}
		return &ast.Binary{Node: at, Op: op, L: c.expr(e.Lexpr), R: c.expr(e.Rexpr), Schema: schema}
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		return &ast.AnyArray{Node: at, X: c.expr(e.Lexpr), Op: op, Array: c.expr(e.Rexpr),
			All: e.Kind == pg.A_Expr_Kind_AEXPR_OP_ALL}
	case pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return &ast.IsDistinct{Node: at, L: c.expr(e.Lexpr), R: c.expr(e.Rexpr),
			Not: e.Kind == pg.A_Expr_Kind_AEXPR_NOT_DISTINCT}
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		return &ast.NullIf{Node: at, L: c.expr(e.Lexpr), R: c.expr(e.Rexpr)}
	case pg.A_Expr_Kind_AEXPR_IN:
		return &ast.In{Node: at, X: c.expr(e.Lexpr), List: c.exprs(e.Rexpr.GetList().GetItems()), Not: op == "<>"}
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		b := e.Rexpr.GetList().GetItems()
		return &ast.Between{Node: at, X: c.expr(e.Lexpr), Lo: c.expr(b[0]), Hi: c.expr(b[1]),
			Not: e.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN}
	case pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM: // as Postgres has it
		b := e.Rexpr.GetList().GetItems()
		between := func(lo, hi *pg.Node) ast.Expr {
			return &ast.Between{Node: at, X: c.expr(e.Lexpr), Lo: c.expr(lo), Hi: c.expr(hi), Not: false}
		}
		var out ast.Expr = &ast.Binary{Node: at, Op: "or", L: between(b[0], b[1]), R: between(b[1], b[0])}
		if e.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM {
			out = &ast.Unary{Node: at, Op: "not", X: out}
		}
		return out
	}
	c.refuse(at.At, op, "")
	return nil
}

func (c *Converter) boolExpr(b *pg.BoolExpr) ast.Expr {
	at := c.node(b.Location)
	if b.Boolop == pg.BoolExprType_NOT_EXPR {
		return &ast.Unary{Node: at, Op: "not", X: c.expr(b.Args[0])}
	}
	op := "and"
	if b.Boolop == pg.BoolExprType_OR_EXPR {
		op = "or"
	}
	out := c.expr(b.Args[0])
	for _, a := range b.Args[1:] {
		out = &ast.Binary{Node: at, Op: op, L: out, R: c.expr(a)}
	}
	return out
}

func (c *Converter) boolTest(b *pg.BooleanTest) ast.Expr {
	out := &ast.IsBool{Node: c.node(b.Location), X: c.expr(b.Arg)}
	switch b.Booltesttype {
	case pg.BoolTestType_IS_TRUE, pg.BoolTestType_IS_NOT_TRUE:
		out.What = "true"
	case pg.BoolTestType_IS_FALSE, pg.BoolTestType_IS_NOT_FALSE:
		out.What = "false"
	default:
		out.What = "unknown"
	}
	switch b.Booltesttype {
	case pg.BoolTestType_IS_NOT_TRUE, pg.BoolTestType_IS_NOT_FALSE, pg.BoolTestType_IS_NOT_UNKNOWN:
		out.Not = true
	}
	return out
}

// percentiles are the functions with WITHIN GROUP.
var percentiles = []string{"percentile_cont", "percentile_disc"}

func (c *Converter) funcCall(f *pg.FuncCall) *ast.FuncCall {
	out := &ast.FuncCall{Node: c.node(f.Location), Star: f.AggStar, Distinct: f.AggDistinct}
	names := Strings(f.Funcname)
	if len(names) > 2 {
		c.refuse(out.At, "the function name "+strings.Join(names, "."), "Name at most a schema and a function.")
	}
	out.Name = names[len(names)-1]
	// EXTRACT(…), SUBSTRING(… FROM …), TRIM(…): the grammar's pg_catalog prefix is not the user's
	if len(names) == 2 && f.Funcformat != pg.CoercionForm_COERCE_SQL_SYNTAX {
		out.Schema = names[0]
	}
	if out.WithinGroup = f.AggWithinGroup; f.AggWithinGroup && !slices.Contains(percentiles, out.Name) {
		c.refuse(out.At, "WITHIN GROUP", "Use row_number() OVER (ORDER BY …) to pick a rank.")
	}
	if f.FuncVariadic {
		c.refuse(out.At, "a VARIADIC argument", "List the arguments one by one.")
	}
	for _, a := range f.Args {
		name := ""
		if na := a.GetNamedArgExpr(); na != nil {
			name, a = na.Name, na.Arg
		}
		x := c.expr(a)
		if n := len(out.ArgNames); name == "" && n > 0 && out.ArgNames[n-1] != "" {
			c.fail(x.Position(), sqlerr.Syntax, "", "positional argument cannot follow named argument")
		}
		out.Args = append(out.Args, x)
		out.ArgNames = append(out.ArgNames, name)
	}
	out.OrderBy = c.sortKeys(f.AggOrder)
	out.Filter = c.optExpr(f.AggFilter)
	if f.Over != nil {
		w := windowDef(c, f.Over)
		out.Over = &w
	}
	return out
}

// valueFunction converts CURRENT_DATE and similar words to calls without arguments.
func (c *Converter) valueFunction(f *pg.SQLValueFunction) ast.Expr {
	names := map[pg.SQLValueFunctionOp]string{
		pg.SQLValueFunctionOp_SVFOP_CURRENT_DATE: "current_date", pg.SQLValueFunctionOp_SVFOP_CURRENT_TIME: "current_time",
		pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP: "current_timestamp",
		pg.SQLValueFunctionOp_SVFOP_LOCALTIME:         "localtime",
		pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP:    "localtimestamp",
		pg.SQLValueFunctionOp_SVFOP_CURRENT_ROLE:      "current_role",
		pg.SQLValueFunctionOp_SVFOP_CURRENT_USER:      "current_user", pg.SQLValueFunctionOp_SVFOP_USER: "user",
		pg.SQLValueFunctionOp_SVFOP_SESSION_USER:    "session_user",
		pg.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG: "current_catalog",
		pg.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA:  "current_schema",
	}
	name, ok := names[f.Op]
	if !ok {
		c.refuse(c.pos(f.Location), "a precision on a time function", "Leave the precision out.")
	}
	return &ast.FuncCall{Node: c.node(f.Location), Name: name}
}

func (c *Converter) typeCast(t *pg.TypeCast) ast.Expr {
	out := &ast.Cast{Node: c.node(t.Location), X: c.expr(t.Arg), Type: c.typeName(t.TypeName)}
	if out.At < 0 { // date '2020-01-01'
		out.At = out.Type.At
	}
	return out
}

func (c *Converter) caseExpr(e *pg.CaseExpr) ast.Expr {
	out := &ast.Case{Node: c.node(e.Location), Arg: c.optExpr(e.Arg), Else: c.optExpr(e.Defresult)}
	for _, w := range e.Args {
		cw := w.GetCaseWhen()
		out.Whens = append(out.Whens, ast.When{Cond: c.expr(cw.Expr), Result: c.expr(cw.Result)})
	}
	return out
}

func (c *Converter) subLink(s *pg.SubLink) ast.Expr {
	out := &ast.SubLink{Node: c.node(s.Location)}
	switch s.SubLinkType {
	case pg.SubLinkType_EXPR_SUBLINK:
		out.Kind = ast.SubScalar
	case pg.SubLinkType_EXISTS_SUBLINK:
		out.Kind = ast.SubExists
	case pg.SubLinkType_ARRAY_SUBLINK:
		out.Kind = ast.SubArray
	case pg.SubLinkType_ANY_SUBLINK, pg.SubLinkType_ALL_SUBLINK:
		out.Kind = ast.SubAny
		if s.SubLinkType == pg.SubLinkType_ALL_SUBLINK {
			out.Kind = ast.SubAll
		}
		out.Test = c.expr(s.Testexpr)
		out.Op = "="
		if len(s.OperName) > 0 {
			out.Op = c.opName(s.OperName, out.At)
		}
	default:
		c.refuse(out.At, "a comparison of a row with a sub-select", "Use (a, b) IN (SELECT …).")
	}
	out.Query = selectNode(c, s.Subselect)
	return out
}

func (c *Converter) indirection(n *pg.A_Indirection) ast.Expr {
	x := c.expr(n.Arg)
	ix := c.indices(n.Indirection, x.Position())
	return &ast.Subscript{Node: ast.Node{At: x.Position()}, X: x, Indices: ix}
}

func (c *Converter) indices(list []*pg.Node, at ast.Pos) []ast.Index {
	var out []ast.Index
	for _, n := range list {
		i := n.GetAIndices()
		if i == nil {
			c.refuse(at, "selecting a field of a composite value", "Put the row in FROM: FROM f(…) AS t, then t.field.")
		}
		if i.IsSlice {
			out = append(out, ast.Index{Slice: true, Lo: c.optExpr(i.Lidx), Hi: c.optExpr(i.Uidx)})
		} else {
			out = append(out, ast.Index{I: c.expr(i.Uidx)})
		}
	}
	return out
}

func (c *Converter) sortKeys(list []*pg.Node) []ast.SortKey {
	var out []ast.SortKey
	for _, n := range list {
		s := n.GetSortBy()
		k := ast.SortKey{X: c.expr(s.Node), Desc: s.SortbyDir == pg.SortByDir_SORTBY_DESC}
		if s.SortbyDir == pg.SortByDir_SORTBY_USING {
			c.refuse(c.pos(s.Location), "ORDER BY … USING", "Use ASC or DESC.")
		}
		k.NullsFirst = nullsFirst(s.SortbyNulls)
		out = append(out, k)
	}
	return out
}

func nullsFirst(n pg.SortByNulls) *bool {
	switch n {
	case pg.SortByNulls_SORTBY_NULLS_FIRST:
		v := true
		return &v
	case pg.SortByNulls_SORTBY_NULLS_LAST:
		v := false
		return &v
	}
	return nil
}

// typeNames maps the grammar's internal names and Postgres's aliases to the spelling of the manual.
var typeNames = map[string]string{
	"int2": "smallint", "int4": "integer", "int": "integer", "int8": "bigint", "float4": "real",
	"float8": "double precision",
	"bool":   "boolean", "bpchar": "character", "varchar": "character varying", "timestamptz": "timestamp with time zone",
	"timetz": "time with time zone", "decimal": "numeric",
}

// CanonicalType returns Postgres's own spelling of a type name without brackets ("int4" is "integer").
func CanonicalType(name string) string {
	if s, ok := typeNames[name]; ok {
		return s
	}
	return name
}

func (c *Converter) typeName(t *pg.TypeName) ast.TypeName {
	if t == nil {
		c.fail(-1, sqlerr.Syntax, "", "missing type name")
	}
	names := Strings(t.Names)
	out := ast.TypeName{Node: c.node(t.Location), Dims: len(t.ArrayBounds)}
	if t.PctType {
		c.refuse(out.At, "%TYPE", "Name the type itself.")
	}
	if len(names) > 2 || len(names) == 0 {
		c.refuse(out.At, "the type name "+strings.Join(names, "."), "")
	}
	out.Name = CanonicalType(names[len(names)-1])
	if len(names) == 2 && names[0] != "pg_catalog" {
		out.Schema = names[0]
	}
	for _, m := range t.Typmods {
		k := m.GetAConst()
		if k == nil || k.GetIval() == nil {
			c.refuse(out.At, "a type modifier that is no integer", "")
		}
		out.Mods = append(out.Mods, int(k.GetIval().Ival))
	}
	return out
}
