package relgrad

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// What a loss means and its author perhaps does not is said once in a session: that log is the logarithm to base 10, of
// one argument, and that a minus binds tighter than a power. Of a loss only.
func TestSurprises(t *testing.T) {
	db, err := Open(filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var said []string
	db.Notice = func(level, message string) { said = append(said, level+": "+message) }
	const notice = "NOTICE: log(x) is the logarithm to base 10, as in Postgres; the natural logarithm is ln(x)"
	const minus = "NOTICE: -x ^ 2 is (-x) ^ 2, as in Postgres; the negative of a power is -(x ^ 2)"
	for _, c := range []struct {
		sql  string
		want []string
	}{
		{"CREATE TABLE w (id int PRIMARY KEY, x double precision)", nil},
		{"INSERT INTO w VALUES (1, 2), (2, 3)", nil},
		{"SELECT log(x), log(2, 8) FROM w", nil},
		{"SELECT backward('SELECT sum(ln(x) + log10(x) + x * log(2, 8)) FROM w', ARRAY['w'])", nil},
		{"SELECT backward('SELECT sum(log(x)) FROM w', ARRAY['w'])", []string{notice}},
		{"SELECT backward('SELECT sum(2 * log(x)) FROM w', ARRAY['w'])", nil},
		{"SELECT -x ^ 2, exp(-(x) ^ 2 / 2) FROM w", nil},
		{"SELECT backward('SELECT sum(-(x ^ 2) - x ^ 2 + (-2) ^ 2) FROM w', ARRAY['w'])", nil},
		{"SELECT backward('SELECT sum(exp(-(x - 1) ^ 2 / 2)) FROM w', ARRAY['w'])", []string{minus}},
		{"SELECT backward('SELECT sum(-x ^ 2) FROM w', ARRAY['w'])", nil},
	} {
		said = nil
		if _, err := db.Run(context.Background(), c.sql); err != nil {
			t.Fatal(sqlerr.Render(err))
		}
		if !slices.Equal(said, c.want) {
			t.Errorf("%s: said %q, not %q", c.sql, said, c.want)
		}
	}
}
