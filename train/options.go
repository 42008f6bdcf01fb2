package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Config are the options of train(). The zero value is not useful; see Default.
type Config struct {
	Optimizer   string
	LR          float64
	Momentum    float64
	Beta1       float64
	Beta2       float64
	Epsilon     float64
	Epochs      int64
	Seed        int64
	WeightDecay float64
	Nonnegative []string
	Validate    string
	Every       int64
	Patience    int64 // validations without improvement before it stops; 0: never
	Resume      int64 // run to go on with; 0: a new run
}

// Default returns the documented defaults: adam (0.9, 0.999, 1e-8), lr 0.001, seed 0.
func Default() Config {
	return Config{Optimizer: "adam", LR: 0.001, Momentum: 0.9, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Epochs: 100, Every: 1}
}

// option is one named argument of train(): how it is read into a Config and how a stored run writes it.
type option struct {
	set func(c *Config, v any) error
	get func(c *Config) any
}

var options = map[string]option{
	"optimizer": {func(c *Config, v any) error {
		s, err := text(v)
		if err == nil && optimizers[s] == nil {
			return unknown("optimizer", s, names(optimizers))
		}
		c.Optimizer = s
		return err
	}, func(c *Config) any { return c.Optimizer }},
	"lr":           number(func(c *Config) *float64 { return &c.LR }, 0, math.Inf(1)),
	"momentum":     number(func(c *Config) *float64 { return &c.Momentum }, 0, 1),
	"beta1":        number(func(c *Config) *float64 { return &c.Beta1 }, 0, 1),
	"beta2":        number(func(c *Config) *float64 { return &c.Beta2 }, 0, 1),
	"epsilon":      number(func(c *Config) *float64 { return &c.Epsilon }, 0, math.Inf(1)),
	"weight_decay": number(func(c *Config) *float64 { return &c.WeightDecay }, 0, math.Inf(1)),
	"epochs":       integer(func(c *Config) *int64 { return &c.Epochs }, 0),
	"seed":         integer(func(c *Config) *int64 { return &c.Seed }, math.MinInt64),
	"every":        integer(func(c *Config) *int64 { return &c.Every }, 1),
	"patience":     integer(func(c *Config) *int64 { return &c.Patience }, 0),
	"resume":       integer(func(c *Config) *int64 { return &c.Resume }, 1),
	"validate": {func(c *Config, v any) (err error) { c.Validate, err = text(v); return err },
		func(c *Config) any { return c.Validate }},
	"nonnegative": {func(c *Config, v any) error {
		list, ok := v.([]string)
		if !ok {
			return fmt.Errorf("must be an array of parameter names, not %s", show(v))
		}
		c.Nonnegative = list
		return nil
	}, func(c *Config) any { return c.Nonnegative }},
}

// later are options of the language that this version refuses by name.
var later = []string{"schedule", "clip_norm", "project", "options", "batch", "batch_size", "before_step", "max_seconds", "tolerance", "sparse"}

// Known refuses the name of an option that train() does not have.
func Known(name string) error {
	if _, ok := options[name]; ok {
		return nil
	}
	if slices.Contains(later, name) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "train option %q is not supported yet", name).
			WithDetail("Known: %s.", strings.Join(names(options), ", "))
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
		if n != "resume" {
			out[n] = o.get(c)
		}
	}
	return out
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
		switch x := v.(type) {
		case json.Number:
			if i, err := x.Int64(); err == nil {
				v = i
			} else if v, err = x.Float64(); err != nil {
				return c, fmt.Errorf("train: stored option %s: %w", n, err)
			}
		case []any:
			var list []string
			for _, e := range x {
				list = append(list, fmt.Sprint(e))
			}
			v = list
		case nil:
			continue
		case string:
			if x == "" {
				continue
			}
		}
		if err := c.Set(n, v); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Check refuses options that would have no effect: given lists the names that the user wrote.
func (c *Config) Check(given []string) error {
	for _, n := range given {
		switch {
		case n == "momentum" && c.Optimizer != "momentum":
			return sqlerr.New(sqlerr.InvalidParameter, "train option momentum has no effect with optimizer %q", c.Optimizer).
				WithHint("Write optimizer => 'momentum'.")
		case (n == "beta1" || n == "beta2" || n == "epsilon") && c.Optimizer != "adam":
			return sqlerr.New(sqlerr.InvalidParameter, "train option %s has no effect with optimizer %q", n, c.Optimizer).
				WithHint("It belongs to optimizer => 'adam'.")
		case (n == "patience" || n == "every") && c.Validate == "":
			return sqlerr.New(sqlerr.InvalidParameter, "train option %s has no effect without validate", n).
				WithHint("Name a view that yields one number: validate => 'validation'.")
		}
	}
	return nil
}

// Describe prints the options that matter for a run, the seed included.
func (c *Config) Describe() string {
	p := []string{fmt.Sprintf("optimizer %s", c.Optimizer), fmt.Sprintf("lr %g", c.LR)}
	switch c.Optimizer {
	case "adam":
		p = append(p, fmt.Sprintf("betas (%g, %g)", c.Beta1, c.Beta2), fmt.Sprintf("epsilon %g", c.Epsilon))
	case "momentum":
		p = append(p, fmt.Sprintf("momentum %g", c.Momentum))
	}
	if c.WeightDecay != 0 {
		p = append(p, fmt.Sprintf("weight_decay %g", c.WeightDecay))
	}
	return strings.Join(append(p, fmt.Sprintf("epochs %d", c.Epochs), fmt.Sprintf("seed %d", c.Seed)), ", ")
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
	e := sqlerr.New(sqlerr.InvalidParameter, "%s %q does not exist", what, name).WithDetail("Known: %s.", strings.Join(known, ", "))
	if n := sqlerr.Nearest(name, known); n != "" {
		e = e.WithHint("Perhaps you meant %q.", n)
	}
	return e
}

// show prints a value as SQL does.
func show(v any) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case string:
		return "'" + x + "'"
	case []string:
		return "ARRAY['" + strings.Join(x, "', '") + "']"
	}
	return fmt.Sprint(v)
}

func text(v any) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("must be a text, not %s", show(v))
	}
	return s, nil
}

func number(at func(*Config) *float64, lo, hi float64) option {
	return option{func(c *Config, v any) error {
		var x float64
		switch n := v.(type) {
		case float64:
			x = n
		case int64:
			x = float64(n)
		default:
			return fmt.Errorf("must be a number, not %s", show(v))
		}
		switch {
		case x >= lo && x < hi:
		case math.IsInf(hi, 1):
			return fmt.Errorf("must be at least %g and finite, not %g", lo, x)
		default:
			return fmt.Errorf("must be at least %g and below %g, not %g", lo, hi, x)
		}
		*at(c) = x
		return nil
	}, func(c *Config) any { return *at(c) }}
}

func integer(at func(*Config) *int64, lo int64) option {
	return option{func(c *Config, v any) error {
		switch n := v.(type) {
		case int64:
			*at(c) = n
		default:
			return fmt.Errorf("must be an integer, not %s", show(v))
		}
		if *at(c) < lo {
			return fmt.Errorf("must be at least %d, not %d", lo, *at(c))
		}
		return nil
	}, func(c *Config) any { return *at(c) }}
}
