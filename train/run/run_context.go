package run

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// runContext is what a step of a run depends on beside its options, the tables and the optimizer's state; relgrad.run
// keeps it, and resume puts it back.
type runContext struct {
	// Settings are the parameters that decide what names and views mean: search_path and those with a dot.
	Settings map[string]string `json:"settings"`
	// Written is that of progress, in stores that kept it here.
	Written []string `json:"written,omitempty"`
}

// progress is what changes of it; a run's row is not changed otherwise.
type progress struct {
	// Keys are those of the rows that are trained: of a run without steps they may be others than when it was stored.
	Keys string `json:"keys"`
	// Written are the tables that before_step has written by now. Plans treat them as structure of a step, whose rows
	// they do not count: another plan may sum in another order.
	Written []string `json:"written,omitempty"`
}

// rest describes the run as it begins.
func (r *record) rest() (string, error) {
	text, err := json.Marshal(runContext{Settings: r.db.Variables()})
	return string(text), err
}

// stand describes the run as it is now.
func (r *record) stand() (string, error) {
	p := progress{Keys: r.keys()}
	for _, t := range slices.SortedFunc(maps.Keys(r.hook.changing()), engine.Object.Compare) {
		p.Written = append(p.Written, t.Schema+"."+t.Table)
	}
	text, err := json.Marshal(p)
	return string(text), err
}

// takeRest goes back to what a stored run rests on, until the run is closed; nil stands in runs of stores that did not
// keep it, and in those without a step.
func (r *record) takeRest(stored, stand any) error {
	var c runContext
	var p progress
	if err := r.decode("rest", stored, &c); err != nil {
		return err
	}
	if err := r.decode("progress", stand, &p); err != nil {
		return err
	}
	if r.bare = stored == nil; !r.bare {
		r.back = r.db.WithSettings(c.Settings)
	}
	if stand != nil {
		r.stored = p.Keys
	}
	for _, name := range append(c.Written, p.Written...) {
		schema, table, _ := strings.Cut(name, ".")
		r.written = append(r.written, engine.Object{Schema: schema, Table: table})
	}
	return nil
}

// decode reads a column of the run's row, which holds JSON.
func (r *record) decode(column string, stored, into any) error {
	if stored == nil {
		return nil
	}
	text, ok := stored.(string)
	if !ok {
		return r.corrupt(column, nil)
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return r.corrupt(column, err)
	}
	return nil
}

// corrupt says that what is stored of the run is not what relgrad has written.
func (r *record) corrupt(column string, cause error) *sqlerr.Error {
	e := sqlerr.New(sqlerr.DataCorrupted, "run %d cannot go on: what relgrad.run holds as its %s is not what train writes",
		r.id, column).Wrap(cause)
	if cause != nil {
		e = e.WithDetail("%v.", cause)
	}
	return e.WithHint("Begin a new run. The parameters are those of its last commit.")
}
