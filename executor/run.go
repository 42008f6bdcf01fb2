package executor

import (
	"context"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/forms"
	"github.com/relgrad/relgrad/executor/values"
)

// lower makes the schedule of the roots and gives it its memory.
func (p *Program) lower(g *values.Graph, structural bool, roots []forms.Root, a *arena) (*forms.Schedule, error) {
	s, err := forms.Lower(forms.Lowering{
		Ctx:        p.ctx,
		Env:        p.stages,
		Tune:       p.tune,
		Forms:      p.opt.forms,
		Structural: structural,
		Residuals:  p.opt.Residuals || p.steps,
	}, g, roots)
	if err != nil {
		return nil, err
	}
	if err := p.place(s, roots, a, structural); err != nil {
		s.Fail()
		return nil, err
	}
	p.owned, p.once = append(p.owned, s.Kept...), append(p.once, s.Once...)
	return s, nil
}

// runOnce runs what is computed once and has not been.
func (p *Program) runOnce(ctx context.Context) error {
	var list []*device.Instr
	for _, in := range p.once {
		if !in.V.Done {
			list = append(list, in)
		}
	}
	if len(list) > 0 {
		code, err := p.device.Prepare(list, p.onceTmp)
		if err != nil {
			return err
		}
		if err := code.Run(ctx, &p.env, p.timed); err != nil {
			return err
		}
		for i, in := range list {
			p.took[in] = code.Took(i)
		}
	}
	for _, in := range p.once {
		in.V.Done = true
	}
	return nil
}

// runSteps runs what each step computes.
func (p *Program) runSteps(ctx context.Context, s *forms.Schedule) (err error) {
	if s.Code == nil {
		if s.Code, err = p.device.Prepare(s.Steps, s.Tmp); err != nil {
			return err
		}
	}
	return s.Code.Run(ctx, &p.env, p.timed)
}
