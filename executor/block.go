package executor

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// partial returns the block's space for n elements of the kind; the sums of a pass may be of both.
func (b *block) partial(k kind, n int) *data {
	if k == f32 && len(b.tmp.f32) < n {
		b.tmp.f32 = make([]float32, n)
	}
	if k == f64 && len(b.tmp.f64) < n {
		b.tmp.f64 = make([]float64, n)
	}
	return &b.tmp
}

// runSums are the block's sums of n members of a pass: those of its last lane have ended.
func (b *block) runSums(n int) []runSum {
	if b.runs == nil {
		b.runs = make([]runSum, n)
	}
	return b.runs
}

// strictValid sets the result's validity to that of all arguments.
func (b *block) strictValid(o *op) {
	out := b.out(o).valid
	if out == nil {
		return
	}
	n := b.rows(o)
	for i := range n {
		out[i] = 1
	}
	for i, a := range o.args {
		v := b.arg(o, i).valid
		switch {
		case v == nil:
		case b.t.cells[a].uniform:
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

// skip reports whether row r needs no value: it does not count, or the result is NULL already.
func (b *block) skip(o *op, r int) bool {
	if !b.active(o, r) {
		return true
	}
	out := b.out(o)
	return out.valid != nil && out.valid[r] == 0
}

// evalReference evaluates a call whose argument i has the value args[i].
func (b *block) evalReference(e *kernels.Expr, args []kernels.Value) (kernels.Value, error) {
	if e.Def.Lazy == nil {
		return e.EvalWith(b.env, args)
	}
	return e.Eval(b.env, func(c kernels.Col) kernels.Value { return args[c.ID] })
}

// block is a worker's state.
type block struct {
	t     *tree
	cells []data
	head  []ready
	ops   []ready
	lo, n int
	env   *kernels.Env
	buf   *tensor.Buffer
	tmp   data // a partial sum, for adders
	keys  []uint64
	draws []float64
	base  int // the tree's result that is result 0, where several instructions share the tree
	runs  []runSum
}

// rows is how many rows the operation has in this block.
func (b *block) rows(o *op) int {
	if b.t.cells[o.out].uniform {
		return 1
	}
	return b.n
}

// step is how far argument i advances per row: its size, or 0 where it is uniform.
func (b *block) step(o *op, i int) int {
	c := &b.t.cells[o.args[i]]
	if c.uniform {
		return 0
	}
	return c.size
}

func (b *block) arg(o *op, i int) *data { return &b.cells[o.args[i]] }

func (b *block) out(o *op) *data { return &b.cells[o.out] }

// active reports whether row r counts for an operation that can fail.
func (b *block) active(o *op, r int) bool {
	if o.mask < 0 {
		return true
	}
	if b.t.cells[o.mask].uniform {
		r = 0
	}
	return b.cells[o.mask].i64[r] != 0
}

// null reports whether argument i is NULL in row r.
func (b *block) null(o *op, i, r int) bool {
	d := b.arg(o, i)
	if d.valid == nil {
		return false
	}
	if b.t.cells[o.args[i]].uniform {
		r = 0
	}
	return d.valid[r] == 0
}

// newBlock makes a worker's state for the tree in a buffer of at least t.bytes.
func (t *tree) newBlock(env *kernels.Env, buf *tensor.Buffer) *block {
	b := &block{t: t, cells: make([]data, len(t.cells)), head: readied(t.head), ops: readied(t.ops), env: env, buf: buf}
	for i := range t.cells {
		c := &t.cells[i]
		if c.view {
			continue
		}
		n := t.rows
		if c.uniform {
			n = 1
		}
		b.cells[i] = place(buf, c.off, c.kind, n, c.size, c.nullable)
	}
	return b
}

// start computes the uniform cells.
func (b *block) start() error {
	b.lo, b.n = 0, 1
	return b.run(b.head)
}

// eval computes the rows lo to lo+n.
func (b *block) eval(lo, n int) error {
	tensor.Trim()
	b.lo, b.n = lo, n
	return b.run(b.ops)
}

func (b *block) run(ops []ready) error {
	for _, o := range ops {
		if o.strict {
			b.strictValid(o.op)
		}
		if err := o.loop(b, o.op); err != nil {
			return err
		}
	}
	return nil
}

// result is the i-th result's cell for the current block.
func (b *block) result(i int) (d *data, uniform bool) {
	r := b.t.result[b.base+i]
	return &b.cells[r], b.t.cells[r].uniform
}
