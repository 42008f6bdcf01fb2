package executor

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/ra"
)

// A row of a parameter belongs to the site where it lies: that site has its gradient, the state of its optimizer, and
// changes it.

// owners is the home of a parameter whose rows lie at several sites.
type owners struct {
	parts  []part
	of     map[*column.Column][]*column.Column // by column: those of the parts
	states [][]*column.Column                  // by buffer of the optimizer: those of the parts
}

// collect makes the columns of the optimizer's buffers, which only a run that goes on, or is kept, looks at.
func (o *owners) collect(q *Param) {
	for len(q.state) < len(o.states) {
		d := column.OnHeap(q.data.Kind(), q.Rows, q.Size, false)
		o.of[&d] = o.states[len(q.state)]
		q.state = append(q.state, &d)
	}
}

// part is a parameter at one site.
type part struct {
	*Param
	site int
	rows []int32 // of the whole parameter; nil: all
}

// Fetch implements home.
func (o *owners) Fetch(c *column.Column) error {
	return o.each(c, func(p part, own *column.Column) error {
		if err := p.fetch(own); err != nil {
			return err
		}
		move(c, own, p.rows, false)
		return nil
	})
}

// Store implements home.
func (o *owners) Store(c *column.Column) error {
	return o.each(c, func(p part, own *column.Column) error {
		move(own, c, p.rows, true)
		return p.home.Store(own)
	})
}

func (o *owners) each(c *column.Column, f func(p part, own *column.Column) error) error {
	cols := o.of[c]
	if len(cols) != len(o.parts) {
		return internal("a column that no site has a part of")
	}
	for i, p := range o.parts {
		if err := f(p, cols[i]); err != nil {
			return err
		}
	}
	return nil
}

// move copies the numbers of rows: from those rows of a column to another one, or back.
func move(to, from *column.Column, rows []int32, back bool) {
	size := to.Size() * to.Kind().Bytes()
	src, dst := from.Bytes(), to.Bytes()
	if rows == nil {
		copy(dst, src)
	}
	for i, r := range rows {
		if whole, own := int(r)*size, i*size; back {
			copy(dst[own:own+size], src[whole:])
		} else {
			copy(dst[whole:whole+size], src[own:own+size])
		}
	}
}

// Param returns the live buffer of a parameter's column, nil where the plan does not read it.
func (p *Program) Param(t *ra.Table, col int) *Param {
	if p.source == nil {
		return p.sites[0].live(t, col)
	}
	for _, q := range p.params {
		if tableKey(q.table.t) == tableKey(t) && q.col == col {
			return q
		}
	}
	return nil
}

// ownParams makes the parameters whose rows lie at several sites.
func (p *Program) ownParams() error {
	if p.source == nil {
		return nil
	}
	for _, s := range p.sites {
		for _, q := range s.params {
			if p.Param(q.table.t, q.col) != nil {
				continue
			}
			if err := p.ownParam(q.table.t, q.col); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Program) ownParam(t *ra.Table, col int) error {
	o, q := &owners{of: map[*column.Column][]*column.Column{}}, &Param{col: col}
	of := p.source.tables[tableKey(t)]
	if of.by != nil && of.rows == nil {
		return internal("the sites of the rows of %s are not known", t.Name)
	}
	var cols []*column.Column
	for _, s := range p.sites {
		own := s.live(t, col)
		if own == nil {
			continue
		}
		at := part{Param: own, site: s.number}
		if of.rows != nil {
			at.rows = append([]int32{}, of.rows[s.number]...)
		}
		q.Rows += own.Rows
		o.parts, cols = append(o.parts, at), append(cols, own.data)
	}
	if of.by == nil && len(o.parts) > 1 {
		return internal("several sites own the rows of %s", t.Name)
	}
	q.home, q.Size, q.table = o, o.parts[0].Size, o.parts[0].table
	q.allValid(o.parts)
	d := column.OnHeap(o.parts[0].data.Kind(), q.Rows, q.Size, false)
	d.SetValid(slices.Clone(q.Valid))
	q.data, o.of[&d] = &d, cols
	p.params = append(p.params, q)
	return nil
}

// allValid says which rows of the parameter are NULL.
func (q *Param) allValid(parts []part) {
	if !slices.ContainsFunc(parts, func(p part) bool { return p.Valid != nil }) {
		return
	}
	q.Valid = slices.Repeat([]byte{1}, q.Rows)
	for _, p := range parts {
		for i, v := range p.Valid {
			if p.rows != nil {
				i = int(p.rows[i])
			}
			q.Valid[i] = v
		}
	}
}

// Grad returns column col of root i, a gradient, as of the last Run: rows × size. It is nil for a column that is no
// float.
func (p *Program) Grad(i, col int) (out *column.Column, err error) {
	for _, at := range p.lies(i) {
		g := at.grad(at.root, col)
		if g == nil {
			return nil, nil
		}
		if err := at.device.Fetch(g); err != nil {
			return nil, err
		}
		if out == nil {
			out = g
		} else {
			out = below(out, g)
		}
	}
	order, err := rowOrder(p, i)
	return ordered(out, order), err
}

// Match returns, for each row of root i, its row in t's Param buffers, -1 where t has no such row. key holds, for each
// column of t's identity, its position among the root's columns. The rows are valid until the next Run and must not be
// changed.
func (p *Program) Match(i int, t *ra.Table, key []int) (rows []int32, err error) {
	for _, at := range p.lies(i) {
		own, err := at.match(at.root, t, key)
		if err != nil || p.source == nil {
			return own, err
		}
		whole := p.source.tables[tableKey(t)].rows
		for _, r := range own {
			if r >= 0 && whole != nil {
				r = whole[at.number][r]
			}
			rows = append(rows, r)
		}
	}
	order, err := rowOrder(p, i)
	if order == nil || err != nil {
		return rows, err
	}
	out := make([]int32, len(rows))
	for at, r := range order {
		out[at] = rows[r]
	}
	return out, nil
}

// Reload reads a parameter's column from the source again. The table must have the same keys as before.
func (p *Program) Reload(ctx context.Context, t *ra.Table, col int) (err error) {
	defer guard(&err)
	if p.source != nil {
		of := p.source.tables[tableKey(t)]
		before := of.rows
		of.rows = nil
		defer func() {
			p.source.forget()
			of.rows = before
		}()
	}
	found := false
	for _, s := range p.sites {
		if s.live(t, col) == nil && p.source != nil {
			continue
		}
		found = true
		if err := s.reload(ctx, t, col); err != nil {
			return err
		}
	}
	if !found {
		return internal("%s.%s is no parameter of the plan", t.Name, t.Cols[col].Name)
	}
	if q := p.Param(t, col); p.source != nil { // which rows are NULL may have changed
		q.allValid(q.home.(*owners).parts)
		q.data.SetValid(slices.Clone(q.Valid))
	}
	return nil
}

// Training is what a program does behind its gradients: it changes columns of parameters by them.
type Training struct {
	p     *Program
	sites []*siteTraining
	clip  float64
}

// Train has the program change columns at each Step, by rules of so many numbers that change from step to step; a clip
// above 0 bounds the norm of all gradients. The buffers of optimizers are zero.
func (p *Program) Train(cols []Trained, clip float64, numbers int) (*Training, error) {
	t := &Training{p: p, clip: clip}
	for _, s := range p.sites {
		own, slots, err := p.owned(s, cols)
		if err != nil {
			return nil, err
		}
		st, err := newTraining(s, own, slots, device.Clip{Bound: clip, Measure: p.source != nil}, numbers)
		if err != nil {
			return nil, err
		}
		t.sites = append(t.sites, st)
	}
	if p.source == nil {
		return t, nil
	}
	for _, c := range cols {
		o := c.Param.home.(*owners)
		c.Param.state, o.states = nil, make([][]*column.Column, c.Buffers)
		for b := range o.states {
			for _, part := range o.parts {
				o.states[b] = append(o.states[b], part.state[b])
			}
		}
	}
	return t, nil
}

// owned are the trained columns as they lie at a site.
func (p *Program) owned(s *site, cols []Trained) (own []Trained, slots []int, err error) {
	if p.source == nil {
		return cols, nil, nil
	}
	for i, c := range cols {
		o, ok := c.Param.home.(*owners)
		if !ok {
			return nil, nil, internal("a parameter of one site is trained at several")
		}
		at := slices.IndexFunc(o.parts, func(q part) bool { return q.site == s.number })
		root := slices.Index(s.whole, c.Root)
		if at < 0 {
			continue
		}
		if root < 0 {
			return nil, nil, internal("site %d holds rows of %s, and not their gradient", s.number, c.Param.table.t.Name)
		}
		c.Param, c.Root = o.parts[at].Param, root
		if trained := c.Rows; trained != nil && o.parts[at].rows != nil {
			c.Rows = make([]bool, c.Param.Rows)
			for r, whole := range o.parts[at].rows {
				c.Rows[r] = trained[whole]
			}
		}
		own, slots = append(own, c), append(slots, i)
	}
	return own, slots, nil
}

// Step changes the columns by the gradients of the last Run. A gradient that is not finite is a *device.NotFinite with
// the row of its column; then nothing has changed. A step that has begun is not interrupted. Where it fails otherwise
// nobody may read the columns any more.
func (t *Training) Step(ctx context.Context, numbers []float64) (err error) {
	defer guard(&err)
	if t.p.halfway != nil {
		return t.p.halfway
	}
	ctx = context.WithoutCancel(ctx)
	for _, s := range t.sites {
		if err := s.ready(numbers); err != nil {
			return err
		}
	}
	if t.p.source != nil {
		if err := t.look(ctx); err != nil {
			return err
		}
	}
	return t.change(ctx)
}

// change changes the columns at all sites. Of one site it looks at the gradients, too.
func (t *Training) change(ctx context.Context) (err error) {
	defer func() {
		if bad := (*device.NotFinite)(nil); err != nil && !errors.As(err, &bad) {
			t.p.stop()
		}
	}()
	defer guard(&err)
	if t.p.source == nil {
		return t.sites[0].run(ctx, 0)
	}
	return t.p.together(ctx, func(ctx context.Context, s *site) error { return s.training.run(ctx, 1) })
}

// stop has the program run no more, and its parameters not be read: a step has failed when some columns, or the columns
// of some sites, were those behind it and others were not.
func (p *Program) stop() {
	p.halfway = sqlerr.New(sqlerr.ObjectNotPrereqState, "a step of training has failed while it changed its parameters").
		WithDetail("Some of them have changed and others have not. They are not stored.").
		WithHint("Begin again from what is stored.")
	all := p.params
	for _, s := range p.sites {
		all = slices.Concat(all, s.params)
	}
	for _, q := range all {
		q.halfway = p.halfway
	}
}

// look looks at the gradients of all sites: none may be infinite, and their norm may have a bound.
func (t *Training) look(ctx context.Context) error {
	bad := make([]*device.NotFinite, len(t.sites))
	err := t.p.together(ctx, func(ctx context.Context, s *site) error {
		err := s.training.run(ctx, 0)
		if errors.As(err, &bad[s.number]) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	var first *device.NotFinite
	for i, b := range bad {
		if b == nil {
			continue
		}
		s := t.sites[i]
		o := t.p.Param(s.cols[b.Slot].Param.table.t, s.cols[b.Slot].Param.col).home.(*owners)
		if at := slices.IndexFunc(o.parts, func(q part) bool { return q.site == i }); o.parts[at].rows != nil {
			b.Row = int(o.parts[at].rows[b.Row])
		}
		if b.Slot = s.slots[b.Slot]; first == nil || b.Slot < first.Slot || b.Slot == first.Slot && b.Row < first.Row {
			first = b
		}
	}
	if first != nil {
		return first
	}
	return t.bound()
}

// bound has the sites scale their gradients so that their common norm has its bound.
func (t *Training) bound() error {
	if t.clip <= 0 {
		return nil
	}
	norm := 0.0
	for _, s := range t.sites {
		if err := s.p.device.Fetch(s.numbers.Double); err != nil {
			return err
		}
		norm = math.Hypot(norm, s.numbers.Double.Float(0))
	}
	factor := 1.0
	if norm > t.clip {
		factor = t.clip / norm
	}
	for _, s := range t.sites {
		if err := s.set(0, factor); err != nil {
			return err
		}
	}
	return nil
}
