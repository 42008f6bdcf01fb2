package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// begins is a model whose steps begin ahead. It notes what it is asked for.
type begins struct {
	done   []string
	begun  int64
	cancel func()
	until  int64 // the step whose Tick cancels
	no     int64 // from this step on none begins ahead; 0: all do
	fails  int64 // this step fails
	slow   int64 // this step takes longer than a run waits for its next commit
}

var errFails = errors.New("the step fails")

func (b *begins) note(format string, a ...any) { b.done = append(b.done, fmt.Sprintf(format, a...)) }

func (b *begins) Ahead() bool { return b.no == 0 || b.begun+1 < b.no }

func (b *begins) Begin(_ context.Context, step int64) {
	b.begun = step
	b.note("begin %d", step)
}

func (b *begins) Step(ctx context.Context, step int64) (float64, error) {
	if b.begun < step {
		b.begun = step
		b.note("begin %d", step)
	}
	b.note("step %d", step)
	if step == b.slow {
		time.Sleep(commitInterval)
	}
	if step == b.fails {
		return 0, errFails
	}
	return 1, ctx.Err()
}

func (b *begins) Update(context.Context, int64) error { return nil }

func (b *begins) Validate(context.Context, int64) ([]Figure, error) {
	b.note("validate")
	one := 1.0
	return []Figure{{"v", &one}}, nil
}

func (b *begins) Commit(_ context.Context, p Progress, _ []LossRow) error {
	b.note("commit %d of %d begun", p.Step, b.begun)
	return nil
}

func (b *begins) Tick(row LossRow) {
	if row.Step == b.until {
		b.cancel()
	}
}

// TestAhead: a step begins before the one before it has ended, but where something is done with the parameters between
// the two: a validation, or a stop. Nothing is committed while a step goes on.
func TestAhead(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		set    func(c *Config, b *begins)
		want   []string
		status Status
		code   string
	}{
		{"all", func(*Config, *begins) {},
			[]string{"begin 1", "begin 2", "step 1", "begin 3", "step 2", "begin 4", "step 3", "step 4", "commit 4 of 4 begun"},
			Finished, ""},
		{"validated", func(c *Config, _ *begins) { c.Validate, c.Every = "v", 2 },
			[]string{"begin 1", "begin 2", "step 1", "step 2", "validate", "begin 3", "begin 4", "step 3", "step 4", "validate",
				"commit 4 of 4 begun"}, Finished, ""},
		{"with tolerance", func(c *Config, _ *begins) { c.Tolerance = new(float64) },
			[]string{"begin 1", "step 1", "begin 2", "step 2", "begin 3", "step 3", "begin 4", "step 4", "commit 4 of 4 begun"},
			Finished, ""},
		{"cancelled", func(_ *Config, b *begins) { b.until = 2 },
			[]string{"begin 1", "begin 2", "step 1", "begin 3", "step 2", "step 3", "commit 3 of 3 begun"}, Running,
			sqlerr.QueryCanceled},
		{"with a second", func(c *Config, _ *begins) { c.MaxSeconds = 1e-9 },
			[]string{"begin 1", "step 1", "commit 1 of 1 begun"}, OutOfTime, ""},
		{"until the third", func(_ *Config, b *begins) { b.no = 3 },
			[]string{"begin 1", "begin 2", "step 1", "step 2", "begin 3", "step 3", "begin 4", "step 4", "commit 4 of 4 begun"},
			Finished, ""},
		{"committed", func(_ *Config, b *begins) { b.slow = 2 },
			[]string{"begin 1", "begin 2", "step 1", "begin 3", "step 2", "step 3", "commit 3 of 3 begun", "begin 4", "step 4",
				"commit 4 of 4 begun"}, Finished, ""},
		{"one fails", func(_ *Config, b *begins) { b.fails = 2 },
			[]string{"begin 1", "begin 2", "step 1", "begin 3", "step 2"}, Running, "fails"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, b := Default(), &begins{}
			c.Epochs = 4
			tc.set(&c, b)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			b.cancel = cancel
			p, err := Run(ctx, c, b, nil, Start())
			if !slices.Equal(b.done, tc.want) {
				t.Errorf("%q, not %q", b.done, tc.want)
			}
			if p.Status != tc.status {
				t.Errorf("it is %s", p.Status)
			}
			if fails := tc.code == "fails"; fails != errors.Is(err, errFails) || !fails && sqlerr.Code(err) != tc.code {
				t.Error(err)
			}
		})
	}
}

func (b *begins) Keep(context.Context) error { return nil }
