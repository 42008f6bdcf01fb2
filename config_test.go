package relgrad

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/train"
)

// TestConfigs: a Go program is told of options that train() would not take, before the run.
func TestConfigs(t *testing.T) {
	ctx, db := context.Background(), open(t, "")
	mustRun(t, db, "CREATE TABLE w (id int PRIMARY KEY, x double precision); INSERT INTO w VALUES (1, 2);"+
		"CREATE VIEW loss AS SELECT sum(x * x) AS loss FROM w")
	for want, set := range map[string]func(c *train.Config){
		`optimizer "nosuch" does not exist`:       func(c *train.Config) { c.Optimizer = "nosuch" },
		`optimizer "" does not exist`:             func(c *train.Config) { c.Optimizer = "" },
		`schedule "" does not exist`:              func(c *train.Config) { c.Schedule = "" },
		"every must be at least 1, not 0":         func(c *train.Config) { c.Validate, c.Every = "SELECT 1", 0 },
		"batch_size must be at least 1, not -1":   func(c *train.Config) { c.Batch, c.BatchSize = "w", -1 },
		"lr must be at least 0 and finite":        func(c *train.Config) { c.LR = -1 },
		"lr must be at least 0 and finite, not N": func(c *train.Config) { c.LR = math.NaN() },
		"epochs must be at least 0, not -1":       func(c *train.Config) { c.Epochs = -1 },
		"option batch needs batch_size":           func(c *train.Config) { c.Batch = "w" },
	} {
		c := train.Default()
		set(&c)
		if _, err := db.Train(ctx, "loss", []string{"w"}, c); err == nil || !strings.Contains(err.Error(), want) ||
			sqlerr.Code(err) != sqlerr.InvalidParameter {
			t.Errorf("%v, not %s", err, want)
		}
	}
	if _, err := db.Train(ctx, "loss", nil, train.Default()); err == nil ||
		!strings.Contains(err.Error(), "no parameters are named") {
		t.Error(err)
	}
	c := train.Default()
	c.Epochs, c.Tolerance = 2, new(float64)
	if _, err := db.Train(ctx, "loss", []string{"w"}, c); err != nil {
		t.Error(err)
	}
	if n := mustRun(t, db, "SELECT count(*) FROM relgrad.run").Rows[0][0]; n != int64(1) {
		t.Errorf("%v runs", n)
	}
	db.Close()
	if _, err := db.Run(ctx, "SELECT 1"); err == nil || !strings.Contains(err.Error(), "the session is closed") {
		t.Error(err)
	}
}
