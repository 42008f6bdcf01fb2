package digits

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/relgrad/relgrad/kernels"
)

// Case is a call of a kernel over the columns 0:1, 0:2, … and rows of values for them.
type Case struct {
	Def   *kernels.Def
	Call  *kernels.Expr
	Exprs []*kernels.Expr // the value, the derivative by each argument, and derivatives of those
	Rows  [][]kernels.Value

	by   [][2]int   // by expression: the arguments, from 1, by which it is a derivative; 0: none
	want [][][]real // by row, expression and element; nil: undefined
}

// name says what expression e is.
func (c *Case) name(e int) string {
	switch by := c.by[e]; {
	case by[0] == 0:
		return "value"
	case by[1] == 0:
		return fmt.Sprintf("derivative by argument %d", by[0])
	default:
		return fmt.Sprintf("derivative by arguments %d and %d", by[0], by[1])
	}
}

// derive adds the derivatives of Σ weight·call, and those of Σ of these.
func (c *Case) derive() error {
	weigh := func(e *kernels.Expr) *kernels.Expr {
		if e.Type.Shape == nil {
			return e
		}
		return kernels.Build("dot", e, kernels.Const(kernels.ChunkValue(e.Type.Kind, e.Type.Shape, weights(e.Type.Size()))))
	}
	c.Exprs, c.by = []*kernels.Expr{c.Call}, [][2]int{{}}
	all := func(kernels.Col) bool { return true }
	first, err := kernels.VJP(weigh(c.Call), kernels.Num(1), all)
	if err != nil {
		return err
	}
	for _, f := range first {
		c.Exprs, c.by = append(c.Exprs, f.Grad), append(c.by, [2]int{int(f.Col.ID), 0})
	}
	for _, f := range first {
		second, err := kernels.VJP(weigh(f.Grad), kernels.Num(1), all)
		if err != nil {
			return err
		}
		for _, s := range second {
			c.Exprs, c.by = append(c.Exprs, s.Grad), append(c.by, [2]int{int(f.Col.ID), int(s.Col.ID)})
		}
	}
	return nil
}

// weights are weights of n elements: one large, one small, the rest between, so that differences do not vanish.
func weights(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = []float64{1, -0.75, 0.125, 2}[i%4]
	}
	return w
}

// truth computes the expressions exactly for a row.
func (c *Case) truth(row []kernels.Value) [][]real {
	out := make([][]real, len(c.Exprs))
	for e, by := range c.by {
		out[e] = defined(func() []real { return c.exactly(row, by[0]-1, by[1]-1) })
	}
	return out
}

// defined returns the result of f, nil where f divides zero by zero or the like.
func defined(f func() []real) (out []real) {
	defer func() {
		if e := recover(); e != nil {
			if _, undefined := e.(big.ErrNaN); !undefined {
				panic(e)
			}
		}
	}()
	return f()
}

// exactly computes the value (k and l are -1), the derivative by argument k, or the derivative of its weighted sum by
// argument l.
func (c *Case) exactly(row []kernels.Value, k, l int) (out []real) {
	run := func(arg, i int) []dual {
		args := make([][]dual, len(row))
		for a := range row {
			w := weights(len(row[a].Floats()))
			for j, x := range row[a].Floats() {
				d := num(x)
				if a == arg && j == i {
					d.a = of(1)
				}
				if l >= 0 && a == k {
					d.b = of(w[j])
				}
				args[a] = append(args[a], d)
			}
		}
		return apply(c, args)
	}
	switch {
	case k < 0:
		for _, y := range run(-1, 0) {
			out = append(out, y.v)
		}
	case l < 0:
		for i := range row[k].Floats() {
			out = append(out, weighed(run(k, i), func(y dual) real { return y.a }))
		}
	default:
		for i := range row[l].Floats() {
			out = append(out, weighed(run(l, i), func(y dual) real { return y.ab }))
		}
	}
	return out
}

func weighed(y []dual, part func(dual) real) real {
	s := fl()
	for i, w := range weights(len(y)) {
		if len(y) == 1 {
			w = 1
		}
		s = add(s, mul(of(w), part(y[i])))
	}
	return s
}

func apply(c *Case, args [][]dual) []dual {
	if f := numbers[c.Def.Name]; f != nil {
		x := make([]dual, len(args))
		for i := range args {
			x[i] = args[i][0]
		}
		return []dual{f(x)}
	}
	return vectors[c.Def.Name](args, c.Call.Attr)
}

// Runner computes a case's expressions: by row, expression and element.
type Runner func(c *Case) ([][][]float64, error)

// Kernels are the names of the kernels that are checked: all with a derivative that are not exempt.
func Kernels() []string {
	var out []string
	for _, d := range kernels.All() {
		if d.VJP != nil && !exempt[d.Name] {
			out = append(out, d.Name)
		}
	}
	return out
}

// Check runs a kernel and returns the worst value of each expression that exceeds its bound. worst is the kernel's
// largest error.
func Check(name string, kinds []kernels.Kind, slack float64, run Runner) (wrong []string, worst float64, err error) {
	for _, kind := range kinds {
		for _, c := range made(kernels.Lookup(name), kind) {
			got, err := run(c)
			if err != nil {
				return nil, 0, fmt.Errorf("%s: %w", name, err)
			}
			w, most := c.compare(got, slack)
			wrong, worst = append(wrong, w...), math.Max(worst, most)
		}
	}
	return wrong, worst, nil
}

// compare lists the expressions whose error exceeds the kernel's bound.
func (c *Case) compare(got [][][]float64, slack float64) (wrong []string, worst float64) {
	for e := range c.Exprs {
		most, text := 0.0, ""
		for row := range c.Rows {
			want := c.want[row][e]
			if want == nil || c.vanishes(row, e) || c.by[e][1] > 0 && c.far(row) {
				continue
			}
			for i, w := range want {
				off := ulps(c.kind(), c.Exprs[e].Type.Kind, got[row][e][i], w, c.floor(c.Rows[row], want))
				if off > most {
					most = off
					wf, _ := w.Float64()
					text = fmt.Sprintf("%s, %s at %v: element %d is %v, not %v: %.3g ulp", c.Def.Name, c.name(e), c.Rows[row], i,
						got[row][e][i], wf, off)
				}
			}
		}
		worst = math.Max(worst, most)
		if most > slack*bound(c.Def) {
			wrong = append(wrong, text)
		}
	}
	return wrong, worst
}

// beyond reports whether the value is NaN or beyond the largest number. Such a loss is an error, whatever its
// derivative.
func (c *Case) beyond(value []real) bool {
	most := 1024
	if c.Call.Type.Kind == kernels.Float32 {
		most = 128
	}
	return value == nil || slices.ContainsFunc(value, func(y real) bool { return y.IsInf() || y.MantExp(nil) > most })
}

// vanishes reports whether expression e is a second derivative that is computed from the value, where the value is
// below the smallest number.
func (c *Case) vanishes(row, e int) bool {
	least := -1021
	if c.Call.Type.Kind == kernels.Float32 {
		least = -125
	}
	return c.by[e][1] > 0 && slices.ContainsFunc(c.want[row][0], func(y real) bool {
		return y.Sign() != 0 && y.MantExp(nil) < least
	})
}

// far reports whether the square of a vector's length is out of range; norm's second derivative divides by it.
func (c *Case) far(row int) bool {
	l := c.want[row][0][0].MantExp(nil)
	return c.Def.Name == "norm" && (l > 500 || l < -500)
}

// kind is the kind of the arguments. Loops over real may return double precision, with the digits of real.
func (c *Case) kind() kernels.Kind {
	x := c.Rows[0][0]
	if !x.Type.IsFloat() { // an order
		x = c.Rows[0][1]
	}
	return x.Type.Kind
}

// floor is the number whose unit in the last place counts where a result may cross zero. Of vectors it is the largest
// element.
func (c *Case) floor(row []kernels.Value, want []real) real {
	f := fl()
	if at := crossing[c.Def.Name]; at != nil {
		x := make([]float64, len(row))
		for i := range row {
			x[i] = row[i].Float()
		}
		if s := math.Abs(at(x)); s < math.Inf(1) {
			f = of(s)
		}
	}
	if len(want) > 1 {
		for _, w := range want {
			if a := fl().Abs(w); a.Cmp(f) > 0 {
				f = a
			}
		}
	}
	return f
}

// ulps is the error of got in units in the last place; infinite for NaN. The digits are those of the arguments' kind,
// the largest number is that of the result's: exp of a real is double precision. Denormals may lose ten bits, since a
// denormal factor has lost them.
func ulps(args, result kernels.Kind, got float64, want, floor real) float64 {
	digits, least, most := 53, -1064, 1024
	if args == kernels.Float32 {
		digits, least = 24, -139
	}
	if result == kernels.Float32 {
		most = 128
	}
	if want.IsInf() || want.MantExp(nil) > most {
		if math.IsInf(got, want.Sign()) || math.IsNaN(got) { // either gives an error where it is used
			return 0
		}
		return math.Inf(1)
	}
	if math.IsNaN(got) {
		return math.Inf(1)
	}
	at := fl().Abs(want)
	if floor.Cmp(at) > 0 {
		at = floor
	}
	unit := max(at.MantExp(nil)-digits, least)
	if math.IsInf(got, 0) {
		if at.MantExp(nil) == most && math.Signbit(got) == want.Signbit() { // the largest number, but for a rounding
			return 1
		}
		return math.Inf(1)
	}
	d := fl().Abs(sub(of(got), want))
	off, _ := fl().SetMantExp(d, -unit).Float64()
	return off
}
