package bind

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

var _ = bindExpr(castExpr)

// kindOf maps a Postgres type to a kind; ok is false where the engine has none.
func kindOf(t ast.TypeName) (kernels.Kind, bool) {
	switch t.Name {
	case "smallint", "integer", "bigint":
		return kernels.Int, true
	case "real":
		return kernels.Float32, true
	case "double precision", "numeric":
		return kernels.Float64, true
	case "boolean":
		return kernels.Bool, true
	case "text", "character varying", "name":
		return kernels.Text, true
	}
	return 0, false
}

func castExpr(s *scope, c *ast.Cast) (*kernels.Expr, error) {
	k, ok := kindOf(c.Type)
	if ok && c.Type.Dims > 0 && isText(c.X) {
		l, err := arrayText(s, c.X, c.Type)
		if err != nil {
			return nil, err
		}
		return castExpr(s, &ast.Cast{Node: c.Node, X: l, Type: c.Type, Argument: c.Argument})
	}
	l, isArrayLit := c.X.(*ast.ArrayLit)
	if isArrayLit && k == kernels.Int && ok && len(l.Elems) == 0 && c.Type.Dims == 1 {
		return kernels.IntArray(), nil
	}
	bind := s.expr
	if isArrayLit && ok && c.Type.Dims > 0 && k != kernels.Int {
		bind = func(ast.Expr) (*kernels.Expr, error) { return chunkLit(s, l, k) }
	}
	x, err := bind(c.X)
	if err != nil {
		return nil, err
	}
	if !ok {
		if y, done, err := castNamed(s, c, x); done || err != nil {
			return y, err
		}
	}
	isArray := x.Type.Shape != nil
	if ok && x.IsConst() && x.Const.Null && !isArray && c.Type.Dims == 0 {
		return kernels.Const(kernels.NullOf(kernels.Type{Kind: k})), nil
	}
	if err := refuseCast(s, c, x, k, ok); err != nil {
		return nil, err
	}
	return castBound(s, c, x, k)
}

// castBound casts x, to which c.X has been bound, to a kind if there is such a cast.
func castBound(s *scope, c *ast.Cast, x *kernels.Expr, k kernels.Kind) (*kernels.Expr, error) {
	isArray := x.Type.Shape != nil
	switch {
	case k == kernels.Text && untyped(x) && !x.Const.Null:
		return asTyped(s, x), nil
	case k == kernels.Text && x.Type.Kind == k:
		return plainText(s, x, c)
	case x.Type.Kind == k && x.Type.Of != nil && x.Type.IsFloat(): // a numeric, which is rounded only now
		if c.Type.Name == "numeric" {
			return x, nil
		}
		return retypedCopy(x, nil), nil
	case c.Type.Name == "numeric" && x.Type.Kind == k && !isArray && s.class(c.X) != numericClass:
		return kernels.Build("decimal", x), nil
	case x.Type.Kind == k:
		return x, nil
	// pg_get_viewdef prints y ^ 2 with this cast
	case k == kernels.Float64 && x.IsConst() && !x.Const.Null && x.Type.Kind == kernels.Int && !isArray:
		return kernels.CastConst(k, float64(x.Const.I)), nil
	case k == kernels.Int && x.Type.Kind == kernels.Float64 && s.class(c.X) == numericClass:
		x = awayFromZero(x)
	case k == kernels.Float32 && !s.depends(x) && (x.Type.IsFloat() || x.Type.Kind == kernels.Int):
		return kernels.Build("to_real", x), nil
	}
	y, err := kernels.Call(kernels.Lookup("cast"), kernels.Attr{Kind: k}, x)
	if err == nil && x.IsConst() && !x.Const.Null && !isArray && (k == kernels.Int || k == kernels.Float32) {
		return constantOf(s, c, y) // printed, its argument would be a numeric
	}
	return y, s.f.at(err, c)
}

// constantOf is the value of a call of constants.
func constantOf(s *scope, at ast.Tree, x *kernels.Expr) (*kernels.Expr, error) {
	v, err := x.Eval(&kernels.Env{}, nil)
	if err != nil {
		return nil, s.f.at(err, at)
	}
	if v.Type.Kind == kernels.Float32 {
		v.X = float64(float32(v.X))
	}
	return kernels.Const(v), nil
}

// refuseCast is the error of a cast of x. known: the algebra has the kind k.
func refuseCast(s *scope, c *ast.Cast, x *kernels.Expr, k kernels.Kind, known bool) error {
	switch {
	case c.Argument != "" && castNarrows(s, c, x, k):
		return s.f.fail(c, sqlerr.UndefinedFunction, "function %s does not take %v for %s", c.Argument, x.Type, c.Type).
			WithHint("You might need to add an explicit type cast.")
	case !known || c.Type.Dims > 0 != (x.Type.Shape != nil) && !(x.IsConst() && x.Const.Null):
		return s.f.fail(c, sqlerr.CannotCoerce, "cannot cast type %v to %s here", x.Type, typeText(c.Type))
	case x.Type.IsChunk() && k != kernels.Float32 && k != kernels.Float64:
		return s.f.fail(c, sqlerr.CannotCoerce, "cannot cast type %v to %s", x.Type, typeText(c.Type)).
			WithHint("A chunk can be cast to real[] and double precision[].")
	case len(c.Type.Mods) > 0 && (c.Type.Name == "numeric" || k == kernels.Text):
		return s.f.fail(c, sqlerr.FeatureNotSupported, "a cast to %s with a length or precision is not supported in a loss",
			c.Type.Name).WithHint(inSubQuery)
	case c.Type.Name == "numeric" && x.Type.Kind == kernels.Float32 && x.Type.Shape == nil:
		return s.f.fail(c, sqlerr.FeatureNotSupported,
			"a cast of real to numeric, which keeps 6 digits, is not supported in a loss").
			WithHint("Cast it to double precision; or let the cast stand in a sub-query that reads no parameter.")
	case k == kernels.Text && (x.Type.Kind == kernels.Float32 || s.class(c.X) == numericClass):
		return s.f.fail(c, sqlerr.FeatureNotSupported, "a cast of real or numeric to text is not supported in a loss").
			WithHint("In a loss they are numbers in double precision, without their own digits. It may stand in a sub-query " +
				"that reads no parameter.")
	case k == kernels.Text && x.Type.IsFloat() && roundsTexts(s):
		return s.f.fail(c, sqlerr.FeatureNotSupported,
			"a cast of double precision to text is not supported in a loss while extra_float_digits is below 1").
			WithHint("SET extra_float_digits = 1.")
	case x.Type.Kind == kernels.Text && k != kernels.Text && s.depends(x):
		return s.f.fail(c, sqlerr.FeatureNotSupported,
			"a cast of a text that depends on a parameter to %s is not differentiable", typeText(c.Type)).
			WithHint("Use the number itself.")
	case x.Type.Kind == kernels.Text && k != kernels.Text && !x.Type.Of.IsText():
		return s.f.fail(c, sqlerr.CannotCoerce, "cannot cast type %v to %s here", x.Type.Of, typeText(c.Type)).
			WithHint(inSubQuery)
	}
	return nil
}

func typeText(t ast.TypeName) string {
	s := t.Name
	for range t.Dims {
		s += "[]"
	}
	return s
}
