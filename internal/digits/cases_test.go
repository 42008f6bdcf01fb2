package digits

import (
	"math"
	"strings"

	"github.com/relgrad/relgrad/kernels"
)

// bound is the error in units in the last place that a kernel may have.
func bound(d *kernels.Def) float64 {
	if d.Ulps > 0 {
		return float64(d.Ulps)
	}
	return 8
}

// far are the numbers at which every element-wise kernel is tried, with both signs: from the least denormal to the
// largest number, many where functions change their behaviour and near 1.
var far = []float64{5e-324, 1e-310, 2.3e-308, 1e-300, 1e-200, 1e-155, 1e-100, 1e-50, 1e-20, 1e-10, 1e-8, 3e-5, 1e-3,
	0.03, 0.1, 0.3, 0.49, 0.5, 0.62, 0.63, 0.7,
	0.75, 0.752, 0.9, 0.99, 0.999999, 1 - 0x1p-52, 1 - 0x1p-53, 1, 1 + 0x1p-52, 1 +
		0x1p-51, 1.000001, 1.1, 1.25, 1.5, math.Pi / 2, 2, 2.4, 2.9, 3, math.Pi, 4.5, 5.3, 6, 2 * math.Pi, 8,
	9.7, 10, 12.5, 15, 17.3, 18, 20, 22, 23.9, 25, 26.5, 27, 28, 30, 36, 37, 38, 38.5, 40, 50, 88, 100, 300, 355, 360, 372,
	500, 700, 709.7, 710.3, 740, 745, 800, 1000, 22.0 / 7 * 100, 1e5, 1e7, 1e10,
	1e15, 1e16, 1e20, 1e50, 1e100, 1e103, 1e154, 1e155, 1e160, 1e200, 1e300, 4e307}

// near are the numbers for each argument of kernels with several.
var near = []float64{1e-100, 0.001, 0.3, 0.7, 1 - 0x1p-52, 1, 1 + 0x1p-52, 3.5, 12.5, 40, 300, 1e100}

// crossing gives, for kernels whose derivative crosses zero, the size of the terms that it is a sum of.
var crossing = map[string]func(x []float64) float64{
	"gelu":          func(x []float64) float64 { return math.Exp(-x[0]*x[0]/2) * (1 + x[0]*x[0]) / 2 },
	"normal_pdf":    func(x []float64) float64 { return math.Exp(-x[0]*x[0]/2) / 3 },
	"gauss":         func(x []float64) float64 { return math.Exp(-x[0] * x[0]) },
	"silu":          func(x []float64) float64 { return math.Exp(-math.Abs(x[0])) * (1 + math.Abs(x[0])) / 4 },
	"sech2":         func(x []float64) float64 { return 4 * math.Exp(-2*math.Abs(x[0])) },
	"sigmoid_slope": func(x []float64) float64 { return math.Exp(-math.Abs(x[0])) },
	"atan_slope":    func(x []float64) float64 { return 2 / math.Pow(1+x[0]*x[0], 3) },
	"bce_slope":     func(x []float64) float64 { return math.Min(1, math.Abs(x[1])) / (1 + math.Exp(x[0])) },
	"asinh_slope":   func(x []float64) float64 { return math.Pow(math.Hypot(1, x[0]), -3) },
	"hypot_slope":   func(x []float64) float64 { return math.Pow(math.Hypot(x[0], x[1]), -2) },
	"atan2":         func(x []float64) float64 { return math.Pow(math.Hypot(x[0], x[1]), -2) },
	"lgamma":        gammaTerms, "digamma": gammaTerms,
	"polygamma": func(x []float64) float64 { return gammaTerms(x[1:]) },
	"power":     func(x []float64) float64 { return math.Pow(math.Abs(x[0]), x[1]-1) },
	"bce_with_logits": func(x []float64) float64 {
		return math.Max(math.Abs(x[1]), math.Abs(x[0]*x[1])) / (1 + math.Exp(x[0]))
	},
}

// gammaTerms is what is subtracted in the gamma function's reflection, which crosses zero between negative integers.
func gammaTerms(x []float64) float64 {
	if x[0] > 0 {
		return 0
	}
	y, _ := math.Lgamma(1 - x[0])
	return math.Abs(y) + 1
}

// exempt are kernels that only move, add or choose numbers, and draws: they cannot lose digits.
var exempt = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields("case cast coalesce concat_axis einsum eq_mask expand_to greatest greater least " +
		"matmul max_elements nullif outer pad put reshape " +
		"row_key select slice stack_row subscript sum_to to_real transpose decimal drop_mask dropout") {
		m[name] = true
	}
	return m
}()

type kernelOf struct {
	name string
	kind kernels.Kind
}

var known = map[kernelOf][]*Case{}

// made keeps the cases of a kernel for the other runners, since computing the truth takes longest.
func made(d *kernels.Def, kind kernels.Kind) []*Case {
	k := kernelOf{d.Name, kind}
	if known[k] == nil {
		known[k] = cases(d, kind)
	}
	return known[k]
}

func cases(d *kernels.Def, kind kernels.Kind) []*Case {
	switch {
	case numbers[d.Name] != nil:
		return numberCases(d, kind)
	case vectors[d.Name] != nil:
		return vectorCases(d, kind)
	}
	panic("digits: nothing says what kernel " + d.Name + " is exactly; add it to numbers or vectors")
}

// lengthy are the vectors at which kernels of chunks are tried: with one element that outweighs the others, with
// several, with huge ones and with small ones.
var lengthy = [][]float64{{0.3, -1.2, 0.7, 2}, {1, 1, 1, 1}, {0, 40, -40, 1}, {800, 0, 760, -800},
	{1000.3, 1000.2, 999.9, 12}, {0, -30, -36, -37}, {0.1, 1e-9, -1e-9, 1e-12},
	{1e200, -3e199, 2e200, 1e190}, {1e-200, 3e-200, -2e-200, 1e-210}, {1e150, 1e-150, 1, -1}, {1e7, 1e7 + 1, -2e7, 5},
	{3e-161, 1e-162, 4e-161, 0}, {1e5, -1e5, 1e-3, 0},
	{1 + 0x1p-52, 1, 1 - 0x1p-53, 1}}

// vectorCases makes cases of vectors. A second argument is small numbers, or the label of the largest element.
func vectorCases(d *kernels.Def, kind kernels.Kind) []*Case {
	c := &Case{Def: d}
	t := kernels.Type{Kind: kind, Shape: []int{4}}
	args := []*kernels.Expr{kernels.Column(kernels.Col{ID: 1}, t)}
	second := kernels.Value{Type: t, F: []float64{0.5, -1, 0.25, 3}}
	ints := strings.HasPrefix(d.Name, "cross_entropy")
	if ints {
		second = kernels.IntValue(0)
	}
	if d.MinArgs == 2 {
		args = append(args, kernels.Column(kernels.Col{ID: 2}, second.Type))
	}
	for _, x := range lengthy {
		v := kernels.Value{Type: t, F: append([]float64(nil), x...)}
		fits := true
		for i := range v.F {
			if kind == kernels.Float32 {
				v.F[i] = float64(float32(v.F[i]))
				fits = fits && !math.IsInf(v.F[i], 0) && (v.F[i] != 0 || x[i] == 0)
			}
		}
		if !fits {
			continue
		}
		row := []kernels.Value{v, second}
		for label := range 4 {
			if ints {
				row = []kernels.Value{v, kernels.IntValue(int64(label))}
			}
			if label == 0 || ints {
				c.Rows = append(c.Rows, row[:d.MinArgs])
			}
		}
	}
	at := kernels.Attr{}
	if d.Name == "logsumexp" {
		at.Axis = -1 // over all elements
	}
	return c.made(args, at)
}

// numberCases tries an element-wise kernel at numbers.
func numberCases(d *kernels.Def, kind kernels.Kind) []*Case {
	c := &Case{Def: d}
	t := kernels.Type{Kind: kind}
	args := make([]*kernels.Expr, d.MinArgs)
	for i := range args {
		args[i] = kernels.Column(kernels.Col{ID: kernels.ColumnID(i + 1)}, t)
	}
	if d.Name == "polygamma" {
		return polygammaCases(d, kind)
	}
	points := far
	switch d.MinArgs {
	case 2:
		points = near
	case 3:
		points = []float64{0.3, 2, 1e10}
	}
	var fill func(row []kernels.Value)
	fill = func(row []kernels.Value) {
		if len(row) == d.MinArgs {
			c.Rows = append(c.Rows, append([]kernels.Value(nil), row...))
			return
		}
		for _, p := range points {
			for _, x := range []float64{p, -p} {
				if kind == kernels.Float32 {
					if x = float64(float32(x)); x == 0 || math.IsInf(x, 0) {
						continue
					}
				}
				fill(append(row[:len(row):len(row)], kernels.Value{Type: t, X: x}))
			}
		}
	}
	fill(nil)
	return c.made(args, kernels.Attr{})
}

// polygammaCases are derivatives of digamma of the orders 1 to 3.
func polygammaCases(d *kernels.Def, kind kernels.Kind) []*Case {
	c, t := &Case{Def: d}, kernels.Type{Kind: kind}
	args := []*kernels.Expr{kernels.Column(kernels.Col{ID: 1}, kernels.Type{Kind: kernels.Int}),
		kernels.Column(kernels.Col{ID: 2}, t)}
	for n := range int64(3) {
		for _, p := range far {
			for _, x := range []float64{p, -p} {
				if kind == kernels.Float32 {
					x = float64(float32(x))
				}
				if math.Abs(x) > 1e-80 && math.Abs(x) < 1e60 { // whose powers of order 5 are in range
					c.Rows = append(c.Rows, []kernels.Value{kernels.IntValue(n + 1), {Type: t, X: x}})
				}
			}
		}
	}
	return c.made(args, kernels.Attr{})
}

// made completes a case.
func (c *Case) made(args []*kernels.Expr, at kernels.Attr) []*Case {
	var err error
	if c.Call, err = kernels.Call(c.Def, at, args...); err == nil {
		err = c.derive()
	}
	if err != nil {
		panic(err)
	}
	rows := c.Rows
	c.Rows = nil
	for _, row := range rows {
		if want := c.truth(row); !c.beyond(want[0]) {
			c.Rows, c.want = append(c.Rows, row), append(c.want, want)
		}
	}
	return []*Case{c}
}
