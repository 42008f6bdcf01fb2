package cpu

import (
	"context"
	"reflect"
	"time"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels"
)

// tasks is a prepared list of instructions.
type tasks struct {
	m       *Machine
	list    []*task
	scratch int // bytes that a worker needs
	loans   *loans
}

// task is a prepared instruction.
type task struct {
	*device.Instr
	m         *Machine
	loans     *loans
	run       func() error
	unless    *task   // runs only if this task was not done
	head, ops []ready // of its tree
	done      bool    // a sum by parts was exact enough
	took      []time.Duration
}

// loop is the function that runs the instruction; nil if the device has none.
func (t *task) loop() func() error {
	switch made := forms[reflect.TypeOf(t.Form)]; {
	case made != nil:
		return made(t)
	case t.Form != nil:
		return nil
	case t.Grp != nil:
		return t.runSum()
	}
	return t.runStore
}

// forms are the functions that run the forms of instructions, by the form's type.
var forms = map[reflect.Type]func(t *task) func() error{}

// registerForm registers a function that runs a form once: var _ = registerForm(runGEMM).
func registerForm[F any](run func(f F, t *task) error) bool {
	return registerState(func(f F, t *task) func() error { return func() error { return run(f, t) } })
}

// registerState registers a form whose function keeps something from run to run.
func registerState[F any](ready func(f F, t *task) func() error) bool {
	forms[reflect.TypeFor[F]()] = func(t *task) func() error { return ready(t.Form.(F), t) }
	return true
}

func (x *tasks) Run(ctx context.Context, env *kernels.Env, timed bool) error {
	x.m.ctx, x.m.env = ctx, env
	if err := x.m.reserve(x.scratch); err != nil {
		return err
	}
	defer x.m.rest()
	for _, t := range x.list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t.unless != nil && t.unless.done {
			continue
		}
		begin := time.Now()
		x.m.leave()
		if t.Rows > 0 || t.Grp != nil || t.always() {
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

// always reports whether the instruction runs even if the site has none of its rows: others wait for it.
func (t *task) always() bool {
	_, exchange := t.Form.(*device.Exchange)
	return exchange
}

// block returns worker w's block. Its uniform cells are computed once per run.
func (t *task) block(w int) (*block, error) {
	b := t.m.blocks[w]
	if b.of == t {
		return b, nil
	}
	b.lay(t.T, t.head, t.ops, t.m.env, t.m.scratch[w])
	if err := b.start(); err != nil {
		return nil, err
	}
	b.of = t
	return b, nil
}

func (x *tasks) Close() { x.loans.recycle() }
