package bind

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// In the algebra numeric is double precision. Where structure is computed with it (no parameter is read), results are
// rounded to 15 digits, halves away from zero, as Postgres's numeric does. Further digits are lost.

// numberClass is the class of numbers to which Postgres's type of an expression belongs.
type numberClass uint8

const (
	otherClass numberClass = iota // no number, or unknown
	intClass
	numericClass
	floatClass
)

// class finds the number class of an expression from its tree.
func (s *scope) class(e ast.Expr) numberClass {
	switch x := e.(type) {
	case *ast.Literal:
		switch x.Kind {
		case ast.LitInt:
			return intClass
		case ast.LitNumeric:
			return numericClass
		}
	case *ast.Bound:
		return classOf[x.Type]
	case *ast.ColumnRef:
		return s.columnClass(x)
	case *ast.Unary:
		if call := x.Function(); call != nil {
			return s.class(call)
		}
		if x.Op == "-" || x.Op == "+" {
			return s.class(x.X)
		}
	case *ast.Binary:
		switch c := s.widest(x.L, x.R); {
		case arithmetic[x.Op]:
			return c
		case x.Op == "^":
			return rootClass(c)
		}
	case *ast.Cast:
		if x.Type.Dims == 0 {
			return classOf[x.Type.Name]
		}
	case *ast.Case:
		results := []ast.Expr{x.Else}
		for _, w := range x.Whens {
			results = append(results, w.Result)
		}
		return s.widest(results...)
	case *ast.Coalesce:
		return s.widest(x.Args...)
	case *ast.MinMax:
		return s.widest(x.Args...)
	case *ast.NullIf:
		return s.widest(x.L, x.R)
	case *ast.Subscript:
		if l, ok := x.X.(*ast.ArrayLit); ok {
			return s.widest(l.Elems...)
		}
	case *ast.SubLink:
		return s.b.classes[x]
	case *ast.FuncCall:
		return s.callClass(x)
	}
	return otherClass
}

// classOf is the class of Postgres's types.
var classOf = map[string]numberClass{"smallint": intClass, "integer": intClass, "bigint": intClass,
	"numeric": numericClass,
	"real":    floatClass, "double precision": floatClass}

// arithmetic keeps the wider class of its operands.
var arithmetic = map[string]bool{"+": true, "-": true, "*": true, "/": true, "%": true}

// rootClass is the result's class of functions that Postgres has for numeric and double precision only.
func rootClass(c numberClass) numberClass {
	if c == intClass {
		return floatClass
	}
	return c
}

// callClass is the class of a call of a user's function, of an aggregate (also over a partition) or of a kernel.
func (s *scope) callClass(c *ast.FuncCall) numberClass {
	if k, ok := s.b.classes[c]; ok {
		return k
	}
	if metrics[c.Name].parts != nil {
		return floatClass
	}
	if aggregates[c.Name].parts == nil {
		switch arg := s.widest(c.Args...); c.Name {
		case "abs", "mod":
			return arg
		case "floor", "ceil", "ceiling", "round", "trunc", "sign", "sqrt", "exp", "ln", "log", "log10", "power", "pow":
			if len(c.Args) == 2 && c.Name != "power" && c.Name != "pow" { // log(b, x), round(x, n), trunc(x, n)
				return numericClass
			}
			return rootClass(arg)
		case "div":
			return numericClass
		case "length", "argmax", "argmin", "random_int", "current_step", "current_epoch", "current_seed":
			return intClass
		}
		return otherClass
	}
	below, value := s, s.over[c]
	if s.post != nil && c.Over == nil {
		below, value = s.post.pre, s.post.calls[c]
	}
	switch arg := below.widest(c.Args...); {
	case c.Name == "count", c.Name == "regr_count":
		return intClass
	case len(c.Args) == 2, c.Name == "product": // of pairs
		return floatClass
	case c.Name == "min", c.Name == "max", arg != intClass, c.Name == "sum" && value != nil &&
		value.Type.Kind == kernels.Int:
		return arg
	}
	return numericClass // avg, variances, and the sum of bigints
}

// widest is the class of an expression that chooses among others or computes with them. NULL and untyped literals take
// the class of the others.
func (s *scope) widest(list ...ast.Expr) numberClass {
	out, known := otherClass, false
	for _, e := range list {
		if l, ok := e.(*ast.Literal); e == nil || ok && (l.Kind == ast.LitNull || l.Kind == ast.LitString) {
			continue
		}
		if c := s.class(e); !known {
			out, known = c, true
		} else {
			out = wider(out, c)
		}
	}
	return out
}

// wider is the class of arithmetic between two classes.
func wider(a, b numberClass) numberClass {
	if a == otherClass || b == otherClass {
		return otherClass
	}
	return max(a, b)
}

func (s *scope) columnClass(c *ast.ColumnRef) numberClass {
	if s.post != nil {
		s = s.post.pre
	}
	if sc, err := s.visibleAs(c); err == nil {
		return sc.class
	}
	return otherClass
}

// class is the class of the i-th column.
func (r *relation) class(i int) numberClass {
	if i < len(r.classes) {
		return r.classes[i]
	}
	return otherClass
}

// decimal rounds the result x of e to 15 digits where it is numeric and reads no parameter, and to real where it is the
// result of real arithmetic: comparisons and keys see that.
func (s *scope) decimal(e ast.Expr, x *kernels.Expr) *kernels.Expr {
	if b, ok := e.(*ast.Binary); ok && arithmetic[b.Op] && x.Type.Kind == kernels.Float32 && x.Type.Shape == nil &&
		!s.depends(x) {
		return kernels.Build("to_real", x)
	}
	if x.Type.Kind != kernels.Float64 || x.Type.Shape != nil || s.depends(x) || s.class(e) != numericClass {
		return x
	}
	return kernels.Build("decimal", x)
}

// awayFromZero rounds a numeric to an integer as Postgres does.
func awayFromZero(x *kernels.Expr) *kernels.Expr {
	return kernels.Mul(kernels.Build("sign", x),
		kernels.Build("floor", kernels.Add(kernels.Build("abs", x), kernels.Num(0.5))))
}
