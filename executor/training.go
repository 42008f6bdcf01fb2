package executor

import (
	"context"
	"errors"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/forms"
)

// Trained is a column that steps of training change.
type Trained struct {
	device.Rule
	Param     *Param
	Root, Col int    // where its gradient is
	Key       []int  // the table's identity among the columns of that root
	Rows      []bool // that may change; nil: all
	Buffers   int
}

// siteTraining is what a site does behind its gradients: it changes columns of parameters by them.
type siteTraining struct {
	p       *site
	cols    []Trained
	slots   []int // the places of cols among those of the whole program
	clip    device.Clip
	numbers forms.StepNumbers
	updated []*forms.Updated
	step    *forms.Step
	codes   []device.Code   // what looks at gradients and what changes columns; of one site in one list
	of      *forms.Schedule // whose gradients the code reads
	copies  []copied
}

// copied is a gradient that is a trained column itself, as that of a in sum(a * b) is b: it is read before any changes.
type copied struct{ from, to *column.Column }

func (t *siteTraining) free() {
	if t != nil {
		t.close()
		t.numbers.Double.Free()
		t.numbers.Single.Free()
		t.freeCopies()
	}
}

func (t *siteTraining) freeCopies() {
	for _, c := range t.copies {
		c.to.Free()
	}
	t.copies = nil
}

// ready makes the instructions and gives them the numbers of a step.
func (t *siteTraining) ready(numbers []float64) error {
	p := t.p
	if !p.ran {
		return internal("a step before a successful Run")
	}
	if t.of != p.sched {
		if err := t.compile(); err != nil {
			return err
		}
	}
	for i, x := range append([]float64{1}, numbers...) {
		if err := t.set(i, x); err != nil {
			return err
		}
	}
	for _, c := range t.copies {
		if err := p.device.Copy(c.to, c.from); err != nil {
			return err
		}
	}
	return nil
}

// set changes a number of the step.
func (t *siteTraining) set(i int, x float64) error {
	for _, c := range []*column.Column{t.numbers.Double, t.numbers.Single} {
		c.SetFloat(i, x)
		if err := t.p.device.Store(c); err != nil {
			return err
		}
	}
	return nil
}

// run runs a part of the step. The slot and the row of a *device.NotFinite are those of the site's columns.
func (t *siteTraining) run(ctx context.Context, part int) error {
	err := t.codes[part].Run(ctx, &t.p.env, false)
	if bad := (*device.NotFinite)(nil); errors.As(err, &bad) {
		bad.Row = int(t.updated[bad.Slot].Rows[bad.Row])
	}
	return err
}

// compile makes the instructions. Where a step has rows of its own, so have its gradients: then they read others.
func (t *siteTraining) compile() (err error) {
	p := t.p
	bound := t.step != nil
	t.freeCopies()
	for i, c := range t.cols {
		typ := c.Param.table.t.Cols[c.Param.col]
		gradient, err := t.gradient(c)
		if err != nil {
			return err
		}
		if d := c.Param.data; gradient == nil || gradient.Kind() != d.Kind() || gradient.Size() != d.Size() {
			return internal("the gradient of %s is not of its type", typ.Name)
		}
		rows, err := p.match(c.Root, c.Param.table.t, c.Key)
		if err != nil {
			return err
		}
		if bound = bound && t.step.Rebind(i, gradient, rows); len(t.updated) <= i {
			t.updated = append(t.updated, &forms.Updated{Rule: c.Rule, Type: typ.Type, Value: c.Param.data,
				Buffers: c.Param.state, Trained: c.Rows})
		}
		t.updated[i].Gradient, t.updated[i].Rows = gradient, rows
	}
	if !bound {
		if t.step, err = forms.NewStep(p.stages, t.updated, t.clip, t.numbers); err != nil {
			return err
		}
	}
	t.close()
	lists := [][]*device.Instr{t.step.List}
	if len(p.peers) > 0 {
		lists = [][]*device.Instr{t.step.List[:t.step.Looks], t.step.List[t.step.Looks:]}
	}
	for _, list := range lists {
		code, err := p.device.Prepare(list, t.step.Scratch)
		if err != nil {
			return err
		}
		t.codes = append(t.codes, code)
	}
	t.of = p.sched
	return nil
}

// close gives back what the instructions hold.
func (t *siteTraining) close() {
	for _, c := range t.codes {
		c.Close()
	}
	t.codes = nil
}

// gradient is the gradient of a column, in memory that no step changes.
func (t *siteTraining) gradient(c Trained) (*column.Column, error) {
	g := t.p.grad(c.Root, c.Col)
	if g == nil || !slices.ContainsFunc(t.cols, func(o Trained) bool { return column.SameMemory(o.Param.data, g) }) {
		return g, nil
	}
	own, err := device.NewColumn(t.p.device, g.Kind(), g.Len(), g.Size(), false)
	if err == nil {
		t.copies = append(t.copies, copied{g, own})
	}
	return own, err
}

// newTraining has a site change columns. The buffers of optimizers are zero.
func newTraining(p *site, cols []Trained, slots []int, clip device.Clip, numbers int) (t *siteTraining, err error) {
	t = &siteTraining{p: p, cols: cols, slots: slots, clip: clip}
	if t.numbers.Double, err = device.NewColumn(p.device, column.F64, numbers+1, 1, false); err != nil {
		return nil, err
	}
	p.training.free()
	p.training = t
	if t.numbers.Single, err = device.NewColumn(p.device, column.F32, numbers+1, 1, false); err != nil {
		return nil, err
	}
	for _, c := range cols {
		for _, d := range c.Param.state {
			d.Free()
		}
		c.Param.state = nil
		for range c.Buffers {
			d, err := device.NewColumn(p.device, c.Param.data.Kind(), c.Param.Rows, c.Param.Size, false)
			if err != nil {
				return nil, err
			}
			c.Param.state = append(c.Param.state, d)
		}
	}
	return t, nil
}
