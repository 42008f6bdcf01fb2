package train

import (
	"fmt"
	"math"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// schedule gives the learning rate of a step that is the t-th (from 0) of n after the warm-up.
type schedule struct {
	uses []string // options that belong to it
	rate func(c *Config, base float64, t, n int64) float64
}

// schedules as PyTorch documents StepLR and CosineAnnealingLR (https://docs.pytorch.org/docs/stable/optim.html),
// counted in steps; cosine is Loshchilov and Hutter, ICLR 2017, without restarts.
var schedules = map[string]*schedule{
	"constant": {nil, func(_ *Config, base float64, _, _ int64) float64 { return base }},
	"step": {[]string{"step_size", "gamma"}, func(c *Config, base float64, t, _ int64) float64 {
		return base * math.Pow(c.Gamma, float64(t/c.StepSize))
	}},
	"cosine": {[]string{"eta_min"}, func(c *Config, base float64, t, n int64) float64 {
		return c.EtaMin + (base-c.EtaMin)*(1+math.Cos(math.Pi*float64(t)/float64(n)))/2
	}},
}

// Steps is the number of steps of the whole run.
func (c *Config) Steps() int64 {
	n := c.perEpoch()
	if c.Epochs > math.MaxInt64/n {
		return math.MaxInt64
	}
	return c.Epochs * n
}

// perEpoch is the number of steps of an epoch: one pass over batch, the last step with the rows that are left.
func (c *Config) perEpoch() int64 {
	if c.Batch == "" {
		return 1
	}
	return max(1, (c.rows-1)/c.BatchSize+1)
}

// epoch is the epoch that a step belongs to, from 1, and whether it ends with it.
func (c *Config) epoch(step int64) (n int64, ends bool) {
	per := c.perEpoch()
	return (step-1)/per + 1, step%per == 0
}

// Env is what a step has of the run.
func (c *Config) Env(step int64) kernels.Env {
	epoch, _ := c.epoch(step)
	return kernels.Env{Seed: c.Seed, Step: step, Epoch: epoch}
}

// SetRows tells how many rows batch has, without which the number of steps is not known.
func (c *Config) SetRows(rows int64) error {
	if err := c.CheckBatch(); err != nil {
		return err
	}
	c.rows = rows
	return c.checkWarmup()
}

// Slice gives the epoch of a step and the part [from, to) of that epoch's permutation which is the step's batch.
func (c *Config) Slice(step int64) (epoch, from, to int64) {
	epoch, _ = c.epoch(step)
	from = (step - 1 - (epoch-1)*c.perEpoch()) * c.BatchSize
	return epoch, from, min(from+c.BatchSize, c.rows)
}

// permutationStream sets the draws of batches apart from those of a loss.
var permutationStream = int64(tensor.HashText("train batch"))

// Permutation draws the order of n rows in an epoch (Fisher and Yates; Durstenfeld, CACM 7(7), 1964) from the stream of
// seed and epoch.
func Permutation(seed, epoch int64, n int) []int32 {
	return permuted(seed, tensor.HashKey(permutationStream, epoch), n)
}

// PermutationOf draws the order of n rows of a part of the rows in an epoch.
func PermutationOf(seed, epoch int64, part, n int) []int32 {
	return permuted(seed, tensor.HashKey(permutationStream, epoch, int64(part)), n)
}

func permuted(seed int64, key uint64, n int) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32(i)
	}
	for i := n - 1; i > 0; i-- {
		j := min(int(tensor.Uniform(seed, key, i)*float64(i+1)), i)
		p[i], p[j] = p[j], p[i]
	}
	return p
}

// rate is the learning rate of a step (from 1) for a parameter whose full rate is base. The warm-up is linear: step t
// of warmup w has base·t/w (Goyal et al., arXiv 1706.02677, §2.2); the schedule begins behind it.
func (c *Config) rate(base float64, step int64) float64 {
	if step <= c.Warmup {
		return base * float64(step) / float64(c.Warmup)
	}
	return schedules[c.Schedule].rate(c, base, step-c.Warmup-1, c.Steps()-c.Warmup)
}

// windowEpochs is how many epochs' losses tolerance compares with as many before.
const windowEpochs = 10

// Window is the mean loss of windowEpochs epochs, and that of as many before.
type Window struct {
	sum, n       float64
	before, mean float64
	full         int // windows that are over
}

// Observe adds the loss of a step and reports whether a window ended with it.
func (c *Config) Observe(w *Window, step int64, loss float64) bool {
	w.sum, w.n = w.sum+loss, w.n+1
	if epoch, ends := c.epoch(step); !ends || epoch%windowEpochs != 0 {
		return false
	}
	w.before, w.mean, w.sum, w.n = w.mean, w.sum/w.n, 0, 0
	w.full++
	return true
}

// Mean is the loss of an epoch: the mean over its steps so far.
type Mean struct {
	epoch  int64
	sum, n float64
}

// add adds the loss of a step.
func (m *Mean) add(epoch int64, loss float64) float64 {
	if m.epoch != epoch {
		*m = Mean{epoch: epoch}
	}
	m.sum, m.n = m.sum+loss, m.n+1
	return m.sum / m.n
}

// Replay takes over the loss of a step that is stored.
func (c *Config) Replay(p *Progress, step int64, loss float64) {
	epoch, _ := c.epoch(step)
	p.Epoch.add(epoch, loss)
	if c.Tolerance != nil {
		c.Observe(&p.Window, step, loss)
	}
}

// Replays is the first step whose loss a run that has reached p must know to go on.
func (c *Config) Replays(p Progress) int64 {
	if c.Tolerance != nil || p.Step == 0 {
		return 1
	}
	epoch, _ := c.epoch(p.Step)
	return (epoch-1)*c.perEpoch() + 1
}

// Restores reports whether the parameters of an earlier step, the one of the best validation, are to be left.
func (c *Config) Restores(p Progress) bool {
	return c.RestoreBest && p.Status.Ended() && p.BestAt > 0 && p.BestAt < p.Step
}

// GoesOn refuses to go on with a run of which nothing is left to do.
func (c *Config) GoesOn(run int64, p Progress) error {
	hint := ""
	switch {
	case p.Step >= c.Steps():
		done := (p.Step-1)/c.perEpoch() + 1 // epochs: more than are asked for where fewer are than before
		hint = fmt.Sprintf("CALL train(resume => %d, epochs => %d); takes more steps.", run, 2*max(c.Epochs, done, 1))
	case p.Status == Impatient && c.Patience > 0 && p.Since >= c.Patience:
		hint = fmt.Sprintf("CALL train(resume => %d, patience => %d); waits longer.", run, 2*c.Patience)
	case p.Status == Converged && c.Tolerance != nil && p.Window.settled(*c.Tolerance):
		hint = fmt.Sprintf("CALL train(resume => %d, tolerance => 0); goes on until the loss rises.", run)
	default:
		return nil
	}
	return sqlerr.New(sqlerr.InvalidParameter, "run %d is %s: %d of %d steps are done", run, p.Status, p.Step, c.Steps()).
		WithHint("%s", hint)
}

// settled reports whether the last window's mean loss is not below the one before by more than tolerance, relative.
func (w *Window) settled(tolerance float64) bool {
	return w.full > 1 && w.before-w.mean <= tolerance*math.Abs(w.before)
}

// mayBeFollowed reports whether the step behind step n may begin before the loss of step n is known: nothing is to be
// done with the parameters between the two.
func (c *Config) mayBeFollowed(n int64) bool {
	return n < c.Steps() && c.Tolerance == nil && !c.validates(n)
}

// validates reports whether the validation is computed behind a step.
func (c *Config) validates(n int64) bool {
	epoch, ends := c.epoch(n)
	return c.Validate != "" && ends && epoch%c.Every == 0
}
