package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Parameters that lie at other servers are committed by one server after the other: where one fails in between, some
// rows are those of another step than the run's record. So each server keeps the step, committed with its rows, and the
// record keeps the values.

// valueName is the name of a parameter's values in relgrad.state.
const valueName = "value"

// marker is a database of which parameters may lie at other servers; nil: they do not.
func (r *record) marker() catalog.Marker {
	m, _ := r.db.Database.(catalog.Marker)
	return m
}

// serversOf lists the servers where parts of a parameter lie.
func (r *record) serversOf(l *engine.Live) ([]string, error) {
	if m := r.marker(); m != nil {
		return m.Servers(l.Table.Schema, l.Table.Name)
	}
	return nil, nil
}

// servers lists those where parts of any parameter lie.
func (r *record) servers() (out []string, err error) {
	for _, l := range r.lives {
		at, err := r.serversOf(l)
		if err != nil {
			return nil, err
		}
		out = append(out, at...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// markServers notes the step of a commit at the servers where parameters lie.
func (r *record) markServers(ctx context.Context, step int64) error {
	at, err := r.servers()
	if err != nil || len(at) == 0 {
		return err
	}
	return r.marker().Mark(ctx, at, r.id, step)
}

// values are the numbers of a parameter that lies at other servers; nil: it lies here.
func (r *record) values(ctx context.Context, l *engine.Live) (*column.Column, error) {
	if at, err := r.serversOf(l); err != nil || len(at) == 0 {
		return nil, err
	}
	if !r.pushes && r.final == nil {
		return l.Values()
	}
	return r.storedValues(ctx, l) // the last step's are not those of the tables where these hold the best
}

func (r *record) storedValues(ctx context.Context, l *engine.Live) (*column.Column, error) {
	now, err := r.db.Read(ctx, l.Table, []int{l.Col})
	if err != nil {
		return nil, err
	}
	if n := now[0].Len(); n != l.Param.Rows {
		return nil, sqlerr.New(sqlerr.ObjectNotPrereqState, "parameter %s has %d rows, not the %d that are trained",
			l.Table.Name, n, l.Param.Rows)
	}
	return now[0], nil
}

// untear makes the parameters at other servers those of the run's last commit, if a server has another one.
func (r *run) untear(ctx context.Context) error {
	at, err := r.servers()
	if err != nil || len(at) == 0 {
		return err
	}
	recorded, err := r.recorded(ctx, valueName)
	if err != nil {
		return err
	}
	var torn []string
	for _, server := range at {
		step, ok, err := r.marker().Marked(ctx, server, r.id)
		if err != nil {
			return err
		}
		switch {
		case ok && step != r.progress.Step:
			torn = append(torn, fmt.Sprintf("those at server \"%s\" were of step %d", server, step))
		case !ok && r.progress.Step > 0 && recorded: // else the table lay here when the record was written
			torn = append(torn, fmt.Sprintf("server \"%s\" no longer tells of which step those there were", server))
		}
	}
	if torn == nil {
		return nil
	}
	if r.keys() != r.stored {
		return r.otherRows()
	}
	if r.db.InTransaction() { // the caller's
		if err = r.writeBack(ctx); err == nil {
			err = r.markServers(ctx, r.progress.Step)
		}
	} else {
		err = r.writeBackApart(ctx)
	}
	if err != nil {
		return err
	}
	for _, text := range torn {
		r.db.Notify("NOTICE", fmt.Sprintf("train: the parameters are again those of step %d: a commit had failed, and %s",
			r.progress.Step, text))
	}
	return nil
}

// recorded reports whether the record has values of parameters by that name.
func (r *record) recorded(ctx context.Context, name string) (bool, error) {
	res, err := r.db.Runf(ctx, "SELECT EXISTS (SELECT FROM relgrad.state WHERE run OPERATOR(pg_catalog.=) %d AND name "+
		"OPERATOR(pg_catalog.=) '%s')", r.id, name)
	if err != nil {
		return false, err
	}
	return res.Rows[0][0] == true, nil
}

// writeBackApart is writeBack in a transaction of its own.
func (r *run) writeBackApart(ctx context.Context) error {
	if err := r.db.BeginWrite(); err != nil {
		return err
	}
	err := r.writeBack(ctx)
	if err == nil {
		err = r.markServers(ctx, r.progress.Step)
	}
	if err != nil {
		return r.db.Undo(err)
	}
	_, err = r.db.Commit()
	return err
}

// writeBack writes the values of the run's record to the parameters that lie at other servers.
func (r *run) writeBack(ctx context.Context) error {
	for i, l := range r.lives {
		at, err := r.serversOf(l)
		if err != nil {
			return err
		}
		if len(at) == 0 {
			continue
		}
		v, err := r.storedValues(ctx, l)
		if err != nil {
			return err
		}
		if err := r.loadBuffer(ctx, r.slots[i], valueName, v); err != nil {
			return err
		}
		if err := r.db.Write(ctx, l.Table, l.Col, l.Rows, l.Keys, v); err != nil {
			return err
		}
		if r.pushed == nil {
			if err := r.c.Prog.Reload(ctx, l.Table, l.Col); err != nil {
				return err
			}
		}
	}
	return nil
}
