package cpu

import (
	"context"
	"time"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels"
)

// tasks is a list of instructions that is ready to run.
type tasks struct {
	m       *Machine
	list    []*task
	scratch int // bytes that a worker needs
}

// task is an instruction at work.
type task struct {
	*device.Instr
	m      *Machine
	run    func() error
	unless *task // it runs where this one has not been done
	blocks []*block
	done   bool // sums by parts: they could be made so
	took   []time.Duration
}

// loop is what runs the instruction; nil where there is nothing that does.
func (t *task) loop() func() error {
	switch f := t.Form.(type) {
	case nil:
		if t.Grp != nil {
			return t.runSum()
		}
		return t.runStore
	case *device.Fused:
		return newPass(t, f).run
	case *device.SpMM:
		return func() error { return runSparse(f, t) }
	case *device.SpMMBlocks:
		sums := make([]float64, t.Grp.Out.N*t.V.Type.Size()) // of all groups
		return func() error { return runSparseBlocks(f, t, sums) }
	case *device.GEMM:
		return func() error { return runGEMM(f, t) }
	case *device.NarrowProduct:
		return func() error { return runNarrowProducts(f, t) }
	case *device.Outers:
		return func() error { return runOuterSums(f, t) }
	case *device.ProductSum:
		return func() error { return runProductSums(f, t) }
	case *device.Relayout:
		return func() error { return runRelayout(f, t) }
	case *device.AddRows:
		return func() error { return runAddRows(f, t) }
	case *device.Distributed:
		return func() (err error) {
			t.done, err = runParts(f, t)
			return err
		}
	}
	return nil
}

func (x *tasks) Run(ctx context.Context, env *kernels.Env, timed bool) error {
	x.m.ctx, x.m.env = ctx, env
	if err := x.m.reserve(x.scratch); err != nil {
		return err
	}
	for _, t := range x.list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t.unless != nil && t.unless.done {
			continue
		}
		begin := time.Now()
		if t.blocks = make([]*block, x.m.workers); t.Rows > 0 || t.Grp != nil {
			if err := t.run(); err != nil {
				return err
			}
		}
		if timed {
			t.took = append(t.took, time.Since(begin))
		}
	}
	return nil
}

func (x *tasks) Took(i int) []time.Duration { return x.list[i].took }

func (x *tasks) Needed(i int) bool {
	t := x.list[i]
	if _, parts := t.Form.(*device.Distributed); parts {
		return t.done
	}
	return t.unless == nil || !t.unless.done
}

// block returns worker w's block, with the uniform cells computed once per run.
func (t *task) block(w int) (*block, error) {
	if t.blocks[w] == nil {
		b := newBlock(t.T, t.m.env, t.m.scratch[w])
		if err := b.start(); err != nil {
			return nil, err
		}
		t.blocks[w] = b
	}
	return t.blocks[w], nil
}

func (x *tasks) Close() { x.m.sums.recycle() }
