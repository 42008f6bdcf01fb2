package run

import (
	"context"
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/engine"
)

// Between a run's last commit and its resumption anyone may change its parameters. The run goes on from what is there,
// but the optimizer's state belongs to the former values: a warning names the parameters.

// hashes are those of the values that the tables hold after a commit, by the names of the parameters' columns; nil
// where the database computes the steps.
func (r *record) hashes() (map[string]string, error) {
	if r.pushes {
		return nil, nil
	}
	out := map[string]string{}
	for i, l := range r.lives {
		v, err := l.Values()
		if err != nil {
			return nil, err
		}
		if r.final != nil { // the tables hold the best ones
			v = r.best[i]
		}
		out[r.slots[i].Name] = fmt.Sprintf("%x", engine.Hash(v))
	}
	return out, nil
}

// changedSince lists the parameters whose values are not those of the last commit. Older stores have kept no hashes.
func (r *record) changedSince() (out []string, err error) {
	if r.progress.Step == 0 {
		return nil, nil
	}
	now, err := r.hashes()
	for _, s := range r.slots {
		was, h := r.left[s.Name], now[s.Name]
		if was != "" && h != "" && was != h {
			out = append(out, s.Name)
		}
	}
	return out, err
}

// warnChanged warns of parameters that have changed since the last commit.
func (r *record) warnChanged(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	goes := "it goes on from what is there now, with the optimizer's state of the values before"
	last, err := r.recorded(ctx, lastName)
	if err != nil {
		return err
	}
	if last {
		goes = "it goes on from the values of its last step, which it has kept"
	}
	has := "has"
	if len(names) > 1 {
		has = "have"
	}
	r.db.Notify("WARNING", fmt.Sprintf("train: %s %s changed since run %d's last commit; %s", strings.Join(names, ", "),
		has, r.id, goes))
	return nil
}
