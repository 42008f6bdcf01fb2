package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestAnalyze times the steps of a loss in a store; nothing is trained.
func TestAnalyze(t *testing.T) {
	store := filepath.Join(t.TempDir(), "s.db")
	if out, errs, status := both(t, "run", "-q", "--store", store, "-c",
		`CREATE TABLE x (i int PRIMARY KEY, v double precision[3], y double precision);
		INSERT INTO x SELECT i, ARRAY[i, i % 3, 1], i FROM generate_series(1, 100) i;
		CREATE TABLE w (k int PRIMARY KEY, v double precision[3]);
		INSERT INTO w VALUES (1, '{0.5, 1, 2}');
		CREATE VIEW loss AS SELECT sum((y - dot(x.v, w.v)) ^ 2) FROM x, w;
		CREATE VIEW third AS SELECT sum((y - dot(x.v, w.v)) ^ 2) FROM x, w WHERE i % 3 = current_step() % 3`); status != 0 {
		t.Fatal(out, errs)
	}
	out, errs, status := both(t, "explain", "--analyze", "--store", store, "loss", "w")
	if status != 0 {
		t.Fatal(errs)
	}
	if out, errs, status := both(t, "explain", "--analyze", "--stage", "physical", "--store", store, "loss",
		"w"); status != 0 || !regexp.MustCompile(`(?m)^ +[0-9.e-]+ ms, `).MatchString(out) {
		t.Errorf("--stage physical: status %d\n%s%s", status, out, errs)
	}
	for _, want := range []string{`(?m)^limits: `, `(?m)^each step:\n  one pass over 100 rows  .*\n    v[0-9]+ +double ` +
		`precision = sum: .*\n    v[0-9]+ +double precision\[3\] = sum in place: .*\n +[0-9.e-]+ ms, `} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("nothing like %s in\n%s", want, out)
		}
	}
	if got, _ := captured(t, "run", "-q", "--format", "unaligned", "--store", store, "-c",
		"SELECT v FROM w"); !strings.Contains(got, "{0.5,1,2}") {
		t.Errorf("w is %s after explain", got)
	}
	// rows of a step's own
	for _, args := range [][]string{{"third", "w"}, {"--batch", "x", "--batch-size", "10", "loss", "w"}} {
		out, errs, status := both(t, append([]string{"explain", "--analyze", "--store", store}, args...)...)
		if want := `(?m)^structure of a step: [0-9.e-]+ ms\neach step:\n  one pass over (33|34|10) rows`; status != 0 ||
			!regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%q: nothing like %s in\n%s%s", args, want, out, errs)
		}
	}
	out, errs, status = both(t, "explain", "--analyze", "--store", store, "loss") // without a table: the loss alone
	if want := `(?m)^once per run:\n(.*\n)+? +[0-9.e-]+ ms, `; status != 0 || !regexp.MustCompile(want).MatchString(out) {
		t.Errorf("nothing like %s in\n%s%s", want, out, errs)
	}
	if out, errs, status := both(t, "explain", "--stage", "sql", "--store", store, "loss"); status != 0 ||
		!strings.Contains(out, "-- the loss\n") || strings.Contains(out, "-- the gradient") {
		t.Errorf("status %d:\n%s%s", status, out, errs)
	}
	for wrong, args := range map[string][]string{
		"--batch and --batch-size go with --analyze": {"--batch", "x", "--batch-size", "10"},
		"--batch and --batch-size go together":       {"--analyze", "--batch", "x"},
	} {
		if _, errs, status := both(t, append(append([]string{"explain", "--store", store}, args...), "loss",
			"w")...); status != 2 || !strings.Contains(errs, wrong) {
			t.Errorf("%q: status %d, no %q in\n%s", args, status, wrong, errs)
		}
	}
}

// TestExplainSites plans for machines that are not here, and refuses options that do not go together.
func TestExplainSites(t *testing.T) {
	dir := t.TempDir()
	store, limits, wrong := filepath.Join(dir, "s.db"), filepath.Join(dir, "cluster.json"), filepath.Join(dir, "no.json")
	other, column := filepath.Join(dir, "other.json"), filepath.Join(dir, "column.json")
	if out, errs, status := both(t, "run", "-q", "--store", store, "-c",
		`CREATE TABLE x (i int PRIMARY KEY, v real[3], y real); INSERT INTO x VALUES (1, '{1, 2, 3}', 1);
		CREATE TABLE w (k int PRIMARY KEY, v real[3]); INSERT INTO w VALUES (1, '{0.5, 1, 2}');
		CREATE VIEW loss AS SELECT sum((y - dot(x.v, w.v)) ^ 2) FROM x, w`); status != 0 {
		t.Fatal(out, errs)
	}
	for file, text := range map[string]string{limits: `{"latency": "1ms", "tables": {"x": {"rows": 1e12}}}`, wrong: "{",
		other:  `{"tables": {"none": {"rows": 5}}}`,
		column: `{"tables": {"x": {"rows": 5, "values": {"j": 2}}}}`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args   []string
		status int
		want   []string
	}{
		{[]string{"--stage", "sites", "--sites", "1000", "--network", "10Gbit", "--limits", limits, "--simulate"}, 0,
			[]string{`^1000 sites; a step takes `, `(?m)^limits of a site: network 1.25 GB/s, .*, 1 ms for each exchange$`,
				`(?m)^simulated: a step takes .*; reads of memory binds: `, `(?m)^w: data parallel$`}},
		{[]string{"--stage", "sites", "--limits", other}, 0,
			[]string{`(?m)^sizes are given of tables that the query does not read: none$`}},
		{[]string{"--stage", "sites", "--limits", column}, 1,
			[]string{`limits of a cluster: table x has no column j`}},
		{[]string{"--stage", "sites:3", "--cost", "model"}, 0, []string{`^3 sites; [0-9]+ floats move, as TRA counts them`}},
		{[]string{"--stage", "sites", "--cost", "exact"}, 0, []string{`^4 sites; [0-9]+ floats move; found by`}},
		{[]string{"--stage", "sites", "--sites", "1"}, 0, []string{`^1 site; `}},
		{[]string{"--stage", "sites", "--plan", "model parallel"}, 0, []string{`(?m)^w: model parallel by `}},
		{[]string{"--stage", "sites", "--plan", "RMM"}, 1, []string{`no plan for 4 sites is found that is RMM`}},
		{[]string{"--stage", "sites", "--plan", "SUMMA"}, 1, []string{`there is no plan "SUMMA"`, `There are BMM, CMM, `}},
		{[]string{"--stage", "sites", "--cost", "money"}, 1,
			[]string{`cost "money" does not exist`, `seconds, model and exact`}},
		{[]string{"--stage", "sites", "--network", "fast"}, 1, []string{`network cannot be "fast"`, `"10Gbit" or "1GB"`}},
		{[]string{"--stage", "sites", "--limits", wrong}, 1, []string{`limits of a cluster: unexpected EOF`}},
		{[]string{"--stage", "sites", "--limits", dir + "/none"}, 1, []string{`could not open file ".*/none"`}},
		{[]string{"--stage", "opt", "--cost", "model"}, 2, []string{`--cost, --plan and --simulate go with --stage sites`}},
		{[]string{"--stage", "opt", "--sites", "65"}, 2, []string{`a loss runs at 1 to 64 sites of a process`}},
		{[]string{"--stage", "sites:2", "--sites", "3"}, 2, []string{`--stage sites:N and --sites cannot both be given`}},
		{[]string{"--stage", "sites", "--sites", "1025"}, 2, []string{`a number from 1 to 1024 is needed`}},
	} {
		out, errs, status := both(t, slices.Concat([]string{"explain", "--store", store}, c.args, []string{"loss", "w"})...)
		for _, want := range c.want {
			if status != c.status || !regexp.MustCompile(want).MatchString(out+errs) {
				t.Errorf("%q: status %d, nothing like %s in\n%s%s", c.args, status, want, out, errs)
			}
		}
	}
}
