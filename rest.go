package relgrad

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// rest is what a step of a run depends on beside its options, the tables and the optimizer's state; relgrad.run keeps
// it, and resume puts it back.
type rest struct {
	// Settings are the parameters that decide what names and views mean: search_path and those with a dot.
	Settings map[string]string `json:"settings"`
	// Written are the tables that before_step has written by now. Plans treat them as structure of a step, whose rows
	// they do not count: another plan may sum in another order.
	Written []string `json:"written,omitempty"`
}

// rest describes the run as it is now.
func (r *run) rest() (string, error) {
	c := rest{Settings: r.db.Variables()}
	for _, t := range slices.SortedFunc(maps.Keys(r.hook.changing()), object.compare) {
		c.Written = append(c.Written, t.schema+"."+t.table)
	}
	text, err := json.Marshal(c)
	return string(text), err
}

// takeRest goes back to what a stored run rests on, until the run is closed; nil stands in runs of stores that did not
// keep it.
func (r *run) takeRest(stored any) error {
	text, ok := stored.(string)
	if !ok {
		return nil
	}
	var c rest
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return fmt.Errorf("relgrad.run: rest of run %d: %w", r.id, err)
	}
	r.back = r.db.Under(c.Settings)
	for _, name := range c.Written {
		schema, table, _ := strings.Cut(name, ".")
		r.written = append(r.written, object{schema: schema, table: table})
	}
	return nil
}
