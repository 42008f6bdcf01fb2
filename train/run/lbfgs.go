package run

import (
	"context"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/train"
)

// searched is a run whose steps are found by a line search. The numbers that it trains are one vector, on the host.
type searched struct {
	*run
	of    train.LBFGS
	parts []*vectorPart // in the order of their names
	size  int           // of the vector
	found *device.NotFinite
}

// vectorPart is the part of the vector that a slot has. Its rows are in the order of their keys, so that results do not
// depend on where a database stores them.
type vectorPart struct {
	slot, root, col int
	key             []int
	rows            []int32
	at              []int // by row: where its numbers begin; -1: it is not trained
}

// search lays out the vector.
func (r *run) search() *searched {
	s := &searched{run: r, of: train.LBFGS{First: r.config.LR, History: int(r.config.History)}}
	for i := range r.c.Tables {
		for _, col := range r.c.Cols[i] {
			n := len(s.parts)
			l := r.lives[n]
			p := &vectorPart{slot: n, root: i + 1, col: r.c.GradColumn(i, col), key: r.c.GradKey(i),
				at: make([]int, l.Param.Rows)}
			for _, row := range structure.InOrder(l.Keys, l.Param.Rows) {
				if on := r.slots[n].Trained; on == nil || on[row] {
					p.rows = append(p.rows, row)
				}
			}
			s.parts = append(s.parts, p)
		}
	}
	slices.SortFunc(s.parts, func(a, b *vectorPart) int {
		return strings.Compare(r.slots[a.slot].Name, r.slots[b.slot].Name)
	})
	for _, p := range s.parts {
		for i := range p.at {
			p.at[i] = -1
		}
		for _, row := range p.rows {
			p.at[row] = s.size
			s.size += r.lives[p.slot].Param.Size
		}
	}
	return s
}

// steady refuses a loss that is another one at every step.
func (r *programs) steady(c *engine.Compiled) error {
	if !r.config.Searches() || !c.Draws() {
		return nil
	}
	return engine.About(sqlerr.New(sqlerr.InvalidParameter,
		"optimizer %q needs a loss that is the same at every step, and this one draws (dropout or current_step())",
		r.config.Optimizer).WithHint("Take another optimizer, such as adam."), "loss", 0)
}

// Ahead implements train.Pipelined: a search knows the loss before the step behind it begins.
func (s *searched) Ahead() bool { return false }

// Step implements train.Model. The loss and its gradients are those of the present point, which the step before has
// computed; the parameters are those of the next one then.
func (s *searched) Step(ctx context.Context, step int64) (loss float64, err error) {
	env := s.config.Env(step)
	s.of.Objective = func(x []float64) (float64, []float64, error) { return s.at(ctx, env, x) }
	x := make([]float64, s.size)
	if !s.of.Begun() {
		err = s.each(func(at int, v *column.Column, i int) { x[at] = v.Float(i) }, false)
		if err == nil {
			err = s.of.Begin(x)
		}
		if err != nil {
			return 0, engine.About(err, "loss", 0)
		}
	}
	x, loss, gradient := s.of.At()
	if s.found = s.notFinite(gradient); s.found != nil {
		return loss, nil // Update tells it
	}
	if err = s.of.Step(); err != nil {
		if back := s.put(x); back != nil {
			return 0, back
		}
		if err == train.ErrLowest {
			return 0, err
		}
		return 0, engine.About(err, "loss", 0)
	}
	next, _, _ := s.of.At()
	return loss, s.put(next)
}

// Update implements train.Model. Step has changed the parameters already.
func (s *searched) Update(context.Context, int64) error {
	if s.found != nil {
		return s.found
	}
	return nil
}

// at computes the loss and its gradient at a point, whose numbers it rounds to what the parameters hold.
func (s *searched) at(ctx context.Context, env kernels.Env, x []float64) (float64, []float64, error) {
	if err := s.put(x); err != nil {
		return 0, nil, err
	}
	loss, err := s.c.Run(ctx, env)
	if err != nil {
		return 0, nil, err
	}
	gradient := make([]float64, s.size)
	for _, p := range s.parts {
		g, err := s.c.Prog.Grad(p.root, p.col)
		if err != nil {
			return 0, nil, err
		}
		rows, err := s.c.Prog.Match(p.root, s.lives[p.slot].Table, p.key)
		if err != nil {
			return 0, nil, err
		}
		size := g.Size()
		for i, row := range rows {
			if row < 0 || p.at[row] < 0 || g.IsNull(i) {
				continue
			}
			for j := range size {
				gradient[p.at[row]+j] = g.Float(i*size + j)
			}
		}
	}
	return loss, gradient, nil
}

// put has the parameters be x, rounded to what they can hold.
func (s *searched) put(x []float64) error {
	return s.each(func(at int, v *column.Column, i int) {
		v.SetFloat(i, x[at])
		x[at] = v.Float(i)
	}, true)
}

// each calls f with every place of the vector, and the column and the place there which hold its number.
func (s *searched) each(f func(at int, v *column.Column, i int), change bool) error {
	for _, p := range s.parts {
		q := s.lives[p.slot].Param
		all := func(v *column.Column) {
			for _, row := range p.rows {
				for j := range q.Size {
					f(p.at[row]+j, v, int(row)*q.Size+j)
				}
			}
		}
		if change {
			if err := q.SetValues(all); err != nil {
				return err
			}
			continue
		}
		v, err := q.Values()
		if err != nil {
			return err
		}
		all(v)
	}
	return nil
}

// notFinite finds the first number of a gradient that is none; nil: there is none.
func (s *searched) notFinite(gradient []float64) *device.NotFinite {
	for _, p := range s.parts {
		for _, row := range p.rows {
			for _, x := range gradient[p.at[row] : p.at[row]+s.lives[p.slot].Param.Size] {
				if x-x != 0 {
					return &device.NotFinite{Slot: p.slot, Row: int(row), X: x}
				}
			}
		}
	}
	return nil
}
