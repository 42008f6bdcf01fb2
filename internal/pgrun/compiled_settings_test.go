package pgrun

import (
	"context"
	"strings"
	"testing"
)

// TestCompiledSettings: a text that was compiled with what a literal meant holds under the settings by which it was
// read.
func TestCompiledSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx, s := context.Background(), newCompiledServer(t)
	s.exec("CREATE TABLE w (k int PRIMARY KEY, x double precision, d date); INSERT INTO w VALUES (1, 0.5, " +
		"'2020-01-02'), (2, 3, '2020-02-01')")
	const cast = "SELECT sum(x ^ 2) FROM w WHERE d::text = '2020-01-02'" // no literal of a date
	const dated, plain = "SELECT sum(x ^ 2) FROM w WHERE d = '01/02/2020'", "SELECT sum(x ^ 2) FROM w WHERE k = 1"
	for _, loss := range []string{dated, plain, cast} {
		if err := s.outside.CompileText(ctx, loss, "w"); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		set     string
		refused bool // of the losses with a date
	}{{"DateStyle = 'ISO, MDY'", false}, {"DateStyle = 'ISO, DMY'", true}, {"DateStyle = 'German, DMY'", true},
		{"extra_float_digits = 0", false}} {
		for _, loss := range []string{dated, plain, cast} {
			s.exec("RESET ALL; SET search_path = public, relgrad; SET " + c.set)
			got, err := s.binaryNumber("SELECT sum(x) FROM relgrad.gradient($loss$" + loss + "$loss$, NULL::w)")
			switch {
			case c.refused && loss != plain:
				if err == nil || !strings.Contains(err.Error(), "55000") {
					t.Errorf("%s: %s: %v, %v", c.set, loss, got, err)
				}
			case err != nil || got != 1:
				t.Errorf("%s: %s: %v, not 1: %v", c.set, loss, got, err)
			}
		}
	}
}
