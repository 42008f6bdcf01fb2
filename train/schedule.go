package train

import "math"

// schedule gives the learning rate of a step that is the t-th (from 0) of n after the warm-up.
type schedule struct {
	uses []string // options that belong to it
	rate func(c *Config, base float64, t, n int64) float64
}

// schedules as PyTorch documents StepLR and CosineAnnealingLR (https://docs.pytorch.org/docs/stable/optim.html), counted
// in steps; cosine is Loshchilov and Hutter, ICLR 2017, without restarts.
var schedules = map[string]*schedule{
	"constant": {nil, func(_ *Config, base float64, _, _ int64) float64 { return base }},
	"step": {[]string{"step_size", "gamma"}, func(c *Config, base float64, t, _ int64) float64 {
		return base * math.Pow(c.Gamma, float64(t/c.StepSize))
	}},
	"cosine": {[]string{"eta_min"}, func(c *Config, base float64, t, n int64) float64 {
		return c.EtaMin + (base-c.EtaMin)*(1+math.Cos(math.Pi*float64(t)/float64(n)))/2
	}},
}

// steps is the number of steps of the whole run.
func (c *Config) steps() int64 { return c.Epochs }

// epoch is the epoch that a step belongs to, from 1, and whether it ends with it.
func (c *Config) epoch(step int64) (n int64, ends bool) { return step, true }

// rate is the learning rate of a step (from 1) for a parameter whose full rate is base. The warm-up is linear: step t of
// warmup w has base·t/w (Goyal et al., arXiv 1706.02677, §2.2); the schedule begins behind it.
func (c *Config) rate(base float64, step int64) float64 {
	if step <= c.Warmup {
		return base * float64(step) / float64(c.Warmup)
	}
	return schedules[c.Schedule].rate(c, base, step-c.Warmup-1, c.steps()-c.Warmup)
}
