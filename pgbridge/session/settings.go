package session

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/kernels"
)

// The meaning of SQL text, and how the server prints definitions, depend on settings of the session. Definitions are
// read under settings of our own; the user's text is read under the user's.

// settings are the parameters of the session.
type settings struct {
	*server
	asked  map[string]string // the settings that were read through Setting
	values map[string]string // the meaningful settings, as last read; nil: not read yet
	under  map[string]string // settings of WithSettings, which each transaction sets
	env    kernels.Env       // what current_step() and current_seed() give
}

func (s *settings) drop() { s.values = nil }

// meaningful are the settings that decide what a text means: a compiled loss is valid only under the same ones.
var meaningful = []string{"search_path", "DateStyle", "IntervalStyle", "TimeZone",
	"timezone_abbreviations", "extra_float_digits", "bytea_output", "standard_conforming_strings",
	"backslash_quote", "transform_null_equals", "quote_all_identifiers", "array_nulls", "xmloption", "xmlbinary",
	"lc_monetary", "lc_numeric", "lc_time", "default_text_search_config", "row_security", "role"}

// plain are settings under which the server prints definitions that read the same under any settings.
var plain = map[string]string{"DateStyle": "ISO, YMD", "IntervalStyle": "postgres", "TimeZone": "UTC",
	"extra_float_digits": "1", "bytea_output": "hex",
	"standard_conforming_strings": "on", "quote_all_identifiers": "off", "xmlbinary": "base64"}

// Setting is current_setting(name).
func (s *settings) Setting(name string) (string, bool) {
	rows, err := s.texts("SELECT pg_catalog.current_setting(" + sqltext.Text(name) +
		", true), pg_catalog.current_setting(" + sqltext.Text(name) + ", true) IS NOT NULL")
	if err != nil {
		s.fail(err)
		return "", false
	}
	if rows[0][1] != "true" {
		return "", false
	}
	s.asked[name] = rows[0][0]
	return rows[0][0], true
}

// Variables returns search_path and the parameters that queries have read.
func (s *settings) Variables() map[string]string {
	out := map[string]string{}
	for name := range s.asked {
		if v, ok := s.Setting(name); ok {
			out[name] = v
		}
	}
	if v, ok := s.Setting("search_path"); ok {
		out["search_path"] = v
	}
	return out
}

// WithSettings gives settings other values, in this transaction and those that follow, until back is called.
func (s *settings) WithSettings(vars map[string]string) (back func()) {
	before := map[string]string{}
	for name, v := range vars {
		before[name], _ = s.Setting(name)
		s.set(name, v, s.local())
	}
	s.under = vars
	s.forget()
	return func() {
		for name, v := range before {
			s.set(name, v, s.local())
		}
		s.under = nil
		s.forget()
	}
}

func (s *settings) set(name, value string, local bool) {
	if _, err := s.texts(fmt.Sprintf("SELECT pg_catalog.set_config(%s, %s, %v)", sqltext.Text(name),
		sqltext.Text(value), local)); err != nil {
		s.fail(err)
	}
}

// noJIT keeps the server from compiling our queries until the transaction ends: they spend their time in kernels, which
// compiling does not make faster.
func (s *settings) noJIT() { s.set("jit", "off", true) }

// Local returns false: a server does not say whether settings were set for the open transaction only.
func (s *settings) Local() bool { return false }

// Draw sets what current_step(), current_epoch() and current_seed() give.
func (s *settings) Draw(env kernels.Env) error {
	if env == s.env {
		return nil
	}
	s.env = env
	s.set("relgrad.step", fmt.Sprint(env.Step), s.local())
	s.set("relgrad.epoch", fmt.Sprint(env.Epoch), s.local())
	s.set("relgrad.seed", fmt.Sprint(env.Seed), s.local())
	return s.failed()
}

// current returns the meaningful settings, read once in each request.
func (s *settings) current() map[string]string {
	if s.values != nil {
		return s.values
	}
	rows, err := s.texts("SELECT " + valuesOf(meaningful))
	s.takeValues(rows, err)
	return s.values
}

// valuesOf are the items of a SELECT that reads settings.
func valuesOf(names []string) string {
	var items []string
	for _, n := range names {
		items = append(items, "pg_catalog.current_setting("+sqltext.Text(n)+", true)")
	}
	return strings.Join(items, ", ")
}

// takeValues keeps the values that valuesOf(meaningful) has read, which are the last columns of a row.
func (s *settings) takeValues(rows [][]string, err error) {
	if err != nil {
		s.fail(err)
		return
	}
	s.values = map[string]string{}
	row := rows[0][len(rows[0])-len(meaningful):]
	for i, n := range meaningful {
		s.values[n] = row[i]
	}
}

// Meaning is equal for equal values of the meaningful settings.
func (s *settings) Meaning() string {
	var out []string
	for _, n := range meaningful {
		out = append(out, s.current()[n])
	}
	return strings.Join(out, "\x01")
}

// typeTexts runs a query that prints names of types. It may contain text of the user, which is read under the user's
// settings.
func (s *settings) typeTexts(sql string) ([][]string, error) {
	return s.printed(sql, map[string]string{"quote_all_identifiers": "off"})
}

// printed runs a query under settings of our own.
func (s *settings) printed(sql string, values map[string]string) (rows [][]string, err error) {
	err = s.with(values, func() (err error) {
		rows, err = s.texts(sql)
		return err
	})
	return rows, err
}

// with calls f under settings of our own, then restores the user's.
func (s *settings) with(values map[string]string, f func() error) error {
	var to, back []string
	set := func(list []string, name, value string) []string {
		return append(list,
			fmt.Sprintf("pg_catalog.set_config(%s, %s, %v)", sqltext.Text(name), sqltext.Text(value), s.local()))
	}
	for _, name := range meaningful {
		value, ours := values[name]
		if now := s.current()[name]; ours && !printsAlike(name, now, value) {
			to, back = set(to, name, value), set(back, name, now)
		}
	}
	if s.err != nil { // the settings could not be read
		return s.failed()
	}
	if to == nil {
		return f()
	}
	if _, err := s.texts("SELECT " + strings.Join(to, ", ")); err != nil {
		return err
	}
	err := f()
	if _, e := s.texts("SELECT " + strings.Join(back, ", ")); err == nil {
		err = e
	}
	return err
}

// printsAlike reports whether a setting's two values print the same: ISO dates have one order, and UTC has other names.
func printsAlike(name, a, b string) bool {
	switch name {
	case "DateStyle":
		return a == b || strings.HasPrefix(a, "ISO, ") && strings.HasPrefix(b, "ISO, ")
	case "TimeZone":
		return a == b || a == "Etc/UTC" && b == "UTC"
	}
	return a == b
}

// exact are settings under which values are printed as texts that read back as the same values under any settings.
var exact = map[string]string{"DateStyle": "ISO, YMD", "IntervalStyle": "iso_8601", "extra_float_digits": "1"}

// Inexact says why, under the user's settings, printed dates or numbers may not read back as the same values; "" if
// they do. Some values of DateStyle print dates in an order that they do not read.
func (s *settings) Inexact() string {
	style, order, _ := strings.Cut(s.current()["DateStyle"], ", ")
	digits, err := strconv.Atoi(s.current()["extra_float_digits"])
	switch {
	case style != "ISO" && order == "YMD", style == "German" && order != "DMY":
		return "DateStyle is " + s.current()["DateStyle"]
	case err != nil || digits < 1:
		return "extra_float_digits is " + s.current()["extra_float_digits"]
	}
	return ""
}
