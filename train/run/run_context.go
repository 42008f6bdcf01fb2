package run

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/train"
)

// runContext holds what a step of a run depends on beside its options, the tables and the optimizer's state.
// relgrad.run stores it, and resume restores it.
type runContext struct {
	// Settings are the parameters that change what names and views mean: search_path and parameters with a dot.
	Settings map[string]string `json:"settings"`
	// Written is progress.Written, which older stores keep here.
	Written []string `json:"written,omitempty"`
}

// progress is the part of the context that changes during a run.
type progress struct {
	// Keys are the keys of the trained rows. A run without steps may be resumed with other rows.
	Keys string `json:"keys"`
	// Values are hashes of the parameters' values in the tables, by the names of their columns; nil where the database
	// computes the steps.
	Values map[string]string `json:"values,omitempty"`
	// Written are the tables that before_step has written so far. Plans treat their rows as structure of a step and do
	// not count them: a plan that counted them might sum in another order.
	Written []string `json:"written,omitempty"`
	// Changed are the options that the run took anew when it went on.
	Changed map[string]any `json:"changed,omitempty"`
	// BestAt is the step of the best validation.
	BestAt int64 `json:"best_at,omitempty"`
}

// stored is progress as it is read.
type storedProgress struct {
	progress
	Changed map[string]json.RawMessage `json:"changed"`
}

// rest encodes the context of the run at its beginning.
func (r *record) rest() (string, error) {
	text, err := json.Marshal(runContext{Settings: r.db.Variables()})
	return string(text), err
}

// stand encodes the run's progress.
func (r *record) stand(now train.Progress) (string, error) {
	p := progress{Keys: r.keys(), BestAt: now.BestAt, Changed: r.config.Changed(r.changed)}
	var err error
	if p.Values, err = r.hashes(); err != nil {
		return "", err
	}
	for _, t := range slices.SortedFunc(maps.Keys(r.hook.changing()), engine.Object.Compare) {
		p.Written = append(p.Written, t.Schema+"."+t.Table)
	}
	text, err := json.Marshal(p)
	return string(text), err
}

// takeRest restores a stored run's context, whose settings hold until the run is closed. stored is nil if an older
// store has not kept it, stand if the run has no step.
func (r *record) takeRest(stored, stand any) error {
	var c runContext
	var p storedProgress
	if err := r.decode("context", stored, &c); err != nil {
		return err
	}
	if err := r.decode("progress", stand, &p); err != nil {
		return err
	}
	if r.bare = stored == nil; !r.bare {
		r.back = r.db.WithSettings(c.Settings)
	}
	if stand != nil {
		r.stored, r.left = p.Keys, p.Values
	}
	if err := r.config.Change(p.Changed); err != nil {
		return r.corrupt("progress", err)
	}
	r.changed = slices.Sorted(maps.Keys(p.Changed))
	if p.BestAt < 0 || p.BestAt > r.progress.Step {
		return r.corrupt("progress", nil)
	}
	r.progress.BestAt = p.BestAt
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

// corrupt is the error of stored data of a run that relgrad cannot have written.
func (r *record) corrupt(column string, cause error) *sqlerr.Error {
	e := sqlerr.New(sqlerr.DataCorrupted, "run %d cannot go on: what relgrad.run holds as its %s is not what train writes",
		r.id, column).Wrap(cause)
	if cause != nil {
		e = e.WithDetail("%v.", cause)
	}
	return e.WithHint("Begin a new run. The parameters are those of its last commit.")
}
