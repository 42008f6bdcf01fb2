package train

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
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

// yes reads a boolean.
func yes(v any) (bool, error) {
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("must be true or false, not %s", show(v))
	}
	return b, nil
}

// label is an option that the run's row has in a column of its own.
func label(o option) option { return option{set: o.set} }

func setTags(c *Config, v any) error {
	l, ok := v.([]string)
	if !ok {
		return fmt.Errorf("must be an array of texts, not %s", show(v))
	}
	for i, s := range l {
		if strings.TrimSpace(s) == "" {
			return fmt.Errorf("must not hold an empty text")
		}
		if slices.Contains(l[:i], s) {
			return fmt.Errorf("says %s twice", show(s))
		}
	}
	c.Tags = l
	return nil
}

// paceUnits are those of a setting of time on Postgres.
var paceUnits = map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "min": time.Minute, "h": time.Hour}

// setPace reads a time such as '10 s'.
func setPace(c *Config, v any) error {
	s, ok := v.(string)
	number, unit := strings.TrimSpace(s), ""
	if at := strings.IndexFunc(number, unicode.IsLetter); at > 0 {
		number, unit = strings.TrimSpace(number[:at]), number[at:]
	}
	x, err := strconv.ParseFloat(number, 64)
	each := paceUnits[unit]
	if !ok || err != nil || each == 0 || !(x > 0 && x*each.Seconds() < 1e9) {
		return fmt.Errorf("must be a time such as '10 s', not %s", show(v))
	}
	c.Pace = max(time.Duration(x*float64(each)), time.Millisecond)
	return nil
}
