package store

import (
	"context"
	"errors"
	"maps"
	"math"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// settings are the configuration parameters of a session. A change copies the maps, so that a transaction can keep the
// earlier ones.
type settings struct {
	values map[string]string // SET
	local  map[string]string // SET LOCAL, gone at the end of the transaction
}

// searchPath returns the search path without pg_temp.
func (s *settings) searchPath() []string {
	v, ok := s.setting("search_path")
	if !ok {
		return []string{"public"}
	}
	var out []string
	for _, name := range strings.Split(v, ",") {
		name = strings.Trim(strings.TrimSpace(name), `"`)
		if name != "" && name != "pg_temp" && name != "$user" && name != "pg_catalog" {
			out = append(out, name)
		}
	}
	return out
}

// setting reads a configuration parameter.
func (s *settings) setting(name string) (string, bool) {
	name = strings.ToLower(name)
	if v, ok := s.local[name]; ok {
		return v, true
	}
	v, ok := s.values[name]
	return v, ok
}

// defaults are parameters that programs read without having set them.
var defaults = map[string]string{
	"search_path": `"$user", public`, "server_version": "16.0 (relgrad embedded store)", "server_version_num": "160000",
	"server_encoding": "UTF8",
	"client_encoding": "UTF8", "standard_conforming_strings": "on", "timezone": "UTC", "datestyle": "ISO, MDY",
	"statement_timeout": "0", "lock_timeout": "5s",
	"client_min_messages": "notice", "extra_float_digits": "1", "transaction_isolation": "serializable",
	"work_mem": "64MB", "is_superuser": "on",
}

// Setting returns a configuration parameter with its default; false for an unknown one.
func (s *settings) Setting(name string) (string, bool) {
	if v, ok := s.setting(name); ok {
		return v, true
	}
	v, ok := defaults[strings.ToLower(name)]
	return v, ok
}

// Set sets a configuration parameter; local ones end with the transaction.
func (s *settings) Set(name, value string, local bool) {
	m := &s.values
	if local {
		m = &s.local
	}
	c := maps.Clone(*m)
	if c == nil {
		c = map[string]string{}
	}
	c[strings.ToLower(name)] = value
	*m = c
}

func (s *settings) reset(name string) {
	c := maps.Clone(s.values)
	if name == "all" {
		clear(c)
	}
	delete(c, strings.ToLower(name))
	s.values = c
}

// lockTimeout is how long the session waits for a lock of another process, unless SET lock_timeout changes it.
const lockTimeout = 5 * time.Second

// serverSettings are accepted and stored but have no effect.
var serverSettings = map[string]bool{"enable_seqscan": true, "enable_hashjoin": true, "enable_mergejoin": true,
	"enable_nestloop": true, "jit": true,
	"max_parallel_workers_per_gather": true, "maintenance_work_mem": true, "random_page_cost": true,
	"synchronous_commit": true,
	"application_name":   true, "row_security": true, "default_transaction_isolation": true,
	"idle_in_transaction_session_timeout": true}

func settingNames() []string {
	var out []string
	for n := range defaults {
		out = append(out, n)
	}
	for n := range serverSettings {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

const (
	memorySetting = "relgrad.memory" // bounds the memory of a plan
	sitesSetting  = "relgrad.sites"  // at how many sites a loss runs
	deviceSetting = "relgrad.device" // on which device
)

func placed(err error, pos int) error {
	var e *sqlerr.Error
	if errors.As(err, &e) && e.Pos < 0 {
		e.Pos = pos
	}
	return err
}

// checkSetting refuses invalid values of relgrad's parameters.
func checkSetting(name, value string) error {
	switch name = strings.ToLower(name); name {
	case "statement_timeout", "lock_timeout":
		if _, err := duration(value); err != nil {
			return sqlerr.New(sqlerr.InvalidParameter, "invalid value for parameter \"%s\": \"%s\"", name, value).
				WithHint("Write it in milliseconds or as '100ms', '5s' or '1min'.").Wrap(err)
		}
		return nil
	case memorySetting:
	case sitesSetting:
		if n, err := strconv.Atoi(strings.TrimSpace(value)); err != nil || n < 1 || n > catalog.MostSites {
			return sqlerr.New(sqlerr.InvalidParameter, "invalid value for parameter \"%s\": \"%s\"", sitesSetting, value).
				WithHint("A loss runs at 1 to %d sites.", catalog.MostSites)
		}
		return nil
	case deviceSetting:
		if _, graphics := catalog.GraphicsDevice(value); value != "cpu" && value != catalog.AutoDevice && !graphics {
			return sqlerr.New(sqlerr.InvalidParameter, "invalid value for parameter \"%s\": \"%s\"", deviceSetting, value).
				WithHint("A loss runs on cpu, or a graphics processor: cuda, cuda:1; auto chooses. `relgrad devices` lists them.")
		}
		return nil
	default:
		return nil
	}
	// a number without unit is ambiguous: Postgres reads kilobytes, --memory bytes
	if n, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && n != 0 {
		return sqlerr.New(sqlerr.InvalidParameter, "invalid value for parameter \"%s\": \"%s\" has no unit", memorySetting,
			value).WithHint("SET relgrad.memory = '280MB';")
	}
	_, err := ParseSize(value)
	return err
}

// MemoryBudget is the value of SET relgrad.memory in bytes; 0: not set.
func (s *settings) MemoryBudget() int64 {
	v, _ := s.setting(memorySetting)
	n, err := ParseSize(v)
	if err != nil { // not set: set values have been checked
		return 0
	}
	return n
}

// Sites is the value of SET relgrad.sites; 0: not set.
func (s *settings) Sites() int {
	v, _ := s.setting(sitesSetting)
	n, _ := strconv.Atoi(strings.TrimSpace(v)) // set values have been checked
	return n
}

// Device is the value of SET relgrad.device; "": not set.
func (s *settings) Device() string {
	v, _ := s.setting(deviceSetting)
	return v
}

// SearchPath returns the schemas that unqualified names are looked up in.
func (s *settings) SearchPath() []string { return s.searchPath() }

// units are units of a duration. A number without one is in milliseconds.
var units = []struct {
	name string
	unit time.Duration
}{{"us", time.Microsecond}, {"ms", time.Millisecond}, {"min", time.Minute}, {"s", time.Second}, {"h", time.Hour}, {"d",
	24 * time.Hour}}

// duration reads a setting's time as Postgres does: "100", "100ms", "1.5 s".
func duration(s string) (time.Duration, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, nil
	}
	unit := time.Millisecond
	for _, u := range units {
		if rest, ok := strings.CutSuffix(s, u.name); ok {
			s, unit = strings.TrimSpace(rest), u.unit
			break
		}
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x >= 0 && x*float64(unit) <= 1<<31*float64(time.Millisecond)) {
		return 0, sqlerr.New(sqlerr.InvalidParameter, "it is no time between 0 and 2147483647 ms")
	}
	return time.Duration(x * float64(unit)), nil
}

// meaning reports whether a parameter changes what a query means: the search path, and parameters of users with a dot
// in their names (SET my.fold = 3). The others control how statements run or print.
func meaning(name string) bool {
	return name == "search_path" || strings.Contains(name, ".") && name != memorySetting && name != sitesSetting &&
		name != deviceSetting
}

// Variables returns the set parameters that change what queries mean.
func (s *settings) Variables() map[string]string {
	out := map[string]string{}
	for _, m := range []map[string]string{s.values, s.local} {
		for name, v := range m {
			if meaning(name) {
				out[name] = v
			}
		}
	}
	return out
}

// Local reports whether parameters have been set for the open transaction only.
func (s *settings) Local() bool { return len(s.local) > 0 }

// WithSettings sets these parameters to another session's values. back restores all parameters.
func (s *settings) WithSettings(vars map[string]string) (back func()) {
	values, local := s.values, s.local
	others := func(m map[string]string) map[string]string {
		m = maps.Clone(m)
		maps.DeleteFunc(m, func(name, _ string) bool { return meaning(name) })
		return m
	}
	s.values, s.local = others(values), others(local)
	for name, v := range vars {
		s.Set(name, v, false)
	}
	return func() { s.values, s.local = values, local }
}

// sizeUnits are Postgres's units, which are powers of 1024, in its spelling and that of IEC 80000-13.
var sizeUnits = map[string]int{"B": 0, "kB": 10, "KiB": 10, "MB": 20, "MiB": 20, "GB": 30, "GiB": 30, "TB": 40,
	"TiB": 40}

var sizeForm = regexp.MustCompile(`^\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*$`)

// ParseSize reads an amount of memory such as 280MB, 4GiB or 1.5GB. A number without a unit counts bytes.
func ParseSize(text string) (int64, error) {
	f := sizeForm.FindStringSubmatch(text)
	if f == nil {
		return 0, sqlerr.New(sqlerr.InvalidParameter, "%q is not an amount of memory", text).
			WithHint("Write it like 280MB or 4GiB.")
	}
	unit := f[2]
	if unit == "" {
		unit = "B"
	}
	shift, ok := sizeUnits[unit]
	if !ok {
		e := sqlerr.New(sqlerr.InvalidParameter, "%q is not an amount of memory: its unit is none of B, kB, MB, GB, TB", text)
		names := slices.Sorted(maps.Keys(sizeUnits))
		for _, n := range names {
			if strings.EqualFold(n, unit) || strings.EqualFold(n[:1], unit) && len(n) == 2 {
				return 0, e.WithHint("Perhaps you meant %s%s.", f[1], n)
			}
		}
		return 0, e.WithHint("Write it like 280MB or 4GiB.")
	}
	x, err := strconv.ParseFloat(f[1], 64)
	if x *= float64(int64(1) << shift); err != nil || x >= math.MaxInt64 || x < 1 && x != 0 {
		return 0, sqlerr.New(sqlerr.InvalidParameter, "%q is not an amount of memory: it is out of range", text)
	}
	return int64(x), nil
}

// errTimeout is the cause of a context ended by statement_timeout.
var errTimeout = errors.New("canceling statement due to statement timeout")

// Timed returns the context of a statement, which statement_timeout ends. done, called at the statement's end, puts
// that into its error.
func (s *settings) Timed(ctx context.Context) (_ context.Context, done func(*error)) {
	v, _ := s.setting("statement_timeout")
	d, err := duration(v)
	if err != nil || d <= 0 {
		return ctx, func(*error) {}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, d, errTimeout)
	return ctx, func(err *error) {
		defer cancel()
		var e *sqlerr.Error
		if errors.As(*err, &e) && e.Code == sqlerr.QueryCanceled && errors.Is(context.Cause(ctx), errTimeout) {
			c := *e
			c.Message = errTimeout.Error()
			*err = &c
		}
	}
}
