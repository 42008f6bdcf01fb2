package relgrad

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// That log is the logarithm to base 10 is said once in a session, of one argument, and of a loss only.
func TestLogIsDecimal(t *testing.T) {
	db, err := Open(filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var said []string
	db.Notice = func(level, message string) { said = append(said, level+": "+message) }
	const notice = "NOTICE: log(x) is the logarithm to base 10, as in Postgres; the natural logarithm is ln(x)"
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
