package relgrad_test

import (
	"strings"
	"testing"

	"github.com/relgrad/relgrad"
)

// TestRoundedAttributes: the store says, as a server does, where the rows of a gradient round numerics of the table.
func TestRoundedAttributes(t *testing.T) {
	for value, rounded := range map[string]bool{
		"12345678901234567890.50": true, "1.00000000000000001": true, "0.1": false, "12345678.25": false, "NULL": false,
	} {
		db, err := relgrad.Open("")
		if err != nil {
			t.Fatal(err)
		}
		var warnings []string
		db.Notice = func(_, message string) { warnings = append(warnings, message) }
		must := func(sql string) {
			t.Helper()
			if _, err := db.Run(t.Context(), sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
		must("CREATE TABLE a (n int PRIMARY KEY, k numeric, x double precision)")
		must("INSERT INTO a VALUES (1, " + value + ", 0.5)")
		for _, sql := range []string{
			"SELECT backward('SELECT sum(x * x) FROM a', 'a.x')",
			"SELECT * FROM gradient('SELECT sum(x * x) FROM a', NULL::a)",
		} {
			warnings = nil
			must(sql)
			says := strings.Contains(strings.Join(warnings, "\n"), `column "k" of table "a" holds numerics of more than 15`)
			if says != rounded {
				t.Errorf("%s with %s: warnings %q", sql, value, warnings)
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
