package bind

import (
	"math"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Metrics are aggregates of a validation, which is never differentiated; a loss has none of them. They are NaN where
// the database would raise an error, as for a label that is neither 0 nor 1, and ndcg also where scores are equal: the
// database is asked then, by the caller.
var (
	_ = bindMetric("rmse", aggregate{args: squaredDistance, parts: meanParts, result: rootOfMean})
	_ = bindMetric("accuracy", aggregate{args: hit, parts: meanParts, result: meanOf})
	_ = bindMetric("log_loss", aggregate{args: surprisal, parts: meanParts, result: meanOf})
	_ = bindMetric("f1", aggregate{args: hitsAndOnes, parts: single(ra.Sum).parts, result: f1Of})
	_ = bindMetric("auc", aggregate{args: scoreAndLabel, arg: placesOfOnes, parts: single(ra.Sum).parts, result: aucOf})
	_ = bindMetric("ndcg", aggregate{args: scoreAndRelevance, arg: gains, parts: single(ra.Sum).parts, result: ndcgOf})
)

// aggregateOf is what is known of an aggregate or a metric.
func aggregateOf(name string) aggregate {
	if m, ok := metrics[name]; ok {
		return m
	}
	return aggregates[name]
}

// leastProbability is that of a label in log_loss, as in scikit-learn.
const leastProbability = 0x1p-52

func nan() *kernels.Expr { return kernels.Num(math.NaN()) }

// metricArgs binds n arguments.
func metricArgs(s *scope, c *ast.FuncCall, n int) ([]*kernels.Expr, error) {
	if len(c.Args) != n {
		return nil, s.f.fail(c, sqlerr.UndefinedFunction, "%s takes %d arguments, not %d", c.Name, n, len(c.Args))
	}
	return s.exprs(c.Args)
}

// measured binds two arguments as double precision; a boolean is 0 or 1 where yes allows one.
func measured(s *scope, c *ast.FuncCall, n int, yes ...bool) ([]*kernels.Expr, error) {
	args, err := metricArgs(s, c, n)
	if err != nil {
		return nil, err
	}
	for i := range args[:2] {
		x := unknownText(args[i], kernels.Float64)
		switch {
		case x.Type.Shape == nil && x.Type.Kind == kernels.Bool && yes[i]:
			args[i] = maskedBy(kernels.Build("is_not_null", x), kernels.Build("case", x, kernels.Num(1), kernels.Num(0)))
		case x.Type.Shape == nil && (x.Type.IsFloat() || x.Type.Kind == kernels.Int):
			args[i] = kernels.CastTo(kernels.Float64, x)
		default:
			return nil, s.f.fail(c.Args[i], sqlerr.UndefinedFunction, "%s(%v, %v) does not exist", c.Name, args[0].Type,
				args[1].Type)
		}
	}
	return args, nil
}

// wherePresent is x, NULL where an argument is.
func wherePresent(args []*kernels.Expr, x *kernels.Expr) *kernels.Expr {
	for _, a := range args {
		if a.Type.Nullable {
			x = maskedBy(kernels.Build("is_not_null", a), x)
		}
	}
	return x
}

// orNaN is x, NaN where ok does not hold.
func orNaN(ok, x *kernels.Expr) *kernels.Expr { return kernels.Build("case", ok, x, nan()) }

func isLabel(y *kernels.Expr) *kernels.Expr {
	return kernels.Build("or", kernels.Build("eq", y, kernels.Num(0)), kernels.Build("eq", y, kernels.Num(1)))
}

func both(a, b *kernels.Expr) *kernels.Expr { return kernels.Build("and", a, b) }

func squaredDistance(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
	args, err := measured(s, c, 2, false, false)
	if err != nil {
		return nil, err
	}
	d := kernels.Sub(args[0], args[1])
	return kernels.Mul(d, d), nil
}

func rootOfMean(p []*kernels.Expr) *kernels.Expr { return kernels.Build("sqrt", meanOf(p)) }

// hit is 1 where both arguments are equal, 0 where not. Beside a boolean prediction the label may be a number.
func hit(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
	args, err := metricArgs(s, c, 2)
	if err != nil {
		return nil, err
	}
	l, r, ok := args[0], args[1], boolConst(true)
	if l.Type.Kind == kernels.Bool && r.Type.Kind != kernels.Bool {
		if args, err = measured(s, c, 2, true, false); err != nil {
			return nil, err
		}
		l, r, ok = args[0], args[1], isLabel(args[1])
	}
	eq := &ast.Binary{Node: c.Node, Op: "=", L: c.Args[0], R: c.Args[1]}
	if l, r, err = typeOperands(s, eq, l, r); err != nil {
		return nil, err
	}
	same, err := s.compare("eq", l, r, c)
	if err != nil {
		return nil, err
	}
	return wherePresent(args, orNaN(ok, kernels.Build("case", same, kernels.Num(1), kernels.Num(0)))), nil
}

// surprisal is -ln of the probability of what happened.
func surprisal(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
	args, err := measured(s, c, 2, false, true)
	if err != nil {
		return nil, err
	}
	build, p, y := kernels.Build, args[0], args[1]
	ok := both(isLabel(y), both(build("ge", p, kernels.Num(0)), build("le", p, kernels.Num(1))))
	p = build("greatest", build("least", p, kernels.Num(1-leastProbability)), kernels.Num(leastProbability))
	x := build("case", build("eq", y, kernels.Num(1)), build("ln", p), build("log1p", build("neg", p)))
	return wherePresent(args, orNaN(ok, build("neg", x))), nil
}

// hitsAndOnes are of a row whether it is rightly predicted to be 1, and how many of both are 1.
func hitsAndOnes(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
	args, err := measured(s, c, 2, true, true)
	if err != nil {
		return nil, err
	}
	p, y := args[0], args[1]
	return numbers(kernels.Mul(p, y), orNaN(both(isLabel(p), isLabel(y)), kernels.Add(p, y))), nil
}

func f1Of(p []*kernels.Expr) *kernels.Expr {
	hits, ones := item(p[0], 1), item(p[0], 2)
	return kernels.Build("case", kernels.Build("gt", ones, kernels.Num(0)),
		kernels.Div(kernels.Mul(kernels.Num(2), hits), ones), ones)
}

func scoreAndLabel(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
	args, err := measured(s, c, 2, false, true)
	if err != nil {
		return nil, err
	}
	known := kernels.Build("not", kernels.Build("eq", args[0], nan()))
	return numbers(args[0], wherePresent(args, orNaN(both(known, isLabel(args[1])), args[1]))), nil
}

// orders are places of rows within their groups, from 0 and in double precision.
type orders struct {
	swap   renaming
	pair   *kernels.Expr   // the row's chunk of two numbers
	places []*kernels.Expr // by each of the values; rows of one value follow their identity
	size   *kernels.Expr   // of the group
}

// ordersBy gives the places of the rows by values, which are expressions over a row's chunk of two numbers.
func ordersBy(s *scope, groups []*kernels.Expr, c *ast.FuncCall, pair *kernels.Expr,
	values ...func(pair *kernels.Expr) *kernels.Expr) (*orders, error) {
	pair, err := passing(s, c, pair)
	if err != nil {
		return nil, err
	}
	var extra []*kernels.Expr
	var fns []ra.AggFn
	for _, f := range values {
		extra, fns = append(extra, f(pair)), append(fns, ra.Rank)
	}
	o := orderRows(s, groups, nil, append(extra, item(pair, 1), pair)...)
	cols, err := overRows(s, o, whole, append(fns, ra.Count)...)
	if err != nil {
		return nil, err
	}
	for i, x := range cols {
		cols[i] = kernels.CastTo(kernels.Float64, x)
	}
	n := len(values)
	return &orders{o.swap, o.rows.Var(0, o.extra[n+1]), cols[:n], cols[n]}, nil
}

func byFirst(pair *kernels.Expr) *kernels.Expr { return item(pair, 1) }

func byFirstFalling(pair *kernels.Expr) *kernels.Expr { return kernels.Build("neg", item(pair, 1)) }

func bySecondFalling(pair *kernels.Expr) *kernels.Expr { return kernels.Build("neg", item(pair, 2)) }

// placesOfOnes are of each row its place by score if its label is 1, the label, and 1. Rows of one score share the mean
// of their places: of the rows of one score those before this one in the rising order are before it in the falling one.
func placesOfOnes(s *scope, groups []*kernels.Expr, c *ast.FuncCall, x *kernels.Expr) (renaming, *kernels.Expr, error) {
	o, err := ordersBy(s, groups, c, x, byFirst, byFirstFalling)
	if err != nil {
		return nil, nil, err
	}
	one, y := kernels.Num(1), item(o.pair, 2)
	last := kernels.Sub(o.size, one)
	place := kernels.Mul(kernels.Num(0.5), kernels.Add(o.places[0], kernels.Sub(last, o.places[1])))
	return o.swap, numbers(kernels.Mul(y, place), y, wherePresent([]*kernels.Expr{y}, one)), nil
}

// aucOf counts the pairs of a 1 and a 0 in which the 1 has the greater score: the places of the ones less those that
// they would have as the first rows.
func aucOf(p []*kernels.Expr) *kernels.Expr {
	places, ones, rows := item(p[0], 1), item(p[0], 2), item(p[0], 3)
	zeros, none := kernels.Sub(rows, ones), kernels.Num(0)
	first := kernels.Mul(kernels.Num(0.5), kernels.Mul(ones, kernels.Sub(ones, kernels.Num(1))))
	share := kernels.Div(kernels.Sub(places, first), kernels.Mul(ones, zeros))
	some := both(kernels.Build("gt", ones, none), kernels.Build("gt", zeros, none))
	return kernels.Build("case", some, share, nullFloat())
}

func scoreAndRelevance(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
	args, err := measured(s, c, min(max(len(c.Args), 2), 3), false, false)
	if err != nil {
		return nil, err
	}
	score, y := args[0], args[1]
	ok := both(kernels.Build("ge", y, kernels.Num(0)), kernels.Build("lt", y, kernels.Num(math.Inf(1))))
	known := kernels.Build("not", kernels.Build("eq", score, nan()))
	return numbers(score, wherePresent(args[:2], orNaN(both(ok, known), y))), nil
}

// gains are a row's gain by score and by relevance.
func gains(s *scope, groups []*kernels.Expr, c *ast.FuncCall, x *kernels.Expr) (renaming, *kernels.Expr, error) {
	within := func(place *kernels.Expr) *kernels.Expr { return boolConst(true) }
	if len(c.Args) == 3 {
		k, err := wholeArgument(s, c, 2, sqlerr.FeatureNotSupported)
		if err != nil {
			return nil, nil, err
		}
		within = func(place *kernels.Expr) *kernels.Expr { return kernels.Build("lt", place, kernels.Num(float64(k))) }
	}
	o, err := ordersBy(s, groups, c, x, byFirstFalling, byFirst, bySecondFalling)
	if err != nil {
		return nil, nil, err
	}
	y := item(o.pair, 2)
	gain := func(place *kernels.Expr) *kernels.Expr {
		g := kernels.Div(y, kernels.Build("log2", kernels.Add(place, kernels.Num(2))))
		return kernels.Build("case", within(place), g, kernels.Mul(y, kernels.Num(0)))
	}
	// The first of the rows of one score has fewer rows before it in one of the orders than after it in the other.
	alone := kernels.Build("eq", kernels.Add(o.places[0], o.places[1]), kernels.Sub(o.size, kernels.Num(1)))
	scored := wherePresent([]*kernels.Expr{y}, orNaN(alone, gain(o.places[0])))
	return o.swap, numbers(scored, gain(o.places[2])), nil
}

func ndcgOf(p []*kernels.Expr) *kernels.Expr {
	gain, best := item(p[0], 1), item(p[0], 2)
	return kernels.Build("case", kernels.Build("gt", best, kernels.Num(0)), kernels.Div(gain, best), gain)
}
