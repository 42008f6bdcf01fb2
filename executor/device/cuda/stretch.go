package cuda

import (
	"context"
	"time"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cuda"
)

// stretch is a part of a list that runs without a look at what has been found: one instruction of the processors, or
// kernels, which are launched at once from the second run on.
type stretch struct {
	tasks []*task
	looks bool // what has been found before is looked at first
	first bool // of the list
	last  bool
	ran   bool
	graph *cuda.Graph // nil: kernels are launched one by one
}

// stretchesOf cuts a list. Columns change only when all gradients have been looked through: kernels of updates see to
// that themselves, before what the processors update the host looks.
func stretchesOf(list []*task) (out []*stretch) {
	var open *stretch
	changes := false
	for _, t := range list {
		_, update := t.Form.(*device.Update)
		looks := update && t.host != nil && !changes
		changes = changes || looks
		switch {
		case t.parts:
			continue
		case open == nil || t.host != nil || open.tasks[0].host != nil:
			open = &stretch{looks: looks}
			out = append(out, open)
		}
		open.tasks = append(open.tasks, t)
	}
	if open != nil {
		out[0].first, open.last = true, true
	}
	return out
}

// run runs a stretch. If timed, it notes how long each instruction takes.
func (s *stretch) run(ctx context.Context, c *code, env *kernels.Env, timed bool) error {
	if timed || !s.ran || s.tasks[0].host != nil || s.launches() < 2 {
		s.ran = true
		return s.each(ctx, c, env, timed)
	}
	if s.graph == nil {
		var err error
		if s.graph, err = c.d.d.Record(func() error { return s.each(ctx, c, env, false) }); err != nil {
			return err
		}
	}
	return s.graph.Launch()
}

func (s *stretch) launches() (n int) {
	for _, t := range s.tasks {
		n += len(t.kernels)
	}
	return n
}

// each runs instructions one by one.
func (s *stretch) each(ctx context.Context, c *code, env *kernels.Env, timed bool) error {
	if s.first {
		if err := c.begin(); err != nil {
			return err
		}
	}
	for _, t := range s.tasks {
		begin := time.Now()
		if err := c.runTask(ctx, t, env); err != nil {
			return err
		}
		if timed {
			if err := c.d.d.Wait(); err != nil {
				return err
			}
			t.took = append(t.took, time.Since(begin))
		}
	}
	if s.last {
		return c.end()
	}
	return nil
}

// forget drops what has been recorded.
func (s *stretch) forget() {
	if s.graph != nil {
		s.graph.Forget()
	}
	s.graph = nil
}
