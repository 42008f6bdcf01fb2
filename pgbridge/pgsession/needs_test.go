package pgsession

import (
	"fmt"
	"testing"
)

// TestNeedsIn: what a query needs of a call is known also where the call stands in a WITH query.
func TestNeedsIn(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT x FROM delta_table('d') WHERE k > 3":                                                               "k >",
		"WITH q AS (SELECT k AS n, x FROM delta_table('d')) SELECT sum(x) FROM q WHERE n > 3 AND x < n":            "k >",
		"WITH q AS (SELECT * FROM delta_table('d')), r AS (SELECT * FROM q) SELECT 1 FROM r WHERE k = 3 AND x > 1": "k = x >",
		"WITH q AS (SELECT k FROM delta_table('d')) SELECT 1 FROM q a, q b WHERE a.k = 3 AND b.k = 3 AND b.k > 1":  "k =",
		"WITH q AS (SELECT k FROM delta_table('d')) SELECT 1 FROM q a, q b WHERE a.k = 3 AND b.k = 4":              "",
		"INSERT INTO t WITH q AS (SELECT k FROM delta_table('d')) SELECT k FROM q WHERE k <= 4":                    "k <=",
	} {
		needs, ok := needsIn(sql)
		if !ok || len(needs) != 1 {
			t.Errorf("%s: %v", sql, needs)
		}
		for _, n := range needs {
			got := ""
			for i, c := range n.needs.Where {
				if i > 0 {
					got += " "
				}
				got += fmt.Sprint(c.Column, " ", c.Op)
			}
			if got != want {
				t.Errorf("%s: %s, not %s", sql, got, want)
			}
		}
	}
}
