package relgrad

import (
	"context"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// TestReachOfFunctions: what a function of the user's calls in a sub-query that the store runs whole counts as if the
// sub-query called it: draws are refused, and the step is asked for anew at every step.
func TestReachOfFunctions(t *testing.T) {
	db, ctx := open(t, ""), context.Background()
	mustRun(t, db, `CREATE TABLE w (id int PRIMARY KEY, x double precision); INSERT INTO w VALUES (1, 0);
CREATE TABLE t (id int PRIMARY KEY, y double precision); INSERT INTO t VALUES (1, 3), (2, 4);
CREATE FUNCTION drawn(a double precision) RETURNS double precision LANGUAGE sql AS $$ SELECT a * random() $$;
CREATE FUNCTION again(a double precision) RETURNS double precision LANGUAGE sql AS $$ SELECT drawn(a) $$;
CREATE FUNCTION given(a double precision DEFAULT random()) RETURNS double precision LANGUAGE sql AS $$ SELECT a $$;
CREATE FUNCTION steps(a double precision) RETURNS double precision LANGUAGE sql AS $$ SELECT a * current_step() $$;
CREATE FUNCTION reads() RETURNS double precision LANGUAGE sql AS $$ SELECT sum(x) FROM w $$;
CREATE VIEW drawing AS SELECT DISTINCT again(y) AS z FROM t; CREATE VIEW stepping AS SELECT max(q.z) AS z FROM (SELECT DISTINCT steps(y) AS z FROM t) q`)
	for _, sub := range []string{"SELECT DISTINCT drawn(y) FROM t WHERE id = 1", "SELECT DISTINCT again(y) FROM t WHERE id = 1", "SELECT DISTINCT given() FROM t", "SELECT max(z) FROM (SELECT * FROM drawing LIMIT 1) q", "SELECT DISTINCT reads() FROM t"} {
		_, err := db.Run(ctx, "SELECT backward($$ SELECT sum(x + 1) * ("+sub+") FROM w $$, 'w')")
		if sqlerr.Code(err) != sqlerr.FeatureNotSupported {
			t.Errorf("%s: %v", sub, err)
		}
	}
	for _, sub := range []string{"SELECT max(z) FROM (SELECT DISTINCT steps(y) AS z FROM t) q", "SELECT z FROM (SELECT * FROM stepping LIMIT 1) q"} {
		if _, err := db.Run(ctx, "SELECT backward($$ SELECT sum(x) * ("+sub+") FROM w $$, 'w')"); err == nil || !strings.Contains(err.Error(), "needs a step") {
			t.Errorf("%s without a step: %v", sub, err)
		}
		mustRun(t, db, "UPDATE w SET x = 0; CALL train($$ SELECT sum(x) * ("+sub+") FROM w $$, 'w', epochs => 3, lr => 1, optimizer => 'sgd')")
		if got := mustRun(t, db, "SELECT x FROM w").Rows[0][0]; got != -4.0*(1+2+3) {
			t.Errorf("%s: three steps come to %v", sub, got)
		}
	}
}
