package cpu

import (
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// partial returns the block's memory for a partial sum of n elements. The sums of a pass may have both kinds.
func (b *block) partial(k column.Kind, n int) *column.Column {
	if b.tmp[k].Len() < n {
		b.tmp[k] = column.OnHeap(k, n, 1, false)
	}
	return &b.tmp[k]
}

// runSums returns the block's sums for the n members of a pass. Each lane begins them anew.
func (b *block) runSums(n int) []runSum {
	if len(b.runs) < n {
		b.runs = make([]runSum, n)
	}
	return b.runs[:n]
}

// strictValid sets the result's validity to that of all arguments.
func (b *block) strictValid(o *device.Op) {
	out := b.out(o).Valid()
	if out == nil {
		return
	}
	n := b.rows(o)
	for i := range n {
		out[i] = 1
	}
	for i, a := range o.Args {
		v := b.arg(o, i).Valid()
		switch {
		case v == nil:
		case b.t.Cells[a].Uniform:
			if v[0] == 0 {
				clear(out[:n])
			}
		default:
			for r, x := range v[:n] {
				out[r] &= x
			}
		}
	}
}

// skip reports whether row r needs no value: it does not count, or the result is already NULL.
func (b *block) skip(o *device.Op, r int) bool {
	if !b.active(o, r) {
		return true
	}
	out := b.out(o)
	return out.Valid() != nil && out.Valid()[r] == 0
}

// evalReference evaluates a call whose argument i has the value args[i].
func (b *block) evalReference(e *kernels.Expr, args []kernels.Value) (kernels.Value, error) {
	if e.Def.Lazy == nil {
		return e.EvalWith(b.env, args)
	}
	return e.Eval(b.env, func(c kernels.Col) kernels.Value { return args[c.ID] })
}

// block is a worker's state while it computes a tree. It keeps its memory for the next instruction's tree, so that
// small instructions, of which a recurrence has thousands, allocate nothing.
type block struct {
	of    *task // nil: no instruction that runs
	t     *device.Tree
	cells []column.Column
	head  []ready
	ops   []ready
	lo, n int
	env   *kernels.Env
	buf   *tensor.Buffer
	tmp   [2]column.Column // an adder's partial sum, of each kind
	keys  []uint64
	draws []float64
	base  int // which result of the tree counts as number 0, where members of a pass share a tree
	runs  []runSum
	outs  []column.Column // the columns that the instruction stores
}

// rows is the number of rows of the operation in this block.
func (b *block) rows(o *device.Op) int {
	if b.t.Cells[o.Out].Uniform {
		return 1
	}
	return b.n
}

// step is the distance between rows of argument i: its size, or 0 if it is uniform.
func (b *block) step(o *device.Op, i int) int {
	c := &b.t.Cells[o.Args[i]]
	if c.Uniform {
		return 0
	}
	return c.Size
}

func (b *block) arg(o *device.Op, i int) *column.Column { return &b.cells[o.Args[i]] }

func (b *block) out(o *device.Op) *column.Column { return &b.cells[o.Out] }

// active reports whether an operation that can fail must compute row r.
func (b *block) active(o *device.Op, r int) bool {
	if o.Mask < 0 {
		return true
	}
	if b.t.Cells[o.Mask].Uniform {
		r = 0
	}
	return b.cells[o.Mask].I64()[r] != 0
}

// null reports whether argument i is NULL in row r.
func (b *block) null(o *device.Op, i, r int) bool {
	d := b.arg(o, i)
	if d.Valid() == nil {
		return false
	}
	if b.t.Cells[o.Args[i]].Uniform {
		r = 0
	}
	return d.Valid()[r] == 0
}

// newBlock makes a worker's state for the tree, in a buffer of at least t.Bytes bytes.
func newBlock(t *device.Tree, env *kernels.Env, buf *tensor.Buffer) *block {
	b := &block{}
	b.lay(t, readied(t.Head), readied(t.Ops), env, buf)
	return b
}

// lay prepares the block for a tree: its cells lie in the buffer, but those that point into a column.
func (b *block) lay(t *device.Tree, head, ops []ready, env *kernels.Env, buf *tensor.Buffer) {
	b.t, b.head, b.ops, b.env, b.buf, b.base = t, head, ops, env, buf, 0
	b.cells = slices.Grow(b.cells[:0], len(t.Cells))[:len(t.Cells)]
	for i := range t.Cells {
		c := &t.Cells[i]
		if c.View {
			continue
		}
		n := t.Rows
		if c.Uniform {
			n = 1
		}
		b.cells[i] = column.Place(buf, c.Off, c.Kind, n, c.Size, c.Nullable)
	}
}

// start computes the uniform cells.
func (b *block) start() error {
	b.lo, b.n = 0, 1
	return b.run(b.head)
}

// eval computes n rows from row lo on.
func (b *block) eval(lo, n int) error {
	tensor.Trim()
	b.lo, b.n = lo, n
	return b.run(b.ops)
}

func (b *block) run(ops []ready) error {
	for _, o := range ops {
		if o.Strict {
			b.strictValid(o.Op)
		}
		if err := o.loop(b, o.Op); err != nil {
			return err
		}
	}
	return nil
}

// result is the cell of result i, counted from base, in the current block.
func (b *block) result(i int) (d *column.Column, uniform bool) {
	r := b.t.Result[b.base+i]
	return &b.cells[r], b.t.Cells[r].Uniform
}
