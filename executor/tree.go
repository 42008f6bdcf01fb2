package executor

import (
	"slices"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// tree is one or more vals compiled to operations over blocks of rows. A cell is a register: block.n rows,
// or one row where it is uniform.
type tree struct {
	cells   []cell
	head    []*op // over uniform cells: once per execution and worker
	ops     []*op // once per block
	result  []int
	rows    int // rows per block
	most    int // rows per block at most, 0: any number
	tune    *device.Tuning
	bytes   int // of scratch
	wide    bool
	also    []*val // columns that are read besides the loads
	gathers []*val // those of sums that are read through an index where they are mapped
}

type cell struct {
	kind              kind
	size              int
	uniform, nullable bool
	view              bool // points into a column; has no scratch
	off               int
	ext               *extent
	typ               kernels.Type
}

// op is an operation of a tree.
type op struct {
	code   opcode
	kind   kind   // of number that its loop runs over
	name   string // of the kernel that it is for
	strict bool   // it is NULL where an argument is
	out    int
	args   []int
	mask   int // bool cell of the rows that count, -1: all; for kernels that can fail
	v      *val
	idx    *structure.Index
	file   *rowFile // that a load reads from; nil: from memory
	aux    any      // what the code knows besides
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

// compiler builds a tree.
type compiler struct {
	t     *tree
	order *structure.Index // row r of the tree is row order.at[r] of the vals' space, nil: row r
	g     *graph
	memo  map[memoKey]int
	up    map[int]int // mask cell → the mask it refines
	conv  map[[2]int]int
	sums  []*adding
	fails map[*val]bool
}

type memoKey struct {
	v    *val
	mask int
}

// compile makes a tree of vals over one space, read in the given order.
func compile(g *graph, order *structure.Index, vals ...*val) (*tree, error) {
	c := newCompiler(g, order)
	for _, v := range vals {
		r, err := c.emit(v, -1)
		if err != nil {
			return nil, err
		}
		c.t.result = append(c.t.result, r)
	}
	c.finish()
	return c.t, nil
}

func newCompiler(g *graph, order *structure.Index) *compiler {
	return &compiler{
		t:     &tree{wide: g.wide, tune: g.Env.Tune},
		order: order,
		g:     g,
		memo:  map[memoKey]int{},
		up:    map[int]int{},
		conv:  map[[2]int]int{},
		fails: map[*val]bool{},
	}
}

// emit compiles v for the rows where mask holds and returns its cell.
func (c *compiler) emit(v *val, mask int) (int, error) {
	if !c.fallible(v) {
		mask = -1
	}
	for m := mask; ; m = c.up[m] {
		if r, ok := c.memo[memoKey{v, m}]; ok {
			return r, nil
		}
		if m < 0 {
			break
		}
	}
	r, err := c.make(v, mask)
	if err != nil {
		return 0, err
	}
	c.memo[memoKey{v, mask}] = r
	return r, nil
}

// fallible reports whether computing v may fail; what is stored cannot.
func (c *compiler) fallible(v *val) bool {
	if v.op != vCall || v.data != nil {
		return false
	}
	if f, ok := c.fails[v]; ok {
		return f
	}
	f := !total(v.expr.Def, v.expr.Attr, v.args) || c.anyFallible(v.args)
	c.fails[v] = f
	return f
}

func (c *compiler) anyFallible(vs []*val) bool {
	for _, v := range vs {
		if c.fallible(v) {
			return true
		}
	}
	return false
}

func (c *compiler) make(v *val, mask int) (int, error) {
	switch {
	case v.op == vConst:
		return c.constant(v), nil
	case v.data != nil || v.op == vLeaf:
		return c.load(v, nil, v.uniform())
	case v.op == vGather && v.args[0].data != nil:
		return c.load(v.args[0], v.idx, v.uniform())
	case v.op == vCall:
		return c.call(v, mask)
	}
	return 0, internal("val %d of kind %d is not computed before it is read", v.id, v.op)
}

func (c *compiler) cell(t kernels.Type, uniform bool) int {
	c.t.cells = append(c.t.cells, cell{kind: kindOf(t), size: t.Size(), uniform: uniform, nullable: t.Nullable, typ: t})
	return len(c.t.cells) - 1
}

// add appends an operation; over uniform cells only, it goes to the head.
func (c *compiler) add(o *op) int {
	if c.t.cells[o.out].uniform {
		c.t.head = append(c.t.head, o)
	} else {
		c.t.ops = append(c.t.ops, o)
	}
	return o.out
}

func (c *compiler) constant(v *val) int {
	t := v.typ
	r := c.cell(t, true)
	return c.add(&op{code: opConst, out: r, mask: -1, v: v})
}

// load reads the rows of a column, through an index if there is one. Its own kind is kept; where that is
// not the val's (a real column in a wide graph) it is converted.
func (c *compiler) load(v *val, idx *structure.Index, uniform bool) (int, error) {
	if idx.Virtual() || c.order.Virtual() {
		return 0, internal("rows of a grid are read that have not been listed")
	}
	if !uniform && c.order != nil {
		if idx == nil {
			idx = c.order
		} else {
			idx = c.g.Compose(c.order, idx)
		}
	}
	t := v.typ
	stored := t
	if v.data.kind == f32 {
		stored.Kind = kernels.Float32
	}
	r := c.cell(stored, uniform)
	o := &op{code: opLoad, out: r, mask: -1, v: v, idx: idx}
	// A filter's candidates (a space of negative id) change their index between runs.
	c.t.cells[r].view = idx == nil || idx.At == nil && idx.Dst.ID >= 0
	if idx != nil && idx.At != nil {
		o.file = c.g.shared.rowFile(v)
	}
	c.add(o)
	if stored.Kind != t.Kind {
		return c.convert(r, kindOf(t)), nil
	}
	return r, nil
}

// convert returns a cell with the same numbers in another kind.
func (c *compiler) convert(r int, k kind) int {
	from := c.t.cells[r]
	if from.kind == k {
		return r
	}
	if x, ok := c.conv[[2]int{r, int(k)}]; ok {
		return x
	}
	t := from.typ
	t.Kind = [...]kernels.Kind{kernels.Float64, kernels.Float32, kernels.Int}[k]
	out := c.cell(t, from.uniform)
	c.conv[[2]int{r, int(k)}] = out
	if from.kind == f32 && k == f64 { // and back, with the same bits
		c.conv[[2]int{out, int(f32)}] = r
	}
	return c.add(&op{code: opConvert, out: out, args: []int{r}, mask: -1})
}

// finish plans the scratch memory: uniform cells keep theirs, others share by lifetime.
func (c *compiler) finish() {
	c.nearby()
	t := c.t
	perRow := 0
	for i := range t.cells {
		if cl := &t.cells[i]; !cl.uniform && !cl.view {
			perRow += cl.size*cl.kind.bytes() + 1
		}
	}
	rows := blockRows(perRow, t.tune.BlockScratch)
	if t.most > 0 {
		rows = min(rows, t.most)
	}
	t.place(rows)
	for _, more := range []int{256, 128, 64} { // a product packs its other operand for each block
		if rows < more && t.multiplies() {
			if t.place(more); t.bytes <= t.tune.ProductScratch {
				return
			}
			t.place(rows)
		}
	}
}

// multiplies reports whether the tree has products with one matrix for all rows.
func (t *tree) multiplies() bool {
	return slices.ContainsFunc(t.ops, func(o *op) bool {
		return (o.code == opMatmul || o.code == opPair) && o.name == "matmul" &&
			slices.ContainsFunc(o.args, func(a int) bool { return t.cells[a].uniform && t.cells[a].size >= 1024 })
	})
}

// place lays the cells out for blocks of so many rows.
func (t *tree) place(rows int) {
	t.rows = rows
	var ext []*extent
	for i := range t.cells {
		cl := &t.cells[i]
		if cl.view {
			continue
		}
		n := t.rows
		if cl.uniform {
			n = 1
		}
		cl.ext = &extent{bytes: need(cl.kind, n, cl.size, cl.nullable), from: -1, to: len(t.ops)}
		ext = append(ext, cl.ext)
	}
	for i, o := range t.ops {
		if e := t.cells[o.out].ext; e != nil && !t.cells[o.out].uniform {
			e.from, e.to = i, i
		}
		for _, a := range append(o.args[:len(o.args):len(o.args)], o.mask) {
			if a >= 0 && t.cells[a].ext != nil && !t.cells[a].uniform {
				t.cells[a].ext.to = i
			}
		}
	}
	for _, r := range t.result {
		if e := t.cells[r].ext; e != nil {
			e.to = len(t.ops)
		}
	}
	t.bytes = planMemory(ext)
	for i := range t.cells {
		if e := t.cells[i].ext; e != nil {
			t.cells[i].off = e.off
		}
	}
}

// blockRows is the number of rows of a block: as many as keep the scratch in the second-level cache.
func blockRows(perRow, scratch int) int {
	n := scratch / max(perRow, 1)
	switch {
	case n >= 1024:
		return 1024
	case n >= 16:
		return n &^ 15
	}
	return max(n, 1)
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
