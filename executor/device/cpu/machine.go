package cpu

import (
	"context"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/tensor"
)

// Machine is the device of the processors: workers with scratch memory.
type Machine struct {
	ctx     context.Context
	env     *kernels.Env
	workers int
	crew    *cpu.Crew
	scratch []*tensor.Buffer
	blocks  []*block // of the workers
	tune    *tuning.Sizes
	sums    pool         // of passes
	port    *device.Port // nil: it is the only site
}

// NewMachine makes a device with so many workers; 0: one for each processor.
func NewMachine(workers int, t *tuning.Sizes) *Machine {
	if workers <= 0 {
		workers = cpu.Processors()
	}
	return &Machine{workers: workers, crew: cpu.Common(), tune: t}
}

// Workers is the number of workers.
func (m *Machine) Workers() int { return m.workers }

// Apart has the machine's workers be a crew of their own, beside those of other sites; where a set of processors is
// given, bound to them. stay says that each site has a processor (cpu.NewCrew).
func (m *Machine) Apart(site int, on cpu.Set, stay bool) {
	m.crew = cpu.NewCrew(site, m.workers, on, stay)
}

// Bound reports whether the machine's workers are bound to processors.
func (m *Machine) Bound() bool { return m.crew.Bound() }

// Go begins what runs the machine's code: where its workers are bound, on a thread that is.
func (m *Machine) Go(run func()) { m.crew.Lead(run) }

// reserve gives every worker at least n bytes of scratch.
func (m *Machine) reserve(n int) error {
	for len(m.scratch) < m.workers {
		m.scratch, m.blocks = append(m.scratch, nil), append(m.blocks, &block{})
	}
	for i, b := range m.scratch {
		if b != nil && len(b.Bytes()) >= n {
			continue
		}
		b.Free()
		m.scratch[i] = nil
		nb, err := m.Allocate(n)
		if err != nil {
			return err
		}
		m.scratch[i] = nb
	}
	return nil
}

// leave has the workers' blocks leave the instruction that they are of, which has ended.
func (m *Machine) leave() {
	for _, b := range m.blocks {
		b.of = nil
	}
}

// rest has the workers' blocks let go of the trees and the columns that they have read.
func (m *Machine) rest() {
	for _, b := range m.blocks {
		b.of, b.t, b.head, b.ops, b.env, b.buf = nil, nil, nil, nil, nil, nil
		clear(b.cells[:cap(b.cells)])
		clear(b.outs[:cap(b.outs)])
		clear(b.runs)
	}
}

func (m *Machine) free() {
	for _, b := range m.scratch {
		b.Free()
	}
	m.scratch, m.blocks = nil, nil
}

// Allocate makes memory of the host. The processors share it, so Fetch and Store have nothing to do.
func (m *Machine) Allocate(bytes int) (*tensor.Buffer, error) {
	b, err := tensor.NewBuffer(bytes)
	if err != nil {
		return nil, column.OutOfMemory(err)
	}
	return b, nil
}

func (m *Machine) Fetch(*column.Column) error { return nil }

func (m *Machine) Store(*column.Column) error { return nil }

func (m *Machine) Copy(to, from *column.Column) error {
	to.Fill(from)
	return nil
}

func (m *Machine) Join(p *device.Port) { m.port = p }

func (m *Machine) Prepare(list []*device.Instr, scratch int) (device.Code, error) {
	out, of := &tasks{m: m, scratch: scratch, loans: &loans{from: &m.sums}}, map[*device.Instr]*task{}
	for _, in := range list {
		t := &task{Instr: in, m: m, loans: out.loans, unless: of[in.Unless]}
		if in.T != nil {
			t.head, t.ops = readied(in.T.Head), readied(in.T.Ops)
		}
		if t.run = t.loop(); t.run == nil {
			return nil, sqlerr.Broken("executor", "the processors have no code for %s (%T)", in.How, in.Form)
		}
		of[in] = t
		out.list = append(out.list, t)
	}
	return out, nil
}

func (m *Machine) Held() (bytes int64) {
	for _, b := range m.scratch {
		bytes += int64(len(b.Bytes()))
	}
	return bytes
}

func (m *Machine) Close() {
	m.free()
	m.sums = pool{}
	m.crew.Close()
}
