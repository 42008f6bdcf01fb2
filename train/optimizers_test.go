package train

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
)

// recorded are the gradients that a table of steps prescribes, whatever the parameter is: one row per step.
type recorded struct {
	bowl
	grads [][]float64
}

func (r *recorded) Step(_ context.Context, step int64) (float64, error) {
	r.g = r.grads[step-1]
	return 1, nil
}

// trainOn runs a config on one parameter of single numbers with given gradients and returns its values and its column.
func trainOn(t *testing.T, c Config, p []float64, grads [][]float64) ([]float64, *trainedColumn) {
	t.Helper()
	r := &recorded{bowl{p: append([]float64(nil), p...), target: make([]float64, len(p))}, grads}
	rows := make([]int32, len(p))
	for i := range rows {
		rows[i] = int32(i)
	}
	x := r.column(r.p, func(int) string { return "" },
		func() (*column.Column, []int32) { return numbers(kernels.Float64, 1, r.g...), rows })
	c.Epochs = int64(len(grads))
	if _, err := r.train(c, r); err != nil {
		t.Fatal(err)
	}
	return r.p, x
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(1, math.Abs(b)) }

// TestByHand: three steps from p = 1 with the gradients 1, −2, 0.5 and lr 0.1, worked out on paper.
func TestByHand(t *testing.T) {
	for _, tc := range []struct {
		optimizer string
		set       func(*Config)
		want      [3]float64 // after each step
	}{
		// 1−0.1·1; 0.9+0.1·2; 1.1−0.1·0.5
		{"sgd", nil, [3]float64{0.9, 1.1, 1.05}},
		// L2: d = g + 0.1p: 1.1; −2+0.089; 0.5+0.10801
		{"sgd", func(c *Config) { c.WeightDecay = 0.1 }, [3]float64{0.89, 1.0811, 1.020289}},
		// μ = 0.5: v = 1; −1.5; −0.25
		{"momentum", func(c *Config) { c.Momentum = 0.5 }, [3]float64{0.9, 1.05, 1.075}},
		// μ = 0.5: d+μv = 1.5; −2−0.75; 0.5−0.125
		{"nesterov", func(c *Config) { c.Momentum = 0.5 }, [3]float64{0.85, 1.125, 1.0875}},
		// ε = 0: s = 1, 5, 5.25
		{"adagrad", func(c *Config) { c.Epsilon = 0 },
			[3]float64{0.9, 0.9 + 0.2/math.Sqrt(5), 0.9 + 0.2/math.Sqrt(5) - 0.05/math.Sqrt(5.25)}},
		// α = 0.5, ε = 0: s = 1/2, 1/4+2 = 9/4, 9/8+1/8 = 5/4
		{"rmsprop", func(c *Config) { c.Alpha, c.Epsilon = 0.5, 0 },
			[3]float64{1 - 0.1*math.Sqrt2, 1 - 0.1*math.Sqrt2 + 0.4/3, 1 - 0.1*math.Sqrt2 + 0.4/3 - 0.1/math.Sqrt(5)}},
		// β = (1/2, 3/4), ε = 0. m = 1/2, −3/4, −1/8; m̂ = 1, −1, −1/7. s = 1/4, 19/16, 61/64; ŝ = 1, 19/7, 61/37
		{"adam", func(c *Config) { c.Beta1, c.Beta2, c.Epsilon = 0.5, 0.75, 0 },
			[3]float64{0.9, 0.9 + 0.1/math.Sqrt(19./7), 0.9 + 0.1/math.Sqrt(19./7) + 0.1/7/math.Sqrt(61./37)}},
		// the same moments; before each step p shrinks by 1 − 0.1·0.2 = 0.98
		{"adamw", func(c *Config) { c.Beta1, c.Beta2, c.Epsilon, c.WeightDecay = 0.5, 0.75, 0, 0.2 },
			[3]float64{0.88, 0.8624 + 0.1/math.Sqrt(19./7), 0.98*(0.8624+0.1/math.Sqrt(19./7)) + 0.1/7/math.Sqrt(61./37)}},
	} {
		grads := [][]float64{{1}, {-2}, {0.5}}
		for n, want := range tc.want {
			c := Default()
			c.Optimizer, c.LR = tc.optimizer, 0.1
			if tc.set != nil {
				tc.set(&c)
			}
			p, _ := trainOn(t, c, []float64{1}, grads[:n+1])
			if !near(p[0], want) {
				t.Errorf("%s after %d steps: %.17g, by hand %.17g", tc.optimizer, n+1, p[0], want)
			}
		}
	}
}

// unrolled computes one element's course from sums over all gradients so far, where optimizers keep running state.
func unrolled(c Config, p float64, g []float64) float64 {
	var d []float64
	for t := 1; t <= len(g); t++ {
		wd := c.WeightDecay
		if c.Optimizer == "adamw" {
			p -= c.LR * wd * p
			wd = 0
		}
		d = append(d, g[t-1]+wd*p)
		power := func(base float64, from []float64, f func(float64) float64) (sum float64) { // Σ base^(t−i) f(dᵢ)
			for i, x := range from {
				sum += math.Pow(base, float64(len(from)-1-i)) * f(x)
			}
			return sum
		}
		id, square := func(x float64) float64 { return x }, func(x float64) float64 { return x * x }
		now := d[t-1]
		switch c.Optimizer {
		case "sgd":
			p -= c.LR * now
		case "momentum":
			p -= c.LR * power(c.Momentum, d, id)
		case "nesterov":
			p -= c.LR * (now + c.Momentum*power(c.Momentum, d, id))
		case "adagrad":
			p -= c.LR * now / (math.Sqrt(power(1, d, square)) + c.Epsilon)
		case "rmsprop":
			p -= c.LR * now / (math.Sqrt((1-c.Alpha)*power(c.Alpha, d, square)) + c.Epsilon)
		case "adam", "adamw":
			m := (1 - c.Beta1) * power(c.Beta1, d, id) / (1 - math.Pow(c.Beta1, float64(t)))
			s := (1 - c.Beta2) * power(c.Beta2, d, square) / (1 - math.Pow(c.Beta2, float64(t)))
			p -= c.LR * m / (math.Sqrt(s) + c.Epsilon)
		default:
			panic("no formula for " + c.Optimizer)
		}
	}
	return p
}

// TestUnrolled compares every optimizer with its formula over 30 steps, with and without weight decay.
func TestUnrolled(t *testing.T) {
	start := []float64{1, -0.5, 3}
	grads := make([][]float64, 30)
	for i := range grads {
		x := float64(i)
		grads[i] = []float64{math.Sin(x), 3 * math.Cos(2*x), 1e-3 * math.Sin(x*x)}
	}
	for name := range updating() {
		for _, decay := range []float64{0, 0.1} {
			c := Default()
			c.Optimizer, c.LR, c.WeightDecay = name, 0.05, decay
			p, _ := trainOn(t, c, start, grads)
			for i := range start {
				var g []float64
				for _, row := range grads {
					g = append(g, row[i])
				}
				if want := unrolled(c, start[i], g); math.Abs(p[i]-want) > 1e-12*math.Max(1, math.Abs(want)) {
					t.Errorf("%s, decay %g: element %d is %.17g, by the formula %.17g", name, decay, i, p[i], want)
				}
			}
		}
	}
}

// TestRates: the rate of each step, by hand.
func TestRates(t *testing.T) {
	half := math.Sqrt(0.5)
	for _, tc := range []struct {
		name string
		set  func(*Config)
		want []float64
	}{
		{"constant", func(*Config) {}, []float64{1, 1, 1, 1, 1}},
		{"warm-up", func(c *Config) { c.Warmup = 4 }, []float64{0.25, 0.5, 0.75, 1, 1, 1}},
		{"step", func(c *Config) { c.Schedule, c.StepSize, c.Gamma = "step", 2, 0.1 }, []float64{1, 1, 0.1, 0.1, 0.01}},
		{"step after a warm-up", func(c *Config) { c.Schedule, c.StepSize, c.Gamma, c.Warmup = "step", 2, 0.5, 2 },
			[]float64{0.5, 1, 1, 1, 0.5, 0.5, 0.25}},
		{"cosine", func(c *Config) { c.Schedule = "cosine" }, []float64{1, (1 + half) / 2, 0.5, (1 - half) / 2}},
		{"cosine to a floor", func(c *Config) { c.Schedule, c.EtaMin = "cosine", 0.2 },
			[]float64{1, 0.2 + 0.4*(1+half), 0.6, 0.2 + 0.4*(1-half)}},
		{"cosine after a warm-up", func(c *Config) { c.Schedule, c.Warmup = "cosine", 1 }, []float64{1, 1, 0.5}},
	} {
		c := Default()
		c.Epochs = int64(len(tc.want))
		tc.set(&c)
		for i, want := range tc.want {
			if got := c.rate(1, int64(i+1)); !near(got, want) {
				t.Errorf("%s: step %d has rate %.17g, by hand %g", tc.name, i+1, got, want)
			}
		}
	}
	c := Default()
	c.Optimizer, c.LR, c.Schedule, c.StepSize, c.Gamma = "sgd", 1, "step", 1, 0.5
	if p, _ := trainOn(t, c, []float64{0}, [][]float64{{1}, {1}, {1}}); p[0] != -1.75 {
		t.Errorf("sgd with rates 1, 1/2, 1/4 went to %g", p[0])
	}
}

// TestClipNorm: a gradient (3, 4) is scaled to norm 1, (0.3, 0.4) stays; frozen rows do not count.
func TestClipNorm(t *testing.T) {
	c := Default()
	c.Optimizer, c.LR, c.ClipNorm = "sgd", 1, 1
	if p, _ := trainOn(t, c, []float64{0, 0}, [][]float64{{3, 4}}); !near(p[0], -0.6) || !near(p[1], -0.8) {
		t.Errorf("clipped to %v", p)
	}
	if p, _ := trainOn(t, c, []float64{0, 0}, [][]float64{{0.3, 0.4}}); p[0] != -0.3 || p[1] != -0.4 {
		t.Errorf("a short gradient was changed to %v", p)
	}
	if p, _ := trainOn(t, c, []float64{0, 0}, [][]float64{{3e200, 4e200}}); !near(p[0], -0.6) || !near(p[1], -0.8) {
		t.Errorf("a gradient whose squares overflow was clipped to %v", p)
	}
	c.WeightDecay = 0.5 // belongs to the optimizer, behind the clipping
	if p, _ := trainOn(t, c, []float64{2, 0}, [][]float64{{3, 4}}); !near(p[0], 2-0.6-1) {
		t.Errorf("with weight decay: %v", p)
	}
}

// TestClipNormOfAll: the norm (3, 4) of two parameters, but for the frozen row, is five.
func TestClipNormOfAll(t *testing.T) {
	for device := range devices {
		c := Default()
		c.Optimizer, c.LR, c.ClipNorm = "sgd", 1, 1
		o := &onDevice{name: device, workers: 2, c: c}
		add := func(kind kernels.Kind, size int, trained []bool, rows []int32, g ...float64) *trainedColumn {
			x := &trainedColumn{Slot: &Slot{Size: size, Trained: trained}, t: kernels.Type{Kind: kind},
				value: numbers(kind, size, make([]float64, 12)...),
				grad:  func() (*column.Column, []int32) { return numbers(kind, size, g...), rows }}
			if size > 1 {
				x.t.Shape = []int{size}
			}
			o.columns = append(o.columns, x)
			return x
		}
		three := add(kernels.Float32, 1, append([]bool{true, false}, make([]bool, 10)...), []int32{0, 1}, 3, 400)
		four := add(kernels.Float64, 2, nil, []int32{5}, 0, 4)
		if err := o.Update(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if x, y := floats(three.value), floats(four.value); math.Abs(x[0]+0.6) > 1e-6 || x[1] != 0 || !near(y[11], -0.8) {
			t.Errorf("%s: the parameters came to %v and %v, not -3/5 and -4/5", device, x, y)
		}
	}
}

// projected is a chunk behind a projection, on a device.
func projected(t *testing.T, device, name string, kind kernels.Kind, chunk ...float64) []float64 {
	t.Helper()
	c := Default()
	c.Optimizer, c.LR, c.Project = "sgd", 0, []string{"w: " + name}
	x := &trainedColumn{Slot: &Slot{Size: len(chunk), Names: []string{"w"}}, value: numbers(kind, len(chunk), chunk...),
		t: kernels.Type{Kind: kind, Shape: []int{len(chunk)}}, grad: func() (*column.Column, []int32) {
			return numbers(kind, len(chunk), make([]float64, len(chunk))...), []int32{0}
		}}
	o := &onDevice{name: device, c: c, columns: []*trainedColumn{x}}
	if err := o.Update(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	return floats(x.value)
}

// TestProjections compares with the definition: the nearest element of the set, on a grid of candidates.
func TestProjections(t *testing.T) {
	examples := map[string]struct{ x, want []float64 }{
		"nonnegative": {[]float64{-1, 2, 0}, []float64{0, 2, 0}},
		"unit_ball":   {[]float64{3, 0, -4}, []float64{0.6, 0, -0.8}},
		"unit_sphere": {[]float64{0.3, 0, -0.4}, []float64{0.6, 0, -0.8}},
		"simplex":     {[]float64{0.5, 1.5, -1}, []float64{0, 1, 0}},
	}
	for device := range devices {
		for name := range projections {
			tc, ok := examples[name]
			if !ok {
				t.Fatalf("projection %s has no example", name)
			}
			f64 := projected(t, device, name, kernels.Float64, tc.x...)
			f32 := projected(t, device, name, kernels.Float32, tc.x...)
			for i, want := range tc.want {
				if !near(f64[i], want) || math.Abs(f32[i]-want) > 1e-6 {
					t.Errorf("%s on %s: %v and %v, expected %v", name, device, f64, f32, tc.want)
				}
			}
		}
		if inside := projected(t, device, "unit_ball", kernels.Float64, 0.1, 0.2, 0.3); inside[0] != 0.1 || inside[2] != 0.3 {
			t.Errorf("%s: a chunk inside the ball was moved to %v", device, inside)
		}
		if zero := projected(t, device, "unit_sphere", kernels.Float64, 0, 0); zero[0] != 0 {
			t.Errorf("%s: zero was projected to %v", device, zero)
		}
		for _, x := range [][]float64{{0.2, 0.3, 0.5}, {2, 1.8, -3}, {0, 0, 0}, {-5, -6, -5.5}, {0.4, 0.9, 0.1}} {
			p := projected(t, device, "simplex", kernels.Float64, x...)
			if got, best := distance(x, p), nearestOnSimplex(x); math.Abs(p[0]+p[1]+p[2]-1) > 1e-12 ||
				min(p[0], p[1], p[2]) < 0 || got > best+1e-12 {
				t.Errorf("simplex on %s: %v was projected to %v, at %g; a grid has one at %g", device, x, p, got, best)
			}
		}
	}
	if tiny := projected(t, "processors", "unit_sphere", kernels.Float64, 3e-200, 4e-200); !near(tiny[0], 0.6) ||
		!near(tiny[1], 0.8) {
		t.Errorf("a tiny chunk was projected to %v", tiny)
	}
}

func distance(x, y []float64) float64 {
	return math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2])
}

func nearestOnSimplex(x []float64) float64 {
	const n = 100
	best := math.Inf(1)
	for i := range n + 1 {
		for j := range n + 1 - i {
			best = min(best, distance(x, []float64{float64(i) / n, float64(j) / n, float64(n-i-j) / n}))
		}
	}
	return best
}

// TestParamOptions: a parameter's own rate and decay, a column's before its table's, and frozen rows.
func TestParamOptions(t *testing.T) {
	c := Default()
	c.Optimizer, c.LR, c.WeightDecay = "sgd", 1, 0.5
	if err := c.Set("options", `{"w": {"lr": 0.1, "weight_decay": 0}, "w.v": {"lr": 0.25}}`); err != nil {
		t.Fatal(err)
	}
	if p, _ := trainOn(t, c, []float64{2}, [][]float64{{1}}); p[0] != 1.75 {
		t.Errorf("2 − 0.25·1 came to %g", p[0])
	}
	for _, sparse := range []bool{false, true} {
		b := newBowl()
		s := b.slot()
		s.Trained = []bool{true, true, false}
		x := b.columns[0]
		c := Default()
		c.Optimizer, c.LR, c.Epochs, c.WeightDecay, c.Nonnegative, c.Sparse.All = "adam", 0.1, 3, 0.1, []string{"w"}, sparse
		if _, err := b.train(c, b); err != nil {
			t.Fatal(err)
		}
		if b.p[2] != -3 || x.state[0].Float(2) != 0 || b.p[0] == 1 {
			t.Errorf("sparse %v: the frozen row came to %g, its moment to %g, the trained one to %g", sparse, b.p[2],
				x.state[0].Float(2), b.p[0])
		}
	}
}

// TestSparse: rows that the gradient does not reach keep value and state, also where momentum or decay would move them.
func TestSparse(t *testing.T) {
	for name := range updating() {
		t.Run(name, func(t *testing.T) {
			value := map[bool]float64{}
			for _, sparse := range []bool{true, false} {
				c := Default()
				c.Optimizer, c.LR, c.WeightDecay, c.Epochs, c.Sparse.All = name, 0.1, 0.1, 4, sparse
				p := []float64{1, 1}
				steps := [][]int32{{0, 1}, {0}, {0}, {0, 1}}
				at := -1
				b := newBowl()
				b.column(p, func(int) string { return "" }, func() (*column.Column, []int32) {
					at++
					g := make([]float64, len(steps[at]))
					for i := range g {
						g[i] = 1 + float64(at)
					}
					return numbers(kernels.Float64, 1, g...), steps[at]
				})
				if _, err := b.train(c, b); err != nil {
					t.Fatal(err)
				}
				value[sparse] = p[1]
				if sparse && p[1] != lazy(t, c, 1, []float64{1, 4}, []int64{1, 4}) {
					t.Errorf("the second row is %.17g, by the formula %.17g", p[1], lazy(t, c, 1, []float64{1, 4}, []int64{1, 4}))
				}
			}
			if value[true] == value[false] {
				t.Errorf("sparse made no difference: %v", value)
			}
		})
	}
}

// lazy applies an optimizer's own update at the given steps only.
func lazy(t *testing.T, c Config, p float64, g []float64, steps []int64) float64 {
	b := newBowl()
	i := 0
	x := b.column([]float64{p}, nil,
		func() (*column.Column, []int32) { return numbers(kernels.Float64, 1, g[i]), []int32{0} })
	b.c = c
	for ; i < len(steps); i++ {
		if err := b.Update(t.Context(), steps[i]); err != nil {
			t.Fatal(err)
		}
	}
	return x.value.Float(0)
}

// losses is a model whose losses are given and whose gradient is zero.
type losses struct {
	bowl
	loss []float64
}

func (l *losses) Step(_ context.Context, step int64) (float64, error) { return l.loss[step-1], nil }

// TestTolerance: the mean losses of ten steps each are 10, 5, 4.9, of which the last is 2 % below the one before.
func TestTolerance(t *testing.T) {
	model := func() *losses {
		l := &losses{bowl: *newBowl()}
		for _, mean := range []float64{10, 5, 4.9, 1} {
			for i := range 10 {
				l.loss = append(l.loss, mean+float64(i%2)-0.5) // noise that windows average out
			}
		}
		return l
	}
	for _, tc := range []struct {
		tolerance float64
		step      int64
		status    Status
	}{{0.021, 30, Converged}, {0.019, 40, Finished}, {0.6, 20, Converged}} {
		c := Default()
		c.Epochs, c.Tolerance = 40, &tc.tolerance
		l := model()
		l.slot()
		p, err := l.train(c, l)
		if err != nil || p.Step != tc.step || p.Status != tc.status {
			t.Errorf("tolerance %g: %+v, %v; expected step %d, %s", tc.tolerance, p, err, tc.step, tc.status)
		}
	}
}

// TestMaxSeconds: a run out of time stops after a step, with a status that can go on.
func TestMaxSeconds(t *testing.T) {
	c := Default()
	c.MaxSeconds, c.Epochs = 1e-9, 1000
	b := newBowl()
	b.slot()
	p, err := b.train(c, b)
	if err != nil || p.Step != 1 || p.Status != OutOfTime || p.Status.Over() {
		t.Errorf("%+v, %v", p, err)
	}
	if len(b.commits) != 1 || b.commits[0].Status != OutOfTime || len(b.rows) != 1 {
		t.Errorf("committed %+v", b.commits)
	}
}

// TestCheck: options without effect are errors.
func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		set   map[string]any
		wrong string
	}{
		{map[string]any{"momentum": 0.5, "optimizer": "nesterov"}, ""},
		{map[string]any{"momentum": 0.5, "optimizer": "sgd"}, `train option momentum has no effect with optimizer "sgd"`},
		{map[string]any{"alpha": 0.5}, `train option alpha has no effect with optimizer "adam"`},
		{map[string]any{"beta1": 0.5, "optimizer": "adamw"}, ""},
		{map[string]any{"epsilon": 0.5, "optimizer": "momentum"}, `has no effect with optimizer "momentum"`},
		{map[string]any{"gamma": 0.5}, `train option gamma has no effect with schedule "constant"`},
		{map[string]any{"eta_min": 0.5, "schedule": "step", "step_size": int64(3)}, `has no effect with schedule "step"`},
		{map[string]any{"schedule": "step"}, `schedule "step" needs step_size`},
		{map[string]any{"schedule": "cosine", "warmup": int64(100)},
			`schedule "cosine" has no effect: the warm-up of 100 steps is not shorter than the run of 100`},
		{map[string]any{"schedule": "cosine", "eta_min": 0.5}, "eta_min, the last rate, is 0.5, above the first one, 0.001"},
		{map[string]any{"patience": int64(2)}, "has no effect without validate"},
	} {
		c := Default()
		var given []string
		for _, n := range names(tc.set) {
			if err := c.Set(n, tc.set[n]); err != nil {
				t.Fatal(err)
			}
			given = append(given, n)
		}
		if got := fmt.Sprint(c.Check(given)); tc.wrong == "" && got != "<nil>" ||
			tc.wrong != "" && !strings.Contains(got, tc.wrong) {
			t.Errorf("%v: %s, expected %q", tc.set, got, tc.wrong)
		}
	}
}
