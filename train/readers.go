package train

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

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

// list reads an array of parameter names.
func list(v any) ([]string, error) {
	l, ok := v.([]string)
	if !ok {
		return nil, fmt.Errorf("must be an array of parameter names, not %s", show(v))
	}
	return l, nil
}

// words is an option that is a text; it may not be empty.
func words(at func(*Config) *string) option {
	return given(option{func(c *Config, v any) error {
		s, err := text(v)
		if err == nil && strings.TrimSpace(s) == "" {
			return fmt.Errorf("must not be empty")
		}
		*at(c) = s
		return err
	}, func(c *Config) any { return *at(c) }})
}

// choice is an option that is one of several names.
func choice(what string, at func(*Config) *string, known []string) option {
	return option{func(c *Config, v any) error {
		s, err := text(v)
		if err == nil && !slices.Contains(known, s) {
			return unknown(what, s, known)
		}
		*at(c) = s
		return err
	}, func(c *Config) any { return *at(c) }}
}

// given is an option whose zero value means that it was not given.
func given(o option) option {
	get := o.get
	o.get = func(c *Config) any {
		if v := get(c); v != any("") && v != any(0.0) && v != any(int64(0)) {
			return v
		}
		return nil
	}
	return o
}

// float reads a number.
func float(v any) (float64, error) {
	switch n := v.(type) {
	case float64:
		return n, nil
	case int64:
		return float64(n), nil
	case string: // a constant without a type
		if x, err := strconv.ParseFloat(strings.TrimSpace(n), 64); err == nil {
			return x, nil
		}
	}
	return 0, fmt.Errorf("must be a number, not %s", show(v))
}

// positive is an option that is a number above 0.
func positive(at func(*Config) *float64) option {
	return given(option{func(c *Config, v any) error {
		x, err := float(v)
		if err == nil && !(x > 0 && x < math.Inf(1)) {
			return fmt.Errorf("must be above 0 and finite, not %g", x)
		}
		*at(c) = x
		return err
	}, func(c *Config) any { return *at(c) }})
}

func number(at func(*Config) *float64, lo, hi float64) option {
	return option{func(c *Config, v any) error {
		x, err := float(v)
		if err == nil {
			err = within(x, lo, hi)
		}
		*at(c) = x
		return err
	}, func(c *Config) any { return *at(c) }}
}

func integer(at func(*Config) *int64, lo int64) option {
	return option{func(c *Config, v any) error {
		n, ok := v.(int64)
		if s, text := v.(string); text { // a constant without a type
			x, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
			n, ok = x, err == nil
		}
		if !ok {
			return fmt.Errorf("must be an integer, not %s", show(v))
		}
		*at(c) = n
		if *at(c) < lo {
			return fmt.Errorf("must be at least %d, not %d", lo, *at(c))
		}
		return nil
	}, func(c *Config) any { return *at(c) }}
}

// within refuses a number outside [lo, hi).
func within(x, lo, hi float64) error {
	switch {
	case x >= lo && x < hi:
		return nil
	case math.IsInf(hi, 1):
		return fmt.Errorf("must be at least %g and finite, not %g", lo, x)
	}
	return fmt.Errorf("must be at least %g and below %g, not %g", lo, hi, x)
}
