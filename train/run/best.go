package run

import (
	"context"

	"github.com/relgrad/relgrad/column"
)

// With restore_best the tables hold the parameters of the last commit while the run goes on, and relgrad.state those of
// the best validation beside them, committed together. Only the last commit of a run that ends by its own options
// leaves the best ones in the tables. It stores those of the last step, from which the run goes on if it is resumed.

// Names of parameters' values in relgrad.state.
const (
	bestName = "best"
	lastName = "last"
)

// present copies the parameters' values.
func (r *record) present(ctx context.Context) (out []*column.Column, err error) {
	for _, l := range r.lives {
		var v *column.Column
		if r.pushes {
			v, err = r.storedValues(ctx, l)
		} else if v, err = l.Values(); err == nil {
			v = v.Clone()
		}
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// Keep implements train.Model.
func (r *run) Keep(ctx context.Context) (err error) {
	r.best, err = r.present(ctx)
	return err
}

// leaveBest writes the parameters of the best validation to the tables, and remembers those of the last step.
func (r *run) leaveBest(ctx context.Context) (err error) {
	if r.final, err = r.present(ctx); err != nil {
		return err
	}
	return r.put(ctx, r.best)
}

// put writes values to the parameters' tables.
func (r *run) put(ctx context.Context, values []*column.Column) error {
	for i, l := range r.lives {
		if err := r.db.Write(ctx, l.Table, l.Col, l.Rows, l.Keys, values[i]); err != nil {
			return err
		}
	}
	return nil
}

// restored reads stored values of the parameters; nil: there are none.
func (r *record) restored(ctx context.Context, name string) ([]*column.Column, error) {
	if has, err := r.recorded(ctx, name); err != nil || !has {
		return nil, err
	}
	out, err := r.present(ctx) // of their types, and with their NULLs
	for i, v := range out {
		if err == nil {
			err = r.loadBuffer(ctx, r.slots[i], name, v)
		}
	}
	return out, err
}

// backToLast reads the parameters of the best validation so far. If they are in the tables, those of the last step take
// their place.
func (r *run) backToLast(ctx context.Context) error {
	if !r.config.RestoreBest || r.progress.BestAt == 0 {
		return nil
	}
	var err error
	if r.best, err = r.restored(ctx, bestName); err != nil {
		return err
	}
	if r.best == nil {
		return r.corrupt("best", nil)
	}
	last, err := r.restored(ctx, lastName)
	if err != nil || last == nil {
		return err
	}
	own := !r.db.InTransaction()
	if own {
		if err := r.db.BeginWrite(); err != nil {
			return err
		}
	}
	err = r.put(ctx, last)
	for _, l := range r.lives {
		if err == nil && r.pushed == nil {
			err = r.c.Prog.Reload(ctx, l.Table, l.Col)
		}
	}
	switch {
	case own && err != nil:
		return r.db.Undo(err)
	case own:
		_, err = r.db.Commit()
	}
	return err
}
