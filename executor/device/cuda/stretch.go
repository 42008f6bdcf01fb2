package cuda

import (
	"context"
	"fmt"
	"time"
	"unsafe"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cuda"
)

// stretch is a part of a list that runs without a look at what has been found: one instruction of the processors, or
// kernels, which are launched at once from the second run on.
type stretch struct {
	tasks []*task
	looks bool // what has been found before is looked at first
	ran   bool
	graph *cuda.Graph // nil: kernels are launched one by one
}

// stretchesOf cuts a list. Columns change only when all gradients have been looked through.
func stretchesOf(list []*task) (out []*stretch) {
	var open *stretch
	changes := false
	for _, t := range list {
		_, update := t.Form.(*device.Update)
		looks := update && !changes
		changes = changes || update
		switch {
		case t.parts:
			continue
		case open == nil || t.host != nil || looks || open.tasks[0].host != nil:
			open = &stretch{looks: looks}
			out = append(out, open)
		}
		open.tasks = append(open.tasks, t)
	}
	return out
}

// run runs a stretch. If timed, it notes how long each instruction takes.
func (s *stretch) run(ctx context.Context, c *code, env *kernels.Env, timed bool) error {
	changed := false
	for _, t := range s.tasks {
		if t.anew == nil {
			continue
		}
		if now := reads(t.Instr); now == "" || now != t.reads {
			if err := c.renew(t); err != nil {
				return err
			}
			t.reads, changed = now, true
		}
	}
	if changed {
		if err := s.forget(); err != nil {
			return err
		}
	}
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
	return nil
}

// forget drops what has been recorded.
func (s *stretch) forget() (err error) {
	if s.graph != nil {
		err = s.graph.Forget()
	}
	s.graph, s.ran = nil, false
	return err
}

// reads says where an instruction of a step of training reads and writes, and which rows; "" where it has lists of rows
// whose numbers may differ from step to step.
func reads(in *device.Instr) string {
	where := func(d *column.Column) string { return fmt.Sprintf("%p %d ", unsafe.SliceData(d.Bytes()), d.Len()) }
	out := where(in.V.Data)
	u, ok := in.Form.(*device.Update)
	if !ok {
		return out
	}
	if u.From != nil || len(u.Runs) > 1 {
		return ""
	}
	for _, v := range append([]*values.Val{u.Numbers, u.Gradient}, u.Buffers...) {
		if v != nil {
			out += where(v.Data)
		}
	}
	return out + fmt.Sprint(u.Runs)
}
