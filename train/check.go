package train

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Check refuses options that would have no effect, and those that lack another: given lists the names that the user
// wrote.
func (c *Config) Check(given []string) error {
	for _, n := range given {
		if err := c.effect(n); err != nil {
			return err
		}
	}
	if c.Searches() && slices.Contains(given, "optimizer") && !slices.Contains(given, "lr") {
		c.LR = 1 // of a new run: one that goes on has the optimizer already
	}
	if err := c.checkSearch(); err != nil {
		return err
	}
	if c.Schedule == "step" && c.StepSize == 0 {
		return sqlerr.New(sqlerr.InvalidParameter,
			"schedule \"step\" needs step_size, the number of steps between two changes of the rate").
			WithHint("For example schedule => 'step', step_size => 30, gamma => 0.1.")
	}
	if err := c.CheckBatch(); err != nil {
		return err
	}
	if c.Batch == "" { // else the number of steps is not known yet
		if err := c.checkWarmup(); err != nil {
			return err
		}
	}
	return c.checkFloor()
}

// CheckValues refuses values that train() would not take, as a Go program may set them.
func (c *Config) CheckValues() error {
	for _, name := range names(options) {
		o := options[name]
		if o.get == nil || name == "resume" {
			continue
		}
		with := *c
		switch v := o.get(c).(type) {
		case string, int64, float64:
			if err := with.Set(name, v); err != nil {
				return err
			}
		}
	}
	return c.Check(nil)
}

// CheckBatch refuses one of batch and batch_size without the other.
func (c *Config) CheckBatch() error {
	switch {
	case c.Batch != "" && c.BatchSize == 0:
		return sqlerr.New(sqlerr.InvalidParameter, "option batch needs batch_size, the number of rows of a step").
			WithHint("For example batch => %s, batch_size => 128.", show(c.Batch))
	case c.Batch == "" && c.BatchSize != 0:
		return sqlerr.New(sqlerr.InvalidParameter, "option batch_size has no effect without batch").
			WithHint("Name the table or view whose rows a step takes: batch => 'example', batch_size => %d.", c.BatchSize)
	}
	return nil
}

// checkWarmup refuses a schedule that the run does not reach.
func (c *Config) checkWarmup() error {
	if c.Schedule != "constant" && c.Warmup >= c.Steps() && c.Warmup > 0 {
		return sqlerr.New(sqlerr.InvalidParameter,
			"schedule %q has no effect: the warm-up of %d steps is not shorter than the run of %d", c.Schedule, c.Warmup,
			c.Steps())
	}
	return nil
}

// Effective reports whether an option can have an effect beside the others.
func (c *Config) Effective(name string) bool { return c.effect(name) == nil }

func (c *Config) effect(name string) error {
	if err := belongs(name, "optimizer", c.Optimizer,
		uses(optimizers, func(o *optimizer) []string { return o.uses })); err != nil {
		return err
	}
	if err := belongs(name, "schedule", c.Schedule,
		uses(schedules, func(s *schedule) []string { return s.uses })); err != nil {
		return err
	}
	if (name == "patience" || name == "every" || name == "restore_best") && c.Validate == "" {
		return sqlerr.New(sqlerr.InvalidParameter, "train option %s has no effect without validate", name).
			WithHint("Name a view that yields one number: validate => 'validation'.")
	}
	return nil
}

// checkFloor refuses a rate that the cosine would raise.
func (c *Config) checkFloor() error {
	if c.Schedule != "cosine" {
		return nil
	}
	low := c.LR
	for _, n := range names(c.Options) {
		if o := c.Options[n]; o.LR != nil {
			low = min(low, *o.LR)
		}
	}
	if c.EtaMin > low {
		return sqlerr.New(sqlerr.InvalidParameter, "eta_min, the last rate, is %g, above the first one, %g", c.EtaMin, low)
	}
	return nil
}

// uses lists for each option of its own the variants (optimizers, schedules) that have it.
func uses[T any](all map[string]T, of func(T) []string) map[string][]string {
	out := map[string][]string{}
	for _, n := range names(all) {
		for _, o := range of(all[n]) {
			out[o] = append(out[o], n)
		}
	}
	return out
}

// belongs refuses an option of other variants than the chosen one.
func belongs(name, what, chosen string, uses map[string][]string) error {
	have := uses[name]
	if have == nil || slices.Contains(have, chosen) {
		return nil
	}
	return sqlerr.New(sqlerr.InvalidParameter, "train option %s has no effect with %s %q", name, what, chosen).
		WithHint("It belongs to %s => '%s'.", what, strings.Join(have, "', '"))
}

// Describe prints the options that are in force, the seed included.
func (c *Config) Describe() string {
	p := []string{"optimizer " + c.Optimizer, fmt.Sprintf("lr %g", c.LR)}
	switch has := optimizers[c.Optimizer].uses; {
	case slices.Contains(has, "beta1"):
		p = append(p, fmt.Sprintf("betas (%g, %g)", c.Beta1, c.Beta2))
	case slices.Contains(has, "alpha"):
		p = append(p, fmt.Sprintf("alpha %g", c.Alpha))
	case slices.Contains(has, "momentum"):
		p = append(p, fmt.Sprintf("momentum %g", c.Momentum))
	}
	if c.Searches() {
		p = append(p, fmt.Sprintf("history %d", c.History))
	}
	if slices.Contains(optimizers[c.Optimizer].uses, "epsilon") {
		p = append(p, fmt.Sprintf("epsilon %g", c.Epsilon))
	}
	add := func(on bool, format string, args ...any) {
		if on {
			p = append(p, fmt.Sprintf(format, args...))
		}
	}
	add(c.WeightDecay != 0, "weight_decay %g", c.WeightDecay)
	add(c.Schedule == "step", "schedule step (step_size %d, gamma %g)", c.StepSize, c.Gamma)
	add(c.Schedule == "cosine", "schedule cosine (eta_min %g)", c.EtaMin)
	add(c.Warmup > 0, "warmup %d", c.Warmup)
	add(c.ClipNorm > 0, "clip_norm %g", c.ClipNorm)
	add(len(c.Nonnegative) > 0, "nonnegative (%s)", strings.Join(c.Nonnegative, ", "))
	add(len(c.Project) > 0, "project (%s)", strings.Join(c.Project, ", "))
	add(c.Sparse.All, "sparse")
	add(len(c.Sparse.Names) > 0, "sparse (%s)", strings.Join(c.Sparse.Names, ", "))
	for _, n := range names(c.Options) {
		p = append(p, c.Options[n].describe(n))
	}
	add(c.Batch != "", "batch %s of %d", c.Batch, c.BatchSize)
	add(c.BeforeStep != "", "before_step %s", strconv.Quote(c.BeforeStep))
	add(c.Validate != "", "validate %s every %d", c.Validate, c.Every)
	add(c.Patience > 0, "patience %d", c.Patience)
	add(c.RestoreBest, "restore_best")
	add(c.MaxSeconds > 0, "max_seconds %g", c.MaxSeconds)
	if c.Tolerance != nil {
		p = append(p, fmt.Sprintf("tolerance %g", *c.Tolerance))
	}
	return strings.Join(append(p, fmt.Sprintf("epochs %d", c.Epochs), fmt.Sprintf("seed %d", c.Seed)), ", ")
}

func (o ParamOptions) describe(name string) string {
	var p []string
	if o.LR != nil {
		p = append(p, fmt.Sprintf("lr %g", *o.LR))
	}
	if o.WeightDecay != nil {
		p = append(p, fmt.Sprintf("weight_decay %g", *o.WeightDecay))
	}
	if o.Where != "" {
		p = append(p, "where "+o.Where)
	}
	return name + " (" + strings.Join(p, ", ") + ")"
}

// Searches reports whether the optimizer finds each step by a line search on the whole loss, so that a step is no
// update by expressions.
func (c *Config) Searches() bool { return optimizers[c.Optimizer].update == nil }

// checkSearch refuses options of which a line search on the whole loss has no use.
func (c *Config) checkSearch() error {
	if !c.Searches() {
		return nil
	}
	const same = "It compares losses and gradients of different points, so these must be of one function, the same at " +
		"every step."
	const searched = "It finds the length of each step by itself."
	const bounded = "Its steps are for a function without bounds."
	for _, o := range []struct {
		on                 bool
		name, why, instead string
	}{
		{c.Batch != "", "batch", same, "Take another optimizer, such as adam, or leave batch out."},
		{c.BeforeStep != "", "before_step", same, "Take another optimizer, such as adam."},
		{c.Schedule != "constant", "schedule", searched, "lr is the first step that it tries."},
		{c.Warmup > 0, "warmup", searched, "lr is the first step that it tries."},
		{c.ClipNorm > 0, "clip_norm", searched, "A smaller lr has it try shorter steps first."},
		{c.WeightDecay != 0, "weight_decay", same, "Write it into the loss: … + λ / 2 * (SELECT sum(x ^ 2) FROM w)."},
		{len(c.Nonnegative) > 0, "nonnegative", bounded, "Write the parameter as softplus(x) or exp(x) in the loss."},
		{len(c.Project) > 0, "project", bounded, "Take another optimizer, or normalize in the loss: l2_normalize(v)."},
		{c.Sparse.All || len(c.Sparse.Names) > 0, "sparse", same, "Leave it out."},
	} {
		if o.on {
			return sqlerr.New(sqlerr.InvalidParameter, "train option %s cannot be used with optimizer %q", o.name, c.Optimizer).
				WithDetail("%s", o.why).WithHint("%s", o.instead)
		}
	}
	for _, n := range names(c.Options) {
		if o := c.Options[n]; o.LR != nil || o.WeightDecay != nil {
			return sqlerr.New(sqlerr.InvalidParameter, "lr and weight_decay of %q in train option options cannot be used with "+
				"optimizer %q", n, c.Optimizer).WithDetail("All parameters take one step together.").
				WithHint("where chooses the rows that are trained.")
		}
	}
	return nil
}
