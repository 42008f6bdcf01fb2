package relgrad

import (
	"context"
	"testing"
)

// TestNullsMove: which values of a parameter are NULL is structure, which a session keeps between calls while the
// values change.
func TestNullsMove(t *testing.T) {
	ctx := context.Background()
	db, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i, c := range []struct {
		run  string
		want float64
	}{
		{"CREATE TABLE w (id int PRIMARY KEY, x double precision); INSERT INTO w VALUES (1, 2), (2, NULL), (3, 5)", 2*2 + 5},
		{"UPDATE w SET x = 3 WHERE id = 1", 3*2 + 5},
		{"UPDATE w SET x = CASE WHEN x IS NULL THEN 7 WHEN id < 3 THEN NULL ELSE x END", 7*2 + 5},
		{"UPDATE w SET x = coalesce(x, 1)", 1*3 + 7*2 + 5},
		{"UPDATE w SET x = nullif(x, 5)", 1*2 + 7},
	} {
		if _, err := db.Run(ctx, c.run); err != nil {
			t.Fatal(err)
		}
		got, err := db.Backward(ctx,
			"SELECT sum(x * r) FROM (SELECT x, row_number() OVER (ORDER BY id DESC) AS r FROM w WHERE x IS NOT NULL) q",
			[]string{"w"}, nil, 0)
		if err != nil || got != c.want {
			t.Errorf("%d: the loss is %v, not %v: %v", i, got, c.want, err)
		}
	}
}
