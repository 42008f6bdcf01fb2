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

// Training is what a program does behind its gradients: it changes columns of parameters by them.
type Training struct {
	p       *Program
	cols    []Trained
	clip    float64
	numbers forms.StepNumbers
	updated []*forms.Updated
	step    *forms.Step
	code    device.Code
	of      *forms.Schedule // whose gradients the code reads
	copies  []copied
}

// copied is a gradient that is a trained column itself, as that of a in sum(a * b) is b: it is read before any changes.
type copied struct{ from, to *column.Column }

func (t *Training) free() {
	if t != nil {
		t.numbers.Double.Free()
		t.numbers.Single.Free()
		t.freeCopies()
	}
}

func (t *Training) freeCopies() {
	for _, c := range t.copies {
		c.to.Free()
	}
	t.copies = nil
}

// Step changes the columns by the gradients of the last Run. A gradient that is not finite is a *device.NotFinite with
// the row of its column; then nothing has changed. A step that has begun is not interrupted.
func (t *Training) Step(ctx context.Context, numbers []float64) (err error) {
	defer guard(&err)
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
		t.numbers.Double.SetFloat(i, x)
		t.numbers.Single.SetFloat(i, x)
	}
	for _, c := range []*column.Column{t.numbers.Double, t.numbers.Single} {
		if err := p.device.Store(c); err != nil {
			return err
		}
	}
	for _, c := range t.copies {
		if err := p.device.Copy(c.to, c.from); err != nil {
			return err
		}
	}
	err = t.code.Run(context.WithoutCancel(ctx), &p.env, false)
	if bad := (*device.NotFinite)(nil); errors.As(err, &bad) {
		bad.Row = int(t.updated[bad.Slot].Rows[bad.Row])
	}
	return err
}

// compile makes the instructions. Where a step has rows of its own, so have its gradients: then they read others.
func (t *Training) compile() (err error) {
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
		rows, err := p.Match(c.Root, c.Param.table.t, c.Key)
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
	if t.code, err = p.device.Prepare(t.step.List, t.step.Scratch); err == nil {
		t.of = p.sched
	}
	return err
}

// gradient is the gradient of a column, in memory that no step changes.
func (t *Training) gradient(c Trained) (*column.Column, error) {
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
