package bind

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/tensor"
)

var operators = map[string]string{"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "mod", "^": "power",
	"=": "eq", "<>": "ne", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "and": "and",
	"or": "or", "~~": "like"}

var comparisons = map[string]bool{"eq": true, "ne": true, "lt": true, "le": true, "gt": true,
	"ge": true, "is_distinct": true}

// expr binds an expression over the scope's inputs.
func (s *scope) expr(e ast.Expr) (*kernels.Expr, error) {
	if s.post != nil {
		if x, err := s.post.lookup(s, e); x != nil || err != nil {
			return x, err
		}
	}
	x, err := s.bare(e)
	if err != nil {
		return nil, nameShapes(s, s.f.at(err, e), e)
	}
	if x.Pos < 0 && !x.IsCol {
		c := *x
		c.Pos = int(e.Position())
		x = &c
	}
	return x, nil
}

// nameShapes adds to an error about shapes the columns from which the chunks of e come.
func nameShapes(s *scope, err error, e ast.Expr) error {
	var se *sqlerr.Error
	if !errors.As(err, &se) || se.Code != sqlerr.ArraySubscript || se.Detail != "" {
		return err
	}
	var cols []string
	ast.Walk(e, func(t ast.Tree) bool {
		if c, ok := t.(*ast.ColumnRef); ok && !c.Star {
			if x, err := s.column(c); err == nil && x.Type.IsChunk() {
				if d := fmt.Sprintf("%s is %v", qualifiedName(s, c, x), x.Type); !slices.Contains(cols, d) {
					cols = append(cols, d)
				}
			}
		}
		_, sub := t.(*ast.Select)
		return !sub
	})
	if cols != nil {
		se.Detail = strings.Join(cols, ", ") + "."
	}
	return err
}

// qualifiedName is the name of a column with its table's.
func qualifiedName(s *scope, c *ast.ColumnRef, x *kernels.Expr) string {
	for _, sc := range s.cols {
		if len(c.Names) == 1 && sc.table != "" && sc.x.Same(x) {
			return sc.table + "." + c.Names[0]
		}
	}
	return strings.Join(c.Names, ".")
}

func (s *scope) bare(e ast.Expr) (*kernels.Expr, error) {
	fields, err := ast.FieldWise(e)
	if err != nil {
		return nil, err
	}
	if fields != nil {
		e = fields
	}
	if bind := exprBinders[reflect.TypeOf(e)]; bind != nil {
		return bind(s, e)
	}
	if p, ok := e.(*ast.Param); ok {
		return nil, s.f.fail(e, sqlerr.UndefinedParameter, "there is no parameter $%d", p.N).
			WithHint("The text of a loss has none: put the value into a table, or into the text.")
	}
	return nil, s.f.fail(e, sqlerr.FeatureNotSupported, "this expression is not supported in a loss").
		WithHint("It may stand in a sub-query that reads no parameter.")
}

var (
	_ = bindExpr(func(s *scope, x *ast.ColumnRef) (*kernels.Expr, error) {
		if x.Star {
			return nil, s.f.fail(x, sqlerr.Syntax, "* cannot stand here")
		}
		return s.column(x)
	})
	_ = bindExpr(func(_ *scope, x *ast.Literal) (*kernels.Expr, error) { return literal(x) })
	_ = bindExpr(func(_ *scope, x *ast.Bound) (*kernels.Expr, error) { return bound(x) })
	_ = bindExpr(unaryExpr)
	_ = bindExpr(binaryExpr)
	_ = bindExpr(caseExpr)
	_ = bindExpr(minMaxExpr)
	_ = bindExpr(inExpr)
	_ = bindExpr(betweenExpr)
	_ = bindExpr(isBoolExpr)
	_ = bindExpr(isDistinctExpr)
	_ = bindExpr(func(s *scope, x *ast.Coalesce) (*kernels.Expr, error) { return variadicCall(s, "coalesce", x.Args) })
	_ = bindExpr(nullIfExpr)
	_ = bindExpr(isNullExpr)
)

func literal(l *ast.Literal) (*kernels.Expr, error) {
	switch l.Kind {
	case ast.LitNull:
		return kernels.Const(kernels.NullOf(kernels.Type{Kind: kernels.Float64})), nil
	case ast.LitBool:
		return kernels.Const(kernels.BoolValue(l.Value == "true")), nil
	case ast.LitString:
		return kernels.Const(kernels.TextValue(l.Value)), nil
	case ast.LitInt:
		if i, err := strconv.ParseInt(l.Value, 0, 64); err == nil {
			return kernels.Const(kernels.IntValue(i)), nil
		}
	}
	x, err := strconv.ParseFloat(l.Value, 64)
	if err != nil {
		return nil, sqlerr.New(sqlerr.NumericOutOfRange, "%q is out of range for type double precision", l.Value)
	}
	return kernels.Num(x), nil
}

// bound is a value that relgrad put into the tree, such as a PL/pgSQL variable.
func bound(b *ast.Bound) (*kernels.Expr, error) {
	switch v := b.Value.(type) {
	case nil:
		return kernels.Const(kernels.NullOf(kernels.Type{Kind: kernels.Float64})), nil
	case int64:
		return kernels.Const(kernels.IntValue(v)), nil
	case bool:
		return kernels.Const(kernels.BoolValue(v)), nil
	case float64:
		k := kernels.Float64
		if b.Type == "real" {
			k = kernels.Float32
		}
		return kernels.CastConst(k, v), nil
	case string:
		if b.Type == "numeric" {
			return literal(&ast.Literal{Kind: ast.LitNumeric, Value: v})
		}
		return kernels.Const(kernels.TextValue(v)), nil
	case *tensor.Tensor:
		return kernels.Const(kernels.ChunkValue(kernels.KindOf(v.DType), v.Shape, v.Data)), nil
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "a value of type %s cannot stand in a loss", b.Type)
}

func unaryExpr(s *scope, u *ast.Unary) (*kernels.Expr, error) {
	if call := u.Function(); call != nil {
		return s.expr(call)
	}
	bind := s.expr
	if u.Op == "not" {
		bind = s.boolean
	}
	x, err := bind(u.X)
	if err != nil {
		return nil, err
	}
	switch u.Op {
	case "+":
		return x, nil
	case "not":
		return kernels.Call(kernels.Lookup("not"), kernels.Attr{}, x)
	case "-":
		if x.IsConst() && x.Type.Shape == nil && !x.Const.Null { // -1 is a constant too
			v := x.Const
			v.I, v.X = -v.I, -v.X
			return kernels.Const(v), nil
		}
		return kernels.Call(kernels.Lookup("neg"), kernels.Attr{}, x)
	}
	return nil, s.f.fail(u, sqlerr.UndefinedFunction, "operator %s is not supported in a loss", u.Op)
}

// noteMinus notes the power of a negative: in mathematics the power binds tighter.
func noteMinus(s *scope, b *ast.Binary) {
	if minus, ok := b.L.(*ast.Unary); ok && b.Op == "^" && minus.Op == "-" {
		s.b.surprise("-x ^ 2 is (-x) ^ 2, as in Postgres; the negative of a power is -(x ^ 2)")
	}
}

func binaryExpr(s *scope, b *ast.Binary) (*kernels.Expr, error) {
	name, ok := operators[b.Op]
	if b.Op == "||" {
		return concatExpr(s, b)
	}
	if b.Op == "!~~" {
		x, err := binaryExpr(s, &ast.Binary{Node: b.Node, Op: "~~", L: b.L, R: b.R})
		if err != nil {
			return nil, err
		}
		return s.apply("not", b, x)
	}
	if !ok {
		return nil, s.f.fail(b, sqlerr.FeatureNotSupported, "operator %s is not supported in a loss", b.Op).
			WithHint("It may stand in a sub-query that reads no parameter.")
	}
	noteMinus(s, b)
	bind := s.expr
	if b.Op == "and" || b.Op == "or" {
		bind = s.boolean
	}
	l, err := bind(b.L)
	if err != nil {
		return nil, err
	}
	r, err := bind(b.R)
	if err != nil {
		return nil, err
	}
	if name == "like" && l.Type.Of.String() == "bpchar" {
		return nil, refusePadded(s, b)
	}
	if name == "like" {
		if err := checkComparable(s, []*kernels.Expr{l, r}, false, b); err != nil { // nondeterministic collations
			return nil, err
		}
	}
	if name == "like" && (!l.Type.Of.IsText() || !r.Type.Of.IsText()) {
		return nil, s.f.fail(b, sqlerr.FeatureNotSupported,
			"LIKE of a value of type %v is not supported in a loss", l.Type.Of).WithHint(inSubQuery)
	}
	if l, r, err = typeOperands(s, b, l, r); err != nil {
		return nil, err
	}
	if comparisons[name] {
		return s.compare(name, l, r, b)
	}
	if name == "mod" {
		return moduloExpr(s, b, l, r)
	}
	x, err := s.apply(name, b, base(name, l, r), r)
	if err != nil {
		return nil, operands(err, b, l, r)
	}
	return s.decimal(b, x), nil
}

// base is the left operand of an operator: int ^ int is double precision.
func base(name string, l, r *kernels.Expr) *kernels.Expr {
	if name == "power" && r.IsConst() && l.Type.Kind == kernels.Int {
		return kernels.CastTo(kernels.Float64, l)
	}
	return l
}

func (s *scope) apply(name string, at ast.Tree, args ...*kernels.Expr) (*kernels.Expr, error) {
	x, err := kernels.Call(kernels.Lookup(name), kernels.Attr{}, args...)
	return x, s.f.at(err, at)
}

// compare binds a comparison. Postgres compares whole chunks lexicographically, which a loss hardly means: refused.
func (s *scope) compare(name string, l, r *kernels.Expr, at ast.Tree) (*kernels.Expr, error) {
	if l.Type.IsChunk() || r.Type.IsChunk() {
		return nil, s.f.fail(at, sqlerr.FeatureNotSupported, "whole chunks are compared: %v and %v", l.Type, r.Type).
			WithHint("Element by element: maximum(a,b), minimum(a,b), greater(a,b).")
	}
	args := []*kernels.Expr{unknownText(l, r.Type.Kind), unknownText(r, l.Type.Kind)}
	if err := cmp.Or(oneType(s, args, at),
		checkComparable(s, args, name != "eq" && name != "ne" && name != "is_distinct", at)); err != nil {
		return nil, err
	}
	return s.apply(name, at, args...)
}

// unknownText converts an untyped string literal to the other side's type, as Postgres does.
func unknownText(x *kernels.Expr, k kernels.Kind) *kernels.Expr {
	if x.IsConst() && x.Type.Kind == kernels.Text && !x.Const.Null && k != kernels.Text {
		if v, err := kernels.BuildAttr("cast", kernels.Attr{Kind: k}, x).Eval(&kernels.Env{}, nil); err == nil {
			if k == kernels.Float32 {
				v.X = float64(float32(v.X))
			}
			return kernels.Const(v)
		}
	}
	if x.IsConst() && x.Const.Null && k != x.Type.Kind {
		return kernels.Const(kernels.NullOf(kernels.Type{Kind: k}))
	}
	return x
}

// boolean binds a condition.
func (s *scope) boolean(e ast.Expr) (*kernels.Expr, error) {
	if isText(e) {
		return textAs(s, e, ast.TypeName{Name: "boolean"})
	}
	x, err := s.expr(e)
	if err != nil {
		return nil, err
	}
	if x.IsConst() && x.Const.Null {
		return kernels.Const(kernels.NullOf(kernels.Type{Kind: kernels.Bool})), nil
	}
	if x.Type.Kind != kernels.Bool || x.Type.Shape != nil {
		return nil, s.f.fail(e, sqlerr.DatatypeMismatch, "a condition must be boolean, not %v", x.Type)
	}
	return x, nil
}

func (s *scope) exprs(list []ast.Expr) ([]*kernels.Expr, error) {
	out := make([]*kernels.Expr, len(list))
	for i, e := range list {
		x, err := s.expr(e)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

func variadicCall(s *scope, name string, list []ast.Expr) (*kernels.Expr, error) {
	args, err := s.exprs(list)
	if err != nil {
		return nil, err
	}
	if err := unifyChoices(s, list, args, list[0]); err != nil {
		return nil, err
	}
	return kernels.Call(kernels.Lookup(name), kernels.Attr{}, args...)
}

// nullIfExpr is NULLIF(l, r). Its type is the one that l has in l = r: an integer beside a float becomes a float.
func nullIfExpr(s *scope, x *ast.NullIf) (*kernels.Expr, error) {
	args, err := s.exprs([]ast.Expr{x.L, x.R})
	if err != nil {
		return nil, err
	}
	typeNulls(args)
	if err := cmp.Or(typeTexts(s, []ast.Expr{x.L, x.R}, args),
		refuseLongNumbers(s, []ast.Expr{x.L, x.R}, args, x)); err != nil {
		return nil, err
	}
	if err := oneType(s, args, x.L); err != nil {
		return nil, err
	}
	if of := args[0].Type.Of; of != nil && of.ByKey {
		return nil, s.f.fail(x, sqlerr.FeatureNotSupported, "NULLIF of values of type %v is not supported in a loss", of).
			WithHint(inSubQuery)
	}
	if err := checkComparable(s, args, false, x); err != nil {
		return nil, err
	}
	if l, r := args[0], args[1]; l.Type.Kind == kernels.Int && r.Type.IsFloat() &&
		l.Type.Shape == nil && r.Type.Shape == nil {
		args[0] = kernels.CastTo(kernels.Float64, l)
	}
	return s.apply("nullif", x, args...)
}

func minMaxExpr(s *scope, m *ast.MinMax) (*kernels.Expr, error) {
	args, err := s.exprs(m.Args)
	if err != nil {
		return nil, err
	}
	for _, a := range args {
		if a.Type.IsChunk() {
			return nil, s.f.fail(m, sqlerr.FeatureNotSupported, "GREATEST and LEAST compare whole chunks: %v", a.Type).
				WithHint("Element by element: maximum(a,b), minimum(a,b).")
		}
	}
	if err := unifyChoices(s, m.Args, args, m); err != nil {
		return nil, err
	}
	if err := checkComparable(s, slices.Clone(args), true, m); err != nil { // the text begins with its sort key
		return nil, err
	}
	name := "least"
	if m.Greatest {
		name = "greatest"
	}
	return s.apply(name, m, args...)
}

func caseExpr(s *scope, c *ast.Case) (*kernels.Expr, error) {
	var args []*kernels.Expr
	for _, w := range c.Whens {
		cond, err := caseCond(s, c, w.Cond)
		if err != nil {
			return nil, err
		}
		v, err := s.expr(w.Result)
		if err != nil {
			return nil, err
		}
		args = append(args, cond, v)
	}
	last, list := kernels.Const(kernels.NullOf(kernels.Type{Kind: kernels.Float64})), []ast.Expr(nil)
	if c.Else != nil {
		var err error
		if last, err = s.expr(c.Else); err != nil {
			return nil, err
		}
	}
	args = append(args, last)
	var values []*kernels.Expr
	for i, w := range c.Whens {
		values, list = append(values, args[2*i+1]), append(list, w.Result)
	}
	values, list = append(values, last), append(list, c.Else)
	if err := unifyChoices(s, list, values, c); err != nil {
		return nil, err
	}
	for i := range c.Whens {
		args[2*i+1] = values[i]
	}
	args[len(args)-1] = values[len(values)-1]
	return s.apply("case", c, args...)
}

func caseCond(s *scope, c *ast.Case, cond ast.Expr) (*kernels.Expr, error) {
	if c.Arg == nil {
		return s.boolean(cond)
	}
	args, err := s.exprs([]ast.Expr{c.Arg, cond})
	if err != nil {
		return nil, err
	}
	return compareOf(s, "eq", c.Arg, cond, args[0], args[1], cond)
}

func inExpr(s *scope, x *ast.In) (*kernels.Expr, error) {
	l, err := s.expr(x.X)
	if err != nil {
		return nil, err
	}
	var any *kernels.Expr
	list, err := s.exprs(x.List)
	if err != nil {
		return nil, err
	}
	roundRealList(s, l, x.List, list)
	for i, e := range x.List {
		r := list[i]
		eq, err := compareOf(s, "eq", x.X, e, l, r, e)
		if err != nil {
			return nil, err
		}
		if any == nil {
			any = eq
		} else {
			any = kernels.Build("or", any, eq)
		}
	}
	if x.Not {
		return kernels.Build("not", any), nil
	}
	return any, nil
}

// roundRealList rounds the values of an IN list for a value of type real. Elements without columns are an array of real
// in Postgres if there are several and none is double precision. A single element is compared in double precision.
func roundRealList(s *scope, l *kernels.Expr, list []ast.Expr, bound []*kernels.Expr) {
	var fixed []int
	for i, e := range list {
		if !ReadsColumn(e) {
			fixed = append(fixed, i)
		}
		if !ReadsColumn(e) && s.class(e) == floatClass && bound[i].Type.Kind == kernels.Float64 {
			return
		}
	}
	if l.Type.Kind != kernels.Float32 || len(fixed) < 2 {
		return
	}
	for _, i := range fixed {
		if x := bound[i]; x.Type.IsFloat() && !(x.IsConst() && x.Const.Null) {
			bound[i] = kernels.Build("to_real", x)
		}
	}
}

func betweenExpr(s *scope, x *ast.Between) (*kernels.Expr, error) {
	args, err := s.exprs([]ast.Expr{x.X, x.Lo, x.Hi})
	if err != nil {
		return nil, err
	}
	lo, err := compareOf(s, "ge", x.X, x.Lo, args[0], args[1], x)
	if err != nil {
		return nil, err
	}
	hi, err := compareOf(s, "le", x.X, x.Hi, args[0], args[2], x)
	if err != nil {
		return nil, err
	}
	if x.Not {
		return kernels.Build("not", kernels.Build("and", lo, hi)), nil
	}
	return kernels.Build("and", lo, hi), nil
}

func isBoolExpr(s *scope, x *ast.IsBool) (*kernels.Expr, error) {
	b, err := s.boolean(x.X)
	if err != nil {
		return nil, err
	}
	switch x.What {
	case "true":
		b = kernels.Build("is_true", b)
	case "false":
		b = kernels.Build("is_true", kernels.Build("not", b))
	default:
		b = kernels.Build("is_null", b)
	}
	if x.Not {
		b = kernels.Build("not", b)
	}
	return b, nil
}

func isDistinctExpr(s *scope, x *ast.IsDistinct) (*kernels.Expr, error) {
	switch {
	case isNull(x.R):
		return s.expr(&ast.IsNull{Node: x.Node, X: x.L, Not: !x.Not})
	case isNull(x.L):
		return s.expr(&ast.IsNull{Node: x.Node, X: x.R, Not: !x.Not})
	}
	args, err := s.exprs([]ast.Expr{x.L, x.R})
	if err != nil {
		return nil, err
	}
	d, err := compareOf(s, "is_distinct", x.L, x.R, args[0], args[1], x)
	if err == nil && x.Not {
		d = kernels.Build("not", d)
	}
	return d, err
}

// concatExpr is ||, of texts or of chunks along the first dimension. NULL beside a chunk is an empty chunk, as in
// Postgres.
func concatExpr(s *scope, b *ast.Binary) (*kernels.Expr, error) {
	args, err := s.exprs([]ast.Expr{b.L, b.R})
	if err != nil {
		return nil, err
	}
	if args[0].Type.IsChunk() || args[1].Type.IsChunk() {
		if err := typeTexts(s, []ast.Expr{b.L, b.R}, args); err != nil {
			return nil, err
		}
	}
	l, r := args[0], args[1]
	switch {
	case l.Type.IsChunk() && r.Type.IsChunk():
		x, err := kernels.Call(kernels.Lookup("concat_axis"), kernels.Attr{Axis: 0}, args...)
		return x, s.f.at(err, b)
	case l.Type.IsChunk() && isNullChunk(b.R):
		return l, nil
	case r.Type.IsChunk() && isNullChunk(b.L):
		return r, nil
	}
	for i, x := range args {
		if x.Type.Kind == kernels.Text {
			if args[i], err = plainText(s, x, b); err != nil {
				return nil, err
			}
		}
	}
	x, err := s.apply("textcat", b, unknownText(args[0], kernels.Text), unknownText(args[1], kernels.Text))
	var e *sqlerr.Error
	if errors.As(err, &e) && e.Hint == "" {
		e.Hint = "|| joins two chunks, or two texts: a number x is a chunk as ARRAY[x] and a text as x::text."
	}
	return x, err
}
