package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
)

// bowl is the loss Σ (p−target)², of which the second row has no gradient row.
type bowl struct {
	onDevice
	p, target, g []float64
	valid        []float64 // validation figures in turn
	commits      []Progress
	rows         []LossRow
	kept         [][]float64
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

func (b *bowl) Validate(context.Context, int64) ([]Figure, error) {
	v := b.valid[0]
	b.valid = b.valid[1:]
	return []Figure{{"v", &v}}, nil
}

func (b *bowl) Commit(_ context.Context, p Progress, rows []LossRow) error {
	b.commits, b.rows = append(b.commits, p), append(b.rows, rows...)
	return nil
}

func (b *bowl) Tick(LossRow) {}

func (b *bowl) Keep(context.Context) error {
	b.kept = append(b.kept, slices.Clone(b.p))
	return nil
}

// slot is the column of p.
func (b *bowl) slot() *Slot {
	return b.column(b.p, func(row int) string { return "(id = " + string(rune('0'+row)) + ")" },
		func() (*column.Column, []int32) { return numbers(kernels.Float64, 1, b.g[0], b.g[2]), []int32{0, 2} }).Slot
}

// column has the model train a column of single numbers.
func (b *bowl) column(p []float64, key func(row int) string, grad func() (*column.Column, []int32)) *trainedColumn {
	value := column.Of(kernels.Type{Kind: kernels.Float64}, p)
	x := &trainedColumn{t: kernels.Type{Kind: kernels.Float64}, value: value, grad: grad,
		Slot: &Slot{Name: "w.v", Names: []string{"w", "w.v"}, Size: 1, Key: key,
			Values: func() (*column.Column, error) { return value, nil }}}
	b.columns = append(b.columns, x)
	return x
}

// train runs a model, which has the bowl in it, on its columns.
func (b *bowl) train(c Config, m Model) (Progress, error) {
	b.c = c
	var slots []*Slot
	for _, x := range b.columns {
		slots = append(slots, x.Slot)
	}
	return Run(context.Background(), c, m, slots, Start())
}

func newBowl() *bowl {
	return &bowl{p: []float64{1, 2, -3}, target: []float64{0.5, 7, 1}, g: make([]float64, 3)}
}

func TestNonnegative(t *testing.T) {
	c := Default()
	c.Optimizer, c.LR, c.Epochs = "sgd", 0.1, 1
	b := newBowl()
	b.slot()
	c.Nonnegative = []string{"w"}
	if _, err := b.train(c, b); err != nil {
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
	b.slot()
	p, err := b.train(c, b)
	if err != nil {
		t.Fatal(err)
	}
	if p.Step != 10 || p.Status != Impatient || p.Best != 4 || p.Since != 3 {
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
	b.slot()
	p, err := b.train(c, b)
	if err == nil || !strings.Contains(err.Error(), "NaN at step 4, parameter w.v, key (id = 0)") ||
		sqlerr.Code(err) != sqlerr.NumericOutOfRange {
		t.Fatalf("error %v", err)
	}
	if p.Step != 3 {
		t.Errorf("progress %d, the bad step counts", p.Step)
	}
}

// halfway is a model whose second update fails when one of its numbers has changed.
type halfway struct {
	*bowl
	fails error
}

func (h *halfway) Update(ctx context.Context, step int64) error {
	if step == 2 {
		h.p[0] = 99
		return h.fails
	}
	return h.bowl.Update(ctx, step)
}

// TestUpdateFails: what an update has left half-changed is not stored, also where it says that it was cancelled.
func TestUpdateFails(t *testing.T) {
	for _, fails := range []error{sqlerr.Canceled(nil), context.Canceled, sqlerr.New(sqlerr.OutOfMemory, "no memory")} {
		c := Default()
		c.Epochs = 10
		h := &halfway{newBowl(), fails}
		h.slot()
		p, err := h.train(c, h)
		if !errors.Is(err, fails) || p.Step != 1 || len(h.commits) > 0 {
			t.Errorf("an update that fails with %v: %v after step %d, %d commits", fails, err, p.Step, len(h.commits))
		}
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
		{"batch", " ", "must not be empty"},
		{"batch_size", int64(0), "must be at least 1, not 0"},
		{"schedule", "linear", `schedule "linear" does not exist`},
		{"clip_norm", int64(0), "must be above 0 and finite, not 0"},
		{"max_seconds", math.Inf(1), "must be above 0 and finite"},
		{"tolerance", 1.5, "must be at least 0 and below 1, not 1.5"},
		{"before_step", " ", "must not be empty"},
		{"sparse", "w", "must be true, false or an array of parameter names, not 'w'"},
		{"project", []string{"w"}, "must hold texts such as 'entity.v: unit_ball', not 'w'"},
		{"project", []string{"w: ball"}, `projection "ball" does not exist`},
		{"project", []string{"w: simplex", "w: simplex"}, "says 'w: simplex' twice"},
		{"options", "w", "must be a JSON object such as"},
		{"options", "{}", "must be a JSON object such as"},
		{"options", `{"w": {}}`, `says nothing of "w"`},
		{"options", `{"w": {"rate": 1}}`, `option of a parameter "rate" does not exist`},
		{"options", `{"w": {"lr": "1"}}`, `lr of "w" in train option options must be a number, not '1'`},
		{"options", `{"w": {"weight_decay": -1}}`,
			`weight_decay of "w" in train option options must be at least 0 and finite, not -1`},
		{"options", `{"w": {"where": 1}}`, `where of "w" in train option options must be the text of a condition, not 1`},
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
	c.Optimizer, c.LR, c.Epochs, c.Seed, c.Nonnegative, c.Validate, c.Patience = "momentum", 0.1234567890123, 77, -1<<62-1,
		[]string{"w", "h.v"}, "v", 3
	rate, tolerance := 0.1, 1e-3
	c.Schedule, c.StepSize, c.Gamma, c.Warmup, c.EtaMin, c.ClipNorm = "step", 30, 0.3, 5, 1e-9, 0.7
	c.Project, c.Sparse, c.BeforeStep, c.MaxSeconds, c.Tolerance = []string{"w: unit_ball"}, Sparse{Names: []string{"w"}},
		"SELECT 1", 1.5, &tolerance
	c.Options = map[string]ParamOptions{"w": {LR: &rate, Where: "k > 1 AND name <> '\"'"}}
	text, err := json.Marshal(c.Map())
	if err != nil {
		t.Fatal(err)
	}
	back, err := FromJSON(string(text))
	if err != nil || !reflect.DeepEqual(back, c) {
		t.Errorf("%+v came back as %+v, %v", c, back, err)
	}
}

// TestPause: commits that take long are rare.
func TestPause(t *testing.T) {
	for took, want := range map[[2]time.Duration]time.Duration{{}: time.Second,
		{2 * time.Second, 50 * time.Millisecond}: time.Second,
		{0, time.Second}:                         time.Second, {2 * time.Second, time.Second}: 9 * time.Second} {
		if got := pause(took[0], took[1]); got != want {
			t.Errorf("%v behind commits of %v, not %v", got, took, want)
		}
	}
}

// TestNearestOption: an unknown option's hint is the nearest one, or what other programs mean by its name; those are
// options.
func TestNearestOption(t *testing.T) {
	for name, want := range map[string]string{"lrr": "lr", "learning_rate": "lr", "batchsize": "batch_size",
		"early_stopping": "patience", "n_epochs": "epochs"} {
		c := Default()
		var e *sqlerr.Error
		if err := c.Set(name, 1.0); !errors.As(err, &e) || e.Hint != fmt.Sprintf("Perhaps you meant %q.", want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, option := range elsewhere {
		if !slices.Contains(OptionNames(), option) || slices.Contains(OptionNames(), name) {
			t.Errorf("%s, elsewhere %s, is no option", option, name)
		}
	}
}

// slowly is a bowl whose commits take as long as the losses that they write.
type slowly struct {
	*bowl
	most int
}

func (s *slowly) Commit(ctx context.Context, p Progress, rows []LossRow) error {
	s.most = max(s.most, len(rows))
	time.Sleep(time.Duration(len(rows)) * 10 * time.Microsecond)
	return s.bowl.Commit(ctx, p, rows)
}

// TestCommitsOfManyLosses: losses are not kept waiting for ever longer where writing them is what takes long.
func TestCommitsOfManyLosses(t *testing.T) {
	need.Time(t)
	m := &slowly{bowl: newBowl()}
	c := Default()
	c.Epochs = 3 * commitLosses
	m.slot()
	if _, err := m.train(c, m); err != nil {
		t.Fatal(err)
	}
	if m.most > commitLosses {
		t.Errorf("a commit wrote %d losses, more than %d", m.most, commitLosses)
	}
}

// TestMoreEpochs: the hint of a run that has done more than is asked for names so many epochs that steps are left.
func TestMoreEpochs(t *testing.T) {
	c := Default()
	c.Epochs, c.Batch, c.BatchSize, c.rows = 10, "b", 8, 64
	var e *sqlerr.Error
	if err := c.GoesOn(3, Progress{Step: 656, Status: Finished}); !errors.As(err, &e) ||
		e.Hint != "CALL train(resume => 3, epochs => 164); takes more steps." {
		t.Errorf("%v", err)
	}
}
