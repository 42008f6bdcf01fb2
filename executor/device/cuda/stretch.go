package cuda

import (
	"context"
	"time"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels/cuda"
)

// stretch is a part of lists that runs without a look at what has been found: one instruction of the processors, or
// kernels, which are launched at once from the second run on.
type stretch struct {
	tasks  []*task
	looks  bool // what has been found before is looked at first
	first  bool // of all
	last   bool
	ran    bool
	graphs [2]*cuda.Graph // of each turn; nil: kernels are launched one by one
}

// stretchesOf cuts lists. Columns change only when all gradients have been looked through: kernels of updates see to
// that themselves, before what the processors update the host looks.
func stretchesOf(list []*task) (out []*stretch) {
	var open *stretch
	looked := false
	for _, t := range list {
		_, update := t.Form.(*device.Update)
		looks := update && t.host != nil && !looked
		looked = looked || looks
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
func (s *stretch) run(ctx context.Context, h *chain, t *turn, timed bool) error {
	if timed || !s.ran || s.tasks[0].host != nil || s.launches() < 2 {
		s.ran = true
		return s.each(ctx, h, t, timed)
	}
	g := &s.graphs[t.number]
	if *g == nil {
		var err error
		if *g, err = h.d.d.Record(func() error { return s.each(ctx, h, t, false) }); err != nil {
			return err
		}
	}
	return (*g).Launch()
}

func (s *stretch) launches() (n int) {
	for _, t := range s.tasks {
		n += len(t.kernels)
	}
	return n
}

// each runs instructions one by one.
func (s *stretch) each(ctx context.Context, h *chain, t *turn, timed bool) error {
	if s.first {
		if err := h.send(t); err != nil {
			return err
		}
	}
	for _, k := range s.tasks {
		begin := time.Now()
		if err := h.d.runTask(ctx, k, &t.env); err != nil {
			return err
		}
		if timed {
			if err := h.d.d.Wait(); err != nil {
				return err
			}
			k.took = append(k.took, time.Since(begin))
		}
	}
	if s.last {
		return h.receive(t)
	}
	return nil
}

// forget drops what has been recorded.
func (s *stretch) forget() {
	for _, g := range s.graphs {
		if g != nil {
			g.Forget()
		}
	}
	s.graphs = [2]*cuda.Graph{}
}
