package bind

import (
	"reflect"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// The tables through which the binder reaches each construct of differentiable SQL. A construct stands in a file
// of its own, <construct>.go, which enters it here by a package-level value; a second entry panics at start.
var (
	exprBinders      = map[reflect.Type]func(*scope, ast.Expr) (*kernels.Expr, error){}
	fromBinders      = map[reflect.Type]func(*scope, ast.FromItem) error{}
	callBinders      = map[string]func(*scope, *ast.FuncCall) (*kernels.Expr, error){}
	tableFuncBinders = map[string]func(*binder, *place, *ast.FuncCall) (*relation, error){}
	aggregates       = map[string]aggregate{}
)

// aggregate is a SQL aggregate, made of aggregates of the algebra.
type aggregate struct {
	// args binds the arguments to the one of parts, before FILTER and masks; nil: there is one argument.
	args func(*scope, *ast.FuncCall) (*kernels.Expr, error)
	// arg makes the bound argument x that of parts where that needs the groups; nil: it does not.
	arg func(s *scope, groups []*kernels.Expr, c *ast.FuncCall, x *kernels.Expr) (renaming, *kernels.Expr, error)
	// parts are the aggregates that it needs of the argument x.
	parts func(x *kernels.Expr) []aggPart
	// takes refuses arguments of a type; nil takes what the algebra takes.
	takes func(kernels.Type) error
	// centered is set where x is read less its mean over the group.
	centered bool
	// result is its value above the grouping, given the parts' columns.
	result func(parts []*kernels.Expr) *kernels.Expr
}

type aggPart struct {
	fn  ra.AggFn
	arg *kernels.Expr
}

// bindExpr enters how an expression whose tree is a T is bound.
func bindExpr[T ast.Expr](f func(*scope, T) (*kernels.Expr, error)) struct{} {
	return enter(exprBinders, reflect.TypeFor[T](), func(s *scope, e ast.Expr) (*kernels.Expr, error) {
		return f(s, e.(T))
	})
}

// bindFrom enters how an item of FROM whose tree is a T joins the scope.
func bindFrom[T ast.FromItem](f func(*scope, T) error) struct{} {
	return enter(fromBinders, reflect.TypeFor[T](), func(s *scope, i ast.FromItem) error { return f(s, i.(T)) })
}

// bindCall enters a function that is not simply a kernel of that name.
func bindCall(name string, f func(*scope, *ast.FuncCall) (*kernels.Expr, error)) struct{} {
	return enter(callBinders, name, f)
}

// bindTableFunc enters a function in FROM that is differentiable.
func bindTableFunc(name string, f func(*binder, *place, *ast.FuncCall) (*relation, error)) struct{} {
	return enter(tableFuncBinders, name, f)
}

// bindAggregate enters an aggregate function.
func bindAggregate(name string, a aggregate) struct{} { return enter(aggregates, name, a) }

func enter[K comparable, V any](table map[K]V, key K, v V) struct{} {
	if _, twice := table[key]; twice {
		panic("sqlfront: bound twice: " + reflect.ValueOf(key).String())
	}
	table[key] = v
	return struct{}{}
}
