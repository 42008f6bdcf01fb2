package relgrad

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// notFiniteScript has losses whose gradients, or values, are not finite.
const notFiniteScript = `
CREATE TABLE w (id int PRIMARY KEY, x double precision, v double precision[] NOT NULL, part text);
INSERT INTO w VALUES (1, 2, '{1,2}', 'a'), (2, 0, '{0,4}', 'b');
CREATE VIEW root AS SELECT sum(power(x, 0.5)) FROM w;
CREATE VIEW roots AS SELECT sum(sum_elements(power(v, 0.25))) FROM w;
CREATE VIEW below AS SELECT sum(ln(x)) FROM w;
CREATE VIEW none AS SELECT sum(ln(x - 1)) FROM w;
CREATE VIEW fine AS SELECT sum(x ^ 2) + sum(sqnorm(v)) FROM w;
`

// lossesNotFinite are the losses with what is said of them: the message, and what the detail ends with.
var lossesNotFinite = []struct{ loss, message, detail string }{
	{"root", "the gradient is Infinity, parameter w.x, key (id = 2)", "key (id = 2), made by"},
	{"roots", "the gradient is Infinity, parameter w.v, key (id = 2)", "key (id = 2), made by"},
	{"below", "the loss is -Infinity", "key (id = 2), made by ln."},
	{"none", "the loss is NaN", "key (id = 2), made by ln."},
}

// saysNotFinite compares an error with what is expected; of the portable tier no engine looks for the kernel.
func saysNotFinite(t *testing.T, what string, err error, message, detail string) {
	t.Helper()
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Code != sqlerr.NumericOutOfRange || !strings.Contains(e.Message, message) ||
		!strings.Contains(e.Detail, detail) || e.Hint == "" {
		t.Errorf("%s: %+v, not %q with a detail of %q", what, err, message, detail)
	}
}

// calls runs gradient, backward and check of each loss.
func notFiniteCalls(t *testing.T, what string, db *Engine) {
	t.Helper()
	ctx := context.Background()
	for _, c := range lossesNotFinite {
		_, err := db.Gradient(ctx, c.loss, "w", nil, 0)
		saysNotFinite(t, what+" gradient of "+c.loss, err, c.message, c.detail)
		_, err = db.Backward(ctx, c.loss, []string{"w"}, nil, 0)
		saysNotFinite(t, what+" backward of "+c.loss, err, c.message, c.detail)
		_, err = db.Check(ctx, c.loss, "w", engine.CheckOptions{Samples: 3})
		saysNotFinite(t, what+" check of "+c.loss, err, c.message, c.detail)
	}
	if _, err := db.Gradient(ctx, "fine", "w", nil, 0); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if _, err := db.Backward(ctx, "fine", []string{"w"}, nil, 0); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

func TestNotFinite(t *testing.T) {
	db, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Run(context.Background(), notFiniteScript); err != nil {
		t.Fatal(err)
	}
	notFiniteCalls(t, "store", db.Engine)
	checkInfinite(t, db.Engine, func(sql string) error { _, err := db.Run(context.Background(), sql); return err })
}

// checkInfinite asks for differences at a parameter that is infinite, though loss and gradient are finite: there is no
// width for them.
func checkInfinite(t *testing.T, db *Engine, run func(sql string) error) {
	t.Helper()
	for value, shown := range map[string]string{"Infinity": "Infinity", "-Infinity": "-Infinity"} {
		if err := run("CREATE OR REPLACE VIEW flat AS SELECT sum(sigmoid(x)) FROM w; UPDATE w SET x = '" + value +
			"' WHERE id = 1"); err != nil {
			t.Fatal(err)
		}
		_, err := db.Check(context.Background(), "flat", "w.x", engine.CheckOptions{Samples: 5})
		saysNotFinite(t, "check at "+value, err, "parameter w.x holds "+shown+", key (id = 1)", "")
	}
}

func TestNotFiniteOnServer(t *testing.T) {
	s := startServer(t)
	if err := s.remote.Script(context.Background(), notFiniteScript); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{engine.ModeChunk, engine.ModeSQL} {
		s.Mode = mode
		notFiniteCalls(t, mode, s.Engine)
		res, err := s.RunSQL(context.Background(), "SELECT count(*) FROM pg_temp.w_grad")
		if err != nil || res.Rows[0][0] != int64(2) {
			t.Errorf("%s: %v %v", mode, res, err)
		}
	}
	checkInfinite(t, s.Engine, func(sql string) error { return s.remote.Script(context.Background(), sql) })
}

func TestNotFiniteOnPortableTier(t *testing.T) {
	s, _ := startPortable(t)
	ctx := context.Background()
	if err := s.remote.Script(ctx, notFiniteScript); err != nil {
		t.Fatal(err)
	}
	for _, c := range lossesNotFinite {
		if err := s.CompileText(ctx, c.loss, "w"); err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{"SELECT * FROM gradient('" + c.loss + "', NULL::w)", "SELECT backward('" + c.loss +
			"', ARRAY['w'])"} {
			_, err := s.RunSQL(ctx, sql)
			saysNotFinite(t, sql, err, c.message, "")
		}
	}
}
