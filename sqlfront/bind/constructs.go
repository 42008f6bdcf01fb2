package bind

import (
	"reflect"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Tables of the constructs of differentiable SQL. Each construct has a file of its own, <construct>.go, which registers
// it by a package-level value. Registering a construct twice panics when the program starts.
var (
	exprBinders      = map[reflect.Type]func(*scope, ast.Expr) (*kernels.Expr, error){}
	fromBinders      = map[reflect.Type]func(*scope, ast.FromItem) error{}
	callBinders      = map[string]func(*scope, *ast.FuncCall) (*kernels.Expr, error){}
	tableFuncBinders = map[string]func(*binder, *place, *ast.FuncCall) (*relation, error){}
	aggregates       = map[string]aggregate{}
	metrics          = map[string]aggregate{}
)

// aggregate is a SQL aggregate, made of aggregates of the algebra.
type aggregate struct {
	// args binds several arguments to one expression, before FILTER and masks; nil: there is one argument.
	args func(*scope, *ast.FuncCall) (*kernels.Expr, error)
	// arg turns the bound argument x into that of parts where this needs the groups; nil: x is used as it is.
	arg func(s *scope, groups []*kernels.Expr, c *ast.FuncCall, x *kernels.Expr) (renaming, *kernels.Expr, error)
	// parts are the aggregates of the algebra, over the argument x.
	parts func(x *kernels.Expr) []aggPart
	// takes refuses arguments of some types; nil: any type of the algebra is allowed.
	takes func(kernels.Type) error
	// centered: the mean over the group is subtracted from x.
	centered bool
	// pairs: x is a chunk of two numbers or more, and the means of the first two are subtracted from them.
	pairs bool
	// result computes the value above the grouping from the parts' columns.
	result func(parts []*kernels.Expr) *kernels.Expr
}

type aggPart struct {
	fn  ra.AggFn
	arg *kernels.Expr
}

// bindExpr registers how expressions whose tree is a T are bound.
func bindExpr[T ast.Expr](f func(*scope, T) (*kernels.Expr, error)) struct{} {
	return enter(exprBinders, reflect.TypeFor[T](), func(s *scope, e ast.Expr) (*kernels.Expr, error) {
		return f(s, e.(T))
	})
}

// bindFrom registers how items of FROM whose tree is a T join the scope.
func bindFrom[T ast.FromItem](f func(*scope, T) error) struct{} {
	return enter(fromBinders, reflect.TypeFor[T](), func(s *scope, i ast.FromItem) error { return f(s, i.(T)) })
}

// bindCall registers a function that is not simply the kernel of its name.
func bindCall(name string, f func(*scope, *ast.FuncCall) (*kernels.Expr, error)) struct{} {
	return enter(callBinders, name, f)
}

// bindTableFunc registers a differentiable function in FROM.
func bindTableFunc(name string, f func(*binder, *place, *ast.FuncCall) (*relation, error)) struct{} {
	return enter(tableFuncBinders, name, f)
}

// bindAggregate registers an aggregate function.
func bindAggregate(name string, a aggregate) struct{} { return enter(aggregates, name, a) }

// bindMetric registers a metric, which only a validation may have.
func bindMetric(name string, a aggregate) struct{} { return enter(metrics, name, a) }

func enter[K comparable, V any](table map[K]V, key K, v V) struct{} {
	if _, twice := table[key]; twice {
		panic("sqlfront: bound twice: " + reflect.ValueOf(key).String())
	}
	table[key] = v
	return struct{}{}
}
