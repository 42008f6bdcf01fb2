package forms

import (
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Updated is a column that a step of training changes.
type Updated struct {
	device.Rule
	Type            kernels.Type
	Value, Gradient *column.Column
	Buffers         []*column.Column
	Rows            []int32 // the column's row for each row of the gradient
	Trained         []bool  // the rows that may change; nil: all

	at  []int32 // the gradient's row for each row of the column, -1 where it has none
	set []int32 // the rows of at that have one
}

// StepNumbers are the factor of clip_norm, 1 where there is none, and the numbers of the step, in both kinds.
type StepNumbers struct{ Double, Single *column.Column }

// of are those that a column is computed with.
func (n StepNumbers) of(k column.Kind) *column.Column {
	if k == column.F32 {
		return n.Single
	}
	return n.Double
}

// Step is the instructions that change columns by their gradients: all gradients are looked through, and measured where
// their norm has a bound, before the first column changes. A worker needs so many bytes of scratch memory.
type Step struct {
	List    []*device.Instr
	Looks   int // how many of them only look at gradients: the first ones
	Scratch int
	cols    []*boundColumn
	clip    *device.Clip
	loss    *values.Val
	env     *structure.Env
	numbers StepNumbers
}

// boundColumn is a column with what belongs to its gradient.
type boundColumn struct {
	*Updated
	gradient *values.Val
	finite   *device.Instr
	index    *structure.Index // by which its rows are read; nil: in their order
	changes  []*device.Instr  // of Updates
}

// NewStep makes the instructions of a step. They look at the loss, too, unless that is nil: the host does.
func NewStep(env *structure.Env, cols []*Updated, clip device.Clip, numbers StepNumbers, loss *values.Val) (*Step,
	error) {
	s := &Step{env: env, numbers: numbers, clip: &clip}
	if loss != nil {
		s.loss = s.leaf("loss", loss.Type, loss.Data, nil)
		s.Sees(loss)
		s.add(s.loss, "loss looked at", &device.Finite{Slot: device.Loss}, s.loss)
	}
	for i, c := range cols {
		x := &boundColumn{Updated: c, gradient: s.leaf("gradient", c.Type, c.Gradient, nil)}
		x.finite = s.add(x.gradient, "gradient looked through", &device.Finite{Slot: i}, x.gradient)
		s.cols = append(s.cols, x)
		s.clip.Gradients, s.clip.Rows = append(s.clip.Gradients, x.gradient), append(s.clip.Rows, c.counted())
	}
	if clip.Bound > 0 {
		for _, d := range []*column.Column{numbers.Double, numbers.Single} {
			s.clip.Numbers = append(s.clip.Numbers, s.leaf("numbers", kernels.Type{Kind: kindOf(d.Kind())}, d, nil))
		}
		s.add(s.clip.Numbers[0], "norm of the gradients", s.clip, s.clip.Gradients...)
	}
	s.Looks = len(s.List)
	for _, x := range s.cols {
		if err := s.update(x); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Sees has the instructions look at another loss; it reports false where they must be made anew.
func (s *Step) Sees(loss *values.Val) bool {
	if loss != nil && s.loss != nil {
		*s.loss.Data = *loss.Data.As(loss.Data.Type())
	}
	return (loss == nil) == (s.loss == nil)
}

// Rebind has the instructions read another gradient of a column, with other rows; it reports false where they must be
// made anew.
func (s *Step) Rebind(i int, gradient *column.Column, rows []int32) bool {
	x := s.cols[i]
	x.Gradient, x.Rows = gradient, rows
	from := x.from()
	if (from == nil) != (x.index == nil) {
		return false
	}
	*x.gradient.Data = *unowned(gradient)
	x.gradient.Space.N, x.finite.Rows, s.clip.Rows[i] = gradient.Len(), gradient.Len(), x.counted()
	if x.index != nil {
		x.index.At = from
	}
	runs := x.runs(from)
	for _, in := range x.changes {
		u := in.Form.(*device.Update)
		if u.Runs, in.Rows = runs, rowsIn(runs); u.Gradient != nil {
			u.From = from
		}
	}
	return true
}

func rowsIn(runs [][2]int32) (n int) {
	for _, r := range runs {
		n += int(r[1] - r[0])
	}
	return n
}

// unowned is a column whose NULLs nobody asks for, and which nobody frees.
func unowned(d *column.Column) *column.Column {
	plain := d.Shaped(d.Len(), d.Size())
	return &plain
}

// counted lists the rows of the gradient that count in its norm; nil: all.
func (c *Updated) counted() (rows []int32) {
	if c.Trained == nil {
		return nil
	}
	rows = []int32{}
	for i, r := range c.Rows {
		if c.Trained[r] {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// from lists the gradient's row for each row of the column, -1 where it has none; nil: each row has its own.
func (c *Updated) from() []int32 {
	if len(c.Rows) == c.Value.Len() && structure.IsIdentity(c.Rows) {
		return nil
	}
	if c.at == nil {
		c.at = make([]int32, c.Value.Len())
		structure.Fill(c.at, -1)
	}
	for _, r := range c.set {
		c.at[r] = -1
	}
	for i, r := range c.Rows {
		c.at[r] = int32(i)
	}
	c.set = append(c.set[:0], c.Rows...)
	return c.at
}

// runs lists the rows that a step changes. Of a sparse column it looks at no others: the column may be large, and the
// rows of a step few.
func (c *Updated) runs(from []int32) (runs [][2]int32) {
	add := func(r int32) {
		switch n := len(runs); {
		case c.Trained != nil && !c.Trained[r]:
		case n > 0 && runs[n-1][1] == r:
			runs[n-1][1]++
		default:
			runs = append(runs, [2]int32{r, r + 1})
		}
	}
	switch {
	case c.Sparse && from != nil:
		for _, r := range slices.Sorted(slices.Values(c.Rows)) {
			add(r)
		}
	case c.Trained == nil:
		return [][2]int32{{0, int32(c.Value.Len())}}
	default:
		for r := range int32(c.Value.Len()) {
			add(r)
		}
	}
	return runs
}

// leaf is a column as a val, of the rows of a space; nil: of its own.
func (s *Step) leaf(name string, t kernels.Type, d *column.Column, sp *structure.Space) *values.Val {
	if sp == nil {
		sp = &structure.Space{ID: s.env.NewID(), N: d.Len()}
	}
	return s.graph(sp).Leaf(name, t, sp, unowned(d), true)
}

func (s *Step) graph(unit *structure.Space) *values.Graph {
	return values.NewGraph(false, structure.NewIndexer(nil, s.env, nil), unit)
}

func (s *Step) add(v *values.Val, how string, form any, reads ...*values.Val) *device.Instr {
	in := &device.Instr{V: v, How: how, Rows: v.Data.Len(), T: &device.Tree{Also: reads, Rows: 1}, Form: form}
	s.List = append(s.List, in)
	return in
}

// update makes the instructions that change a column.
func (s *Step) update(x *boundColumn) error {
	sp := &structure.Space{ID: s.env.NewID(), N: x.Value.Len()}
	v := s.leaf("value", x.Type, x.Value, sp)
	u := &device.Update{Loop: &x.Loop, Gradient: x.gradient, From: x.from()}
	u.Numbers = s.leaf("numbers", kernels.Type{Kind: kindOf(x.Value.Kind())}, s.numbers.of(x.Value.Kind()), nil)
	if u.Runs = x.runs(u.From); u.From != nil {
		x.index = &structure.Index{ID: s.env.NewID(), Dst: sp, Src: x.gradient.Space, At: u.From, Missing: true}
	}
	for _, d := range x.Buffers {
		u.Buffers = append(u.Buffers, s.leaf("buffer", x.Type, d, sp))
	}
	if err := s.rule(x, u, v, &x.Rule); err != nil {
		return err
	}
	for i := range x.Then {
		then := &device.Update{Loop: &x.Then[i].Loop, Numbers: u.Numbers, Runs: u.Runs}
		if err := s.rule(x, then, v, &x.Then[i]); err != nil {
			return err
		}
	}
	return nil
}

// rule makes the instruction that computes a rule in the memory of v.
func (s *Step) rule(x *boundColumn, u *device.Update, v *values.Val, r *device.Rule) error {
	g := s.graph(&structure.Space{ID: s.env.NewID(), N: 1})
	number := func(row int) *values.Val {
		one := u.Numbers.Data.Rows(row, row+1)
		return s.leaf("number", u.Numbers.Type, &one, g.Unit)
	}
	memo := map[*kernels.Expr]*values.Val{}
	c := newCompiler(g, nil)
	for _, e := range r.New {
		y, err := values.FromExpr(g, e, memo, func(at kernels.Col) (*values.Val, error) {
			switch at.Input {
			case ra.StepValue:
				return v, nil
			case ra.StepBuffer:
				return u.Buffers[at.ID], nil
			case ra.StepNumber:
				return number(1 + int(at.ID)), nil
			case ra.StepScale:
				return number(0), nil
			}
			if x.index == nil {
				return g.Leaf("gradient", x.Type, v.Space, x.gradient.Data, true), nil
			}
			return g.Gather(x.gradient, x.index)
		})
		if err != nil {
			return err
		}
		cell, err := c.emit(y, -1)
		if err != nil {
			return err
		}
		u.New, c.t.Result = append(u.New, y), append(c.t.Result, c.convert(cell, v.Data.Kind()))
	}
	c.finish(0)
	c.t.Also = append(slices.Clone(u.Buffers), v, u.Numbers)
	if u.Gradient != nil {
		c.t.Also = append(c.t.Also, u.Gradient)
	}
	s.Scratch = max(s.Scratch, c.t.Bytes)
	in := &device.Instr{V: v, How: r.Loop.Name, T: c.t, Form: u, Rows: rowsIn(u.Runs)}
	s.List, x.changes = append(s.List, in), append(x.changes, in)
	return nil
}

func kindOf(k column.Kind) kernels.Kind {
	if k == column.F32 {
		return kernels.Float32
	}
	return kernels.Float64
}
