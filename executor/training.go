package executor

import (
	"context"
	"errors"

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
	code    device.Code
	of      *forms.Schedule // whose gradients the code reads
}

// Train has the program change columns at each Step, by rules of so many numbers that change from step to step; a clip
// above 0 bounds the norm of all gradients. The buffers of optimizers are zero.
func (p *Program) Train(cols []Trained, clip float64, numbers int) (t *Training, err error) {
	t = &Training{p: p, cols: cols, clip: clip}
	if t.numbers.Double, err = column.Allocate(column.F64, numbers+1, 1, false); err != nil {
		return nil, err
	}
	p.training.free()
	p.training = t
	if t.numbers.Single, err = column.Allocate(column.F32, numbers+1, 1, false); err != nil {
		return nil, err
	}
	for _, c := range cols {
		for range c.Buffers {
			d, err := column.Allocate(c.Param.data.Kind(), c.Param.Rows, c.Param.Size, false)
			if err != nil {
				return nil, err
			}
			c.Param.state = append(c.Param.state, d)
		}
	}
	return t, nil
}

func (t *Training) free() {
	if t != nil {
		t.numbers.Double.Free()
		t.numbers.Single.Free()
	}
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
	err = t.code.Run(context.WithoutCancel(ctx), &p.env, false)
	if bad := (*device.NotFinite)(nil); errors.As(err, &bad) {
		bad.Row = int(t.updated[bad.Slot].Rows[bad.Row])
	}
	return err
}

// compile makes the instructions. Where a step has rows of its own, so have its gradients.
func (t *Training) compile() error {
	p := t.p
	t.updated = nil
	for _, c := range t.cols {
		rows, err := p.Match(c.Root, c.Param.table.t, c.Key)
		if err != nil {
			return err
		}
		u := &forms.Updated{Rule: c.Rule, Type: c.Param.table.t.Cols[c.Param.col].Type, Value: c.Param.data,
			Gradient: p.Grad(c.Root, c.Col), Buffers: c.Param.state, Rows: rows, Trained: c.Rows}
		if u.Gradient == nil || u.Gradient.Kind() != u.Value.Kind() || u.Gradient.Size() != u.Value.Size() {
			return internal("the gradient of %s is not of its type", c.Param.table.t.Cols[c.Param.col].Name)
		}
		t.updated = append(t.updated, u)
	}
	list, scratch, err := forms.Step(p.stages, t.updated, t.clip, t.numbers)
	if err == nil {
		t.code, err = p.device.Prepare(list, scratch)
	}
	if err == nil {
		t.of = p.sched
	}
	return err
}
