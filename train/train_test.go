package train

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// bowl is the loss Σ (p−target)², of which the second row has no gradient row.
type bowl struct {
	p, target, g []float64
	valid        []float64 // validation figures in turn
	commits      []Progress
	rows         []LossRow
	bad          int64 // step at which the gradient is NaN
}

func (b *bowl) Step(_ context.Context, step int64) (float64, error) {
	loss := 0.0
	for i := range b.p {
		d := b.p[i] - b.target[i]
		loss += d * d
		b.g[i] = 2 * d
	}
	if step == b.bad {
		b.g[0] = math.NaN()
	}
	return loss, nil
}

func (b *bowl) Validate(context.Context) (float64, error) {
	v := b.valid[0]
	b.valid = b.valid[1:]
	return v, nil
}

func (b *bowl) Commit(_ context.Context, p Progress, rows []LossRow) error {
	b.commits, b.rows = append(b.commits, p), append(b.rows, rows...)
	return nil
}

func (b *bowl) Tick(LossRow) {}

func (b *bowl) slot() *Slot {
	return &Slot{Name: "w.v", Size: 1, Param: Floats{F64: b.p}, Key: func(row int) string { return "(id = " + string(rune('0'+row)) + ")" },
		Grad: func() (Floats, []int32, error) { return Floats{F64: []float64{b.g[0], b.g[2]}}, []int32{0, 2}, nil }}
}

func newBowl() *bowl {
	return &bowl{p: []float64{1, 2, -3}, target: []float64{0.5, 7, 1}, g: make([]float64, 3)}
}

// reference repeats the update rules as their papers print them, in scalars.
func reference(c Config, p, target []float64) []float64 {
	p = append([]float64(nil), p...)
	v, m, s := make([]float64, len(p)), make([]float64, len(p)), make([]float64, len(p))
	for t := 1; t <= int(c.Epochs); t++ {
		for i := range p {
			g := 0.0
			if i != 1 {
				g = 2 * (p[i] - target[i])
			}
			g += c.WeightDecay * p[i]
			switch c.Optimizer {
			case "sgd":
				p[i] -= c.LR * g
			case "momentum":
				v[i] = c.Momentum*v[i] + g
				p[i] -= c.LR * v[i]
			case "adam":
				m[i] = c.Beta1*m[i] + (1-c.Beta1)*g
				s[i] = c.Beta2*s[i] + (1-c.Beta2)*g*g
				mh, sh := m[i]/(1-math.Pow(c.Beta1, float64(t))), s[i]/(1-math.Pow(c.Beta2, float64(t)))
				p[i] -= c.LR * mh / (math.Sqrt(sh) + c.Epsilon)
			}
		}
	}
	return p
}

func TestOptimizers(t *testing.T) {
	for name := range optimizers {
		for _, decay := range []float64{0, 0.1} {
			c := Default()
			c.Optimizer, c.LR, c.Epochs, c.WeightDecay = name, 0.05, 25, decay
			b := newBowl()
			want := reference(c, b.p, b.target)
			if _, err := Run(context.Background(), c, b, []*Slot{b.slot()}, Start()); err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if math.Abs(b.p[i]-want[i]) > 1e-13*math.Abs(want[i]) {
					t.Errorf("%s, decay %g: element %d is %.17g, by the paper %.17g", name, decay, i, b.p[i], want[i])
				}
			}
			if len(b.rows) != 25 || b.rows[0].Step != 1 || math.Abs(b.rows[0].Loss-41.25) > 1e-12 {
				t.Errorf("%s: the log does not begin with the loss before the first update: %+v", name, b.rows[0])
			}
		}
	}
}

func TestNonnegative(t *testing.T) {
	c := Default()
	c.Optimizer, c.LR, c.Epochs = "sgd", 0.1, 1
	b := newBowl()
	s := b.slot()
	s.Nonnegative = true
	if _, err := Run(context.Background(), c, b, []*Slot{s}, Start()); err != nil {
		t.Fatal(err)
	}
	if want := []float64{0.9, 2, 0}; !reflect.DeepEqual(b.p, want) {
		t.Errorf("projected to %v, expected %v", b.p, want)
	}
}

func TestPatience(t *testing.T) {
	c := Default()
	c.Epochs, c.Validate, c.Every, c.Patience = 100, "v", 2, 3
	b := newBowl()
	b.valid = []float64{5, 4, 4.5, 4, 6, 1}
	p, err := Run(context.Background(), c, b, []*Slot{b.slot()}, Start())
	if err != nil {
		t.Fatal(err)
	}
	if p.Step != 10 || !p.Stopped || p.Best != 4 || p.Since != 3 {
		t.Errorf("stopped with %+v; the validations 5 4 4.5 4 6 stop after the fifth, at step 10", p)
	}
	if b.rows[0].Validation != nil || b.rows[1].Validation == nil || *b.rows[1].Validation != 5 {
		t.Errorf("validations are logged at the wrong steps: %+v", b.rows[:2])
	}
}

func TestBadGradient(t *testing.T) {
	c := Default()
	c.Epochs = 10
	b := newBowl()
	b.bad = 4
	p, err := Run(context.Background(), c, b, []*Slot{b.slot()}, Start())
	if err == nil || !strings.Contains(err.Error(), "NaN at step 4, parameter w.v, key (id = 0)") || sqlerr.Code(err) != sqlerr.NumericOutOfRange {
		t.Fatalf("error %v", err)
	}
	if p.Step != 3 {
		t.Errorf("progress %d, the bad step counts", p.Step)
	}
}

func TestOptionErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		v    any
		want string
	}{
		{"lrr", 0.1, `train option "lrr" does not exist`},
		{"lr", "fast", "train option lr must be a number, not 'fast'"},
		{"lr", -1.0, "must be at least 0 and finite, not -1"},
		{"lr", math.Inf(1), "finite"},
		{"epochs", 1.5, "must be an integer, not 1.5"},
		{"epochs", int64(-1), "must be at least 0, not -1"},
		{"every", int64(0), "must be at least 1, not 0"},
		{"optimizer", "adan", `optimizer "adan" does not exist`},
		{"nonnegative", "w", "must be an array of parameter names"},
		{"clip_norm", 1.0, "is not supported yet"},
	} {
		cfg := Default()
		err := cfg.Set(c.name, c.v)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s => %v: error %v, expected %q", c.name, c.v, err, c.want)
		}
	}
}

func TestConfigThroughJSON(t *testing.T) {
	c := Default()
	c.Optimizer, c.LR, c.Epochs, c.Seed, c.Nonnegative, c.Validate, c.Patience = "momentum", 0.1234567890123, 77, -1<<62-1, []string{"w", "h.v"}, "v", 3
	text, err := json.Marshal(c.Map())
	if err != nil {
		t.Fatal(err)
	}
	back, err := FromJSON(string(text))
	if err != nil || !reflect.DeepEqual(back, c) {
		t.Errorf("%+v came back as %+v, %v", c, back, err)
	}
}
