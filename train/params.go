package train

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
)

// ParamOptions are one parameter's own options; nil and "" mean the run's.
type ParamOptions struct {
	LR          *float64 `json:"lr,omitempty"`
	WeightDecay *float64 `json:"weight_decay,omitempty"`
	Where       string   `json:"where,omitempty"` // a condition on the rows that are trained; the others stay as they are
}

// paramFields read one field of ParamOptions.
var paramFields = map[string]func(o *ParamOptions, v any) error{
	"lr":           func(o *ParamOptions, v any) (err error) { o.LR, err = rateOf(v); return err },
	"weight_decay": func(o *ParamOptions, v any) (err error) { o.WeightDecay, err = rateOf(v); return err },
	"where": func(o *ParamOptions, v any) error {
		s, ok := v.(string)
		if !ok || strings.TrimSpace(s) == "" {
			return fmt.Errorf("must be the text of a condition, not %s", show(v))
		}
		o.Where = s
		return nil
	},
}

func rateOf(v any) (*float64, error) {
	n, ok := v.(json.Number)
	if !ok {
		return nil, fmt.Errorf("must be a number, not %s", show(v))
	}
	x, err := n.Float64()
	if err != nil {
		return nil, fmt.Errorf("must be a number, not %s", n)
	}
	return &x, within(x, 0, math.Inf(1))
}

// setOptions reads a JSON object of objects: parameter → field → value.
func setOptions(c *Config, v any) error {
	s, err := text(v)
	if err != nil {
		return fmt.Errorf(`must be a JSON object such as '{"w": {"lr": 0.01}}', not %s`, show(v))
	}
	var all map[string]map[string]any
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	if err := d.Decode(&all); err != nil || d.More() || len(all) == 0 {
		return fmt.Errorf(`must be a JSON object such as '{"w": {"lr": 0.01}}', not %s`, show(v))
	}
	c.Options = map[string]ParamOptions{}
	for _, param := range names(all) {
		var o ParamOptions
		if len(all[param]) == 0 {
			return sqlerr.New(sqlerr.InvalidParameter, "train option options says nothing of %q", param)
		}
		for _, field := range names(all[param]) {
			read := paramFields[field]
			if read == nil {
				return unknown("option of a parameter", field, names(paramFields))
			}
			if err := read(&o, all[param][field]); err != nil {
				return sqlerr.New(sqlerr.InvalidParameter, "%s of %q in train option options %v", field, param, err).Wrap(err)
			}
		}
		c.Options[param] = o
	}
	return nil
}

func getOptions(c *Config) any {
	if len(c.Options) == 0 {
		return nil
	}
	b, err := json.Marshal(c.Options) // finite numbers and texts: it does not fail
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Sparse says which parameters' optimizers update only the rows that a step's gradient reaches.
type Sparse struct {
	All   bool
	Names []string
}

func setSparse(c *Config, v any) error {
	switch x := v.(type) {
	case bool:
		c.Sparse = Sparse{All: x}
		return nil
	case []string:
		c.Sparse = Sparse{Names: x}
		return nil
	}
	return fmt.Errorf("must be true, false or an array of parameter names, not %s", show(v))
}

func getSparse(c *Config) any {
	switch {
	case c.Sparse.All:
		return true
	case len(c.Sparse.Names) > 0:
		return c.Sparse.Names
	}
	return nil
}

func setTolerance(c *Config, v any) error {
	x, err := float(v)
	if err == nil {
		err = within(x, 0, 1)
	}
	c.Tolerance = &x
	return err
}

func setProject(c *Config, v any) error {
	l, err := list(v)
	if err != nil {
		return fmt.Errorf("must be an array of texts such as 'entity.v: unit_ball', not %s", show(v))
	}
	for i, s := range l {
		if _, _, err := splitProjection(s); err != nil {
			return err
		}
		if slices.Contains(l[:i], s) {
			return fmt.Errorf("says %s twice", show(s))
		}
	}
	c.Project = l
	return nil
}

// means reports whether a name in an option means the slot.
func (s *Slot) means(name string) bool { return slices.Contains(s.Names, name) }

// Where returns the conditions on the rows of a slot that are trained.
func (c *Config) Where(s *Slot) []string {
	var out []string
	for _, n := range s.Names {
		if w := c.Options[n].Where; w != "" {
			out = append(out, w)
		}
	}
	return out
}

// tune gives a slot its own numbers. What is said of a column holds before what is said of its table.
func (c *Config) tune(s *Slot) {
	s.lr, s.decay, s.project = c.LR, c.WeightDecay, nil
	for _, n := range s.Names {
		o := c.Options[n]
		if o.LR != nil {
			s.lr = *o.LR
		}
		if o.WeightDecay != nil {
			s.decay = *o.WeightDecay
		}
	}
	s.sparse = c.Sparse.All || slices.ContainsFunc(c.Sparse.Names, s.means)
	if slices.ContainsFunc(c.Nonnegative, s.means) {
		s.project = append(s.project, "nonnegative")
	}
	for _, p := range c.Project {
		if name, kind, err := splitProjection(p); err == nil && s.means(name) { // Set has refused others
			s.project = append(s.project, kind)
		}
	}
}

// ParamError is an error about a parameter that an option names: its item, where the option is a list.
type ParamError struct {
	Option string
	Item   int
	Err    error
}

func (e *ParamError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *ParamError) Unwrap() error { return e.Err }

// CheckParams refuses options that name something that is no parameter of the run, and projections that its
// values do not have.
func (c *Config) CheckParams(slots []*Slot) error {
	known := func(option string, item int, name string) error {
		if slices.ContainsFunc(slots, func(s *Slot) bool { return s.means(name) }) {
			return nil
		}
		e := sqlerr.New(sqlerr.InvalidParameter, "%s names %q, which is not a parameter of this run", option, name)
		var all []string
		for _, s := range slots {
			all = append(all, s.Names...)
		}
		if near := sqlerr.Nearest(name, all); near != "" {
			e = e.WithHint("Perhaps you meant %q.", near)
		}
		return &ParamError{option, item, e}
	}
	for i, n := range c.Nonnegative {
		if err := known("nonnegative", i, n); err != nil {
			return err
		}
	}
	for i, n := range c.Sparse.Names {
		if err := known("sparse", i, n); err != nil {
			return err
		}
	}
	for _, n := range names(c.Options) {
		if err := known("options", 0, n); err != nil {
			return err
		}
	}
	for i, p := range c.Project {
		name, kind, err := splitProjection(p)
		if err == nil {
			err = known("project", i, name)
		}
		if err != nil {
			return err
		}
		for _, s := range slots {
			if s.means(name) && s.Size == 1 && projections[kind].chunks {
				return &ParamError{"project", i, sqlerr.New(sqlerr.InvalidParameter,
					"%s holds single numbers, which have no projection on a %s", s.Name, kind).
					WithHint("unit_ball and nonnegative exist for single numbers too.")}
			}
		}
	}
	return nil
}

// Updates writes the steps of a run whose slots have the given types.
func (c *Config) Updates(slots []*Slot, types []kernels.Type) *Updates {
	u := &Updates{Clip: c.ClipNorm, numbers: stepNumbers{c: c}}
	for i, s := range slots {
		u.Rules = append(u.Rules, u.numbers.rule(s, types[i]))
	}
	u.Numbers = len(u.numbers.list)
	return u
}

// StateNames are the names of an optimizer's state buffers.
func (c *Config) StateNames() []string { return optimizers[c.Optimizer].state }
