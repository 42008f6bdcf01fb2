package main

import (
	"path/filepath"
	"regexp"
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
