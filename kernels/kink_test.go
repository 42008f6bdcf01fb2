package kernels

import (
	"math"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// gradients evaluates e and its contributions (upstream gradient 1 for each element) at the columns' values,
// column 0:i being values[i].
func gradients(t *testing.T, e *Expr, values ...Value) (Value, map[ColumnID]Value) {
	t.Helper()
	g := Num(1)
	if e.Type.Shape != nil {
		g = ExpandTo(g, e.Type)
	}
	cs, err := VJP(e, g, func(Col) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	p := point{}
	for i, v := range values {
		p[Col{ID: ColumnID(i)}] = v
	}
	out := map[ColumnID]Value{}
	for _, c := range cs {
		v := p.eval(t, c.Grad)
		if v.Null || c.Grad.Type.Nullable {
			t.Errorf("%v: contribution %v to %d, nullable %v", e, v, c.Col.ID, c.Grad.Type.Nullable)
		}
		out[c.Col.ID] = v
	}
	return p.eval(t, e), out
}

// flat lists the gradients of all elements of all arguments, 0 where there is none.
func flat(grads map[ColumnID]Value, args []Value) (out []float64) {
	for i, v := range args {
		if g, ok := grads[ColumnID(i)]; ok {
			out = append(out, g.Floats()...)
		} else {
			out = append(out, make([]float64, v.Type.Size())...)
		}
	}
	return out
}

func col(i int, t Type) *Expr { return Column(Col{ID: ColumnID(i)}, t) }

func vec(x ...float64) Value { return ChunkValue(Float64, []int{len(x)}, x) }

func TestKinks(t *testing.T) {
	f, nan, inf := FloatValue, math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		args []Value
		want []float64 // flattened gradients of all arguments
	}{
		{"relu", []Value{f(0)}, []float64{0}},
		{"abs", []Value{f(0)}, []float64{0}},
		{"sqrt", []Value{f(0)}, []float64{0}},
		{"sqrt", []Value{f(-1)}, []float64{nan}},
		{"ln", []Value{f(0)}, []float64{inf}},
		{"cbrt", []Value{f(0)}, []float64{0}},
		{"hypot", []Value{f(0), f(0)}, []float64{0, 0}},
		{"atan2", []Value{f(0), f(0)}, []float64{0, 0}},
		{"acosh", []Value{f(1)}, []float64{inf}},
		{"logsigmoid", []Value{f(-1000)}, []float64{1}},
		{"norm", []Value{vec(0, 0)}, []float64{0, 0}},
		{"l2_normalize", []Value{vec(0, 0)}, []float64{0, 0}},
		{"maximum", []Value{f(1), f(1)}, []float64{.5, .5}},
		{"minimum", []Value{vec(1, 2, 3), vec(1, 3, 2)}, []float64{.5, 1, 0, .5, 0, 1}},
		{"maximum", []Value{vec(0, 1, -1), f(0)}, []float64{.5, 1, 0, 1.5}},
		{"greatest", []Value{f(2), f(2), f(1)}, []float64{.5, .5, 0}},
		{"least", []Value{f(2), f(2), f(1)}, []float64{0, 0, 1}},
		{"max_elements", []Value{vec(3, 3, 1, 3)}, []float64{1. / 3, 1. / 3, 0, 1. / 3}},
		{"min_elements", []Value{vec(3, 1, 1, 3)}, []float64{0, .5, .5, 0}},
		{"clip", []Value{vec(-1, 0, .5, 1, 2), f(0), f(1)}, []float64{0, .5, 1, .5, 0, 1.5, 1.5}},
		{"leaky_relu", []Value{f(0)}, []float64{0.01}},
		{"elu", []Value{f(1000)}, []float64{1}},
		{"elu", []Value{f(0)}, []float64{1}},
		{"softplus", []Value{f(-1000)}, []float64{0}},
		{"softplus", []Value{f(1000)}, []float64{1}},
		{"sigmoid", []Value{f(-1000)}, []float64{0}},
		{"gelu", []Value{f(-40)}, []float64{0}},
		{"silu", []Value{f(-1000)}, []float64{0}},
		{"power", []Value{f(0), f(2)}, []float64{0, 0}},
		{"power", []Value{f(0), f(0)}, []float64{0, 0}},
		{"power", []Value{f(-2), f(3)}, []float64{12, nan}},
		{"bce_with_logits", []Value{f(1000), f(1)}, []float64{0, -1000}},
		{"softmax", []Value{vec(1000, 0)}, []float64{0, 0}},
	} {
		d := Lookup(c.name)
		var args []*Expr
		for i, v := range c.args {
			args = append(args, col(i, v.Type))
		}
		e, err := d.Apply(args...)
		if err != nil {
			t.Fatal(err)
		}
		_, grads := gradients(t, e, c.args...)
		got := flat(grads, c.args)
		for i := range c.want {
			if len(got) != len(c.want) ||
				!(math.Abs(got[i]-c.want[i]) < 1e-12 || math.IsNaN(got[i]) && math.IsNaN(c.want[i]) || got[i] == c.want[i]) {
				t.Errorf("%s%v: gradient %v, want %v", c.name, c.args, got, c.want)
				break
			}
		}
	}
}

// power with a constant exponent uses c·x^(c-1).
func TestPowerConstant(t *testing.T) {
	x := col(0, Type{})
	for _, c := range []struct{ c, x, want float64 }{{2, -3, -6}, {1, 0, 1}, {0, 0, 0}, {3, -2, 12}, {0.5, 4, 0.25},
		{-1, 2, -0.25}, {0.5, 0, math.Inf(1)}} {
		e := Build("power", x, Num(c.c))
		_, g := gradients(t, e, FloatValue(c.x))
		if got := g[0]; got.X != c.want {
			t.Errorf("%v^%v: %v, want %v", c.x, c.c, got.X, c.want)
		}
	}
	e := Build("power", x, Const(IntValue(2)))
	cs, _ := VJP(e, Num(1), func(Col) bool { return true })
	if s := cs[0].Grad.String(); s != "(2 * 0:0)" {
		t.Errorf("derivative of x^2: %s", s)
	}
}

// Law 6: the guard holds at every node inside a branch, forward and backward.
func TestGuards(t *testing.T) {
	x, n := col(0, Type{}), col(0, Type{Nullable: true})
	y := col(1, Type{Nullable: true})
	zero, ln, inverse := Num(0), Build("ln", x), Div(Num(1), x)
	pos := Build("gt", x, zero)
	for _, c := range []struct {
		e          *Expr
		x, y       Value
		want, dx   float64
		dy         float64
		resultNull bool
	}{
		{e: Build("case", pos, ln, zero), x: FloatValue(0)},
		{e: Build("case", pos, ln, zero), x: FloatValue(2), want: math.Ln2, dx: 0.5},
		{e: Build("case", pos, Mul(ln, inverse), x), x: FloatValue(0), dx: 1},
		{e: Build("case", Build("eq", x, zero), zero, pos, ln, Build("sqrt", Neg(x))), x: FloatValue(-4), want: 2, dx: -0.25},
		{e: Build("coalesce", y, ln), x: FloatValue(0), y: FloatValue(3), want: 3, dy: 1},
		{e: Build("coalesce", y, x), x: FloatValue(4), y: NullOf(Type{}), want: 4, dx: 1},
		{e: Build("coalesce", Build("mul", n, y), Num(7)), x: FloatValue(4), y: NullOf(Type{}), want: 7},
		{e: Build("add", x, y), x: FloatValue(4), y: NullOf(Type{}), resultNull: true},
		{e: Build("nullif", y, x), x: FloatValue(4), y: FloatValue(4), resultNull: true},
		{e: Build("nullif", y, x), x: FloatValue(4), y: FloatValue(5), want: 5, dy: 1},
		{e: Build("greatest", x, y), x: FloatValue(4), y: NullOf(Type{}), want: 4, dx: 1},
		{e: Build("mul", Build("cast", x), Build("coalesce", y, Num(1))), x: FloatValue(4),
			y: NullOf(Type{}), want: 4, dx: 1},
	} {
		v, g := gradients(t, c.e, c.x, c.y)
		if v.Null != c.resultNull || v.X != c.want || g[0].X != c.dx || g[1].X != c.dy {
			t.Errorf("%v at %v, %v: %v, gradients %v and %v", c.e, c.x, c.y, v, g[0].X, g[1].X)
		}
	}
}

// Float kernels are IEEE: no errors, no lost limits.
func TestIEEE(t *testing.T) {
	f := func(name string, x ...float64) float64 {
		args := make([]Value, len(x))
		for i := range x {
			args[i] = FloatValue(x[i])
		}
		v, err := Lookup(name).EvalValues(&Env{}, args)
		if err != nil {
			t.Fatal(err)
		}
		return v.X
	}
	inf := math.Inf(1)
	for _, c := range []struct{ got, want float64 }{
		{f("exp", -1000), 0}, {f("exp", 1000), inf}, {f("ln", 0), -inf}, {f("div", 1, 0), inf}, {f("softplus", 1000), 1000},
		{f("bce_with_logits", 50, 1), math.Log1p(math.Exp(-50))}, {f("sigmoid", -1000), 0},
		{f("round", 2.5), 2}, {f("log", 1000), 3},
		{f("relu", -0.5), 0}, {f("power", 0, 0), 1}, {f("greater", 2, 1), 1}, {f("sign", -3), -1}, {f("trunc", -1.5), -1},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
	for _, x := range []float64{f("ln", -1), f("sqrt", -1), f("asin", 2), f("relu", math.NaN()),
		f("maximum", math.NaN(), 1), f("div", 0, 0)} {
		if !math.IsNaN(x) {
			t.Errorf("got %v, want NaN", x)
		}
	}
}

func TestNotDifferentiable(t *testing.T) {
	x := col(0, Type{Shape: []int{2}})
	e := Build("dropout", x, Num(0.5))
	e.Pos = 7
	_, err := VJP(e, x, func(Col) bool { return true })
	if sqlerr.Code(err) != sqlerr.FeatureNotSupported {
		t.Errorf("got %v", err)
	}
	if cs, err := VJP(Build("stop_gradient", x), x, func(Col) bool { return true }); err != nil || len(cs) != 0 {
		t.Errorf("stop_gradient: %v %v", cs, err)
	}
}

func TestSimplify(t *testing.T) {
	a, b := Type{Shape: []int{2}, Nullable: true}, Type{Shape: []int{2}, Nullable: true}
	e := Build("mul", col(0, a), col(1, b))
	cs, err := VJP(e, Const(vec(1, 1)), func(c Col) bool { return c.ID == 0 })
	if err != nil {
		t.Fatal(err)
	}
	s := Simplify(cs[0].Grad.MapCols(func(c *Expr) *Expr {
		ty := c.Type
		ty.Nullable = false
		return Column(c.Col, ty)
	}))
	if got := s.String(); got != "({1,1} * 0:1)" {
		t.Errorf("got %s from %s", got, cs[0].Grad)
	}
}

// Law 6 at second order: the branch that a kink does not take stays out of the derivative's derivative too.
func TestSecondOrderAtKinks(t *testing.T) {
	f := FloatValue
	for _, c := range []struct {
		name string
		args []Value
		want []float64 // the sum of all second derivatives in each element of each argument
	}{
		{"sqrt", []Value{f(0)}, []float64{0}},
		{"norm", []Value{vec(0, 0)}, []float64{0, 0}},
		{"l2_normalize", []Value{vec(0, 0)}, []float64{0, 0}},
		{"l2_normalize", []Value{mat(2, 0, 0, 3, 4)}, []float64{0, 0, -59. / 3125, 38. / 3125}},
		{"elu", []Value{f(1000)}, []float64{0}},
		{"elu", []Value{f(0)}, []float64{1}},
		{"relu", []Value{f(0)}, []float64{0}},
		{"abs", []Value{f(0)}, []float64{0}},
		{"power", []Value{f(0), f(0)}, []float64{0, 0}},
		{"power", []Value{f(0), f(2)}, []float64{2, 0}},
		{"maximum", []Value{f(1), f(1)}, []float64{0, 0}},
		{"max_elements", []Value{vec(3, 3, 1)}, []float64{0, 0, 0}},
		{"huber", []Value{f(0), f(1)}, []float64{1, 0}},
		{"softplus", []Value{f(-1000)}, []float64{0}},
		{"sigmoid", []Value{f(1000)}, []float64{0}},
		{"gelu", []Value{f(-40)}, []float64{0}},
		{"silu", []Value{f(-1000)}, []float64{0}},
	} {
		var args []*Expr
		for i, v := range c.args {
			args = append(args, col(i, v.Type))
		}
		e, err := Lookup(c.name).Apply(args...)
		if err != nil {
			t.Fatal(err)
		}
		g := Num(1)
		if e.Type.Shape != nil {
			g = ExpandTo(g, e.Type)
		}
		cs, err := VJP(e, g, func(Col) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		sum := Num(0)
		for _, x := range cs {
			sum = Add(sum, SumTo(x.Grad, Type{}))
		}
		_, grads := gradients(t, sum, c.args...)
		got := flat(grads, c.args)
		for i := range c.want {
			if len(got) != len(c.want) || !(math.Abs(got[i]-c.want[i]) < 1e-12) {
				t.Errorf("%s%v: second derivatives %v, want %v", c.name, c.args, got, c.want)
				break
			}
		}
	}
}
