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

// Step makes the instructions that change columns by their gradients: all gradients are looked through, and measured
// where their norm has a bound, before the first column changes. A worker needs so many bytes of scratch memory.
func Step(env *structure.Env, cols []*Updated, clip float64, numbers StepNumbers) (list []*device.Instr, scratch int,
	err error) {
	b := &stepBuilder{env: env, numbers: numbers}
	measure := &device.Clip{Bound: clip}
	for i, c := range cols {
		g := b.leaf("gradient", c.Type, c.Gradient, nil)
		measure.Gradients = append(measure.Gradients, g)
		measure.Rows = append(measure.Rows, c.counted())
		b.add(g, "gradient looked through", &device.Finite{Slot: i}, g)
	}
	if clip > 0 {
		for _, d := range []*column.Column{numbers.Double, numbers.Single} {
			measure.Numbers = append(measure.Numbers, b.leaf("numbers", kernels.Type{Kind: kernels.Float64}, d, nil))
		}
		b.add(measure.Numbers[0], "norm of the gradients", measure, measure.Gradients...)
	}
	for i, c := range cols {
		if err := b.update(c, measure.Gradients[i]); err != nil {
			return nil, 0, err
		}
	}
	return b.list, b.scratch, nil
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
	at := make([]int32, c.Value.Len())
	structure.Fill(at, -1)
	for i, r := range c.Rows {
		at[r] = int32(i)
	}
	return at
}

// runs lists the rows that a step changes.
func (c *Updated) runs(from []int32) (runs [][2]int32) {
	if c.Trained == nil && (!c.Sparse || from == nil) {
		return [][2]int32{{0, int32(c.Value.Len())}}
	}
	for r := range int32(c.Value.Len()) {
		switch n := len(runs); {
		case c.Trained != nil && !c.Trained[r] || c.Sparse && from != nil && from[r] < 0:
		case n > 0 && runs[n-1][1] == r:
			runs[n-1][1]++
		default:
			runs = append(runs, [2]int32{r, r + 1})
		}
	}
	return runs
}

// stepBuilder makes the instructions of a step of training.
type stepBuilder struct {
	env     *structure.Env
	numbers StepNumbers
	list    []*device.Instr
	scratch int
}

// leaf is a column as a val, of the rows of a space; nil: of its own. What lies beneath its NULLs is not asked for.
func (b *stepBuilder) leaf(name string, t kernels.Type, d *column.Column, sp *structure.Space) *values.Val {
	plain := d.Shaped(d.Len(), d.Size())
	if sp == nil {
		sp = &structure.Space{ID: b.env.NewID(), N: d.Len()}
	}
	return b.graph(sp).Leaf(name, t, sp, &plain, true)
}

func (b *stepBuilder) graph(unit *structure.Space) *values.Graph {
	return values.NewGraph(false, structure.NewIndexer(nil, b.env, nil), unit)
}

func (b *stepBuilder) add(v *values.Val, how string, form any, reads ...*values.Val) {
	b.list = append(b.list, &device.Instr{V: v, How: how, Rows: v.Data.Len(), T: &device.Tree{Also: reads, Rows: 1}, Form: form})
}

// update makes the instructions that change a column.
func (b *stepBuilder) update(c *Updated, gradient *values.Val) error {
	sp := &structure.Space{ID: b.env.NewID(), N: c.Value.Len()}
	v := b.leaf("value", c.Type, c.Value, sp)
	u := &device.Update{Loop: &c.Loop, Gradient: gradient, From: c.from()}
	u.Numbers = b.leaf("numbers", c.Type, b.numbers.of(c.Value.Kind()), nil)
	u.Runs = c.runs(u.From)
	for _, d := range c.Buffers {
		u.Buffers = append(u.Buffers, b.leaf("buffer", c.Type, d, sp))
	}
	if err := b.rule(u, v, &c.Rule); err != nil {
		return err
	}
	for i := range c.Then {
		then := &device.Update{Loop: &c.Then[i].Loop, Numbers: u.Numbers, Runs: u.Runs}
		if err := b.rule(then, v, &c.Then[i]); err != nil {
			return err
		}
	}
	return nil
}

// rule makes the instruction that computes a rule in the memory of v.
func (b *stepBuilder) rule(u *device.Update, v *values.Val, r *device.Rule) (err error) {
	g := b.graph(v.Space)
	g.Unit = &structure.Space{ID: b.env.NewID(), N: 1}
	number := func(row int) *values.Val {
		one := u.Numbers.Data.Rows(row, row+1)
		return b.leaf("number", kernels.Type{Kind: kindOf(one.Kind())}, &one, g.Unit)
	}
	gradient, memo := (*values.Val)(nil), map[*kernels.Expr]*values.Val{}
	c := newCompiler(g, nil)
	for _, e := range r.New {
		x, err := values.FromExpr(g, e, memo, func(at kernels.Col) (*values.Val, error) {
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
			if gradient == nil {
				gradient, err = b.inRows(g, u, v.Space)
			}
			return gradient, err
		})
		if err != nil {
			return err
		}
		cell, err := c.emit(x, -1)
		if err != nil {
			return err
		}
		u.New, c.t.Result = append(u.New, x), append(c.t.Result, c.convert(cell, v.Data.Kind()))
	}
	c.finish()
	c.t.Also = append(slices.Clone(u.Buffers), v, u.Numbers)
	if u.Gradient != nil {
		c.t.Also = append(c.t.Also, u.Gradient)
	}
	b.scratch = max(b.scratch, c.t.Bytes)
	in := &device.Instr{V: v, How: r.Loop.Name, T: c.t, Form: u}
	for _, run := range u.Runs {
		in.Rows += int(run[1] - run[0])
	}
	b.list = append(b.list, in)
	return nil
}

// inRows is the gradient in the rows of the column.
func (b *stepBuilder) inRows(g *values.Graph, u *device.Update, sp *structure.Space) (*values.Val, error) {
	if u.From == nil {
		return b.leaf("gradient", u.Gradient.Type, u.Gradient.Data, sp), nil
	}
	return g.Gather(u.Gradient, &structure.Index{ID: b.env.NewID(), Dst: sp, Src: u.Gradient.Space, At: u.From, Missing: true})
}

func kindOf(k column.Kind) kernels.Kind {
	if k == column.F32 {
		return kernels.Float32
	}
	return kernels.Float64
}
