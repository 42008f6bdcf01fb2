package executor

import (
	"context"

	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/tensor"
)

// machine is the device of the processors: workers with scratch memory.
type machine struct {
	ctx     context.Context
	env     *kernels.Env
	workers int
	scratch []*tensor.Buffer
	tune    *tuning.Sizes
	sums    tray // of passes
}

// newMachine makes the device of so many workers; 0: of as many as there are processors.
func newMachine(workers int, t *tuning.Sizes) *machine {
	if workers <= 0 {
		workers = cpu.Processors()
	}
	return &machine{workers: workers, tune: t}
}

// reserve gives every worker at least n bytes.
func (m *machine) reserve(n int) error {
	for len(m.scratch) < m.workers {
		m.scratch = append(m.scratch, nil)
	}
	for i, b := range m.scratch {
		if b != nil && len(b.Bytes()) >= n {
			continue
		}
		b.Free()
		m.scratch[i] = nil
		nb, err := tensor.NewBuffer(n)
		if err != nil {
			return outOfMemory(err)
		}
		m.scratch[i] = nb
	}
	return nil
}

func (m *machine) free() {
	for _, b := range m.scratch {
		b.Free()
	}
	m.scratch = nil
}

func (m *machine) prepare(list []*instr, scratch int) (code, error) {
	out, of := &tasks{m: m, scratch: scratch}, map[*instr]*task{}
	for _, in := range list {
		t := &task{instr: in, m: m, unless: of[in.unless]}
		if t.run = t.loop(); t.run == nil {
			return nil, sqlerr.Broken("executor", "the processors have no code for %s (%T)", in.how, in.form)
		}
		of[in] = t
		out.list = append(out.list, t)
	}
	return out, nil
}

func (m *machine) held() (bytes int64) {
	for _, b := range m.scratch {
		bytes += int64(len(b.Bytes()))
	}
	return bytes
}

func (m *machine) close() {
	m.free()
	m.sums = tray{}
}
