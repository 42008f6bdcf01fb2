package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Config are the options of train(). The zero value is not useful; see Default.
type Config struct {
	UpdateOptions
	RateOptions
	BatchOptions
	StopOptions
	Seed       int64
	BeforeStep string // SQL, "" for none
	Resume     int64  // run to go on with; 0: a new run
	// Pace is the time between two notices of how far the run is; 0: there are none. It is no part of a stored run.
	Pace time.Duration
	Label

	rows int64 // of Batch, once they are known: see SetRows
}

// Label is what the user says of a run. It changes nothing of what is computed.
type Label struct {
	Name, Note string
	Tags       []string
}

// UpdateOptions say how a parameter is updated from its gradient.
type UpdateOptions struct {
	Optimizer   string
	LR          float64
	Momentum    float64
	Beta1       float64
	Beta2       float64
	Alpha       float64
	Epsilon     float64
	History     int64
	WeightDecay float64
	ClipNorm    float64 // 0: none
	Nonnegative []string
	Project     []string // 'entity.v: unit_ball'
	Options     map[string]ParamOptions
	Sparse      Sparse
}

// RateOptions say how the learning rate changes.
type RateOptions struct {
	Schedule string
	Warmup   int64 // steps
	StepSize int64 // steps; 0: not given
	Gamma    float64
	EtaMin   float64
}

// BatchOptions say which rows a step reads.
type BatchOptions struct {
	Batch     string // table or view, "" for none
	BatchSize int64  // rows of a step; 0: not given
}

// StopOptions say when a run ends, and when it is validated.
type StopOptions struct {
	Epochs     int64
	Validate   string
	Every      int64
	Patience   int64   // validations without improvement before it stops; 0: never
	MaxSeconds float64 // 0: no limit
	Tolerance  *float64
	// RestoreBest: at the end the parameters of the best validation are left in the tables.
	RestoreBest bool
}

// Default returns the documented defaults: adam (0.9, 0.999, 1e-8), lr 0.001, seed 0.
func Default() Config {
	return Config{
		UpdateOptions: UpdateOptions{Optimizer: "adam", LR: 0.001, Momentum: 0.9, Beta1: 0.9, Beta2: 0.999, Alpha: 0.99,
			Epsilon: 1e-8, History: 10},
		RateOptions: RateOptions{Schedule: "constant", Gamma: 0.1},
		StopOptions: StopOptions{Epochs: 100, Every: 1},
	}
}

// option is one named argument of train(): how it is read into a Config and how a stored run writes it (nil: not
// given).
type option struct {
	set func(c *Config, v any) error
	get func(c *Config) any
}

var options = map[string]option{
	"optimizer":    choice("optimizer", func(c *Config) *string { return &c.Optimizer }, names(optimizers)),
	"lr":           number(func(c *Config) *float64 { return &c.LR }, 0, math.Inf(1)),
	"history":      integer(func(c *Config) *int64 { return &c.History }, 1),
	"momentum":     number(func(c *Config) *float64 { return &c.Momentum }, 0, 1),
	"beta1":        number(func(c *Config) *float64 { return &c.Beta1 }, 0, 1),
	"beta2":        number(func(c *Config) *float64 { return &c.Beta2 }, 0, 1),
	"alpha":        number(func(c *Config) *float64 { return &c.Alpha }, 0, 1),
	"epsilon":      number(func(c *Config) *float64 { return &c.Epsilon }, 0, math.Inf(1)),
	"weight_decay": number(func(c *Config) *float64 { return &c.WeightDecay }, 0, math.Inf(1)),
	"schedule":     choice("schedule", func(c *Config) *string { return &c.Schedule }, names(schedules)),
	"warmup":       integer(func(c *Config) *int64 { return &c.Warmup }, 0),
	"step_size":    given(integer(func(c *Config) *int64 { return &c.StepSize }, 1)),
	"gamma":        number(func(c *Config) *float64 { return &c.Gamma }, 0, math.Inf(1)),
	"eta_min":      number(func(c *Config) *float64 { return &c.EtaMin }, 0, math.Inf(1)),
	"clip_norm":    positive(func(c *Config) *float64 { return &c.ClipNorm }),
	"epochs":       integer(func(c *Config) *int64 { return &c.Epochs }, 0),
	"seed":         integer(func(c *Config) *int64 { return &c.Seed }, math.MinInt64),
	"every":        integer(func(c *Config) *int64 { return &c.Every }, 1),
	"patience":     integer(func(c *Config) *int64 { return &c.Patience }, 0),
	"max_seconds":  positive(func(c *Config) *float64 { return &c.MaxSeconds }),
	"resume":       integer(func(c *Config) *int64 { return &c.Resume }, 1),
	"validate":     words(func(c *Config) *string { return &c.Validate }),
	"batch":        words(func(c *Config) *string { return &c.Batch }),
	"batch_size":   given(integer(func(c *Config) *int64 { return &c.BatchSize }, 1)),
	"before_step":  words(func(c *Config) *string { return &c.BeforeStep }),
	"nonnegative": {func(c *Config, v any) (err error) { c.Nonnegative, err = list(v); return err },
		func(c *Config) any { return c.Nonnegative }},
	"project":   {setProject, func(c *Config) any { return c.Project }},
	"options":   {setOptions, getOptions},
	"sparse":    {setSparse, getSparse},
	"tolerance": {setTolerance, func(c *Config) any { return c.Tolerance }},
	"restore_best": {func(c *Config, v any) (err error) { c.RestoreBest, err = yes(v); return err },
		func(c *Config) any { return c.RestoreBest }},
	"progress": {setPace, nil},
	"name":     label(words(func(c *Config) *string { return &c.Name })),
	"note":     label(words(func(c *Config) *string { return &c.Note })),
	"tags":     {setTags, nil},
}

// changeable are the options that a run which goes on takes anew. Its state belongs to all others: the optimizer's
// buffers, the draws, the batches and the validations so far.
var changeable = []string{"epochs", "lr", "max_seconds", "name", "note", "patience", "progress", "tags", "tolerance"}

// Changeable refuses an option that a run which goes on cannot take.
func Changeable(name string) error {
	if slices.Contains(changeable, name) {
		return nil
	}
	return sqlerr.New(sqlerr.InvalidParameter, "%s cannot be changed when a run goes on", name).
		WithDetail("A run that goes on takes %s; everything else is as it began.", strings.Join(changeable, ", ")).
		WithHint("Begin a new run, which starts from the parameters as they are now.")
}

// Known refuses the name of an option that train() does not have.
func Known(name string) error {
	if _, ok := options[name]; ok {
		return nil
	}
	return unknown("train option", name, names(options))
}

// Set reads one named argument. v is nil (NULL), bool, int64, float64, string or []string.
func (c *Config) Set(name string, v any) error {
	if err := Known(name); err != nil {
		return err
	}
	if err := options[name].set(c, v); err != nil {
		var e *sqlerr.Error
		if errors.As(err, &e) {
			return err
		}
		return sqlerr.New(sqlerr.InvalidParameter, "train option %s %v", name, err).Wrap(err)
	}
	return nil
}

// Map returns the options by name, for relgrad.run.
func (c *Config) Map() map[string]any {
	out := map[string]any{}
	for n, o := range options {
		if n != "resume" && o.get != nil {
			out[n] = o.get(c)
		}
	}
	return out
}

// Given reads stored options as texts, with those that a resume has changed since (progress, "" for none), without
// those that were not given or have no effect.
func Given(stored, progress string) (map[string]any, error) {
	var raw map[string]json.RawMessage
	config, err := FromJSON(stored)
	if err == nil {
		err = json.Unmarshal([]byte(stored), &raw)
	}
	var since struct{ Changed map[string]json.RawMessage }
	if progress != "" && err == nil {
		err = json.Unmarshal([]byte(progress), &since)
	}
	if err != nil {
		return nil, err
	}
	maps.Copy(raw, since.Changed)
	out := map[string]any{}
	for n, v := range raw {
		text := string(v)
		if err := json.Unmarshal(v, &text); err != nil { // it is not a string
			text = string(v)
		}
		if text != "null" && text != "" && config.Effective(n) {
			out[n] = text
		}
	}
	return out, nil
}

// FromJSON is the inverse of Map after a trip through JSON; integers keep all their digits.
func FromJSON(text string) (Config, error) {
	c, m := Default(), map[string]any{}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		return c, fmt.Errorf("train: stored options: %w", err)
	}
	for n, v := range m {
		if err := c.setStored(n, v); err != nil {
			return c, err
		}
	}
	return c, nil
}

// setStored reads a stored option.
func (c *Config) setStored(name string, v any) error {
	switch x := v.(type) {
	case json.Number:
		if i, err := x.Int64(); err == nil {
			v = i
		} else if v, err = x.Float64(); err != nil {
			return fmt.Errorf("train: stored option %s: %w", name, err)
		}
	case []any:
		var list []string
		for _, e := range x {
			list = append(list, fmt.Sprint(e))
		}
		v = list
	case nil:
		return nil
	case string:
		if x == "" {
			return nil
		}
	}
	return c.Set(name, v)
}

// Changed returns those of the named options that a stored run keeps.
func (c *Config) Changed(names []string) map[string]any {
	out := map[string]any{}
	for _, n := range names {
		if get := options[n].get; get != nil {
			out[n] = get(c)
		}
	}
	return out
}

// Change takes over options that Changed gave, after a trip through JSON.
func (c *Config) Change(stored map[string]json.RawMessage) error {
	for _, n := range names(stored) {
		if err := Changeable(n); err != nil {
			return err
		}
		var v any
		d := json.NewDecoder(strings.NewReader(string(stored[n])))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			return err
		}
		if err := c.setStored(n, v); err != nil {
			return err
		}
	}
	return nil
}

func names[T any](m map[string]T) []string {
	var out []string
	for n := range m {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

func unknown(what, name string, known []string) error {
	e := sqlerr.New(sqlerr.InvalidParameter, "%s %q does not exist", what, name).
		WithDetail("Known: %s.", strings.Join(known, ", "))
	near := elsewhere[name]
	if !slices.Contains(known, near) {
		near = sqlerr.Nearest(name, known)
	}
	if near != "" {
		e = e.WithHint("Perhaps you meant %q.", near)
	}
	return e
}

// elsewhere are names that other programs have for options of train.
var elsewhere = map[string]string{"learning_rate": "lr", "eta": "lr", "steps": "epochs", "max_iter": "epochs",
	"n_epochs": "epochs", "num_epochs": "epochs", "iterations": "epochs", "l2": "weight_decay", "lambda": "weight_decay",
	"early_stopping": "patience", "random_state": "seed", "validation": "validate", "betas": "beta1",
	"max_grad_norm": "clip_norm", "grad_clip": "clip_norm", "scheduler": "schedule", "eps": "epsilon",
	"warmup_steps": "warmup", "minibatch": "batch_size", "history_size": "history",
	"timeout": "max_seconds",
	// on a server an unknown name is one of a function that does not exist: so the commonest slips are here, too
	"epoch": "epochs", "max_epochs": "epochs", "learningrate": "lr", "batchsize": "batch_size", "optimiser": "optimizer",
	"weightdecay": "weight_decay"}

// Synonyms lists the names that other programs have for options.
func Synonyms() []string { return names(elsewhere) }

// OptionNames lists the options of train().
func OptionNames() []string { return names(options) }

// Choices lists the values of an option that names one of several; nil for others.
func Choices(option string) []string {
	switch option {
	case "optimizer":
		return names(optimizers)
	case "schedule":
		return names(schedules)
	}
	return nil
}
