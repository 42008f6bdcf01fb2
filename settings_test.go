package relgrad

import (
	"testing"

	"github.com/relgrad/relgrad/engine"
)

// moody is a store whose session changes what texts mean.
type moody struct {
	embedded
	meaning string
}

func (m *moody) Meaning() string { return m.meaning }

// TestSettingsOfCompiled: a compiled loss holds under the settings that it was compiled under.
func TestSettingsOfCompiled(t *testing.T) {
	db, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	m := &moody{embedded: db.Database.(embedded)}
	e := newEngine(m)
	defer e.core.Close()
	compiled := 0
	e.OnCompiled = func(engine.Compilation) { compiled++ }
	ctx := t.Context()
	for _, sql := range []string{"CREATE TABLE w (k int PRIMARY KEY, x double precision)", "INSERT INTO w VALUES (1, 2)"} {
		if _, err := e.RunSQL(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	for i, meaning := range []string{"ISO", "ISO", "German", "ISO"} {
		m.meaning = meaning
		if _, err := e.Backward(ctx, "SELECT sum(x ^ 2) FROM w", []string{"w"}, nil, 0); err != nil {
			t.Fatal(err)
		}
		if want := []int{1, 1, 2, 2}[i]; compiled != want {
			t.Errorf("after %d calls %d losses are compiled, not %d", i+1, compiled, want)
		}
	}
}
