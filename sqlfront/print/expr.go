package print

import (
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// level is how tightly an operator binds, by PostgreSQL's table of precedence (manual, 4.1.6), from the loosest. An
// operand that binds less tightly than its place demands gets parentheses. Places demand more than the grammar does
// where a reader would have to know the table.
type level int

const (
	levelAny level = iota
	levelOr
	levelAnd
	levelNot
	levelIs      // IS …
	levelCompare // = < > <= >= <>, op ANY, op ALL
	levelLike    // BETWEEN IN LIKE ILIKE
	levelOp      // any other operator
	levelAdd
	levelMul
	levelPow
	levelSign
	levelPrimary
)

var opLevels = map[string]level{"or": levelOr, "and": levelAnd, "=": levelCompare, "<>": levelCompare,
	"<": levelCompare, "<=": levelCompare,
	">": levelCompare, ">=": levelCompare, "~~": levelLike, "!~~": levelLike, "~~*": levelLike, "!~~*": levelLike,
	"+": levelAdd, "-": levelAdd, "*": levelMul, "/": levelMul, "%": levelMul, "^": levelPow}

// binaryLevel is the level of x's operator. An operator with a schema has the level of an unknown one.
func binaryLevel(x *ast.Binary) level {
	if l, ok := opLevels[x.Op]; ok && x.Schema == "" {
		return l
	}
	return levelOp
}

func operatorName(schema, op string) string {
	if schema == "" {
		return op
	}
	return "OPERATOR(" + quoteName(schema) + "." + op + ")"
}

// opWords are operators that are printed as words.
var opWords = map[string]string{"or": "OR", "and": "AND", "~~": "LIKE", "!~~": "NOT LIKE",
	"~~*": "ILIKE", "!~~*": "NOT ILIKE"}

func levelOf(e ast.Expr) level {
	switch x := e.(type) {
	case *ast.Literal:
		if strings.HasPrefix(x.Value, "-") && (x.Kind == ast.LitInt || x.Kind == ast.LitNumeric) {
			return levelSign
		}
	case *ast.Unary:
		if x.Op == "not" {
			return levelNot
		}
		if x.Schema != "" || x.Function() != nil {
			return levelOp
		}
		return levelSign
	case *ast.Binary:
		return binaryLevel(x)
	case *ast.SubLink:
		if x.Kind == ast.SubAny || x.Kind == ast.SubAll {
			return levelCompare
		}
	case *ast.AnyArray:
		return levelCompare
	case *ast.In, *ast.Between:
		return levelLike
	case *ast.IsNull, *ast.IsBool, *ast.IsDistinct:
		return levelIs
	}
	return levelPrimary
}

// expr prints e, in parentheses where it binds less tightly than least.
func (p *printer) expr(e ast.Expr, least level) {
	if levelOf(e) < least {
		p.text("(")
		defer p.text(")")
	}
	switch x := e.(type) {
	case *ast.ColumnRef:
		p.column(x)
	case *ast.Literal:
		if x.Kind == ast.LitString {
			p.text(sqltext.Text(x.Value))
		} else {
			p.text(x.Value)
		}
	case *ast.Bound:
		p.bound(x)
	case *ast.Param:
		p.text("$" + strconv.Itoa(x.N))
	case *ast.Default:
		p.text("DEFAULT")
	case *ast.FuncCall:
		p.call(x)
	case *ast.Cast:
		p.expr(x.X, levelPrimary)
		p.text("::")
		p.typeName(x.Type)
	case *ast.Case:
		p.caseExpr(x)
	case *ast.Coalesce:
		p.list("COALESCE(", x.Args, ")")
	case *ast.MinMax:
		p.list(map[bool]string{true: "GREATEST(", false: "LEAST("}[x.Greatest], x.Args, ")")
	case *ast.NullIf:
		p.list("NULLIF(", []ast.Expr{x.L, x.R}, ")")
	case *ast.ArrayLit:
		p.list("ARRAY[", x.Elems, "]")
	case *ast.Collate:
		p.text("(")
		p.expr(x.X, levelPrimary)
		p.text(" COLLATE ")
		if x.Schema != "" {
			p.name(x.Schema)
			p.text(".")
		}
		p.name(x.Name)
		p.text(")")
	case *ast.RowExpr:
		p.row(x)
	case *ast.Subscript:
		p.subscript(x)
	default:
		p.operator(e)
	}
}

// operator prints an expression that binds less tightly than a primary one.
func (p *printer) operator(e ast.Expr) {
	switch x := e.(type) {
	case *ast.Unary:
		p.unary(x)
	case *ast.Binary:
		p.binary(x)
	case *ast.SubLink:
		p.subLink(x)
	case *ast.AnyArray:
		p.expr(x.X, levelAdd)
		p.text(" " + x.Op + map[bool]string{true: " ALL (", false: " ANY ("}[x.All])
		p.notSubquery(x.Array)
		p.text(")")
	case *ast.In:
		p.expr(x.X, levelOp)
		p.text(not(x.Not) + " IN (")
		commas(p, x.List, func(item ast.Expr) {
			if len(x.List) == 1 {
				p.notSubquery(item)
			} else {
				p.expr(item, levelAny)
			}
		})
		p.text(")")
	case *ast.Between:
		p.expr(x.X, levelOp)
		p.text(not(x.Not) + " BETWEEN ")
		p.expr(x.Lo, levelOp)
		p.text(" AND ")
		p.expr(x.Hi, levelOp)
	case *ast.IsNull:
		p.expr(x.X, levelOp)
		p.text(" IS" + not(x.Not) + " NULL")
	case *ast.IsBool:
		p.expr(x.X, levelOp)
		p.text(" IS" + not(x.Not) + " " + strings.ToUpper(x.What))
	case *ast.IsDistinct:
		p.expr(x.L, levelOp)
		p.text(" IS" + not(x.Not) + " DISTINCT FROM ")
		p.expr(x.R, levelOp)
	}
}

func not(is bool) string {
	if is {
		return " NOT"
	}
	return ""
}

func (p *printer) list(open string, list []ast.Expr, end string) {
	p.text(open)
	commas(p, list, func(x ast.Expr) { p.expr(x, levelAny) })
	p.text(end)
}

func (p *printer) column(x *ast.ColumnRef) {
	for i, name := range x.Names {
		if i > 0 {
			p.text(".")
		}
		p.name(name)
	}
	if x.Star {
		if x.Names != nil {
			p.text(".")
		}
		p.text("*")
	}
}

func (p *printer) unary(x *ast.Unary) {
	if x.Op == "not" {
		p.text("NOT ")
		p.expr(x.X, levelNot)
		return
	}
	p.text(operatorName(x.Schema, x.Op))
	if x.Schema != "" || x.Function() != nil {
		p.text(" ")
	}
	p.expr(x.X, levelPrimary)
}

func (p *printer) binary(x *ast.Binary) {
	l := binaryLevel(x)
	left, right := l, l+1
	switch l {
	case levelCompare, levelLike: // not associative
		left, right = levelOp, levelOp
	case levelPow: // associates to the left, which may surprise
		left, right = levelPrimary, levelPrimary
	}
	if x.Schema != "" { // binds as an unknown operator
		left, right = levelPrimary, levelPrimary
	}
	p.expr(x.L, left)
	word, ok := opWords[x.Op]
	if !ok || x.Schema != "" {
		word = operatorName(x.Schema, x.Op)
	}
	p.text(" " + word + " ")
	p.expr(x.R, right)
}

// notSubquery prints an operand that is one value. A sub-query is wrapped in COALESCE, for (SELECT …) would be a set of
// rows there.
func (p *printer) notSubquery(x ast.Expr) {
	if s, ok := x.(*ast.SubLink); ok && s.Kind == ast.SubScalar {
		p.list("COALESCE(", []ast.Expr{x}, ")")
		return
	}
	p.expr(x, levelAny)
}

func (p *printer) subLink(x *ast.SubLink) {
	switch x.Kind {
	case ast.SubExists:
		p.text("EXISTS ")
	case ast.SubArray:
		p.text("ARRAY")
	case ast.SubAny, ast.SubAll:
		p.expr(x.Test, levelAdd)
		switch {
		case x.Kind == ast.SubAll:
			p.text(" " + x.Op + " ALL ")
		case x.Op == "=":
			p.text(" IN ")
		default:
			p.text(" " + x.Op + " ANY ")
		}
	}
	p.subquery(x.Query)
}

func (p *printer) caseExpr(x *ast.Case) {
	p.text("CASE")
	p.clause(" ", x.Arg)
	for _, w := range x.Whens {
		p.clause(" WHEN ", w.Cond)
		p.clause(" THEN ", w.Result)
	}
	p.clause(" ELSE ", x.Else)
	p.text(" END")
}

// row prints (a, b), or ROW(a) for one field. GROUP BY reads (a, b) as it was written.
func (p *printer) row(x *ast.RowExpr) {
	open := "("
	if len(x.Fields) < 2 {
		open = "ROW("
	}
	p.list(open, x.Fields, ")")
}

func (p *printer) subscript(x *ast.Subscript) {
	switch x.X.(type) {
	case *ast.ColumnRef, *ast.Param:
		p.expr(x.X, levelPrimary)
	default:
		p.text("(")
		p.expr(x.X, levelAny)
		p.text(")")
	}
	p.indices(x.Indices)
}

func (p *printer) indices(list []ast.Index) {
	for _, i := range list {
		p.text("[")
		if i.Slice {
			p.clause("", i.Lo)
			p.text(":")
			p.clause("", i.Hi)
		} else {
			p.expr(i.I, levelAny)
		}
		p.text("]")
	}
}

// valueFunctions are called without parentheses.
var valueFunctions = []string{"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp",
	"current_role", "current_user", "user", "session_user", "current_catalog", "current_schema"}

// call prints f(args). Functions for which the grammar has words between the arguments, such as POSITION(x IN y), are
// called with commas under their quoted name.
func (p *printer) call(x *ast.FuncCall) {
	if x.Schema == "" && len(x.Args) == 0 && !x.Star && slices.Contains(valueFunctions, x.Name) {
		p.text(x.Name)
		return
	}
	p.qualified(x.Schema, x.Name)
	p.text("(")
	switch {
	case x.Star:
		p.text("*")
	case x.Distinct:
		p.text("DISTINCT ")
	}
	p.args(x)
	if x.WithinGroup {
		p.text(") WITHIN GROUP (")
		p.orderBy("ORDER BY ", x.OrderBy)
	} else {
		p.orderBy(" ORDER BY ", x.OrderBy)
	}
	p.text(")")
	if x.Filter != nil {
		p.clause(" FILTER (WHERE ", x.Filter)
		p.text(")")
	}
	if x.Over != nil {
		p.text(" OVER ")
		if x.Over.Name != "" {
			p.name(x.Over.Name)
		} else {
			p.window(x.Over)
		}
	}
}

func (p *printer) args(x *ast.FuncCall) {
	i := 0
	commas(p, x.Args, func(a ast.Expr) {
		if i < len(x.ArgNames) && x.ArgNames[i] != "" {
			p.name(x.ArgNames[i])
			p.text(" => ")
		}
		i++
		p.expr(a, levelAny)
	})
}

// window prints a window without its name.
func (p *printer) window(w *ast.Window) {
	var parts []string
	part := func(print func(q *printer)) {
		q := &printer{}
		print(q)
		parts = append(parts, q.b.String())
	}
	if w.Extends != "" {
		part(func(q *printer) { q.name(w.Extends) })
	}
	if w.PartitionBy != nil {
		part(func(q *printer) { q.list("PARTITION BY ", w.PartitionBy, "") })
	}
	if w.OrderBy != nil {
		part(func(q *printer) { q.orderBy("ORDER BY ", w.OrderBy) })
	}
	if w.Frame != "" {
		parts = append(parts, w.Frame)
	}
	p.text("(" + strings.Join(parts, " ") + ")")
}

func (p *printer) orderBy(keyword string, keys []ast.SortKey) {
	if keys == nil {
		return
	}
	p.text(keyword)
	commas(p, keys, func(k ast.SortKey) {
		p.expr(k.X, levelAny)
		if k.Desc {
			p.text(" DESC")
		}
		if k.NullsFirst != nil {
			p.text(map[bool]string{true: " NULLS FIRST", false: " NULLS LAST"}[*k.NullsFirst])
		}
	})
}
