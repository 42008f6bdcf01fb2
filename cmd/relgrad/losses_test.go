package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAnalyze times the steps of a loss in a store; nothing is trained, and a loss whose rows change with the step is refused.
func TestAnalyze(t *testing.T) {
	store := filepath.Join(t.TempDir(), "s.db")
	if out, errs, status := both(t, "run", "-q", "--store", store, "-c", `CREATE TABLE x (i int PRIMARY KEY, v double precision[3], y double precision);
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
	for _, want := range []string{`(?m)^limits: `, `(?m)^each step:\n  one pass over 100 rows  .*\n    v[0-9]+ +double precision = sum: .*\n    v[0-9]+ +double precision\[3\] = sum weighted: .*\n +[0-9.e-]+ ms, `} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("nothing like %s in\n%s", want, out)
		}
	}
	if got, _ := captured(t, "run", "-q", "--format", "unaligned", "--store", store, "-c", "SELECT v FROM w"); !strings.Contains(got, "{0.5,1,2}") {
		t.Errorf("w is %s after explain", got)
	}
	const refused = "the rows of this loss depend on the step"
	if out, errs, status := both(t, "explain", "--analyze", "--store", store, "third", "w"); status != 1 || !strings.Contains(errs, refused) {
		t.Errorf("status %d, no %q\n%s%s", status, refused, out, errs)
	}
}
