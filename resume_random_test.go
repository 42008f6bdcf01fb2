package relgrad

import (
	"context"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"
)

// drawnOptions draws options of train that may stand together, for the model ratings.
func drawnOptions(r *rand.Rand) string {
	opts := []string{fmt.Sprintf("epochs => 3, seed => %d, lr => 0.002", r.Intn(9))}
	pick := func(l ...string) string { return l[r.Intn(len(l))] }
	maybe := func(l ...string) {
		if r.Intn(2) == 0 {
			opts = append(opts, pick(l...))
		}
	}
	opts = append(opts, "optimizer => '"+pick("sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw")+"'")
	maybe("batch => 'example', batch_size => 9", "batch => 'example', batch_size => 26",
		"batch => 'example', batch_size => 1000")
	maybe("sparse => true", "sparse => ARRAY['u']", "sparse => ARRAY['w.v']")
	maybe(`options => '{"w": {"where": "id % 2 = 0", "lr": 0.01}, "w.b": {"weight_decay": 0.2}}'`)
	maybe("clip_norm => 0.7, weight_decay => 0.01")
	maybe("schedule => 'cosine'", "schedule => 'step', step_size => 2", "warmup => 3")
	maybe("nonnegative => ARRAY['w']", "project => ARRAY['u: unit_ball', 'w.v: simplex']")
	maybe("validate => 'whole', patience => 2", "validate => 'stored'")
	maybe("tolerance => 0.5")
	maybe("before_step => $$UPDATE w SET b = b * 0.9$$",
		"before_step => $$UPDATE note SET x = x + current_step() / 100.0$$",
		"before_step => $$UPDATE example SET y = y * 1.01 WHERE id % 3 = current_step() % 3$$",
		"before_step => $$INSERT INTO hits SELECT current_step(), sum(b) FROM w$$")
	return strings.Join(opts, ", ")
}

// TestResumeAtEveryStep: runs of drawn options that stop after every step end as undisturbed ones on another number of
// workers do, bit for bit.
func TestResumeAtEveryStep(t *testing.T) {
	setup := fmt.Sprintf(ratings, "example", "") + `
CREATE TABLE note (id int PRIMARY KEY, x double precision);
INSERT INTO note VALUES (1, 0.5);
CREATE TABLE hits (step bigint, x double precision);
CREATE VIEW whole AS SELECT sum(sqnorm(v)) FROM u;
CREATE VIEW stored AS SELECT max(b) + (SELECT x FROM note) FROM (SELECT DISTINCT b FROM w ORDER BY b LIMIT 3) q;
CREATE VIEW drawn AS SELECT sum(sqnorm(dropout(u.v, 0.3) - (g.s + n.x) * dropout(u.v,
    0.5))) + sum(w.b * w.b + sqnorm(w.v)) AS loss
FROM guess g JOIN example e USING (id) JOIN u ON u.id = e.usr JOIN w ON w.id = e.item CROSS JOIN note n
    WHERE (e.id + current_step()) % 3 > 0;
`
	r := rand.New(rand.NewSource(3))
	ctx := context.Background()
	for range 15 {
		call := fmt.Sprintf("CALL train('%s', ARRAY['u', 'w'], %s", []string{"loss", "drawn"}[r.Intn(2)], drawnOptions(r))
		whole, parts := open(t, ""), open(t, "")
		whole.Workers, parts.Workers = 1, 2
		mustRun(t, whole, setup+call+")")
		mustRun(t, parts, setup+call+", max_seconds => 1e-9)")
		for range 100 {
			if mustRun(t, parts, "SELECT status FROM relgrad.run").Rows[0][0] != "stopped by max_seconds" {
				break
			}
			if _, err := parts.Run(ctx, "CALL train(resume => 1)"); err != nil {
				t.Fatalf("%s: %v", call, err)
			}
		}
		for _, q := range []string{"SELECT * FROM u ORDER BY id", "SELECT * FROM w ORDER BY id",
			"SELECT step, epoch, loss, validation FROM relgrad.loss ORDER BY step",
			"SELECT status, step, best, waited FROM relgrad.run", "SELECT * FROM hits ORDER BY step", "SELECT * FROM note"} {
			if a, b := mustRun(t, whole, q).Rows, mustRun(t, parts, q).Rows; !reflect.DeepEqual(a, b) {
				t.Errorf("%s): %s\n%v\nin parts\n%v", call, q, a, b)
			}
		}
	}
}
