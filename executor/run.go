package executor

import (
	"context"
)

// lower makes the schedule of the roots and gives it its memory.
func (p *Program) lower(g *graph, structural bool, roots []root, a *arena) (*schedule, error) {
	s, err := lower(lowering{
		ctx:        p.ctx,
		env:        p.stages,
		tune:       p.tune,
		forms:      p.opt.forms,
		structural: structural,
		residuals:  p.opt.Residuals || p.steps,
	}, g, roots)
	if err != nil {
		return nil, err
	}
	if err := p.place(s, roots, a, structural); err != nil {
		s.fail()
		return nil, err
	}
	p.owned, p.once = append(p.owned, s.kept...), append(p.once, s.once...)
	return s, nil
}

// runOnce runs what is computed once and has not been.
func (p *Program) runOnce(ctx context.Context) error {
	var list []*instr
	for _, in := range p.once {
		if !in.v.done {
			list = append(list, in)
		}
	}
	if len(list) > 0 {
		code, err := p.device.prepare(list, p.onceTmp)
		if err != nil {
			return err
		}
		if err := code.run(ctx, &p.env, p.timed); err != nil {
			return err
		}
		for i, in := range list {
			p.took[in] = code.took(i)
		}
	}
	for _, in := range p.once {
		in.v.done = true
	}
	return nil
}

// runSteps runs what each step computes.
func (p *Program) runSteps(ctx context.Context, s *schedule) (err error) {
	if s.code == nil {
		if s.code, err = p.device.prepare(s.steps, s.tmp); err != nil {
			return err
		}
	}
	return s.code.run(ctx, &p.env, p.timed)
}
