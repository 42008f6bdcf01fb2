package executor

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/forms"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
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
	ahead   ahead
}

// copied is a gradient that is a trained column itself, as that of a in sum(a * b) is b: it is read before any changes.
type copied struct{ from, to *column.Column }

func (t *siteTraining) free() {
	if t != nil {
		t.ahead.close()
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
	t.ahead.close()
	if t.of != p.sched || len(t.codes) == 0 {
		if err := t.compile(nil); err != nil {
			return err
		}
	}
	t.given(numbers)
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
	return nil
}

// given are the numbers of a step, in the host's memory.
func (t *siteTraining) given(numbers []float64) {
	for i, x := range append([]float64{1}, numbers...) {
		t.numbers.Double.SetFloat(i, x)
		t.numbers.Single.SetFloat(i, x)
	}
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
// Of a loss that is not nil they look at it, too.
func (t *siteTraining) compile(loss *values.Val) (err error) {
	p := t.p
	bound := t.step != nil && t.step.Sees(loss)
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
		if t.step, err = forms.NewStep(p.stages, t.updated, t.clip, t.numbers, loss); err != nil {
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
	_, t.ahead.on = p.device.(device.Chaining)
	t.ahead.on = t.ahead.on && len(p.peers) == 0 && p.turns == nil
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

// ahead is how a site's steps begin before those before them have ended: where a device runs values and updates behind
// each other without the host.
type ahead struct {
	on    bool
	now   *stepList
	begun []flight
	old   []*stepList // of steps before, not closed yet
}

// stepList is what a step runs. Where steps have structures of their own, each has its own list.
type stepList struct {
	device.Chained
	codes []device.Code // closed with it
	loss  *column.Column
}

// flight is a step that has begun and has not ended.
type flight struct {
	*stepList // nil: values have been computed, and columns wait for End
	env       kernels.Env
	numbers   []float64
}

// mostOld is how many lists of steps wait to be closed: that waits for the device.
const mostOld = 8

func (a *ahead) close() {
	a.begun = nil
	if a.now != nil {
		a.old = append(a.old, a.now)
	}
	for _, l := range a.old {
		l.close()
	}
	a.now, a.old = nil, nil
}

func (l *stepList) close() {
	if l.Chained != nil {
		l.Chained.Close()
	}
	for _, c := range l.codes {
		c.Close()
	}
}

// owns reports whether code is closed with a step's list.
func (t *siteTraining) owns(code device.Code) bool {
	return t != nil && t.ahead.now != nil && slices.Contains(t.ahead.now.codes, code)
}

// list makes what a step runs; nil where the host must do something amid it.
func (t *siteTraining) list() (*stepList, error) {
	p, a := t.p, &t.ahead
	if t.of == p.sched {
		return a.now, nil
	}
	if a.now != nil {
		a.old, a.now = append(a.old, a.now), nil
	}
	if err := t.compile(p.roots[0][0].V); err != nil {
		return nil, err
	}
	l := &stepList{loss: p.roots[0][0].V.Data.As(p.roots[0][0].V.Type)}
	if len(t.copies) == 0 {
		l.Chained = p.device.(device.Chaining).Chain([]device.Code{p.sched.Code, t.codes[0]},
			[]*column.Column{t.numbers.Double, t.numbers.Single}, []*column.Column{l.loss})
	}
	if l.Chained == nil {
		a.on = false
		t.close()
		return nil, nil
	}
	l.codes, t.codes = t.codes, nil
	if p.steps {
		l.codes = append(l.codes, p.sched.Code)
	}
	a.now = l
	return l, nil
}

// Ahead reports whether a step may Begin before the one before it has ended.
func (t *Training) Ahead() bool {
	return t.p.source == nil && t.p.leads == nil && t.sites[0].ahead.on && !(t.p.PerStep() && full(t.p.sites[0]))
}

// full reports whether most of the memory of the site's device is in use.
func full(p *site) bool {
	b, ok := p.device.(device.Bounded)
	return ok && b.Full()
}

// Flying is how many steps have begun and have not ended.
func (t *Training) Flying() int { return len(t.sites[0].ahead.begun) }

// Begin begins a step where Ahead holds: it computes loss and gradients at the values that columns have behind the step
// before, and changes them, unless something is wrong. End waits for it.
func (t *Training) Begin(ctx context.Context, env kernels.Env, numbers []float64) (err error) {
	defer guard(&err)
	p, s, own := t.p, t.p.sites[0], t.sites[0]
	if p.halfway != nil {
		return p.halfway
	}
	s.arena.flies = len(own.ahead.begun) > 0
	defer func() { s.arena.flies = false }()
	if err := p.enter(ctx, env); err != nil {
		return err
	}
	if err := prepare(s, s.sched); err != nil {
		return err
	}
	if err := onlyThere(s, s.sched); err != nil {
		return err
	}
	if err := single(s, 0, 0); err != nil {
		return err
	}
	s.ran = true
	l, err := own.list()
	if err != nil {
		return err
	}
	once, err := prepareOnce(s, nil)
	if err != nil {
		return err
	}
	if err := complete(s, once); err != nil {
		return err
	}
	if err := onceValues(ctx, s, once); err != nil {
		return err
	}
	if l == nil {
		if err := s.runSteps(ctx, s.sched); err != nil {
			return err
		}
	} else {
		own.given(numbers)
		if err := l.Begin(ctx, &env); err != nil {
			if ctx.Err() == nil {
				p.stop()
			}
			return err
		}
	}
	own.ahead.begun = append(own.ahead.begun, flight{l, env, numbers})
	return nil
}

// End waits for the first step that has begun, and tells its loss; null: that is NULL. Where the loss is no finite
// number nothing has changed, nor where a gradient is not finite, which is a *device.NotFinite with the row of its
// column: then the steps behind it have ended, too.
func (t *Training) End(ctx context.Context) (loss float64, null bool, err error) {
	defer guard(&err)
	a := &t.sites[0].ahead
	if len(a.begun) == 0 { // a step that has begun ends also where the one behind it could not begin
		return 0, false, internal("a step ends that has not begun")
	}
	f := a.begun[0]
	a.begun = a.begun[1:]
	defer t.p.sites[0].arena.land()
	if f.stepList == nil {
		return t.rest(ctx, f)
	}
	bad := (*device.NotFinite)(nil)
	switch err = f.Chained.End(ctx); {
	case err == nil:
	case errors.Is(err, device.Again):
		own := t.sites[0]
		own.ahead.close()
		own.ahead.on = false
		if err := t.p.run(ctx, f.env); err != nil {
			return 0, false, err
		}
		return t.rest(ctx, f)
	case errors.As(err, &bad):
		a.begun = nil
		if bad.Slot == device.Loss {
			err = nil
		} else {
			bad.Row = int(t.sites[0].updated[bad.Slot].Rows[bad.Row])
		}
	default:
		t.p.stop()
		return 0, false, err
	}
	loss, null = number(f.loss)
	if s := t.p.sites[0]; full(s) && s.steps && len(a.begun) == 0 {
		a.close()
		s.sched.Code = nil // the next step has another
	} else if len(a.old) >= mostOld {
		for _, l := range a.old {
			l.close()
		}
		a.old = nil
	}
	return loss, null, err
}

// rest does what follows a step's values.
func (t *Training) rest(ctx context.Context, f flight) (loss float64, null bool, err error) {
	loss, null, err = t.p.sites[0].scalar(0, 0)
	if err != nil || null || math.IsNaN(loss) || math.IsInf(loss, 0) {
		return loss, null, err
	}
	return loss, null, t.Step(ctx, f.numbers)
}
