package safetytest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/need"
)

// settingRows are the rows of the table in docs/postgres.md: a condition on the table t that a setting changes, the
// setting, and a condition that works under it.
var settingRows = []struct{ page, cond, set, instead string }{
	{"| `'a\\b'`, a backslash in a plain quoted text | standard_conforming_strings is off | `E'a\\\\b'` |", `t.s <> 'a\b'`,
		"SET standard_conforming_strings = off", `t.s <> E'a\\b'`},
	{"| `x = NULL` | transform_null_equals is on | `x IS NULL` |", "t.n = NULL OR t.x > 0",
		"SET transform_null_equals = on", "t.n IS NULL OR t.x > 0"},
	{"| `x::text` of a double precision | extra_float_digits is below 1 | `SET extra_float_digits = 1` |",
		"t.x::text <> 'a'", "SET extra_float_digits = 0", "SET extra_float_digits = 1"},
	{"| `d::text` of a date or a timestamp | DateStyle is not ISO | `SET DateStyle = ISO` |", "t.d::text <> 'a'",
		"SET DateStyle = German", "SET DateStyle = ISO"},
	{"| `+`, `exp(x)`, `sum(x)`, … where a schema of the search_path has one of its own for Postgres's types | always | " +
		"`OPERATOR(pg_catalog.+)`, `pg_catalog.exp(x)` |", "t.x + 1 > 0", "SET search_path = public, relgrad, mine",
		"t.x OPERATOR(pg_catalog.+) 1 > 0"},
	{"| a function that is one of several of its name | always | a name of its own |",
		"several(t.x) > 0", "", "alone(t.x) > 0"},
	{"| any | search_path names a schema before pg_catalog | `SET search_path = public, relgrad` |", "t.x > 0",
		"SET search_path = mine, pg_catalog, public, relgrad", "SET search_path = public, relgrad"},
}

// readSettings matches code that reads settings which decide what the binder or the bridge does.
var readSettings = regexp.MustCompile("(?:setting\\(\\S+, |Setting\\(|current\\(\\)\\[|Setting: )\"(\\w+)\"")

// settingsPage asserts that the table of settings in docs/postgres.md is true and complete: no setting that leads to a
// refusal is missing.
func settingsPage(e *env) {
	page, err := os.ReadFile(filepath.Join(need.Root(), "docs", "postgres.md"))
	if err != nil {
		e.t.Fatal(err)
	}
	_, chapter, _ := strings.Cut(string(page), "\n## Settings\n")
	chapter, _, _ = strings.Cut(chapter, "\n## ")
	var rows []string
	for _, line := range strings.Split(chapter, "\n") {
		if strings.HasPrefix(line, "| ") {
			rows = append(rows, line)
		}
	}
	e.must("CREATE TABLE t (id int PRIMARY KEY, x double precision, n double precision, s text, d date); INSERT INTO t " +
		"VALUES (1, 0.5, 1, 'x', '2020-01-02');" +
		"CREATE SCHEMA mine; CREATE FUNCTION mine.f(double precision, integer) RETURNS double precision LANGUAGE sql AS " +
		"'SELECT 666::float8'; CREATE OPERATOR mine.+ (LEFTARG = float8, RIGHTARG = int4, FUNCTION = mine.f);" +
		"CREATE FUNCTION several(x float8) RETURNS float8 LANGUAGE sql AS 'SELECT x'; " +
		"CREATE FUNCTION several(x int) RETURNS float8 LANGUAGE sql AS 'SELECT 1::float8'; " +
		"CREATE FUNCTION alone(x float8) RETURNS float8 LANGUAGE sql AS 'SELECT x'")
	call := func(cond string) string {
		return "SELECT count(*) FROM relgrad.gradient($q$SELECT sum(slope * t.x) FROM public.trend, public.t WHERE " + cond +
			"$q$, NULL::public.trend)"
	}
	want := []string{"| in a text | while | instead |"}
	for _, r := range settingRows {
		want = append(want, r.page)
		e.must("RESET ALL; SET search_path = public, relgrad")
		if strings.HasPrefix(r.set, "SET ") && !strings.Contains(r.page, "| always |") {
			e.gives(call(r.cond), "1") // without the setting nothing is wrong
		}
		if r.set != "" {
			e.must(r.set)
		}
		if _, err := e.run(call(r.cond)); err == nil || !strings.Contains(err.Error(), "0A000") &&
			!strings.Contains(err.Error(), "55000") && !strings.Contains(err.Error(), "42725") {
			e.t.Errorf("%s: %v", r.page, err)
		}
		cond := r.instead
		if strings.HasPrefix(cond, "SET ") {
			e.must(cond)
			cond = r.cond
		}
		e.gives(call(cond), "1")
	}
	if !slices.Equal(rows, want) {
		e.t.Errorf("docs/postgres.md has the rows\n%s\nnot\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
	for _, pattern := range []string{"sqlfront/*.go", "pgbridge/*.go"} {
		files, _ := filepath.Glob(filepath.Join(need.Root(), pattern))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil || strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, m := range readSettings.FindAllSubmatch(text, -1) {
				if name := string(m[1]); !strings.Contains(strings.ToLower(chapter), strings.ToLower(name)) {
					e.t.Errorf("%s reads the setting %s, of which docs/postgres.md says nothing", filepath.Base(file), name)
				}
			}
		}
	}
}
