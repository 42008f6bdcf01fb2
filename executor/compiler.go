package executor

import (
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
)

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
	return 0, sqlerr.Broken("executor", "val %d of kind %d is not computed before it is read", v.id, v.op)
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
		return 0, sqlerr.Broken("executor", "rows of a grid are read that have not been listed")
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
