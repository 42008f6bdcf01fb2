package bind

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Functions of two arguments that Postgres has for integers and numerics, not for double precision: log(b, x), mod,
// div, and round and trunc to a number of digits.
var (
	_ = bindCall("log", ofNumerics(2, logarithm, "ln(x) / ln(b), or log(b::numeric, x::numeric)"))
	_ = bindCall("mod", ofNumerics(2, modulo,
		"x - y * trunc(x / y), which is differentiable, or mod(x::numeric, y::numeric)"))
	_ = bindCall("div", ofNumerics(2, quotient, "trunc(x / y), or div(x::numeric, y::numeric)"))
	_ = bindCall("round", ofNumerics(2, roundTo, "round(x::numeric, n), or round(x * 100) / 100"))
	_ = bindCall("trunc", ofNumerics(2, truncTo, "trunc(x::numeric, n), or trunc(x * 100) / 100"))
)

// ofNumerics binds a call of n arguments that are integers or numerics. Other numbers of arguments are the kernel's.
func ofNumerics(n int, build func(a, b *kernels.Expr) *kernels.Expr,
	instead string) func(*scope, *ast.FuncCall) (*kernels.Expr, error) {
	return func(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
		if len(c.Args) != n {
			if c.Name == "log" {
				s.b.surprise("log(x) is the logarithm to base 10, as in Postgres; the natural logarithm is ln(x)")
			}
			return kernelCall(s, c)
		}
		args, err := s.exprs(c.Args)
		if err != nil {
			return nil, err
		}
		for i := range args {
			if args[i] = unknownText(args[i], kernels.Float64); !exact(s, c.Args[i], args[i]) {
				return nil, s.f.fail(c, sqlerr.UndefinedFunction, "%s(%v, %v) does not exist", c.Name, args[0].Type,
					args[1].Type).WithHint("Postgres has %s of two arguments for integers and numerics. For double precision: %s.",
					c.Name, instead)
			}
		}
		if (c.Name == "round" || c.Name == "trunc") && args[1].Type.Kind != kernels.Int {
			return nil, s.f.fail(c, sqlerr.UndefinedFunction, "%s(numeric, numeric) does not exist", c.Name).
				WithHint("The number of digits is an integer.")
		}
		if c.Name == "mod" && args[0].Type.Kind == kernels.Int && args[1].Type.Kind == kernels.Int {
			return s.apply("mod", c, args...)
		}
		return s.decimal(c, build(args[0], args[1])), nil
	}
}

// exact reports whether x, to which e was bound, is an integer or a numeric.
func exact(s *scope, e ast.Expr, x *kernels.Expr) bool {
	if x.Type.Shape != nil {
		return false
	}
	l, literal := e.(*ast.Literal)
	untyped := literal && (l.Kind == ast.LitNull || l.Kind == ast.LitString) && x.Type.Kind == kernels.Float64
	return untyped || x.Type.Kind == kernels.Int || x.Type.Kind == kernels.Float64 && s.class(e) == numericClass
}

func logarithm(b, x *kernels.Expr) *kernels.Expr {
	return kernels.Div(kernels.Build("ln", kernels.CastTo(kernels.Float64, x)),
		kernels.Build("ln", kernels.CastTo(kernels.Float64, b)))
}

// quotient is the integer part of a / b. In double precision a quotient that is whole in decimals may lie below it: it
// is rounded to 15 digits first.
func quotient(a, b *kernels.Expr) *kernels.Expr {
	if a.Type.Kind == kernels.Int && b.Type.Kind == kernels.Int {
		return kernels.CastTo(kernels.Float64, kernels.Build("div", a, b))
	}
	q := kernels.Div(kernels.CastTo(kernels.Float64, a), kernels.CastTo(kernels.Float64, b))
	return kernels.Build("trunc", kernels.Build("decimal", q))
}

func modulo(a, b *kernels.Expr) *kernels.Expr {
	whole := kernels.Mul(kernels.CastTo(kernels.Float64, b), quotient(a, b))
	return kernels.Sub(kernels.CastTo(kernels.Float64, a), whole)
}

func roundTo(x, n *kernels.Expr) *kernels.Expr { return scaled(x, n, awayFromZero) }

func truncTo(x, n *kernels.Expr) *kernels.Expr {
	return scaled(x, n, func(x *kernels.Expr) *kernels.Expr { return kernels.Build("trunc", x) })
}

// scaled is f of x with n digits before the point, put back. Powers of ten above 1 are exact.
func scaled(x, n *kernels.Expr, f func(*kernels.Expr) *kernels.Expr) *kernels.Expr {
	x = kernels.CastTo(kernels.Float64, x)
	power := func(n *kernels.Expr) *kernels.Expr { return kernels.Build("power", kernels.Num(10), n) }
	up := func() *kernels.Expr {
		return kernels.Div(f(kernels.Build("decimal", kernels.Mul(x, power(n)))), power(n))
	}
	down := func() *kernels.Expr {
		m := kernels.Neg(n)
		return kernels.Mul(f(kernels.Build("decimal", kernels.Div(x, power(m)))), power(m))
	}
	switch {
	case !n.IsConst():
		return kernels.Build("case", kernels.Build("lt", n, intConst(0)), down(), up())
	case n.Const.I < 0:
		return down()
	}
	return up()
}

// moduloExpr is l % r.
func moduloExpr(s *scope, b *ast.Binary, l, r *kernels.Expr) (*kernels.Expr, error) {
	switch {
	case l.Type.Kind == kernels.Int && r.Type.Kind == kernels.Int:
		return s.apply("mod", b, l, r)
	case exact(s, b.L, l) && exact(s, b.R, r):
		return s.decimal(b, modulo(l, r)), nil
	}
	return nil, s.f.fail(b, sqlerr.UndefinedFunction, "operator does not exist: %v %s %v", l.Type, b.Op, r.Type).
		WithHint("Postgres has %s for integers and numerics. For double precision: x - y * trunc(x / y), which is "+
			"differentiable.", b.Op)
}
