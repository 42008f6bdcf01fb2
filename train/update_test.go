package train

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/device/cpu"
	"github.com/relgrad/relgrad/internal/cudamock"
	"github.com/relgrad/relgrad/kernels"
)

// updateVariants are the options with which every optimizer is tried, besides every projection.
var updateVariants = map[string]func(c *Config){
	"plain":        func(*Config) {},
	"weight_decay": func(c *Config) { c.WeightDecay = 0.1 },
	"clip_norm":    func(c *Config) { c.ClipNorm = 0.5; c.WeightDecay = 0.01 },
	"cosine":       func(c *Config) { c.Schedule, c.Warmup = "cosine", 5 },
	"step":         func(c *Config) { c.Schedule, c.StepSize, c.Gamma = "step", 3, 0.5 },
	"epsilon 0":    func(c *Config) { c.Epsilon = 0 },
	"own options":  func(c *Config) { lr := 0.02; c.Options = map[string]ParamOptions{"w": {LR: &lr, WeightDecay: &lr}} },
}

// TestUpdates runs every optimizer with every projection on all devices: the loops of the processors come to what the
// plain device makes of the expressions, in both dtypes, for numbers, chunks and single rows, for gradients of all rows
// and of some, sparse or not, with rows that are not trained.
func TestUpdates(t *testing.T) {
	variants := map[string]func(c *Config){}
	for name, set := range updateVariants {
		variants[name] = set
	}
	for name := range projections {
		variants[name] = func(c *Config) { c.Project = []string{"w: " + name} }
	}
	each := 1
	if cudamock.Devices() { // there every step takes milliseconds, on the double, and every case a compilation
		each = 15
	}
	for name := range updating() {
		for variant, set := range variants {
			t.Run(name+", "+variant, func(t *testing.T) {
				t.Parallel()
				for i := 0; i < 16; i += each {
					tc := updateCase{c: Default(), variant: i}
					tc.c.Optimizer, tc.c.LR, tc.c.Epochs, tc.c.Sparse.All = name, 0.05, 20, i&1 > 0
					if set(&tc.c); i&4 > 0 || len(tc.c.Project) > 0 && projections[variant].chunks {
						tc.t.Shape = []int{2, 2}
					}
					if tc.t.Kind = kernels.Float64; i&2 > 0 {
						tc.t.Kind = kernels.Float32
					}
					if tc.rows = 7; i%5 == 4 {
						tc.rows = 1
					}
					tc.compare(t)
				}
			})
		}
	}
}

// updateCase is a run with random gradients, some of whose numbers are zero.
type updateCase struct {
	c       Config
	t       kernels.Type
	rows    int
	variant int
}

func (tc *updateCase) run(t *testing.T, on string) *trainedColumn {
	rng := rand.New(rand.NewSource(int64(tc.variant)))
	size := tc.t.Size()
	random := func(n int) []float64 {
		x := make([]float64, n*size)
		for i := range x {
			if x[i] = rng.NormFloat64(); rng.Intn(4) == 0 {
				x[i] = 0
			}
		}
		return x
	}
	x := &trainedColumn{t: tc.t, value: numbers(tc.t.Kind, size, random(tc.rows)...),
		Slot: &Slot{Name: "w.v", Names: []string{"w", "w.v"}, Size: size}}
	if tc.variant&8 > 0 {
		for range tc.rows {
			x.Trained = append(x.Trained, tc.rows == 1 || rng.Intn(3) > 0)
		}
	}
	step := 0
	x.grad = func() (*column.Column, []int32) {
		var rows []int32
		step++
		for r := range int32(tc.rows) {
			if tc.variant%3 == 0 || rng.Intn(3) > 0 {
				rows = append(rows, r)
			}
		}
		if tc.variant%3 == 2 {
			rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		}
		g := random(len(rows))
		if step%4 == 0 {
			clear(g)
		}
		return numbers(tc.t.Kind, size, g...), rows
	}
	o := &onDevice{name: on, workers: 2, c: tc.c, columns: []*trainedColumn{x}}
	defer o.close()
	for step := range tc.c.Epochs {
		if err := o.Update(t.Context(), step+1); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

func (tc *updateCase) compare(t *testing.T) {
	want := tc.run(t, "plain")
	for on := range devices {
		got := tc.run(t, on)
		for i, d := range append(slices.Clone(got.state), got.value) {
			what, tol := fmt.Sprintf("buffer %d", i), 1e-11
			if tc.t.Kind == kernels.Float32 {
				tol = 2e-5
			}
			y := floats(append(slices.Clone(want.state), want.value)[i])
			for j, x := range floats(d) {
				if !(math.Abs(x-y[j]) <= tol*math.Max(1, math.Abs(y[j]))) {
					t.Fatalf("%s, case %d: element %d of %s is %.17g, by the definition %.17g", on, tc.variant, j,
						strings.Replace(what, fmt.Sprintf("buffer %d", len(got.state)), "the value", 1), x, y[j])
				}
			}
		}
	}
}

// TestLargeGradient: a gradient that several workers look through and lay out lands in the rows it is of, and one
// number that is not finite is found wherever it stands, with its row; then nothing changes.
func TestLargeGradient(t *testing.T) {
	const rows, size = 5000, 40
	if rows*size < 3*cpu.UpdateShare {
		t.Fatalf("%d elements are one worker's", rows*size)
	}
	rng := rand.New(rand.NewSource(5))
	for _, kind := range []kernels.Kind{kernels.Float32, kernels.Float64} {
		for _, shuffled := range []bool{false, true} {
			var reached []int32
			for r := range int32(rows) {
				if rng.Intn(10) > 0 {
					reached = append(reached, r)
				}
			}
			if shuffled {
				rng.Shuffle(len(reached), func(i, j int) { reached[i], reached[j] = reached[j], reached[i] })
			}
			grad := numbers(kind, size, make([]float64, len(reached)*size)...)
			want := make([]float64, rows*size)
			for i, row := range reached {
				for j := range size {
					x := float64(1 + rng.Intn(1000))
					grad.SetFloat(i*size+j, x)
					want[int(row)*size+j] = -2 * x
				}
			}
			x := &trainedColumn{Slot: &Slot{Name: "w.v", Size: size}, t: kernels.Type{Kind: kind, Shape: []int{size}},
				value: numbers(kind, size, make([]float64, rows*size)...),
				grad:  func() (*column.Column, []int32) { return grad, reached }}
			o := &onDevice{workers: 4, c: Default(), columns: []*trainedColumn{x}}
			o.c.Optimizer, o.c.LR = "sgd", 1
			for range 2 {
				if err := o.Update(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
			}
			if got := floats(x.value); !slices.Equal(got, want) {
				t.Fatalf("%v, shuffled %v: the gradient is in other rows", kind, shuffled)
			}
			for range 20 {
				i := rng.Intn(len(reached) * size)
				was := grad.Float(i)
				grad.SetFloat(i, math.Inf(1))
				var e *device.NotFinite
				if err := o.Update(t.Context(), 1); !errors.As(err, &e) || e.Row != int(reached[i/size]) {
					t.Fatalf("an infinite element %d of %d gives %v", i, len(reached)*size, err)
				}
				grad.SetFloat(i, was)
			}
			if got := floats(x.value); !slices.Equal(got, want) {
				t.Fatalf("%v, shuffled %v: a step that was refused has changed the parameter", kind, shuffled)
			}
		}
	}
}

// updating are the optimizers whose steps are updates by expressions.
func updating() map[string]*optimizer {
	out := maps.Clone(optimizers)
	maps.DeleteFunc(out, func(_ string, o *optimizer) bool { return o.update == nil })
	return out
}
