package executor

import (
	"context"
	"time"

	"github.com/relgrad/relgrad/kernels"
)

// tasks is a list of instructions that is ready to run.
type tasks struct {
	m       *machine
	list    []*task
	scratch int // bytes that a worker needs
}

// task is an instruction at work.
type task struct {
	*instr
	m      *machine
	run    func() error
	unless *task // it runs where this one has not been done
	blocks []*block
	done   bool // sums by parts: they could be made so
	took   []time.Duration
}

// loop is what runs the instruction; nil where there is nothing that does.
func (t *task) loop() func() error {
	switch f := t.form.(type) {
	case nil:
		if t.grp != nil {
			return t.runSum()
		}
		return t.runStore
	case *fused:
		return newPass(t, f).run
	case *spmm:
		return func() error { return f.run(t) }
	case *spmmBlocks:
		sums := make([]float64, t.grp.Out.N*t.v.typ.Size()) // of all groups
		return func() error { return f.run(t, sums) }
	case *gemm:
		return func() error { return f.run(t) }
	case *narrowProduct:
		return func() error { return f.run(t) }
	case *outers:
		return func() error { return f.run(t) }
	case *productSum:
		return func() error { return f.run(t) }
	case *relayout:
		return func() error { return f.run(t) }
	case *addRows:
		return func() error { return f.run(t) }
	case *distributed:
		return func() (err error) {
			t.done, err = f.run(t)
			return err
		}
	}
	return nil
}

func (x *tasks) run(ctx context.Context, env *kernels.Env, timed bool) error {
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
		if t.blocks = make([]*block, x.m.workers); t.rows > 0 || t.grp != nil {
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

func (x *tasks) took(i int) []time.Duration { return x.list[i].took }

func (x *tasks) needed(i int) bool {
	t := x.list[i]
	if _, parts := t.form.(*distributed); parts {
		return t.done
	}
	return t.unless == nil || !t.unless.done
}

// block returns worker w's block, with the uniform cells computed once per run.
func (t *task) block(w int) (*block, error) {
	if t.blocks[w] == nil {
		b := t.t.newBlock(t.m.env, t.m.scratch[w])
		if err := b.start(); err != nil {
			return nil, err
		}
		t.blocks[w] = b
	}
	return t.blocks[w], nil
}

func (x *tasks) close() { x.m.sums.recycle() }
